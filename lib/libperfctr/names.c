// SPDX-License-Identifier: LGPL-2.1-or-later
/* Searches sets of events, makes lists of names, and parses raw events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

const struct perfctr_event_set *perfctr_find_set(const struct perfctr_event_set *sets, size_t n,
						 unsigned int cpu_type)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (sets[i].cpu_type == cpu_type)
			return &sets[i];
	return NULL;
}

int perfctr_names_begin(struct perfctr_names *names)
{
	memset(names, 0, sizeof(*names));
	names->f = open_memstream(&names->text, &names->size);
	return names->f ? 0 : -1;
}

int perfctr_names_add(struct perfctr_names *names, const char *name, const char *description)
{
	names->n++;
	if (fprintf(names->f, "%s%c%s%c", name, 0, description ? description : "", 0) < 0)
		return -1;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct perfctr_event_name *)a)->name,
		      ((const struct perfctr_event_name *)b)->name);
}

struct perfctr_event_name *perfctr_names_end(struct perfctr_names *names)
{
	int bad = ferror(names->f);
	struct perfctr_event_name *list = NULL;
	char *text;
	size_t i;

	bad |= fclose(names->f);
	/* The memory has the array first, and the text behind it. */
	if (!bad)
		list = malloc((names->n + 1) * sizeof(*list) + names->size);
	if (list) {
		text = memcpy(list + names->n + 1, names->text, names->size);
		for (i = 0; i < names->n; i++) {
			list[i].name = text;
			text += strlen(text) + 1;
			list[i].description = *text ? text : NULL;
			text += strlen(text) + 1;
		}
		list[i] = (struct perfctr_event_name){ NULL, NULL };
		qsort(list, names->n, sizeof(*list), by_name);
	}
	free(names->text);
	return list;
}

int perfctr_parse_raw(const char *name, __u64 *values, unsigned int most)
{
	int known = 1;
	size_t len;

	if (name[0] != 'r' && name[0] != 'R')
		return 0;
	do {
		name++;
		len = strspn(name, "0123456789abcdefABCDEF");
		if (!len || !most--)
			return 0;
		if (len > 16)
			known = -1;
		else
			*values++ = strtoull(name, NULL, 16);
		name += len;
	} while (*name == '/');
	return *name ? 0 : known;
}
