/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_VIRT_H
#define PERFCTR_X86_VIRT_H

/* Call once perfctr_pmu is known: see its @reloaded. May sleep. */
void perfctr_x86_virt_init(void);
void perfctr_x86_virt_exit(void);

#endif /* PERFCTR_X86_VIRT_H */
