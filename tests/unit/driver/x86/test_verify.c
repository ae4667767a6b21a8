// SPDX-License-Identifier: GPL-2.0
/* The registers are read back: what somebody else has written is noticed, and lasts. */
#include <asm/nmi.h>
#include <check.h>

#include "tests.h"
#include "arch/user.h"
#include "arch/x86/extra.h"
#include "switch/run.h"

static const struct perfctr_ctr_control gp[] = {
	CTR(0, EV_INSTRUCTIONS, USER), CTR(1, EV_BRANCHES, BOTH),
};

static unsigned int heard;

static void hear(bool lost)
{
	ck_assert(!lost);
	ck_assert(shim_irqs_off);
	heard++;
}

static void tick(void)
{
	shim_jiffies++;
}

static void begin(const struct model_machine *machine)
{
	driver_init(machine);
	perfctr_cpu_set_changed(hear);
}

/* What firmware, a hypervisor or root writes, while counters 0 and 1 count */
static const struct {
	const char *name;
	const struct model_machine *machine;
	u32 msr;
	u64 value;
} rows[] = {
	{ "p6: one that counts", &model_p6, 0x186, 0 },
	{ "p6: it counts less", &model_p6, 0x187, 0x200c4 },
	{ "v1: another event", &model_v1, 0x186, 0x4100c4 },
	{ "v2: another mode", &model_v2, 0x186, 0x4200c0 },
	{ "v3: disabled", &model_v3, 0x187, 0x0300c4 },
	{ "v3: one that nobody uses", &model_v3, 0x189, 0x4300c0 },
	{ "v3: a fixed one", &model_v3, 0x38d, 0x2 },
	{ "v3: all stopped", &model_v3, 0x38f, 0 },
	{ "v3: one stopped", &model_v3, 0x38f, 0x70000000d },
	{ "v4: freezing", &model_v4, 0x1d9, BIT(12) },
	{ "v5: the last", &model_v5, 0x18d, 0x4100c0 },
	{ "v5: a fixed one that we do not know", &model_v5, 0x38d, 0x3000 },
};

START_TEST(noticed)
{
	u32 msr = rows[_i].msr;
	struct thread a, b, c;

	begin(rows[_i].machine);
	thread_init(&a, CLAIM(gp));
	thread_init(&b, a.config);
	thread_init(&c, a.config);
	thread_run(&a, 1, 1000);
	thread_run(&b, 1, 1000);
	tick();
	ck_assert_uint_eq(shim_timers(1), 1);
	ck_assert_uint_eq(heard, 0);
	model_set_msr(1, msr, rows[_i].value);
	tick();
	ck_assert_uint_eq(shim_timers(1), 1);
	ck_assert_msg(heard == 1, "%s: heard %u", rows[_i].name, heard);
	ck_assert_uint_eq(shim_warnings, 1);
	ck_assert(model_changed_on(1) && !model_changed_on(0));
	/* Nobody counts here any more, but elsewhere, until the configs are evicted. */
	thread_run(&a, 1, 1000);
	ck_assert_int_eq(a.error, -EIO);
	ck_assert_int_eq(restart_on(1, b.config, 1000), -EIO);
	thread_run(&b, 0, 1000);
	ck_assert_int_eq(b.error, 0);
	thread_expect_exact(&b);
	/* It is told of once, and the timer rests. */
	tick();
	ck_assert(!model_verify_on(1) && model_verify_on(0));
	ck_assert_uint_eq(shim_timers(1), 0);
	ck_assert_uint_eq(heard, 1);
	unclaim(a.config);
	ck_assert(!model_changed_on(1));
	/* Taken anew they count. */
	thread_init(&c, CLAIM(gp));
	thread_run(&c, 1, 1000);
	tick();
	ck_assert_uint_eq(shim_timers(1), 1);
	ck_assert_uint_eq(heard, 1);
	thread_run(&c, 1, 1000);
	thread_expect_exact(&c);
	unclaim(c.config);
}
END_TEST

