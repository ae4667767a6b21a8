// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of the 604's performance monitor and of its successors', each with exact numbers,
 * on a processor without an operating system. It says "ok" or "not ok" for each rule.
 *
 * The rules are those of the chapter "Performance Monitor" in the user's manuals of the MPC604e,
 * MPC750, MPC7410 and MPC7450. Beside them the emulated processor has some of its own, where
 * silicon is not exact: an instruction is one cycle; mtspr is counted as MMCR0 was before it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "rules.h"
#include "rules_io.h"

/* MMCR0 by the names of the 74xx; the 604 and 750 have others */
#define FC		0x80000000u
#define FCS		0x40000000u
#define FCP		0x20000000u
#define FCM1		0x10000000u
#define FCM0		0x08000000u
#define PMXE		0x04000000u	/* ENINT */
#define FCECE		0x02000000u	/* DISCOUNT */
#define TBSEL(n)	((n) << 23)	/* RTCSELECT */
#define TBEE		0x00400000u	/* INTONBITTRANS */
#define THRESHOLD	0x003f0000u
#define PMC1CE		0x00008000u	/* PMC1INTCONTROL */
#define PMCNCE		0x00004000u	/* PMCINTCONTROL */
#define TRIGGER		0x00002000u	/* PMCTRIGGER */

#define NEGATIVE	0x80000000u

/* SRR1 of a program exception */
#define ILLEGAL		0x00080000u
#define PRIVILEGED	0x00040000u

/* What the handlers and run() leave; rules.h has the offsets. */
struct seen {
	uint32_t pmis, srr0, srr1, mmcr0, siar, tbl, limit;
	uint32_t faults, fault_srr1, order;
	uint32_t r20, r21;
};

void run(uint32_t msr, const void *code, uint32_t mmcr0, uint32_t pmi, uint32_t end);
int main(void);

extern volatile struct seen seen;
volatile struct seen seen;

extern const char loop_100[], nops_128[], late_ee[], late_ee_taken[], marked_10[], faults[], load[],
	reads[], starts[], ticks[], waits[], waits_long[], both[], spr_accesses[];

/* What the processor has */
static struct {
	const char *name;
	unsigned int pmcs;
	bool user_copies, mmcr2, is_74xx;
	bool keeps_pmxe;
} cpu;

#define mfspr(n) ({							\
	uint32_t value_;						\
	__asm__ volatile("mfspr %0, %1" : "=r"(value_) : "i"(n) : "memory"); \
	value_;								\
})

#define mtspr(n, value) \
	__asm__ volatile("mtspr %0, %1" : : "i"(n), "r"((uint32_t)(value)) : "memory")

static uint32_t read_pmc(unsigned int i)
{
	switch (i) {
	case 1:
		return mfspr(SPR_PMC1);
	case 2:
		return mfspr(SPR_PMC2);
	case 3:
		return mfspr(SPR_PMC3);
	case 4:
		return mfspr(SPR_PMC4);
	case 5:
		return mfspr(SPR_PMC5);
	default:
		return mfspr(SPR_PMC6);
	}
}

static void write_pmc(unsigned int i, uint32_t value)
{
	switch (i) {
	case 1:
		mtspr(SPR_PMC1, value);
		break;
	case 2:
		mtspr(SPR_PMC2, value);
		break;
	case 3:
		mtspr(SPR_PMC3, value);
		break;
	case 4:
		mtspr(SPR_PMC4, value);
		break;
	case 5:
		mtspr(SPR_PMC5, value);
		break;
	default:
		mtspr(SPR_PMC6, value);
	}
}

/* The event selectors of MMCR0 and MMCR1, with one event on all counters of a bit map */
static uint32_t select0(uint32_t event, uint32_t counters)
{
	return (counters & 2 ? event << 6 : 0) | (counters & 4 ? event : 0);
}

