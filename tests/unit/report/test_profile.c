// SPDX-License-Identifier: GPL-2.0
/* What the records add up to: weights, threads, processes, and their address spaces over time */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "tests.h"

static struct kit_report *report;

/* Ends the recording, and reads it with the names of no_symbols.c. */
static void read_it(void)
{
	static const struct symbols_how how;

	report = kit_report(0, &how);
}

/* The folded stacks of a column are just these, in any order. */
static void check_folded(unsigned int column, const char *expected)
{
	char *text = kit_folded(report, column);

	ck_assert_str_eq(text, expected);
	free(text);
}

static void end(void)
{
	kit_free(report);
	report = NULL;
}

START_TEST(weights_are_differences)
{
	kit_begin(&kit_about);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/p");
	kit_comm(7, 7, "prog", false);
	kit_sample(7, 7, 1000, 700, 0x11000, NULL);
	kit_sample(7, 7, 2500, 900, 0x12000, NULL);
	kit_sample(7, 7, 2600, 1900, 0x11fff, NULL);
	read_it();
	check_folded(0, "prog;p+1 1100\nprog;p+2 1500\n");
	check_folded(1, "prog;p+1 1700\nprog;p+2 200\n");
	/* The clock, and samples */
	check_folded(2, "prog;p+1 110\nprog;p+2 150\n");
	check_folded(3, "prog;p+1 2\nprog;p+2 1\n");
	ck_assert_uint_eq(report->profile.total[0], 2600);
	ck_assert_uint_eq(report->profile.total[1], 1900);
	ck_assert_uint_eq(report->profile.total[2], 260);
	ck_assert_uint_eq(report->profile.samples, 3);
	ck_assert_uint_eq(report->profile.last - report->profile.first, 2000000);
	/* What --sort takes for a column, in any letters */
	ck_assert_int_eq(column_find(&report->profile, "Instructions"), 1);
	ck_assert_int_eq(column_find(&report->profile, "clock"), 2);
	ck_assert_int_eq(column_find(&report->profile, "SAMPLES"), 3);
	ck_assert_int_eq(column_find(&report->profile, "instruction"), -1);
	end();
}
END_TEST

START_TEST(each_thread_has_its_own)
{
	kit_begin(&kit_about);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/p");
	kit_comm(7, 7, "main", false);
	kit_fork(7, 7, 7, 8);
	kit_sample(7, 7, 1000, 10, 0x11000, NULL);
	kit_sample(7, 8, 5000, 20, 0x11000, NULL);
	kit_comm(7, 8, "worker", false);
	kit_sample(7, 7, 1001, 10, 0x12000, NULL);
	kit_sample(7, 8, 5002, 20, 0x12000, NULL);
	read_it();
	/* It had its maker's name before. */
	check_folded(0, "main;p+1 6000\nmain;p+2 1\nworker;p+2 2\n");
	ck_assert_uint_eq(report->profile.threads_sampled, 2);
	ck_assert_uint_eq(report->profile.total[0], 6003);
	end();
}
END_TEST

START_TEST(an_id_that_is_used_again)
{
	kit_begin(&kit_about);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/p");
	kit_fork(7, 7, 7, 8);
	kit_sample(7, 8, 5000, 20, 0x11000, NULL);
	kit_exit(7, 8);
	kit_fork(7, 7, 7, 8);
	kit_sample(7, 8, 6000, 30, 0x12000, NULL);
	/* Its end and its beginning were lost. */
	kit_sample(7, 8, 100, 40, 0x13000, NULL);
	read_it();
	check_folded(0, ";p+1 5000\n;p+2 6000\n;p+3 100\n");
	check_folded(1, ";p+1 20\n;p+2 30\n;p+3 10\n");
	ck_assert_uint_eq(report->profile.backwards, 2);	/* of cycles, and of the clock */
	ck_assert_uint_eq(report->profile.threads_sampled, 2);
	end();
}
END_TEST

START_TEST(stacks_of_callers)
{
	static const uint64_t callers[] = { 0x12001, 0x13000, 0 };

	kit_begin(&kit_about);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/p");
	kit_comm(7, 7, "prog", false);
	/* Where a caller goes on may be behind its end: 0x13000 is in page 2. */
	kit_sample(7, 7, 100, 1, 0x11000, callers);
	kit_sample(7, 7, 300, 2, 0x12010, callers + 1);
	kit_kernel_sample(7, 7, 700, 3, 0xffffffff81000000, 0x14000);
	read_it();
	/* Callers come before those that they call. */
	check_folded(0, "prog;p+2;p+2 200\nprog;p+2;p+2;p+1 100\n"
		     "prog;p+4;[kernel]+ffffffff81000 400\n");
	end();
}
END_TEST

