// SPDX-License-Identifier: GPL-2.0
/*
 * Demangles symbols of Rust's version 0 by RFC 2603. A symbol has the prefix _R, and then follows a
 * grammar in which a letter says what comes next. Names are written as rustc writes them, without
 * the hashes of crates.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rust_parser.h"
#include "rust_v0.h"

static void path(struct rust_parser *p, bool value);
static void type(struct rust_parser *p);
static void constant(struct rust_parser *p);

/* Parses an earlier part of the symbol once more. */
static void refer(struct rust_parser *p, void (*what)(struct rust_parser *p))
{
	size_t from = p->at - 1, back;
	uint64_t to = rust_base_62(p);

	back = p->at;
	if (p->failed || to >= from) {
		rust_fail(p);
		return;
	}
	/* Nothing is written, so that place need not be parsed again. */
	if (p->skip)
		return;
	p->at = (size_t)to;
	what(p);
	p->at = back;
}

static bool enter(struct rust_parser *p)
{
	if (++p->depth > RUST_MAX_DEPTH)
		rust_fail(p);
	return !p->failed;
}

static void leave(struct rust_parser *p)
{
	p->depth--;
}

static void put_lifetime(struct rust_parser *p, uint64_t index)
{
	uint64_t n;
	char name[3] = "'_";

	if (index > p->binders) {
		rust_fail(p);
		return;
	}
	n = p->binders - index;
	if (index && n > 25) {
		rust_put(p, "'_");
		rust_put_number(p, n);
		return;
	}
	if (index)
		name[1] = (char)('a' + n);
	rust_put(p, name);
}

/* Writes lifetimes as "for<'a, 'b> ". Returns their number. */
static uint64_t binder(struct rust_parser *p)
{
	uint64_t n = rust_optional(p, 'G'), i;

	/* No symbol has more lifetimes than letters. */
	if (n > p->length)
		rust_fail(p);
	if (!n || p->failed)
		return 0;
	rust_put(p, "for<");
	for (i = 0; i < n && !p->failed; i++) {
		p->binders++;
		rust_put(p, i ? ", " : "");
		put_lifetime(p, 1);
	}
	rust_put(p, "> ");
	return n;
}

static void generic_argument(struct rust_parser *p)
{
	if (rust_take(p, 'L'))
		put_lifetime(p, rust_base_62(p));
	else if (rust_take(p, 'K'))
		constant(p);
	else
		type(p);
}

/* Parses items up to an E. Returns their number. */
static unsigned int list(struct rust_parser *p, void (*what)(struct rust_parser *p))
{
	unsigned int n;

	for (n = 0; !p->failed && !rust_take(p, 'E'); n++) {
		if (n)
			rust_put(p, ", ");
		what(p);
	}
	return n;
}

/* NOLINTBEGIN(misc-no-recursion): paths and types contain each other, and enter() has a limit */

static void nested_path(struct rust_parser *p, bool value)
{
	struct rust_identifier id;
	char space = rust_next(p);

	if (!isalpha((unsigned char)space))
		rust_fail(p);
	path(p, value);
	id = rust_identifier(p, true);
	if (islower((unsigned char)space)) {
		if (id.length)
			rust_put(p, "::");
		rust_put_identifier(p, &id);
		return;
	}
	rust_put(p, "::{");
	if (space == 'C')
		rust_put(p, "closure");
	else if (space == 'S')
		rust_put(p, "shim");
	else
		rust_put_bytes(p, &space, 1);
	if (id.length) {
		rust_put(p, ":");
		rust_put_identifier(p, &id);
	}
	rust_put(p, "#");
	rust_put_number(p, id.number);
	rust_put(p, "}");
}

static void impl_path(struct rust_parser *p)
{
	bool skip = p->skip;

	p->skip = true;
	(void)rust_optional(p, 's');
	path(p, false);
	p->skip = skip;
}

static void type_path(struct rust_parser *p)
{
	path(p, false);
}

static void value_path(struct rust_parser *p)
{
	path(p, true);
}

