/* SPDX-License-Identifier: GPL-2.0 */
/* These functions read a counter whose number is only known at run time: see stubs.S. */
#ifndef PERFCTR_RISCV_STUBS_H
#define PERFCTR_RISCV_STUBS_H

#include <linux/types.h>

extern const char perfctr_riscv_stubs[];

static __always_inline unsigned long perfctr_riscv_stub(unsigned int hw)
{
	return (unsigned long)perfctr_riscv_stubs + 8 * hw;
}

static __always_inline u64 perfctr_riscv_read(unsigned long stub)
{
	register u64 value asm("t1");

	asm volatile("jalr t0, %1" : "=r" (value) : "r" (stub) : "t0");
	return value;
}

#endif /* PERFCTR_RISCV_STUBS_H */
