/* SPDX-License-Identifier: GPL-2.0 */
/* Reads JSON (RFC 8259). */
#ifndef PERFEX_JSONREAD_H
#define PERFEX_JSONREAD_H

#include <stddef.h>

enum json_type {
	JSON_NULL,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/**
 * struct json - a value
 * @name: the name of a member of an object, or NULL
 * @text: a string, or a number as it was written
 * @child: the first value in an array or object
 * @next: the next value in the same array or object
 */
struct json {
	enum json_type type;
	char *name, *text;
	struct json *child, *next;
	struct json *parent, *last;	/* used while the tree is read */
	struct json *older;		/* the value that was read before this one */
};

/*
 * Parses a text that is one value. Returns the value, or NULL with a text in @why that says what
 * was found and what was expected.
 */
struct json *json_parse(const char *text, char *why, size_t size);
void json_free(struct json *json);
/* Returns the member of that name, or NULL if there is none or @json is not an object. */
const struct json *json_member(const struct json *json, const char *name);

#endif /* PERFEX_JSONREAD_H */
