// SPDX-License-Identifier: GPL-2.0
/* Writes the rows as a table, and as JSON for programs. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 256
/* By how much a row may differ if two runs agree on it: the rounding of an average. */
#define STEADY 0.5

static struct line {
	char metric[48];
	const char *unit;
	double perfctr;
	double perf;
	double bound;
	double tolerance;
	double kept;
	double kept_tolerance;
	unsigned int counters;
	bool unsettled;
} lines[LINES_MAX];

static unsigned int nlines;
static unsigned int unsettled_before;

void report(const char *metric, unsigned int counters, double perfctr, double perf,
	    double bound, const char *unit)
{
	struct line *line = &lines[nlines];

	if (nlines++ == LINES_MAX) {
		(void)fprintf(stderr, "bench: too many lines\n");
		exit(EXIT_FAILURE);
	}
	*line = (struct line){
		.unit = unit, .counters = counters,
		.perfctr = perfctr, .perf = perf, .bound = bound, .kept = NONE,
		.tolerance = fmax(STEADY, 2 * uncertainty),
		.unsettled = unsettled != unsettled_before,
	};
	(void)snprintf(line->metric, sizeof(line->metric), "%s", metric);
	unsettled_before = unsettled;
	uncertainty = 0;
	/* Show the progress, since the bench takes a while. */
	(void)fputc('.', stderr);
}

/*
 * Reads the kept figures of this machine from bench/figures.txt, which has a line for each row of
 * each machine.
 */
void report_compare(const char *path, const char *machine)
{
	char text[256], name[64], metric[64];
	double kept, tolerance;
	unsigned int counters, i;
	FILE *file = fopen(path, "re");

	if (!file)
		die(path);
	while (fgets(text, sizeof(text), file)) {
		if (sscanf(text, "%63s %63s %u %lf %*s %lf", name, metric, &counters, &kept,
			   &tolerance) != 5 || strcmp(name, machine) != 0)
			continue;
		for (i = 0; i < nlines; i++)
			if (lines[i].counters == counters && !strcmp(lines[i].metric, metric)) {
				lines[i].kept = kept;
				lines[i].kept_tolerance = tolerance;
			}
	}
	(void)fclose(file);
}

/*
 * Returns true if a figure is worse than the kept one. A figure that is missing now is worse, too.
 */
static bool is_worse(const struct line *line)
{
	return line->kept != NONE && (line->perfctr == NONE ||
				      line->perfctr > line->kept + line->kept_tolerance);
}

static bool is_better(const struct line *line)
{
	return line->kept != NONE && line->perfctr != NONE &&
	       line->perfctr < line->kept - line->kept_tolerance;
}

static const char *figure(double value, char buf[32])
{
	if (value == NONE)
		return "-";
	/* Do not print -0.0, nor tenths of thousands. */
	if (value > -0.05 && value < 0.05)
		value = 0;
	(void)snprintf(buf, 32, value < 100 && value > -100 ? "%.1f" : "%.0f", value);
	return buf;
}

static void report_changes(void)
{
	unsigned int i, worse = 0, better = 0, compared = 0;
	char a[32], b[32];

	for (i = 0; i < nlines; i++) {
		compared += lines[i].kept != NONE;
		better += is_better(&lines[i]);
		if (!is_worse(&lines[i]))
			continue;
		if (!worse++)
			printf("\nWorse than kept in bench/figures.txt:\n");
		printf("%-44s %8u %10s, was %s (tolerance %.1f) %s\n", lines[i].metric,
		       lines[i].counters, figure(lines[i].perfctr, a), figure(lines[i].kept, b),
		       lines[i].kept_tolerance, lines[i].unit);
	}
	printf("\n%u of %u rows are in bench/figures.txt: %u are worse, %u better.\n", compared,
	       nlines, worse, better);
}

void report_table(void)
{
	char a[32], b[32], c[32];
	const char *last = "";
	unsigned int i;

	printf("\n%-44s %8s %10s %12s %-9s %8s\n", "", "counters", "perfctr", "perf_events",
	       "unit", "bound");
	for (i = 0; i < nlines; i++) {
		const struct line *line = &lines[i];
		const char *verdict = "";

		if (line->bound != NONE)
			/* Compare the figure as it is printed. A missing figure meets no bound. */
			verdict = line->perfctr != NONE && line->perfctr < line->bound + 0.05 ?
				  " met" : " NOT MET";
		printf("%-44s %8u %10s %12s %-9s %8s%s%s",
		       strcmp(line->metric, last) ? line->metric : "", line->counters,
		       figure(line->perfctr, a), figure(line->perf, b), line->unit,
		       figure(line->bound, c),
		       verdict, line->unsettled ? " (did not settle)" : "");
		if (is_worse(line))
			printf(" WORSE than %s", figure(line->kept, a));
		printf("\n");
		last = line->metric;
	}
	printf("\nInstructions of user, kernel and firmware together; memory is in bytes a thread.\n");
	if (BY_ARCH(false, true, true, false))
		printf("WRMSR, CR4: writes to such registers. A figure that there is not is \"-\".\n");
	if (unsettled)
		printf("Where it says so, no two runs in a row agreed, and the figure is the least of them.\n");
	report_changes();
}

static void json_figure(FILE *file, const char *name, double value)
{
	if (value == NONE)
		(void)fprintf(file, ", \"%s\": null", name);
	else
		(void)fprintf(file, ", \"%s\": %.2f", name, value);
}

void report_json(const char *path, const char *machine)
{
	FILE *file = fopen(path, "we");
	unsigned int i;

	if (!file)
		die(path);
	(void)fprintf(file, "[");
	for (i = 0; i < nlines; i++) {
		const struct line *line = &lines[i];

		(void)fprintf(file, "%s\n\t{\"machine\": \"%s\", \"metric\": \"%s\", \"counters\": %u",
			      i ? "," : "", machine, line->metric, line->counters);
		json_figure(file, "perfctr", line->perfctr);
		json_figure(file, "perf_events", line->perf);
		json_figure(file, "tolerance", line->tolerance);
		(void)fprintf(file, ", \"unit\": \"%s\", \"worse\": %s}", line->unit,
			      is_worse(line) ? "true" : "false");
	}
	(void)fprintf(file, "\n]\n");
	if (fclose(file))
		die(path);
}
