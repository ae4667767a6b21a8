// SPDX-License-Identifier: GPL-2.0
/*
 * The names of libpfm4. Which processor this is the library is told by its variable LIBPFM_FORCE_PMU; what
 * is expected are the numbers in the processors' manuals.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "run.h"

#define ANY	PERFCTR_MAP_ANY
#define USER	PERFCTR_CTR_USER
#define KERNEL	PERFCTR_CTR_KERNEL
#define PERF	PERFCTR_CTR_PERF
#define ARCH	PERFCTR_X86_INTEL_ARCH
#define RAW	4u	/* perf's type */

static const struct {
	const char *pmu;
	unsigned int cpu_type;
	const char *spec;
	unsigned long long event, config;
	unsigned int map, flags;
} good[] = {
	/* Intel SDM, volume 3, and the event lists of Ice Lake and Skylake */
	{ "icl", ARCH, "INST_RETIRED:ANY_P", 0xc0, 0, ANY, 0 },
	{ "icl", ARCH, "inst_retired.any_p:u", 0xc0, 0, ANY, USER },
	{ "icl", ARCH, "INST_RETIRED:ANY_P:k", 0xc0, 0, ANY, KERNEL },
	{ "icl", ARCH, "INST_RETIRED:ANY_P:uk", 0xc0, 0, ANY, USER | KERNEL },
	{ "icl", ARCH, "INST_RETIRED:ANY_P:u:k", 0xc0, 0, ANY, USER | KERNEL },
	{ "icl", ARCH, "INST_RETIRED:u:ANY_P", 0xc0, 0, ANY, USER },
	{ "icl", ARCH, "BR_INST_RETIRED:COND", 0x11c4, 0, ANY, 0 },
	{ "icl", ARCH, "BR_INST_RETIRED:COND:c=3:i:e:u", 0x03840000 | 0x11c4, 0, ANY, USER },
	{ "icl", ARCH, "CPU_CLK_UNHALTED:REF_TSC:u", 0x300, 0, ANY, USER },
	{ "icl", ARCH, "TOPDOWN:SLOTS:u", PERFCTR_EVENT_SLOTS, 0, ANY, USER },
	/* Fixed counters' own */
	{ "icl", ARCH, "INST_RETIRED:ANY", 0xc0, 0, 24, 0 },
	{ "icl", ARCH, "Inst_Retired.Any:uk", 0xc0, 0, 24, USER | KERNEL },
	{ "icl", ARCH, "INST_RETIRED:PREC_DIST:u", 0xc0, 0, 24, USER },
	{ "spr", ARCH, "INST_RETIRED:ANY", 0xc0, 0, 24, 0 },
	{ "spr", ARCH, "CPU_CLK_UNHALTED:THREAD:u", 0x3c, 0, 25, USER },
	{ "spr", ARCH, "CPU_CLK_UNHALTED:THREAD_P:u", 0x3c, 0, ANY, USER },
	{ "spr", ARCH, "TOPDOWN:SLOTS:u", PERFCTR_EVENT_SLOTS, 0, ANY, USER },
	{ "glm", ARCH, "CPU_CLK_UNHALTED:CORE", 0x3c, 0, 25, 0 },
	{ "glm", ARCH, "UNHALTED_REFERENCE_CYCLES", 0x300, 0, ANY, 0 },
	/* By perf, which has no counter of its own choice */
	{ "spr", PERFCTR_X86_GENERIC, "CPU_CLK_UNHALTED:THREAD", RAW, 0x3c, ANY, PERF },
	{ "spr", PERFCTR_X86_GENERIC, "L1D:REPLACEMENT:u", RAW, 0x151, ANY, USER | PERF },
	/* PREC_DIST by its number on Skylake */
	{ "skl", ARCH, "INST_RETIRED:PREC_DIST", 0x1c0, 0, ANY, 0 },
	{ "icl", ARCH, "OCR:DEMAND_DATA_RD_ANY_RESPONSE:u", 0x1b7, 0x10001, ANY, USER },
	{ "skl", ARCH, "L2_RQSTS:MISS", 0x3f24, 0, ANY, 0 },
	{ "skl", ARCH, "FRONTEND_RETIRED:DSB_MISS", 0x1c6, 0x11, ANY, 0 },
	/* AMD 55766: PMCx0C0, PMCx0C2. By the driver's own type: an event of 12 bits as well */
	{ "amd64_fam17h_zen2", PERFCTR_X86_AMD_ZEN2, "RETIRED_INSTRUCTIONS:u", 0xc0, 0, ANY, USER },
	{ "amd64_fam17h_zen2", PERFCTR_X86_AMD_ZEN2, "RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS", 0xd1, 0, ANY, 0 },
	{ "amd64_fam10h_barcelona", PERFCTR_X86_AMD_FAM10H, "RETIRED_INSTRUCTIONS:c=2:i", 0x028000c0, 0, ANY, 0 },
	{ "amd64_fam17h_zen2", PERFCTR_X86_GENERIC, "RETIRED_INSTRUCTIONS:u", RAW, 0xc0, ANY, USER | PERF },
	{ "amd64_fam17h_zen2", PERFCTR_X86_GENERIC, "RETIRED_BRANCH_INSTRUCTIONS", RAW, 0xc2, ANY, PERF },
};

