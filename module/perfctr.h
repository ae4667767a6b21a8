/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the module show each other, in the order of Kbuild: each file calls
 * those above it, and none below.
 */
#ifndef PERFCTR_H
#define PERFCTR_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "lowlevel.h"

#define PERFCTR_VERSION	"7.0.0"

/* usercopy.c */
/* The size that begins a user's structure: EINVAL below the least, E2BIG over PERFCTR_MAX_SIZE. */
int perfctr_get_size(const void __user *arg, size_t least, u32 *size);
/* Fill a user's structure of that size: as much as it has room for, zero beyond what is known. */
int perfctr_put_struct(void __user *arg, u32 size, const void *from, size_t known);
/* Of reserved members: memchr_inv() takes longer than all else that is looked at. */
static inline bool perfctr_all_zero(const __u64 *words, size_t size)
{
	__u64 any = 0;
	size_t i;

#pragma GCC unroll 16
	for (i = 0; i < size / sizeof(*words); i++)
		any |= words[i];
	return !any;
}

/*
 * Who looked at its page and is to read a register may be stopped in between. When
 * the permission ends by another's doing it lasts so long after the page has said
 * "ask"; who takes longer gets SIGSEGV.
 */
#define PERFCTR_READER_DELAY	HZ

/*
 * In vperfctr.at_once, instead of PERFCTR_ID_USER: its page shows the registers. And by
 * which policy: "open", or "guarded".
 */
#define PERFCTR_AT_ONCE_SHOWN	2UL
#define PERFCTR_AT_ONCE_OPEN	4UL
static_assert(PERFCTR_ID_STEP > PERFCTR_AT_ONCE_OPEN);

/* In vperfctr.at_once: no CPU holds it, and nothing is handed over to it. */
#define PERFCTR_NO_CONFIG	(~(PERFCTR_ID_USER | PERFCTR_AT_ONCE_SHOWN))
/* Members of struct perfctr_soft that are not computed from another: all but task_clock. */
#define PERFCTR_NR_SOFT		4
static_assert(offsetof(struct perfctr_soft, task_clock) == PERFCTR_NR_SOFT * sizeof(__u64));

/**
 * struct perfctr_imode - of a state whose control has i-mode counters; owner and
 *	interrupt, with interrupts off, but for the first four, which others look
 *	at under the state's lock
 * @nr: number of i-mode counters, the last ones of the state
 * @signo: signal for overflows; 0 after an exec, and then none is ever due
 * @asked: the same as the control had it, for readers
 * @refresh: as the control had it, for its descendants
 * @left: overflows up to the one that suspends, this one included
 * @pending: bit i: counter i has overflowed, and the owner was not told yet
 * @cpu: CPU on which the counters were stopped last, if their registers hold
 *	what @ctr says (perfctr 2.6's isuspend_cpu); -1: see perfctr_cpu_ireload()
 * @tick: jiffies of the latest overflow after which they went on by themselves
 * @spent: how many of these there were in that tick
 * @ctr.limit: the sum at which the next overflow is due
 * @ctr.next: the sum at which the register comes to zero: @ctr.limit, or before,
 *	where a period has more bits than the register. While the counter runs
 *	this is its difference (perfctr_cpu_ctr.acc)
 */
struct perfctr_imode {
	u32 nr;
	int signo;
	int asked;
	u64 refresh;
	u64 left;
	u32 pending;
	int cpu;
	unsigned long tick;
	unsigned int spent;
	struct {
		u64 limit;
		u64 next;
	} ctr[] __counted_by(nr);
};

/* vperfctr.undo */
#define PERFCTR_UNDO_SHOWN	1
#define PERFCTR_UNDO_ICTRS	2
#define PERFCTR_UNDO_CLOCK	4

/*
 * vperfctr.hold: why a state does not count. At 0 it counts, whenever its thread runs.
 * COUNTERS hold the counters alone: the clock goes on, and what the kernel counts.
 */
