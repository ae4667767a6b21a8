/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers of a run or of an interval as a list, which each form of output goes through. */
#ifndef PERFEX_VALUES_H
#define PERFEX_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MOST_VALUES	256	/* 64 events, two derived values of each, and others */

enum value_kind {
	VALUE_EVENT,
	VALUE_DERIVED,		/* from others, by derive.c */
	VALUE_SHARE,		/* of the slots: TopDown */
	VALUE_TICKS,		/* of the clock */
	VALUE_COUNT,		/* the kernel itself counts it, for each thread */
	VALUE_SUBTRACTED,	/* instructions that --exact took off */
	VALUE_SECONDS,
	VALUE_KINDS,
};

/**
 * struct value - one number
 * @name: "instructions", "instructions per cycle", "elapsed"
 * @plain: of an event: its name in the table of events; the user may have used another
 * @mode: PERFCTR_CTR_USER and _KERNEL, or 0 if it has no mode
 * @unit: "%", "GHz", "s" or ""
 * @known: it was counted
 * @count: the same number, if it is a count
 */
struct value {
	enum value_kind kind;
	char name[168];
	char plain[64];
	unsigned int mode;
	const char *unit;
	bool known;
	double number;
	uint64_t count;
};

struct values {
	unsigned int n;
	struct value value[MOST_VALUES];
};

/* Adds a value; NULL: there are MOST_VALUES already. */
struct value *values_add(struct values *values, enum value_kind kind, const char *name);
struct value *values_add_count(struct values *values, enum value_kind kind, const char *name,
			       bool known, uint64_t count);
/* NULL if there is none */
const struct value *values_find(const struct values *values, enum value_kind kind,
				const char *name);
/*
 * The index in @values of the value that @other has at @at, or -1. If an event is counted twice the
 * first is found for the first, and the second for the second.
 */
int values_same(const struct values *values, const struct values *other, unsigned int at);
bool value_is_whole(const struct value *value);
/* ":u", ":k", ":uk" or "" */
const char *value_modifier(const struct value *value);
/* A blank and @text, right-aligned to @width; a longer text makes the column wider. */
void column(FILE *f, int width, const char *text);
/* The same of @number, by value_text() */
void value_column(FILE *f, int width, const struct value *value, double number);
/* For people: @number as a number like @value, "1,234" or "2.50%"; and the name of @value */
void value_text(const struct value *value, double number, char *buf, size_t size);
void value_label(const struct value *value, char *buf, size_t size);

/*
 * derive.c: adds ratios of events that were counted in the same mode. @clock: the clock ran exactly
 * when the processor's cycles did, so there is a frequency.
 */
void derive(struct values *values, bool clock);

#endif /* PERFEX_VALUES_H */
