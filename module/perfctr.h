/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The declarations that files of the module share, in the order of Kbuild: each file calls
 * only those above it. docs/architecture.md has the words.
 */
#ifndef PERFCTR_H
#define PERFCTR_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "base/compat.h"
#include "arch/lowlevel.h"
#include "thread/state.h"

#define PERFCTR_VERSION	"7.0.0"

struct poll_table_struct;
struct vm_area_struct;

/* usercopy.c */
/* The size at the start of a user's structure: EINVAL below the least, E2BIG above the most. */
int perfctr_get_size(const void __user *arg, size_t least, u32 *size);
/* The same, and copies the structure; E2BIG also if something is set that we do not know. */
int perfctr_get_struct(void *to, size_t known, const void __user *arg, size_t least);
/* Fills a user's structure of that size: as much as fits; what we do not know becomes zero. */
int perfctr_put_struct(void __user *arg, u32 size, const void *from, size_t known);
/* Are reserved members zero? memchr_inv() would take longer than all other checks. */
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
 * account.c: the accounts of users. All of these may sleep, except drop_config and drop_pages.
 * add_config: charge current's user with one more config, and with the broadcast that its end will
 * take: ENOSPC, or EAGAIN if the user must wait before its next broadcast. add_pages: with so many
 * pages of locked memory, of @limit in all: ENOMEM. made: with so many broadcasts. allow: wait
 * until it may make the next one: ERESTARTSYS if a signal comes first.
 */
struct perfctr_user;
int perfctr_user_add_config(struct perfctr_user **user);
void perfctr_user_drop_config(struct perfctr_user *user);
int perfctr_user_add_pages(struct perfctr_user **user, unsigned int nr, unsigned long limit);
void perfctr_user_drop_pages(struct perfctr_user *user, unsigned int nr);
void perfctr_broadcasts_made(unsigned int nr);
int perfctr_broadcasts_allow(void);
void perfctr_burden_exit(void);

/*
 * kin.c. is_apart: vperfctr.apart of the child of current, which has the state parent. is_other:
 * is that thread, which current controls, in other namespaces than current?
 * new_kin: one that nobody has, not even a config; anybody may call it.
 */
bool perfctr_is_apart(const struct vperfctr *parent, struct task_struct *child);
bool perfctr_is_other(struct task_struct *task);
unsigned long perfctr_new_kin(void);

/*
 * told.c. tell: a CPU has come; it is told of claims unless it is isolated. join: this CPU
 * is told from now on, though it is isolated; interrupts are off. leave: isolated CPUs are
 * told no more, since there is no claim. A CPU that is not told has nothing of ours in its
 * registers.
 */
extern struct cpumask perfctr_told_cpus;
void perfctr_cpus_tell(unsigned int cpu);
void perfctr_cpus_join(void);
void perfctr_cpus_leave(void);
bool perfctr_cpus_all_told(void);
/*
 * Since the module was loaded an isolated CPU was seen, or a config evicted. Until then a
 * load needs to check for neither.
 */
extern bool perfctr_any_rarity;
static __always_inline bool perfctr_cpus_told_here(void)
{
	return likely(!READ_ONCE(perfctr_any_rarity)) ||
	       cpumask_test_cpu(smp_processor_id(), &perfctr_told_cpus);
}

/*
 * ring.c. A ring of records. create: for current: EINVAL, EACCES, ENOMEM, EINTR. put: in any
 * context, but not under a lock of ours. NULL is nothing to get and put. tells_maps: it was made
 * with PERFCTR_RING_MAPS. join, leave: one state more writes, or one less: after the last one
 * readers are told; interrupts are off. The others are for its file. They and create may sleep.
 */
struct perfctr_ring_buffer *perfctr_ring_create(const struct perfctr_ring *wanted);
void perfctr_ring_get(struct perfctr_ring_buffer *ring);
void perfctr_ring_put(struct perfctr_ring_buffer *ring);
bool perfctr_ring_tells_maps(const struct perfctr_ring_buffer *ring);
void perfctr_ring_join(struct perfctr_ring_buffer *ring);
void perfctr_ring_leave(struct perfctr_ring_buffer *ring);
int perfctr_ring_mmap(struct perfctr_ring_buffer *ring, struct vm_area_struct *vma);
__poll_t perfctr_ring_poll(struct perfctr_ring_buffer *ring, struct file *file,
			   struct poll_table_struct *table);
