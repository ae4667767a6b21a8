// SPDX-License-Identifier: GPL-2.0
/*
 * The P5, its clones, and the C3: what is found, and each rule of perfctr 2.6's low-level-x86.txt
 * for them, accepted and refused.
 */
#include <asm/nmi.h>
#include <check.h>

#include "tests.h"

#define CESR	0x11

#define OLD_MACHINES	6
static const struct model_machine *const olds[OLD_MACHINES] = {
	&model_p5, &model_p5mmx, &model_mii, &model_c6, &model_winchip_2, &model_c3,
};

static bool has_modes(void)
{
	return model.vendor != X86_VENDOR_CENTAUR;
}

static bool is_c3(void)
{
	return !has_modes() && model.family == 6;
}

/*
 * What is found
 */

static const struct {
	const char *name;
	u8 vendor, family, model;
	bool mmx;
	u32 type;	/* 0: it is not known */
} types[] = {
#define INTEL	X86_VENDOR_INTEL
#define CYRIX	X86_VENDOR_CYRIX
#define CENTAUR	X86_VENDOR_CENTAUR
	{ "P5", INTEL, 5, 1, false, PERFCTR_X86_INTEL_P5 },
	{ "P54C", INTEL, 5, 2, false, PERFCTR_X86_INTEL_P5 },
	{ "P55C", INTEL, 5, 4, true, PERFCTR_X86_INTEL_P5MMX },
	{ "Tillamook", INTEL, 5, 8, true, PERFCTR_X86_INTEL_P5MMX },
	{ "486", INTEL, 4, 8, false, 0 },
	{ "6x86MX", CYRIX, 6, 0, true, PERFCTR_X86_CYRIX_MII },
	{ "III", CYRIX, 6, 5, true, PERFCTR_X86_CYRIX_MII },
	{ "MediaGX", CYRIX, 5, 4, true, 0 },
	{ "6x86", CYRIX, 5, 2, false, 0 },
	{ "C6", CENTAUR, 5, 4, true, PERFCTR_X86_WINCHIP_C6 },
	{ "WinChip 2", CENTAUR, 5, 8, true, PERFCTR_X86_WINCHIP_2 },
	{ "WinChip 3", CENTAUR, 5, 9, true, PERFCTR_X86_WINCHIP_2 },
	{ "another WinChip", CENTAUR, 5, 5, true, 0 },
	{ "Samuel", CENTAUR, 6, 6, true, PERFCTR_X86_VIA_C3 },
	{ "Ezra", CENTAUR, 6, 7, true, PERFCTR_X86_VIA_C3 },
	{ "Ezra-T", CENTAUR, 6, 8, true, PERFCTR_X86_VIA_C3 },
	{ "Nehemiah", CENTAUR, 6, 9, true, PERFCTR_X86_VIA_C3 },
	{ "C7", CENTAUR, 6, 10, true, 0 },
	{ "before the C3", CENTAUR, 6, 5, true, 0 },
	{ "AMD's K6", X86_VENDOR_AMD, 5, 8, true, 0 },
};

START_TEST(type_by_processor)
{
	/* Whatever else it has: a register that nobody asks for is not there. */
	struct model_machine machine = model_p5mmx;
	struct perfctr_kernel_info info = {};

	if (types[_i].vendor == CYRIX)
		machine = model_mii;
	else if (types[_i].family == 6)
		machine = model_c3;
	else if (types[_i].vendor == CENTAUR)
		machine = model_c6;
	machine.vendor = types[_i].vendor;
	machine.family = types[_i].family;
	machine.model = types[_i].model;
	machine.mmx = types[_i].mmx;
	driver_init(&machine);
	perfctr_cpu_info(&info);
	ck_assert_msg(info.cpu_type == types[_i].type, "%s: %u", types[_i].name, info.cpu_type);
	ck_assert_msg(!info.counters == !types[_i].type, "%s: %#llx", types[_i].name, info.counters);
	ck_assert_uint_eq(info.no_counters, types[_i].type ? PERFCTR_NO_COUNTERS_NONE :
							     PERFCTR_NO_COUNTERS_PROCESSOR);
}
END_TEST

