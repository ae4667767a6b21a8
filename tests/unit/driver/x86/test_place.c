// SPDX-License-Identifier: GPL-2.0
/* Which counter each event gets: by the matching alone, and by controls of each processor. */
#include "tests.h"
#include "arch/x86/place.h"

/* By trying everything; at most 8 deep */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool can_be_placed(const u32 *can, unsigned int nr, u32 used)
{
	unsigned int hw;

	if (!nr)
		return true;
	for (hw = 0; hw < 32; hw++)
		if (*can & ~used & BIT(hw) && can_be_placed(can + 1, nr - 1, used | (u32)BIT(hw)))
			return true;
	return false;
}

static void expect_valid(const u32 *can, const u8 *hw, unsigned int nr)
{
	u32 used = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		ck_assert(hw[i] < 32 && can[i] & BIT(hw[i]));
		ck_assert(!(used & BIT(hw[i])));
		used |= (u32)BIT(hw[i]);
	}
}

/* Who is refused has nothing beside those before it, and those with one choice. */
static void expect_refused_rightly(const u32 *can, unsigned int nr, unsigned int refused)
{
	u32 beside[8];
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++)
		if (i <= refused || hweight32(can[i]) == 1)
			beside[n++] = can[i];
	ck_assert(!can_be_placed(beside, n, 0));
}

/* An assignment is found whenever there is one. */
START_TEST(finds_what_there_is)
{
	unsigned int round, i, nr, refused, placed = 0;
	const unsigned int rounds = 100000;
	u32 can[8];
	u8 hw[8];

	for (round = 0; round < rounds; round++) {
		nr = 1 + next_random() % 7;
		for (i = 0; i < nr; i++) {
			/* Of five general counters and two fixed ones, mostly few */
			can[i] = next_random() & (next_random() | 1) & 0x0300001fu;
			if (!can[i])
				can[i] = 1;
		}
		memset(hw, 0xff, sizeof(hw));
		refused = perfctr_x86_place(can, nr, hw);
		ck_assert_msg((refused == nr) == can_be_placed(can, nr, 0), "round %u", round);
		if (refused == nr) {
			expect_valid(can, hw, nr);
			placed++;
		} else {
			expect_refused_rightly(can, nr, refused);
		}
	}
	/* Both happen often. */
	ck_assert_uint_gt(placed, rounds / 10);
	ck_assert_uint_lt(placed, rounds - rounds / 10);
}
END_TEST

/* A chain of moves through all of 32 counters, and no further */
START_TEST(moves_as_many_as_it_must)
{
	u32 can[33];
	u8 hw[33];
	unsigned int i;

	/* Each has taken the lower one of two when the last wants the lowest. */
	for (i = 0; i < 31; i++)
		can[i] = 3u << i;
	can[31] = 1;
	can[32] = 1;
	ck_assert_uint_eq(perfctr_x86_place(can, 32, hw), 32);
	expect_valid(can, hw, 32);
	can[31] = 3;
	ck_assert_uint_eq(perfctr_x86_place(can, 32, hw), 32);
	expect_valid(can, hw, 32);
	/* All are used. */
	can[0] = can[1] = can[2] = 3;
	ck_assert_uint_eq(perfctr_x86_place(can, 32, hw), 2);
}
END_TEST

#define NEITHER	0xff

