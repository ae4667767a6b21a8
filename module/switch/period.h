/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The periods of i-mode counters: when the next overflow is due, and whether it has come.
 *
 * Unless a comment says otherwise, the state is suspended or new, interrupts are off, and the
 * caller is the state's owner or an interrupt on the owner's CPU.
 */
#ifndef PERFCTR_PERIOD_H
#define PERFCTR_PERIOD_H

#include <linux/types.h>

struct perfctr_imode;
struct vperfctr;

/*
 * Returns a structure for @nr i-mode counters, or NULL if there is no memory. The caller frees the
 * structure by kfree(). May be called in any context.
 */
struct perfctr_imode *perfctr_imode_create(u32 nr, gfp_t gfp);
/* Begins a full period of each counter. */
void vperfctr_imode_init(struct vperfctr *perfctr, int signo, u64 refresh);
/*
 * Throttles a state that records, or ends the throttling. While the state is throttled, no overflow
 * is due. When the throttling ends, each counter begins a full period.
 */
void vperfctr_throttle(struct vperfctr *perfctr, bool throttled);
/* Starts the i-mode counters. Returns 0, or the error of perfctr_cpu_istart(). */
int vperfctr_imode_start(struct vperfctr *perfctr);
/* Turns the sums of i-mode counters into differences. perfctr_cpu_resume() does so for a-mode. */
void vperfctr_imode_resume(struct vperfctr *perfctr);
/* Reads all sums of a state that is resumed, without suspending the state. */
void vperfctr_imode_sample(const struct vperfctr *perfctr, u64 *value);
/*
 * Finds out which counters have overflowed. Sets PERFCTR_HOLD_OVERFLOWN if one has, and the state
 * does not record. Called while seq is still odd.
 */
void vperfctr_imode_look(struct vperfctr *perfctr);

/*
 * An overflow interrupt calls the next three functions, one after the other. They take less time
 * than a suspend and a resume of the state would. The state is resumed, counts only user mode, and
 * its page shows nothing.
 *
 * The first function stops the i-mode counters. The a-mode counters run on, and count nothing in
 * the kernel.
 */
void vperfctr_imode_stop(struct vperfctr *perfctr);
/*
 * The second function writes the clock to value[0], and the sums to value[1] and so on. It begins a
 * new period of each counter that has overflowed. Returns a mask of these counters.
 */
u32 vperfctr_imode_read_stopped(struct vperfctr *perfctr, u64 *value);
/*
 * The third function starts the i-mode counters again. Returns false if the state is suspended now,
 * because @suspend is true, or because the counters did not start. Then the caller resumes the
 * state.
 */
bool vperfctr_imode_restart(struct vperfctr *perfctr, const u64 *value, bool suspend);

#endif /* PERFCTR_PERIOD_H */
