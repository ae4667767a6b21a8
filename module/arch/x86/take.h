/* SPDX-License-Identifier: GPL-2.0 */
/* Takes all counters of a CPU, and gives them back as they were. */
#ifndef PERFCTR_X86_TAKE_H
#define PERFCTR_X86_TAKE_H

#include <linux/init.h>
#include <linux/types.h>

/*
 * Stops using these counters and architectural events. Nobody has claimed any. Under config_mutex
 */
void perfctr_x86_drop(u32 counters, u32 events);

/* Logs what the registers of this CPU hold. The caller stays on it. */
void __init perfctr_x86_log_registers(void);

/* Call the functions below on the CPU that they act on, with interrupts off. */

/*
 * Afterwards nothing counts, and all counters are zero. A counter counts when its own control
 * enables it.
 */
void perfctr_x86_take_all(void);
/* Restores the controls as they were before they were taken, and zeroes the counters. */
void perfctr_x86_release_all(void);
/* Has the firmware set up again the counters that it had when we took them? */
bool perfctr_x86_firmware_returned(void);

#endif /* PERFCTR_X86_TAKE_H */
