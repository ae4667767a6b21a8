/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the model share; tests have model_sbi.h. */
#ifndef RISCV_MODEL_INSIDE_H
#define RISCV_MODEL_INSIDE_H

#include "riscv/model_sbi.h"

struct model_hart {
	struct model_ctr ctr[MODEL_CTRS];
	u64 value[MODEL_CTRS];
	u32 scounteren;
	u32 of;
	bool pending;
	u64 time;
};

extern struct model_hart harts[SHIM_CPUS];

extern enum model_owner caller;

u64 ctr_limit(unsigned int hw);
unsigned int nr_hw_ctrs(void);
unsigned int index_of(unsigned int hw);

/* MODEL_CTRS if it is none of the hardware's */
unsigned int hw_of(unsigned long index);
u32 event_counters(unsigned long event, u64 data);
struct sbiret cfg_match(unsigned long base, unsigned long mask, unsigned long flags,
			unsigned long event, u64 data);
struct sbiret start(unsigned long base, unsigned long mask, unsigned long flags, u64 value);
struct sbiret stop(unsigned long base, unsigned long mask, unsigned long flags);

#endif /* RISCV_MODEL_INSIDE_H */
