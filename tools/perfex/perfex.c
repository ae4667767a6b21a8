// SPDX-License-Identifier: GPL-2.0
/* perfex: runs a program under performance counters. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/perfex.h"
#include "count/counts.h"
#include "count/explain.h"
#include "count/explain_run.h"
#include "count/signals.h"
#include "out/output.h"
#include "out/plot.h"
#include "out/results.h"
#include "out/series.h"
#include "run/input.h"
#include "run/run.h"
#include "commands.h"
#include "options.h"
#include "request.h"

static void run_usage(FILE *f)
{
	fprintf(f,
		"usage: perfex [-e EVENT[,EVENT]...]... [--topdown] [-o FILE]\n"
		"              [--json | --csv] [--input FILE] [--self | --per-thread]\n"
		"              [-I MS [--plot FILE] | -r N [-w N]] [--passes] [--source SOURCE] [--exact]\n"
		"              [--] PROGRAM [ARG]...\n"
		"       perfex -p PID[,PID]... [OPTION]... [[--] PROGRAM [ARG]...]\n"
		"       perfex -a | -C CPUS [--per-cpu] [--no-idle] [OPTION]... [[--] PROGRAM [ARG]...]\n"
		"       perfex compare [OPTION]... [--] PROGRAM [ARG]... -- PROGRAM [ARG]...\n"
		"       perfex merge [-o FILE] [--json | --csv] FILE...\n"
		"       perfex record [OPTION]... [--] PROGRAM [ARG]...\n"
		"       perfex report | annotate [OPTION]...\n"
		"       perfex selftest [--overflows N] [--watch S] [--hotplug] [--sleep] [-o FILE]\n"
		"       perfex -i | -l | -h | -V\n"
		"\n"
		"Runs PROGRAM, counts while it and all that it starts run, and tells what was\n"
		"counted.\n\n");
	options_help(f, COMMAND_RUN);
	fprintf(f,
		"      report, annotate\n"
		"                      tell in which functions was counted what perfex record has\n"
		"                      recorded: perfex report --help\n"
		"      selftest        see whether perfctr counts right on this machine, and write a\n"
		"                      text to send: perfex selftest --help\n"
		"\n"
		"Without -e it counts instructions and cycles; the clock always. The exit status\n"
		"is the program's, 127 if it is not found, 126 if it cannot be run, 125 if perfex\n"
		"failed or the counts are incomplete, 123 if instructions or cycles were not\n"
		"counted, 2 for wrong usage. See perfex(1).\n");
}

/*
 * Prints the total of all runs. If @series is NULL, @run is the only run. Otherwise @run is the run
 * that decides the exit status.
 */
static void print_total(FILE *f, const struct series *series, char **argv,
			const struct perfctr_info *info, const struct events *events,
			const struct how *how, const struct run *run)
{
	if (series)
		print_series(f, argv, info, events, how, run, series);
	else
		print_run(f, argv, info, events, how, run);
}

/*
 * Runs and counts the program. Returns the exit status if nothing was counted. Otherwise returns
 * -1, and *worst gets the run that decides the exit status.
 */
static int count(char **argv, struct results *results, const struct how *how,
		 const struct perfctr_info *info, struct events *events, struct run *worst)
{
	static struct series series;
	unsigned int i, runs = how->warm_up + how->repeat;
	struct run run;

	for (i = 0; i < runs; i++) {
		if (run_program(argv, events, how, info, results, &run) < 0) {
			int status = explain_run(&run, argv, info, events, how);

			run_end(how, &run);
			return status;
		}
		if (decides(!i, worst, &run))
			*worst = run;
		if (!series_add(&series, &run, i < how->warm_up,
				series_values(info, events, how, &run, NULL)))
			worst->complete = false;
		worst->stop |= run.stop;
		if (run.stop || i + 1 == runs)
			break;
		run_end(how, &run);
	}
	print_total(results_file(results), runs > 1 ? &series : NULL, argv, info, events, how,
		    runs > 1 ? worst : &run);
	if (results->path && !results_written(results)) {
		print_total(stderr, runs > 1 ? &series : NULL, argv, info, events, how,
			    runs > 1 ? worst : &run);
		/*
		 * The intervals were written to the file only, so the user has not seen all counts.
		 */
		results->told = !how->interval;
	}
	run_end(how, &run);
	series_free(&series);
	return -1;
}

