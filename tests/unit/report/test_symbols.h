/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that are recorded, and what is said of them: for test_symbols.c and its neighbours */
#ifndef TEST_SYMBOLS_H
#define TEST_SYMBOLS_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

extern char dir[];

void write_text(const char *name, const char *text);
void shell(const char *command);

extern struct kit_report *report;

void map_file(const char *name, uint64_t start, uint64_t length, uint64_t offset);
void read_it(bool no_inline);
void end(void);

/* The object that was mapped first */
#define OBJECT	(OBJECT_THREAD + 1)

uint64_t ask_nm(const char *file, const char *function);
char *annotation(const char *function);

/* Called by test_symbols.c */
void test_symbols_files(TCase *tc);
void test_annotate(TCase *tc);

#endif