static uint32_t select1(uint32_t event, uint32_t counters)
{
	return (counters & 8 ? event << 27 : 0) | (counters & 16 ? event << 22 : 0) |
	       (counters & 32 ? event << 17 : 0) | (counters & 64 ? event << 11 : 0);
}

#define ALL 0x7e

/* Everything is off and zero. */
static void clear(void)
{
	unsigned int i;

	mtspr(SPR_MMCR0, FC);
	if (cpu.pmcs > 2)
		mtspr(SPR_MMCR1, 0);
	if (cpu.mmcr2)
		mtspr(SPR_MMCR2, 0);
	for (i = 1; i <= cpu.pmcs; i++)
		write_pmc(i, 0);
	for (i = 0; i < sizeof(seen) / sizeof(uint32_t); i++)
		((volatile uint32_t *)&seen)[i] = 0;
	seen.limit = 1;
}

static void set_events(uint32_t event, uint32_t counters)
{
	if (cpu.pmcs > 2)
		mtspr(SPR_MMCR1, select1(event, counters));
}

/* One event on all counters; @mmcr0 is the rest of it. Exceptions end the counting. */
static void count(uint32_t msr, const void *code, uint32_t event, uint32_t mmcr0)
{
	set_events(event, ALL);
	run(MSR_KERNEL | msr, code, mmcr0 | select0(event, ALL), FC, FC);
}

/* If all counters that can count the common events hold the same, that; else the wrong one. */
static uint32_t all_of(unsigned int first, unsigned int last, uint32_t want)
{
	unsigned int i;

	for (i = first; i <= last && i <= cpu.pmcs; i++)
		if (read_pmc(i) != want)
			return read_pmc(i);
	return want;
}

static uint32_t four(uint32_t want)
{
	return all_of(1, 4, want);
}

/* --- Registers */

static void test_storage(void)
{
	static const uint32_t values[] = { 0xa5a5a5a5, 0x5a5a5a5a, 0xffffffff, 0 };
	unsigned int i, n;

	for (n = 0; n < 4; n++) {
		clear();
		for (i = 1; i <= cpu.pmcs; i++)
			write_pmc(i, values[n] ^ i);
		for (i = 1; i <= cpu.pmcs; i++)
			check(read_pmc(i), values[n] ^ i, "PMC%u keeps 32 bits, 0x%x", i, values[n] ^ i);
	}
	clear();
	/* Neither an exception nor a condition is enabled. */
	mtspr(SPR_MMCR0, ~(PMXE | FCECE | TBEE | PMC1CE | PMCNCE | TRIGGER));
	check(mfspr(SPR_MMCR0), ~(PMXE | FCECE | TBEE | PMC1CE | PMCNCE | TRIGGER),
	      "MMCR0 keeps the freeze bits, TBSEL, THRESHOLD and the events");
	mtspr(SPR_MMCR0, FC | PMXE | FCECE | PMC1CE | PMCNCE | TRIGGER);
	check(mfspr(SPR_MMCR0), FC | PMXE | FCECE | PMC1CE | PMCNCE | TRIGGER,
	      "MMCR0 keeps the bits of conditions, while there is none");
	mtspr(SPR_MMCR0, FC | TBEE);
	check(mfspr(SPR_MMCR0), FC | TBEE, "MMCR0 keeps TBEE");
	if (cpu.pmcs > 2) {
		mtspr(SPR_MMCR1, 0xffffffff);
		check(mfspr(SPR_MMCR1), cpu.pmcs == 6 ? 0xfffff800 : 0xffc00000,
		      "MMCR1 has the events of PMC3 to PMC%u", cpu.pmcs);
	}
	if (cpu.mmcr2) {
		mtspr(SPR_MMCR2, 0x80000000);
		check(mfspr(SPR_MMCR2), 0x80000000, "MMCR2 keeps THRESHMULT");
		mtspr(SPR_BAMR, 0x87654321);
		check(mfspr(SPR_BAMR), 0x87654321, "BAMR keeps 32 bits");
		mtspr(SPR_BAMR, 0);
	}
	clear();
}

