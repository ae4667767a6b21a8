/* SPDX-License-Identifier: GPL-2.0 */
/* What user space knows of it, and as much of the kernel's as module/ sees */
#include_next <linux/perf_event.h>
#include "../kernel.h"

#ifndef SHIM_PERF_EVENT_H
#define SHIM_PERF_EVENT_H

#define PERF_EVENT_STATE_ERROR	(-2)
#define PERF_EVENT_STATE_OFF	(-1)
#define PERF_EVENT_STATE_INACTIVE	0
#define PERF_EVENT_STATE_ACTIVE	1

/* An NMI may come after each read, as model_perf.c has it. */
typedef struct {
	u64 value;
} local64_t;
u64 local64_read(const local64_t *l);

struct perf_event;

#define PERF_PMU_CAP_EXTENDED_HW_TYPE	0x0100

struct pmu {
	u32 type;
	int capabilities;
	void (*read)(struct perf_event *event);
};

struct hw_perf_event {
	u64 config;
	int event_base_rdpmc;
	int idx;
	local64_t prev_count;
	struct {
		u64 config;
		unsigned int reg;
	} extra_reg;
};

struct perf_event {
	struct pmu *pmu;
	int state;
	int oncpu;
	unsigned int cpu;
	local64_t count;
	struct perf_event_attr attr;
	struct hw_perf_event hw;
	bool was_read;		/* of the model */
};

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    void (*overflow)(void), void *context);
int perf_event_release_kernel(struct perf_event *event);

#endif /* SHIM_PERF_EVENT_H */
