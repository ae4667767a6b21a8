// SPDX-License-Identifier: GPL-2.0
/*
 * perfctr_cpu_check(): which controls each processor accepts. A row for each rule of perfctr 2.6's
 * low-level-ppc32.txt and of uapi/linux/perfctr.h; each bit, each number of an event, and each
 * placement of counters is tried.
 */
#include "tests.h"

#define NONE	PERFCTR_REASON_NONE
#define COUNTER	PERFCTR_REASON_COUNTER
#define ERRATUM	PERFCTR_REASON_ERRATUM

static struct perfctr_refusal why;
static bool kernel;

static int ask(const struct perfctr_ctr_control *ctr, unsigned int nr)
{
	int err;

	why = (struct perfctr_refusal)NO_REFUSAL;
	kernel = false;
	err = perfctr_cpu_check(ctr, nr, &kernel, &why);
	/* An error names a counter, and success none. No counter has an owner yet. */
	ck_assert(err ? why.index < nr : why.index == PERFCTR_NO_INDEX);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_NONE);
	if (err != -EINVAL || why.reason != COUNTER)
		ck_assert_uint_eq(why.possible, 0);
	return err;
}

#define ASK(ctr)	ask((const struct perfctr_ctr_control []) { ctr }, 1)

/* Each test runs for each processor. */
static const struct model_processor *begin(int i)
{
	struct model_machine machine = model_machine_of(&model_processors[i]);

	driver_init(&machine);
	return &model_processors[i];
}

/* Bits of event selects: the manuals' fields, of which the 604 decodes five bits */
static unsigned int select_bits(const struct model_processor *processor, unsigned int hw)
{
	static const unsigned int bits[MODEL_PMCS] = { 7, 6, 5, 5, 5, 6 };

	return processor->type == PERFCTR_PPC_604 ? 5 : bits[hw];
}

/* The counters that count an event of that number, if any does */
static u32 common(const struct model_processor *processor, u64 event)
{
	if (processor->counters < 6)
		return event < 5 ? (u32)BIT(processor->counters) - 1 : 0;
	if (event < 2)
		return 0x3f;
	if (event < 8)
		return 0x0f;
	if (event < 14)
		return 0x0b;
	return event < 23 ? 0x03 : 0;
}

START_TEST(information)
{
	struct perfctr_kernel_info info = {};
	const struct model_processor *processor = begin(_i);
	u32 features = PERFCTR_FEATURE_RDTSC;

	if (processor->counters)
		features |= PERFCTR_FEATURE_FILTER;
	if (processor->copies)
		features |= PERFCTR_FEATURE_RDPMC;
	if (processor->safe)
		features |= PERFCTR_FEATURE_PCINT;
	perfctr_cpu_info(&info);
	ck_assert_msg(info.cpu_type == processor->type, "%s is %u", processor->name, info.cpu_type);
	ck_assert_msg(info.cpu_features == features, "%s: %#x", processor->name, info.cpu_features);
	ck_assert_uint_eq(info.nrctrs, processor->counters);
	ck_assert_uint_eq(perfctr_cpu_nrctrs(), processor->counters);
	ck_assert_uint_eq(info.counters, BIT(processor->counters) - 1);
	ck_assert_uint_eq(info.width, processor->counters ? 32 : 64);
	ck_assert_uint_eq(info.no_counters,
			  processor->counters ? 0 : PERFCTR_NO_COUNTERS_PROCESSOR);
	ck_assert_uint_eq(info.tsc_hz, 33333333);
	ck_assert_uint_eq(perfctr_cpu_clock_hz(), 33333333);
	ck_assert_uint_eq(info.cpu_khz, 999999);
	ck_assert_uint_eq(info.tsc_to_cpu_mult, 30);
	ck_assert_int_eq(perfctr_cpu_always_readable(), processor->copies);
	ck_assert_int_eq(perfctr_cpu_shared_exists(), processor->type == PERFCTR_PPC_7450);
	ck_assert_int_eq(perfctr_cpu_age_period() > 0, processor->counters > 0);
}
END_TEST

