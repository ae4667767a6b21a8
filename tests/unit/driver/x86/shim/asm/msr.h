/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Access to the registers that model_msr.c models. Where the driver has the
 * instruction itself, it is a macro of the assembler that calls: x86/insns.c.
 */
#ifndef SHIM_ASM_MSR_H
#define SHIM_ASM_MSR_H

#include <asm/msr-index.h>

#include "shim/kernel.h"

/* Of the current CPU. A #GP that the driver does not expect fails the test. */
void shim_wrmsr(u32 msr, u64 value);
u64 shim_rdmsr(u32 msr);
/* False if it faults */
bool shim_rdmsr_safe(u32 msr, u64 *value);
bool shim_wrmsr_safe(u32 msr, u64 value);
u64 shim_rdtsc(void);

#define wrmsr(msr, low, high)	shim_wrmsr(msr, (u64)(high) << 32 | (u32)(low))
#define rdmsr(msr, low, high)						\
do {									\
	u64 __value = shim_rdmsr(msr);					\
									\
	(low) = (u32)__value;						\
	(high) = (u32)(__value >> 32);					\
} while (0)
#define rdtsc()			shim_rdtsc()

static inline int rdmsr_safe(u32 msr, u32 *low, u32 *high)
{
	u64 value = 0;
	bool good = shim_rdmsr_safe(msr, &value);

	*low = (u32)value;
	*high = (u32)(value >> 32);
	return good ? 0 : -EIO;
}

static inline int wrmsr_safe(u32 msr, u32 low, u32 high)
{
	return shim_wrmsr_safe(msr, (u64)high << 32 | low) ? 0 : -EIO;
}

asm(".macro	rdpmc\n"
    "	call	shim_rdpmc_insn\n"
    ".endm\n"
    ".macro	rdmsr\n"
    "	call	shim_rdmsr_insn\n"
    ".endm\n");

#endif /* SHIM_ASM_MSR_H */
