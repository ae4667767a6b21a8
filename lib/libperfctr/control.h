/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control_ARCH.c translates the parts of a control that an architecture has. Functions that return
 * int return -1 if the other form has no place for something.
 */
#ifndef PERFCTR_CONTROL_H
#define PERFCTR_CONTROL_H

#include "internal.h"

/* The program has set the members that 2.6 did not have. */
static inline int is_extended(const struct perfctr_cpu_control *cpu)
{
	return cpu->extended == PERFCTR_EXTENDED;
}

/* Counter @i */
perfctr_internal
void perfctr_ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			   unsigned int cpu_type, struct perfctr_ctr_control *to);
perfctr_internal
void perfctr_ctr_from_native(const struct perfctr_ctr_control *from, unsigned int cpu_type,
			     struct perfctr_cpu_control *to, unsigned int i);

/* Registers that all @n counters share: on x86 only */
perfctr_internal
int perfctr_ctrs_shared_to_native(const struct perfctr_cpu_control *from, unsigned int n,
				  unsigned int cpu_type, struct perfctr_ctr_control *to);
perfctr_internal
int perfctr_ctrs_shared_from_native(const struct perfctr_ctr_control *from, unsigned int n,
				    unsigned int cpu_type, struct perfctr_cpu_control *to);

/* The member that holds the upper half of perf's config */
perfctr_internal
__u64 perfctr_ctr_config_high(const struct perfctr_cpu_control *from, unsigned int i);
perfctr_internal
int perfctr_ctr_set_config_high(struct perfctr_cpu_control *to, unsigned int i, unsigned int high);

/* The start value of an i-mode counter */
perfctr_internal
int perfctr_ireset_to_native(int from, __s64 *to);
perfctr_internal
int perfctr_ireset_from_native(__s64 from, int *to);

#endif /* PERFCTR_CONTROL_H */