static const struct {
	u64 counters;
	u32 features;
	unsigned int width;
	u64 hz;
} found[OLD_MACHINES] = {
#define CLOCK	PERFCTR_FEATURE_RDTSC
#define RDPMC	PERFCTR_FEATURE_RDPMC
#define FILTER	(PERFCTR_FEATURE_FILTER | PERFCTR_FEATURE_FILTER_FIXED)
	{ 3, CLOCK | FILTER, 40, 1500000000 },
	{ 3, CLOCK | RDPMC | FILTER, 40, 1500000000 },
	{ 3, CLOCK | RDPMC | FILTER, 48, 1500000000 },
	{ 3, RDPMC, 32, 1000000000 },
	{ 3, RDPMC, 32, 1000000000 },
	{ 2, CLOCK | RDPMC, 32, 1500000000 },
};

static void changes(bool ends)
{
	(void)ends;
}

static void hides(void)
{
}

/* Nothing interrupts, and the local APIC is not touched. */
START_TEST(info_tells)
{
	struct perfctr_kernel_info info = {};

	driver_init(olds[_i]);
	perfctr_cpu_permit_init(changes, hides);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.counters, found[_i].counters);
	ck_assert_uint_eq(info.cpu_features, found[_i].features);
	ck_assert_uint_eq(info.width, found[_i].width);
	ck_assert_uint_eq(info.tsc_hz, found[_i].hz);
	ck_assert_uint_eq(info.nrctrs, hweight32((u32)found[_i].counters));
	ck_assert(perfctr_cpu_modeless() == !has_modes());
	ck_assert(perfctr_cpu_can_guard() == has_modes());
	ck_assert(perfctr_cpu_clock_hidden() == !(found[_i].features & CLOCK));
	/* The P5 has no instruction to permit. */
	ck_assert(perfctr_cpu_can_permit() == !!(found[_i].features & RDPMC));
	/* What the page says is the counter's number, with the instruction or without. */
	ck_assert_uint_eq(perfctr_cpu_operand(1), 1);
	/* A second or more: nothing wraps before that. */
	ck_assert_uint_ge(perfctr_cpu_age_period(), HZ / 2);
	perfctr_cpu_permit_exit();
}
END_TEST

static const struct {
	const char *name;
	const struct model_machine *machine;
	u32 no_msr, no_rdpmc;
	bool counters;
} lies[] = {
	{ "P5, CESR", &model_p5, CESR, ~0u, false },
	{ "P5, the second counter", &model_p5, 0x13, ~0u, false },
	{ "P5, RDPMC, which it never has", &model_p5, ~0u, 1, true },
	{ "MMX, RDPMC", &model_p5mmx, ~0u, 0, false },
	{ "MII, the first counter", &model_mii, 0x12, ~0u, false },
	{ "C6, CESR", &model_c6, CESR, ~0u, false },
	{ "WinChip 2, RDPMC", &model_winchip_2, ~0u, 1, false },
	{ "C3, event select", &model_c3, 0x187, ~0u, false },
	{ "C3, counter", &model_c3, 0xc2, ~0u, false },
	{ "C3, RDPMC", &model_c3, ~0u, 1, false },
	{ "C3, the first counter", &model_c3, 0xc1, 0, true },
	{ "C3, the first event select", &model_c3, 0x186, ~0u, true },
};

START_TEST(registers_that_fault)
{
	struct perfctr_kernel_info info = {};

	model_no_msr = lies[_i].no_msr;
	model_no_rdpmc = lies[_i].no_rdpmc;
	driver_init(lies[_i].machine);
	perfctr_cpu_info(&info);
	ck_assert_msg(!info.counters == !lies[_i].counters, "%s", lies[_i].name);
	ck_assert_uint_eq(info.no_counters, lies[_i].counters ? PERFCTR_NO_COUNTERS_NONE :
								PERFCTR_NO_COUNTERS_REGISTERS);
}
END_TEST

/*
 * The rules. What is good is claimed, loaded and counted by; the register holds just that. By the machine: the
 * P5s, Cyrix's MII, WinChips, the C3
 */
#define NO	(-EINVAL)
#define NOT_SO	(-EOPNOTSUPP)	/* there are no modes, and nothing interrupts */

