/* SPDX-License-Identifier: GPL-2.0 */
/* Prints what CPUID says on x86. */
#ifndef PERFEX_CPUID_H
#define PERFEX_CPUID_H

#include <stdbool.h>

#include <libperfctr.h>

/* Returns true if the processor is AMD's or Hygon's. */
bool is_amd(void);
/* Prints the leaves about performance monitoring, for each type of core. */
void print_cpuid(void);
/* Prints which counters perfctr deliberately does not use, and why. */
void print_left_alone(const struct perfctr_info *info);

#endif /* PERFEX_CPUID_H */
