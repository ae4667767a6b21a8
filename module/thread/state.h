/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state is the counters of one thread. This header says who may access which member, and when.
 */
#ifndef PERFCTR_STATE_H
#define PERFCTR_STATE_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>

#include "base/compat.h"
#include "arch/cpu.h"

struct perfctr_known_mm;
struct perfctr_ring_buffer;
struct perfctr_tree;

/*
 * A thread may be interrupted between its look at the page and its read of the register. So the
 * thread keeps its permission for some time after the page has stopped showing the register:
 * READER_DELAY if somebody else ends the permission, or HANDLER_DELAY if the thread itself does so
 * in a signal handler. A thread that reads even later gets SIGSEGV.
 */
#define PERFCTR_READER_DELAY	HZ
#define PERFCTR_HANDLER_DELAY	(HZ / 20)

/*
 * Bits of vperfctr.at_once, which replace PERFCTR_ID_USER there. With SHOWN, the page shows the
 * registers: under the policy "open" if OPEN is set, too, and under "guarded" if it is not.
 */
#define PERFCTR_AT_ONCE_SHOWN	2UL
#define PERFCTR_AT_ONCE_OPEN	4UL
/*
 * A bit of vperfctr.at_once, beside PERFCTR_ID_USER: the registers are private to shown_to, and no
 * page shows them.
 */
#define PERFCTR_AT_ONCE_PRIVATE	4UL
static_assert(PERFCTR_ID_STEP > PERFCTR_AT_ONCE_OPEN);

/*
 * A value of vperfctr.at_once: no CPU has loaded this id, and no state with this value is handed
 * counters.
 */
#define PERFCTR_NO_CONFIG	(~(PERFCTR_ID_USER | PERFCTR_AT_ONCE_SHOWN))
/* Number of members of struct perfctr_soft that are not computed. Only task_clock is computed. */
#define PERFCTR_NR_SOFT		4
static_assert(offsetof(struct perfctr_soft, task_clock) == PERFCTR_NR_SOFT * sizeof(__u64));

/**
 * struct perfctr_budget - counts the overflows, or the samples, of a tick
 * @tick: the latest tick (jiffies) that had an overflow or a sample
 * @spent: how many overflows or samples that tick had
 */
struct perfctr_budget {
	unsigned long tick;
	unsigned int spent;
};

/**
 * struct perfctr_imode - the i-mode counters of a state; owner and interrupt, with interrupts off.
 *	Others read the first four members under the state's lock
 * @nr: number of i-mode counters, which are the last counters of the state
 * @signo: the signal for overflows, or 0 with a recorder and after an exec. Without a signal and
 *	without a recorder, no overflow is ever due
 * @asked: the signal that the control names, for READ_CONTROL
 * @refresh: the control's refresh, for READ_CONTROL and descendants
 * @stopped: the counters stand still until their interrupt ends
 * @left: number of overflows until the counters stay suspended, including the last one
 * @pending: bit i is set if counter i has overflowed, and the overflow was not delivered yet
 * @cpu: the CPU on which the counters were stopped last, if their registers still agree with @ctr
 *	(perfctr 2.6's isuspend_cpu), or -1: see ireload()
 * @budget: counts signals after which the counters go on
 * @ctr.limit: the sum at which the next overflow is due
 * @ctr.next: the sum at which the register comes to zero. This is @ctr.limit, or less if a period
 *	has more bits than the register. While the counter runs, this member holds a difference,
 *	like perfctr_cpu_ctr.acc
 */
struct perfctr_imode {
	u32 nr;
	int signo;
	int asked;
	u64 refresh;
	bool stopped;
	u64 left;
	u32 pending;
	int cpu;
	struct perfctr_budget budget;
	struct {
		u64 limit;
		u64 next;
	} ctr[] __counted_by(nr);
};

