// SPDX-License-Identifier: GPL-2.0
/*
 * Tries whether the counters of a CPU count. We execute a loop of known length in kernel mode,
 * twice, with different numbers of turns. The code around the loop is the same, so the difference
 * of the two counts comes from the turns alone. NMIs may add to a count, so a failed trial is
 * repeated.
 *
 * The trial cannot try events that the loop does not cause. It also cannot try whether counters
 * count user mode, which perfex selftest does.
 */

#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <asm/msr.h>

#include "arch/cpu.h"
#include "arch/x86/interrupt.h"
#include "arch/x86/registers.h"
#include "arch/x86/reset.h"
#include "arch/x86/take.h"
#include "arch/x86/trial.h"

/* If false, we use all counters that CPUID reports, although they may count nothing. */
bool perfctr_x86_trial_wanted = true;
module_param_named(trial, perfctr_x86_trial_wanted, bool, 0444);
MODULE_PARM_DESC(trial, "x86: try each counter with a known loop, and use none that counts it wrong (Y)");

/* A counter that never stops counts at most this much between a write and the next read. */
#define MEANWHILE	1000

/*
 * perf's NMIs may disturb at most so many tries of a trial beside perf. A trial takes some 100
 * microseconds.
 */
#define MAX_DISTURBED	10

#define MAX_KNOWN	4	/* the most entries of struct perfctr_x86_family.known */

/* An image of all counters, with room for each control register once */
union image {
	struct perfctr_cpu_image image;
	char room[sizeof(struct perfctr_cpu_image) +
		  PERFCTR_X86_CONTROLS * sizeof(struct perfctr_x86_entry)];
};

/* The image for each known event, and the image for the trial in user mode; constant after init */
static union image by_event[MAX_KNOWN], in_user_mode;
static unsigned int nr_known;

/*
 * There has been a first claim of all counters, so no counter is dropped any more. config_mutex.
 */
static bool settled;

/*
 * What each fixed counter counts in a turn. 0: the number is not known, but many turns cause some
 * events. Constant after init.
 */
static u8 fixed_per_turn[PERFCTR_X86_MAX];

static bool write_safe(u32 msr, u64 value)
{
	return !wrmsr_safe(msr, lower_32_bits(value), upper_32_bits(value));
}

/*
 * Writes a counter twice, because an erratum of the Pentium 4 (N15) may make the first write carry:
 * see zero.h.
 */
static bool write_ctr_safe(u32 msr, u64 value)
{
	return write_safe(msr, value) && write_safe(msr, value);
}

static bool read_safe(u32 msr, u64 *value)
{
	u32 low, high;

	if (rdmsr_safe(msr, &low, &high))
		return false;
	*value = (u64)high << 32 | low;
	return true;
}

static bool keeps(u32 msr, u64 value)
{
	u64 kept;

	return write_safe(msr, value) && read_safe(msr, &kept) && kept == value;
}

/*
 * Writes the bits of a control register that belong to @counters. Beside perf, its other bits may
 * be perf's. Returns false if the register does not keep the value.
 */
static bool set_control(u32 reg, u32 counters, u64 value)
{
	u64 own = perfctr_x86_bits_of(counters, reg), others = 0;
	u32 msr = perfctr_pmu.control[reg].msr;

	/* Firmware may use a register that we do not use. */
	if (!own || perfctr_pmu.control[reg].unused)
		return true;
	if (~own && read_safe(msr, &others))
		others &= ~own;
	return keeps(msr, others | (value & own));
}

/*
 * Returns true if the counter reads as @expected after @value was written to @msr. Only the bits
 * that a counter has are compared.
 */
static bool ctr_keeps(unsigned int hw, u32 msr, u64 value, u64 expected)
{
	u64 all = GENMASK_ULL(perfctr_pmu.width - 1, 0), kept;

	if (!write_ctr_safe(msr, value) || !read_safe(perfctr_pmu.ctr[hw].msr, &kept))
		return false;
	if (perfctr_pmu.never_stop & BIT(hw))
		return ((kept - expected) & all) < MEANWHILE;
	return (kept & all) == (expected & all);
}