/* Which of the numbers 928 to 959 user mode may read; it may write none. */
static bool user_reads(unsigned int spr)
{
	switch (spr + SPR_USER) {
	case SPR_MMCR0:
	case SPR_MMCR1:
	case SPR_PMC1:
	case SPR_PMC2:
	case SPR_PMC3:
	case SPR_PMC4:
	case SPR_SIAR:
		return cpu.user_copies;
	case SPR_MMCR2:
		return cpu.mmcr2;
	case SPR_PMC5:
	case SPR_PMC6:
		return cpu.pmcs == 6;
	default:
		return false;
	}
}

static void test_user_access(void)
{
	unsigned int spr, i;

	for (spr = 928; spr < 960; spr++) {
		/* UBAMR, if there is one; it is no part of the monitor. */
		if (spr == SPR_BAMR - SPR_USER)
			continue;
		clear();
		run(MSR_KERNEL | MSR_PR, spr_accesses + (spr - 928) * 32, FC, FC, FC);
		check(seen.faults, !user_reads(spr), "user mode %s SPR %u",
		      user_reads(spr) ? "reads" : "does not read", spr);
		if (seen.faults && spr >= 944)
			check(seen.fault_srr1 & (ILLEGAL | PRIVILEGED), PRIVILEGED,
			      "it is a privileged register: %u", spr);
		clear();
		run(MSR_KERNEL | MSR_PR, spr_accesses + (spr - 928) * 32 + 16, FC, FC, FC);
		check(seen.faults, 1, "user mode does not write SPR %u", spr);
	}
	for (i = 1; cpu.user_copies && i <= cpu.pmcs; i++) {
		static const unsigned int copies[] = { 0, 937, 938, 941, 942, 929, 930 };

		clear();
		write_pmc(i, 0x12345678);
		run(MSR_KERNEL | MSR_PR, spr_accesses + (copies[i] - 928) * 32, FC, FC, FC);
		check(seen.r20, 0x12345678, "UPMC%u is PMC%u", i, i);
	}
	if (cpu.user_copies) {
		clear();
		run(MSR_KERNEL | MSR_PR, spr_accesses + (936 - 928) * 32, FC | FCS, FC, FC);
		check(seen.r20, FC | FCS, "UMMCR0 is MMCR0");
		mtspr(SPR_MMCR1, 0x08400000);
		run(MSR_KERNEL | MSR_PR, spr_accesses + (940 - 928) * 32, FC, FC, FC);
		check(seen.r20, 0x08400000, "UMMCR1 is MMCR1");
	}
	if (cpu.mmcr2) {
		clear();
		mtspr(SPR_MMCR2, 0x80000000);
		run(MSR_KERNEL | MSR_PR, spr_accesses, FC, FC, FC);
		check(seen.r20, 0x80000000, "UMMCR2 is MMCR2");
	}
}

/* --- What is counted */

/* loop_100 is executed in a state and run()'s two instructions with PR=0 and PM=0. */
static void test_freeze(void)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} freezes[] = {
		{ "nothing", 0 }, { "FC", FC }, { "FCS", FCS }, { "FCP", FCP }, { "FCM1", FCM1 },
		{ "FCM0", FCM0 }, { "FCS and FCP", FCS | FCP }, { "FCM0 and FCM1", FCM0 | FCM1 },
		{ "FCS and FCM1", FCS | FCM1 }, { "FCP and FCM1", FCP | FCM1 },
		{ "FCS and FCM0", FCS | FCM0 }, { "FCP and FCM0", FCP | FCM0 },
	};
	unsigned int state, i;
	uint32_t want, event;

	for (event = 1; event <= 4; event++)
	for (state = 0; state < 4; state++)
	for (i = 0; i < sizeof(freezes) / sizeof(freezes[0]); i++) {
		uint32_t bits = freezes[i].bits;
		bool user = state & 1, marked = state & 2;

		if (event == 3)
			continue;
		want = 0;
		if (!(bits & FC)) {
			if (!(bits & (user ? FCP : FCS)) && !(bits & (marked ? FCM1 : FCM0)))
				want += 203;
			if (!(bits & (FCS | FCM0)))
				want += 2;
		}
		clear();
		count((user ? MSR_PR : 0) | (marked ? MSR_PM : 0), loop_100, event, bits);
		check(four(want), want, "%s%s code is counted with %s (event %u)",
		      marked ? "marked " : "", user ? "user" : "supervisor", freezes[i].name, event);
	}
}

