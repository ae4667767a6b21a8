// SPDX-License-Identifier: GPL-2.0
/* perfctr_cpu_check(): the rules for controls, bit for bit, of each kind of processor. */
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/tsc.h>

#include "tests.h"

const struct model_machine *const machines[NR_MACHINES] = {
	&model_p6, &model_v1, &model_v2, &model_v3, &model_v4, &model_v5,
	&model_k8, &model_zen, &model_zen4,
};

#define P6	BIT(0)
#define V1	BIT(1)
#define V2	BIT(2)
#define V3	BIT(3)
#define V4	BIT(4)
#define V5	BIT(5)
#define K8	BIT(6)
#define ZEN	BIT(7)
#define ZEN4	BIT(8)
#define FIX	(V2 | V3 | V4 | V5)
#define ALL	(P6 | V1 | FIX | K8 | ZEN | ZEN4)

/* What an event select counts: event, unit mask, edge, inversion, counter mask */
#define EVENT	0xff84ffffull
/* AMD's events since family 10h have four bits more. */
#define HIGH	(0xfull << 32)

static const struct {
	const char *name;
	u32 good;		/* the machines on which it is good; on the others it is EINVAL */
	bool kernel;
	unsigned int nr;
	struct perfctr_ctr_control ctr[9];
} rules[] = {
	{ "nothing", ALL, false, 0, {} },

	/* Modes */
	{ "user", ALL, false, 1, { CTR(ANY, EV_INSTRUCTIONS, USER) } },
	{ "kernel", ALL, true, 1, { CTR(ANY, EV_INSTRUCTIONS, KERNEL) } },
	{ "both", ALL, true, 1, { CTR(ANY, EV_INSTRUCTIONS, BOTH) } },
	{ "the second is kernel", ALL, true, 2,
	  { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_BRANCHES, KERNEL) } },
	{ "no mode", 0, false, 1, { CTR(ANY, EV_INSTRUCTIONS, 0) } },
	{ "unknown flag", 0, false, 1, { CTR(ANY, EV_INSTRUCTIONS, USER | 4) } },
	{ "unknown high flag", 0, false, 1, { CTR(ANY, EV_INSTRUCTIONS, USER | 0x80000000) } },
	{ "the second without mode", 0, false, 2,
	  { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_BRANCHES, 0) } },

	/* Events */
	{ "no event", ALL, false, 1, { CTR(ANY, 0, USER) } },
	/* Code ffh is one of AMD's northbridge. */
	{ "all of an event", ALL, false, 1, { CTR(ANY, EVENT & ~BIT(5), USER) } },
	{ "edge", ALL, false, 1, { CTR(ANY, EV_BRANCHES | SEL_EDGE | SEL_CMASK(1), USER) } },
	{ "inversion", ALL, true, 1, { CTR(1, EV_BRANCHES | SEL_INV | SEL_CMASK(2), KERNEL) } },
	{ "pin", 0, false, 1, { CTR(ANY, EV_BRANCHES | SEL_PC, USER) } },
	{ "any thread", 0, false, 1, { CTR(ANY, EV_BRANCHES | SEL_ANY, USER) } },
	{ "pin, in whole", 0, false, 1,
	  { CTR(0, EV_BRANCHES | SEL_USR | SEL_EN | SEL_PC, USER) } },
	{ "any thread, in whole", 0, false, 1,
	  { CTR(0, EV_BRANCHES | SEL_USR | SEL_EN | SEL_ANY, USER) } },
	{ "bit 32", ZEN | ZEN4, false, 1, { CTR(ANY, EV_BRANCHES | BIT(32), USER) } },
	{ "bit 36", 0, false, 1, { CTR(ANY, EV_BRANCHES | BIT(36), USER) } },
	{ "bit 40, guests", 0, false, 1, { CTR(ANY, EV_BRANCHES | BIT(40), USER) } },
	{ "bit 41, the host", 0, false, 1, { CTR(ANY, EV_BRANCHES | BIT(41), USER) } },
	{ "bit 63, in whole", 0, false, 1,
	  { CTR(0, EV_BRANCHES | SEL_USR | SEL_EN | BIT(63), USER) } },
	{ "the second has a bad bit", 0, false, 2,
	  { CTR(0, EV_BRANCHES, USER), CTR(1, EV_INSTRUCTIONS | SEL_PC, USER) } },
	{ "config", 0, false, 1,
	  { { .map = ANY, .event = EV_BRANCHES, .flags = USER, .config = 1 } } },
	{ "high config", 0, false, 1,
	  { { .map = ANY, .event = EV_BRANCHES, .flags = USER, .config = BIT(63) } } },

	/* As perfctr 2.6 has them. Only in EVNTSEL1 of the P6 the enable bit is reserved. */
	{ "whole", ALL, false, 1, { CTR(0, EV_BRANCHES | SEL_USR | SEL_EN, USER) } },
	{ "whole, kernel", ALL, true, 1, { CTR(0, EV_BRANCHES | SEL_OS | SEL_EN, KERNEL) } },
	{ "whole, second", ALL & ~P6, false, 1,
	  { CTR(1, EV_BRANCHES | SEL_USR | SEL_EN, USER) } },
	{ "whole, second, not enabled", P6, false, 1, { CTR(1, EV_BRANCHES | SEL_USR, USER) } },
	{ "whole, not enabled", 0, false, 1, { CTR(0, EV_BRANCHES | SEL_USR, USER) } },
	{ "whole, but for the modes", 0, false, 1, { CTR(0, EV_BRANCHES | SEL_EN, USER) } },
	{ "whole, INT", 0, false, 1, { CTR(0, EV_BRANCHES | SEL_USR | SEL_INT | SEL_EN, USER) } },
	{ "both whole", ALL & ~P6, true, 2,
	  { CTR(0, EV_BRANCHES | SEL_USR | SEL_EN, USER),
	    CTR(1, EV_INSTRUCTIONS | SEL_OS | SEL_EN, KERNEL) } },
	{ "both whole, of the P6", P6, true, 2,
	  { CTR(0, EV_BRANCHES | SEL_USR | SEL_EN, USER),
	    CTR(1, EV_INSTRUCTIONS | SEL_OS, KERNEL) } },
	/* Whichever counter it gets is enabled as that one must be. */
	{ "any whole", ALL, false, 2,
	  { CTR(ANY, EV_BRANCHES | SEL_USR | SEL_EN, USER),
	    CTR(ANY, EV_INSTRUCTIONS | SEL_USR | SEL_EN, USER) } },
	{ "whole and not", ALL, true, 2,
	  { CTR(0, EV_BRANCHES | SEL_USR | SEL_EN, USER), CTR(1, EV_INSTRUCTIONS, KERNEL) } },

	/* Which counter */
	{ "twice the same", 0, false, 2,
	  { CTR(1, EV_INSTRUCTIONS, USER), CTR(1, EV_BRANCHES, USER) } },
	{ "the same after another", 0, false, 3,
	  { CTR(1, EV_INSTRUCTIONS, USER), CTR(0, EV_BRANCHES, USER), CTR(1, EV_BRANCHES, USER) } },
	{ "the other way round", ALL, false, 2,
	  { CTR(1, EV_INSTRUCTIONS, USER), CTR(0, EV_BRANCHES, USER) } },
	{ "any beside named", ALL, false, 2,
	  { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(0, EV_BRANCHES, USER) } },

	/* The fixed ones: their events, alone or as a whole event select */
	{ "fixed", FIX, true, 3,
	  { CTR(FIXED(0), EV_INSTRUCTIONS, USER), CTR(FIXED(1), EV_CYCLES, KERNEL),
	    CTR(FIXED(2), EV_REFERENCE_CYCLES, BOTH) } },
	{ "fixed twice", 0, false, 2,
	  { CTR(FIXED(0), EV_INSTRUCTIONS, USER), CTR(FIXED(0), EV_INSTRUCTIONS, USER) } },
	{ "fixed, no event", 0, false, 1, { CTR(FIXED(0), 0, USER) } },
	{ "fixed, edge", 0, false, 1, { CTR(FIXED(0), EV_INSTRUCTIONS | SEL_EDGE, USER) } },
	{ "fixed, inversion", 0, false, 1, { CTR(FIXED(0), EV_INSTRUCTIONS | SEL_INV, USER) } },
	{ "fixed, counter mask", 0, false, 1,
	  { CTR(FIXED(0), EV_INSTRUCTIONS | SEL_CMASK(1), USER) } },
	{ "fixed, whole", FIX, true, 3,
	  { CTR(FIXED(0), EV_INSTRUCTIONS | SEL_USR | SEL_EN, USER),
	    CTR(FIXED(1), EV_CYCLES | SEL_OS | SEL_EN, KERNEL),
	    CTR(FIXED(2), EV_REFERENCE_CYCLES | SEL_USR | SEL_OS | SEL_EN, BOTH) } },
	{ "fixed, whole and not", FIX, false, 2,
	  { CTR(FIXED(0), EV_INSTRUCTIONS | SEL_USR | SEL_EN, USER),
	    CTR(FIXED(1), EV_CYCLES, USER) } },
	{ "fixed, whole, another's event", 0, false, 1,
	  { CTR(FIXED(0), EV_CYCLES | SEL_USR | SEL_EN, USER) } },
	{ "fixed, whole, no event", 0, false, 1, { CTR(FIXED(0), SEL_USR | SEL_EN, USER) } },
	{ "fixed, whole, edge", 0, false, 1,
	  { CTR(FIXED(0), EV_INSTRUCTIONS | SEL_EDGE | SEL_USR | SEL_EN, USER) } },
	{ "fixed, whole, counter mask", 0, false, 1,
	  { CTR(FIXED(0), EV_INSTRUCTIONS | SEL_CMASK(1) | SEL_USR | SEL_EN, USER) } },
	{ "fixed, whole, any thread", 0, false, 1,
	  { CTR(FIXED(0), EV_INSTRUCTIONS | SEL_USR | SEL_EN | SEL_ANY, USER) } },
	{ "fixed, unit mask", 0, false, 1, { CTR(FIXED(0), EV_INSTRUCTIONS | 0x100, USER) } },
	{ "fixed beside all others", FIX, false, 3,
	  { CTR(FIXED(0), EV_INSTRUCTIONS, USER), CTR(ANY, EV_INSTRUCTIONS, USER),
	    CTR(ANY, EV_INSTRUCTIONS, USER) } },
};