/* Returns the counters that this register controls, as a bit map. */
static u32 controlled_by(u32 reg)
{
	unsigned long counters = perfctr_pmu.counters;
	unsigned int hw;
	u32 found = 0;

	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		if (perfctr_pmu.ctr[hw].reg == reg)
			found |= BIT(hw);
	return found;
}

/* Writes a start value and zero to each counter. Returns the counters that do not keep them. */
static u32 try_values(unsigned long counters)
{
	unsigned int hw;
	u32 bad = 0;

	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX) {
		const struct perfctr_x86_ctr *ctr = &perfctr_pmu.ctr[hw];

		if (!ctr_keeps(hw, ctr->start_msr, -256LL & ctr->start_mask, -256LL) ||
		    !ctr_keeps(hw, ctr->msr, 0, 0))
			bad |= BIT(hw);
	}
	return bad;
}

static void clear_controls(u32 counters)
{
	unsigned int reg;

	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++)
		set_control(reg, counters, 0);
}

/*
 * Starts all counters. Returns the counters that do not start. A hypervisor may not know the bit of
 * the metrics in the global control. In that case only SLOTS is returned.
 */
static u32 start(void)
{
	u64 all = global_bits(perfctr_pmu.counters);

	if (!perfctr_pmu.global_ctrl || keeps(perfctr_pmu.global_ctrl, all))
		return 0;
	return keeps(perfctr_pmu.global_ctrl, all & ~perfctr_pmu.global_always) ?
		perfctr_pmu.slots : perfctr_pmu.counters;
}

/*
 * Counters that never stop are zeroed just before the loop, and read just after it. So they count
 * the same outside the loop each time.
 */
static void zero_running(void)
{
	unsigned long counters = perfctr_pmu.counters & perfctr_pmu.never_stop;
	unsigned int hw;

	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		write_safe(perfctr_pmu.ctr[hw].msr, 0);
}

static void read_running(u64 *counts)
{
	unsigned long counters = perfctr_pmu.counters & perfctr_pmu.never_stop;
	u64 all = GENMASK_ULL(perfctr_pmu.width - 1, 0);
	unsigned int hw;

	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX) {
		counts[hw] = 0;
		read_safe(perfctr_pmu.ctr[hw].msr, &counts[hw]);
		counts[hw] &= all;
	}
}

/*
 * Counts the loop by each of @counters, and sets @counts. Returns the counters that could not be
 * set up.
 */
static u32 count(const struct perfctr_cpu_image *image, unsigned long counters,
		 unsigned long turns, u64 *counts)
{
	unsigned int hw, i;
	u32 bad = 0;

	perfctr_x86_reset();
	for (i = 0; i < image->nr; i++) {
		u32 reg = image->entry[i].reg;

		if (!set_control(reg, counters, image->entry[i].value))
			bad |= controlled_by(reg);
	}
	bad |= start();
	zero_running();
	perfctr_x86_spin(turns);
	read_running(counts);
	if (perfctr_pmu.global_ctrl)
		write_safe(perfctr_pmu.global_ctrl, 0);
	clear_controls(counters);
	counters &= ~perfctr_pmu.never_stop;
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX) {
		counts[hw] = 0;
		read_safe(perfctr_pmu.ctr[hw].msr, &counts[hw]);
		write_ctr_safe(perfctr_pmu.ctr[hw].msr, 0);
	}
	return bad;
}

/* Tries an image. Returns those of @counters that counted right. */
static u32 try_image(const struct perfctr_cpu_image *image, unsigned long counters, u8 per_turn,
		     bool user)
{
	u64 few[PERFCTR_X86_MAX], many[PERFCTR_X86_MAX];
	u32 bad, good = 0;
	unsigned int hw;

	bad = count(image, counters, PERFCTR_X86_SHORT, few);
	bad |= count(image, counters, PERFCTR_X86_LONG, many);
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX) {
		u8 each = hw < PERFCTR_X86_FIXED ? per_turn : fixed_per_turn[hw];

		if (user ? !few[hw] && !many[hw] :
			   perfctr_x86_is_right(few[hw], many[hw], each))
			good |= BIT(hw);
	}
	return good & ~bad;
}

