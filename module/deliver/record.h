/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The records that a thread writes about itself. If a state has no recorder, the functions for
 * fork, exec and exit write nothing.
 */
#ifndef PERFCTR_RECORD_H
#define PERFCTR_RECORD_H

#include <linux/types.h>

struct perfctr_recorder;
struct pt_regs;
struct task_struct;
struct vperfctr;

/*
 * Writes a sample. @regs has the interrupted registers. @regs is NULL if these are not known. Then
 * the sample says that the thread has entered the kernel. @overflown is a mask of the counters that
 * have overflowed. @value has the clock and all sums.
 */
void vperfctr_record_sample(struct vperfctr *perfctr, struct pt_regs *regs, u32 overflown,
			    const u64 *value);
void vperfctr_record_throttled(struct vperfctr *perfctr);
/* Writes a FORK. The parent calls this before the child first runs. */
void vperfctr_record_fork(struct vperfctr *parent, struct vperfctr *perfctr,
			  struct task_struct *child);
void vperfctr_record_exec(struct vperfctr *perfctr);
void vperfctr_record_exit(struct vperfctr *perfctr);
/*
 * Frees a recorder that writes nothing any more. @recorder may be NULL. Call this before the ring
 * is put.
 */
void perfctr_record_free(struct perfctr_recorder *recorder);
int perfctr_record_init(void);
void perfctr_record_exit(void);

#endif /* PERFCTR_RECORD_H */
