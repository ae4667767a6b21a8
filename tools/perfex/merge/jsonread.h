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
 * @name: of a member of an object, else NULL
 * @text: of a string, or of a number as it was written
 * @child: the first of an array or object
 * @next: the next of the same parent
 */
struct json {
	enum json_type type;
	char *name, *text;
	struct json *child, *next;
	struct json *parent, *last;	/* while the tree is read */
	struct json *older;		/* links all values of a tree */
};

/* The text is one value. NULL: @why says what was found, and what was expected. */
struct json *json_parse(const char *text, char *why, size_t size);
void json_free(struct json *json);
/* NULL: there is none, or @json is NULL or no object. */
const struct json *json_member(const struct json *json, const char *name);

#endif /* PERFEX_JSONREAD_H */
