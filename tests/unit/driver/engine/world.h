/* SPDX-License-Identifier: GPL-2.0 */
/* The modelled threads, what they do, and what must have been counted: random.c says more. */
#ifndef WORLD_H
#define WORLD_H

#include <check.h>
#include <stdio.h>

#include "engine/engine.h"
#include "engine/machine.h"
#if defined(CONFIG_PPC32)
#include "ppc32/model_spr.h"
#elif defined(CONFIG_X86)
#include "x86/model_files.h"
#include "x86/model_msr.h"
#else
#include "riscv/model_sbi.h"
#endif
#include "thread/state.h"

#define NR_CPUS		3
#define NR_THREADS	24
#define NR_PROCESSES	8
#define NR_MAPS		32
#define NR_USERS	3
#define NR_ORPHANS	4
#define MAX_CTRS	3

#define NATIVE		PERFCTR_SOURCE_NATIVE
#define SHARED		PERFCTR_SOURCE_SHARED
#define ANY_SOURCE	PERFCTR_SOURCE_ANY

/* Values of the five things that a state is, or has: see pairs.c. The policies are in their order. */
enum value {
	VALUE_NATIVE, VALUE_INLINE, VALUE_CALL,
	VALUE_AMODE, VALUE_SIGNAL, VALUE_OVERFLOW, VALUE_TIME, VALUE_OWN_WAY,
	VALUE_NOTIFIER, VALUE_TRACEPOINT,
	VALUE_OWN, VALUE_TRACED, VALUE_OUTSIDE, VALUE_SESSION, VALUE_ONE_CPU,
	VALUE_OFF, VALUE_GUARDED, VALUE_OPEN,
	VALUES
};

static_assert(VALUE_OPEN - VALUE_OFF == PERFCTR_USER_READ_OPEN - PERFCTR_USER_READ_OFF &&
	      PERFCTR_USER_READ_OFF == 0 && PERFCTR_USER_READ_GUARDED == 1);

/* Sequences that are always tried */
#define ENGINE_ROWS	20
#define SESSION_ROWS	16

/* A page of code, or of other memory: which page of which file it is */
#define NO_CODE	0
struct code {
	u8 file;
	u8 offset;
	bool executable;
	bool split;	/* A mapping begins here, even if it could be joined with what is before. */
};

#define NR_PAGES	16

/* An mm, what is where, and the mappings that show this */
struct memory {
	struct mm_struct mm;
	struct process *process;
	unsigned int refs;
	unsigned int edits;	/* all changes */
	unsigned int changes;	/* those of code that the kernel tells of */
	struct code page[NR_PAGES];
	struct vm_area_struct vma[NR_PAGES];
};

struct process {
	struct memory *memory;
	struct pid_namespace *pid_ns;	/* NULL: the first process's */
	bool dumpable;
	unsigned int threads;
};

struct handle {
	struct file file;
	unsigned int refs;
};

/* The maps of all processes */
struct map {
	struct vm_area_struct vma;
	struct process *process;	/* NULL: the map is free */
	struct handle *handle;
};

struct control {
	u32 source;
	u32 nractrs, nrictrs;
	struct perfctr_ctr_control ctr[MAX_CTRS];
};

/* What the model knows of a tree */
struct tree {
	struct thread *root;
	struct handle *handle;
	struct model_tally root_ended;	/* the root's counts, if it has ended */
	struct model_tally ended;
	unsigned int nr_ended;
	bool stopped;
	bool root_has_ended;
	bool holder_only;
	bool clock_on, records, cloexec;	/* of its members, as is the rest */
	u64 timer_ns;
	unsigned int only_cpu;
	const struct control *control;
};

struct thread {
	struct task_struct task;
	struct process *process;	/* NULL: there is no such thread */
	struct handle *handle;
	struct thread *vfork_child;	/* it waits for that one */
	/* The model */
	const struct control *control;	/* NULL: nothing is to be counted */
	struct tree *tree;
	u64 limit[MAX_CTRS];
	u64 left;
	u64 timer_ns;			/* 0: no samples by time */
	unsigned int only_cpu;		/* 1 + the CPU where it counts; 0: each */
	u64 due_least, due_most;	/* the clock when the next sample is due by time */
	struct {
		const struct map *map;	/* NULL: it reads nothing just now */
		const struct perfctr_page *page;
		u64 bias;
		s32 seq;
		u32 i;
	} reading;
	u64 clock_least;		/* the least that it had before @seen */
	u64 clock_most;
	u64 since;
	struct model_tally seen;
	struct cred cred;
	unsigned int uid;
	u32 overflown;			/* mask */
	unsigned long tick;		/* when it was last told of an overflow, or had a sample */
	unsigned int spent;		/* how often in that tick */
	bool throttled;			/* No sample is due until the next one. */
	enum value whose;		/* who gave it its control, or where it counts */
	u32 policies;			/* mask: under which it has counted since its control */
	u32 was_user;			/* mask: users that it was since it runs */
	bool was_open;			/* since it runs, the policy was "open" */
	bool was_mapped;		/* since it runs, it had its page mapped */
	bool clock_on;
	bool suspended;
	bool raw;			/* by the policy */
	bool records;
	bool cloexec;
	bool invited;			/* to @tree; it counts when it returns to user mode */
	bool deaf;			/* it has no handler: its overflows are never due */
	bool lent;
	bool told;
	bool sampled;			/* since its control */
	/* What its reader knows of its memory: replay.c */
	struct reader *reader;		/* NULL: it has, or had, none */
	bool must_look;			/* before it goes on in user mode */
	bool looked;			/* since its control */
	u64 unknown;			/* the time of its latest sample with MAP_UNKNOWN */
	u64 not_before;			/* and when such a one is to have it look */
};

