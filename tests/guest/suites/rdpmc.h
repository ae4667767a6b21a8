/* SPDX-License-Identifier: GPL-2.0 */
/* A spy that reads registers while it may, and what it is asked. */
#ifndef PERFCTR_TEST_RDPMC_H
#define PERFCTR_TEST_RDPMC_H

#include <check.h>
#include <stdint.h>

#define REGISTERS	32
#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"
/* Longer than readers are given after the last control */
#define READERS_GIVE_UP	1200000u

unsigned int try_registers(uint64_t *value);
int perf_open_cpu(void);
void run(const TTest *test, unsigned int what);

/* The tests of test_rdpmc_late.c, which test_rdpmc.c calls */
void rdpmc_late(void);

#endif
