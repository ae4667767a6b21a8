// SPDX-License-Identifier: GPL-2.0
/* Names of functions as users write them, and perfex annotate. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../../tools/perfex-report/demangle.h"
#include "../../../tools/perfex-report/names.h"
#include "kit.h"
#include "test_symbols.h"

/* As binutils' c++filt has them, without the hashes of crates and the types of constants */
static const struct {
	const char *symbol, *name;	/* NULL: it is no such name */
} rust_names[] = {
	{ "_RNvCs7zTRa5LCx3G_5names4main", "names::main" },
	{ "_RINvCs7zTRa5LCx3G_5names5takesNCNvB2_4main0EB2_", "names::takes::<names::main::{closure#0}>" },
	{ "_RINvNtCs7zTRa5LCx3G_5names6inside7genericyEB4_", "names::inside::generic::<u64>" },
	{ "_RNvXCs7zTRa5LCx3G_5namesNtB2_4LeftNtB2_4Work4work", "<names::Left as names::Work>::work" },
	{ "_RNSNvYNCINvNtCsfEWvFaO6p87_3std2rt10lang_startuE0INtNtNtCs4l5shrRSuHC_4core3ops8function6FnOnc"
	  "euE9call_once6vtableCs7zTRa5LCx3G_5names", "<std::rt::lang_start<()>::{closure#0} as "
	  "core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}" },
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}" },
	{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
	  "utf8_idents::\xe1\x83\xa1\xe1\x83\x90\xe1\x83\xad\xe1\x83\x9b\xe1\x83\x94\xe1\x83\x9a\xe1"
	  "\x83\x90\xe1\x83\x93_\xe1\x83\x92\xe1\x83\x94\xe1\x83\x9b\xe1\x83\xa0\xe1\x83\x98\xe1\x83"
	  "\x94\xe1\x83\x9a\xe1\x83\x98_\xe1\x83\xa1\xe1\x83\x90\xe1\x83\x93\xe1\x83\x98\xe1\x83\x9a"
	  "\xe1\x83\x98" },
	{ "_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanb_E", "<const_generic::Signed<-11>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKca_E", "<const_generic::Char<'\\n'>>" },
	{ "_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb1_E", "<const_generic::Bool<true>>" },
	{ "_RINvC1a1bFUKCRhEuE", "a::b::<unsafe extern \"C\" fn(&u8)>" },
	{ "_RINvC1a1bTRL_ahEE", "a::b::<(&i8, u8)>" },
	{ "_RINvC1a1bTaEE.llvm.7", "a::b::<(i8,)>" },
	{ "_RNvB_1a", NULL }, { "_RNvC1a", NULL }, { "_RB_", NULL }, { "_RINvC1a1bAhj8_Sh", NULL },
	{ "_ZN3foo3bar17h05af221e174051e9E", "foo::bar" },
	{ "_ZN3foo17h05af221e174051e9E.llvm.123", "foo" },
	{ "_ZN68_$LT$core..iter..FromFn$LT$F$GT$$u20$as$u20$core..iter..Iterator$GT$4next17haf2b5f79e5dc41e1E",
	  "<core::iter::FromFn<F> as core::iter::Iterator>::next" },
	{ "_ZN3foo17h05af221e174051e9E@plt", "foo@plt" },
	{ "_ZN3foo28_$u7b$$u7b$closure$u7d$$u7d$17h05af221e174051e9E", "foo::{{closure}}" },
	{ "main", NULL },
};

START_TEST(names_of_rust)
{
	size_t i, n;

	for (i = 0; i < sizeof(rust_names) / sizeof(rust_names[0]); i++) {
		char *name = demangle(rust_names[i].symbol), *broken;

		ck_assert_pstr_eq(name, rust_names[i].name);
		free(name);
		/* Sanitizers see what is read behind the end. */
		for (n = 0; n < strlen(rust_names[i].symbol); n++) {
			broken = strndup(rust_names[i].symbol, n);
			free(demangle(broken));
			free(broken);
			broken = strdup(rust_names[i].symbol);
			broken[n] = broken[n] == 'B' ? '9' : 'B';
			free(demangle(broken));
			free(broken);
		}
	}
}
END_TEST

