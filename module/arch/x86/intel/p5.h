/* SPDX-License-Identifier: GPL-2.0 */
/* Intel's P5, Cyrix's clones, and functions for CESR. WinChips have this register too. */
#ifndef PERFCTR_X86_P5_H
#define PERFCTR_X86_P5_H

#include "arch/x86/registers.h"

#define PERFCTR_CESR_COUNTERS	2

extern const struct perfctr_x86_family perfctr_p5;

/* struct candidate in processor.c describes these two functions. */
bool perfctr_p5_is(void);
u32 perfctr_p5_look(void);

/* Returns true if CESR and the counters exist. If @rdpmc is true, RDPMC must work too. */
bool perfctr_cesr_exists(bool rdpmc);
/*
 * Describes the counters in perfctr_pmu. A counter stops when its half of CESR is zero. The caller
 * fills in the other members.
 */
void perfctr_cesr_describe(unsigned int width);
/* Shifts @value to the half of CESR that controls counter @hw. */
u64 perfctr_cesr_half(u64 value, u32 hw);
/* Adds @value to the image as the control of counter @hw. */
void perfctr_cesr_add(struct perfctr_cpu_image *image, u32 hw, u64 value);
/* These two are functions of struct perfctr_x86_family. */
void perfctr_cesr_name(struct perfctr_ctr_control *ctr, u32 hw);
void perfctr_cesr_clear_unused(void);

#endif /* PERFCTR_X86_P5_H */
