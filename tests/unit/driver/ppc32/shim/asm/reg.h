/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_REG_H
#define SHIM_ASM_REG_H

#include "shim/kernel.h"

#define SPRN_PVR		287
#define PVR_VER(pvr)		((pvr) >> 16 & 0xffff)
#define PVR_REV(pvr)		((pvr) & 0xffff)

/* Of the current CPU: model_spr.c */
u32 shim_mfspr(unsigned int spr);
void shim_mtspr(unsigned int spr, u32 value);

/* The kernel's are of unsigned long, which has 32 bits there. */
#define mfspr(spr)		shim_mfspr(spr)
#define mtspr(spr, value)	shim_mtspr(spr, (u32)(value))

#endif /* SHIM_ASM_REG_H */
