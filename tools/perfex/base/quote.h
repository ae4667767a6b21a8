/* SPDX-License-Identifier: GPL-2.0 */
/* Texts and numbers as they stand in what we write; perfex-report has them as well. */
#ifndef PERFEX_QUOTE_H
#define PERFEX_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of the UTF-8 sequence at s, 0 if it is none */
unsigned int utf8_length(const char *s);
/*
 * All texts that are not our own go to a terminal or a file by this: names of programs, files,
 * functions, events. Length of the character at @s if it may be written as it is, 0 if it is a control
 * character, which may move a cursor or worse, or no UTF-8. All below ask it.
 */
unsigned int printable(const char *s);
/*
 * A text in one line, with ? for what may not be written: at the right of so many columns, or at the
 * left of -@width. Returns how many it took.
 */
int plain_text(FILE *f, int width, const char *text);
/* The same, in place */
void make_plain(char *text);
/* What we say to the user, in lines */
void plain_lines(FILE *f, const char *text);
/* A string of JSON. Bytes that are no text become the replacement character: JSON is UTF-8. */
void json_string(FILE *f, const char *s);
/* At most so many characters as a text of XML; those that it cannot have are replaced likewise. */
void xml_text(FILE *f, const char *s, size_t most);
/*
 * A field of CSV as RFC 4180 has it (lines end with a line feed alone); with a comma before it,
 * unless it is the line's first
 */
void csv_text(FILE *f, bool first, const char *text);
/* 1,234,567; buf has room for any number. */
const char *thousands(uint64_t value, char buf[32]);

#endif /* PERFEX_QUOTE_H */
