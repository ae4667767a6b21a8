/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_AMD_H
#define PERFCTR_X86_AMD_H

#include "arch/x86/registers.h"

extern const struct perfctr_x86_family perfctr_amd;

/* struct candidate in processor.c describes these two functions. */
bool perfctr_amd_is(void);
u32 perfctr_amd_look(void);

/*
 * Returns true if the event is Merge, event FFFh of Zen and later. A counter of Merge extends the
 * counter before it, so that the two together can count more than 15 events per cycle. Merge
 * changes the counter before it even if that counter counts for somebody else. The processor must
 * be AMD's.
 */
bool perfctr_amd_is_merge(u64 event);

/*
 * Returns the counters of family 15h that can count an event, as a bit map. tests/unit/driver/linux
 * compares the result with Linux's.
 */
u32 perfctr_amd_15h_counters(u64 event);

#endif /* PERFCTR_X86_AMD_H */