/* Records of several CPUs need not be in the order of their times; nobody called the outermost function. */
START_TEST(times_and_the_outermost_caller)
{
	struct {
		struct perfctr_record_sample sample;
		uint64_t value[2], user[3];
	} s = {
		.sample = {
			.record = { PERFCTR_RECORD_SAMPLE, 0, sizeof(s), 5000, 7, 7 },
			.ip = 0x11000,
			.nrctrs = 2,
			.user_depth = 3,
		},
		.value = { 100, 1 },
		.user = { 0x11000, 0x12001, 0 },
	};

	kit_begin(&kit_about);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/p");
	kit_comm(7, 7, "prog", false);
	kit_raw(&s, sizeof(s));
	s.sample.record.time = 3000;
	s.value[0] = 300;
	/* But the innermost may be at 0: it jumped there. */
	s.sample.user_depth = 1;
	s.sample.record.size -= 16;
	s.user[0] = 0;
	kit_raw(&s, sizeof(s) - 16);
	s.sample.record.time = 4000;
	s.value[0] = 700;
	s.user[0] = 0x11000;
	kit_raw(&s, sizeof(s) - 16);
	read_it();
	check_folded(0, "prog;p+2;p+1 100\nprog;[unknown] 200\nprog;p+1 400\n");
	ck_assert_uint_eq(report->profile.first, 3000);
	ck_assert_uint_eq(report->profile.last, 5000);
	end();
}
END_TEST

START_TEST(inlined_functions_are_frames)
{
	struct symbols_how how = { .no_inline = true };
	char *text;

	kit_begin(&kit_about);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/p");
	kit_comm(7, 7, "prog", false);
	kit_sample(7, 7, 100, 1, 0x1f000, NULL);
	read_it();
	check_folded(0, "prog;p+f;inlined 100\n");
	kit_symbolize(report, &how);
	text = kit_folded(report, 0);
	ck_assert_str_eq(text, "prog;p+f 100\n");
	free(text);
	end();
}
END_TEST

START_TEST(a_fork_copies_what_is_mapped)
{
	kit_begin(&kit_about);
	kit_comm(7, 7, "a", false);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/p");
	kit_fork(7, 7, 8, 8);
	/* What each does then is its own. */
	kit_map(7, 0x10000, 0x10000, 0, 2, "/parent");
	kit_map(8, 0x11000, 0x1000, 0, 3, "/child");
	kit_fork(8, 8, 9, 9);
	kit_unmap(8, 0x11000, 0x1000);
	kit_sample(7, 7, 1, 1, 0x11000, NULL);
	kit_sample(8, 8, 2, 1, 0x11000, NULL);
	kit_sample(8, 8, 6, 2, 0x12000, NULL);
	kit_sample(9, 9, 8, 1, 0x11000, NULL);
	kit_sample(9, 9, 24, 2, 0x10000, NULL);
	read_it();
	check_folded(0, "a;parent+1 1\na;[unknown] 2\na;p+2 4\na;child+0 8\na;p+0 16\n");
	ck_assert_uint_eq(report->profile.unmapped, 1);
	end();
}
END_TEST

START_TEST(an_exec_unmaps_all)
{
	kit_begin(&kit_about);
	kit_comm(7, 7, "sh", false);
	kit_map(7, 0x10000, 0x10000, 0, 1, "/sh");
	kit_sample(7, 7, 1, 1, 0x11000, NULL);
	kit_comm(7, 7, "renamed", false);
	kit_sample(7, 7, 3, 1, 0x11000, NULL);
	kit_comm(7, 7, "ls", true);
	kit_sample(7, 7, 7, 1, 0x11000, NULL);
	kit_map(7, 0x10000, 0x10000, 0, 2, "/ls");
	kit_sample(7, 7, 15, 1, 0x11000, NULL);
	read_it();
	check_folded(0, "sh;sh+1 1\nrenamed;sh+1 2\nls;[unknown] 4\nls;ls+1 8\n");
	end();
}
END_TEST

/* Offsets in the file must be right in each of the parts. */
START_TEST(maps_replace_parts_of_others)
{
	unsigned int i;

	kit_begin(&kit_about);
	kit_comm(7, 7, "a", false);
	kit_map(7, 0x10000, 0x8000, 0x2000, 1, "/big");
	kit_map(7, 0x12000, 0x2000, 0, 2, "/small");	/* within */
	kit_map(7, 0x17000, 0x2000, 0, 3, "/over");	/* its end, and more */
	kit_map(7, 0xf000, 0x2000, 0, 4, "/under");	/* its beginning, and more */
	kit_unmap(7, 0x14000, 0x1000);
	for (i = 0; i < 11; i++)
		kit_sample(7, 7, i + 1, 1, 0xe000 + i * 0x1000, NULL);
	read_it();
	check_folded(0, "a;[unknown] 2\na;under+0 1\na;under+1 1\na;big+3 1\na;small+0 1\na;small+1 1\n"
		     "a;big+7 1\na;big+8 1\na;over+0 1\na;over+1 1\n");
	end();
}
END_TEST

