// SPDX-License-Identifier: GPL-2.0
/*
 * Functions, lines and instructions of programs that are compiled here, with binutils' addr2line
 * and nm as witnesses.
 */
#include <check.h>
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"
#include "test_symbols.h"

char dir[] = "/tmp/test_symbols.XXXXXX";

static const char library_source[] =
	"static inline __attribute__((always_inline)) int twice(int n)\n"
	"{\n"
	"	return n * 2 + (n >> 3);\n"
	"}\n"
	"static inline __attribute__((always_inline)) int four_times(int n)\n"
	"{\n"
	"	return twice(n) ^ twice(n + 7);\n"
	"}\n"
	"int work(volatile int *p)\n"
	"{\n"
	"	int i, sum = 0;\n"
	"	for (i = 0; i < *p; i++)\n"
	"		sum += four_times(*p);\n"
	"	return sum;\n"
	"}\n";

static const char program_source[] =
	"int work(volatile int *p);\n"
	"static inline __attribute__((always_inline)) int little(volatile int *p)\n"
	"{\n"
	"	return *p + 3;\n"
	"}\n"
	"__attribute__((noinline)) int middle(volatile int *p)\n"
	"{\n"
	"	int n = little(p);\n"
	"	return work(p) + n;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	volatile int n = argc;\n"
	"	return middle(&n) + little(&n);\n"
	"}\n";

static const char spin_source[] =
	"	.globl spin\n"
	"	.type spin, @function\n"
	"spin:\n"
	"	mov $1000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"	ret\n"
	"	.size spin, . - spin\n";

void write_text(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

void shell(const char *command)
{
	char line[512];

	snprintf(line, sizeof(line), "cd %s && %s", dir, command);
	ck_assert_msg(!system(line), "%s", line); // NOLINT(bugprone-command-processor)
}

static void enter(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	write_text("work.c", library_source);
	write_text("prog.c", program_source);
	write_text("spin.S", spin_source);
	shell("gcc -O2 -g -fPIC -shared -o libwork.so work.c");
	shell("gcc -O2 -g -fPIE -pie -o prog prog.c -L. -lwork");
	shell("gcc -O2 -g -no-pie -Wl,-Ttext-segment=0x400000 -o fixed prog.c work.c");
	shell("gcc -g -nostdlib -static -Wl,-Ttext=0x401000 -Wl,-e,spin -o spin spin.S");
}

static void leave(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0); // NOLINT(bugprone-command-processor)
}

struct kit_report *report;

void map_file(const char *name, uint64_t start, uint64_t length, uint64_t offset)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(stat(path, &st), 0);
	kit_map(getpid(), start, length, offset, st.st_ino, path);
}

void read_it(bool no_inline)
{
	struct symbols_how how = { .no_inline = no_inline };

	report = kit_report(0, &how);
}

void end(void)
{
	kit_free(report);
	report = NULL;
}

/* The functions of an address as addr2line says: name and line of each, from the innermost */
static unsigned int ask_addr2line(FILE *f, struct frame *frames, char names[][64],
				  uint64_t *address)
{
	static char ahead[256];
	char line[256], *colon;
	unsigned int n = 0;

	if (!ahead[0] && !fgets(ahead, sizeof(ahead), f))
		return 0;
	*address = strtoull(ahead, NULL, 16);
	ahead[0] = '\0';
	while (n < MAX_FRAMES && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "0x", 2)) {
			memcpy(ahead, line, sizeof(ahead));
			break;
		}
		line[strcspn(line, "\n")] = '\0';
		snprintf(names[n], sizeof(names[n]), "%.63s", line);
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
		colon = strrchr(line, ':');
		ck_assert_ptr_nonnull(colon);
		frames[n].line = (unsigned int)strtoul(colon + 1, NULL, 10);
		n++;
	}
	return n;
}

/*
 * Every byte of every function of our own. @bias: addresses of the file less offsets in it. @same has
 * the same code, if addr2line cannot read @name.
 */
