/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_RISCV_CHOOSE_H
#define PERFCTR_RISCV_CHOOSE_H

#include <linux/types.h>

/*
 * Returns cycle or instret if only that counter counts the event. Otherwise returns
 * PERFCTR_MAP_ANY, which stands for any programmable counter.
 */
u32 perfctr_riscv_fixed_for(u64 event);

#endif /* PERFCTR_RISCV_CHOOSE_H */
