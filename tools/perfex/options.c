// SPDX-License-Identifier: GPL-2.0
/* Has the table of options, from which getopt's tables and the help are made. */
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "count/explain.h"
#include "options.h"

#define RUN	COMMAND_RUN
#define RECORD	COMMAND_RECORD
#define COMPARE	COMMAND_COMPARE
#define MERGE	COMMAND_MERGE
#define SELFTEST	COMMAND_SELFTEST
#define ALL	(RUN | RECORD | COMPARE | MERGE | SELFTEST)

const struct option_row option_rows[] = {
	{ "event", 'e', RUN | RECORD | COMPARE, "EVENT",
	  "count EVENT: a name, with :u for user mode only, :k for\n"
	  "kernel mode only, :uk for both; without, both if allowed" },
	{ "topdown", OPTION_TOPDOWN, RUN | COMPARE, NULL,
	  "tell what the slots of the pipeline were used for, in\n"
	  "percent: some of Intel's processors know" },
	{ "pid", 'p', RUN | RECORD, "PID",
	  "count processes that run already, all their threads, and\n"
	  "what they start from now on, until they end, or Ctrl-C;\n"
	  "with PROGRAM, which is not counted then, until that ends" },
	{ "all-cpus", 'a', RUN, NULL,
	  "count all CPUs, whatever runs there, while PROGRAM runs,\n"
	  "or until Ctrl-C; that needs root" },
	{ "cpu", 'C', RUN, "CPUS", "the same of these CPUs: 0,2-3" },
	{ "per-cpu", OPTION_PER_CPU, RUN, NULL, "tell what each CPU counted as well" },
	{ "no-idle", OPTION_NO_IDLE, RUN, NULL, "leave out what CPUs do while they are idle" },
	{ "frequency", 'F', RECORD, "N",
	  "note where it is N times in a second of a thread's time\n"
	  "(1000)" },
	{ "period", 'c', RECORD, "N", "note it after each N of the first EVENT" },
	{ "chains", 'g', RECORD, NULL, "note who called whom, too" },
	{ "pages", 'm', RECORD, "PAGES",
	  "pages of memory for samples that were not written yet:\n"
	  "a power of two" },
	{ "output", 'o', ALL, "FILE",
	  "write to FILE, whole or not at all; in its name %p is\n"
	  "perfex's process id, %h the host, %q{VAR} what VAR of the\n"
	  "environment is, %% a percent sign" },
	{ "json", OPTION_JSON, RUN | COMPARE | MERGE, NULL, "write JSON" },
	{ "csv", OPTION_CSV, RUN | COMPARE | MERGE, NULL, "write CSV, a number in each line" },
	{ "input", OPTION_INPUT, RUN | COMPARE, "FILE",
	  "let PROGRAM read FILE as its standard input, each run\n"
	  "from the beginning" },
	{ "self", OPTION_SELF, RUN | COMPARE, NULL,
	  "count only PROGRAM's first thread, not its other threads\n"
	  "and processes" },
	{ "per-thread", OPTION_PER_THREAD, RUN, NULL, "tell what each thread counted as well" },
	{ "interval", 'I', RUN, "MS",
	  "tell what was counted every MS milliseconds, too" },
	{ "plot", OPTION_PLOT, RUN, "FILE", "draw the intervals, into an SVG" },
	{ "repeat", 'r', RUN | COMPARE, "N",
	  "run PROGRAM N times, and tell the mean, the standard\n"
	  "deviation, the median and the extremes of each number" },
	{ "warm-up", 'w', RUN | COMPARE, "N", "run it N times before these, and forget that" },
	{ "raw-csr", OPTION_RAW_CSR, RUN, NULL,
	  "let PROGRAM and its threads execute rdcycle and rdinstret" },
	{ "source", OPTION_SOURCE, RUN | RECORD | COMPARE, "SOURCE",
	  "native: count by perfctr's own driver; shared: through\n"
	  "perf_events; any: by the first if it can be had, else the\n"
	  "second, which is what is done without this option" },
	{ "exact", OPTION_EXACT, RUN | COMPARE, NULL,
	  "count in user mode, and take off what this processor\n"
	  "counts too many instructions at interrupts, which is\n"
	  "measured first" },
	{ "passes", OPTION_PASSES, RUN, NULL,
	  "where not all events can be counted at a time, run\n"
	  "PROGRAM as often as it takes, each time with some of them" },
	{ "overflows", OPTION_OVERFLOWS, SELFTEST, "N", "let counters overflow N times (10000)" },
	{ "watch", OPTION_WATCH, SELFTEST, "S", "watch the registers for S seconds (10)" },
	{ "hotplug", OPTION_HOTPLUG, SELFTEST, NULL, "take a CPU off, and on again" },
	{ "sleep", OPTION_SLEEP, SELFTEST, NULL, "let the machine sleep" },
	{ "info", 'i', RUN, NULL, "tell about processor and driver" },
	{ "list", 'l', RUN, NULL, "list the events, and which of them this processor has" },
	{ "help", 'h', ALL, NULL, "this text" },
	{ "version", 'V', RUN, NULL, "the version" },
};

