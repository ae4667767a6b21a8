// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the place of arch/x86/beside.c and intel/beside.c. The model of perf_events has no struct pmu, so no
 * modelled machine counts beside perf; the guests do (tests/guest/suites/test_sharing_held.c). Only what a refusal
 * leads to is tried here.
 */
#include <check.h>

#include "x86/model_msr.h"
#include "arch/x86/beside.h"
#include "arch/x86/intel/intel.h"

int model_hold_error;

void perfctr_x86_beside_init(void)
{
}

void perfctr_x86_beside_exit(void)
{
}

int perfctr_x86_beside_hold(const struct perfctr_config *config, u32 counters, u32 *busy)
{
	(void)config;
	ck_assert_msg(model_hold_error, "held beside perf");
	*busy = counters;
	return model_hold_error;
}

u32 perfctr_x86_beside_fit(const struct perfctr_ctr_control *ctr)
{
	(void)ctr;
	ck_assert_msg(model_hold_error, "fits beside perf");
	return ~0U;
}

bool perfctr_x86_beside_is_last(u32 counters)
{
	(void)counters;
	ck_assert_msg(model_hold_error, "held beside perf");
	return false;
}

void perfctr_x86_beside_join(unsigned int cpu)
{
	(void)cpu;
	ck_abort_msg("held beside perf");
}

void perfctr_x86_beside_keep(u32 counters)
{
	ck_assert_msg(model_hold_error && !counters, "kept beside perf");
}

void perfctr_x86_beside_stop_others(u32 counters)
{
	ck_assert_msg(model_hold_error && !counters, "stopped beside perf");
}

void perfctr_x86_beside_forget(unsigned int cpu)
{
	(void)cpu;
	ck_abort_msg("forgotten beside perf");
}

bool perfctr_x86_beside_has_lost(void)
{
	ck_assert_msg(model_hold_error, "lost beside perf");
	return false;
}

u32 perfctr_x86_beside_held(void)
{
	ck_abort_msg("held beside perf");
}

void perfctr_x86_beside_take(void)
{
	ck_abort_msg("taken beside perf");
}

bool perfctr_intel_beside(void)
{
	return false;
}

u64 perfctr_intel_placeholder(unsigned int idx)
{
	(void)idx;
	ck_abort_msg("a placeholder beside perf");
}

int perfctr_intel_perf_fixed(u64 select, bool *only)
{
	(void)select;
	*only = false;
	ck_abort_msg("an event beside perf");
}