int perfctr_ring_fasync(struct perfctr_ring_buffer *ring, int fd, struct file *file, int on);

/*
 * period.c. Unless said otherwise the state is suspended, or new, interrupts are
 * off, and the caller is its owner or an interrupt on its CPU. The caller kfree()s
 * what create returns.
 */
struct perfctr_imode *perfctr_imode_create(u32 nr, gfp_t gfp);
/* Begin a full period of each. */
void vperfctr_imode_init(struct vperfctr *perfctr, int signo, u64 refresh);
/* Of one that records: no overflow is due any more, or, if not @throttled, after a full period. */
void vperfctr_throttle(struct vperfctr *perfctr, bool throttled);
/* Start the i-mode counters: EAGAIN, EIO as perfctr_cpu_istart(). */
int vperfctr_imode_start(struct vperfctr *perfctr);
/* Make differences of their sums, as perfctr_cpu_resume() does for the other counters. */
void vperfctr_imode_resume(struct vperfctr *perfctr);
/* All sums of a resumed state, for read.c */
void vperfctr_imode_sample(const struct vperfctr *perfctr, u64 *value);
/*
 * At an overflow interrupt, instead of suspending and resuming it, which takes longer: for a state
 * that counts user mode alone and whose page shows nothing. stop: its i-mode counters stand still;
 * others go on, since they count nothing in the kernel. read_stopped: *value is the clock, and all
 * sums behind it; begins a new period of each counter that has overflowed, and returns which have.
 * restart: after that; false: it is suspended now, and the caller resumes it, because the counters
 * do not start, or @suspend.
 */
void vperfctr_imode_stop(struct vperfctr *perfctr);
u32 vperfctr_imode_read_stopped(struct vperfctr *perfctr, u64 *value);
bool vperfctr_imode_restart(struct vperfctr *perfctr, const u64 *value, bool suspend);
/* Find out which have overflowed. If any has, all counters are held. seq is still odd. */
void vperfctr_imode_look(struct vperfctr *perfctr);

/*
 * state.c. Functions of files above it: the work that vperfctr_return_soon() queues, that of an
 * invited state, which attaches it, and freeing a state without references, an inherited one or
 * another.
 */
struct perfctr_above {
	void (*on_return)(struct callback_head *work);
	void (*on_invited)(struct callback_head *work);
	void (*free_inherited)(struct vperfctr *perfctr);
	void (*free_root)(struct vperfctr *perfctr);
};

void perfctr_state_init(const struct perfctr_above *above);
size_t vperfctr_size(void);
/* Of a new state, which is all zero except for inherited */
void vperfctr_setup(struct vperfctr *perfctr);
/* If it is the last reference of a root it may sleep; on RT, of any. */
void vperfctr_put(struct vperfctr *perfctr);
/* By the owner */
void vperfctr_drop_spare(struct vperfctr *perfctr);
pid_t vperfctr_tid(struct vperfctr *perfctr);
/* Its latest control counts by perf. */
bool vperfctr_is_shared(struct vperfctr *perfctr);
/* The first PERFCTR_NR_SOFT members of struct perfctr_soft; the last one, from the clock */
void vperfctr_soft_read(struct vperfctr *perfctr, u64 *soft);
u64 vperfctr_task_clock(u64 clock);
/* Let the kernel's counts stop or go on with the clock, by hold. perfctr->lock is held. */
void vperfctr_soft_follow(struct vperfctr *perfctr);
/* The same without the lock, after the counters were lost; owner or an interrupt on its CPU */
void vperfctr_soft_lost(struct vperfctr *perfctr);
/*
 * Add or remove a reason not to count. perfctr->lock is held. If the caller is not the
 * owner, the change is in force once the owner's CPU was interrupted.
 */
void vperfctr_hold(struct vperfctr *perfctr, int why);
void vperfctr_unhold(struct vperfctr *perfctr, int why);
/* Bind the counters of a new state, or of a new control, to the config's registers. */
void vperfctr_bind(struct vperfctr *perfctr);
/* Write to the page's slots whether the owner, which calls, may read its registers. */
void vperfctr_page_own(struct vperfctr *perfctr, bool own);
void vperfctr_page_disown(struct vperfctr *perfctr);
struct perfctr_page *vperfctr_page_alloc(void);
void vperfctr_page_update(struct vperfctr *perfctr);
/* Have task (current, or a child that has not run yet) do @todo before it runs user code. */
void vperfctr_return_soon(struct vperfctr *perfctr, struct task_struct *task, u16 todo);
bool vperfctr_return_queue(struct vperfctr *perfctr, struct task_struct *task);
/*
 * The same for a new state, which the task, which may run, is to attach. Its work takes over the
 * caller's reference, and one to the module. False: it has exited so far that it runs no user code.
 */
