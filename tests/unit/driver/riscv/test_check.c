// SPDX-License-Identifier: GPL-2.0
/* perfctr_cpu_check(): what controls a machine can count, and who may have them. */
#include "tests.h"

static const struct model_machine unfiltered = {
	.sbi = true, .nr_cpus = 2, .programmable = 0x18, .width = 40,
};

/* No programmable counters, as with many small cores */
static const struct model_machine fixed_only = { .sbi = true, .nr_cpus = 1, .width = 64 };

static const struct model_machine fixed_filtering = {
	.sbi = true, .smcntrpmf = true, .nr_cpus = 1, .width = 64,
};

static const struct model_machine branches = {
	.sbi = true, .sscofpmf = true, .branches = true,
	.nr_cpus = 1, .programmable = 0xf8, .width = 64,
};

static const struct model_machine once = {
	.sbi = true, .sscofpmf = true, .event_once = true,
	.nr_cpus = 1, .programmable = 0x7f8, .width = 64,
};

/* Whose device tree has cycles and instructions on the fixed counters alone */
static const struct model_machine board = {
	.sbi = true, .sscofpmf = true, .board = true, .nr_cpus = 2, .programmable = 0x7f8, .width = 48,
};

static const struct model_machine board_once = {
	.sbi = true, .sscofpmf = true, .board = true, .event_once = true,
	.nr_cpus = 2, .programmable = 0x7f8, .width = 48,
};

/* A later OpenSBI */
static const struct model_machine strict = {
	.sbi = true, .sscofpmf = true, .strict = true, .nr_cpus = 2, .programmable = 0x7f8, .width = 48,
};

static const struct model_machine strict_board = {
	.sbi = true, .sscofpmf = true, .strict = true, .board = true,
	.nr_cpus = 2, .programmable = 0x7f8, .width = 48,
};

static const struct model_machine no_sbi = { .nr_cpus = 2 };

#define FW_EVENT	0xf0000ull