/**
 * struct perfctr_recorder - the samples of a state. Overflows and a timer write samples to a ring,
 *	and send no signals. The owner and its interrupt access the recorder with interrupts off.
 *	Other threads read only the first two members, under the state's lock
 * @ring: the ring. Constant once the state has a control. The root's state and its tree have
 *	references
 * @timer_ns: the control's timer_ns, for READ_CONTROL and descendants
 * @timer: ticks of the clock from one sample to the next, or 0 without samples by time
 * @due: with @timer: the clock's value at which the next sample is due
 * @throttled: there were too many samples, so no overflow is due until the next tick
 * @budget: counts samples
 * @pid, @tid: as in struct perfctr_record; set with @announced
 * @comm: the owner's name, as readers know it
 * @known: what readers know of the memory of the owner's process. After a fork that shares memory,
 *	this is what readers know of the parent's process. NULL if readers know nothing, or only
 *	what the parent's process had mapped at the fork. The recorder is one of @known->users
 * @changes, @announced: point to two values. If the values differ, memory has changed without the
 *	readers' knowledge. NULL if readers know nothing of the owner yet
 * @announced_at_fork: the value to which @announced may point
 * @look_after: no sample asks for a look at the memory before this time, ns. U64_MAX if a sample
 *	has asked, and the look has not happened yet
 */
struct perfctr_recorder {
	struct perfctr_ring_buffer *ring;
	u64 timer_ns;
	u64 timer;
	u64 due;
	bool throttled;
	struct perfctr_budget budget;
	pid_t pid;
	pid_t tid;
	char comm[TASK_COMM_LEN] __aligned(sizeof(long));
	struct perfctr_known_mm *known;
	const u32 *changes;
	const u32 *announced;
	u32 announced_at_fork;
	u64 look_after;
};

/* Bits of vperfctr.undo */
#define PERFCTR_UNDO_SHOWN	1
#define PERFCTR_UNDO_ICTRS	2
#define PERFCTR_UNDO_CLOCK	4
#define PERFCTR_UNDO_OWN_WAY	8

/*
 * Bits of vperfctr.hold: the reasons why a state does not count. If hold is 0, the state counts
 * whenever its thread runs. The bits of HOLD_COUNTERS stop only the counters: the clock and the
 * kernel's counts go on.
 */
#define PERFCTR_HOLD_IDLE	0x01	/* the state has no counting control, or is not attached */
#define PERFCTR_HOLD_DEAD	0x20	/* the state's tree is dead, so no thread can read it */
#define PERFCTR_HOLD_LOST	0x40	/* the state has an error */
#define PERFCTR_HOLD_ONE_CPU	0x100	/* the state counts on one CPU only: see resume.c */
#define PERFCTR_HOLD_ENDED	0x200	/* no thread has the state any more */
/* The state starts to count at the next exec. READ reports this bit and the next three. */
#define PERFCTR_HOLD_ON_EXEC	PERFCTR_READ_ON_EXEC
/* An overflow has stopped the counters. THROTTLED: there were too many overflows in a tick. */
#define PERFCTR_HOLD_OVERFLOWN	PERFCTR_READ_OVERFLOWN
#define PERFCTR_HOLD_THROTTLED	PERFCTR_READ_THROTTLED
/* SUSPEND has suspended the state or its tree, or its control says so. */
#define PERFCTR_HOLD_SUSPENDED	PERFCTR_READ_SUSPENDED
#define PERFCTR_HOLD_REPORTED	(PERFCTR_HOLD_ON_EXEC | PERFCTR_HOLD_COUNTERS | \
				 PERFCTR_HOLD_SUSPENDED)
#define PERFCTR_HOLD_COUNTERS	(PERFCTR_HOLD_OVERFLOWN | PERFCTR_HOLD_THROTTLED)
/* If only these reasons hold the state, the kernel's counts go on. */
#define PERFCTR_HOLD_PARTLY	(PERFCTR_HOLD_COUNTERS | PERFCTR_HOLD_ONE_CPU)
/* If one of these holds the state, we do not touch registers, even if the thread may read them. */
#define PERFCTR_HOLD_ENTIRELY	(PERFCTR_HOLD_IDLE | PERFCTR_HOLD_ENDED | \
				 PERFCTR_HOLD_ON_EXEC | PERFCTR_HOLD_DEAD | \
				 PERFCTR_HOLD_LOST)

