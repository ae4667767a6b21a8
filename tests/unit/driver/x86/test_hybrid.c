// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs of several types: which counters are found, which threads may have them, and that
 * nobody counts on CPUs with other counters.
 */
#include <linux/sched/signal.h>

#include "tests.h"
#include "base/account.h"
#include "config/config.h"

#define PS	0x3u	/* CPUs of the first type */
#define ES	0xcu	/* of the other */

#define P_CORE	0x40000001u
#define E_CORE	0x20000001u

#define HYBRID(n)								\
	.nr_cpus = (n), .vendor = X86_VENDOR_INTEL, .family = 6, .model = 151,	\
	.leaves = 32, .hybrid = true
#define COUNTERS(v, n, w, n_fixed, w_fixed)					\
	.version = (v), .nr = (n), .width = (w), .nr_fixed = (n_fixed),		\
	.fixed_width = (w_fixed), .told = 7

static const struct model_machine p_core = {
	HYBRID(4), COUNTERS(5, 8, 48, 4, 48), .full_width = true, .core = P_CORE,
};

static const struct model_machine e_core = {
	HYBRID(4), COUNTERS(5, 6, 48, 3, 48), .full_width = true, .core = E_CORE,
};

static const struct perfctr_ctr_control two[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(FIXED(1), EV_CYCLES, BOTH),
};
static const struct perfctr_ctr_control kernel[] = { CTR(0, EV_INSTRUCTIONS, KERNEL) };
static const struct perfctr_ctr_control i_mode[] = { ICTR(ANY, EV_INSTRUCTIONS, USER, 1000) };

static struct model_ownership at_boot;

static struct model_machine both(const struct model_machine *first,
				 const struct model_machine *other)
{
	struct model_machine machine = *first;

	machine.other = other;
	machine.other_cpus = ES;
	return machine;
}

/* Loads the module while the CPUs in @online are there. */
static void begin(const struct model_machine *first, const struct model_machine *other, u32 online)
{
	struct model_machine machine = both(first, other);

	model_boot(&machine);
	shim_online = online;
	shim_cpu = (unsigned int)__builtin_ctz(online);
	model_ownership(&at_boot);
	ck_assert_int_eq(perfctr_cpu_init(), 0);
	model_expect_loaded();
	/* Each CPU is tried. */
	ck_assert_int_eq(perfctr_config_init(), 0);
	model_expect_ownership(&at_boot);
	model_calls_reset();
}

static void end(void)
{
	perfctr_config_exit();
	perfctr_cpu_exit();
	perfctr_account_exit();
	ck_assert_uint_eq(shim_allocations, 0);
	model_expect_ownership(&at_boot);
}

static struct perfctr_config *get_on(u32 cpus, const struct perfctr_ctr_control *ctr, u32 nr)
{
	struct perfctr_refusal why;

	shim_current.cpus_mask.bits = cpus;
	return config_get_current(ctr, nr, PERFCTR_SOURCE_NATIVE, &why);
}

static struct perfctr_config *get(u32 cpus, const struct perfctr_ctr_control *ctr, u32 nr)
{
	struct perfctr_config *config = get_on(cpus, ctr, nr);

	ck_assert_msg(!IS_ERR(config), "CPUs %#x: %ld", cpus, PTR_ERR(config));
	ck_assert(!shim_current.pi_lock.held);
	return config;
}

static void expect_error(u32 cpus, const struct perfctr_ctr_control *ctr, u32 nr, int err)
{
	unsigned int allocations = shim_allocations, writes = model_all_writes();
	struct model_ownership before;

	model_ownership(&before);
	ck_assert_int_eq(PTR_ERR(get_on(cpus, ctr, nr)), err);
	model_expect_ownership(&before);
	ck_assert_uint_eq(shim_allocations, allocations);
	ck_assert_uint_eq(model_all_writes(), writes);
	ck_assert(!shim_current.pi_lock.held);
}