/* Tries these counters once. noinline, so that this stack frame does not add to the caller's. */
static noinline void try_once(u32 counters, struct perfctr_x86_trial *trial)
{
	const struct perfctr_x86_known *known = perfctr_pmu.family->known;
	u32 general = counters & perfctr_pmu.general, fixed = counters & ~general;
	u32 good_for[MAX_KNOWN], good = 0, tried = 0;
	unsigned int i;

	trial->counters = try_values(counters);
	for (i = 0; i < nr_known; i++) {
		u32 can = (known[i].counters ?: general) & counters;

		good_for[i] = ~0u;
		if (known[i].bit & ~perfctr_pmu.events)
			continue;
		good_for[i] = try_image(&by_event[i].image, counters, known[i].per_turn, false);
		good |= good_for[i] & can;
		fixed &= good_for[i];
		tried |= can;
	}
	/* Counters that were not tried pass, because the processor may lack the known events. */
	good |= (general & ~tried) | fixed;
	if (!perfctr_pmu.modeless)
		good &= try_image(&in_user_mode.image, counters, 0, true);
	trial->counters |= counters & ~good;
	trial->events = 0;
	for (i = 0; i < nr_known; i++)
		if (general & ~trial->counters & ~good_for[i])
			trial->events |= known[i].bit;
}

/*
 * Writes the old value back to a counter. Some counters take only the lower bits and extend their
 * sign. If such a write cannot give the old value, writes zero.
 */
static void put_back(unsigned int hw, u64 value)
{
	const struct perfctr_x86_ctr *ctr = &perfctr_pmu.ctr[hw];
	u64 all = GENMASK_ULL(perfctr_pmu.width - 1, 0);
	u64 sign = ctr->start_mask ^ ctr->start_mask >> 1;
	u64 written = value & ctr->start_mask;

	if (written & sign)
		written |= all & ~ctr->start_mask;
	write_ctr_safe(ctr->start_msr, written == (value & all) ? value & ctr->start_mask : 0);
}

/*
 * Tries these counters until they are right, or wrong PERFCTR_X86_TRIES times without an NMI that
 * comes between and may be why. Returns false if there were too many NMIs.
 */
static bool try_often(u32 counters, struct perfctr_x86_trial *trial)
{
	unsigned int left = PERFCTR_X86_TRIES, disturbed = 0, nmis;

	while (left && disturbed < MAX_DISTURBED) {
		nmis = perfctr_x86_nmis();
		try_once(counters, trial);
		if (!trial->counters && !trial->events)
			return true;
		if (nmis == perfctr_x86_nmis())
			left--;
		else
			disturbed++;
	}
	return !left;
}

bool perfctr_x86_try(u32 asked, struct perfctr_x86_trial *trial)
{
	u64 control[PERFCTR_X86_CONTROLS] = {}, ctr[PERFCTR_X86_MAX] = {}, global = 0;
	unsigned long counters = asked;
	unsigned int reg, hw;
	bool known;

	lockdep_assert_irqs_disabled();
	*trial = (struct perfctr_x86_trial){};
	if (!nr_known)
		return true;
	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++)
		read_safe(perfctr_pmu.control[reg].msr, &control[reg]);
	if (perfctr_pmu.global_ctrl) {
		read_safe(perfctr_pmu.global_ctrl, &global);
		write_safe(perfctr_pmu.global_ctrl, 0);
	}
	clear_controls(counters);
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		read_safe(perfctr_pmu.ctr[hw].msr, &ctr[hw]);
	known = try_often(counters, trial);
	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX)
		put_back(hw, ctr[hw]);
	for (reg = 0; reg < perfctr_pmu.nr_controls; reg++)
		set_control(reg, counters, control[reg]);
	if (perfctr_pmu.global_ctrl)
		write_safe(perfctr_pmu.global_ctrl, global);
	return known;
}

bool perfctr_x86_try_here(u32 counters)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	u32 asked = counters & ~cpu->tried;
	struct perfctr_x86_trial found = {};

	if (!asked || cpu->core == PERFCTR_X86_NO_CORE)
		return true;
	if (perfctr_x86_trial_wanted && !perfctr_x86_try(asked, &found))
		return false;
	cpu->bad |= found.counters;
	cpu->bad_events |= found.events;
	cpu->tried |= asked;
	return true;
}

