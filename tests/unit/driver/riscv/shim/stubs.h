/* SPDX-License-Identifier: GPL-2.0 */
/* In the place of module/arch/riscv/stubs.h: reading a counter whose number is a variable. */
#ifndef PERFCTR_RISCV_STUBS_H
#define PERFCTR_RISCV_STUBS_H

#include <asm/csr.h>

/* Not the number itself, so that nothing but a stub reads anything. */
#define SHIM_STUBS	0x57ab5000ul

static inline unsigned long perfctr_riscv_stub(unsigned int hw)
{
	return SHIM_STUBS + 8 * hw;
}

static inline u64 perfctr_riscv_read(unsigned long stub)
{
	shim_assert(stub >= SHIM_STUBS && stub < SHIM_STUBS + 8ul * 32 && stub % 8 == 0);
	return csr_read(CSR_CYCLE + (stub - SHIM_STUBS) / 8);
}

#endif /* PERFCTR_RISCV_STUBS_H */