START_TEST(names_that_users_write)
{
	static const struct {
		const char *name, *asked;
		enum name_match match;
	} rows[] = {
		{ "work", "work", NAME_WHOLE },
		{ "work", "wor", NAME_OTHER },
		{ "rework", "work", NAME_OTHER },
		{ "work.part.0", "work", NAME_WITHOUT_PARAMETERS },
		{ "f(int)", "f", NAME_WITHOUT_PARAMETERS },
		{ "a::f(int)", "a::f", NAME_WITHOUT_PARAMETERS },
		{ "a::f(int)", "f", NAME_LAST_PART },
		{ "a::b::f(int)", "b::f", NAME_LAST_PART },
		{ "a::b::f(int)", "a::f", NAME_OTHER },
		{ "a::f(int)", "a", NAME_OTHER },
		{ "f(a::g)", "g", NAME_OTHER },
		{ "int o::v1::work<unsigned int, 42>(unsigned int, char const*) [clone .cold]", "o::v1::work",
		  NAME_WITHOUT_PARAMETERS },
		{ "int o::v1::work<unsigned int, 42>(unsigned int, char const*) [clone .cold]",
		  "o::v1::work<unsigned int, 42>", NAME_WITHOUT_PARAMETERS },
		{ "int o::v1::work<unsigned int, 42>(unsigned int, char const*)", "work", NAME_LAST_PART },
		{ "std::vector<a::b<int>, x>::push_back(int const&) const", "std::vector::push_back",
		  NAME_WITHOUT_PARAMETERS },
		{ "std::vector<a::b<int>, x>::push_back(int const&) const", "push_back", NAME_LAST_PART },
		{ "(anonymous namespace)::H::operator()(unsigned int) const", "operator()", NAME_LAST_PART },
		{ "(anonymous namespace)::H::H(unsigned int)", "H::H", NAME_LAST_PART },
		{ "main::{lambda(unsigned int)#1}::operator()(unsigned int) const", "operator()",
		  NAME_LAST_PART },
		{ "a::operator<(a::b const&, a::b const&)", "a::operator<", NAME_WITHOUT_PARAMETERS },
		{ "a::operator new(unsigned long)", "operator new", NAME_LAST_PART },
		{ "a::operator->(int)", "operator->", NAME_LAST_PART },
		{ "a::b<decltype ((x)->y)>::f(int)", "a::b::f", NAME_WITHOUT_PARAMETERS },
		{ "bool a::operator< <int>(int)", "a::operator<", NAME_WITHOUT_PARAMETERS },
		{ "<names::Left as names::Work>::work", "work", NAME_LAST_PART },
		{ "<names::Left as names::Work>::work", "<names::Left as names::Work>::work", NAME_WHOLE },
		{ "names::inside::generic::<u64>", "inside::generic", NAME_LAST_PART },
		{ "names::inside::generic::<u64>", "names::inside::generic", NAME_WITHOUT_PARAMETERS },
		{ "f(", "f", NAME_WITHOUT_PARAMETERS }, { "<", "", NAME_OTHER }, { "", "", NAME_WHOLE },
		{ "a<(", "a", NAME_WITHOUT_PARAMETERS }, { "operator", "operator", NAME_WHOLE },
	};
	struct names_near near = { .n = 0 };
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(name_match(rows[i].name, rows[i].asked) == rows[i].match, "%s: %s",
			      rows[i].name, rows[i].asked);
	names_near_add(&near, "a::compress(int)", "compres");
	names_near_add(&near, "decompress", "compres");
	names_near_add(&near, "nothing_like_it", "compres");
	names_near_add(&near, "compress", "compres");
	names_near_add(&near, "comprise", "compres");
	names_near_add(&near, "compress", "compres");
	ck_assert_uint_eq(near.n, 3);
	ck_assert_str_eq(near.name[0], "a::compress(int)");
	ck_assert_str_eq(near.name[1], "compress");
	ck_assert_str_eq(near.name[2], "comprise");
}
END_TEST

START_TEST(annotate)
{
	char *text, expected[4096], *body;
	size_t size;
	FILE *f;

	kit_begin(&kit_about);
	map_file("spin", 0x401000, 0x1000, 0x1000);
	kit_sample(getpid(), getpid(), 100, 50, 0x401005, NULL);
	kit_sample(getpid(), getpid(), 400, 90, 0x401007, NULL);
	kit_sample(getpid(), getpid(), 500, 100, 0x401005, NULL);
	read_it(false);
	f = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(f);
	ck_assert(print_annotation(f, &report->symbols, "spin", "spin", 0));
	fclose(f);
	body = strstr(text, "\nspin in ");
	ck_assert_ptr_nonnull(body);
	snprintf(expected, sizeof(expected),
		 "\nspin in %s/spin: 500 cycles, 100.00%% of all\n"
		 "   share         cycles   instructions  samples\n"
		 "\n"
		 "%s/spin.S\n"
		 "                                                     1  \t.globl spin\n"
		 "                                                     2  \t.type spin, @function\n"
		 "                                                     3  spin:\n"
		 "                                                     4  \tmov $1000, %%ecx\n"
		 "  40.00%%            200             60        2      5  1:\tdec %%ecx\n"
		 "  60.00%%            300             40        1      6  \tjnz 1b\n"
		 "                                                     7  \tret\n"
		 "\n"
		 "%s/spin.S:4\n"
		 "                                                  401000:  mov    $0x3e8,%%ecx\n"
		 "%s/spin.S:5\n"
		 "  40.00%%            200             60        2   401005:  dec    %%ecx\n"
		 "%s/spin.S:6\n"
		 "  60.00%%            300             40        1   401007:  jne    401005 <spin+0x5>\n"
		 "%s/spin.S:7\n"
		 "                                                  401009:  ret\n",
		 dir, dir, dir, dir, dir, dir);
	ck_assert_str_eq(body, expected);
	free(text);
	end();
}
END_TEST

