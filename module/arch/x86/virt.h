/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_VIRT_H
#define PERFCTR_X86_VIRT_H

/* Call at init after perfctr_pmu is filled in: see its member @reloaded. May sleep. */
void perfctr_x86_virt_init(void);
void perfctr_x86_virt_exit(void);

#endif /* PERFCTR_X86_VIRT_H */
