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
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../../tools/perfex-report/demangle.h"
#include "../../../tools/perfex-report/names.h"
#include "kit.h"

static char dir[] = "/tmp/test_symbols.XXXXXX";

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

static void write_text(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static void shell(const char *command)
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

static struct kit_report *report;

static void map_file(const char *name, uint64_t start, uint64_t length, uint64_t offset)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(stat(path, &st), 0);
	kit_map(getpid(), start, length, offset, st.st_ino, path);
}

static void read_it(bool no_inline)
{
	struct symbols_how how = { .no_inline = no_inline };

	report = kit_report(0, &how);
}

static void end(void)
{
	kit_free(report);
	report = NULL;
}

/* The object that was mapped first */
#define OBJECT	(OBJECT_THREAD + 1)

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

static uint64_t ask_nm(const char *file, const char *function)
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

static uint64_t ask_dynamic(const char *file, const char *function)
{
	char command[512], line[64];
	FILE *f;

	snprintf(command, sizeof(command),
		 "nm -D %s | awk '$3 ~ /^%s(@|$)/ { print $1; exit }'", file, function);
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

static char *annotation(const char *function)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	ck_assert(print_annotation(f, &report->symbols, function, NULL, 0));
	fclose(f);
	return text;
}

/* What the table says of one sample in that file, at the address of that function; to be freed */
static char *table_of(const char *name, uint64_t at, const struct symbols_how *how)
{
	struct table_how table = { .by = BY_OBJECT | BY_FUNCTION };

	kit_sample(getpid(), getpid(), 1000, 500, at - 0x400000, NULL);
	report = kit_report(0, how);
	ck_assert_str_eq(strrchr(report->profile.objects[OBJECT].path, '/') + 1, name);
	return kit_table(report, &table, false);
}

static void begin_plain(void)
{
	shell("gcc -O2 -no-pie -Wl,-Ttext-segment=0x400000,--build-id=none -o plain prog.c work.c");
	kit_begin(&kit_about);
	map_file("plain", 0, 0x3000, 0);
}

static void expect_names(const char *expected)
{
	char *text = table_of("plain", ask_nm("plain", "main"), &(struct symbols_how){ NULL });
	const char *unsure = strstr(text, "cannot be sure");

	ck_assert_ptr_nonnull(strstr(text, " main "));
	if (expected)
		ck_assert_ptr_nonnull(strstr(text, expected));
	else
		ck_assert_ptr_null(unsure);
	free(text);
	end();
}

/* Without a build id size, times and inode tell. */
START_TEST(files_without_a_build_id)
{
	struct symbols_how how = { .symfs = "copies" };
	char *text, command[256];
	uint64_t at;

	begin_plain();
	expect_names(NULL);
	begin_plain();
	shell("chmod 700 plain");
	expect_names("# cannot be sure of the names of 1 sample in ");
	begin_plain();
	/* Of the same size, in place */
	at = ask_nm("plain", "main");
	shell("cp plain copy && cat copy >plain");
	text = table_of("plain", at, &(struct symbols_how){ NULL });
	ck_assert_ptr_nonnull(strstr(text, "/plain: the file has been replaced since: its size, its"));
	ck_assert_ptr_null(strstr(text, "main"));
	free(text);
	end();
	/* Somewhere else, as of another machine: even its time may be another. */
	begin_plain();
	snprintf(command, sizeof(command), "mkdir -p copies%s && cp plain copies%s", dir, dir);
	shell(command);
	snprintf(command, sizeof(command), "%s/copies", dir);
	how.symfs = command;
	text = table_of("plain", ask_nm("plain", "main"), &how);
	ck_assert_ptr_nonnull(strstr(text, " main "));
	ck_assert_ptr_nonnull(strstr(text, "# cannot be sure of the names of 1 sample in "));
	free(text);
	end();
	/* Sources are there as well, before where they were. */
	shell("gcc -O2 -g -no-pie -Wl,-Ttext-segment=0x400000 -o plain prog.c work.c");
	kit_begin(&kit_about);
	map_file("plain", 0, 0x3000, 0);
	snprintf(command, sizeof(command), "cp plain copies%s && sed 's/argc;/argc; HERE/' prog.c "
		 ">copies%s/prog.c", dir, dir);
	shell(command);
	snprintf(command, sizeof(command), "%s/copies", dir);
	free(table_of("plain", ask_nm("plain", "main"), &how));
	text = annotation("main");
	ck_assert_ptr_nonnull(strstr(text, "HERE"));
	free(text);
	end();
}
END_TEST

START_TEST(a_file_that_changes_while_it_is_recorded)
{
	begin_plain();
	map_file("plain", 0, 0x3000, 0);
	shell("cp plain copy && cat copy >plain");
	map_file("plain", 0, 0x3000, 0);
	expect_names("/plain: it was changed while it was recorded\n");
}
END_TEST

/* A MAP at a time when the file was not yet as it is: nothing of it is recorded. */
static void map_early(const char *path, uint64_t inode, unsigned int major, unsigned int minor)
{
	struct {
		struct perfctr_record_map map;
		char path[256];
	} map = {
		.map.record = { PERFCTR_RECORD_MAP, 0, sizeof(map), 1, getpid(), getpid() },
		.map.length = 0x1000000, .map.inode = inode, .map.major = major, .map.minor = minor,
	};

	snprintf(map.path, sizeof(map.path), "%s", path);
	kit_raw(&map, sizeof(map));
}

