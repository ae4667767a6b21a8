// SPDX-License-Identifier: GPL-2.0
/* Implements the options of perfex record. recording.c does the work. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/perfex.h"
#include "count/explain.h"
#include "count/explain_run.h"
#include "count/signals.h"
#include "record/recfile.h"
#include "record/recording.h"
#include "run/run.h"
#include "commands.h"
#include "options.h"
#include "request.h"

#define USUAL_FREQUENCY	1000	/* samples per second of CPU time */
#define USUAL_BYTES	524288

static void record_usage(FILE *f)
{
	fprintf(f,
		"usage: perfex record [-e EVENT[,EVENT]...]... [-F N | -c N] [-g] [-m PAGES]\n"
		"                     [-o FILE] [--source SOURCE] [--] PROGRAM [ARG]...\n"
		"       perfex record -p PID[,PID]... [OPTION]... [[--] PROGRAM [ARG]...]\n"
		"\n"
		"Runs PROGRAM, and notes where it and all that it starts are, again and again, and\n"
		"all counters each time. perfex report tells what was noted.\n\n");
	options_help(f, COMMAND_RECORD);
	fprintf(f,
		"\n"
		"Without -e it counts instructions and cycles. The exit status is as perfex's. See\n"
		"perfex(1).\n");
}

/*
 * Moves the first event to the end, since the last counters of a control are its i-mode counters.
 */
static void first_to_last(struct events *events)
{
	struct event first = events->event[0];

	if (!events->n)
		return;
	memmove(&events->event[0], &events->event[1], (events->n - 1) * sizeof(first));
	events->event[events->n - 1] = first;
}

static int run_recorded(char **argv, struct how *how, const struct perfctr_info *info,
			struct events *events)
{
	struct run run;
	int status;

	if (!recording_can_write(how))
		return EXIT_PERFEX;
	signals_take();
	how->recording->signals = signals_fd();
	if (run_program(argv, events, how, info, NULL, &run) < 0)
		status = explain_run(&run, argv, info, events, how);
	else if (!run.complete)
		status = EXIT_PERFEX;
	else
		status = end_like(&run);
	if (run.stage == STAGE_RUNNING && !run.complete && run.why)
		explain("not all was recorded: %s", run.why);
	run_end(how, &run);
	return status;
}

int record_main(int argc, char **argv)
{
	static struct request request;
	struct recording *recording = &request.recording;
	int status = request_parse(COMMAND_RECORD, argc, argv, record_usage, &request);

	if (status < 0)
		status = request_check(&request, optind < argc);
	if (status < 0)
		status = request_prepare(&request);
	if (status >= 0)
		return status;
	if (recording->period && !(request.info.cpu_features & PERFCTR_FEATURE_PCINT)) {
		explain("this processor's counters do not interrupt: use --frequency");
		return EXIT_PERFEX;
	}
	if (recording->period && !request.events.n) {
		explain("there is no event of which --period could be a number");
		return EXIT_PERFEX;
	}
	if (recording->period)
		first_to_last(&request.events);
	else
		recording->timer_ns = 1000000000 / (request.frequency ?: USUAL_FREQUENCY);
	if (!recording->pages)
		recording->pages = (unsigned int)(USUAL_BYTES / sysconf(_SC_PAGESIZE));
	recording->path = request.output ?: RECFILE_NAME;
	return run_recorded(argv + optind, &request.how, &request.info, &request.events);
}
