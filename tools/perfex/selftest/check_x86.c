// SPDX-License-Identifier: GPL-2.0
/* Makes the checks that only x86 has. */
#include "selftest/checks.h"
#include "selftest/cpuid.h"
#include "selftest/loop.h"

#if IS_X86

#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The following functions measure the cost of a read in user mode. */

#define BATCH	16u
#define ROUNDS	100u
/* RDPMC takes some dozens of cycles, or thousands of cycles if a hypervisor emulates it. */
#define TRAPPED	500u

static uint64_t tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a" (low), "=d" (high));
	return (uint64_t)high << 32 | low;
}

static inline __attribute__((always_inline)) uint64_t fastest(uint32_t operand, bool reads,
							      bool fenced)
{
	uint64_t least = UINT64_MAX, cycles;
	unsigned int round, i;
	uint32_t low, high;

	for (round = 0; round < ROUNDS; round++) {
		cycles = tsc();
		for (i = 0; i < BATCH; i++) {
			if (fenced)
				__asm__ volatile("lfence" : : : "memory");
			if (reads)
				__asm__ volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (operand));
			else
				__asm__ volatile("");
		}
		cycles = tsc() - cycles;
		least = cycles < least ? cycles : least;
	}
	return least;
}

static uint64_t each(uint64_t cycles, uint64_t empty)
{
	return cycles > empty ? (cycles - empty + BATCH / 2) / BATCH : 0;
}

static void tell_read_cost(uint32_t operand)
{
	uint64_t empty = fastest(operand, false, false);
	uint64_t plain = each(fastest(operand, true, false), empty);
	uint32_t a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d) && d & bit_SSE2)
		tell("RDPMC: %" PRIu64 " cycles of the clock, with LFENCE before it %" PRIu64,
		     plain, each(fastest(operand, true, true), empty));
	else
		tell("RDPMC: %" PRIu64 " cycles of the clock", plain);
	if (plain > TRAPPED)
		deviates("RDPMC in user mode takes %" PRIu64 " cycles, so it is trapped and emulated",
			 plain);
}

void check_read_cost(const struct machine *m)
{
	struct perfctr_control control = { PERFCTR_CONTROL_INIT, .nractrs = 1 };
	struct vperfctr *v = vperfctr_open();
	const struct perfctr_page *page;

	(void)perfctr_event_parse(m->info->cpu_type, "instructions:u", &control.ctr[0]);
	if (!v || vperfctr_control_native(v, &control) < 0) {
		not_made("%s", strerror(errno));
	} else {
		page = vperfctr_page(v);
		if (page->slot[0].owner)
			tell_read_cost(page->operand[0]);
		else
			not_made("the module lets no register be read here");
	}
	if (v) {
		(void)vperfctr_unlink(v);
		vperfctr_close(v);
	}
}

/*
 * The following functions count reference cycles, the ticks of the clock while the core is not
 * halted (SDM Vol. 3B, "Fixed-function Performance Counters").
 */

#define REF_CYCLES_FIXED	(X86_FIXED + 2)
#define REF_CYCLES		0x300u
#define AMD_REF_CYCLES	0x100000120u
#define BUS_CYCLES		0x13cu

static uint64_t spun;	/* ticks of the clock during the last timed_spin() */

static void timed_spin(unsigned long turns)
{
	uint64_t start = tsc();

	spin(turns);
	spun = tsc() - start;
}

/*
 * Returns the count per tick of the clock. Interrupts and hypervisors lower the count, so the
 * highest of ten runs is taken. Up to fifty runs are made until the count is as high as @expected.
 */
static double per_tick(const struct counting *c, double expected)
{
	uint64_t few[PERFCTR_MAX_CTRS], many[PERFCTR_MAX_CTRS], few_spun;
	double most = 0, ratio;
	unsigned int run;

	for (run = 0; run < 10 || (run < 50 && most < 0.99 * expected); run++) {
		if (run >= 10)
			nap(20);
		if (!count(c, timed_spin, SHORT, few))
			return 0;
		few_spun = spun;
		if (!count(c, timed_spin, LONG, many) || spun == few_spun)
			return 0;
		ratio = (double)(many[0] - few[0]) / (double)(spun - few_spun);
		most = ratio > most ? ratio : most;
	}
	return most;
}

