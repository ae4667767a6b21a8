/* SPDX-License-Identifier: GPL-2.0 */
/* Why something cannot be counted, as a text without a newline at its end. */
#ifndef PERFEX_WHY_H
#define PERFEX_WHY_H

#include <libperfctr.h>

/* NULL: the module has a driver for the processor's counters. */
const char *why_no_driver(const struct perfctr_info *info);
/* NULL: the module has one, or counts through perf. */
const char *why_no_counters(const struct perfctr_info *info);
/* EXDEV: the program may run on cores of several types. */
const char *why_unbound(void);
/* EBUSY */
const char *why_busy(unsigned int owner, unsigned int reason);
/* EACCES with PERFCTR_REASON_OPEN */
const char *why_open(void);
/* Instructions or cycles of a program that ran are 0. */
const char *why_zero(const struct perfctr_info *info);
/* Who may count in kernel mode */
const char *which_privilege(void);

#endif /* PERFEX_WHY_H */
