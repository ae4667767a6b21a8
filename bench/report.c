// SPDX-License-Identifier: GPL-2.0
/* The table, and the same for programs. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 256

static struct line {
	char metric[48];
	const char *unit;
	double perfctr;
	double perf;
	double bound;
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
		.perfctr = perfctr, .perf = perf, .bound = bound,
		.unsettled = unsettled != unsettled_before,
	};
	(void)snprintf(line->metric, sizeof(line->metric), "%s", metric);
	unsettled_before = unsettled;
	/* Something to see, since it takes a while. */
	(void)fputc('.', stderr);
}

static const char *figure(double value, char buf[32])
{
	if (value == NONE)
		return "-";
	/* Nobody wants to see -0.0, nor tenths of thousands. */
	if (value > -0.05 && value < 0.05)
		value = 0;
	(void)snprintf(buf, 32, value < 100 && value > -100 ? "%.1f" : "%.0f", value);
	return buf;
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
			/* As it is shown; what cannot be done is no bound met. */
			verdict = line->perfctr != NONE && line->perfctr < line->bound + 0.05 ?
				  " met" : " NOT MET";
		printf("%-44s %8u %10s %12s %-9s %8s%s%s\n",
		       strcmp(line->metric, last) ? line->metric : "", line->counters,
		       figure(line->perfctr, a), figure(line->perf, b), line->unit,
		       figure(line->bound, c),
		       verdict, line->unsettled ? " (did not settle)" : "");
		last = line->metric;
	}
	printf("\nInstructions of user, kernel and firmware together; memory is in bytes a thread.\n");
	if (RISCV_X86(false, true))
		printf("WRMSR, CR4: writes to such registers. A figure that there is not is \"-\".\n");
	if (unsettled)
		printf("Where it says so, no two runs in a row agreed, and the figure is the least of them.\n");
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
		(void)fprintf(file, ", \"unit\": \"%s\"}", line->unit);
	}
	(void)fprintf(file, "\n]\n");
	if (fclose(file))
		die(path);
}