/* The place of what we have mapped, as the kernel tells it in maps and in MAP */
static void find_mapped(const char *name, char *path, uint64_t *inode, unsigned int *major, unsigned int *minor)
{
	FILE *f = fopen("/proc/self/maps", "re");
	bool found = false;
	char line[512];

	ck_assert_ptr_nonnull(f);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, name) &&
			sscanf(line, "%*s %*s %*s %x:%x %" SCNu64 " %255s", major, minor, inode,
			       path) == 4;
	fclose(f);
	ck_assert(found);
}

/* As all recordings were before, and those of what was gone when perfex looked */
START_TEST(files_of_which_nothing_was_recorded)
{
	struct symbols_how how = { .symfs = NULL };
	struct table_how table = { .by = BY_OBJECT | BY_FUNCTION };
	unsigned int major, minor, i;
	char path[256], *text;
	uint64_t inode;

	find_mapped("/libc.so.6", path, &inode, &major, &minor);
	for (i = 0; i < 3; i++) {
		kit_begin(&kit_about);
		/* Its own, another device's, another file */
		map_early(path, inode + (i == 2), major, minor + (i == 1));
		kit_sample(getpid(), getpid(), 1000, 500, ask_dynamic(path, "abs"), NULL);
		kit_sample(getpid(), getpid(), 2000, 500, ask_dynamic(path, "abs"), NULL);
		report = kit_report(0, &how);
		text = kit_table(report, &table, false);
		ck_assert_int_eq(strstr(text, " abs ") != NULL, i < 2);
		ck_assert_int_eq(strstr(text, "cannot be sure of the names of 2 samples in") != NULL,
				 i == 1);
		ck_assert_int_eq(strstr(text, ": another file has its name: its inode is") != NULL,
				 i == 2);
		free(text);
		text = kit_table(report, &table, true);
		ck_assert_int_eq(strstr(text, "\"unsure\": {}") != NULL, i != 1);
		ck_assert_int_eq(strstr(text, ": {\"samples\": 2, \"why\": \"nothing of it") != NULL,
				 i == 1);
		free(text);
		end();
	}
}
END_TEST

/* Of the same place, but it was made after the recording began. */
START_TEST(a_file_that_is_newer_than_the_recording)
{
	unsigned int major, minor;
	char path[256], *text;
	uint64_t inode;
	void *map;
	int fd;

	kit_begin(&kit_about);
	shell("gcc -O2 -no-pie -Wl,-Ttext-segment=0x400000 -o plain prog.c work.c");
	snprintf(path, sizeof(path), "%s/plain", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	map = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(map, MAP_FAILED);
	find_mapped("/plain", path, &inode, &major, &minor);
	map_early(path, inode, major, minor);
	text = table_of("plain", ask_nm("plain", "main"), &(struct symbols_how){ NULL });
	ck_assert_ptr_nonnull(strstr(text, " main "));
	ck_assert_ptr_nonnull(strstr(text, "cannot be sure of the names of 1 sample in "));
	free(text);
	end();
	close(fd);
	ck_assert_int_eq(munmap(map, 1), 0);
}
END_TEST

START_TEST(files_without_symbols)
{
	struct table_how how = { .by = BY_OBJECT | BY_FUNCTION };
	char *text;

	kit_begin(&kit_about);
	kit_map(7, 0x10000, 0x1000, 0, 5, "/nowhere/x");
	kit_map(7, 0x20000, 0x1000, 0, 5, "/dev/zero");
	kit_map(7, 0x30000, 0x1000, 0, 0, "//anon");
	kit_map(7, 0x50000, 0x1000, 0, 5, "/proc/version");
	shell("strip -o stripped fixed");
	map_file("stripped", 0x60000, 0x3000, 0);
	kit_sample(getpid(), getpid(), 4, 1, 0x60000 + ask_nm("fixed", "main") - 0x400000, NULL);
	kit_sample(7, 7, 1, 1, 0x10000, NULL);
	kit_sample(7, 7, 2, 1, 0x20000, NULL);
	kit_sample(7, 7, 3, 1, 0x30000, NULL);
	kit_sample(7, 7, 4, 1, 0x50000, NULL);
	read_it(false);
	text = kit_table(report, &how, false);
	ck_assert_ptr_nonnull(strstr(text, "# no symbols of /nowhere/x: the file is not there any more\n"));
	ck_assert_ptr_nonnull(strstr(text, "# no symbols of /dev/zero: it is no regular file any more\n"));
	ck_assert_ptr_nonnull(strstr(text, "# no symbols of //anon: it is in no file\n"));
	ck_assert_ptr_nonnull(strstr(text, "/stripped: it is stripped, and its debugging information is"
				     " not here\n"));
	ck_assert_ptr_nonnull(strstr(text, "# no symbols of /proc/version: it is no ELF file\n"));
	free(text);
	end();
}
END_TEST

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
	tcase_add_test(tc, files_without_a_build_id);
	tcase_add_test(tc, a_file_that_changes_while_it_is_recorded);
	tcase_add_test(tc, files_of_which_nothing_was_recorded);
	tcase_add_test(tc, a_file_that_is_newer_than_the_recording);
	tcase_add_test(tc, files_without_symbols);
	tcase_add_test(tc, kernel_symbols);
	tcase_add_test(tc, the_vdso);
	tcase_add_test(tc, names_of_rust);
	tcase_add_test(tc, names_that_users_write);
	tcase_add_test(tc, annotate);
	tcase_add_test(tc, annotate_moves_no_cursor);
	tcase_add_test(tc, fifos_are_not_opened);
	tcase_add_test(tc, why_there_are_no_lines);
	tcase_add_test(tc, a_mistyped_name);
	tcase_add_test(tc, annotate_what_was_inlined);
	/* It changes the program. */
	tcase_add_test(tc, a_file_that_was_replaced);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