static void test_instructions(void)
{
	clear();
	count(0, loop_100, 0, 0);
	check(four(0), 0, "event 0 counts nothing");

	clear();
	write_pmc(1, 0xffffffff);
	count(MSR_PR, loop_100, 2, FCS);
	check(read_pmc(1), 202, "a counter goes from FFFFFFFFH to 0");

	clear();
	count(MSR_PR, faults, 2, FCS);
	check(seen.faults, 2, "a trap and an illegal instruction are exceptions");
	check(four(33), 33, "neither is counted as completed");

	clear();
	count(MSR_PR | MSR_DR, load, 2, FCS);
	check(seen.faults, 1, "a load without a translation is an exception");
	check(four(32), 32, "it is not counted as completed");

	clear();
	count(MSR_PR, load, 2, FCS);
	check(four(33), 33, "a load that does not fail is");

	clear();
	count(0, marked_10, 2, FCM0);
	check(four(11), 11, "instructions between two mtmsr that change PM are counted with FCM0");

	clear();
	count(0, marked_10, 2, FCM1);
	check(four(67 + 2 - 11), 67 + 2 - 11, "all others are with FCM1");

	clear();
	count(0, reads, 2, 0);
	check(seen.r21 - seen.r20, 6, "mfspr in the middle of a block is exact");

	clear();
	set_events(2, ALL);
	run(MSR_KERNEL, starts, FC, select0(2, ALL), FC);
	check(four(8), 8, "counting begins behind the mtspr that starts it and ends with the next");
}

static void test_events(void)
{
	unsigned int i;

	if (cpu.pmcs < 6) {
		return;
	}
	clear();
	count(MSR_PR, loop_100, 1, FCS);
	check(all_of(1, 6, 203), 203, "event 1 is cycles on PMC5 and PMC6, too");
	for (i = 2; i <= 4; i++) {
		clear();
		count(MSR_PR, loop_100, i, FCS);
		check(all_of(5, 6, 0), 0, "event %u is another one there", i);
	}
	clear();
	count(MSR_PR, loop_100, 0x22, FCS);
	check(read_pmc(1), 100, "event 34 of PMC1 is branches");
	check(read_pmc(2), 0, "of PMC2 it is not");
}

/* How often a bit of the time base became 1 on the way */
static uint32_t transitions(uint32_t from, uint32_t to, unsigned int bit)
{
	uint32_t half = 1u << bit;

	return (to + half) / (2 * half) - (from + half) / (2 * half);
}

static const uint8_t tb_bits[] = { 0, 8, 12, 16 };

static void test_time_base(void)
{
	unsigned int i, n;
	uint32_t want;

	for (i = 0; i < 4; i++)
	for (n = 0; n < 4; n++) {
		clear();
		count(MSR_PR, ticks, 3, TBSEL(i));
		want = transitions(seen.r20, seen.r21, tb_bits[i]);
		check(four(want), want, "event 3 counts that bit %u of TBL became 1: %u", 31 - tb_bits[i],
		      want);
	}
}

/* --- Conditions and exceptions */

/* In 128 instructions, the first with one counted before it */
#define FIRST(msr) ((msr) & MSR_PR ? 0u : 1u)

