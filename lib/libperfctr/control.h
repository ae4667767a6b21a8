/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control_ARCH.c translates the parts of a control that differ between architectures. Functions
 * that return int return 0, or -1 if the other form has no place for a value.
 */
#ifndef PERFCTR_CONTROL_H
#define PERFCTR_CONTROL_H

#include "internal.h"

/* Returns true if the program has set the members that 2.6 did not have. */
static inline int is_extended(const struct perfctr_cpu_control *cpu)
{
	return cpu->extended == PERFCTR_EXTENDED;
}

/* These translate counter @i. */
perfctr_internal
void perfctr_ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			   unsigned int cpu_type, struct perfctr_ctr_control *to);
perfctr_internal
void perfctr_ctr_from_native(const struct perfctr_ctr_control *from, unsigned int cpu_type,
			     struct perfctr_cpu_control *to, unsigned int i);

/* These translate registers that several of the @n counters use. Only x86 has such registers. */
perfctr_internal
int perfctr_ctrs_shared_to_native(const struct perfctr_cpu_control *from, unsigned int n,
				  unsigned int cpu_type, struct perfctr_ctr_control *to);
perfctr_internal
int perfctr_ctrs_shared_from_native(const struct perfctr_ctr_control *from, unsigned int n,
				    unsigned int cpu_type, struct perfctr_cpu_control *to);

/* These get and set the upper half of config of counter @i, which counts an event of perf's. */
perfctr_internal
__u64 perfctr_ctr_config_high(const struct perfctr_cpu_control *from, unsigned int i);
perfctr_internal
int perfctr_ctr_set_config_high(struct perfctr_cpu_control *to, unsigned int i, unsigned int high);

/* These translate the start value of an i-mode counter. */
perfctr_internal
int perfctr_ireset_to_native(int from, __s64 *to);
perfctr_internal
int perfctr_ireset_from_native(__s64 from, int *to);

#endif /* PERFCTR_CONTROL_H */
