// SPDX-License-Identifier: GPL-2.0
/*
 * Draws a flame graph. Each call is a box on top of its caller, as wide as the counts of the call
 * and of all that it called. The SVG needs no other file. A browser with scripts can zoom and
 * search; without scripts the graph is a picture with tooltips.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "output.h"
#include "svg_script.h"

#define WIDTH		1200		/* pixels */
#define MARGIN		10
#define ROW		18		/* height of a box and the line below it */
#define TOP		66		/* room for the title and the description */
#define BOTTOM		34		/* room for details of the box under the mouse */
#define INNER		(WIDTH - 2 * MARGIN)
#define LETTER		6.7		/* about the width of a letter */
#define LEAST		0.1		/* boxes narrower than this are not drawn */

/* Returns one channel of a colour in HSL, 0 to 255. @hue is in degrees. */
static unsigned int channel(double hue, double saturation, double lightness, double shift)
{
	double k = shift + hue / 30, least;
	double a = saturation * (lightness < 0.5 ? lightness : 1 - lightness);

	while (k >= 12)
		k -= 12;
	least = k - 3 < 9 - k ? k - 3 : 9 - k;
	least = least < 1 ? least : 1;
	return (unsigned int)(255 * (lightness - a * (least > -1 ? least : -1)) + 0.5);
}

/*
 * Prints the colour of a box. User mode has warm colours, with a hue for each object; inlined
 * functions are paler. The kernel is blue, and unknown code is grey. Functions differ a little, so
 * that neighbours can be distinguished.
 */
static void print_colour(FILE *f, const struct named *named)
{
	uint64_t h = hash_text(named->function), o = hash_text(named->object);
	double hue = 8 + (double)(o % 44), saturation = 0.82;
	double lightness = 0.60 + (double)(h % 100) / 1000;

	if (named->is_thread) {
		hue = 150;
		saturation = 0.22;
		lightness = 0.70;
	} else if (named->kind == FRAME_KERNEL) {
		hue = 200 + (double)(h / 128 % 20);
		saturation = 0.55;
		lightness += 0.03;
	} else if (named->kind == FRAME_UNKNOWN) {
		saturation = 0.04;
		lightness = 0.74;
	} else if (named->kind == FRAME_INLINED) {
		hue += 4;
		saturation = 0.70;
		lightness += 0.13;
	} else {
		hue += (double)(h / 128 % 9);
	}
	fprintf(f, "#%02x%02x%02x", channel(hue, saturation, lightness, 0),
		channel(hue, saturation, lightness, 8), channel(hue, saturation, lightness, 4));
}

/* For each call, the counts of the call and of all that it called. */
struct sums {
	const struct stacks *stacks;
	unsigned int column;
	uint64_t all;
	uint64_t *sum;
	uint64_t *cycles, *instructions;	/* NULL if they were not counted */
};

static void print_tooltip(FILE *f, const struct sums *sums, uint32_t call)
{
	const struct profile *profile = sums->stacks->profile;
	const struct named *named = &sums->stacks->named[sums->stacks->calls[call].named];
	uint64_t self = stacks_self(sums->stacks, call, sums->column);
	char buf[32];

	fprintf(f, "<title>");
	xml_text(f, named->function[0] ? named->function : "[no name]", SIZE_MAX);
	if (named->object[0]) {
		fprintf(f, " in ");
		xml_text(f, named->object, SIZE_MAX);
	}
	if (named->kind == FRAME_INLINED)
		fprintf(f, ", inlined");
	fprintf(f, "\n%s ", thousands(sums->sum[call], buf));
	xml_text(f, column_name(profile, sums->column), SIZE_MAX);
	fprintf(f, ", %.2f%%", 100 * (double)sums->sum[call] / (double)sums->all);
	if (self && self != sums->sum[call])
		fprintf(f, ", %.2f%% in itself", 100 * (double)self / (double)sums->all);
	if (sums->cycles && sums->instructions && sums->cycles[call])
		fprintf(f, ", IPC %.2f", (double)sums->instructions[call] /
			(double)sums->cycles[call]);
	fprintf(f, "</title>");
}