static const struct {
	const char *name;
	const struct model_machine *machine;	/* NULL: the default */
	int err;
	bool kernel;
	unsigned int nr;
	struct perfctr_ctr_control ctr[9];
} rules[] = {
	{ "nothing", NULL, 0, false, 0, {} },

	/* Modes, with Sscofpmf alone */
	{ "user", NULL, 0, false, 1, { CTR(ANY, EV_INSTRUCTIONS, USER) } },
	{ "kernel", NULL, 0, true, 1, { CTR(ANY, EV_INSTRUCTIONS, KERNEL) } },
	{ "both", NULL, 0, true, 1, { CTR(ANY, EV_INSTRUCTIONS, BOTH) } },
	{ "the second is kernel", NULL, 0, true, 2,
	  { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, KERNEL) } },
	{ "no mode", NULL, -EINVAL, false, 1, { CTR(ANY, EV_INSTRUCTIONS, 0) } },
	{ "unknown flag", NULL, -EINVAL, false, 1, { CTR(ANY, EV_INSTRUCTIONS, USER | 4) } },
	{ "unknown high flag", NULL, -EINVAL, false, 1,
	  { CTR(ANY, EV_INSTRUCTIONS, USER | 0x80000000) } },
	{ "cycle unfiltered", NULL, 0, true, 1, { CTR(0, EV_CYCLES, BOTH) } },
	{ "cycle cannot filter", NULL, -EOPNOTSUPP, false, 1, { CTR(0, EV_CYCLES, USER) } },
	{ "cycle cannot filter kernel", NULL, -EOPNOTSUPP, false, 1,
	  { CTR(0, EV_CYCLES, KERNEL) } },
	{ "instret cannot filter", NULL, -EOPNOTSUPP, false, 1,
	  { CTR(2, EV_INSTRUCTIONS, USER) } },

	/* ... with Smcntrpmf as well */
	{ "cycle filters", &model_filtering, 0, false, 1, { CTR(0, EV_CYCLES, USER) } },
	{ "instret filters", &model_filtering, 0, false, 1, { CTR(2, EV_INSTRUCTIONS, USER) } },
	{ "instret filters kernel", &model_filtering, 0, true, 1,
	  { CTR(2, EV_INSTRUCTIONS, KERNEL) } },

	/* ... without either */
	{ "unfiltered both", &unfiltered, 0, true, 1, { CTR(3, EV_DTLB_READ, BOTH) } },
	{ "unfiltered user", &unfiltered, -EOPNOTSUPP, false, 1, { CTR(3, EV_DTLB_READ, USER) } },
	{ "unfiltered user any", &unfiltered, -EOPNOTSUPP, false, 1,
	  { CTR(ANY, EV_DTLB_READ, USER) } },
	{ "unfiltered kernel", &unfiltered, -EOPNOTSUPP, false, 1,
	  { CTR(ANY, EV_DTLB_READ, KERNEL) } },

	/* Which counter */
	{ "named", NULL, 0, false, 1, { CTR(3, EV_DTLB_READ, USER) } },
	{ "the last", NULL, 0, false, 1, { CTR(10, EV_DTLB_READ, USER) } },
	{ "one past the last", NULL, -EINVAL, false, 1, { CTR(11, EV_DTLB_READ, USER) } },
	{ "31", NULL, -EINVAL, false, 1, { CTR(31, EV_DTLB_READ, USER) } },
	{ "32", NULL, -EINVAL, false, 1, { CTR(32, EV_DTLB_READ, USER) } },
	{ "almost any", NULL, -EINVAL, false, 1, { CTR(0xfffffffe, EV_DTLB_READ, USER) } },
	{ "time is no counter", NULL, -EINVAL, false, 1, { CTR(1, EV_CYCLES, BOTH) } },
	{ "programmable cycles", NULL, 0, false, 1, { CTR(4, EV_CYCLES, USER) } },
	{ "cycle counts cycles only", &model_filtering, -EINVAL, false, 1,
	  { CTR(0, EV_INSTRUCTIONS, USER) } },
	{ "instret counts instructions only", &model_filtering, -EINVAL, false, 1,
	  { CTR(2, EV_CYCLES, USER) } },
	{ "cycle counts no misses", &model_filtering, -EINVAL, false, 1, { CTR(0, EV_ITLB, USER) } },
	{ "cycle counts nothing raw", &model_filtering, -EINVAL, false, 1,
	  { CTR_RAW(0, RAW_STORES, USER) } },
	{ "twice the same", NULL, -EINVAL, false, 2,
	  { CTR(5, EV_DTLB_READ, USER), CTR(5, EV_DTLB_WRITE, USER) } },
	{ "twice cycle", NULL, -EINVAL, true, 2, { CTR(0, EV_CYCLES, BOTH), CTR(0, EV_CYCLES, BOTH) } },
	{ "the same after another", NULL, -EINVAL, false, 3,
	  { CTR(5, EV_DTLB_READ, USER), CTR(6, EV_ITLB, USER), CTR(5, EV_CYCLES, USER) } },

	/* How many */
	{ "all", NULL, 0, false, 8,
	  { CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER),
	    CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER),
	    CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER) } },
	{ "one more than all", NULL, -EINVAL, false, 9,
	  { CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER),
	    CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER),
	    CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_CYCLES, USER) } },
	{ "all and both fixed", &unfiltered, 0, true, 4,
	  { CTR(0, EV_CYCLES, BOTH), CTR(ANY, EV_DTLB_READ, BOTH), CTR(2, EV_INSTRUCTIONS, BOTH),
	    CTR(ANY, EV_DTLB_WRITE, BOTH) } },
	{ "any beside named", &unfiltered, 0, true, 2,
	  { CTR(ANY, EV_DTLB_READ, BOTH), CTR(4, EV_DTLB_WRITE, BOTH) } },
	{ "any more than named leave", &unfiltered, -EINVAL, true, 3,
	  { CTR(ANY, EV_DTLB_READ, BOTH), CTR(ANY, EV_ITLB, BOTH), CTR(4, EV_DTLB_WRITE, BOTH) } },

	/* Events */
	{ "no event", NULL, -EINVAL, false, 1, { CTR(ANY, 0, USER) } },
	{ "cache event", NULL, 0, false, 1, { CTR(ANY, EV_DTLB_WRITE, USER) } },
	{ "not had here", NULL, -EINVAL, false, 1, { CTR(ANY, EV_BRANCHES, USER) } },
	{ "had here", &branches, 0, false, 1, { CTR(ANY, EV_BRANCHES, USER) } },
	{ "past the hardware events", &branches, -EINVAL, false, 1, { CTR(ANY, 11, USER) } },
	{ "code 64 is not code 0", &branches, -EINVAL, false, 1, { CTR(ANY, 66, USER) } },
	{ "highest code", NULL, -EINVAL, false, 1, { CTR(ANY, 0xffff, USER) } },
	{ "cache code not had here", NULL, -EINVAL, false, 1, { CTR(ANY, 0x10018, USER) } },
	{ "cache code 64 and more", NULL, -EINVAL, false, 1, { CTR(ANY, 0x10059, USER) } },
	{ "highest cache code", NULL, -EINVAL, false, 1, { CTR(ANY, 0x1ffff, USER) } },
	{ "raw of another code", NULL, -EINVAL, false, 1, { CTR(ANY, 0x20001, USER) } },
	{ "type 3", NULL, -EINVAL, false, 1, { CTR(ANY, 0x30000, USER) } },
	{ "type 14", NULL, -EINVAL, false, 1, { CTR(ANY, 0xe0000, USER) } },
	{ "firmware", NULL, -EOPNOTSUPP, false, 1, { CTR(ANY, FW_EVENT, USER) } },
	{ "firmware, another", NULL, -EOPNOTSUPP, false, 1, { CTR(ANY, FW_EVENT + 5, BOTH) } },
	{ "bit 20", NULL, -EINVAL, false, 1, { CTR(ANY, 0x100000 | EV_CYCLES, USER) } },
	{ "bit 31", NULL, -EINVAL, false, 1, { CTR(ANY, 0x80000000ull | EV_CYCLES, USER) } },
	{ "bit 32", NULL, -EINVAL, false, 1, { CTR(ANY, 1ull << 32 | EV_CYCLES, USER) } },
	{ "bit 63", NULL, -EINVAL, false, 1, { CTR(ANY, 1ull << 63 | EV_CYCLES, USER) } },
	{ "bit 32 and raw", NULL, -EINVAL, false, 1, { CTR(ANY, 1ull << 32 | EV_RAW, USER) } },

	/* event_data is for raw events */
	{ "raw", NULL, 0, false, 1, { CTR_RAW(ANY, RAW_STORES, USER) } },
	{ "raw named", NULL, 0, true, 1, { CTR_RAW(7, RAW_STORES, KERNEL) } },
	{ "raw zero", NULL, 0, false, 1, { CTR_RAW(ANY, 0, USER) } },
	/* Wider than the mhpmevent selectors that SBI lets pass: bits 48 and up are reserved */
	{ "raw, bit 47", NULL, 0, false, 1, { CTR_RAW(ANY, 1ull << 47, USER) } },
	{ "raw, bit 48", NULL, -EINVAL, false, 1, { CTR_RAW(ANY, 1ull << 48 | RAW_STORES, USER) } },
	{ "raw, bit 63", NULL, -EINVAL, false, 1, { CTR_RAW(ANY, 1ull << 63 | RAW_STORES, USER) } },
	{ "config without raw", NULL, -EINVAL, false, 1,
	  { { .map = ANY, .event = EV_CYCLES, .flags = USER, .config = 1 } } },
	{ "high config without raw", NULL, -EINVAL, false, 1,
	  { { .map = ANY, .event = EV_DTLB_READ, .flags = USER, .config = 1ull << 63 } } },
	{ "config of cycle", NULL, -EINVAL, false, 1,
	  { { .map = 0, .event = EV_CYCLES, .flags = BOTH, .config = 1 } } },

	/* Nothing programmable */
	{ "any is cycle", &fixed_only, 0, true, 1, { CTR(ANY, EV_CYCLES, BOTH) } },
	{ "any is instret", &fixed_only, 0, true, 1, { CTR(ANY, EV_INSTRUCTIONS, BOTH) } },
	{ "any is both", &fixed_only, 0, true, 2,
	  { CTR(ANY, EV_CYCLES, BOTH), CTR(ANY, EV_INSTRUCTIONS, BOTH) } },
	{ "any is cycle once", &fixed_only, -EINVAL, true, 2,
	  { CTR(ANY, EV_CYCLES, BOTH), CTR(ANY, EV_CYCLES, BOTH) } },
	{ "any is cycle, which is named", &fixed_only, -EINVAL, true, 2,
	  { CTR(0, EV_CYCLES, BOTH), CTR(ANY, EV_CYCLES, BOTH) } },
	{ "any is nothing else", &fixed_only, -EINVAL, false, 1, { CTR(ANY, EV_DTLB_READ, BOTH) } },
	{ "nothing raw", &fixed_only, -EINVAL, false, 1, { CTR_RAW(ANY, RAW_STORES, BOTH) } },
	{ "no hpmcounter", &fixed_only, -EINVAL, false, 1, { CTR(3, EV_CYCLES, BOTH) } },
	{ "any unfiltered", &fixed_only, -EOPNOTSUPP, false, 1, { CTR(ANY, EV_CYCLES, USER) } },
	{ "any filtered", &fixed_filtering, -EOPNOTSUPP, false, 1, { CTR(ANY, EV_CYCLES, USER) } },

	/* QEMU */
	{ "once", &once, 0, false, 2, { CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_DTLB_READ, USER) } },
	{ "event twice", &once, -EOPNOTSUPP, true, 2,
	  { CTR(ANY, EV_DTLB_READ, KERNEL), CTR(ANY, EV_DTLB_READ, USER) } },
	{ "event twice, named", &once, -EOPNOTSUPP, false, 2,
	  { CTR(3, EV_DTLB_READ, USER), CTR(4, EV_DTLB_READ, USER) } },
	{ "other raw", &once, 0, false, 2,
	  { CTR_RAW(ANY, RAW_STORES, USER), CTR_RAW(ANY, RAW_NONE, USER) } },
	{ "raw twice", &once, -EOPNOTSUPP, false, 2,
	  { CTR_RAW(ANY, RAW_STORES, USER), CTR_RAW(ANY, RAW_STORES, USER) } },
	{ "cycle beside cycles", &once, 0, true, 2,
	  { CTR(0, EV_CYCLES, BOTH), CTR(ANY, EV_CYCLES, USER) } },
	{ "cycles beside cycle", &once, 0, true, 2,
	  { CTR(ANY, EV_CYCLES, USER), CTR(0, EV_CYCLES, BOTH) } },
	{ "event twice elsewhere", NULL, 0, false, 2,
	  { CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_DTLB_READ, USER) } },

	/* Boards, and other firmware */
	{ "board, both modes", &board, 0, true, 2,
	  { CTR(ANY, EV_INSTRUCTIONS, BOTH), CTR(ANY, EV_CYCLES, BOTH) } },
	{ "board, user", &board, -EOPNOTSUPP, false, 1, { CTR(ANY, EV_INSTRUCTIONS, USER) } },
	{ "board, kernel", &board, -EOPNOTSUPP, false, 1, { CTR(ANY, EV_CYCLES, KERNEL) } },
	{ "board, i-mode", &board, -EOPNOTSUPP, false, 1, { ICTR(ANY, EV_CYCLES, BOTH, 1000) } },
	{ "board, twice", &board, -EINVAL, true, 2,
	  { CTR(ANY, EV_CYCLES, BOTH), CTR(ANY, EV_CYCLES, BOTH) } },
	{ "board, another event", &board, 0, false, 1, { CTR(ANY, EV_ITLB, USER) } },
	{ "board, an event twice", &board, 0, true, 2,
	  { CTR(ANY, EV_ITLB, USER), CTR(ANY, EV_ITLB, KERNEL) } },
	{ "board of QEMU's, an event twice", &board_once, -EOPNOTSUPP, true, 2,
	  { CTR(ANY, EV_ITLB, KERNEL), CTR(ANY, EV_ITLB, USER) } },
	{ "strict, named", &strict, 0, true, 2,
	  { CTR(0, EV_CYCLES, BOTH), CTR(2, EV_INSTRUCTIONS, BOTH) } },
	{ "strict, any", &strict, 0, false, 1, { CTR(ANY, EV_CYCLES, USER) } },
	{ "strict board", &strict_board, 0, true, 2,
	  { CTR(ANY, EV_CYCLES, BOTH), CTR(ANY, EV_ITLB, USER) } },
	{ "strict board, user", &strict_board, -EOPNOTSUPP, false, 1,
	  { CTR(ANY, EV_CYCLES, USER) } },

	/* Without the extension */
	{ "no sbi, clock", &no_sbi, 0, false, 0, {} },
	{ "no sbi, cycle", &no_sbi, 0, true, 1, { CTR(0, EV_CYCLES, BOTH) } },
	{ "no sbi, any", &no_sbi, 0, true, 1, { CTR(ANY, EV_INSTRUCTIONS, BOTH) } },
	{ "no sbi, user", &no_sbi, -EOPNOTSUPP, false, 1, { CTR(0, EV_CYCLES, USER) } },
	{ "no sbi, misses", &no_sbi, -EINVAL, false, 1, { CTR(ANY, EV_ITLB, BOTH) } },
	{ "no sbi, hpm", &no_sbi, -EINVAL, false, 1, { CTR(3, EV_CYCLES, BOTH) } },
};

