// SPDX-License-Identifier: GPL-2.0
/*
 * Intel's P5, with or without MMX, and Cyrix's clones of it (6x86MX, MII and III). They have two
 * counters. Each counter's control is a half of one register, CESR. The counters do not interrupt.
 *
 * - A half holds an event number, and a bit for each mode in which to count. If both mode bits are
 *   zero, the counter stands still. Cyrix's event numbers have one bit more.
 * - The P5 without MMX has no RDPMC. The kernel reads its counters by RDMSR, and user mode cannot
 *   read them.
 *
 * Sources: Intel's Software Developer's Manual, volume 3, "Performance Monitoring (Pentium
 * Processors)", and its table of their events; Cyrix's M II data book, 2.7 and 2.8; and the
 * documentation of perfctr 2.6, low-level-x86.txt.
 */

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "arch/x86/evntsel.h"
#include "arch/x86/intel/p5.h"

#define MSR_CESR	0x11
#define MSR_CTR0	0x12	/* counter 1 is the next register */

#define WIDTH		40
#define WIDTH_CYRIX	48

/* These are the bits of a half of CESR. Bit 9 chooses what a pin of the processor shows. */
#define CESR_BITS	16
#define CESR_HALF	GENMASK_ULL(CESR_BITS - 1, 0)
#define CESR_EVENT	GENMASK_ULL(5, 0)
#define CESR_OS		BIT_ULL(6)
#define CESR_USR	BIT_ULL(7)
#define CESR_CLOCKS	BIT_ULL(8)	/* count the clocks with an event, not the events */
#define CESR_CYRIX	BIT_ULL(10)	/* one more bit of the event */

#define MODES		(CESR_OS | CESR_USR)

#define BRANCHES	0x12
#define INSTRUCTIONS	0x16

/*
 * On processors with MMX, each event number from this one on means one event on counter 0 and
 * another on counter 1.
 */
#define FIRST_PAIR	0x2a

/* A counter counts at most two instructions per clock, and the clock is below 500 MHz. */
#define RATE_SHIFT	30

static bool pairs;	/* numbers from FIRST_PAIR on mean two events; constant after init */
static u32 cpu_type;	/* constant after init */

bool perfctr_cesr_exists(bool rdpmc)
{
	unsigned int i;

	if (!perfctr_x86_register_exists(MSR_CESR))
		return false;
	for (i = 0; i < PERFCTR_CESR_COUNTERS; i++)
		if (!perfctr_x86_register_exists(MSR_CTR0 + i) ||
		    (rdpmc && !perfctr_x86_rdpmc_works(i)))
			return false;
	return true;
}

u64 perfctr_cesr_half(u64 value, u32 hw)
{
	return value << CESR_BITS * hw;
}

void __init perfctr_cesr_describe(unsigned int width)
{
	unsigned int i;

	for (i = 0; i < PERFCTR_CESR_COUNTERS; i++) {
		perfctr_pmu.ctr[i] = (struct perfctr_x86_ctr){
			.msr = MSR_CTR0 + i,
			.start_msr = MSR_CTR0 + i,
			.start_mask = GENMASK_ULL(width - 1, 0),
			.stop = perfctr_cesr_half(CESR_HALF, i),
		};
		perfctr_x86_rdpmc[i] = i;
	}
	perfctr_pmu.control[0].msr = MSR_CESR;
	perfctr_pmu.nr_controls = 1;
	perfctr_pmu.counters = GENMASK(PERFCTR_CESR_COUNTERS - 1, 0);
	perfctr_pmu.general = perfctr_pmu.counters;
	perfctr_pmu.width = width;
	perfctr_pmu.rate_shift = RATE_SHIFT;
	/* For this processor, Linux has a single reservation, which covers all counters. */
	perfctr_pmu.nr_reserved = 1;
	perfctr_pmu.nr_controls_reserved = 1;
}

void perfctr_cesr_add(struct perfctr_cpu_image *image, u32 hw, u64 value)
{
	perfctr_x86_image_add(image, 0, perfctr_cesr_half(CESR_HALF, hw),
			      perfctr_cesr_half(value, hw));
}

/* There is nothing to change, because a half has the same value on both counters. */
void perfctr_cesr_name(struct perfctr_ctr_control *ctr, u32 hw)
{
}