static void run_on(struct thread *thread, u32 cpus)
{
	unsigned int cpu, i;

	for (i = 0; i < 3; i++)
		for (cpu = 0; cpu < SHIM_CPUS; cpu++)
			if (cpus & BIT(cpu))
				thread_run(thread, cpu, 1000 + cpu);
	thread_expect_exact(thread);
}

/* A thread with that config loses its counters on this CPU, and nothing is written. */
static void expect_lost(struct perfctr_config *config, unsigned int cpu)
{
	unsigned int writes = model_all_writes();
	struct thread thread;

	thread_init(&thread, config);
	thread_in(&thread, cpu);
	model_execute(MODEL_USER, 1000);
	thread_out(&thread);
	ck_assert_int_eq(thread.error, -EIO);
	ck_assert_uint_eq(thread.state.ctr[0].acc, 0);
	ck_assert_int_eq(restart_on(cpu, config, 1000), -EIO);
	ck_assert(!has_loaded(cpu, config));
	ck_assert(!private_on(cpu, config, 1000));
	ck_assert_uint_eq(model_all_writes(), writes);
}

/*
 * What is found: what all have, whichever of them comes first
 */

static const struct {
	const char *name;
	struct model_machine p, e;
	u64 counters, width;
	u32 events;
	bool interrupts, full_width;
} shared[] = {
#define P	.full_width = true, .core = P_CORE
#define E	.full_width = true, .core = E_CORE
	{ "alike", { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), E }, 0x700003f, 48, 0x7f, true, true },
	{ "fewer", { HYBRID(4), COUNTERS(5, 8, 48, 4, 48), P },
	  { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), E }, 0x700003f, 48, 0x7f, true, true },
	{ "fewer fixed ones", { HYBRID(4), COUNTERS(5, 8, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 8, 48, 1, 48), E }, 0x10000ff, 48, 0x7f, true, true },
	{ "no fixed ones", { HYBRID(4), COUNTERS(5, 4, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 6, 48, 0, 0), E }, 0xf, 48, 0x7f, true, true },
	{ "another version", { HYBRID(4), COUNTERS(5, 8, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(4, 8, 48, 3, 48), E }, 0x70000ff, 48, 0x7f, true, true },
	/* With two widths each type would interrupt at another value. */
	{ "narrower", { HYBRID(4), COUNTERS(5, 8, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 8, 40, 3, 48), E }, 0x70000ff, 40, 0x7f, false, true },
	{ "events", { HYBRID(4), COUNTERS(5, 8, 48, 3, 48), P, .lacks = 0x8 },
	  { HYBRID(4), COUNTERS(5, 8, 48, 3, 48), E, .lacks = 0x41 }, 0x70000ff, 48, 0x36, true,
	  true },
	{ "writes", { HYBRID(4), COUNTERS(5, 8, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 8, 48, 3, 48), .core = E_CORE }, 0x70000ff, 48, 0x7f, true,
	  false },
};

START_TEST(what_all_have)
{
	static const struct perfctr_ctr_control one[] = { CTR(0, EV_INSTRUCTIONS, USER) };
	const struct model_machine *machine[2] = { &shared[_i / 2].p, &shared[_i / 2].e };
	struct perfctr_config *config[2];
	struct perfctr_kernel_info info = {};
	struct thread thread[2];
	unsigned int i;

	begin(machine[_i % 2], machine[!(_i % 2)], PS | ES);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.counters, shared[_i / 2].counters);
	ck_assert_uint_eq(info.nrctrs, hweight64(shared[_i / 2].counters));
	ck_assert_uint_eq(info.width, shared[_i / 2].width);
	ck_assert_uint_eq(info.events[0], shared[_i / 2].events);
	ck_assert_uint_ne(info.cpu_features & PERFCTR_FEATURE_HYBRID, 0);
	ck_assert_int_eq(!!(info.cpu_features & PERFCTR_FEATURE_PCINT), shared[_i / 2].interrupts);
	ck_assert_uint_eq(perfctr_cpu_irange(),
			  shared[_i / 2].full_width ? BIT_ULL(shared[_i / 2].width - 1) :
						      BIT_ULL(31));
	if (shared[_i / 2].interrupts)
		perfctr_config_put(get(PS, i_mode, 1), false);
	else
		expect_error(PS, i_mode, 1, -EOPNOTSUPP);
	for (i = 0; i < 2; i++) {
		config[i] = get(i ? ES : PS, one, 1);
		thread_init(&thread[i], config[i]);
	}
	for (i = 0; i < 2; i++)
		run_on(&thread[i], i ? ES : PS);
	for (i = 0; i < 2; i++)
		perfctr_config_put(config[i], false);
	end();
}
END_TEST

