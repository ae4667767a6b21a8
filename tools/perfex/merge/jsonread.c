// SPDX-License-Identifier: GPL-2.0
/* Reads JSON without recursion, so that no input makes the stack overflow. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/jsonread.h"

/**
 * struct reader - how far the text has been read
 * @at: the next character
 * @newest: the last value that was read; its @older leads to all others
 * @inside: the array or object that is being read, or NULL
 * @expected: after a failure, what was expected at @at
 */
struct reader {
	const char *at;
	struct json *newest, *inside;
	const char *expected;
};

static void skip_space(struct reader *r)
{
	r->at += strspn(r->at, " \t\r\n");
}

static bool parse_fails(struct reader *r, const char *expected)
{
	r->expected = expected;
	return false;
}

static bool accept(struct reader *r, char c)
{
	skip_space(r);
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

/* Writes \uXXXX as UTF-8. Half of a surrogate pair becomes the replacement character. */
static bool put_code(struct reader *r, FILE *f)
{
	char digits[5] = "";
	unsigned int i;
	unsigned long code;

	for (i = 0; i < 4; i++, r->at++) {
		if (!isxdigit((unsigned char)*r->at))
			return parse_fails(r, "four hexadecimal digits");
		digits[i] = *r->at;
	}
	code = strtoul(digits, NULL, 16);
	if (code >= 0xd800 && code <= 0xdfff)
		code = 0xfffd;
	if (code < 0x80) {
		fputc((int)code, f);
		return true;
	}
	if (code < 0x800) {
		fputc((int)(0xc0 | code >> 6), f);
	} else {
		fputc((int)(0xe0 | code >> 12), f);
		fputc((int)(0x80 | (code >> 6 & 0x3f)), f);
	}
	fputc((int)(0x80 | (code & 0x3f)), f);
	return true;
}

static bool put_escaped(struct reader *r, FILE *f)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found = *r->at ? strchr(from, *r->at) : NULL;

	if (*r->at == 'u') {
		r->at++;
		return put_code(r, f);
	}
	if (!found)
		return parse_fails(r, "a character that may follow a backslash");
	fputc(to[found - from], f);
	r->at++;
	return true;
}

/* Returns a string whose first quotation mark has been read, or NULL on failure. */
static char *take_string(struct reader *r)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	bool good = f != NULL;

	if (!good)
		parse_fails(r, "memory");
	while (good && *r->at != '"') {
		if ((unsigned char)*r->at < 0x20) {
			good = parse_fails(r, "a quotation mark");
		} else if (*r->at == '\\') {
			r->at++;
			good = put_escaped(r, f);
		} else {
			fputc(*r->at++, f);
		}
	}
	if (f && fclose(f))
		good = parse_fails(r, "memory");
	if (good) {
		r->at++;
		return text;
	}
	free(text);
	return NULL;
}

static bool take_digits(struct reader *r)
{
	size_t n = strspn(r->at, "0123456789");

	r->at += n;
	return n || parse_fails(r, "a digit");
}

static bool parse_number(struct reader *r, struct json *json)
{
	const char *begin = r->at;

	if (*r->at == '-')
		r->at++;
	if (*r->at == '0')
		r->at++;
	else if (!take_digits(r))
		return parse_fails(r, "a value");
	if (*r->at == '.') {
		r->at++;
		if (!take_digits(r))
			return false;
	}
	if (*r->at == 'e' || *r->at == 'E') {
		r->at++;
		r->at += *r->at == '+' || *r->at == '-';
		if (!take_digits(r))
			return false;
	}
	json->type = JSON_NUMBER;
	json->text = strndup(begin, (size_t)(r->at - begin));
	return json->text || parse_fails(r, "memory");
}

