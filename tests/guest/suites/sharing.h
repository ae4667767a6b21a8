/* SPDX-License-Identifier: GPL-2.0 */
/* A control that counts, and perf beside it. */
#ifndef PERFCTR_TEST_SHARING_H
#define PERFCTR_TEST_SHARING_H

#include <linux/perfctr.h>
#include <stdbool.h>
#include <stdint.h>

#define PROGRAMMABLE_MAX 32
#define CPUS_MAX 4
#define REFUSE "/sys/module/perfctr/parameters/refuse_perf"
#define SHORT_LOOPS 1000ul

void exact_once(int fd);
struct perfctr_control control_of(uint64_t event);
/* A control of so many general-purpose counters; the first counts instructions. */
struct perfctr_control control_of_many(unsigned int n);
/* The same with the fixed counter of instructions, if there is one, at first. */
struct perfctr_control control_with_fixed(unsigned int n);

struct takings {
	unsigned int ncpus;
	unsigned int n[CPUS_MAX];
	int fds[CPUS_MAX][PROGRAMMABLE_MAX];
};

/* Lets perf have up to @each counters of every CPU from @first on. */
void take(struct takings *takings, unsigned int first, unsigned int each);
void give(struct takings *takings);
bool has_all(const struct takings *takings);

/* All counters of all CPUs are perf's, now or in a moment. */
void perf_gets_all(void);

/* The tests of test_sharing_hotplug.c, which test_sharing.c calls */
void sharing_hotplug(void);
/* The tests of test_sharing_held.c, likewise */
void sharing_held(void);
/* The tests of test_sharing_readers.c, which test_sharing_held.c calls */
void sharing_readers(void);

#endif