/* x86: the last ones have metrics of TopDown's. */
#define NR_METRIC_CONTROLS	3

/* Controls to choose from; the shared ones are counted by perf. */
extern const struct control controls[];
extern const unsigned int nr_controls;
extern const struct control shared_controls[];
extern const unsigned int nr_shared_controls;

/* The first one and the last one are all that have ended, in either namespace. */
extern struct process processes[NR_PROCESSES + 2];
#define ENDED_INSIDE	(processes + NR_PROCESSES + 1)
extern struct pid_namespace inner;
extern bool next_inside;	/* the next process is there */
extern struct map maps[NR_MAPS];
extern struct thread threads[NR_THREADS];
extern struct thread idle[SHIM_CPUS];
extern struct tree trees[NR_THREADS];
extern struct handle *orphans[NR_ORPHANS];
extern unsigned int in_step, seed;
extern bool nobody_calls;	/* no thread does anything as others switch */
#ifdef CONFIG_X86
extern bool counters_outside;	/* see struct model_machine's @amd_outside */
extern bool hyperthreads;	/* a Pentium 4 that has them, whatever the seed: CPU 1 is CPU 0's */
#endif

/* How often each thing happened: all of them must. */
extern struct counted {
	unsigned int reads, shown, private, switches, forks, execs, ends, tree_reads, overflows,
		     stops, policies, lends, maps, interrupted, raw, shared, refused, samples,
		     read_running, traced, added, not_holder, unlinked, others,
		     read_between, disturbed, throttled, goes_on, held, told_maps, placed, unknown,
		     looks, not_told;
} nr;

#define expect(condition, ...)							\
do {										\
	if (!(condition)) {							\
		char __what[256];						\
										\
		(void)snprintf(__what, sizeof(__what), __VA_ARGS__);		\
		ck_abort_msg("seed %u, step %u: %s", seed, in_step, __what);	\
	}									\
} while (0)

/* Less than @n */
unsigned int rnd(unsigned int n);

/* What user mode reads in registers: for whom each counted, and who has a permission: registers.c */
unsigned int owner_bit(const struct process *process, unsigned int user);
u64 owner_of(const struct thread *thread);
void look_for(const struct thread *thread);
void look(void);
void look_first(void);
void forget_process(const struct process *process);
void pass_on(u64 from, u64 to);
bool is_own(const struct map *map, const struct thread *thread);
bool has_map(const struct thread *thread);
bool has_shared(void);
bool has_rings(void);
bool has_throttles(void);
void expect_own(const struct thread *thread);

/* What is counted, and that the module says the same by all that reads: counts.c */
bool counts(const struct thread *thread);
u64 clock_of(const struct thread *thread);
u64 count_of(const struct control *control, const struct model_tally *tally, u32 i);
/* Is that what counter @i has counted? *@want: that, or of a metric the most */
bool is_count_of(const struct control *control, const struct model_tally *tally, u32 i, u64 value,
		 u64 *want);
void tally_add(struct model_tally *to, const struct model_tally *from);
void begin_periods(struct thread *thread);
void end_periods(struct thread *thread);
bool is_within_budget(struct thread *thread);
void set_budget(unsigned int budget);
void expect_clock(u64 clock, bool on, const struct thread *thread);
void expect_sums(const struct thread *thread);
void expect_states(void);
void end_reading(struct thread *thread);
void expect_user_mode(void);
void expect_tree(struct tree *tree, struct handle *handle);

/*
 * Rings: records.c. begin_timer: the clock is something from least to most. expect_records: all of
 * the current thread's ring; expect_no_sample_is_due: before it goes on in user mode; throttled: it
 * has a THROTTLED; follow_throttle: is it over? The current thread will go on in user mode.
 */
void throttled(struct thread *thread);
void follow_throttle(struct thread *thread);
void begin_timer(struct thread *thread, u64 clock_least, u64 clock_most);
void expect_records(void);
void expect_no_sample_is_due(const struct thread *thread);

/*
 * Memory of processes: memory.c. memory_new: with a copy of another's, or with some mappings.
 * memory_is_new: of an exec. do_memory: something changes; map_code: that. jump: the thread goes on
 * in other code. be_elsewhere: another CPU does something. accesses: from now on interrupts come,
 * and other CPUs do things, between any two accesses of the files that write to rings.
 */