START_TEST(rules_hold)
{
	bool kernel = false;
	int err;

	driver_init(rules[_i].machine ? rules[_i].machine : &model_default);
	err = check(rules[_i].ctr, rules[_i].nr, &kernel);
	ck_assert_msg(err == rules[_i].err, "%s: %d, expected %d", rules[_i].name, err,
		      rules[_i].err);
	if (!err)
		ck_assert_msg(kernel == rules[_i].kernel, "%s: kernel is %d", rules[_i].name, kernel);
}
END_TEST

/* A caller that has found a reason already keeps it. */
START_TEST(kernel_is_only_ever_set)
{
	static const struct perfctr_ctr_control ctr[] = { CTR(ANY, EV_CYCLES, USER) };
	bool kernel = true;

	driver_init(&model_default);
	ck_assert_int_eq(check(ctr, 1, &kernel), 0);
	ck_assert(kernel);
}
END_TEST

/* A control that the table accepts can be claimed on an empty machine, and all is given back. */
START_TEST(accepted_can_be_had)
{
	struct model_ownership before;
	struct perfctr_config *config;
	unsigned int i, j;

	if (rules[_i].err)
		return;
	driver_init(rules[_i].machine ? rules[_i].machine : &model_default);
	model_ownership(&before);
	config = claim(rules[_i].ctr, rules[_i].nr, NULL);
	if (rules[_i].nr && rules[_i].ctr[rules[_i].nr - 1].event == EV_RAW &&
	    rules[_i].ctr[rules[_i].nr - 1].config != RAW_STORES) {
		/* Only the firmware knows raw events. */
		ck_assert_msg(IS_ERR(config) && PTR_ERR(config) == -EINVAL, "%s", rules[_i].name);
		return;
	}
	ck_assert_msg(!IS_ERR(config), "%s: %ld", rules[_i].name, PTR_ERR(config));
	for (i = 0; i < config->nr; i++) {
		ck_assert_msg(config->mask & BIT(config->hw[i]), "%s: not in the mask", rules[_i].name);
		if (config->ctr[i].map != ANY)
			ck_assert_uint_eq(config->hw[i], config->ctr[i].map);
		for (j = 0; j < i; j++)
			ck_assert_uint_ne(config->hw[i], config->hw[j]);
	}
	ck_assert_uint_eq(hweight32(config->mask), config->nr);
	unclaim(config);
	model_expect_ownership(&before);
}
END_TEST