#define NR_RULES	((int)(sizeof(rules) / sizeof(rules[0])))

/* The registers hold what counts the config. */
static void expect_registers(unsigned int cpu, const struct perfctr_config *config)
{
	u64 evntsel[MODEL_GP] = { 0 }, fixed = 0;
	unsigned int i;

	if (!model.version && config->nr)
		evntsel[0] = SEL_EN;
	for (i = 0; i < config->nr; i++) {
		bool user = config->ctr[i].flags & USER, kernel = config->ctr[i].flags & KERNEL;
		unsigned int hw = config->hw[i];

		if (hw < MODEL_GP)
			evntsel[hw] = (config->ctr[i].event & (EVENT | HIGH)) | (user ? SEL_USR : 0) |
				      (kernel ? SEL_OS : 0) |
				      (model.version || !hw ? SEL_EN : 0);
		else
			fixed |= (2ull * user + kernel) << 4 * (hw - FIXED(0));
	}
	for (i = 0; i < model.nr; i++)
		ck_assert_uint_eq(model_msr(cpu, model_evntsel(i)), evntsel[i]);
	if (model_has_fixed())
		ck_assert_uint_eq(model_msr(cpu, MSR_CORE_PERF_FIXED_CTR_CTRL), fixed);
}

/* Each rule on each machine. A good control can be claimed, and counts what it says. */
START_TEST(rules_hold)
{
	const char *name = rules[_i / NR_MACHINES].name;
	const struct perfctr_ctr_control *ctr = rules[_i / NR_MACHINES].ctr;
	unsigned int nr = rules[_i / NR_MACHINES].nr, machine = (unsigned int)_i % NR_MACHINES, i;
	bool good = rules[_i / NR_MACHINES].good & BIT(machine), kernel = false;
	struct model_ownership before;
	struct perfctr_config *config;
	struct thread thread;
	int err;

	driver_init(machines[machine]);
	model_ownership(&before);
	model_calls_reset();
	err = check(ctr, nr, &kernel);
	ck_assert_msg(err == (good ? 0 : -EINVAL), "%s, machine %u: %d", name, machine, err);
	ck_assert_uint_eq(model_all_calls(), 0);
	if (!good)
		return;
	ck_assert_msg(kernel == rules[_i / NR_MACHINES].kernel, "%s: kernel is %d", name, kernel);
	config = claim_well(ctr, nr);
	for (i = 0; i < nr; i++) {
		ck_assert_msg(config->mask & BIT(config->hw[i]), "%s: not in the mask", name);
		if (ctr[i].map != ANY)
			ck_assert_uint_eq(config->hw[i], ctr[i].map);
	}
	ck_assert_msg(hweight32(config->mask) == nr, "%s: two have one counter", name);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	expect_registers(1, config);
	thread_run(&thread, 0, 1000);
	expect_registers(0, config);
	thread_expect_exact(&thread);
	unclaim(config);
	model_expect_ownership(&before);
}
END_TEST