static const struct {
	const char *name;
	int err[4];
	unsigned int nr;
	struct perfctr_ctr_control ctr[3];
	u64 cesr;	/* what CESR holds, without modes */
} rules[] = {
	{ "nothing", { 0, 0, 0, 0 }, 0, {}, 0 },

	/* "At least one evntsel CPL bit (0x00C0) must be set" */
	{ "user", { 0, 0, NOT_SO, NOT_SO }, 1, { CTR(ANY, 0x16, USER) }, 0x16 },
	{ "kernel", { 0, 0, NOT_SO, NOT_SO }, 1, { CTR(ANY, 0x16, KERNEL) }, 0x16 },
	{ "both", { 0, 0, 0, 0 }, 1, { CTR(ANY, 0x16, BOTH) }, 0x16 },
	{ "no mode", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x16, 0) }, 0 },
	{ "unknown flag", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x16, BOTH | 4) }, 0 },
	{ "second without mode", { NO, NO, NO, NO }, 2, { CTR(1, 0x16, BOTH), CTR(ANY, 0x16, 0) }, 0 },

	/* A whole half, as 2.6 has it, says what the flags say. Elsewhere these bits are the event's. */
	{ "whole, user", { 0, 0, NOT_SO, NOT_SO }, 1, { CTR(1, 0x96, USER) }, 0x160000 },
	{ "whole, kernel", { 0, 0, NOT_SO, NOT_SO }, 1, { CTR(1, 0x56, KERNEL) }, 0x160000 },
	{ "whole, both", { 0, 0, 0, 0 }, 1, { CTR(1, 0xd6, BOTH) }, 0xd60000 },
	{ "whole, kernel, by the flags user", { NO, NO, NOT_SO, NOT_SO }, 1, { CTR(1, 0x56, USER) }, 0 },
	{ "whole, user, by the flags both", { NO, NO, 0, 0 }, 1, { CTR(1, 0x96, BOTH) }, 0x960000 },
	{ "whole, both, by the flags user", { NO, NO, NOT_SO, NOT_SO }, 1, { CTR(1, 0xd6, USER) }, 0 },

	/* "Bits 0xFE00 in an evntsel value are reserved", of Cyrix FA00, of Centaur FF00, of the C3 FFFFFE00 */
	{ "clocks", { 0, 0, NO, 0 }, 1, { CTR(1, 0x116, BOTH) }, 0x1160000 },
	{ "all of an event", { 0, 0, NO, 0 }, 1, { CTR(1, 0x13f, BOTH) }, 0x13f0000 },
	{ "the pin", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x216, BOTH) }, 0 },
	{ "the pin, in whole", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x2d6, BOTH) }, 0 },
	{ "Cyrix's bit", { NO, 0, NO, NO }, 1, { CTR(1, 0x402, BOTH) }, 0x4020000 },
	{ "Cyrix's bit, in whole", { NO, 0, NO, NO }, 1, { CTR(1, 0x482, USER) }, 0x4020000 },
	{ "bit 11", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x816, BOTH) }, 0 },
	{ "bit 12", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x1016, BOTH) }, 0 },
	{ "bit 15", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x8016, BOTH) }, 0 },
	{ "bit 16, which is the other half's", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x10016, BOTH) }, 0 },
	{ "bit 22, which enables P6s", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x400016, BOTH) }, 0 },
	{ "bit 32", { NO, NO, NO, NO }, 1, { CTR(ANY, 0x100000016, BOTH) }, 0 },
	{ "bit 63", { NO, NO, NO, NO }, 1, { CTR(ANY, BIT(63) | 0x16, BOTH) }, 0 },
	{ "config", { NO, NO, NO, NO }, 1,
	  { { .map = ANY, .event = 0x16, .flags = BOTH, .config = 1 } }, 0 },

	/* WinChip: an event of eight bits. "It has no CPL bits to set." C3: nine. */
	{ "no event", { 0, 0, 0, 0 }, 1, { CTR(ANY, 0, BOTH) }, 0 },
	{ "eight bits", { 0, 0, 0, 0 }, 1, { CTR(1, 0xff, BOTH) }, 0xff0000 },
	{ "nine bits", { 0, 0, NO, 0 }, 1, { CTR(1, 0x1ff, BOTH) }, 0x1ff0000 },
	{ "ten bits", { NO, NO, NO, NO }, 1, { CTR(1, 0x3ff, BOTH) }, 0 },
	{ "the C6's instructions", { 0, 0, 0, 0 }, 1, { CTR(1, 0x02, BOTH) }, 0x020000 },
	{ "the C3's instructions", { 0, 0, 0, 0 }, 1, { CTR(1, 0xc0, BOTH) }, 0xc00000 },
	{ "the C3's iterations", { 0, 0, NO, 0 }, 1, { CTR(1, 0x1c0, BOTH) }, 0x1c00000 },

	/* Which counter. "pmc_map[0] must be 1, if nractrs == 1", of the C3 */
	{ "the first", { 0, 0, 0, NO }, 1, { CTR(0, 0x16, BOTH) }, 0x16 },
	{ "the second", { 0, 0, 0, 0 }, 1, { CTR(1, 0x16, BOTH) }, 0x160000 },
	{ "both counters", { 0, 0, 0, NO }, 2, { CTR(ANY, 0x16, BOTH), CTR(ANY, 0x0d, BOTH) }, 0x0d0016 },
	{ "the other way round", { 0, 0, 0, NO }, 2, { CTR(1, 0x16, BOTH), CTR(0, 0x0d, BOTH) }, 0x16000d },
	{ "one any", { 0, 0, 0, NO }, 2, { CTR(ANY, 0x16, BOTH), CTR(0, 0x0d, BOTH) }, 0x16000d },
	{ "each its mode", { 0, 0, NOT_SO, NO }, 2,
	  { CTR(0, 0x16, USER), CTR(1, 0x16, KERNEL) }, 0x160016 },
	{ "a third", { NO, NO, NO, NO }, 1, { CTR(2, 0x16, BOTH) }, 0 },
	{ "a fixed one", { NO, NO, NO, NO }, 1, { CTR(FIXED(0), 0x16, BOTH) }, 0 },
	{ "no such number", { NO, NO, NO, NO }, 1, { CTR(77, 0x16, BOTH) }, 0 },
	{ "the same twice", { NO, NO, NO, NO }, 2, { CTR(1, 0x16, BOTH), CTR(1, 0x0d, BOTH) }, 0 },
	{ "three", { NO, NO, NO, NO }, 3,
	  { CTR(ANY, 0x16, BOTH), CTR(ANY, 0x0d, BOTH), CTR(ANY, 0x12, BOTH) }, 0 },

	/* Overflow interrupts are "only present in P6/K7/K8/P4". */
	{ "i-mode", { NOT_SO, NOT_SO, NOT_SO, NOT_SO }, 1, { ICTR(1, 0x16, BOTH, 1000) }, 0 },
	{ "i-mode, a bad bit", { NO, NO, NO, NO }, 1, { ICTR(1, 0x216, BOTH, 1000) }, 0 },
};