/* An event that SBI does not define is refused even while the machine's events are unknown. */
static const struct {
	const char *name;
	int err;
	struct perfctr_ctr_control ctr;
} undefined[] = {
	{ "no event", -EINVAL, CTR(ANY, 0, USER) },
	{ "past the hardware events", -EINVAL, CTR(ANY, 11, USER) },
	{ "high hardware code", -EINVAL, CTR(ANY, 0x40 | EV_CYCLES, USER) },
	{ "cache operation 3", -EINVAL, CTR(ANY, 0x1001f, USER) },
	{ "cache 7", -EINVAL, CTR(ANY, 0x10039, USER) },
	{ "high cache code", -EINVAL, CTR(ANY, 0x10000 | 0x419, USER) },
	{ "raw code", -EINVAL, CTR(ANY, 0x20001, USER) },
	{ "type 3", -EINVAL, CTR(ANY, 0x30000, USER) },
	{ "firmware", -EOPNOTSUPP, CTR(ANY, FW_EVENT, USER) },
	{ "bit 32", -EINVAL, CTR(ANY, 1ull << 32 | EV_ITLB, USER) },
	/* An event that SBI does define may exist. */
	{ "cache events", 0, CTR(ANY, 0x10000, USER) },
	{ "the last cache event", 0, CTR(ANY, 0x10000 | 6 << 3 | 2 << 1 | 1, USER) },
	{ "the last hardware event", 0, CTR(ANY, 10, USER) },
	{ "raw", 0, CTR_RAW(ANY, RAW_NONE, USER) },
};