/* A refused control changes nothing for threads that count. */
START_TEST(refused_changes_nothing)
{
	static const struct perfctr_ctr_control running[] = { CTR(0, EV_INSTRUCTIONS, USER) };
	unsigned int machine = (unsigned int)_i;
	struct model_ownership before;
	struct thread thread;
	int i, refused = 0;

	driver_init(machines[machine]);
	thread_init(&thread, CLAIM(running));
	thread_in(&thread, 0);
	model_execute(MODEL_USER, 1000);
	model_calls_reset();
	model_ownership(&before);
	for (i = 0; i < NR_RULES; i++) {
		if (rules[i].good & BIT(machine))
			continue;
		ck_assert_int_eq(PTR_ERR(claim(rules[i].ctr, rules[i].nr, NULL)), -EINVAL);
		refused++;
	}
	ck_assert_int_gt(refused, 20);
	ck_assert_uint_eq(model_all_calls(), 0);
	model_expect_ownership(&before);
	model_execute(MODEL_USER, 1000);
	thread_out(&thread);
	thread_expect_exact(&thread);
}
END_TEST

/*
 * Intel's events of code 0 are those of fixed counters, and TopDown's; a P6 has none of these, and
 * takes any other
 */
static bool is_refused_umask(u64 event)
{
	if (model_is_amd() || event & ~(u64)0xff00)
		return false;
	return model.version || event == PERFCTR_EVENT_SLOTS || event == PERFCTR_EVENT_METRIC(0);
}

