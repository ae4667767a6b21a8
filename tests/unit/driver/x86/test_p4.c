// SPDX-License-Identifier: GPL-2.0
/* The Pentium 4: each rule of perfctr 2.6's low-level-x86.txt, and what is counted. */
#include <check.h>

#include "arch/x86/intel/p4.h"
#include "tests.h"
#include "x86/test_p4.h"

/* A whole CCCR, as 2.6 wants it; and ESCRs of instructions, and of branches */
#define WHOLE(select)	(CCCR_ENABLE | CCCR_ANY_THREAD | P4_CCCR(select))

#define ESCR_USR	BIT(2)
#define ESCR_OS		BIT(3)

#define HALF0	0x13000u	/* the IQ block's counters 12, 13, 16 */
#define HALF1	0x2c000u	/* 14, 15, 17 */
#define IQ	(HALF0 | HALF1)

static const struct model_machine *const p4s[] = {
	&model_p4, &model_p4m2, &model_p4m3, &model_p4m2_ht, &model_p4m3_ht,
};

int check_one(const struct perfctr_ctr_control *ctr, struct perfctr_refusal *why)
{
	bool kernel = false;

	*why = (struct perfctr_refusal)NO_REFUSAL;
	return perfctr_cpu_check(ctr, 1, &kernel, why);
}

/*
 * The rules
 */

#define P4	&model_p4
#define M2	&model_p4m2
#define M3	&model_p4m3
#define M2HT	&model_p4m2_ht
#define M3HT	&model_p4m3_ht
#define INVALID	(-EINVAL)
#define NOTSUPP	(-EOPNOTSUPP)
#define ACROSS	PERFCTR_REASON_COUNTER	/* no counter can */
#define ERRATUM	PERFCTR_REASON_ERRATUM

