/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the letters of a Rust symbol, and writes the name that is made of them. */
#ifndef PERFEX_REPORT_RUST_PARSER_H
#define PERFEX_REPORT_RUST_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits on the name. A symbol refers to parts of itself, so a short symbol could stand for an
 * endless name.
 */
#define RUST_MAX_DEPTH	200
#define RUST_MAX_NAME	4096

/**
 * struct rust_parser - the state of the parser
 * @text: the symbol behind its prefix
 * @at: the next letter
 * @length: length of @text
 * @depth: how deep the present path, type or constant is nested
 * @binders: number of lifetimes that are bound here
 * @out: the name, RUST_MAX_NAME bytes
 * @used: bytes of @out
 * @skip: write nothing
 * @failed: the text is no symbol of Rust, or its name is too long
 */
struct rust_parser {
	const char *text;
	size_t at, length;
	unsigned int depth;
	uint64_t binders;
	char *out;
	size_t used;
	bool skip;
	bool failed;
};

/**
 * struct rust_identifier - a name in a symbol
 * @number: distinguishes it from others of the same name
 * @punycode: the name is in punycode, since it has characters beyond ASCII
 */
struct rust_identifier {
	const char *name;
	size_t length;
	uint64_t number;
	bool punycode;
};

void rust_fail(struct rust_parser *p);
void rust_put(struct rust_parser *p, const char *s);
void rust_put_bytes(struct rust_parser *p, const char *s, size_t n);
void rust_put_number(struct rust_parser *p, uint64_t n);
/* Writes a character as UTF-8. */
void rust_put_character(struct rust_parser *p, uint32_t c);
void rust_put_identifier(struct rust_parser *p, const struct rust_identifier *id);

/*
 * rust_peek() returns the next letter, or NUL at the end. rust_next() also takes it, and fails at
 * the end.
 */
char rust_peek(const struct rust_parser *p);
char rust_next(struct rust_parser *p);
/* Takes the next letter and returns true if that letter is @c. */
bool rust_take(struct rust_parser *p, char c);
/* Reads a number in base 62: "_" is 0, "0_" is 1. */
uint64_t rust_base_62(struct rust_parser *p);
/*
 * Reads an optional number behind @letter. Returns 0 if @letter is not next, or else the number
 * plus one.
 */
uint64_t rust_optional(struct rust_parser *p, char letter);
/* Reads hexadecimal digits up to a "_". Returns false if the value has more than 64 bits. */
bool rust_hexadecimal(struct rust_parser *p, uint64_t *value, const char **digits, size_t *length);
struct rust_identifier rust_identifier(struct rust_parser *p, bool numbered);

#endif /* PERFEX_REPORT_RUST_PARSER_H */
