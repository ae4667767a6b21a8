// SPDX-License-Identifier: GPL-2.0
/*
 * x86's events with a register of their own: the emulated Nehalem has one such register,
 * Skylake and Ice Lake have three. The events count nothing in QEMU, so the tests look at the
 * registers, on each CPU.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define USER	PERFCTR_CTR_USER
#define OUTPUT	"/tmp/extra.out"

#define OFFCORE_0	0x01b7u
#define OFFCORE_1	0x01bbu
#define FRONTEND	0x01c6u

#define RSP_0	0x1a6u
#define RSP_1	0x1a7u
#define PEBS_FRONTEND	0x3f7u

static unsigned int model_number(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int eax, ebx, ecx, edx;

	__cpuid(1, eax, ebx, ecx, edx);
	return (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
#else
	return 0;
#endif
}

/* 0: no such events; 1: Nehalem; 2: Skylake; 3: Ice Lake */
static int kind(void)
{
	if (!guest.nprogrammable)
		return 0;
	switch (model_number()) {
	case 26: return 1;
	case 94: return 2;
	case 106: return 3;
	default: return 0;
	}
}

static uint64_t rsp_valid(void)
{
	static const uint64_t valid[] = { 0, 0xffff, 0x3fffff8fff, 0x3fffffbfff };

	return valid[kind()];
}

static uint64_t reg(unsigned int cpu, uint32_t msr)
{
	uint64_t value = ~0ull;
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(pread(fd, &value, sizeof(value), msr), sizeof(value));
	close(fd);
	return value;
}

static void expect(uint32_t msr, uint64_t value)
{
	unsigned int cpu;

	for (cpu = 0; cpu < guest.ncpus; cpu++)
		ck_assert_msg(reg(cpu, msr) == value, "CPU %u, MSR %#x: %#llx, expected %#llx", cpu,
			      msr, (unsigned long long)reg(cpu, msr), (unsigned long long)value);
}

static void add(struct perfctr_control *control, uint64_t event, uint64_t config)
{
	control_add_at(control, PERFCTR_MAP_ANY, event, USER);
	control->ctr[control->nractrs - 1].config = config;
}

static void stop(int fd)
{
	struct perfctr_control none;

	control_init(&none);
	set_control(fd, &none);
}

static int try_one(int fd, uint64_t event, uint64_t config)
{
	struct perfctr_control control;
	int err;

	control_init(&control);
	add(&control, event, config);
	err = try_control(fd, &control);
	ck_assert_uint_eq(control.owner,
			  err == -EBUSY ? PERFCTR_OWNER_PERFCTR : PERFCTR_OWNER_NONE);
	ck_assert_uint_eq(control.refused, err ? 0 : PERFCTR_NO_INDEX);
	return err;
}


START_TEST(errors)
{
	int fd = open_self(), which = kind(), bit;
	struct perfctr_control control;

	if (!which) {
		/* No event has a register, so none takes a config. */
		ck_assert_int_eq(try_one(fd, OFFCORE_0, 1), -EINVAL);
		ck_assert_int_eq(try_one(fd, FRONTEND, 1), -EINVAL);
		ck_assert_int_eq(try_one(fd, EV_INSTRUCTIONS, 1), -EINVAL);
		return;
	}
	for (bit = 0; bit < 64; bit++) {
		/* The caller's own last value would be in the way, as anybody's. */
		stop(fd);
		ck_assert_int_eq(try_one(fd, OFFCORE_0, 1ull << bit),
				 rsp_valid() >> bit & 1 ? 0 : -EINVAL);
		/* Nehalem has no second register: this is an ordinary event there. */
		ck_assert_int_eq(try_one(fd, OFFCORE_1, 1ull << bit),
				 which > 1 && rsp_valid() >> bit & 1 ? 0 : -EINVAL);
		ck_assert_int_eq(try_one(fd, FRONTEND, 1ull << bit),
				 which > 1 && 0x7fff17ull >> bit & 1 ? 0 : -EINVAL);
	}
	stop(fd);
	ck_assert_int_eq(try_one(fd, OFFCORE_0, rsp_valid()), 0);
	ck_assert_int_eq(try_one(fd, OFFCORE_0, 0), -EINVAL);
	stop(fd);
	ck_assert_int_eq(try_one(fd, OFFCORE_1, 0), which > 1 ? -EINVAL : 0);
	ck_assert_int_eq(try_one(fd, EV_INSTRUCTIONS, 1), -EINVAL);
	/* The latency of loads */
	ck_assert_int_eq(try_one(fd, which > 1 ? 0x01cd : 0x100b, 3), -EOPNOTSUPP);

	control_init(&control);
	add(&control, OFFCORE_0, 1);
	add(&control, EV_INSTRUCTIONS, 0);
	add(&control, OFFCORE_0, 3);
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	control.ctr[2].config = 1;
	ck_assert_int_eq(try_control(fd, &control), 0);
	control_init(&control);
	control_add_at(&control, 24, EV_INSTRUCTIONS, USER);
	control.ctr[0].config = 1;
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
}
END_TEST

