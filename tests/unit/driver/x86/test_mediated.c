// SPDX-License-Identifier: GPL-2.0
/* mediated.c: guests of KVM's that have the counters for themselves, who reserve nothing. */
#include "tests.h"
#include "base/account.h"
#include "config/config.h"

static const struct perfctr_ctr_control one[] = { CTR(0, EV_INSTRUCTIONS, USER) };

static struct model_ownership at_boot;

static void begin(bool no_probe)
{
	struct model_machine machine = model_v4;

	machine.no_guest_probe = no_probe;
	model_boot(&machine);
	model_ownership(&at_boot);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	ck_assert_int_eq(perfctr_config_init(), 0);
}

static void end(void)
{
	perfctr_config_exit();
	perfctr_cpu_exit();
	perfctr_account_exit();
	model_perf_expect_none();
	model_expect_ownership(&at_boot);
	/* Nobody hears of it any more. */
	model_guest_begins(0);
	ck_assert_uint_eq(shim_work_delay(), 0);
	ck_assert_uint_eq(shim_allocations, 0);
}

static struct perfctr_config *get(struct perfctr_refusal *why)
{
	return config_get_current(one, 1, PERFCTR_SOURCE_NATIVE, why);
}

static void expect_refused(void)
{
	struct perfctr_refusal why;
	struct model_ownership before;

	model_ownership(&before);
	model_calls_reset();
	ck_assert_int_eq(PTR_ERR(get(&why)), -EBUSY);
	ck_assert_uint_eq(why.reason, PERFCTR_REASON_MEDIATED);
	ck_assert_uint_eq(why.owner, PERFCTR_OWNER_NONE);
	ck_assert_uint_eq(model_all_writes(), 0);
	model_expect_ownership(&before);
}

static void expect_counts(void)
{
	struct perfctr_refusal why;
	struct perfctr_config *config = get(&why);
	struct thread thread;

	ck_assert_msg(!IS_ERR(config), "%ld", PTR_ERR(config));
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
	perfctr_config_put(config, false);
}

/* It was there before we were loaded. Row 1: nothing can be probed. */
START_TEST(guest_is_there)
{
	model_perf_guests = 1;
	begin(_i);
	expect_refused();
	model_guest_begins(0);
	model_perf_guests--;
	expect_refused();
	model_perf_guests--;
	expect_counts();
	end();
}
END_TEST

/* There is no memory to ask perf: nobody counts, and it is asked again. */
START_TEST(guest_of_whom_nobody_can_ask)
{
	struct perfctr_refusal why;
	unsigned int n;

	model_perf_guests = 1;
	begin(_i);
	/* The config, and the event by which perf is asked */
	for (n = 1; n <= 2; n++) {
		shim_fail_nth = n;
		ck_assert_int_eq(PTR_ERR(get(&why)), -ENOMEM);
		ck_assert_uint_eq(shim_fail_nth, 0);
		ck_assert_uint_eq(why.reason, PERFCTR_REASON_NONE);
	}
	expect_refused();
	model_perf_guests = 0;
	expect_counts();
	end();
}
END_TEST

/* Who counts is stopped before the guest runs, and nobody starts until it has gone. */
START_TEST(guest_begins)
{
	struct perfctr_refusal why;
	struct perfctr_config *config;

	begin(false);
	config = get(&why);
	ck_assert_int_eq(load_on(0, config), 0);
	/* Perf refuses this one. */
	model_guest_begins(-EBUSY);
	shim_work(false);
	ck_assert_uint_eq(config->evicted, 0);
	model_guest_begins(0);
	shim_work(false);
	ck_assert_uint_eq(config->evicted, PERFCTR_ERROR_CHANGED);
	ck_assert_uint_eq(model_owned(0, MODEL_DRIVER), 0);
	expect_refused();
	perfctr_config_put(config, false);
	model_perf_guests = 0;
	expect_counts();
	end();
}
END_TEST

/* The clock, and counters of perf's, which count no guests, go on. */
START_TEST(others_go_on)
{
	struct perfctr_config *clock, *shared;
	struct perfctr_refusal why;

	begin(false);
	clock = config_get_current(one, 0, PERFCTR_SOURCE_ANY, &why);
	ck_assert(!IS_ERR(clock));
	model_guest_begins(0);
	shared = config_get_current(one, 1, PERFCTR_SOURCE_ANY, &why);
	ck_assert_msg(!IS_ERR(shared), "%ld", PTR_ERR(shared));
	ck_assert(shared->shared);
	shim_work(false);
	ck_assert_uint_eq(clock->evicted, 0);
	ck_assert_uint_eq(shared->evicted, 0);
	perfctr_config_put(shared, false);
	perfctr_config_put(clock, false);
	end();
}
END_TEST

void test_mediated(void)
{
	unit_begin("x86_mediated");
	unit_run(guest_is_there, 2);
	unit_run(guest_of_whom_nobody_can_ask, 2);
	UNIT_RUN(guest_begins);
	UNIT_RUN(others_go_on);
}
