// SPDX-License-Identifier: GPL-2.0
/* Scenes in which somebody else takes counters, or writes to registers */
#include "engine/world.h"
#include "unit.h"
#include "perf/shared.h"
#include "thread/kin.h"
#include "switch/resume.h"
#include "deliver/read.h"
#include "config/config.h"
#include "config/permit.h"
#include "calls/handle.h"
#include "engine/scenes.h"

#ifdef CONFIG_RISCV

/*
 * Counters through perf, which loses them at some point. What was counted until then stays, the
 * state says LOST, and nobody else is affected.
 */
/*
 * The firmware does not start a counter as the thread comes: the state is lost, with what it had
 * counted, and its thread may read no register, by RAW either. The next control counts again.
 */
static const struct {
	const char *name;
	const struct control *control;
	bool raw;
	unsigned int after;
} refusals[] = {
	{ "a load", &controls[0], false, 0 },
	{ "a load, with RAW", &controls[0], true, 0 },
	{ "a start of i-mode counters", &controls[7], false, 0 },
	{ "a start of i-mode counters after the others", &controls[6], false, 1 },
};

START_TEST(the_firmware_starts_nothing)
{
	const unsigned int row = (unsigned int)_i / 2;
	struct thread *thread, *other;

	seed = _i % 2 ? 4 : 1;
	nobody_calls = true;
	engine_begin();
	if (refusals[row].raw) {
		perfctr_user_read_asked = PERFCTR_USER_READ_OPEN;
		perfctr_policy_changed();
	}
	other = begin_thread(0);
	thread = begin_thread(0);
	to_cpu(0);
	switch_to(other);
	set_control(other, &controls[2], NULL, true, 0, 0);
	run_on(0, thread);
	set_control(thread, refusals[row].control, NULL, true, 0,
		    refusals[row].raw ? PERFCTR_CONTROL_RAW : 0);
	run_on(0, thread);
	ck_assert_int_eq(machine_may_read(FIRST), refusals[row].raw);
	run_on(0, other);
	model_fail(SBI_EXT_PMU_COUNTER_START, refusals[row].after, 1, SBI_ERR_FAILURE);
	switch_to(thread);
	return_to_user();
	ck_assert_uint_eq(state_of(thread)->error, PERFCTR_ERROR_LOST);
	ck_assert(!machine_may_read(FIRST));
	model_execute(MODEL_USER, 500);
	expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	switch_to(&idle[0]);
	switch_to(thread);
	return_to_user();
	expect_error_and_sums(thread, PERFCTR_ERROR_LOST);
	set_control(thread, refusals[row].control, NULL, true, 0, 0);
	run_on(0, other);
	run_on(0, thread);
	expect_sums(thread);
	expect_sums(other);
	engine_end();
}
END_TEST

/*
 * Root evicts a thread that may be between its look at the page and its read of a register. So it
 * keeps its permission, while it stays on its CPU, but for a time.
 */
START_TEST(evicted_while_it_reads)
{
	struct thread *reader;

	seed = 1;
	nobody_calls = true;
	engine_begin();
	reader = begin_thread(0);
	to_cpu(0);
	switch_to(reader);
	set_control(reader, &controls[0], NULL, true, 0, 0);
	do_map(reader);
	run_on(0, reader);
	ck_assert(machine_may_read(FIRST));
	if (_i)
		switch_to(&idle[0]);
	to_cpu(1);
	perfctr_config_evict(true, KUIDT_INIT(0));
	ck_assert_int_eq(perfctr_late_readers, !_i);
	to_cpu(0);
	ck_assert_int_eq(machine_may_read(FIRST), !_i);
	shim_work(true);
	ck_assert(!perfctr_late_readers && !machine_may_read(FIRST));
	switch_to(reader);
	return_to_user();
	ck_assert(!machine_may_read(FIRST));
	expect_error_and_sums(reader, PERFCTR_ERROR_LOST);
	engine_end();
}
END_TEST
#endif

