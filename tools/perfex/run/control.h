/* SPDX-License-Identifier: GPL-2.0 */
/* Events become a control. */
#ifndef PERFEX_CONTROL_H
#define PERFEX_CONTROL_H

#include "count/counts.h"
#include "count/how.h"

/* Programs the calling thread's counters for its exec. False: @run says why not. */
bool control_program(int fd, const struct events *events, const struct how *how,
		     struct run *run);
/* Whether that can be done; the thread has no counters. */
bool can_be_counted(const struct events *events, const struct how *how);

#endif /* PERFEX_CONTROL_H */
