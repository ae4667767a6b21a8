/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of CPUs, by their calls. */
#ifndef PERFCTR_TEST_CPUS_H
#define PERFCTR_TEST_CPUS_H

#include <linux/perfctr.h>
#include <stdint.h>

#define LOOPS 20000ul
#define NO_CPU 1000000u

int try_open_cpus(void);
int open_cpus(void);

/* Instructions in user mode on that CPU, and the clock */
void cpu_control(struct perfctr_control *control, unsigned int cpu, unsigned int source);
void count_cpu(int fd, unsigned int cpu, unsigned int source);
int try_count_cpu(int fd, unsigned int cpu, unsigned int source, uint32_t *reason);
void go(int fd);
void stop(int fd);
int try_read_cpu(int fd, unsigned int cpu, struct perfctr_read_cpu *rd);
void read_cpu(int fd, unsigned int cpu, struct perfctr_read_cpu *rd);

/* Calls test(PERFCTR_SOURCE_*) for each source that the machine has. */
void by_each_source(void (*test)(unsigned int source));

/* Alone on that CPU, as far as user mode goes */
void be_alone_on(unsigned int cpu);

/* Counts a body on this CPU by its session, and asserts that it counted just that. */
void expect_exact(int fd, unsigned int cpu);

/* The tests of test_cpus_*.c, which test_cpus.c calls */
void cpus_others(void);
void cpus_tools(void);

#endif