/* The column of a machine in the table */
static unsigned int kind(void)
{
	if (is_c3())
		return 3;
	if (!has_modes())
		return 2;
	return model.vendor == X86_VENDOR_CYRIX;
}

static u64 with_modes(u64 cesr, const struct perfctr_ctr_control *ctr, const struct perfctr_config *config)
{
	unsigned int i;

	if (is_c3())
		return ctr[0].event;
	for (i = 0; has_modes() && i < config->nr; i++)
		cesr |= ((ctr[i].flags & USER ? CESR_USR : 0) | (ctr[i].flags & KERNEL ? CESR_OS : 0))
			<< 16 * config->hw[i];
	return cesr;
}

START_TEST(rules_hold)
{
	unsigned int rule = (unsigned int)_i / OLD_MACHINES, machine = (unsigned int)_i % OLD_MACHINES;
	const struct perfctr_ctr_control *ctr = rules[rule].ctr;
	int expected, err;
	struct perfctr_config *config;
	struct model_ownership before;
	struct thread thread;
	bool kernel = false;
	u32 last;

	driver_init(olds[machine]);
	expected = rules[rule].err[kind()];
	model_ownership(&before);
	model_calls_reset();
	err = check(ctr, rules[rule].nr, &kernel);
	ck_assert_msg(err == expected, "%s, machine %u: %d, expected %d", rules[rule].name, machine,
		      err, expected);
	ck_assert_uint_eq(model_all_calls(), 0);
	if (err) {
		ck_assert_int_eq(PTR_ERR(claim(ctr, rules[rule].nr, NULL)), err);
		model_expect_ownership(&before);
		return;
	}
	last = rules[rule].nr ? ctr[rules[rule].nr - 1].flags : 0;
	ck_assert(kernel == !!((last | ctr[0].flags) & KERNEL));
	config = claim_well(ctr, rules[rule].nr);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	if (config->nr)
		ck_assert_msg(model_msr(0, is_c3() ? 0x187 : CESR) ==
			      with_modes(rules[rule].cesr, ctr, config), "%s, machine %u: %#llx",
			      rules[rule].name, machine, model_msr(0, is_c3() ? 0x187 : CESR));
	thread_run(&thread, model.nr_cpus - 1, 1000);
	thread_expect_exact(&thread);
	unclaim(config);
	model_expect_ownership(&before);
}
END_TEST

