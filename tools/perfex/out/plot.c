// SPDX-License-Identifier: GPL-2.0
/*
 * Draws a picture of intervals. Each event and each derived value has a panel with a scale that
 * begins at zero. A count is drawn as a step as wide as its interval, so the area below the step is
 * the number of events. A gap shows where nothing was counted.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "base/values.h"
#include "out/plot.h"

#define WIDTH	960
#define LEFT	90		/* left margin of the panels, for their labels */
#define RIGHT	20
#define TOP	60		/* top of the first panel */
#define PANEL	90		/* height of a panel */
#define DISTANCE	140	/* distance between the tops of two panels */
#define BOTTOM	40
#define TITLE		110	/* most characters of the title */

static bool is_drawn(const struct value *value)
{
	return value->kind == VALUE_EVENT || value->kind == VALUE_DERIVED;
}

static bool make_room(struct plot *plot)
{
	unsigned int room = plot->room ? 2 * plot->room : 64;
	double *end, *point;

	if (plot->n < plot->room)
		return true;
	end = reallocarray(plot->end, room, sizeof(*end));
	if (!end)
		return false;
	plot->end = end;
	point = reallocarray(plot->point, (size_t)room * MOST_VALUES, sizeof(*point));
	if (!point)
		return false;
	plot->point = point;
	plot->room = room;
	return true;
}

bool plot_add(struct plot *plot, double end, const struct values *values)
{
	double length = end - (plot->n ? plot->end[plot->n - 1] : 0), *point;
	unsigned int i;
	int k;

	/* An interval without length would show nothing. */
	if (length <= 0)
		return true;
	if (!make_room(plot))
		return false;
	point = plot->point + (size_t)plot->n * MOST_VALUES;
	for (i = 0; i < MOST_VALUES; i++)
		point[i] = NAN;
	for (i = 0; i < values->n; i++) {
		const struct value *value = &values->value[i];

		if (!is_drawn(value))
			continue;
		k = values_same(&plot->values, values, i);
		if (k < 0 && plot->values.n < MOST_VALUES) {
			k = (int)plot->values.n++;
			plot->values.value[k] = *value;
		}
		if (k >= 0 && value->known)
			point[k] = value->kind == VALUE_EVENT ? value->number / length : value->number;
	}
	plot->end[plot->n++] = end;
	return true;
}

void plot_free(struct plot *plot)
{
	free(plot->end);
	free(plot->point);
	*plot = (struct plot){ .n = 0 };
}

/* Returns the smallest number not below @least that is 1, 2 or 5 times a power of ten. */
static double round_up(double least)
{
	double power = pow(10, floor(log10(least)));
	static const double steps[] = { 1, 2, 5, 10 };
	unsigned int i;

	for (i = 0; i < 3 && steps[i] * power < least * (1 - 1e-12); i++)
		continue;
	return steps[i] * power;
}

/* Prints a number with a prefix, as "1.5 G". */
static void print_short(FILE *f, double number)
{
	static const char *const prefixes[] = { "", " k", " M", " G", " T", " P" };
	unsigned int i;

	for (i = 0; i < 5 && fabs(number) >= 999.5; i++)
		number /= 1000;
	fprintf(f, "%.4g%s", number, prefixes[i]);
}

static double maximum_of(const struct plot *plot, unsigned int k)
{
	double most = 0;
	unsigned int i;

	for (i = 0; i < plot->n; i++)
		most = fmax(most, plot->point[(size_t)i * MOST_VALUES + k]);
	return most > 0 ? round_up(most) : 1;
}

static double x_of(const struct plot *plot, double time)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * time / plot->end[plot->n - 1];
}

