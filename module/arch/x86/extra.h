/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events that need a second register beside the event select. perfctr_ctr_control.config holds the
 * value for this register.
 */
#ifndef PERFCTR_X86_EXTRA_H
#define PERFCTR_X86_EXTRA_H

#include <linux/types.h>

#include "arch/cpu.h"

/* The largest number of such registers in any family */
#define PERFCTR_X86_EXTRAS	3
#define PERFCTR_X86_NO_EXTRA	PERFCTR_X86_EXTRAS

/**
 * struct perfctr_x86_extra_event - an event that has such a register
 * @event: event and unit mask, as in bits 15..0 of the event select
 * @reg: number of its register. PERFCTR_X86_NO_EXTRA: the event is refused, because it needs
 *	precise event-based sampling
 * @valid: bits that the event defines in the register
 */
struct perfctr_x86_extra_event {
	u16 event;
	u8 reg;
	u64 valid;
};

/* Returns true if this event select chooses an event that needs such a register. */
bool perfctr_x86_has_extra(u64 event);

/*
 * Returns the value that a checked counter of a control needs in such a register, and the
 * register's number in *reg, or 0.
 */
u64 perfctr_x86_extra_value(const struct perfctr_ctr_control *ctr, unsigned int *reg);

/* Call at init. The last entry of @events is all zero. @msrs: the MSRs of the registers */
void perfctr_x86_extra_init(const struct perfctr_x86_extra_event *events, const u32 *msrs);

/*
 * Call at init for a family that checks register values itself. @value returns the value that a
 * control needs in register @reg, or 0. @nr is the number of registers.
 */
void perfctr_x86_extra_init_by(u64 (*value)(const struct perfctr_ctr_control *ctr,
					    unsigned int reg),
			       unsigned int nr, const u32 *msrs);

/*
 * Checks the register value of a counter of a control. @values has the values that the counters
 * before this one need in each register, and is all zero for the first counter. Returns 0, or
 * -EINVAL if the value is wrong or another counter needs another value, or -EOPNOTSUPP if the
 * register cannot be used.
 */
int perfctr_x86_extra_check(const struct perfctr_ctr_control *ctr, u64 *values);

/*
 * Each register has one value at a time on all CPUs, because hyperthreads share registers. Callers
 * hold config_mutex, and have reserved the counters.
 *
 * perfctr_x86_extra_refused() returns the index of the first counter that needs another value than
 * its register has, or PERFCTR_NO_INDEX. perfctr_x86_extra_get() writes the registers that the
 * config needs. It returns 0, or -EINVAL with *index if the processor refuses a value. Call
 * perfctr_x86_extra_put() after each get, even if the get failed.
 */
u32 perfctr_x86_extra_refused(const struct perfctr_config *config);
int perfctr_x86_extra_get(const struct perfctr_config *config, perfctr_run_t run, u32 *index);
void perfctr_x86_extra_put(const struct perfctr_config *config, perfctr_run_t run);

/*
 * Sets the registers of this CPU, which has come up, to the values that configs need. If there are
 * no configs any more, perfctr_x86_extra_release() zeroes the registers instead. A CPU that goes
 * down leaves its registers as they are, because a sibling hyperthread may need them. Interrupts
 * are off.
 */
void perfctr_x86_extra_take(void);

/*
 * Returns the MSR of the first register that does not hold the value that we wrote, or 0. Sets *is
 * to its value, and *was to the value that we wrote. We have the counters of this CPU, and
 * interrupts are off.
 */
u32 perfctr_x86_extra_changed(u64 *is, u64 *was);

/* Does not write the registers of this CPU any more, which may be perf's now. */
void perfctr_x86_extra_forget(void);
bool perfctr_x86_extra_ever_had(void);
void perfctr_x86_extra_release(void);

#endif /* PERFCTR_X86_EXTRA_H */
