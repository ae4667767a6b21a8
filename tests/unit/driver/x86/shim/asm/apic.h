/* SPDX-License-Identifier: GPL-2.0 */
/* The local APIC of the current CPU, as far as the counters' interrupt goes, and its vectors */
#ifndef SHIM_ASM_APIC_H
#define SHIM_ASM_APIC_H

#include "shim/kernel.h"

#define APIC_LVR	0x30
#define GET_APIC_MAXLVT(version)	((version) >> 16 & 0xff)
#define APIC_LVTPC	0x340
#define APIC_DM_NMI	0x400
#define APIC_LVT_MASKED	0x10000

#define NMI_VECTOR	2
#define IRQ_WORK_VECTOR	0xf6

const struct cpumask *cpumask_of(unsigned int cpu);

struct apic {
	u32 (*read)(u32 reg);
	void (*write)(u32 reg, u32 value);
	void (*send_IPI_mask)(const struct cpumask *mask, int vector);
};

extern const struct apic *const apic;

#endif /* SHIM_ASM_APIC_H */
