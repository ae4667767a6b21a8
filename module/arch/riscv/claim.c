// SPDX-License-Identifier: GPL-2.0
/* RISC-V: who has which counters, and CPUs that come and go. */

#define pr_fmt(fmt) "perfctr: " fmt

#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include "base/work.h"
#include "arch/riscv/choose.h"
#include "arch/riscv/registers.h"
#include "arch/riscv/sbi_events.h"

/*
 * For each counter that claimed configs use: the number of users, and what the latest user wants
 * the counter to count. Written under config_mutex. A CPU that comes back from a deep sleep reads
 * pool[] without the mutex. This is harmless: prog[] shows whether a counter was programmed
 * wrongly. If a counter was released meanwhile, the interrupt that releases it here follows.
 */
static struct pooled {
	unsigned int users;
	struct perfctr_riscv_prog prog;
} pool[PERFCTR_RISCV_MAX];

static u32 pooled;	/* bit map of the counters with users; config_mutex */

/*
 * pool[] says what all claimed configs need. Each CPU's perfctr_riscv_cpu says what that CPU has.
 */

/*
 * @members: counters of the config, a bit for each index. @counters: hardware counters, a bit for
 * each number.
 */
struct claim {
	const struct perfctr_config *config;
	u32 members;
	u32 counters;
};

/*
 * If only cycle and instret can count cycles and instructions, the firmware gives these counters to
 * perf even if we have them, and perf writes and stops them. This is so without Sscofpmf, and on
 * boards whose device tree maps these events to no other counter. But perf also keeps its own list
 * of counters in use. So we make a pinned perf event on each CPU, which takes the counter in that
 * list. Other perf events that need the counter then do not count, and report so.
 *
 * Some firmware gives cycle and instret only to callers that ask for them by number. perf does not,
 * so it never gets them. On other machines, perf takes cycle and instret only when it has run out
 * of programmable counters. On such machines we could not make an event that surely gets them.
 *
 * Written under config_mutex.
 */
static DEFINE_PER_CPU(struct {
	struct perf_event *event[PERFCTR_RISCV_HPM];
}, perf_reserved);

static bool reservable(unsigned int hw)
{
	return perfctr_pmu.fixed_only & BIT(hw) && !READ_ONCE(perfctr_pmu.never_chosen);
}

static void unreserve_on(unsigned int cpu, unsigned int hw)
{
	struct perf_event *event = per_cpu(perf_reserved, cpu).event[hw];

	per_cpu(perf_reserved, cpu).event[hw] = NULL;
	if (event)
		perf_event_release_kernel(event);
}

static int reserve_here(unsigned int cpu, unsigned int hw)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = hw == PERFCTR_RISCV_CYCLE ? PERF_COUNT_HW_CPU_CYCLES :
						      PERF_COUNT_HW_INSTRUCTIONS,
		.pinned = 1,
		/* A PMU that cannot exclude anything refuses this bit: see perf/event.c. */
		.exclude_guest = perfctr_pmu.filter,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);

	if (IS_ERR(event)) {
		switch (PTR_ERR(event)) {
		case -ENOMEM:
			return -ENOMEM;
		case -ENOENT:
		case -ENODEV:
		case -EINVAL:
		case -EOPNOTSUPP:
			return 0;	/* perf lacks this event, so it never takes the counter */
		default:
			return -EBUSY;
		}
	}
	per_cpu(perf_reserved, cpu).event[hw] = event;
	if (event->state == PERF_EVENT_STATE_ACTIVE)
		return 0;
	unreserve_on(cpu, hw);
	return -EBUSY;
}

/*
 * Runs in a kernel thread on the event's CPU, so the caller's privileges do not matter. When perf
 * adds the new event, it stops and restarts all its events on that CPU, including the events that
 * we made before. No state is resumed meanwhile.
 */
static long reserve_by_kernel(void *arg)
{
	return reserve_here(smp_processor_id(), *(unsigned int *)arg);
}

static int reserve_on(unsigned int cpu, unsigned int hw)
{
	return perfctr_work_on_cpu(cpu, reserve_by_kernel, &hw);
}

static void unreserve(unsigned int hw)
{
	unsigned int cpu;

	if (!reservable(hw))
		return;
	for_each_online_cpu(cpu)
		unreserve_on(cpu, hw);
}

