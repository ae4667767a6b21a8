/* SPDX-License-Identifier: GPL-2.0 */
/* Prints colours on terminals, unless the environment has NO_COLOR or TERM is "dumb". */
#ifndef PERFEX_PAINT_H
#define PERFEX_PAINT_H

#include <stdio.h>

enum paint {
	PAINT_PLAIN,		/* ends any other paint */
	PAINT_STRONG,
	PAINT_FAINT,
	PAINT_GOOD,
	PAINT_BAD,
	PAINTS,
};

/* Returns the escape sequence that switches to @paint, or "" if @f gets no colours. */
const char *paint(FILE *f, enum paint paint);

#endif /* PERFEX_PAINT_H */
