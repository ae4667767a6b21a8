// SPDX-License-Identifier: GPL-2.0
/*
 * Centaur's WinChip C6, 2 and 3. They have the P5's registers, but each half of CESR holds only an
 * event number. A counter counts in all modes and never stops.
 *
 * The time-stamp counter is broken, so we use the kernel's clock. Linux disables the time-stamp
 * counter on the C6. perfctr 2.6 used the counters only where nobody could use the time-stamp
 * counter.
 *
 * Sources: the documentation of perfctr 2.6 (low-level-x86.txt), and its table of events, which
 * cites IDT's data sheets of the WinChip C6, 2A and 3. Neither source gives the width of the
 * counters. Like perfctr 2.6, we use 32 bits.
 */

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <asm/processor.h>

#include "arch/x86/evntsel.h"
#include "arch/x86/intel/p5.h"
#include "arch/x86/centaur/winchip.h"

#define WIDTH		32

#define EVENT		GENMASK_ULL(7, 0)
#define INSTRUCTIONS	0x16
#define CLOCKS		0x3f
#define C6_INSTRUCTIONS	0x02

/* Each of these numbers means one event on the first counter and another on the second. */
#define MMX_INSTRUCTIONS	0x2b
#define RETURNS			0x37

#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

static bool is(unsigned int model)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_CENTAUR && boot_cpu_data.x86 == 5 &&
	       boot_cpu_data.x86_model == model;
}

bool __init perfctr_winchip_c6_is(void)
{
	return is(4);
}

/* Returns true for the WinChip 2, 2A, 2B and 3. */
bool __init perfctr_winchip_2_is(void)
{
	return is(8) || is(9);
}

u32 __init perfctr_winchip_look(void)
{
	unsigned int last = PERFCTR_CESR_COUNTERS - 1, i;

	perfctr_x86_use_kernels_clock();
	if (!perfctr_cesr_exists(true))
		return PERFCTR_NO_COUNTERS_REGISTERS;
	perfctr_cesr_describe(WIDTH);
	for (i = 0; i < PERFCTR_CESR_COUNTERS; i++)
		perfctr_pmu.ctr[i].stop = 0;
	perfctr_pmu.never_stop = perfctr_pmu.counters;
	perfctr_pmu.modeless = true;
	perfctr_pmu.event_bits = EVENT;
	perfctr_pmu.sample[0] = perfctr_cesr_half(INSTRUCTIONS, last);
	perfctr_pmu.sample[1] = perfctr_cesr_half(CLOCKS, last);
	return PERFCTR_NO_COUNTERS_NONE;
}

static u32 c6_cpu_type(void)
{
	return PERFCTR_X86_WINCHIP_C6;
}

static u32 winchip_2_cpu_type(void)
{
	return PERFCTR_X86_WINCHIP_2;
}

static int check_half(const struct perfctr_ctr_control *ctr)
{
	if (ctr->event & ~EVENT)
		return -EINVAL;
	return ctr->flags == CTR_BOTH ? 0 : -EOPNOTSUPP;
}

static int c6_check(const struct perfctr_ctr_control *ctr, u32 *counters,
		    struct perfctr_refusal *why)
{
	*counters = perfctr_pmu.counters;
	return check_half(ctr);
}

static int winchip_2_check(const struct perfctr_ctr_control *ctr, u32 *counters,
			   struct perfctr_refusal *why)
{
	*counters = perfctr_pmu.counters;
	if (ctr->map == PERFCTR_MAP_ANY &&
	    (ctr->event == MMX_INSTRUCTIONS || ctr->event == RETURNS))
		*counters &= BIT(0);
	return check_half(ctr);
}

static void winchip_compile(const struct perfctr_ctr_control *ctr, u32 hw,
			    struct perfctr_cpu_image *image)
{
	perfctr_cesr_add(image, hw, ctr->event);
}

/* The counters never stop, so they cannot show whether somebody counts. */
static u32 winchip_counts(u64 *value)
{
	return 0;
}

static const struct perfctr_x86_known known_c6[] = {
	{ .event = C6_INSTRUCTIONS, .per_turn = 2 },
	{}
};

const struct perfctr_x86_family perfctr_winchip_c6 = {
	.cpu_type = c6_cpu_type,
	.check = c6_check,
	.name = perfctr_cesr_name,
	.compile = winchip_compile,
	.counts = winchip_counts,
	.clear_unused = perfctr_cesr_clear_unused,
	.known = known_c6,
};

static const struct perfctr_x86_known known_2[] = {
	{ .event = INSTRUCTIONS, .per_turn = 2 },
	{ .event = CLOCKS },
	{}
};

const struct perfctr_x86_family perfctr_winchip_2 = {
	.cpu_type = winchip_2_cpu_type,
	.check = winchip_2_check,
	.name = perfctr_cesr_name,
	.compile = winchip_compile,
	.counts = winchip_counts,
	.clear_unused = perfctr_cesr_clear_unused,
	.known = known_2,
};