/* All CPUs have the value as long as anybody counts by it, also beside an exact counter. */
START_TEST(one_value_for_all)
{
	struct perfctr_control control, back = { PERFCTR_CONTROL_INIT };
	uint64_t sum[5];
	unsigned int i;
	int fd = open_self();

	expect(RSP_0, 0);
	control_init(&control);
	add(&control, EV_INSTRUCTIONS, 0);
	add(&control, OFFCORE_0, 0x101);
	if (kind() > 1) {
		add(&control, OFFCORE_1, 0x8002);
		add(&control, FRONTEND, 0x100011);
	}
	set_control(fd, &control);
	expect(RSP_0, 0x101);
	if (kind() > 1) {
		expect(RSP_1, 0x8002);
		expect(PEBS_FRONTEND, 0x100011);
	}
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &back));
	ck_assert_uint_eq(back.ctr[1].config, 0x101);
	ck_assert_uint_eq(back.ctr[1].event, OFFCORE_0);
	set_control(fd, &back);
	/* The reads' own length is the same each time, but for the first. */
	for (i = 0; i < 5; i++) {
		sum[i] = read_sum(fd, 0);
		body_spin(1000ul * (i + 1));
	}
	ck_assert_uint_eq((sum[4] - sum[3]) - (sum[3] - sum[2]),
			  BODY_SPIN(4000) - BODY_SPIN(3000));
	ck_assert_uint_eq(read_sum(fd, 1), 0);
	stop(fd);
	expect(RSP_0, 0);
	if (kind() > 1) {
		expect(RSP_1, 0);
		expect(PEBS_FRONTEND, 0);
	}
}
END_TEST

/* A child that counts with @config until it is killed */
static pid_t other_counts(uint64_t config)
{
	volatile int *ready = shared_alloc(sizeof(*ready));
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		int fd = try_open(PERFCTR_OPEN_CREAT);

		*ready = 1 - try_one(fd, OFFCORE_0, config);
		for (;;)
			pause();
	}
	while (!*ready)
		sleep_us(1000);
	ck_assert_int_eq(*ready, 1);
	return pid;
}

static void end(pid_t pid)
{
	ck_ok(kill(pid, SIGKILL));
	ck_ok(waitpid(pid, NULL, 0));
}

START_TEST(another_value_is_busy)
{
	int fd = open_self(), tries;
	pid_t other = other_counts(0x101);

	expect(RSP_0, 0x101);
	ck_assert_int_eq(try_one(fd, OFFCORE_0, 0x102), -EBUSY);
	expect(RSP_0, 0x101);
	if (kind() > 1)
		ck_assert_int_eq(try_one(fd, OFFCORE_1, 0x102), 0);
	ck_assert_int_eq(try_one(fd, OFFCORE_0, 0x101), 0);
	end(other);
	/* A thread that ends gives its value back a little later. */
	sleep_us(100000);
	expect(RSP_0, 0x101);
	stop(fd);
	expect(RSP_0, 0);
	other = other_counts(0x103);
	ck_assert_int_eq(try_one(fd, OFFCORE_0, 0x101), -EBUSY);
	end(other);
	for (tries = 0; tries < 100 && try_one(fd, OFFCORE_0, 0x102); tries++)
		sleep_us(10000);
	expect(RSP_0, 0x102);
	/* So is the caller's own: a refused control must not change what is counted. */
	ck_assert_int_eq(try_one(fd, OFFCORE_0, 0x104), -EBUSY);
	expect(RSP_0, 0x102);
	stop(fd);
	ck_assert_int_eq(try_one(fd, OFFCORE_0, 0x104), 0);
	expect(RSP_0, 0x104);
	stop(fd);
}
END_TEST

START_TEST(over_hotplug)
{
	int fd = open_self();

	ck_assert_int_eq(try_one(fd, OFFCORE_0, 0x101), 0);
	ck_assert_int_eq(cpu_online(1, false), 0);
	ck_assert_uint_eq(reg(0, RSP_0), 0x101);
	ck_assert_int_eq(cpu_online(1, true), 0);
	expect(RSP_0, 0x101);
	/* The CPU comes while others count by another value, ... */
	ck_assert_int_eq(cpu_online(1, false), 0);
	stop(fd);
	ck_assert_int_eq(try_one(fd, OFFCORE_0, 0x8002), 0);
	ck_assert_int_eq(cpu_online(1, true), 0);
	expect(RSP_0, 0x8002);
	/* ... and while nobody counts. */
	ck_assert_int_eq(cpu_online(1, false), 0);
	stop(fd);
	ck_assert_int_eq(cpu_online(1, true), 0);
	/* Beside perf it may keep its value, because perf writes the register before it needs it. */
	if (!is_beside())
		expect(RSP_0, 0);
}
END_TEST