#define PERFCTR_HOLD_IDLE	0x01	/* nothing is asked for, or no thread has it */
#define PERFCTR_HOLD_DEAD	0x20	/* its tree is dead, so nobody can read it */
#define PERFCTR_HOLD_LOST	0x40	/* it has an error */
/* These are told by READ: its control starts at the next exec, */
#define PERFCTR_HOLD_ON_EXEC	PERFCTR_READ_ON_EXEC
/* an overflow, until it goes on, which may be one too many in its tick as well, */
#define PERFCTR_HOLD_OVERFLOWN	PERFCTR_READ_OVERFLOWN
#define PERFCTR_HOLD_THROTTLED	PERFCTR_READ_THROTTLED
/* SUSPEND, of it or of its tree, or its control. */
#define PERFCTR_HOLD_SUSPENDED	PERFCTR_READ_SUSPENDED
#define PERFCTR_HOLD_TOLD	(PERFCTR_HOLD_ON_EXEC | PERFCTR_HOLD_COUNTERS | \
				 PERFCTR_HOLD_SUSPENDED)
#define PERFCTR_HOLD_COUNTERS	(PERFCTR_HOLD_OVERFLOWN | PERFCTR_HOLD_THROTTLED)
/* Its registers are not touched, whoever may read them. */
#define PERFCTR_HOLD_ENTIRELY	(PERFCTR_HOLD_IDLE | PERFCTR_HOLD_ON_EXEC | \
				 PERFCTR_HOLD_DEAD | PERFCTR_HOLD_LOST)

/* vperfctr.todo: what the owner does before it returns to user mode, or as it dies */
#define PERFCTR_TODO_DETACH	0x01	/* its tree is dead */
#define PERFCTR_TODO_LENT	0x02	/* a child had the page */
#define PERFCTR_TODO_PERMIT	0x04	/* its map waits for permission */
#define PERFCTR_TODO_SPARE	0x08	/* a state for the next child */
#define PERFCTR_TODO_OVERFLOW	0x10	/* tell it */
#define PERFCTR_TODO_RESUME	0x20	/* it may count again */
#define PERFCTR_TODO_PID	0x40	/* an exec gave it another id */
#define PERFCTR_TODO_QUEUED	0x80	/* nothing: return_work is queued */

/* vperfctr.raw: why its registers may be read without a page */
#define PERFCTR_RAW_BY_PRIVILEGE	1
#define PERFCTR_RAW_BY_POLICY		2	/* as long as the policy is "open" */