/* If one type has no counters, or needs another driver, there are none. */
static const struct {
	const char *name;
	struct model_machine e;
} unlike[] = {
	{ "none", { HYBRID(4), .core = E_CORE } },
	{ "no general-purpose ones", { HYBRID(4), COUNTERS(5, 0, 48, 3, 48), E } },
	{ "version 1", { HYBRID(4), COUNTERS(1, 8, 48, 0, 0), E } },
	{ "version 6", { HYBRID(4), COUNTERS(6, 8, 48, 3, 48), E } },
};

START_TEST(what_none_has)
{
	const struct model_machine *e = &unlike[_i / 2].e;
	struct perfctr_kernel_info info = {};

	begin(_i % 2 ? &p_core : e, _i % 2 ? e : &p_core, PS | ES);
	perfctr_cpu_info(&info);
	ck_assert_uint_eq(info.counters, 0);
	ck_assert_uint_eq(info.cpu_features, PERFCTR_FEATURE_RDTSC);
	expect_error(PS, two, 2, -EINVAL);
	perfctr_config_put(get(PS | ES, two, 0), false);
	end();
}
END_TEST

/* The processor is hybrid, but does not say of which type a CPU is. */
START_TEST(untold)
{
	struct model_machine p = p_core, e = e_core;
	unsigned int cpu;

	p.core = 0;
	e.core = _i ? E_CORE : 0;
	begin(&p, &e, PS | ES);
	expect_error(PS, two, 2, -EXDEV);
	expect_error(PS | ES, two, 2, -EXDEV);
	if (_i)
		perfctr_config_put(get(ES, two, 2), false);
	else
		expect_error(ES, two, 2, -EXDEV);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		ck_assert(perfctr_cpu_is_forbidden(cpu) == (cpu < 2 || !_i));
	end();
}
END_TEST

/* All CPUs are of one type, which needs another driver. */
START_TEST(alone_and_old)
{
	struct model_machine machine = unlike[2].e;

	begin(&machine, &machine, PS | ES);
	expect_error(PS, two, 2, -EINVAL);
	end();
}
END_TEST

/*
 * Which threads may have counters
 */

static const struct {
	u32 cpus, online;
	int err;
} bound[] = {
	{ PS, PS | ES, 0 }, { ES, PS | ES, 0 }, { 0x1, PS | ES, 0 }, { 0x8, PS | ES, 0 },
	{ PS | ES, PS | ES, -EXDEV }, { ~0u, PS | ES, -EXDEV }, { 0x5, PS | ES, -EXDEV },
	{ 0xa, PS | ES, -EXDEV },
	/* CPUs that are offline do not matter. */
	{ ~0u, PS, 0 }, { ~0u, ES, 0 }, { 0x5, 0x7, -EXDEV }, { 0xb, 0x7, 0 }, { 0x9, 0x9, -EXDEV },
};

START_TEST(bound_to_one_type)
{
	bool kin = bound[_i].err;
	struct perfctr_config *config;
	struct thread thread;

	begin(&p_core, &e_core, bound[_i].online);
	if (bound[_i].err) {
		expect_error(bound[_i].cpus, two, 2, bound[_i].err);
		expect_error(bound[_i].cpus, i_mode, 1, bound[_i].err);
		ck_assert_int_eq(interrupts_heard, 0);
	}
	/* The clock is the same everywhere. */
	config = kin ? get(bound[_i].cpus, two, 0) : get(bound[_i].cpus, two, 2);
	thread_init(&thread, config);
	run_on(&thread, bound[_i].cpus & bound[_i].online);
	perfctr_config_put(config, false);
	end();
}
END_TEST

