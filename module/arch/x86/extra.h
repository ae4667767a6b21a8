/* SPDX-License-Identifier: GPL-2.0 */
/* Events of which a register of their own says more: perfctr_ctr_control.config. */
#ifndef PERFCTR_X86_EXTRA_H
#define PERFCTR_X86_EXTRA_H

#include <linux/types.h>

#include "arch/cpu.h"

/* The most of them that a family has */
#define PERFCTR_X86_EXTRAS	3
#define PERFCTR_X86_NO_EXTRA	PERFCTR_X86_EXTRAS

/**
 * struct perfctr_x86_extra_event - an event that has such a register
 * @event: event and unit mask, as in bits 15..0 of the event select
 * @reg: its register. PERFCTR_X86_NO_EXTRA: it cannot be had: it takes precise
 *	event-based sampling
 * @valid: bits that are defined
 */
struct perfctr_x86_extra_event {
	u16 event;
	u8 reg;
	u64 valid;
};

/* Is that event select one of such an event? */
bool perfctr_x86_has_extra(u64 event);

/* @events: the last is all zero. @msrs: of the registers */
void perfctr_x86_extra_init(const struct perfctr_x86_extra_event *events, const u32 *msrs);

/*
 * The same of a family whose controls say in another way what register @reg, of @nr, is to hold,
 * and check that themselves. 0: nothing
 */
void perfctr_x86_extra_init_by(u64 (*value)(const struct perfctr_ctr_control *ctr,
					    unsigned int reg),
			       unsigned int nr, const u32 *msrs);

/*
 * Is that what the counter's event wants? @values: what the counters before it, of the
 * same control, want of each register; zeroed at first.
 */
int perfctr_x86_extra_check(const struct perfctr_ctr_control *ctr, u64 *values);

/*
 * The registers are the cores', and so everybody's: one value at a time on all CPUs.
 * config_mutex, and nobody but us has counters. refused: the counter whose register
 * holds another value now, or PERFCTR_NO_INDEX. get: takes the registers that the config
 * wants; EINVAL if the processor refuses a value, and *index is that counter. put follows
 * each get, also one that failed.
 */
u32 perfctr_x86_extra_refused(const struct perfctr_config *config);
int perfctr_x86_extra_get(const struct perfctr_config *config, perfctr_run_t run, u32 *index);
void perfctr_x86_extra_put(const struct perfctr_config *config, perfctr_run_t run);

/*
 * On a CPU that has come, interrupts off: let its registers hold what is wanted, or, if
 * nobody counts any more and there may be something left, nothing. A CPU that goes
 * leaves them as they are: it is not known whether a sibling counts by them.
 */
void perfctr_x86_extra_take(void);

/*
 * On a CPU that is ours, interrupts off: the first register that does not hold what we wrote, with
 * what it holds and what it should; 0: each of them does.
 */
u32 perfctr_x86_extra_changed(u64 *is, u64 *was);

bool perfctr_x86_extra_ever_had(void);
void perfctr_x86_extra_release(void);

#endif /* PERFCTR_X86_EXTRA_H */
