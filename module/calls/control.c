// SPDX-License-Identifier: GPL-2.0
/*
 * CONTROL, READ_CONTROL, SUSPEND, RESUME and UNLINK.
 */

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/account.h"
#include "base/usercopy.h"
#include "arch/user.h"
#include "perf/shared.h"
#include "thread/affinity.h"
#include "thread/kin.h"
#include "thread/notify.h"
#include "thread/page.h"
#include "thread/ring.h"
#include "thread/tracee.h"
#include "switch/period.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "switch/timer.h"
#include "deliver/record.h"
#include "config/config.h"
#include "tree/tree.h"
#include "calls/control.h"
#include "calls/layout.h"
#include "calls/life.h"

#define CONTROL_FLAGS		(PERFCTR_CONTROL_CLOEXEC | PERFCTR_CONTROL_ON_EXEC | \
				 PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP | \
				 PERFCTR_CONTROL_RAW | PERFCTR_CONTROL_SUSPENDED | \
				 PERFCTR_CONTROL_HOLDER_ONLY | PERFCTR_CONTROL_CPU | \
				 PERFCTR_CONTROL_RECORD)

static_assert(CONTROL_FLAGS <= (u16)~0);	/* they must fit into vperfctr.flags */

void vperfctr_start_on_exec(struct vperfctr *perfctr)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	vperfctr_unhold(perfctr, PERFCTR_HOLD_ON_EXEC);
	vperfctr_resume_locked(perfctr);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
}

/* Returns true if the control counts anything. A control that counts nothing stops the state. */
static bool counts(const struct perfctr_control *control)
{
	return control->tsc_on || perfctr_control_nr(control);
}

static int check_record(const struct perfctr_control *control)
{
	if (control->si_signo || control->refresh || (!control->nrictrs && !control->timer_ns))
		return -EINVAL;
	return !control->timer_ns || (control->timer_ns >= PERFCTR_TIMER_MIN &&
				      control->timer_ns <= PERFCTR_TIMER_MAX) ? 0 : -EINVAL;
}

static int control_check(struct perfctr_control *control, struct perfctr_refusal *why)
{
	u32 i, nr = perfctr_control_nr(control);

	if (control->flags & ~CONTROL_FLAGS ||
	    (control->flags & (PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP)) ==
							PERFCTR_CONTROL_KEEP ||
	    control->tsc_on > 1 || control->preserve >> PERFCTR_MAX_HW ||
	    control->source > PERFCTR_SOURCE_ANY || control->reserved0 ||
	    !perfctr_control_cpu_valid(control) ||
	    !perfctr_all_zero(control->reserved, sizeof(control->reserved)))
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		const struct perfctr_ctr_control *ctr = &control->ctr[i];

		if (!perfctr_all_zero(ctr->reserved, sizeof(ctr->reserved)) ||
		    ((ctr->config1 || ctr->config2) && !perfctr_may_have_more(ctr)) ||
		    perfctr_cpu_for_sessions(ctr) ||
		    (i < control->nractrs ? ctr->ireset != 0 : ctr->ireset >= 0)) {
			why->index = i;
			return -EINVAL;
		}
	}
	if (control->flags & PERFCTR_CONTROL_RECORD)
		return check_record(control);
	if (control->timer_ns)
		return -EINVAL;
	if (!control->nrictrs)
		return control->si_signo || control->refresh ? -EINVAL : 0;
	if (!control->si_signo || !valid_signal(control->si_signo) ||
	    sig_kernel_only(control->si_signo) || control->flags & PERFCTR_CONTROL_ON_EXEC)
		return -EINVAL;
	return 0;
}

/* Begins a write section: makes seq odd, so that readers retry until change_end(). */
static void change_begin(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	vperfctr_suspend(perfctr);
	WRITE_ONCE(perfctr->seq, perfctr->seq + 1);
	smp_wmb();	/* pairs with vperfctr_sums() */
}

static void change_end(struct vperfctr *perfctr)
{
	smp_wmb();	/* pairs with vperfctr_sums() */
	WRITE_ONCE(perfctr->seq, perfctr->seq + 1);
}

/**
 * struct parts - what a control makes for a state
 * @config: the config, with a reference; the caller is a user of the config
 * @imode: what i-mode counters need; NULL without i-mode counters
 * @recorder: what samples need; NULL without RECORD
 * @tree: the new tree; NULL without INHERIT
 * @spare: a state for the next child; NULL if the state has one, or needs none
 */
struct parts {
	struct perfctr_config *config;
	struct perfctr_imode *imode;
	struct perfctr_recorder *recorder;
	struct perfctr_tree *tree;
	struct vperfctr *spare;
};

