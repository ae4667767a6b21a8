// SPDX-License-Identifier: GPL-2.0
/*
 * VIA's C3 (Samuel to Nehemiah). It has the P6's registers. Its first counter is the time-stamp
 * counter by another name, and the first event select is read-only. The second event select holds
 * only an event number of nine bits. The second counter counts in all modes, never stops, and does
 * not interrupt.
 *
 * Sources: the documentation of perfctr 2.6 (low-level-x86.txt), and its table of events, which
 * cites VIA's data sheet of the C3 Samuel 2 and reports how RDPMC behaves. Neither source gives the
 * width of the counter. Like perfctr 2.6, we use 32 bits.
 */

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <asm/msr-index.h>
#include <asm/processor.h>

#include "arch/x86/centaur/c3.h"
#include "arch/x86/evntsel.h"

#define COUNTER		1	/* the only usable counter */
#define WIDTH		32

#define EVENT		GENMASK_ULL(8, 0)
#define CLOCKS		0x0079
#define INSTRUCTIONS	0x00c0
#define ITERATIONS	0x01c0	/* instructions and iterations of string instructions */

#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

#define SAMUEL		6	/* model number; also called Cyrix III */
#define NEHEMIAH	9

/* The counter counts one event per clock, and the clock is below 2 GHz. */
#define RATE_SHIFT	31

bool __init perfctr_c3_is(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_CENTAUR && boot_cpu_data.x86 == 6 &&
	       boot_cpu_data.x86_model >= SAMUEL && boot_cpu_data.x86_model <= NEHEMIAH;
}

u32 __init perfctr_c3_look(void)
{
	if (!perfctr_x86_register_exists(MSR_P6_EVNTSEL0 + COUNTER) ||
	    !perfctr_x86_register_exists(MSR_P6_PERFCTR0 + COUNTER) ||
	    !perfctr_x86_rdpmc_works(COUNTER))
		return PERFCTR_NO_COUNTERS_REGISTERS;
	perfctr_pmu.ctr[COUNTER] = (struct perfctr_x86_ctr){
		.msr = MSR_P6_PERFCTR0 + COUNTER,
		.start_msr = MSR_P6_PERFCTR0 + COUNTER,
		.start_mask = GENMASK_ULL(WIDTH - 1, 0),
	};
	perfctr_x86_rdpmc[COUNTER] = COUNTER;
	perfctr_pmu.control[0].msr = MSR_P6_EVNTSEL0 + COUNTER;
	perfctr_pmu.nr_controls = 1;
	perfctr_pmu.counters = BIT(COUNTER);
	perfctr_pmu.general = perfctr_pmu.counters;
	perfctr_pmu.width = WIDTH;
	perfctr_pmu.rate_shift = RATE_SHIFT;
	/*
	 * For this processor, Linux has a single reservation, which covers all counters. Its key is
	 * the first register.
	 */
	perfctr_pmu.ctr[0].msr = MSR_P6_PERFCTR0;
	perfctr_pmu.nr_reserved = 1;
	perfctr_pmu.nr_controls_reserved = 1;
	perfctr_pmu.event_bits = EVENT;
	perfctr_pmu.modeless = true;
	perfctr_pmu.never_stop = perfctr_pmu.counters;
	perfctr_pmu.sample[0] = INSTRUCTIONS;
	perfctr_pmu.sample[1] = ITERATIONS;
	return PERFCTR_NO_COUNTERS_NONE;
}

static u32 c3_cpu_type(void)
{
	return PERFCTR_X86_VIA_C3;
}

static int c3_check(const struct perfctr_ctr_control *ctr, u32 *counters,
		    struct perfctr_refusal *why)
{
	*counters = perfctr_pmu.counters;
	if (ctr->event & ~EVENT)
		return -EINVAL;
	return ctr->flags == CTR_BOTH ? 0 : -EOPNOTSUPP;
}

static void c3_name(struct perfctr_ctr_control *ctr, u32 hw)
{
}

static void c3_compile(const struct perfctr_ctr_control *ctr, u32 hw,
		       struct perfctr_cpu_image *image)
{
	perfctr_x86_image_add(image, 0, ~0ULL, ctr->event);
}

/* The counter never stops, so it cannot show whether somebody counts. */
static u32 c3_counts(u64 *value)
{
	return 0;
}

static const struct perfctr_x86_known known[] = {
	{ .event = INSTRUCTIONS, .per_turn = 2 },
	{ .event = ITERATIONS, .per_turn = 2 },
	{ .event = CLOCKS },
	{}
};

const struct perfctr_x86_family perfctr_c3 = {
	.cpu_type = c3_cpu_type,
	.check = c3_check,
	.name = c3_name,
	.compile = c3_compile,
	.counts = c3_counts,
	.known = known,
};