/* Removes a user of the counter. Returns true if that was the last user. */
static bool pool_put(unsigned int hw)
{
	if (--pool[hw].users)
		return false;
	pooled &= ~BIT(hw);
	/*
	 * Unreserve the counter before it is released, because perf stops a counter that it gives
	 * up.
	 */
	unreserve(hw);
	return true;
}

static int reserve(unsigned int hw)
{
	unsigned int cpu;
	int err = 0;

	if (!reservable(hw))
		return 0;
	for_each_online_cpu(cpu) {
		err = reserve_on(cpu, hw);
		if (err)
			break;
	}
	if (err)
		unreserve(hw);
	return err;
}

/* Returns a bit for each counter of the config, by index. The config has at least one counter. */
static u32 all_members(const struct perfctr_config *config)
{
	return GENMASK(config->nr - 1, 0);
}

/* Returns true if that counter is ours and counts what the control asks for. */
static bool member_counts(const struct perfctr_riscv_cpu *cpu, unsigned int hw,
			  const struct perfctr_ctr_control *ctr)
{
	const struct perfctr_riscv_prog *prog = &cpu->prog[hw];

	return cpu->owned & BIT(hw) && prog->event == ctr->event &&
	       prog->flags == ctr->flags && prog->config == ctr->config;
}

static int claim_take(void *arg)
{
	const struct claim *claim = arg;
	const struct perfctr_config *config = claim->config;
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	u32 members = claim->members, nr = config->nr;
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		struct perfctr_riscv_prog prog __uninitialized;

		/* Most counters already count the right event. */
		if (!(members >> i & 1) || member_counts(cpu, config->hw[i], &config->ctr[i]))
			continue;
		prog = perfctr_riscv_ctr_prog(&config->ctr[i]);
		err = perfctr_riscv_take(cpu, config->hw[i], &prog);
		if (err)
			return err;
	}
	/*
	 * All counters now count what the config wants, as after take_all(). But @private_kin, if
	 * it is set, is the kin of the config with id @programmed. So @programmed must not change
	 * then.
	 */
	if (members == all_members(config) && !cpu->private_kin)
		cpu->programmed = READ_ONCE(config->id);
	return 0;
}

static int claim_release(void *arg)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	const struct claim *claim = arg;

	perfctr_riscv_release(cpu, claim->counters);
	cpu->denied &= ~claim->counters;	/* no config wants these counters any more */
	return 0;
}

/*
 * Chooses a counter for an event that no counter in @ours counts. This is a separate function so
 * that claim_choose() needs no stack frame.
 */
static noinline unsigned int choose_other(unsigned long candidates, unsigned long ours,
					  u32 except)
{
	if (!candidates)
		return PERFCTR_RISCV_MAX;
	if (candidates != ours &&
	    (!ours || hweight32((pooled | except) & perfctr_pmu.programmable) <
	     hweight32(perfctr_pmu.programmable) / 2))
		return __ffs(candidates & ~ours);
	return __ffs(ours);
}

/*
 * Returns the best counter for an event, or PERFCTR_RISCV_MAX. The first choice is one of our
 * counters that counts exactly this event, or else one that counts this event in other modes. The
 * second choice is a counter without a user, as long as half of the counters are left to perf. This
 * order avoids reprogramming when threads with different controls switch. The last choice is one of
 * our counters that counts something else.
 */
static unsigned int claim_choose(const struct perfctr_ctr_control *ctr, u32 except)
{
	unsigned long candidates = perfctr_pmu.programmable & ~except;
	unsigned long ours = candidates & pooled, left = ours >> PERFCTR_RISCV_HPM;
	const struct pooled *entry = &pool[PERFCTR_RISCV_HPM], *same_event = NULL;

	for (; left; left >>= 1, entry++) {
		if (!(left & 1) || entry->prog.event != ctr->event ||
		    entry->prog.config != ctr->config)
			continue;
		if (entry->prog.flags == ctr->flags)
			return entry - pool;
		if (!same_event)
			same_event = entry;
	}
	if (same_event)
		return same_event - pool;
	return choose_other(candidates, ours, except);
}

/*
 * Claims the counters in @which. Writes the pool first, so that a CPU that wakes up meanwhile keeps
 * what it has taken.
 */