/* By perfctr 2.6's structures */
START_TEST(by_the_library)
{
	struct vperfctr *v = vperfctr_open();
	struct vperfctr_control control, back;

	ck_assert_ptr_nonnull(v);
	memset(&control, 0, sizeof(control));
	control.cpu_control.extended = PERFCTR_EXTENDED;
	control.source = VPERFCTR_SOURCE_NATIVE;
	control.cpu_control.nractrs = 2;
	control.cpu_control.pmc_map[0] = 1;
	OLD_EVENT(&control.cpu_control, 0, EV_INSTRUCTIONS);
	control.cpu_control.pmc_map[1] = 0;
	control.cpu_control.evntsel[1] = EVNTSEL(OFFCORE_0);
	ck_errno(vperfctr_control(v, &control), EINVAL);
#if defined(__x86_64__) || defined(__i386__)
	control.cpu_control.nhlm.offcore_rsp[1] = 0x101;
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.nhlm.offcore_rsp[0] = 0x101;
	control.cpu_control.nhlm.offcore_rsp[1] = 0;
	ck_ok(vperfctr_control(v, &control));
	expect(RSP_0, 0x101);
	ck_ok(vperfctr_read_state(v, NULL, &back));
	ck_assert_mem_eq(&back, &control, sizeof(back));
	control.cpu_control.evntsel_high[0] = 1;
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel_high[0] = 0;
	OLD_EVENT(&control.cpu_control, 1, EV_INSTRUCTIONS);
	ck_errno(vperfctr_control(v, &control), EINVAL);
	expect(RSP_0, 0x101);
#else
	(void)back;
#endif
	ck_ok(vperfctr_stop(v));
	vperfctr_close(v);
}
END_TEST

/* perf has registers of such events as well. */
static int perfex(const char *event)
{
	char command[160];
	int status;

	(void)snprintf(command, sizeof(command), "/usr/bin/perfex --source native -e %s /bin/true >%s 2>&1", event,
		       OUTPUT);
	status = system(command);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect_output(const char *part)
{
	char text[4096];

	ck_assert_int_ge(read_text(OUTPUT, text, sizeof(text)), 0);
	ck_assert_msg(strstr(text, part) != NULL, "no '%s' in: %s", part, text);
}

START_TEST(by_perfex)
{
	pid_t other;

	ck_assert_int_eq(perfex("r1b7/101:u,instructions:u"), 0);
	expect_output("r1b7/101:u");
	ck_assert_int_ne(perfex("r1b7:u"), 0);
	expect_output("cannot count r1b7");
	ck_assert_int_ne(perfex(kind() > 1 ? "r1cd/3:u" : "r100b/3:u"), 0);
	expect_output("a register of its own");
	other = other_counts(0x101);
	ck_assert_int_eq(perfex("r1b7/101:u"), 0);
	ck_assert_int_ne(perfex("r1b7/102:u"), 0);
	expect_output("another value of the event's register");
	end(other);
}
END_TEST

/* A pinned event of perf's on CPU 0 that needs this value in RSP_0. perf may also count it by RSP_1. */
static int perfs(uint64_t config)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .size = sizeof(attr), .config = OFFCORE_0,
		.config1 = config, .pinned = 1, .exclude_kernel = 1, .exclude_hv = 1 };
	int perf;

	ck_ok(perf = perf_open(&attr, -1, 0, -1));
	return perf;
}

