/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_WORK_H
#define PERFCTR_WORK_H

#include <linux/workqueue.h>

/*
 * long perfctr_work_on_cpu(cpu, fn, arg): a kernel thread calls fn(arg) on that CPU. Kernels
 * without SMP need a function of ours, since their work_on_cpu() calls fn() in current, with
 * current's privilege.
 */
#ifdef CONFIG_SMP
#define perfctr_work_on_cpu	work_on_cpu
#else
struct perfctr_work {
	struct work_struct work;
	long (*fn)(void *arg);
	void *arg;
	long result;
};

static inline void perfctr_work_fn(struct work_struct *work)
{
	struct perfctr_work *own = container_of(work, struct perfctr_work, work);

	own->result = own->fn(own->arg);
}

static inline long perfctr_work_on_cpu(unsigned int cpu, long (*fn)(void *arg), void *arg)
{
	struct perfctr_work own = { .fn = fn, .arg = arg };

	INIT_WORK_ONSTACK(&own.work, perfctr_work_fn);
	schedule_work(&own.work);
	flush_work(&own.work);
	destroy_work_on_stack(&own.work);
	return own.result;
}
#endif

#endif /* PERFCTR_WORK_H */