static unsigned int compare_with_addr2line(const char *name, uint64_t bias, const char *same)
{
	struct frame frames[MAX_FRAMES], witness[MAX_FRAMES];
	char names[MAX_FRAMES][64], command[512];
	unsigned int n, i, compared = 0, inlined = 0;
	uint64_t address;
	FILE *f;

	kit_begin(&kit_about);
	map_file(name, 0x10000, 0x10000, 0);
	read_it(false);
	snprintf(command, sizeof(command),
		 "cd %s && nm -S %s | awk '$3 ~ /^[tT]$/ && $4 ~ /^(main|middle|work)$/' |"
		 "while read a s t n; do i=0; while [ $i -lt $((0x$s)) ]; do"
		 " printf '%%x\\n' $((0x$a + i)); i=$((i + 1)); done; done |"
		 "addr2line -a -f -i -e %s", dir, same, same);
	f = popen(command, "re"); // NOLINT(bugprone-command-processor)
	ck_assert_ptr_nonnull(f);
	while ((n = ask_addr2line(f, witness, names, &address))) {
		ck_assert_uint_eq(symbols_frames(&report->symbols, OBJECT, address - bias, frames),
				  n);
		for (i = 0; i < n; i++) {
			ck_assert_str_eq(frames[i].function, names[i]);
			ck_assert_uint_eq(frames[i].line, witness[i].line);
		}
		inlined += n > 1;
		compared++;
	}
	ck_assert_int_eq(pclose(f), 0);
	ck_assert_uint_gt(inlined, 0);
	end();
	return compared;
}

START_TEST(as_addr2line)
{
	ck_assert_uint_gt(compare_with_addr2line("prog", 0, "prog"), 40);
	ck_assert_uint_gt(compare_with_addr2line("libwork.so", 0, "libwork.so"), 20);
	ck_assert_uint_gt(compare_with_addr2line("fixed", 0x400000, "fixed"), 60);
}
END_TEST

/* Every instruction of the PLT is in a stub with the name that objdump has for it. */
static void compare_plt(const char *prefix, const char *flags, unsigned int least)
{
	char command[512], name[64], *text;
	struct frame frames[MAX_FRAMES];
	unsigned int compared = 0;
	uint64_t address;
	FILE *f;

	snprintf(command, sizeof(command), "%sgcc -O1 %s -o plt plt.c", prefix, flags);
	shell(command);
	kit_begin(&kit_about);
	map_file("plt", 0, 0x3000, 0);
	read_it(false);
	snprintf(command, sizeof(command),
		 "cd %s && %sobjdump -d -j .plt -j .plt.sec -j .plt.got plt 2>/dev/null | awk '/^[0-9a-f]+ <.*@plt>:/ {"
		 "name = substr($2, 2, length($2) - 3) } /^[0-9a-f]+ <.*>:/ && !/@plt/ { name = \"\" } "
		 "/^ *[0-9a-f]+:/ && name { sub(\":\", \"\", $1); print $1, name }'", dir, prefix);
	f = popen(command, "re"); // NOLINT(bugprone-command-processor)
	ck_assert_ptr_nonnull(f);
	while (fscanf(f, "%" SCNx64 " %63s", &address, name) == 2) {
		text = strstr(name, "@@");
		ck_assert_ptr_null(text);
		ck_assert_uint_eq(symbols_frames(&report->symbols, OBJECT, address, frames), 1);
		ck_assert_str_eq(frames[0].function, name);
		compared++;
	}
	ck_assert_int_eq(pclose(f), 0);
	ck_assert_uint_ge(compared, least);
	end();
}

START_TEST(stubs_of_the_plt)
{
	write_text("plt.c", "#include <stdlib.h>\n#include <unistd.h>\nint main(void)\n{\n"
		   "	void (*volatile f)(void *) = free;\n	volatile int s = abs(getpagesize());\n"
		   "	f(malloc(5));\n	free(NULL);\n	return s;\n}\n");
	compare_plt("", "-pie -Wl,-z,lazy", 6);
	compare_plt("", "-pie -fcf-protection -Wl,-z,lazy,-z,ibtplt", 6);
	compare_plt("", "-pie -Wl,-z,now", 6);
	compare_plt("riscv64-linux-gnu-", "-pie -Wl,-z,lazy", 6);
}
END_TEST

/* As clang's programs are: libdw 0.188 finds nothing in them by itself. */
START_TEST(without_aranges)
{
	shell("objcopy -R .debug_aranges fixed plain");
	ck_assert_uint_gt(compare_with_addr2line("plain", 0x400000, "plain"), 60);
}
END_TEST

