/* SPDX-License-Identifier: GPL-2.0 */
/* --info: the processor, the module and the CPUs, and who has the counters. */
#ifndef PERFEX_INFO_H
#define PERFEX_INFO_H

#include <libperfctr.h>

void print_info(const struct perfctr_info *info);

#endif /* PERFEX_INFO_H */