/* Bits of vperfctr.todo: what the owner does before it returns to user mode, or as it dies */
#define PERFCTR_TODO_DETACH	0x01	/* detach: the state's tree is dead */
#define PERFCTR_TODO_LENT	0x02	/* take back the page that a vfork's child had */
#define PERFCTR_TODO_PERMIT	0x04	/* get permission for the owner's map */
#define PERFCTR_TODO_SPARE	0x08	/* make a state for the next child */
#define PERFCTR_TODO_OVERFLOW	0x10	/* deliver the overflow */
#define PERFCTR_TODO_RESUME	0x20	/* resume: the state may count again */
#define PERFCTR_TODO_PID	0x40	/* note the owner's new id, after an exec */
#define PERFCTR_TODO_QUEUED	0x80	/* nothing to do: return_work is queued */
#define PERFCTR_TODO_MAPS	0x100	/* record what is mapped */
#define PERFCTR_TODO_FORGET	0x400	/* end the owner's tree, which an exec has unlinked */
#define PERFCTR_TODO_ILL	0x200	/* send SIGILL: the owner cannot count on its CPU */

/* Values of vperfctr.raw: why the owner may read registers without a page */
#define PERFCTR_RAW_BY_PRIVILEGE	1
#define PERFCTR_RAW_BY_POLICY		2	/* as long as the policy is "open" */

