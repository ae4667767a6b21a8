/* SPDX-License-Identifier: GPL-2.0 */
/* A child that counts, and does what it is told. */
#ifndef PERFCTR_TEST_HANDLE_H
#define PERFCTR_TEST_HANDLE_H

#include <linux/perfctr.h>
#include <sys/types.h>

#define LOOPS 50000ul

/* What the child does once it counts. Never returns. */
typedef void child_fn(int fd, int sock, void *arg);

struct child {
	pid_t pid;
	int sock;	/* a byte from the test lets the child go on */
	int fd;		/* its handle */
};

void await_byte(int sock);
void say_byte(int sock);
struct child child_start(struct perfctr_control *control, child_fn *run, void *arg);
void child_go(const struct child *child);
struct perfctr_control instructions_and_clock(void);

/* Reads the handle of a thread that has died. Its state must be detached. */
void read_dead(int fd, struct perfctr_read *rd);

/* The tests of test_handle_exec.c, which test_handle.c calls */
void handle_exec(void);

#endif
