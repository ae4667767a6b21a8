// SPDX-License-Identifier: GPL-2.0
/*
 * Intel's Pentium 4 (family 15): 18 counters in four blocks. Each counter has a control register,
 * the CCCR, which selects one of its block's event registers, the ESCRs. A control's event is the
 * value of the CCCR, and its config is the value of the ESCR, as in perfctr 2.6.
 *
 * A block has two halves, and most kinds of ESCR exist once in each half. So two different events
 * of one kind must be counted in different halves. All counters that select the same ESCR count in
 * the same modes.
 *
 * The two hyperthreads of a core share all counters and registers, so we count only on the first
 * hyperthread. An ESCR has mode bits for each hyperthread. The bits of the second hyperthread are
 * zero, unless a session counts both hyperthreads. An overflow interrupts the first hyperthread.
 *
 * RDPMC is faster if bit 31 of the counter's number is set, but then reads only 32 bits. We never
 * set this bit, because a counter may count more than 2^32 events between two reads.
 *
 * Sources: Software Developer's Manual, volume 3, "Performance Monitoring (Processors Based on
 * Intel NetBurst Microarchitecture)", and its lists of MSRs and events; Linux,
 * arch/x86/events/intel/p4.c; perfctr 2.6, low-level-x86.txt.
 */

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <asm/cpufeature.h>
#include <asm/msr-index.h>
#include <asm/processor.h>

#include "arch/x86/evntsel.h"
#include "arch/x86/extra.h"
#include "arch/x86/intel/p4.h"
#include "arch/x86/uncore.h"
#include "arch/x86/zero.h"

#define FAMILY		15
#define NR		18
#define WIDTH		40

#define COUNTER0	0x300	/* MSR_P4_BPU_PERFCTR0; the other 17 follow */
#define CCCR0		0x360

/* This bit of MSR_IA32_MISC_ENABLE says that the processor has counters. */
#define PERFMON_AVAILABLE	BIT_ULL(7)

#define CCCR_EXTENDED	BIT_ULL(11)	/* EXTENDED_CASCADE */
#define CCCR_ENABLE	BIT_ULL(12)
#define CCCR_SELECT	GENMASK_ULL(15, 13)
#define CCCR_SELECT_SHIFT	13
#define CCCR_ANY_THREAD	GENMASK_ULL(17, 16)	/* ACTIVE_THREAD */
#define CCCR_COMPARE	BIT_ULL(18)
#define CCCR_COMPLEMENT	BIT_ULL(19)
#define CCCR_THRESHOLD	GENMASK_ULL(23, 20)
#define CCCR_EDGE	BIT_ULL(24)
#define CCCR_FORCE_OVF	BIT_ULL(25)
#define CCCR_OVF_PMI_T0	BIT_ULL(26)
#define CCCR_CASCADE	BIT_ULL(30)
#define CCCR_OVF	BIT_ULL(31)

#define CCCR_STARTS	(CCCR_ENABLE | CCCR_CASCADE | CCCR_EXTENDED)
/*
 * CCCR_EVENT has the bits that choose what to count. CCCR_CONTROL has the bits that follow from
 * other members of a control, or that never vary.
 */
#define CCCR_EVENT	(CCCR_SELECT | CCCR_COMPARE | CCCR_COMPLEMENT | CCCR_THRESHOLD |	\
			 CCCR_EDGE | CCCR_FORCE_OVF)
#define CCCR_CONTROL	(CCCR_STARTS | CCCR_ANY_THREAD | CCCR_OVF_PMI_T0)

/* A control that names no counter has the number of the block here, counted from 1. */
#define EVENT_BLOCK	GENMASK_ULL(34, 32)
#define EVENT_BLOCK_SHIFT	32

