// SPDX-License-Identifier: GPL-2.0
/*
 * Derives ratios of counts. All events of a run are counted at the same time, so any two events of
 * the same mode have a ratio. A ratio that would be uncertain is left out.
 */
#include <stdio.h>
#include <string.h>

#include <libperfctr.h>

#include "base/values.h"

#define BOTH	((unsigned int)(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL))

/*
 * The count of event @of is divided by the count of event @per. In names, % stands for any text,
 * which must be equal in both: "%-load-misses" is divided by "%-loads".
 */
static const struct {
	const char *of, *per, *name;
	double scale;
	const char *unit;
} ratios[] = {
	{ "instructions", "cycles", "instructions per cycle", 1, "" },
	{ "instret", "cycle", "instructions per cycle", 1, "" },
	{ "instructions", "cycle", "instructions per cycle", 1, "" },
	{ "instret", "cycles", "instructions per cycle", 1, "" },
	{ "branch-misses", "branches", "branch-misses of branches", 100, "%" },
	{ "cache-misses", "cache-references", "cache-misses of cache-references", 100, "%" },
	{ "%-load-misses", "%-loads", NULL, 100, "%" },
	{ "%-store-misses", "%-stores", NULL, 100, "%" },
	{ "%-prefetch-misses", "%-prefetches", NULL, 100, "%" },
	{ "stalled-cycles-frontend", "cycles", "stalled-cycles-frontend of cycles", 100, "%" },
	{ "stalled-cycles-backend", "cycles", "stalled-cycles-backend of cycles", 100, "%" },
	{ "%-misses", "instructions", NULL, 1000, "" },
	{ "%-misses", "instret", NULL, 1000, "" },
};

/*
 * Returns true if @name fits @pattern. *stem is then the text in @name that % stands for, of length
 * *length.
 */
static bool is_like(const char *name, const char *pattern, const char **stem, size_t *length)
{
	size_t end = strlen(pattern) - 1, all = strlen(name);

	*stem = name;
	*length = 0;
	if (*pattern != '%')
		return !strcmp(name, pattern);
	if (all <= end || strcmp(name + all - end, pattern + 1) != 0)
		return false;
	*length = all - end;
	return true;
}

static bool is_usable(const struct value *value, unsigned int mode)
{
	return value->kind == VALUE_EVENT && value->known && (!mode || value->mode == mode);
}

static const struct value *find_counted(const struct values *values, const char *plain,
					unsigned int mode)
{
	unsigned int i;

	for (i = 0; i < values->n; i++)
		if (is_usable(&values->value[i], mode) && !strcmp(values->value[i].plain, plain))
			return &values->value[i];
	return NULL;
}

static void add_ratio(struct values *values, const char *name, unsigned int mode, double number,
		      const char *unit)
{
	struct value *value;
	unsigned int i;

	/* If an event is counted twice, only the first count gets a ratio. */
	for (i = 0; i < values->n; i++)
		if (values->value[i].kind == VALUE_DERIVED && values->value[i].mode == mode &&
		    !strcmp(values->value[i].name, name))
			return;
	value = values_add(values, VALUE_DERIVED, name);
	if (!value)
		return;
	value->mode = mode;
	value->unit = unit;
	value->known = true;
	value->number = number;
}

static void derive_ratio(struct values *values, const struct value *of, unsigned int row)
{
	const struct value *per;
	char plain[80], name[104];
	const char *stem;
	size_t length;

	if (!is_like(of->plain, ratios[row].of, &stem, &length))
		return;
	if (*ratios[row].per == '%')
		(void)snprintf(plain, sizeof(plain), "%.*s%s", (int)length, stem,
			       ratios[row].per + 1);
	else
		(void)snprintf(plain, sizeof(plain), "%s", ratios[row].per);
	per = find_counted(values, plain, of->mode);
	if (!per || !per->count)
		return;
	if (ratios[row].name)
		(void)snprintf(name, sizeof(name), "%s", ratios[row].name);
	else
		(void)snprintf(name, sizeof(name), "%.40s %s %.40s", of->plain,
			       *ratios[row].unit ? "of" : "per 1000", *ratios[row].unit ? plain :
			       "instructions");
	add_ratio(values, name, of->mode, ratios[row].scale * of->number / per->number,
		  ratios[row].unit);
}

/* The clock runs in both modes, so only cycles of both modes give the frequency. */
static void derive_of_clock(struct values *values, bool clock)
{
	const struct value *seconds = values_find(values, VALUE_SECONDS, "on a processor");
	const struct value *elapsed = values_find(values, VALUE_SECONDS, "elapsed");
	const struct value *cycles = find_counted(values, "cycles", BOTH);

	if (!clock || !seconds || !seconds->known)
		return;
	if (!cycles)
		cycles = find_counted(values, "cycle", BOTH);
	if (cycles && seconds->number > 0)
		add_ratio(values, "cycles per nanosecond", BOTH,
			  cycles->number / seconds->number / 1e9, "GHz");
	if (elapsed && elapsed->known && elapsed->number > 0)
		add_ratio(values, "processors used", 0, seconds->number / elapsed->number, "");
}

void derive(struct values *values, bool clock)
{
	unsigned int i, row, n = values->n;

	for (i = 0; i < n; i++)
		for (row = 0; row < sizeof(ratios) / sizeof(ratios[0]); row++)
			if (is_usable(&values->value[i], 0))
				derive_ratio(values, &values->value[i], row);
	derive_of_clock(values, clock);
}
