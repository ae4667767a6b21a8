/* SPDX-License-Identifier: GPL-2.0 */
/* Prints what the module logged on x86 when it was loaded. */
#ifndef PERFEX_KERNEL_LOG_H
#define PERFEX_KERNEL_LOG_H

/* Prints what instructions cost, if the module has measured that. */
void print_costs(void);

#endif /* PERFEX_KERNEL_LOG_H */