/* Registers that say more of an event, and a Pentium 4's that tag replays */
static const struct {
	const struct model_machine *machine;
	struct perfctr_ctr_control ctr;
	u32 msr;
	u64 value;
} extra_rows[] = {
	{ &model_v4, { .map = 0, .event = EV_OFFCORE_0, .flags = USER, .config = 0x101 }, 0x1a6,
	  0x103 },
	{ &model_v4, { .map = 0, .event = EV_OFFCORE_1, .flags = USER, .config = 0x101 }, 0x1a7, 0 },
	{ &model_v4, { .map = 0, .event = EV_FRONTEND, .flags = USER, .config = 0x11 }, 0x3f7,
	  0x12 },
	{ &model_p4m2, { .map = 12, .event = P4_CCCR(5), .flags = USER, .config = P4_ESCR(9, 1),
			 .config1 = BIT(24) | BIT(0), .config2 = 1 }, 0x3f1, BIT(0) },
	{ &model_p4m2, { .map = 12, .event = P4_CCCR(5), .flags = USER, .config = P4_ESCR(9, 1),
			 .config1 = BIT(24) | BIT(0), .config2 = 1 }, 0x3f2, 2 },
};

static void begin_extra(const struct model_machine *machine)
{
	struct model_machine with_extras = *machine;
	unsigned int i;

	for (i = 0; i < MODEL_EXTRAS; i++)
		with_extras.extras[i] = ~0ull;
	begin(&with_extras);
}

START_TEST(event_register_noticed)
{
	struct thread thread;

	begin_extra(extra_rows[_i].machine);
	thread_init(&thread, claim_well(&extra_rows[_i].ctr, 1));
	thread_run(&thread, 0, 1000);
	tick();
	ck_assert_uint_eq(shim_timers(0), 1);
	ck_assert_uint_eq(heard, 0);
	model_set_msr(0, extra_rows[_i].msr, extra_rows[_i].value);
	tick();
	ck_assert_uint_eq(shim_timers(0), 1);
	ck_assert_uint_eq(heard, 1);
	ck_assert(model_changed_on(0) && !model_changed_on(1));
	thread_run(&thread, 0, 1000);
	ck_assert_int_eq(thread.error, -EIO);
	unclaim(thread.config);
	/* Taken anew it counts. */
	thread_init(&thread, claim_well(&extra_rows[_i].ctr, 1));
	tick();
	ck_assert(model_verify_on(0));
	thread_run(&thread, 0, 1000);
	ck_assert_int_eq(thread.error, 0);
	ck_assert_uint_eq(heard, 1);
	unclaim(thread.config);
}
END_TEST

/* Two hyperthreads have one register: each finds at once what the other has written. */
static int run_on_siblings(int (*fn)(void *arg), void *arg)
{
	unsigned int cpu, before = shim_cpu;
	int err = 0;

	for (cpu = 0; cpu < 2; cpu++) {
		shim_cpu = cpu;
		local_irq_disable();
		err = fn(arg) ?: err;
		local_irq_enable();
		model_set_msr(1 - cpu, 0x1a6, model_msr(cpu, 0x1a6));
		tick();
		ck_assert(model_verify_on(0) && model_verify_on(1));
	}
	shim_cpu = before;
	return err;
}

START_TEST(event_register_of_siblings)
{
	struct perfctr_ctr_control ctr = extra_rows[0].ctr;
	struct perfctr_config *config;
	u32 index;
	int turn;

	begin_extra(&model_v4);
	CLAIM(gp);
	config = claim_well(&ctr, 1);
	cpus_read_lock();
	for (turn = 0; turn < 3; turn++) {
		perfctr_x86_extra_put(config, run_on_siblings);
		config->ctr[0].config = ctr.config + turn;
		ck_assert_int_eq(perfctr_x86_extra_get(config, run_on_siblings, &index), 0);
	}
	cpus_read_unlock();
	unclaim(config);
	/* While nobody counts by it others may write to it. */
	model_set_msr(0, 0x1a6, 0x2);
	tick();
	ck_assert(model_verify_on(0));
	ck_assert_uint_eq(heard, 0);
}
END_TEST

