// SPDX-License-Identifier: GPL-2.0
/* The library's information on the processor, and how it is printed: the kernel's answers are our own. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <libperfctr.h>

#include "run.h"

static struct perfctr_kernel_info kernel;
static int info_error;

/* 70 CPUs, of which some are not there, and some may not be counted on */
static const unsigned int masks[2][3] = { { 0x8000000f, 0xffffffff, 0x1 }, { 0x80000002, 0x1, 0x0 } };
static unsigned int words;

/* In place of the C library's */
int ioctl(int fd, unsigned long request, ...)
{
	struct perfctr_cpus *cpus;
	unsigned int room;
	va_list args;
	void *arg;

	(void)fd;
	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == PERFCTR_IOC_INFO) {
		errno = info_error;
		if (info_error)
			return -1;
		memcpy(arg, &kernel, sizeof(kernel));
		return 0;
	}
	ck_assert(request == PERFCTR_IOC_CPUS);
	cpus = arg;
	room = cpus->nrwords;
	cpus->nrwords = words;
	if (room < words) {
		errno = EOVERFLOW;
		return -1;
	}
	memcpy((void *)(uintptr_t)cpus->mask, masks[cpus->which], words * sizeof(masks[0][0]));
	return 0;
}

static void begin(void)
{
	kernel = (struct perfctr_kernel_info){
		.abi_version = PERFCTR_ABI_VERSION + 0x00000102,
		.driver_version = "7.1.2",
		.cpu_type = PERFCTR_X86_INTEL_ARCH,
		.cpu_features = PERFCTR_FEATURE_RDTSC | PERFCTR_FEATURE_SHARED | PERFCTR_FEATURE_TOPDOWN,
		.cpu_khz = 2100000,
		.tsc_to_cpu_mult = 3,
		.tsc_hz = 2000000000,
		.nrctrs = 8,
		.no_counters = 9,
		.user_read = PERFCTR_USER_READ_GUARDED,
		.width = 48,
		.counters = 0x70000000full,
		.events = { 11, 12 },
		.source = PERFCTR_SOURCE_SHARED,
		.topdown = 13,
	};
	info_error = 0;
	words = 3;
}

/* What is printed between two calls */
static FILE *terminal;
static char *printed;
static size_t size;

static void capture(void)
{
	terminal = stdout;
	stdout = open_memstream(&printed, &size);
	ck_assert_ptr_nonnull(stdout);
}

static void captured(const char *expected)
{
	fclose(stdout);
	stdout = terminal;
	ck_assert_str_eq(printed, expected);
	free(printed);
}

START_TEST(test_info)
{
	struct perfctr_info info;

	begin();
	ck_assert_int_eq(perfctr_info(0, &info), 0);
	ck_assert_uint_eq(info.abi_version, PERFCTR_ABI_VERSION + 0x102);
	ck_assert_str_eq(info.driver_version, "7.1.2");
	ck_assert_uint_eq(info.cpu_type, PERFCTR_X86_INTEL_ARCH);
	ck_assert_uint_eq(info.own_cpu_type, PERFCTR_X86_INTEL_ARCH);
	ck_assert_uint_eq(info.cpu_features, 0x482);
	ck_assert_uint_eq(info.cpu_khz, 2100000);
	ck_assert_uint_eq(info.tsc_to_cpu_mult, 3);
	ck_assert_uint_eq(info.tsc_hz, 2000000000);
	ck_assert_uint_eq(info.nrctrs, 8);
	ck_assert_uint_eq(info.no_counters, 9);
	ck_assert_uint_eq(info.user_read, PERFCTR_USER_READ_GUARDED);
	ck_assert_uint_eq(info.width, 48);
	ck_assert_uint_eq(info.counters, 0x70000000full);
	ck_assert_uint_eq(info.events[0], 11);
	ck_assert_uint_eq(info.events[1], 12);
	ck_assert_uint_eq(info.source, PERFCTR_SOURCE_SHARED);
	ck_assert_uint_eq(info.topdown, 13);
	capture();
	perfctr_info_print(&info);
	captured("abi_version\t\t0x07000102\n"
		 "driver_version\t\t7.1.2\n"
		 "cpu_type\t\t23 (Intel, by architectural performance monitoring)\n"
		 "cpu_features\t\t0x482 (rdtsc,shared,topdown)\n"
		 "cpu_khz\t\t\t2100000\n"
		 "tsc_to_cpu_mult\t\t3\n"
		 "tsc_hz\t\t\t2000000000\n"
		 "cpu_nrctrs\t\t8\n"
		 "counters\t\t0x70000000f\n"
		 "width\t\t\t48\n"
		 "user_read\t\tguarded\n"
		 "source_in_use\t\tshared\n");
	info.own_cpu_type = PERFCTR_X86_AMD_K7;
	info.cpu_type = 0x12345678;
	info.cpu_khz = info.tsc_to_cpu_mult = 0;
	info.user_read = PERFCTR_USER_READ_OPEN;
	info.source = PERFCTR_SOURCE_ANY;
	info.cpu_features = 0x7ff;
	memset(info.driver_version, '7', sizeof(info.driver_version));
	capture();
	perfctr_info_print(&info);
	captured("abi_version\t\t0x07000102\n"
		 "driver_version\t\t77777777777777777777777777777777\n"
		 "cpu_type\t\t305419896 (unknown)\n"
		 "own_cpu_type\t\t9 (PERFCTR_CPU_TYPE has it reported as the other)\n"
		 "cpu_features\t\t0x7ff (rdpmc,rdtsc,pcint,filter,filter_fixed,hybrid,native,shared,"
		 "hypervisor,unknown_model,topdown)\n"
		 "cpu_khz\t\t\tunknown\n"
		 "tsc_to_cpu_mult\t\tunknown\n"
		 "tsc_hz\t\t\t2000000000\n"
		 "cpu_nrctrs\t\t8\n"
		 "counters\t\t0x70000000f\n"
		 "width\t\t\t48\n"
		 "user_read\t\topen\n"
		 "source_in_use\t\tnative and shared\n");
}
END_TEST

