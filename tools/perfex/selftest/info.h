/* SPDX-License-Identifier: GPL-2.0 */
/* Implements --info, which prints the processor, the module, the CPUs, and who has the counters. */
#ifndef PERFEX_INFO_H
#define PERFEX_INFO_H

#include <libperfctr.h>

void print_info(const struct perfctr_info *info);

#endif /* PERFEX_INFO_H */
