/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_PROCESSOR_H
#define SHIM_ASM_PROCESSOR_H

#include <linux/mm_types.h>

#include "shim/kernel.h"

#define X86_VENDOR_INTEL	0
#define X86_VENDOR_CYRIX	1
#define X86_VENDOR_AMD		2
#define X86_VENDOR_CENTAUR	5
#define X86_VENDOR_HYGON	9

#define X86_CR4_PCE		BIT(8)

struct cpuinfo_x86 {
	u8 x86;
	u8 x86_vendor;
	u8 x86_model;
	u8 x86_stepping;
	int cpuid_level;
	u32 extended_cpuid_level;
};

extern struct cpuinfo_x86 boot_cpu_data;

enum shim_cpuid_reg { SHIM_EAX, SHIM_EBX, SHIM_ECX, SHIM_EDX };

u32 shim_cpuid(u32 leaf, enum shim_cpuid_reg reg);

#define cpuid_eax(leaf)		shim_cpuid(leaf, SHIM_EAX)
#define cpuid_ebx(leaf)		shim_cpuid(leaf, SHIM_EBX)
#define cpuid_ecx(leaf)		shim_cpuid(leaf, SHIM_ECX)
#define cpuid_edx(leaf)		shim_cpuid(leaf, SHIM_EDX)

#endif /* SHIM_ASM_PROCESSOR_H */
