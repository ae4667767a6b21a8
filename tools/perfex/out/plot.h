/* SPDX-License-Identifier: GPL-2.0 */
/* A picture of the intervals of a run: an SVG that needs no other file. */
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
 * @point: [i * MOST_VALUES + k] is value k in interval i, for an event its rate; NAN: not known
 */
struct plot {
	unsigned int n, room;
	double *end;
	struct values values;
	double *point;
};

/* Adds an interval from the last one's end to @end. False: there is no memory. */
bool plot_add(struct plot *plot, double end, const struct values *values);
void plot_write(FILE *f, const struct plot *plot, const char *title);
void plot_free(struct plot *plot);

#endif /* PERFEX_PLOT_H */