START_TEST(without_a_timebase)
{
	struct model_machine machine = model_machine_of(model_named("601"));

	machine.no_timebase = true;
	model_boot(&machine);
	ck_assert_int_eq(perfctr_cpu_init(), -ENODEV);
}
END_TEST

/* The clock alone is for all. */
START_TEST(the_clock)
{
	begin(_i);
	ck_assert_int_eq(check(NULL, 0, NULL), 0);
}
END_TEST

START_TEST(so_many)
{
	struct perfctr_ctr_control ctr[MODEL_PMCS + 1];
	const struct model_processor *processor = begin(_i);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ctr); i++)
		ctr[i] = (struct perfctr_ctr_control)CTR(i, EV_CYCLES, USER);
	for (i = 1; i <= ARRAY_SIZE(ctr); i++) {
		ck_assert_int_eq(ask(ctr, i), i <= processor->counters ? 0 : -EINVAL);
		ck_assert_uint_eq(why.reason, NONE);
	}
}
END_TEST

/* The modes are in the flags, the selects in the events, and interrupts are the driver's. */
START_TEST(each_bit_of_mmcr0)
{
	const u32 reserved = FC | FCS | FCP | PMXE | 0x1fff;
	const struct model_processor *processor = begin(_i);
	unsigned int bit;

	if (!processor->counters)
		return;
	ck_assert_uint_eq(reserved, 0xe4001fff);
	for (bit = 0; bit < 32; bit++) {
		u32 mmcr0 = PPC_BIT32(bit);
		struct perfctr_ctr_control ctr[] = {
			CTR_MMCR(1, EV_CYCLES, USER, mmcr0), CTR_MMCR(0, EV_CYCLES, USER, mmcr0),
		};

		ck_assert_msg(ask(ctr, 2) == (reserved & mmcr0 ? -EINVAL : 0), "%s, bit %u",
			      processor->name, bit);
		ck_assert_uint_eq(why.reason, NONE);
		ck_assert(why.index == (reserved & mmcr0 ? 0 : PERFCTR_NO_INDEX));
	}
	ck_assert_int_eq(ASK(CTR_MMCR(0, 1, USER, ~reserved)), 0);
}
END_TEST

START_TEST(each_bit_of_mmcr2)
{
	const struct model_processor *processor = begin(_i);
	unsigned int bit;

	if (!processor->counters)
		return;
	for (bit = 0; bit < 32; bit++) {
		u64 config = MMCRS(THRESHOLD(3), PPC_BIT32(bit));
		bool good = !bit && processor->mmcrs > 2;

		ck_assert_msg(ASK(CTR_MMCR(0, EV_CYCLES, USER, config)) == (good ? 0 : -EINVAL),
			      "%s, bit %u", processor->name, bit);
	}
}
END_TEST

START_TEST(each_event_of_each_counter)
{
	const struct model_processor *processor = begin(_i);
	unsigned int hw;
	u64 event;

	for (hw = 0; hw < processor->counters; hw++) {
		u64 end = BIT_ULL(select_bits(processor, hw));

		for (event = 0; event < 300; event++)
			ck_assert_msg(ASK(CTR(hw, event, USER)) ==
				      (event < end ? 0 : -EINVAL), "%s, PMC%u, event %llu",
				      processor->name, hw + 1, event);
		/* Nothing is cut off. */
		for (event = BIT_ULL(31); event; event <<= 1)
			ck_assert_int_eq(ASK(CTR(hw, event | 1, USER)),
					 -EINVAL);
	}
}
END_TEST

START_TEST(each_event_of_any_counter)
{
	const struct model_processor *processor = begin(_i);
	u64 event;

	if (!processor->counters)
		return;
	for (event = 0; event < 300; event++)
		ck_assert_msg(ASK(CTR(ANY, event, USER)) ==
			      (common(processor, event) ? 0 : -EINVAL), "%s, event %llu",
			      processor->name, event);
	for (event = BIT_ULL(31); event; event <<= 1)
		ck_assert_int_eq(ASK(CTR(ANY, event | 1, USER)), -EINVAL);
}
END_TEST