#define ESCR_USR	BIT_ULL(2)	/* of hyperthread 0 */
#define ESCR_OS		BIT_ULL(3)
#define ESCR_T1		GENMASK_ULL(1, 0)	/* both modes of hyperthread 1; sessions only */
/* These bits are the event, the event mask and the tag. Bit 31 is reserved. */
#define ESCR_EVENT	GENMASK_ULL(30, 4)

#define PEBS_ENABLE	0x3f1
#define PEBS_MATRIX_VERT	0x3f2
#define PEBS_UOP_TAG	BIT_ULL(24)
#define PEBS_REPLAY	(BIT_ULL(10) | BIT_ULL(9) | GENMASK_ULL(2, 0))
#define VERT_VALID	GENMASK_ULL(1, 0)

#define NR_BLOCKS	4
#define NR_HALVES	(2 * NR_BLOCKS)
#define NR_SELECTS	8

/*
 * The MSR of the ESCR that each value of CCCR_SELECT selects, for each half of each block. 0: there
 * is none. The comments name the block and its kinds of ESCR.
 */
static const u16 escrs[NR_HALVES][NR_SELECTS] = {
	/* BPU: BPU, IS, MOB, ITLB, PMH, IX, FSB, BSU */
	{ 0x3b2, 0x3b4, 0x3aa, 0x3b6, 0x3ac, 0x3c8, 0x3a2, 0x3a0 },
	{ 0x3b3, 0x3b5, 0x3ab, 0x3b7, 0x3ad, 0x3c9, 0x3a3, 0x3a1 },
	/* MS: MS, TC, TBPU */
	{ 0x3c0, 0x3c4, 0x3c2 },
	{ 0x3c1, 0x3c5, 0x3c3 },
	/* FLAME: FLAME, FIRM, SAAT, U2L, DAC */
	{ 0x3a6, 0x3a4, 0x3ae, 0x3b0, 0, 0x3a8 },
	{ 0x3a7, 0x3a5, 0x3af, 0x3b1, 0, 0x3a9 },
	/* IQ: IQ, ALF, RAT, SSU, CRU_ESCR0 and 1, CRU_ESCR2 and 3, CRU_ESCR4 and 5 */
	{ 0x3ba, 0x3ca, 0x3bc, 0x3be, 0x3b8, 0x3cc, 0x3e0 },
	{ 0x3bb, 0x3cb, 0x3bd, 0, 0x3b9, 0x3cd, 0x3e1 },
};

#define HALF_IQ		6
#define SELECT_IQ	0
#define SELECT_CRU	4	/* in the IQ block: CRU_ESCR0 and 1 */
#define LAST_WITH_IQ	2	/* the last model that has IQ_ESCR0 and 1 */
#define FIRST_EXTENDED	2	/* the first model with EXTENDED_CASCADE */
#define EXTENDED	(BIT(12) | GENMASK(17, 15))	/* with EXTENDED_CASCADE */

/* The index of each ESCR in perfctr_pmu.control. 0: there is no such ESCR. Constant after init. */
static u8 escr_regs[NR_HALVES][NR_SELECTS];
static bool hyperthreads;

/*
 * Returns the half of a counter. The first half of a block has its counters 0 and 1, and the second
 * half has its counters 2 and 3. Each half of the IQ block has one counter more.
 */
static unsigned int half_of(unsigned int hw)
{
	return hw < 16 ? hw / 2 : HALF_IQ + (hw - 16);
}

static unsigned int select_of(u64 cccr)
{
	return (cccr & CCCR_SELECT) >> CCCR_SELECT_SHIFT;
}

static u8 escr_reg(unsigned int hw, u64 cccr)
{
	return escr_regs[half_of(hw)][select_of(cccr)];
}

bool __init perfctr_p4_is(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_data.x86 == FAMILY;
}

#define CPUID_BASIC	1
#define EBX_LOGICAL	GENMASK(23, 16)
#define EBX_APIC_ID	GENMASK(31, 24)
#define CPUID_CACHES	4
#define EAX_CORES	GENMASK(31, 26)