struct memory *memory_new(struct process *process, const struct memory *like);
void memory_is_new(struct thread *thread);
void do_memory(struct thread *thread);
void do_memory_watched(struct thread *thread);
void map_code(struct thread *thread, unsigned int page, u8 file);
void jump(struct thread *thread);
u64 page_address(unsigned int page);
unsigned int page_at(u64 address);
u8 file_told(const struct perfctr_record_map *map);
void be_interrupted(struct thread *thread);
void be_elsewhere(void);
void accesses_begin(void);
void accesses_end(void);
extern void (*shim_at_access)(void);
extern unsigned int allocations_left;	/* of the files that write to rings; ~0: any number */
extern bool no_map_probes;
extern bool rings_tell_maps;	/* all */

/* Readers of rings: replay.c */
struct perfctr_ring_buffer;
void reader_begins(const struct perfctr_ring_buffer *ring);
void reader_ends(const struct perfctr_ring_page *page);
struct reader *reader_of(struct thread *thread);
void reader_reads(struct reader *reader);
void expect_sample(struct thread *thread, const struct perfctr_record_sample *sample);
void expect_place(struct thread *thread, const struct perfctr_record_sample *sample);
void expect_exec(struct thread *thread);
void expect_end(struct reader *reader, const struct thread *thread);
void begin_look(struct thread *thread);
void look_begins(struct thread *thread);
void reader_may_lose(struct thread *thread);
void look_ends(struct thread *thread);

/*
 * Readers on other CPUs: readers.c. begin, end: of a switch. expect_sums_of_moment: of a thread
 * that may be disturbed, which is switched meanwhile
 */
void readers_begin(struct thread *prev, struct thread *next);
void readers_end(void);
bool may_be_disturbed(const struct thread *thread);
void expect_sums_of_moment(struct thread *thread);

/* The kernel: switches, interrupts, what threads do, and how they come and go: threads.c */
struct thread *thread_of(struct task_struct *task);
struct thread *running(void);
bool is_idle(const struct thread *thread);
struct vperfctr *state_of(const struct thread *thread);
bool runs(const struct thread *thread);
bool is_shared(const struct thread *thread);
bool is_in_switch(void);
void to_cpu(unsigned int cpu);
u64 now(void);
void return_to_user(void);
void fire_timer(bool early);
void fire_out(struct task_struct *prev, struct task_struct *next);
void fire_in(struct task_struct *next);
void switch_to(struct thread *next);
void switch_for_kthread(bool comes);
void let_run(struct thread *thread, enum model_mode mode, u64 instructions);
void execute(void);
struct thread *thread_new(void);
struct process *process_new(const struct process *parent);
void thread_begins(struct thread *thread, struct process *process, unsigned int uid);
struct thread *make_child(struct thread *parent, unsigned int how);
extern void (*meanwhile_in_fork)(void);	/* It has copied the memory. NULL: what comes by chance */
void do_exec(struct thread *thread);
void do_rename(struct thread *thread);
void do_exit(struct thread *thread);
void do_close(void);
void do_begin(void);

/* Calls that a thread makes: calls.c */
long engine_ioctl(struct handle *handle, unsigned int cmd, void *arg);
void handle_put(struct handle *handle);
struct tree *tree_new(void);
void tree_dies(struct tree *tree);
void set_control(struct thread *thread, const struct control *control, struct tree *tree,
		 bool tsc_on, u64 refresh, u32 flags);
void trace(struct thread *thread);
void untrace(struct thread *thread);
void do_trace(void);
void add_member(struct thread *thread, struct thread *member);
void do_add_member(struct thread *thread);
void do_stop_go(struct thread *thread);
void do_unlink(struct thread *thread);
void do_iresume(struct thread *thread);
void do_map(struct thread *thread);
void unmap(struct map *map);
void do_unmap(struct thread *thread);
void do_policy(void);
void do_setuid(struct thread *thread);

/* Random sequences: random.c */
void happen_elsewhere(void);
const struct control *choose_control(void);
void do_sleep(void);
void do_work(void);
void engine_begin(void);
void engine_end(void);
unsigned int number(const char *name, unsigned int otherwise);

/*
 * pairs.c. begin: before any sequence. see_thread: its sums were compared. see: the same, of
 * something else; a mask of values.
 */
void pairs_begin(void);
void pairs_row_ends(void);
void pairs_see_thread(const struct thread *thread);
void pairs_see(u32 mask);
void test_pairs(void);

/* Sessions: sessions.c */
void test_sessions(void);

/*
 * What is no random sequence: scenes.c, invited.c, mapped.c, faults.c. begin_thread: in a process of its own. run_on:
 * it comes to that CPU, and executes 1,000 instructions in user mode.
 */
struct thread *begin_thread(unsigned int uid);
void run_on(unsigned int cpu, struct thread *thread);
void test_scenes(void);
void test_invited(void);
void test_faults(void);
void test_mapped(void);

#endif /* WORLD_H */