/* Zeroes the counters that failed their trial. */
void perfctr_cesr_clear_unused(void)
{
	unsigned int i;

	for (i = 0; i < PERFCTR_CESR_COUNTERS; i++)
		if (!(perfctr_pmu.counters & BIT(i)))
			wrmsr_safe(MSR_CTR0 + i, 0, 0);
}

static bool is_intels(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL && boot_cpu_data.x86 == 5;
}

bool __init perfctr_p5_is(void)
{
	return is_intels() ||
	       (boot_cpu_data.x86_vendor == X86_VENDOR_CYRIX && boot_cpu_data.x86 == 6);
}

static void __init read_by_rdmsr(void)
{
	unsigned int i;

	for (i = 0; i < PERFCTR_CESR_COUNTERS; i++)
		perfctr_x86_rdpmc[i] = MSR_CTR0 + i;
	perfctr_x86_read_by_rdmsr();
}

u32 __init perfctr_p5_look(void)
{
	bool intels = is_intels(), mmx = !intels || boot_cpu_has(X86_FEATURE_MMX);
	unsigned int last = PERFCTR_CESR_COUNTERS - 1;

	if (!perfctr_cesr_exists(mmx))
		return PERFCTR_NO_COUNTERS_REGISTERS;
	perfctr_cesr_describe(intels ? WIDTH : WIDTH_CYRIX);
	if (!mmx)
		read_by_rdmsr();
	perfctr_pmu.event_bits = CESR_EVENT | CESR_CLOCKS | (intels ? 0 : CESR_CYRIX);
	perfctr_pmu.sample[0] = perfctr_cesr_half(INSTRUCTIONS | CESR_USR, last);
	perfctr_pmu.sample[1] = perfctr_cesr_half(BRANCHES | CESR_USR, last);
	pairs = mmx;
	cpu_type = !intels ? PERFCTR_X86_CYRIX_MII :
		   mmx ? PERFCTR_X86_INTEL_P5MMX : PERFCTR_X86_INTEL_P5;
	return PERFCTR_NO_COUNTERS_NONE;
}

static u32 p5_cpu_type(void)
{
	return cpu_type;
}

static u64 mode_bits(const struct perfctr_ctr_control *ctr)
{
	return (ctr->flags & PERFCTR_CTR_KERNEL ? CESR_OS : 0) |
	       (ctr->flags & PERFCTR_CTR_USER ? CESR_USR : 0);
}

/*
 * If a number means different events on the two counters, and the control names no counter, the
 * number means the event of counter 0.
 */
static int p5_check(const struct perfctr_ctr_control *ctr, u32 *counters,
		    struct perfctr_refusal *why)
{
	u64 event = ctr->event & (CESR_EVENT | CESR_CYRIX);

	*counters = perfctr_pmu.counters;
	if (pairs && ctr->map == PERFCTR_MAP_ANY && event >= FIRST_PAIR && event <= CESR_EVENT)
		*counters &= BIT(0);
	if (ctr->event & ~(perfctr_pmu.event_bits | MODES))
		return -EINVAL;
	/* Programs for perfctr 2.6 pass the whole half. Its mode bits must agree with the flags. */
	if (ctr->event & MODES && (ctr->event & MODES) != mode_bits(ctr))
		return -EINVAL;
	return 0;
}

static void p5_compile(const struct perfctr_ctr_control *ctr, u32 hw,
		       struct perfctr_cpu_image *image)
{
	perfctr_cesr_add(image, hw, (ctr->event & perfctr_pmu.event_bits) | mode_bits(ctr));
}

static u32 p5_counts(u64 *value)
{
	*value = read_msr(MSR_CESR);
	return *value & (MODES | perfctr_cesr_half(MODES, 1)) ? MSR_CESR : 0;
}

static const struct perfctr_x86_known known[] = {
	{ .event = INSTRUCTIONS, .per_turn = 2 },
	{ .event = BRANCHES, .per_turn = 1 },
	{}
};

const struct perfctr_x86_family perfctr_p5 = {
	.cpu_type = p5_cpu_type,
	.check = p5_check,
	.name = perfctr_cesr_name,
	.compile = p5_compile,
	.counts = p5_counts,
	.clear_unused = perfctr_cesr_clear_unused,
	.known = known,
};