bool perfctr_x86_is_bad(const struct perfctr_x86_cpu *cpu)
{
	return (cpu->bad & perfctr_pmu.counters) || (cpu->bad_events & perfctr_pmu.events);
}

bool perfctr_x86_drop_bad(void)
{
	bool any = false;
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		const struct perfctr_x86_cpu *own = per_cpu_ptr(&perfctr_x86_cpu, cpu);

		if (own->core == PERFCTR_X86_NO_CORE || !perfctr_x86_is_bad(own))
			continue;
		any = true;
		pr_warn("perfctr: CPU %u counts a known loop wrong: counters 0x%x and architectural events 0x%x are not used\n",
			cpu, own->bad & perfctr_pmu.counters, own->bad_events & perfctr_pmu.events);
		perfctr_x86_drop(own->bad, own->bad_events);
	}
	if (!perfctr_pmu.counters)
		perfctr_pmu.none = PERFCTR_NO_COUNTERS_TRIAL;
	return any;
}

static int try_here(void *unused)
{
	perfctr_x86_try_here(perfctr_pmu.counters);
	return 0;
}

void perfctr_x86_try_all(perfctr_run_t run)
{
	bool tried = true;
	unsigned int cpu;

	for_each_online_cpu(cpu)
		tried &= !!per_cpu(perfctr_x86_cpu, cpu).tried;
	if (!tried)
		run(try_here, NULL);
	if (!settled)
		perfctr_x86_drop_bad();
	settled = true;
	if (tried)
		return;
	for_each_online_cpu(cpu) {
		struct perfctr_x86_cpu *own = per_cpu_ptr(&perfctr_x86_cpu, cpu);

		if (perfctr_x86_is_bad(own))
			perfctr_x86_set_core(own, PERFCTR_X86_NO_CORE);
	}
}

void perfctr_x86_judge_coming(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (!settled && !perfctr_pmu.beside)
		perfctr_x86_drop_bad();
	else if (perfctr_x86_is_bad(cpu))
		perfctr_x86_set_core(cpu, PERFCTR_X86_NO_CORE);
}

/*
 * Adds a known event to an image. With the image, all general counters that can count this event
 * count it, and each fixed counter counts its own event.
 */
static void __init make_image(union image *to, const struct perfctr_x86_known *known, u32 mode)
{
	unsigned long counters = known->counters ?: perfctr_pmu.counters;
	unsigned int hw;

	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX) {
		const struct perfctr_ctr_control ctr = {
			.map = hw, .event = known->event, .config = known->config, .flags = mode,
		};

		perfctr_pmu.family->compile(&ctr, hw, &to->image);
	}
}

/*
 * Finds the known event that each fixed counter counts. Other fixed counters are expected to count
 * some events in many turns.
 */
static void __init find_fixed(const struct perfctr_x86_known *known)
{
	unsigned long fixed = perfctr_pmu.counters & ~perfctr_pmu.general;
	unsigned int hw, i;

	for_each_set_bit(hw, &fixed, PERFCTR_X86_MAX) {
		for (i = 0; i < nr_known; i++) {
			struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
			const struct perfctr_ctr_control ctr = {
				.map = hw, .event = known[i].event, .flags = PERFCTR_CTR_KERNEL,
			};
			u32 can = 0;

			if (!perfctr_pmu.family->check(&ctr, &can, &why) && can & BIT(hw))
				fixed_per_turn[hw] = known[i].per_turn;
		}
	}
}

void __init perfctr_x86_trial_init(void)
{
	const struct perfctr_x86_known *known = perfctr_pmu.family->known;

	for (; known[nr_known].event; nr_known++) {
		make_image(&by_event[nr_known], &known[nr_known], PERFCTR_CTR_KERNEL);
		/* In user mode the first event is enough if all counters can count it. */
		if (!nr_known || known[nr_known].counters)
			make_image(&in_user_mode, &known[nr_known], PERFCTR_CTR_USER);
	}
	if (nr_known)
		find_fixed(known);
}