static void test_overflow(uint32_t msr, const char *mode)
{
	uint32_t freeze = msr & MSR_PR ? FCS : 0;
	unsigned int i, left;

	for (i = 1; i <= cpu.pmcs; i++)
	for (left = 2; left <= 66; left += 32) {
		uint32_t enable = i == 1 ? PMC1CE : PMCNCE;
		uint32_t at = (uint32_t)(uintptr_t)nops_128 + 4 * (left - FIRST(msr));

		clear();
		write_pmc(i, NEGATIVE - left);
		count(msr | MSR_EE, nops_128, 1, freeze | PMXE | enable);
		check(seen.pmis, 1, "%s: PMC%u interrupts after %u instructions", mode, i, left);
		check(seen.srr0, at, "... exactly there");
		check(seen.siar, at, "... and SIAR says so");
		check(seen.srr1 & (MSR_EE | MSR_PR | MSR_PM), msr | MSR_EE, "... SRR1 has the mode");
		check(seen.mmcr0 & PMXE, cpu.keeps_pmxe ? PMXE : 0, "... PMXE is %s",
		      cpu.keeps_pmxe ? "kept" : "cleared");
		check(seen.mmcr0 & FC, 0, "... and FC is not set");

		clear();
		write_pmc(i, NEGATIVE - left);
		count(msr | MSR_EE, nops_128, 1, freeze | PMXE | (enable ^ PMC1CE ^ PMCNCE));
		check(seen.pmis, 0, "%s: PMC%u does not, if the others may", mode, i);
		check(read_pmc(i), NEGATIVE - left + 129 + (msr & MSR_PR ? 0 : 2), "... and goes on counting");

		clear();
		write_pmc(i, NEGATIVE - left);
		count(msr | MSR_EE, nops_128, 1, freeze | enable);
		check(seen.pmis, 0, "%s: PMC%u does not without PMXE", mode, i);
	}
}

static void test_masked(void)
{
	uint32_t taken = (uint32_t)(uintptr_t)late_ee_taken;

	clear();
	write_pmc(1, NEGATIVE - 10);
	count(0, nops_128, 1, PMXE | PMC1CE);
	check(seen.pmis, 0, "nothing interrupts with EE=0");
	check(mfspr(SPR_MMCR0) & PMXE, 0, "... MMCR0 is as it was written at the end");

	clear();
	write_pmc(1, NEGATIVE - 10);
	count(0, late_ee, 1, PMXE | PMC1CE);
	check(seen.pmis, 1, "what came with EE=0 interrupts when EE is set");
	check(seen.srr0, taken, "... at the next instruction");
	if (!cpu.keeps_pmxe)
		check(seen.siar, (uint32_t)(uintptr_t)late_ee + 36, "... SIAR says where it was signalled");
	check(seen.srr1 & MSR_EE, MSR_EE, "... with EE in SRR1");
}

