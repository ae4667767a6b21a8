// SPDX-License-Identifier: GPL-2.0
/* What is printed, byte by byte where that is short */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "kit.h"
#include "tests.h"

static struct recfile_about three = {
	.counter = {
		{ "cycles", PERFCTR_CTR_USER, 0, 1000 },
		{ "instructions", PERFCTR_CTR_USER, 0, 0 },
	},
	.nrctrs = 2,
	.ring_flags = PERFCTR_RING_USER_CHAIN | PERFCTR_RING_MAPS,
	.clock_hz = 1000,
};

static struct kit_report *report;

static void read_it(void)
{
	static const struct symbols_how how;

	report = kit_report(4, &how);
}

/* A recursion: p+1 calls p+2, which calls p+1 */
static void record_it(const char *path)
{
	static const uint64_t callers[] = { 0x12001, 0x11001, 0 };

	kit_begin(&three);
	kit_map(7, 0x10000, 0x10000, 0, 1, path);
	kit_comm(7, 7, "prog", false);
	kit_sample(7, 7, 1000, 700, 0x11000, callers);
	kit_sample(7, 7, 4000, 3700, 0x12000, callers + 1);
	kit_lost(4);
	kit_plain(PERFCTR_RECORD_THROTTLED, 7, 7);
	read_it();
}

/* The lines without those that begin with # */
static char *rows_of(const char *text)
{
	char *rows = calloc(1, strlen(text) + 1);
	const char *end;

	ck_assert_ptr_nonnull(rows);
	for (; *text; text = end + 1) {
		end = strchr(text, '\n');
		if (*text != '#')
			strncat(rows, text, (size_t)(end + 1 - text));
	}
	return rows;
}

/* The table's lines without those that begin with # */
static void check_rows(const struct table_how *how, const char *expected)
{
	char *text = kit_table(report, how, false), *rows = rows_of(text);

	ck_assert_str_eq(rows, expected);
	free(rows);
	free(text);
}

START_TEST(table)
{
	struct table_how how = { .by = BY_OBJECT | BY_FUNCTION };
	char *text, *rows;

	record_it("/bin/p");
	text = kit_table(report, &how, false);
	ck_assert_ptr_nonnull(strstr(text, "\n# 4 records were LOST"));
	ck_assert_ptr_nonnull(strstr(text, "\n# 1 time a thread was THROTTLED"));
	ck_assert_ptr_nonnull(strstr(text, "\n# 2 samples of 1 thread, in 0.001 s\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n# counted: cycles:u, instructions:u, and the clock; a "
				     "sample was taken each 1,000 cycles\n"));
	rows = rows_of(text);
	ck_assert_str_eq(rows,
			 "   share          cycles    instructions    IPC         seconds   samples "
			 " function                                 object\n"
			 " 100.00%           4,000           3,700   0.93        0.400000         2 "
			 " in all\n"
			 "  75.00%           3,000           3,000   1.00        0.300000         1 "
			 " p+2                                      /bin/p\n"
			 "  25.00%           1,000             700   0.70        0.100000         1 "
			 " p+1                                      /bin/p\n");
	free(rows);
	free(text);
	how.limit = 1;
	text = kit_table(report, &how, false);
	ck_assert_ptr_null(strstr(text, "p+1"));
	ck_assert_ptr_nonnull(strstr(text, "# and 1 more, which --limit left out\n"));
	free(text);
	kit_free(report);
}
END_TEST

/* Of a recursion each sample is counted once. */
START_TEST(children)
{
	struct table_how how = { .by = BY_COMM | BY_FUNCTION, .children = true, .column = 1 };

	record_it("/bin/p");
	check_rows(&how,
		   "children     self          cycles    instructions    IPC         seconds   "
		   "samples  process          function\n"
		   " 100.00%                    4,000           3,700   0.93        0.400000   "
		   "      2  in all\n"
		   " 100.00%   18.92%           1,000             700   0.70        0.100000   "
		   "      1  prog             p+1\n"
		   " 100.00%   81.08%           3,000           3,000   1.00        0.300000   "
		   "      1  prog             p+2\n");
	kit_free(report);
}
END_TEST