/*
 * Returns true if there are more logical CPUs than cores in a processor. The last models have
 * several cores.
 */
static bool __init has_hyperthreads(void)
{
	unsigned int logical = (cpuid_ebx(CPUID_BASIC) & EBX_LOGICAL) >> 16, cores = 1;

	if (!boot_cpu_has(X86_FEATURE_HT))
		return false;
	if (boot_cpu_data.cpuid_level >= CPUID_CACHES)
		cores += (cpuid_eax(CPUID_CACHES) & EAX_CORES) >> 26;
	return logical > cores;
}

static bool __init has_escr(unsigned int half, unsigned int select)
{
	if (half >= HALF_IQ && select == SELECT_IQ && boot_cpu_data.x86_model > LAST_WITH_IQ)
		return false;
	return escrs[half][select];
}

static bool __init exist(void)
{
	unsigned int half, select;
	u32 low, high;

	if (rdmsr_safe(MSR_IA32_MISC_ENABLE, &low, &high) || !(low & PERFMON_AVAILABLE))
		return false;
	if (!perfctr_x86_evntsel_exists(NR, COUNTER0, CCCR0, 1))
		return false;
	for (half = 0; half < NR_HALVES; half++)
		for (select = 0; select < NR_SELECTS; select++)
			if (has_escr(half, select) &&
			    !perfctr_x86_register_exists(escrs[half][select]))
				return false;
	return true;
}

/* Adds the ESCRs to perfctr_pmu.control, after the CCCRs. */
static void __init describe_escrs(void)
{
	unsigned int half, select, reg = NR;

	for (half = 0; half < NR_HALVES; half++) {
		for (select = 0; select < NR_SELECTS; select++) {
			if (!has_escr(half, select))
				continue;
			perfctr_pmu.control[reg].msr = escrs[half][select];
			escr_regs[half][select] = reg++;
		}
	}
	perfctr_pmu.nr_controls = reg;
}

/*
 * Returns the value that the control needs in PEBS_ENABLE (@reg is 0) or PEBS_MATRIX_VERT (@reg is
 * 1). Each core has these two registers once.
 */
static u64 pebs_value(const struct perfctr_ctr_control *ctr, unsigned int reg)
{
	return reg ? ctr->config2 : ctr->config1;
}

static const u32 pebs_msrs[] = { PEBS_ENABLE, PEBS_MATRIX_VERT };

static void __init describe_p4(void)
{
	unsigned int i;

	for (i = 0; i < NR; i++) {
		perfctr_pmu.ctr[i] = (struct perfctr_x86_ctr){
			.msr = COUNTER0 + i,
			.start_msr = COUNTER0 + i,
			.start_mask = GENMASK_ULL(WIDTH - 1, 0),
			.reg = i,
			.stop = ~CCCR_ANY_THREAD,
			.enable = CCCR_ENABLE,
		};
		perfctr_pmu.control[i] = (struct perfctr_x86_control){
			.msr = CCCR0 + i,
			/*
			 * The manual says "reserved, must be 11B" for processors without
			 * hyperthreads.
			 */
			.idle = CCCR_ANY_THREAD,
			.changes = CCCR_OVF,
		};
		perfctr_x86_rdpmc[i] = i;
	}
	perfctr_pmu.counters = GENMASK(NR - 1, 0);
	perfctr_pmu.general = perfctr_pmu.counters;
	perfctr_pmu.width = WIDTH;
	perfctr_pmu.irange = BIT_ULL(WIDTH - 1);
	/*
	 * We reserve only the counters, because the kernel reserves wrong CCCRs. Everybody else
	 * reserves the counters too.
	 */
	perfctr_pmu.nr_reserved = NR;
	perfctr_pmu.interrupts = true;
	/* FORCE_OVF makes each increment overflow, so the counter's period must be 1. */
	perfctr_pmu.least_period = 1;
	perfctr_pmu.overflow = CCCR_OVF;
	perfctr_pmu.cascade = CCCR_CASCADE | CCCR_EXTENDED;
	perfctr_pmu.started = CCCR_ENABLE;
	perfctr_pmu.event_bits = CCCR_EVENT;
	perfctr_pmu.sample[0] = CCCR_ENABLE | CCCR_ANY_THREAD | SELECT_CRU << CCCR_SELECT_SHIFT;
	perfctr_pmu.sample[1] = perfctr_pmu.sample[0] | CCCR_COMPARE;
	perfctr_x86_siblings = hyperthreads;
	perfctr_x86_session_bits = hyperthreads ? ESCR_T1 : 0;
	perfctr_x86_extra_init_by(pebs_value, ARRAY_SIZE(pebs_msrs), pebs_msrs);
	perfctr_x86_more_config = true;
}

