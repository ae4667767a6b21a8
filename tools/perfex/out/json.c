// SPDX-License-Identifier: GPL-2.0
/* Writes JSON Lines: each line is a whole object. A number that was not counted is null. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/quote.h"
#include "count/counts.h"
#include "count/cpus.h"
#include "count/exact.h"
#include "count/topdown.h"
#include "out/json.h"
#include "out/series.h"

static const char *json_bool(bool b)
{
	return b ? "true" : "false";
}

void json_command(FILE *f, char **argv)
{
	unsigned int i;

	fprintf(f, "\"command\": [");
	for (i = 0; argv[i]; i++) {
		if (i)
			fprintf(f, ", ");
		json_string(f, argv[i]);
	}
	fprintf(f, "]");
}

static void json_processes(FILE *f, const struct how *how)
{
	unsigned int i;

	fprintf(f, "\"pids\": [");
	for (i = 0; i < how->npids; i++)
		fprintf(f, "%s%d", i ? ", " : "", how->pids[i]);
	fprintf(f, "]");
}

static void json_cpu_list(FILE *f, const struct how *how)
{
	unsigned int i;

	fprintf(f, "\"cpus\": [");
	for (i = 0; i < how->ncpus; i++)
		fprintf(f, "%s%u", i ? ", " : "", how->cpus[i]);
	fprintf(f, "]");
}

/* Writes the members that identify an event. */
static void json_event(FILE *f, const struct event *event, const struct run *run)
{
	unsigned int m = mode(event, run);

	fprintf(f, "{\"event\": ");
	json_string(f, event->name);
	fprintf(f, ", \"user\": %s, \"kernel\": %s",
		json_bool(m & PERFCTR_CTR_USER), json_bool(m & PERFCTR_CTR_KERNEL));
}

/* Writes the counts that the kernel keeps of threads, or nulls. */
static void json_soft(FILE *f, const struct perfctr_soft *soft)
{
	if (!soft) {
		fprintf(f, "\"context_switches\": null, \"migrations\": null, \"minor_faults\": null"
			", \"major_faults\": null, \"task_clock\": null");
		return;
	}
	fprintf(f, "\"context_switches\": %" PRIu64 ", \"migrations\": %" PRIu64
		", \"minor_faults\": %" PRIu64 ", \"major_faults\": %" PRIu64
		", \"task_clock\": %.9f", (uint64_t)soft->switches, (uint64_t)soft->migrations,
		(uint64_t)soft->minor_faults, (uint64_t)soft->major_faults,
		(double)soft->task_clock / 1e9);
}

static void json_count(FILE *f, bool counted, uint64_t count)
{
	if (counted)
		fprintf(f, "%" PRIu64, count);
	else
		fprintf(f, "null");
}

/* Writes the shares of the slots, if metrics are among the events. */
static void json_topdown(FILE *f, const struct events *events, const __u64 *sum,
			 const __u64 *before)
{
	double ratio[PERFCTR_TOPDOWN_RATIOS];
	unsigned int i, known = topdown_shares(events, sum, before, ratio);
	const char *between = "", *p;

	for (i = 0; i < events->n; i++)
		if (metric_of(&events->event[i]) >= 0)
			break;
	if (i == events->n)
		return;
	fprintf(f, ", \"topdown\": {");
	for (i = 0; i < PERFCTR_TOPDOWN_RATIOS; i++) {
		if (!(known >> i & 1))
			continue;
		fprintf(f, "%s\"", between);
		for (p = perfctr_topdown_name(i); *p; p++)
			fputc(*p == ' ' ? '_' : *p, f);
		fprintf(f, "\": %.6f", ratio[i]);
		between = ", ";
	}
	fprintf(f, "}");
}