/* Rows of equal counts are ordered by what they are called, from whichever samples they came. */
START_TEST(equal_rows)
{
	struct table_how how = { .by = BY_COMM | BY_OBJECT | BY_FUNCTION };

	kit_begin(&three);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/z/p");
	kit_map(7, 0x20000, 0x10000, 0, 2, "/a/p");
	kit_comm(7, 7, "late", false);
	kit_sample(7, 7, 1000, 700, 0x12000, NULL);
	kit_sample(7, 7, 2000, 1400, 0x11000, NULL);
	kit_sample(7, 7, 3000, 2100, 0x21000, NULL);
	kit_comm(7, 7, "early", false);
	kit_sample(7, 7, 4000, 2800, 0x21000, NULL);
	read_it();
	check_rows(&how,
		   "   share          cycles    instructions    IPC         seconds   samples  "
		   "process          function                                 object\n"
		   " 100.00%           4,000           2,800   0.70        0.400000         4  "
		   "in all\n"
		   "  25.00%           1,000             700   0.70        0.100000         1  "
		   "early            p+1                                      /a/p\n"
		   "  25.00%           1,000             700   0.70        0.100000         1  "
		   "late             p+1                                      /a/p\n"
		   "  25.00%           1,000             700   0.70        0.100000         1  "
		   "late             p+1                                      /z/p\n"
		   "  25.00%           1,000             700   0.70        0.100000         1  "
		   "late             p+2                                      /z/p\n");
	kit_free(report);
}
END_TEST

/* A function that only called others has no line, unless children are asked for. */
START_TEST(only_callers)
{
	static const uint64_t callers[] = { 0x15001, 0 };
	struct table_how how = { .by = BY_FUNCTION };
	char *text;

	kit_begin(&three);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/p");
	kit_sample(7, 7, 1000, 700, 0x11000, callers);
	read_it();
	text = kit_table(report, &how, false);
	ck_assert_ptr_nonnull(strstr(text, "p+1"));
	ck_assert_ptr_null(strstr(text, "p+5"));
	free(text);
	how.children = true;
	text = kit_table(report, &how, false);
	ck_assert_ptr_nonnull(strstr(text, "p+5"));
	free(text);
	kit_free(report);
}
END_TEST

START_TEST(json)
{
	struct table_how how = { .by = BY_COMM | BY_OBJECT | BY_FUNCTION, .children = true };
	char *text;

	record_it("/bin/p\"\n");
	text = kit_table(report, &how, true);
	ck_assert_ptr_nonnull(strstr(text, "\"samples\": 2, "));
	ck_assert_ptr_nonnull(strstr(text, "\"lost\": 4, \"throttled\": 1, "));
	ck_assert_ptr_nonnull(strstr(text, "\n{\"process\": \"prog\", \"function\": \"p\\\"\\u000a+2\", "
		"\"object\": \"/bin/p\\\"\\u000a\", \"self\": {\"cycles\": 3000, \"instructions\": 3000, "
		"\"clock\": 300, \"samples\": 1}, \"children\": {\"cycles\": 4000, "
		"\"instructions\": 3700, \"clock\": 400, \"samples\": 2}}\n"));
	free(text);
	kit_free(report);
}
END_TEST

/* The record of the recording in JSON, and the lines of the table that warn: each number is another. */
START_TEST(what_is_missing)
{
	struct table_how how = { .by = BY_OBJECT };
	struct profile *profile;
	char *text;

	record_it("/bin/p");
	profile = &report->profile;
	profile->timers = 1;
	profile->throttled = 12;
	profile->unmapped = 13;
	profile->map_unknown = 14;
	profile->entered = 15;
	profile->backwards = 16;
	profile->unknown = 17;
	profile->lost = 3;
	how.limit = 1;
	text = kit_table(report, &how, true);
	ck_assert_ptr_nonnull(strstr(text, ", \"clock_hz\": 1000, \"timer_ns\": 0, \"samples\": 2, "
		"\"samples_by_timer\": 1, \"threads\": 1, \"lost\": 4, \"throttled\": 12, \"unmapped\": 13, "
		"\"map_unknown\": 14, \"entered\": 15, \"backwards\": 16, \"unknown_records\": 17, "
		"\"total\": {\"cycles\": 4000, \"instructions\": 3700, \"clock\": 400, \"samples\": 2}, "));
	free(text);
	/* The larger of what LOST records and what the end tell */
	text = kit_table(report, &how, false);
	ck_assert_ptr_nonnull(strstr(text, "\n# 4 records were LOST"));
	ck_assert_ptr_nonnull(strstr(text, "\n# 12 times threads were THROTTLED"));
	ck_assert_ptr_nonnull(strstr(text, "\n# 13 samples were where nothing is known to be mapped"));
	ck_assert_ptr_nonnull(strstr(text, "\n# 14 samples were taken while their processes mapped"));
	ck_assert_ptr_nonnull(strstr(text, "\n# 15 samples were in the kernel"));
	ck_assert_ptr_nonnull(strstr(text, "\n# 16 sums were less than their threads' last"));
	ck_assert_ptr_nonnull(strstr(text, "\n# 17 records are of types that this perfex does not know"));
	free(text);
	profile->lost = 5;
	text = kit_table(report, &how, true);
	ck_assert_ptr_nonnull(strstr(text, "\"lost\": 5, "));
	free(text);
	text = kit_table(report, &how, false);
	ck_assert_ptr_nonnull(strstr(text, "\n# 5 records were LOST"));
	free(text);
	kit_free(report);
}
END_TEST