static int claim_try(struct perfctr_config *config, u32 which, perfctr_run_t run)
{
	struct claim claim = { .config = config, .members = which };
	struct perfctr_riscv_prog old[PERFCTR_MAX_HW] __uninitialized;
	unsigned int i;
	int err = 0;

	for (i = 0; i < config->nr; i++) {
		unsigned int hw = config->hw[i];
		struct pooled *entry = &pool[hw];

		if (!(which >> i & 1))
			continue;
		old[i] = entry->prog;
		entry->prog = perfctr_riscv_ctr_prog(&config->ctr[i]);
		if (entry->users++)
			continue;
		pooled |= BIT(hw);
		if (!err)
			err = reserve(hw);
	}
	if (!err && perfctr_riscv_sbi)
		err = run(claim_take, &claim);
	if (!err)
		return 0;
	for (i = 0; i < config->nr; i++) {
		unsigned int hw = config->hw[i];

		if (!(which >> i & 1))
			continue;
		pool[hw].prog = old[i];
		if (pool_put(hw))
			claim.counters |= BIT(hw);
	}
	if (claim.counters)
		run(claim_release, &claim);
	return err;
}

/* Tries to claim all counters at once, which usually works. Returns true if it has worked. */
static bool claim_all(struct perfctr_config *config, u32 named, perfctr_run_t run)
{
	u32 used = named, nr = config->nr;
	unsigned int i, hw;

	for (i = 0; i < nr; i++) {
		if (config->hw[i] != PERFCTR_RISCV_MAX)
			continue;
		hw = claim_choose(&config->ctr[i], used);
		if (hw == PERFCTR_RISCV_MAX)
			return false;
		config->hw[i] = hw;
		used |= BIT(hw);
	}
	if (claim_try(config, all_members(config), run))
		return false;
	config->mask = used;
	return true;
}

static int claim_any(struct perfctr_config *config, unsigned int i, u32 used, perfctr_run_t run)
{
	unsigned int hw;

	for (;;) {
		hw = claim_choose(&config->ctr[i], used);
		if (hw == PERFCTR_RISCV_MAX)
			return -EBUSY;
		config->hw[i] = hw;
		if (!claim_try(config, BIT(i), run))
			return 0;
		used |= BIT(hw);
	}
}

/* Runs on each CPU. Returns 0, or -EBUSY if somebody else has one of the counters. */
static int claim_look(void *arg)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	const struct claim *claim = arg;
	unsigned long others = claim->counters & ~cpu->owned;
	unsigned int hw;

	for_each_set_bit(hw, &others, PERFCTR_RISCV_MAX)
		if (!perfctr_riscv_is_free(cpu, hw))
			return -EBUSY;
	return 0;
}

/*
 * The firmware does not say why it refuses a request. The event may not exist, or not on that
 * counter, or somebody else may have the counter. If all possible counters are ours or free, the
 * event is to blame.
 */
static int claim_refused(u32 candidates, perfctr_run_t run, struct perfctr_refusal *why)
{
	struct claim claim = { .counters = candidates };

	if (candidates & FIXED_MASK) {
		why->owner = reservable(__ffs(candidates)) ? PERFCTR_OWNER_PERF :
							     PERFCTR_OWNER_FIRMWARE;
		return -EBUSY;
	}
	if (run(claim_look, &claim)) {
		why->owner = PERFCTR_OWNER_PERF;
		return -EBUSY;
	}
	return -EINVAL;
}

/* Returns the counter that the control names, or PERFCTR_RISCV_MAX. */
static unsigned int named_counter(const struct perfctr_ctr_control *ctr)
{
	u32 map = ctr->map == PERFCTR_MAP_ANY ? perfctr_riscv_fixed_for(ctr->event) : ctr->map;

	return map < PERFCTR_RISCV_MAX ? map : PERFCTR_RISCV_MAX;
}

/*
 * Claims one counter at a time, to find out which counter is refused, and to try other counters
 * instead.
 */
static int claim_each(struct perfctr_config *config, u32 named, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	u32 used = named;
	unsigned int i;
	bool any;
	int err;

	/*
	 * Named counters come first, so that PERFCTR_MAP_ANY takes none of them.
	 * perfctr_cpu_check() has made sure that no counter is named twice.
	 */
	for (any = false;; any = true) {
		for (i = 0; i < config->nr; i++) {
			unsigned int hw = named_counter(&config->ctr[i]);
			bool is_named = hw < PERFCTR_RISCV_MAX;

			if (is_named == any)
				continue;
			config->hw[i] = hw;
			err = any ? claim_any(config, i, used, run) :
				    claim_try(config, BIT(i), run);
			if (err == -ENOMEM)
				return err;
			if (err) {
				why->index = i;
				return claim_refused(any ? perfctr_pmu.programmable & ~used :
						     BIT(hw), run, why);
			}
			config->mask |= BIT(config->hw[i]);
			used |= BIT(config->hw[i]);
		}
		if (any)
			return 0;
	}
}

