// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The events of the processors that perfctr 2.6 supported, in the form that 2.6 had for them: C
 * identifiers behind a prefix, event selects, unit masks. events/generate.c has made most tables of
 * x86 from libpfm4's tables. The tables of PowerPC are in events_ppc.c. events/codes.awk makes
 * perfctr_event_codes.h from all these tables.
 */
#include "internal.h"

#if defined(__x86_64__) || defined(__i386__)

#include "events/p6.inc"
#include "events/pii.inc"
#include "events/piii.inc"
#include "events/pentm.inc"
#include "events/core.inc"
#include "events/core2.inc"
#include "events/atom.inc"
#include "events/nhlm.inc"
#include "events/wstmr.inc"
#include "events/arch.inc"
#include "events/p4.inc"
#include "events/p4m2.inc"
#include "events/p4m3.inc"
#include "events/k7.inc"
#include "events/k8.inc"
#include "events/k8c.inc"
#include "events/fam10h.inc"

/* These tables were written by hand: libpfm4 does not know the processors. */
#include "events/p5.inc"
#include "events/p5mmx.inc"
#include "events/mii.inc"
#include "events/wcc6.inc"
#include "events/wc2.inc"
#include "events/vc3.inc"

/* A generic processor has no counters. */
static const struct perfctr_event_set generic_set = { PERFCTR_X86_GENERIC, "", NULL, 0, NULL };

static const struct perfctr_event_set *const sets[] = {
	[PERFCTR_X86_GENERIC] = &generic_set,
	[PERFCTR_X86_INTEL_P5] = &p5_set,
	[PERFCTR_X86_INTEL_P5MMX] = &p5mmx_set,
	[PERFCTR_X86_INTEL_P6] = &p6_set,
	[PERFCTR_X86_INTEL_PII] = &pii_set,
	[PERFCTR_X86_INTEL_PIII] = &piii_set,
	[PERFCTR_X86_CYRIX_MII] = &mii_set,
	[PERFCTR_X86_WINCHIP_C6] = &wcc6_set,
	[PERFCTR_X86_WINCHIP_2] = &wc2_set,
	[PERFCTR_X86_AMD_K7] = &k7_set,
	[PERFCTR_X86_VIA_C3] = &vc3_set,
	[PERFCTR_X86_INTEL_P4] = &p4_set,
	[PERFCTR_X86_INTEL_P4M2] = &p4m2_set,
	[PERFCTR_X86_AMD_K8] = &k8_set,
	[PERFCTR_X86_INTEL_PENTM] = &pentm_set,
	[PERFCTR_X86_AMD_K8C] = &k8c_set,
	[PERFCTR_X86_INTEL_P4M3] = &p4m3_set,
	[PERFCTR_X86_INTEL_CORE] = &core_set,
	[PERFCTR_X86_INTEL_CORE2] = &core2_set,
	[PERFCTR_X86_AMD_FAM10H] = &fam10h_set,
	[PERFCTR_X86_INTEL_ATOM] = &atom_set,
	[PERFCTR_X86_INTEL_NHLM] = &nhlm_set,
	[PERFCTR_X86_INTEL_WSTMR] = &wstmr_set,
	[PERFCTR_X86_INTEL_ARCH] = &arch_set,
};

static const struct perfctr_event_set *find_table(unsigned int cpu_type)
{
	return cpu_type < ARRAY_SIZE(sets) ? sets[cpu_type] : NULL;
}

#elif defined(__powerpc__)

static const struct perfctr_event_set *find_table(unsigned int cpu_type)
{
	static const struct perfctr_event_set generic = { PERFCTR_PPC_GENERIC, "", NULL, 0, NULL };

	return cpu_type == PERFCTR_PPC_GENERIC ? &generic : perfctr_ppc_event_set(cpu_type);
}

#else

static const struct perfctr_event_set *find_table(unsigned int cpu_type)
{
	(void)cpu_type;
	return NULL;
}

#endif

const struct perfctr_event_set *perfctr_event_table(unsigned int cpu_type)
{
	return cpu_type < PERFCTR_RISCV_GENERIC ? find_table(cpu_type) : NULL;
}
