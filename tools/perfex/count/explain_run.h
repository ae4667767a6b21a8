/* SPDX-License-Identifier: GPL-2.0 */
/* Prints why a run did not start. */
#ifndef PERFEX_EXPLAIN_RUN_H
#define PERFEX_EXPLAIN_RUN_H

#include "count/counts.h"
#include "count/how.h"

/* Prints to stderr why the run did not start. Returns the exit status for that. */
int explain_run(const struct run *run, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct how *how);

#endif /* PERFEX_EXPLAIN_RUN_H */
