// SPDX-License-Identifier: GPL-2.0
/* Tests of the modelled registers: without them "no bad bit was written" would mean nothing. */
#include "tests.h"

static const struct {
	const char *name;
	const struct model_machine *machine;
	u32 msr;
	u64 value, is;		/* written, and then read; FAULT: #GP */
} registers[] = {
#define FAULT	0xdeadull
	/* Writes of the old kind: bits 31..0, and their sign extended */
	{ "p6 counter", &model_p6, 0xc1, 0x7fffffff, 0x7fffffff },
	{ "p6 negative", &model_p6, 0xc2, 0xfffffff0, 0xfffffffff0 },
	{ "p6 high bits", &model_p6, 0xc1, 0x1200000001, 1 },
	{ "v3 negative", &model_v3, 0xc4, 0x80000000, 0xffff80000000 },
	{ "p6, no third counter", &model_p6, 0xc3, 0, FAULT },
	{ "v3, no fifth", &model_v3, 0xc5, 0, FAULT },
	/* Full-width writes */
	{ "v4 whole", &model_v4, 0x4c1, 0xffffffffffff, 0xffffffffffff },
	{ "v4 too wide", &model_v4, 0x4c1, 1ull << 48, FAULT },
	{ "v3 has none", &model_v3, 0x4c1, 0, FAULT },
	/* Event selects */
	{ "p6 both", &model_p6, 0x186, 0x4300c0, 0x4300c0 },
	{ "p6, 22 of the second", &model_p6, 0x187, 0x4300c0, FAULT },
	{ "p6, second", &model_p6, 0x187, 0x300c0, 0x300c0 },
	{ "p6, 21", &model_p6, 0x186, 1 << 21, FAULT },
	{ "p6, 32", &model_p6, 0x186, 1ull << 32, FAULT },
	{ "v1, 22 of the second", &model_v1, 0x187, 0x4300c0, 0x4300c0 },
	{ "v2, 21", &model_v2, 0x186, 1 << 21, FAULT },
	{ "v3, 21", &model_v3, 0x186, 1 << 21, 1 << 21 },
	{ "v4, 21", &model_v4, 0x186, 1 << 21, 1 << 21 },
	{ "v5, 21", &model_v5, 0x186, 1 << 21, FAULT },
	{ "v5, 32", &model_v5, 0x18d, 1ull << 32, FAULT },
	{ "v5, no ninth", &model_v5, 0x18e, 0, FAULT },
	/* Fixed counters: whole, and their control */
	{ "v1 has none", &model_v1, 0x309, 0, FAULT },
	{ "v2 fixed", &model_v2, 0x30b, 0xffffffffff, 0xffffffffff },
	{ "v2 fixed, too wide", &model_v2, 0x309, 1ull << 40, FAULT },
	{ "v2, no fourth", &model_v2, 0x30c, 0, FAULT },
	{ "v1 control", &model_v1, 0x38d, 0, FAULT },
	{ "v2 control", &model_v2, 0x38d, 0xbbb, 0xbbb },
	{ "v2 control, any thread", &model_v2, 0x38d, 0x4, FAULT },
	{ "v3 control, any thread", &model_v3, 0x38d, 0x4, 0x4 },
	{ "v5 control, any thread", &model_v5, 0x38d, 0x4, FAULT },
	{ "v2 control of a fourth", &model_v2, 0x38d, 0x1000, FAULT },
	{ "v5 control of a fourth", &model_v5, 0x38d, 0x1000, 0x1000 },
	/* The global ones */
	{ "p6 global", &model_p6, 0x38f, 0, FAULT },
	{ "v1 global", &model_v1, 0x38f, 0, FAULT },
	{ "v2 global", &model_v2, 0x38f, 0x700000003, 0x700000003 },
	{ "v2 global, no third", &model_v2, 0x38f, 0x4, FAULT },
	{ "v3 global, no fourth fixed", &model_v3, 0x38f, 0x800000000, FAULT },
	{ "v5 global", &model_v5, 0x38f, 0xf000000ff, 0xf000000ff },
	{ "v2 status", &model_v2, 0x38e, 0, FAULT },
	{ "v2 clears", &model_v2, 0x390, 0xc000000700000003, 0 },
	{ "v2 clears no uncore", &model_v2, 0x390, 1ull << 61, FAULT },
	{ "v3 clears uncore", &model_v3, 0x390, 1ull << 61, 0 },
	{ "v3 clears no freeze", &model_v3, 0x390, 1ull << 59, FAULT },
	{ "v4 clears freeze", &model_v4, 0x390, 1ull << 59, 0 },
	{ "v3 sets no status", &model_v3, 0x391, 0, FAULT },
	{ "v4 sets status", &model_v4, 0x391, 1, 0 },
};

START_TEST(registers_are_the_manuals)
{
	u64 before = 0, value = 0;
	bool there, good;

	model_boot(registers[_i].machine);
	there = model_rdmsr(registers[_i].msr, &before);
	good = model_wrmsr(registers[_i].msr, registers[_i].value);
	ck_assert_msg(good == (registers[_i].is != FAULT), "%s", registers[_i].name);
	ck_assert(!good || there);
	if (there) {
		ck_assert(model_rdmsr(registers[_i].msr, &value));
		ck_assert_msg(value == (good ? registers[_i].is : before), "%s: %#llx",
			      registers[_i].name, value);
	}
}
END_TEST

