/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_C3_H
#define PERFCTR_X86_C3_H

#include "arch/x86/registers.h"

extern const struct perfctr_x86_family perfctr_c3;

/* struct candidate in processor.c describes these two functions. */
bool perfctr_c3_is(void);
u32 perfctr_c3_look(void);

#endif /* PERFCTR_X86_C3_H */
