/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The records that a thread writes of itself. If a state has no recorder fork, exec and exit do
 * nothing.
 */
#ifndef PERFCTR_RECORD_H
#define PERFCTR_RECORD_H

#include <linux/types.h>

struct perfctr_recorder;
struct pt_regs;
struct task_struct;
struct vperfctr;

/*
 * A sample. @regs is what was interrupted; NULL: that is not known, and is user mode, or the kernel
 * on behalf of it. @overflown: which counters have overflowed. @value: the clock and all sums
 */
void vperfctr_record_sample(struct vperfctr *perfctr, struct pt_regs *regs, u32 overflown,
			    const u64 *value);
void vperfctr_record_throttled(struct vperfctr *perfctr);
/* The child did not run yet. */
void vperfctr_record_fork(struct vperfctr *parent, struct vperfctr *perfctr,
			  struct task_struct *child);
void vperfctr_record_exec(struct vperfctr *perfctr);
void vperfctr_record_exit(struct vperfctr *perfctr);
/* NULL, or one by which nothing is written any more, before its ring is put */
void perfctr_record_free(struct perfctr_recorder *recorder);
int perfctr_record_init(void);
void perfctr_record_exit(void);

#endif /* PERFCTR_RECORD_H */