static void print_box(FILE *f, const struct sums *sums, uint32_t call, double x, unsigned int y)
{
	const struct named *named = &sums->stacks->named[sums->stacks->calls[call].named];
	const char *name = named->function[0] ? named->function : "[no name]";
	double width = INNER * ((double)sums->sum[call] / (double)sums->all);
	double room = (width - 6) / LETTER;
	size_t length = strlen(name), most = room > 0 ? (size_t)room : 0;

	fprintf(f, "<g class=\"f\" data-n=\"");
	xml_text(f, name, SIZE_MAX);
	fprintf(f, "\">");
	print_tooltip(f, sums, call);
	fprintf(f, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" rx=\"2\" fill=\"", x, y,
		width, ROW - 1);
	print_colour(f, named);
	fprintf(f, "\"/><text x=\"%.2f\" y=\"%u\">", x + 3, y + 13);
	/* Write no name if fewer than three letters fit. */
	if (length <= most) {
		xml_text(f, name, SIZE_MAX);
	} else if (most >= 3) {
		xml_text(f, name, most - 2);
		fprintf(f, "..");
	}
	fprintf(f, "</text></g>\n");
}

static int compare_siblings(const void *a, const void *b, void *p)
{
	const struct stacks *stacks = p;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct call *x = &stacks->calls[i], *y = &stacks->calls[k];
	int d;

	/* Sort roots first, then by parent, then by name. */
	if (x->parent != y->parent)
		return x->parent + 1 < y->parent + 1 ? -1 : 1;
	d = strcmp(stacks->named[x->named].function, stacks->named[y->named].function);
	return d ? d : (i > k) - (i < k);
}

struct layout {
	uint32_t *order;		/* the calls; siblings are sorted by name */
	double *x;			/* left edge of each call */
	unsigned int *depth;		/* 1 for a box at the bottom */
	unsigned int deepest;		/* greatest depth of a box that is drawn */
};

static double width_of(const struct sums *sums, uint32_t call)
{
	return INNER * ((double)sums->sum[call] / (double)sums->all);
}

static void lay_out(struct layout *layout, const struct sums *sums)
{
	const struct stacks *stacks = sums->stacks;
	size_t n = stacks->calls_table.n, i;
	double next = MARGIN;
	uint32_t before = NO_NODE;

	layout->order = get_memory(n, sizeof(*layout->order));
	layout->x = get_memory(n, sizeof(*layout->x));
	layout->depth = get_memory(n, sizeof(*layout->depth));
	for (i = 0; i < n; i++)
		layout->order[i] = (uint32_t)i;
	if (n)
		qsort_r(layout->order, n, sizeof(*layout->order), compare_siblings, (void *)stacks);
	for (i = 0; i < n; i++) {
		uint32_t call = layout->order[i], parent = stacks->calls[call].parent;

		if (parent != before)
			next = layout->x[parent];
		before = parent;
		layout->x[call] = next;
		layout->depth[call] = parent == NO_NODE ? 1 : layout->depth[parent] + 1;
		if (width_of(sums, call) >= LEAST && layout->depth[call] > layout->deepest)
			layout->deepest = layout->depth[call];
		next += width_of(sums, call);
	}
}

