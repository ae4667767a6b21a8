// SPDX-License-Identifier: GPL-2.0
/* See shared_kit.h. */
#include "shared_kit.h"
#ifdef CONFIG_X86
#include "x86/model_files.h"
#endif
#include "base/account.h"
#include "config/config.h"

#if MODEL_ONE_MODE
/* Events that differ by a threshold alone, which none of them needs */
#define THRICE(n)	CTR_MMCR(ANY, EV_ITLB, USER, THRESHOLD(n)),		\
			CTR_MMCR(ANY, EV_DTLB_READ, USER, THRESHOLD(n)),	\
			CTR_MMCR(ANY, EV_DTLB_WRITE, USER, THRESHOLD(n))
const struct perfctr_ctr_control general[NR_GENERAL] = { THRICE(0), THRICE(1), THRICE(2) };
#else
const struct perfctr_ctr_control general[NR_GENERAL] = {
	CTR(ANY, EV_ITLB, USER), CTR(ANY, EV_DTLB_READ, USER), CTR(ANY, EV_DTLB_WRITE, USER),
	CTR(ANY, EV_ITLB, BOTH), CTR(ANY, EV_DTLB_READ, BOTH), CTR(ANY, EV_DTLB_WRITE, BOTH),
	CTR(ANY, EV_ITLB, KERNEL), CTR(ANY, EV_DTLB_READ, KERNEL),
	CTR(ANY, EV_DTLB_WRITE, KERNEL),
};
#endif

struct perfctr_refusal refusal;
bool shared_untried;
static struct model_ownership at_boot;

void shared_begin(const struct model_machine *machine)
{
	model_boot(machine);
	model_ownership(&at_boot);
	if (shared_untried)
		ck_assert_int_eq(model_pmu_reserve(), 0);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	ck_assert_int_eq(perfctr_config_init(), 0);
	if (shared_untried)
		model_pmu_unreserve();
	model_perf_expect_none();
	model_expect_ownership(&at_boot);
	model_perf_asked = 0;
}

void shared_end(void)
{
	struct perfctr_config *config;

	shim_no_memory = false;
	take_privilege();
	/* The first event set is free, if there are any. */
	config = shared_try(general, 1, SHARED);
	if (!IS_ERR(config)) {
		ck_assert_uint_eq(config->hw[0], 0);
		shared_put(config);
	}
	perfctr_config_exit();
	perfctr_account_exit();
	perfctr_cpu_exit();
	ck_assert_uint_eq(shim_allocations, 0);
	ck_assert_uint_eq(shim_hotplug_locked, 0);
	model_perf_expect_none();
	model_expect_ownership(&at_boot);
#ifdef CONFIG_X86
	ck_assert_int_eq(model_file_refs, 0);
#endif
}

struct perfctr_config *shared_try(const struct perfctr_ctr_control *ctr, u32 nr, u32 source)
{
	struct perfctr_config *config;

	refusal = (struct perfctr_refusal) { 77, 77, 77, 77 };
	config = config_get_current(ctr, nr, source, &refusal);
	ck_assert_uint_eq(shim_hotplug_locked, 0);
	return config;
}

struct perfctr_config *shared_get(const struct perfctr_ctr_control *ctr, u32 nr, u32 source)
{
	struct perfctr_config *config = shared_try(ctr, nr, source);

	ck_assert_msg(!IS_ERR(config), "error %ld, counter %u, owner %u, reason %u",
		      PTR_ERR(config), refusal.index, refusal.owner, refusal.reason);
	ck_assert_uint_eq(refusal.index, NO_INDEX);
	ck_assert_uint_eq(refusal.owner, NOBODY);
	ck_assert_uint_eq(refusal.reason, NO_REASON);
	ck_assert(source == ANY_SOURCE || config->shared == (source == SHARED && nr > 0));
	return config;
}

void shared_put(struct perfctr_config *config)
{
	perfctr_config_put(config, false);
}

void expect_refused(const struct perfctr_ctr_control *ctr, u32 nr, u32 source, int err,
		    u32 index, u32 owner, u32 reason)
{
	unsigned int allocations, live = model_perf_live;
	struct model_ownership before;

	/* The user's account is no part of it. */
	perfctr_broadcasts_made(0);
	allocations = shim_allocations;
	model_ownership(&before);
	ck_assert_int_eq(PTR_ERR(shared_try(ctr, nr, source)), err);
	ck_assert_msg(refusal.index == index && refusal.owner == owner && refusal.reason == reason,
		      "%d: counter %u, owner %u, reason %u", err, refusal.index, refusal.owner,
		      refusal.reason);
	ck_assert_uint_eq(shim_allocations, allocations);
	ck_assert_uint_eq(model_perf_live, live);
	/* perf may have given events other registers meanwhile, which the model moves. */
	if (model_perf_is_idle())
		model_expect_ownership(&before);
}

void expect_counts_as(struct perfctr_config *config, u32 cpus,
		      const struct perfctr_ctr_control *twin)
{
	struct thread thread, other;
	unsigned int cpu, i;

	thread_init(&thread, config);
	thread_init(&other, config);
	thread.twin = twin;
	other.twin = twin;
	for (i = 0; i < 3; i++) {
		for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
			if (!(cpus & BIT(cpu)))
				continue;
			thread_run(&thread, cpu, 1000 + cpu);
			model_execute(MODEL_USER, 777);
			thread_run(&other, cpu, 3000 + i);
		}
	}
	ck_assert_int_eq(thread.error, 0);
	thread_expect_exact(&thread);
	thread_expect_exact(&other);
}

void expect_counts(struct perfctr_config *config, u32 cpus)
{
	expect_counts_as(config, cpus, NULL);
}

void drop_privilege(void)
{
	shim_perfmon_capable = false;
	shim_uid = 1000;
#ifdef CONFIG_X86
	model_rdpmc_of_cpu = "0\n";
#endif
}

void take_privilege(void)
{
	shim_perfmon_capable = true;
	shim_allow_kernel = 0;
	shim_uid = 0;
}

struct perf_event *event_of(const struct perfctr_config *config, u32 i, unsigned int cpu)
{
	struct perf_event *event = model_perf_event(cpu, config->hw[i]);

	ck_assert_msg(event, "CPU %u has no event for counter %u", cpu, i);
	return event;
}