#ifdef CONFIG_X86
/* ANY takes the source that is in use, and our own registers if none is. */
START_TEST(any_takes_what_is_in_use)
{
	const struct control *any = &shared_controls[4];
	struct thread *thread, *other;

	seed = _i ? 12 : 48;
	engine_begin();
	thread = begin_shared(&shared_controls[1]);
	other = begin_shared(any);
	expect_counts_on(0, other);
	expect_counts_on(1, thread);
	to_cpu(0);
	switch_to(thread);
	do_unlink(thread);
	switch_to(other);
	do_unlink(other);
	set_control(other, any, NULL, true, 0, 0);
	ck_assert(!is_shared(other));
	ck_assert(other->control && other->control->source == PERFCTR_SOURCE_ANY);
	switch_to(&idle[0]);
	expect_counts_on(1, other);
	/* And so the other one is refused. */
	to_cpu(0);
	switch_to(thread);
	set_control(thread, &shared_controls[1], NULL, true, 0, 0);
	ck_assert_uint_eq(nr.refused, 1);
	expect_counts_on(0, other);
	engine_end();
}
END_TEST
#endif

#ifdef CONFIG_X86
/*
 * Somebody else writes to registers of CPU 0 while a thread counts there. Whoever counts by them
 * has an error that says so, by the next switch, tick or end of counting, and no sooner.
 */
enum notice { BY_THE_TIMER, AT_THE_NEXT_SWITCH, AT_UNLINK, AT_SUSPEND, AT_EXIT, AT_PRESERVE,
	      NOTICES };

START_TEST(registers_are_changed)
{
	struct perfctr_control again = { PERFCTR_CONTROL_INIT, .nractrs = 1, .preserve = 1 };
	struct thread *thread, *sleeper, *clock;
	struct perfctr_read read = { .size = sizeof(read) };
	struct handle *handle;

	seed = 1;
	engine_begin();
	thread = begin_thread(0);
	sleeper = begin_thread(0);
	clock = begin_thread(0);
	run_on(1, clock);
	set_control(clock, &controls[5], NULL, true, 0, 0);
	run_on(0, sleeper);
	set_control(sleeper, &controls[0], NULL, true, 0, 0);
	run_on(0, thread);
	set_control(thread, &controls[0], NULL, true, 0, 0);
	run_on(0, thread);
	handle = thread->handle;
	shim_jiffies++;
	ck_assert_uint_eq(shim_timers(0), 1);
	expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
	model_set_msr(0, model_global_ctrl(), 0);
	shim_jiffies++;
	switch (_i) {
	case BY_THE_TIMER:
		ck_assert_uint_eq(shim_timers(0), 1);
		expect_error_and_sums(thread, PERFCTR_ERROR_NONE);
		to_cpu(1);
		shim_work(false);
		to_cpu(0);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	case AT_THE_NEXT_SWITCH:
		/* The work that evicts comes later; until then it may be handed on to its kin. */
		ck_assert_uint_eq(shim_timers(0), 1);
		switch_to(&idle[0]);
		switch_to(sleeper);
		expect_error_and_sums(sleeper, PERFCTR_ERROR_CHANGED);
		switch_to(thread);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	case AT_UNLINK:
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_UNLINK, NULL), 0);
		break;
	case AT_SUSPEND:
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_SUSPEND, NULL), 0);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	case AT_EXIT:
		do_exit(thread);
		break;
	default:
		again.ctr[0] = controls[0].ctr[0];
		again.source = NATIVE;
		ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_CONTROL, &again), -EIO);
		expect_error_and_sums(thread, PERFCTR_ERROR_CHANGED);
		break;
	}
	ck_assert_int_eq(engine_ioctl(handle, PERFCTR_IOC_READ, &read), -EIO);
	ck_assert_uint_eq(read.error, PERFCTR_ERROR_CHANGED);
	/* Then for whoever has the same counters, wherever; and for nobody without counters. */
	shim_work(false);
	to_cpu(1);
	switch_to(sleeper);
	expect_error_and_sums(sleeper, PERFCTR_ERROR_CHANGED);
	run_on(1, clock);
	expect_error_and_sums(clock, PERFCTR_ERROR_NONE);
	/* The next control takes them anew. */
	switch_to(sleeper);
	set_control(sleeper, &controls[0], NULL, true, 0, 0);
	expect_counts_on(1, sleeper);
	expect_counts_on(0, sleeper);
	engine_end();
}
END_TEST

