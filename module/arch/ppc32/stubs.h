/* SPDX-License-Identifier: GPL-2.0 */
/* These functions read a counter whose number is only known at run time: see stubs.S. */
#ifndef PERFCTR_PPC32_STUBS_H
#define PERFCTR_PPC32_STUBS_H

#include <linux/types.h>

extern const char perfctr_ppc32_stubs[];

static __always_inline unsigned long perfctr_ppc32_stub(unsigned int n)
{
	return (unsigned long)perfctr_ppc32_stubs + 16 * n;
}

static __always_inline u32 perfctr_ppc32_read(unsigned long stub)
{
	register u32 value asm("r3");

	asm volatile("mtctr %1\n\tbctrl" : "=r" (value) : "r" (stub) : "lr", "ctr");
	return value;
}

#endif /* PERFCTR_PPC32_STUBS_H */
