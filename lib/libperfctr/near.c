// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds names that are similar to a name that does not exist. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

#define NAME_MAX_LEN	80u

/*
 * Returns how many letters must be inserted, removed, changed, or swapped with a neighbour to turn
 * one name into the other (optimal string alignment).
 */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int d[3][NAME_MAX_LEN + 1];
	unsigned int *before = d[0], *above = d[1], *row = d[2], *tmp;
	size_t i, j, la = strlen(a), lb = strlen(b);
	unsigned int best;

	if (lb > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (j = 0; j <= lb; j++)
		row[j] = (unsigned int)j;
	for (i = 1; i <= la; i++) {
		tmp = before;
		before = above;
		above = row;
		row = tmp;
		row[0] = (unsigned int)i;
		for (j = 1; j <= lb; j++) {
			int ca = tolower((unsigned char)a[i - 1]);
			int cb = tolower((unsigned char)b[j - 1]);

			best = above[j - 1] + (ca != cb);
			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && before[j - 2] + 1 < best &&
			    ca == tolower((unsigned char)b[j - 2]) &&
			    cb == tolower((unsigned char)a[i - 2]))
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

static int contains(const char *name, const char *part)
{
	size_t len = strlen(part);

	for (; *name; name++)
		if (!strncasecmp(name, part, len))
			return 1;
	return 0;
}

void perfctr_near_compare(struct perfctr_near *near, const char *spec, size_t length, const char *name)
{
	char wanted[NAME_MAX_LEN];
	unsigned int score;
	size_t i;

	/* A name that is both in the kernel and in a table comes twice; take it once. */
	for (i = 0; i < near->n; i++)
		if (!strcasecmp(near->name[i], name))
			return;
	if (!strchr(name, ':'))
		length = strcspn(spec, ":");
	if (!length || length >= sizeof(wanted))
		return;
	memcpy(wanted, spec, length);
	wanted[length] = '\0';
	/* A name that contains @spec ("tlb") scores at most 2, as with two wrong letters. */
	score = distance(wanted, name);
	if (length >= 3 && score > 2 && contains(name, wanted))
		score = 2;
	if (score > 1 + length / 3)
		return;
	/* Insert the name behind names with an equal score. The last of a full list drops out. */
	for (i = near->n; i > 0 && near->score[i - 1] > score; i--) {
		if (i < near->max) {
			near->score[i] = near->score[i - 1];
			near->name[i] = near->name[i - 1];
		}
	}
	if (i >= near->max)
		return;
	near->score[i] = score;
	near->name[i] = name;
	if (near->n < near->max)
		near->n++;
}

char **perfctr_near_names(const struct perfctr_near *near)
{
	size_t i, bytes = 0, length;
	char **names, *text;

	for (i = 0; i < near->n; i++)
		bytes += strlen(near->name[i]) + 1;
	names = near->n ? (char **)malloc((near->n + 1) * sizeof(*names) + bytes) : NULL;
	if (!names)
		return NULL;
	text = (char *)(names + near->n + 1);
	for (i = 0; i < near->n; i++) {
		length = strlen(near->name[i]) + 1;
		names[i] = memcpy(text, near->name[i], length);
		text += length;
	}
	names[i] = NULL;
	return names;
}