/**
 * struct vperfctr - the counters of one thread
 *
 * Lives while anyone refers to it: its thread while attached, and each open
 * file that is its handle (a map refers to its file). Who may touch what:
 *
 *  "owner": the owner thread itself, with interrupts off, so that neither a
 *	switch nor an interrupt on its CPU sees it half done. The hooks are the
 *	owner too: they run on its CPU as it comes and goes.
 *  "interrupt": an interrupt on the owner's CPU may read it, and may suspend
 *	and resume around what it does to the counters (perfctr_run()).
 *  "reader": anyone with a handle, without a lock: see @seq.
 *
 * @notifier: in the owner's list of preempt notifiers while attached; owner
 * @seq: odd while the counters are resumed, that is @cpu_state holds
 *	differences; even while it holds sums. Rises by one at each change,
 *	which is ordered before (even to odd) or after (odd to even) the change
 *	of @cpu_state: a reader that finds the same even value before and after
 *	copying has copied sums. At an odd one it asks the owner's CPU by interrupt
 * @overflows: as struct perfctr_read says; owner
 * @at_once: the config's id, if a CPU that holds it need do no more than resume the
 *	sums. With SHOWN none holds it: then only another thread with a page may hand its
 *	counters over. Else PERFCTR_NO_CONFIG; owner. Who tells it to stand still, or
 *	unmaps the page, writes PERFCTR_NO_CONFIG. Whoever is switched out in its favour
 *	reads it, and may resume the sums: see successor()
 * @hold: PERFCTR_HOLD_*. Each bit is set and cleared atomically: COUNTERS and LOST by
 *	the owner or an interrupt on its CPU, the others under @lock. Whoever else
 *	sets one then interrupts the owner's CPU: see tree.c. @soft_on follows
 * @user: the owner has mapped the page: show it the registers. Set by the owner,
 *	cleared, under @map_lock, by whoever removes the owner's last map
 * @lent: between a fork that shares memory and thread pointer (vfork) and the
 *	thread's return to user mode: the child takes the page for its own, so no
 *	registers are shown; owner
 * @raw: PERFCTR_RAW_*: its registers may be read whenever it runs, mapped or not; owner
 * @inherited: it is part of a struct descendant; constant
 * @soft_on: @soft holds differences; @lock
 * @todo: PERFCTR_TODO_*, what @return_work has to do, and whether it is queued; owner,
 *	interrupt
 * @undo: PERFCTR_UNDO_*, what a switch-out has to do besides sums: SHOWN, a
 *	resume since the last switch-in let user mode read registers; ICTRS, there
 *	are i-mode counters that run; CLOCK, the clock alone is resumed; owner
 * @granted: the arch's word on what SHOWN takes back
 * @grace: switches for which the permission outlasts the policy; owner
 * @nr_ictrs: as in the config, for readers; owner
 * @plain: there are counters, but no i-mode counters and no RAW, so that sched_in() may
 *	resume it; owner
 * @quick: the clock is on, and there are no i-mode counters: sums are what registers
 *	say, and no more; owner
 * @config: with a reference, from the first control to the end, and while attached it is
 *	a user of it; but of what is inherited the tree is, and has both; owner writes;
 *	interrupt
 * @imode: NULL without i-mode counters; owner, with what @lock says
 * @page: the page that the owner maps; from the owner's first map to the end
 * @stale: others map @page, from before an exec: nothing is shown there any more; owner,
 *	@map_lock
 * @page_seq: last sequence count written there; owner
 * @clock_on: the control names the clock; else its sum is hidden, and zeroed; owner
 * @flags: PERFCTR_CONTROL_*, as the control has them; owner writes
 * @preserve: as the control has it; owner changes it under @lock
 * @owned: slots of @page say whose they are, as the registers may be read; owner
 * @error: PERFCTR_ERROR_*; owner
 * @holder: the open file whose control is in force, only to be compared; the
 *	owner sets it, the file's release clears it if it is itself
 * @owner: the thread; NULL once detached; RCU, so a reader may ask for its CPU
 * @pid: its id, for people
 * @refs: of the object
 * @lock: lets others look at @config, @imode and @owner: the owner changes them, and
 *	what is told along with them, under this lock
 * @map_lock: guards @map_mm and @owner_maps
 * @owner_maps: how many maps of @page there are that the owner made in @map_mm
 * @map_mm: the mm where it made them, only to be compared
 * @return_work: what the owner does on its way to user mode, or as it dies; while
 *	queued it has a reference of the object and of the module
 * @tree: that whose root it is, or that it descends from; owner changes it under
 *	@lock, for a descendant it is constant
 * @spare: a state for the next child; owner
 * @soft: what the kernel counts (struct perfctr_soft): while @soft_on the sum less
 *	the owner's value; @lock
 * @cpu_state: owner writes; reader
 */
struct vperfctr {
	struct preempt_notifier notifier;
	u32 seq;
	u32 overflows;
	unsigned long at_once;
	atomic_t hold;
	bool user;
	bool lent;
	bool inherited;
	bool soft_on;
	bool stale;
	bool quick;
	bool plain;
	u8 error;
	u8 todo;
	u8 raw;
	u8 undo;
	u8 grace;
	u32 granted;
	u32 page_seq;
	struct perfctr_config *config;
	struct perfctr_imode *imode;
	struct perfctr_page *page;
	u32 preserve;
	bool clock_on;
	bool owned;
	u8 flags;
	u8 nr_ictrs;
	struct file *holder;
	struct task_struct __rcu *owner;
	struct pid *pid;
	refcount_t refs;
	raw_spinlock_t lock;	/* @config and what goes with it, for others */
	raw_spinlock_t map_lock;	/* @map_mm, @owner_maps */
	unsigned int owner_maps;
	const struct mm_struct *map_mm;
	struct callback_head return_work;
	struct perfctr_tree *tree;
	struct vperfctr *spare;
	u64 soft[PERFCTR_NR_SOFT];
	struct perfctr_cpu_state cpu_state;	/* last: its array is as long as need be */
};

/*
 * What one read sees. The caller says where the clock goes, and then the sums: there is
 * room for 1 + PERFCTR_MAX_HW, and as many are filled in as cstatus says.
 */
