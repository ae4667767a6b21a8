// SPDX-License-Identifier: GPL-2.0
/* Registers that a policy opened for RAW: they close with the policy and with the counters. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/hold.h"

#define INSTRET 2

/* A policy that opened registers for RAW closes them again. */
START_TEST(raw_goes_with_its_policy)
{
	struct perfctr_control control;
	uint32_t modes = PERFCTR_CTR_USER;
	int there[2], back[2], fd;
	pid_t child;
	char byte;

	if (!(guest.info.cpu_features & PERFCTR_FEATURE_FILTER_FIXED))
		modes |= PERFCTR_CTR_KERNEL;
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "open"), 0);
	ck_ok(pipe(there));
	ck_ok(pipe(back));
	ck_ok(child = fork());
	if (!child) {
		/* Kernel mode needs a privilege. RAW under the policy "open" needs none. */
		if (modes == PERFCTR_CTR_USER)
			become(GUEST_UID);
		fd = try_open(PERFCTR_OPEN_CREAT);
		control_init(&control);
		control.tsc_on = 1;
		control.flags = PERFCTR_CONTROL_RAW;
		control_add_at(&control, INSTRET, EV_INSTRUCTIONS, modes);
		if (try_control(fd, &control) || !may_read_register(INSTRET))
			_exit(1);
		if (write(back[1], "x", 1) != 1 || read(there[0], &byte, 1) != 1)
			_exit(2);
		_exit(may_read_register(INSTRET) ? 3 : 0);
	}
	ck_assert_int_eq(read(back[0], &byte, 1), 1);
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "guarded"), 0);
	ck_assert_int_eq(write(there[1], "x", 1), 1);
	/* Root has the privilege, whatever the policy is. */
	expect_exit(child, modes == PERFCTR_CTR_USER ? 0 : 3);
}
END_TEST

/* RAW ends with its policy or its counters, also if its thread is not switched. */
enum raw_state { RAW_COUNTS, RAW_SUSPENDED, RAW_EVICTED };

static void raw_without_a_switch(enum raw_state state)
{
	volatile enum { START, MAY_READ, MAY_NOT } *step = mmap(NULL, PAGE_SIZE,
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct perfctr_control control;
	char user[16];
	pid_t child;
	int fd;

	ck_assert_ptr_ne((void *)(uintptr_t)step, MAP_FAILED);
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "open"), 0);
	pin_self(0);
	ck_ok(child = fork());
	if (!child) {
		pin_self(1);
		become(GUEST_UID);
		fd = try_open(PERFCTR_OPEN_CREAT);
		control_init(&control);
		control.flags = PERFCTR_CONTROL_RAW;
		control_add(&control, EV_INSTRUCTIONS);
		if (try_control(fd, &control) || ioctl(fd, PERFCTR_IOC_READ_CONTROL, &control) ||
		    !may_read_register(control.ctr[0].map))
			_exit(1);
		if (state == RAW_SUSPENDED && ioctl(fd, PERFCTR_IOC_SUSPEND))
			_exit(2);
		*step = MAY_READ;
		while (*step == MAY_READ)
			continue;
		_exit(may_read_register(control.ctr[0].map) ? 3 : 0);
	}
	while (*step == START)
		sleep_us(1000);
	(void)snprintf(user, sizeof(user), "%d", GUEST_UID);
	ck_assert_int_eq(state == RAW_EVICTED ? write_text(MODULE_PARAMS "evict", user) :
			 write_text(MODULE_PARAMS "user_read", "guarded"), 0);
	*step = MAY_NOT;
	expect_exit(child, 0);
	ck_ok(munmap((void *)(uintptr_t)step, PAGE_SIZE));
}

/* Something else may run on the thread's CPU just then, so one try would not do. */
#define TRIES 5

START_TEST(raw_that_counts_goes_with_its_policy)
{
	unsigned int i;

	for (i = 0; i < TRIES; i++)
		raw_without_a_switch(RAW_COUNTS);
}
END_TEST

START_TEST(raw_that_is_suspended_goes_with_its_policy)
{
	unsigned int i;

	for (i = 0; i < TRIES; i++)
		raw_without_a_switch(RAW_SUSPENDED);
}
END_TEST

START_TEST(raw_goes_with_its_counters)
{
	unsigned int i;

	for (i = 0; i < TRIES; i++)
		raw_without_a_switch(RAW_EVICTED);
}
END_TEST

void hold_raw(void)
{
	GUEST_RUN(raw_goes_with_its_policy, NEED_FIXED);
	GUEST_RUN(raw_that_counts_goes_with_its_policy, NEED_COUNTERS | NEED_FIXED | NEED_SMP);
	GUEST_RUN(raw_that_is_suspended_goes_with_its_policy,
		  NEED_COUNTERS | NEED_FIXED | NEED_SMP);
	GUEST_RUN(raw_goes_with_its_counters,
		  NEED_COUNTERS | NEED_FIXED | NEED_SMP);
}