void check_ref_cycles(const struct machine *m)
{
	struct perfctr_ctr_control ctr = {
		.map = REF_CYCLES_FIXED, .event = REF_CYCLES, .flags = PERFCTR_CTR_USER,
	};
	struct counting c;
	double ratio;

	/* On Zen 4, any counter can count reference cycles (Linux, amd/core.c). */
	if (m->info->cpu_type == PERFCTR_X86_AMD_ZEN4) {
		ctr.map = PERFCTR_MAP_ANY;
		ctr.event = AMD_REF_CYCLES;
	} else if (!(m->info->counters >> REF_CYCLES_FIXED & 1)) {
		not_made("there is no counter of them");
		return;
	}
	if (!start(&c, PERFCTR_SOURCE_NATIVE, &ctr)) {
		not_made("%s", why_not_started(&c));
		return;
	}
	ratio = per_tick(&c, 1);
	stop(&c);
	tell("reference cycles: %.3f in each tick", ratio);
	if (ratio < 0.99 || ratio > 1.01)
		deviates("there are %.3f reference cycles in each tick of the clock, and not one",
			 ratio);
	if (ctr.map == PERFCTR_MAP_ANY)
		return;
	ctr.map = PERFCTR_MAP_ANY;
	ctr.event = BUS_CYCLES;
	if (!start(&c, PERFCTR_SOURCE_NATIVE, &ctr))
		return;
	tell("bus cycles, another event: %.3f in each tick", per_tick(&c, 0));
	stop(&c);
}

/* The following functions count events that only some counters can count. */

/* Events of several Intel models. The module knows which counters can count them. */
static const uint32_t of_intel[] = {
	0x0010, 0x0011, 0x0012, 0x0013, 0x0014, 0x0018, 0x0019, 0x0040, 0x0048, 0x0060, 0x01a3,
	0x01c0, 0x01d0, 0x01d1,
};

/* Events of the units of AMD's family 15h, and of the northbridge (0xe9). */
static const uint32_t of_amd[] = {
	0x0000, 0x0003, 0x000b, 0x0023, 0x002d, 0x002e, 0x0043, 0x0060, 0x008f, 0x00d0, 0x00d6,
	0x00e9,
};

static void stir_caches(unsigned long n)
{
	static volatile unsigned char bytes[65536];
	size_t i;

	for (; n; n--)
		for (i = 0; i < sizeof(bytes); i += 64)
			bytes[i]++;
}

static void try_constrained(const struct perfctr_ctr_control *ctr, uint64_t possible)
{
	uint64_t counts[PERFCTR_MAX_CTRS];
	struct counting c;

	if (!start(&c, PERFCTR_SOURCE_NATIVE, ctr) || !count(&c, stir_caches, 100, counts))
		tell("event 0x%llx: counters 0x%" PRIx64 ", not counted", ctr->event, possible);
	else
		tell("event 0x%llx: counters 0x%" PRIx64 " alone can count it, and counted %s",
		     ctr->event, possible, counts[0] ? "some" : "0");
	stop(&c);
}

/*
 * Returns the set of counters that can count an event. Returns 0 if all counters can, or if start()
 * failed for another reason.
 */
static uint64_t find_possible(const struct machine *m, struct perfctr_ctr_control *ctr,
			      struct counting *c)
{
	unsigned int last = X86_FIXED - 1;
	uint32_t tried[2];
	size_t i;

