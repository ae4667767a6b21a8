/* SPDX-License-Identifier: GPL-2.0 */
/* Colours: on terminals only, and not if the environment has NO_COLOR, or TERM is dumb */
#ifndef PERFEX_PAINT_H
#define PERFEX_PAINT_H

#include <stdio.h>

enum paint {
	PAINT_PLAIN,		/* ends the others */
	PAINT_STRONG,
	PAINT_FAINT,
	PAINT_GOOD,
	PAINT_BAD,
	PAINTS,
};

/* The escape sequence for this; "" if @f gets no colours */
const char *paint(FILE *f, enum paint paint);

#endif /* PERFEX_PAINT_H */