uint64_t ask_nm(const char *file, const char *function)
{
	char command[256], line[64];
	FILE *f;

	snprintf(command, sizeof(command), "nm %s/%s | awk '$3 == \"%s\" { print $1 }'", dir, file,
		 function);
	f = popen(command, "re"); // NOLINT(bugprone-command-processor)
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	ck_assert_int_eq(pclose(f), 0);
	return strtoull(line, NULL, 16);
}

/* Functions are in prog.dwo and work.dwo; without them it is told. */
START_TEST(split_debugging_information)
{
	static const char *const versions[] = { "-gdwarf-4", "-gdwarf-5" };
	struct table_how how = { .by = BY_FUNCTION };
	char command[256], *text;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		snprintf(command, sizeof(command), "gcc -O2 %s -gsplit-dwarf -no-pie "
			 "-Wl,-Ttext-segment=0x400000 -o split prog.c work.c", versions[i]);
		shell(command);
		ck_assert_uint_gt(compare_with_addr2line("split", 0x400000, "fixed"), 60);
	}
	shell("rm *.dwo");
	kit_begin(&kit_about);
	map_file("split", 0, 0x3000, 0);
	kit_sample(getpid(), getpid(), 100, 50, ask_nm("split", "work") - 0x400000, NULL);
	read_it(false);
	text = kit_table(report, &how, false);
	ck_assert_ptr_nonnull(strstr(text, " work\n"));
	ck_assert_ptr_nonnull(strstr(text, "/split: inlined functions are in files of -gsplit-dwarf "
				     "that are not here\n"));
	free(text);
	text = kit_table(report, &how, true);
	ck_assert_ptr_nonnull(strstr(text, "/split\": \"inlined functions are in files of"));
	free(text);
	end();
	/* A name in it must not have us wait. */
	alarm(20);
	shell("mkfifo f && for i in split-prog.dwo split-work.dwo prog.dwo work.dwo; do ln f $i; done");
	kit_begin(&kit_about);
	map_file("split", 0, 0x3000, 0);
	kit_sample(getpid(), getpid(), 100, 50, ask_nm("split", "work") - 0x400000, NULL);
	read_it(false);
	end();
	alarm(0);
}
END_TEST

/*
 * Of the symbols that cover an address the one that begins last, is smallest, and is global before weak
 * before local; else one without a size, as far as the next symbol, or the end of its section. Of equal
 * ones the last by name. libdw is the witness.
 */
static const char choice_source[] =
	"	.macro f binding, name\n"
	"	.\\binding \\name\n"
	"	.type \\name, @function\n"
	"	.endm\n"
	"	f globl, a_global\n"
	"	f weak, m_weak\n"
	"	f local, z_local\n"
	"a_global: m_weak: z_local:\n"		/* 0 */
	"	.nops 8\n"
	"	.size a_global, 8\n"
	"	.size m_weak, 8\n"
	"	.size z_local, 8\n"
	"	f weak, b_weak\n"
	"	f local, y_local\n"
	"b_weak: y_local:\n"			/* 8 */
	"	.nops 8\n"
	"	.size b_weak, 8\n"
	"	.size y_local, 8\n"
	"	f globl, __same\n"
	"	f globl, same\n"
	"__same: same:\n"			/* 16 */
	"	.nops 8\n"
	"	.size __same, 8\n"
	"	.size same, 8\n"
	"	f globl, large\n"
	"	f local, small\n"
	"large: small:\n"			/* 24 */
	"	.nops 4\n"
	"	.size small, 4\n"
	"inside:\n"				/* 28 */
	"	.nops 4\n"
	"	.size large, 8\n"
	"	.nops 8\n"			/* 32 */
	"label:\n"				/* 40 */
	"	.nops 8\n"
	"	f globl, next\n"
	"next:\n"				/* 48 */
	"	.nops 4\n"
	"	.size next, 4\n"
	"	.nops 4\n"			/* 52 */
	"	f weak, v_weak\n"
	"	f globl, u_global\n"
	"u_global: v_weak:\n"			/* 56 */
	"	.nops 8\n"
	"	.section .text.next, \"ax\", @progbits\n"
	"	.nops 8\n";			/* 64 */

