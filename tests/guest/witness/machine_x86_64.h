/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the tests of the emulated processors themselves: machine_*.c */
#ifndef PERFCTR_MACHINE_X86_64_H
#define PERFCTR_MACHINE_X86_64_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "kit/loops.h"

/* Raw events: the codes of all of Intel's family 6; the first is AMD's too. */
#define INSTRUCTIONS	0xc0u
#define BRANCHES	0xc4u

/* Properties of the processor that this runs on */
struct pmu {
	unsigned int amd_family; /* 0: Intel's */
	unsigned int version;	/* of architectural performance monitoring; 0: P6 */
	unsigned int model;
	unsigned int counters;
	unsigned int fixed_counters;
	unsigned int width;
	uint64_t cycles;
	uint64_t branches;
	uint64_t none;		/* an event that there is not */
	uint64_t interrupts;
	uint64_t dtlb_store_misses;	/* 0: it has none */
};

extern struct pmu pmu;

/* Prints a comparison, and asserts that both numbers are the same. */
void row(const char *what, const char *event, uint64_t expected, uint64_t counted);

void raw_attr(struct perf_event_attr *attr, uint64_t config, bool user);
/* Of this thread in user mode */
int raw_open(uint64_t config);
/* What the event counts of the body, without its return */
uint64_t measure(uint64_t event, body_fn *body, unsigned long arg);

/* A loop of @loops turns has so many samples, at one address or, with an odd period, two. */
void samples(uint64_t event, const char *name, uint64_t loops, uint64_t period,
	     uint64_t expected);

/* The register takes @value and then holds @then, or refuses it with #GP and is unchanged. */
void reg(uint32_t msr, uint64_t value, bool taken, uint64_t then);
void refused(uint32_t msr);
uint64_t mask_of(unsigned int bits);
/* What the register of a counter counts while it is read twice */
uint64_t progress_of(uint32_t msr);

/* The tests of machine_registers_x86_64.c, and of machine_topdown_x86_64.c */
void register_tests(void);
void topdown_tests(void);

/* machine_amd_x86_64.c; false: the processor is not AMD's. */
bool amd_find_pmu(void);
/* Of its registers, and of what only AMD's have */
void amd_tests(void);

#endif /* PERFCTR_MACHINE_X86_64_H */