static bool take_word(struct reader *r, struct json *json)
{
	static const struct {
		const char *word;
		enum json_type type;
	} words[] = { { "null", JSON_NULL }, { "true", JSON_TRUE }, { "false", JSON_FALSE } };
	size_t i, length;

	for (i = 0; i < 3; i++) {
		length = strlen(words[i].word);
		if (strncmp(r->at, words[i].word, length) != 0)
			continue;
		json->type = words[i].type;
		r->at += length;
		return true;
	}
	return parse_number(r, json);
}

/* Adds a value to the array or object that is being read. */
static struct json *new_value(struct reader *r, char *name)
{
	struct json *json = calloc(1, sizeof(*json)), *inside = r->inside;

	if (!json) {
		free(name);
		parse_fails(r, "memory");
		return NULL;
	}
	json->name = name;
	json->parent = inside;
	json->older = r->newest;
	r->newest = json;
	if (inside && inside->last)
		inside->last->next = json;
	else if (inside)
		inside->child = json;
	if (inside)
		inside->last = json;
	return json;
}

/*
 * Reads a value. If the value is an array or object, only its beginning is read, and *opens is
 * true.
 */
static bool take_value(struct reader *r, bool *opens)
{
	struct json *json;
	char *name = NULL;

	*opens = false;
	if (r->inside && r->inside->type == JSON_OBJECT) {
		if (!accept(r, '"'))
			return parse_fails(r, "the name of a member");
		name = take_string(r);
		if (!name)
			return false;
		if (!accept(r, ':')) {
			free(name);
			return parse_fails(r, "a colon");
		}
	}
	json = new_value(r, name);
	if (!json)
		return false;
	if (accept(r, '"')) {
		json->type = JSON_STRING;
		json->text = take_string(r);
		return json->text != NULL;
	}
	if (*r->at != '[' && *r->at != '{')
		return take_word(r, json);
	json->type = *r->at++ == '[' ? JSON_ARRAY : JSON_OBJECT;
	r->inside = json;
	*opens = true;
	return true;
}

static bool closes(struct reader *r)
{
	if (!r->inside || !accept(r, r->inside->type == JSON_ARRAY ? ']' : '}'))
		return false;
	r->inside = r->inside->parent;
	return true;
}

static bool take_all(struct reader *r)
{
	bool opens;

	for (;;) {
		if (!take_value(r, &opens))
			return false;
		/* An empty array or object closes at once. */
		if (opens && !closes(r))
			continue;
		while (closes(r))
			continue;
		if (!r->inside)
			break;
		if (!accept(r, ','))
			return parse_fails(r, r->inside->type == JSON_ARRAY ? "a comma or ]" :
					   "a comma or }");
	}
	skip_space(r);
	return !*r->at || parse_fails(r, "nothing more");
}

struct json *json_parse(const char *text, char *why, size_t size)
{
	struct reader r = { .at = text };
	struct json *json;

	if (!take_all(&r)) {
		(void)snprintf(why, size, "at character %zu there is %s%.*s%s, where %s was expected",
			       (size_t)(r.at - text) + 1, *r.at ? "'" : "the end",
			       (int)strcspn(r.at, "\r\n") < 12 ? (int)strcspn(r.at, "\r\n") : 12, r.at,
			       *r.at ? "'" : "", r.expected);
		json_free(r.newest);
		return NULL;
	}
	for (json = r.newest; json->older; json = json->older)
		continue;
	/* json_free() gets the root, and needs the newest value. */
	json->last = r.newest;
	return json;
}

void json_free(struct json *json)
{
	struct json *older;

	/* The root leads to the newest value, which leads to all others. */
	if (json && !json->older && json->last)
		json = json->last;
	for (; json; json = older) {
		older = json->older;
		free(json->name);
		free(json->text);
		free(json);
	}
}

const struct json *json_member(const struct json *json, const char *name)
{
	if (!json || json->type != JSON_OBJECT)
		return NULL;
	for (json = json->child; json; json = json->next)
		if (!strcmp(json->name, name))
			return json;
	return NULL;
}
