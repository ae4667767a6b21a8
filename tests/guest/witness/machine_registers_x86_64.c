// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the machine itself, as machine_x86_64.c does: the registers of Intel's counters, what can be
 * written to them, and what must be set so that they count.
 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "kit/guest.h"
#include "witness/machine_x86_64.h"
#include "kit/registers.h"

/* --- The registers themselves --- */

void reg(uint32_t msr, uint64_t value, bool taken, uint64_t then)
{
	uint64_t before = 0, now = 0;

	ck_assert_msg(rdmsr(msr, &before), "RDMSR %#x", msr);
	ck_assert_msg(wrmsr(msr, value) == taken, "WRMSR %#x of %#" PRIx64 " is %s", msr,
		      value, taken ? "refused" : "taken");
	ck_assert(rdmsr(msr, &now));
	ck_assert_msg(now == (taken ? then : before),
		      "register %#x holds %#" PRIx64 " after %#" PRIx64, msr, now, value);
	ck_assert(!taken || wrmsr(msr, before));
}

void refused(uint32_t msr)
{
	uint64_t value = 0;

	ck_assert_msg(!rdmsr(msr, &value), "there is a register %#x", msr);
	ck_assert_msg(!wrmsr(msr, 0), "there is a register %#x to write to", msr);
}

uint64_t mask_of(unsigned int bits)
{
	return (UINT64_C(1) << bits) - 1;
}

START_TEST(general_purpose_registers)
{
	bool any = pmu.version == 3 || pmu.version == 4;
	uint64_t all = ~(uint64_t)(EVNTSEL_EN | EVNTSEL_ANY) & UINT32_MAX;
	unsigned int i;

	open_registers();
	for (i = 0; i < pmu.counters; i++) {
		reg(MSR_EVNTSEL0 + i, all, true, all);
		reg(MSR_EVNTSEL0 + i, EVNTSEL_ANY, any, EVNTSEL_ANY);
		reg(MSR_EVNTSEL0 + i, UINT64_C(1) << 32, false, 0);
		reg(MSR_EVNTSEL0 + i, UINT64_C(1) << 63, false, 0);
		/* 32 bits are written, and the highest of them is extended. */
		reg(MSR_PMC0 + i, 0x80000000, true, mask_of(pmu.width) & ~UINT64_C(0x7fffffff));
		reg(MSR_PMC0 + i, 0x123456789abcdef, true, mask_of(pmu.width) &
		    (uint64_t)(int64_t)(int32_t)0x89abcdef);
		reg(MSR_PMC0 + i, UINT64_C(0x9abcdef012345678), true, 0x12345678);
	}
	if (i < 8) {
		refused(MSR_EVNTSEL0 + i);
		refused(MSR_PMC0 + i);
	}
	if (pmu.version >= 5) {
		for (i = 0; i < pmu.counters; i++) {
			reg(MSR_FULL_PMC0 + i, mask_of(pmu.width), true, mask_of(pmu.width));
			reg(MSR_FULL_PMC0 + i, UINT64_C(1) << pmu.width, false, 0);
		}
		reg(MSR_CAPABILITIES, 0, false, 0);
	} else if (pmu.version) {
		refused(MSR_FULL_PMC0);
		refused(MSR_CAPABILITIES);
	}
}
END_TEST

START_TEST(global_registers)
{
	bool any = pmu.version == 3 || pmu.version == 4;
	uint64_t value;
	unsigned int i;

	open_registers();
	if (pmu.version == 1) {
		for (i = 0; i < 3; i++)
			refused(MSR_FIXED_CTR0 + i);
		for (i = MSR_FIXED_CTRL; i <= MSR_STATUS_RESET; i++)
			refused(i);
	}
	if (pmu.version < 2)
		return;
	for (i = 0; i < pmu.fixed_counters; i++) {
		reg(MSR_FIXED_CTR0 + i, mask_of(pmu.width), true, mask_of(pmu.width));
		reg(MSR_FIXED_CTR0 + i, UINT64_C(1) << pmu.width, false, 0);
		reg(MSR_FIXED_CTRL, UINT64_C(8) << 4 * i, true, UINT64_C(8) << 4 * i);
		reg(MSR_FIXED_CTRL, UINT64_C(4) << 4 * i, any, UINT64_C(4) << 4 * i);
		reg(MSR_GLOBAL_CTRL, UINT64_C(1) << (32 + i), true, UINT64_C(1) << (32 + i));
	}
	reg(MSR_FIXED_CTRL, UINT64_C(1) << 4 * i, false, 0);
	reg(MSR_GLOBAL_CTRL, UINT64_C(1) << (32 + i), false, 0);
	reg(MSR_GLOBAL_CTRL, mask_of(pmu.counters), true, mask_of(pmu.counters));
	reg(MSR_GLOBAL_CTRL, UINT64_C(1) << pmu.counters, false, 0);
	reg(MSR_STATUS, 0, false, 0);
	reg(MSR_STATUS_RESET, UINT64_C(1) << 62, true, 0);
	reg(MSR_STATUS_RESET, UINT64_C(1) << 57, false, 0);
	reg(MSR_STATUS_RESET, UINT64_C(1) << 59, pmu.version >= 4, 0);
	reg(MSR_STATUS_RESET, UINT64_C(1) << 61, pmu.version >= 3, 0);
	/* Before version 4 the uncore has registers there. */
	if (pmu.version < 4)
		return;
	ck_assert(wrmsr(MSR_STATUS_SET, 1));
	ck_assert(rdmsr(MSR_STATUS, &value) && value == 1);
	ck_assert(wrmsr(MSR_STATUS_RESET, 1));
	ck_assert(rdmsr(MSR_STATUS, &value) && !value);
	reg(MSR_STATUS_SET, UINT64_C(1) << 57, false, 0);
	/* perf leaves the events that it counted last, and stops them. */
	for (i = 0; i < pmu.counters; i++)
		ck_assert(wrmsr(MSR_EVNTSEL0 + i, 0));
	ck_assert(rdmsr(MSR_INUSE, &value) && !value);
	ck_assert(wrmsr(MSR_EVNTSEL0, INSTRUCTIONS));
	ck_assert(rdmsr(MSR_INUSE, &value) && value == 1);
	ck_assert(wrmsr(MSR_EVNTSEL0, 0));
	reg(MSR_INUSE, 0, false, 0);
}
END_TEST

