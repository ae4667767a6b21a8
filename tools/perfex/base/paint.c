// SPDX-License-Identifier: GPL-2.0
/* Prints colours on terminals. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paint.h"

/*
 * Returns true if @f is a terminal that may get colours. A non-empty NO_COLOR forbids colours
 * (no-color.org).
 */
static bool has_colours(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(f)) && (!no || !*no) && term && strcmp(term, "dumb") != 0;
}

const char *paint(FILE *f, enum paint paint)
{
	static const char *const codes[PAINTS] = {
		[PAINT_PLAIN] = "\033[0m", [PAINT_STRONG] = "\033[1m", [PAINT_FAINT] = "\033[2m",
		[PAINT_GOOD] = "\033[32m", [PAINT_BAD] = "\033[31m",
	};

	return has_colours(f) ? codes[paint] : "";
}