u32 __init perfctr_p4_look(void)
{
	unsigned int cpu;

	if (!exist())
		return PERFCTR_NO_COUNTERS_REGISTERS;
	hyperthreads = has_hyperthreads();
	describe_escrs();
	describe_p4();
	perfctr_x86_mind_carries();
	if (!hyperthreads)
		return PERFCTR_NO_COUNTERS_NONE;
	/* A program on the second hyperthread can read what the first one counts. */
	perfctr_x86_guard_never();
	/* Before a CPU comes up we do not know which hyperthread it is. */
	for_each_possible_cpu(cpu)
		perfctr_x86_set_core(per_cpu_ptr(&perfctr_x86_cpu, cpu), PERFCTR_X86_NO_CORE);
	return PERFCTR_NO_COUNTERS_NONE;
}

/* The lowest bit of the initial APIC id is the number of the hyperthread in its core. */
static u32 p4_core(void)
{
	u32 apic_id = (cpuid_ebx(CPUID_BASIC) & EBX_APIC_ID) >> 24;

	return hyperthreads && apic_id & 1 ? PERFCTR_X86_NO_CORE : 0;
}

static u32 p4_cpu_type(void)
{
	if (boot_cpu_data.x86_model >= 3)
		return PERFCTR_X86_INTEL_P4M3;
	return boot_cpu_data.x86_model == 2 ? PERFCTR_X86_INTEL_P4M2 : PERFCTR_X86_INTEL_P4;
}

/*
 * Returns true if the event has none of the bits of CCCR_CONTROL, or if these bits agree with the
 * other members of the control.
 */
static bool cccr_agrees(const struct perfctr_ctr_control *ctr)
{
	u64 cccr = ctr->event;

	if (!(cccr & CCCR_CONTROL))
		return true;
	return cccr & CCCR_STARTS &&
	       (hyperthreads || (cccr & CCCR_ANY_THREAD) == CCCR_ANY_THREAD) &&
	       !(cccr & CCCR_OVF_PMI_T0) == !ctr->ireset;
}

static u64 escr_modes(const struct perfctr_ctr_control *ctr)
{
	return (ctr->flags & PERFCTR_CTR_USER ? ESCR_USR : 0) |
	       (ctr->flags & PERFCTR_CTR_KERNEL ? ESCR_OS : 0);
}

static bool escr_agrees(const struct perfctr_ctr_control *ctr)
{
	u64 said = ctr->config & (ESCR_USR | ESCR_OS);

	return !(ctr->config & ~(ESCR_EVENT | ESCR_USR | ESCR_OS | perfctr_x86_session_bits)) &&
	       (!said || said == escr_modes(ctr));
}

/*
 * Returns true if the control's PEBS registers are zero or valid for replay tagging. We refuse
 * precise events, which set other bits and need an area in memory.
 */