START_TEST(undefined_events)
{
	int err;

	model_boot(&model_default);
	model_perf_take_all(0);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	err = check(&undefined[_i].ctr, 1, NULL);
	ck_assert_msg(err == undefined[_i].err, "%s: %d, expected %d", undefined[_i].name, err,
		      undefined[_i].err);
}
END_TEST

/* While perf has every counter nothing is known of events; it is once they are free. */
START_TEST(events_are_asked_for_again)
{
	static const struct perfctr_ctr_control branch[] = { CTR(ANY, EV_BRANCHES, USER) };
	static const struct perfctr_ctr_control itlb[] = { CTR(ANY, EV_ITLB, USER) };
	struct perfctr_kernel_info info = {};
	struct perfctr_refusal why = NO_REFUSAL;
	u32 taken;

	model_boot(&model_default);
	taken = model_perf_take_all(0);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	ck_assert_int_eq(PTR_ERR(claim(itlb, 1, &why)), -EBUSY);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_PERF);
	model_perf_give(0, taken);
	/* Asks once a second only, since that costs a hundred calls and more. */
	model_calls_reset();
	ck_assert_int_eq(check(itlb, 1, NULL), 0);
	ck_assert_int_eq(check(branch, 1, NULL), 0);
	ck_assert_uint_eq(model_all_calls(), 0);
	/* It is not known yet which of the two errors it is. */
	ck_assert(IS_ERR(claim(branch, 1, NULL)));
	shim_jiffies += (unsigned long)shim_hz + 1;
	ck_assert_int_eq(check(itlb, 1, NULL), 0);
	ck_assert_int_eq(check(branch, 1, NULL), -EINVAL);
	model_calls_reset();
	shim_jiffies += (unsigned long)shim_hz + 1;
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(info.events[1], BIT_ULL(0x19) | BIT_ULL(0x1b) | BIT_ULL(0x21));
}
END_TEST

