// SPDX-License-Identifier: GPL-2.0
/* perfex: the completions, the help and the manual page have the options of the table, and no others. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "run.h"

#define COMPLETION	"../../tools/perfex/completion/"

static char text[65536];

/* options.c tells what is wrong by this. */
void explain(const char *format, ...);

static char told[256];

void explain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(told, sizeof(told), format, args);
	va_end(args);
}

static const struct {
	const char *name;
	unsigned int bit;
} commands[] = {
	{ "run", COMMAND_RUN }, { "record", COMMAND_RECORD }, { "compare", COMMAND_COMPARE },
	{ "merge", COMMAND_MERGE }, { "selftest", COMMAND_SELFTEST },
};

static void read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	size_t n;

	ck_assert_msg(f != NULL, "no %s", path);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	ck_assert_uint_lt(n, sizeof(text) - 1);
}

/* The words between "\tNAME" and @end */
static void read_list(const char *name, const char *begin, const char *end, char *list, size_t size)
{
	char first[40];
	const char *at, *last;

	(void)snprintf(first, sizeof(first), "\n\t%s%s", name, begin);
	at = strstr(text, first);
	ck_assert_msg(at != NULL, "no list of %s", name);
	at += strlen(first);
	last = strstr(at, end);
	ck_assert_ptr_nonnull(last);
	ck_assert_uint_lt((size_t)(last - at), size);
	(void)snprintf(list, size, "%.*s", (int)(last - at), at);
}

/* Takes the word out of the list: false if it is not there. */
static bool take_word(char *list, const char *word)
{
	size_t length = strlen(word);
	char *at = list;

	while ((at = strstr(at, word))) {
		if ((at == list || isspace((unsigned char)at[-1])) &&
		    (!at[length] || isspace((unsigned char)at[length]))) {
			memset(at, ' ', length);
			return true;
		}
		at += length;
	}
	return false;
}

static void check_list(unsigned int command, char *list, bool dashes)
{
	unsigned int i;
	char word[40];

	for (i = 0; i < option_count; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(row->commands & commands[command].bit))
			continue;
		(void)snprintf(word, sizeof(word), "%s%s", dashes ? "--" : "", row->name);
		ck_assert_msg(take_word(list, word), "%s: no %s", commands[command].name, word);
		(void)snprintf(word, sizeof(word), "-%c", row->code);
		if (dashes && row->code < OPTION_TOPDOWN)
			ck_assert_msg(take_word(list, word), "%s: no %s", commands[command].name, word);
	}
	ck_assert_msg(!list[strspn(list, " \t\n")], "%s: too many: %s", commands[command].name, list);
}

START_TEST(test_bash)
{
	char list[2048];

	read_file(COMPLETION "perfex.bash");
	read_list(commands[_i].name, "='", "'", list, sizeof(list));
	check_list((unsigned int)_i, list, true);
}
END_TEST

/* The list of zsh, whose other lists are pairs of a name and something */
START_TEST(test_zsh)
{
	char list[2048];

	read_file(COMPLETION "_perfex");
	read_list(commands[_i].name, "=(", ")", list, sizeof(list));
	check_list((unsigned int)_i, list, false);
}
END_TEST

START_TEST(test_zsh_of_each)
{
	char list[2048], pair[80];
	unsigned int i, letters = 0;

	read_file(COMPLETION "_perfex");
	read_list("letter", "=(", ")", list, sizeof(list));
	for (i = 0; i < option_count; i++) {
		const struct option_row *row = &option_rows[i];

		(void)snprintf(pair, sizeof(pair), "%s %c", row->name, row->code);
		if (row->code < OPTION_TOPDOWN) {
			letters++;
			ck_assert_msg(strstr(list, pair), "no letter: %s", pair);
		}
		(void)snprintf(pair, sizeof(pair), "%s ':", row->name);
		ck_assert_msg(!strstr(text, pair) == !row->argument, "an argument or none: %s", pair);
		(void)snprintf(pair, sizeof(pair), "%s '", row->name);
		ck_assert_msg(strstr(strstr(text, "what=("), pair), "not told what it is: %s", row->name);
	}
	ck_assert_uint_eq(letters, 16);
}
END_TEST

/* Options that take a value are those that the completion for bash passes over. */
START_TEST(test_bash_values)
{
	char pattern[48], list[2048];
	const char *at, *end;
	unsigned int i;

	read_file(COMPLETION "perfex.bash");
	at = strstr(text, "-e | --event | ");
	ck_assert_ptr_nonnull(at);
	end = strchr(at, ')');
	(void)snprintf(list, sizeof(list), "%.*s", (int)(end - at), at);
	for (i = 0; i < option_count; i++) {
		(void)snprintf(pattern, sizeof(pattern), "--%s", option_rows[i].name);
		ck_assert_msg(take_word(list, pattern) == (option_rows[i].argument != NULL), "%s", pattern);
		(void)snprintf(pattern, sizeof(pattern), "-%c", option_rows[i].code);
		if (option_rows[i].code < OPTION_TOPDOWN)
			ck_assert_msg(take_word(list, pattern) == (option_rows[i].argument != NULL),
				      "%s", pattern);
	}
	ck_assert_msg(!list[strspn(list, " \t\n|\\")], "too many: %s", list);
}
END_TEST

