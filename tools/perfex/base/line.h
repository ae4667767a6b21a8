/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the first line of a file. */
#ifndef PERFEX_LINE_H
#define PERFEX_LINE_H

/* Copies the first line of @path without its newline. @line is "" if the file cannot be read. */
void first_line(const char *path, char *line, int size);

#endif /* PERFEX_LINE_H */
