/* SPDX-License-Identifier: GPL-2.0 */
/* Names of output files */
#ifndef PERFEX_PATH_H
#define PERFEX_PATH_H

#include <stddef.h>

/**
 * path_expand() - %p, %h, %q{VAR} and %% in @pattern
 *
 * Return: the name, to be freed; or NULL, with a sentence in @why.
 */
char *path_expand(const char *pattern, char *why, size_t size);

#endif /* PERFEX_PATH_H */