START_TEST(numbers)
{
	struct perfctr_ctr_control ctr;

	setenv("LIBPFM_FORCE_PMU", good[_i].pmu, 1);
	ck_assert_msg(!perfctr_event_parse(good[_i].cpu_type, good[_i].spec, &ctr), "no %s",
		      good[_i].spec);
	ck_assert_uint_eq(ctr.event, good[_i].event);
	ck_assert_uint_eq(ctr.config, good[_i].config);
	ck_assert_uint_eq(ctr.config1, 0);
	ck_assert_uint_eq(ctr.map, good[_i].map);
	ck_assert_uint_eq(ctr.flags, good[_i].flags);
}
END_TEST

static const struct {
	const char *spec;
	unsigned int cpu_type;
	int error;
} bad[] = {
	{ "NO_SUCH_EVENT", ARCH, ENOENT },
	{ "NO_SUCH_EVENT:u:k", ARCH, ENOENT },
	{ "INST_RETIRED:ANY_P:u=0", ARCH, EINVAL },
	{ "cycles:NO_SUCH_UNIT", ARCH, EINVAL },
	/* Another processor's, whatever libpfm4 may be told to encode */
	{ "skl::INST_RETIRED:ANY_P", ARCH, ENOENT },
	{ "INST_RETIRED:NO_SUCH_UNIT:u", ARCH, EINVAL },
	{ "INST_RETIRED:ANY_P:c=1000", ARCH, EINVAL },
	{ "INST_RETIRED:ANY_P:", ARCH, EINVAL },
	{ "INST_RETIRED:ANY_P:precise=1", ARCH, EINVAL },
	/* Guests alone, guests too, transactions alone: no control has that. */
	{ "INST_RETIRED:ANY_P:mg=1", ARCH, EOPNOTSUPP },
	{ "INST_RETIRED:ANY_P:mg=1:mh=1", ARCH, EOPNOTSUPP },
	{ "INST_RETIRED:ANY_P:intx", ARCH, EOPNOTSUPP },
	/* libpfm4 loses the code of these. */
	{ "TOPDOWN:BACKEND_BOUND_SLOTS", ARCH, EOPNOTSUPP },
	{ "TOPDOWN:BR_MISPREDICT_SLOTS", PERFCTR_X86_GENERIC, EOPNOTSUPP },
	/* perf's, which a processor's driver does not have */
	{ "PERF_COUNT_HW_CPU_CYCLES", ARCH, ENOENT },
	{ "PERF_COUNT_SW_CPU_CLOCK", ARCH, ENOENT },
	{ "PERF_COUNT_SW_CPU_CLOCK", PERFCTR_X86_GENERIC, ENOENT },
	/* Not for these processors */
	{ "INST_RETIRED:ANY_P", PERFCTR_RISCV_SBI, ENOENT },
};

START_TEST(errors)
{
	struct perfctr_ctr_control ctr;

	setenv("LIBPFM_FORCE_PMU", "icl", 1);
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	errno = 0;
	ck_assert_int_eq(perfctr_event_parse(bad[_i].cpu_type, bad[_i].spec, &ctr), -1);
	ck_assert_int_eq(errno, bad[_i].error);
}
END_TEST

static const char *description_of(const struct perfctr_event_name *names, const char *name)
{
	for (; names->name; names++)
		if (!strcmp(names->name, name))
			return names->description;
	return NULL;
}