/* Each bit of the event select alone */
START_TEST(each_bit)
{
	unsigned int bit;
	u64 good;

	driver_init(machines[_i]);
	good = EVENT | (model_is_amd() && model.family >= 0x10 ? HIGH : 0);
	for (bit = 0; bit < 64; bit++) {
		struct perfctr_ctr_control ctr = CTR(ANY, BIT(bit), USER);
		int want = good & BIT(bit) ? 0 : -EINVAL;
		int err = check(&ctr, 1, NULL);

		ck_assert_msg(err == (is_refused_umask(BIT(bit)) ? -EINVAL : want), "bit %u: %d", bit, err);
		/* ... and beside the bits that make it whole */
		if (BIT(bit) & (SEL_USR | SEL_EN))
			continue;
		/* No code becomes one of AMD's northbridges. */
		ctr.event |= 0x40 | SEL_USR | SEL_EN;
		err = check(&ctr, 1, NULL);
		ck_assert_msg(err == want, "bit %u of a whole one: %d", bit, err);
	}
	model_expect_loaded();
}
END_TEST

/* All combinations of the bits that the rest of a control says too, beside all flags */
START_TEST(whole_event_selects)
{
	static const struct {
		u32 map, event;
	} whole[] = {
		{ 0, EV_BRANCHES }, { 1, EV_BRANCHES }, { ANY, EV_BRANCHES },
		{ FIXED(0), EV_INSTRUCTIONS }, { FIXED(2), EV_REFERENCE_CYCLES },
	};
	unsigned int bits, flags, i;

	driver_init(machines[_i]);
	for (bits = 0; bits < 16; bits++) {
		bool usr = bits & 1, os = bits & 2, interrupt = bits & 4, en = bits & 8;
		u64 sel = (usr ? SEL_USR : 0) | (os ? SEL_OS : 0) | (interrupt ? SEL_INT : 0) |
			  (en ? SEL_EN : 0);

		for (flags = 1; flags < 4; flags++) {
			for (i = 0; i < (model_has_fixed() ? 5u : 3u); i++) {
				u32 map = whole[i].map;
				struct perfctr_ctr_control ctr =
					CTR(map, whole[i].event | sel, flags);
				bool enabled = model.version || map != 1;
				bool good = usr == !!(flags & USER) && os == !!(flags & KERNEL) &&
					    en == enabled;
				int err = check(&ctr, 1, NULL);

				ck_assert_msg(err == (!bits || (good && !interrupt) ? 0 : -EINVAL),
					      "%#llx of counter %#x, flags %u: %d", sel, map,
					      flags, err);
				ctr.ireset = -77;
				err = check(&ctr, 1, NULL);
				ck_assert_msg(err == (!bits || (good && interrupt) ? 0 : -EINVAL),
					      "%#llx of i-mode counter %#x, flags %u: %d", sel,
					      map, flags, err);
			}
		}
	}
	model_expect_loaded();
}
END_TEST

