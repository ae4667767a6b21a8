/* SPDX-License-Identifier: GPL-2.0 */
/* Threads on either type of CPU. */
#ifndef PERFCTR_TEST_HYBRID_H
#define PERFCTR_TEST_HYBRID_H

#include <linux/perfctr.h>

#define RUNS 50u
#define LOOPS 2000ul

#define BOTH_CPUS ~0u

/* Binds the caller to a CPU, or to both. */
void bind_to(unsigned int cpu);
struct perfctr_control instructions(void);

/* Spins and yields, read through the kernel, and inline if there is a page. */
void exact(int fd, const struct perfctr_page *page, unsigned int runs);

/* The tests of test_hybrid_shared.c, which test_hybrid.c calls */
void hybrid_shared(void);

#endif