/* Writes the counts and the clock since @before, or since the beginning if @before is NULL. */
static void json_counts(FILE *f, const struct perfctr_info *info, const struct events *events,
			const struct run *run, const struct moment *before)
{
	uint64_t clock = run->sums.clock - (before ? before->sums.clock : 0);
	unsigned int i;

	fprintf(f, "\"counts\": [");
	for (i = 0; i < events->n; i++) {
		fprintf(f, "%s", i ? ", " : "");
		json_event(f, &events->event[i], run);
		fprintf(f, ", \"count\": ");
		json_count(f, is_counted(run, i),
			   run->sums.sum[i] - (before ? before->sums.sum[i] : 0));
		fprintf(f, "}");
	}
	fprintf(f, "]");
	json_topdown(f, events, run->sums.sum, before ? before->sums.sum : NULL);
	fprintf(f, ", \"clock\": {\"ticks\": ");
	json_count(f, run->counted, clock);
	fprintf(f, ", \"hz\": %" PRIu64 ", \"seconds\": ", (uint64_t)info->tsc_hz);
	if (info->tsc_hz && run->counted)
		fprintf(f, "%.9f}", (double)clock / (double)info->tsc_hz);
	else
		fprintf(f, "null}");
}

void json_value_name(FILE *f, const struct value *value)
{
	fprintf(f, "{\"name\": ");
	json_string(f, value->name);
	if (value->mode)
		fprintf(f, ", \"user\": %s, \"kernel\": %s",
			json_bool(value->mode & PERFCTR_CTR_USER),
			json_bool(value->mode & PERFCTR_CTR_KERNEL));
	fprintf(f, ", \"unit\": ");
	json_string(f, value->unit);
	fprintf(f, ", ");
}

static void json_derived(FILE *f, const struct perfctr_info *info, const struct events *events,
			 const struct how *how, const struct run *run,
			 const struct moment *before)
{
	const struct values *values = series_values(info, events, how, run, before);
	const char *between = "";
	unsigned int i;

	fprintf(f, ", \"derived\": [");
	for (i = 0; i < values->n; i++) {
		if (values->value[i].kind != VALUE_DERIVED)
			continue;
		fprintf(f, "%s", between);
		json_value_name(f, &values->value[i]);
		fprintf(f, "\"value\": %.6f}", values->value[i].number);
		between = ", ";
	}
	fprintf(f, "]");
}

/* Writes what --exact subtracted since @before, or since the beginning if @before is NULL. */
static void json_exact(FILE *f, const struct how *how, const struct run *run,
		       const struct moment *before)
{
	uint64_t subtracted = exact_subtracted(how, &run->sums);
	uint64_t excess = exact_excess(how, &run->sums);

	if (!how->exact)
		return;
	if (before) {
		subtracted -= exact_subtracted(how, &before->sums);
		excess -= exact_excess(how, &before->sums);
	}
	fprintf(f, ", \"exact\": {\"subtracted\": ");
	json_count(f, run->counted, subtracted);
	fprintf(f, ", \"still_too_many_at_most\": ");
	json_count(f, run->counted, excess);
	fprintf(f, "}");
}

static void json_threads(FILE *f, char **argv, const struct events *events,
			 const struct how *how, const struct run *run)
{
	struct perfctr_member member;
	unsigned int i;
	bool first;

	fprintf(f, ", \"threads\": [");
	for (first = true; next_thread(run, argv, &member, first); first = false) {
		bool counted = is_member_counted(&member);

		exact_correct(how, member.nrctrs, member.sum);
		fprintf(f, "%s{\"tid\": %d, \"pid\": %d, \"name\": ", first ? "" : ", ",
			member.tid, member.tgid);
		json_string(f, member.comm);
		fprintf(f, ", \"complete\": %s, \"counts\": [", json_bool(!member.error));
		for (i = 0; i < member.nrctrs && i < events->n; i++) {
			fprintf(f, "%s", i ? ", " : "");
			json_count(f, counted, member.sum[i]);
		}
		fprintf(f, "], ");
		json_soft(f, counted ? &member.soft : NULL);
		fprintf(f, "}");
	}
	fprintf(f, "]");
}

static void json_per_cpu(FILE *f, const struct events *events, const struct how *how,
			 bool interval)
{
	unsigned int i, k;

	fprintf(f, ", \"per_cpu\": [");
	for (i = 0; i < how->ncpus; i++) {
		const struct cpu_counts *now = cpus_counts(i), *before = cpus_before(i);

		fprintf(f, "%s{\"cpu\": %u, \"online\": %s, \"complete\": %s, \"counts\": [",
			i ? ", " : "", now->cpu, json_bool(now->online), json_bool(!now->lost));
		for (k = 0; k < events->n; k++) {
			fprintf(f, "%s", k ? ", " : "");
			json_count(f, now->clock != 0,
				   now->sum[k] - (interval ? before->sum[k] : 0));
		}
		fprintf(f, "], \"ticks\": %" PRIu64 "}",
			now->clock - (interval ? before->clock : 0));
	}
	fprintf(f, "]");
}

