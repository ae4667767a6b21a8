/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_PMC_H
#define SHIM_ASM_PMC_H

#include "shim/kernel.h"

typedef void (*perf_irq_t)(struct pt_regs *regs);

/* model_spr.c */
int reserve_pmc_hardware(perf_irq_t handler);
void release_pmc_hardware(void);

#endif /* SHIM_ASM_PMC_H */