/* READ_CONTROL's names of the counters that ANY became make a control that gets the same ones. */
START_TEST(names_what_any_became)
{
	static const struct perfctr_ctr_control asked[] = {
		CTR(FIXED(1), EV_CYCLES | SEL_OS | SEL_EN, KERNEL), CTR(FIXED(2), 0x13c, USER),
		CTR(ANY, EV_BRANCHES | SEL_USR | SEL_EN, USER), CTR(0, EV_INSTRUCTIONS, USER),
		CTR(ANY, EV_BRANCHES | SEL_EDGE | SEL_CMASK(3), BOTH),
		ICTR(ANY, EV_BRANCHES | SEL_USR | SEL_OS | SEL_INT | SEL_EN, BOTH, 1000),
	};
	static const u8 picks[][2] = { { 2, 3 }, { 3, 2 }, { 4, 5 }, { 2, 5 }, { 3, 5 }, { 0, 1 } };
	const u8 *pick = picks[_i / NR_MACHINES];
	struct perfctr_ctr_control ctr[2] = { asked[pick[0]], asked[pick[1]] };
	struct perfctr_config *first, *again;
	unsigned int i;

	driver_init(machines[_i % NR_MACHINES]);
	if (!model_has_fixed() && pick[0] < 2)
		return;
	first = claim_well(ctr, 2);
	for (i = 0; i < 2; i++) {
		u64 sel = ctr[i].event;

		perfctr_cpu_name(&ctr[i], first->hw[i]);
		ck_assert_uint_eq(ctr[i].map, first->hw[i]);
		if (!model.version && first->hw[i] == 1)
			sel &= ~SEL_EN;
		ck_assert_uint_eq(ctr[i].event, sel);
		ck_assert_uint_eq(ctr[i].flags, asked[pick[i]].flags);
		ck_assert_int_eq(ctr[i].ireset, asked[pick[i]].ireset);
	}
	again = claim_well(ctr, 2);
	for (i = 0; i < 2; i++)
		ck_assert_uint_eq(again->hw[i], first->hw[i]);
	unclaim(again);
	unclaim(first);
}
END_TEST

/* Each number of a counter, and each event of a fixed one */
START_TEST(each_counter)
{
	static const u32 events[] = { EV_INSTRUCTIONS, EV_CYCLES, EV_REFERENCE_CYCLES,
				      EV_BRANCHES, EV_MISPREDICTIONS, EV_LLC_MISSES,
				      PERFCTR_EVENT_SLOTS, 0 };
	static const u32 strange[] = { 64, 0x100, 0x40000000, 0x40000001, 0x80000000, 0xfffffffe };
	unsigned int map, e, i;

	driver_init(machines[_i]);
	for (e = 0; e < sizeof(events) / sizeof(events[0]); e++) {
		for (map = 0; map < 64; map++) {
			const struct perfctr_ctr_control ctr = CTR(map, events[e], USER);
			bool fixed = model_has_fixed() && e < 3 && map == FIXED(e);
			bool general = map < model.nr &&
				       (events[e] != PERFCTR_EVENT_SLOTS || model_is_amd());
			int err = check(&ctr, 1, NULL);

			ck_assert_msg(err == (general || fixed ? 0 : -EINVAL),
				      "counter %u, event %#x: %d", map, events[e], err);
		}
		for (i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
			const struct perfctr_ctr_control ctr = CTR(strange[i], events[e], USER);

			ck_assert_int_eq(check(&ctr, 1, NULL), -EINVAL);
		}
	}
	model_expect_loaded();
}
END_TEST

/* Any number of ANY beside any number of named counters. Fixed counters do not add to these. */
START_TEST(as_many_as_there_are)
{
	unsigned int named, any, i;

	driver_init(machines[_i]);
	for (named = 0; named <= model.nr; named++) {
		for (any = 0; any <= model.nr + 1; any++) {
			struct perfctr_ctr_control ctr[2 * MODEL_GP + 2];
			unsigned int nr = 0;
			int err;

			for (i = 0; i < any; i++)
				ctr[nr++] = (struct perfctr_ctr_control)
					CTR(ANY, EV_BRANCHES, USER);
			for (i = 0; i < named; i++)
				ctr[nr++] = (struct perfctr_ctr_control)
					CTR(model.nr - 1 - i, EV_INSTRUCTIONS, USER);
			if (model_has_fixed())
				ctr[nr++] = (struct perfctr_ctr_control)
					CTR(FIXED(1), EV_CYCLES, USER);
			err = check(ctr, nr, NULL);
			ck_assert_msg(err == (named + any <= model.nr ? 0 : -EINVAL),
				      "%u named, %u any: %d", named, any, err);
			if (!err)
				unclaim(claim_well(ctr, nr));
		}
	}
	ck_assert_uint_eq(perfctr_cpu_nrctrs(), model.nr + (model_has_fixed() ? 3 : 0));
}
END_TEST