/**
 * struct vperfctr - the counters of one thread
 *
 * A state lives while anyone refers to it: its thread while attached, and each open file that is
 * its handle (a map refers to its file). Who may access a member:
 *
 *  "owner": the owner thread itself, with interrupts off, so that neither a switch nor an interrupt
 *	on its CPU sees a half-done change. sched_out() and sched_in() count as the owner, because
 *	they run on its CPU as the thread leaves and comes.
 *  "interrupt": an interrupt on the owner's CPU may read the member. To change counters the
 *	interrupt suspends the state first, and resumes the state afterwards (perfctr_run()).
 *  "reader": anyone with a handle, without a lock: see @seq.
 *
 * @notifier: in the owner's list of preempt notifiers while attached, or in perfctr_table; owner.
 * @seq: odd while the state is resumed (@cpu_state holds differences), and even while it is
 *	suspended (@cpu_state holds sums). Rises by one at each change: from even to odd before
 *	@cpu_state changes, and from odd to even after @cpu_state has changed. A reader copies the
 *	sums between two reads of @seq. If both reads give the same even value, the reader has
 *	copied sums. If a value is odd, the reader interrupts the owner's CPU
 * @overflows: see struct perfctr_read; owner
 * @at_once: what a switch may do without looking at anything else; owner. If it is the config's id,
 *	a CPU that has loaded the config only has to resume the sums. With SHOWN, no CPU has loaded
 *	this value as an id, and only a thread whose page shows registers may hand its counters
 *	over. With SHOWN but without OPEN, and with PRIVATE, @at_once has the config's kin in place
 *	of the id. With PERFCTR_NO_CONFIG, a switch has to look at everything. Whoever sets a hold,
 *	or unmaps the page, writes PERFCTR_NO_CONFIG. When the CPU switches to the owner, the thread
 *	that is switched out reads @at_once, and may resume the sums of this state: see successor().
 *	If the config was evicted or got a new id while the owner slept, the old id is still here.
 *	With 32 bits, another config gets the same id after 2^28 new ids
 * @hold: PERFCTR_HOLD_*. Each bit is set and cleared atomically: COUNTERS and LOST by the owner or
 *	an interrupt on its CPU, the other bits under @lock. A thread other than the owner that sets
 *	a bit interrupts the owner's CPU afterwards: see tree.c. @soft_on follows @hold
 * @user: the owner has mapped the page, which may show the registers. The owner sets this. The
 *	thread that removes the owner's last map clears it, under @map_lock
 * @lent: set by a fork that shares memory and thread pointer (vfork), until the thread returns to
 *	user mode. Meanwhile the page looks like the child's own, so it shows no registers; owner
 * @raw: PERFCTR_RAW_*: the owner may read registers whenever it runs, even without a page; owner
 * @inherited: the state is part of a struct descendant; constant
 * @apart: the owner is kin of nobody: see kin.c; owner
 * @soft_on: @soft holds differences; @lock
 * @todo: PERFCTR_TODO_*: what @return_work has to do, and whether @return_work is queued; owner,
 *	interrupt
 * @undo: PERFCTR_UNDO_*: what a switch-out has to do besides making sums; owner. SHOWN: a resume
 *	since the last switch-in let user mode read registers. ICTRS: i-mode counters run. CLOCK:
 *	only the clock is resumed. OWN_WAY: the state was resumed in the arch's own way
 * @granted: with SHOWN in @undo, the permission to take back, in the arch's terms
 * @shown_to: the user to whom the registers are private, while @at_once has PRIVATE, or SHOWN
 *	without OPEN; owner, or the thread that hands its counters over
 * @grace: how much is left of the grace. Meanwhile the owner keeps a permission that the policy, or
 *	a hold, no longer gives it; owner
 * @grace_place: the last bits of the address where the owner was last seen in user mode during the
 *	grace: see resume.c; owner
 * @nr_ictrs: number of i-mode counters of the last control that counted, for readers; owner
 * @plain: the state has counters, but no i-mode counters, no samples, no own way, no RAW, and
 *	counts on all CPUs. So sched_in() may resume it; owner
 * @quick: the clock is on, and there are no i-mode counters, no own way and no counters of perf's.
 *	So a read only has to add registers; owner
 * @config: the config, from the first control to the end, with a reference. While attached, the
 *	state is a user of the config. For a descendant the tree has the reference, and is the user.
 *	Owner writes; interrupt
 * @imode: NULL without i-mode counters; owner, and see @lock
 * @recorder: NULL without RECORD; owner, and see @lock
 * @page: the page that the owner maps; from the owner's first map to the end
 * @stale: others still map @page, from before an exec, so the page shows nothing any more; owner,
 *	@map_lock
 * @clock_on: the last control that counted has the clock on. Otherwise the clock's sum is hidden
 *	and zero; owner
 * @flags: PERFCTR_CONTROL_*, as the control has them; owner writes
 * @only_cpu: the CPU where the state counts, with HOLD_ONE_CPU and PERFCTR_CONTROL_CPU; owner
 * @preserve: as the control has it; owner changes it under @lock
 * @owned: the slots of @page name the owner, because it may read the registers; owner
 * @error: PERFCTR_ERROR_*; owner
 * @holder: the open file whose control is in force; only compared. The owner sets it, and the
 *	release of that file clears it
 * @owner: the thread, or NULL once detached. RCU, so that a reader may find the thread's CPU
 * @pid: the owner's id, for people
 * @refs: number of references to the state
 * @lock: lets others look at @config, @imode, @recorder and @owner. The owner changes these
 *	members, and members that are read together with them, under this lock
 * @map_lock: guards @map_mm and @owner_maps
 * @owner_maps: number of maps of @page that the owner made in @map_mm
 * @map_mm: the mm where the owner made these maps; only compared
 * @return_work: runs @todo on the owner's way to user mode, or as it dies. While queued, the work
 *	has a reference to the state and to the module
 * @tree: the tree of which the state is the root or a descendant. Owner changes it under @lock;
 *	constant for a descendant
 * @spare: a state for the next child; owner
 * @ring: for controls with RECORD, with a reference. Owner sets it once. NULL if no ring was made,
 *	or for a descendant
 * @soft: what the kernel counts (struct perfctr_soft): the sums, or, while @soft_on is set, the
 *	sums less the owner's values; @lock
 * @cpu_state: sums or differences; owner writes; reader
 */