/* Each that is listed can be parsed, but for a few of units that need another. */
START_TEST(listed)
{
	struct perfctr_event_name *names, *name;
	struct perfctr_ctr_control ctr;
	unsigned int n = 0, parsed = 0;

	setenv("LIBPFM_FORCE_PMU", "icl", 1);
	names = perfctr_more_event_names();
	ck_assert_ptr_nonnull(names);
	for (name = names; name->name; name++) {
		ck_assert(name == names || strcmp(name[-1].name, name->name) <= 0);
		n++;
		parsed += !perfctr_event_parse(ARCH, name->name, &ctr);
	}
	ck_assert_uint_ge(n, 300);
	ck_assert_uint_ge(parsed, n - n / 20);
	ck_assert_ptr_nonnull(description_of(names, "INST_RETIRED:ANY_P"));
	ck_assert_ptr_null(description_of(names, "INST_RETIRED"));
	free(names);
}
END_TEST

/* The kernel's names are in the tables, too. */
START_TEST(no_name_twice)
{
	struct perfctr_near near = { .max = 3 };

	perfctr_near_compare(&near, "branch-mises", 12, "branch-misses");
	perfctr_near_compare(&near, "branch-mises", 12, "Branch-Misses");
	ck_assert_uint_eq(near.n, 1);
}
END_TEST

static const char *const intel[] = {
	"core", "nhm", "wsm", "snb", "ivb", "hsw", "bdw", "skl", "clx", "icl", "icx", "spr", "slm", "glm", "tmt",
};

/* No control has code 0 but for the two of fixed counters, so no name may get another's number. */
START_TEST(no_code_is_lost)
{
	struct perfctr_event_name *names, *name;
	struct perfctr_ctr_control ctr;

	setenv("LIBPFM_FORCE_PMU", intel[_i], 1);
	names = perfctr_more_event_names();
	ck_assert_ptr_nonnull(names);
	for (name = names; name->name; name++) {
		if (perfctr_event_parse(ARCH, name->name, &ctr) || ctr.event & 0xff)
			continue;
		if (ctr.event == PERFCTR_EVENT_SLOTS)
			ck_assert_str_eq(name->name, "TOPDOWN:SLOTS");
		else
			ck_assert_msg(ctr.event == 0x300 && strstr(name->name, "REF"), "%s is 0x%llx",
				      name->name, ctr.event);
	}
	free(names);
}
END_TEST

/* A child of fork() has the lock, whoever held it in the parent. */
static void *parse(void *stop)
{
	struct perfctr_ctr_control ctr;

	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
		(void)perfctr_event_parse(ARCH, "INST_RETIRED:ANY_P", &ctr);
	return NULL;
}

START_TEST(forks_while_another_parses)
{
	struct perfctr_ctr_control ctr;
	int stop = 0, status, i;
	pthread_t thread;
	pid_t pid;

	setenv("LIBPFM_FORCE_PMU", "icl", 1);
	/* A library that is being loaded as its process forks is broken in the child: not perfctr's affair. */
	ck_assert_int_eq(perfctr_event_parse(ARCH, "INST_RETIRED:ANY_P", &ctr), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, parse, &stop), 0);
	for (i = 0; i < 500; i++) {
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (!pid) {
			(void)alarm(10);
			_exit(perfctr_event_parse(ARCH, "INST_RETIRED:ANY_P", &ctr));
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(near)
{
	char **names;

	setenv("LIBPFM_FORCE_PMU", "icl", 1);
	names = perfctr_event_suggest(ARCH, "INST_RETIRED:ANYP:u", 2);
	ck_assert_ptr_nonnull(names);
	ck_assert_str_eq(names[0], "INST_RETIRED:ANY");
	ck_assert_str_eq(names[1], "INST_RETIRED:ANY_P");
	ck_assert_ptr_null(names[2]);
	free((void *)names);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("pfm");

	tcase_add_loop_test(tcase, numbers, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tcase, errors, 0, ARRAY_SIZE(bad));
	tcase_add_test(tcase, listed);
	tcase_add_test(tcase, near);
	tcase_add_test(tcase, no_name_twice);
	tcase_add_loop_test(tcase, no_code_is_lost, 0, ARRAY_SIZE(intel));
	tcase_add_test(tcase, forks_while_another_parses);
	tcase_set_timeout(tcase, 60);
	return run_tests("pfm", tcase);
}
