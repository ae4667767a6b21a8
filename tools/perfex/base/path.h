/* SPDX-License-Identifier: GPL-2.0 */
/* Names of output files */
#ifndef PERFEX_PATH_H
#define PERFEX_PATH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * path_expand() - %p, %h, %q{VAR} and %% in @pattern
 *
 * Return: the name, to be freed; or NULL, with a sentence in @why.
 */
char *path_expand(const char *pattern, char *why, size_t size);

/*
 * The file that symbolic links lead to, which need not be there yet; to be freed. NULL with errno
 */
char *path_target(const char *path);
/* Whether it can be renamed, and another file take its name. False with errno; true if there is none. */
bool path_may_replace(const char *path);

#endif /* PERFEX_PATH_H */
