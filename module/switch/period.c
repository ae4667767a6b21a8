// SPDX-License-Identifier: GPL-2.0
/*
 * The periods of i-mode counters. overflow.c handles the end of a period.
 *
 * An i-mode counter has a sum as any other counter has, so its count is exact whatever the period.
 * An overflow is due when the sum reaches a limit. Each suspend compares the sum with the limit, in
 * the interrupt or in a switch that comes before the interrupt. So an overflow is not lost when its
 * interrupt is lost, and is not delivered twice.
 *
 *	running --(sum reached: look)--> overflown, pending
 *	overflown, pending --(deliver: on the way to user mode, or by the interrupt
 *				if it interrupts user mode)--> overflown, delivered
 *	overflown, delivered --(IRESUME, REFRESH, or by itself)--> running, with a new period
 *
 * The owner does all of this, or an interrupt on the owner's CPU. So races have simple outcomes. If
 * an overflow's interrupt comes as the owner enters the kernel for
 *  - CONTROL or UNLINK: the overflow is forgotten with the old control. After the call no signal
 *	comes, except one that was already blocked before the call.
 *  - IRESUME or REFRESH: the counters have just overflowed, and no signal was sent. So IRESUME
 *	returns EINVAL, and REFRESH sets the number. The signal comes as the call returns.
 *  - exit: nothing is delivered. The sums are right.
 */

#include <linux/slab.h>
#include <linux/smp.h>

#include "thread/state.h"
#include "switch/period.h"

struct perfctr_imode *perfctr_imode_create(u32 nr, gfp_t gfp)
{
	struct perfctr_imode *imode = kzalloc(struct_size(imode, ctr, nr), gfp);

	if (imode)
		imode->nr = nr;
	return imode;
}

/* Makes the next start write the registers, because a start value has changed. */
static void ireload(struct perfctr_imode *imode)
{
	imode->cpu = -1;
}

/*
 * Begins a full period of each counter. If there is neither a signal nor a recorder, no overflow is
 * due.
 */
static void begin_periods(struct vperfctr *perfctr)
{
	u32 i, first = perfctr_config_nr_actrs(perfctr->config);
	const struct perfctr_recorder *recorder = perfctr->recorder;
	struct perfctr_imode *imode = perfctr->imode;
	bool due = recorder ? !recorder->throttled : imode->signo;

	for (i = 0; i < imode->nr; i++)
		imode->ctr[i].limit = perfctr->cpu_state.ctr[first + i].acc -
				      (due ? perfctr->config->ctr[first + i].ireset : -S64_MAX);
	ireload(imode);
}

void vperfctr_imode_init(struct vperfctr *perfctr, int signo, u64 refresh)
{
	struct perfctr_imode *imode = perfctr->imode;

	WRITE_ONCE(imode->signo, signo);
	imode->refresh = refresh;
	imode->left = max(refresh, 1ULL);
	imode->pending = 0;
	begin_periods(perfctr);
}

notrace void vperfctr_throttle(struct vperfctr *perfctr, bool throttled)
{
	perfctr->recorder->throttled = throttled;
	if (perfctr->imode)
		begin_periods(perfctr);
}

/*
 * Returns the value from which the register of counter i starts. The register comes to zero when
 * the sum reaches @next.
 */
static __always_inline u64 start_value(struct perfctr_imode *imode, u32 i, u64 sum)
{
	u64 left = min(imode->ctr[i].limit - sum, perfctr_cpu_irange());

	imode->ctr[i].next = sum + left;
	return -left;
}

/* Returns true if counter i, whose sum is @sum, has overflowed. Then a new period begins. */
static __always_inline bool ends_period(const struct vperfctr *perfctr, u32 i, u64 sum)
{
	const struct perfctr_config *config = perfctr->config;
	struct perfctr_imode *imode = perfctr->imode;

	if ((s64)(sum - imode->ctr[i].limit) < 0)
		return false;
	imode->ctr[i].limit = sum - config->ctr[perfctr_config_nr_actrs(config) + i].ireset;
	return true;
}

notrace int vperfctr_imode_start(struct vperfctr *perfctr)
{
	const struct perfctr_config *config = perfctr->config;
	const struct perfctr_cpu_ctr *ctr = perfctr->cpu_state.ctr;
	struct perfctr_imode *imode = perfctr->imode;
	u64 value[PERFCTR_MAX_HW];
	u32 i;

	lockdep_assert_irqs_disabled();
	ctr += perfctr_config_nr_actrs(config);
	if (likely(imode->cpu == smp_processor_id() && perfctr_cpu_istopped(perfctr)))
		return perfctr_cpu_istart(config, NULL);
	for (i = 0; i < imode->nr; i++)
		value[i] = start_value(imode, i, ctr[i].acc);
	return perfctr_cpu_istart(config, value);
}

/* Returns the sum of i-mode counter i. @sum: its difference plus its register, not sign-extended */
static u64 signed_sum(const struct perfctr_imode *imode, u32 i, u64 sum)
{
	u64 next = imode->ctr[i].next;

	return next + sign_extend64(sum - next, perfctr_cpu_iwidth() - 1);
}

