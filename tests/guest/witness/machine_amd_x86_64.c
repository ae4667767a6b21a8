// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the machine itself, as machine_x86_64.c does: AMD's registers, and what only AMD's
 * counters have. What the registers must hold is from AMD's manual, volume 2 ("Performance
 * Monitoring Counters"), and from the manuals of the families.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/loops.h"
#include "witness/machine_x86_64.h"
#include "kit/registers.h"

/* The first four counters, as on a K7 */
#define MSR_K7_EVNTSEL0		0xc0010000u
#define MSR_K7_PERFCTR0		0xc0010004u
#define K7_COUNTERS		4u
/* Six, control and counter by turns; the first four are the same registers as above. */
#define MSR_CORE_EVNTSEL0	0xc0010200u
#define CORE_COUNTERS		6u
/* PerfMonV2 */
#define MSR_AMD_STATUS		0xc0000300u
#define MSR_AMD_GLOBAL_CTRL	0xc0000301u
#define MSR_AMD_STATUS_CLEAR	0xc0000302u
#define MSR_AMD_STATUS_SET	0xc0000303u
#define STATUS_FROZEN		(UINT64_C(1) << 59)

#define MSR_EFER		0xc0000080u
#define EFER_SVME		(UINT64_C(1) << 12)
#define GUEST_ONLY		(UINT64_C(1) << 40)
#define HOST_ONLY		(UINT64_C(1) << 41)

/* Bit 35:32 of a control: the event's upper bits */
#define EVENT_100		(UINT64_C(1) << 32)

/* There is nothing here that predicts branches. */
#define MISPREDICTED		0xc3u
#define P0_CYCLES		(EVENT_100 | 0x0120)

static bool has_core, has_freeze, has_svm;

bool amd_find_pmu(void)
{
	unsigned int a = 0, b = 0, c = 0, d = 0, most;

	__cpuid(0, a, b, c, d);
	if (b != signature_AMD_ebx)
		return false;
	__cpuid(1, a, b, c, d);
	pmu.amd_family = ((a >> 8) & 0xf) + ((a >> 20) & 0xff);
	pmu.model = ((a >> 4) & 0xf) | ((a >> 12) & 0xf0);
	__cpuid(0x80000000, most, b, c, d);
	__cpuid(0x80000001, a, b, c, d);
	has_core = c & (1u << 23);
	has_svm = c & (1u << 2);
	pmu.counters = has_core ? CORE_COUNTERS : K7_COUNTERS;
	if (most >= 0x80000022) {
		__cpuid(0x80000022, a, b, c, d);
		pmu.version = a & 1 ? 2 : 0;
		if (pmu.version)
			pmu.counters = b & 0xf;
		has_freeze = a & 4;
	}
	pmu.width = 48;
	pmu.cycles = 0x76;
	pmu.branches = 0xc2;
	/* Not 0xff, which Linux knows as one of the northbridge */
	pmu.none = 0x7f3f;
	/* There is none of stores alone. */
	if (pmu.amd_family < 0x17) {
		pmu.interrupts = 0xcf;
		pmu.dtlb_store_misses = pmu.amd_family < 0x10 ? 0x46 : 0x0746;
	} else {
		pmu.interrupts = 0x2c;
		pmu.dtlb_store_misses = 0xf045;
	}
	return true;
}

/* What an event select can hold */
static uint64_t evntsel_bits(void)
{
	if (pmu.amd_family < 0x10)
		return UINT64_C(0xffdfffff);
	return UINT64_C(0x30fffd7ffff);
}

/* No value is refused; what a register cannot hold is dropped. */
START_TEST(amd_counters)
{
	uint64_t bits = evntsel_bits() & ~(uint64_t)EVNTSEL_EN, value = 0;
	unsigned int bit, i;

	open_registers();
	for (i = 0; i < pmu.counters; i++) {
		reg(msr_evntsel(i), ~(uint64_t)EVNTSEL_EN, true, bits);
		reg(msr_perfctr(i), UINT64_MAX, true, mask_of(48));
		reg(msr_perfctr(i), UINT64_C(0x123456789abcdef0), true, UINT64_C(0x56789abcdef0));
		reg(msr_perfctr(i), 0x80000000, true, 0x80000000);
	}
	for (bit = 0; bit < 64; bit++)
		if (bit != 22)
			reg(msr_evntsel(0), UINT64_C(1) << bit, true, bits & (UINT64_C(1) << bit));
	if (!has_core) {
		for (i = 0; i < 2 * CORE_COUNTERS; i++)
			refused(MSR_CORE_EVNTSEL0 + i);
		return;
	}
	for (i = pmu.counters; i < CORE_COUNTERS; i++) {
		refused(msr_evntsel(i));
		refused(msr_perfctr(i));
	}
	/* One register has two numbers. */
	for (i = 0; i < K7_COUNTERS; i++) {
		ck_assert(wrmsr(msr_evntsel(i), 0x1200 + i));
		ck_assert(rdmsr(MSR_K7_EVNTSEL0 + i, &value));
		ck_assert_uint_eq(value, 0x1200 + i);
		ck_assert(wrmsr(MSR_K7_EVNTSEL0 + i, 0));
		ck_assert(rdmsr(msr_evntsel(i), &value));
		ck_assert_uint_eq(value, 0);
		ck_assert(wrmsr(msr_perfctr(i), 0x3400 + i));
		ck_assert(rdmsr(MSR_K7_PERFCTR0 + i, &value));
		ck_assert_uint_eq(value, 0x3400 + i);
		ck_assert(wrmsr(MSR_K7_PERFCTR0 + i, 0x5600 + i));
		ck_assert(rdmsr(msr_perfctr(i), &value));
		ck_assert_uint_eq(value, 0x5600 + i);
	}
}
END_TEST