/* A number of a counter, and none of an SPR */
START_TEST(each_map)
{
	const struct model_processor *processor = begin(_i);
	u32 map;

	for (map = 0; map < 1024; map++)
		ck_assert_int_eq(ASK(CTR(map, EV_CYCLES, USER)),
				 map < processor->counters ? 0 : -EINVAL);
	for (map = BIT(10); map; map <<= 1)
		ck_assert_int_eq(ASK(CTR(map, EV_CYCLES, USER)), -EINVAL);
	ck_assert_int_eq(ASK(CTR(ANY - 1, EV_CYCLES, USER)), -EINVAL);
}
END_TEST

/* Each mode that there is, and nothing else; the kernel's is noted. */
START_TEST(each_flag)
{
	const struct model_processor *processor = begin(_i);
	u32 flags;

	if (!processor->counters)
		return;
	for (flags = 0; flags < 16; flags++) {
		bool good = flags && !(flags & ~BOTH);

		ck_assert_int_eq(ASK(CTR(0, EV_CYCLES, flags)),
				 good ? 0 : -EINVAL);
		ck_assert_int_eq(kernel, good && flags & KERNEL);
	}
	for (flags = 16; flags; flags <<= 1)
		ck_assert_int_eq(ASK(CTR(0, EV_CYCLES, flags | USER)),
				 -EINVAL);
}
END_TEST

#define ON_ALL		0x3eu	/* of PERFCTR_PPC_*, those with counters */
#define ON_74XX		(BIT(PERFCTR_PPC_7400) | BIT(PERFCTR_PPC_7450))
#define ON_7450		BIT(PERFCTR_PPC_7450)
#define ON_FOUR		(BIT(PERFCTR_PPC_604e) | BIT(PERFCTR_PPC_750) | BIT(PERFCTR_PPC_7400))
#define PERIOD_31	BIT_ULL(31)

