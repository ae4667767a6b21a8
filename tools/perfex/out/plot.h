/* SPDX-License-Identifier: GPL-2.0 */
/* Draws the intervals of a run as an SVG that needs no other file. */
#ifndef PERFEX_PLOT_H
#define PERFEX_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/values.h"

/**
 * struct plot - the intervals of a picture
 * @n: number of intervals
 * @end: when each of them ended, in seconds since the start
 * @values: the events and derived values, a panel for each
 * @point: the numbers; [i * MOST_VALUES + k] is value k in interval i, or the rate if value k is an
 *	event; NAN: not known
 */
struct plot {
	unsigned int n, room;
	double *end;
	struct values values;
	double *point;
};

/*
 * Adds an interval from the end of the last interval to @end. Returns false if there is no memory.
 */
bool plot_add(struct plot *plot, double end, const struct values *values);
void plot_write(FILE *f, const struct plot *plot, const char *title);
void plot_free(struct plot *plot);

#endif /* PERFEX_PLOT_H */