static void parts_put(struct parts *parts)
{
	perfctr_config_put(parts->config, false);
	kfree(parts->imode);
	perfctr_record_free(parts->recorder);
	perfctr_tree_end(parts->tree);
	if (parts->spare)
		vperfctr_put(parts->spare);
}

/*
 * Zeroes the sums of the control's counters, except those that the control preserves. The sums of
 * further counters stay, and a later control may preserve them. But after PERFCTR_ERROR_CHANGED the
 * sums that stay may be wrong. This function clears the error, so it zeroes them, too.
 */
static __always_inline void begin_sums(struct vperfctr *perfctr,
				       const struct perfctr_control *control)
{
	struct perfctr_cpu_state *state = &perfctr->cpu_state;
	struct perfctr_cpu_ctr *ctr = state->ctr;
	u32 preserve = control->preserve, left = perfctr->config->nr;

	if (unlikely(perfctr->error == PERFCTR_ERROR_CHANGED))
		left = perfctr_nrctrs();
	for (; left; left--, ctr++, preserve >>= 1)
		if (!(preserve & 1))
			ctr->acc = 0;
	WRITE_ONCE(state->end, state->ctr + perfctr->config->nr);
	WRITE_ONCE(perfctr->nr_ictrs, perfctr->config->nr_ictrs);
	/* A clock that is off counts unseen. When the clock is turned on, it is zeroed. */
	if (!control->tsc_on || !perfctr->clock_on)
		state->clock = 0;
	WRITE_ONCE(perfctr->clock_on, control->tsc_on);
	perfctr->soft_on = false;
	memset(perfctr->soft, 0, sizeof(perfctr->soft));
	WRITE_ONCE(perfctr->overflows, 0);
	WRITE_ONCE(perfctr->error, PERFCTR_ERROR_NONE);
}

/*
 * Exchanges @parts for the parts of the old control. The owner calls this with @tracee NULL. The
 * owner's tracer calls this while @tracee is frozen. The config is claimed, so from here on only
 * the load on this CPU can fail.
 */
static __always_inline void control_apply(struct vperfctr *perfctr,
					  const struct perfctr_control *control,
					  struct parts *parts, u8 raw,
					  struct task_struct *tracee, struct file *file)
{
	bool enabled = counts(control);
	struct perfctr_tree *old;
	unsigned long flags;
	int hold = 0;

	if (!enabled)
		hold |= PERFCTR_HOLD_IDLE;
	else if (control->flags & PERFCTR_CONTROL_ON_EXEC)
		hold |= PERFCTR_HOLD_ON_EXEC;
	if (enabled && control->flags & PERFCTR_CONTROL_SUSPENDED)
		hold |= PERFCTR_HOLD_SUSPENDED;
	if (control->flags & PERFCTR_CONTROL_CPU)
		hold |= PERFCTR_HOLD_ONE_CPU;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	change_begin(perfctr);
	/* The permission ends without a grace, because another thread may get these counters. */
	vperfctr_end_reading(perfctr, !tracee);
	WRITE_ONCE(perfctr->holder, enabled ? file : NULL);
	swap(perfctr->config, parts->config);
	/* Add the new writer before the old one goes: the ring must always have a writer. */
	if (parts->recorder)
		perfctr_ring_add_writer(parts->recorder->ring);
	if (perfctr->recorder)
		perfctr_ring_drop_writer(perfctr->recorder->ring);
	swap(perfctr->imode, parts->imode);
	swap(perfctr->recorder, parts->recorder);
	if (parts->tree && control->flags & PERFCTR_CONTROL_HOLDER_ONLY)
		perfctr_tree_set_holder(parts->tree, file);
	old = perfctr->tree;
	WRITE_ONCE(perfctr->tree, parts->tree);
	parts->tree = old;
	if (parts->spare)
		swap(perfctr->spare, parts->spare);
	perfctr->raw = raw;
	perfctr->apart = tracee && perfctr_is_other(tracee);
	WRITE_ONCE(perfctr->flags, control->flags);
	perfctr->only_cpu = control->cpu;
	perfctr->preserve = control->preserve;
	vperfctr_follow_config(perfctr);
	vperfctr_bind(perfctr);
	/* A control that counts nothing leaves the sums, so that they can still be read. */
	if (enabled)
		begin_sums(perfctr, control);
	if (perfctr->imode) {
		perfctr->imode->asked = control->si_signo;
		vperfctr_imode_init(perfctr, control->si_signo, control->refresh);
	}
	if (perfctr->recorder)
		perfctr->recorder->due = perfctr->cpu_state.clock + perfctr->recorder->timer;
	perfctr->quick = control->tsc_on && !perfctr->imode && !perfctr->config->shared &&
			 !perfctr_config_has_own_way(perfctr->config);
	perfctr->plain = vperfctr_is_plain(perfctr, raw, hold & PERFCTR_HOLD_ONE_CPU);
	/* The state's tree has changed, so a SUSPEND of the old tree leaves this hold alone. */
	atomic_set(&perfctr->hold, hold);
	vperfctr_soft_follow(perfctr);
	vperfctr_page_update(perfctr);
	change_end(perfctr);
	/* A tracee's state is resumed when the tracee comes to a CPU. */
	if (!tracee)
		vperfctr_resume_locked(perfctr);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
	if (control->flags & PERFCTR_CONTROL_RECORD &&
	    !(control->flags & PERFCTR_CONTROL_ON_EXEC))
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_MAPS);
}