bool vperfctr_invite(struct vperfctr *perfctr, struct task_struct *task);
/* The state that waits for the task to attach it, or NULL. Its pi_lock is held. */
struct vperfctr *perfctr_find_invited(struct task_struct *task);
/* Current has attached it, or ended it, before its work did. */
void vperfctr_was_invited(struct vperfctr *perfctr);

/* notify.c */
/* The ways in which counters are read: registers, perf's registers, by perf's driver */
enum perfctr_way {
	PERFCTR_NATIVE,
	PERFCTR_SHARED_INLINE,
	PERFCTR_SHARED_CALL,
	PERFCTR_NR_WAYS
};

static inline enum perfctr_way perfctr_config_way(const struct perfctr_config *config)
{
	if (likely(!config->shared))
		return PERFCTR_NATIVE;
	return config->call ? PERFCTR_SHARED_CALL : PERFCTR_SHARED_INLINE;
}

/* By way. A state's notifier has the one of its config. */
extern struct preempt_ops perfctr_preempt_ops[PERFCTR_NR_WAYS];
struct perfctr_probe;
/* Constant after init. @probe: of sched_switch */
int perfctr_notify_init(const struct preempt_ops *ops, struct perfctr_probe *probe);
void perfctr_notify_exit(void);

/* Are switches seen by the tracepoint sched_switch? Else by preempt notifiers */
DECLARE_STATIC_KEY_FALSE(perfctr_tracepoint_key);
static __always_inline bool perfctr_by_tracepoint(void)
{
#ifdef CONFIG_PREEMPT_NOTIFIERS
	return static_branch_unlikely(&perfctr_tracepoint_key);
#else
	return true;
#endif
}

/*
 * With the tracepoint: the states that threads have, by thread. Walked without a lock: a state's
 * memory is freed after a grace period.
 */
#define PERFCTR_TABLE_BITS	16
extern struct hlist_head *perfctr_table;
/* The state of this CPU's current thread. That CPU alone changes it, with interrupts off. */
DECLARE_PER_CPU(struct vperfctr *, perfctr_here);

/* By the lower half of the address: a constant of 64 bits would take a RISC-V six instructions. */
static __always_inline u32 perfctr_table_index(const struct task_struct *task)
{
	return hash_32((unsigned long)task, PERFCTR_TABLE_BITS);
}

static __always_inline struct vperfctr *perfctr_look_up(const struct task_struct *task)
{
	struct hlist_head *head = &perfctr_table[perfctr_table_index(task)];
	struct vperfctr *perfctr;

	hlist_for_each_entry_rcu_notrace(perfctr, head, notifier.link)
		if (rcu_access_pointer(perfctr->owner) == task)
			return perfctr;
	return NULL;
}

/*
 * The state of a thread that is current, is kept from running, or is to run next on this CPU; or
 * NULL. Interrupts are off, unless it is current. @native: only of
 * interest if it counts by the registers, and else it may be NULL, which is quicker
 */
static __always_inline struct vperfctr *perfctr_of_task(struct task_struct *task, bool native)
{
#ifdef CONFIG_PREEMPT_NOTIFIERS
	struct preempt_notifier *notifier;

	if (perfctr_by_tracepoint())
		return perfctr_look_up(task);
	hlist_for_each_entry(notifier, &task->preempt_notifiers, link)
		if (native ? notifier->ops == &perfctr_preempt_ops[PERFCTR_NATIVE] :
			     (unsigned long)notifier->ops - (unsigned long)perfctr_preempt_ops <
			     sizeof(perfctr_preempt_ops))
			return container_of(notifier, struct vperfctr, notifier);
	return NULL;
#else
	return perfctr_look_up(task);
#endif
}

/*
 * Have the switches of threads seen from now on, or not any more: by whoever attaches a state.
 * May sleep. ENOMEM, or the tracepoint's error
 */
