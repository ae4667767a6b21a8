/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Verifies that the registers hold what we wrote. Firmware, a hypervisor, KVM for a guest, or
 * anybody who may open /dev/cpu/N/msr can write to registers that we have reserved.
 */
#ifndef PERFCTR_X86_VERIFY_H
#define PERFCTR_X86_VERIFY_H

#include "arch/cpu.h"

/* Sets the function to call after a difference, or NULL. Nothing may be claimed during the call. */
void perfctr_x86_set_changed(perfctr_changed_t handler);

/* Call at init. */
void perfctr_x86_verify_init(void);
/* Call when we have no counters any more. May sleep. */
void perfctr_x86_verify_exit(void);
/*
 * Reports that this CPU does not hold these counters any more, and stops all native counting.
 * Interrupts are off.
 */
void perfctr_x86_report_lost(u32 counters);
/*
 * Begins to verify the registers of this CPU from time to time. We have its counters, and
 * interrupts are off.
 */
void perfctr_x86_watch(void);

#endif /* PERFCTR_X86_VERIFY_H */