/* NULL: none */
static const char *ask_libdw(Dwfl_Module *module, GElf_Addr address)
{
	GElf_Off offset;
	GElf_Sym sym;

	return dwfl_module_addrinfo(module, address, &offset, &sym, NULL, NULL, NULL);
}

START_TEST(which_of_several_symbols)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	/* From this byte on, and whether libdw says so: it takes any alias, and no local one before others. */
	static const struct {
		const char *name;
		unsigned int at;
		bool witness;
	} expected[] = {
		{ "a_global", 0, true }, { "b_weak", 8, true }, { "same", 16, false }, { "small", 24, false },
		{ "large", 28, true }, { NULL, 32, true }, { "label", 40, true }, { "next", 48, true },
		{ NULL, 52, true }, { "u_global", 56, false }, { NULL, 64, true }, { NULL, 72, true },
	};
	struct frame frames[MAX_FRAMES];
	char path[sizeof(dir) + 8];
	const char *name, *found;
	Dwfl_Module *module;
	unsigned int i, at;
	Dwfl *dwfl;

	write_text("choice.S", choice_source);
	/* A linker's script keeps the sections apart. */
	write_text("choice.ld", "SECTIONS { . = 0x1000; .text : { *(.text) } .text.next : { *(.text.next) } }");
	shell("gcc -nostdlib -static -Wl,-z,max-page-size=0x1000,--build-id=none,-T,choice.ld -o choice choice.S");
	snprintf(path, sizeof(path), "%s/choice", dir);
	dwfl = dwfl_begin(&callbacks);
	module = dwfl_report_offline(dwfl, "choice", path, -1);
	ck_assert_ptr_nonnull(module);
	dwfl_report_end(dwfl, NULL, NULL);
	kit_begin(&kit_about);
	map_file("choice", 0x1000, 0x1000, 0x1000);
	read_it(false);
	for (i = 0; i + 1 < sizeof(expected) / sizeof(expected[0]); i++) {
		name = expected[i].name ?: "[unknown]";
		for (at = expected[i].at; at < expected[i + 1].at; at++) {
			ck_assert_uint_eq(symbols_frames(&report->symbols, OBJECT, 0x1000 + at, frames), 1);
			ck_assert_msg(!strcmp(frames[0].function, name), "%u: %s", at, frames[0].function);
			found = expected[i].witness ? ask_libdw(module, 0x1000 + at) : expected[i].name;
			ck_assert_msg(!strcmp(found ?: "[unknown]", name), "%u: %s by libdw", at, found);
		}
	}
	end();
	dwfl_end(dwfl);
}
END_TEST

/* The last byte of a segment is in it, and the next one of the file is not. */
START_TEST(ends_of_segments)
{
	uint64_t offset, address, size, found;
	char command[128], line[128], *next;
	unsigned int n = 0;
	FILE *f;

	kit_begin(&kit_about);
	map_file("spin", 0x10000, 0x10000, 0);
	read_it(false);
	snprintf(command, sizeof(command), "readelf -lW %s/spin | awk '$1 == \"LOAD\" { print $2, $3, $5 }'",
		 dir);
	f = popen(command, "re"); // NOLINT(bugprone-command-processor)
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		offset = strtoull(line, &next, 16);
		address = strtoull(next, &next, 16);
		size = strtoull(next, NULL, 16);
		ck_assert(symbols_elf_address(&report->symbols, OBJECT, offset + size - 1, &found));
		ck_assert_uint_eq(found, address + size - 1);
		ck_assert(!symbols_elf_address(&report->symbols, OBJECT, offset + size, &found));
		n++;
	}
	ck_assert_int_eq(pclose(f), 0);
	ck_assert_uint_ge(n, 1);
	end();
}
END_TEST

/* Program and library where a kernel could have put them, and a stack through both */
START_TEST(stacks_of_program_and_library)
{
	const uint64_t program = 0x555500000000, library = 0x7f0000000000;
	uint64_t callers[3] = { 0 };
	char *text;

	kit_begin(&kit_about);
	kit_comm(getpid(), getpid(), "prog", true);
	map_file("prog", program + 0x1000, 0x1000, 0x1000);
	map_file("libwork.so", library + 0x1000, 0x1000, 0x1000);
	callers[0] = program + ask_nm("prog", "middle") + 8;
	callers[1] = program + ask_nm("prog", "main") + 1;
	kit_sample(getpid(), getpid(), 1000, 500, library + ask_nm("libwork.so", "work"), callers);
	read_it(true);
	text = kit_folded(report, 0);
	ck_assert_str_eq(text, "prog;main;middle;work 1000\n");
	free(text);
	end();
}
END_TEST

