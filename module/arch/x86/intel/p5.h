/* SPDX-License-Identifier: GPL-2.0 */
/* Intel's P5 and Cyrix's clones; and CESR, of which each counter has a half, as on WinChips */
#ifndef PERFCTR_X86_P5_H
#define PERFCTR_X86_P5_H

#include "arch/x86/registers.h"

#define PERFCTR_CESR_COUNTERS	2

extern const struct perfctr_x86_family perfctr_p5;

/* See processor.c. */
bool perfctr_p5_is(void);
u32 perfctr_p5_look(void);

/* Do these registers exist, and RDPMC if there is to be one? */
bool perfctr_cesr_exists(bool rdpmc);
/* The counters, each stopped by its half; the caller says the rest in perfctr_pmu. */
void perfctr_cesr_describe(unsigned int width);
/* A value of its half, as the value of the register */
u64 perfctr_cesr_half(u64 value, u32 hw);
/* The control of counter @hw is to be @value. */
void perfctr_cesr_add(struct perfctr_cpu_image *image, u32 hw, u64 value);
/* As those of struct perfctr_x86_family */
void perfctr_cesr_name(struct perfctr_ctr_control *ctr, u32 hw);
void perfctr_cesr_clear_unused(void);

#endif /* PERFCTR_X86_P5_H */
