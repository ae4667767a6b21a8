/* SPDX-License-Identifier: GPL-2.0 */
/* Texts and numbers in all that perfex and perfex-report write. */
#ifndef PERFEX_QUOTE_H
#define PERFEX_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of the UTF-8 sequence at @s; 0: it is not UTF-8 */
unsigned int utf8_length(const char *s);
/*
 * Length of the character at @s if it may be written as it is. 0: it is not UTF-8, or it is a
 * control character, which may move a cursor or worse. Names of programs, files, functions and
 * events come from others, so all functions below ask this one.
 */
unsigned int printable(const char *s);
/*
 * Writes @text in one line, with ? for each character that may not be written, right-aligned to
 * @width columns, or left-aligned to -@width. Returns how many columns it took.
 */
int plain_text(FILE *f, int width, const char *text);
/* The same, in place */
void make_plain(char *text);
/* Several lines that perfex says to the user */
void plain_lines(FILE *f, const char *text);
/* A string of JSON. Bytes that are not UTF-8 become the replacement character. */
void json_string(FILE *f, const char *s);
/* At most @most characters for XML; those that XML cannot have are replaced likewise. */
void xml_text(FILE *f, const char *s, size_t most);
/* A field of CSV (RFC 4180), behind a comma unless it is the first of its line */
void csv_text(FILE *f, bool first, const char *text);
/* 1,234,567; buf has room for any number. */
const char *thousands(uint64_t value, char buf[32]);

#endif /* PERFEX_QUOTE_H */
