/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_INTEL_H
#define PERFCTR_X86_INTEL_H

#include "arch/x86/registers.h"

extern const struct perfctr_x86_family perfctr_intel;

/* struct candidate in processor.c describes these two functions. */
bool perfctr_intel_is(void);
u32 perfctr_intel_look(void);

/* struct perfctr_x86_family describes these functions. */
bool perfctr_intel_beside(void);
u64 perfctr_intel_placeholder(unsigned int idx);
int perfctr_intel_perf_fixed(u64 select, bool *only);

/* Tells extra.c which events of this model need a second register. */
void perfctr_intel_events_init(void);

/*
 * Errata of models, with their numbers in Intel's specification updates:
 *
 * RESET: AAK100, AAP53, BD53. After a write of its event select, a counter may count core cycles
 *	instead, or nothing, unless all counters were reset before the write: see
 *	perfctr_x86_reset_before().
 * SIBLINGS: BJ122, BV98, HSD29. If a counter counts an event of code 0xd0 to 0xd3, the counter of
 *	the same number on the core's other hyperthread may count that event too, in addition to its
 *	own event.
 * PREC_DIST: HSW11, BDM11, BDM55. Event 0x01c0 counts wrong if its counter starts less than 100
 *	below its overflow, or not at a multiple of 64.
 */
#define PERFCTR_INTEL_RESET	1
#define PERFCTR_INTEL_SIBLINGS	2
#define PERFCTR_INTEL_PREC_DIST	4

struct perfctr_intel_rule;

/**
 * struct perfctr_intel_model - facts about a model, or about several models that are alike
 * @rules: table of the counters that can count each event
 * @errata: PERFCTR_INTEL_*
 * @least_period: least period of i-mode counters, if larger than usual, else 0. Shorter periods
 *	gave Linux's driver endless interrupts
 */
struct perfctr_intel_model {
	const struct perfctr_intel_rule *rules;
	u8 errata;
	u8 least_period;
};

/* Returns the model of this number in family 6, or NULL if the model is unknown. */
const struct perfctr_intel_model *perfctr_intel_model_find(u8 number);
/*
 * Returns the general-purpose counters that can count an event, as a bit map. It may include
 * counters that this processor lacks.
 */
u32 perfctr_intel_model_counters(const struct perfctr_intel_model *model, u64 event);
/*
 * Returns true if an erratum makes the event count wrong, or disturbs other counters. @ictr says
 * that an i-mode counter counts the event. @smt says that cores may have two hyperthreads.
 */
bool perfctr_intel_model_is_bad(const struct perfctr_intel_model *model, u64 event, bool ictr,
				bool smt);

#endif /* PERFCTR_X86_INTEL_H */
