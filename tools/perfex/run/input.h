/* SPDX-License-Identifier: GPL-2.0 */
/* Implements --input, by which each run reads the same input. */
#ifndef PERFEX_INPUT_H
#define PERFEX_INPUT_H

#include "count/how.h"

/*
 * Call this once, before any other file is opened. Returns -1 if all runs can read the same input.
 * Otherwise prints why not, and returns the exit status.
 */
int input_begin(const char *path, unsigned int runs, struct how *how);
/* Moves back to where the first run began to read. Call it before each run. */
void input_again(const struct how *how);

#endif /* PERFEX_INPUT_H */