static const struct {
	const char *name;
	const struct model_machine *machine;
	u32 map;
	u64 event, config;
	s64 ireset;
	u64 pebs_enable, pebs_matrix_vert;
	int err;
	u32 reason;
} rules[] = {
	{ "a whole CCCR", M2, 12, WHOLE(4), INSNS, 0, 0, 0, 0, 0 },
	{ "what is counted alone", M2, 12, P4_CCCR(4), INSNS, 0, 0, 0, 0, 0 },
	/* The CCCR's reserved bits: 0xb80007ff */
	{ "OVF", M2, 12, WHOLE(4) | BIT(31), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 29", M2, 12, WHOLE(4) | BIT(29), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 28", M2, 12, WHOLE(4) | BIT(28), INSNS, 0, 0, 0, INVALID, 0 },
	{ "OVF_PMI_T1", M2, 12, WHOLE(4) | BIT(27), INSNS, 0, 0, 0, INVALID, 0 },
	{ "OVF_PMI_T1 with hyperthreads", M2HT, 12, WHOLE(4) | BIT(27), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 10", M2, 12, WHOLE(4) | BIT(10), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 9", M2, 12, WHOLE(4) | BIT(9), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 8", M2, 12, WHOLE(4) | BIT(8), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 7", M2, 12, WHOLE(4) | BIT(7), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 6", M2, 12, WHOLE(4) | BIT(6), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 5", M2, 12, WHOLE(4) | BIT(5), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 4", M2, 12, WHOLE(4) | BIT(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 3", M2, 12, WHOLE(4) | BIT(3), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 2", M2, 12, WHOLE(4) | BIT(2), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 1", M2, 12, WHOLE(4) | BIT(1), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 0", M2, 12, WHOLE(4) | BIT(0), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 35", M2, 12, WHOLE(4) | BIT(35), INSNS, 0, 0, 0, INVALID, 0 },
	{ "bit 63", M2, 12, WHOLE(4) | BIT(63), INSNS, 0, 0, 0, INVALID, 0 },
	{ "the filter's bits", M2, 12, WHOLE(4) | 0x01fc0000, INSNS, 0, 0, 0, 0, 0 },
	/* EXTENDED_CASCADE: models 2 and up, counters 12 and 15 to 17 */
	{ "extended, model 1", P4, 12, WHOLE(4) | CCCR_EXTENDED, INSNS, 0, 0, 0, INVALID, ACROSS },
	{ "extended, model 2", M2, 12, WHOLE(4) | CCCR_EXTENDED, INSNS, 0, 0, 0, 0, 0 },
	{ "extended, model 3", M3, 12, WHOLE(4) | CCCR_EXTENDED, INSNS, 0, 0, 0, 0, 0 },
	{ "extended, counter 11", M2, 11, WHOLE(5) | CCCR_EXTENDED, STORES, 0, 0, 0, INVALID, ACROSS },
	{ "extended, counter 13", M2, 13, WHOLE(4) | CCCR_EXTENDED, INSNS, 0, 0, 0, INVALID, ACROSS },
	{ "extended, counter 14", M2, 14, WHOLE(4) | CCCR_EXTENDED, INSNS, 0, 0, 0, INVALID, ACROSS },
	{ "extended, counter 15", M2, 15, WHOLE(4) | CCCR_EXTENDED, INSNS, 0, 0, 0, 0, 0 },
	{ "extended, counter 16", M2, 16, WHOLE(4) | CCCR_EXTENDED, INSNS, 0, 0, 0, 0, 0 },
	{ "extended, counter 17", M2, 17, WHOLE(4) | CCCR_EXTENDED, INSNS, 0, 0, 0, 0, 0 },
	{ "extended, counter 0", M2, 0, WHOLE(6) | CCCR_EXTENDED, CYCLES, 0, 0, 0, INVALID, ACROSS },
	/* ACTIVE_THREAD: both, without hyperthreads */
	{ "no thread", M2, 12, CCCR_ENABLE | P4_CCCR(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "a single thread", M2, 12, CCCR_ENABLE | BIT(16) | P4_CCCR(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "both threads", M3, 12, CCCR_ENABLE | BIT(17) | P4_CCCR(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "no thread, HT", M2HT, 12, CCCR_ENABLE | P4_CCCR(4), INSNS, 0, 0, 0, 0, 0 },
	{ "a single thread, HT", M3HT, 12, CCCR_ENABLE | BIT(16) | P4_CCCR(4), INSNS, 0, 0, 0, 0, 0 },
	{ "both threads, HT", M3HT, 12, CCCR_ENABLE | BIT(17) | P4_CCCR(4), INSNS, 0, 0, 0, 0, 0 },
	{ "any thread, HT", M2HT, 12, WHOLE(4), INSNS, 0, 0, 0, 0, 0 },
	/* ENABLE, CASCADE or EXTENDED_CASCADE */
	{ "none of the three", M2, 12, CCCR_ANY_THREAD | P4_CCCR(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "none of them, HT", M2HT, 12, BIT(16) | P4_CCCR(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "CASCADE", P4, 12, CCCR_CASCADE | CCCR_ANY_THREAD | P4_CCCR(4), INSNS, 0, 0, 0, 0, 0 },
	{ "EXTENDED_CASCADE", M2, 12, CCCR_EXTENDED | CCCR_ANY_THREAD | P4_CCCR(4), INSNS, 0, 0, 0, 0, 0 },
	{ "CASCADE and ENABLE", M3, 0, CCCR_CASCADE | WHOLE(6), CYCLES, 0, 0, 0, 0, 0 },
	/* OVF_PMI_T0: of i-mode counters, and of no others */
	{ "a-mode, OVF_PMI_T0", M2, 12, WHOLE(4) | CCCR_OVF_PMI_T0, INSNS, 0, 0, 0, INVALID, 0 },
	{ "i-mode", M2, 12, WHOLE(4) | CCCR_OVF_PMI_T0, INSNS, -1000, 0, 0, 0, 0 },
	{ "i-mode without OVF_PMI_T0", M2, 12, WHOLE(4), INSNS, -1000, 0, 0, INVALID, 0 },
	{ "i-mode that says nothing", M2, 12, P4_CCCR(4), INSNS, -1000, 0, 0, 0, 0 },
	{ "i-mode that waits", M2, 12, CCCR_CASCADE | CCCR_ANY_THREAD | CCCR_OVF_PMI_T0 | P4_CCCR(4),
	  INSNS, -1000, 0, 0, NOTSUPP, ERRATUM },
	{ "i-mode of a period of 1", M2, 12, P4_CCCR(4), INSNS, -1, 0, 0, 0, 0 },
	/* FORCE_OVF: of i-mode counters, with a period of 1 alone */
	{ "FORCE_OVF, -1", M2, 12, WHOLE(4) | CCCR_FORCE_OVF | CCCR_OVF_PMI_T0, INSNS, -1, 0, 0, 0, 0 },
	{ "FORCE_OVF, -2", M2, 12, WHOLE(4) | CCCR_FORCE_OVF | CCCR_OVF_PMI_T0, INSNS, -2, 0, 0, INVALID, 0 },
	{ "FORCE_OVF, -1000", M2, 12, P4_CCCR(4) | CCCR_FORCE_OVF, INSNS, -1000, 0, 0, INVALID, 0 },
	{ "FORCE_OVF, a-mode", M2, 12, WHOLE(4) | CCCR_FORCE_OVF, INSNS, 0, 0, 0, 0, 0 },
	/* The ESCR: bit 31, which the reference calls 32; T1's modes */
	{ "ESCR, bit 31", M2, 12, WHOLE(4), INSNS | BIT(31), 0, 0, 0, INVALID, 0 },
	{ "ESCR, bit 32", M2, 12, WHOLE(4), INSNS | BIT(32), 0, 0, 0, INVALID, 0 },
	{ "ESCR, T1_USR", M2, 12, WHOLE(4), INSNS | BIT(0), 0, 0, 0, INVALID, 0 },
	{ "ESCR, T1_OS", M2, 12, WHOLE(4), INSNS | BIT(1), 0, 0, 0, INVALID, 0 },
	/* Of sessions, which alone come so far with them */
	{ "ESCR, T1_USR, HT", M2HT, 12, WHOLE(4), INSNS | BIT(0), 0, 0, 0, 0, 0 },
	{ "ESCR, T1_OS, HT", M3HT, 12, WHOLE(4), INSNS | BIT(1), 0, 0, 0, 0, 0 },
	{ "ESCR, T0_USR, as asked", M2, 12, WHOLE(4), INSNS | ESCR_USR, 0, 0, 0, 0, 0 },
	{ "ESCR, T0_OS, not asked", M2, 12, WHOLE(4), INSNS | ESCR_OS, 0, 0, 0, INVALID, 0 },
	{ "ESCR, tags", M2, 12, WHOLE(4), INSNS | 0x1f0, 0, 0, 0, 0, 0 },
	{ "ESCR, all of event and mask", M2, 12, WHOLE(4), 0x7ffffff0, 0, 0, 0, 0, 0 },
	/* IQ_ESCR0 and 1 end with model 2 */
	{ "IQ_ESCR0, model 1", P4, 12, WHOLE(0), P4_ESCR(1, 1), 0, 0, 0, 0, 0 },
	{ "IQ_ESCR0, model 2", M2, 13, WHOLE(0), P4_ESCR(1, 1), 0, 0, 0, 0, 0 },
	{ "IQ_ESCR1, model 2", M2, 17, WHOLE(0), P4_ESCR(1, 1), 0, 0, 0, 0, 0 },
	{ "IQ_ESCR0, model 3", M3, 16, WHOLE(0), P4_ESCR(1, 1), 0, 0, 0, INVALID, ACROSS },
	{ "IQ_ESCR1, model 4", M3HT, 14, WHOLE(0), P4_ESCR(1, 1), 0, 0, 0, INVALID, ACROSS },
	{ "BPU_ESCR0, model 3", M3, 0, WHOLE(0), P4_ESCR(3, 1), 0, 0, 0, 0, 0 },
	/* Replay tagging */
	{ "a matrix without tags", M2, 12, WHOLE(5), REPLAYS, 0, 0, 1, INVALID, 0 },
	{ "tags without UOP_TAG", M2, 12, WHOLE(5), REPLAYS, 0, BIT(0), 1, INVALID, 0 },
	{ "UOP_TAG without tags", M2, 12, WHOLE(5), REPLAYS, 0, TAG, 1, INVALID, 0 },
	{ "tags without a matrix", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(0), 0, INVALID, 0 },
	{ "tag 0", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(0), 1, 0, 0 },
	{ "tag 1", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(1), 2, 0, 0 },
	{ "tag 2", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(2), 3, 0, 0 },
	{ "tag 9", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(9), 1, 0, 0 },
	{ "tag 10", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(10), 1, 0, 0 },
	{ "all tags", M2, 12, WHOLE(5), REPLAYS, 0, TAG | 0x607, 3, 0, 0 },
	{ "tag 3", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(3), 1, INVALID, 0 },
	{ "tag 8", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(8), 1, INVALID, 0 },
	{ "tag 11", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(11) | BIT(0), 1, INVALID, 0 },
	{ "ENABLE_PEBS_MY_THR", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(25) | BIT(0), 1, INVALID, 0 },
	{ "ENABLE_PEBS_OTH_THR", M2HT, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(26) | BIT(0), 1, INVALID, 0 },
	{ "tag 32", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(32) | BIT(0), 1, INVALID, 0 },
	{ "the matrix's bit 2", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(0), 4, INVALID, 0 },
	{ "the matrix's bit 2 and others", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(0), 7, INVALID, 0 },
	{ "the matrix's bit 32", M2, 12, WHOLE(5), REPLAYS, 0, TAG | BIT(0), BIT(32) | 1, INVALID, 0 },
	/* Which counter */
	{ "counter 18", M2, 18, WHOLE(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "an MSR's number", M2, 0x30c, WHOLE(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "any without a block", M2, ANY, WHOLE(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "any of a block", M2, ANY, WHOLE(4) | P4_BLOCK(3), INSNS, 0, 0, 0, 0, 0 },
	{ "any of no block", M2, ANY, WHOLE(4) | P4_BLOCK(4), INSNS, 0, 0, 0, INVALID, 0 },
	{ "its own block", M2, 13, WHOLE(4) | P4_BLOCK(3), INSNS, 0, 0, 0, 0, 0 },
	{ "another block", M2, 13, WHOLE(4) | P4_BLOCK(0), INSNS, 0, 0, 0, INVALID, 0 },
};

START_TEST(rule)
{
	const struct perfctr_ctr_control ctr = {
		.map = rules[_i].map, .flags = USER, .event = rules[_i].event,
		.config = rules[_i].config, .ireset = rules[_i].ireset,
		.config1 = rules[_i].pebs_enable, .config2 = rules[_i].pebs_matrix_vert,
	};
	struct perfctr_refusal why;
	int err;

	driver_init(rules[_i].machine);
	ck_assert(perfctr_may_have_more(&ctr));
	ck_assert(perfctr_cpu_for_sessions(&ctr) == (model.threads > 1 && ctr.config & 3));
	err = check_one(&ctr, &why);
	ck_assert_msg(err == rules[_i].err, "%s: %d", rules[_i].name, err);
	ck_assert_msg(why.reason == rules[_i].reason, "%s: reason %u", rules[_i].name, why.reason);
}
END_TEST

/* What each counter's CCCR can select: tried against the model's own table. */
START_TEST(escr_of_each_counter)
{
	unsigned int hw, select;

	driver_init(p4s[_i]);
	for (hw = 0; hw < MODEL_P4; hw++) {
		for (select = 0; select < 8; select++) {
			const struct perfctr_ctr_control ctr = {
				.map = hw, .flags = USER, .event = WHOLE(select), .config = INSNS,
			};
			u32 msr = model_escr(hw, WHOLE(select));
			bool there = msr && ((msr & ~1u) != 0x3ba || model.model <= 2);
			struct perfctr_refusal why;
			struct perfctr_config *config;
			int err = check_one(&ctr, &why);

			ck_assert_msg(err == (there ? 0 : -EINVAL), "counter %u, select %u: %d", hw,
				      select, err);
			if (err) {
				ck_assert_uint_eq(why.possible & BIT(hw), 0);
				continue;
			}
			config = claim_well(&ctr, 1);
			ck_assert_int_eq(load_on(0, config), 0);
			ck_assert_uint_eq(model_msr(0, 0x360 + hw), WHOLE(select));
			ck_assert_uint_eq(model_msr(0, msr), INSNS | ESCR_USR);
			unclaim(config);
		}
	}
}
END_TEST

/*
 * What is found
 */

static const struct {
	const char *name;
	const struct model_machine *machine;
	u8 model;
	u32 type;
	bool no_perfmon;
	u32 no_msr, no_rdpmc, counters;
} kinds[] = {
	{ "model 0", P4, 0, PERFCTR_X86_INTEL_P4, false, ~0u, ~0u, 0x3ffff },
	{ "model 1", P4, 1, PERFCTR_X86_INTEL_P4, false, ~0u, ~0u, 0x3ffff },
	{ "model 2", M2, 2, PERFCTR_X86_INTEL_P4M2, false, ~0u, ~0u, 0x3ffff },
	{ "model 3", M3, 3, PERFCTR_X86_INTEL_P4M3, false, ~0u, ~0u, 0x3ffff },
	{ "model 6", M3HT, 6, PERFCTR_X86_INTEL_P4M3, false, ~0u, ~0u, 0x3ffff },
	{ "not available", M2, 2, 0, true, ~0u, ~0u, 0 },
	{ "no counter 17", M2, 2, 0, false, 0x311, ~0u, 0 },
	{ "no CCCR 0", M2, 2, 0, false, 0x360, ~0u, 0 },
	{ "no CRU_ESCR5", M2, 2, 0, false, 0x3e1, ~0u, 0 },
	{ "no IQ_ESCR0, model 2", M2, 2, 0, false, 0x3ba, ~0u, 0 },
	{ "no IQ_ESCR0, model 3", M3, 3, PERFCTR_X86_INTEL_P4M3, false, 0x3ba, ~0u, 0x3ffff },
	{ "no RDPMC", M2, 2, 0, false, ~0u, 9, 0 },
};

START_TEST(what_there_is)
{
	struct model_machine machine = *kinds[_i].machine;
	struct perfctr_kernel_info info = {};

	machine.model = kinds[_i].model;
	machine.no_perfmon = kinds[_i].no_perfmon;
	model_no_msr = kinds[_i].no_msr;
	model_no_rdpmc = kinds[_i].no_rdpmc;
	driver_init(&machine);
	perfctr_cpu_info(&info);
	ck_assert_msg(info.counters == kinds[_i].counters, "%s: %#llx", kinds[_i].name,
		      info.counters);
	if (!info.counters) {
		ck_assert_uint_eq(info.no_counters, PERFCTR_NO_COUNTERS_REGISTERS);
		return;
	}
	ck_assert_uint_eq(info.cpu_type, kinds[_i].type);
	ck_assert_uint_eq(info.width, 40);
	ck_assert_uint_eq(info.nrctrs, 18);
	ck_assert(info.cpu_features & PERFCTR_FEATURE_PCINT);
	ck_assert(!(info.cpu_features & PERFCTR_FEATURE_HYBRID));
}
END_TEST

/* perf's reservation is that of the counters. */
START_TEST(reserved_with_perf)
{
	static const struct perfctr_ctr_control ctr[] = {
		{ .map = 12, .flags = USER, .event = P4_CCCR(4), .config = INSNS },
	};
	struct perfctr_refusal why = NO_REFUSAL;
	struct perfctr_config *config;
	unsigned int i;

	driver_init(p4s[_i]);
	config = CLAIM(ctr);
	model_expect_taken(0);
	for (i = 0; i < MODEL_P4; i++) {
		ck_assert_uint_eq(model_reserved.perfctr[i], MODEL_DRIVER);
		ck_assert_uint_eq(model_reserved.evntsel[i], MODEL_NOBODY);
	}
	ck_assert(!model_perf_reserve());
	unclaim(config);
	ck_assert(model_perf_reserve());
	ck_assert_int_eq(PTR_ERR(claim(ctr, 1, &why)), -EBUSY);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_PERF);
	model_perf_unreserve();
	unclaim(CLAIM(ctr));
}
END_TEST

/*
 * Which counters events get
 */

#define ONE(b, s, e)	{ .map = ANY, .event = P4_CCCR(s) | P4_BLOCK(b), .config = (e), .flags = USER }
#define MODED(b, s, e, f)						\
	{ .map = ANY, .event = P4_CCCR(s) | P4_BLOCK(b), .config = (e), .flags = (f) }
#define NAMED(m, s, e)	{ .map = (m), .event = P4_CCCR(s), .config = (e), .flags = USER }

static const struct {
	const char *name;
	unsigned int nr;
	struct perfctr_ctr_control ctr[8];
	u32 refused;		/* the index, or PERFCTR_NO_INDEX */
	u32 possible;
} placings[] = {
	{ "six of one ESCR value", 6, {
		ONE(3, 4, INSNS), ONE(3, 4, INSNS), ONE(3, 4, INSNS), ONE(3, 4, INSNS),
		ONE(3, 4, INSNS), ONE(3, 4, INSNS) }, PERFCTR_NO_INDEX, 0 },
	{ "seven", 7, {
		ONE(3, 4, INSNS), ONE(3, 4, INSNS), ONE(3, 4, INSNS), ONE(3, 4, INSNS),
		ONE(3, 4, INSNS), ONE(3, 4, INSNS), ONE(3, 4, INSNS) }, 6, IQ },
	{ "two modes, one in each half", 2, {
		MODED(3, 4, INSNS, USER), MODED(3, 4, INSNS, KERNEL) }, PERFCTR_NO_INDEX, 0 },
	{ "three modes", 3, {
		MODED(3, 4, INSNS, USER), MODED(3, 4, INSNS, KERNEL), MODED(3, 4, INSNS, BOTH) },
	  2, IQ },
	{ "two kinds of ESCR have four values", 4, {
		MODED(3, 4, INSNS, USER), MODED(3, 4, INSNS, KERNEL),
		MODED(3, 5, BRANCHES, USER), MODED(3, 5, BRANCHES, KERNEL) },
	  PERFCTR_NO_INDEX, 0 },
	{ "three of one value and three of another", 6, {
		MODED(3, 4, INSNS, USER), MODED(3, 4, INSNS, KERNEL),
		MODED(3, 4, INSNS, KERNEL), MODED(3, 4, INSNS, USER),
		MODED(3, 4, INSNS, USER), MODED(3, 4, INSNS, KERNEL) }, PERFCTR_NO_INDEX, 0 },
	{ "four of one value and one of another", 5, {
		MODED(3, 4, INSNS, USER), MODED(3, 4, INSNS, USER), MODED(3, 4, INSNS, USER),
		MODED(3, 4, INSNS, USER), MODED(3, 4, INSNS, KERNEL) }, 4, IQ },
	{ "each block has its own", 4, {
		ONE(0, 6, CYCLES), ONE(1, 2, BRANCH_TYPES), ONE(2, 5, STORES), ONE(3, 4, INSNS) },
	  PERFCTR_NO_INDEX, 0 },
	{ "four of the BPU's, then four others", 8, {
		ONE(0, 6, CYCLES), ONE(1, 2, BRANCH_TYPES), ONE(0, 6, CYCLES), ONE(3, 4, INSNS),
		ONE(0, 6, CYCLES), ONE(2, 5, STORES), ONE(0, 6, CYCLES), ONE(1, 2, BRANCH_TYPES) },
	  PERFCTR_NO_INDEX, 0 },
	{ "a named one takes the half", 2, {
		MODED(3, 4, INSNS, KERNEL), NAMED(12, 4, INSNS) }, PERFCTR_NO_INDEX, 0 },
	{ "the SSU has the first half alone", 4, {
		ONE(3, 3, P4_ESCR(1, 1)), ONE(3, 3, P4_ESCR(1, 1)), ONE(3, 3, P4_ESCR(1, 1)),
		ONE(3, 3, P4_ESCR(1, 1)) }, 3, HALF0 },
	{ "two named ones want one ESCR", 2, {
		NAMED(12, 4, INSNS), NAMED(13, 4, P4_ESCR(3, 1)) }, 1, IQ },
	{ "two named ones share one", 2, {
		NAMED(12, 4, INSNS), NAMED(13, 4, INSNS) }, PERFCTR_NO_INDEX, 0 },
	{ "of two halves they need not", 2, {
		NAMED(12, 4, INSNS), NAMED(14, 4, P4_ESCR(3, 1)) }, PERFCTR_NO_INDEX, 0 },
	{ "16 is of the first half", 2, {
		NAMED(12, 4, INSNS), NAMED(16, 4, P4_ESCR(3, 1)) }, 1, IQ },
	{ "17 of the second", 2, {
		NAMED(12, 4, INSNS), NAMED(17, 4, P4_ESCR(3, 1)) }, PERFCTR_NO_INDEX, 0 },
	{ "the same counter twice", 2, {
		NAMED(12, 4, INSNS), NAMED(12, 5, BRANCHES) }, 1, IQ },
};

START_TEST(placing)
{
	const struct perfctr_ctr_control *ctr = placings[_i].ctr;
	unsigned int nr = placings[_i].nr;
	struct perfctr_refusal why = NO_REFUSAL;
	struct perfctr_config *config;
	struct thread thread;
	bool kernel;
	int err;

	driver_init(&model_p4m2);
	err = perfctr_cpu_check(ctr, nr, &kernel, &why);
	ck_assert_msg(err == (placings[_i].refused == PERFCTR_NO_INDEX ? 0 : -EINVAL), "%s: %d",
		      placings[_i].name, err);
	ck_assert_msg(why.index == placings[_i].refused, "%s: %u", placings[_i].name, why.index);
	if (err) {
		ck_assert_uint_eq(why.reason, PERFCTR_REASON_COUNTER);
		ck_assert_msg(why.possible == placings[_i].possible, "%s: %#llx",
			      placings[_i].name, why.possible);
		return;
	}
	config = claim_well(ctr, nr);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_run(&thread, 1, 500);
	thread_expect_exact(&thread);
}
END_TEST

/*
 * What is counted
 */

static const struct perfctr_ctr_control mixed[] = {
	NAMED(0, 6, CYCLES), NAMED(5, 2, BRANCH_TYPES), NAMED(10, 5, STORES), NAMED(17, 4, INSNS),
	MODED(3, 4, INSNS, BOTH), NAMED(15, 5, BRANCHES),
};

/* Threads of two controls, with and without ESCRs in common, on the CPUs that count */
START_TEST(exact_counts)
{
	static const struct perfctr_ctr_control others[] = {
		MODED(3, 4, INSNS, KERNEL), NAMED(0, 6, CYCLES), MODED(3, 5, BRANCHES, KERNEL),
	};
	static const struct perfctr_ctr_control transient[] = { NAMED(12, 4, INSNS) };
	struct model_machine machine = *p4s[_i];
	struct perfctr_config *configs[2];
	struct thread threads[4];
	unsigned int i;

	/* These threads come to both CPUs. */
	machine.threads = 1;
	driver_init(&machine);
	configs[0] = CLAIM(mixed);
	configs[1] = CLAIM(others);
	for (i = 0; i < 4; i++)
		thread_init(&threads[i], configs[i % 2]);
	threads_take_turns(threads, 4, transient, 1);
	for (i = 0; i < 4; i++)
		thread_expect_exact(&threads[i]);
}
END_TEST

/* What is not loaded is not written: a thread of the same control costs nothing. */
START_TEST(writes_of_a_switch)
{
	struct perfctr_config *config;
	struct thread threads[2];

	driver_init(&model_p4m2);
	config = CLAIM(mixed);
	thread_init(&threads[0], config);
	thread_init(&threads[1], config);
	thread_run(&threads[0], 0, 1000);
	/* Six CCCRs, and six ESCRs */
	model_calls_reset();
	thread_run(&threads[1], 0, 1000);
	ck_assert_uint_eq(model_all_writes(), 0);
	thread_run(&threads[1], 1, 1000);
	ck_assert_uint_eq(model_all_writes(), 12);
	thread_expect_exact(&threads[0]);
	thread_expect_exact(&threads[1]);
}
END_TEST

/* Two that count by one ESCR count the same. */
START_TEST(one_escr_two_counters)
{
	static const struct perfctr_ctr_control ctr[] = { NAMED(12, 4, INSNS), NAMED(16, 4, INSNS) };
	struct perfctr_config *config;
	struct thread thread;

	driver_init(&model_p4m3);
	config = CLAIM(ctr);
	ck_assert_uint_eq(config->image->nr, 3);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	ck_assert_uint_ge(thread.state.ctr[1].acc, 1000);
}
END_TEST

/*
 * Overflow
 */

/* Each overflow interrupts once, and the flag is clear before the LVTPC is unmasked. */
START_TEST(overflows)
{
	struct perfctr_ctr_control ctr[] = {
		NAMED(12, 4, INSNS), NAMED(14, 4, INSNS),
	};
	u64 start = -100ull & ((1ull << 40) - 1);
	struct perfctr_config *config;
	unsigned int i;

	ctr[1].ireset = -100;
	if (_i)
		ctr[1].event = WHOLE(4) | CCCR_OVF_PMI_T0;
	driver_init(&model_p4m2);
	ck_assert_uint_eq(perfctr_cpu_iwidth(), 40);
	ck_assert_uint_eq(perfctr_cpu_irange(), 1ull << 39);
	config = CLAIM(ctr);
	ck_assert_int_eq(load_on(0, config), 0);
	local_irq_disable();
	for (i = 1; i <= 3; i++) {
		ck_assert_int_eq(perfctr_cpu_istart(config, &start), 0);
		ck_assert_uint_eq(model_msr(0, 0x36e), WHOLE(4) | CCCR_OVF_PMI_T0);
		model_execute(MODEL_USER, 99);
		ck_assert_uint_eq(model_pmis[0], i - 1);
		model_execute(MODEL_USER, 3);
		ck_assert_uint_eq(model_pmis[0], i);
		ck_assert_uint_eq(model_msr(0, 0x36e), WHOLE(4) | CCCR_OVF_PMI_T0 | CCCR_OVF);
		/* The processor's own bit is no change of somebody else's. */
		shim_jiffies++;
		ck_assert(perfctr_cpu_verify());
		perfctr_x86_acknowledge();
		ck_assert_uint_eq(model_msr(0, 0x36e), WHOLE(4) | CCCR_OVF_PMI_T0);
		perfctr_cpu_istop(config, NULL);
		ck_assert_uint_eq(model_msr(0, 0x36e), CCCR_ANY_THREAD);
		model_execute(MODEL_USER, 1000);
		ck_assert_uint_eq(model_value(0, 14), 2);
	}
	local_irq_enable();
}
END_TEST

/* By errata carries between a counter's halves come when it is written, and go as it is stopped. */
START_TEST(carries)
{
	struct perfctr_ctr_control ctr[] = { NAMED(12, 4, INSNS), NAMED(14, 4, INSNS) };
	struct perfctr_config *config;
	u64 start = -100;
	unsigned int i;

	ctr[1].ireset = -100;
	model_carries = true;
	driver_init(&model_p4m2);
	config = CLAIM(ctr);
	ck_assert_int_eq(load_on(0, config), 0);
	local_irq_disable();
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(perfctr_cpu_istart(config, &start), 0);
		ck_assert_uint_eq(model_value(0, 14), BIT(40) - 100);
		model_execute(MODEL_USER, 102);
		perfctr_x86_acknowledge();
		perfctr_cpu_istop(config, NULL);
		ck_assert_uint_eq(model_value(0, 14), 2);
	}
	/* One that has not carried is as it was. */
	ck_assert_int_eq(perfctr_cpu_istart(config, &start), 0);
	model_execute(MODEL_USER, 60);
	perfctr_cpu_istop(config, NULL);
	ck_assert_uint_eq(model_value(0, 14), BIT(40) - 40);
	ck_assert_uint_ne(model_value(0, 12), 0);
	ck_assert_int_eq(perfctr_cpu_restart(config, 1, KUIDT_INIT(1)), 0);
	ck_assert_uint_eq(model_value(0, 12), 0);
	ck_assert_uint_eq(model_value(0, 14), 0);
	local_irq_enable();
}
END_TEST

/* Somebody else's writes are found, of CCCRs and of ESCRs. */
static const struct {
	u64 msr, value;
	bool changed;
} strangers[] = {
	{ 0x36c, WHOLE(4) | CCCR_OVF, false },
	{ 0x36c, WHOLE(4) & ~CCCR_ENABLE, true },
	{ 0x36c, WHOLE(5), true },
	{ 0x3b8, INSNS | ESCR_USR, false },
	{ 0x3b8, INSNS | ESCR_OS, true },
	{ 0x3a0, 0x7ffffff0, true },
	{ 0x360, CCCR_ANY_THREAD | CCCR_ENABLE, true },
};

START_TEST(verified)
{
	static const struct perfctr_ctr_control ctr[] = { NAMED(12, 4, INSNS) };

	driver_init(&model_p4m2);
	ck_assert_int_eq(load_on(0, CLAIM(ctr)), 0);
	ck_assert(model_verify_on(0));
	model_set_msr(0, (u32)strangers[_i].msr, strangers[_i].value);
	shim_jiffies++;
	ck_assert_int_eq(model_verify_on(0), !strangers[_i].changed);
}
END_TEST

/* Firmware's counter is found, and is given back. */
START_TEST(firmwares)
{
	static const struct perfctr_ctr_control ctr[] = { NAMED(12, 4, INSNS) };
	struct perfctr_config *config;

	driver_init(&model_p4m2);
	model_set_msr(0, 0x362, WHOLE(6));
	model_set_msr(0, 0x3a2, CYCLES | ESCR_OS);
	config = CLAIM(ctr);
	ck_assert_uint_eq(model_msr(0, 0x362), CCCR_ANY_THREAD);
	ck_assert_uint_eq(model_msr(0, 0x3a2), 0);
	unclaim(config);
	ck_assert_uint_eq(model_msr(0, 0x362), WHOLE(6));
	ck_assert_uint_eq(model_msr(0, 0x3a2), CYCLES | ESCR_OS);
}
END_TEST

void test_p4(void)
{
	unit_begin("x86_p4");
	UNIT_ROWS(rule, rules);
	UNIT_ROWS(escr_of_each_counter, p4s);
	UNIT_ROWS(what_there_is, kinds);
	UNIT_ROWS(reserved_with_perf, p4s);
	UNIT_ROWS(placing, placings);
	UNIT_ROWS(exact_counts, p4s);
	UNIT_RUN(writes_of_a_switch);
	UNIT_RUN(one_escr_two_counters);
	unit_run(overflows, 2);
	UNIT_RUN(carries);
	UNIT_ROWS(verified, strangers);
	UNIT_RUN(firmwares);
	test_p4_ways();
}
