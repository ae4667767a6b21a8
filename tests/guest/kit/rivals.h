/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads and processes that count something of their own and fight for the
 * counters and CPUs of the thread that a test watches. Half of them give up
 * the CPU as often as they can (they switch where the watched thread calls the
 * kernel), the others sleep for moments, at real-time priority if root started
 * them (they come in between any two instructions).
 */
#ifndef PERFCTR_RIVALS_H
#define PERFCTR_RIVALS_H

#include <linux/perfctr.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RIVALS_MAX 16

/**
 * struct rivals_plan - what rivals shall do
 * @n: how many; 0 is eight
 * @threads: how many of them are threads of the caller's process; the others
 *	are processes
 * @cpu: where, or -1 for anywhere
 * @uid: who the processes are; 0 is the caller
 * @sleep_us: how long the sleepers sleep; 0 is 200
 * @sleepers: every rival sleeps, none yields
 * @control: what they count, or NULL: each other events, none instructions
 * @map: they map their page; without it every second one does
 * @exact: they count their own instructions over and over (@control must
 *	have those first), and a wrong number is an error
 */
struct rivals_plan {
	unsigned int n;
	unsigned int threads;
	int cpu;
	uid_t uid;
	unsigned int sleep_us;
	bool sleepers;
	const struct perfctr_control *control;
	bool map;
	bool exact;
};

struct rivals;

/* Returns when all of them count. Asserts that they do. */
struct rivals *rivals_start(const struct rivals_plan *plan);
/* How often they ran, all together */
uint64_t rivals_turns(const struct rivals *rivals);
/* Ends them, and asserts that all went well and each of them ran. */
void rivals_stop(struct rivals *rivals);

/*
 * Moves thread @tid from CPU to CPU, among the first two, every @us
 * microseconds, until stopped.
 */
struct mover;
struct mover *mover_start(pid_t tid, unsigned int us);
/* Returns how often it moved the thread. */
uint64_t mover_stop(struct mover *mover);

#endif /* PERFCTR_RIVALS_H */
