/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looks at threads that come to a CPU, on x86, where a process may read all registers of the CPU.
 * Before such a thread runs in user mode, registers that it may not see are zeroed.
 *
 * While we permit processes to read registers, a probe looks at each switch of the machine. Beside
 * perf, perf may permit any process at any time. But most machines have no such process, and each
 * switch would pay for the probe. So for perf's readers we only watch: we have a probe in a
 * function that the kernel calls whenever it lets an mm read registers. That is at each change to
 * such an mm, and only counts of other mms must be hidden from its threads.
 *
 * A session counts by registers whoever runs, and a reader may come after a kernel thread without a
 * change of mm. So while a session counts natively, each switch is looked at.
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
 * Guards registers from processes that perf permits, until no native counter is claimed. Watches,
 * or, if @closely is true or we cannot watch, looks at each switch. Returns 0 or an error. May
 * sleep. The caller must not hold config_mutex or the hotplug lock.
 */
int perfctr_guard_begin(bool closely);
/* Returns true if registers are guarded at least so. The caller holds config_mutex. */
bool perfctr_guard_is_on(bool closely);
/* Ends the guard if no native counter is claimed. The caller holds config_mutex. */
void perfctr_guard_end(void);

#endif /* PERFCTR_LET_IN_H */