/* As bash itself has it: the words, of which the last is completed, and one of what there is then */
START_TEST(test_bash_completes)
{
	static const struct {
		const char *words, *want;
		bool there;
	} rows[] = {
		{ "perfex --top", "--topdown", true }, { "perfex -", "--plot", true },
		{ "perfex comp", "compare", true }, { "perfex record -", "--chains", true },
		{ "perfex record -", "--plot", false }, { "perfex --source sh", "shared", true },
		{ "perfex --source = n", "native", true }, { "perfex compare -r 3 --wa", "--warm-up", true },
		{ "perfex merge --c", "--csv", true }, { "perfex -I 5 cat", "cat", true },
		{ "perfex merge Makef", "Makefile", true }, { "perfex -o Makef", "Makefile", true },
		{ "perfex -- cat -", "--plot", false }, { "perfex -r 3 cat Makef", "Makefile", true },
		{ "perfex cat --top", "--topdown", false }, { "perfex -- --top", "--topdown", false },
		{ "perfex report --chi", "--children", true }, { "perfex report -", "--topdown", false },
		{ "perfex report --by sy", "symbol", true }, { "perfex report --by = sy", "symbol", true },
		{ "perfex report -i Makef", "Makefile", true }, { "perfex report Makef", "Makefile", false },
		{ "perfex annotate --ds", "--dso", true }, { "perfex annotate -", "--children", false },
		{ "perfex annotate -s Makef", "Makefile", false },
		{ "perfex selftest --ho", "--hotplug", true }, { "perfex --ho", "--hotplug", false },
		{ "perfex selftest Makef", "Makefile", false },
	};
	char command[512];

	(void)snprintf(command, sizeof(command),
		       "bash -c '. %sperfex.bash; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
		       "_perfex; for w in \"${COMPREPLY[@]}\"; do [[ $w = \"%s\" ]] && exit 0; done; exit 1'",
		       COMPLETION, rows[_i].words, rows[_i].want);
	ck_assert_msg((system(command) == 0) == rows[_i].there, // NOLINT(bugprone-command-processor)
		      "%s: %s", rows[_i].words, rows[_i].want);
}
END_TEST

/* perfex report's table is its own: each row's option is in the completions, the help and the manual. */
START_TEST(test_report)
{
	static const char *const files[] = {
		COMPLETION "perfex.bash", COMPLETION "_perfex", "../../docs/man/perfex-report.1",
		"../../tools/perfex-report/main.c",
	};
	static char table[8192];
	char name[40], word[48], list[1024];
	unsigned int i, found = 0;
	const char *at;

	read_file(files[3]);
	at = strstr(text, "struct option options[] = {");
	ck_assert_ptr_nonnull(at);
	(void)snprintf(table, sizeof(table), "%.*s", (int)(strstr(at, "};") - at), at);
	for (i = 0; i < 4; i++) {
		read_file(files[i]);
		if (!i)
			read_list("report", "='", "'", list, sizeof(list));
		for (at = table; (at = strstr(at, "{ \"")); at++) {
			ck_assert_int_eq(sscanf(at, "{ \"%39[a-z-]\"", name), 1);
			(void)snprintf(word, sizeof(word), "%s%s", i == 2 ? "\\-" : "--", name);
			ck_assert_msg(strstr(text, word), "no %s in %s", word, files[i]);
			if (!i && strcmp(name, "dso") != 0)
				ck_assert_msg(take_word(list, word), "no %s of report", word);
			found++;
		}
	}
	ck_assert_uint_eq(found, 4ul * 14);
}
END_TEST

START_TEST(test_help_and_manual)
{
	char help[16384], word[48];
	FILE *f = fmemopen(help, sizeof(help), "w");
	unsigned int i, k;
	const char *p;

	for (k = 0; k < 5; k++)
		options_help(f, commands[k].bit);
	fclose(f);
	read_file("../../docs/man/perfex.1");
	for (i = 0; i < option_count; i++) {
		(void)snprintf(word, sizeof(word), "--%s", option_rows[i].name);
		ck_assert_msg(strstr(help, word), "no %s in the help", word);
		(void)snprintf(word, sizeof(word), "\\-%s", option_rows[i].name);
		ck_assert_msg(strstr(text, word), "no %s in the manual", word);
	}
	for (p = help; *p; p = strchr(p, '\n') + 1)
		ck_assert_msg(strcspn(p, "\n") <= 80, "a long line: %.100s", p);
}
END_TEST

START_TEST(test_next)
{
	char *good[] = { "x", "-e", "a", "--js", "--source=any", "--", "-z", NULL };

	ck_assert_int_eq(options_next(COMMAND_RUN, 7, good), 'e');
	ck_assert_int_eq(options_next(COMMAND_RUN, 7, good), OPTION_JSON);
	ck_assert_int_eq(options_next(COMMAND_RUN, 7, good), OPTION_SOURCE);
	ck_assert_int_eq(options_next(COMMAND_RUN, 7, good), -1);
	ck_assert_str_eq(option_name('e'), "--event (-e)");
	ck_assert_str_eq(option_name(OPTION_JSON), "--json");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("options");

	tcase_add_loop_test(tcase, test_bash, 0, 5);
	tcase_add_loop_test(tcase, test_zsh, 0, 5);
	tcase_add_test(tcase, test_zsh_of_each);
	tcase_add_test(tcase, test_bash_values);
	tcase_add_loop_test(tcase, test_bash_completes, 0, 28);
	tcase_add_test(tcase, test_report);
	tcase_add_test(tcase, test_help_and_manual);
	tcase_add_test(tcase, test_next);
	return run_tests("options", tcase);
}
