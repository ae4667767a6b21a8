// SPDX-License-Identifier: GPL-2.0
/* Writes texts and numbers so that they cannot harm a terminal or a format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"

unsigned int utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned int i, n;

	if (u[0] >= 0xc2 && u[0] <= 0xdf)
		n = 2;
	else if (u[0] >= 0xe0 && u[0] <= 0xef)
		n = 3;
	else if (u[0] >= 0xf0 && u[0] <= 0xf4)
		n = 4;
	else
		return 0;
	for (i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	/* Reject overlong forms, surrogates, and code points beyond the last one. */
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return n;
}

unsigned int printable(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	if (u[0] < 0x80)
		return u[0] >= 0x20 && u[0] != 0x7f;
	/* Reject C1 controls: some of them begin an escape sequence. */
	if (u[0] == 0xc2 && u[1] < 0xa0)
		return 0;
	return utf8_length(s);
}

static int columns(const char *text)
{
	int n = 0;

	for (; *text; n++)
		text += printable(text) ?: 1;
	return n;
}

int plain_text(FILE *f, int width, const char *text)
{
	int n = columns(text), blanks = (width < 0 ? -width : width) - n;
	unsigned int length;

	if (width > 0 && blanks > 0)
		fprintf(f, "%*s", blanks, "");
	while (*text) {
		length = printable(text);
		fwrite(length ? text : "?", 1, length ?: 1, f);
		text += length ?: 1;
	}
	if (width < 0 && blanks > 0)
		fprintf(f, "%*s", blanks, "");
	return blanks > 0 ? n + blanks : n;
}

void make_plain(char *text)
{
	unsigned int n;

	for (; *text; text += n ?: 1) {
		n = printable(text);
		if (!n)
			*text = '?';
	}
}

void plain_lines(FILE *f, const char *text)
{
	char *copy = strdup(text), *line = copy, *end;

	for (; copy && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		(void)plain_text(f, 0, line);
		fputc('\n', f);
	}
	if (copy)
		(void)plain_text(f, 0, line);
	free(copy);
}

void json_string(FILE *f, const char *s)
{
	unsigned int n;

	fputc('"', f);
	while (*s) {
		n = printable(s);
		if (*s == '"' || *s == '\\') {
			fprintf(f, "\\%c", *s++);
		} else if (n) {
			fwrite(s, 1, n, f);
			s += n;
		} else if ((unsigned char)*s < 0x80) {
			fprintf(f, "\\u%04x", (unsigned int)(unsigned char)*s++);
		} else if (utf8_length(s)) {
			fprintf(f, "\\u%04x", (unsigned int)(unsigned char)s[1]);
			s += 2;
		} else {
			fputs("\\ufffd", f);
			s++;
		}
	}
	fputc('"', f);
}

void xml_text(FILE *f, const char *s, size_t most)
{
	static const struct {
		char c;
		const char *entity;
	} entities[] = {
		{ '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" },
	};
	size_t i, n;

	for (; *s && most; most--) {
		for (i = 0; i < 4 && entities[i].c != *s; i++)
			;
		n = printable(s);
		/* XML forbids U+FFFE and U+FFFF, which are valid UTF-8. */
		if (n == 3 && !memcmp(s, "\xef\xbf", 2) && (unsigned char)s[2] >= 0xbe)
			n = 0;
		if (i < 4)
			fputs(entities[i].entity, f);
		else if (n)
			fwrite(s, 1, n, f);
		else
			fputs("\xef\xbf\xbd", f);
		s += n ? n : 1;
	}
}

void csv_text(FILE *f, bool first, const char *text)
{
	unsigned int length;

	if (!first)
		fputc(',', f);
	if (!strpbrk(text, ",\"")) {
		(void)plain_text(f, 0, text);
		return;
	}
	fputc('"', f);
	for (; *text; text += length ?: 1) {
		length = printable(text);
		if (*text == '"')
			fputc('"', f);
		fwrite(length ? text : "?", 1, length ?: 1, f);
	}
	fputc('"', f);
}

const char *thousands(uint64_t value, char buf[32])
{
	char *p = buf + 31;
	int digits = 0;

	*p = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + value % 10);
		value /= 10;
		digits++;
	} while (value);
	return p;
}
