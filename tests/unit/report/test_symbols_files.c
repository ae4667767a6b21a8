// SPDX-License-Identifier: GPL-2.0
/* Files that have other contents than when they were recorded, or nothing to tell. */
#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit.h"
#include "test_symbols.h"

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

void test_symbols_files(TCase *tc)
{
	tcase_add_test(tc, files_without_a_build_id);
	tcase_add_test(tc, a_file_that_changes_while_it_is_recorded);
	tcase_add_test(tc, files_of_which_nothing_was_recorded);
	tcase_add_test(tc, a_file_that_is_newer_than_the_recording);
	tcase_add_test(tc, files_without_symbols);
}
