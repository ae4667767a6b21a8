/* SPDX-License-Identifier: GPL-2.0 */
/* x86's registers themselves, on CPU 0, by Linux's driver of that name. Root only. */
#ifndef PERFCTR_REGISTERS_H
#define PERFCTR_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Intel's; of what AMD has elsewhere, msr_evntsel() and the like know where. */
#define MSR_PMC0	0x0c1u
#define MSR_EVNTSEL0	0x186u
#define MSR_DEBUGCTL	0x1d9u
#define MSR_FIXED_CTR0	0x309u
#define MSR_METRICS	0x329u
#define MSR_CAPABILITIES 0x345u
#define MSR_FIXED_CTRL	0x38du
#define MSR_STATUS	0x38eu
#define MSR_GLOBAL_CTRL	0x38fu
#define MSR_STATUS_RESET 0x390u
#define MSR_STATUS_SET	0x391u
#define MSR_INUSE	0x392u
#define MSR_OFFCORE_RSP_0 0x1a6u
#define MSR_PEBS_FRONTEND 0x3f7u
#define MSR_FULL_PMC0	0x4c1u

#define DEBUGCTL_FREEZE	(1u << 12)

#define EVNTSEL_EN	(1u << 22)
#define EVNTSEL_USER	(1u << 16)
#define EVNTSEL_OS	(1u << 17)
#define EVNTSEL_BOTH	(3u << 16)	/* in user and in kernel mode */
#define EVNTSEL_ANY	(1u << 21)	/* of any thread of the core */

/* Asserts; to be called before the others. */
void open_registers(void);
/* False if the processor refuses it. */
bool wrmsr(uint32_t msr, uint64_t value);
bool rdmsr(uint32_t msr, uint64_t *value);

/*
 * Of this processor: general-purpose counter i's, and what all have in common. The Pentium's counters have
 * one register for their event selects.
 */
uint32_t msr_evntsel(unsigned int i);
/* What makes counter i count in both modes, or would but is not enabled: as that register has it */
uint64_t evntsel_of(unsigned int i, uint64_t event, bool on);
uint32_t msr_perfctr(unsigned int i);
uint32_t msr_global_ctrl(void);	/* 0: there is none */

#endif /* PERFCTR_REGISTERS_H */
