/* SPDX-License-Identifier: GPL-2.0 */
/* x86: what CPUID says. */
#ifndef PERFEX_CPUID_H
#define PERFEX_CPUID_H

#include <stdbool.h>

#include <libperfctr.h>

/* AMD's or Hygon's */
bool is_amd(void);
/* The leaves about performance monitoring, of each type of core */
void print_cpuid(void);
/* Which counters perfctr does not use on purpose, and why */
void print_left_alone(const struct perfctr_info *info);

#endif /* PERFEX_CPUID_H */