START_TEST(what_is_in_no_file)
{
	kit_begin(&kit_about);
	kit_comm(7, 7, "a", false);
	kit_map(7, 0x10000, 0x1000, 0, 0, "//anon");
	kit_map(7, 0x20000, 0x1000, 0x5000, 0, "[vdso]");
	kit_map(7, 0x30000, 0x1000, 0, 0, "");
	kit_sample(7, 7, 1, 1, 0x10000, NULL);
	kit_sample(7, 7, 3, 1, 0x20000, NULL);
	kit_sample(7, 7, 7, 1, 0x30000, NULL);
	read_it();
	check_folded(0, "a;anon+10 1\na;[vdso]+0 2\na;anon+30 4\n");
	end();
}
END_TEST

/* Something else may be mapped there than was told: it has no name. Nor have its callers. */
START_TEST(a_map_that_is_not_known)
{
	struct sample_of_two {
		struct perfctr_record_sample sample;
		uint64_t value[4];
	} one = {
		.sample = {
			.record = { PERFCTR_RECORD_SAMPLE, PERFCTR_RECORD_MAP_UNKNOWN, sizeof(one), 0, 7, 7 },
			.ip = 0x10000, .nrctrs = 2, .user_depth = 2,
		},
		.value = { 5, 5, 0x10000, 0x11000 },
	};

	kit_begin(&kit_about);
	kit_comm(7, 7, "a", false);
	kit_map(7, 0x10000, 0x1000, 0, 9, "/bin/a");
	kit_sample(7, 7, 4, 1, 0x10000, NULL);
	kit_raw(&one, sizeof(one));
	one.sample.record.flags |= PERFCTR_RECORD_KERNEL;
	one.sample.user_depth = 0;
	one.sample.kernel_depth = 2;
	one.value[0] = 7;
	kit_raw(&one, sizeof(one));
	read_it();
	/* A caller is in the page before the address that it goes on from. */
	check_folded(0, "a;a+0 4\na;[unknown];[unknown] 1\na;[kernel]+10;[kernel]+10 2\n");
	ck_assert_uint_eq(report->profile.map_unknown, 1);
	ck_assert_uint_eq(report->profile.unmapped, 0);
	end();
}
END_TEST

/* Either kind of record that tells a file's identity, with its path behind it */
union identity {
	struct recfile_build_id id;
	struct recfile_file file;
	char bytes[sizeof(struct recfile_build_id) + 16];
};

static void tell_identity(union identity *identity, bool by_id, uint64_t inode, const char *path)
{
	size_t offset = by_id ? offsetof(struct recfile_build_id, path) : offsetof(struct recfile_file, path);
	struct perfctr_record record = {
		.type = by_id ? RECFILE_BUILD_ID : RECFILE_FILE, .size = (uint32_t)(offset + 15) / 8 * 8,
		.pid = 7, .tid = 7,
	};

	/* As kit_map() has it */
	if (by_id) {
		identity->id.inode = inode;
		identity->id.major = 8;
	} else {
		identity->file.inode = inode;
		identity->file.major = 8;
	}
	memcpy(identity, &record, sizeof(record));
	snprintf(identity->bytes + offset, 8, "%s", path);
	kit_raw(identity, record.size);
}

/* A file that is another one when it is mapped again; it may have no build id then. */
START_TEST(files_that_were_changed)
{
	static const struct {
		const char *name;
		bool by_id[2], changed;
	} objects[] = {
		{ "/same", { true, true }, false }, { "/byte", { true, true }, true },
		{ "/size", { true, true }, true }, { "/file", { true, false }, true },
		{ "/id", { false, true }, true }, { "/mtime", { false, false }, true },
		{ "/ctime", { false, false }, false },
	};
	size_t i, k, n = sizeof(objects) / sizeof(objects[0]);

	kit_begin(&kit_about);
	for (i = 0; i < n; i++) {
		kit_map(7, 0x10000 * (i + 1), 0x10000, 0, i + 1, objects[i].name);
		for (k = 0; k < 2; k++) {
			union identity identity = { .bytes = "" };

			if (objects[i].by_id[k]) {
				identity.id.id[19] = k && !strcmp(objects[i].name, "/byte");
				identity.id.id_size = k && !strcmp(objects[i].name, "/size") ? 19 : 20;
			} else {
				identity.file.mtime = k && !strcmp(objects[i].name, "/mtime");
				identity.file.ctime = k && !strcmp(objects[i].name, "/ctime");
			}
			tell_identity(&identity, objects[i].by_id[k], i + 1, objects[i].name);
		}
	}
	read_it();
	for (i = 0; i < n; i++) {
		for (k = 0; k < report->profile.objects_table.n; k++)
			if (!strcmp(report->profile.objects[k].path, objects[i].name))
				break;
		ck_assert_msg(k < report->profile.objects_table.n, "%s", objects[i].name);
		ck_assert_msg(report->profile.objects[k].changed == objects[i].changed, "%s", objects[i].name);
	}
	end();
}
END_TEST

