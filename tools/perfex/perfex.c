// SPDX-License-Identifier: GPL-2.0
/* perfex: runs a program under performance counters. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfex.h"

static void usage(FILE *f)
{
	fprintf(f,
		"usage: perfex [-e EVENT[,EVENT]...]... [--topdown] [-o FILE] [--json]\n"
		"              [--self | --per-thread] [-I MS | -r N] [--source SOURCE] [--exact]\n"
		"              [--] PROGRAM [ARG]...\n"
		"       perfex -p PID[,PID]... [OPTION]... [[--] PROGRAM [ARG]...]\n"
		"       perfex -a | -C CPUS [--per-cpu] [--no-idle] [OPTION]... [[--] PROGRAM [ARG]...]\n"
		"       perfex record [OPTION]... [--] PROGRAM [ARG]...\n"
		"       perfex --report [--overflows N] [--watch S] [--hotplug] [--sleep] [-o FILE]\n"
		"       perfex report | annotate [OPTION]...\n"
		"       perfex -i | -l | -h | -V\n"
		"\n"
		"Runs PROGRAM, counts while it and all that it starts run, and tells what was\n"
		"counted.\n"
		"\n"
		"  -e, --event EVENT   count EVENT: a name, with :u for user mode only, :k for\n"
		"                      kernel mode only, :uk for both; without, both if allowed\n"
		"      --topdown       tell what the slots of the pipeline were used for, in\n"
		"                      percent: some of Intel's processors know\n"
		"  -p, --pid PID       count processes that run already, all their threads, and what\n"
		"                      they start from now on, until they end, or Ctrl-C; with\n"
		"                      PROGRAM, which is not counted then, until that ends\n"
		"  -a, --all-cpus      count all CPUs, whatever runs there, while PROGRAM runs, or\n"
		"                      until Ctrl-C; that needs root\n"
		"  -C, --cpu CPUS      the same of these CPUs: 0,2-3\n"
		"      --per-cpu       tell what each CPU counted as well\n"
		"      --no-idle       leave out what CPUs do while they are idle\n"
		"  -o, --output FILE   write the counts to FILE, not to stderr\n"
		"      --json          write them as JSON\n"
		"      --self          count only PROGRAM's first thread, not its other threads\n"
		"                      and processes\n"
		"      --per-thread    tell what each thread counted as well\n"
		"  -I, --interval MS   tell what was counted every MS milliseconds, too\n"
		"  -r, --repeat N      run PROGRAM N times, and tell means and deviations\n"
		"      --raw-csr       let PROGRAM and its threads execute rdcycle and rdinstret\n"
		"      --source SOURCE native: count by perfctr's own driver; shared: through\n"
		"                      perf_events; any: by the first if it can be had, else the\n"
		"                      second, which is what is done without this option\n"
		"      --exact         count in user mode, and take off what this processor counts too\n"
		"                      many instructions at interrupts, which is measured first\n"
		"      --report        write what a report about this machine needs, to stdout:\n"
		"                      versions, processor, costs, and tests that it counts;\n"
		"                      with N overflows (10000), watching the registers for S\n"
		"                      seconds (10), and with a CPU that goes off, or a sleep of the\n"
		"                      machine, only if asked\n"
		"  -i, --info          tell about processor and driver\n"
		"  -l, --list          list the events, and which of them this processor has\n"
		"  -h, --help          this text\n"
		"  -V, --version       the version\n"
		"      report, annotate  tell in which functions was counted what perfex record has\n"
		"                      recorded: perfex report --help\n"
		"\n"
		"Without -e it counts instructions and cycles; the clock always. The exit status\n"
		"is the program's, 127 if it is not found, 126 if it cannot be run, 125 if perfex\n"
		"failed or the counts are incomplete. See perfex(1).\n");
}

static int report_to(const char *output, const struct report_options *how)
{
	struct perfctr_info info;

	if (!get_info(&info))
		return EXIT_PERFEX;
	if (output && !freopen(output, "we", stdout)) {
		explain("cannot write '%s': %s", output, strerror(errno));
		return EXIT_PERFEX;
	}
	print_report(&info, how);
	if (fflush(stdout) || ferror(stdout)) {
		explain("cannot write the report: %s", strerror(errno));
		return EXIT_PERFEX;
	}
	return EXIT_SUCCESS;
}

/* Returns the exit status if nothing was counted, else -1 and the run that decides. */
static int count(char **argv, struct results *results, const struct how *how,
		 const struct perfctr_info *info, struct events *events, struct run *worst)
{
	struct statistics statistics = { .runs = 0 };
	struct run run;
	unsigned int i;

	for (i = 0; i < how->repeat; i++) {
		if (run_program(argv, events, how, info, results, &run) < 0) {
			int status = explain_run(&run, argv, info, events, how);

			run_end(how, &run);
			return status;
		}
		statistics_add(&statistics, events, how, &run);
		/* The first run that went wrong decides how we end. */
		if (!i || (!worst->status && worst->complete && (run.status || !run.complete)))
			*worst = run;
		if (run.stop || i + 1 == how->repeat)
			break;
		run_end(how, &run);
	}
	if (how->repeat > 1)
		print_statistics(results_file(results), argv, info, events, how, worst,
				 &statistics);
	else
		print_run(results_file(results), argv, info, events, how, &run);
	run_end(how, &run);
	return -1;
}