/* The registers of events: Nehalem has one, Skylake and Ice Lake have three. */
START_TEST(registers_of_events)
{
	static const uint64_t valid[] = { 0xffff, 0x3fffff8fff, 0x3fffffbfff };
	unsigned int bit, i;

	open_registers();
	if (pmu.version < 3)
		return;
	for (i = 0; i < (pmu.version > 3 ? 3 : 1); i++) {
		uint32_t msr = i < 2 ? MSR_OFFCORE_RSP_0 + i : MSR_PEBS_FRONTEND;
		uint64_t bits = i < 2 ? valid[pmu.version - 3] : 0x7fff17;

		for (bit = 0; bit < 64; bit++)
			reg(msr, UINT64_C(1) << bit, bits >> bit & 1, UINT64_C(1) << bit);
		reg(msr, bits, true, bits);
	}
	if (pmu.version == 3)
		refused(MSR_OFFCORE_RSP_0 + 1);
}
END_TEST

uint64_t progress_of(uint32_t msr)
{
	uint64_t before = 0, after = 0;

	ck_assert(rdmsr(msr, &before));
	ck_assert(rdmsr(msr, &after));
	return after - before;
}

/* What must be set so that a counter counts; an overflow shows in the status. */
START_TEST(enabling)
{
	uint32_t on = INSTRUCTIONS | EVNTSEL_BOTH;
	uint64_t ctrl = 0, status = 0;

	open_registers();
	ck_assert(wrmsr(MSR_EVNTSEL0, on));
	ck_assert(wrmsr(MSR_EVNTSEL0 + 1, on));
	if (pmu.version >= 2) {
		ck_assert(rdmsr(MSR_GLOBAL_CTRL, &ctrl));
		ck_assert(wrmsr(MSR_GLOBAL_CTRL, 3));
	}
	ck_assert_uint_eq(progress_of(MSR_PMC0), 0);
	ck_assert(wrmsr(MSR_EVNTSEL0 + 1, on | EVNTSEL_EN));
	if (!pmu.version)
		ck_assert_uint_eq(progress_of(MSR_PMC0 + 1), 0);
	else
		ck_assert_uint_gt(progress_of(MSR_PMC0 + 1), 0);
	ck_assert(wrmsr(MSR_EVNTSEL0, on | EVNTSEL_EN));
	ck_assert_uint_gt(progress_of(MSR_PMC0), 0);
	ck_assert_uint_gt(progress_of(MSR_PMC0 + 1), 0);
	if (pmu.version >= 2) {
		ck_assert(wrmsr(MSR_PMC0, UINT64_C(0xffffffff)));
		ck_assert(rdmsr(MSR_STATUS, &status));
		ck_assert_uint_eq(status, 1);
		ck_assert(wrmsr(MSR_STATUS_RESET, 1));
		ck_assert(rdmsr(MSR_STATUS, &status));
		ck_assert_uint_eq(status, 0);
		ck_assert(wrmsr(MSR_GLOBAL_CTRL, 2));
		ck_assert_uint_eq(progress_of(MSR_PMC0), 0);
		ck_assert_uint_gt(progress_of(MSR_PMC0 + 1), 0);
		ck_assert(wrmsr(MSR_GLOBAL_CTRL, ctrl));
	}
	if (pmu.version >= 4) {
		/* Frozen */
		ck_assert(wrmsr(MSR_STATUS_SET, UINT64_C(1) << 59));
		ck_assert_uint_eq(progress_of(MSR_PMC0), 0);
		ck_assert(wrmsr(MSR_STATUS_RESET, UINT64_C(1) << 59));
	}
	ck_assert(wrmsr(MSR_EVNTSEL0, 0));
	ck_assert(wrmsr(MSR_EVNTSEL0 + 1, 0));
	ck_assert_uint_eq(progress_of(MSR_PMC0), 0);
}
END_TEST

void register_tests(void)
{
	GUEST_RUN(general_purpose_registers, 0);
	GUEST_RUN(global_registers, 0);
	GUEST_RUN(registers_of_events, 0);
	GUEST_RUN(enabling, 0);
}
