/* SPDX-License-Identifier: GPL-2.0 */
/* Makes the names of output files. */
#ifndef PERFEX_PATH_H
#define PERFEX_PATH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * path_expand() - replace %p, %h, %q{VAR} and %% in @pattern
 *
 * Return: the name, which the caller frees; or NULL with a sentence in @why.
 */
char *path_expand(const char *pattern, char *why, size_t size);

/*
 * Returns the path of the file that @path leads to through links. The file need not exist. The
 * caller frees the path. Returns NULL with errno on failure.
 */
char *path_target(const char *path);
/*
 * Returns true if no file @path exists, or if the caller may replace that file by another one.
 * Returns false with errno otherwise.
 */
bool path_may_replace(const char *path);

#endif /* PERFEX_PATH_H */
