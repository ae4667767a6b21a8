// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions, in random sequences of their own, since a native one keeps native counters from all
 * threads: what a CPU counted is what all threads executed there in user mode, while the session
 * ran, whatever happens to the CPU, to its registers, and to the policy.
 */
#include "engine/world.h"
#include "unit.h"
#include "thread/kin.h"
#include "thread/notify.h"
#include "config/permit.h"
#include "calls/handle.h"

/* Of one CPU: what it is to count */
struct part {
	const struct control *control;	/* NULL: nothing */
	struct model_tally seen;
	u32 policies;
	bool own_way;
};

static struct handle session;
static struct part parts[NR_CPUS];
static bool is_running;
static unsigned int nr_compared, nr_refused;

static bool counts_natively(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		if (parts[cpu].control && parts[cpu].control->source == NATIVE)
			return true;
	return false;
}

/* User mode alone: the driver's own instructions are the kernel's. */
static const struct control *choose(void)
{
	const struct control *control;
	u32 i;

	do {
		control = machine_has_perf() && rnd(2) ? &shared_controls[rnd(nr_shared_controls)] :
							 &controls[rnd(machine_nr_controls())];
		for (i = 0; i < control->nractrs && control->ctr[i].flags == USER; i++)
			;
	} while (control->nrictrs || i < control->nractrs || control->source == ANY_SOURCE);
	return control;
}

static void start_or_stop(void)
{
	expect(!engine_ioctl(&session, is_running ? PERFCTR_IOC_SUSPEND : PERFCTR_IOC_RESUME, NULL),
	       "SUSPEND or RESUME");
	is_running = !is_running;
}

static void control_cpu(void)
{
	const struct control *control = choose();
	struct perfctr_control arg = {
		PERFCTR_CONTROL_INIT,
		.tsc_on = 1, .nractrs = control->nractrs, .source = control->source,
		.cpu = rnd(NR_CPUS),
		.flags = PERFCTR_CONTROL_CPU | (rnd(2) ? PERFCTR_CONTROL_NO_IDLE : 0),
	};
	struct part *part = &parts[arg.cpu];
	long err;

	if (is_running)
		start_or_stop();
	memcpy(arg.ctr, control->ctr, sizeof(control->ctr));
	err = engine_ioctl(&session, PERFCTR_IOC_CONTROL, &arg);
	if (err == -EACCES) {
		expect(perfctr_guards_all() && control->source == NATIVE && control->nractrs,
		       "a session is refused");
		nr_refused++;
		return;
	}
	/* Another CPU has these counters for other events, or counts by the other source. */
	if (err == -EBUSY) {
		expect(arg.owner == PERFCTR_OWNER_PERFCTR, "others have them: owner %u", arg.owner);
		nr_refused++;
		/* Who asks for what perf has too often is not heard for a while. */
		shim_jiffies += HZ;
		return;
	}
	expect(!err, "CONTROL of a CPU: %ld, owner %u, reason %u", err, arg.owner, arg.reason);
	*part = (struct part) { .control = control };
	part->own_way = machine_has_own_way(control->ctr, control->nractrs);
}

static void expect_cpu(unsigned int cpu)
{
	struct perfctr_read_cpu read = { .size = sizeof(read), .cpu = cpu };
	const struct part *part = &parts[cpu];
	u32 i;

	expect(!engine_ioctl(&session, PERFCTR_IOC_READ_CPU, &read), "READ_CPU");
	if (!part->control)
		return;
	expect(read.nrctrs == part->control->nractrs && !read.error, "a session of %u counters",
	       read.nrctrs);
	for (i = 0; i < part->control->nractrs; i++) {
		u64 want;

		expect(is_count_of(part->control, &part->seen, i, read.sum[i], &want),
		       "CPU %u, counter %u: %llu, not %llu", cpu, i,
		       read.sum[i], want);
	}
	if (!part->policies || !part->control->nractrs)
		return;
	nr_compared++;
	pairs_see((part->control->source == NATIVE ? BIT(VALUE_NATIVE) :
		   PERFCTR_CPU_SHARED_INLINE && !model_perf_calls ? BIT(VALUE_INLINE) : BIT(VALUE_CALL)) |
		  BIT(part->own_way ? VALUE_OWN_WAY : VALUE_AMODE) | BIT(VALUE_SESSION) |
		  BIT(perfctr_by_tracepoint() ? VALUE_TRACEPOINT : VALUE_NOTIFIER) |
		  part->policies << VALUE_OFF);
}

static void execute_user(void)
{
	struct part *part = &parts[shim_cpu];

	return_to_user();
	if (is_idle(running()))
		return;
	model_witness[shim_cpu] = is_running && part->control ? &part->seen : NULL;
	if (model_witness[shim_cpu])
		part->policies |= (u32)BIT(perfctr_user_read);
	machine_vary_work(rnd(~0u));
	model_execute(MODEL_USER, 1 + rnd(2000));
	model_witness[shim_cpu] = NULL;
	model_execute(MODEL_KERNEL, rnd(500));
	look();
}