/* Writes the number of threads, and the counts that the kernel keeps of them. */
static void json_of_threads(FILE *f, const struct run *run)
{
	fprintf(f, ", \"kernel_counts\": {");
	json_soft(f, run->counted ? &run->sums.soft : NULL);
	fprintf(f, "}, \"descendants_ended\": %" PRIu64 ", \"descendants_live\": %" PRIu64
		", \"descendants_missed\": %" PRIu64, (uint64_t)run->sums.ended,
		(uint64_t)run->sums.live, (uint64_t)run->sums.missed);
}

static void json_end(FILE *f, const struct events *events, const struct run *run)
{
	fprintf(f, ", \"source\": ");
	if (events->n)
		json_string(f, perfctr_source_name(run->source));
	else
		fprintf(f, "null");
	fprintf(f, ", \"user_only\": %s, \"complete\": %s, \"incomplete_because\": ",
		json_bool(run->user_only), json_bool(run->complete));
	if (run->complete)
		fprintf(f, "null");
	else
		json_string(f, run->why);
	fprintf(f, ", \"not_counted_because\": ");
	if (run->zeroes)
		json_string(f, run->why_zero);
	else
		fprintf(f, "null");
	if (WIFSIGNALED(run->status))
		fprintf(f, ", \"exit_status\": null, \"signal\": %d}\n", WTERMSIG(run->status));
	else
		fprintf(f, ", \"exit_status\": %d, \"signal\": null}\n", WEXITSTATUS(run->status));
}

static void json_pass(FILE *f, const struct how *how)
{
	if (how->passes)
		fprintf(f, ", \"pass\": %u, \"passes\": %u", how->pass, how->passes);
}

void json_run(FILE *f, char **argv, const struct perfctr_info *info,
	      const struct events *events, const struct how *how, const struct run *run)
{
	fprintf(f, "{");
	if (how->npids)
		json_processes(f, how);
	if (how->ncpus)
		json_cpu_list(f, how);
	if (how->ncpus && argv[0])
		fprintf(f, ", ");
	if (!how->npids && argv[0])
		json_command(f, argv);
	json_pass(f, how);
	fprintf(f, ", ");
	json_counts(f, info, events, run, NULL);
	json_derived(f, info, events, how, run, NULL);
	json_exact(f, how, run, NULL);
	if (how->per_thread)
		json_threads(f, argv, events, how, run);
	if (how->per_cpu)
		json_per_cpu(f, events, how, false);
	if (!how->ncpus)
		json_of_threads(f, run);
	fprintf(f, ", \"elapsed\": %.9f", elapsed(run));
	if (run->pid)
		fprintf(f, ", \"user\": %.6f, \"system\": %.6f", seconds(&run->usage.ru_utime),
			seconds(&run->usage.ru_stime));
	json_end(f, events, run);
}

void json_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		   const struct how *how, const struct run *run,
		   const struct moment *before)
{
	fprintf(f, "{\"interval\": %.9f, ", elapsed(run));
	json_counts(f, info, events, run, before);
	json_derived(f, info, events, how, run, before);
	json_exact(f, how, run, before);
	if (how->per_cpu)
		json_per_cpu(f, events, how, true);
	fprintf(f, ", \"live\": %" PRIu64 "}\n", (uint64_t)run->sums.live);
}

void json_runs(FILE *f, const struct series *series)
{
	fprintf(f, "\"runs\": %u, \"failed\": %u, \"warm_up_failed\": %u, \"interrupted\": %s",
		series->runs, series->failed, series->warm_ups_failed,
		json_bool(series->interrupted));
}

