/* SPDX-License-Identifier: GPL-2.0 */
/* Does KVM give a guest the counters, although somebody else has reserved them? */
#ifndef PERFCTR_X86_MEDIATED_H
#define PERFCTR_X86_MEDIATED_H

#include <linux/types.h>

#include "arch/cpu.h"

#if defined(CONFIG_PERF_GUEST_MEDIATED_PMU) && defined(CONFIG_KRETPROBES)

/* @handler: called in atomic context when such a guest begins. May sleep. */
void perfctr_x86_mediated_init(perfctr_changed_t handler);
void perfctr_x86_mediated_exit(void);
/*
 * EBUSY: there is such a guest; ENOMEM: not known. config_mutex is held. @taken: we have the
 * counters, and there was no such guest when we took them. May sleep.
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