static void print_head(FILE *f, const struct sums *sums, unsigned int height)
{
	const struct profile *profile = sums->stacks->profile;
	const struct reader *reader = profile->reader;
	const char *word = reader->command, *end = word + reader->header.command_size;
	size_t left = 110;
	char buf[32];

	fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\">\n", WIDTH, height, WIDTH, height);
	fputs(svg_style, f);
	fprintf(f, "<rect id=\"ground\" width=\"%d\" height=\"%u\"/>\n", WIDTH, height);
	fprintf(f, "<text id=\"heading\" x=\"%d\" y=\"28\">", MARGIN);
	for (; word < end && left; word += strlen(word) + 1) {
		if (word != reader->command)
			fputc(' ', f);
		xml_text(f, word, left);
		left -= strlen(word) < left ? strlen(word) : left;
	}
	if (!reader->header.command_size)
		fprintf(f, "Flame graph");
	fprintf(f, "%s</text>\n<text class=\"note\" x=\"%d\" y=\"48\">", left ? "" : "...",
		MARGIN);
	fprintf(f, "%s ", thousands(sums->all, buf));
	xml_text(f, column_name(profile, sums->column), SIZE_MAX);
	fprintf(f, ", %s samples", thousands(profile->samples, buf));
	if (reader->lost || profile->lost)
		fprintf(f, ", %s records lost", thousands(reader->lost > profile->lost ?
			reader->lost : profile->lost, buf));
	fprintf(f, "</text>\n");
	/* These texts are hidden unless scripts run. */
	fprintf(f, "<text id=\"back\" class=\"button\" x=\"%d\" y=\"28\">show all</text>\n"
		"<text id=\"search\" class=\"button\" x=\"%d\" y=\"28\">search</text>\n"
		"<text id=\"found\" class=\"note\" x=\"%d\" y=\"48\"></text>\n"
		"<text id=\"details\" class=\"note\" x=\"%d\" y=\"%u\"></text>\n",
		WIDTH - 150, WIDTH - 60, WIDTH - MARGIN, MARGIN, height - 12);
}

/* Returns the sums of column @name, or else of column @other, or NULL if neither was counted. */
static uint64_t *sum_of(const struct stacks *stacks, const char *name, const char *other)
{
	int column = column_find(stacks->profile, name);

	if (column < 0)
		column = column_find(stacks->profile, other);
	return column < 0 ? NULL : stacks_inclusive(stacks, (unsigned int)column);
}

void print_svg(FILE *f, const struct stacks *stacks, unsigned int column)
{
	struct sums sums = { stacks, column, stacks->profile->total[column], NULL, NULL, NULL };
	struct layout layout = { .deepest = 0 };
	unsigned int height;
	char buf[32];
	size_t i;

	sums.sum = stacks_inclusive(stacks, column);
	sums.cycles = sum_of(stacks, "cycles", "cycle");
	sums.instructions = sum_of(stacks, "instructions", "instret");
	/* Avoid a division by zero. */
	if (!sums.all)
		sums.all = 1;
	lay_out(&layout, &sums);
	height = TOP + (layout.deepest + 1) * ROW + BOTTOM;
	print_head(f, &sums, height);
	fprintf(f, "<g id=\"boxes\">\n<g class=\"f\" data-n=\"all\"><title>all\n%s ",
		thousands(stacks->profile->total[column], buf));
	xml_text(f, column_name(stacks->profile, column), SIZE_MAX);
	fprintf(f, ", 100.00%%</title><rect x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"2\" "
		"fill=\"#c9ced6\"/><text x=\"%d\" y=\"%u\">all</text></g>\n", MARGIN,
		TOP + layout.deepest * ROW, INNER, ROW - 1, MARGIN + 3,
		TOP + layout.deepest * ROW + 13);
	for (i = 0; i < stacks->calls_table.n; i++) {
		uint32_t call = layout.order[i];

		if (width_of(&sums, call) >= LEAST)
			print_box(f, &sums, call, layout.x[call],
				  TOP + (layout.deepest - layout.depth[call]) * ROW);
	}
	fprintf(f, "</g>\n");
	fputs(svg_script, f);
	fprintf(f, "</svg>\n");
	free(layout.order);
	free(layout.x);
	free(layout.depth);
	free(sums.sum);
	free(sums.cycles);
	free(sums.instructions);
}