/* Each kind is counted. */
START_TEST(what_must_be_told)
{
	struct perfctr_record_sample entered = {
		.record = { PERFCTR_RECORD_SAMPLE, PERFCTR_RECORD_ENTERED, sizeof(entered) + 16,
			    0, 7, 7 },
	};
	char raw[sizeof(entered) + 16] = "";

	entered.nrctrs = 2;
	memcpy(raw, &entered, sizeof(entered));
	kit_begin(&kit_about);
	kit_lost(5);
	kit_lost(6);
	kit_plain(PERFCTR_RECORD_THROTTLED, 7, 7);
	kit_raw(raw, sizeof(raw));
	kit_plain(99, 7, 7);
	read_it();
	ck_assert_uint_eq(report->profile.lost, 11);
	ck_assert_uint_eq(report->profile.throttled, 1);
	ck_assert_uint_eq(report->profile.entered, 1);
	ck_assert_uint_eq(report->profile.timers, 1);
	ck_assert_uint_eq(report->profile.unmapped, 1);
	ck_assert_uint_eq(report->profile.unknown, 1);
	end();
}
END_TEST

/* The treap against an array of pages, with forks on the way */
#define PAGES	64
#define SPACES	8

START_TEST(random_maps)
{
	static uint32_t model[SPACES][PAGES];
	struct space spaces[SPACES] = { { .root = NULL } };
	struct maps maps = { .chunks = NULL };
	unsigned int step, a, b, s, t, page;
	uint64_t random = 1;

	for (step = 0; step < 40000; step++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		s = random >> 33 & (SPACES - 1);
		t = random >> 36 & (SPACES - 1);
		a = random >> 39 & (PAGES - 1);
		b = a + 1 + (random >> 45) % (PAGES - a);
		switch (random >> 58) {
		case 0 ... 31:
			space_map(&maps, &spaces[s], &(struct map){
				a * 16ull, b * 16ull, a * 16ull, step + 1 });
			for (page = a; page < b; page++)
				model[s][page] = step + 1;
			break;
		case 32 ... 51:
			space_unmap(&maps, &spaces[s], a * 16ull, b * 16ull);
			memset(&model[s][a], 0, (b - a) * sizeof(model[s][0]));
			break;
		case 52 ... 62:
			if (s == t)
				break;
			space_fork(&maps, &spaces[s], &spaces[t]);
			memcpy(model[t], model[s], sizeof(model[s]));
			break;
		default:
			space_clear(&spaces[s]);
			memset(model[s], 0, sizeof(model[s]));
			break;
		}
		if (step % 16)
			continue;
		for (s = 0; s < SPACES; s++) {
			for (page = 0; page < PAGES; page++) {
				const struct map *map =
					space_find(&spaces[s], page * 16 + step % 16);

				ck_assert_uint_eq(map ? map->object : 0, model[s][page]);
				/* Every map here has its addresses as offsets. */
				ck_assert(!map || map->offset == map->start);
			}
		}
	}
	maps_free(&maps);
}
END_TEST

void add_profile_tests(TCase *tc)
{
	tcase_add_test(tc, weights_are_differences);
	tcase_add_test(tc, each_thread_has_its_own);
	tcase_add_test(tc, an_id_that_is_used_again);
	tcase_add_test(tc, stacks_of_callers);
	tcase_add_test(tc, times_and_the_outermost_caller);
	tcase_add_test(tc, inlined_functions_are_frames);
	tcase_add_test(tc, a_fork_copies_what_is_mapped);
	tcase_add_test(tc, an_exec_unmaps_all);
	tcase_add_test(tc, maps_replace_parts_of_others);
	tcase_add_test(tc, what_is_in_no_file);
	tcase_add_test(tc, a_map_that_is_not_known);
	tcase_add_test(tc, files_that_were_changed);
	tcase_add_test(tc, what_must_be_told);
	tcase_add_test(tc, random_maps);
}
