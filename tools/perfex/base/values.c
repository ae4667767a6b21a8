// SPDX-License-Identifier: GPL-2.0
/* Keeps a list of numbers with their names, and formats them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <libperfctr.h>

#include "base/quote.h"
#include "base/values.h"

struct value *values_add(struct values *values, enum value_kind kind, const char *name)
{
	static const char *const units[VALUE_KINDS] = {
		[VALUE_EVENT] = "", [VALUE_DERIVED] = "", [VALUE_SHARE] = "%",
		[VALUE_TICKS] = "", [VALUE_COUNT] = "", [VALUE_SUBTRACTED] = "",
		[VALUE_SECONDS] = "s",
	};
	struct value *value;

	if (values->n == MOST_VALUES)
		return NULL;
	value = &values->value[values->n++];
	memset(value, 0, sizeof(*value));
	value->kind = kind;
	value->unit = units[kind];
	(void)snprintf(value->name, sizeof(value->name), "%s", name);
	return value;
}

struct value *values_add_count(struct values *values, enum value_kind kind, const char *name,
			       bool known, uint64_t count)
{
	struct value *value = values_add(values, kind, name);

	if (!value)
		return NULL;
	value->known = known;
	value->count = count;
	value->number = (double)count;
	return value;
}

const struct value *values_find(const struct values *values, enum value_kind kind,
				const char *name)
{
	unsigned int i;

	for (i = 0; i < values->n; i++)
		if (values->value[i].kind == kind && !strcmp(values->value[i].name, name))
			return &values->value[i];
	return NULL;
}

static bool is_same(const struct value *a, const struct value *b)
{
	return a->kind == b->kind && a->mode == b->mode && !strcmp(a->name, b->name);
}

int values_same(const struct values *values, const struct values *other, unsigned int at)
{
	const struct value *value = &other->value[at];
	unsigned int i, before = 0;

	for (i = 0; i < at; i++)
		before += is_same(&other->value[i], value);
	for (i = 0; i < values->n; i++)
		if (is_same(&values->value[i], value) && !before--)
			return (int)i;
	return -1;
}

bool value_is_whole(const struct value *value)
{
	return value->kind == VALUE_EVENT || value->kind == VALUE_TICKS ||
	       value->kind == VALUE_COUNT || value->kind == VALUE_SUBTRACTED;
}

const char *value_modifier(const struct value *value)
{
	switch (value->mode) {
	case PERFCTR_CTR_USER:
		return ":u";
	case PERFCTR_CTR_KERNEL:
		return ":k";
	case PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL:
		return ":uk";
	default:
		return "";
	}
}

void value_text(const struct value *value, double number, char *buf, size_t size)
{
	char digits[32];

	/* The mean of small counts may have a fraction: show it. */
	if (value_is_whole(value) && fabs(number) < 1000 && number != floor(number))
		(void)snprintf(buf, size, "%.2f", number);
	else if (value_is_whole(value))
		(void)snprintf(buf, size, "%s%s", number < 0 ? "-" : "",
			       thousands((uint64_t)llround(fabs(number)), digits));
	else if (value->kind == VALUE_SECONDS)
		(void)snprintf(buf, size, "%.9f", number);
	else
		(void)snprintf(buf, size, "%.*f%s%s", *value->unit == '%' ? 2 : 3, number,
			       *value->unit && *value->unit != '%' ? " " : "", value->unit);
}

void column(FILE *f, int width, const char *text)
{
	fprintf(f, " %*s", width - 1, text);
}

void value_column(FILE *f, int width, const struct value *value, double number)
{
	char text[40];

	value_text(value, number, text, sizeof(text));
	column(f, width, text);
}

void value_label(const struct value *value, char *buf, size_t size)
{
	static const char *const before[VALUE_KINDS] = {
		[VALUE_SECONDS] = "seconds ", [VALUE_TICKS] = "ticks of the ",
		[VALUE_SUBTRACTED] = "instructions ",
	};

	(void)snprintf(buf, size, "%s%s%s", before[value->kind] ?: "", value->name,
		       value_modifier(value));
	make_plain(buf);
}