/* An event that cannot be probed, because perf has its one counter, is not known to be missing. */
START_TEST(event_of_a_taken_counter_exists)
{
	static const struct perfctr_ctr_control dtlb[] = { CTR(ANY, EV_DTLB_READ, USER) };
	struct model_machine machine = model_default;
	struct perfctr_refusal why = NO_REFUSAL;
	int err;

	machine.dtlb_counters = BIT(3);
	model_boot(&machine);
	ck_assert(model_perf_take(0, 3, EV_DTLB_WRITE, 0, true));
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	err = (int)PTR_ERR(claim(dtlb, 1, &why));
	ck_assert_msg(err == -EBUSY, "%d, expected EBUSY", err);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_PERF);
	model_perf_give(0, BIT(3));
	CLAIM(dtlb);
}
END_TEST

/* What is known after one look at all counters is asked no more, whatever it is. */
static const struct model_machine *const asked_once[] = {
	&model_default, &model_filtering, &model_tight, &once, &board, &board_once, &strict,
	&strict_board, &branches, &fixed_only, &unfiltered,
};

START_TEST(asks_once)
{
	struct perfctr_kernel_info info = {};

	driver_init(asked_once[_i]);
	model_calls_reset();
	shim_jiffies += (unsigned long)shim_hz + 1;
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(model_all_calls(), 0);
}
END_TEST

/* No event tells whether a counter is free. The questions get rarer. */
START_TEST(asks_ever_more_seldom)
{
	struct model_machine machine = board;
	struct perfctr_kernel_info info = {};
	unsigned int seconds, looks = 0;

	machine.basic = true;
	driver_init(&machine);
	for (seconds = 0; seconds < 1000; seconds++) {
		model_calls_reset();
		shim_jiffies += (unsigned long)shim_hz;
		perfctr_cpu_info(&info);
		looks += model_all_calls() > 0;
	}
	ck_assert_uint_le(looks, 10);
}
END_TEST

/* QEMU's limit is found, or not denied, also where perf is first. */
static const struct {
	const char *name;
	u32 perf;		/* counters that perf has */
	u32 event;		/* of this event */
} limits[] = {
	{ "perf counts instructions", BIT(10), EV_INSTRUCTIONS },
	{ "one counter is left", 0x7f0, EV_ITLB },
};