int perfctr_notify_get(void);
void perfctr_notify_put(void);
/*
 * Give a new state to that thread, which is current or is kept from running, after notify_get(),
 * which unnotify undoes. Takes a reference.
 */
void vperfctr_attach(struct vperfctr *perfctr, struct task_struct *task);
/*
 * The same for a child of current that has not run yet; takes over the caller's reference.
 * Interrupts are off.
 */
void vperfctr_adopt(struct vperfctr *perfctr, struct task_struct *child);
/*
 * Free a state's memory by that function of its return_work, which is in no use any more: at
 * once, or, if others may be walking the table, after a grace period.
 */
static inline void vperfctr_free_memory(struct vperfctr *perfctr,
					void (*free_memory)(struct callback_head *return_work))
{
	if (perfctr_by_tracepoint())
		call_rcu(&perfctr->return_work, free_memory);
	else
		free_memory(&perfctr->return_work);
}

/* The same for current, of a state that was made for it, after notify_get(). Interrupts are off. */
void vperfctr_take_up(struct vperfctr *perfctr);
/*
 * See its owner's switches no more, who is current or is kept from running. Interrupts are off.
 */
void vperfctr_unnotify(struct vperfctr *perfctr);
/* After its config was exchanged. By the owner, interrupts are off, and it is suspended. */
void vperfctr_follow_config(struct vperfctr *perfctr);
static __always_inline bool vperfctr_is_native(const struct vperfctr *perfctr)
{
	return likely(perfctr->notifier.ops == &perfctr_preempt_ops[PERFCTR_NATIVE]);
}

/* Of one that is not native: can only perf's driver read its counters? */
static __always_inline bool vperfctr_calls(const struct vperfctr *perfctr)
{
	return !PERFCTR_CPU_SHARED_INLINE ||
	       perfctr->notifier.ops == &perfctr_preempt_ops[PERFCTR_SHARED_CALL];
}

/* The state of current, or NULL. */
struct vperfctr *vperfctr_current(void);
/*
 * The state that a call through a handle of @perfctr acts on, by its owner, who is current:
 * @perfctr, or, @tree_too, another of its tree. EPERM: current owns no such state. ESRCH:
 * nobody owns @perfctr any more.
 */
struct vperfctr *vperfctr_acting_owner(struct vperfctr *perfctr, bool tree_too);

/*
 * tracee.c. get: the thread of that id in current's pid namespace, which current traces, with a
 * reference. With @by_pidfd @pidfd must be of the thread or its process. ESRCH: there is
 * no such thread; EPERM, EBADF. traced_owner: the same of @perfctr's owner: ESRCH, EPERM.
 * hold: keep it from running, with interrupts off, until release; and so its state is suspended.
 * ESRCH: it is in no ptrace stop. EINTR: current was killed. May sleep. check_free: has the thread,
 * which may run, a state? EEXIST: of that tree; EBUSY: another; EINTR. May sleep.
 */
struct perfctr_tree;
struct task_struct *perfctr_tracee_get(pid_t tid, bool by_pidfd, int pidfd);
struct task_struct *vperfctr_traced_owner(struct vperfctr *perfctr);
void perfctr_tracee_put(struct task_struct *task);
int perfctr_tracee_hold(struct task_struct *task, unsigned long *flags);
void perfctr_tracee_release(struct task_struct *task, unsigned long flags);
int perfctr_tracee_check_free(struct task_struct *task, const struct perfctr_tree *tree);

/*
 * timer.c. ticks: of the clock in so many nanoseconds. set: the state was resumed on this CPU, and
 * records: have fn, of init, called when something may be due, in a hard interrupt; if it is due
 * already, have the owner, which is current or comes to this CPU, do it.
 */
u64 perfctr_timer_ticks(u64 ns);
void vperfctr_timer_set(struct vperfctr *perfctr, struct task_struct *owner);
void perfctr_timer_init(void (*fn)(struct vperfctr *perfctr));
void perfctr_timer_exit(void);

/* resume.c */
/* The policy for user reads, PERFCTR_USER_READ_* */
extern unsigned int perfctr_user_read;
/* Must registers hold nothing of others whenever a thread runs, whatever state it has? */
static __always_inline bool perfctr_guards_all(void)
{
	return perfctr_cpu_always_readable() &&
	       READ_ONCE(perfctr_user_read) != PERFCTR_USER_READ_OPEN;
}