/* Two native models are two types, even with the same core type. */
START_TEST(native_models)
{
	struct model_machine other = e_core;

	other.core = P_CORE + 1;
	begin(&p_core, &other, PS | ES);
	expect_error(PS | ES, two, 2, -EXDEV);
	perfctr_config_put(get(ES, two, 2), false);
	end();
}
END_TEST

/* CPUs of one type are one type, also if it is that of a hybrid processor. */
START_TEST(one_type)
{
	struct thread thread;

	begin(&p_core, &p_core, PS | ES);
	thread_init(&thread, get(~0u, two, 2));
	run_on(&thread, PS | ES);
	perfctr_config_put(thread.config, false);
	end();
}
END_TEST

/* Threads on cores of one type share equal controls, however they are bound there. */
START_TEST(sharing)
{
	struct perfctr_config *p, *e, *clock;

	begin(&p_core, &e_core, PS | ES);
	p = get(PS, two, 2);
	e = get(ES, two, 2);
	ck_assert_ptr_ne(p, e);
	ck_assert_ptr_eq(get(0x2, two, 2), p);
	ck_assert_ptr_eq(get(0x4, two, 2), e);
	clock = get(PS, two, 0);
	ck_assert_ptr_eq(get(ES, two, 0), clock);
	perfctr_config_put(p, false);
	perfctr_config_put(p, false);
	perfctr_config_put(e, false);
	perfctr_config_put(e, false);
	perfctr_config_put(clock, false);
	perfctr_config_put(clock, false);
	end();
}
END_TEST

/* A thread that comes to another type is lost; threads that count there count on. */
START_TEST(on_the_wrong_cores)
{
	struct thread p, e;
	unsigned int cpu;

	begin(_i ? &e_core : &p_core, _i ? &p_core : &e_core, PS | ES);
	thread_init(&p, get(PS, two, 2));
	thread_init(&e, get(ES, two, 2));
	run_on(&p, PS);
	run_on(&e, ES);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		expect_lost(BIT(cpu) & PS ? e.config : p.config, cpu);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		ck_assert(has_loaded(cpu, BIT(cpu) & PS ? p.config : e.config));
	run_on(&p, PS);
	run_on(&e, ES);
	perfctr_config_put(p.config, false);
	run_on(&e, ES);
	perfctr_config_put(e.config, false);
	end();
}
END_TEST

/*
 * CPUs that come
 */

/* A CPU with less than what was found is left alone, whoever counts elsewhere. */
START_TEST(less_comes)
{
	bool early = _i;
	struct thread thread;
	unsigned int cpu;

	begin(&p_core, &e_core, PS);
	/* Before the first thread counts, or meanwhile */
	if (early)
		for (cpu = 2; cpu < SHIM_CPUS; cpu++)
			shim_cpu_up(cpu);
	thread_init(&thread, get(PS, two, 2));
	run_on(&thread, PS);
	if (!early)
		for (cpu = 2; cpu < SHIM_CPUS; cpu++)
			shim_cpu_up(cpu);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		ck_assert(perfctr_cpu_is_forbidden(cpu) == (cpu >= 2));
	expect_error(ES, two, 2, -EXDEV);
	expect_error(0x5, two, 2, -EXDEV);
	expect_error(PS | ES, two, 2, -EXDEV);
	for (cpu = 2; cpu < SHIM_CPUS; cpu++) {
		expect_lost(thread.config, cpu);
		ck_assert_uint_eq(per_cpu_ptr(&perfctr_x86_cpu, cpu)->ours, false);
	}
	perfctr_config_put(get(PS, i_mode, 1), false);
	ck_assert_int_eq(age_all(), 0);
	cpu_sleeps(2, false);
	cpu_sleeps(0, false);
	run_on(&thread, PS);
	shim_cpu_down(2);
	shim_cpu_up(2);
	expect_lost(thread.config, 2);
	run_on(&thread, PS);
	perfctr_config_put(thread.config, false);
	shim_cpu_down(3);
	for (cpu = 2; cpu < SHIM_CPUS; cpu++)
		ck_assert_uint_eq(model_msr(cpu, MSR_CORE_PERF_FIXED_CTR_CTRL), 0);
	shim_cpu_up(3);
	perfctr_config_exit();
	perfctr_cpu_exit();
}
END_TEST