static bool pebs_is_valid(const struct perfctr_ctr_control *ctr)
{
	u64 enable = ctr->config1, vert = ctr->config2;

	if (!enable)
		return !vert;
	return enable & PEBS_UOP_TAG && enable & PEBS_REPLAY &&
	       !(enable & ~(PEBS_UOP_TAG | PEBS_REPLAY)) && vert && !(vert & ~VERT_VALID);
}

/*
 * Sets *block to the number of the block, counted from 0. Returns 0, or -EINVAL if the control
 * names no block, or two different blocks.
 */
static int find_block(const struct perfctr_ctr_control *ctr, unsigned int *block)
{
	unsigned int said = (ctr->event & EVENT_BLOCK) >> EVENT_BLOCK_SHIFT;

	if (said > NR_BLOCKS || (!said && ctr->map == PERFCTR_MAP_ANY))
		return -EINVAL;
	*block = said - 1;
	if (ctr->map == PERFCTR_MAP_ANY)
		return 0;
	*block = half_of(ctr->map) / 2;
	return said && said - 1 != *block ? -EINVAL : 0;
}

/* Returns the counters of the block that can use the ESCR selected by @cccr, as a bit map. */
static u32 counters_of(unsigned int block, u64 cccr)
{
	u32 counters = 0;
	unsigned int hw;

	for (hw = 0; hw < NR; hw++)
		if (half_of(hw) / 2 == block && escr_reg(hw, cccr))
			counters |= BIT(hw);
	if (cccr & CCCR_EXTENDED)
		counters &= boot_cpu_data.x86_model >= FIRST_EXTENDED ? EXTENDED : 0;
	return counters;
}

static int p4_check(const struct perfctr_ctr_control *ctr, u32 *counters,
		    struct perfctr_refusal *why)
{
	unsigned int block;