/*
 * A Pentium 4's second hyperthreads count nothing: whoever is to count natively is kept off them, and stays
 * so. If the control comes to nothing it may run where it could before. Who comes there all the same is lost, with
 * SIGILL.
 */
static long control_on_p4(struct thread *thread, u32 nractrs)
{
	struct perfctr_control arg = {
		PERFCTR_CONTROL_INIT,
		.tsc_on = 1, .nractrs = nractrs, .source = NATIVE,
		/* Instructions */
		.ctr[0] = { .map = 17, .event = P4_CCCR(4), .config = P4_ESCR(2, 1), .flags = USER },
	};

	return engine_ioctl(thread->handle, PERFCTR_IOC_CONTROL, &arg);
}

static void expect_on_p4(const struct thread *thread, u32 error)
{
	struct perfctr_read read = { .size = sizeof(read) };

	ck_assert_int_eq(engine_ioctl(thread->handle, PERFCTR_IOC_READ, &read), error ? -EIO : 0);
	ck_assert_uint_eq(read.error, error);
	ck_assert_uint_eq(read.sum[0], 1000);
}

START_TEST(kept_off_hyperthreads)
{
	struct perfctr_open open = {
		.size = sizeof(open), .flags = PERFCTR_OPEN_CREAT | PERFCTR_OPEN_THREAD,
	};
	struct thread *thread, *tracee;
	unsigned long everywhere, firsts;
	unsigned int n, time;
	long err;

	seed = _i ? 12 : 48;
	hyperthreads = true;
	engine_begin();
	ck_assert(perfctr_cpu_is_forbidden(1) && !perfctr_cpu_is_forbidden(2));
	thread = begin_thread(0);
	everywhere = thread->task.cpus_mask.bits;
	firsts = everywhere & ~BIT(1);
	run_on(0, thread);
	/* The clock counts everywhere. */
	set_control(thread, &controls[5], NULL, true, 0, 0);
	ck_assert_uint_eq(thread->task.cpus_mask.bits, everywhere);
	/* The first time asks what is known the second time: points move. */
	for (time = 0; time < 2; time++) {
		thread->task.cpus_mask.bits = everywhere;
		ck_assert_int_eq(control_on_p4(thread, 0), 0);
		for (n = 1;; n++) {
			shim_work(true);
			shim_fail_nth = n;
			err = control_on_p4(thread, 1);
			if (shim_fail_nth)
				break;
			ck_assert_msg(err == -ENOMEM || err == -EFAULT, "%ld at point %u", err, n);
			ck_assert_uint_eq(thread->task.cpus_mask.bits, everywhere);
		}
		shim_fail_nth = 0;
		ck_assert_int_eq(err, 0);
		ck_assert_uint_eq(thread->task.cpus_mask.bits, firsts);
	}
	ck_assert_int_eq(control_on_p4(thread, 1), 0);
	ck_assert_uint_eq(thread->task.cpus_mask.bits, firsts);
	return_to_user();
	model_execute(MODEL_USER, 1000);
	expect_on_p4(thread, PERFCTR_ERROR_NONE);
	/* It is sent there. */
	switch_to(&idle[0]);
	to_cpu(1);
	switch_to(thread);
	return_to_user();
	ck_assert_uint_eq(shim_ills, 1);
	model_execute(MODEL_USER, 500);
	expect_on_p4(thread, PERFCTR_ERROR_LOST);
	/* It may run nowhere else, or wants the clock alone. */
	thread->task.cpus_mask.bits = BIT(1);
	ck_assert_int_eq(control_on_p4(thread, 1), -EINVAL);
	ck_assert_int_eq(control_on_p4(thread, 0), 0);
	ck_assert_uint_eq(thread->task.cpus_mask.bits, BIT(1));
	/* A tracee, which still has a CPU as its tracer is killed */
	tracee = begin_thread(0);
	tracee->handle = kzalloc(sizeof(*tracee->handle), GFP_KERNEL);
	tracee->handle->refs = 1;
	open.tid = tracee->task.pid->nr;
	trace(tracee);
	ck_assert_int_eq(engine_ioctl(tracee->handle, PERFCTR_IOC_OPEN, &open), 0);
	tracee->task.on_cpu = 1;
	shim_killed = true;
	ck_assert_int_eq(control_on_p4(tracee, 1), -EINTR);
	ck_assert_uint_eq(tracee->task.cpus_mask.bits, everywhere);
	tracee->task.on_cpu = 0;
	shim_killed = false;
	ck_assert_int_eq(control_on_p4(tracee, 1), 0);
	ck_assert_uint_eq(tracee->task.cpus_mask.bits, firsts);
	untrace(tracee);
	to_cpu(2);
	switch_to(tracee);
	return_to_user();
	model_execute(MODEL_USER, 1000);
	expect_on_p4(tracee, PERFCTR_ERROR_NONE);
	engine_end();
}
END_TEST

