/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of stress share: stress.c has the processes and the table of all
 * operations; the others have these. An operation that finds anything wrong calls wrong().
 */
#ifndef PERFCTR_STRESS_H
#define PERFCTR_STRESS_H

#include <linux/perfctr.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BURST 40		/* most operations of a child */
#define DEPTH 3			/* generations below a worker */
#define FOREIGN 6		/* handles of others that an actor keeps */
#define CHILDREN 3
#define WORKERS 32

/* Where a program finds them after exec */
#define SHARED_FD 100
#define SEND_FD 101
#define RECEIVE_FD 102

/* What all processes share */
struct shared {
	_Atomic uint64_t operations;
	uint64_t target;
	atomic_bool stop;
	atomic_bool failed;
	bool exact;
	bool smp;
	bool interrupts;
	bool through_perf;	/* all controls are */
	bool raw;		/* a thread may be permitted to read registers, without a page */
	bool topdown;		/* there are SLOTS and metrics */
	unsigned int nctrs;	/* most of a control */
	unsigned int nevents;
	uint64_t event[8];	/* that this machine has; instructions come first */
	_Atomic uint64_t exacts;
	_Atomic uint64_t execs;
	_Atomic uint64_t kills;
	_Atomic uint64_t hotplugs;
	_Atomic uint64_t refusals;
	_Atomic uint64_t trees;
	_Atomic uint64_t members;	/* of those trees that were compared */
	_Atomic uint64_t overflows;	/* signals */
	_Atomic uint64_t steps;		/* single ones, by tracers */
	_Atomic uint64_t freezes;
	_Atomic pid_t worker[WORKERS];
	uint64_t clock_hz;
	_Atomic uint64_t periods;	/* that were compared */
	_Atomic uint64_t metrics;	/* sums that were compared with SLOTS */
	uint32_t features;	/* PERFCTR_FEATURE_* */
	bool late_pages;	/* everybody may use userfaultfd(2) */
	_Atomic uint64_t evictions;	/* of GUEST_UID, that have begun, and the last that has ended */
	_Atomic uint64_t evicted;
	_Atomic uint64_t losses;	/* states that were found evicted */
	_Atomic uint64_t policy_changes;	/* odd while there is one */
	_Atomic unsigned int policy;	/* PERFCTR_USER_READ_* */
	_Atomic uint64_t revoked;	/* raw reads */
	_Atomic uint64_t refused;	/* controls after which all was as before */
	_Atomic uint64_t late;		/* reads into pages that came late */
	_Atomic uint64_t tsc;		/* times that the clock was forbidden */
	_Atomic uint64_t limits;	/* processes at the end of their resources */
	_Atomic uint64_t crowds;	/* of threads with a control of its own each */
	_Atomic uint64_t crowded;	/* threads in there */
	_Atomic uint64_t tracees;	/* controls of a tracee */
	_Atomic uint64_t sessions;	/* of CPUs, that counted */
	_Atomic uint64_t recordings;	/* rings of samples */
};

extern struct shared *shared;

/**
 * struct actor - a thread that does operations, and what it knows
 * @rng: its random numbers
 * @attached: it has a state
 * @own: handle on that, or -1
 * @shared_handle: others may have the open file that holds the state
 * @control: in force
 * @page: its map of the page, or NULL
 * @foreign: handles on states that are not its own, -1 where none
 * @child: children, 0 where none
 * @killed: ... which were killed
 * @depth: generations above
 * @evictable: root takes the counters from its user now and then
 * @before: evictions that had ended before the control in force was made
 * @after: ... and that had begun after that
 */
struct actor {
	uint64_t rng;
	bool attached;
	bool shared_handle;
	int own;
	struct perfctr_control control;
	const struct perfctr_page *page;
	unsigned int nr_sums;		/* of the last control that counted */
	int foreign[FOREIGN];
	pid_t child[CHILDREN];
	bool killed[CHILDREN];
	unsigned int depth;
	bool evictable;
	uint64_t before;
	uint64_t after;
};