	if (ctr->event & ~(CCCR_EVENT | CCCR_CONTROL | EVENT_BLOCK) || !cccr_agrees(ctr) ||
	    !escr_agrees(ctr) || !pebs_is_valid(ctr) || find_block(ctr, &block))
		return -EINVAL;
	/* With FORCE_OVF each increment overflows, so the period must be 1. */
	if (ctr->event & CCCR_FORCE_OVF && ctr->ireset && ctr->ireset != -1)
		return -EINVAL;
	*counters = counters_of(block, ctr->event);
	/*
	 * Because of an erratum of most models, a counter that waits until another counter
	 * overflows does not interrupt reliably.
	 */
	if (*counters && ctr->ireset && perfctr_x86_waits(ctr)) {
		why->reason = PERFCTR_REASON_ERRATUM;
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * struct placing - state of the search for hardware counters for one block
 * @ctr: the counters of the control
 * @can: the hardware counters that can count each of @ctr
 * @hw: the hardware counter that each of @ctr is given
 * @which: indices of the counters in @ctr that belong to this block
 * @nr: number of counters in @which
 * @used: hardware counters that have been given
 */
struct placing {
	const struct perfctr_ctr_control *ctr;
	const u32 *can;
	u8 *hw;
	u8 which[NR];
	unsigned int nr;
	u32 used;
};

static u64 escr_of(const struct perfctr_ctr_control *ctr)
{
	return (ctr->config & (ESCR_EVENT | ESCR_T1)) | escr_modes(ctr);
}

/*
 * Returns true if none of the first @n counters needs another value in the ESCR that counter @n
 * needs.
 */
static bool escr_is_free(const struct placing *p, unsigned int n, unsigned int hw)
{
	const struct perfctr_ctr_control *ctr = &p->ctr[p->which[n]];
	u8 reg = escr_reg(hw, ctr->event);
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct perfctr_ctr_control *other = &p->ctr[p->which[i]];

		if (escr_reg(p->hw[p->which[i]], other->event) == reg &&
		    escr_of(other) != escr_of(ctr))
			return false;
	}
	return true;
}

/*
 * Tries all placements in turn. A block has at most six counters, so there are fewer than 2,000
 * partial placements. Returns the largest number of counters that could be placed. If this number
 * is less than @nr, the next counter has no place.
 */
static unsigned int place_block(struct placing *p)
{
	u32 tried[NR] = {};
	unsigned int n = 0, most = 0, hw;

	while (n < p->nr) {
		u32 left = p->can[p->which[n]] & ~p->used & ~tried[n];

		if (!left) {
			/* No place is left for counter @n, so move counter @n - 1 on. */
			if (!n--)
				break;
			p->used &= ~BIT(p->hw[p->which[n]]);
			continue;
		}
		hw = __ffs(left);
		tried[n] |= BIT(hw);
		if (!escr_is_free(p, n, hw))
			continue;
		p->hw[p->which[n]] = hw;
		p->used |= BIT(hw);
		if (++n > most)
			most = n;
		if (n < p->nr)
			tried[n] = 0;
	}
	return most;
}

static unsigned int p4_place(const struct perfctr_ctr_control *ctr, const u32 *can,
			     unsigned int nr, u8 *hw)
{
	unsigned int block, i, placed;

	for (block = 0; block < NR_BLOCKS; block++) {
		struct placing p = { .ctr = ctr, .can = can, .hw = hw };

		for (i = 0; i < nr && p.nr < NR; i++)
			if (half_of(__ffs(can[i])) / 2 == block)
				p.which[p.nr++] = i;
		placed = place_block(&p);
		if (placed < p.nr)
			return p.which[placed];
	}
	return nr;
}

/* There is nothing to change, because a CCCR has the same value on all counters. */
static void p4_name(struct perfctr_ctr_control *ctr, u32 hw)
{
}

static u64 cccr_of(const struct perfctr_ctr_control *ctr)
{
	u64 cccr = ctr->event & (CCCR_EVENT | CCCR_CONTROL);

	if (cccr & CCCR_CONTROL)
		return cccr;
	return cccr | CCCR_ENABLE | CCCR_ANY_THREAD | (ctr->ireset ? CCCR_OVF_PMI_T0 : 0);
}

/* The ESCR is added first, because the write of the CCCR starts the counter. */
static void p4_compile(const struct perfctr_ctr_control *ctr, u32 hw,
		       struct perfctr_cpu_image *image)
{
	perfctr_x86_image_add(image, escr_reg(hw, ctr->event), ~0ULL, escr_of(ctr));
	perfctr_x86_image_add(image, hw, ~0ULL, cccr_of(ctr));
}

static u32 p4_counts(u64 *value)
{
	unsigned int i;

	for (i = 0; i < NR; i++) {
		if (perfctr_pmu.control[i].unused)
			continue;
		*value = read_msr(perfctr_pmu.control[i].msr);
		if (*value & CCCR_ENABLE)
			return perfctr_pmu.control[i].msr;
	}
	return 0;
}

/*
 * Each block except FLAME has an event that the loop causes. Any number of these events is
 * accepted, because nobody has checked how exactly a real processor counts them. The loop causes no
 * event of the FLAME block, so the four counters of that block are not tried.
 */
#define KNOWN(select, code, mask, first, last) {						\
	.event = (select) << CCCR_SELECT_SHIFT, .config = (code) << 25 | (mask) << 9,	\
	.counters = GENMASK(last, first)						\
}

static const struct perfctr_x86_known known[] = {
	KNOWN(4, 0x02, 0x01, 12, 17),	/* instr_retired: NBOGUSNTAG */
	KNOWN(2, 0x04, 0x1e, 4, 7),	/* retired_branch_type: all */
	KNOWN(6, 0x13, 0x01, 0, 3),	/* global_power_events: running */
	{}
};

const struct perfctr_x86_family perfctr_p4 = {
	.core = p4_core,
	.cpu_type = p4_cpu_type,
	.check = p4_check,
	.place = p4_place,
	.name = p4_name,
	.compile = p4_compile,
	.counts = p4_counts,
	.known = known,
};
