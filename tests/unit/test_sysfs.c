// SPDX-License-Identifier: GPL-2.0
/* The names that the kernel has for events, in trees like its own. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "run.h"

static char root[64];

/* Makes ROOT/PATH with this text, and the directories above it. */
static void file(const char *path, const char *text)
{
	char whole[256], *slash;
	FILE *f;

	(void)snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (slash = whole + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(whole, 0700);
		*slash = '/';
	}
	f = fopen(whole, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void begin(void)
{
	strcpy(root, "/tmp/test_sysfs.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void end(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

static void intel(void)
{
	file("cpu/type", "4\n");
	file("cpu/format/event", "config:0-7\n");
	file("cpu/format/umask", "config:8-15\n");
	file("cpu/format/edge", "config:18\n");
	file("cpu/format/inv", "config:23\n");
	file("cpu/format/cmask", "config:24-31\n");
	file("cpu/format/offcore_rsp", "config1:0-63\n");
	file("cpu/events/mem-stores", "event=0xd0,umask=0x82\n");
}

static void expect(const char *name, unsigned int type, unsigned long long config,
		   unsigned long long config1, unsigned long long config2)
{
	struct perfctr_named_event event;

	ck_assert_msg(!perfctr_sysfs_event(root, name, &event), "no %s", name);
	ck_assert_uint_eq(event.type, type);
	ck_assert_uint_eq(event.config[0], config);
	ck_assert_uint_eq(event.config[1], config1);
	ck_assert_uint_eq(event.config[2], config2);
}

static void expect_none(const char *name)
{
	struct perfctr_named_event event;

	ck_assert_msg(perfctr_sysfs_event(root, name, &event) == ENOENT, "there is a '%s'", name);
}

START_TEST(bits_are_placed)
{
	intel();
	expect("mem-stores", 4, 0x82d0, 0, 0);
	file("cpu/events/all", "event=0xb7,umask=0x1,cmask=2,inv,edge=1,offcore_rsp=0x8000000000000001\n");
	expect("all", 4, 0x028401b7, 0x8000000000000001, 0);
	/* AMD's event has more bits in another place; without a newline */
	file("cpu/format/event", "config:0-7,32-35");
	file("cpu/events/amd", "event=0x1c5");
	expect("amd", 4, 0x1000000c5, 0, 0);
	file("cpu/format/third", "config2:4-7\n");
	file("cpu/events/third", "event=0,third=0xf\n");
	expect("third", 4, 0, 0, 0xf0);
}
END_TEST

START_TEST(what_is_not_understood_is_not_there)
{
	static const char *const texts[] = {
		"event=0x100\n",			/* too large */
		"event=\n", "event=x\n", "event=1x\n", "=1\n", "\n", "",
		"event=1,nosuch=2\n", "event=1,\n",
		"odd=1\n", "unordered=1\n", "far=1\n", "nobits=1\n",
		"event=1,../type=1\n",
	};
	char path[64];
	unsigned int i;

	intel();
	file("cpu/format/odd", "period:0-7\n");
	file("cpu/format/unordered", "config:7-0\n");
	file("cpu/format/far", "config:60-64\n");
	file("cpu/format/nobits", "config\n");
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		(void)snprintf(path, sizeof(path), "cpu/events/bad%u", i);
		file(path, texts[i]);
		expect_none(strrchr(path, '/') + 1);
	}
	expect_none("");
	expect_none(".");
	expect_none("..");
	expect_none("../type");
	expect_none("mem-stores/");
	expect_none("mem-loads");
	expect("mem-stores", 4, 0x82d0, 0, 0);
}
END_TEST

START_TEST(cores_of_one_type)
{
	/* ARM's device has a number in its name; others count something else. */
	file("armv8_pmuv3_0/type", "10\n");
	file("armv8_pmuv3_0/cpus", "0-3\n");
	file("armv8_pmuv3_0/format/event", "config:0-15\n");
	file("armv8_pmuv3_0/events/l2d_cache", "event=0x0016\n");
	file("uncore_imc/type", "11\n");
	file("uncore_imc/cpumask", "0\n");
	file("uncore_imc/format/event", "config:0-7\n");
	file("uncore_imc/events/reads", "event=0x1\n");
	expect("l2d_cache", 10, 0x16, 0, 0);
	expect_none("reads");
}
END_TEST

START_TEST(cores_of_several_types)
{
	file("cpu_core/type", "4\n");
	file("cpu_core/cpus", "0-3\n");
	file("cpu_core/format/event", "config:0-7\n");
	file("cpu_core/events/ours", "event=0x1\n");
	file("cpu_atom/type", "10\n");
	file("cpu_atom/cpus", "4-7\n");
	expect_none("ours");
}
END_TEST

START_TEST(no_such_tree)
{
	expect_none("cycles");
	ck_assert_int_eq(rmdir(root), 0);
	expect_none("cycles");
	ck_assert_int_eq(mkdir(root, 0700), 0);
	file("cpu/events/untyped", "event=1\n");
	expect_none("untyped");
	file("cpu/type", "x\n");
	expect_none("untyped");
}
END_TEST

static struct perfctr_event_name *names_of_root(void)
{
	struct perfctr_names names;

	ck_assert_int_eq(perfctr_names_begin(&names), 0);
	ck_assert_int_eq(perfctr_sysfs_names(root, &names), 0);
	return perfctr_names_end(&names);
}

START_TEST(names_are_sorted)
{
	struct perfctr_event_name *names = names_of_root();

	ck_assert_ptr_nonnull(names);
	ck_assert_ptr_null(names[0].name);
	free(names);
	intel();
	file("cpu/events/mem-loads", "event=0xcd\n");
	file("cpu/events/mem-loads.scale", "1\n");
	file("cpu/events/cycles", "event=0x3c\n");
	names = names_of_root();
	ck_assert_str_eq(names[0].name, "cycles");
	ck_assert_ptr_null(names[0].description);
	ck_assert_str_eq(names[1].name, "mem-loads");
	ck_assert_str_eq(names[2].name, "mem-stores");
	ck_assert_ptr_null(names[3].name);
	free(names);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("sysfs");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, bits_are_placed);
	tcase_add_test(tcase, what_is_not_understood_is_not_there);
	tcase_add_test(tcase, cores_of_one_type);
	tcase_add_test(tcase, cores_of_several_types);
	tcase_add_test(tcase, no_such_tree);
	tcase_add_test(tcase, names_are_sorted);
	return run_tests("sysfs", tcase);
}
