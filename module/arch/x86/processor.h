/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_PROCESSOR_H
#define PERFCTR_X86_PROCESSOR_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* instructions, core cycles, reference cycles: events of the fixed counters */
static const u32 perfctr_x86_fixed_events[] = { 0x00c0, 0x003c, 0x013c };

/*
 * In the order of CPUID leaf 10's bits: core cycles, instructions, reference cycles,
 * references to and misses of the last level cache, branches, mispredicted ones
 */
static const u32 perfctr_x86_arch_events[] = {
	0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5,
};

#define PERFCTR_X86_ARCH_EVENTS	GENMASK(ARRAY_SIZE(perfctr_x86_arch_events) - 1, 0)

/* At load: says in perfctr_pmu what there is. */
void perfctr_x86_find_counters(void);
/*
 * Of a hybrid processor, on a CPU that comes: see struct perfctr_x86_cpu. It is
 * PERFCTR_X86_NO_CORE if this one has not all that the others have.
 */
u32 perfctr_x86_core(void);
/* PERFCTR_X86_*, as INFO says it */
u32 perfctr_x86_cpu_type(void);

#endif /* PERFCTR_X86_PROCESSOR_H */
