// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rust_parser.h"

void rust_fail(struct rust_parser *p)
{
	p->failed = true;
}

void rust_put_bytes(struct rust_parser *p, const char *s, size_t n)
{
	if (p->skip || p->failed)
		return;
	if (n >= RUST_MAX_NAME - p->used) {
		rust_fail(p);
		return;
	}
	memcpy(p->out + p->used, s, n);
	p->used += n;
}

void rust_put(struct rust_parser *p, const char *s)
{
	rust_put_bytes(p, s, strlen(s));
}

void rust_put_number(struct rust_parser *p, uint64_t n)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, n);
	rust_put(p, text);
}

char rust_peek(const struct rust_parser *p)
{
	if (p->failed || p->at >= p->length)
		return '\0';
	return p->text[p->at];
}

bool rust_take(struct rust_parser *p, char c)
{
	if (rust_peek(p) != c)
		return false;
	p->at++;
	return true;
}

char rust_next(struct rust_parser *p)
{
	char c = rust_peek(p);

	if (c)
		p->at++;
	else
		rust_fail(p);
	return c;
}

uint64_t rust_base_62(struct rust_parser *p)
{
	uint64_t n = 0;
	char c;

	if (rust_take(p, '_'))
		return 0;
	while (!p->failed && (c = rust_next(p)) != '_') {
		unsigned int digit = isdigit((unsigned char)c) ? (unsigned int)(c - '0') :
			islower((unsigned char)c) ? (unsigned int)(c - 'a') + 10 :
			isupper((unsigned char)c) ? (unsigned int)(c - 'A') + 36 : 62;

		if (digit == 62 || n > (UINT64_MAX - digit) / 62 - 1)
			rust_fail(p);
		else
			n = n * 62 + digit;
	}
	return n + 1;
}

uint64_t rust_optional(struct rust_parser *p, char letter)
{
	return rust_take(p, letter) ? rust_base_62(p) + 1 : 0;
}

static size_t decimal(struct rust_parser *p)
{
	size_t n = 0;

	if (!isdigit((unsigned char)rust_peek(p)))
		rust_fail(p);
	if (rust_take(p, '0'))
		return 0;
	while (isdigit((unsigned char)rust_peek(p)) && n <= p->length)
		n = n * 10 + (size_t)(rust_next(p) - '0');
	return n;
}

void rust_put_character(struct rust_parser *p, uint32_t c)
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
	rust_put_bytes(p, text, n);
}

/*
 * Decodes punycode by RFC 3492, with _ for the last hyphen. The ASCII characters come first, then
 * the other characters and their places.
 */
static void put_punycode(struct rust_parser *p, const char *s, size_t n)
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
				rust_fail(p);
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
			rust_fail(p);
			return;
		}
		memmove(&c[at + 1], &c[at], (count - at) * sizeof(c[0]));
		c[at++] = code;
		count++;
	}
	for (i = 0; i < count; i++)
		rust_put_character(p, c[i]);
}

struct rust_identifier rust_identifier(struct rust_parser *p, bool numbered)
{
	struct rust_identifier id = { .number = numbered ? rust_optional(p, 's') : 0 };

	id.punycode = rust_take(p, 'u');
	id.length = decimal(p);
	(void)rust_take(p, '_');
	if (p->failed || id.length > p->length - p->at) {
		rust_fail(p);
		id.length = 0;
		return id;
	}
	id.name = p->text + p->at;
	p->at += id.length;
	return id;
}

void rust_put_identifier(struct rust_parser *p, const struct rust_identifier *id)
{
	if (id->punycode)
		put_punycode(p, id->name, id->length);
	else if (id->length)
		rust_put_bytes(p, id->name, id->length);
}

bool rust_hexadecimal(struct rust_parser *p, uint64_t *value, const char **digits, size_t *length)
{
	*digits = p->text + p->at;
	*value = 0;
	for (*length = 0; !p->failed && !rust_take(p, '_'); ++*length) {
		char c = rust_next(p);

		if (!isdigit((unsigned char)c) && (c < 'a' || c > 'f'))
			rust_fail(p);
		*value = *value << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
	}
	return *length <= 16;
}
