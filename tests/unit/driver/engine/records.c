// SPDX-License-Identifier: GPL-2.0
/*
 * Rings, whose records are read as soon as they are written: nothing was executed since, so each
 * sum of a sample is exactly what was counted until now. Each overflow has one sample, before the
 * thread's next instruction in user mode; and no thread goes on in user mode while a sample is due
 * by time.
 */

#include "engine/world.h"
#include "thread/ring.h"
#include "switch/timer.h"
#include "deliver/read.h"

static u64 period_of(const struct thread *thread)
{
	return perfctr_timer_ticks(thread->timer_ns);
}

void begin_timer(struct thread *thread, u64 clock_least, u64 clock_most)
{
	if (!thread->timer_ns)
		return;
	thread->due_least = clock_least + period_of(thread);
	thread->due_most = clock_most + period_of(thread);
}

static bool is_past(u64 clock, u64 due)
{
	return (s64)(clock - due) >= 0;
}

/* A sample was taken at that clock. What came a whole period late, or more, is left out. */
static void end_timer(struct thread *thread, u64 clock, bool overflown)
{
	u64 period = period_of(thread);

	expect(overflown || is_past(clock, thread->due_least),
	       "thread %d: a sample at %llu, which is due at %llu", (int)(thread - threads), clock,
	       thread->due_least);
	/* A sample of an overflow may be the one that was due by time, too. */
	if (overflown) {
		if (is_past(clock, thread->due_least))
			thread->due_most = clock + period;
		return;
	}
	if (is_past(clock, thread->due_most + period)) {
		thread->due_least = clock + period;
		thread->due_most = clock + period;
		return;
	}
	thread->due_least += period;
	thread->due_most = is_past(clock, thread->due_least) ? clock + period :
							       thread->due_most + period;
}

/* In a later tick, since a whole period is due. When the timer's sample was due is not known. */
static void go_on(struct thread *thread, u64 clock)
{
	nr.goes_on++;
	expect(time_after(shim_jiffies, thread->tick), "thread %d goes on in the same tick",
	       (int)(thread - threads));
	thread->throttled = false;
	begin_periods(thread);
	if (!thread->timer_ns)
		return;
	thread->due_least = clock - period_of(thread);
	thread->due_most = clock + period_of(thread);
}

void expect_sample(struct thread *thread, const struct perfctr_record_sample *sample)
{
	const struct control *control = thread->control;
	/* As it ends, or in an exec, there is no next instruction. */
	u64 ip = thread->task.mm && !thread->task.in_execve ?
		 instruction_pointer(task_pt_regs(&thread->task)) : 0;
	u32 i;

	expect(control, "thread %d has a sample, and its tree is dead", (int)(thread - threads));
	if (thread->throttled)
		go_on(thread, sample->clock);
	nr.samples++;
	nr.overflows += sample->overflown != 0;
	expect(thread->records, "thread %d has a sample, which it did not ask for",
	       (int)(thread - threads));
	expect(sample->record.pid == thread->task.tgid->nr && sample->cpu == thread->task.cpu,
	       "thread %d: a sample of process %d on CPU %u", (int)(thread - threads),
	       sample->record.pid, sample->cpu);
	expect(sample->ip == ip, "thread %d: a sample at %#llx, not at %#llx",
	       (int)(thread - threads), sample->ip, ip);
	expect(sample->nrctrs == control->nractrs + control->nrictrs && !sample->kernel_depth &&
	       !sample->user_depth, "thread %d: a sample of %u counters", (int)(thread - threads),
	       sample->nrctrs);
	expect(sample->overflown == thread->overflown, "thread %d: a sample of %#x, not %#x",
	       (int)(thread - threads), sample->overflown, thread->overflown);
	for (i = 0; i < sample->nrctrs; i++) {
		u64 want;

		expect(is_count_of(control, &thread->seen, i, sample->value[i], &want),
		       "thread %d's sample: counter %u is %llu, not %llu",
		       (int)(thread - threads), i, sample->value[i], want);
	}
	expect_clock(sample->clock, thread->clock_on, thread);
	if (thread->timer_ns)
		end_timer(thread, sample->clock, sample->overflown);
	expect_place(thread, sample);
	expect(is_within_budget(thread), "thread %d: sample %u in this tick",
	       (int)(thread - threads), thread->spent);
	thread->overflown = 0;
	thread->sampled = true;
	pairs_see_thread(thread);
}

void throttled(struct thread *thread)
{
	nr.throttled++;
	expect(!thread->throttled && (!is_within_budget(thread) || thread->task.killed),
	       "thread %d has THROTTLED after %u samples in this tick", (int)(thread - threads),
	       thread->spent - 1);
	thread->throttled = true;
	if (thread->control)
		begin_periods(thread);
}

void follow_throttle(struct thread *thread)
{
	const struct vperfctr *perfctr = state_of(thread);
	const struct perfctr_recorder *recorder = perfctr ? perfctr->recorder : NULL;

	if (!thread->throttled || !recorder || !counts(thread))
		return;
	/* The timer ends it, if nothing else has resumed the state since the tick. */
	if (recorder->throttled && time_after(shim_jiffies, thread->tick) && rnd(2)) {
		fire_timer(true);
		expect(!recorder->throttled, "thread %d is throttled for ever",
		       (int)(thread - threads));
	}
	if (!recorder->throttled && thread->throttled)
		go_on(thread, clock_of(thread));
}

void expect_records(void)
{
	struct reader *reader = reader_of(running());

	if (reader)
		reader_reads(reader);
}

void expect_no_sample_is_due(const struct thread *thread)
{
	struct vperfctr *perfctr = state_of(thread);
	u64 value[1 + PERFCTR_MAX_HW];
	struct perfctr_sample sample = { .value = value };

	if (!perfctr || !thread->records || !counts(thread))
		return;
	expect(!thread->overflown, "thread %d goes on, and has no sample of its overflow",
	       (int)(thread - threads));
	if (!thread->timer_ns || thread->throttled)
		return;
	expect(!vperfctr_sample(perfctr, &sample) && !is_past(value[0], thread->due_most),
	       "thread %d goes on, and has no sample: the clock is %llu, it was due at %llu",
	       (int)(thread - threads), value[0], thread->due_most);
}
