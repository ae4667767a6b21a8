/* SPDX-License-Identifier: GPL-2.0 */
/* In the place of module/arch/riscv/stubs.h: reading a counter whose number is a variable. */
#ifndef PERFCTR_RISCV_STUBS_H
#define PERFCTR_RISCV_STUBS_H

#include <asm/csr.h>

/* Not the number itself, so that nothing but a stub reads anything. */
#define SHIM_STUBS	0x57ab5000ul
#define SHIM_SIGNED	0x57ab6000ul

extern const char perfctr_riscv_zero[];
extern u32 perfctr_riscv_unused_bits;

static inline unsigned long perfctr_riscv_stub(unsigned int hw)
{
	return SHIM_STUBS + 8 * hw;
}

static inline unsigned long perfctr_riscv_signed_stub(unsigned int hw)
{
	return SHIM_SIGNED + 32 * hw;
}

static inline u64 perfctr_riscv_read(unsigned long stub)
{
	u32 unused = perfctr_riscv_unused_bits;

	if (stub == (unsigned long)perfctr_riscv_zero)
		return 0;
	if (stub >= SHIM_SIGNED) {
		shim_assert(stub < SHIM_SIGNED + 32ul * 32 && stub % 32 == 0);
		return (u64)((s64)(csr_read(CSR_CYCLE + (stub - SHIM_SIGNED) / 32) << unused) >>
			     unused);
	}
	shim_assert(stub >= SHIM_STUBS && stub < SHIM_STUBS + 8ul * 32 && stub % 8 == 0);
	return csr_read(CSR_CYCLE + (stub - SHIM_STUBS) / 8);
}

#endif /* PERFCTR_RISCV_STUBS_H */
