// SPDX-License-Identifier: GPL-2.0
/*
 * Readers on other CPUs, who take no lock: they find a state's sums whole, or not at all.
 *
 * While a thread leaves its CPU, another comes, and interrupts come between, both states are read at
 * each point where the module says in which order accesses are, and between reads of registers.
 * Either the sums are what the model says, or the reader would have to ask the thread's CPU.
 *
 * And while a thread's sums are read, by words, it is switched and executes. The reader gets those of
 * one moment, from before, between, or after.
 */
#include "engine/world.h"
#include "deliver/read.h"

static struct thread *changing[2];

static void expect_whole(const struct thread *thread)
{
	struct vperfctr *perfctr = state_of(thread);
	const struct control *control = thread->control;
	u64 value[1 + PERFCTR_MAX_HW] = {}, want;
	struct perfctr_sample sample = { .value = value };
	u32 i;

	if (!perfctr || !control || perfctr->error || !vperfctr_sums(perfctr, &sample))
		return;
	nr.read_between++;
	expect(PERFCTR_CSTATUS_NRCTRS(sample.cstatus) == control->nractrs + control->nrictrs,
	       "thread %d: cstatus %#x in a switch", (int)(thread - threads), sample.cstatus);
	for (i = 0; i < control->nractrs + control->nrictrs; i++)
		expect(is_count_of(control, &thread->seen, i, value[1 + i], &want),
		       "thread %d, counter %u: %llu in a switch, not %llu", (int)(thread - threads), i,
		       value[1 + i], want);
	expect_clock(value[0], thread->clock_on, thread);
}

static void read_all(void)
{
	shim_at_point = NULL;
	expect_whole(changing[0]);
	expect_whole(changing[1]);
	shim_at_point = read_all;
}

void readers_begin(struct thread *prev, struct thread *next)
{
	changing[0] = prev;
	changing[1] = next;
	/* Scenes switch by hand, of which the model of the clock knows nothing. */
	if (in_step && !rnd(8))
		shim_at_point = read_all;
}

void readers_end(void)
{
	shim_at_point = NULL;
}

/* The thread that is read; what it had counted at each moment; in how many points it changes next */
static struct thread *subject;
static struct model_tally moments[4];
static unsigned int nr_moments, points;

/* It leaves its CPU, or comes to another than the reader's and executes. */
static void change(void)
{
	unsigned int reader = shim_cpu, cpu;
	bool calls = nobody_calls;

	/* The thread's CPU is asked: nothing happens there until it has answered. */
	if (shim_irqs_off)
		return;
	if (points-- || nr_moments == ARRAY_SIZE(moments))
		return;
	points = rnd(4);
	shim_at_point = NULL;
	nobody_calls = true;
	cpu = runs(subject) ? subject->task.cpu : (reader + 1 + rnd(NR_CPUS - 1)) % NR_CPUS;
	to_cpu(cpu);
	switch_to(runs(subject) ? &idle[cpu] : subject);
	if (runs(subject)) {
		return_to_user();
		let_run(subject, MODEL_USER, 1 + rnd(1000));
		moments[nr_moments++] = subject->seen;
	}
	to_cpu(reader);
	nobody_calls = calls;
	shim_at_point = change;
}

static bool is_of_moment(const u64 *value, const struct model_tally *tally)
{
	const struct control *control = subject->control;
	u64 want;
	u32 i;

	for (i = 0; i < control->nractrs; i++)
		if (!is_count_of(control, tally, i, value[1 + i], &want))
			return false;
	return true;
}

/* Overflows and samples would be due in the middle: those who have none are read like this. */
bool may_be_disturbed(const struct thread *thread)
{
	return thread != running() && !thread->control->nrictrs && !thread->records &&
	       !thread->vfork_child;
}

void expect_sums_of_moment(struct thread *thread)
{
	u64 value[1 + PERFCTR_MAX_HW] = {};
	struct perfctr_sample sample = { .value = value };
	struct vperfctr *perfctr = state_of(thread);
	unsigned int i;

	subject = thread;
	moments[0] = thread->seen;
	nr_moments = 1;
	points = rnd(4);
	shim_at_point = change;
	expect(!vperfctr_sample(perfctr, &sample) && !perfctr->error, "cannot be read");
	shim_at_point = NULL;
	nr.disturbed += nr_moments > 1;
	for (i = 0; i < nr_moments && !is_of_moment(value, &moments[i]); i++)
		;
	expect(i < nr_moments, "thread %d: sums of no moment, the first %llu, not from %llu to %llu",
	       (int)(thread - threads), value[1], count_of(thread->control, &moments[0], 0),
	       count_of(thread->control, &thread->seen, 0));
}
