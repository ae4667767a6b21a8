/* SPDX-License-Identifier: GPL-2.0 */
/* Trees, by their calls. */
#ifndef PERFCTR_TEST_INHERIT_H
#define PERFCTR_TEST_INHERIT_H

#include <linux/perfctr.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LOOPS 1000ul
#define ALL (PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)

int count_tree(unsigned int event, unsigned int flags);
struct perfctr_read_tree read_tree(int fd, unsigned int which);
int next_member(int fd, struct perfctr_member *member);
void *spin_thread(void *arg);
int perf_inherited(void);

/* Orphans become children of the caller, which waits for them, so that none is left at a read. */
void be_reaper(void);

/* The code between the two reads is always the same. */
__attribute__((noinline)) int both_totals(int fd, struct perfctr_read_tree *tree,
					  int perf, uint64_t *theirs);

struct totals {
	int fd;
	int perf;
	uint64_t ours;
	uint64_t theirs;
};

/* perf counts instructions, we count them too or what is as many, and they must agree. */
struct totals totals_begin(void);

/* Compares the counts since totals_begin(), with all members ended; returns ours. */
uint64_t totals_agree(const struct totals *totals);

struct children {
	unsigned int n;
	pid_t pid[16];
	volatile unsigned int *ready;
	volatile bool *leave;
};

/* Children that count, say so, and spin or sleep until they are told to leave */
struct children children_start(unsigned int n, bool spin);
void children_end(struct children *children);

/* The tests of test_inherit_*.c, which test_inherit.c calls */
void inherit_members(void);
void inherit_ends(void);

#endif
