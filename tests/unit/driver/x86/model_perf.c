// SPDX-License-Identifier: GPL-2.0
/* perf_events is not there, so nobody counts through it. */

#include "model_msr.h"
#include "shim/linux/perf_event.h"

u64 perfctr_x86_shared_mask;

void perfctr_x86_shared_init(void)
{
}

bool perfctr_cpu_shared_inline(const struct perf_event *event)
{
	return false;
}

int perfctr_cpu_shared_attr(const struct perfctr_ctr_control *ctr,
			    struct perfctr_shared_attr *attr)
{
	return -EINVAL;
}

bool perfctr_cpu_shared_needs_privilege(const struct perfctr_shared_attr *attr)
{
	return false;
}

bool perfctr_cpu_shared_is_exact(const struct perf_event *event)
{
	return true;
}

bool perfctr_cpu_shared_is_general(const struct perf_event *event)
{
	return true;
}

unsigned int perfctr_cpu_shared_generals(void)
{
	return 0;
}

bool perfctr_cpu_shared_discloses(void)
{
	return true;
}

bool perfctr_cpu_shared_hides(const struct perf_event *event)
{
	return false;
}

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    void (*overflow)(void), void *context)
{
	return ERR_PTR(-ENOENT);
}

int perf_event_release_kernel(struct perf_event *event)
{
	return 0;
}
