/* SPDX-License-Identifier: GPL-2.0 */
/* The output file: whole, or not there at all. */
#ifndef PERFEX_RESULTS_H
#define PERFEX_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct results - where the counts go
 * @path: the name of the file; NULL: @standard
 * @standard: NULL: stderr
 * @target: the file that links lead to, or NULL
 * @temporary: what is written until it is whole, or NULL
 * @f: what is open
 * @begun: something was written
 * @told: the counts are on stderr too, as the file could not be written
 * @error: errno of writing, or 0
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

/* The name that @pattern, the argument of @option, stands for. False: it has told why none. */
bool results_name(const char *option, const char *pattern, char **name);
/* Before anything runs. False: it has told why the file cannot be written. */
bool results_open(struct results *results);
FILE *results_file(struct results *results);
/* Whether all up to now could be written */
bool results_written(struct results *results);
/* The file gets its name. False: it has told why not, and where the counts are. */
bool results_close(struct results *results);

#endif /* PERFEX_RESULTS_H */