/* Rules about several counters, and about i-mode. Of the index of whoever is to blame */
static const struct {
	const char *name;
	unsigned long on;
	struct perfctr_ctr_control ctr[4];
	unsigned int nr;
	int err;
	u32 index, reason;
	u64 possible;
	bool i_mode;	/* EOPNOTSUPP where that is unsafe */
} rules[] = {
	{ "two", ON_ALL, { CTR(0, 1, USER), CTR(1, 1, USER) }, .nr = 2 },
	{ "in any order", ON_ALL, { CTR(1, 1, USER), CTR(0, 1, USER) }, .nr = 2 },
	{ "twice the same", ON_ALL, { CTR(0, 1, USER), CTR(0, 2, USER) }, .nr = 2, .err = -EINVAL,
	  .index = 1 },
	{ "twice the last", ON_FOUR, { CTR(3, 1, USER), CTR(2, 1, USER), CTR(3, 1, USER) },
	  .nr = 3, .err = -EINVAL, .index = 2 },
	{ "modes differ", ON_ALL, { CTR(0, 1, USER), CTR(1, 1, KERNEL) }, .nr = 2, .err = -EINVAL,
	  .index = 1 },
	{ "modes differ, ANY", ON_ALL, { CTR(ANY, 1, BOTH), CTR(ANY, 1, USER) }, .nr = 2,
	  .err = -EINVAL, .index = 1 },
	{ "modes of the last", ON_FOUR, { CTR(0, 1, BOTH), CTR(1, 1, BOTH), CTR(2, 1, KERNEL) },
	  .nr = 3, .err = -EINVAL, .index = 2 },
	{ "MMCR0 differs", ON_ALL, { CTR_MMCR(0, 1, USER, THRESHOLD(1)), CTR(1, 1, USER) },
	  .nr = 2, .err = -EINVAL, .index = 1 },
	{ "MMCR0 of one", ON_ALL, { CTR(0, 1, USER), CTR_MMCR(1, 1, USER, TRIGGER) }, .nr = 2,
	  .err = -EINVAL, .index = 1 },
	{ "MMCR2 differs", ON_74XX, { CTR(0, 1, USER),
	  CTR_MMCR(1, 1, USER, MMCRS(0, THRESHMULT)) }, .nr = 2, .err = -EINVAL, .index = 1 },
	{ "MMCRs are the same", ON_74XX,
	  { CTR_MMCR(0, 1, USER, MMCRS(THRESHOLD(63), THRESHMULT)),
	    CTR_MMCR(1, 1, USER, MMCRS(THRESHOLD(63), THRESHMULT)) }, .nr = 2 },
	{ "no counter left", ON_7450, { CTR(ANY, 14, USER), CTR(ANY, 22, USER),
	  CTR(ANY, 15, USER) }, .nr = 3, .err = -EINVAL, .index = 2,
	  .reason = COUNTER, .possible = 0x03 },
	{ "taken by its number", ON_7450, { CTR(ANY, 14, USER), CTR(0, 1, USER), CTR(1, 1, USER) },
	  .nr = 3, .err = -EINVAL,
	  .reason = COUNTER, .possible = 0x03 },
	{ "three of them", ON_7450, { CTR(ANY, 8, USER), CTR(ANY, 9, USER), CTR(ANY, 14, USER),
	  CTR(ANY, 15, USER) }, .nr = 4, .err = -EINVAL, .index = 1,
	  .reason = COUNTER, .possible = 0x0b },
	{ "all of them", ON_7450, { CTR(ANY, 2, USER), CTR(ANY, 9, USER), CTR(ANY, 14, USER),
	  CTR(ANY, 15, USER) }, .nr = 4 },
	/* i-mode */
	{ "i-mode", ON_ALL, { ICTR(0, 1, USER, 1) }, .nr = 1, .i_mode = true },
	{ "i-mode of another", ON_ALL, { ICTR(1, 1, USER, 1) }, .nr = 1, .i_mode = true },
	{ "any period", ON_ALL, { { .map = 1, .event = 1, .flags = USER,
	  .ireset = (s64)BIT_ULL(63) } }, .nr = 1, .i_mode = true },
	{ "FCECE, longest period", ON_ALL, { ICTR_MMCR(0, 1, USER, FCECE, PERIOD_31) }, .nr = 1,
	  .i_mode = true },
	{ "FCECE, longer", ON_ALL, { ICTR_MMCR(0, 1, USER, FCECE, PERIOD_31 + 1) }, .nr = 1,
	  .err = -EINVAL, .i_mode = true },
	{ "FCECE, longer of the second", ON_ALL, { ICTR_MMCR(0, 1, USER, FCECE, 1),
	  ICTR_MMCR(1, 1, USER, FCECE, PERIOD_31 + 1) }, .nr = 2, .err = -EINVAL, .index = 1,
	  .i_mode = true },
	{ "TRIGGER, longer", ON_ALL, { ICTR_MMCR(0, 1, USER, TRIGGER, PERIOD_31 + 1) }, .nr = 1,
	  .i_mode = true },
	{ "TBEE beside i-mode", ON_ALL, { ICTR_MMCR(0, 1, USER, TBEE, 100) }, .nr = 1,
	  .err = -EINVAL },
	{ "PMC1CE beside i-mode", ON_ALL, { ICTR_MMCR(0, 1, USER, PMC1CE, 100) }, .nr = 1,
	  .err = -EINVAL },
	{ "PMCnCE beside i-mode", ON_ALL, { ICTR_MMCR(0, 1, USER, PMCNCE, 100) }, .nr = 1,
	  .err = -EINVAL },
	{ "TBEE beside the last", ON_ALL, { CTR_MMCR(0, 1, USER, TBEE),
	  ICTR_MMCR(1, 1, USER, TBEE, 100) }, .nr = 2, .err = -EINVAL },
	{ "TBSEL beside i-mode", ON_ALL, { ICTR_MMCR(0, 1, USER, TBSEL(3) | FCECE | TRIGGER, 9) },
	  .nr = 1, .i_mode = true },
	/* Without i-mode */
	{ "conditions", ON_ALL,
	  { CTR_MMCR(0, 1, USER, FCECE | TBEE | TBSEL(2) | PMC1CE | PMCNCE) }, .nr = 1 },
};

