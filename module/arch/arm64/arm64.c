// SPDX-License-Identifier: GPL-2.0
/*
 * arm64: the native driver has the clock, and no counters. The kernel's PMU driver is built in,
 * owns the interrupt, and cannot hand out a counter, so there is nothing to claim.
 */

#include <linux/clocksource.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <asm/arch_timer.h>

#include "arch/cpu.h"

DEFINE_STATIC_KEY_FALSE(perfctr_arm64_unstable);

notrace u64 perfctr_arm64_stable_clock(void)
{
	u64 now;

	preempt_disable_notrace();	/* read(2) reads the clock with preemption on */
	now = arch_timer_reg_read_stable(cntvct_el0);
	preempt_enable_notrace();
	return now;
}

u64 perfctr_cpu_clock_hz(void)
{
	return arch_timer_get_cntfrq();
}

unsigned int perfctr_cpu_nrctrs(void)
{
	return 0;
}

void perfctr_cpu_info(struct perfctr_kernel_info *info)
{
	info->cpu_type = PERFCTR_ARM64_GENERIC;
	info->cpu_features = PERFCTR_FEATURE_RDTSC;
	info->tsc_hz = perfctr_cpu_clock_hz();
	info->no_counters = PERFCTR_NO_COUNTERS_PROCESSOR;
	info->width = 64;
}

int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why)
{
	if (!nr)
		return 0;
	why->index = 0;
	return -EINVAL;
}

size_t perfctr_cpu_image_size(u32 nr)
{
	return 0;
}

int perfctr_cpu_core(const struct perfctr_where *where, u32 *core)
{
	*core = 0;
	return 0;
}

bool perfctr_cpu_is_forbidden(unsigned int cpu)
{
	return false;
}

int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	return 0;
}

void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run)
{
}

void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw)
{
}

int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	return -ENODEV;
}

bool perfctr_cpu_interrupted_user(void)
{
	return false;
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

void perfctr_cpu_join_claims(void)
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

static bool __init is_unstable(unsigned int cpu)
{
	const struct arch_timer_erratum_workaround *workaround =
		per_cpu(timer_unstable_counter_workaround, cpu);

	return workaround && workaround->read_cntvct_el0;
}

int __init perfctr_cpu_init(void)
{
	unsigned int cpu;

	/* Firmware must set the frequency, and some does not. */
	if (!perfctr_cpu_clock_hz())
		return -ENODEV;
	for_each_possible_cpu(cpu)
		if (is_unstable(cpu))
			static_branch_enable(&perfctr_arm64_unstable);
	return 0;
}

void perfctr_cpu_exit(void)
{
}
