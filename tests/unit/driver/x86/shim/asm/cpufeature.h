/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_CPUFEATURE_H
#define SHIM_ASM_CPUFEATURE_H

#include <asm/processor.h>

enum {
	X86_FEATURE_TSC, X86_FEATURE_XENPV, X86_FEATURE_HYBRID_CPU, X86_FEATURE_APIC,
	X86_FEATURE_PDCM, X86_FEATURE_INTEL_PT, X86_FEATURE_PERFCTR_CORE,
};

bool boot_cpu_has(unsigned int feature);

#endif /* SHIM_ASM_CPUFEATURE_H */