/* Returns true if the state is a descendant, or if its holder is another file than @file. */
static bool held_by_other(const struct vperfctr *perfctr, const struct file *file)
{
	const struct file *holder = READ_ONCE(perfctr->holder);

	return perfctr->inherited || (holder && holder != file);
}

/* Returns PERFCTR_RAW_*, or 0 if the control has no RAW, or -EOPNOTSUPP or -EACCES. */
static int raw_check(const struct perfctr_control *control, struct perfctr_refusal *why)
{
	if (!(control->flags & PERFCTR_CONTROL_RAW))
		return 0;
	/* perf may move a counter to another register at any time. */
	if (control->source == PERFCTR_SOURCE_SHARED) {
		why->reason = PERFCTR_REASON_SOURCE;
		return -EOPNOTSUPP;
	}
	if (!perfctr_cpu_permits_threads())
		return -EOPNOTSUPP;
	if (!perfctr_allow_kernel())
		return PERFCTR_RAW_BY_PRIVILEGE;
	if (READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OPEN)
		return PERFCTR_RAW_BY_POLICY;
	why->reason = PERFCTR_REASON_KERNEL;
	return -EACCES;
}

/* Returns true if there is a spare that suits the control. An older control may have made it. */
static bool has_spare(const struct vperfctr *perfctr, u32 nr_ictrs, bool records)
{
	const struct vperfctr *spare = perfctr->spare;

	return spare && !spare->recorder == !records &&
	       (spare->imode ? spare->imode->nr : 0) == nr_ictrs;
}

static u32 cstatus_of(const struct perfctr_config *config, bool clock_on)
{
	return (clock_on ? PERFCTR_CSTATUS_CLOCK : 0) | config->nr_ictrs << 8 | config->nr;
}

/* Makes all parts but the config. Returns 0 or -ENOMEM. */
static int parts_make(struct vperfctr *perfctr, const struct perfctr_control *control,
		      struct task_struct *task, struct parts *parts)
{
	struct perfctr_config *config = parts->config;
	bool records = control->flags & PERFCTR_CONTROL_RECORD;

	if (control->flags & PERFCTR_CONTROL_INHERIT && counts(control)) {
		u32 cstatus = cstatus_of(config, control->tsc_on);

		parts->tree = perfctr_tree_create(perfctr, config, control->flags, cstatus);
		if (!parts->tree)
			return -ENOMEM;
		if (task != current || !has_spare(perfctr, config->nr_ictrs, records)) {
			parts->spare = perfctr_spare_create(config->nr_ictrs, records, true);
			if (!parts->spare)
				return -ENOMEM;
		}
	}
	if (config->nr_ictrs) {
		parts->imode = perfctr_imode_create(config->nr_ictrs, GFP_KERNEL_ACCOUNT);
		if (!parts->imode)
			return -ENOMEM;
	}
	if (records) {
		parts->recorder = kzalloc(sizeof(*parts->recorder), GFP_KERNEL_ACCOUNT);
		if (!parts->recorder)
			return -ENOMEM;
		parts->recorder->ring = perfctr->ring;
		parts->recorder->timer_ns = control->timer_ns;
		if (control->timer_ns)
			parts->recorder->timer = perfctr_timer_ticks(control->timer_ns);
	}
	return 0;
}

/* Returns 0, or an error of perfctr_tracee_freeze(). After an error, nothing has changed. */
static noinline int apply_to_tracee(struct vperfctr *perfctr,
				    const struct perfctr_control *control, struct parts *parts,
				    u8 raw, struct task_struct *tracee, struct file *file)
{
	unsigned long flags;
	int err = perfctr_tracee_freeze(tracee, &flags);

	if (err)
		return err;
	control_apply(perfctr, control, parts, raw, tracee, file);
	perfctr_tracee_thaw(tracee, flags);
	return 0;
}