/* What a CPU that comes must have, beyond the number of counters */
static const struct {
	const char *name;
	struct model_machine all, late;
	bool good;
} late[] = {
	{ "alike", { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), E }, true },
	{ "more", { HYBRID(4), COUNTERS(4, 6, 48, 2, 48), P, .lacks = 0x40 },
	  { HYBRID(4), COUNTERS(5, 8, 48, 3, 48), E }, true },
	{ "version 6", { HYBRID(4), COUNTERS(5, 6, 48, 2, 48), P },
	  { HYBRID(4), COUNTERS(6, 8, 48, 3, 48), E }, false },
	{ "a fixed one", { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 6, 48, 2, 48), E }, false },
	{ "width", { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 6, 40, 3, 40), E }, false },
	{ "the same width", { HYBRID(4), COUNTERS(5, 6, 40, 3, 40), P },
	  { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), E }, false },
	{ "an event", { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), E, .lacks = 0x40 }, false },
	{ "whole writes", { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), .core = E_CORE }, false },
	{ "its version", { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), P },
	  { HYBRID(4), COUNTERS(4, 6, 48, 3, 48), E }, false },
	{ "counters", { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), P }, { HYBRID(4), .core = E_CORE },
	  false },
	/* Without i-mode the registers may be wider than what was found. */
	{ "no interrupts, wider",
	  { HYBRID(4), COUNTERS(5, 6, 40, 3, 40), P, .no_apic = true },
	  { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), E }, true },
	{ "no interrupts, narrower",
	  { HYBRID(4), COUNTERS(5, 6, 48, 3, 48), P, .no_apic = true },
	  { HYBRID(4), COUNTERS(5, 6, 40, 3, 48), E }, false },
};

START_TEST(another_comes)
{
	struct thread p, e;

	begin(&late[_i].all, &late[_i].late, PS);
	thread_init(&p, get(PS, kernel, 1));
	run_on(&p, PS);
	shim_cpu_up(2);
	shim_cpu_up(3);
	if (late[_i].good) {
		thread_init(&e, get(ES, kernel, 1));
		ck_assert_ptr_ne(p.config, e.config);
		run_on(&e, ES);
		perfctr_config_put(e.config, false);
	} else {
		expect_error(ES, kernel, 1, -EXDEV);
	}
	expect_error(PS | ES, kernel, 1, -EXDEV);
	expect_lost(p.config, 2);
	run_on(&p, PS);
	perfctr_config_put(p.config, false);
	perfctr_config_exit();
	perfctr_cpu_exit();
}
END_TEST

/* A CPU goes with our counters still on, and one with less comes in its place. */
START_TEST(less_comes_in_the_place_of_more)
{
	bool users = _i;
	struct thread thread;

	begin(&p_core, &e_core, PS);
	thread_init(&thread, get(PS, two, 2));
	run_on(&thread, PS);
	cpu_offline(1);
	/* Late: a thread that is being pushed off the CPU */
	thread_run(&thread, 1, 1000);
	ck_assert(per_cpu_ptr(&perfctr_x86_cpu, 1)->ours);
	shim_online &= ~BIT(1);
	if (!users)
		perfctr_config_put(thread.config, false);
	model.other_cpus |= BIT(1);
	model_cpu_sleep(1, false);
	perfctr_cpu_prepare(1);
	/* Before the CPU was looked at */
	if (users) {
		ck_assert_int_eq(load_on(1, thread.config), -EIO);
		ck_assert_int_eq(restart_on(1, thread.config, 1000), -EIO);
	}
	model_calls_reset();
	shim_online |= BIT(1);
	cpu_online(1);
	ck_assert_uint_eq(model_all_writes(), 0);
	ck_assert(!per_cpu_ptr(&perfctr_x86_cpu, 1)->ours);
	if (users) {
		expect_lost(thread.config, 1);
		run_on(&thread, 0x1);
		perfctr_config_put(thread.config, false);
	}
	perfctr_config_exit();
	perfctr_cpu_exit();
}
END_TEST