/* A counter that stays negative, and a handler that does nothing about it three times */
static void test_level(void)
{
	clear();
	seen.limit = 3;
	write_pmc(1, NEGATIVE - 10);
	count(MSR_EE | MSR_PR, nops_128, 1, FCS | PMXE | PMC1CE);
	if (cpu.keeps_pmxe) {
		check(seen.pmis, 3, "it interrupts until the handler clears PMXE");
		check(seen.srr0, (uint32_t)(uintptr_t)nops_128 + 40, "... and nothing goes on meanwhile");
		check(read_pmc(1), NEGATIVE, "... nor is it counted");
	} else {
		check(seen.pmis, 1, "it interrupts once");
		check(read_pmc(1), NEGATIVE - 10 + 129, "... and goes on");
	}

	/* A condition that stands before it is enabled */
	clear();
	write_pmc(1, NEGATIVE + 5);
	set_events(1, ALL);
	run(MSR_KERNEL | MSR_EE | MSR_PR, nops_128, FCS | PMXE | PMC1CE | select0(1, ALL), FC, FC);
	check(seen.pmis, 1, "a negative counter interrupts as PMXE is set");
	check(seen.srr0, (uint32_t)(uintptr_t)nops_128, "... before the first instruction");

	/* The handler sets PMXE again, and the counter is still negative. */
	clear();
	seen.limit = 1;
	write_pmc(1, NEGATIVE - 10);
	set_events(1, ALL);
	run(MSR_KERNEL | MSR_EE | MSR_PR, nops_128, FCS | PMXE | PMC1CE | select0(1, ALL),
	    FCS | PMXE | select0(1, ALL), FC);
	check(seen.pmis, 1, "with PMXE set again, but not PMC1CE, it does not again");
	check(read_pmc(1), NEGATIVE - 10 + 129, "... and goes on");

	/* What is asked for and then is no longer */
	clear();
	write_pmc(1, NEGATIVE);
	mtspr(SPR_MMCR0, FC | PMXE | PMC1CE);
	mtspr(SPR_MMCR0, FC);
	write_pmc(1, 0);
	count(MSR_EE | MSR_PR, nops_128, 1, FCS);
	check(seen.pmis, !cpu.keeps_pmxe, "an exception that was signalled %s",
	      cpu.keeps_pmxe ? "goes when PMXE does" : "stays until it is taken");
	clear();
	if (!cpu.keeps_pmxe) {
		write_pmc(1, NEGATIVE);
		mtspr(SPR_MMCR0, FC | PMXE | PMC1CE);
		check(mfspr(SPR_MMCR0), FC | PMC1CE, "PMXE is cleared as it is signalled, with EE=0");
		write_pmc(1, 0);
		mtspr(SPR_MMCR0, FC);
		count(MSR_EE, nops_128, 1, FC);
		check(seen.pmis, 1, "... and it is taken with EE=1");
	}
}

static void test_marks(void)
{
	clear();
	write_pmc(1, NEGATIVE - 10);
	count(MSR_EE | MSR_PR | MSR_PM, nops_128, 1, FCM0 | PMXE | PMC1CE);
	check(seen.pmis, 1, "marked user code is interrupted");
	check(seen.srr1 & (MSR_PR | MSR_PM), MSR_PR | MSR_PM, "... SRR1 has PM");
	check(read_pmc(1), NEGATIVE, "... the handler is not marked, so not counted with FCM0");
}

static void test_fcece(void)
{
	uint32_t at = (uint32_t)(uintptr_t)nops_128 + 40, end;
	unsigned int i;

	for (i = 1; i <= cpu.pmcs; i++) {
		uint32_t enable = i == 1 ? PMC1CE : PMCNCE;

		clear();
		write_pmc(i, NEGATIVE - 10);
		count(MSR_PR, nops_128, 1, FCS | FCECE | enable);
		if (cpu.is_74xx)
			check(read_pmc(i), NEGATIVE, "FCECE stops PMC%u as it becomes negative", i);
		else
			check(read_pmc(i), NEGATIVE - 10 + 129,
			      "without ENINT, DISCOUNT does not stop PMC%u", i);
		check(read_pmc(i == 1 ? 2 : 1), cpu.is_74xx ? 10 : 129, "... nor the others otherwise");

		clear();
		write_pmc(i, NEGATIVE - 10);
		count(MSR_PR, nops_128, 1, FCS | FCECE | (enable ^ PMC1CE ^ PMCNCE));
		check(read_pmc(i), NEGATIVE - 10 + 129, "FCECE does not, if PMC%u is not enabled", i);

		/* FC must be in MMCR0 as the handler begins; it writes the same without PMXE. */
		clear();
		write_pmc(i, NEGATIVE - 10);
		set_events(1, ALL);
		end = FC | select0(1, ALL);
		run(MSR_KERNEL | MSR_EE | MSR_PR, nops_128,
		    FCS | FCECE | PMXE | enable | select0(1, ALL), end, FC);
		check(seen.pmis, 1, "FCECE with PMXE interrupts, too (PMC%u)", i);
		check(seen.srr0, at, "... exactly there");
		check(read_pmc(i), NEGATIVE, "... and nothing is counted after it");
		check(seen.mmcr0 & FC, cpu.is_74xx ? FC : 0, "... FC is %s",
		      cpu.is_74xx ? "set" : "as it was");
	}

	/* The state in between: counters stand still although nothing says FC on the 604 and 750. */
	clear();
	write_pmc(1, NEGATIVE - 10);
	count(MSR_PR, nops_128, 1, FCS | FCECE | PMXE | PMC1CE);
	check(read_pmc(1), NEGATIVE, "FCECE with PMXE stops at EE=0, too");
	check(read_pmc(2), 10, "... all counters");
}

