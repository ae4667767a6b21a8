/* SPDX-License-Identifier: GPL-2.0 */
/* Counters that an erratum wants reset before event selects are written */
#ifndef PERFCTR_X86_RESET_H
#define PERFCTR_X86_RESET_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct perfctr_x86_cpu;
struct perfctr_x86_entry;

DECLARE_STATIC_KEY_FALSE(perfctr_x86_reset_key);	/* constant after init */

/* At init: it is so here. @events: event selects of the first @nr counters, which stay there */
void perfctr_x86_reset_needed(const u32 *events, unsigned int nr);

/* The rest is called with interrupts off. */

/*
 * With the key: resets them if these entries of an image change an event select. The caller writes
 * the entries then. No state is resumed, so no count is lost with the values of counters.
 */
void perfctr_x86_reset_before(struct perfctr_x86_cpu *cpu, const struct perfctr_x86_entry *entry,
			      const struct perfctr_x86_entry *end);
/* If it is so here, zeroes event selects, general-purpose counters and the global control. */
void perfctr_x86_reset(void);

#endif /* PERFCTR_X86_RESET_H */
