/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a control of the events. */
#ifndef PERFEX_CONTROL_H
#define PERFEX_CONTROL_H

#include "count/counts.h"
#include "count/how.h"

/*
 * Programs the counters of the calling thread to start at its exec. Returns true, or false with the
 * reason in @run.
 */
bool control_program(int fd, const struct events *events, const struct how *how,
		     struct run *run);
/* Returns true if control_program() would succeed. The thread must have no counters. */
bool can_be_counted(const struct events *events, const struct how *how);

#endif /* PERFEX_CONTROL_H */