/* By the owner or an interrupt on its CPU, interrupts off; locked: perfctr->lock is held */
void vperfctr_resume(struct vperfctr *perfctr);
void vperfctr_resume_locked(struct vperfctr *perfctr);
void vperfctr_suspend(struct vperfctr *perfctr);
void vperfctr_revoke(struct vperfctr *perfctr);
/*
 * For perfctr_run(), riscv: was current evicted, and may it read registers still? find: then
 * *found, a bool, is set. end: it may not any more.
 */
int perfctr_find_late_reader(void *found);
int perfctr_end_late_reader(void *unused);
/*
 * x86: next, or current, may read registers. Scrub them, unless what they hold is of its
 * process or its kin. Current's own counts are not lost: its state is suspended first.
 * Interrupts are off.
 */
void perfctr_let_in(struct task_struct *next);

/*
 * With the tracepoint: next comes to this CPU, and its state cannot be resumed at once. What has to
 * be done in its own context is done before it returns to user mode. The runqueue is locked.
 */
void vperfctr_come_later(struct vperfctr *perfctr, struct task_struct *next);

/* switch.c */
int perfctr_switch_init(void);

/* run.c. See perfctr_run_t: on all told CPUs. paid: without charging current's user. */
int perfctr_run(int (*fn)(void *arg), void *arg);
int perfctr_run_paid(int (*fn)(void *arg), void *arg);
/* For @fn: whoever counts is suspended and resumed, and so looks again whether it may. */
int perfctr_run_nothing(void *unused);
/* The same on the online ones of these CPUs, without the hotplug lock */
int perfctr_run_on(const struct cpumask *cpus, int (*fn)(void *arg), void *arg);

/*
 * fold.c. get: from now on metrics are folded once a second, also those of threads that are never
 * switched, until the last put. exit: after that; may sleep.
 */
void perfctr_fold_get(void);
void perfctr_fold_put(void);
void perfctr_fold_exit(void);

/*
 * record.c. Records of a state with a recorder; of another one only fork, exec, exit and maps may
 * be asked for, and do nothing. sample: @regs is what was interrupted; NULL if that is not known:
 * user mode, or the kernel on behalf of it; @value is the clock and all sums. fork: the child did
 * not run yet. maps: by the owner, may sleep. free: NULL, or one that nothing is written by any
 * more, before its ring is put. maps_get: the kernel tells of mappings, until maps_put: EOPNOTSUPP;
 * may sleep.
 */
void vperfctr_record_sample(struct vperfctr *perfctr, struct pt_regs *regs, u32 overflown,
			    const u64 *value);
void vperfctr_record_throttled(struct vperfctr *perfctr);
void vperfctr_record_fork(struct vperfctr *parent, struct vperfctr *perfctr,
			  struct task_struct *child);
void vperfctr_record_exec(struct vperfctr *perfctr);
void vperfctr_record_exit(struct vperfctr *perfctr);
void vperfctr_record_maps(struct vperfctr *perfctr);
void perfctr_record_free(struct perfctr_recorder *recorder);
int perfctr_record_maps_get(void);
void perfctr_record_maps_put(void);
int perfctr_record_init(void);
void perfctr_record_exit(void);

/* overflow.c */
/* The timer of this CPU fires, in a hard interrupt, and current has this state, which records. */
void vperfctr_on_timer(struct vperfctr *perfctr);
/*
 * Write the sample that is due, or signal the overflow, if there is any: by the owner on its way to
 * user mode; or signal it by an interrupt of user mode.
 */
void vperfctr_deliver(struct vperfctr *perfctr);
/* Of one without i-mode counters, or with a recorder, it does nothing. */
void vperfctr_imode_exec(struct vperfctr *perfctr);
int vperfctr_iresume_ioctl(struct vperfctr *perfctr);
int vperfctr_refresh_ioctl(struct vperfctr *perfctr, unsigned long count);
/* i-mode: hear the counters' interrupts, or, some time after the last put, no more. May sleep. */
int perfctr_interrupts_get(void);
void perfctr_interrupts_put(void);
/* When no config is left */
void perfctr_interrupts_exit(void);

/**
 * struct perfctr_affinity - what perfctr_keep_off() has changed
 * @changed: false: nothing
 * @before: the CPUs where the thread might run, if so
 */