struct vperfctr {
	struct preempt_notifier notifier;
	u32 seq;
	u32 overflows;
	unsigned long at_once;
	atomic_t hold;
	bool user;
	bool lent;
	bool inherited : 1;
	bool apart : 1;
	bool soft_on;
	bool stale;
	bool quick;
	bool plain;
	u8 error;
	u8 raw;
	u8 undo;
	u8 grace;
	bool clock_on;
	bool owned;
	u16 todo;
	u32 granted;
	kuid_t shown_to;
	u32 preserve;
	u32 only_cpu;
	u16 flags;
	u8 nr_ictrs;
	u8 grace_place;
	struct perfctr_config *config;
	struct perfctr_imode *imode;
	struct perfctr_recorder *recorder;
	struct perfctr_page *page;
	struct file *holder;
	struct task_struct __rcu *owner;
	struct pid *pid;
	refcount_t refs;
	raw_spinlock_t lock;	/* lets others look: see @lock above */
	raw_spinlock_t map_lock;	/* guards @map_mm and @owner_maps */
	unsigned int owner_maps;
	const struct mm_struct *map_mm;
	struct callback_head return_work;
	struct perfctr_tree *tree;
	struct vperfctr *spare;
	struct perfctr_ring_buffer *ring;
	u64 soft[PERFCTR_NR_SOFT];
	struct perfctr_cpu_state cpu_state;	/* last member: its array is as long as needed */
};

/*
 * The result of one read. value points to the caller's array of 1 + PERFCTR_MAX_HW words: first the
 * clock, then as many sums as cstatus says.
 */
struct perfctr_sample {
	u32 cstatus;
	u32 overflows;
	u32 hold;
	u64 *value;
};

/*
 * OPEN makes an open file a handle. From then on, the file's private_data points to the state of a
 * thread, or, with this bit, to a session (session.c), and never changes again.
 */
#define PERFCTR_FILE_SESSION	1UL

/* Returns the state of a handle, or NULL if the file is a session's handle, or no handle yet. */
static __always_inline struct vperfctr *perfctr_file_state(const struct file *file)
{
	void *handle = READ_ONCE(file->private_data);

	return unlikely((unsigned long)handle & PERFCTR_FILE_SESSION) ? NULL : handle;
}

/* Returns true if current is the owner. While current runs, only current itself can change that. */
static __always_inline bool vperfctr_is_own(const struct vperfctr *perfctr)
{
	return likely(rcu_access_pointer(perfctr->owner) == current);
}

/*
 * Returns the value of vperfctr.plain. @raw, @one_cpu: as the control asks. The caller is the
 * owner.
 */
static __always_inline bool vperfctr_is_plain(const struct vperfctr *perfctr, u8 raw, bool one_cpu)
{
	const struct perfctr_config *config = perfctr->config;

	return config->nr && !perfctr->imode && !perfctr->recorder && !raw && !one_cpu &&
	       !perfctr_config_has_own_way(config);
}

/*
 * Returns which sums the state has, as PERFCTR_CSTATUS_*: those of its last control that counted.
 * Anyone may call this function and vperfctr_counted().
 */
static inline u32 vperfctr_cstatus(const struct vperfctr *perfctr)
{
	u32 nr = READ_ONCE(perfctr->cpu_state.end) - perfctr->cpu_state.ctr;

	return (READ_ONCE(perfctr->clock_on) ? PERFCTR_CSTATUS_CLOCK : 0) |
	       READ_ONCE(perfctr->nr_ictrs) << 8 | nr;
}

