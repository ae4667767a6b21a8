/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do the registers hold what we wrote? Others may write to them all the same: firmware, a
 * hypervisor, KVM for a guest, or anybody who may open /dev/cpu/N/msr.
 */
#ifndef PERFCTR_X86_VERIFY_H
#define PERFCTR_X86_VERIFY_H

#include "arch/cpu.h"

/*
 * Sets the function to call after a difference. Call it before anything is claimed; with NULL when
 * nothing is.
 */
void perfctr_x86_set_changed(perfctr_changed_t handler);

/* Call if there are counters. */
void perfctr_x86_verify_init(void);
/* Call when no counter is ours any more. May sleep. */
void perfctr_x86_verify_exit(void);
/* The registers of this CPU are ours now: compares them from time to time. Interrupts are off. */
void perfctr_x86_watch(void);

#endif /* PERFCTR_X86_VERIFY_H */