struct perfctr_sample {
	u32 cstatus;
	u32 overflows;
	u32 hold;
	u64 *value;
};

/* What of a control is counted: as PERFCTR_CSTATUS_* have it. By anyone. */
static inline u32 vperfctr_cstatus(const struct vperfctr *perfctr)
{
	u32 nr = READ_ONCE(perfctr->cpu_state.end) - perfctr->cpu_state.ctr;

	return (READ_ONCE(perfctr->clock_on) ? PERFCTR_CSTATUS_CLOCK : 0) |
	       READ_ONCE(perfctr->nr_ictrs) << 8 | nr;
}

/*
 * burden.c: the accounts of users. All may sleep but drop_config. add_config: current's
 * user has one config more, and has made the broadcast that its end takes: ENOMEM,
 * ENOSPC, or EAGAIN if it has to wait before it may make any. made: current has made so
 * many. allow: wait until it may make more: ERESTARTSYS if a signal comes before that.
 */
struct perfctr_user;
int perfctr_user_add_config(struct perfctr_user **user);
void perfctr_user_drop_config(struct perfctr_user *user);
void perfctr_broadcasts_made(unsigned int nr);
int perfctr_broadcasts_allow(void);
void perfctr_burden_exit(void);

/*
 * cpus.c. tell: a CPU has come, and is told of claims unless it is isolated. join: so is
 * this one, though it is; interrupts off. leave: the isolated ones no more, as there is
 * no claim. Where one is not told nothing of ours is in its registers.
 */
extern struct cpumask perfctr_told_cpus;
void perfctr_cpus_tell(unsigned int cpu);
void perfctr_cpus_join(void);
void perfctr_cpus_leave(void);
bool perfctr_cpus_all_told(void);
/*
 * An isolated CPU has been seen, or a config was evicted, since the module was loaded:
 * else nobody who loads needs to look for either.
 */
extern bool perfctr_any_rarity;
static __always_inline bool perfctr_cpu_is_told(void)
{
	return likely(!READ_ONCE(perfctr_any_rarity)) ||
	       cpumask_test_cpu(smp_processor_id(), &perfctr_told_cpus);
}

/*
 * period.c. Unless said otherwise the state is suspended, or new, interrupts are
 * off, and it is its owner or an interrupt on its CPU that calls. What create
 * gives is kfree()d.
 */
struct perfctr_imode *perfctr_imode_create(u32 nr, gfp_t gfp);
/* Full periods from here on. */
void perfctr_imode_init(struct vperfctr *perfctr, int signo, u64 refresh);
/* Start the i-mode counters: EAGAIN, EIO as perfctr_cpu_istart(). */
int perfctr_imode_start(struct vperfctr *perfctr);
/* Make a difference of the sum of each, as perfctr_cpu_resume() of the others. */
void perfctr_imode_resume(struct vperfctr *perfctr);
/* The sums of a state that is resumed, all of them; as read.c samples it */
void perfctr_imode_sample(const struct vperfctr *perfctr, u64 *value);
/* Which have overflowed? If any has all counters stand still. Nobody is shown the sums yet. */
void perfctr_imode_look(struct vperfctr *perfctr);

/*
 * state.c. What only files above can do: what a thread does that perfctr_return_soon()
 * was called for; free what nobody refers to, which was inherited, or was not.
 */
struct perfctr_above {
	void (*on_return)(struct callback_head *work);
	void (*free_inherited)(struct vperfctr *perfctr);
	void (*free_root)(struct vperfctr *perfctr);
};

void perfctr_state_init(const struct perfctr_above *above);
size_t vperfctr_size(void);
/* A new one, all zero but for inherited. */
void vperfctr_setup(struct vperfctr *perfctr);
/* May sleep if it is the last reference. */
void vperfctr_put(struct vperfctr *perfctr);
pid_t vperfctr_tid(struct vperfctr *perfctr);
/* The first PERFCTR_NR_SOFT members of struct perfctr_soft, and the last, by the clock */
void vperfctr_soft_read(struct vperfctr *perfctr, u64 *soft);
u64 vperfctr_task_clock(u64 clock);
/* What the kernel counts goes with the clock, as hold says. perfctr->lock is held. */
void vperfctr_soft_follow(struct vperfctr *perfctr);
/* By the owner, or an interrupt on its CPU: the counters were lost. */
void vperfctr_soft_lost(struct vperfctr *perfctr);
/*
 * One reason more, or less, not to count. Called with perfctr->lock held. If it is not
 * the owner that calls, what it did is in force when the owner's CPU was interrupted.
 */
