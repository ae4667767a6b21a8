/* SPDX-License-Identifier: GPL-2.0 */
/* In the place of module/arch/ppc32/stubs.h: reading a counter whose number is a variable. */
#ifndef PERFCTR_PPC32_STUBS_H
#define PERFCTR_PPC32_STUBS_H

#include <asm/reg.h>

/* Not the number itself, so that nothing but a stub reads anything. */
#define SHIM_STUBS	0x57ab5000ul
#define SHIM_NR_STUBS	6u	/* then as many that turn bit 31 over: see stubs.S */

static inline unsigned long perfctr_ppc32_stub(unsigned int n)
{
	return SHIM_STUBS + 16 * n;
}

static inline u32 perfctr_ppc32_read(unsigned long stub)
{
	static const u16 spr[SHIM_NR_STUBS] = { 953, 954, 957, 958, 945, 946 };
	unsigned long n = (stub - SHIM_STUBS) / 16;

	shim_assert(stub >= SHIM_STUBS && n < 2ul * SHIM_NR_STUBS && stub % 16 == 0);
	if (n < SHIM_NR_STUBS)
		return mfspr(spr[n]);
	return mfspr(spr[n - SHIM_NR_STUBS]) ^ 0x80000000u;
}

#endif /* PERFCTR_PPC32_STUBS_H */
