// SPDX-License-Identifier: GPL-2.0
/* Implements the options of perfex selftest, and opens the file that gets the text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/perfex.h"
#include "count/explain.h"
#include "out/results.h"
#include "run/choose.h"
#include "selftest/selftest.h"
#include "commands.h"
#include "options.h"
#include "request.h"

static void selftest_usage(FILE *f)
{
	fprintf(f,
		"usage: perfex selftest [--overflows N] [--watch S] [--hotplug] [--sleep] [-o FILE]\n"
		"\n"
		"Writes versions, the processor, what it costs to count, and whether perfctr counts\n"
		"right here, to stdout. It takes some 15 seconds.\n"
		"%s\n\n", SEND);
	options_help(f, COMMAND_SELFTEST);
	fprintf(f,
		"\n"
		"The exit status is 0 if the text could be written, whatever it says. See perfex(1).\n");
}

/* Prints the self test to @output. The checks print to stdout, so stdout becomes that file. */
static int print_to(const char *output, const struct selftest_options *how)
{
	struct results results = { .path = output };
	struct perfctr_info info;
	bool good = true;

	if (!get_info(&info) || !results_open(&results))
		return EXIT_PERFEX;
	if (output && dup2(fileno(results_file(&results)), STDOUT_FILENO) < 0)
		good = false;
	if (good)
		selftest_print(&info, how);
	if (!good || fflush(stdout) || ferror(stdout)) {
		explain("cannot write the text: %s", strerror(errno));
		results.error = results.error ?: errno;
		good = false;
	}
	return results_close(&results) && good ? EXIT_SUCCESS : EXIT_PERFEX;
}

int selftest_main(int argc, char **argv)
{
	static struct request request;
	int status = request_parse(COMMAND_SELFTEST, argc, argv, selftest_usage, &request);

	if (status >= 0)
		return status;
	if (optind < argc) {
		explain("selftest runs no program, but there is one: '%s'", argv[optind]);
		return EXIT_USAGE;
	}
	return print_to(request.output, &request.selftest);
}