START_TEST(a_file_that_was_replaced)
{
	struct table_how how = { .by = BY_OBJECT | BY_FUNCTION };
	uint64_t at = ask_nm("prog", "main");
	char *text;

	kit_begin(&kit_about);
	map_file("prog", 0x1000, 0x1000, 0x1000);
	kit_sample(getpid(), getpid(), 1000, 500, at, NULL);
	/* In place, so that even its inode is the same */
	shell("sed -i s/3/4/ prog.c && gcc -O2 -g -fPIE -pie -o new prog.c -L. -lwork && cat new >prog");
	read_it(false);
	text = kit_table(report, &how, false);
	ck_assert_ptr_nonnull(strstr(text, "/prog: the file has been replaced since: its build id is"));
	ck_assert_ptr_nonnull(strstr(text, "[unknown]"));
	ck_assert_ptr_null(strstr(text, "main"));
	free(text);
	end();
}
END_TEST

char *annotation(const char *function)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	ck_assert(print_annotation(f, &report->symbols, function, NULL, 0));
	fclose(f);
	return text;
}

START_TEST(kernel_symbols)
{
	struct symbols_how how = { .kallsyms = NULL };
	char list[128], *text;

	write_text("kallsyms", "ffffffff81000000 T _stext\nffffffff81000100 t do_it\n"
		   "ffffffff81000180 d a_datum\nffffffff82000000 t in_module\t[perfctr]\n");
	snprintf(list, sizeof(list), "%s/kallsyms", dir);
	how.kallsyms = list;
	kit_begin(&kit_about);
	kit_comm(7, 7, "p", false);
	kit_kernel_sample(7, 7, 1, 1, 0xffffffff810001f0, 0);
	kit_kernel_sample(7, 7, 3, 1, 0xffffffff82000000, 0);
	kit_kernel_sample(7, 7, 7, 1, 0xffffffff80000000, 0);
	read_it(false);
	kit_symbolize(report, &how);
	text = kit_folded(report, 0);
	ck_assert_str_eq(text, "p;[unknown];do_it 1\np;[unknown];in_module 2\np;[unknown];[unknown] 4\n");
	free(text);
	end();
	/* Who may not know has zeros. */
	write_text("kallsyms", "0000000000000000 T _stext\n");
	kit_begin(&kit_about);
	kit_kernel_sample(7, 7, 1, 1, 0xffffffff810001f0, 0);
	read_it(false);
	kit_symbolize(report, &how);
	ck_assert_ptr_nonnull(strstr(report->symbols.kernel_missing, "no addresses of functions"));
	end();
}
END_TEST

/* The vdso is in no file, but it is the same for all programs of this architecture. */
START_TEST(the_vdso)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR), function;
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	char *text;

	ck_assert(start && vdso);
	function = (uintptr_t)dlsym(vdso, "__vdso_getcpu");
	ck_assert_uint_gt(function, start);
	kit_begin(&kit_about);
	kit_comm(7, 7, "p", false);
	kit_map(7, 0x7fff00000000, 0x2000, 0, 0, "[vdso]");
	kit_sample(7, 7, 1, 1, 0x7fff00000000 + (function - start), NULL);
	read_it(false);
	text = kit_folded(report, 0);
	ck_assert_ptr_nonnull(strstr(text, "getcpu 1\n"));
	free(text);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
	TCase *tc = tcase_create("symbols");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_unchecked_fixture(tc, enter, leave);
	tcase_add_test(tc, as_addr2line);
	tcase_add_test(tc, stubs_of_the_plt);
	tcase_add_test(tc, without_aranges);
	tcase_add_test(tc, split_debugging_information);
	tcase_add_test(tc, which_of_several_symbols);
	tcase_add_test(tc, ends_of_segments);
	tcase_add_test(tc, stacks_of_program_and_library);
	test_symbols_files(tc);
	tcase_add_test(tc, kernel_symbols);
	tcase_add_test(tc, the_vdso);
	test_annotate(tc);
	/* It changes the program. */
	tcase_add_test(tc, a_file_that_was_replaced);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