/* Of the function, its file, the source and its lines, and what objdump prints */
START_TEST(annotate_moves_no_cursor)
{
	char *text;
	size_t size;
	FILE *f;

	write_text("evil.c", "static volatile int n;\n"
		   "__attribute__((noinline)) void evil(void)\n{\n\tif (n++ < 2) /* \033[2J \x9b */\n"
		   "\t\tevil();\n\tn++;\n}\nint main(void)\n{\n\tevil();\n\treturn 0;\n}\n");
	shell("gcc -O0 -g -no-pie -Wl,-Ttext-segment=0x400000 -o evil evil.c");
	kit_begin(&kit_about);
	shell("LC_ALL=C sed -i 's/evil/\x1b[2J/g' evil && mv evil.c \"$(printf '\\033[2J.c')\" && "
	      "mv evil \"$(printf 'b\\033[2J')\"");
	map_file("b\033[2J", 0, 0x3000, 0);
	kit_sample(getpid(), getpid(), 100, 50, ask_nm("b*", "main") - 0x400000 - 1, NULL);
	read_it(false);
	f = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(f);
	ck_assert(print_annotation(f, &report->symbols, NULL, NULL, 0));
	fclose(f);
	ck_assert_msg(kit_is_plain(text), "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\n?[2J in "));
	ck_assert_ptr_nonnull(strstr(text, "/b?[2J: 100 cycles"));
	ck_assert_ptr_nonnull(strstr(text, "/?[2J.c\n"));
	ck_assert_ptr_nonnull(strstr(text, "  \tif (n++ < 2) /* ?[2J ? */\n"));
	free(text);
	end();
}
END_TEST

START_TEST(why_there_are_no_lines)
{
	static const char *const flags[] = { "", "-g" }, *const why[] = {
		": it was compiled without -g, or its debugging information is in a file that is not here\n",
		": others of the file have some, so this function was compiled without -g\n",
	};
	char command[256], *text;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		snprintf(command, sizeof(command), "gcc -O2 %s -c work.c && gcc -O2 -c prog.c && gcc -no-pie "
			 "-Wl,-Ttext-segment=0x400000 -o plain prog.o work.o", flags[i]);
		shell(command);
		kit_begin(&kit_about);
		map_file("plain", 0, 0x3000, 0);
		kit_sample(getpid(), getpid(), 100, 50, ask_nm("plain", "middle") - 0x400000, NULL);
		read_it(false);
		text = annotation("middle");
		ck_assert_ptr_nonnull(strstr(text, why[i]));
		free(text);
		end();
	}
}
END_TEST

/* A source, and debugging information by each of its names, that wait for ever for somebody else */
START_TEST(fifos_are_not_opened)
{
	static const char *const debug[] = { "link", ".debug/link", "waits.debug" };
	unsigned int i;
	char *text, command[256];

	write_text("fifo.c", "int main(void)\n{\n\treturn 0;\n}\n");
	shell("gcc -g -no-pie -Wl,-Ttext-segment=0x400000 -o waits fifo.c && mkfifo fifo && mv fifo fifo.c");
	kit_begin(&kit_about);
	map_file("waits", 0, 0x3000, 0);
	kit_sample(getpid(), getpid(), 100, 50, ask_nm("waits", "main") - 0x400000, NULL);
	read_it(false);
	alarm(20);
	text = annotation("main");
	ck_assert_ptr_nonnull(strstr(text, "/fifo.c: the source is not here\n"));
	free(text);
	end();
	/* It is newer than what was made of it. */
	shell("rm fifo.c && echo 'int main(void)' >fifo.c");
	kit_begin(&kit_about);
	map_file("waits", 0, 0x3000, 0);
	kit_sample(getpid(), getpid(), 100, 50, ask_nm("waits", "main") - 0x400000, NULL);
	read_it(false);
	text = annotation("main");
	ck_assert_ptr_nonnull(strstr(text, "/fifo.c: the source is newer than the program: its"));
	free(text);
	end();
	shell("objcopy --only-keep-debug waits link && strip waits && cp waits stripped && mkdir .debug");
	for (i = 0; i < 3; i++) {
		snprintf(command, sizeof(command), "cp stripped waits && %s && mkfifo x && mv x %s",
			 i < 2 ? "objcopy --add-gnu-debuglink=link waits" : "true", debug[i]);
		shell(command);
		kit_begin(&kit_about);
		map_file("waits", 0, 0x3000, 0);
		kit_sample(getpid(), getpid(), 100, 50, 0x1000, NULL);
		read_it(false);
		end();
		snprintf(command, sizeof(command), "rm %s && echo >link", debug[i]);
		shell(command);
	}
	alarm(0);
}
END_TEST

