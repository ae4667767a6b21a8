// SPDX-License-Identifier: GPL-2.0
/*
 * Rust's RFC 2603 tells how a symbol of version 0 is made: a prefix _R, and a grammar in which a letter
 * says what follows. Its older symbols are as C++'s, with a hash as the last part, and $LT$ for < and the
 * like. Names are written as rustc does, without what tells crates of one name apart.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rust.h"

/* A symbol refers to parts of itself, so a short one could stand for a name without an end. */
#define MAX_DEPTH	200
#define MAX_NAME	4096

struct parser {
	const char *text;		/* behind the prefix */
	size_t at, length;
	unsigned int depth;
	uint64_t binders;		/* lifetimes that are bound where it is */
	char *out;			/* MAX_NAME bytes */
	size_t used;
	bool skip;			/* nothing is written */
	bool failed;
};

static void path(struct parser *p, bool value);
static void type(struct parser *p);
static void constant(struct parser *p);

static void fail(struct parser *p)
{
	p->failed = true;
}

static void put_bytes(struct parser *p, const char *s, size_t n)
{
	if (p->skip || p->failed)
		return;
	if (n >= MAX_NAME - p->used) {
		fail(p);
		return;
	}
	memcpy(p->out + p->used, s, n);
	p->used += n;
}

static void put(struct parser *p, const char *s)
{
	put_bytes(p, s, strlen(s));
}

static void put_number(struct parser *p, uint64_t n)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, n);
	put(p, text);
}

static char peek(const struct parser *p)
{
	if (p->failed || p->at >= p->length)
		return '\0';
	return p->text[p->at];
}

static bool take(struct parser *p, char c)
{
	if (peek(p) != c)
		return false;
	p->at++;
	return true;
}

static char next(struct parser *p)
{
	char c = peek(p);

	if (c)
		p->at++;
	else
		fail(p);
	return c;
}

/* "_" is 0, "0_" is 1 */
static uint64_t base_62(struct parser *p)
{
	uint64_t n = 0;
	char c;

	if (take(p, '_'))
		return 0;
	while (!p->failed && (c = next(p)) != '_') {
		unsigned int digit = isdigit((unsigned char)c) ? (unsigned int)(c - '0') :
			islower((unsigned char)c) ? (unsigned int)(c - 'a') + 10 :
			isupper((unsigned char)c) ? (unsigned int)(c - 'A') + 36 : 62;

		if (digit == 62 || n > (UINT64_MAX - digit) / 62 - 1)
			fail(p);
		else
			n = n * 62 + digit;
	}
	return n + 1;
}

/* With a letter before it, else it is 0 */
static uint64_t optional(struct parser *p, char letter)
{
	return take(p, letter) ? base_62(p) + 1 : 0;
}

static size_t decimal(struct parser *p)
{
	size_t n = 0;

	if (!isdigit((unsigned char)peek(p)))
		fail(p);
	if (take(p, '0'))
		return 0;
	while (isdigit((unsigned char)peek(p)) && n <= p->length)
		n = n * 10 + (size_t)(next(p) - '0');
	return n;
}

