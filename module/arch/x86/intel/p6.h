/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_P6_H
#define PERFCTR_X86_P6_H

#include "arch/x86/registers.h"

extern const struct perfctr_x86_family perfctr_p6;

/* struct candidate in processor.c describes these two functions. */
bool perfctr_p6_is(void);
u32 perfctr_p6_look(void);

#endif /* PERFCTR_X86_P6_H */
