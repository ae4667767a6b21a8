/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_WINCHIP_H
#define PERFCTR_X86_WINCHIP_H

#include "arch/x86/registers.h"

extern const struct perfctr_x86_family perfctr_winchip_c6;
extern const struct perfctr_x86_family perfctr_winchip_2;

/* struct candidate in processor.c describes these functions. */
bool perfctr_winchip_c6_is(void);
bool perfctr_winchip_2_is(void);
u32 perfctr_winchip_look(void);

#endif /* PERFCTR_X86_WINCHIP_H */
