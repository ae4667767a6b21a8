/* SPDX-License-Identifier: GPL-2.0 */
/* Names of output files. */
#ifndef PERFEX_PATH_H
#define PERFEX_PATH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * path_expand() - replace %p, %h, %q{VAR} and %% in @pattern
 *
 * Return: the name, to be freed; or NULL, and @why is a sentence.
 */
char *path_expand(const char *pattern, char *why, size_t size);

/* The file that @path leads to through links; it need not exist. To be freed; NULL with errno */
char *path_target(const char *path);
/* Whether another file may take this name: true if there is no such file. False with errno */
bool path_may_replace(const char *path);

#endif /* PERFEX_PATH_H */
