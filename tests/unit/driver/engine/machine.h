/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the machines that the engine runs on */
#ifndef MACHINE_H
#define MACHINE_H

#include "model.h"

/* Are interrupts of perf's counters heard beside ours? */
#ifdef CONFIG_RISCV
#define MACHINE_OTHERS_INTERRUPT	1
#else
#define MACHINE_OTHERS_INTERRUPT	0
#endif

/*
 * The machine of a sequence, by its number, and whether it sees switches by the tracepoint: half of
 * all do, as all kernels that are shipped
 */
const struct model_machine *machine_choose(unsigned int seed, bool *by_tracepoint);
/* The counters that are watched, as a mask */
u32 machine_counters(void);
/* Of the controls, in the order of controls.c: so many can be counted. */
unsigned int machine_nr_controls(void);
/* Is that a metric of TopDown's, and which? */
bool machine_is_metric(const struct perfctr_ctr_control *ctr, unsigned int *metric);
/* Do counters of that control have own ways? */
bool machine_has_own_way(const struct perfctr_ctr_control *ctr, u32 nr);
/* What comes next is another kind of work. */
void machine_vary_work(unsigned int random);
/* Can user mode read registers at all? */
bool machine_shows(void);
/* Has perf a driver? */
bool machine_has_perf(void);
/* What the current CPU lets user mode read; the mm that it is in has changed. */
bool machine_may_read(unsigned int hw);
void machine_switch_mm(void);
/* How often a counter of the current CPU was set to a value */
unsigned int machine_sets(unsigned int hw);
/* What a watched counter of a CPU holds */
u64 machine_value(unsigned int cpu, unsigned int hw);
/* By an instruction of user mode: the counter that a slot of a page is about, the thread */
unsigned int machine_counter(const struct perfctr_page *page, unsigned int i);
u64 machine_thread_pointer(const struct task_struct *task);
void machine_set_thread_pointer(struct task_struct *task, u64 pointer);
/* An overflow interrupt waits at the current CPU; let it come. */
bool machine_irq_waits(void);
void machine_irq(bool user);
#ifdef CONFIG_RISCV
/* One of perf's counters alone, in user mode */
void machine_irq_of_others(void);
#endif
/* What fork() copies of an mm */
void machine_copy_mm(struct mm_struct *to, const struct mm_struct *from);

#endif /* MACHINE_H */