START_TEST(event_once_is_seen_beside_perf)
{
	static const struct perfctr_ctr_control twice[] = {
		CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_DTLB_READ, KERNEL),
	};
	unsigned int hw;
	int err;

	model_boot(&once);
	for (hw = MODEL_HPM; hw < MODEL_CTRS; hw++)
		if (limits[_i].perf & BIT(hw))
			ck_assert(model_perf_take(0, hw, limits[_i].event, 0, true));
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	model_perf_give(0, limits[_i].perf);
	err = check(twice, 2, NULL);
	ck_assert_msg(err == -EOPNOTSUPP, "%s: %d, expected EOPNOTSUPP", limits[_i].name, err);
}
END_TEST

/* There is Smcntrpmf if the device tree says so for every CPU. */
static const struct {
	const char *name;
	struct shim_cpu_node node[2];
	bool have;
} trees[] = {
	{ "list", { { .extensions = "i smcntrpmf" }, { .extensions = "i smcntrpmf m" } }, true },
	{ "string", { { .isa = "rv64imafdc_smcntrpmf_sscofpmf" }, { .isa = "rv64i_smcntrpmf" } }, true },
	{ "list and string", { { .extensions = "smcntrpmf" }, { .isa = "rv64i_smcntrpmf" } }, true },
	{ "list without, string with",
	  { { .extensions = "i", .isa = "rv64i_smcntrpmf" }, { .isa = "rv64i_smcntrpmf" } }, true },
	{ "not the first", { { .extensions = "i m" }, { .extensions = "i smcntrpmf" } }, false },
	{ "not the second", { { .extensions = "i smcntrpmf" }, { .extensions = "i m" } }, false },
	{ "neither", { { .isa = "rv64imafdc" }, { .isa = "rv64imafdc" } }, false },
	{ "nothing said", { {}, {} }, false },
	{ "no node", { { .extensions = "smcntrpmf" }, { .missing = true } }, false },
	{ "no node at all", { { .missing = true }, { .missing = true } }, false },
};

START_TEST(smcntrpmf_is_found)
{
	static const struct perfctr_ctr_control cycle[] = { CTR(0, EV_CYCLES, USER) };
	struct perfctr_kernel_info info = {};

	model_boot(&model_filtering);
	memcpy(shim_nodes, trees[_i].node, sizeof(trees[_i].node));
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	ck_assert_uint_eq(shim_cpu_nodes, 0);
	ck_assert_msg(check(cycle, 1, NULL) == (trees[_i].have ? 0 : -EOPNOTSUPP), "%s",
		      trees[_i].name);
	perfctr_cpu_info(&info);
	ck_assert_int_eq(!!(info.cpu_features & PERFCTR_FEATURE_FILTER_FIXED), trees[_i].have);
}
END_TEST

static const struct {
	const struct model_machine *machine;
	struct perfctr_kernel_info info;
} infos[] = {
	{ &model_default, {
		.cpu_type = PERFCTR_RISCV_SBI,
		.cpu_features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_RDTSC |
				PERFCTR_FEATURE_FILTER | PERFCTR_FEATURE_PCINT,
		.nrctrs = 10, .width = 48, .counters = 0x7fd,
		.events = { 0x6, BIT_ULL(0x19) | BIT_ULL(0x1b) | BIT_ULL(0x21) } } },
	{ &model_filtering, {
		.cpu_type = PERFCTR_RISCV_SBI,
		.cpu_features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_RDTSC |
				PERFCTR_FEATURE_FILTER | PERFCTR_FEATURE_PCINT | PERFCTR_FEATURE_FILTER_FIXED,
		.nrctrs = 10, .width = 48, .counters = 0x7fd,
		.events = { 0x6, BIT_ULL(0x19) | BIT_ULL(0x1b) | BIT_ULL(0x21) } } },
	{ &fixed_only, {
		.cpu_type = PERFCTR_RISCV_SBI,
		.cpu_features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_RDTSC,
		.nrctrs = 2, .width = 64, .counters = 0x5, .events = { 0x6, 0 } } },
	{ &branches, {
		.cpu_type = PERFCTR_RISCV_SBI,
		.cpu_features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_RDTSC |
				PERFCTR_FEATURE_FILTER | PERFCTR_FEATURE_PCINT,
		.nrctrs = 7, .width = 64, .counters = 0xfd,
		.events = { 0x26, BIT_ULL(0x19) | BIT_ULL(0x1b) | BIT_ULL(0x21) } } },
	{ &no_sbi, {
		.cpu_type = PERFCTR_RISCV_GENERIC,
		.cpu_features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_RDTSC,
		.nrctrs = 2, .width = 64, .counters = 0x5, .events = { 0x6, 0 } } },
};

