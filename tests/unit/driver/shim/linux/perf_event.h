/* SPDX-License-Identifier: GPL-2.0 */
/* What user space knows of it is enough. */
#include_next <linux/perf_event.h>
#include "../kernel.h"

#ifndef SHIM_PERF_EVENT_H
#define SHIM_PERF_EVENT_H

#define PERF_EVENT_STATE_ERROR	(-2)
#define PERF_EVENT_STATE_ACTIVE	1

struct perf_event {
	int state;
	unsigned int cpu;
	unsigned int hw;
};

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    void (*overflow)(void), void *context);
int perf_event_release_kernel(struct perf_event *event);

#endif /* SHIM_PERF_EVENT_H */
