/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers of a run, or of an interval of one, as a list that every form of output can go through. */
#ifndef PERFEX_VALUES_H
#define PERFEX_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MOST_VALUES	256	/* 64 events, two derived values of each, and what is always there */

enum value_kind {
	VALUE_EVENT,
	VALUE_DERIVED,		/* of others: derive.c */
	VALUE_SHARE,		/* of the slots, by TopDown */
	VALUE_TICKS,		/* of the clock */
	VALUE_COUNT,		/* what the kernel counts of threads */
	VALUE_SUBTRACTED,	/* instructions, by --exact */
	VALUE_SECONDS,
	VALUE_KINDS,
};

/**
 * struct value - one number
 * @name: "instructions", "instructions per cycle", "elapsed"
 * @plain: of an event: the name that it has in the table of events, whatever the user called it
 * @mode: PERFCTR_CTR_USER and _KERNEL, or 0 if it has no mode
 * @unit: "%", "GHz", "s" or ""
 * @known: it was counted
 * @count: the number itself, if it is a count
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

/* A new one; beyond the most there is nothing, and NULL. */
struct value *values_add(struct values *values, enum value_kind kind, const char *name);
struct value *values_add_count(struct values *values, enum value_kind kind, const char *name,
			       bool known, uint64_t count);
/* NULL if there is none */
const struct value *values_find(const struct values *values, enum value_kind kind,
				const char *name);
/*
 * The index in @values of the value that @other has at @at, or -1. An event that is counted twice is
 * two values: the second is the same as the second.
 */
int values_same(const struct values *values, const struct values *other, unsigned int at);
bool value_is_whole(const struct value *value);
/* ":u", ":k", ":uk" or "" */
const char *value_modifier(const struct value *value);
/* A column of @width, a blank and then the text, however long that is: no two run together. */
void column(FILE *f, int width, const char *text);
/* The same of @number, as value_text() has it */
void value_column(FILE *f, int width, const struct value *value, double number);
/* For people: @number as one of @value's kind, "1,234" or "2.50%"; and what it is */
void value_text(const struct value *value, double number, char *buf, size_t size);
void value_label(const struct value *value, char *buf, size_t size);

/*
 * derive.c: adds what follows from @values: ratios of events that were counted in the same mode.
 * @clock: of the clock is known that it runs whenever the processor's cycles do.
 */
void derive(struct values *values, bool clock);

#endif /* PERFEX_VALUES_H */