START_TEST(info_tells_the_truth)
{
	const struct perfctr_kernel_info *want = &infos[_i].info;
	struct perfctr_kernel_info info = {};

	driver_init(infos[_i].machine);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.cpu_type, want->cpu_type);
	ck_assert_uint_eq(info.cpu_features, want->cpu_features);
	ck_assert_uint_eq(info.tsc_hz, riscv_timebase);
	ck_assert_uint_eq(info.nrctrs, want->nrctrs);
	ck_assert_uint_eq(info.width, want->width);
	ck_assert_uint_eq(info.counters, want->counters);
	ck_assert_uint_eq(info.events[0], want->events[0]);
	ck_assert_uint_eq(info.events[1], want->events[1]);
}
END_TEST

/* The search for events leaves nothing behind, and leaves others' counters alone. */
static const struct {
	const char *name;
	struct model_machine machine;
	u32 perf;
} probes[] = {
	{ "empty", { .sbi = true, .sscofpmf = true, .nr_cpus = 2,
		     .programmable = 0x7f8, .width = 48 }, 0 },
	{ "some taken", { .sbi = true, .sscofpmf = true, .nr_cpus = 2,
			  .programmable = 0x7f8, .width = 48 }, 0x458 },
	{ "all taken", { .sbi = true, .sscofpmf = true, .nr_cpus = 2,
			 .programmable = 0x7f8, .width = 48 }, 0x7f8 },
	{ "shuffled", { .sbi = true, .sscofpmf = true, .shuffled = true, .nr_cpus = 2,
			.programmable = 0x7f8, .width = 48 }, 0x218 },
	{ "no filter", { .sbi = true, .nr_cpus = 1, .programmable = 0x18, .width = 40 }, 0 },
	{ "mask ignored", { .sbi = true, .sscofpmf = true, .ignores_mask = true, .nr_cpus = 1,
			    .programmable = 0x7f8, .width = 40 }, 0x18 },
};

START_TEST(probing_leaves_nothing)
{
	struct model_ownership before;
	unsigned int hw;

	model_boot(&probes[_i].machine);
	for (hw = MODEL_CTRS - 1; hw >= MODEL_HPM; hw--)
		if (probes[_i].perf & BIT(hw) && !probes[_i].machine.ignores_mask)
			ck_assert(model_perf_take(0, hw, EV_ITLB, 0, true));
	model_ownership(&before);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	model_expect_ownership(&before);
}
END_TEST

/* perf filters a fixed counter that it fell back to. Probing must not change that. */
START_TEST(probing_leaves_a_fixed_filter)
{
	struct model_ownership before;

	model_boot(&model_filtering);
	model_perf_take_all(0);
	/* perf does not get the counter that it asks for, but a fixed one. */
	ck_assert(!model_perf_take(0, 3, EV_INSTRUCTIONS, 0, true));
	ck_assert(!model_perf_take(0, 3, EV_CYCLES, 0, true));
	model_ownership(&before);
	ck_assert(before.ctr[0][MODEL_INSTRET].modes_off & BIT(MODEL_KERNEL));
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	model_expect_ownership(&before);
}
END_TEST

void test_check(void)
{
	unit_begin("riscv_check");
	UNIT_ROWS(rules_hold, rules);
	UNIT_RUN(kernel_is_only_ever_set);
	UNIT_ROWS(accepted_can_be_had, rules);
	UNIT_ROWS(undefined_events, undefined);
	UNIT_RUN(events_are_asked_for_again);
	UNIT_RUN(event_of_a_taken_counter_exists);
	UNIT_ROWS(event_once_is_seen_beside_perf, limits);
	UNIT_ROWS(asks_once, asked_once);
	UNIT_RUN(asks_ever_more_seldom);
	UNIT_ROWS(smcntrpmf_is_found, trees);
	UNIT_ROWS(info_tells_the_truth, infos);
	UNIT_ROWS(probing_leaves_nothing, probes);
	UNIT_RUN(probing_leaves_a_fixed_filter);
}