START_TEST(rules_of_controls)
{
	unsigned int rule = (unsigned int)_i / MODEL_PROCESSORS;
	const struct model_processor *processor = begin(_i % MODEL_PROCESSORS);
	bool unsafe = rules[rule].i_mode && !processor->safe;
	int err = unsafe ? -EOPNOTSUPP : rules[rule].err;
	u32 index = rules[rule].index, first = 0;

	if (!(rules[rule].on & BIT(processor->type)) || !processor->counters)
		return;
	while (!rules[rule].ctr[first].ireset && first < 3)
		first++;
	if (!rules[rule].err)
		index = PERFCTR_NO_INDEX;
	if (unsafe)
		index = first;
	ck_assert_msg(ask(rules[rule].ctr, rules[rule].nr) == err && why.index == index,
		      "%s, %s: not %d of %u, but of %u", processor->name,
		      rules[rule].name, err, index, why.index);
	ck_assert_uint_eq(why.reason, unsafe ? ERRATUM : rules[rule].reason);
	ck_assert_uint_eq(why.possible, rules[rule].possible);
	if (!unsafe)
		return;
	/* The same with the parameter, which warns. */
	shim_set_param("unsafe_interrupts", 1);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	ck_assert_uint_eq(shim_warnings, 1);
	ck_assert_int_eq(ask(rules[rule].ctr, rules[rule].nr), rules[rule].err);
	ck_assert_uint_eq(why.reason, rules[rule].reason);
}
END_TEST

/* Who needs it sets the parameter; it changes nothing where interrupts are safe. */
START_TEST(unsafe_interrupts)
{
	struct model_machine machine = model_machine_of(&model_processors[_i]);
	struct perfctr_kernel_info info = {};
	bool has = model_processors[_i].counters;

	shim_set_param("unsafe_interrupts", 1);
	driver_init(&machine);
	perfctr_cpu_info(&info);
	ck_assert_int_eq(!!(info.cpu_features & PERFCTR_FEATURE_PCINT), has);
	ck_assert_uint_eq(shim_warnings, has && !model_processors[_i].safe);
}
END_TEST

/*
 * Placement: each sequence of counters that are placed, and of those that say where, against
 * trying everything.
 */

/* NOLINTNEXTLINE(misc-no-recursion): at most six deep */
static bool can_be_placed(const u32 *can, unsigned int nr, u32 used)
{
	unsigned int hw;

	if (!nr)
		return true;
	for (hw = 0; hw < MODEL_PMCS; hw++)
		if (*can & ~used & BIT(hw) && can_be_placed(can + 1, nr - 1, used | (u32)BIT(hw)))
			return true;
	return false;
}

static void expect_placed(const struct perfctr_ctr_control *ctr, const u32 *can, unsigned int nr)
{
	struct perfctr_config *config = claim_well(ctr, nr);
	unsigned int i;
	u32 used = 0;

	for (i = 0; i < nr; i++) {
		ck_assert(can[i] & BIT(config->hw[i]));
		ck_assert(!(used & BIT(config->hw[i])));
		used |= (u32)BIT(config->hw[i]);
	}
	ck_assert_uint_eq(config->mask, used);
	unclaim(config);
}

