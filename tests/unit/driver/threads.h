/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the files above the driver: configs, and threads that come and go as
 * switch.c has them. While a thread's counters are resumed the model notes what its CPU
 * executes, so the test knows what they must have counted.
 */
#ifndef THREADS_H
#define THREADS_H

#if defined(CONFIG_PPC32)
#include "ppc32/model_spr.h"
#elif defined(CONFIG_RISCV)
#include "riscv/model_sbi.h"
#elif defined(CONFIG_X86)
#include "x86/model_msr.h"
#endif
#include "perf/shared.h"
#include "perf/told.h"

/* Boots the machine and loads the driver. */
void driver_init(const struct model_machine *machine);

#define NO_REFUSAL	{ .owner = PERFCTR_OWNER_NONE, .index = PERFCTR_NO_INDEX }

/* The config for a control of the current thread's */
struct perfctr_config *config_get_current(const struct perfctr_ctr_control *ctr, u32 nr, u32 source,
					  struct perfctr_refusal *why);

/* What perfctr_cpu_check() says; *kernel may be NULL. */
int check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel);

/*
 * A config, checked and claimed, or the error as an ERR_PTR. @why may be NULL. Also
 * checks that a claim that fails has given everything back.
 */
struct perfctr_config *claim(const struct perfctr_ctr_control *ctr, unsigned int nr,
			     struct perfctr_refusal *why);
void unclaim(struct perfctr_config *config);
#define CLAIM(ctrs)	claim_well(ctrs, sizeof(ctrs) / sizeof((ctrs)[0]))
/* Fails the test if it cannot be had. */
struct perfctr_config *claim_well(const struct perfctr_ctr_control *ctr, unsigned int nr);

struct thread {
	struct perfctr_config *config;
	/* What its counters count, as the architecture numbers it, if its control is perf's */
	const struct perfctr_ctr_control *twin;
	struct model_tally seen;
	bool resumed;
	int error;		/* of the load, or an event is lost: it does not count any more */
	unsigned int cpu;
	union {
		struct perfctr_cpu_state state;	/* of variable length */
		char room[sizeof(struct perfctr_cpu_state) +
			  PERFCTR_MAX_HW * sizeof(struct perfctr_cpu_ctr)];
	};
};

void thread_init(struct thread *thread, struct perfctr_config *config);
/* Comes to a CPU, which becomes the current one; goes from where it is. */
void thread_in(struct thread *thread, unsigned int cpu);
void thread_out(struct thread *thread);
/* Comes, executes in user mode and a little in kernel mode, goes. */
void thread_run(struct thread *thread, unsigned int cpu, u64 instructions);
/* One of its sums is exactly what was executed while the model was told to note that. */
void thread_expect_sum(const struct thread *thread, unsigned int i);
/* Asserts that its sums are exactly what was executed while it was resumed. It must be out. */
void thread_expect_exact(const struct thread *thread);

/* The same sequence in each test */
unsigned int next_random(void);
/*
 * Threads that are out come and go at random on two CPUs, and execute. Now and then somebody
 * claims @transient, of @nr counters, and gives it back, and counters are aged. All are out
 * in the end. Returns how often @transient was refused.
 */
unsigned int threads_take_turns(struct thread *thread, unsigned int threads,
				const struct perfctr_ctr_control *transient, unsigned int nr);

/* How many gets of overflow interrupts there are, and the error of the next one */
extern int interrupts_heard;
extern int interrupts_error;

/* CPUs that are isolated, and those that are told of claims, as bit maps: see told.c */
extern u32 cpus_isolated;
#define cpus_told	(perfctr_told_cpus.bits)
/* Broadcasts that were at the current user's cost */
extern unsigned int broadcasts_charged;

/* Ageing on all CPUs, by perfctr_run(), which wants the hotplug lock held */
int age_all(void);
/* The CPU sleeps and loses its registers, as at system suspend: its thread may be running. */
void cpu_sleeps(unsigned int cpu, bool firmware_forgets);
/* As config.c's hotplug callbacks: a CPU has come, or goes. */
void cpu_online(unsigned int cpu);
void cpu_offline(unsigned int cpu);
/* Calls something of the driver on a CPU, interrupts off. */
void on_cpu_irqs_off(unsigned int cpu, void (*fn)(void));
int load_on(unsigned int cpu, const struct perfctr_config *config);
int restart_on(unsigned int cpu, const struct perfctr_config *config, unsigned int uid);
bool has_loaded(unsigned int cpu, const struct perfctr_config *config);
bool private_on(unsigned int cpu, const struct perfctr_config *config, unsigned int uid);

#endif /* THREADS_H */
