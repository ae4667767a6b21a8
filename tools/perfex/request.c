// SPDX-License-Identifier: GPL-2.0
/* Reads the options of a command, and checks that they go together. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/perfex.h"
#include "count/cpus.h"
#include "count/exact.h"
#include "count/explain.h"
#include "out/list.h"
#include "out/results.h"
#include "run/attach.h"
#include "run/choose.h"
#include "selftest/info.h"
#include "options.h"
#include "request.h"

#define USUAL_OVERFLOWS	10000
#define USUAL_WATCH	10

/*
 * Returns the variable for the number of an option. @bounds gets the bounds of the number, and
 * *what says what the number is. Returns NULL if the option takes no number.
 */
static unsigned int *number_of(struct request *r, int code, unsigned long bounds[2],
			       const char **what)
{
	const struct {
		int code;
		unsigned long least, most;
		const char *what;
		unsigned int *value;
	} numbers[] = {
		{ 'I', 10, 86400000, "an interval, in milliseconds", &r->how.interval },
		{ 'r', 1, 1000000, "a number of runs", &r->how.repeat },
		{ 'w', 0, 1000000, "a number of runs", &r->how.warm_up },
		{ 'F', 1, 1000000000 / PERFCTR_TIMER_MIN, "a number of samples in a second",
		  &r->frequency },
		{ 'c', 2, 2000000000, "a number of events", &r->recording.period },
		{ 'm', 1, 262144, "a number of pages", &r->recording.pages },
		{ OPTION_OVERFLOWS, 1, 1000000, "a number of overflows", &r->selftest.overflows },
		{ OPTION_WATCH, 1, 3600, "a time to watch, in seconds", &r->selftest.watch },
	};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].code != code)
			continue;
		bounds[0] = numbers[i].least;
		bounds[1] = numbers[i].most;
		*what = numbers[i].what;
		return numbers[i].value;
	}
	return NULL;
}

static int need_info(struct request *r)
{
	if (!r->have_info && !get_info(&r->info))
		return EXIT_PERFEX;
	r->have_info = true;
	return -1;
}

/* Notes the events of one option -e. They are looked up after all options are read. */
static int take_events(struct request *r, const char *list)
{
	char *specs = NULL;

	if (asprintf(&specs, "%s%s%s", r->specs ?: "", r->specs ? "," : "", list) < 0) {
		explain("no memory for the events");
		return EXIT_PERFEX;
	}
	free(r->specs);
	r->specs = specs;
	return -1;
}

static int take_number_option(struct request *r, int code, const char *text)
{
	unsigned long bounds[2];
	const char *what;
	unsigned int *value = number_of(r, code, bounds, &what);
	char words[160];

	if (!value)
		return -1;
	(void)snprintf(words, sizeof(words), "%s, which %s takes", what, option_name(code));
	return number(text, bounds[0], bounds[1], words, value) ? -1 : EXIT_USAGE;
}

/* Handles one option. Returns -1, or the exit status if its argument is wrong. */
static int take_option(struct request *r, int code, const char *text)
{
	struct how *how = &r->how;

	switch (code) {
	case 'e':
		return take_events(r, text);
	case 'o':
		return results_name(option_name(code), text, &r->output) ? -1 : EXIT_USAGE;
	case OPTION_INPUT:
		r->input = text;
		return -1;
	case OPTION_PLOT:
		return results_name(option_name(code), text, &r->plot) ? -1 : EXIT_USAGE;
	case 'p':
		return attach_parse(text, how) ? -1 : EXIT_USAGE;
	case 'a':
		return cpus_all(how) ? -1 : EXIT_PERFEX;
	case 'C':
		return cpus_parse(text, how) ? -1 : EXIT_USAGE;
	case OPTION_SOURCE:
		return source_by_name(text, &how->source) ? -1 : EXIT_USAGE;
	default:
		return take_number_option(r, code, text);
	}
}

/* Handles the options that have no argument. */
static void take_given(struct request *r)
{
	struct how *how = &r->how;
	const bool *given = r->given;

	how->per_cpu = given[OPTION_PER_CPU];
	how->no_idle = given[OPTION_NO_IDLE];
	if (given[OPTION_JSON])
		how->format = FORMAT_JSON;
	if (given[OPTION_CSV])
		how->format = FORMAT_CSV;
	how->self = given[OPTION_SELF];
	how->per_thread = given[OPTION_PER_THREAD];
	how->raw_csr = given[OPTION_RAW_CSR];
	how->exact = given[OPTION_EXACT];
	r->recording.chains = given['g'];
	r->recording.pages_chosen = given['m'];
	r->selftest.hotplug = given[OPTION_HOTPLUG];
	r->selftest.sleep = given[OPTION_SLEEP];
	if (!given[OPTION_OVERFLOWS])
		r->selftest.overflows = USUAL_OVERFLOWS;
	if (!given[OPTION_WATCH])
		r->selftest.watch = USUAL_WATCH;
}

/* Handles -i, -l and -V. */
static int tell(struct request *r, int code)
{
	int status = -1;

	if (code == 'V') {
		printf("perfex " PERFEX_VERSION "\n");
		return EXIT_SUCCESS;
	}
	if (code == 'l' && access(PERFCTR_DEVICE, F_OK)) {
		print_names();
		return EXIT_SUCCESS;
	}
	if (code == 'i' || code == 'l')
		status = need_info(r);
	if (status >= 0)
		return status;
	if (code == 'i')
		print_info(&r->info);
	else if (code == 'l')
		print_list(&r->info);
	else
		return -1;
	return EXIT_SUCCESS;
}

