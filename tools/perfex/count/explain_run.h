/* SPDX-License-Identifier: GPL-2.0 */
/* Why a run did not start. */
#ifndef PERFEX_EXPLAIN_RUN_H
#define PERFEX_EXPLAIN_RUN_H

#include "count/counts.h"
#include "count/how.h"

/* Tells it on stderr; returns the exit status for that. */
int explain_run(const struct run *run, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct how *how);

#endif /* PERFEX_EXPLAIN_RUN_H */