	while (last && !(m->info->counters >> last & 1))
		last--;
	/* Each known set of counters excludes either the first counter or the last. */
	tried[0] = 0;
	tried[1] = last;
	for (i = 0; i < 2; i++) {
		ctr->map = tried[i];
		if (start(c, PERFCTR_SOURCE_NATIVE, ctr))
			stop(c);
		else
			return c->control.reason == PERFCTR_REASON_COUNTER ?
			       c->control.possible : 0;
	}
	return 0;
}

/* Returns true if the events have the same numbers as on Intel's family 6. */
static bool has_intels_events(const struct perfctr_info *info)
{
	switch (info->own_cpu_type) {
	case PERFCTR_X86_INTEL_P6: case PERFCTR_X86_INTEL_PII: case PERFCTR_X86_INTEL_PIII:
	case PERFCTR_X86_INTEL_PENTM: case PERFCTR_X86_INTEL_CORE: case PERFCTR_X86_INTEL_CORE2:
	case PERFCTR_X86_INTEL_ATOM: case PERFCTR_X86_INTEL_NHLM: case PERFCTR_X86_INTEL_WSTMR:
	case PERFCTR_X86_INTEL_ARCH:
		return true;
	default:
		return false;
	}
}

void check_constraints(const struct machine *m)
{
	const size_t tried = is_amd() ? sizeof(of_amd) / sizeof(of_amd[0]) :
					sizeof(of_intel) / sizeof(of_intel[0]);
	const uint32_t *events = is_amd() ? of_amd : of_intel;
	unsigned int found = 0, refused = 0, reason = PERFCTR_REASON_NONE;
	uint64_t possible;
	size_t i;

	if (!is_amd() && !has_intels_events(m->info)) {
		not_made("no such event of this processor is known");
		return;
	}
	for (i = 0; i < tried; i++) {
		struct perfctr_ctr_control ctr = {
			.event = events[i], .flags = PERFCTR_CTR_USER,
		};
		struct counting c;

		possible = find_possible(m, &ctr, &c);
		if (possible) {
			found++;
			ctr.map = PERFCTR_MAP_ANY;
			try_constrained(&ctr, possible);
		} else if (c.error) {
			refused++;
			reason = c.control.reason;
		}
	}
	tell("of %zu events %u can be counted by some counters only, %u are refused%s%s", tried,
	     found, refused, reason ? ": " : "", reason ? perfctr_reason_name(reason) : "");
}

/*
 * The following functions count events that falsify the counts of another hyperthread: errata BJ122
 * of Sandy Bridge, BV98 of Ivy Bridge, HSD29 of Haswell.
 */

static bool has_erratum(void)
{
	uint32_t a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (a >> 8 & 0xf) != 6)
		return false;
	switch ((a >> 4 & 0xf) | (a >> 12 & 0xf0)) {
	case 42: case 45: case 58: case 60: case 62: case 63: case 69: case 70:
		return true;
	default:
		return false;
	}
}

void check_hyperthreads(const struct machine *m)
{
	static const uint32_t events[] = { 0x81d0, 0x01d1, 0x01d2, 0x01d3 };
	unsigned int refused = 0;
	struct counting c;
	size_t i;

	if (is_amd()) {
		not_made("no such event of AMD's processors is known");
		return;
	}
	if (!has_intels_events(m->info)) {
		not_made("no such event of this processor is known");
		return;
	}
	for (i = 0; i < 4; i++) {
		const struct perfctr_ctr_control ctr = {
			.map = PERFCTR_MAP_ANY, .event = events[i], .flags = PERFCTR_CTR_USER,
		};

		if (start(&c, PERFCTR_SOURCE_NATIVE, &ctr))
			stop(&c);
		else
			refused++;
	}
	if (refused)
		tell("%u of 4 events 0xd0 to 0xd3 are refused: %s", refused,
		     c.control.reason ? perfctr_reason_name(c.control.reason) : strerror(c.error));
	else
		tell("events 0xd0 to 0xd3 are counted");
	if (refused < 4 && has_erratum())
		deviates("%zu of 4 events that spoil the counts of the other hyperthread are not refused",
			 4 - (size_t)refused);
}

#endif /* IS_X86 */
