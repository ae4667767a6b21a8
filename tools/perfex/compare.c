// SPDX-License-Identifier: GPL-2.0
/*
 * Implements perfex compare, which runs two programs in turns and shows how they differ.
 *
 * A is first in one turn and B in the next. If the machine becomes faster or slower, A and B are
 * affected alike.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paint.h"
#include "base/perfex.h"
#include "base/quote.h"
#include "base/statistics.h"
#include "base/values.h"
#include "count/counts.h"
#include "count/explain.h"
#include "count/explain_run.h"
#include "count/signals.h"
#include "out/csv.h"
#include "out/json.h"
#include "out/results.h"
#include "out/series.h"
#include "out/text.h"
#include "run/input.h"
#include "run/run.h"
#include "commands.h"
#include "options.h"
#include "request.h"

#define USUAL_RUNS	10
#define USUAL_WARM_UP	1

/* The state of a comparison. Index 0 is program A, and index 1 is program B. */
struct comparison {
	char **argv[2];
	struct series *series;		/* [0] of A, [1] of B */
	struct run worst;		/* the first run that failed, or else the first run */
};

static void compare_usage(FILE *f)
{
	fprintf(f,
		"usage: perfex compare [-e EVENT[,EVENT]...]... [-r N] [-w N] [OPTION]...\n"
		"                      [--] PROGRAM [ARG]... -- PROGRAM [ARG]...\n"
		"\n"
		"Runs two programs in turns, N times each, and tells how what they count differs:\n"
		"the second less the first, in percent of the first, with a confidence of 95 %%.\n\n");
	options_help(f, COMMAND_COMPARE);
	fprintf(f,
		"\n"
		"Without -r each runs 10 times, after one run to warm up. The exit status is that of\n"
		"the first run that failed, else 0. See perfex(1).\n");
}

/* One value in the runs of A and of B. */
struct row {
	const struct value *value;
	struct summary a, b;
	struct difference difference;
};

/* Compares value @i of A with B's value of that name. Returns false if B has none. */
static bool compared_row(const struct comparison *comparison, unsigned int i, struct row *row)
{
	const struct series *a = &comparison->series[0], *b = &comparison->series[1];
	int k = values_same(&b->values, &a->values, i);

	if (k < 0)
		return false;
	row->value = &a->values.value[i];
	series_summary(a, i, &row->a);
	series_summary(b, (unsigned int)k, &row->b);
	summary_difference(&row->a, &row->b, &row->difference);
	return true;
}

/* Returns true if a smaller value is better. */
static bool is_cost(const struct value *value)
{
	return value->kind != VALUE_DERIVED && value->kind != VALUE_SHARE;
}

/* Returns the colour of a difference. @part is the difference divided by A's mean. */
static enum paint paint_of(const struct value *value, const struct difference *difference, double part)
{
	if (!difference->part_known || fabs(part) <= difference->part_half)
		return PAINT_FAINT;
	if (!is_cost(value))
		return PAINT_STRONG;
	return part < 0 ? PAINT_GOOD : PAINT_BAD;
}

#define MEAN	17
#define PERCENT	9

static void text_mean(FILE *f, const struct value *value, const struct summary *summary)
{
	if (summary->n)
		value_column(f, MEAN, value, summary->mean);
	else
		column(f, MEAN, "<not counted>");
	if (summary->mean != 0)
		fprintf(f, " %*.2f%%", PERCENT - 2, 100 * summary->deviation / fabs(summary->mean));
	else
		fprintf(f, "%*s", PERCENT, "");
}

static void text_compared(FILE *f, const struct row *row)
{
	const struct difference *difference = &row->difference;
	double mean = row->a.mean, part = difference->mean / fabs(mean);
	char label[192], percent[64];

	value_label(row->value, label, sizeof(label));
	text_mean(f, row->value, &row->a);
	text_mean(f, row->value, &row->b);
	if (!row->a.n || !row->b.n)
		*percent = '\0';
	else if (mean == 0)
		(void)snprintf(percent, sizeof(percent), "%s", row->b.mean == 0 ? "none" : "-");
	else if (difference->part_known)
		(void)snprintf(percent, sizeof(percent), "%+.2f%% +- %.2f%%", 100 * part,
			       100 * difference->part_half);
	else
		(void)snprintf(percent, sizeof(percent), "%+.2f%%", 100 * part);
	fprintf(f, "  %s%21s%s  %s\n", paint(f, paint_of(row->value, difference, part)), percent,
		paint(f, PAINT_PLAIN), label);
}