static const struct {
	const char *name;
	const struct model_machine *machine;
	u32 counter;
	bool good;
} rdpmcs[] = {
	{ "p6, 1", &model_p6, 1, true },
	{ "p6, 2", &model_p6, 2, false },
	{ "p6, fixed", &model_p6, 0x40000000, false },
	{ "v1, fixed", &model_v1, 0x40000000, false },
	{ "v2, fixed 2", &model_v2, 0x40000002, true },
	{ "v2, fixed 3", &model_v2, 0x40000003, false },
	{ "v3, 3", &model_v3, 3, true },
	{ "v3, 4", &model_v3, 4, false },
	{ "v3, fast", &model_v3, 0x80000000, false },
	{ "v5, 7", &model_v5, 7, true },
};

START_TEST(rdpmc_knows_its_operands)
{
	struct perfctr_cpu_ctr ctr = { .read = rdpmcs[_i].counter };
	u64 value = 0;

	model_boot(rdpmcs[_i].machine);
	ck_assert_msg(model_rdpmc(rdpmcs[_i].counter, &value) == rdpmcs[_i].good, "%s",
		      rdpmcs[_i].name);
	/* By the instruction, as the driver has it */
	if (rdpmcs[_i].good)
		ck_assert_uint_eq(perfctr_cpu_read(&ctr), value);
}
END_TEST

/* A counter counts only if all enable bits are set, and counts nothing else. */
static const struct {
	const char *name;
	const struct model_machine *machine;
	u64 evntsel[2], fixed_ctrl, global_ctrl;
	u64 gp[2], fixed;	/* of 1000 instructions in user mode, and 100 in kernel mode */
} enables[] = {
	{ "p6", &model_p6, { 0x4100c0, 0x200c0 }, 0, 0, { 1000, 100 }, 0 },
	{ "p6, nothing enabled", &model_p6, { 0x300c0, 0x300c0 }, 0, 0, { 0, 0 }, 0 },
	{ "v1", &model_v1, { 0x4300c0, 0x300c0 }, 0, 0, { 1100, 0 }, 0 },
	{ "v2", &model_v2, { 0x4100c0, 0x4200c0 }, 0x3, 0x100000003, { 1000, 100 }, 1100 },
	{ "v2, some", &model_v2, { 0x4100c0, 0x4200c0 }, 0x2, 0x100000002, { 0, 100 }, 1000 },
	{ "v2, none", &model_v2, { 0x4300c0, 0x4300c0 }, 0x3, 0, { 0, 0 }, 0 },
	{ "v2, no mode", &model_v2, { 0x4000c0, 0x4300c1 }, 0, 0x100000003, { 0, 0 }, 0 },
};

START_TEST(enabled_counters_count)
{
	unsigned int i;

	model_boot(enables[_i].machine);
	for (i = 0; i < 2; i++) {
		model_set_value(0, i, 0);
		model_set_msr(0, 0x186 + i, enables[_i].evntsel[i]);
	}
	if (model.version >= 2) {
		model_set_value(0, FIXED(0), 0);
		model_set_msr(0, 0x38d, enables[_i].fixed_ctrl);
		model_set_msr(0, 0x38f, enables[_i].global_ctrl);
	}
	model_execute(MODEL_USER, 1000);
	model_execute(MODEL_KERNEL, 100);
	for (i = 0; i < 2; i++)
		ck_assert_msg(model_value(0, i) == enables[_i].gp[i], "%s: counter %u: %llu",
			      enables[_i].name, i, model_value(0, i));
	if (model.version >= 2)
		ck_assert_msg(model_value(0, FIXED(0)) == enables[_i].fixed, "%s: fixed: %llu",
			      enables[_i].name, model_value(0, FIXED(0)));
}
END_TEST

/* An overflow is noted, and interrupts if the counter has that bit. */
static const struct {
	const char *name;
	const struct model_machine *machine;
	u64 evntsel, fixed_ctrl, status;
	unsigned int pmis;
} overflows[] = {
	{ "p6", &model_p6, 0x4300c0, 0, 0, 0 },
	{ "p6, INT", &model_p6, 0x5300c0, 0, 0, 1 },
	{ "v2", &model_v2, 0x4300c0, 0, 0x1, 0 },
	{ "v2, INT", &model_v2, 0x5300c0, 0, 0x1, 1 },
	{ "v2, fixed", &model_v2, 0, 0x3, 0x100000000, 0 },
	{ "v4, both", &model_v4, 0x5300c0, 0xb, 0x100000001, 2 },
};

START_TEST(overflows_interrupt)
{
	u64 last;

	model_boot(overflows[_i].machine);
	last = (1ull << model.width) - 1;
	model_set_value(0, 0, last);
	model_set_msr(0, 0x186, overflows[_i].evntsel);
	if (model.version >= 2) {
		model_set_value(0, FIXED(0), last);
		model_set_msr(0, 0x38d, overflows[_i].fixed_ctrl);
		model_set_msr(0, 0x38f, 0x100000001);
	}
	model_execute(MODEL_USER, 1);
	model_execute(MODEL_USER, 1);
	ck_assert_uint_eq(model_pmis[0], overflows[_i].pmis);
	if (model.version < 2)
		return;
	ck_assert_uint_eq(model_msr(0, 0x38e), overflows[_i].status);
	ck_assert(model_wrmsr(0x390, overflows[_i].status));
	ck_assert_uint_eq(model_msr(0, 0x38e), 0);
	if (model.version >= 4) {
		ck_assert(model_wrmsr(0x391, 2));
		ck_assert_uint_eq(model_msr(0, 0x38e), 2);
	}
}
END_TEST

void test_model(void)
{
	unit_begin("x86_model");
	UNIT_ROWS(registers_are_the_manuals, registers);
	UNIT_ROWS(rdpmc_knows_its_operands, rdpmcs);
	UNIT_ROWS(enabled_counters_count, enables);
	UNIT_ROWS(overflows_interrupt, overflows);
}
