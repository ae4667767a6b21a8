/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps the numbers of a run or of an interval in a list, from which all forms of output are made.
 */
#ifndef PERFEX_VALUES_H
#define PERFEX_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MOST_VALUES	256	/* 64 events, two derived values for each event, and others */

enum value_kind {
	VALUE_EVENT,
	VALUE_DERIVED,		/* computed from other values by derive.c */
	VALUE_SHARE,		/* a share of the slots (TopDown) */
	VALUE_TICKS,		/* ticks of the clock */
	VALUE_COUNT,		/* a count that the kernel keeps for each thread */
	VALUE_SUBTRACTED,	/* instructions that --exact subtracted */
	VALUE_SECONDS,
	VALUE_KINDS,
};

/**
 * struct value - one number
 * @name: "instructions", "instructions per cycle", "elapsed"
 * @plain: an event's name in the table of events; the user may have written another name
 * @mode: PERFCTR_CTR_USER and _KERNEL, or 0 if it has no mode
 * @unit: "%", "GHz", "s" or ""
 * @known: the number was measured
 * @count: @number as an integer, if it is a count
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

/* Adds a value. Returns the value, or NULL if there are MOST_VALUES already. */
struct value *values_add(struct values *values, enum value_kind kind, const char *name);
struct value *values_add_count(struct values *values, enum value_kind kind, const char *name,
			       bool known, uint64_t count);
/* Returns the value of this kind and name, or NULL if there is none. */
const struct value *values_find(const struct values *values, enum value_kind kind,
				const char *name);
/*
 * Returns the index in @values of the value that @other has at index @at, or -1. If an event is
 * counted twice, the first value in @other matches the first in @values, and the second matches the
 * second.
 */
int values_same(const struct values *values, const struct values *other, unsigned int at);
bool value_is_whole(const struct value *value);
/* Returns the modifier of the value's mode: ":u", ":k", ":uk" or "". */
const char *value_modifier(const struct value *value);
/* Writes a blank and @text, right-aligned to @width. A longer text makes the column wider. */
void column(FILE *f, int width, const char *text);
/* Writes a blank and @number, formatted by value_text() and right-aligned to @width. */
void value_column(FILE *f, int width, const struct value *value, double number);
/* Formats @number as @value would be shown to people: "1,234" or "2.50%". */
void value_text(const struct value *value, double number, char *buf, size_t size);
/* Copies the name of @value, as it is shown to people, to @buf. */
void value_label(const struct value *value, char *buf, size_t size);

/*
 * Adds ratios of events that were counted in the same mode (derive.c). With @clock, the clock ran
 * exactly when the processor's cycles did, so cycles per tick give the frequency.
 */
void derive(struct values *values, bool clock);

#endif /* PERFEX_VALUES_H */