/* An i-mode counter's own errors come before a lack of interrupts. */
static const struct {
	const char *name;
	int err, p6_err;	/* with a local APIC; without, 0 is EOPNOTSUPP */
	struct perfctr_ctr_control ctr;
} ictrs[] = {
	{ "any", 0, 0, ICTR(ANY, EV_BRANCHES, USER, 1000) },
	{ "named", 0, 0, ICTR(0, EV_BRANCHES, USER, 1000) },
	{ "longest", 0, 0, ICTR(0, EV_BRANCHES, BOTH, S64_MAX) },
	{ "whole", 0, 0, ICTR(0, EV_BRANCHES | SEL_USR | SEL_INT | SEL_EN, USER, 1000) },
	{ "whole, any", 0, 0, ICTR(ANY, EV_BRANCHES | SEL_OS | SEL_INT | SEL_EN, KERNEL, 1000) },
	{ "whole, 1", 0, -EINVAL, ICTR(1, EV_BRANCHES | SEL_USR | SEL_INT | SEL_EN, USER, 99) },
	{ "whole, 1, not enabled", -EINVAL, 0, ICTR(1, EV_BRANCHES | SEL_USR | SEL_INT, USER, 99) },
	{ "whole without INT", -EINVAL, -EINVAL,
	  ICTR(0, EV_BRANCHES | SEL_USR | SEL_EN, USER, 1000) },
	{ "INT alone", -EINVAL, -EINVAL, ICTR(0, EV_BRANCHES | SEL_INT, USER, 1000) },
	{ "pin", -EINVAL, -EINVAL, ICTR(0, EV_BRANCHES | SEL_PC, USER, 1000) },
	{ "no counter", -EINVAL, -EINVAL, ICTR(9, EV_BRANCHES, USER, 1000) },
	{ "every event", -EINVAL, -EINVAL, ICTR(0, EV_BRANCHES, USER, 1) },
};

START_TEST(i_mode_needs_a_local_apic)
{
	const int nr = sizeof(ictrs) / sizeof(ictrs[0]);
	bool no_apic = _i / nr / NR_MACHINES;
	struct model_machine machine = *machines[_i / nr % NR_MACHINES];
	struct perfctr_kernel_info info = {};
	int err, want;

	machine.no_apic = no_apic;
	driver_init(&machine);
	perfctr_cpu_info(&info);
	ck_assert_int_eq(!!(info.cpu_features & PERFCTR_FEATURE_PCINT), !no_apic);
	want = model.version ? ictrs[_i % nr].err : ictrs[_i % nr].p6_err;
	if (!want && no_apic)
		want = -EOPNOTSUPP;
	err = check(&ictrs[_i % nr].ctr, 1, NULL);
	ck_assert_msg(err == want, "%s: %d", ictrs[_i % nr].name, err);
	model_expect_loaded();
}
END_TEST

/* Fixed counters interrupt too. */
START_TEST(i_mode_of_fixed_counters)
{
	static const struct perfctr_ctr_control ctrs[] = {
		ICTR(FIXED(0), EV_INSTRUCTIONS, USER, 32), ICTR(FIXED(1), EV_CYCLES, BOTH, 32),
		ICTR(FIXED(2), EV_REFERENCE_CYCLES, KERNEL, 32),
	};

	driver_init(machines[_i]);
	ck_assert_int_eq(check(ctrs, 3, NULL), model_has_fixed() ? 0 : -EINVAL);
}
END_TEST

/* A caller that has found a reason already keeps it. */
START_TEST(kernel_is_only_ever_set)
{
	static const struct perfctr_ctr_control ctr[] = { CTR(ANY, EV_BRANCHES, USER) };
	bool kernel = true;

	driver_init(&model_default);
	ck_assert_int_eq(check(ctr, 1, &kernel), 0);
	ck_assert(kernel);
}
END_TEST

/* Architectural events that CPUID says are missing, or that its list is too short for */
static const u32 architectural[] = {
	EV_CYCLES, EV_INSTRUCTIONS, EV_REFERENCE_CYCLES, EV_LLC_REFERENCES, EV_LLC_MISSES,
	EV_BRANCHES, EV_MISPREDICTIONS,
};

static const struct {
	unsigned int told;
	u32 lacks, events;	/* what CPUID says; the events that there are */
} lacks[] = {
	{ 7, 0, 0x7f }, { 8, 0, 0x7f }, { 7, 0x1, 0x7e }, { 7, 0x2, 0x7d }, { 7, 0x4, 0x7b },
	{ 7, 0x8, 0x77 }, { 7, 0x10, 0x6f }, { 7, 0x20, 0x5f }, { 7, 0x40, 0x3f },
	{ 7, 0x7f, 0 }, { 8, 0x80, 0x7f }, { 7, 0xff80, 0x7f }, { 6, 0, 0x3f },
	{ 4, 0x2, 0xd }, { 1, 0, 0x1 }, { 0, 0, 0 }, { 255, 0x18, 0x67 },
};

