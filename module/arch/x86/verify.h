/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do the registers hold what we wrote? Others may write to them all the same: firmware, a
 * hypervisor, KVM for a guest, whoever may open /dev/cpu/N/msr.
 */
#ifndef PERFCTR_X86_VERIFY_H
#define PERFCTR_X86_VERIFY_H

#include "arch/cpu.h"

/* Called after a difference. Before anything is claimed, or NULL when nothing is */
void perfctr_x86_set_changed(perfctr_changed_t handler);

/* There are counters. */
void perfctr_x86_verify_init(void);
/* No counter is ours any more. May sleep. */
void perfctr_x86_verify_exit(void);
/* The registers of this CPU are ours now: look at them from time to time. Interrupts are off. */
void perfctr_x86_watch(void);

#endif /* PERFCTR_X86_VERIFY_H */