/* Perf keeps the register that it has, and shares it with who needs the same value. */
START_TEST(perf_has_the_register)
{
	struct perfctr_control control;
	int fd = open_self(), perf;

	until_given_back();
	perf = perfs(0x102);
	control_init(&control);
	control.source = PERFCTR_SOURCE_NATIVE;
	add(&control, OFFCORE_0, 0x101);
	ck_assert_int_eq(try_control(fd, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERF);
	ck_assert_uint_eq(control.refused, 0);
	ck_assert_uint_eq(reg(0, RSP_0), 0x102);
	ck_assert_uint_ne(perf_read_one(perf), UINT64_MAX);
	control.ctr[0].config = 0x102;
	set_control(fd, &control);
	expect(RSP_0, 0x102);
	ck_assert_uint_ne(perf_read_one(perf), UINT64_MAX);
	stop(fd);
	close(perf);
	control.ctr[0].config = 0x101;
	set_control(fd, &control);
	expect(RSP_0, 0x101);
	stop(fd);
}
END_TEST

/* Perf's users get another register, or none, but never ours. */
START_TEST(perf_comes_for_the_register)
{
	struct perfctr_control control;
	int fd = open_self(), perf;

	control_init(&control);
	control.source = PERFCTR_SOURCE_NATIVE;
	add(&control, OFFCORE_0, 0x101);
	set_control(fd, &control);
	perf = perfs(0x102);
	expect(RSP_0, 0x101);
	ck_assert_uint_eq(reg(0, RSP_1), 0x102);
	ck_assert_uint_ne(perf_read_one(perf), UINT64_MAX);
	close(perf);
	add(&control, OFFCORE_1, 0x8002);
	set_control(fd, &control);
	perf = perfs(0x102);
	ck_assert_uint_eq(perf_read_one(perf), UINT64_MAX);
	expect(RSP_0, 0x101);
	expect(RSP_1, 0x8002);
	close(perf);
	stop(fd);
}
END_TEST

/* An older event of perf's takes the register back. Whoever counted is told so, and nothing writes the register. */
START_TEST(lost_to_an_older_event)
{
	struct perfctr_control control;
	struct perfctr_read rd;
	int fd = open_self(), perf;

	until_given_back();
	perf = perfs(0x102);
	ck_ok(ioctl(perf, PERF_EVENT_IOC_DISABLE, 0));
	control_init(&control);
	control.source = PERFCTR_SOURCE_NATIVE;
	add(&control, OFFCORE_0, 0x101);
	pin_self(0);
	set_control(fd, &control);
	ck_ok(ioctl(perf, PERF_EVENT_IOC_ENABLE, 0));
	sleep_us(1000);
	ck_assert_int_eq(try_read(fd, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_eq(reg(0, RSP_0), 0x102);
	stop(fd);
	until_given_back();
	ck_assert_uint_eq(reg(0, RSP_0), 0x102);
	ck_assert_uint_ne(perf_read_one(perf), UINT64_MAX);
	close(perf);
	set_control(fd, &control);
	expect(RSP_0, 0x101);
	stop(fd);
}
END_TEST

/* Counters that are in use for other events own no register. Nobody gets one who cannot have it for good. */
START_TEST(counters_in_use_own_none)
{
	struct perfctr_control control, all;
	int fd = open_self(), tries;
	pid_t other;
	unsigned int i;

	until_given_back();
	control_init(&control);
	add(&control, OFFCORE_0, 0x101);
	control.source = PERFCTR_SOURCE_NATIVE;
	other = fork();
	ck_assert_int_ge(other, 0);
	if (!other) {
		int own = try_open(PERFCTR_OPEN_CREAT);

		control_init(&all);
		for (i = 0; i < 24; i++)
			if (guest.info.counters >> i & 1)
				control_add_at(&all, i, EV_INSTRUCTIONS, USER);
		kill(getpid(), try_control(own, &all) ? SIGKILL : SIGSTOP);
	}
	ck_assert_int_eq(waitpid(other, &tries, WUNTRACED), other);
	ck_assert(WIFSTOPPED(tries));
	ck_assert_int_eq(try_control(fd, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERFCTR);
	ck_assert_uint_eq(control.refused, 0);
	expect(RSP_0, 0);
	end(other);
	for (tries = 0; tries < 100 && try_control(fd, &control); tries++)
		sleep_us(10000);
	expect(RSP_0, 0x101);
	stop(fd);
}
END_TEST

int main(void)
{
	guest_begin("extra", NULL);
	GUEST_RUN(errors, LOG_SILENT | NEED_X86 | NEED_COUNTERS | AS_USER);
	if (!kind())
		return guest_end();
	(void)system("insmod /lib/msr.ko 2>/dev/null");
	GUEST_RUN(one_value_for_all, LOG_SILENT);
	GUEST_RUN(another_value_is_busy, LOG_SILENT);
	GUEST_RUN(over_hotplug, NEED_SMP);
	GUEST_RUN(by_the_library, LOG_SILENT);
	GUEST_RUN(by_perfex, LOG_SILENT);
	if (is_beside()) {
		GUEST_RUN(perf_has_the_register, NEED_PERF);
		GUEST_RUN(perf_comes_for_the_register, NEED_PERF);
		GUEST_RUN(lost_to_an_older_event, NEED_PERF | LOG_MODULE);
		GUEST_RUN(counters_in_use_own_none, LOG_SILENT);
	}
	return guest_end();
}