__attribute__((format(printf, 2, 3)))
void wrong(const struct actor *actor, const char *format, ...);
uint64_t any(struct actor *actor);
unsigned int below(struct actor *actor, unsigned int n);
bool one_in(struct actor *actor, unsigned int n);
void actor_init(struct actor *actor, uint64_t rng, unsigned int depth);
void give_page(const struct perfctr_page *page);
/* Keeps a handle of somebody else, in place of another. */
void keep_foreign(struct actor *actor, int fd);
bool is_on(const struct perfctr_control *control);
unsigned int nr_of(const struct perfctr_control *control);
/* Index of a counter that counts instructions in user mode only, now; or -1. */
int exact_counter(const struct actor *actor);
/* The handle by which this thread's handler of overflows lets the counters go on, or -1 */
extern __thread volatile int own_handle;
void burst(struct actor *actor);
void handle_overflows(void);

/* --- state.c: a thread and its own state --- */

void op_open(struct actor *actor);
/* Any control that is valid */
void random_control(struct actor *actor, struct perfctr_control *control);
/* CONTROL, by a handle that may be on the actor's own state; 0 or -errno */
int actor_control(struct actor *actor, int fd, struct perfctr_control *control);
/* Whether -EIO of the actor's own state is right: its user was evicted since its control. */
bool is_lost(const struct actor *actor, int err);
/* The same of any state, of whomever */
bool may_be_lost(int err);
/* Opens, and counts instructions and the clock: false if that cannot be had. */
bool count_instructions(struct actor *actor);
void op_control(struct actor *actor);
void op_read(struct actor *actor);
void op_read_words(struct actor *actor);
void op_read_control(struct actor *actor);
void op_exact(struct actor *actor);
void op_map(struct actor *actor);
void op_unmap(struct actor *actor);
void op_move_map(struct actor *actor);
void op_unlink(struct actor *actor);
void op_close(struct actor *actor);
void op_second_handle(struct actor *actor);
void op_info(struct actor *actor);
void op_fdinfo(struct actor *actor);
void op_move(struct actor *actor);
void op_rest(struct actor *actor);
void op_stop_and_go(struct actor *actor);

/* More events than a processor has in so many nanoseconds */
uint64_t most_events(uint64_t ns);

/* --- handle.c: handles on the states of others --- */

void op_pass(struct actor *actor);
void op_receive(struct actor *actor);
void op_foreign(struct actor *actor);

/* --- refuse.c: what is refused, and changes nothing --- */

void op_wrong_control(struct actor *actor);
void op_limits(struct actor *actor);

/* --- child.c: children, programs, threads --- */

void check_end(const struct actor *actor, int status, bool killed);
void reap_all(struct actor *actor, int options);
/* A free place for a child, or -1 */
int child_slot(struct actor *actor);
/* A child in a free place: 0 is the child; -1: there is none. */
pid_t make_child(struct actor *actor);
/* The state, and what it is known to count, goes on in the new program. */
void exec_self(struct actor *actor);
void op_fork(struct actor *actor);
void op_exec(struct actor *actor);
void op_spawn(struct actor *actor);
void op_thread(struct actor *actor);
void op_kill(struct actor *actor);
void op_reap(struct actor *actor);
void op_heir(struct actor *actor);

/* --- tree.c: trees of those that inherit --- */

void op_tree(struct actor *actor);

/* --- odd.c: calls that have nothing to do with counters --- */

/* In the handler of overflows: does not come back if op_long_jump() waits. */
void leave_handler(void);
void op_long_jump(struct actor *actor);
void op_perf_calls(struct actor *actor);
void op_trace(struct actor *actor);
void op_sibling(struct actor *actor);
void op_no_fork(struct actor *actor);
void op_copy_page(struct actor *actor);
void op_file_calls(struct actor *actor);
void op_exec_suspended(struct actor *actor);
void op_clock_forbidden(struct actor *actor);
void op_raw(struct actor *actor);
/* A process of its own: freezes workers, and binds them. */
void freezer(uint64_t rng);

/* --- tracee.c: control of another thread --- */

void op_tracee(struct actor *actor);
/* record.c */
void op_record(struct actor *actor);

/* --- late.c: memory that comes late --- */

void op_late_page(struct actor *actor);

/* --- root.c: what root does meanwhile, in processes of its own --- */

/* Changes the policy, and tries to unload the module, which somebody always uses. */
void administrator(uint64_t rng);
/* Takes the counters from a user. */
void evictor(uint64_t rng);
void observer(uint64_t rng);
/* Lets a third user have as many different controls as it may. */
void crowder(uint64_t rng);
/* All was closed: the module has no object any more. */
void check_slabs(void);

#endif /* PERFCTR_STRESS_H */
