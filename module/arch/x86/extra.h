/* SPDX-License-Identifier: GPL-2.0 */
/* Events that need a register of their own: perfctr_ctr_control.config holds its value. */
#ifndef PERFCTR_X86_EXTRA_H
#define PERFCTR_X86_EXTRA_H

#include <linux/types.h>

#include "arch/cpu.h"

/* The most such registers that a family has */
#define PERFCTR_X86_EXTRAS	3
#define PERFCTR_X86_NO_EXTRA	PERFCTR_X86_EXTRAS

/**
 * struct perfctr_x86_extra_event - an event that has such a register
 * @event: event and unit mask, as in bits 15..0 of the event select
 * @reg: its register. PERFCTR_X86_NO_EXTRA: not available, because it takes precise event-based
 *	sampling
 * @valid: bits that are defined
 */
struct perfctr_x86_extra_event {
	u16 event;
	u8 reg;
	u64 valid;
};

/* Does that event select choose an event that has such a register? */
bool perfctr_x86_has_extra(u64 event);

/* @events: the last entry is all zero. @msrs: the registers */
void perfctr_x86_extra_init(const struct perfctr_x86_extra_event *events, const u32 *msrs);

/*
 * The same for a family whose controls give register values in another way, and which checks them
 * itself. @value: returns the value that a control wants in register @reg; 0: none. @nr: number of
 * registers
 */
void perfctr_x86_extra_init_by(u64 (*value)(const struct perfctr_ctr_control *ctr,
					    unsigned int reg),
			       unsigned int nr, const u32 *msrs);

/*
 * Is the register value what the counter's event needs? @values: the values that the counters
 * before it, of the same control, want in each register; all zero at first.
 */
int perfctr_x86_extra_check(const struct perfctr_ctr_control *ctr, u64 *values);

/*
 * Cores share these registers, and so everybody does: one value at a time on all CPUs. Under
 * config_mutex, while nobody but us has counters. refused: index of the counter whose register
 * holds another value now, or PERFCTR_NO_INDEX. get: takes the registers that the config wants;
 * EINVAL if the processor refuses a value, with *index. Call put after each get, even if it failed.
 */
u32 perfctr_x86_extra_refused(const struct perfctr_config *config);
int perfctr_x86_extra_get(const struct perfctr_config *config, perfctr_run_t run, u32 *index);
void perfctr_x86_extra_put(const struct perfctr_config *config, perfctr_run_t run);

/*
 * On a CPU that has come up, with interrupts off: writes the wanted values to its registers. If
 * nobody counts any more, perfctr_x86_extra_release() zeroes those that may hold something. A CPU
 * that goes down leaves its registers as they are, because a sibling may count by them.
 */
void perfctr_x86_extra_take(void);

/*
 * On a CPU that is ours, with interrupts off: returns the first register that does not hold what we
 * wrote, with its value and ours. 0: all registers are right.
 */
u32 perfctr_x86_extra_changed(u64 *is, u64 *was);

bool perfctr_x86_extra_ever_had(void);
void perfctr_x86_extra_release(void);

#endif /* PERFCTR_X86_EXTRA_H */
