// SPDX-License-Identifier: GPL-2.0
/* RISC-V: counters through perf. Its driver programs them through the SBI, as riscv.c does. */

#include <linux/errno.h>
#include <linux/perf_event.h>

#include "registers.h"

/* As drivers/perf/riscv_pmu_sbi.c translates them: the numbers of SBI begin with 1. */
#define HW_NONE		0
#define HW_MAX		(PERF_COUNT_HW_MAX + 1)

/* Cache event code: cache in bits 3..15, operation in bits 1..2, result in bit 0 */
static u64 cache_config(u32 code)
{
	return code >> 3 | (code >> 1 & 3) << 8 | (code & 1) << 16;
}

int perfctr_cpu_shared_attr(const struct perfctr_ctr_control *ctr,
			    struct perfctr_shared_attr *attr)
{
	u32 code = SBI_EVENT_CODE(ctr->event);

	if (ctr->event == SBI_EVENT_RAW) {
		if (ctr->config >> SBI_RAW_BITS)
			return -EINVAL;
		attr->type = PERF_TYPE_RAW;
		attr->config = ctr->config;
		return 0;
	}
	if (ctr->config)
		return -EINVAL;
	switch (SBI_EVENT_TYPE(ctr->event)) {
	case SBI_TYPE_HW:
		if (code == HW_NONE || code >= HW_MAX)
			return -EINVAL;
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = code - 1;
		return 0;
	case SBI_TYPE_CACHE:
		attr->type = PERF_TYPE_HW_CACHE;
		attr->config = cache_config(code);
		return 0;
	}
	return -EINVAL;
}

bool perfctr_cpu_shared_is_general(const struct perf_event *event)
{
	/* Its number is the firmware's. */
	return event->hw.idx >= PERFCTR_RISCV_HPM;
}

unsigned int perfctr_cpu_shared_generals(void)
{
	return hweight32(perfctr_pmu.programmable);
}
