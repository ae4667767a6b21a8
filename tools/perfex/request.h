/* SPDX-License-Identifier: GPL-2.0 */
/* Reads what the command line asks for. */
#ifndef PERFEX_REQUEST_H
#define PERFEX_REQUEST_H

#include "count/how.h"
#include "record/recording.h"
#include "run/choose.h"
#include "selftest/selftest.h"
#include "options.h"

/**
 * struct request - the options of one command
 * @given: which options were given, by their codes
 * @specs: the events of all -e, separated by commas; or NULL
 * @events: the events to count; with --passes, those of the first pass
 * @passes: the passes of --passes
 * @input, @output, @plot: names of files, or NULL
 */
struct request {
	unsigned int command;
	bool given[OPTION_BAD];
	struct how how;
	struct recording recording;
	struct selftest_options selftest;
	char *specs;
	struct events events;
	struct passes passes;
	struct perfctr_info info;
	bool have_info;
	const char *input;
	char *output, *plot;
	unsigned int frequency;
};

/*
 * request_parse() reads the options of @command, up to the program. request_check() checks that the
 * options go together, with a program or without. request_prepare() looks up the events. Each
 * returns -1, or the exit status after printing what is wrong.
 */
int request_parse(unsigned int command, int argc, char **argv, void (*usage)(FILE *f),
		  struct request *request);
int request_check(const struct request *request, bool program);
int request_prepare(struct request *request);

#endif /* PERFEX_REQUEST_H */
