/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_TSC_H
#define SHIM_ASM_TSC_H

#include <asm/msr.h>

extern unsigned int cpu_khz;
extern unsigned int tsc_khz;

#endif /* SHIM_ASM_TSC_H */
