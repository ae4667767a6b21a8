/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_INTERRUPT_H
#define PERFCTR_X86_INTERRUPT_H

#include <linux/types.h>

/*
 * Call at init if the counters interrupt. Returns 0, -ENODEV if there is no local APIC, or another
 * error if we cannot use the interrupt.
 */
int perfctr_x86_interrupt_init(void);
void perfctr_x86_interrupt_exit(void);
/* Returns how many NMIs came to this CPU, if we count beside perf. */
unsigned int perfctr_x86_nmis(void);
/*
 * Routes the interrupt of this CPU's counters to us, or restores its old route. Interrupts are off.
 */
void perfctr_x86_take_interrupts(bool take);
/* Call for a CPU that is down and about to come up. */
void perfctr_x86_forget_interrupts(unsigned int cpu);

#endif /* PERFCTR_X86_INTERRUPT_H */
