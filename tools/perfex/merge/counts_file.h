/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a file that perfex --json has written. */
#ifndef PERFEX_COUNTS_FILE_H
#define PERFEX_COUNTS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/values.h"

/**
 * struct counts_file - the counts of a run
 * @incomplete: why the counts do not cover the whole run, or ""
 */
struct counts_file {
	struct values values;
	char incomplete[128];
};

/*
 * Reads the file. Returns true, or false with a sentence in @why that says what was found and what
 * was expected.
 */
bool counts_file_read(const char *path, struct counts_file *file, char *why, size_t size);

#endif /* PERFEX_COUNTS_FILE_H */
