// SPDX-License-Identifier: GPL-2.0
/* Writes counts as a table for people. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/paint.h"
#include "base/quote.h"
#include "base/values.h"
#include "count/counts.h"
#include "count/cpus.h"
#include "count/exact.h"
#include "count/topdown.h"
#include "count/why.h"
#include "out/series.h"
#include "out/text.h"

#define COLUMN	20	/* width of the numbers */

/*
 * Returns the modifier to print behind an event, as perf prints it: "" if the user gave no modifier
 * and both modes are counted.
 */
static const char *modifier(const struct event *event, const struct run *run)
{
	switch (mode(event, run)) {
	case PERFCTR_CTR_USER:
		return ":u";
	case PERFCTR_CTR_KERNEL:
		return ":k";
	default:
		return event->modifier ? ":uk" : "";
	}
}

/* Prints a number in its column, or "<not counted>". */
static void print_number(FILE *f, bool counted, uint64_t value)
{
	char buf[32];

	column(f, COLUMN, counted ? thousands(value, buf) : "<not counted>");
}

/* Prints a metric's share of the slots, behind its count. */
static void print_share(FILE *f, const struct event *event, unsigned int known,
			const double *ratio)
{
	int metric = metric_of(event);

	if (metric >= 0 && known >> metric & 1)
		fprintf(f, "  (%.1f%%)", 100 * ratio[metric]);
}

/*
 * Prints the shares that have no count: the parts of level 1 that level 2 does not name. Each line
 * begins with @before.
 */
static void print_rests(FILE *f, const char *before, unsigned int known, const double *ratio)
{
	unsigned int i;

	for (i = PERFCTR_METRICS; i < PERFCTR_TOPDOWN_RATIOS; i++)
		if (known >> i & 1)
			fprintf(f, "%s%*.1f%%  %s\n", before, COLUMN - 1, 100 * ratio[i],
				perfctr_topdown_name(i));
}

static void print_derived(FILE *f, const char *before, const struct values *values)
{
	char number[40], label[192];
	unsigned int i;

	for (i = 0; i < values->n; i++) {
		const struct value *value = &values->value[i];

		if (value->kind != VALUE_DERIVED)
			continue;
		value_text(value, value->number, number, sizeof(number));
		value_label(value, label, sizeof(label));
		fprintf(f, "%s%s", before, paint(f, PAINT_STRONG));
		column(f, COLUMN, number);
		fprintf(f, "  %s%s\n", label, paint(f, PAINT_PLAIN));
	}
}

static void print_seconds(FILE *f, double s, const char *what)
{
	fprintf(f, "%*.9f  %s\n", COLUMN, s, what);
}

static void print_command(FILE *f, char **argv)
{
	unsigned int i;

	for (i = 0; argv[i]; i++) {
		fputc(i ? ' ' : '\'', f);
		(void)plain_text(f, 0, argv[i]);
	}
	fprintf(f, "'");
}

static void print_processes(FILE *f, const struct how *how)
{
	unsigned int i;

	fprintf(f, "process%s", how->npids > 1 ? "es" : "");
	for (i = 0; i < how->npids; i++)
		fprintf(f, "%s %d", i ? "," : "", how->pids[i]);
}

/* Prints the list of CPUs, as "CPUs 0, 2". */
static void print_cpu_list(FILE *f, const struct how *how)
{
	unsigned int i;

	fprintf(f, "CPU%s", how->ncpus > 1 ? "s" : "");
	for (i = 0; i < how->ncpus; i++)
		fprintf(f, "%s %u", i ? "," : "", how->cpus[i]);
}

static void print_subject(FILE *f, char **argv, const struct how *how)
{
	fprintf(f, "\n Counts of %s", paint(f, PAINT_STRONG));
	if (how->npids)
		print_processes(f, how);
	if (how->ncpus)
		print_cpu_list(f, how);
	if (how->ncpus && argv[0])
		fprintf(f, " during ");
	if (!how->npids && argv[0])
		print_command(f, argv);
	fprintf(f, "%s", paint(f, PAINT_PLAIN));
	if (how->passes)
		fprintf(f, ", pass %u of %u", how->pass, how->passes);
}