static void put_character(struct parser *p, uint32_t c)
{
	char text[4];
	size_t n = 0;

	if (c < 0x80) {
		text[n++] = (char)c;
	} else if (c < 0x800) {
		text[n++] = (char)(0xc0 | c >> 6);
		text[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		text[n++] = (char)(0xe0 | c >> 12);
		text[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		text[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		text[n++] = (char)(0xf0 | c >> 18);
		text[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		text[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		text[n++] = (char)(0x80 | (c & 0x3f));
	}
	put_bytes(p, text, n);
}

/* RFC 3492, with _ for the last hyphen: ASCII, then where which other characters are inserted */
static void put_punycode(struct parser *p, const char *s, size_t n)
{
	uint32_t c[128], code = 128, at = 0, bias = 72, count = 0, i;
	const char *end = s + n, *last = NULL, *d;

	for (d = s; d < end; d++)
		if (*d == '_')
			last = d;
	for (d = s; last && d < last && count < 128; d++)
		c[count++] = (unsigned char)*d;
	for (d = last ? last + 1 : s; d < end && !p->failed; ) {
		uint32_t before = at, weight = 1, k, t, digit, delta;

		for (k = 36; ; k += 36) {
			digit = d == end ? 36 : islower((unsigned char)*d) ? (uint32_t)(*d - 'a') :
				isdigit((unsigned char)*d) ? (uint32_t)(*d - '0') + 26 : 36;
			if (digit == 36 || at > UINT32_MAX / 64 || weight > UINT32_MAX / 64 / 36) {
				fail(p);
				return;
			}
			d++;
			at += digit * weight;
			t = 1;
			if (k > bias)
				t = k - bias < 26 ? k - bias : 26;
			if (digit < t)
				break;
			weight *= 36 - t;
		}
		delta = before ? (at - before) / 2 : at / 700;
		delta += delta / (count + 1);
		for (k = 0; delta > 455; k += 36)
			delta /= 35;
		bias = k + 36 * delta / (delta + 38);
		code += at / (count + 1);
		at %= count + 1;
		if (count == 128 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
			fail(p);
			return;
		}
		memmove(&c[at + 1], &c[at], (count - at) * sizeof(c[0]));
		c[at++] = code;
		count++;
	}
	for (i = 0; i < count; i++)
		put_character(p, c[i]);
}

struct identifier {
	const char *name;
	size_t length;
	uint64_t number;		/* which of those of that name */
	bool punycode;
};

static struct identifier identifier(struct parser *p, bool numbered)
{
	struct identifier id = { .number = numbered ? optional(p, 's') : 0 };

	id.punycode = take(p, 'u');
	id.length = decimal(p);
	(void)take(p, '_');
	if (p->failed || id.length > p->length - p->at) {
		fail(p);
		id.length = 0;
		return id;
	}
	id.name = p->text + p->at;
	p->at += id.length;
	return id;
}

static void put_identifier(struct parser *p, const struct identifier *id)
{
	if (id->punycode)
		put_punycode(p, id->name, id->length);
	else if (id->length)
		put_bytes(p, id->name, id->length);
}

/* What is at an earlier place */
static void refer(struct parser *p, void (*what)(struct parser *p))
{
	size_t from = p->at - 1, back;
	uint64_t to = base_62(p);

	back = p->at;
	if (p->failed || to >= from) {
		fail(p);
		return;
	}
	/* It was parsed when it was met. */
	if (p->skip)
		return;
	p->at = (size_t)to;
	what(p);
	p->at = back;
}

static bool enter(struct parser *p)
{
	if (++p->depth > MAX_DEPTH)
		fail(p);
	return !p->failed;
}

static void leave(struct parser *p)
{
	p->depth--;
}

static void put_lifetime(struct parser *p, uint64_t index)
{
	uint64_t n;
	char name[3] = "'_";

	if (index > p->binders) {
		fail(p);
		return;
	}
	n = p->binders - index;
	if (index && n > 25) {
		put(p, "'_");
		put_number(p, n);
		return;
	}
	if (index)
		name[1] = (char)('a' + n);
	put(p, name);
}

/* for<'a, 'b>; returns how many */
static uint64_t binder(struct parser *p)
{
	uint64_t n = optional(p, 'G'), i;

	/* More than it has letters is no name. */
	if (n > p->length)
		fail(p);
	if (!n || p->failed)
		return 0;
	put(p, "for<");
	for (i = 0; i < n && !p->failed; i++) {
		p->binders++;
		put(p, i ? ", " : "");
		put_lifetime(p, 1);
	}
	put(p, "> ");
	return n;
}

static void generic_argument(struct parser *p)
{
	if (take(p, 'L'))
		put_lifetime(p, base_62(p));
	else if (take(p, 'K'))
		constant(p);
	else
		type(p);
}

/* Up to an E; returns how many */
static unsigned int list(struct parser *p, void (*what)(struct parser *p))
{
	unsigned int n;

	for (n = 0; !p->failed && !take(p, 'E'); n++) {
		if (n)
			put(p, ", ");
		what(p);
	}
	return n;
}

/* NOLINTBEGIN(misc-no-recursion): paths and types contain each other, and enter() has a limit */

static void nested_path(struct parser *p, bool value)
{
	struct identifier id;
	char space = next(p);

	if (!isalpha((unsigned char)space))
		fail(p);
	path(p, value);
	id = identifier(p, true);
	if (islower((unsigned char)space)) {
		if (id.length)
			put(p, "::");
		put_identifier(p, &id);
		return;
	}
	put(p, "::{");
	if (space == 'C')
		put(p, "closure");
	else if (space == 'S')
		put(p, "shim");
	else
		put_bytes(p, &space, 1);
	if (id.length) {
		put(p, ":");
		put_identifier(p, &id);
	}
	put(p, "#");
	put_number(p, id.number);
	put(p, "}");
}

static void impl_path(struct parser *p)
{
	bool skip = p->skip;

	p->skip = true;
	(void)optional(p, 's');
	path(p, false);
	p->skip = skip;
}

static void type_path(struct parser *p)
{
	path(p, false);
}

static void value_path(struct parser *p)
{
	path(p, true);
}

/* @value: generic arguments have :: before them, as in an expression. */
static void path(struct parser *p, bool value)
{
	struct identifier id;
	char tag;

	if (!enter(p))
		return;
	tag = next(p);
	switch (tag) {
	case 'C':
		id = identifier(p, true);
		put_identifier(p, &id);
		break;
	case 'N':
		nested_path(p, value);
		break;
	case 'M':
	case 'X':
		impl_path(p);
		/* fall through */
	case 'Y':
		put(p, "<");
		type(p);
		if (tag != 'M') {
			put(p, " as ");
			path(p, false);
		}
		put(p, ">");
		break;
	case 'I':
		path(p, value);
		put(p, value ? "::<" : "<");
		(void)list(p, generic_argument);
		put(p, ">");
		break;
	case 'B':
		refer(p, value ? value_path : type_path);
		break;
	default:
		fail(p);
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

static void function_type(struct parser *p)
{
	uint64_t bound = binder(p);
	struct identifier id;
	size_t i;

	if (take(p, 'U'))
		put(p, "unsafe ");
	if (take(p, 'K')) {
		put(p, "extern \"");
		if (take(p, 'C')) {
			put(p, "C");
		} else {
			id = identifier(p, false);
			for (i = 0; i < id.length; i++)
				put_bytes(p, id.name[i] == '_' ? "-" : id.name + i, 1);
		}
		put(p, "\" ");
	}
	put(p, "fn(");
	(void)list(p, type);
	put(p, ")");
	if (!take(p, 'u')) {
		put(p, " -> ");
		type(p);
	}
	p->binders -= bound;
}

/* A path whose < is still open, for what is bound in it */
static bool open_path(struct parser *p)
{
	bool open = false;

	if (!enter(p))
		return false;
	if (take(p, 'B')) {
		size_t from = p->at - 1, back;
		uint64_t to = base_62(p);

		back = p->at;
		if (p->failed || to >= from) {
			fail(p);
		} else if (!p->skip) {
			p->at = (size_t)to;
			open = open_path(p);
			p->at = back;
		} else {
			open = true;
		}
	} else if (take(p, 'I')) {
		path(p, false);
		put(p, "<");
		(void)list(p, generic_argument);
		open = true;
	} else {
		path(p, false);
	}
	leave(p);
	return open;
}

static void dyn_trait(struct parser *p)
{
	bool open = open_path(p);

	while (take(p, 'p')) {
		struct identifier id = identifier(p, false);

		put(p, open ? ", " : "<");
		open = true;
		put_identifier(p, &id);
		put(p, " = ");
		type(p);
	}
	if (open)
		put(p, ">");
}

static void dyn_type(struct parser *p)
{
	uint64_t bound, lifetime;
	unsigned int n;

	put(p, "dyn ");
	bound = binder(p);
	for (n = 0; !p->failed && !take(p, 'E'); n++) {
		if (n)
			put(p, " + ");
		dyn_trait(p);
	}
	p->binders -= bound;
	if (!take(p, 'L'))
		fail(p);
	lifetime = base_62(p);
	if (lifetime) {
		put(p, " + ");
		put_lifetime(p, lifetime);
	}
}

static void reference(struct parser *p, char tag)
{
	put(p, "&");
	if (take(p, 'L')) {
		uint64_t lifetime = base_62(p);

		if (lifetime) {
			put_lifetime(p, lifetime);
			put(p, " ");
		}
	}
	if (tag == 'Q')
		put(p, "mut ");
	type(p);
}

static void compound_type(struct parser *p, char tag)
{
	switch (tag) {
	case 'R':
	case 'Q':
		reference(p, tag);
		break;
	case 'P':
	case 'O':
		put(p, tag == 'P' ? "*const " : "*mut ");
		type(p);
		break;
	case 'A':
	case 'S':
		put(p, "[");
		type(p);
		if (tag == 'A') {
			put(p, "; ");
			constant(p);
		}
		put(p, "]");
		break;
	case 'T':
		put(p, "(");
		/* (T,) is a tuple of one. */
		put(p, list(p, type) == 1 ? ",)" : ")");
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

static void type(struct parser *p)
{
	const char *basic;
	char tag;

	if (!enter(p))
		return;
	tag = next(p);
	basic = basic_type(tag);
	if (basic)
		put(p, basic);
	else if (!p->failed)
		compound_type(p, tag);
	leave(p);
}

/* NOLINTEND(misc-no-recursion) */

/* Hexadecimal digits up to a _; false: more than 64 bits, or none */
static bool hexadecimal(struct parser *p, uint64_t *value, const char **digits, size_t *length)
{
	*digits = p->text + p->at;
	*value = 0;
	for (*length = 0; !p->failed && !take(p, '_'); ++*length) {
		char c = next(p);

		if (!isdigit((unsigned char)c) && (c < 'a' || c > 'f'))
			fail(p);
		*value = *value << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
	}
	return *length <= 16;
}

static void put_char_constant(struct parser *p, uint64_t c)
{
	char text[16];

	put(p, "'");
	if (c == '\'' || c == '\\') {
		put(p, "\\");
		put_character(p, (uint32_t)c);
	} else if (c == '\n') {
		put(p, "\\n");
	} else if (c == '\r') {
		put(p, "\\r");
	} else if (c == '\t') {
		put(p, "\\t");
	} else if (c >= 0x20 && c < 0x7f) {
		put_character(p, (uint32_t)c);
	} else {
		(void)snprintf(text, sizeof(text), "\\u{%" PRIx64 "}", c & 0xffffffff);
		put(p, text);
	}
	put(p, "'");
}

static void constant(struct parser *p)
{
	const char *digits;
	uint64_t value;
	size_t length;
	bool fits;
	char tag;

	if (!enter(p))
		return;
	tag = next(p);
	if (tag == 'B') {
		refer(p, constant);
	} else if (tag == 'p') {
		put(p, "_");
	} else if (tag && strchr("bcahijlmnostxy", tag)) {
		if (take(p, 'n'))
			put(p, "-");
		fits = hexadecimal(p, &value, &digits, &length);
		if (tag == 'b') {
			put(p, value ? "true" : "false");
		} else if (tag == 'c') {
			put_char_constant(p, value);
		} else if (fits) {
			put_number(p, value);
		} else {
			put(p, "0x");
			put_bytes(p, digits, length);
		}
	} else {
		/* Texts and structures, which the RFC does not have */
		fail(p);
	}
	leave(p);
}

static char *demangle_v0(const char *text)
{
	struct parser p = { .text = text, .length = strcspn(text, ".$") };
	char *out = malloc(MAX_NAME);

	p.out = out;
	if (!out || !isupper((unsigned char)*text)) {
		free(out);
		return NULL;
	}
	path(&p, true);
	/* The crate that it was made for */
	if (!p.failed && p.at < p.length && isupper((unsigned char)peek(&p))) {
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

/* @to has at least as much room as @s has bytes. Returns the end. */
static char *unescape(char *to, const char *s, size_t n)
{
	static const struct {
		const char *from, *to;
	} words[] = {
		{ "$SP$", "@" }, { "$BP$", "*" }, { "$RF$", "&" }, { "$LT$", "<" }, { "$GT$", ">" },
		{ "$LP$", "(" }, { "$RP$", ")" }, { "$C$", "," }, { "..", "::" },
	};
	const char *end = s + n;
	size_t i, length;

	/* An identifier may not begin with what stands for < and the like. */
	if (n > 1 && s[0] == '_' && s[1] == '$')
		s++;
	while (s < end) {
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			length = strlen(words[i].from);
			if ((size_t)(end - s) >= length && !strncmp(s, words[i].from, length))
				break;
		}
		if (i < sizeof(words) / sizeof(words[0])) {
			to = stpcpy(to, words[i].to);
			s += length;
		} else if (end - s >= 4 && s[0] == '$' && s[1] == 'u' && isxdigit((unsigned char)s[2])) {
			struct parser p = { .out = to, .length = 1 };
			char *after;
			unsigned long c = strtoul(s + 2, &after, 16);

			if (after >= end || *after != '$' || c > 0x10ffff || c < 0x20)
				return NULL;
			put_character(&p, (uint32_t)c);
			to += p.used;
			s = after + 1;
		} else {
			*to++ = *s++;
		}
	}
	return to;
}

/* _ZN, parts with their lengths, of which the last is h and 16 digits, and E */
static char *demangle_legacy(const char *text)
{
	char *out = malloc(strlen(text) + 1), *to = out;
	const char *part = NULL;
	size_t length = 0;

	while (out && isdigit((unsigned char)*text)) {
		char *name;

		/* The one before was not the last. */
		if (part) {
			if (to > out)
				to = stpcpy(to, "::");
			to = unescape(to, part, length);
			if (!to)
				break;
		}
		length = strtoul(text, &name, 10);
		if (!length || length > strlen(name)) {
			part = NULL;
			break;
		}
		part = name;
		text = name + length;
	}
	if (!out || !to || to == out || !part || *text != 'E' || length != 17 || *part != 'h' ||
	    strspn(part + 1, "0123456789abcdef") < 16 || (text[1] && text[1] != '.')) {
		free(out);
		return NULL;
	}
	*to = '\0';
	return out;
}

char *rust_demangle(const char *symbol)
{
	if (!strncmp(symbol, "_R", 2))
		return demangle_v0(symbol + 2);
	if (!strncmp(symbol, "_ZN", 3))
		return demangle_legacy(symbol + 3);
	return NULL;
}
