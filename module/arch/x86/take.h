/* SPDX-License-Identifier: GPL-2.0 */
/* Takes all counters of a CPU, and gives them back with their old controls. */
#ifndef PERFCTR_X86_TAKE_H
#define PERFCTR_X86_TAKE_H

#include <linux/init.h>
#include <linux/types.h>

/*
 * Removes these counters and architectural events from perfctr_pmu. Call before anything is
 * claimed. The caller holds config_mutex.
 */
void perfctr_x86_drop(u32 counters, u32 events);

/* Logs what the registers of this CPU hold. The caller stays on this CPU. */
void __init perfctr_x86_log_registers(void);

/* Call the functions below on the CPU that they act on, with interrupts off. */

/*
 * Takes all counters of this CPU. Afterwards all counters are zero, and each counter counts as soon
 * as its own control enables it.
 */
void perfctr_x86_take_all(void);
/* Restores the control registers as they were before we took them, and zeroes the counters. */
void perfctr_x86_release_all(void);
/* Returns true if firmware has written its old value to a control register that we took from it. */
bool perfctr_x86_firmware_returned(void);

#endif /* PERFCTR_X86_TAKE_H */
