/* SPDX-License-Identifier: GPL-2.0 */
/* Resets counters before event selects are written, because of an erratum. */
#ifndef PERFCTR_X86_RESET_H
#define PERFCTR_X86_RESET_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct perfctr_x86_cpu;
struct perfctr_x86_entry;

DECLARE_STATIC_KEY_FALSE(perfctr_x86_reset_key);	/* constant after init */

/*
 * Call at init if the processor has the erratum. @events has the special event selects of the first
 * @nr counters, and must stay in memory.
 */
void perfctr_x86_reset_needed(const u32 *events, unsigned int nr);

/* Call the functions below with interrupts off. */

/*
 * Resets the counters if these entries of an image change an event select. Call this if
 * perfctr_x86_reset_key is set, before the entries are written. No state is resumed then, so zeroed
 * counters lose no counts.
 */
void perfctr_x86_reset_before(struct perfctr_x86_cpu *cpu, const struct perfctr_x86_entry *entry,
			      const struct perfctr_x86_entry *end);
/*
 * If perfctr_x86_reset_key is set, resets the counters. Afterwards the event selects, the
 * general-purpose counters and the global control are zero.
 */
void perfctr_x86_reset(void);

#endif /* PERFCTR_X86_RESET_H */