/* --limit is of JSON's lines as well: the first is of the recording. */
START_TEST(limit_of_json)
{
	struct table_how how = { .by = BY_FUNCTION, .limit = 1 };
	char *text, *end;

	record_it("/bin/p");
	text = kit_table(report, &how, true);
	end = strstr(text, "\n{\"function\": \"p+2\"");
	ck_assert_ptr_nonnull(end);
	ck_assert_ptr_null(strstr(text, "p+1"));
	free(text);
	kit_free(report);
}
END_TEST

START_TEST(misses_per_instructions)
{
	struct recfile_about misses = three;
	struct table_how how = { .by = BY_OBJECT };
	char *text;

	snprintf(misses.counter[0].name, sizeof(misses.counter[0].name), "LLC-load-misses");
	kit_begin(&misses);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/p");
	kit_sample(7, 7, 30, 4000, 0x11000, NULL);
	kit_sample(7, 7, 40, 4000, 0x41000, NULL);
	read_it();
	text = kit_table(report, &how, false);
	/* Without cycles there is no IPC; without instructions there is no rate. */
	ck_assert_ptr_null(strstr(text, "IPC"));
	ck_assert_ptr_nonnull(strstr(text, " LLC-load-misses     MPKI    instructions"));
	ck_assert_ptr_nonnull(strstr(text, "30    7.500           4,000"));
	ck_assert_ptr_nonnull(strstr(text, "10        -               0"));
	free(text);
	kit_free(report);
}
END_TEST

/* A name of a file is anything. */
START_TEST(names_cannot_break_lines)
{
	struct table_how how = { .by = BY_OBJECT | BY_FUNCTION };
	char *text;

	record_it("/bin/a;b\nc\033[2J");
	text = kit_folded(report, 0);
	ck_assert_str_eq(text, "prog;a:b?c?[2J+1;a:b?c?[2J+2 3000\n"
			 "prog;a:b?c?[2J+1;a:b?c?[2J+2;a:b?c?[2J+1 1000\n");
	free(text);
	text = kit_table(report, &how, false);
	ck_assert_ptr_null(strchr(text, '\033'));
	free(text);
	kit_free(report);
}
END_TEST

#define EVIL	"\033[2J\xc2\x9b" "1m\x9b\r\a"

/* In each text that a recording has, and in each form of output */
START_TEST(no_text_moves_a_cursor)
{
	char *argv[] = { (char[]){ EVIL }, NULL };
	struct table_how how = { .by = BY_COMM | BY_OBJECT | BY_FUNCTION };
	struct symbols_how symbols = { .symfs = NULL };
	struct recfile_about evil = three;
	const char *text, *error = "";
	char *changed, *forms[5];
	size_t size, i;

	evil.argv = argv;
	snprintf(evil.counter[0].name, sizeof(evil.counter[0].name), "miss" EVIL);
	kit_begin(&evil);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/bin/" EVIL);
	kit_comm(7, 7, EVIL, false);
	kit_sample(7, 7, 1000, 700, 0x11000, NULL);
	text = kit_end(0, &size);
	changed = malloc(size);
	ck_assert_ptr_nonnull(changed);
	memcpy(changed, text, size);
	memcpy(changed + offsetof(struct recfile_header, host), EVIL, sizeof(EVIL));
	memcpy(changed + offsetof(struct recfile_header, release), EVIL, sizeof(EVIL));
	report = kit_read(changed, size, &error);
	ck_assert_ptr_nonnull(report);
	kit_symbolize(report, &symbols);
	forms[0] = kit_table(report, &how, false);
	forms[1] = kit_table(report, &how, true);
	forms[2] = kit_folded(report, 0);
	forms[3] = kit_svg(report, 0);
	how.children = true;
	forms[4] = kit_table(report, &how, false);
	for (i = 0; i < 5; i++) {
		ck_assert_msg(kit_is_plain(forms[i]), "form %zu: %s", i, forms[i]);
		ck_assert_ptr_nonnull(strstr(forms[i], "[2J"));
		free(forms[i]);
	}
	free(changed);
	kit_free(report);
}
END_TEST