/* At each tick, but where a read of a register is a hypervisor's ten times a second */
START_TEST(how_often)
{
	struct model_machine machine = model_v4;

	machine.hypervisor = _i;
	begin(&machine);
	CLAIM(gp);
	ck_assert_uint_eq(shim_next_timer(1), _i ? (unsigned int)HZ / 10 : 1);
	tick();
	ck_assert_uint_eq(shim_timers(1), 1);
	ck_assert_uint_eq(shim_next_timer(1), _i ? (unsigned int)HZ / 10 : 1);
}
END_TEST

static void do_nothing(bool ends)
{
	(void)ends;
}

/* Counters that linger, since a process may read them, are taken anew with the last unclaim. */
START_TEST(mended_while_they_linger)
{
	static struct mm_struct mm = { .context = { .ctx_id = 77 } };
	struct thread thread;

	begin(&model_v4);
	perfctr_cpu_permit_init(do_nothing, NULL);
	ck_assert_int_eq(perfctr_cpu_mm_get(&mm), 0);
	perfctr_cpu_mm_permit(&mm);
	thread_init(&thread, CLAIM(gp));
	thread_run(&thread, 1, 1000);
	model_set_msr(1, 0x186, 0x4100c4);
	tick();
	ck_assert(!model_verify_on(1));
	/* As config.c does: unclaim() of this file's would give them back at once. */
	cpus_read_lock();
	perfctr_cpu_unclaim(thread.config, perfctr_run);
	cpus_read_unlock();
	ck_assert(perfctr_cpu_lingers());
	ck_assert(!model_changed_on(1));
	model_expect_taken(1);
	tick();
	ck_assert(model_verify_on(1));
	kfree(thread.config);
	thread_init(&thread, CLAIM(gp));
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

/* What we write ourselves is no change, whatever comes in which order. */
START_TEST(own_writes)
{
	static const struct perfctr_ctr_control others[][1] = {
		{ CTR(ANY, EV_BRANCHES, KERNEL) }, { CTR(ANY, EV_CYCLES, BOTH) },
	};
	struct thread threads[3];
	unsigned int i, turn;

	begin(machines[_i]);
	thread_init(&threads[0], CLAIM(gp));
	/* The P6 has another event of cycles. */
	thread_init(&threads[1], claim_well(others[0], 1));
	thread_init(&threads[2], machines[_i]->version ? claim_well(others[1], 1) :
		    threads[0].config);
	for (turn = 0; turn < 200; turn++) {
		unsigned int cpu = next_random() % 2;

		i = next_random() % 3;
		if (next_random() % 4) {
			thread_run(&threads[i], cpu, 1000);
		} else {
			ck_assert_int_eq(restart_on(cpu, threads[i].config, 1000), 0);
			on_cpu_irqs_off(cpu, perfctr_cpu_leave);
		}
		ck_assert_int_eq(model_nmi(cpu), NMI_DONE);
		tick();
		ck_assert(model_verify_on(0) && model_verify_on(1));
	}
	ck_assert_uint_eq(heard + shim_warnings, 0);
	for (i = 0; i < 3; i++)
		thread_expect_exact(&threads[i]);
}
END_TEST

/* Each control register once, the global control and DEBUGCTL; not twice in a jiffy. */
START_TEST(what_it_reads)
{
	static const unsigned int reads[NR_MACHINES] = { 2, 2, 2 + 1 + 1 + 1, 4 + 1 + 1 + 1,
							 4 + 1 + 1 + 1, 8 + 1 + 1 + 1,
							 4, 6, 6 + 1 + 1 };

	begin(machines[_i]);
	CLAIM(gp);
	tick();
	model_calls_reset();
	ck_assert(model_verify_on(0));
	ck_assert_uint_eq(model_all_writes(), 0);
	ck_assert_uint_eq(model_all_calls(), reads[_i]);
	ck_assert(model_verify_on(0));
	ck_assert_uint_eq(model_all_calls(), reads[_i]);
	ck_assert(model_verify_on(1));
	ck_assert_uint_eq(model_all_calls(), 2ull * reads[_i]);
	tick();
	ck_assert(model_verify_on(0));
	ck_assert_uint_eq(model_all_calls(), 3ull * reads[_i]);
}
END_TEST

/* While nobody counts nothing is read, whoever writes, and no timer runs. */
START_TEST(only_while_ours)
{
	begin(&model_v4);
	model_set_msr(0, 0x186, 0x4100c4);
	tick();
	model_calls_reset();
	ck_assert(model_verify_on(0));
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(shim_timers(0) + shim_timers(1), 0);
	model_set_msr(0, 0x186, 0);
	unclaim(CLAIM(gp));
	/* They end by themselves. */
	ck_assert_uint_eq(shim_timers(0), 1);
	ck_assert_uint_eq(shim_timers(1), 1);
	ck_assert_uint_eq(shim_timers(0) + shim_timers(1), 0);
	CLAIM(gp);
	tick();
	ck_assert_uint_eq(shim_timers(0), 1);
	tick();
	ck_assert_uint_eq(shim_timers(0), 1);
	ck_assert_uint_eq(heard, 0);
}
END_TEST

/* A CPU that comes is watched again, and forgets that it was changed as it went. */
START_TEST(over_hotplug)
{
	struct thread thread;

	begin(&model_v4);
	thread_init(&thread, CLAIM(gp));
	model_set_msr(1, 0x38f, 0);
	tick();
	ck_assert_uint_eq(shim_timers(1), 1);
	ck_assert(model_changed_on(1));
	cpu_goes(1);
	cpu_comes(1);
	ck_assert(!model_changed_on(1));
	tick();
	ck_assert_uint_eq(shim_timers(1), 1);
	ck_assert_uint_eq(heard, 1);
	thread_run(&thread, 1, 1000);
	thread_expect_exact(&thread);
}
END_TEST

static const unsigned int global_bits_of_others[] = { 1, 3, 7, 32, 34, 48 };

/* Those that were found not to count are not compared, whatever they hold. */
START_TEST(unused_are_not_read)
{
	static const struct perfctr_ctr_control second[] = { CTR(1, EV_INSTRUCTIONS, USER) };

	model_stuck[0] = BIT(0);
	begin(&model_v4);
	CLAIM(second);
	model_set_msr(0, 0x186, 0x4300c0);
	tick();
	ck_assert(model_verify_on(0));
	/* Whoever has the counter, as microcode may, lets it run and stand. */
	model_set_msr(0, 0x38f, model_msr(0, 0x38f) ^ BIT(0));
	tick();
	ck_assert(model_verify_on(0));
	ck_assert_uint_eq(heard, 0);
	/* But none of ours, and none that nobody has. */
	model_set_msr(0, 0x38f, model_msr(0, 0x38f) ^ BIT(global_bits_of_others[_i]));
	tick();
	ck_assert(!model_verify_on(0));
	ck_assert_uint_eq(heard, 1);
}
END_TEST

void test_verify(void)
{
	unit_begin("x86_verify");
	UNIT_ROWS(noticed, rows);
	UNIT_ROWS(event_register_noticed, extra_rows);
	UNIT_RUN(event_register_of_siblings);
	unit_run(how_often, 2);
	UNIT_RUN(mended_while_they_linger);
	UNIT_ROWS(own_writes, machines);
	UNIT_ROWS(what_it_reads, machines);
	UNIT_RUN(only_while_ours);
	UNIT_RUN(over_hotplug);
	UNIT_ROWS(unused_are_not_read, global_bits_of_others);
}