/* What perfex annotate says to standard error of a name that it has no samples of; to be freed */
static char *refusal(const char *function)
{
	char *text = calloc(1, 4096);
	int saved = dup(STDERR_FILENO), fds[2];
	FILE *f = fopen("/dev/null", "we");

	ck_assert(text && f && saved >= 0 && !pipe2(fds, O_CLOEXEC));
	ck_assert_int_eq(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	ck_assert(!print_annotation(f, &report->symbols, function, NULL, 0));
	ck_assert_int_eq(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	ck_assert_int_ge(read(fds[0], text, 4095), 0);
	close(fds[0]);
	close(saved);
	fclose(f);
	return text;
}

#define MANY	3000u

/* Of many functions, each with some inlined ones, all of which have samples */
START_TEST(a_mistyped_name)
{
	char path[128], *text;
	clock_t before;
	unsigned int i;
	FILE *f;

	snprintf(path, sizeof(path), "%s/many.c", dir);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	for (i = 0; i < MANY; i++)
		fprintf(f, "static inline __attribute__((always_inline)) int in_%u(int n) { return n ^ %u; }\n"
			"int function_%u(int n) { return in_%u(n) + 3 * in_%u(n + 1); }\n", i, i, i, i, i);
	fprintf(f, "int main(void) { return 0; }\n");
	fclose(f);
	shell("gcc -O1 -g -no-pie -Wl,-Ttext-segment=0x400000 -o many many.c");
	kit_begin(&kit_about);
	map_file("many", 0, 0x100000, 0);
	for (i = 0; i < 4 * MANY; i++)
		kit_sample(getpid(), getpid(), i + 1, 1, 0x1000 + 4 * i, NULL);
	read_it(false);
	before = clock();
	text = refusal("functoin_17");
	ck_assert_msg((double)(clock() - before) / CLOCKS_PER_SEC < 1, "it took %g s",
		      (double)(clock() - before) / CLOCKS_PER_SEC);
	ck_assert_ptr_nonnull(strstr(text, "no sample was in a function 'functoin_17'"));
	ck_assert_ptr_nonnull(strstr(text, "\nDid you mean function_17, "));
	free(text);
	text = refusal("in_2");
	ck_assert_ptr_nonnull(strstr(text, "'in_2' was inlined, into 'function_2' for instance"));
	free(text);
	end();
}
END_TEST

START_TEST(annotate_what_was_inlined)
{
	char *text;
	size_t size;
	FILE *f;

	kit_begin(&kit_about);
	map_file("prog", 0x1000, 0x1000, 0x1000);
	kit_sample(getpid(), getpid(), 100, 50, ask_nm("prog", "middle"), NULL);
	read_it(false);
	f = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(f);
	ck_assert(!print_annotation(f, &report->symbols, "nobody", NULL, 0));
	ck_assert(!print_annotation(f, &report->symbols, "middle", "libwork.so", 0));
	ck_assert(print_annotation(f, &report->symbols, NULL, "prog", 0));
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "\nmiddle in "));
	ck_assert_ptr_nonnull(strstr(text, "  \treturn work(p) + n;\n"));
	free(text);
	end();
}
END_TEST

void test_annotate(TCase *tc)
{
	tcase_add_test(tc, names_of_rust);
	tcase_add_test(tc, names_that_users_write);
	tcase_add_test(tc, annotate);
	tcase_add_test(tc, annotate_moves_no_cursor);
	tcase_add_test(tc, fifos_are_not_opened);
	tcase_add_test(tc, why_there_are_no_lines);
	tcase_add_test(tc, a_mistyped_name);
	tcase_add_test(tc, annotate_what_was_inlined);
}