static void draw_steps(FILE *f, const struct plot *plot, unsigned int k, double top, double most)
{
	double begin = 0, y;
	bool pen = false;
	unsigned int i;

	fprintf(f, "<path class=\"line\" d=\"");
	for (i = 0; i < plot->n; i++) {
		double point = plot->point[(size_t)i * MOST_VALUES + k];

		if (!isnan(point)) {
			y = top + PANEL * (1 - point / most);
			if (pen)
				fprintf(f, "V%.1f", y);
			else
				fprintf(f, "M%.2f %.1f", x_of(plot, begin), y);
			fprintf(f, "H%.2f", x_of(plot, plot->end[i]));
		}
		pen = !isnan(point);
		begin = plot->end[i];
	}
	fprintf(f, "\"/>\n");
}

/* Draws vertical lines, with their times below the panel. */
static void draw_times(FILE *f, const struct plot *plot, double top)
{
	double all = plot->end[plot->n - 1], step = round_up(all / 10), time;
	unsigned int i;

	for (i = 0; i * step <= all * (1 + 1e-9); i++) {
		time = fmin(i * step, all);
		fprintf(f, "<path class=\"grid\" d=\"M%.2f %.1fv%d\"/>", x_of(plot, time), top, PANEL);
		fprintf(f, "<text class=\"time\" x=\"%.2f\" y=\"%.1f\">%.6g s</text>\n",
			x_of(plot, time), top + PANEL + 14, time);
	}
}

static void draw_panel(FILE *f, const struct plot *plot, unsigned int k, double top)
{
	const struct value *value = &plot->values.value[k];
	double most = maximum_of(plot, k);
	unsigned int i;
	char label[192];

	value_label(value, label, sizeof(label));
	fprintf(f, "<g><text class=\"name\" x=\"%d\" y=\"%.1f\">", LEFT, top - 8);
	xml_text(f, label, SIZE_MAX);
	fprintf(f, "%s</text>\n", value->kind == VALUE_EVENT ? " in a second" : "");
	for (i = 0; i <= 2; i++) {
		fprintf(f, "<path class=\"grid\" d=\"M%d %.1fh%d\"/><text class=\"scale\" x=\"%d\" y=\"%.1f\">",
			LEFT, top + PANEL * (1 - i / 2.), WIDTH - LEFT - RIGHT, LEFT - 8,
			top + PANEL * (1 - i / 2.) + 4);
		print_short(f, most * i / 2);
		fprintf(f, "%s%s</text>\n", *value->unit && *value->unit != '%' ? " " : "", value->unit);
	}
	draw_times(f, plot, top);
	draw_steps(f, plot, k, top, most);
	fprintf(f, "</g>\n");
}

void plot_write(FILE *f, const struct plot *plot, const char *title)
{
	unsigned int k, panels = plot->n ? plot->values.n : 0;
	double height = TOP + DISTANCE * (panels ? panels - 1. : 0) + PANEL + BOTTOM;

	fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n"
		"<style>\n"
		"svg { background: #fff; color: #111; font: 12px sans-serif }\n"
		"text { fill: currentColor }\n"
		".title { font-size: 15px }\n"
		".name { font-weight: bold }\n"
		".scale { text-anchor: end }\n"
		".time { text-anchor: middle }\n"
		".grid { stroke: #888; stroke-opacity: .35; fill: none }\n"
		".line { stroke: #1764ab; stroke-width: 1.5; fill: none }\n"
		"@media (prefers-color-scheme: dark) {\n"
		"svg { background: #16181c; color: #ddd }\n"
		".line { stroke: #7cb8f2 }\n"
		"}\n"
		"</style>\n<title>", WIDTH, height, WIDTH, height);
	xml_text(f, title, SIZE_MAX);
	fprintf(f, "</title>\n<text class=\"title\" x=\"%d\" y=\"24\">", LEFT);
	xml_text(f, title, TITLE);
	fprintf(f, "%s</text>\n", strlen(title) > TITLE ? "..." : "");
	if (!panels)
		fprintf(f, "<text x=\"%d\" y=\"%d\">Nothing was counted.</text>\n", LEFT, TOP);
	for (k = 0; k < panels; k++)
		draw_panel(f, plot, k, TOP + DISTANCE * (double)k);
	fprintf(f, "</svg>\n");
}