/* Prints the end of a sentence about the run, with INCOMPLETE if the counts are incomplete. */
static void print_whether_complete(FILE *f, const struct run *run)
{
	if (!run->complete)
		fprintf(f, ", %sINCOMPLETE%s", paint(f, PAINT_BAD), paint(f, PAINT_PLAIN));
	fprintf(f, ":\n\n");
}

static void print_indented(FILE *f, const char *text)
{
	for (; *text; text++)
		fprintf(f, *text == '\n' ? "\n " : "%c", *text);
}

/* Prints that only the clock was counted, because the usual events could not be. */
static void print_clock_only(FILE *f, const struct run *run)
{
	fprintf(f, " Only the clock was counted: instructions and cycles cannot be counted here");
	if (run->user_only)
		fprintf(f, "\n without %s", which_privilege());
	if (run->reason == PERFCTR_REASON_OPEN) {
		fprintf(f, ":\n ");
		print_indented(f, why_open());
	}
	fprintf(f, ".\n");
}

/*
 * Prints a note about --exact. With @one_run, the note says how many instructions were subtracted.
 */
static void print_exact(FILE *f, const struct how *how, const struct run *run, bool one_run)
{
	uint64_t excess = exact_excess(how, &run->sums);
	char buf[32];

	if (!how->correction.per_interrupt)
		fprintf(f, " This processor counts no instruction too many at an interrupt.\n");
	else if (one_run)
		fprintf(f, " From instructions:u %s were subtracted: this processor counts one too many at\n"
			" each interrupt.\n",
			thousands(exact_subtracted(how, &run->sums), buf));
	else
		fprintf(f, " Instructions:u are without those that this processor counts too many at\n"
			" interrupts.\n");
	if (how->correction.per_fault)
		fprintf(f, " But it counts one too many at each page fault as well: instructions:u may be\n"
			" too many by up to %s.\n", thousands(excess, buf));
}

void text_notes(FILE *f, const struct events *events, const struct how *how,
		const struct run *run, bool one_run)
{
	bool unsaid = false, shared = events->n && run->source == PERFCTR_SOURCE_SHARED;
	unsigned int i;

	for (i = 0; i < events->n; i++)
		unsaid |= !events->event[i].modifier;
	if (unsaid && run->user_only)
		fprintf(f, " Events without a modifier were counted in user mode only: kernel mode needs\n"
			" %s.\n", which_privilege());
	else if (unsaid)
		fprintf(f, " Events without a modifier were counted in user and kernel mode.\n");
	if (how->no_idle)
		fprintf(f, " The idle tasks were left out.\n");
	if (how->exact)
		print_exact(f, how, run, one_run);
	if (shared)
		fprintf(f, " Counted through perf_events.\n");
	if (*events->left_out && events->n)
		fprintf(f, " %s cannot be counted here: perfex -e %s says why.\n", events->left_out,
			events->left_out);
	else if (*events->left_out)
		print_clock_only(f, run);
	else if (!events->n)
		fprintf(f, " Only the clock was counted: perfctr has no other counters here.\n");
	if (run->sums.live)
		fprintf(f, " %" PRIu64 " thread%s that it started still ran when it ended.\n",
			(uint64_t)run->sums.live, run->sums.live == 1 ? "" : "s");
	if (!run->complete)
		fprintf(f, " %sThe counts are INCOMPLETE: %s.%s\n", paint(f, PAINT_BAD), run->why,
			paint(f, PAINT_PLAIN));
	if (run->zeroes) {
		fprintf(f, " %sInstructions or cycles of a program that ran cannot be 0, and so are not counted%s:\n ",
			paint(f, PAINT_BAD), paint(f, PAINT_PLAIN));
		print_indented(f, run->why_zero);
		fprintf(f, ".\n");
	}
	if (run->zeroes || unsaid || how->no_idle || how->exact || shared || !events->n || !run->complete || run->sums.live)
		fprintf(f, "\n");
}

