/* SPDX-License-Identifier: GPL-2.0 */
/* One table has the options of perfex and its commands: getopt, --help and tests read it. */
#ifndef PERFEX_OPTIONS_H
#define PERFEX_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

/* The commands, a bit for each */
enum {
	COMMAND_RUN = 1 << 0,		/* without a command's name */
	COMMAND_RECORD = 1 << 1,
	COMMAND_COMPARE = 1 << 2,
	COMMAND_MERGE = 1 << 3,
	COMMAND_SELFTEST = 1 << 4,
};

/* Options without a letter of their own */
enum {
	OPTION_TOPDOWN = 256,
	OPTION_PER_CPU,
	OPTION_NO_IDLE,
	OPTION_JSON,
	OPTION_CSV,
	OPTION_PLOT,
	OPTION_INPUT,
	OPTION_SELF,
	OPTION_PER_THREAD,
	OPTION_RAW_CSR,
	OPTION_SOURCE,
	OPTION_EXACT,
	OPTION_PASSES,
	OPTION_OVERFLOWS,
	OPTION_WATCH,
	OPTION_HOTPLUG,
	OPTION_SLEEP,
	OPTION_BAD,			/* options_next() has told what is wrong */
};

struct option_row {
	const char *name;		/* without the dashes */
	int code;			/* its letter, or OPTION_* */
	unsigned int commands;
	const char *argument;		/* its name in the help, or NULL */
	const char *help;		/* lines of at most 57 columns */
};

extern const struct option_row option_rows[];
extern const unsigned int option_count;

/* The next option's code; -1 at the end; OPTION_BAD: it has told what is wrong. */
int options_next(unsigned int command, int argc, char **argv);
void options_help(FILE *f, unsigned int command);
/* "--interval (-I)" or "--json"; the text stands until the next call. */
const char *option_name(int code);

#endif /* PERFEX_OPTIONS_H */