static void text_program(FILE *f, const struct comparison *comparison, unsigned int which)
{
	unsigned int i;

	fprintf(f, "%s%c:", which ? "" : "\n ", which ? 'B' : 'A');
	for (i = 0; comparison->argv[which][i]; i++) {
		fputc(' ', f);
		(void)plain_text(f, 0, comparison->argv[which][i]);
	}
	text_failed(f, &comparison->series[which]);
	fprintf(f, "\n ");
}

static void text_comparison(FILE *f, const struct comparison *comparison,
			    const struct events *events, const struct how *how)
{
	const struct values *values = &comparison->series[0].values;
	const unsigned int runs[] = { comparison->series[0].runs, comparison->series[1].runs };
	struct row row;
	unsigned int i;

	text_program(f, comparison, 0);
	text_program(f, comparison, 1);
	if (runs[0] == runs[1])
		fprintf(f, "%u runs of each, in turns", runs[0]);
	else
		fprintf(f, "%u runs of A and %u of B, in turns", runs[0], runs[1]);
	if (how->warm_up)
		fprintf(f, ", after %u to warm up", how->warm_up);
	fprintf(f, ":\n\n%*s%*s%*s%*s  %21s\n", MEAN, "mean of A", PERCENT, "sd", MEAN, "mean of B",
		PERCENT, "sd", "B less A, 95 %");
	for (i = 0; i < values->n; i++) {
		if (values->value[i].kind == VALUE_TICKS &&
		    values_find(values, VALUE_SECONDS, "on a processor"))
			continue;
		if (compared_row(comparison, i, &row))
			text_compared(f, &row);
	}
	fprintf(f, "\n");
	text_notes(f, events, how, &comparison->worst, false);
}

static void csv_comparison(FILE *f, const struct comparison *comparison)
{
	const struct difference *difference;
	const struct value *value;
	struct row row;
	unsigned int i;

	fputs("name,mode,unit,a_runs,a_failed,a_mean,a_sd,a_minimum,a_median,a_maximum,"
	      "b_runs,b_failed,b_mean,b_sd,b_minimum,b_median,b_maximum,difference,low,high\n", f);
	for (i = 0; i < comparison->series[0].values.n; i++) {
		if (!compared_row(comparison, i, &row))
			continue;
		value = row.value;
		difference = &row.difference;
		csv_value(f, true, value);
		csv_summary(f, value, &row.a, comparison->series[0].failed);
		csv_summary(f, value, &row.b, comparison->series[1].failed);
		csv_number(f, value, row.a.n && row.b.n, difference->mean);
		csv_number(f, value, difference->known, difference->low);
		csv_number(f, value, difference->known, difference->high);
		fputc('\n', f);
	}
	csv_zeroes(&comparison->worst);
}

static void json_number(FILE *f, const char *name, bool known, double number)
{
	fprintf(f, ", \"%s\": ", name);
	if (known)
		fprintf(f, "%.9f", number);
	else
		fprintf(f, "null");
}

static void json_compared(FILE *f, const struct row *row)
{
	const struct difference *difference = &row->difference;
	int digits = value_is_whole(row->value) ? 3 : 9;

	json_value_name(f, row->value);
	fprintf(f, "\"a\": {");
	json_summary(f, &row->a, 1, digits);
	fprintf(f, "}, \"b\": {");
	json_summary(f, &row->b, 1, digits);
	fprintf(f, "}");
	json_number(f, "difference", row->a.n && row->b.n, difference->mean);
	json_number(f, "low", difference->known, difference->low);
	json_number(f, "high", difference->known, difference->high);
	fprintf(f, "}");
}

static void json_comparison(FILE *f, const struct comparison *comparison, const struct how *how)
{
	const char *between = "";
	struct row row;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		fprintf(f, "%s\"%c\": {", i ? "}, " : "{", i ? 'b' : 'a');
		json_command(f, comparison->argv[i]);
		fprintf(f, ", ");
		json_runs(f, &comparison->series[i]);
	}
	fprintf(f, "}, \"warm_up_runs\": %u, \"confidence\": 0.95, \"values\": [", how->warm_up);
	for (i = 0; i < comparison->series[0].values.n; i++) {
		if (!compared_row(comparison, i, &row))
			continue;
		fprintf(f, "%s", between);
		json_compared(f, &row);
		between = ", ";
	}
	fprintf(f, "]}\n");
}

