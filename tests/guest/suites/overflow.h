/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Overflows by signals. The handler of a thread notes what it is told in its struct listener. Helpers
 * find faults and tell of them in words, since only the test itself may assert.
 */
#ifndef PERFCTR_TEST_OVERFLOW_H
#define PERFCTR_TEST_OVERFLOW_H

#include <check.h>
#include <linux/perfctr.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kit/guest.h"

#define NOTES 1024	/* the first ones are kept, all are counted */

/* What a handler saw */
struct note {
	uint64_t sum[3];
	uint64_t clock;
	uintptr_t pc;
	uint32_t flags;
	int mask;
	int code;
	int error;	/* si_errno */
	int signo;
};

/* What a handler does at the end */
enum then { IRESUME, STAY };

struct listener {
	int fd;
	enum then then;
	volatile unsigned int nr;
	volatile bool throttled;
	struct note note[NOTES];
	char fault[512];
};

extern __thread struct listener *listener;

struct listener *listen_to(int signo, enum then then);
void period_control(struct perfctr_control *control, int64_t period);
__attribute__((format(printf, 2, 3)))
bool fault(struct listener *self, const char *format, ...);

/*
 * Counts a loop of known length with overflows in it, each of which must be in its place.
 * Checks what the handlers of the first NOTES saw.
 */
bool spin_and_check(struct listener *self, uint64_t period, unsigned long loops);

/* One overflow, in the middle of the loop */
void learn_tail(struct listener *self);

#define ck_exact(self, period, loops) \
	ck_assert_msg(spin_and_check(self, period, loops), "period %llu: %s", \
		      (unsigned long long)(period), (self)->fault)

struct spinner {
	struct listener *self;
	pthread_t pthread;
	uint64_t period;
	unsigned long loops;
	int cpu;
	unsigned int rounds;
	bool fine;
};

void *spinner_run(void *arg);
void refresh_control(struct perfctr_control *control, int64_t period, uint64_t refresh);

/* The tests of test_overflow_*.c, which test_overflow.c calls */
void overflow_among(void);
void overflow_signals(void);
void overflow_calls(void);

#endif