struct perfctr_affinity {
	bool changed;
	cpumask_var_t before;
};

/*
 * affinity.c. The task, which is current or cannot end, is to count by that config, which is
 * claimed: then it may not run where it cannot count. EINVAL: nothing is left; ENOMEM. After
 * success end() frees what it has noted; @undo: the task is not to count after all
 */
int perfctr_keep_off(struct task_struct *task, const struct perfctr_config *config,
		     struct perfctr_affinity *affinity);
void perfctr_keep_off_end(struct task_struct *task, struct perfctr_affinity *affinity, bool undo);

/*
 * config.c, source.c. get: the config for a control that current asks for, which is to count
 * @where, for a CPU if @wide and else for a thread, by @source
 * (PERFCTR_SOURCE_*), one of current's user, claimed on every told CPU, or EINVAL, EOPNOTSUPP,
 * EACCES, EXDEV, EBUSY, ENOMEM, ENOSPC, ERESTARTSYS, with *why set in each case; sleeps. The
 * caller becomes a user of it and gets a reference. share:
 * an existing user adds another user and reference. unuse: one user less; after the last
 * one the counters are given back. The caller must not load the config any more, but may
 * look at it while it has a reference. put: unuse and unref. @atomic: do not sleep.
 */
int perfctr_config_init(void);
void perfctr_config_exit(void);
struct perfctr_config *perfctr_config_get(const struct perfctr_where *where, bool wide,
					  const struct perfctr_ctr_control *ctr, u32 nr,
					  u32 source, struct perfctr_refusal *why);
/* Events of perf's that are lost there, or missing, are made anew, if that can be. May sleep. */
void perfctr_config_mend(unsigned int cpu);
void perfctr_config_share(struct perfctr_config *config);
void perfctr_config_unuse(struct perfctr_config *config, bool atomic);
void perfctr_config_unref(struct perfctr_config *config);
void perfctr_config_put(struct perfctr_config *config, bool atomic);
void perfctr_config_info(struct perfctr_kernel_info *info);
/* Does it count more than user mode? NULL: no. And may current, by perf's counters or others? */
bool perfctr_config_counts_kernel(const struct perfctr_config *config);
bool perfctr_may_count_kernel(bool shared);
/* No process may read registers any more: counters that linger are given back now. */
void perfctr_config_no_reader(void);
/* put, after the caller has ended the counting of other threads: see PERFCTR_READER_DELAY */
void perfctr_config_put_late(struct perfctr_config *config);
/* PERFCTR_SOURCE_* that controls may have; ANY: either */
extern unsigned int perfctr_config_source;
/* Take the counters from all users, or from that one: their states are lost. May sleep. */
void perfctr_config_evict(bool all, kuid_t uid);
/* Have that called after each eviction. It may sleep. */
void perfctr_config_set_evicted(void (*evicted)(void));

/*
 * permit.c. permit: let current's mm read registers, if its maps wait for that (x86);
 * false: try again later. forbid: an mm has one map less. policy_changed: after another policy
 * for user reads was asked for, to choose the one that is in force: perfctr_user_read. All may
 * sleep.
 */
extern unsigned int perfctr_user_read_asked;
bool perfctr_permit(void);
void perfctr_forbid(struct mm_struct *mm);
void perfctr_policy_changed(void);
/*
 * One session more, or one less, counts CPUs by the module's driver: meanwhile no process may read
 * registers. May sleep.
 */
void perfctr_permit_wide(bool more);
int perfctr_permit_init(void);
void perfctr_permit_exit(void);

/* read.c. sums: of a state that is suspended, or false. For anyone, without a lock. */
bool vperfctr_sums(const struct vperfctr *perfctr, struct perfctr_sample *sample);
/* ERESTARTSYS if a signal comes while another CPU is asked */
int vperfctr_sample(struct vperfctr *perfctr, struct perfctr_sample *sample);
ssize_t vperfctr_read(struct file *file, char __user *buffer, size_t count, loff_t *pos);
int vperfctr_read_ioctl(struct vperfctr *perfctr, void __user *arg);

/* tree.c */
struct perfctr_tree;
int perfctr_tree_init(void);
void perfctr_tree_exit(void);
/* For a control with these flags, whose root is a user of the config. It has the root's ring. */
struct perfctr_tree *perfctr_tree_create(struct vperfctr *root, struct perfctr_config *config,
					 u32 flags, u32 cstatus);
