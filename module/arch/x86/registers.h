/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of Intel's family 6: what there is, and what the registers of a CPU hold. */
#ifndef PERFCTR_X86_REGISTERS_H
#define PERFCTR_X86_REGISTERS_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/msr.h>
#include <asm/msr-index.h>

#include "lowlevel.h"

#define EVNTSEL_USR	BIT(16)
#define EVNTSEL_OS	BIT(17)
#define EVNTSEL_EDGE	BIT(18)
#define EVNTSEL_INT	BIT(20)
#define EVNTSEL_EN	BIT(22)
#define EVNTSEL_INV	BIT(23)
/* What counts: event and unit mask, edge, inversion, counter mask */
#define EVENT_BITS	(0xffffULL | EVNTSEL_EDGE | EVNTSEL_INV | 0xff000000ULL)
/* What the rest of a control says as well */
#define CONTROL_BITS	(EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_INT | EVNTSEL_EN)

/**
 * struct perfctr_pmu - what counters there are; constant after init
 * @version: of architectural performance monitoring; 0: the P6
 * @nr: general-purpose counters; 0: there are no counters
 * @nr_fixed: fixed counters
 * @width: bits of the narrowest of them
 * @counters: all of them, as a bit map
 * @lacks: architectural events that the processor says it has not, as a bit map
 * @interrupts: they interrupt
 * @pt: there is Intel PT, which interrupts as counters do
 * @freezes: there is DEBUGCTL_FREEZE
 * @full_width: there are registers that write all of a general-purpose counter
 * @hybrid: CPUs are of several types; all above is what each of them has
 * @none: PERFCTR_NO_COUNTERS_*
 */
struct perfctr_pmu {
	unsigned int version;
	unsigned int nr;
	unsigned int nr_fixed;
	unsigned int width;
	u32 counters;
	u32 lacks;
	bool interrupts;
	bool pt;
	bool freezes;
	bool full_width;
	bool hybrid;
	u32 none;
};

extern struct perfctr_pmu perfctr_pmu;

static inline void write_msr(u32 msr, u64 value)
{
	wrmsr(msr, lower_32_bits(value), upper_32_bits(value));
}

static inline u64 read_msr(u32 msr)
{
	u32 low, high;

	rdmsr(msr, low, high);
	return (u64)high << 32 | low;
}

/* Of counters by number, in the global control */
static inline u64 global_bits(u32 counters)
{
	return (counters & GENMASK(PERFCTR_X86_FIXED - 1, 0)) |
	       (u64)(counters >> PERFCTR_X86_FIXED) << 32;
}

/* Each has a bit that enables it; but the P6 has one for both, in the first. */
static inline u32 enable(unsigned int hw)
{
	return perfctr_pmu.version || !hw ? EVNTSEL_EN : 0;
}

static inline u32 control_bits(const struct perfctr_ctr_control *ctr, unsigned int hw)
{
	return enable(hw) |
	       (ctr->flags & PERFCTR_CTR_USER ? EVNTSEL_USR : 0) |
	       (ctr->flags & PERFCTR_CTR_KERNEL ? EVNTSEL_OS : 0) |
	       (ctr->ireset ? EVNTSEL_INT : 0);
}

/* No state may be resumed here without perfctr_cpu_load(). */
static __always_inline void perfctr_x86_belong_to_nobody(struct perfctr_x86_cpu *cpu)
{
	cpu->active = 0;
	cpu->private_config = 0;
	cpu->private_mm = 0;
}

/* All below are called with interrupts off, on the CPU that is theirs. */

/* Nothing counts, all are zero, and what is to count is enabled by its own control alone. */
void perfctr_x86_take_all(void);
/* As they were before they were taken; all zero. */
void perfctr_x86_release_all(void);
/* Nothing counts, all are zero, but they stay ours. */
void perfctr_x86_rest(void);
/* Zero those that are past half of their range. */
void perfctr_x86_age(void);
/*
 * In the interrupt, with no counter of ours that could come to zero meanwhile: those
 * that did may interrupt again.
 */
void perfctr_x86_acknowledge(void);
/* Intel PT has something for perf. */
bool perfctr_x86_pt_waits(void);
/*
 * In an NMI, after perf's handler: what runs is what we let run. And if something was
 * @handed to perf, what it did not want is forgotten.
 */
void perfctr_x86_mend(bool handed);

#endif /* PERFCTR_X86_REGISTERS_H */