int perfctr_cpu_core(const struct perfctr_where *where, u32 *core)
{
	*core = 0;
	return 0;
}

bool perfctr_cpu_is_forbidden(unsigned int cpu)
{
	return false;
}

int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	u32 named = 0, nr = config->nr;
	unsigned int i;
	int err;

	config->mask = 0;
	if (!nr)
		return 0;
	for (i = 0; i < nr; i++) {
		unsigned int hw = named_counter(&config->ctr[i]);

		config->hw[i] = hw;
		if (hw != PERFCTR_RISCV_MAX)
			named |= BIT(hw);
	}
	if (!claim_all(config, named, run)) {
		err = claim_each(config, named, run, why);
		if (err) {
			perfctr_cpu_unclaim(config, run);
			return err;
		}
	}
	if (!perfctr_pmu.probed)
		for (i = 0; i < nr; i++)
			perfctr_riscv_event_is_proven(config->ctr[i].event);
	config->imask = 0;
	for (i = perfctr_config_nr_actrs(config); i < nr; i++)
		config->imask |= BIT(config->hw[i]);
	config->arch_mask = perfctr_riscv_sbi_mask(perfctr_riscv_actrs(config));
	return 0;
}

void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run)
{
	struct claim claim = { .config = config };
	unsigned long mask = config->mask;
	unsigned int hw;

	for_each_set_bit(hw, &mask, PERFCTR_RISCV_MAX)
		if (pool_put(hw) && perfctr_riscv_sbi)
			claim.counters |= BIT(hw);
	/*
	 * Run this even if no counter is given back: states of this config must lose their claim.
	 */
	if (config->nr)
		run(claim_release, &claim);
}

void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw)
{
	ctr->map = hw;
}

/*
 * Forgets what the CPU did after its offline callback. The CPU still switched to threads that had
 * to leave it, and may have loaded their configs. The firmware has forgotten all of that.
 */
void perfctr_cpu_prepare(unsigned int cpu)
{
	memset(per_cpu_ptr(&perfctr_riscv_cpu, cpu), 0, sizeof(struct perfctr_riscv_cpu));
}

/* Records counters that perf denies. A load that needs such a counter fails with -EIO. */
void perfctr_cpu_reserve(unsigned int cpu)
{
	unsigned int hw;
	u32 denied = 0;

	for (hw = 0; hw < PERFCTR_RISCV_HPM; hw++)
		if (pool[hw].users && reservable(hw) && reserve_here(cpu, hw))
			denied |= BIT(hw);
	local_irq_disable();
	this_cpu_ptr(&perfctr_riscv_cpu)->denied = denied;
	local_irq_enable();
}

void perfctr_cpu_unreserve(unsigned int cpu)
{
	unsigned int hw;

	for (hw = 0; hw < PERFCTR_RISCV_HPM; hw++)
		unreserve_on(cpu, hw);
}

void perfctr_cpu_online(void)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	unsigned int hw;

	/*
	 * The firmware may have forgotten anything during a deep sleep. If the CPU's offline was
	 * cancelled, the CPU may have loaded configs since it gave everything back.
	 */
	perfctr_cpu_offline();
	if (!perfctr_riscv_sbi)
		return;
	/*
	 * If a counter is not available now, perfctr_cpu_load() tries to take it again, and may
	 * fail with -EIO.
	 */
	for (hw = 0; hw < PERFCTR_RISCV_MAX; hw++) {
		/* Copy the entry, so that we record exactly what we program. */
		struct perfctr_riscv_prog prog = pool[hw].prog;

		barrier();
		if (pool[hw].users)
			perfctr_riscv_take(cpu, hw, &prog);
	}
}

void perfctr_cpu_join_claims(void)
{
	perfctr_cpu_online();
}

void perfctr_cpu_offline(void)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);

	lockdep_assert_irqs_disabled();
	if (perfctr_riscv_sbi)
		perfctr_riscv_release(cpu, cpu->owned);
}