START_TEST(events_that_are_not_there)
{
	struct model_machine machine = model_v3;
	struct perfctr_kernel_info info = {};
	unsigned int i;

	machine.told = lacks[_i].told;
	machine.lacks = lacks[_i].lacks;
	driver_init(&machine);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.events[0], lacks[_i].events);
	for (i = 0; i < 7; i++) {
		struct perfctr_ctr_control ctr = CTR(ANY, architectural[i], USER);
		int want = lacks[_i].events & BIT(i) ? 0 : -EINVAL;

		ck_assert_msg(check(&ctr, 1, NULL) == want, "event %u", i);
		ctr.event |= SEL_EDGE | SEL_CMASK(2);
		ck_assert_msg(check(&ctr, 1, NULL) == want, "event %u with an edge", i);
		/* Other unit masks are other events. */
		ctr.event ^= 0x8000;
		ck_assert_msg(check(&ctr, 1, NULL) == 0, "event %u with another mask", i);
		if (i < 3) {
			/* Fixed counters are of instructions, cycles, and reference cycles. */
			ctr = (struct perfctr_ctr_control)
				CTR(FIXED(i < 2 ? 1 - i : 2), architectural[i], USER);
			ck_assert_msg(check(&ctr, 1, NULL) == want, "event %u, fixed", i);
		}
	}
}
END_TEST

/* The P6 has no such list. */
START_TEST(events_of_the_p6)
{
	struct model_machine machine = model_p6;
	struct perfctr_kernel_info info = {};
	unsigned int i;

	machine.lacks = 0x7f;
	driver_init(&machine);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.events[0], 0);
	for (i = 0; i < 7; i++) {
		struct perfctr_ctr_control ctr = CTR(ANY, architectural[i], USER);

		ck_assert_int_eq(check(&ctr, 1, NULL), 0);
	}
}
END_TEST

static const struct {
	u32 type, features, nrctrs, width;
	u64 counters, events;
} infos[NR_MACHINES] = {
#define FILTERS	(PERFCTR_FEATURE_FILTER | PERFCTR_FEATURE_FILTER_FIXED)
	{ PERFCTR_X86_INTEL_PIII, FILTERS, 2, 40, 0x3, 0 },
	{ PERFCTR_X86_INTEL_CORE, FILTERS, 2, 40, 0x3, 0x7f },
	{ PERFCTR_X86_INTEL_CORE2, FILTERS, 5, 40, 0x7000003, 0x7f },
	{ PERFCTR_X86_INTEL_NHLM, FILTERS, 7, 48, 0x700000f, 0x7f },
	{ PERFCTR_X86_INTEL_ARCH, FILTERS, 7, 48, 0x700000f, 0x7f },
	{ PERFCTR_X86_INTEL_ARCH, FILTERS, 11, 48, 0x70000ff, 0x7f },
	{ PERFCTR_X86_AMD_K8, FILTERS, 4, 48, 0xf, 0 },
	{ PERFCTR_X86_AMD_ZEN, FILTERS, 6, 48, 0x3f, 0 },
	{ PERFCTR_X86_AMD_ZEN4, FILTERS, 6, 48, 0x3f, 0 },
};

START_TEST(info_tells_the_truth)
{
	struct perfctr_kernel_info info = {};

	driver_init(machines[_i]);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.cpu_type, infos[_i].type);
	ck_assert_uint_eq(info.cpu_features & FILTERS, infos[_i].features);
	ck_assert(info.cpu_features & PERFCTR_FEATURE_RDTSC);
	ck_assert_uint_eq(info.cpu_khz, cpu_khz);
	ck_assert_uint_eq(info.tsc_to_cpu_mult, 1);
	ck_assert_uint_eq(info.tsc_hz, 1500000000);
	ck_assert_uint_eq(perfctr_cpu_clock_hz(), 1500000000);
	ck_assert_uint_eq(info.nrctrs, infos[_i].nrctrs);
	ck_assert_uint_eq(info.width, infos[_i].width);
	ck_assert_uint_eq(info.counters, infos[_i].counters);
	ck_assert_uint_eq(info.events[0], infos[_i].events);
	ck_assert_uint_eq(info.events[1], 0);
}
END_TEST

