/* SPDX-License-Identifier: GPL-2.0 */
/* The first line of a file. */
#ifndef PERFEX_LINE_H
#define PERFEX_LINE_H

/* Without its end; empty if the file cannot be read. */
void first_line(const char *path, char *line, int size);

#endif /* PERFEX_LINE_H */
