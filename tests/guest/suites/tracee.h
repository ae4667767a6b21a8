/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that the caller traces, and their counters. */
#ifndef PERFCTR_TEST_TRACEE_H
#define PERFCTR_TEST_TRACEE_H

#include <errno.h>
#include <linux/perfctr.h>
#include <stdint.h>
#include <sys/types.h>

#include "kit/known.h"

#define LENGTH KNOWN_LENGTH(KNOWN_LOOPS)
#define CREAT PERFCTR_OPEN_CREAT
#define EXCL PERFCTR_OPEN_EXCL

/* A handle on the counters of thread @tid, or -errno */
int try_open_by(int descriptor, pid_t thread, unsigned int flags);
int try_open_thread(pid_t tid, unsigned int flags);
int open_thread(pid_t tid);

/* Instructions in user mode, and the clock */
void control_instructions(struct perfctr_control *control, uint32_t flags);
void count_instructions(int fd);
void cont(pid_t pid);

/* Lets it go on to its next system call, or out of that. */
void go_to_call(pid_t pid);

/* Lets it go on to its end. */
void finish(pid_t pid);

/* The tests of test_tracee_added.c, which test_tracee.c calls */
void tracee_added(void);

#endif
