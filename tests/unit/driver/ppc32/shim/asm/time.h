/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_TIME_H
#define SHIM_ASM_TIME_H

#include "shim/kernel.h"

/* What the firmware says */
extern unsigned long ppc_tb_freq;
extern unsigned long ppc_proc_freq;

/* Of the current CPU: model_spr.c */
u64 get_tb(void);

#endif /* SHIM_ASM_TIME_H */
