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
 * RESET: AAK100, AAP53, BD53. A counter that is given an event may count core cycles or nothing
 *	instead, unless all counters were reset before: see perfctr_x86_reset_before().
 * SIBLINGS: BJ122, BV98, HSD29. Events of codes 0xd0 to 0xd3 may be counted by the counter of the
 *	same number of the core's other hyperthread too, whatever that one counts, and whoever is
 *	counted there.
 * PREC_DIST: HSW11, BDM11, BDM55. Event 0x01c0 counts wrong if it starts less than 100 before
 *	its overflow, or not at a multiple of 64.
 */
#define PERFCTR_INTEL_RESET	1
#define PERFCTR_INTEL_SIBLINGS	2
#define PERFCTR_INTEL_PREC_DIST	4

struct perfctr_intel_rule;

/**
 * struct perfctr_intel_model - what is known of a model, or of several that are alike
 * @rules: which counters count which event
 * @errata: PERFCTR_INTEL_*
 * @least_period: of i-mode counters, if it is more than usual: Linux's driver had a shorter one
 *	interrupt without end
 */
struct perfctr_intel_model {
	const struct perfctr_intel_rule *rules;
	u8 errata;
	u8 least_period;
};

/* By its number, in family 6. NULL: it is not known. */
const struct perfctr_intel_model *perfctr_intel_model_find(u8 number);
/* The general-purpose counters that can count an event, also those that this processor lacks */
u32 perfctr_intel_model_counters(const struct perfctr_intel_model *model, u64 event);
/* By an erratum it is counted wrong, or disturbs others: @ictr with a period, @smt with siblings */
bool perfctr_intel_model_is_bad(const struct perfctr_intel_model *model, u64 event, bool ictr,
				bool smt);

#endif /* PERFCTR_X86_INTEL_H */