/* Parses a path. With @value, generic arguments have :: in front of them, as in an expression. */
static void path(struct rust_parser *p, bool value)
{
	struct rust_identifier id;
	char tag;

	if (!enter(p))
		return;
	tag = rust_next(p);
	switch (tag) {
	case 'C':
		id = rust_identifier(p, true);
		rust_put_identifier(p, &id);
		break;
	case 'N':
		nested_path(p, value);
		break;
	case 'M':
	case 'X':
		impl_path(p);
		/* fall through */
	case 'Y':
		rust_put(p, "<");
		type(p);
		if (tag != 'M') {
			rust_put(p, " as ");
			path(p, false);
		}
		rust_put(p, ">");
		break;
	case 'I':
		path(p, value);
		rust_put(p, value ? "::<" : "<");
		(void)list(p, generic_argument);
		rust_put(p, ">");
		break;
	case 'B':
		refer(p, value ? value_path : type_path);
		break;
	default:
		rust_fail(p);
	}
	leave(p);
}

static const char *basic_type(char tag)
{
	static const char *const names[26] = {
		"i8", "bool", "char", "f64", "str", "f32", NULL, "u8", "isize", "usize", NULL, "i32",
		"u32", "i128", "u128", "_", NULL, NULL, "i16", "u16", "()", "...", NULL, "i64",
		"u64", "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void function_type(struct rust_parser *p)
{
	uint64_t bound = binder(p);
	struct rust_identifier id;
	size_t i;

	if (rust_take(p, 'U'))
		rust_put(p, "unsafe ");
	if (rust_take(p, 'K')) {
		rust_put(p, "extern \"");
		if (rust_take(p, 'C')) {
			rust_put(p, "C");
		} else {
			id = rust_identifier(p, false);
			for (i = 0; i < id.length; i++)
				rust_put_bytes(p, id.name[i] == '_' ? "-" : id.name + i, 1);
		}
		rust_put(p, "\" ");
	}
	rust_put(p, "fn(");
	(void)list(p, type);
	rust_put(p, ")");
	if (!rust_take(p, 'u')) {
		rust_put(p, " -> ");
		type(p);
	}
	p->binders -= bound;
}

/*
 * Parses a path. Returns true if the < of the path is still open, so that associated types may
 * follow.
 */
static bool open_path(struct rust_parser *p)
{
	bool open = false;

	if (!enter(p))
		return false;
	if (rust_take(p, 'B')) {
		size_t from = p->at - 1, back;
		uint64_t to = rust_base_62(p);

		back = p->at;
		if (p->failed || to >= from) {
			rust_fail(p);
		} else if (!p->skip) {
			p->at = (size_t)to;
			open = open_path(p);
			p->at = back;
		} else {
			open = true;
		}
	} else if (rust_take(p, 'I')) {
		path(p, false);
		rust_put(p, "<");
		(void)list(p, generic_argument);
		open = true;
	} else {
		path(p, false);
	}
	leave(p);
	return open;
}

static void dyn_trait(struct rust_parser *p)
{
	bool open = open_path(p);

	while (rust_take(p, 'p')) {
		struct rust_identifier id = rust_identifier(p, false);

		rust_put(p, open ? ", " : "<");
		open = true;
		rust_put_identifier(p, &id);
		rust_put(p, " = ");
		type(p);
	}
	if (open)
		rust_put(p, ">");
}

static void dyn_type(struct rust_parser *p)
{
	uint64_t bound, lifetime;
	unsigned int n;

	rust_put(p, "dyn ");
	bound = binder(p);
	for (n = 0; !p->failed && !rust_take(p, 'E'); n++) {
		if (n)
			rust_put(p, " + ");
		dyn_trait(p);
	}
	p->binders -= bound;
	if (!rust_take(p, 'L'))
		rust_fail(p);
	lifetime = rust_base_62(p);
	if (lifetime) {
		rust_put(p, " + ");
		put_lifetime(p, lifetime);
	}
}

static void reference(struct rust_parser *p, char tag)
{
	rust_put(p, "&");
	if (rust_take(p, 'L')) {
		uint64_t lifetime = rust_base_62(p);

		if (lifetime) {
			put_lifetime(p, lifetime);
			rust_put(p, " ");
		}
	}
	if (tag == 'Q')
		rust_put(p, "mut ");
	type(p);
}

static void compound_type(struct rust_parser *p, char tag)
{
	switch (tag) {
	case 'R':
	case 'Q':
		reference(p, tag);
		break;
	case 'P':
	case 'O':
		rust_put(p, tag == 'P' ? "*const " : "*mut ");
		type(p);
		break;
	case 'A':
	case 'S':
		rust_put(p, "[");
		type(p);
		if (tag == 'A') {
			rust_put(p, "; ");
			constant(p);
		}
		rust_put(p, "]");
		break;
	case 'T':
		rust_put(p, "(");
		/* A tuple with one member is written "(T,)". */
		rust_put(p, list(p, type) == 1 ? ",)" : ")");
		break;
	case 'F':
		function_type(p);
		break;
	case 'D':
		dyn_type(p);
		break;
	case 'B':
		refer(p, type);
		break;
	default:
		p->at--;
		path(p, false);
	}
}

static void type(struct rust_parser *p)
{
	const char *basic;
	char tag;

	if (!enter(p))
		return;
	tag = rust_next(p);
	basic = basic_type(tag);
	if (basic)
		rust_put(p, basic);
	else if (!p->failed)
		compound_type(p, tag);
	leave(p);
}

/* NOLINTEND(misc-no-recursion) */

static void put_char_constant(struct rust_parser *p, uint64_t c)
{
	char text[16];

	rust_put(p, "'");
	if (c == '\'' || c == '\\') {
		rust_put(p, "\\");
		rust_put_character(p, (uint32_t)c);
	} else if (c == '\n') {
		rust_put(p, "\\n");
	} else if (c == '\r') {
		rust_put(p, "\\r");
	} else if (c == '\t') {
		rust_put(p, "\\t");
	} else if (c >= 0x20 && c < 0x7f) {
		rust_put_character(p, (uint32_t)c);
	} else {
		(void)snprintf(text, sizeof(text), "\\u{%" PRIx64 "}", c & 0xffffffff);
		rust_put(p, text);
	}
	rust_put(p, "'");
}

static void constant(struct rust_parser *p)
{
	const char *digits;
	uint64_t value;
	size_t length;
	bool fits;
	char tag;

	if (!enter(p))
		return;
	tag = rust_next(p);
	if (tag == 'B') {
		refer(p, constant);
	} else if (tag == 'p') {
		rust_put(p, "_");
	} else if (tag && strchr("bcahijlmnostxy", tag)) {
		if (rust_take(p, 'n'))
			rust_put(p, "-");
		fits = rust_hexadecimal(p, &value, &digits, &length);
		if (tag == 'b') {
			rust_put(p, value ? "true" : "false");
		} else if (tag == 'c') {
			put_char_constant(p, value);
		} else if (fits) {
			rust_put_number(p, value);
		} else {
			rust_put(p, "0x");
			rust_put_bytes(p, digits, length);
		}
	} else {
		/* The RFC defines no strings and structures. */
		rust_fail(p);
	}
	leave(p);
}

char *rust_demangle_v0(const char *text)
{
	struct rust_parser p = { .text = text, .length = strcspn(text, ".$") };
	char *out = malloc(RUST_MAX_NAME);

	p.out = out;
	if (!out || !isupper((unsigned char)*text)) {
		free(out);
		return NULL;
	}
	path(&p, true);
	/* Skip the crate that instantiated the function. */
	if (!p.failed && p.at < p.length && isupper((unsigned char)rust_peek(&p))) {
		p.skip = true;
		path(&p, false);
	}
	if (p.failed || p.at != p.length) {
		free(out);
		return NULL;
	}
	out[p.used] = '\0';
	return out;
}
