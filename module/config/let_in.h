/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looks at each thread that comes to a CPU, on x86, where a process may read all registers of the
 * CPU. Before such a thread runs, registers that it may not see are zeroed.
 */
#ifndef PERFCTR_LET_IN_H
#define PERFCTR_LET_IN_H

#include <linux/types.h>

/* Call this at init. Returns 0, or -ENOENT if the kernel lacks the tracepoint. */
int perfctr_let_in_init(void);
/* Call this when no user is left. May sleep. */
void perfctr_let_in_exit(void);
/*
 * Adds a user. While there is one, each switch is looked at. Returns 0 or an error. May sleep. The
 * caller must not hold the hotplug lock.
 */
int perfctr_let_in_get(void);
void perfctr_let_in_put(void);

/*
 * Becomes such a user until no native counter is claimed. Needed if perf may give processes the
 * permission to read registers while we have counters. Returns 0 or an error. May sleep. The caller
 * must not hold config_mutex or the hotplug lock.
 */
int perfctr_guard_begin(void);
/* Returns true if this user is there. The caller holds config_mutex. */
bool perfctr_guard_is_on(void);
/* Ends this user if no native counter is claimed. The caller holds config_mutex. */
void perfctr_guard_end(void);

#endif /* PERFCTR_LET_IN_H */