static const struct {
	const struct model_machine *machine;
	u8 model;
	u32 type;
} types[] = {
	{ &model_p6, 1, PERFCTR_X86_INTEL_P6 }, { &model_p6, 3, PERFCTR_X86_INTEL_PII },
	{ &model_p6, 5, PERFCTR_X86_INTEL_PII }, { &model_p6, 6, PERFCTR_X86_INTEL_PII },
	{ &model_p6, 7, PERFCTR_X86_INTEL_PIII }, { &model_p6, 8, PERFCTR_X86_INTEL_PIII },
	{ &model_p6, 9, PERFCTR_X86_INTEL_PENTM }, { &model_p6, 10, PERFCTR_X86_INTEL_PIII },
	{ &model_p6, 11, PERFCTR_X86_INTEL_PIII }, { &model_p6, 13, PERFCTR_X86_INTEL_PENTM },
	{ &model_v1, 14, PERFCTR_X86_INTEL_CORE }, { &model_v2, 15, PERFCTR_X86_INTEL_CORE2 },
	{ &model_v2, 22, PERFCTR_X86_INTEL_CORE2 }, { &model_v2, 23, PERFCTR_X86_INTEL_CORE2 },
	{ &model_v2, 29, PERFCTR_X86_INTEL_CORE2 }, { &model_v3, 28, PERFCTR_X86_INTEL_ATOM },
	{ &model_v3, 38, PERFCTR_X86_INTEL_ATOM }, { &model_v3, 39, PERFCTR_X86_INTEL_ATOM },
	{ &model_v3, 53, PERFCTR_X86_INTEL_ATOM }, { &model_v3, 54, PERFCTR_X86_INTEL_ATOM },
	{ &model_v3, 26, PERFCTR_X86_INTEL_NHLM }, { &model_v3, 30, PERFCTR_X86_INTEL_NHLM },
	{ &model_v3, 31, PERFCTR_X86_INTEL_NHLM }, { &model_v3, 46, PERFCTR_X86_INTEL_NHLM },
	{ &model_v3, 37, PERFCTR_X86_INTEL_WSTMR }, { &model_v3, 44, PERFCTR_X86_INTEL_WSTMR },
	{ &model_v3, 47, PERFCTR_X86_INTEL_WSTMR }, { &model_v3, 42, PERFCTR_X86_INTEL_ARCH },
	{ &model_v5, 200, PERFCTR_X86_INTEL_ARCH },
};

START_TEST(type_by_model)
{
	struct model_machine machine = *types[_i].machine;
	struct perfctr_kernel_info info = {};

	machine.model = types[_i].model;
	driver_init(&machine);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.cpu_type, types[_i].type);
}
END_TEST

/* The running thread's is in the register; a child's is what the kernel remembers. */
START_TEST(thread_pointer)
{
	struct task_struct child = { .thread = {
		.fsbase = 0x7f5500000000, .regs = { .cs = SHIM_USER_CS },
	} };

	driver_init(&model_default);
	shim_current.thread.fsbase = 1;
	shim_current.thread.regs.cs = SHIM_USER_CS;
	shim_cpu = 1;
	ck_assert_uint_eq(perfctr_cpu_thread_pointer(current), model_msr(1, MSR_FS_BASE));
	ck_assert_uint_eq(perfctr_cpu_thread_pointer(&child), 0x7f5500000000);
}
END_TEST

/* In 32-bit mode it is the base of GS's segment, if that is one of the thread's own in the GDT. */
static const struct {
	const char *name;
	unsigned int gs;
	u64 base;
} selectors[] = {
	{ "first", 12 << 3 | 3, 0xf7001000 }, { "second", 13 << 3 | 3, 0xf7002000 },
	{ "last", 14 << 3 | 3, 0xf7003000 }, { "none", 0, 0 }, { "below", 11 << 3 | 3, 0 },
	{ "above", 15 << 3 | 3, 0 }, { "far above", 0xfffb, 0 }, { "LDT", 12 << 3 | 7, 0 },
};

START_TEST(thread_pointer_of_32_bits)
{
	struct task_struct child = { .thread = {
		.gsindex = (unsigned short)selectors[_i].gs,
		.tls_array = { { 0xf7001000 }, { 0xf7002000 }, { 0xf7003000 } },
	} };

	driver_init(&model_default);
	ck_assert_msg(perfctr_cpu_thread_pointer(&child) == selectors[_i].base, "%s",
		      selectors[_i].name);
	/* The running thread's GS is in the register. */
	shim_current = child;
	shim_current.thread.gsindex = 13 << 3 | 3;
	shim_gs = selectors[_i].gs;
	ck_assert_msg(perfctr_cpu_thread_pointer(current) == selectors[_i].base, "%s, current",
		      selectors[_i].name);
}
END_TEST

void test_check(void)
{
	unit_begin("x86_check");
	unit_run(rules_hold, NR_RULES * NR_MACHINES);
	UNIT_ROWS(refused_changes_nothing, machines);
	UNIT_ROWS(each_bit, machines);
	UNIT_ROWS(whole_event_selects, machines);
	unit_run(names_what_any_became, 6 * NR_MACHINES);
	UNIT_ROWS(each_counter, machines);
	UNIT_ROWS(as_many_as_there_are, machines);
	unit_run(i_mode_needs_a_local_apic,
		 (int)(sizeof(ictrs) / sizeof(ictrs[0])) * NR_MACHINES * 2);
	UNIT_ROWS(i_mode_of_fixed_counters, machines);
	UNIT_RUN(kernel_is_only_ever_set);
	UNIT_ROWS(events_that_are_not_there, lacks);
	UNIT_RUN(events_of_the_p6);
	UNIT_ROWS(info_tells_the_truth, infos);
	UNIT_ROWS(type_by_model, types);
	UNIT_RUN(thread_pointer);
	UNIT_ROWS(thread_pointer_of_32_bits, selectors);
}
