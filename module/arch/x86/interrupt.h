/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_INTERRUPT_H
#define PERFCTR_X86_INTERRUPT_H

#include <linux/types.h>

/* ENODEV: there is no local APIC. */
int perfctr_x86_interrupt_init(void);
/* Let this CPU's counters interrupt, or as it was before. Interrupts are off. */
void perfctr_x86_take_interrupts(bool take);
/* x86.c: how many counters came to zero since; in the NMI. */
unsigned int perfctr_x86_acknowledge(void);

#endif /* PERFCTR_X86_INTERRUPT_H */