void vperfctr_hold(struct vperfctr *perfctr, int why);
void vperfctr_unhold(struct vperfctr *perfctr, int why);
/* Let a new state's counters, or a new control's, read the registers that the config says. */
void vperfctr_bind(struct vperfctr *perfctr);
/* By the owner: may it read its registers? The page's slots say so. */
void vperfctr_page_own(struct vperfctr *perfctr, bool own);
void vperfctr_page_disown(struct vperfctr *perfctr);
struct perfctr_page *vperfctr_page_alloc(void);
void vperfctr_page_update(struct vperfctr *perfctr);
/* Let task, current or a child that has not run yet, do @todo before it runs user code. */
void perfctr_return_soon(struct vperfctr *perfctr, struct task_struct *task, u8 todo);
bool perfctr_return_queue(struct vperfctr *perfctr, struct task_struct *task);

/* switch.c */
void perfctr_switch_exit(void);
/* The policy for user reads, PERFCTR_USER_READ_* */
extern unsigned int perfctr_user_read;
/* It is current's from now on, and its switches are seen: may sleep. It has a reference. */
void perfctr_attach(struct vperfctr *perfctr);
/* The same for a child of current that has not run yet; the reference is the caller's. */
void perfctr_adopt(struct vperfctr *perfctr, struct task_struct *child);
/* Current's switches are seen no more. Interrupts off. */
void perfctr_unnotify(struct vperfctr *perfctr);
/* The state of current, or NULL. */
struct vperfctr *perfctr_current(void);
/* By which of its states does current do what a handle of perfctr asks? */
struct vperfctr *perfctr_own(const struct vperfctr *perfctr);
/* Interrupts off, by the owner or an interrupt on its CPU; locked: with perfctr->lock. */
void perfctr_resume(struct vperfctr *perfctr);
void perfctr_resume_locked(struct vperfctr *perfctr);
void perfctr_suspend(struct vperfctr *perfctr);
void perfctr_revoke(struct vperfctr *perfctr);
/*
 * x86: next, or current, may read registers: what is there must be its process's, or that
 * of its kind. Of current's own counters nothing is lost: they are suspended first.
 * Interrupts off.
 */
void perfctr_let_in(struct task_struct *next);

/* run.c. See perfctr_run_t: on all that are told. paid: not at current's cost. */
int perfctr_run(int (*fn)(void *arg), void *arg);
int perfctr_run_paid(int (*fn)(void *arg), void *arg);
/* The same on those of these CPUs that are online; the hotplug lock is not needed. */
int perfctr_run_on(const struct cpumask *cpus, int (*fn)(void *arg), void *arg);

/* overflow.c */
/* By the owner on its way out of the kernel, or an interrupt of its user mode: tell it. */
void perfctr_imode_deliver(struct vperfctr *perfctr);
void perfctr_imode_exec(struct vperfctr *perfctr);
int perfctr_iresume_ioctl(struct vperfctr *perfctr);
int perfctr_refresh_ioctl(struct vperfctr *perfctr, unsigned long count);
/* i-mode: let the counters' interrupts be heard, or, some time later, no more. May sleep. */
int perfctr_interrupts_get(void);
void perfctr_interrupts_put(void);
/* No config is left. */
void perfctr_interrupts_exit(void);

/*
 * config.c. get: the config for a control of current's user, claimed on every CPU that
 * is told of claims, or EINVAL, EOPNOTSUPP, EACCES, EXDEV, EBUSY, ENOMEM, ENOSPC,
 * ERESTARTSYS, with *why in each case; sleeps. The caller is a user of it, and has a
 * reference. share: so is one more, made by a user. unuse: one user less; the counters
 * go after the last, and the config must not be loaded any more, but may be looked at
 * while there is a reference. put: both. @atomic where the caller may not sleep.
 */
int perfctr_config_init(void);
void perfctr_config_exit(void);
struct perfctr_config *perfctr_config_get(const struct perfctr_ctr_control *ctr, u32 nr,
					  struct perfctr_refusal *why);