void json_summary(FILE *f, const struct summary *summary, double scale, int digits)
{
	static const char *const names[] = {
		"mean", "deviation", "minimum", "median", "maximum",
	};
	const double numbers[] = {
		summary->mean, summary->deviation, summary->minimum, summary->median,
		summary->maximum,
	};
	unsigned int i;

	for (i = 0; i < 5; i++) {
		fprintf(f, "%s\"%s\": ", i ? ", " : "", names[i]);
		if (summary->n)
			fprintf(f, "%.*f", digits, numbers[i] / scale);
		else
			fprintf(f, "null");
	}
}

/* Writes the name and the summary of each value of a kind. */
static void json_named(FILE *f, const struct series *series, enum value_kind kind, double scale,
		       int digits)
{
	const char *between = "", *p;
	struct summary summary;
	unsigned int i;

	for (i = 0; i < series->values.n; i++) {
		const struct value *value = &series->values.value[i];

		if (value->kind != kind)
			continue;
		series_summary(series, i, &summary);
		fprintf(f, "%s\"", between);
		for (p = value->name; *p; p++)
			fputc(*p == ' ' ? '_' : *p, f);
		fprintf(f, "\": {");
		json_summary(f, &summary, scale, digits);
		fprintf(f, "}");
		between = ", ";
	}
}

static void json_series_counts(FILE *f, const struct events *events, const struct run *run,
			       const struct series *series)
{
	struct summary summary;
	unsigned int i;

	fprintf(f, "\"counts\": [");
	for (i = 0; i < events->n; i++) {
		fprintf(f, "%s", i ? ", " : "");
		json_event(f, &events->event[i], run);
		fprintf(f, ", ");
		series_summary(series, i, &summary);
		json_summary(f, &summary, 1, 3);
		fprintf(f, "}");
	}
	fprintf(f, "]");
}

static void json_series_derived(FILE *f, const struct series *series)
{
	const char *between = "";
	struct summary summary;
	unsigned int i;

	fprintf(f, ", \"derived\": [");
	for (i = 0; i < series->values.n; i++) {
		if (series->values.value[i].kind != VALUE_DERIVED)
			continue;
		fprintf(f, "%s", between);
		json_value_name(f, &series->values.value[i]);
		series_summary(series, i, &summary);
		json_summary(f, &summary, 1, 6);
		fprintf(f, "}");
		between = ", ";
	}
	fprintf(f, "]");
}

static void json_series_clock(FILE *f, const struct perfctr_info *info,
			      const struct series *series)
{
	struct summary summary = { .n = 0 };
	unsigned int i;

	for (i = 0; i < series->values.n; i++)
		if (series->values.value[i].kind == VALUE_TICKS)
			series_summary(series, i, &summary);
	fprintf(f, ", \"clock\": {\"hz\": %" PRIu64 ", ", (uint64_t)info->tsc_hz);
	json_summary(f, &summary, 1, 3);
	fprintf(f, "}");
}

void json_series(FILE *f, char **argv, const struct perfctr_info *info,
		 const struct events *events, const struct how *how, const struct run *run,
		 const struct series *series)
{
	unsigned int i;

	fprintf(f, "{");
	if (how->ncpus) {
		json_cpu_list(f, how);
		fprintf(f, ", ");
	}
	json_command(f, argv);
	json_pass(f, how);
	fprintf(f, ", ");
	json_runs(f, series);
	fprintf(f, ", \"warm_up_runs\": %u, ", how->warm_up);
	json_series_counts(f, events, run, series);
	json_series_derived(f, series);
	for (i = 0; i < events->n; i++)
		if (metric_of(&events->event[i]) >= 0)
			break;
	if (i < events->n) {
		fprintf(f, ", \"topdown\": {");
		json_named(f, series, VALUE_SHARE, 100, 6);
		fprintf(f, "}");
	}
	json_series_clock(f, info, series);
	if (how->exact) {
		fprintf(f, ", \"exact\": {");
		json_named(f, series, VALUE_SUBTRACTED, 1, 3);
		fprintf(f, "}");
	}
	if (!how->ncpus) {
		fprintf(f, ", \"kernel_counts\": {");
		json_named(f, series, VALUE_COUNT, 1, 3);
		fprintf(f, "}");
	}
	fprintf(f, ", ");
	json_named(f, series, VALUE_SECONDS, 1, 9);
	json_end(f, events, run);
}