/* Returns the title of the picture: the command line, or what -p, -a or -C count. */
static char *title_of(char **argv, const struct how *how)
{
	const char *first = how->npids || how->ncpus ? ": " : "perfex: ";
	char *title = NULL;
	size_t size;
	FILE *f = open_memstream(&title, &size);
	unsigned int i;

	if (!f)
		return NULL;
	for (i = 0; i < how->npids; i++)
		fprintf(f, "%s %d", i ? "," : "perfex: process", how->pids[i]);
	for (i = 0; i < how->ncpus; i++)
		fprintf(f, "%s %u", i ? "," : "perfex: CPU", how->cpus[i]);
	for (i = 0; argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : first, argv[i]);
	return fclose(f) ? NULL : title;
}

static void write_plot(struct results *results, char **argv, const struct how *how)
{
	char *title = title_of(argv, how);

	plot_write(results_file(results), how->plot, title ?: "perfex");
	free(title);
	plot_free(how->plot);
}

/*
 * Runs and counts the program once for each pass. If a signal stops perfex before the last pass,
 * all passes have failed.
 */
static int count_passes(char **argv, struct results *results, const struct request *request,
			struct run *worst)
{
	struct how how = request->how;
	struct run run = { .fd = -1 };
	bool stop = false;
	int status = -1;

	how.passes = request->passes.n;
	for (how.pass = 1; how.pass <= how.passes && !stop; how.pass++) {
		status = count(argv, results, &how, &request->info,
			       &request->passes.pass[how.pass - 1], &run);
		if (status >= 0)
			return status;
		if (decides(how.pass == 1, worst, &run))
			*worst = run;
		stop = run.stop;
	}
	if (how.pass > how.passes)
		return -1;
	explain("a signal came before pass %u of %u: there are no counts of all events", how.pass,
		how.passes);
	return EXIT_PERFEX;
}

static int count_to(const struct request *request, char **argv, const struct how *how,
		    struct events *events)
{
	struct results results = { .path = request->output }, picture = { .path = request->plot };
	struct run worst = { .fd = -1 };
	int status;

	if (!results_open(&results))
		return EXIT_PERFEX;
	if (!results_open(&picture)) {
		(void)results_close(&results);
		return EXIT_PERFEX;
	}
	signals_take();
	if (request->passes.n)
		status = count_passes(argv, &results, request, &worst);
	else
		status = count(argv, &results, how, &request->info, events, &worst);
	/* If not all passes were made, no file is written. */
	if (status >= 0)
		results.begun = false;
	if (status < 0 && how->plot)
		write_plot(&picture, argv, how);
	if (!results_close(&results))
		worst.complete = false;
	if (!results_close(&picture))
		worst.complete = false;
	return status < 0 ? end_like(&worst) : status;
}

/* Returns how many times the program is run. */
static unsigned int runs_of(const struct request *request, const char *program)
{
	const struct how *how = &request->how;

	if (!program)
		return 0;
	return (how->warm_up + how->repeat) * (request->passes.n ?: 1);
}

static int run_main(int argc, char **argv)
{
	static struct request request;
	static struct plot plot;
	int status = request_parse(COMMAND_RUN, argc, argv, run_usage, &request);

	if (status < 0)
		status = request_check(&request, optind < argc);
	if (status >= 0)
		return status;
	status = request_prepare(&request);
	if (status >= 0)
		return status;
	status = input_begin(request.input, runs_of(&request, argv[optind]), &request.how);
	if (status >= 0)
		return status;
	if (request.plot)
		request.how.plot = &plot;
	return count_to(&request, argv + optind, &request.how, &request.events);
}

/* The commands. A program with one of these names is run by `perfex -- NAME'. */
static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} commands[] = {
	{ "record", record_main },
	{ "compare", compare_main },
	{ "merge", merge_main },
	{ "report", subprogram_main },
	{ "annotate", subprogram_main },
	{ "selftest", selftest_main },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc > 1 && !strcmp(argv[1], commands[i].name))
			return commands[i].main(argc - 1, argv + 1);
	return run_main(argc, argv);
}
