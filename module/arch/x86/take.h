/* SPDX-License-Identifier: GPL-2.0 */
/* Taking all counters of a CPU, and giving them back as they were */
#ifndef PERFCTR_X86_TAKE_H
#define PERFCTR_X86_TAKE_H

#include <linux/init.h>
#include <linux/types.h>

/*
 * These counters are not used any more, nor these architectural events. Nobody has claimed any.
 * Under config_mutex
 */
void perfctr_x86_drop(u32 counters, u32 events);

/* Logs what the registers of this CPU hold, where the caller stays. */
void __init perfctr_x86_tell_held(void);

/* All below are called with interrupts off, on the CPU that is theirs. */

/* Then nothing counts, and all are zero. A counter counts once its own control enables it. */
void perfctr_x86_take_all(void);
/* Controls are as they were before they were taken, and counters zero. */
void perfctr_x86_release_all(void);
/* Has the firmware set up again what it had counting as they were taken? */
bool perfctr_x86_firmware_returned(void);

#endif /* PERFCTR_X86_TAKE_H */