/* What controls get. EINVAL: @refused is blamed, which could have @possible. */
static const struct {
	const char *name;
	const struct model_machine *machine;
	unsigned int nr;
	struct perfctr_ctr_control ctr[6];
	u8 hw[6];
	u32 refused;
	u32 possible;
} controls[] = {
	{ "fixed by themselves", &model_v2, 4,
	  { CTR(ANY, EV_CYCLES, USER), CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, 0x300, USER),
	    CTR(ANY, EV_BRANCHES, USER) },
	  { FIXED(1), FIXED(0), FIXED(2), 0 }, NEITHER, 0 },
	{ "the second of an event", &model_v3, 3,
	  { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_INSTRUCTIONS, KERNEL),
	    CTR(ANY, EV_INSTRUCTIONS, BOTH) },
	  { FIXED(0), 0, 1 }, NEITHER, 0 },
	{ "who names it has it", &model_v3, 2,
	  { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(FIXED(0), EV_INSTRUCTIONS, KERNEL) },
	  { 0, FIXED(0) }, NEITHER, 0 },
	{ "i-mode too", &model_v3, 2,
	  { CTR(ANY, EV_BRANCHES, USER), ICTR(ANY, EV_INSTRUCTIONS, USER, 1000) },
	  { 0, FIXED(0) }, NEITHER, 0 },
	{ "an edge is another event", &model_v3, 1,
	  { CTR(ANY, EV_CYCLES | SEL_EDGE | SEL_CMASK(1), USER) }, { 0 }, NEITHER, 0 },
	/* These are bus cycles, unless the fixed counter is named. */
	{ "reference cycles", &model_v5, 2,
	  { CTR(ANY, EV_REFERENCE_CYCLES, USER), CTR(FIXED(2), EV_REFERENCE_CYCLES, USER) },
	  { 0, FIXED(2) }, NEITHER, 0 },
	{ "perf's number of these", &model_v5, 1, { CTR(FIXED(2), 0x300, USER) }, { FIXED(2) },
	  NEITHER, 0 },
	{ "these on another", &model_v5, 1, { CTR(0, 0x300, USER) }, {}, 0, BIT(FIXED(2)) },
	{ "these twice", &model_v5, 2, { CTR(ANY, 0x300, USER), CTR(ANY, 0x300, KERNEL) }, {},
	  1, BIT(FIXED(2)) },
	{ "no such event", &model_v5, 1, { CTR(ANY, 0x200, USER) }, {}, 0, 0 },
	{ "version 1 has none of them", &model_v1, 2,
	  { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, USER) }, { 0, 1 }, NEITHER, 0 },
	{ "nor of their events", &model_v1, 1, { CTR(ANY, 0x300, USER) }, {}, 0, 0 },
	{ "one too many", &model_v2, 4,
	  { CTR(ANY, EV_BRANCHES, USER), CTR(ANY, EV_INSTRUCTIONS, USER),
	    CTR(ANY, EV_MISPREDICTIONS, USER), CTR(ANY, EV_LLC_MISSES, USER) },
	  {}, 3, 3 },
	{ "one too many beside named ones", &model_v2, 3,
	  { CTR(ANY, EV_BRANCHES, USER), CTR(0, EV_LLC_MISSES, USER), CTR(1, EV_CYCLES, USER) },
	  {}, 0, 3 },
	{ "another's fixed one", &model_v2, 1, { CTR(FIXED(1), EV_INSTRUCTIONS, USER) }, {},
	  0, BIT(FIXED(0)) | 3 },
	{ "named twice", &model_v2, 2,
	  { CTR(FIXED(0), EV_INSTRUCTIONS, USER), CTR(FIXED(0), EV_INSTRUCTIONS, USER) }, {},
	  1, BIT(FIXED(0)) | 3 },
	/* The P6's rules: 0xc1 on counter 0, 0x12 on counter 1 */
	{ "P6, of the second", &model_p6, 1, { CTR(ANY, 0x12, USER) }, { 1 }, NEITHER, 0 },
	{ "P6, makes room", &model_p6, 2, { CTR(ANY, EV_BRANCHES, USER), CTR(ANY, 0xc1, USER) },
	  { 1, 0 }, NEITHER, 0 },
	{ "P6, wrong one", &model_p6, 1, { CTR(1, 0xc1, USER) }, {}, 0, 1 },
	{ "P6, both of one", &model_p6, 2, { CTR(ANY, 0xc1, USER), CTR(ANY, 0x10, USER) }, {},
	  1, 1 },
};

START_TEST(controls_get_what_counts_them)
{
	const struct perfctr_ctr_control *ctr = controls[_i].ctr;
	struct perfctr_refusal why = NO_REFUSAL;
	unsigned int nr = controls[_i].nr, i;
	struct perfctr_config *config;
	const char *name = controls[_i].name;
	bool kernel = false;
	int err;

	driver_init(controls[_i].machine);
	err = perfctr_cpu_check(ctr, nr, &kernel, &why);
	if (controls[_i].refused != NEITHER) {
		ck_assert_msg(err == -EINVAL, "%s: %d", name, err);
		ck_assert_msg(why.index == controls[_i].refused, "%s: %u", name, why.index);
		ck_assert_msg(why.possible == controls[_i].possible, "%s: %#llx", name,
			      why.possible);
		ck_assert_uint_eq(why.reason, why.possible ? PERFCTR_REASON_COUNTER :
							     PERFCTR_REASON_NONE);
		return;
	}
	ck_assert_msg(!err, "%s: %d", name, err);
	ck_assert_uint_eq(why.index, PERFCTR_NO_INDEX);
	ck_assert_uint_eq(why.possible, 0);
	config = claim_well(ctr, nr);
	for (i = 0; i < nr; i++)
		ck_assert_msg(config->hw[i] == controls[_i].hw[i], "%s: counter %u is %u", name,
			      i, config->hw[i]);
	unclaim(config);
}
END_TEST

void test_place(void)
{
	unit_begin("x86_place");
	UNIT_RUN(finds_what_there_is);
	UNIT_RUN(moves_as_many_as_it_must);
	UNIT_ROWS(controls_get_what_counts_them, controls);
}
