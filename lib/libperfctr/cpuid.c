// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the model of this machine's processor. Unit tests replace this file. */
#include "internal.h"

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

#define LEAF_7_EDX_HYBRID	(1u << 15)

unsigned int perfctr_intel_model(void)
{
	unsigned int eax, ebx, ecx, edx, model;

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_INTEL_ebx ||
	    ecx != signature_INTEL_ecx || edx != signature_INTEL_edx ||
	    !__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (eax >> 8 & 0xf) != 6)
		return PERFCTR_INTEL_NO_MODEL;
	model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
	if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && edx & LEAF_7_EDX_HYBRID)
		model |= PERFCTR_INTEL_HYBRID;
	return model;
}

#else

unsigned int perfctr_intel_model(void)
{
	return PERFCTR_INTEL_NO_MODEL;
}

#endif