notrace void vperfctr_imode_sample(const struct vperfctr *perfctr, u64 *value)
{
	const struct perfctr_config *config = perfctr->config;
	const struct perfctr_cpu_ctr *ctr = perfctr->cpu_state.ctr;
	u32 i, first = perfctr_config_nr_actrs(config);

	for (i = 0; i < config->nr; i++) {
		value[i] = ctr[i].acc;
		/*
		 * After an overflow, or after resume_in_part(), perhaps only the clock is resumed.
		 */
		if (!(perfctr->undo & PERFCTR_UNDO_ICTRS))
			continue;
		value[i] += perfctr_cpu_read(&ctr[i]);
		if (i >= first)
			value[i] = signed_sum(perfctr->imode, i - first, value[i]);
	}
}

notrace void vperfctr_imode_resume(struct vperfctr *perfctr)
{
	const struct perfctr_config *config = perfctr->config;
	struct perfctr_cpu_ctr *ctr = perfctr->cpu_state.ctr + perfctr_config_nr_actrs(config);
	const struct perfctr_imode *imode = perfctr->imode;
	u32 i;

	/*
	 * The register started at sum - next, so the difference is next, even if the register runs.
	 */
	for (i = 0; i < imode->nr; i++)
		ctr[i].acc = imode->ctr[i].next;
}

/*
 * Makes sums, and begins a new period of each counter that has overflowed. Returns a mask of these.
 */
static u32 identify_overflow(struct vperfctr *perfctr)
{
	struct perfctr_imode *imode = perfctr->imode;
	u32 i, first = perfctr_config_nr_actrs(perfctr->config), mask = 0;

	for (i = 0; i < imode->nr; i++) {
		u64 sum = signed_sum(imode, i, perfctr->cpu_state.ctr[first + i].acc);

		perfctr->cpu_state.ctr[first + i].acc = sum;
		if ((s64)(sum - imode->ctr[i].next) >= 0)
			ireload(imode);
		if (ends_period(perfctr, i, sum))
			mask |= BIT(first + i);
	}
	return mask;
}

void vperfctr_imode_stop(struct vperfctr *perfctr)
{
	perfctr_cpu_istop(perfctr->config, perfctr);
	perfctr->imode->stopped = true;
}

u32 vperfctr_imode_read_stopped(struct vperfctr *perfctr, u64 *value)
{
	const struct perfctr_config *config = perfctr->config;
	const struct perfctr_cpu_ctr *ctr = perfctr->cpu_state.ctr;
	u32 i, first = perfctr_config_nr_actrs(config), mask = 0;
	struct perfctr_imode *imode = perfctr->imode;

	imode->stopped = false;
	*value++ = perfctr->cpu_state.clock + perfctr_cpu_clock();
	for (i = 0; i < first; i++, ctr++)
		*value++ = ctr->acc + perfctr_cpu_read(ctr);
	for (i = 0; i < imode->nr; i++, ctr++, value++) {
		*value = signed_sum(imode, i, ctr->acc + perfctr_cpu_read(ctr));
		if (ends_period(perfctr, i, *value))
			mask |= BIT(first + i);
	}
	if (mask)
		WRITE_ONCE(perfctr->overflows, perfctr->overflows + 1);
	return mask;
}

static void become_suspended(struct vperfctr *perfctr, const u64 *value)
{
	struct perfctr_cpu_ctr *ctr;

	perfctr->cpu_state.clock = *value++;
	for (ctr = perfctr->cpu_state.ctr; ctr != perfctr->cpu_state.end; ctr++)
		ctr->acc = *value++;
	perfctr->undo = 0;
	ireload(perfctr->imode);
	smp_wmb();	/* all sums are written before seq is even: see sums_are_complete() */
	WRITE_ONCE(perfctr->seq, perfctr->seq + 1);
}

/* While this function runs, no reader uses the differences: seq is odd, and interrupts are off. */
bool vperfctr_imode_restart(struct vperfctr *perfctr, const u64 *value, bool suspend)
{
	const struct perfctr_config *config = perfctr->config;
	u32 i, first = perfctr_config_nr_actrs(config);
	struct perfctr_cpu_ctr *ctr = perfctr->cpu_state.ctr + first;
	struct perfctr_imode *imode = perfctr->imode;
	const u64 *sum = value + 1 + first;
	u64 start[PERFCTR_MAX_HW];

	for (i = 0; i < imode->nr; i++)
		start[i] = start_value(imode, i, sum[i]);
	if (unlikely(suspend || perfctr_cpu_istart(config, start))) {
		become_suspended(perfctr, value);
		return false;
	}
	for (i = 0; i < imode->nr; i++)
		ctr[i].acc = imode->ctr[i].next;
	return true;
}

notrace void vperfctr_imode_look(struct vperfctr *perfctr)
{
	struct perfctr_imode *imode = perfctr->imode;
	u32 mask;

	lockdep_assert_irqs_disabled();
	imode->cpu = smp_processor_id();
	mask = identify_overflow(perfctr);
	if (likely(!mask))
		return;
	imode->pending |= mask;
	WRITE_ONCE(perfctr->overflows, perfctr->overflows + 1);
	/* With samples, the counters go on. A sample is written as soon as possible. */
	if (!perfctr->recorder)
		atomic_or(PERFCTR_HOLD_OVERFLOWN, &perfctr->hold);
}