/* A CPU that goes and comes back is as before, with all that is counted there. */
START_TEST(comes_back)
{
	struct thread p, e;
	unsigned int cpu;

	begin(_i ? &e_core : &p_core, _i ? &p_core : &e_core, PS | ES);
	thread_init(&p, get(PS, two, 2));
	thread_init(&e, get(ES, two, 2));
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		shim_cpu_down(cpu);
		run_on(&p, PS & ~BIT(cpu));
		run_on(&e, ES & ~BIT(cpu));
		if (cpu % 2)
			model_cpu_sleep(cpu, false);
		shim_cpu_up(cpu);
		run_on(&p, PS);
		run_on(&e, ES);
		expect_lost(BIT(cpu) & PS ? e.config : p.config, cpu);
		/* As a CPU wakes nobody asks for its type. */
		cpu_sleeps(cpu, false);
		run_on(&p, PS);
		run_on(&e, ES);
	}
	perfctr_config_put(p.config, false);
	perfctr_config_put(e.config, false);
	perfctr_config_exit();
	perfctr_cpu_exit();
}
END_TEST

/*
 * Counters that only some CPUs have are not used, but who may read one there may read them all. What
 * perf left in them is gone, and they stand still until all are given back.
 */
START_TEST(further_counters_are_silent)
{
	static const u32 all = EV_INSTRUCTIONS | SEL_USR | SEL_OS | SEL_EN;
	struct perfctr_config *config;
	unsigned int hw;

	begin(&p_core, &e_core, PS | ES);
	model_set_msr(0, 0x18d, all);
	model_set_msr(0, 0x38f, 0xf000000ff);
	config = get(PS, two, 2);
	ck_assert_int_eq(load_on(0, config), 0);
	shim_cpu = 0;
	model_execute(MODEL_USER, 1000);
	for (hw = 6; hw < 8; hw++)
		ck_assert_msg(!model_value(0, hw), "counter %u: %#llx", hw, model_value(0, hw));
	ck_assert_uint_eq(model_value(0, FIXED(3)), 0);
	/* Other CPUs have no such registers: a write there would have failed the test. */
	perfctr_config_put(config, false);
	ck_assert_uint_eq(model_msr(0, 0x18d), all);
	ck_assert_uint_eq(model_msr(0, 0x38f), 0xf000000ff);
	/* What is left of the write that gives it back */
	ck_assert_uint_eq(model_value(0, 7), 1);
	model_set_msr(0, 0x18d, 0);
	model_set_msr(0, 0x38f, 0xff);
	end();
}
END_TEST

void test_hybrid(void)
{
	unit_begin("x86_hybrid");
	unit_run(what_all_have, 2 * (int)(sizeof(shared) / sizeof(shared[0])));
	unit_run(what_none_has, 2 * (int)(sizeof(unlike) / sizeof(unlike[0])));
	unit_run(untold, 2);
	UNIT_RUN(alone_and_old);
	UNIT_ROWS(bound_to_one_type, bound);
	UNIT_RUN(native_models);
	UNIT_RUN(one_type);
	UNIT_RUN(sharing);
	unit_run(on_the_wrong_cores, 2);
	unit_run(less_comes, 2);
	UNIT_ROWS(another_comes, late);
	unit_run(less_comes_in_the_place_of_more, 2);
	unit_run(comes_back, 2);
	UNIT_RUN(further_counters_are_silent);
}