START_TEST(amd_global_registers)
{
	uint64_t counters = mask_of(pmu.counters), value = 0;
	uint64_t status = counters | (has_freeze ? STATUS_FROZEN : 0);
	unsigned int i;

	open_registers();
	if (!pmu.version) {
		for (i = MSR_AMD_STATUS; i <= MSR_AMD_STATUS_SET; i++)
			refused(i);
		return;
	}
	reg(MSR_AMD_GLOBAL_CTRL, UINT64_MAX, true, counters);
	reg(MSR_AMD_GLOBAL_CTRL, 1, true, 1);
	reg(MSR_AMD_STATUS, 0, false, 0);
	ck_assert(wrmsr(MSR_AMD_STATUS_SET, UINT64_MAX));
	ck_assert(rdmsr(MSR_AMD_STATUS, &value));
	ck_assert(wrmsr(MSR_AMD_STATUS_CLEAR, ~(uint64_t)1));
	ck_assert_uint_eq(value, status);
	ck_assert(rdmsr(MSR_AMD_STATUS, &value));
	ck_assert_uint_eq(value, 1);
	ck_assert(wrmsr(MSR_AMD_STATUS_CLEAR, UINT64_MAX));
	ck_assert(rdmsr(MSR_AMD_STATUS, &value));
	ck_assert_uint_eq(value, 0);
	reg(MSR_AMD_STATUS_CLEAR, 1, true, 0);
}
END_TEST

/* What must be set so that a counter counts; an overflow shows in the status, if there is one. */
START_TEST(amd_enabling)
{
	uint64_t on = INSTRUCTIONS | EVNTSEL_BOTH, ctrl = 0, value = 0;
	uint32_t last = msr_perfctr(pmu.counters - 1);

	open_registers();
	if (pmu.version) {
		ck_assert(rdmsr(MSR_AMD_GLOBAL_CTRL, &ctrl));
		ck_assert(wrmsr(MSR_AMD_GLOBAL_CTRL, UINT64_MAX));
	}
	ck_assert(wrmsr(msr_evntsel(0), on));
	ck_assert(wrmsr(msr_evntsel(pmu.counters - 1), on | EVNTSEL_EN));
	ck_assert_uint_eq(progress_of(msr_perfctr(0)), 0);
	ck_assert_uint_gt(progress_of(last), 0);
	ck_assert(wrmsr(msr_evntsel(0), on | EVNTSEL_EN));
	ck_assert_uint_gt(progress_of(msr_perfctr(0)), 0);
	/* It begins anew from zero. */
	ck_assert(wrmsr(msr_perfctr(0), mask_of(48)));
	ck_assert(rdmsr(msr_perfctr(0), &value));
	ck_assert_uint_gt(value, 0);
	ck_assert_uint_lt(value, 1000000);
	/* In no mode at all */
	ck_assert(wrmsr(msr_evntsel(0), INSTRUCTIONS | EVNTSEL_EN));
	ck_assert_uint_eq(progress_of(msr_perfctr(0)), 0);
	ck_assert(wrmsr(msr_evntsel(0), on | EVNTSEL_EN));
	if (pmu.version) {
		ck_assert(rdmsr(MSR_AMD_STATUS, &value));
		ck_assert_uint_eq(value, 1);
		ck_assert(wrmsr(MSR_AMD_STATUS_CLEAR, 1));
		ck_assert(rdmsr(MSR_AMD_STATUS, &value));
		ck_assert_uint_eq(value, 0);
		ck_assert(wrmsr(MSR_AMD_GLOBAL_CTRL, UINT64_C(1) << (pmu.counters - 1)));
		ck_assert_uint_eq(progress_of(msr_perfctr(0)), 0);
		ck_assert_uint_gt(progress_of(last), 0);
		ck_assert(wrmsr(MSR_AMD_GLOBAL_CTRL, UINT64_MAX));
	}
	if (has_freeze) {
		ck_assert(wrmsr(MSR_AMD_STATUS_SET, STATUS_FROZEN));
		ck_assert_uint_eq(progress_of(last), 0);
		ck_assert(wrmsr(MSR_AMD_STATUS_CLEAR, STATUS_FROZEN));
		ck_assert_uint_gt(progress_of(last), 0);
	}
	ck_assert(wrmsr(msr_evntsel(0), 0));
	ck_assert(wrmsr(msr_evntsel(pmu.counters - 1), 0));
	ck_assert_uint_eq(progress_of(msr_perfctr(0)), 0);
	ck_assert_uint_eq(progress_of(last), 0);
	if (pmu.version)
		ck_assert(wrmsr(MSR_AMD_GLOBAL_CTRL, ctrl));
}
END_TEST

