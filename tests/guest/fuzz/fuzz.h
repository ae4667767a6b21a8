/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of fuzz share: fuzz.c has the inputs and executes them, calls.c has the grammar. */
#ifndef PERFCTR_FUZZ_H
#define PERFCTR_FUZZ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kit/counting.h"

#define CALLS 24
#define ARGS 6
#define FDS 4
#define MAPS 3
#define CHILDREN 2
#define SHARED_FD 100		/* where a program finds it after exec */
#define ARENA (20 * PAGE_SIZE)	/* PERFCTR_MAX_SIZE and more; a page that is not there follows */

struct call {
	uint32_t op;
	uint32_t arg[ARGS];
};

struct input {
	uint32_t user;		/* 0: root executes it */
	uint32_t nr;
	struct call call[CALLS];
};

/* What a thread knows: its own copy, also of what it shares with others */
struct world {
	unsigned int next, end;	/* its calls */
	int fd[FDS];
	int socket[2];
	pid_t child[CHILDREN];
	void *map[MAPS];
	size_t length[MAPS];
	char *arena;
	bool alone;		/* nobody else executes calls of this input */
};

/* What all processes share */
struct shared {
	atomic_bool failed;
	_Atomic uint64_t calls;
	_Atomic uint64_t refused;
	uint64_t event[8];
	unsigned int nevents;
	unsigned int ncpus;
	bool through_perf;
	struct input input;
	struct world exec;	/* of who executes a program */
};

extern struct shared *shared;

/* An operation: its arguments are ARGS numbers of 32 bits, any of which make sense. */
struct op {
	const char *name;
	void (*run)(struct world *world, const uint32_t *a);
	unsigned int weight;
};

extern const struct op ops[];
extern const unsigned int nr_ops;

__attribute__((format(printf, 1, 2)))
void wrong(const char *format, ...);

/* Executes the input, from its beginning or after an exec. */
__attribute__((noreturn)) void begin(struct world *world);

#endif
