/* SPDX-License-Identifier: GPL-2.0 */
/* Writes the output file, which appears whole or not at all. */
#ifndef PERFEX_RESULTS_H
#define PERFEX_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct results - where the counts go
 * @path: the name of the file, or NULL to write to @standard
 * @standard: an open stream, or NULL for stderr
 * @target: the file that @path leads to through links, or NULL
 * @temporary: the name of the file that is written until it is whole, or NULL
 * @f: the stream that is written
 * @begun: something was written
 * @told: the counts were copied to stderr, because the file could not be written
 * @error: errno of the first failure to write, or 0
 */
struct results {
	const char *path;
	FILE *standard;
	char *target, *temporary;
	FILE *f;
	bool begun;
	bool told;
	int error;
};

/*
 * Expands @pattern, the argument of @option, to a name. Returns true, or false after printing why
 * not.
 */
bool results_name(const char *option, const char *pattern, char **name);
/*
 * Opens the file, before anything runs. Returns true, or false after printing why it cannot be
 * written.
 */
bool results_open(struct results *results);
FILE *results_file(struct results *results);
/* Returns true if everything so far could be written. */
bool results_written(struct results *results);
/*
 * Gives the file its name. Returns true, or false after printing why not, and where the counts are.
 */
bool results_close(struct results *results);

#endif /* PERFEX_RESULTS_H */
