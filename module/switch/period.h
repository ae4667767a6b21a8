/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The periods of i-mode counters: when the next overflow is due, and whether it has come.
 *
 * Unless said otherwise the state is suspended, or new, interrupts are off, and the caller is its
 * owner or an interrupt on the owner's CPU.
 */
#ifndef PERFCTR_PERIOD_H
#define PERFCTR_PERIOD_H

#include <linux/types.h>

struct perfctr_imode;
struct vperfctr;

/* For @nr i-mode counters; NULL: no memory. The caller kfree()s it. In any context */
struct perfctr_imode *perfctr_imode_create(u32 nr, gfp_t gfp);
/* Begins a full period of each counter. */
void vperfctr_imode_init(struct vperfctr *perfctr, int signo, u64 refresh);
/*
 * For a state that records. @throttled: no overflow is due any more. Otherwise each counter's next
 * overflow is due after a full period.
 */
void vperfctr_throttle(struct vperfctr *perfctr, bool throttled);
/* Starts the i-mode counters. EAGAIN, EIO as perfctr_cpu_istart() */
int vperfctr_imode_start(struct vperfctr *perfctr);
/* Turns their sums into differences, as perfctr_cpu_resume() does for other counters. */
void vperfctr_imode_resume(struct vperfctr *perfctr);
/* Reads all sums of a state that is resumed. */
void vperfctr_imode_sample(const struct vperfctr *perfctr, u64 *value);
/* Finds out which counters have overflowed. If one has, all are held. seq is still odd. */
void vperfctr_imode_look(struct vperfctr *perfctr);

/*
 * An overflow interrupt uses the next three functions, since they take less time than suspending
 * and resuming the state. The state is resumed, counts only user mode, and its page shows nothing.
 *
 * The first: stops the i-mode counters. The others run on: they count nothing in the kernel.
 */
void vperfctr_imode_stop(struct vperfctr *perfctr);
/*
 * The second: writes the clock to value[0], and all sums behind it. Begins a new period of each
 * counter that has overflowed, and returns which have.
 */
u32 vperfctr_imode_read_stopped(struct vperfctr *perfctr, u64 *value);
/*
 * The third: starts the i-mode counters again. False: the state is suspended now, because @suspend
 * asks for it, or because they did not start. Then the caller resumes it.
 */
bool vperfctr_imode_restart(struct vperfctr *perfctr, const u64 *value, bool suspend);

#endif /* PERFCTR_PERIOD_H */
