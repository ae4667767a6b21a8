/* SPDX-License-Identifier: GPL-2.0 */
#ifndef X86_TESTS_H
#define X86_TESTS_H

#include "threads.h"
#include "unit.h"

/* The P6, and versions 1 to 5; AMD's K8, Zen, and Zen 4 */
#define NR_MACHINES	9
extern const struct model_machine *const machines[NR_MACHINES];

/* config.c's hotplug callbacks, and the CPU around them: registers stay as they are. */
void cpu_goes(unsigned int cpu);
void cpu_comes(unsigned int cpu);

void test_model(void);
void test_check(void);
void test_place(void);
void test_constraints(void);
void test_amd(void);
void test_p4(void);
void test_p5(void);
void test_probe(void);
void test_claim(void);
void test_extra(void);
void test_load(void);
void test_topdown(void);
void test_cpus(void);
void test_trial(void);
void test_verify(void);
void test_permit(void);
void test_user(void);
void test_ictrs(void);
void test_random(void);
void test_mediated(void);
void test_hybrid(void);
void test_perf(void);
/* Called by test_perf() */
void test_perf_live(void);
void test_perf_types(void);

#endif /* X86_TESTS_H */
