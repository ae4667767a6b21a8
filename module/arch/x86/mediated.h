/* SPDX-License-Identifier: GPL-2.0 */
/* Finds guests to which KVM gives the counters, although somebody else has reserved them. */
#ifndef PERFCTR_X86_MEDIATED_H
#define PERFCTR_X86_MEDIATED_H

#include <linux/types.h>

#include "arch/cpu.h"

#if defined(CONFIG_PERF_GUEST_MEDIATED_PMU) && defined(CONFIG_KRETPROBES)

/* Sets a handler, which is called in atomic context when such a guest begins. May sleep. */
void perfctr_x86_mediated_init(perfctr_changed_t handler);
void perfctr_x86_mediated_exit(void);
/*
 * Returns 0, or -EBUSY if there is such a guest, or -ENOMEM if that cannot be found out. @taken
 * says that we have the counters, and that there was no such guest when we took them. The caller
 * holds config_mutex. May sleep.
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