const unsigned int option_count = sizeof(option_rows) / sizeof(option_rows[0]);

#define ROWS	(sizeof(option_rows) / sizeof(option_rows[0]))

static const struct option_row *option_row_of(int code)
{
	unsigned int i;

	for (i = 0; i < ROWS; i++)
		if (option_rows[i].code == code)
			return &option_rows[i];
	return NULL;
}

static bool has_letter(const struct option_row *row)
{
	return row->code < OPTION_TOPDOWN;
}

const char *option_name(int code)
{
	const struct option_row *row = option_row_of(code);
	static char text[40];

	if (row && has_letter(row))
		(void)snprintf(text, sizeof(text), "--%s (-%c)", row->name, row->code);
	else
		(void)snprintf(text, sizeof(text), "--%s", row ? row->name : "?");
	return text;
}

/*
 * Explains a wrong option. getopt returned ':' if an argument is missing, or '?' if there is no
 * such option.
 */
static int explain_option(int c, char **argv)
{
	const struct option_row *row = c == ':' ? option_row_of(optopt) : NULL;

	if (row)
		explain("%s needs an argument: %s", option_name(optopt), row->argument);
	else if (optopt && optopt < OPTION_TOPDOWN)
		explain("there is no option -%c", optopt);
	else if (optopt)
		explain("%s takes no argument, but there is one: '%s'", option_name(optopt),
			argv[optind - 1]);
	else
		explain("there is no option '%s', or more than one that begins so", argv[optind - 1]);
	fprintf(stderr, "perfex -h tells how it is used\n");
	return OPTION_BAD;
}

int options_next(unsigned int command, int argc, char **argv)
{
	struct option longs[ROWS + 1] = { { 0 } };
	/*
	 * "+" makes getopt stop at the program's name, since options behind it are the program's.
	 */
	char letters[2 * ROWS + 4] = "+:";
	unsigned int i, n = 0;
	size_t used = 2;
	int c;

	for (i = 0; i < ROWS; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(row->commands & command))
			continue;
		longs[n].name = row->name;
		longs[n].has_arg = row->argument ? required_argument : no_argument;
		longs[n++].val = row->code;
		if (!has_letter(row))
			continue;
		letters[used++] = (char)row->code;
		if (row->argument)
			letters[used++] = ':';
	}
	opterr = 0;
	c = getopt_long(argc, argv, letters, longs, NULL);
	return c == '?' || c == ':' ? explain_option(c, argv) : c;
}

#define COLUMN	22	/* the column in which explanations begin */

void options_help(FILE *f, unsigned int command)
{
	const char *line, *end;
	unsigned int i;
	int width;

	for (i = 0; i < ROWS; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(row->commands & command))
			continue;
		width = has_letter(row) ? fprintf(f, "  -%c, ", row->code) : fprintf(f, "      ");
		width += fprintf(f, "--%s%s%s", row->name, row->argument ? " " : "",
				 row->argument ? row->argument : "");
		for (line = row->help; line; line = end) {
			end = strchr(line, '\n');
			fprintf(f, "%*s%.*s\n", width < COLUMN ? COLUMN - width : 1, "",
				(int)(end ? end - line : (ptrdiff_t)strlen(line)), line);
			width = 0;
			end = end ? end + 1 : NULL;
		}
	}
}
