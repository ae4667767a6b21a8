/* SPDX-License-Identifier: GPL-2.0 */
/* Counting through perf, and the settings that tests change. */
#ifndef PERFCTR_TEST_BESIDE_H
#define PERFCTR_TEST_BESIDE_H

#include <check.h>
#include <linux/perfctr.h>
#include <stdint.h>

#include "kit/guest.h"
#include "kit/loops.h"

#define LOOPS		2000ul

#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"
#define WATCHDOG_THRESH	"/proc/sys/kernel/watchdog_thresh"
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
/* Who may read perf's counters in user mode, on x86 and on arm64 */
#define RDPMC		"/sys/bus/event_source/devices/cpu/rdpmc"
#define RDPMC_HYBRID	"/sys/bus/event_source/devices/cpu_core/rdpmc"
#define USER_ACCESS	"/proc/sys/kernel/perf_user_access"
#define SHARED_OPEN	MODULE_PARAMS "shared_open"
#define MODULE_SOURCE	MODULE_PARAMS "source"

void set(const char *path, const char *text);

/* Instructions and cycles, which are as many on these machines */
struct perfctr_control two_counters(void);
int count_two(void);

/* 0 if both counters counted body(arg) exactly, else -errno; ERANGE: with *wrong */
long try_exact(int fd, body_fn *body, unsigned long arg, uint64_t length, uint64_t *wrong);
void exact(int fd, body_fn *body, unsigned long arg, uint64_t length);
void exact_once(int fd);

/* What tests change, and what it was when the program began */
struct setting {
	const char *path;
	char value[16];
};

#define NR_SETTINGS 6

extern struct setting settings[NR_SETTINGS];

void run(const TTest *test, unsigned int what);

/* The tests of test_beside_others.c, which test_beside.c calls */
void beside_others(void);

#endif
