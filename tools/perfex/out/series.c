// SPDX-License-Identifier: GPL-2.0
/* Makes a list of the numbers of a run, and samples of the numbers of several runs. */
#include <string.h>
#include <sys/wait.h>

#include "base/statistics.h"
#include "base/values.h"
#include "count/counts.h"
#include "count/exact.h"
#include "count/explain.h"
#include "count/topdown.h"
#include "count/why.h"
#include "out/series.h"

/* Finds the name that comes first for @event in the table of events. */
static void plain_name(const struct perfctr_info *info, const struct event *event, char *plain,
		       size_t size)
{
	struct perfctr_ctr_control ctr = event->ctr;

	ctr.flags &= ~(__u32)MODES;
	if (perfctr_event_format(info->cpu_type, &ctr, plain, size) < 0)
		*plain = '\0';
	plain[strcspn(plain, ":")] = '\0';
}

static bool is_never_zero(const struct perfctr_info *info, const struct event *event)
{
	static const char *const names[] = { "instructions", "cycles", "instret", "cycle" };
	char plain[64];
	size_t i;

	plain_name(info, event, plain, sizeof(plain));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(plain, names[i]))
			return true;
	return false;
}

/*
 * Finds counts of 0 that cannot be true. A program that ended by exit(2) has executed instructions
 * in user mode, so its counts in user mode cannot be 0. The following may truly be 0: a program
 * that a signal killed, processes that ran already, a CPU, a thread, an interval, and kernel mode
 * alone.
 */
void note_zeroes(const struct perfctr_info *info, const struct events *events,
		 const struct how *how, struct run *run)
{
	unsigned int i;

	run->zeroes = 0;
	if (how->npids || how->ncpus || !run->complete || !WIFEXITED(run->status))
		return;
	for (i = 0; i < events->n; i++)
		if (is_counted(run, i) && !run->sums.sum[i] &&
		    mode(&events->event[i], run) & PERFCTR_CTR_USER &&
		    is_never_zero(info, &events->event[i]))
			run->zeroes |= (uint64_t)1 << i;
	run->why_zero = why_zero(info);
}

static void add_events_of(const struct perfctr_info *info, const struct events *events,
			  const struct run *run, const struct moment *before, struct values *values)
{
	unsigned int i;

	for (i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];
		struct value *value = values_add_count(values, VALUE_EVENT, event->name,
			is_counted(run, i),
			run->sums.sum[i] - (before ? before->sums.sum[i] : 0));

		if (!value)
			return;
		value->mode = mode(event, run);
		plain_name(info, event, value->plain, sizeof(value->plain));
	}
}

static void add_shares(const struct events *events, const struct run *run,
		       const struct moment *before, struct values *values)
{
	double ratio[PERFCTR_TOPDOWN_RATIOS];
	unsigned int i, known = topdown_shares(events, run->sums.sum,
					       before ? before->sums.sum : NULL, ratio);
	struct value *value;

	for (i = 0; i < PERFCTR_TOPDOWN_RATIOS; i++) {
		if (!(known >> i & 1))
			continue;
		value = values_add(values, VALUE_SHARE, perfctr_topdown_name(i));
		if (!value)
			return;
		value->known = true;
		value->number = 100 * ratio[i];
	}
}

static void add_kernel_counts(const struct run *run, const struct moment *before,
			      struct values *values)
{
	static const struct perfctr_soft nothing;
	const struct perfctr_soft *now = &run->sums.soft, *then = before ? &before->sums.soft : &nothing;
	bool known = run->counted;

	values_add_count(values, VALUE_COUNT, "context switches", known,
			 now->switches - then->switches);
	values_add_count(values, VALUE_COUNT, "migrations", known,
			 now->migrations - then->migrations);
	values_add_count(values, VALUE_COUNT, "minor faults", known,
			 now->minor_faults - then->minor_faults);
	values_add_count(values, VALUE_COUNT, "major faults", known,
			 now->major_faults - then->major_faults);
}

static void add_seconds(struct values *values, const char *name, bool known, double number)
{
	struct value *value = values_add(values, VALUE_SECONDS, name);

	if (!value)
		return;
	value->known = known;
	value->number = number;
}

const struct values *series_values(const struct perfctr_info *info, const struct events *events,
				   const struct how *how, const struct run *run,
				   const struct moment *before)
{
	static struct values list;	/* static because it is too large for a small stack */
	struct values *values = &list;
	uint64_t clock = run->sums.clock - (before ? before->sums.clock : 0);
	uint64_t subtracted = exact_subtracted(how, &run->sums);

	values->n = 0;
	add_events_of(info, events, run, before, values);
	add_shares(events, run, before, values);
	values_add_count(values, VALUE_TICKS, "clock", run->counted, clock);
	if (!how->ncpus)
		add_kernel_counts(run, before, values);
	if (how->exact)
		values_add_count(values, VALUE_SUBTRACTED, "subtracted", run->counted,
				 subtracted - (before ? exact_subtracted(how, &before->sums) : 0));
	if (info->tsc_hz)
		add_seconds(values, "on a processor", run->counted,
			    (double)clock / (double)info->tsc_hz);
	add_seconds(values, "elapsed", true, elapsed(run) - (before ? before->elapsed : 0));
	/*
	 * The CPU times of processes that ran already are not known. Only the total has CPU times,
	 * not the intervals.
	 */
	if (run->pid && !before) {
		add_seconds(values, "user", true, seconds(&run->usage.ru_utime));
		add_seconds(values, "system", true, seconds(&run->usage.ru_stime));
	}
	/* While a CPU idles, its clock runs, but its cycles may not be counted. */
	derive(values, !how->ncpus || how->no_idle);
	return values;
}

bool series_add(struct series *series, const struct run *run, bool warms_up,
		const struct values *values)
{
	bool failed = went_wrong(run) || run->stop;
	unsigned int i;
	int k;

	series->interrupted |= run->stop;
	if (warms_up)
		series->warm_ups_failed += failed;
	else if (failed)
		series->failed++;
	else
		series->runs++;
	/* A failed run, or one to warm up, adds names of values but no numbers. */
	for (i = 0; i < values->n; i++) {
		const struct value *value = &values->value[i];

		k = values_same(&series->values, values, i);
		if (k < 0 && series->values.n < MOST_VALUES) {
			k = (int)series->values.n++;
			series->values.value[k] = *value;
		}
		if (k < 0 || !value->known || warms_up || failed ||
		    sample_add(&series->sample[k], value->number))
			continue;
		explain("no memory for the counts of so many runs");
		return false;
	}
	return true;
}

void series_summary(const struct series *series, unsigned int i, struct summary *summary)
{
	if (!sample_summary(&series->sample[i], summary))
		*summary = (struct summary){ .n = 0 };
}

void series_free(struct series *series)
{
	unsigned int i;

	for (i = 0; i < MOST_VALUES; i++)
		sample_free(&series->sample[i]);
	memset(series, 0, sizeof(*series));
}
