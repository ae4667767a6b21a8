/* SPDX-License-Identifier: GPL-2.0 */
/* What went wrong, why, and what the user can do. */
#ifndef PERFEX_EXPLAIN_H
#define PERFEX_EXPLAIN_H

#include "count/counts.h"
#include "count/how.h"

/* These tell it on stderr. */
void explain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void explain_device(int error);
void explain_event(const struct perfctr_info *info, const char *spec, int error);
void explain_missing_event(const struct perfctr_info *info, const char *name);
void explain_too_many(const struct perfctr_info *info, unsigned int n);
void explain_no_topdown(const struct perfctr_info *info, unsigned int source);
/* Why a run did not start; returns the exit status for that. */
int explain_run(const struct run *run, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct how *how);

/* These return a text without a newline at its end. */
/* NULL: the module has a driver for the processor's counters. */
const char *why_no_driver(const struct perfctr_info *info);
/* NULL: the module or perf has one. */
const char *why_no_counters(const struct perfctr_info *info);
const char *why_unbound(void);
const char *why_busy(unsigned int owner, unsigned int reason);
/* EACCES with PERFCTR_REASON_OPEN */
const char *why_open(void);
/* Instructions or cycles of a program that ran are 0. */
const char *why_zero(const struct perfctr_info *info);
/* Who may count in kernel mode */
const char *which_privilege(void);

#endif /* PERFEX_EXPLAIN_H */
