/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_INTERRUPT_H
#define PERFCTR_X86_INTERRUPT_H

#include <linux/types.h>

/* There are counters. ENODEV: there is no local APIC. */
int perfctr_x86_interrupt_init(void);
void perfctr_x86_interrupt_exit(void);
/* Let this CPU's counters interrupt, or as it was before. Interrupts are off. */
void perfctr_x86_take_interrupts(bool take);
/* Of a CPU that is down and will come */
void perfctr_x86_forget_interrupts(unsigned int cpu);

#endif /* PERFCTR_X86_INTERRUPT_H */