static int count_to(const char *output, char **argv, const struct how *how,
		    const struct perfctr_info *info, struct events *events)
{
	struct results results = { .path = output };
	struct run worst = { .fd = -1 };
	int status;

	if (!results_open(&results))
		return EXIT_PERFEX;
	signals_take();
	status = count(argv, &results, how, info, events, &worst);
	if (!results_close(&results))
		worst.complete = false;
	return status < 0 ? end_like(&worst) : status;
}

/* -a and -C with other options; false, after it told why not */
static bool cpus_go_together(struct how *how, bool program)
{
	static struct pollfd signals;

	if ((how->per_cpu || how->no_idle) && !how->ncpus) {
		explain("--per-cpu and --no-idle are for --all-cpus and --cpu");
		return false;
	}
	if (!how->ncpus)
		return true;
	if (how->npids || how->self || how->per_thread || how->raw_csr || how->exact) {
		explain("--all-cpus and --cpu count CPUs: they do not go together with --pid, --self,\n"
			"--per-thread, --raw-csr and --exact");
		return false;
	}
	if (how->repeat > 1 && (how->per_cpu || !program)) {
		explain("--repeat needs a program, and does not go together with --per-cpu");
		return false;
	}
	how->pidfds = &signals;
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "event", required_argument, NULL, 'e' },
		{ "output", required_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "self", no_argument, NULL, 's' },
		{ "per-thread", no_argument, NULL, 't' },
		{ "pid", required_argument, NULL, 'p' },
		{ "all-cpus", no_argument, NULL, 'a' },
		{ "cpu", required_argument, NULL, 'C' },
		{ "per-cpu", no_argument, NULL, 'c' },
		{ "no-idle", no_argument, NULL, 'n' },
		{ "topdown", no_argument, NULL, 'T' },
		{ "raw-csr", no_argument, NULL, 'R' },
		{ "interval", required_argument, NULL, 'I' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "source", required_argument, NULL, 'S' },
		{ "exact", no_argument, NULL, 'x' },
		{ "report", no_argument, NULL, 'P' },
		{ "overflows", required_argument, NULL, 'O' },
		{ "watch", required_argument, NULL, 'W' },
		{ "hotplug", no_argument, NULL, 'H' },
		{ "sleep", no_argument, NULL, 'Z' },
		{ "info", no_argument, NULL, 'i' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct events events = { .n = 0 };
	struct perfctr_info info;
	const char *output = NULL;
	struct how how = { .repeat = 1, .source = PERFCTR_SOURCE_ANY };
	struct report_options report_how = { .overflows = 0 };
	bool have_info = false, report = false, topdown = false;
	int c;

	if (argc > 1 && !strcmp(argv[1], "record"))
		return record_main(argc - 1, argv + 1);
	/* A program of that name is run by perfex -- report. */
	if (argc > 1 && (!strcmp(argv[1], "report") || !strcmp(argv[1], "annotate")))
		return run_subprogram(argv);

	/* + : the program's options are the program's. */
	while ((c = getopt_long(argc, argv, "+e:o:p:aC:I:r:ilhV", options, NULL)) != -1) {
		switch (c) {
		case 'e':
			if (!have_info && !get_info(&info))
				return EXIT_PERFEX;
			have_info = true;
			events.chosen = true;
			if (!add_events(&info, &events, optarg))
				return EXIT_PERFEX;
			break;
		case 'o':
			output = optarg;
			break;
		case 'p':
			if (!attach_parse(optarg, &how))
				return EXIT_PERFEX;
			break;
		case 'a':
			if (!cpus_all(&how))
				return EXIT_PERFEX;
			break;
		case 'C':
			if (!cpus_parse(optarg, &how))
				return EXIT_PERFEX;
			break;
		case 'c':
			how.per_cpu = true;
			break;
		case 'n':
			how.no_idle = true;
			break;
		case 'j':
			how.json = true;
			break;
		case 's':
			how.self = true;
			break;
		case 't':
			how.per_thread = true;
			break;
		case 'T':
			topdown = true;
			break;
		case 'R':
			how.raw_csr = true;
			break;
		case 'S':
			if (!source_by_name(optarg, &how.source))
				return EXIT_PERFEX;
			break;
		case 'x':
			how.exact = true;
			break;
		case 'P':
			report = true;
			break;
		case 'O':
			if (!number(optarg, 1, 1000000, "a number of overflows",
				    &report_how.overflows))
				return EXIT_PERFEX;
			break;
		case 'W':
			if (!number(optarg, 1, 3600, "a time to watch, in seconds",
				    &report_how.watch))
				return EXIT_PERFEX;
			break;
		case 'H':
			report_how.hotplug = true;
			break;
		case 'Z':
			report_how.sleep = true;
			break;
		case 'I':
			if (!number(optarg, 10, 86400000, "an interval, in milliseconds",
				    &how.interval))
				return EXIT_PERFEX;
			break;
		case 'r':
			if (!number(optarg, 1, 1000000, "a number of runs", &how.repeat))
				return EXIT_PERFEX;
			break;
		case 'i':
			if (!get_info(&info))
				return EXIT_PERFEX;
			print_info(&info);
			return EXIT_SUCCESS;
		case 'l':
			if (!get_info(&info))
				return EXIT_PERFEX;
			print_list(&info);
			return EXIT_SUCCESS;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		case 'V':
			printf("perfex " PERFEX_VERSION "\n");
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "perfex -h tells how it is used\n");
			return EXIT_PERFEX;
		}
	}
	if (!report && (report_how.overflows || report_how.watch || report_how.hotplug ||
			report_how.sleep)) {
		explain("--overflows, --watch, --hotplug and --sleep are for --report");
		return EXIT_PERFEX;
	}
	if (!report_how.overflows)
		report_how.overflows = 10000;
	if (!report_how.watch)
		report_how.watch = 10;
	if (report && (optind < argc || events.chosen || topdown || how.json || how.ncpus)) {
		explain("--report is a text about the machine, without a program, events or JSON");
		return EXIT_PERFEX;
	}
	if (report)
		return report_to(output, &report_how);
	if (how.npids && (how.self || how.raw_csr || how.repeat > 1)) {
		explain("--pid does not go together with --self, --raw-csr and --repeat");
		return EXIT_PERFEX;
	}
	if (!cpus_go_together(&how, optind < argc))
		return EXIT_PERFEX;
	if (!how.npids && !how.ncpus && optind == argc) {
		explain("which program? perfex -h tells how it is used");
		return EXIT_PERFEX;
	}
	if ((how.self && how.per_thread) ||
	    (how.repeat > 1 && (how.per_thread || how.interval))) {
		explain("%s and %s do not go together", how.repeat > 1 ? "--repeat" : "--self",
			how.per_thread ? "--per-thread" : "--interval");
		return EXIT_PERFEX;
	}
	if (!have_info && !get_info(&info))
		return EXIT_PERFEX;
	if (how.raw_csr && !raw_events(&info, &events))
		return EXIT_PERFEX;
	if (topdown && !topdown_events(&info, &events, how.source))
		return EXIT_PERFEX;
	if (!events.chosen)
		usual_events(&info, &events);
	if (how.exact && !exact_begin(&info, &events, &how))
		return EXIT_PERFEX;
	return count_to(output, argv + optind, &how, &info, &events);
}
