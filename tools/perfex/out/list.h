/* SPDX-License-Identifier: GPL-2.0 */
/* Implements --list, which prints the events. */
#ifndef PERFEX_LIST_H
#define PERFEX_LIST_H

#include <libperfctr.h>

void print_list(const struct perfctr_info *info);
/* Prints the names of events without asking the module. */
void print_names(void);

#endif /* PERFEX_LIST_H */
