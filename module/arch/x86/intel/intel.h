/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_INTEL_H
#define PERFCTR_X86_INTEL_H

#include "arch/x86/registers.h"

extern const struct perfctr_x86_family perfctr_intel;

/* See processor.c. */
bool perfctr_intel_is(void);
u32 perfctr_intel_look(void);

/* events.c */
void perfctr_intel_events_init(void);

/*
 * models.c: errata, by their numbers in Intel's specification updates
 *
 * RESET: AAK100, AAP53, BD53. A counter that is given an event may count core cycles instead, or
 *	nothing, unless all counters were reset before: see perfctr_x86_reset_before().
 * SIBLINGS: BJ122, BV98, HSD29. The counter of the same number of the core's other hyperthread may
 *	count events of codes 0xd0 to 0xd3 too, whatever it counts, and whoever is counted there.
 * PREC_DIST: HSW11, BDM11, BDM55. Event 0x01c0 counts wrong if it starts less than 100 before
 *	its overflow, or not at a multiple of 64.
 */
#define PERFCTR_INTEL_RESET	1
#define PERFCTR_INTEL_SIBLINGS	2
#define PERFCTR_INTEL_PREC_DIST	4

struct perfctr_intel_rule;

/**
 * struct perfctr_intel_model - what is known about a model, or about several models that are alike
 * @rules: which counters count which event
 * @errata: PERFCTR_INTEL_*
 * @least_period: least period of i-mode counters, if it is larger than usual: with a shorter one
 *	Linux's driver had interrupts without end
 */
struct perfctr_intel_model {
	const struct perfctr_intel_rule *rules;
	u8 errata;
	u8 least_period;
};

/* Finds a model by its number in family 6. NULL: unknown. */
const struct perfctr_intel_model *perfctr_intel_model_find(u8 number);
/*
 * The general-purpose counters that can count an event, including those that this processor lacks
 */
u32 perfctr_intel_model_counters(const struct perfctr_intel_model *model, u64 event);
/*
 * Does an erratum make the event count wrong, or disturb others? @ictr: it has a period; @smt:
 * there are siblings
 */
bool perfctr_intel_model_is_bad(const struct perfctr_intel_model *model, u64 event, bool ictr,
				bool smt);

#endif /* PERFCTR_X86_INTEL_H */
