/* SPDX-License-Identifier: GPL-2.0 */
/* The cases of faults, and what they share; faults.c says what is done with them. */
#ifndef PERFCTR_FAULTS_H
#define PERFCTR_FAULTS_H

#include <linux/perfctr.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct scene - the objects of a case; made anew for each point
 * @fd: of the device, or a handle
 * @own: a handle on the caller's state, or -1
 * @control: what it counts
 * @next: a control to be tried
 * @page: a map, or NULL
 * @ring: the caller's ring, mapped, or NULL
 * @tracee: a stopped thread that the caller traces, or 0
 * @pidfd: ... and a pidfd of its process
 */
struct scene {
	int fd;
	int own;
	struct perfctr_control control;
	struct perfctr_control next;
	void *page;
	struct vperfctr_ring *ring;
	pid_t tracee;
	int pidfd;
};

struct fault_case {
	const char *name;
	void (*prepare)(struct scene *scene);
	long (*call)(struct scene *scene);
	/* Is all as before, or, if @done, as the call must leave it? NULL, or what is wrong */
	const char *(*check)(struct scene *scene, bool done);
	/* An errno and a signal that other parts of the kernel may cause */
	int also;
	int signal;
};

/* Each ends with one that has no name. */
extern const struct fault_case own_cases[], record_cases[], tracee_cases[], cpus_cases[];

extern bool exact;	/* counts are of instructions */
extern bool interrupts;	/* ... and may be i-mode */
extern unsigned int maps_flag;	/* PERFCTR_RING_MAPS, where the kernel has kprobes */

__attribute__((format(printf, 1, 2), noreturn))
void die(const char *format, ...);

/*
 * Loads the module anew. Its hooks in the kernel stay for a while after their last use, so only
 * then does the first call that needs one set it.
 */
void renew_module(void);

void first_control(struct perfctr_control *control);
void open_only(struct scene *scene);
void with_counts(struct scene *scene);
/* The same with these flags in force */
void with_flags(struct scene *scene, unsigned int flags);
/* A tree: one descendant has ended and is kept. */
void with_tree(struct scene *scene);
/* An i-mode counter after the others, if there are any */
void add_period(struct perfctr_control *control, int64_t period);

long call_control(struct scene *scene);
long call_resume(struct scene *scene);
long call_close(struct scene *scene);
/* Copies the map, and runs the module's probe of forks. */
long call_fork(struct scene *scene);

/* That control is in force, and nothing is lost. */
const char *in_force(int fd, const struct perfctr_control *control);
/* The caller's state counts what @control says, and exactly. */
const char *counts(const struct scene *scene, const struct perfctr_control *control);
/* A word on a count that is wrong, or NULL */
const char *compare_counts(uint64_t count, uint64_t expected);
bool is_handle(int fd);
const char *check_unchanged(struct scene *scene, bool done);
const char *check_control(struct scene *scene, bool done);
const char *check_inherits_and_forks(struct scene *scene, bool done);

#endif /* PERFCTR_FAULTS_H */
