/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_RISCV_INTERRUPT_H
#define PERFCTR_RISCV_INTERRUPT_H

#include <linux/init.h>

int __init perfctr_riscv_interrupt_init(void);

#endif /* PERFCTR_RISCV_INTERRUPT_H */