static void test_trigger(void)
{
	unsigned int i;

	clear();
	count(MSR_PR, nops_128, 1, FCS | TRIGGER);
	check(read_pmc(1), 129, "TRIGGER does not hold PMC1");
	check(all_of(2, cpu.pmcs, 0), 0, "... but all others");

	clear();
	write_pmc(1, NEGATIVE - 29);
	count(MSR_PR, nops_128, 1, FCS | TRIGGER);
	check(read_pmc(1), NEGATIVE + 100, "PMC1 becomes negative, not enabled, and goes on");
	check(all_of(2, cpu.pmcs, 100), 100, "... the others begin there");

	clear();
	mtspr(SPR_MMCR0, FC | TRIGGER);
	write_pmc(1, NEGATIVE);
	check(mfspr(SPR_MMCR0) & TRIGGER, cpu.is_74xx ? 0 : TRIGGER, "TRIGGER is %s then",
	      cpu.is_74xx ? "cleared" : "kept");

	clear();
	write_pmc(1, NEGATIVE - 29);
	write_pmc(2, NEGATIVE - 50);
	count(MSR_PR, nops_128, 1, FCS | TRIGGER | FCECE | PMCNCE);
	if (cpu.is_74xx) {
		check(read_pmc(1), NEGATIVE - 29 + 79, "FCECE is without effect while TRIGGER is 1");
		check(read_pmc(2), NEGATIVE, "... then stops all as PMC2 becomes negative");
	} else {
		check(read_pmc(1), NEGATIVE + 100, "without ENINT, DISCOUNT does not stop what TRIGGER began");
		check(read_pmc(2), NEGATIVE + 50, "... nor PMC2");
	}

	/* An exception of PMC1, with EE=0: on the 604 and 750 it stops PMC1 and lets the others begin. */
	clear();
	write_pmc(1, NEGATIVE - 29);
	count(MSR_PR, nops_128, 1, FCS | TRIGGER | FCECE | PMXE | PMC1CE);
	check(read_pmc(1), cpu.is_74xx ? NEGATIVE + 100 : NEGATIVE,
	      "PMC1 signals with FCECE and TRIGGER, and %s", cpu.is_74xx ? "goes on" : "stops");
	check(all_of(2, cpu.pmcs, 100), 100, "... the others begin");

	/* PMC2 cannot interrupt as it does not count; so one that is negative before does. */
	clear();
	write_pmc(2, NEGATIVE);
	set_events(1, ALL);
	run(MSR_KERNEL | MSR_EE | MSR_PR, nops_128, FCS | TRIGGER | PMXE | PMCNCE | select0(1, ALL),
	    FCS | select0(1, ALL), FC);
	check(seen.pmis, 1, "an exception of PMC2 is signalled with TRIGGER");
	check(seen.mmcr0 & TRIGGER, cpu.is_74xx ? 0 : TRIGGER, "... which is %s",
	      cpu.is_74xx ? "cleared" : "kept");
	check(seen.mmcr0 & FC, 0, "... and nothing is frozen");

	for (i = 2; i <= cpu.pmcs; i++) {
		clear();
		write_pmc(1, NEGATIVE - 29);
		write_pmc(i, NEGATIVE - 50);
		count(MSR_PR | MSR_EE, nops_128, 1, FCS | TRIGGER | PMXE | PMCNCE);
		check(seen.srr0, (uint32_t)(uintptr_t)nops_128 + 4 * 79,
		      "PMC%u interrupts after PMC1 let it begin, exactly there", i);
	}
}

