/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_AMD_H
#define PERFCTR_X86_AMD_H

#include "arch/x86/registers.h"

extern const struct perfctr_x86_family perfctr_amd;

/* See processor.c. */
bool perfctr_amd_is(void);
u32 perfctr_amd_look(void);

/*
 * Is this Merge, event FFFh, on a processor of AMD's? Since Zen it adds its counter to the one
 * before it, so that the two count by more than 15 in a cycle: whatever that one counts, and
 * whoever is counted there.
 */
bool perfctr_amd_is_merge(u64 event);

/* On family 15h: the counters that can count an event. tests/unit/driver/linux compares these. */
u32 perfctr_amd_15h_counters(u64 event);

#endif /* PERFCTR_X86_AMD_H */