int request_parse(unsigned int command, int argc, char **argv, void (*usage)(FILE *f),
		  struct request *r)
{
	int code, status;

	memset(r, 0, sizeof(*r));
	r->command = command;
	r->how.repeat = 1;
	r->how.input_begin = -1;
	r->how.source = PERFCTR_SOURCE_ANY;
	while ((code = options_next(command, argc, argv)) != -1) {
		if (code == OPTION_BAD)
			return EXIT_USAGE;
		if (code == 'h') {
			usage(stdout);
			return EXIT_SUCCESS;
		}
		status = tell(r, code);
		if (status < 0)
			status = take_option(r, code, optarg);
		if (status >= 0)
			return status;
		r->given[code] = true;
	}
	take_given(r);
	return -1;
}

#define MOST	9	/* most options in a row of the tables below */

/* Options that exclude each other: the first of a row excludes each of the others. */
static const int apart[][MOST] = {
	{ 'p', OPTION_SELF, OPTION_RAW_CSR, 'r' },
	{ 'a', 'p', OPTION_SELF, OPTION_PER_THREAD, OPTION_RAW_CSR, OPTION_EXACT },
	{ 'C', 'p', OPTION_SELF, OPTION_PER_THREAD, OPTION_RAW_CSR, OPTION_EXACT },
	{ OPTION_SELF, OPTION_PER_THREAD },
	{ 'r', OPTION_PER_THREAD, 'I', OPTION_PER_CPU },
	{ 'F', 'c' },
	{ OPTION_JSON, OPTION_CSV },
	{ OPTION_PASSES, 'p', 'a', 'C', 'I', OPTION_PER_THREAD, OPTION_TOPDOWN, OPTION_RAW_CSR,
	  OPTION_EXACT },
};

/* Options that need another: the first of a row needs one of the others. */
static const int needs[][MOST] = {
	{ OPTION_PER_CPU, 'a', 'C' },
	{ OPTION_NO_IDLE, 'a', 'C' },
	{ 'w', 'r' },
	{ OPTION_PLOT, 'I' },
	{ OPTION_PASSES, 'e' },
};

static int check_apart(const struct request *r)
{
	unsigned int i, k;
	char one[40];

	for (i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
		for (k = 1; k < MOST && apart[i][k]; k++) {
			if (!r->given[apart[i][0]] || !r->given[apart[i][k]])
				continue;
			(void)snprintf(one, sizeof(one), "%s", option_name(apart[i][0]));
			explain("%s and %s do not go together", one, option_name(apart[i][k]));
			return EXIT_USAGE;
		}
	return -1;
}

static int check_needs(const struct request *r)
{
	unsigned int i, k;
	char words[120];
	bool there;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if (!r->given[needs[i][0]])
			continue;
		there = false;
		(void)snprintf(words, sizeof(words), "%s needs", option_name(needs[i][0]));
		for (k = 1; k < MOST && needs[i][k]; k++) {
			there |= r->given[needs[i][k]];
			(void)snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s %s",
				       k > 1 ? " or" : "", option_name(needs[i][k]));
		}
		if (!there) {
			explain("%s", words);
			return EXIT_USAGE;
		}
	}
	return -1;
}

int request_check(const struct request *r, bool program)
{
	int status = check_needs(r);

	if (status < 0)
		status = check_apart(r);
	if (status >= 0)
		return status;
	if (!r->how.npids && !r->how.ncpus && !program) {
		explain("which program? After the options stands the program that is to be run.\n"
			"perfex -h tells how it is used");
		return EXIT_USAGE;
	}
	if (!program && (r->given['r'] || r->input)) {
		explain("%s needs a program", option_name(r->input ? OPTION_INPUT : 'r'));
		return EXIT_USAGE;
	}
	if (r->output && r->plot && !strcmp(r->output, r->plot)) {
		explain("--output (-o) and --plot name one file, '%s'", r->plot);
		return EXIT_USAGE;
	}
	if (r->recording.pages & (r->recording.pages - 1)) {
		explain("%s: %u is no power of two", option_name('m'), r->recording.pages);
		return EXIT_USAGE;
	}
	return -1;
}

/* Looks up the events. Returns -1, or EXIT_PERFEX if this machine lacks an event. */
static int find_events(struct request *r)
{
	r->events.chosen = r->specs != NULL;
	if (r->given[OPTION_PASSES]) {
		if (!passes_make(&r->info, &r->how, r->specs, &r->passes))
			return EXIT_PERFEX;
		r->events = r->passes.pass[0];
		return -1;
	}
	return !r->specs || add_events(&r->info, &r->events, r->specs) ? -1 : EXIT_PERFEX;
}

int request_prepare(struct request *r)
{
	static struct pollfd signals;
	struct how *how = &r->how;
	int status = need_info(r);

	if (status >= 0)
		return status;
	if (how->ncpus)
		how->pidfds = &signals;
	if (r->command == COMMAND_RECORD)
		how->recording = &r->recording;
	status = find_events(r);
	if (status >= 0)
		return status;
	if ((how->raw_csr && !raw_events(&r->info, &r->events)) ||
	    (r->given[OPTION_TOPDOWN] && !topdown_events(&r->info, &r->events, how->source)))
		return EXIT_PERFEX;
	if (!r->events.chosen)
		usual_events(&r->info, &r->events);
	if (how->exact && !exact_begin(&r->info, &r->events, how))
		return EXIT_PERFEX;
	return -1;
}
