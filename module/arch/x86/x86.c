// SPDX-License-Identifier: GPL-2.0
/* x86 processors of any kind: the time-stamp counter as the clock, and no counters. */

#include <linux/errno.h>
#include <linux/init.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>

#include "../../lowlevel.h"

int __init perfctr_cpu_init(void)
{
	return boot_cpu_has(X86_FEATURE_TSC) ? 0 : -ENODEV;
}

void perfctr_cpu_exit(void)
{
}

u64 perfctr_cpu_clock_hz(void)
{
	return (u64)tsc_khz * 1000;
}

unsigned int perfctr_cpu_nrctrs(void)
{
	return 0;
}

void perfctr_cpu_info(struct perfctr_info *info)
{
	info->cpu_type = PERFCTR_X86_GENERIC;
	info->cpu_features = PERFCTR_FEATURE_RDTSC;
	info->cpu_khz = cpu_khz;
	info->tsc_to_cpu_mult = 1;
	info->tsc_hz = (u64)tsc_khz * 1000;
	info->width = 64;
}

int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (ctr[i].ireset)
			return -EOPNOTSUPP;
	return nr ? -EINVAL : 0;
}

int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run, u32 *owner)
{
	return 0;
}

void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run)
{
}

int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	return -ENODEV;
}

void perfctr_cpu_prepare(unsigned int cpu)
{
}

void perfctr_cpu_reserve(unsigned int cpu)
{
}

void perfctr_cpu_unreserve(unsigned int cpu)
{
}

void perfctr_cpu_online(void)
{
}

void perfctr_cpu_offline(void)
{
}

int perfctr_cpu_age(void *unused)
{
	return 0;
}

unsigned long perfctr_cpu_age_period(void)
{
	return 0;
}