static void print_threads(FILE *f, char **argv, const struct events *events,
			  const struct how *how, const struct run *run)
{
	struct perfctr_member member;
	unsigned int i;
	bool first;

	fprintf(f, "%*s  %-16s", COLUMN / 2, "thread", "name");
	for (i = 0; i < events->n; i++)
		fprintf(f, " %*s%s", COLUMN - (int)strlen(modifier(&events->event[i], run)),
			events->event[i].name, modifier(&events->event[i], run));
	fprintf(f, "\n");
	for (first = true; next_thread(run, argv, &member, first); first = false) {
		exact_correct(how, member.nrctrs, member.sum);
		fprintf(f, "%*d  ", COLUMN / 2, member.tid);
		(void)plain_text(f, -16, member.comm);
		for (i = 0; i < member.nrctrs && i < events->n; i++) {
			fprintf(f, " ");
			print_number(f, is_member_counted(&member), member.sum[i]);
		}
		fprintf(f, "%s\n", member.error ? "  INCOMPLETE" : "");
	}
	fprintf(f, "\n");
}

/*
 * Prints a line for each CPU. In an interval, each line begins with @time; otherwise @time is NULL.
 */
static void print_cpus(FILE *f, const struct events *events, const struct how *how,
		       const struct run *run, const char *time)
{
	unsigned int i, k;

	fprintf(f, "%s%*s", time ?: "", COLUMN / 2, "CPU");
	for (k = 0; k < events->n; k++)
		fprintf(f, " %*s%s", COLUMN - (int)strlen(modifier(&events->event[k], run)),
			events->event[k].name, modifier(&events->event[k], run));
	fprintf(f, "\n");
	for (i = 0; i < how->ncpus; i++) {
		const struct cpu_counts *now = cpus_counts(i), *before = cpus_before(i);

		fprintf(f, "%s%*u", time ?: "", COLUMN / 2, now->cpu);
		for (k = 0; k < events->n; k++) {
			fprintf(f, " ");
			print_number(f, now->clock != 0, now->sum[k] - (time ? before->sum[k] : 0));
		}
		fprintf(f, "%s%s\n", now->online ? "" : "  offline", now->lost ? "  INCOMPLETE" : "");
	}
	if (!time)
		fprintf(f, "\n");
}

static void print_soft(FILE *f, bool counted, const struct perfctr_soft *soft)
{
	char buf[32];

	print_number(f, counted, soft->switches);
	fprintf(f, "  context switches\n");
	print_number(f, counted, soft->migrations);
	fprintf(f, "  migrations to another CPU\n");
	print_number(f, counted, soft->minor_faults + soft->major_faults);
	fprintf(f, "  page faults");
	if (counted)
		fprintf(f, " (%s with input or output)", thousands(soft->major_faults, buf));
	fprintf(f, "\n");
}

static void print_clock(FILE *f, const struct perfctr_info *info, const struct how *how,
			const struct run *run)
{
	const char *where = how->ncpus ? "of all these CPUs" : "on a processor";
	char buf[32];

	if (info->tsc_hz && run->counted) {
		fprintf(f, "%*.9f  seconds %s (%s ticks of the clock)\n", COLUMN,
			(double)run->sums.clock / (double)info->tsc_hz, where,
			thousands(run->sums.clock, buf));
		return;
	}
	print_number(f, run->counted, run->sums.clock);
	fprintf(f, "  ticks of the clock, %s\n", where);
}

void text_run(FILE *f, char **argv, const struct perfctr_info *info,
	      const struct events *events, const struct how *how, const struct run *run)
{
	double ratio[PERFCTR_TOPDOWN_RATIOS];
	unsigned int i, known = topdown_shares(events, run->sums.sum, NULL, ratio);

	print_subject(f, argv, how);
	print_whether_complete(f, run);

	if (how->per_thread)
		print_threads(f, argv, events, how, run);
	if (how->per_cpu)
		print_cpus(f, events, how, run, NULL);
	for (i = 0; i < events->n; i++) {
		print_number(f, is_counted(run, i), run->sums.sum[i]);
		fprintf(f, "  %s%s", events->event[i].name, modifier(&events->event[i], run));
		print_share(f, &events->event[i], known, ratio);
		fprintf(f, "\n");
	}
	print_rests(f, "", known, ratio);
	print_derived(f, "", series_values(info, events, how, run, NULL));
	print_clock(f, info, how, run);
	if (!how->ncpus)
		print_soft(f, run->counted, &run->sums.soft);

	fprintf(f, "\n");
	print_seconds(f, elapsed(run), "seconds elapsed");
	/* The CPU times of processes that ran already are not known. */
	if (run->pid) {
		print_seconds(f, seconds(&run->usage.ru_utime), "seconds user");
		print_seconds(f, seconds(&run->usage.ru_stime), "seconds system");
	}
	fprintf(f, "\n");

	text_notes(f, events, how, run, true);
}