/* Runs one program once. Returns -1, or the exit status if the run did not start. */
static int run_one(struct request *r, struct comparison *comparison, unsigned int which,
		   bool first, bool warms_up, bool *stop)
{
	char **argv = comparison->argv[which];
	struct run run;
	int status;

	if (run_program(argv, &r->events, &r->how, &r->info, NULL, &run) < 0) {
		status = explain_run(&run, argv, &r->info, &r->events, &r->how);
		run_end(&r->how, &run);
		return status;
	}
	*stop = run.stop;
	if (decides(first, &comparison->worst, &run))
		comparison->worst = run;
	if (!series_add(&comparison->series[which], &run, warms_up,
			series_values(&r->info, &r->events, &r->how, &run, NULL)))
		comparison->worst.complete = false;
	run_end(&r->how, &run);
	return -1;
}

static int run_all(struct request *r, struct comparison *comparison)
{
	unsigned int i, turn, all = r->how.warm_up + r->how.repeat;
	bool stop = false;
	int status;

	for (turn = 0; turn < all && !stop; turn++)
		for (i = 0; i < 2 && !stop; i++) {
			status = run_one(r, comparison, (turn + i) % 2, !turn && !i,
					 turn < r->how.warm_up, &stop);
			if (status >= 0)
				return status;
		}
	if (!stop || (comparison->series[0].runs && comparison->series[1].runs))
		return -1;
	explain("it was ended before each program had run");
	return EXIT_PERFEX;
}

static void print_comparison(FILE *f, const struct comparison *comparison, const struct request *r)
{
	if (r->how.format == FORMAT_JSON)
		json_comparison(f, comparison, &r->how);
	else if (r->how.format == FORMAT_CSV)
		csv_comparison(f, comparison);
	else
		text_comparison(f, comparison, &r->events, &r->how);
}

static int compare(struct request *r, struct comparison *comparison)
{
	struct results results = { .path = r->output };
	int status;

	if (!results_open(&results))
		return EXIT_PERFEX;
	signals_take();
	status = run_all(r, comparison);
	if (status < 0) {
		print_comparison(results_file(&results), comparison, r);
		results.told = results.path && !results_written(&results);
		if (results.told)
			print_comparison(stderr, comparison, r);
	}
	if (!results_close(&results))
		comparison->worst.complete = false;
	return status < 0 ? end_like(&comparison->worst) : status;
}

/* Splits the words "A -- B" into two commands. */
static bool split_programs(char **argv, struct comparison *comparison)
{
	char **p = argv;

	while (*p && strcmp(*p, "--") != 0)
		p++;
	comparison->argv[0] = argv;
	comparison->argv[1] = *p ? p + 1 : p;
	if (p > argv && *comparison->argv[1]) {
		*p = NULL;
		return true;
	}
	explain("compare needs two programs with -- between them: perfex compare A -- B.\n"
		"%s%s%s", p == argv ? "There is no first one" : "There is no second one after '",
		p == argv ? "" : argv[0], p == argv ? "" : "'");
	return false;
}

int compare_main(int argc, char **argv)
{
	static struct request request;
	static struct series series[2];
	struct comparison comparison = { .series = series };
	int status = request_parse(COMMAND_COMPARE, argc, argv, compare_usage, &request);

	if (status >= 0)
		return status;
	if (!request.given['r'])
		request.how.repeat = USUAL_RUNS;
	if (!request.given['w'])
		request.how.warm_up = USUAL_WARM_UP;
	request.given['r'] = true;
	status = request_check(&request, optind < argc);
	if (status < 0 && !split_programs(argv + optind, &comparison))
		status = EXIT_USAGE;
	if (status < 0)
		status = request_prepare(&request);
	if (status < 0)
		status = input_begin(request.input, 2 * (request.how.warm_up + request.how.repeat),
				     &request.how);
	return status < 0 ? compare(&request, &comparison) : status;
}