static void session_step(void)
{
	struct thread *next = &threads[rnd(NR_THREADS)];
	unsigned int what = rnd(32), policy = rnd(3);

	to_cpu(rnd(NR_CPUS));
	if (what < 2) {
		control_cpu();
	} else if (what < 6) {
		start_or_stop();
	} else if (what < 8) {
		/* Where anybody can read registers a native session ends unless it is "open". */
		if (policy != PERFCTR_USER_READ_OPEN && perfctr_cpu_always_readable() &&
		    counts_natively())
			return;
		perfctr_user_read_asked = policy;
		perfctr_policy_changed();
		look();
	} else if (what < 9) {
		do_sleep();
	} else if (what < 10) {
		do_work();
	} else if (what < 14) {
		expect_cpu(rnd(NR_CPUS));
	} else if (what < 18) {
		if (next->process && !runs(next))
			switch_to(next);
		else
			switch_to(&idle[shim_cpu]);
	} else {
		execute_user();
	}
}

START_TEST(sessions_are_exact)
{
	struct perfctr_open open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CPUS };
	unsigned int i;

	seed = number("ENGINE_SEED", 20261123) + (unsigned int)_i;
	nobody_calls = true;
	engine_begin();
	for (i = 0; i < 6; i++)
		do_begin();
	to_cpu(0);
	session.refs = 1;
	expect(!engine_ioctl(&session, PERFCTR_IOC_OPEN, &open), "OPEN of CPUs");
	for (in_step = 0; in_step < 3000; in_step++)
		session_step();
	vperfctr_fops.release(NULL, &session.file);
	engine_end();
	ck_assert_uint_gt(nr_compared, 20);
}
END_TEST

/*
 * A session loses its counters: perf takes an event away, somebody else writes to registers, or the
 * firmware gives none. It has what it counted until then, and an error; the next control mends that.
 */
enum loss { BY_PERF, BY_A_WRITE, BY_FIRMWARE };

static const struct {
	const char *name;
	enum loss loss;
	const struct control *control;
	u32 error;
} losses[] = {
	{ "perf takes it", BY_PERF, &shared_controls[0], PERFCTR_ERROR_LOST },
#ifdef CONFIG_X86
	{ "a register changes", BY_A_WRITE, &controls[0], PERFCTR_ERROR_CHANGED },
#endif
#ifdef CONFIG_RISCV
	{ "none is given", BY_FIRMWARE, &controls[0], PERFCTR_ERROR_LOST },
#endif
};

static void expect_error(u32 error, u64 sum)
{
	struct perfctr_read_cpu read = { .size = sizeof(read), .cpu = 1 };

	ck_assert_int_eq(engine_ioctl(&session, PERFCTR_IOC_READ_CPU, &read), error ? -EIO : 0);
	ck_assert_uint_eq(read.error, error);
	ck_assert_uint_eq(read.sum[0], sum);
}

static void count_cpu_1(const struct control *control, bool refused)
{
	struct perfctr_control arg = {
		PERFCTR_CONTROL_INIT,
		.nractrs = 1, .source = control->source, .cpu = 1, .flags = PERFCTR_CONTROL_CPU,
	};

	arg.ctr[0] = control->ctr[0];
	ck_assert_int_eq(engine_ioctl(&session, PERFCTR_IOC_CONTROL, &arg), 0);
#ifdef CONFIG_RISCV
	if (refused)
		model_fail(SBI_EXT_PMU_COUNTER_START, 0, 1, SBI_ERR_FAILURE);
#endif
	(void)refused;
	start_or_stop();
}

START_TEST(a_session_loses)
{
	struct perfctr_open open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CPUS };
	const struct control *control = losses[_i].control;
#ifdef CONFIG_X86
	u64 global;
#endif
	u64 counted = 0;

	seed = 1;
	nobody_calls = true;
	engine_begin();
	perfctr_user_read_asked = PERFCTR_USER_READ_OPEN;
	perfctr_policy_changed();
	session.refs = 1;
	ck_assert_int_eq(engine_ioctl(&session, PERFCTR_IOC_OPEN, &open), 0);
	run_on(1, begin_thread(0));
	to_cpu(0);
	count_cpu_1(control, losses[_i].loss == BY_FIRMWARE);
	to_cpu(1);
	model_execute(MODEL_USER, 1000);
	if (losses[_i].loss != BY_FIRMWARE) {
		counted = 1000;
		expect_error(PERFCTR_ERROR_NONE, counted);
		shim_jiffies++;
	}
	if (losses[_i].loss == BY_PERF)
		model_perf_lose(model_perf_event(1, 0));
#ifdef CONFIG_X86
	global = model_msr(1, model_global_ctrl());
	if (losses[_i].loss == BY_A_WRITE)
		model_set_msr(1, model_global_ctrl(), 0);
#endif
	model_execute(MODEL_USER, 300);
	expect_error(losses[_i].error, counted);
#ifdef CONFIG_X86
	/* What counts again is not ours. */
	if (losses[_i].loss == BY_A_WRITE)
		model_set_msr(1, model_global_ctrl(), global);
#endif
	model_execute(MODEL_USER, 300);
	expect_error(losses[_i].error, counted);
	start_or_stop();
	expect_error(losses[_i].error, counted);
	shim_work(false);
	count_cpu_1(control, false);
	model_execute(MODEL_USER, 700);
	expect_error(PERFCTR_ERROR_NONE, 700);
	vperfctr_fops.release(NULL, &session.file);
	engine_end();
}
END_TEST

void test_sessions(void)
{
	UNIT_ROWS(a_session_loses, losses);
	unit_run(sessions_are_exact, SESSION_ROWS);
}