/* Returns what the state counts now, as PERFCTR_CSTATUS_*. */
static inline u32 vperfctr_counted(const struct vperfctr *perfctr)
{
	return atomic_read(&perfctr->hold) & PERFCTR_HOLD_IDLE ? 0 : vperfctr_cstatus(perfctr);
}

/* --- state.c --- */

/**
 * struct perfctr_above - functions of folders above this one, which main.c hands down
 * @on_return: the work that vperfctr_return_soon() queues
 * @on_invited: the work that vperfctr_invite() queues, by which the owner attaches the state
 * @free_inherited: frees a descendant's state without references
 * @free_root: frees any other state without references
 */
struct perfctr_above {
	void (*on_return)(struct callback_head *work);
	void (*on_invited)(struct callback_head *work);
	void (*free_inherited)(struct vperfctr *perfctr);
	void (*free_root)(struct vperfctr *perfctr);
};

void perfctr_state_init(const struct perfctr_above *above);
/* Returns the size of a state in bytes. */
size_t vperfctr_size(void);
/* Initializes a new state, which is all zero but for @inherited. */
void vperfctr_setup(struct vperfctr *perfctr);
/*
 * Drops a reference. If it is the last reference of a root, or on RT of any state, this may sleep.
 */
void vperfctr_put(struct vperfctr *perfctr);
/* Drops the state's spare. The caller is the owner. */
void vperfctr_drop_spare(struct vperfctr *perfctr);
/* Returns the owner's id in current's pid namespace, or 0 if it has none there. */
pid_t vperfctr_tid(struct vperfctr *perfctr);
/* Returns true if the config of the state's latest control is shared. */
bool vperfctr_is_shared(struct vperfctr *perfctr);
/* Stores what the kernel counts: the first PERFCTR_NR_SOFT members of struct perfctr_soft. */
void vperfctr_soft_read(struct vperfctr *perfctr, u64 *soft);
/* Returns the last member of struct perfctr_soft, which is computed from the clock. */
u64 vperfctr_task_clock(u64 clock);
/* Stops the kernel's counts, or lets them go on, as @hold says. perfctr->lock is held. */
void vperfctr_soft_follow(struct vperfctr *perfctr);
/*
 * Does what vperfctr_soft_follow() does, after the counters were lost. The lock is not held. The
 * caller is the owner, or an interrupt on its CPU.
 */
void vperfctr_soft_lost(struct vperfctr *perfctr);
/*
 * Adds or removes a reason not to count. perfctr->lock is held. If the caller is not the owner, it
 * must interrupt the owner's CPU afterwards. Only then the change is in force.
 */
void vperfctr_hold(struct vperfctr *perfctr, int why);
void vperfctr_unhold(struct vperfctr *perfctr, int why);
/* Binds the counters of a new state, or of a new control, to the registers of the config. */
void vperfctr_bind(struct vperfctr *perfctr);
/*
 * vperfctr_return_soon() makes the task do @todo before it runs user code. The task is current, or
 * has not run yet, or comes to this CPU. The caller is the owner, is an interrupt on its CPU, or
 * makes a child. vperfctr_return_queue() only queues the work. It returns true if the work was not
 * queued before. The caller must then give the work its references.
 */
void vperfctr_return_soon(struct vperfctr *perfctr, struct task_struct *task, u16 todo);
bool vperfctr_return_queue(struct vperfctr *perfctr, struct task_struct *task);
/*
 * Makes the task, which may run, attach a new state before it runs user code. The work takes over
 * the caller's references to the state and to the module. Returns false if the task is exiting, and
 * so runs no user code any more.
 */
bool vperfctr_invite(struct vperfctr *perfctr, struct task_struct *task);
/* Returns the state that waits for the task to attach it, or NULL. The task's pi_lock is held. */
struct vperfctr *perfctr_find_invited(struct task_struct *task);
/* Call this if current has attached or ended the state before the queued work did so. */
void vperfctr_was_invited(struct vperfctr *perfctr);

#endif /* PERFCTR_STATE_H */
