// SPDX-License-Identifier: GPL-2.0
/* perfex record: its options. recording.c has what it does. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perfex.h"
#include "recfile.h"

#define USUAL_FREQUENCY	1000	/* samples in a second of a processor's time */
#define USUAL_BYTES	524288

static void usage(FILE *f)
{
	fprintf(f,
		"usage: perfex record [-e EVENT[,EVENT]...]... [-F N | -c N] [-g] [-m PAGES]\n"
		"                     [-o FILE] [--source SOURCE] [--] PROGRAM [ARG]...\n"
		"       perfex record -p PID[,PID]... [OPTION]... [[--] PROGRAM [ARG]...]\n"
		"\n"
		"Runs PROGRAM, and notes where it and all that it starts are, again and again, and\n"
		"all counters each time. perfex report tells what was noted.\n"
		"\n"
		"  -e, --event EVENT   count EVENT, as perfex does\n"
		"  -F, --frequency N   note it N times in a second of a thread's time (1000)\n"
		"  -c, --period N      note it after each N of the first EVENT\n"
		"  -g, --chains        note who called whom, too\n"
		"  -m, --pages PAGES   pages of memory for samples that were not written yet: a power\n"
		"                      of two\n"
		"  -o, --output FILE   write to FILE, not to " RECFILE_NAME "\n"
		"  -p, --pid PID       of processes that run already, and not PROGRAM; until they end,\n"
		"                      or PROGRAM does, or Ctrl-C\n"
		"      --source SOURCE native, shared or any, as perfex has it\n"
		"  -h, --help          this text\n"
		"\n"
		"Without -e it counts instructions and cycles. The exit status is as perfex's. See\n"
		"perfex(1).\n");
}

/* Only the last counters of a control interrupt. */
static void first_to_last(struct events *events)
{
	struct event first = events->event[0];

	if (!events->n)
		return;
	memmove(&events->event[0], &events->event[1], (events->n - 1) * sizeof(first));
	events->event[events->n - 1] = first;
}

static int record(char **argv, struct how *how, const struct perfctr_info *info,
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
	static const struct option options[] = {
		{ "event", required_argument, NULL, 'e' },
		{ "frequency", required_argument, NULL, 'F' },
		{ "period", required_argument, NULL, 'c' },
		{ "chains", no_argument, NULL, 'g' },
		{ "pages", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "pid", required_argument, NULL, 'p' },
		{ "source", required_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct recording recording = { .path = RECFILE_NAME };
	struct how how = { .repeat = 1, .source = PERFCTR_SOURCE_ANY, .recording = &recording };
	struct events events = { .n = 0 };
	struct perfctr_info info;
	unsigned int frequency = 0;
	int c;

	if (!get_info(&info))
		return EXIT_PERFEX;
	while ((c = getopt_long(argc, argv, "+e:F:c:gm:o:p:h", options, NULL)) != -1) {
		switch (c) {
		case 'e':
			events.chosen = true;
			if (!add_events(&info, &events, optarg))
				return EXIT_PERFEX;
			break;
		case 'F':
			if (!number(optarg, 1, 1000000000 / PERFCTR_TIMER_MIN,
				    "a number of samples in a second", &frequency))
				return EXIT_PERFEX;
			break;
		case 'c':
			if (!number(optarg, 2, 2000000000, "a number of events", &recording.period))
				return EXIT_PERFEX;
			break;
		case 'g':
			recording.chains = true;
			break;
		case 'm':
			if (!number(optarg, 1, 262144, "a number of pages", &recording.pages))
				return EXIT_PERFEX;
			if (recording.pages & (recording.pages - 1)) {
				explain("%u pages are no power of two", recording.pages);
				return EXIT_PERFEX;
			}
			recording.pages_chosen = true;
			break;
		case 'o':
			recording.path = optarg;
			break;
		case 'p':
			if (!attach_parse(optarg, &how))
				return EXIT_PERFEX;
			break;
		case 'S':
			if (!source_by_name(optarg, &how.source))
				return EXIT_PERFEX;
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "perfex record -h tells how it is used\n");
			return EXIT_PERFEX;
		}
	}
	if (frequency && recording.period) {
		explain("--frequency and --period do not go together");
		return EXIT_PERFEX;
	}
	if (!how.npids && optind == argc) {
		explain("which program? perfex record -h tells how it is used");
		return EXIT_PERFEX;
	}
	if (!events.chosen)
		usual_events(&info, &events);
	if (recording.period && !(info.cpu_features & PERFCTR_FEATURE_PCINT)) {
		explain("this processor's counters do not interrupt: use --frequency");
		return EXIT_PERFEX;
	}
	if (recording.period && !events.n) {
		explain("there is no event of which --period could be a number");
		return EXIT_PERFEX;
	}
	if (recording.period)
		first_to_last(&events);
	else
		recording.timer_ns = 1000000000 / (frequency ? frequency : USUAL_FREQUENCY);
	if (!recording.pages)
		recording.pages = (unsigned int)(USUAL_BYTES / sysconf(_SC_PAGESIZE));
	return record(argv + optind, &how, &info, &events);
}
