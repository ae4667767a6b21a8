/* SPDX-License-Identifier: GPL-2.0 */
/* A picture of the intervals of a run: an SVG that needs nothing else. */
#ifndef PERFEX_PLOT_H
#define PERFEX_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/values.h"

/**
 * struct plot - what is in the picture
 * @n: how many intervals there are
 * @end: when each of them ended, in seconds since the start
 * @values: each event and each derived value has a panel
 * @point: [i * MOST_VALUES + k] is value k in interval i: of an event a rate; NAN if it is not known
 */
struct plot {
	unsigned int n, room;
	double *end;
	struct values values;
	double *point;
};

/* An interval from the end of the last one to @end. False without memory */
bool plot_add(struct plot *plot, double end, const struct values *values);
void plot_write(FILE *f, const struct plot *plot, const char *title);
void plot_free(struct plot *plot);

#endif /* PERFEX_PLOT_H */
