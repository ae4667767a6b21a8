/* SPDX-License-Identifier: GPL-2.0 */
/* Does KVM give a guest the counters themselves, behind the back of those who reserved them? */
#ifndef PERFCTR_X86_MEDIATED_H
#define PERFCTR_X86_MEDIATED_H

#include <linux/types.h>

#include "arch/cpu.h"

#if defined(CONFIG_PERF_GUEST_MEDIATED_PMU) && defined(CONFIG_KRETPROBES)

/* @handler: called in atomic context when such a guest begins. May sleep. */
void perfctr_x86_mediated_init(perfctr_changed_t handler);
void perfctr_x86_mediated_exit(void);
/*
 * EBUSY: there is such a guest; ENOMEM: who knows? config_mutex is held. @taken: the counters are
 * ours, and there was none as we took them. May sleep.
 */
int perfctr_x86_mediated(bool taken);

#else

static inline void perfctr_x86_mediated_init(perfctr_changed_t handler)
{
}

static inline void perfctr_x86_mediated_exit(void)
{
}

static inline int perfctr_x86_mediated(bool taken)
{
	return 0;
}

#endif

#endif /* PERFCTR_X86_MEDIATED_H */