/* Each bit alone, and beside the modes that the flags have */
START_TEST(each_bit)
{
	static const u64 good[OLD_MACHINES] = { 0x13f, 0x13f, 0x53f, 0xff, 0xff, 0x1ff };
	unsigned int bit;

	driver_init(olds[_i]);
	for (bit = 0; bit < 64; bit++) {
		struct perfctr_ctr_control ctr = CTR(1, BIT(bit), BOTH);
		int expected = good[_i] & BIT(bit) ? 0 : -EINVAL, err = check(&ctr, 1, NULL);

		ck_assert_msg(err == expected, "bit %u: %d", bit, err);
		if (!has_modes() || BIT(bit) & (CESR_USR | CESR_OS))
			continue;
		ctr.event |= CESR_USR | CESR_OS;
		err = check(&ctr, 1, NULL);
		ck_assert_msg(err == expected, "bit %u of a whole one: %d", bit, err);
	}
	model_expect_loaded();
}
END_TEST

/* All modes that a whole half can have, beside all flags */
START_TEST(whole_halves)
{
	unsigned int modes, flags;

	driver_init(olds[_i]);
	if (!has_modes())
		return;
	for (modes = 0; modes < 4; modes++) {
		for (flags = 1; flags < 4; flags++) {
			u64 bits = (modes & 1 ? CESR_USR : 0) | (modes & 2 ? CESR_OS : 0);
			struct perfctr_ctr_control ctr = CTR(ANY, EV_P5_INSTRUCTIONS | bits, flags);
			bool same = !!(modes & 1) == !!(flags & USER) &&
				    !!(modes & 2) == !!(flags & KERNEL);

			ck_assert_int_eq(check(&ctr, 1, NULL), !modes || same ? 0 : -EINVAL);
		}
	}
}
END_TEST

/* What counts elsewhere another event must be asked of a counter, or is the first one's. */
static const struct {
	const struct model_machine *machine;
	u64 event;
	bool pair;
} pairs[] = {
	{ &model_p5, 0x30, false }, { &model_p5mmx, 0x29, false }, { &model_p5mmx, 0x2a, true },
	{ &model_p5mmx, EV_P5MMX_CYCLES, true }, { &model_p5mmx, 0x3f, true },
	{ &model_p5mmx, EV_P5MMX_CYCLES | CESR_CLOCKS, true },
	{ &model_mii, 0x39, true }, { &model_mii, 0x400, false }, { &model_mii, 0x43f, false },
	{ &model_c6, 0x2b, false }, { &model_winchip_2, 0x2b, true }, { &model_winchip_2, 0x37, true },
	{ &model_winchip_2, 0x3f, false },
};

START_TEST(events_of_one_counter)
{
	const struct perfctr_ctr_control any[] = {
		CTR(ANY, EV_P5_INSTRUCTIONS, BOTH), CTR(ANY, pairs[_i].event, BOTH),
	};
	const struct perfctr_ctr_control beside[] = {
		CTR(0, EV_P5_INSTRUCTIONS, BOTH), CTR(ANY, pairs[_i].event, BOTH),
	};
	const struct perfctr_ctr_control named[] = { CTR(1, pairs[_i].event, BOTH) };
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	struct perfctr_config *config;
	bool kernel;

	driver_init(pairs[_i].machine);
	config = CLAIM(any);
	ck_assert_uint_eq(config->hw[1], pairs[_i].pair ? 0 : 1);
	unclaim(config);
	ck_assert_int_eq(perfctr_cpu_check(beside, 2, &kernel, &why), pairs[_i].pair ? -EINVAL : 0);
	if (pairs[_i].pair) {
		ck_assert_uint_eq(why.index, 1);
		ck_assert_uint_eq(why.reason, PERFCTR_REASON_COUNTER);
		ck_assert_uint_eq(why.possible, 1);
	}
	config = CLAIM(named);
	ck_assert_uint_eq(config->hw[0], 1);
}
END_TEST