static const char *const policies[] = { "off", "guarded", "open" };

/*
 * AMD's amd_uncore comes, whose counters RDPMC reads too: under "guarded" nobody may execute it any
 * more as that begins, and nobody dies of it. "open" is root's word.
 */
START_TEST(counters_of_others_come)
{
	unsigned int from = (unsigned int)_i, left;
	struct thread *thread;

	seed = 20;
	counters_outside = true;
	engine_begin();
	ck_assert(model_is_amd());
	perfctr_user_read_asked = from;
	perfctr_policy_changed();
	thread = begin_thread(0);
	to_cpu(0);
	switch_to(thread);
	set_control(thread, &controls[0], NULL, true, 0, 0);
	do_map(thread);
	run_on(0, thread);
	ck_assert_uint_eq(perfctr_user_read, from);
	ck_assert_msg(model_pce[0] == (from != PERFCTR_USER_READ_OFF), "%s", policies[from]);
	model_module_comes("amd_uncore");
	look();
	left = from == PERFCTR_USER_READ_OPEN ? PERFCTR_USER_READ_OPEN : PERFCTR_USER_READ_OFF;
	ck_assert_uint_eq(perfctr_user_read, left);
	ck_assert_msg(model_pce[0] == (left == PERFCTR_USER_READ_OPEN), "%s", policies[from]);
	run_on(0, thread);
	/* It stays so, whatever is asked, but for "open". */
	perfctr_user_read_asked = PERFCTR_USER_READ_GUARDED;
	perfctr_policy_changed();
	look();
	ck_assert_uint_eq(perfctr_user_read, PERFCTR_USER_READ_OFF);
	run_on(0, thread);
	perfctr_user_read_asked = PERFCTR_USER_READ_OPEN;
	perfctr_policy_changed();
	look();
	run_on(0, thread);
	ck_assert(model_pce[0]);
	engine_end();
}
END_TEST
#endif

void test_scenes_taken(void)
{
#ifdef CONFIG_X86
	unit_run(any_takes_what_is_in_use, 2);
	unit_run(registers_are_changed, NOTICES);
	UNIT_ROWS(counters_of_others_come, policies);
	unit_run(kept_off_hyperthreads, 2);
#endif
#ifdef CONFIG_RISCV
	unit_run(the_firmware_starts_nothing, 2 * ARRAY_SIZE(refusals));
	unit_run(evicted_while_it_reads, 2);
#endif
}
