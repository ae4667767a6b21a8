// SPDX-License-Identifier: GPL-2.0
/* The code that all families with event selects use: see evntsel.h. */

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/nospec.h>
#include <asm/asm.h>

#include "arch/x86/evntsel.h"

/* These bits follow from other members of a control. */
#define CONTROL_BITS	(EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_INT | EVNTSEL_EN)

bool perfctr_x86_register_exists(u32 msr)
{
	u32 low, high;

	return !rdmsr_safe(msr, &low, &high);
}

bool perfctr_x86_rdpmc_works(u32 counter)
{
	u32 low, high, fault = 1;

	asm volatile("1:	rdpmc\n"
		     "	xor %0, %0\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (fault), "=&a" (low), "=&d" (high) : "c" (counter));
	return !fault;
}

bool perfctr_x86_evntsel_exists(unsigned int nr, u32 perfctr, u32 evntsel, unsigned int distance)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!perfctr_x86_register_exists(evntsel + i * distance) ||
		    !perfctr_x86_register_exists(perfctr + i * distance) ||
		    !perfctr_x86_rdpmc_works(i))
			return false;
	return nr;
}

void __init perfctr_x86_evntsel_describe(unsigned int nr, unsigned int width, u32 perfctr,
					 u32 evntsel, unsigned int distance)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		perfctr_pmu.ctr[i] = (struct perfctr_x86_ctr){
			.msr = perfctr + i * distance,
			.start_msr = perfctr + i * distance,
			/* A write takes 32 bits and extends their sign. */
			.start_mask = GENMASK_ULL(31, 0),
			.reg = i,
			.stop = ~0ULL,
			.enable = EVNTSEL_EN,
		};
		perfctr_pmu.control[i].msr = evntsel + i * distance;
		perfctr_x86_rdpmc[i] = i;
	}
	perfctr_pmu.counters = GENMASK(nr - 1, 0);
	perfctr_pmu.general = perfctr_pmu.counters;
	perfctr_pmu.width = width;
	perfctr_pmu.irange = BIT_ULL(31);
	perfctr_pmu.nr_controls = nr;
	perfctr_pmu.nr_reserved = nr;
	perfctr_pmu.nr_controls_reserved = nr;
	perfctr_pmu.event_bits = EVNTSEL_EVENT;
	/*
	 * perf uses this period on all x86 processors. Some of them do not interrupt if a counter
	 * starts one event before its overflow.
	 */
	perfctr_pmu.least_period = 2;
}

void __init perfctr_x86_evntsel_samples(u64 event, u64 other)
{
	u64 control = EVNTSEL_USR | perfctr_pmu.ctr[__fls(perfctr_pmu.general)].enable;

	perfctr_pmu.sample[0] = event | control;
	perfctr_pmu.sample[1] = other | control;
}

static u64 control_bits(const struct perfctr_ctr_control *ctr, u32 hw)
{
	return perfctr_pmu.ctr[hw].enable |
	       (ctr->flags & PERFCTR_CTR_USER ? EVNTSEL_USR : 0) |
	       (ctr->flags & PERFCTR_CTR_KERNEL ? EVNTSEL_OS : 0) |
	       (ctr->ireset ? EVNTSEL_INT : 0);
}

int perfctr_x86_evntsel_check(const struct perfctr_ctr_control *ctr)
{
	u32 hw = ctr->map == PERFCTR_MAP_ANY ? 0 : array_index_nospec(ctr->map, PERFCTR_X86_MAX);

	if (ctr->event & ~(perfctr_pmu.event_bits | CONTROL_BITS))
		return -EINVAL;
	/*
	 * Programs for perfctr 2.6 pass the whole register. It must agree with the other members.
	 */
	if (ctr->event & CONTROL_BITS &&
	    (ctr->event & CONTROL_BITS) != control_bits(ctr, hw))
		return -EINVAL;
	return 0;
}

/*
 * If the user passed a whole event select, adapts it to the counter. On the P6, only the first
 * event select has the enable bit.
 */
void perfctr_x86_evntsel_name(struct perfctr_ctr_control *ctr, u32 hw)
{
	if (ctr->event & CONTROL_BITS)
		ctr->event = (ctr->event & perfctr_pmu.event_bits) | control_bits(ctr, hw);
}

void perfctr_x86_evntsel_compile(const struct perfctr_ctr_control *ctr, u32 hw,
				 struct perfctr_cpu_image *image)
{
	perfctr_x86_image_add(image, perfctr_pmu.ctr[hw].reg, ~0ULL,
			      (ctr->event & perfctr_pmu.event_bits) | control_bits(ctr, hw));
}

/*
 * Returns an event select that counts, with its value in *value, or 0. If one bit enables all
 * counters, it is in the first event select. perf leaves that bit set and the mode bits zero, so
 * the mode bits are checked as well.
 */
u32 perfctr_x86_evntsel_counts(u64 *value)
{
	bool enabled = false;
	unsigned int i;

	for (i = 0; i < perfctr_pmu.nr_controls_reserved; i++) {
		if (perfctr_pmu.control[i].unused)
			continue;
		*value = read_msr(perfctr_pmu.control[i].msr);
		if (perfctr_pmu.ctr[i].enable)
			enabled = *value & perfctr_pmu.ctr[i].enable;
		if (enabled && *value & (EVNTSEL_USR | EVNTSEL_OS))
			return perfctr_pmu.control[i].msr;
	}
	return 0;
}