/* READ_CONTROL's names make a control that gets the same counters. */
START_TEST(names_what_any_became)
{
	struct perfctr_ctr_control ctr[] = { CTR(ANY, 0x16, BOTH) };
	struct perfctr_config *config;

	driver_init(olds[_i]);
	config = CLAIM(ctr);
	perfctr_cpu_name(ctr, config->hw[0]);
	ck_assert_uint_eq(ctr[0].map, is_c3());
	ck_assert_uint_eq(ctr[0].event, 0x16);
	unclaim(config);
	ck_assert_uint_eq(CLAIM(ctr)->hw[0], ctr[0].map);
}
END_TEST

/*
 * The registers
 */

static u32 control_msr(void)
{
	return is_c3() ? 0x187 : CESR;
}

static u64 instructions(void)
{
	if (is_c3())
		return EV_INSTRUCTIONS;
	return model.vendor == X86_VENDOR_CENTAUR && model.model == 4 ? EV_C6_INSTRUCTIONS :
									EV_P5_INSTRUCTIONS;
}

/* Two configs of one counter each do not disturb each other; one of both is one write. */
START_TEST(one_register_for_both)
{
	static const struct perfctr_ctr_control first[] = { CTR(0, EV_P5_ITLB, BOTH) };
	static const struct perfctr_ctr_control second[] = { CTR(1, EV_P5_INSTRUCTIONS, BOTH) };
	static const struct perfctr_ctr_control both[] = {
		CTR(0, EV_P5_ITLB, BOTH), CTR(1, EV_P5_INSTRUCTIONS, BOTH),
	};
	struct perfctr_config *a, *b, *c;
	u64 one;

	driver_init(olds[_i]);
	a = CLAIM(first);
	b = CLAIM(second);
	c = CLAIM(both);
	ck_assert_int_eq(load_on(0, a), 0);
	one = model_msr(0, CESR) & 0xffff;
	ck_assert_int_eq(load_on(0, b), 0);
	ck_assert_uint_eq(model_msr(0, CESR) & 0xffff, one);
	ck_assert_uint_ne(model_msr(0, CESR) >> 16, 0);
	model_calls_reset();
	ck_assert_int_eq(load_on(0, c), 0);
	ck_assert_uint_eq(model_all_writes(), 0);
	ck_assert_int_eq(load_on(model.nr_cpus - 1, c), 0);
	ck_assert_uint_eq(model_all_writes(), model.nr_cpus - 1);
}
END_TEST

/* Threads come and go at random, and others claim meanwhile. */
START_TEST(threads_at_random)
{
	const struct perfctr_ctr_control a[] = { CTR(ANY, instructions(), BOTH) };
	struct perfctr_ctr_control ctr = a[0];
	struct thread threads[3];
	unsigned int i;

	driver_init(olds[_i]);
	ctr.event = instructions();
	for (i = 0; i < 3; i++) {
		if (has_modes())
			ctr.flags = i + 1;
		thread_init(&threads[i], claim_well(&ctr, 1));
	}
	for (i = 0; i < 300; i++)
		thread_run(&threads[next_random() % 3], next_random() % model.nr_cpus, 1 + next_random() % 5000);
	ck_assert_int_eq(age_all(), 0);
	for (i = 0; i < 3; i++)
		thread_expect_exact(&threads[i]);
}
END_TEST