static void test_tbee(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const char *code = i < 2 ? waits : waits_long;

		clear();
		count(MSR_PR | MSR_EE, code, 1, TBEE | PMXE | TBSEL(i));
		check(seen.pmis, 1, "bit %u of TBL interrupts", 31 - tb_bits[i]);
		check(seen.tbl & ((2u << tb_bits[i]) - 1), 1u << tb_bits[i], "... as it becomes 1");
		check(seen.mmcr0 & PMXE, cpu.keeps_pmxe ? PMXE : 0, "... PMXE is %s",
		      cpu.keeps_pmxe ? "kept" : "cleared");

		clear();
		count(MSR_PR | MSR_EE, code, 1, PMXE | TBSEL(i));
		check(seen.pmis, 0, "bit %u does not without TBEE", 31 - tb_bits[i]);
		clear();
		count(MSR_PR | MSR_EE, code, 1, TBEE | TBSEL(i));
		check(seen.pmis, 0, "nor without PMXE");
	}
	clear();
	count(MSR_PR, waits, 1, FCS | TBEE | FCECE | TBSEL(1));
	check(read_pmc(1) < 120004, cpu.is_74xx, "a transition %s with FCECE alone",
	      cpu.is_74xx ? "stops" : "does not stop");
	clear();
	count(MSR_PR, waits, 1, FCS | TBEE | TRIGGER | TBSEL(1));
	check(read_pmc(2) > 0, cpu.is_74xx, "... %s what TRIGGER holds",
	      cpu.is_74xx ? "begins" : "nor begins");
}

/* "5 performance monitor, 6 decrementer" are the priorities in the manuals' tables. */
static void test_priority(void)
{
	clear();
	write_pmc(1, NEGATIVE - 50);
	count(0, both, 1, PMXE | PMC1CE);
	check(seen.order, 0xf090, "the performance monitor comes before the decrementer");
}

static void find_cpu(void)
{
	uint32_t version = mfspr(SPR_PVR) >> 16;

	switch (version) {
	case 0x0004:
		cpu.name = "604";
		cpu.pmcs = 2;
		break;
	case 0x0009:
	case 0x000a:
		cpu.name = "604e";
		cpu.pmcs = 4;
		break;
	case 0x0008:
	case 0x7000:
	case 0x7002:
		cpu.name = "750";
		cpu.pmcs = 4;
		cpu.user_copies = true;
		break;
	case 0x000c:
	case 0x800c:
		cpu.name = "7400";
		cpu.pmcs = 4;
		cpu.user_copies = cpu.mmcr2 = cpu.is_74xx = true;
		break;
	default:
		cpu.name = "745x";
		cpu.pmcs = 6;
		cpu.user_copies = cpu.mmcr2 = cpu.is_74xx = true;
	}
	/* Only the 604 is said not to clear it; others may be told not to. */
#ifdef KEEPS_PMXE
	cpu.keeps_pmxe = true;
#else
	cpu.keeps_pmxe = cpu.pmcs == 2;
#endif
}

int main(void)
{
	io_begin();
	find_cpu();
	say("# %s, version 0x%x\n", cpu.name, mfspr(SPR_PVR));
	check(mfspr(SPR_MMCR0), 0, "MMCR0 is zero after reset");
	check(all_of(1, cpu.pmcs, 0), 0, "and so are the counters");
	test_storage();
	test_user_access();
	test_freeze();
	test_instructions();
	test_events();
	test_time_base();
	test_overflow(MSR_PR, "user");
	test_overflow(0, "supervisor");
	test_masked();
	test_level();
	test_marks();
	test_fcece();
	test_trigger();
	test_tbee();
	test_priority();
	io_end();
}