/* Only the first byte of the version must be ours. */
START_TEST(test_abi)
{
	begin();
	ck_assert_int_eq(perfctr_abi_check_fd(0), 0);
	kernel.abi_version = PERFCTR_ABI_VERSION ^ 0x01000000;
	errno = 0;
	ck_assert_int_eq(perfctr_abi_check_fd(0), -1);
	ck_assert_int_eq(errno, EPROTO);
	info_error = ENOTTY;
	ck_assert_int_eq(perfctr_abi_check_fd(0), -1);
	ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

START_TEST(test_cpus)
{
	struct perfctr_cpus_info *info;

	begin();
	info = perfctr_cpus_info(0);
	ck_assert_ptr_nonnull(info);
	ck_assert_uint_eq(info->cpus->nrwords, 3);
	ck_assert_mem_eq(info->cpus->mask, masks[0], sizeof(masks[0]));
	ck_assert_uint_eq(info->cpus_forbidden->nrwords, 3);
	ck_assert_mem_eq(info->cpus_forbidden->mask, masks[1], sizeof(masks[1]));
	capture();
	perfctr_cpus_info_print(info);
	captured("cpus\t\t\t0-3,31-64\ncpus_forbidden\t\t1,31-32\n");
	free(info);
	words = 1;
	info = perfctr_cpus_info(0);
	ck_assert_ptr_nonnull(info);
	info->cpus_forbidden->mask[0] = 0;
	capture();
	perfctr_cpus_info_print(info);
	captured("cpus\t\t\t0-3,31\ncpus_forbidden\t\tnone\n");
	free(info);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)
START_TEST(test_control)
{
	struct perfctr_cpu_control control = {
		.tsc_on = 1,
		.nractrs = 3,
		.nrictrs = 1,
		.pmc_map = { 2, PERFCTR_MAP_ANY, 0x40000001, 4 },
		.evntsel = { 0x410076, 0x4300c0, 0, 7 },
		.ireset[3] = -1000,
	};

	/* They are in one union. */
	control.evntsel_high[1] = 5;
	control.nhlm.offcore_rsp[1] = 0x3f;
	capture();
	perfctr_cpu_control_print(&control);
	captured("tsc_on\t\t\t1\n"
		 "nractrs\t\t\t3\n"
		 "nrictrs\t\t\t1\n"
		 "pmc_map[0]\t\t2\n"
		 "evntsel[0]\t\t0x00410076\n"
		 "pmc_map[1]\t\tany\n"
		 "evntsel[1]\t\t0x004300c0\n"
		 "evntsel_high[1]\t\t0x00000005\n"
		 "pmc_map[2]\t\t0x40000001\n"
		 "evntsel[2]\t\t0x00000000\n"
		 "pmc_map[3]\t\t4\n"
		 "evntsel[3]\t\t0x00000007\n"
		 "ireset[3]\t\t-1000\n"
		 "nhlm.offcore_rsp[1]\t0x0000003f\n");
	control = (struct perfctr_cpu_control){
		.nractrs = 1,
		.pmc_map[0] = 4,
		.evntsel[0] = 0xc0,
		.evntsel_high[0] = 9,
		.extended = PERFCTR_EXTENDED,
		.perf_user = 1,
		.perf_kernel = 1,
	};
	capture();
	perfctr_cpu_control_print(&control);
	captured("tsc_on\t\t\t0\n"
		 "nractrs\t\t\t1\n"
		 "pmc_map[0]\t\tperf type 4\n"
		 "evntsel[0]\t\t0x000000c0\n"
		 "evntsel_high[0]\t\t0x00000009\n"
		 "perf mode[0]\t\tuk\n");
}
END_TEST
#endif

int main(void)
{
	TCase *tcase = tcase_create("device");

	tcase_add_test(tcase, test_info);
	tcase_add_test(tcase, test_abi);
	tcase_add_test(tcase, test_cpus);
#if defined(__x86_64__) || defined(__i386__)
	tcase_add_test(tcase, test_control);
#endif
	return run_tests("device", tcase);
}