/* Past half of what is used of it a counter is zeroed, long before it wraps. */
START_TEST(ages)
{
	struct perfctr_ctr_control ctr = CTR(1, 0, BOTH);
	struct thread thread;
	u64 half;

	driver_init(olds[_i]);
	half = 1ull << (perfctr_cpu_iwidth() - 1);
	ctr.event = instructions();
	thread_init(&thread, claim_well(&ctr, 1));
	thread_run(&thread, 0, 1000);
	model_set_value(0, 1, half - 500);
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_ge(model_value(0, 1), half - 500);
	thread_run(&thread, 0, 1000);
	ck_assert_uint_gt(model_value(0, 1), half);
	ck_assert_int_eq(age_all(), 0);
	ck_assert_uint_lt(model_value(0, 1), 1000);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* Who may not see them finds nothing of others', also where they cannot be stopped. */
START_TEST(strangers_find_nothing)
{
	static struct mm_struct mms[2] = {
		{ .context = { .ctx_id = 1 } }, { .context = { .ctx_id = 2 } },
	};
	struct perfctr_ctr_control ctr = CTR(1, 0, BOTH);
	struct task_struct other = { .mm = &mms[1] };
	struct perfctr_config *config;
	u64 value;

	driver_init(olds[_i]);
	ctr.event = instructions();
	shim_current.mm = &mms[0];
	config = claim_well(&ctr, 1);
	ck_assert_int_eq(restart_on(0, config, 1000), 0);
	model_execute(MODEL_USER, 1000);
	on_cpu_irqs_off(0, perfctr_cpu_leave);
	ck_assert_uint_ge(model_value(0, 1), 1000);
	local_irq_disable();
	ck_assert(!perfctr_cpu_may_see(&other));
	perfctr_cpu_scrub(&other);
	ck_assert(perfctr_cpu_may_see(&other));
	local_irq_enable();
	value = model_value(0, 1);
	ck_assert_uint_lt(value, 100);
	if (!is_c3())
		ck_assert_uint_lt(model_value(0, 0), 100);
	model_execute(MODEL_USER, 1000);
	/* What cannot be stopped counts for the other one, and is zeroed for the next. */
	ck_assert_uint_eq(model_value(0, 1) - value, has_modes() ? 0 : 1000);
	if (has_modes())
		return;
	shim_current.mm = &mms[0];
	ck_assert_int_eq(restart_on(0, config, 1000), 0);
	ck_assert_uint_lt(model_value(0, 1), 100);
}
END_TEST

/* As they are given back, they hold nothing. */
START_TEST(given_back_at_zero)
{
	struct perfctr_ctr_control ctr = CTR(1, 0, BOTH);
	struct thread thread;

	driver_init(olds[_i]);
	ctr.event = instructions();
	thread_init(&thread, claim_well(&ctr, 1));
	thread_run(&thread, 0, 1000);
	ck_assert_uint_ge(model_value(0, 1), 1000);
	unclaim(thread.config);
	ck_assert_uint_eq(model_msr(0, control_msr()), 0);
	ck_assert_uint_lt(model_value(0, 1), 100);
}
END_TEST

/* One that does not count is not used, nor left with what it held. */
START_TEST(stuck_is_not_used)
{
	struct perfctr_kernel_info info = {};
	unsigned int cpu;

	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		model_stuck[cpu] = BIT(1);
	driver_init(olds[_i]);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.counters, is_c3() ? 0 : 1);
	if (is_c3()) {
		ck_assert_uint_eq(info.no_counters, PERFCTR_NO_COUNTERS_TRIAL);
		return;
	}
	model_set_value(0, 1, 1234);
	unclaim(claim_well(&(struct perfctr_ctr_control)CTR(ANY, instructions(), BOTH), 1));
	ck_assert_uint_eq(model_value(0, 1), 0);
}
END_TEST

/* A counter that counts both modes whatever it is told; of those without modes it is no fault. */
START_TEST(modes_are_tried)
{
	struct perfctr_kernel_info info = {};
	unsigned int cpu;

	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		model_modeless[cpu] = BIT(1);
	driver_init(olds[_i]);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.counters, has_modes() ? 1 : is_c3() ? 2 : 3);
}
END_TEST

/* CPUs that lose their registers */
START_TEST(sleep)
{
	struct perfctr_ctr_control ctr = CTR(1, 0, BOTH);
	struct thread thread;

	driver_init(olds[_i]);
	ctr.event = instructions();
	thread_init(&thread, claim_well(&ctr, 1));
	thread_run(&thread, 0, 1000);
	cpu_sleeps(0, false);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/*
 * Who has them
 */

START_TEST(busy_with_owner)
{
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	struct perfctr_ctr_control ctr = CTR(1, 0, BOTH);
	struct perfctr_config *config;

	driver_init(olds[_i]);
	ctr.event = instructions();
	/* Some other driver: Linux's reservations know one counter here. */
	ck_assert(reserve_perfctr_nmi(is_c3() ? 0xc1 : 0x12));
	ck_assert_int_eq(PTR_ERR(claim(&ctr, 1, &why)), -EBUSY);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_PERF);
	release_perfctr_nmi(is_c3() ? 0xc1 : 0x12);
	config = claim_well(&ctr, 1);
	ck_assert(!reserve_perfctr_nmi(is_c3() ? 0xc2 : 0x13));
	ck_assert(!reserve_evntsel_nmi(control_msr()));
	unclaim(config);
	ck_assert(reserve_perfctr_nmi(is_c3() ? 0xc2 : 0x13));
}
END_TEST

