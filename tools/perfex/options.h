/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Defines the options of perfex and its commands in one table, which getopt, --help and tests read.
 */
#ifndef PERFEX_OPTIONS_H
#define PERFEX_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

/* The commands, one bit each. */
enum {
	COMMAND_RUN = 1 << 0,		/* perfex without a command's name */
	COMMAND_RECORD = 1 << 1,
	COMMAND_COMPARE = 1 << 2,
	COMMAND_MERGE = 1 << 3,
	COMMAND_SELFTEST = 1 << 4,
};

/* Codes of options that have no letter. */
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
	OPTION_BAD,			/* options_next() has printed what is wrong */
};

struct option_row {
	const char *name;		/* the long name, without the dashes */
	int code;			/* the option's letter, or OPTION_* */
	unsigned int commands;
	const char *argument;		/* the argument's name in the help, or NULL */
	const char *help;		/* explanation, in lines of at most 57 columns */
};

extern const struct option_row option_rows[];
extern const unsigned int option_count;

/*
 * Returns the code of the next option, -1 at the end, or OPTION_BAD after printing what is wrong.
 */
int options_next(unsigned int command, int argc, char **argv);
void options_help(FILE *f, unsigned int command);
/* Returns a text such as "--interval (-I)" or "--json", which is valid until the next call. */
const char *option_name(int code);

#endif /* PERFEX_OPTIONS_H */
