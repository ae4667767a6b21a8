// SPDX-License-Identifier: GPL-2.0
/*
 * Demangles symbols of Rust. Older symbols look like those of C++, but have a hash as the last
 * part, and $LT$ for < and so on. rust_v0.c demangles newer symbols.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "rust.h"
#include "rust_parser.h"
#include "rust_v0.h"

/*
 * Writes a part of @n bytes to @to, which has room for @n bytes. Returns the end, or NULL if the
 * part is not valid.
 */
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

	/* rustc puts a _ before a $ at the beginning of a part. */
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
			struct rust_parser p = { .out = to, .length = 1 };
			char *after;
			unsigned long c = strtoul(s + 2, &after, 16);

			if (after >= end || *after != '$' || c > 0x10ffff || c < 0x20)
				return NULL;
			rust_put_character(&p, (uint32_t)c);
			to += p.used;
			s = after + 1;
		} else {
			*to++ = *s++;
		}
	}
	return to;
}

/*
 * Demangles an older symbol: _ZN, then parts with their lengths, then E. The last part is h and 16
 * digits.
 */
static char *demangle_legacy(const char *text)
{
	char *out = malloc(strlen(text) + 1), *to = out;
	const char *part = NULL;
	size_t length = 0;

	while (out && isdigit((unsigned char)*text)) {
		char *name;

		/* The previous part was not the hash, so that part belongs to the name. */
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
		return rust_demangle_v0(symbol + 2);
	if (!strncmp(symbol, "_ZN", 3))
		return demangle_legacy(symbol + 3);
	return NULL;
}