static const struct {
	const struct model_machine *machine;
	u64 value;
	bool busy;
} firmware[] = {
	{ &model_p5, 0x56, true }, { &model_p5, 0x960000, true }, { &model_p5mmx, 0xd6, true },
	{ &model_mii, 0x4c20000, true },
	/* In no mode, or counting clocks in none */
	{ &model_p5, 0x16, false }, { &model_p5mmx, 0x1160116, false },
	/* These count in any case, for nobody. */
	{ &model_c6, 0x0202, false }, { &model_winchip_2, 0xff00ff, false }, { &model_c3, 0xc0, false },
};

START_TEST(firmware_counts)
{
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	struct perfctr_ctr_control ctr = CTR(1, 0, BOTH);

	driver_init(firmware[_i].machine);
	shim_set_param("override_firmware", 0);
	ctr.event = instructions();
	model_set_msr(0, control_msr(), firmware[_i].value & (is_c3() ? 0x1ff : 0xffffffff));
	if (!firmware[_i].busy) {
		claim_well(&ctr, 1);
		return;
	}
	ck_assert_int_eq(PTR_ERR(claim(&ctr, 1, &why)), -EBUSY);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_FIRMWARE);
	ck_assert_uint_eq(model_msr(0, control_msr()), firmware[_i].value);
}
END_TEST

/* A local APIC with less than five entries has none for counters, whatever the processor. */
START_TEST(no_lvtpc_no_interrupts)
{
	static const struct perfctr_ctr_control i_mode[] = { ICTR(ANY, EV_INSTRUCTIONS, USER, 1000) };
	struct model_machine machine = model_p6;

	machine.maxlvt = _i ? 4 : 3;
	driver_init(&machine);
	ck_assert_int_eq(check(i_mode, 1, NULL), _i ? 0 : -EOPNOTSUPP);
}
END_TEST

/* Somebody else writes to the register. */
START_TEST(verified)
{
	struct perfctr_ctr_control ctr = CTR(1, 0, BOTH);

	driver_init(olds[_i]);
	ctr.event = instructions();
	ck_assert_int_eq(load_on(0, claim_well(&ctr, 1)), 0);
	shim_jiffies++;
	ck_assert(model_verify_on(0));
	model_set_msr(0, control_msr(), 0x55);
	shim_jiffies++;
	ck_assert(!model_verify_on(0));
	ck_assert(model_changed_on(0));
}
END_TEST

void test_p5(void)
{
	unit_begin("x86_p5");
	UNIT_ROWS(type_by_processor, types);
	UNIT_ROWS(info_tells, olds);
	UNIT_ROWS(registers_that_fault, lies);
	unit_run(rules_hold, (int)(sizeof(rules) / sizeof(rules[0])) * OLD_MACHINES);
	UNIT_ROWS(each_bit, olds);
	UNIT_ROWS(whole_halves, olds);
	UNIT_ROWS(events_of_one_counter, pairs);
	UNIT_ROWS(names_what_any_became, olds);
	unit_run(one_register_for_both, OLD_MACHINES - 1);
	UNIT_ROWS(threads_at_random, olds);
	UNIT_ROWS(ages, olds);
	UNIT_ROWS(strangers_find_nothing, olds);
	UNIT_ROWS(given_back_at_zero, olds);
	UNIT_ROWS(stuck_is_not_used, olds);
	UNIT_ROWS(modes_are_tried, olds);
	UNIT_ROWS(sleep, olds);
	UNIT_ROWS(busy_with_owner, olds);
	UNIT_ROWS(firmware_counts, firmware);
	unit_run(no_lvtpc_no_interrupts, 2);
	UNIT_ROWS(verified, olds);
}
