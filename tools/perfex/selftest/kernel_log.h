/* SPDX-License-Identifier: GPL-2.0 */
/* x86: what the module logged as it was loaded. */
#ifndef PERFEX_KERNEL_LOG_H
#define PERFEX_KERNEL_LOG_H

/* What instructions cost, if the module has measured it */
void print_costs(void);

#endif /* PERFEX_KERNEL_LOG_H */