void perfctr_config_share(struct perfctr_config *config);
void perfctr_config_unuse(struct perfctr_config *config, bool atomic);
void perfctr_config_unref(struct perfctr_config *config);
void perfctr_config_put(struct perfctr_config *config, bool atomic);
void perfctr_config_info(struct perfctr_info *info);
/* No process may read registers any more. */
void perfctr_config_no_reader(void);
/* Take the counters from all, or from that user: its states are lost. May sleep. */
void perfctr_config_evict(bool all, kuid_t uid);

/*
 * permit.c. permit: let current's mm read registers, where its maps wait for that (x86);
 * false: not now. forbid: one map less in an mm. policy_changed: that for user reads is
 * another. All may sleep.
 */
bool perfctr_permit(void);
void perfctr_forbid(struct mm_struct *mm);
void perfctr_policy_changed(void);
int perfctr_permit_init(void);
void perfctr_permit_exit(void);

/* read.c. Sums of a state that is suspended, or false. For anyone, without a lock. */
bool vperfctr_sums(const struct vperfctr *perfctr, struct perfctr_sample *sample);
/* EINTR if a signal comes */
int vperfctr_sample(const struct vperfctr *perfctr, struct perfctr_sample *sample);
ssize_t vperfctr_read(struct file *file, char __user *buffer, size_t count, loff_t *pos);
int vperfctr_read_ioctl(struct vperfctr *perfctr, void __user *arg);

/* tree.c */
struct perfctr_tree;
int perfctr_tree_init(void);
void perfctr_tree_exit(void);
/* Of a control with these flags; the root is a user of the config. */
struct perfctr_tree *perfctr_tree_create(struct vperfctr *root, struct perfctr_config *config,
					 u32 flags, u32 cstatus);
void perfctr_tree_end(struct perfctr_tree *tree);
struct vperfctr *perfctr_spare_create(u32 nr_ictrs, bool may_sleep);
/* For vperfctr_put() alone. */
void perfctr_descendant_free(struct vperfctr *perfctr);
/* By the owner: its name is what current's is now; perfctr->lock is held. */
void perfctr_descendant_name(struct vperfctr *perfctr);
void perfctr_descendant_end(struct vperfctr *perfctr);
void perfctr_inherit(struct vperfctr *parent, struct task_struct *child);
/* EBUSY: the holder of the root wants nobody else to do it. */
int perfctr_tree_stop(struct perfctr_tree *tree, const struct file *file, bool stop);
int perfctr_read_tree_ioctl(struct vperfctr *perfctr, void __user *arg);
int perfctr_next_member_ioctl(struct vperfctr *perfctr, void __user *arg);

/* map.c */
struct vm_area_struct;
int perfctr_map_init(void);
void perfctr_map_exit(void);
int vperfctr_mmap(struct file *file, struct vm_area_struct *vma);
void vperfctr_exec_unmap(struct vperfctr *perfctr);
void vperfctr_lend(struct vperfctr *perfctr);
bool vperfctr_take_back(struct vperfctr *perfctr);

/* control.c */
void perfctr_control_init(void);
int vperfctr_control(struct vperfctr *perfctr, struct file *file, void __user *arg);
int vperfctr_read_control(struct vperfctr *perfctr, void __user *arg);
int vperfctr_stop_go(struct vperfctr *perfctr, const struct file *file, bool stop);
int vperfctr_unlink(struct vperfctr *perfctr, struct file *file);
void vperfctr_stop(struct vperfctr *perfctr, u32 error);
void vperfctr_start_on_exec(struct vperfctr *perfctr);
void vperfctr_detach(struct vperfctr *perfctr, bool atomic);

/* return.c */
void vperfctr_return(struct callback_head *work);
void vperfctr_exec_pid(struct vperfctr *perfctr);

/* handle.c */
extern const struct file_operations vperfctr_fops;
/* For vperfctr_put() alone. */
void perfctr_root_free(struct vperfctr *perfctr);
int perfctr_handle_init(void);
void perfctr_handle_exit(void);

/* events.c */
int perfctr_events_init(void);
void perfctr_events_exit(void);

#endif /* PERFCTR_H */
