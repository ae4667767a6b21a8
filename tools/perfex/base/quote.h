/* SPDX-License-Identifier: GPL-2.0 */
/* Writes texts and numbers for perfex and perfex-report. */
#ifndef PERFEX_QUOTE_H
#define PERFEX_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns the length of the UTF-8 sequence at @s, or 0 if the bytes are not UTF-8. */
unsigned int utf8_length(const char *s);
/*
 * Returns the length of the character at @s if the character can be written as it is. Returns 0 for
 * bytes that are not UTF-8, and for control characters, which may move a cursor or worse. Names of
 * programs, files, functions and events may contain both, so all functions below call printable().
 */
unsigned int printable(const char *s);
/*
 * Writes @text in one line, with ? for each character that printable() refuses. The text is
 * right-aligned to @width columns, or left-aligned if @width is negative. Returns the number of
 * columns written.
 */
int plain_text(FILE *f, int width, const char *text);
/* Replaces by ? each character of @text that printable() refuses. */
void make_plain(char *text);
/*
 * Writes @text, which may have several lines, with ? for each character that printable() refuses.
 */
void plain_lines(FILE *f, const char *text);
/* Writes @s as a string of JSON. Bytes that are not UTF-8 become the replacement character. */
void json_string(FILE *f, const char *s);
/*
 * Writes at most @most characters of @s as text of XML. Characters that XML forbids become the
 * replacement character.
 */
void xml_text(FILE *f, const char *s, size_t most);
/*
 * Writes @text as a field of CSV (RFC 4180), behind a comma unless the field is the first of its
 * line.
 */
void csv_text(FILE *f, bool first, const char *text);
/* Formats a number with commas, as 1,234,567. Returns the text, which lies in @buf. */
const char *thousands(uint64_t value, char buf[32]);

#endif /* PERFEX_QUOTE_H */