/*
 * Bits 41:40: with either nothing is counted while SVM is off (Linux's commit 1018faa6cf23), and a
 * host without guests is a host. Processors before family 10h do not have them.
 */
START_TEST(amd_host_and_guest)
{
	static const uint64_t whose[] = { 0, GUEST_ONLY, HOST_ONLY, GUEST_ONLY | HOST_ONLY };
	uint64_t efer = 0, ctrl = 0;
	unsigned int i, svm;

	open_registers();
	ck_assert(rdmsr(MSR_EFER, &efer));
	ck_assert(!(efer & EFER_SVME));
	if (pmu.version) {
		ck_assert(rdmsr(MSR_AMD_GLOBAL_CTRL, &ctrl));
		ck_assert(wrmsr(MSR_AMD_GLOBAL_CTRL, UINT64_MAX));
	}
	for (svm = 0; svm <= has_svm; svm++) {
		ck_assert(wrmsr(MSR_EFER, svm ? efer | EFER_SVME : efer));
		for (i = 0; i < 4; i++) {
			bool all = !whose[i] || pmu.amd_family < 0x10;
			bool counts = all || (svm && (whose[i] & HOST_ONLY));

			ck_assert(wrmsr(msr_evntsel(0), INSTRUCTIONS | EVNTSEL_BOTH | EVNTSEL_EN |
					whose[i]));
			ck_assert_msg((progress_of(msr_perfctr(0)) > 0) == counts,
				      "SVM %u, bits 41:40 are %u: it counts %d", svm, i, !counts);
		}
	}
	ck_assert(wrmsr(MSR_EFER, efer));
	ck_assert(wrmsr(msr_evntsel(0), 0));
	if (pmu.version)
		ck_assert(wrmsr(MSR_AMD_GLOBAL_CTRL, ctrl));
}
END_TEST

/* A program that may read counters: does RDPMC take this number? */
static bool rdpmc_takes(uint32_t number)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		int fd = raw_open(INSTRUCTIONS);
		void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

		if (page == MAP_FAILED)
			_exit(1);
		signal(SIGSEGV, SIG_DFL);
		__asm__ volatile("rdpmc" : : "c" (number) : "eax", "edx");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
		return false;
	}
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	return true;
}

/* No counters of the northbridge (6 to 9), none of the L3 cache (10 to 15), no fixed ones */
START_TEST(amd_rdpmc)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		ck_assert_msg(rdpmc_takes(i) == (i < pmu.counters), "RDPMC of %u", i);
	ck_assert(!rdpmc_takes(0x40000000));
	ck_assert(!rdpmc_takes(0x80000000));
}
END_TEST

START_TEST(amd_events)
{
	bool wide = pmu.amd_family >= 0x10;

	row("loop of 1,000", "mispredicted branches", 0, measure(MISPREDICTED, body_spin, 1000));
	row("loop of 1,000", "instructions, with a unit mask", 2000,
	    measure(INSTRUCTIONS | 0x5500, body_spin, 1000));
	/* Linux does not ask whether there are such bits. */
	row("loop of 1,000", wide ? "event 1C0h" : "instructions, with a bit that is dropped",
	    wide ? 0 : 2000, measure(INSTRUCTIONS | EVENT_100, body_spin, 1000));
	if (pmu.amd_family >= 0x19)
		row("loop of 1,000,000", "cycles of the P0 frequency", 2000000,
		    measure(P0_CYCLES, body_spin, 1000000));
}
END_TEST

void amd_tests(void)
{
	GUEST_RUN(amd_counters, 0);
	GUEST_RUN(amd_global_registers, 0);
	GUEST_RUN(amd_enabling, 0);
	GUEST_RUN(amd_host_and_guest, 0);
	GUEST_RUN(amd_rdpmc, NEED_PERF);
	GUEST_RUN(amd_events, NEED_PERF);
}