/* python3 has an XML parser; it prints what the boxes are called. */
static void check_svg(const char *svg, const char *expected)
{
	static const char program[] =
		"python3 -c 'import sys, xml.etree.ElementTree as E\n"
		"for g in E.parse(sys.argv[1]).iter(\"{http://www.w3.org/2000/svg}g\"):\n"
		"  if g.get(\"data-n\"): print(ascii(g.get(\"data-n\")))' ";
	char name[] = "/tmp/report_svg.XXXXXX", command[512], said[4096];
	int fd = mkstemp(name);
	size_t n;
	FILE *f;

	ck_assert_int_ge(fd, 0);
	f = fdopen(fd, "w");
	ck_assert_ptr_nonnull(f);
	fputs(svg, f);
	fclose(f);
	snprintf(command, sizeof(command), "%s%s", program, name);
	f = popen(command, "re"); // NOLINT(bugprone-command-processor)
	ck_assert_ptr_nonnull(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	ck_assert_int_eq(pclose(f), 0);
	ck_assert_str_eq(said, expected);
	remove(name);
}

START_TEST(svg_is_xml)
{
	char *svg;

	record_it("/bin/p");
	svg = kit_svg(report, 0);
	check_svg(svg, "'all'\n'prog'\n'p+1'\n'p+2'\n'p+1'\n");
	/* Three quarters and one quarter of 1180 pixels, the same row for what has one caller */
	ck_assert_ptr_nonnull(strstr(svg, "width=\"295.00\""));
	ck_assert_ptr_nonnull(strstr(svg, "75.00% in itself"));
	/* It needs nothing else. */
	ck_assert_ptr_null(strstr(svg, "href"));
	ck_assert_ptr_null(strstr(svg, "url("));
	free(svg);
	kit_free(report);
}
END_TEST

START_TEST(svg_escapes_names)
{
	char *svg;

	record_it("/bin/<a&\"b\">]]>\x01\xff\xc3\xa4\xef\xbf\xbf");
	svg = kit_svg(report, 0);
	check_svg(svg, "'all'\n'prog'\n"
		  "'<a&\"b\">]]>\\ufffd\\ufffd\\xe4\\ufffd\\ufffd\\ufffd+1'\n"
		  "'<a&\"b\">]]>\\ufffd\\ufffd\\xe4\\ufffd\\ufffd\\ufffd+2'\n"
		  "'<a&\"b\">]]>\\ufffd\\ufffd\\xe4\\ufffd\\ufffd\\ufffd+1'\n");
	free(svg);
	kit_free(report);
}
END_TEST

/* Nothing was recorded. */
START_TEST(no_samples)
{
	struct table_how how = { .by = BY_FUNCTION, .children = true };
	char *text;

	kit_begin(&kit_about);
	read_it();
	text = kit_table(report, &how, false);
	ck_assert_ptr_nonnull(strstr(text, "\n# 0 samples of 0 threads\n"));
	free(text);
	text = kit_folded(report, 0);
	ck_assert_str_eq(text, "");
	free(text);
	text = kit_svg(report, 0);
	check_svg(text, "'all'\n");
	free(text);
	kit_free(report);
}
END_TEST

void add_output_tests(TCase *tc)
{
	tcase_add_test(tc, table);
	tcase_add_test(tc, children);
	tcase_add_test(tc, equal_rows);
	tcase_add_test(tc, only_callers);
	tcase_add_test(tc, json);
	tcase_add_test(tc, what_is_missing);
	tcase_add_test(tc, limit_of_json);
	tcase_add_test(tc, misses_per_instructions);
	tcase_add_test(tc, names_cannot_break_lines);
	tcase_add_test(tc, no_text_moves_a_cursor);
	tcase_add_test(tc, svg_is_xml);
	tcase_add_test(tc, svg_escapes_names);
	tcase_add_test(tc, no_samples);
}
