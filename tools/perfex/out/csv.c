// SPDX-License-Identifier: GPL-2.0
/* Writes CSV: a header, then a line for each number. */
#include <inttypes.h>
#include <stdio.h>

#include "base/quote.h"
#include "base/values.h"
#include "count/counts.h"
#include "count/cpus.h"
#include "count/exact.h"
#include "count/explain.h"
#include "out/csv.h"
#include "out/series.h"

void csv_number(FILE *f, const struct value *value, bool known, double number)
{
	fputc(',', f);
	if (!known)
		return;
	if (value->kind == VALUE_SECONDS)
		fprintf(f, "%.9f", number);
	else
		fprintf(f, value_is_whole(value) ? "%.3f" : "%.6f", number);
}

void csv_value(FILE *f, bool first, const struct value *value)
{
	const char *modifier = value_modifier(value);

	csv_text(f, first, value->name);
	csv_text(f, false, modifier + (*modifier == ':'));
	csv_text(f, false, value->unit);
}

/*
 * Writes the line of one number. @part names the CPU, thread or pass, or is "" for the whole run.
 */
static void line(FILE *f, const char *record, double time, const char *part,
		 const struct value *value)
{
	fprintf(f, "%s,%.9f", record, time);
	csv_text(f, false, part);
	csv_value(f, false, value);
	if (value_is_whole(value) && value->known)
		fprintf(f, ",%" PRIu64, value->count);
	else
		csv_number(f, value, value->known, value->number);
	fputc('\n', f);
}

static void header(FILE *f)
{
	fputs("record,time,part,name,mode,unit,value\n", f);
}

static void lines(FILE *f, const char *record, double time, const char *part,
		  const struct values *values)
{
	unsigned int i;

	for (i = 0; i < values->n; i++)
		line(f, record, time, part, &values->value[i]);
}

/* Writes the lines of the events of one CPU or thread. */
static void part_lines(FILE *f, const char *record, double time, const char *part,
		       const struct values *all, bool known, const uint64_t *sum,
		       const uint64_t *before)
{
	unsigned int i;

	for (i = 0; i < all->n && all->value[i].kind == VALUE_EVENT; i++) {
		struct value value = all->value[i];

		value.known = known;
		value.count = sum[i] - (before ? before[i] : 0);
		line(f, record, time, part, &value);
	}
}

static void cpu_lines(FILE *f, const char *record, double time, const struct values *values,
		      const struct how *how, bool interval)
{
	char part[24];
	unsigned int i;

	for (i = 0; how->per_cpu && i < how->ncpus; i++) {
		const struct cpu_counts *now = cpus_counts(i);

		(void)snprintf(part, sizeof(part), "CPU %u", now->cpu);
		part_lines(f, record, time, part, values, now->clock != 0, now->sum,
			   interval ? cpus_before(i)->sum : NULL);
	}
}

static void thread_lines(FILE *f, char **argv, double time, const struct values *values,
			 const struct how *how, const struct run *run)
{
	uint64_t sum[PERFCTR_MAX_CTRS];
	struct perfctr_member member;
	unsigned int i;
	bool first;
	char part[64];

	for (first = true; next_thread(run, argv, &member, first); first = false) {
		exact_correct(how, member.nrctrs, member.sum);
		(void)snprintf(part, sizeof(part), "thread %d %.16s", member.tid, member.comm);
		for (i = 0; i < PERFCTR_MAX_CTRS; i++)
			sum[i] = member.sum[i];
		part_lines(f, "total", time, part, values, is_member_counted(&member), sum, NULL);
	}
}

void csv_zeroes(const struct run *run)
{
	if (run->zeroes)
		explain("instructions or cycles of a program that ran cannot be 0, and so are not counted:\n%s",
			run->why_zero);
}

void csv_run(FILE *f, char **argv, const struct perfctr_info *info,
	     const struct events *events, const struct how *how, const struct run *run)
{
	const struct values *values = series_values(info, events, how, run, NULL);
	char part[24] = "";

	/* The first interval or pass has written the header already. */
	if (!how->interval && how->pass <= 1)
		header(f);
	if (how->passes)
		(void)snprintf(part, sizeof(part), "pass %u", how->pass);
	lines(f, "total", elapsed(run), part, values);
	cpu_lines(f, "total", elapsed(run), values, how, false);
	if (how->per_thread)
		thread_lines(f, argv, elapsed(run), values, how, run);
	/* The format has no place for this, but a program can look at the exit status. */
	if (!run->complete)
		explain("the counts are incomplete: %s", run->why);
	csv_zeroes(run);
}

void csv_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		  const struct how *how, const struct run *run, const struct moment *before)
{
	const struct values *values = series_values(info, events, how, run, before);

	if (before->elapsed <= 0)
		header(f);
	lines(f, "interval", elapsed(run), "", values);
	cpu_lines(f, "interval", elapsed(run), values, how, true);
}

void csv_summary(FILE *f, const struct value *value, const struct summary *summary,
		 unsigned int failed)
{
	fprintf(f, ",%u,%u", summary->n, failed);
	csv_number(f, value, summary->n, summary->mean);
	csv_number(f, value, summary->n, summary->deviation);
	csv_number(f, value, summary->n, summary->minimum);
	csv_number(f, value, summary->n, summary->median);
	csv_number(f, value, summary->n, summary->maximum);
}

void csv_series(FILE *f, const struct how *how, const struct run *run, const struct series *series)
{
	struct summary summary;
	unsigned int i;

	if (how->pass <= 1)
		fprintf(f, "%sname,mode,unit,runs,failed,mean,sd,minimum,median,maximum\n",
			how->passes ? "pass," : "");
	for (i = 0; i < series->values.n; i++) {
		const struct value *value = &series->values.value[i];

		series_summary(series, i, &summary);
		if (how->passes)
			fprintf(f, "%u,", how->pass);
		csv_value(f, true, value);
		csv_summary(f, value, &summary, series->failed);
		fputc('\n', f);
	}
	csv_zeroes(run);
}