/*
 * Returns the thread whose counters a call through a handle of @perfctr changes: current, or a
 * thread that current traces. Otherwise returns -EPERM or -ESRCH. The caller calls task_put().
 */
static struct task_struct *task_get(struct vperfctr *perfctr)
{
	if (vperfctr_is_own(perfctr))
		return current;
	return vperfctr_traced_owner(perfctr);
}

/* Returns false for a tracee that runs. A tracee that is stopped may still be killed. */
static bool task_may_change(const struct task_struct *task)
{
	return task == current || task_is_traced(task);
}

static void task_put(struct task_struct *task)
{
	if (unlikely(task != current))
		perfctr_tracee_put(task);
}

int vperfctr_control(struct vperfctr *perfctr, struct file *file, void __user *arg)
{
	struct task_struct *task = task_get(perfctr);
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	struct perfctr_control *control;
	struct parts parts = {};
	struct perfctr_few_counters few __uninitialized;
	struct perfctr_where where = { .task = task, .cpu = -1 };
	struct perfctr_affinity affinity = {};
	int err, raw = 0;

	if (IS_ERR(task))
		return PTR_ERR(task);
	control = task_may_change(task) ? perfctr_control_get(arg, &few) : ERR_PTR(-ESRCH);
	if (IS_ERR(control)) {
		task_put(task);
		return PTR_ERR(control);
	}
	/* If the reason of a failure could not be stored, fail before anything is done. */
	err = perfctr_put_refusal(arg, &why);
	if (!err)
		err = control_check(control, &why);
	if (!err && held_by_other(perfctr, file)) {
		why.owner = PERFCTR_OWNER_HOLDER;
		err = -EBUSY;
	}
	if (!err) {
		raw = raw_check(control, &why);
		err = min(raw, 0);
	}
	/* A control that stops the state keeps all sums, and keeps the error of a verification. */
	if (!err && perfctr->config && !counts(control))
		vperfctr_verify(perfctr);
	else if (!err && perfctr->config && control->preserve)
		err = vperfctr_verify(perfctr);
	if (!err && control->flags & PERFCTR_CONTROL_RECORD)
		err = task != current ? -EOPNOTSUPP : perfctr->ring ? 0 : -EINVAL;
	/* The end of the old tree takes a broadcast. */
	if (!err && perfctr->tree)
		err = perfctr_broadcasts_allow();
	if (err)
		goto out;
	if (control->flags & PERFCTR_CONTROL_CPU)
		where.cpu = control->cpu;
	parts.config = perfctr_config_get(&where, false, control->ctr, perfctr_control_nr(control),
					  raw ? PERFCTR_SOURCE_NATIVE : control->source, &why);
	if (IS_ERR(parts.config)) {
		err = PTR_ERR(parts.config);
		goto out;
	}
	err = parts_make(perfctr, control, task, &parts) ?:
	      perfctr_keep_off(task, parts.config, &affinity);
	/* No other control comes meanwhile, because only this thread may control the state. */
	if (!err && task == current)
		control_apply(perfctr, control, &parts, raw, NULL, file);
	else if (!err)
		err = apply_to_tracee(perfctr, control, &parts, raw, task, file);
	perfctr_keep_off_end(task, &affinity, err);
	parts_put(&parts);
	if (!err && READ_ONCE(perfctr->error) && counts(control)) {
		WRITE_ONCE(perfctr->holder, NULL);
		if (perfctr->tree)
			perfctr_tree_release(perfctr->tree, file);
		err = -EIO;
	}
out:
	/* This store worked above. If it fails now, the caller still gets err. */
	if (err)
		(void)perfctr_put_refusal(arg, &why);
	perfctr_control_free(control, &few);
	task_put(task);
	return err;
}