void text_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		   const struct how *how, const struct run *run, const struct moment *before)
{
	uint64_t clock = run->sums.clock - before->sums.clock;
	double ratio[PERFCTR_TOPDOWN_RATIOS];
	unsigned int i, known = topdown_shares(events, run->sums.sum, before->sums.sum, ratio);
	char time[32];

	(void)snprintf(time, sizeof(time), "%*.6f ", COLUMN - 4, elapsed(run));
	if (how->per_cpu)
		print_cpus(f, events, how, run, time);
	for (i = 0; i < events->n; i++) {
		fprintf(f, "%s", time);
		print_number(f, is_counted(run, i), run->sums.sum[i] - before->sums.sum[i]);
		fprintf(f, "  %s%s", events->event[i].name, modifier(&events->event[i], run));
		print_share(f, &events->event[i], known, ratio);
		fprintf(f, "\n");
	}
	print_rests(f, time, known, ratio);
	print_derived(f, time, series_values(info, events, how, run, before));
	if (info->tsc_hz && run->counted)
		fprintf(f, "%s%*.9f  seconds %s\n", time, COLUMN,
			(double)clock / (double)info->tsc_hz,
			how->ncpus ? "of all these CPUs" : "on a processor");
}

#define STATISTIC	17	/* width of a column for several runs */

static void print_summary(FILE *f, const struct value *value, const struct summary *summary)
{
	char label[192];

	value_label(value, label, sizeof(label));
	if (!summary->n) {
		fprintf(f, "%*s%*s  %s\n", STATISTIC, "<not counted>", 9 + 3 * STATISTIC, "", label);
		return;
	}
	value_column(f, STATISTIC, value, summary->mean);
	if (summary->mean != 0)
		fprintf(f, " %7.2f%%", 100 * summary->deviation / fabs(summary->mean));
	else
		column(f, 9, summary->deviation > 0 ? "-" : "0.00%");
	value_column(f, STATISTIC, value, summary->minimum);
	value_column(f, STATISTIC, value, summary->median);
	value_column(f, STATISTIC, value, summary->maximum);
	fprintf(f, "  %s\n", label);
}

void text_failed(FILE *f, const struct series *series)
{
	const char *between = "";

	if (!series->failed && !series->warm_ups_failed && !series->interrupted)
		return;
	fprintf(f, "  (%s", paint(f, PAINT_BAD));
	if (series->failed) {
		fprintf(f, "%u of %u runs failed", series->failed, series->runs + series->failed);
		between = ", ";
	}
	if (series->warm_ups_failed) {
		fprintf(f, "%s%u to warm up failed", between, series->warm_ups_failed);
		between = ", ";
	}
	if (series->interrupted)
		fprintf(f, "%sinterrupted", between);
	fprintf(f, "%s)", paint(f, PAINT_PLAIN));
}

void text_series(FILE *f, char **argv, const struct events *events, const struct how *how,
		 const struct run *run, const struct series *series)
{
	struct summary summary;
	unsigned int i;

	print_subject(f, argv, how);
	fprintf(f, ", mean of %u run%s", series->runs, series->runs == 1 ? "" : "s");
	if (how->warm_up)
		fprintf(f, " after %u to warm up", how->warm_up);
	text_failed(f, series);
	print_whether_complete(f, run);
	fprintf(f, "%*s%9s%*s%*s%*s\n", STATISTIC, "mean", "sd", STATISTIC, "minimum", STATISTIC,
		"median", STATISTIC, "maximum");
	for (i = 0; i < series->values.n; i++) {
		const struct value *value = &series->values.value[i];

		/* If the clock's frequency is known, the seconds show the same as the ticks. */
		if (value->kind == VALUE_TICKS &&
		    values_find(&series->values, VALUE_SECONDS, "on a processor"))
			continue;
		series_summary(series, i, &summary);
		print_summary(f, value, &summary);
	}
	fprintf(f, "\n");
	text_notes(f, events, how, run, false);
}