/* Who is refused has nothing beside those that name a counter or have no more choice than it. */
static void expect_refused_rightly(const struct perfctr_ctr_control *ctr, const u32 *can,
				   unsigned int nr)
{
	u32 beside[MODEL_PMCS], refused = why.index;
	unsigned int i, n = 0;

	ck_assert_uint_eq(why.reason, COUNTER);
	ck_assert_uint_eq(ctr[refused].map, ANY);
	ck_assert_uint_eq(why.possible, can[refused]);
	for (i = 0; i < nr; i++)
		if (ctr[i].map != ANY || hweight32(can[i]) <= hweight32(can[refused]))
			beside[n++] = can[i];
	ck_assert(!can_be_placed(beside, n, 0));
}

/* One of each set of counters on the 745x; the last ones are of no set elsewhere. */
static const u64 placed_events[] = { 1, 2, 8, 14 };
#define NR_PLACED	ARRAY_SIZE(placed_events)

/*
 * The control of that number: each counter is one of the above, or says where it is. False if it
 * breaks another rule.
 */
static bool make_control(const struct model_processor *processor, unsigned int number,
			 unsigned int nr, struct perfctr_ctr_control *ctr, u32 *can)
{
	unsigned int kinds = NR_PLACED + processor->counters, kind, i;
	u32 named = 0;

	for (i = 0; i < nr; i++, number /= kinds) {
		kind = number % kinds;
		if (kind < NR_PLACED) {
			ctr[i] = (struct perfctr_ctr_control)CTR(ANY, placed_events[kind], USER);
			can[i] = common(processor, placed_events[kind]);
		} else {
			ctr[i] = (struct perfctr_ctr_control)CTR(kind - NR_PLACED, 1, USER);
			can[i] = (u32)BIT(kind - NR_PLACED);
			if (named & can[i])
				return false;
			named |= can[i];
		}
		if (!can[i])
			return false;
	}
	return true;
}

/* Others have the counters of one of these. */
static const char *const placing[] = { "604", "604e", "7450" };

START_TEST(each_placement)
{
	const struct model_processor *processor = begin((int)(model_named(placing[_i]) -
							      model_processors));
	unsigned int nr, all = 1, n, placed = 0, refused = 0;
	struct perfctr_ctr_control ctr[MODEL_PMCS];
	u32 can[MODEL_PMCS];

	for (nr = 1; nr <= processor->counters; nr++) {
		all *= NR_PLACED + processor->counters;
		/* From 100,000 on a part of them */
		for (n = 0; n < all; n += all < 100000 ? 1 : all / 7000 | 1) {
			if (!make_control(processor, n, nr, ctr, can))
				continue;
			if (!can_be_placed(can, nr, 0)) {
				ck_assert_int_eq(ask(ctr, nr), -EINVAL);
				expect_refused_rightly(ctr, can, nr);
				refused++;
				continue;
			}
			ck_assert_int_eq(ask(ctr, nr), 0);
			if (placed++ % 13 == 0)
				expect_placed(ctr, can, nr);
		}
	}
	ck_assert_uint_gt(placed, processor->counters < 6 ? 10 : 3000);
	ck_assert(processor->counters < 6 || refused > 300);
}
END_TEST

void test_check(void)
{
	unit_begin("ppc32_check");
	unit_run(information, MODEL_PROCESSORS);
	UNIT_RUN(without_a_timebase);
	unit_run(the_clock, MODEL_PROCESSORS);
	unit_run(so_many, MODEL_PROCESSORS);
	unit_run(each_bit_of_mmcr0, MODEL_PROCESSORS);
	unit_run(each_bit_of_mmcr2, MODEL_PROCESSORS);
	unit_run(each_event_of_each_counter, MODEL_PROCESSORS);
	unit_run(each_event_of_any_counter, MODEL_PROCESSORS);
	unit_run(each_map, MODEL_PROCESSORS);
	unit_run(each_flag, MODEL_PROCESSORS);
	unit_run(rules_of_controls, (int)ARRAY_SIZE(rules) * MODEL_PROCESSORS);
	unit_run(unsafe_interrupts, MODEL_PROCESSORS);
	UNIT_ROWS(each_placement, placing);
}