int vperfctr_read_control(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_control *control;
	struct perfctr_config *config;
	struct perfctr_layout layout;
	unsigned long flags;
	u32 i;
	int err;

	err = perfctr_layout_get(arg, &layout);
	if (err)
		return err;
	control = perfctr_control_alloc(perfctr_most_counters);
	if (!control)
		return -ENOMEM;
	control->size = layout.size;
	control->ctr_offset = layout.ctr_offset;
	control->ctr_size = layout.ctr_size;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	config = perfctr->config;
	if (config)
		refcount_inc(&config->refs);
	if (config && perfctr->imode) {
		control->si_signo = perfctr->imode->asked;
		control->refresh = perfctr->imode->refresh;
	}
	if (config && perfctr->recorder)
		control->timer_ns = perfctr->recorder->timer_ns;
	control->tsc_on = !!(vperfctr_counted(perfctr) & PERFCTR_CSTATUS_CLOCK);
	control->flags = perfctr->flags;
	control->cpu = perfctr->only_cpu;
	control->preserve = perfctr->preserve;
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);

	control->refused = PERFCTR_NO_INDEX;
	if (config) {
		control->nractrs = perfctr_config_nr_actrs(config);
		control->nrictrs = config->nr_ictrs;
		memcpy(control->ctr, config->ctr, config->nr * PERFCTR_CTR_SIZE);
		/* Instead of ANY, name the hardware counter that was chosen. */
		for (i = 0; i < config->nr; i++) {
			if (config->shared)
				control->ctr[i].map = PERFCTR_MAP_ANY;
			else
				perfctr_cpu_name(&control->ctr[i], config->hw[i]);
		}
		control->source = config->shared ? PERFCTR_SOURCE_SHARED :
						   PERFCTR_SOURCE_NATIVE;
		perfctr_config_unref(config);
	}
	layout.nractrs = control->nractrs;
	layout.nrictrs = control->nrictrs;
	err = perfctr_layout_check(&layout);
	if (!err)
		err = perfctr_control_put(arg, &layout, control);
	kfree(control);
	return err;
}

/* Returns true if the control has HOLDER_ONLY, and another open file than @file is its holder. */
static bool stopped_by_holder_only(const struct vperfctr *perfctr, const struct file *file)
{
	const struct file *holder = READ_ONCE(perfctr->holder);

	return perfctr->flags & PERFCTR_CONTROL_HOLDER_ONLY && holder && holder != file;
}

/* Suspends or resumes a state for the user. Current is its owner, or has frozen its owner. */
static void stop_go(struct vperfctr *own, bool stop)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&own->lock, flags);
	vperfctr_suspend(own);
	if (stop)
		vperfctr_hold(own, PERFCTR_HOLD_SUSPENDED);
	else
		vperfctr_unhold(own, PERFCTR_HOLD_SUSPENDED);
	if (vperfctr_is_own(own))
		vperfctr_resume_locked(own);
	raw_spin_unlock_irqrestore(&own->lock, flags);
}

/* Does SUSPEND or RESUME for a tracee. Returns 0 or an error. */
static int stop_go_tracee(struct vperfctr *perfctr, struct task_struct *tracee,
			  const struct file *file, bool stop)
{
	unsigned long flags;
	int err;

	if (!task_may_change(tracee))
		return -ESRCH;
	/* Only a control puts the tree, and the tracee makes no control while it is stopped. */
	if (perfctr->tree)
		return perfctr_tree_stop(perfctr->tree, file, stop);
	if (stopped_by_holder_only(perfctr, file))
		return -EBUSY;
	err = perfctr_tracee_freeze(tracee, &flags);
	if (err)
		return err;
	stop_go(perfctr, stop);
	perfctr_tracee_thaw(tracee, flags);
	return 0;
}

/*
 * Suspends or resumes the caller's own counters, or the whole tree if the caller is a member of a
 * tree. The tracer of a thread may do so for that thread.
 */
int vperfctr_stop_go(struct vperfctr *perfctr, const struct file *file, bool stop)
{
	struct vperfctr *own = vperfctr_acting_owner(perfctr, true);
	struct task_struct *task;
	int err;

	if (own == ERR_PTR(-EPERM)) {
		task = vperfctr_traced_owner(perfctr);
		if (IS_ERR(task))
			return PTR_ERR(task);
		err = stop_go_tracee(perfctr, task, file, stop);
		perfctr_tracee_put(task);
		return err;
	}
	if (IS_ERR(own))
		return PTR_ERR(own);
	if (own->tree) {
		/* The tree stays: current's state has a reference, which only current puts. */
		return perfctr_tree_stop(own->tree, file, stop);
	}
	if (stopped_by_holder_only(own, file))
		return -EBUSY;
	if (stop)
		vperfctr_verify(own);
	stop_go(own, stop);
	return 0;
}

int vperfctr_unlink(struct vperfctr *perfctr, struct file *file)
{
	struct task_struct *task = task_get(perfctr);
	int err = 0;

	/* A state without an owner is unlinked already. */
	if (IS_ERR(task))
		return task == ERR_PTR(-ESRCH) ? 0 : PTR_ERR(task);
	if (held_by_other(perfctr, file))
		err = -EBUSY;
	else if (task == current)
		vperfctr_detach(perfctr, false);
	else
		err = vperfctr_detach_tracee(perfctr, task);
	if (!err && perfctr->tree)
		vperfctr_forget_tree(perfctr);
	task_put(task);
	return err;
}