void perfctr_tree_end(struct perfctr_tree *tree);
/* To count as @like does */
struct vperfctr *vperfctr_spare_create(const struct vperfctr *like, bool may_sleep);
/* The same for what has so many i-mode counters, and records or not */
struct vperfctr *perfctr_spare_create(u32 nr_ictrs, bool records, bool may_sleep);
/* Only for vperfctr_put() */
void vperfctr_descendant_free(struct vperfctr *perfctr);
/* Note its owner's name, as that ends. perfctr->lock is held. */
void vperfctr_descendant_name(struct vperfctr *perfctr);
void vperfctr_descendant_end(struct vperfctr *perfctr);
void vperfctr_inherit(struct vperfctr *parent, struct task_struct *child);
/*
 * set_holder: as the tree is made, with HOLDER_ONLY. release: that file is closed, or holds the
 * tree no more; under the lock of the root's state, or by its owner
 */
void perfctr_tree_set_holder(struct perfctr_tree *tree, struct file *file);
void perfctr_tree_release(struct perfctr_tree *tree, struct file *file);
/* EBUSY: the root's control has HOLDER_ONLY, and that is not its holder. */
int perfctr_tree_stop(struct perfctr_tree *tree, const struct file *file, bool stop);
/* invite.c. How many states wait for their threads to attach them */
extern atomic_t perfctr_nr_invited;
/* Current attaches that state; or ends it, as it has one, @own, or is about to end. */
void vperfctr_answer(struct vperfctr *perfctr, const struct vperfctr *own);
int vperfctr_add_member_ioctl(struct vperfctr *perfctr, void __user *arg);

/* read_tree.c */
int vperfctr_read_tree_ioctl(struct vperfctr *perfctr, void __user *arg);
int vperfctr_next_member_ioctl(struct vperfctr *perfctr, void __user *arg);

/* map.c */
int perfctr_map_init(void);
void perfctr_map_exit(void);
int vperfctr_mmap(struct file *file, struct vm_area_struct *vma);
void vperfctr_exec_unmap(struct vperfctr *perfctr);
void vperfctr_lend(struct vperfctr *perfctr);
bool vperfctr_take_back(struct vperfctr *perfctr);

/* layout.c; see layout.h */
void perfctr_control_init(void);

/* control.c */
int vperfctr_control(struct vperfctr *perfctr, struct file *file, void __user *arg);
int vperfctr_read_control(struct vperfctr *perfctr, void __user *arg);
int vperfctr_stop_go(struct vperfctr *perfctr, const struct file *file, bool stop);
int vperfctr_unlink(struct vperfctr *perfctr, struct file *file);
void vperfctr_forget_tree(struct vperfctr *perfctr);
void vperfctr_stop(struct vperfctr *perfctr, u32 error);
void vperfctr_start_on_exec(struct vperfctr *perfctr);
void vperfctr_detach(struct vperfctr *perfctr, bool atomic);

/* return.c. Current attaches the state that it was invited to have, if any; also in probes. */
void perfctr_attach_invited(void);
/* As vperfctr_current(), after that */
static __always_inline struct vperfctr *vperfctr_current_or_invited(void)
{
	if (unlikely(atomic_read(&perfctr_nr_invited)))
		perfctr_attach_invited();
	return vperfctr_current();
}

void vperfctr_return(struct callback_head *work);
void vperfctr_return_invited(struct callback_head *work);
void vperfctr_exec_pid(struct vperfctr *perfctr);

/* session.c */
struct perfctr_session;
int perfctr_global_init(void);
void perfctr_global_exit(void);
/* For the open file that refers to it: EACCES, ENOMEM. free: with all that it counts */
struct perfctr_session *perfctr_session_create(void);
void perfctr_session_free(struct perfctr_session *session);
long perfctr_session_ioctl(struct perfctr_session *session, unsigned int cmd, void __user *arg);

/* handle.c */
extern const struct file_operations vperfctr_fops;
/* Only for vperfctr_put() */
void vperfctr_root_free(struct vperfctr *perfctr);
int perfctr_handle_init(void);
void perfctr_handle_exit(void);

/* threads.c */
int perfctr_events_init(void);
void perfctr_events_exit(void);

#endif /* PERFCTR_H */
