/* SPDX-License-Identifier: GPL-2.0 */
/* Intel's P5 and Cyrix's clones; and CESR, which has a half for each counter, as on WinChips */
#ifndef PERFCTR_X86_P5_H
#define PERFCTR_X86_P5_H

#include "arch/x86/registers.h"

#define PERFCTR_CESR_COUNTERS	2

extern const struct perfctr_x86_family perfctr_p5;

/* See processor.c. */
bool perfctr_p5_is(void);
u32 perfctr_p5_look(void);

/* Do these registers exist, and RDPMC if @rdpmc? */
bool perfctr_cesr_exists(bool rdpmc);
/*
 * Describes the counters in perfctr_pmu, each stopped by its half of CESR; the caller adds the
 * rest.
 */
void perfctr_cesr_describe(unsigned int width);
/* Shifts a value of counter @hw's half to its place in the register. */
u64 perfctr_cesr_half(u64 value, u32 hw);
/* Adds @value to the image as the control of counter @hw. */
void perfctr_cesr_add(struct perfctr_cpu_image *image, u32 hw, u64 value);
/* See struct perfctr_x86_family */
void perfctr_cesr_name(struct perfctr_ctr_control *ctr, u32 hw);
void perfctr_cesr_clear_unused(void);

#endif /* PERFCTR_X86_P5_H */
