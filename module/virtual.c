// SPDX-License-Identifier: GPL-2.0
/*
 * Per-thread counters: the state object, and what may be done through a handle
 * on it. struct vperfctr says who may touch what.
 */

#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "perfctr.h"

#define STATE_SIZE(nrctrs)	(offsetof(struct vperfctr, cpu_state.ctr) + \
				 (nrctrs) * sizeof(struct perfctr_cpu_ctr))

static_assert(STATE_SIZE(PERFCTR_MAX_HW) <= 1024);
#if defined(CONFIG_64BIT) && !defined(CONFIG_DEBUG_SPINLOCK) && !defined(CONFIG_DEBUG_LOCK_ALLOC)
/* With 16 hpmcounters, cycle and instret eight fit in a page. */
static_assert(STATE_SIZE(18) <= 512);
#endif
#define CTR_SIZE		sizeof(struct perfctr_ctr_control)
#define CONTROL_HEAD		offsetof(struct perfctr_control, ctr)
#define CONTROL_FLAGS		(PERFCTR_CONTROL_CLOEXEC | PERFCTR_CONTROL_ON_EXEC | \
				 PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP | \
				 PERFCTR_CONTROL_RAW | PERFCTR_CONTROL_SUSPENDED | \
				 PERFCTR_CONTROL_HOLDER_ONLY)

static_assert(CONTROL_FLAGS <= U8_MAX);	/* vperfctr.flags */

/* Mapped wherever the owner's own page must not be: it says "ask the kernel". */
static struct perfctr_page *foreign_page;

/* Of states with as many counters as the processor has. */
static struct kmem_cache *state_cache;

/*
 * Of a control. Where the processor has no counters the driver refuses them, as it knows
 * why. Constant after init.
 */
static u32 most_counters;

static void vperfctr_free(struct vperfctr *perfctr)
{
	put_pid(perfctr->pid);
	free_page((unsigned long)perfctr->page);
	if (perfctr->spare)
		perfctr_descendant_free(perfctr->spare);
	if (perfctr->inherited) {
		perfctr_descendant_free(perfctr);
	} else {
		if (perfctr->tree)
			perfctr_tree_end(perfctr->tree);
		if (perfctr->config)
			perfctr_config_unref(perfctr->config);
		kfree(perfctr->imode);
		kmem_cache_free(state_cache, perfctr);
	}
}

void vperfctr_put(struct vperfctr *perfctr)
{
	if (refcount_dec_and_test(&perfctr->refs))
		vperfctr_free(perfctr);
}

/*
 * What the kernel counts
 */

/* Of a task that may be running: each is of about now. */
static __no_kcsan void soft_fields(const struct task_struct *task, u64 *field)
{
	field[0] = task->nvcsw + task->nivcsw;
	field[1] = task->se.nr_migrations;
	field[2] = task->min_flt;
	field[3] = task->maj_flt;
}

/*
 * A 32-bit kernel counts most of these in 32 bits, which go round: so do sums there,
 * lest a difference come out negative.
 */
static u64 soft_sum(u64 sum)
{
	return (unsigned long)sum;
}

/* Called with perfctr->lock held. */
static void soft_set(struct vperfctr *perfctr, const struct task_struct *owner, bool on)
{
	u64 field[PERFCTR_NR_SOFT];
	unsigned int i;

	if (perfctr->soft_on == on)
		return;
	soft_fields(owner, field);
	for (i = 0; i < PERFCTR_NR_SOFT; i++)
		perfctr->soft[i] = on ? perfctr->soft[i] - field[i] :
					soft_sum(perfctr->soft[i] + field[i]);
	perfctr->soft_on = on;
}

void vperfctr_soft_read(struct vperfctr *perfctr, u64 *soft)
{
	u64 field[PERFCTR_NR_SOFT] = {};
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	if (perfctr->soft_on)
		soft_fields(rcu_dereference_protected(perfctr->owner, true), field);
	for (i = 0; i < PERFCTR_NR_SOFT; i++)
		soft[i] = soft_sum(perfctr->soft[i] + field[i]);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
}

/* What the kernel counts goes with the clock, as hold says. Called with perfctr->lock held. */
static void soft_follow(struct vperfctr *perfctr)
{
	struct task_struct *owner;

	/* It cannot go while the lock is held. */
	owner = rcu_dereference_protected(perfctr->owner, lockdep_is_held(&perfctr->lock));
	if (owner)
		soft_set(perfctr, owner,
			 !(atomic_read(&perfctr->hold) & ~PERFCTR_HOLD_COUNTERS));
}

void vperfctr_hold(struct vperfctr *perfctr, int why)
{
	lockdep_assert_held(&perfctr->lock);
	atomic_or(why, &perfctr->hold);
	WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
	soft_follow(perfctr);
}

void vperfctr_unhold(struct vperfctr *perfctr, int why)
{
	lockdep_assert_held(&perfctr->lock);
	atomic_andnot(why, &perfctr->hold);
	soft_follow(perfctr);
}

/* By the owner, or an interrupt on its CPU. */
void vperfctr_soft_lost(struct vperfctr *perfctr)
{
	raw_spin_lock(&perfctr->lock);
	soft_follow(perfctr);
	raw_spin_unlock(&perfctr->lock);
}

/* By the owner: its counters run, and what the kernel counts with them, or neither. */
static void resume_locked(struct vperfctr *perfctr)
{
	lockdep_assert_held(&perfctr->lock);
	perfctr_resume_locked(perfctr);
	if (unlikely(perfctr->error))
		soft_follow(perfctr);	/* the counters have been lost */
}

u64 vperfctr_task_clock(u64 clock)
{
	u64 hz = perfctr_cpu_clock_hz(), seconds, rest;

	/* mul_u64_u64_div_u64() drops digits where it is C and not of 6.13 or later. */
	seconds = div64_u64_rem(clock, hz, &rest);
	return seconds * NSEC_PER_SEC + div64_u64(rest * NSEC_PER_SEC, hz);
}

/* Sum's readers, and page's, see one change: nobody copies sums of an odd seq. */
static void change_begin(struct vperfctr *perfctr)
{
	lockdep_assert_irqs_disabled();
	perfctr_suspend(perfctr);
	WRITE_ONCE(perfctr->seq, perfctr->seq + 1);
	smp_wmb();	/* pairs with state_sums() */
}

static void change_end(struct vperfctr *perfctr)
{
	smp_wmb();	/* pairs with state_sums() */
	WRITE_ONCE(perfctr->seq, perfctr->seq + 1);
}

static u32 cstatus_of(const struct perfctr_config *config, bool clock_on)
{
	return (clock_on ? PERFCTR_CSTATUS_CLOCK : 0) | config->nr_ictrs << 8 | config->nr;
}

static u32 state_cstatus(const struct vperfctr *perfctr)
{
	u32 nr = READ_ONCE(perfctr->cpu_state.end) - perfctr->cpu_state.ctr;

	return (READ_ONCE(perfctr->clock_on) ? PERFCTR_CSTATUS_CLOCK : 0) |
	       READ_ONCE(perfctr->nr_ictrs) << 8 | nr;
}

/* The state is suspended, or new. */
void vperfctr_bind(struct vperfctr *perfctr)
{
	const struct perfctr_config *config = perfctr->config;
	u32 i;

	for (i = 0; i < config->nr; i++)
		perfctr_cpu_bind(&perfctr->cpu_state.ctr[i], config->hw[i]);
}

notrace void vperfctr_page_own(struct vperfctr *perfctr, bool own)
{
	const struct perfctr_config *config = perfctr->config;
	struct perfctr_page *page = perfctr->page;
	u64 owner = own ? perfctr_cpu_thread_pointer(current) : 0;
	bool clock_hidden = perfctr_cpu_clock_hidden();
	unsigned int i;

	perfctr->owned = own;
	page->owner = perfctr->clock_on && !clock_hidden ? owner : 0;
	for (i = 0; config && i < config->nr; i++) {
		/* User mode knows nothing of signs. */
		if (i < perfctr_config_nr_actrs(config) || perfctr_cpu_iwidth() == 64)
			page->slot[perfctr_cpu_slot(config, i)].owner = owner;
		else
			page->owner = 0;
	}
	if (perfctr->clock_on)
		page->slot[PERFCTR_CPU_CLOCK_SLOT].owner = clock_hidden ? 0 : owner;
}

static void page_disown(struct vperfctr *perfctr)
{
	if (perfctr->owned)
		vperfctr_page_own(perfctr, false);
}

/* It says that nothing is counted. */
static struct perfctr_page *page_alloc(void)
{
	struct perfctr_page *page = (struct perfctr_page *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!page)
		return NULL;
	page->size = sizeof(*page);
	page->seq = -1;
	for (i = 0; i < PERFCTR_MAX_CTRS; i++)
		page->map[i] = PERFCTR_PAGE_NO_SLOT * sizeof(page->slot[0]);
	return page;
}

/* Nothing is counted any more: most of the page says so already. */
static void page_reset(struct perfctr_page *page)
{
	unsigned int i, slot;

	for (i = 0; i < page->nrctrs; i++) {
		slot = page->map[i] / sizeof(page->slot[0]);
		page->slot[slot] = (struct perfctr_page_slot){};
		page->map[i] = PERFCTR_PAGE_NO_SLOT * sizeof(page->slot[0]);
	}
	page->slot[PERFCTR_CPU_CLOCK_SLOT] = (struct perfctr_page_slot){};
	page->owner = 0;
}

/* Say in the page what is counted. */
static void page_update(struct vperfctr *perfctr)
{
	const struct perfctr_config *config = perfctr->config;
	struct perfctr_page *page = perfctr->page;
	unsigned int i;

	if (!page || perfctr->stale)
		return;
	page_reset(page);
	perfctr->owned = false;
	page->cstatus = state_cstatus(perfctr);
	page->error = perfctr->error;
	page->nrctrs = config ? config->nr : 0;
	for (i = 0; config && i < config->nr; i++) {
		page->map[i] = perfctr_cpu_slot(config, i) * sizeof(page->slot[0]);
		page->operand[i] = perfctr_cpu_operand(config->hw[i]);
	}
}

/* Stop for a reason that stays. By the owner. */
void vperfctr_stop(struct vperfctr *perfctr, u32 error)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	perfctr_suspend(perfctr);
	perfctr_cpu_share();
	vperfctr_hold(perfctr, PERFCTR_HOLD_LOST);
	page_disown(perfctr);
	WRITE_ONCE(perfctr->error, error);
	if (perfctr->page && !perfctr->stale)
		WRITE_ONCE(perfctr->page->error, error);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
}

void vperfctr_start_on_exec(struct vperfctr *perfctr)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	vperfctr_unhold(perfctr, PERFCTR_HOLD_ON_EXEC);
	resume_locked(perfctr);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
}

static void vperfctr_attach(struct vperfctr *perfctr)
{
	refcount_inc(&perfctr->refs);
	__module_get(THIS_MODULE);
	rcu_assign_pointer(perfctr->owner, current);
	perfctr_notifier_get(perfctr);
}

/* For a child that current makes, which has not run yet. */
void vperfctr_adopt(struct vperfctr *perfctr, struct task_struct *child)
{
	__module_get(THIS_MODULE);
	rcu_assign_pointer(perfctr->owner, child);
	perfctr_notifier_adopt(perfctr, child);
}

static bool return_queue(struct vperfctr *perfctr, struct task_struct *task);

/*
 * By the owner: at unlink, exec or exit; or, @atomic is false, where its tree is
 * dead. The last references go on its way out of the kernel, if not here.
 */
void vperfctr_detach(struct vperfctr *perfctr, bool atomic)
{
	/* What the attachment refers to, the work does then. */
	bool queued = atomic && return_queue(perfctr, current);
	bool uses = perfctr->config && !perfctr->inherited;
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	perfctr_suspend(perfctr);
	perfctr_cpu_share();
	vperfctr_hold(perfctr, PERFCTR_HOLD_IDLE);
	atomic_andnot(PERFCTR_HOLD_ON_EXEC | PERFCTR_HOLD_SUSPENDED, &perfctr->hold);
	page_disown(perfctr);
	WRITE_ONCE(perfctr->holder, NULL);
	perfctr_notifier_put(perfctr);
	if (perfctr->inherited)
		perfctr_descendant_name(perfctr);
	rcu_assign_pointer(perfctr->owner, NULL);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);

	if (perfctr->inherited)
		perfctr_descendant_end(perfctr);
	if (uses)
		perfctr_config_unuse(perfctr->config, atomic);
	if (queued)
		return;
	vperfctr_put(perfctr);
	/*
	 * The caller still runs our text: in an ioctl its file keeps the module,
	 * in a probe the unload waits for the probes.
	 */
	module_put(THIS_MODULE);
}

/*
 * Control
 */

static u32 control_nr(const struct perfctr_control *control)
{
	return control->nractrs + control->nrictrs;
}

static int control_check(const struct perfctr_control *control, struct perfctr_refusal *why)
{
	u32 i, nr = control_nr(control);

	if (control->flags & ~CONTROL_FLAGS ||
	    (control->flags & (PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP)) ==
							PERFCTR_CONTROL_KEEP ||
	    control->tsc_on > 1 || control->preserve >> PERFCTR_MAX_HW ||
	    !perfctr_all_zero(control->reserved, sizeof(control->reserved)))
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		const struct perfctr_ctr_control *ctr = &control->ctr[i];

		if (!perfctr_all_zero(ctr->reserved, sizeof(ctr->reserved)) ||
		    (i < control->nractrs ? ctr->ireset != 0 : ctr->ireset >= 0)) {
			why->index = i;
			return -EINVAL;
		}
	}
	if (!control->nrictrs)
		return control->si_signo || control->refresh ? -EINVAL : 0;
	if (!control->si_signo || !valid_signal(control->si_signo) ||
	    sig_kernel_only(control->si_signo) || control->flags & PERFCTR_CONTROL_ON_EXEC)
		return -EINVAL;
	return 0;
}

/* With room for so many counters, which are not set. To be kfree()d. */
static struct perfctr_control *control_alloc(u32 nr)
{
	struct perfctr_control *control = kmalloc(CONTROL_HEAD + nr * CTR_SIZE, GFP_KERNEL);

	if (control)
		memset(control, 0, CONTROL_HEAD);
	return control;
}

/* Of the caller's control: where the counters are, and how many. */
struct layout {
	u32 size;
	u32 ctr_offset;
	u32 ctr_size;
	u32 nractrs;
	u32 nrictrs;
};

static u32 layout_nr(const struct layout *layout)
{
	return layout->nractrs + layout->nrictrs;
}

/*
 * Are the counters where the caller says, and no more of them than there are? So i-mode
 * counters are among the first 32, too.
 */
static int layout_check(const struct layout *layout)
{
	if (layout->ctr_offset < PERFCTR_CONTROL_SIZE_VER0 || layout->ctr_offset % 8 ||
	    layout->ctr_size < PERFCTR_CTR_CONTROL_SIZE_VER0 || layout->ctr_size % 8 ||
	    layout->nractrs > most_counters ||
	    layout->nrictrs > most_counters - layout->nractrs ||
	    layout->size < layout->ctr_offset + (u64)layout_nr(layout) * layout->ctr_size)
		return -EINVAL;
	return 0;
}

/* Read once: what is copied later may have changed meanwhile. */
static int layout_get(const struct perfctr_control __user *arg, struct layout *layout)
{
	int err = perfctr_get_size(arg, PERFCTR_CONTROL_SIZE_VER0, &layout->size);

	if (err)
		return err;
	return get_user(layout->ctr_offset, &arg->ctr_offset) ||
	       get_user(layout->ctr_size, &arg->ctr_size) ||
	       get_user(layout->nractrs, &arg->nractrs) ||
	       get_user(layout->nrictrs, &arg->nrictrs) ? -EFAULT : 0;
}

/* The allocator takes longer than all else that is done to a control of so few counters. */
#define FEW_COUNTERS	4

struct few_counters {
	u64 words[(CONTROL_HEAD + FEW_COUNTERS * CTR_SIZE) / sizeof(u64)];
};

static void control_free(struct perfctr_control *control, struct few_counters *few)
{
	if ((void *)control != few)
		kfree(control);
}

/*
 * The caller's, laid out as the module has it, or an error. It is in @few, or else has
 * been allocated: control_free().
 */
static struct perfctr_control *control_get(const struct perfctr_control __user *arg,
					   struct few_counters *few)
{
	struct perfctr_control *control = (void *)few;
	const void __user *from = arg;
	struct layout layout;
	u32 i, nr;
	int err;

	err = layout_get(arg, &layout);
	if (!err)
		err = layout_check(&layout);
	if (err)
		return ERR_PTR(err);
	nr = layout_nr(&layout);
	if (nr > FEW_COUNTERS)
		control = control_alloc(nr);
	if (!control)
		return ERR_PTR(-ENOMEM);
	if (layout.ctr_offset == CONTROL_HEAD && layout.ctr_size == CTR_SIZE) {
		/* A copy has its price: this is what almost all have. */
		err = copy_from_user(control, arg, CONTROL_HEAD + nr * CTR_SIZE) ? -EFAULT : 0;
		nr = 0;
	} else {
		err = copy_struct_from_user(control, CONTROL_HEAD, from, layout.ctr_offset);
		from += layout.ctr_offset;
	}
	for (i = 0; !err && i < nr; i++, from += layout.ctr_size)
		err = copy_struct_from_user(&control->ctr[i], CTR_SIZE, from, layout.ctr_size);
	if (err) {
		control_free(control, few);
		return ERR_PTR(err);
	}
	control->nractrs = layout.nractrs;
	control->nrictrs = layout.nrictrs;
	return control;
}

static int control_put(void __user *arg, const struct layout *layout,
		       const struct perfctr_control *control)
{
	u32 i, nr = control_nr(control), used = layout->ctr_offset + nr * layout->ctr_size;
	void __user *to = arg + layout->ctr_offset;
	int err = perfctr_put_struct(arg, layout->ctr_offset, control, CONTROL_HEAD);

	for (i = 0; !err && i < nr; i++, to += layout->ctr_size)
		err = perfctr_put_struct(to, layout->ctr_size, &control->ctr[i], CTR_SIZE);
	if (!err && clear_user(to, layout->size - used))
		err = -EFAULT;
	return err;
}

/* By the owner. The config is claimed, so nothing but a lost CPU can fail from here on. */
static void control_apply(struct vperfctr *perfctr, const struct perfctr_control *control,
			  struct perfctr_config *config, struct perfctr_imode *imode,
			  struct perfctr_tree *tree, u8 raw)
{
	struct perfctr_cpu_state *state = &perfctr->cpu_state;
	u32 preserve = control->preserve, left = perfctr_cpu_nrctrs();
	bool enabled = control->tsc_on || config->nr;
	struct perfctr_tree *old;
	struct perfctr_cpu_ctr *ctr;
	unsigned long flags;
	int hold = 0;

	if (!enabled)
		hold |= PERFCTR_HOLD_IDLE;
	else if (control->flags & PERFCTR_CONTROL_ON_EXEC)
		hold |= PERFCTR_HOLD_ON_EXEC;
	if (enabled && control->flags & PERFCTR_CONTROL_SUSPENDED)
		hold |= PERFCTR_HOLD_SUSPENDED;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	change_begin(perfctr);
	/* At once, unlike a change of policy: these counters may be others' next. */
	perfctr_revoke(perfctr);
	perfctr_cpu_share();
	perfctr->soft_on = false;
	memset(perfctr->soft, 0, sizeof(perfctr->soft));
	swap(perfctr->config, config);
	swap(perfctr->imode, imode);
	WRITE_ONCE(perfctr->overflows, 0);
	old = perfctr->tree;
	WRITE_ONCE(perfctr->tree, tree);
	perfctr->raw = raw;
	WRITE_ONCE(perfctr->flags, control->flags);
	perfctr->preserve = preserve;
	for (ctr = state->ctr; left; left--, ctr++, preserve >>= 1)
		if (!(preserve & 1))
			ctr->acc = 0;
	vperfctr_bind(perfctr);
	if (perfctr->imode) {
		perfctr->imode->asked = control->si_signo;
		perfctr_imode_init(perfctr, control->si_signo, control->refresh);
	}
	WRITE_ONCE(state->end, state->ctr + perfctr->config->nr);
	WRITE_ONCE(perfctr->nr_ictrs, perfctr->config->nr_ictrs);
	/* The clock is accumulated in any case; off hides it, and the next on starts from zero. */
	if (!control->tsc_on || !perfctr->clock_on)
		state->clock = 0;
	WRITE_ONCE(perfctr->clock_on, control->tsc_on);
	perfctr->quick = control->tsc_on && !perfctr->config->nr_ictrs;
	perfctr->plain = perfctr->config->nr && !perfctr->config->nr_ictrs && !raw;
	/* What others do to the old tree is no more done to this state: it has another. */
	atomic_set(&perfctr->hold, hold);
	soft_follow(perfctr);
	WRITE_ONCE(perfctr->error, PERFCTR_ERROR_NONE);
	page_update(perfctr);
	change_end(perfctr);
	resume_locked(perfctr);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);

	perfctr_config_put(config, false);
	kfree(imode);
	perfctr_tree_end(old);
}

/* Who controls a root controls its descendants too. */
static bool held_by_other(const struct vperfctr *perfctr, const struct file *file)
{
	const struct file *holder = READ_ONCE(perfctr->holder);

	return perfctr->inherited || (holder && holder != file);
}

/* RAW: PERFCTR_RAW_*, or EOPNOTSUPP, EACCES */
static int raw_check(const struct perfctr_control *control)
{
	if (!(control->flags & PERFCTR_CONTROL_RAW))
		return 0;
	if (!perfctr_cpu_permits_threads())
		return -EOPNOTSUPP;
	if (!perfctr_allow_kernel())
		return PERFCTR_RAW_BY_PRIVILEGE;
	return READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OPEN ? PERFCTR_RAW_BY_POLICY :
									-EACCES;
}

/* A spare of an older control may have no room for i-mode counters, or too much. */
static bool have_spare(struct vperfctr *perfctr, u32 nr_ictrs)
{
	struct vperfctr *spare = perfctr->spare;

	if (spare && (spare->imode ? spare->imode->nr : 0) == nr_ictrs)
		return true;
	perfctr->spare = NULL;
	if (spare)
		perfctr_descendant_free(spare);
	perfctr->spare = perfctr_spare_create(nr_ictrs, true);
	return perfctr->spare;
}

static int put_refusal(struct perfctr_control __user *arg, const struct perfctr_refusal *why)
{
	if (!user_write_access_begin(arg, CONTROL_HEAD))
		return -EFAULT;
	unsafe_put_user(why->owner, &arg->owner, fault);
	unsafe_put_user(why->index, &arg->refused, fault);
	user_write_access_end();
	return 0;

fault:
	user_write_access_end();
	return -EFAULT;
}

static int vperfctr_control(struct vperfctr *perfctr, struct file *file, void __user *arg)
{
	struct perfctr_refusal why = {
		.owner = PERFCTR_OWNER_NONE,
		.index = PERFCTR_NO_INDEX,
	};
	struct perfctr_imode *imode = NULL;
	struct perfctr_control *control;
	struct perfctr_config *config;
	struct perfctr_tree *tree = NULL;
	struct few_counters few __uninitialized;
	int err, raw = 0;
	bool enabled;

	if (perfctr != perfctr_current())
		return rcu_access_pointer(perfctr->owner) ? -EPERM : -ESRCH;
	control = control_get(arg, &few);
	if (IS_ERR(control))
		return PTR_ERR(control);
	/* Whoever cannot be told why is refused before anything is done. */
	err = put_refusal(arg, &why);
	if (!err)
		err = control_check(control, &why);
	if (!err && held_by_other(perfctr, file)) {
		why.owner = PERFCTR_OWNER_HOLDER;
		err = -EBUSY;
	}
	if (!err) {
		raw = raw_check(control);
		err = min(raw, 0);
	}
	/* The old tree's members are told that it is dead. */
	if (!err && perfctr->tree)
		err = perfctr_broadcasts_allow();
	if (err)
		goto out;
	config = perfctr_config_get(control->ctr, control_nr(control), &why);
	if (IS_ERR(config)) {
		err = PTR_ERR(config);
		goto out;
	}
	enabled = control->tsc_on || config->nr;
	if (enabled && control->flags & PERFCTR_CONTROL_INHERIT) {
		u32 cstatus = cstatus_of(config, control->tsc_on);

		tree = perfctr_tree_create(perfctr, config, control->flags, cstatus);
		if (!tree)
			err = -ENOMEM;
	}
	if (!err && config->nr_ictrs) {
		imode = perfctr_imode_create(config->nr_ictrs, GFP_KERNEL_ACCOUNT);
		if (!imode)
			err = -ENOMEM;
	}
	/* Last: from here on nothing fails, and the old control's spare is gone. */
	if (!err && tree && !have_spare(perfctr, config->nr_ictrs))
		err = -ENOMEM;
	if (err) {
		kfree(imode);
		perfctr_tree_end(tree);
		perfctr_config_put(config, false);
		goto out;
	}
	/* Nobody else controls meanwhile: only this thread may. */
	WRITE_ONCE(perfctr->holder, enabled ? file : NULL);
	control_apply(perfctr, control, config, imode, tree, raw);
	if (READ_ONCE(perfctr->error)) {
		WRITE_ONCE(perfctr->holder, NULL);
		err = -EIO;
	}
out:
	/* It could be written before; if it cannot any more, err says what matters. */
	if (err)
		(void)put_refusal(arg, &why);
	control_free(control, &few);
	return err;
}

static int vperfctr_read_control(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_control *control;
	struct perfctr_config *config;
	struct layout layout;
	unsigned long flags;
	u32 i;
	int err;

	err = layout_get(arg, &layout);
	if (err)
		return err;
	control = control_alloc(most_counters);
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
	control->tsc_on = perfctr->clock_on;
	control->flags = perfctr->flags;
	control->preserve = perfctr->preserve;
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);

	control->refused = PERFCTR_NO_INDEX;
	if (config) {
		control->nractrs = perfctr_config_nr_actrs(config);
		control->nrictrs = config->nr_ictrs;
		memcpy(control->ctr, config->ctr, config->nr * CTR_SIZE);
		/* Say what ANY came to be. */
		for (i = 0; i < config->nr; i++)
			perfctr_cpu_name(&control->ctr[i], config->hw[i]);
		perfctr_config_unref(config);
	}
	layout.nractrs = control->nractrs;
	layout.nrictrs = control->nrictrs;
	err = layout_check(&layout);
	if (!err)
		err = control_put(arg, &layout, control);
	kfree(control);
	return err;
}

/* The state whose handle an open file is; NULL before OPEN. It never changes again. */
static struct vperfctr *file_perfctr(const struct file *file)
{
	return READ_ONCE(file->private_data);
}

/*
 * Reading
 */

/* Sums of a state that is suspended, or false. For anyone, without a lock. */
static bool state_sums(const struct vperfctr *perfctr, struct perfctr_sample *sample)
{
	/* Acquire: no sum is read before it; pairs with change_end(), suspend(). */
	u32 seq = smp_load_acquire(&perfctr->seq);
	unsigned int i;

	if (seq & 1)
		return false;
	sample->cstatus = state_cstatus(perfctr);
	sample->overflows = READ_ONCE(perfctr->overflows);
	sample->hold = atomic_read(&perfctr->hold);
	/* What changed meanwhile is thrown away. */
	sample->value[0] = data_race(perfctr->cpu_state.clock);
	for (i = 0; i < PERFCTR_CSTATUS_NRCTRS(sample->cstatus); i++)
		/* likewise */
		sample->value[1 + i] = data_race(perfctr->cpu_state.ctr[i].acc);
	smp_rmb();	/* pairs with sums_to_differences(), change_begin() */
	return READ_ONCE(perfctr->seq) == seq;
}

/* On the CPU where the owner, current, runs or was interrupted; interrupts off. */
static __always_inline void state_sample(const struct vperfctr *perfctr,
					 struct perfctr_sample *sample)
{
	const struct perfctr_cpu_state *state = &perfctr->cpu_state;
	const struct perfctr_cpu_ctr *ctr, *end = state->end;
	u64 *value = sample->value;

	sample->cstatus = state_cstatus(perfctr);
	sample->overflows = perfctr->overflows;
	sample->hold = atomic_read(&perfctr->hold);
	if (likely(perfctr->seq & 1)) {
		*value++ = state->clock + perfctr_cpu_clock();
		if (unlikely(perfctr->imode)) {
			perfctr_imode_sample(perfctr, value);
			return;
		}
		for (ctr = state->ctr; ctr != end; ctr++)
			*value++ = ctr->acc + perfctr_cpu_read(ctr);
	} else {
		*value++ = state->clock;
		for (ctr = state->ctr; ctr != end; ctr++)
			*value++ = ctr->acc;
	}
}

struct remote_read {
	const struct vperfctr *perfctr;
	struct perfctr_sample *sample;
	bool done;
};

static void remote_sample(void *arg)
{
	struct remote_read *read = arg;

	if (perfctr_current() != read->perfctr)
		return;		/* it went away meanwhile */
	state_sample(read->perfctr, read->sample);
	read->done = true;
}

/*
 * Of another thread, or one that is gone. Each failure means that the thread
 * was switched between our looks, so this ends.
 */
static noinline int sample_other(const struct vperfctr *perfctr, struct perfctr_sample *sample)
{
	struct remote_read read = { .perfctr = perfctr, .sample = sample };
	struct task_struct *owner;

	for (;;) {
		if (state_sums(perfctr, sample))
			return 0;
		rcu_read_lock();
		owner = rcu_dereference(perfctr->owner);
		if (owner)
			smp_call_function_single(task_cpu(owner), remote_sample, &read, 1);
		rcu_read_unlock();
		if (read.done)
			return 0;
		if (signal_pending(current))
			return -ERESTARTSYS;
		/* Beyond what is sampled next there must be nothing. */
		memset(sample->value, 0, (1 + PERFCTR_MAX_HW) * sizeof(*sample->value));
		cond_resched();
	}
}

int vperfctr_sample(const struct vperfctr *perfctr, struct perfctr_sample *sample)
{
	/* Only the owner's own task_struct can compare equal, and while it is alive. */
	if (rcu_access_pointer(perfctr->owner) != current)
		return sample_other(perfctr, sample);
	local_irq_disable();
	state_sample(perfctr, sample);
	local_irq_enable();
	return 0;
}

static noinline ssize_t read_sample(const struct vperfctr *perfctr, u64 __user *to, size_t count)
{
	u64 value[1 + PERFCTR_MAX_HW];
	struct perfctr_sample sample = { .value = value };
	size_t length;
	int err;

	err = vperfctr_sample(perfctr, &sample);
	if (err)
		return err;
	if (READ_ONCE(perfctr->error))
		return -EIO;
	if (!(sample.cstatus & PERFCTR_CSTATUS_CLOCK))
		value[0] = 0;
	length = (1 + PERFCTR_CSTATUS_NRCTRS(sample.cstatus)) * sizeof(*to);
	if (count < length)
		return -EINVAL;
	return copy_to_user(to, value, length) ? -EFAULT : length;
}

/*
 * read(2): the clock and the sums, as 64-bit words. The quick way through the
 * kernel, since the way to an ioctl is longer than all that is done here.
 *
 * The owner reads itself as its user code would: registers straight to user
 * memory, and again if a switch or an interrupt of ours came between. Where a page
 * must be fetched first all is read before anything is stored.
 */
static ssize_t vperfctr_read(struct file *file, char __user *buffer, size_t count, loff_t *pos)
{
	const struct vperfctr *perfctr = file_perfctr(file);
	const struct perfctr_cpu_state *state;
	const struct perfctr_cpu_ctr *ctr, *end;
	u64 __user *to = (u64 __user *)buffer;
	size_t length;
	u32 seq;

	if (unlikely(!perfctr))
		return -EINVAL;
	state = &perfctr->cpu_state;
	end = READ_ONCE(state->end);
	length = sizeof(*to) + ((char *)end - (char *)state->ctr) / sizeof(*ctr) * sizeof(*to);
	seq = READ_ONCE(perfctr->seq);
	if (unlikely(rcu_access_pointer(perfctr->owner) != current || !(seq & 1) ||
		     !perfctr->quick))
		return read_sample(perfctr, to, count);
	if (unlikely(count < length))
		return -EINVAL;
	if (unlikely(!user_write_access_begin(to, length)))
		return -EFAULT;
	perfctr_cpu_faults_begin();
	for (;;) {
		unsafe_put_user(READ_ONCE(state->clock) + perfctr_cpu_clock(), to, not_now);
		for (ctr = state->ctr; ctr != end; ctr++) {
			to++;	/* not below: a macro may evaluate it twice */
			unsafe_put_user(READ_ONCE(ctr->acc) + perfctr_cpu_read(ctr), to, not_now);
		}
		/* What has an error is suspended. */
		if (likely(READ_ONCE(perfctr->seq) == seq)) {
			if (unlikely(perfctr_cpu_faulted()))
				goto not_now;
			break;
		}
		seq = READ_ONCE(perfctr->seq);
		to = (u64 __user *)buffer;
		/* Somebody stopped it meanwhile. */
		if (unlikely(!(seq & 1)))
			goto not_now;
	}
	perfctr_cpu_faults_end();
	user_write_access_end();
	return length;

not_now:
	perfctr_cpu_faults_end();
	user_write_access_end();
	return read_sample(perfctr, (u64 __user *)buffer, count);
}

static_assert(offsetof(struct perfctr_read, sum) ==
	      offsetof(struct perfctr_read, clock) + sizeof(u64));

static int vperfctr_read_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_read read = {};
	/* The clock, and the sums behind it */
	struct perfctr_sample sample = { .value = &read.clock };
	u32 size;
	int err;

	err = perfctr_get_size(arg, PERFCTR_READ_SIZE_VER0, &size);
	if (err)
		return err;
	/* Before the sample: sums of a state that is not attached are final. */
	if (rcu_access_pointer(perfctr->owner))
		read.flags |= PERFCTR_READ_ATTACHED;
	smp_rmb();	/* pairs with the change of seq in vperfctr_detach(), before owner's */
	err = vperfctr_sample(perfctr, &sample);
	if (err)
		return err;

	read.size = size;
	read.cstatus = sample.cstatus;
	read.error = READ_ONCE(perfctr->error);
	read.nrctrs = PERFCTR_CSTATUS_NRCTRS(sample.cstatus);
	read.flags |= sample.hold & PERFCTR_HOLD_TOLD;
	read.overflows = sample.overflows;
	if (!(sample.cstatus & PERFCTR_CSTATUS_CLOCK))
		read.clock = 0;
	/* Not for those who do not look. */
	if (size > offsetof(struct perfctr_read, soft)) {
		vperfctr_soft_read(perfctr, &read.soft.switches);
		read.soft.task_clock = vperfctr_task_clock(read.clock);
	}

	err = perfctr_put_struct(arg, size, &read, sizeof(read));
	if (err)
		return err;
	return read.error ? -EIO : 0;
}

/* The root goes without its thread's end: so does its tree. */
static void tree_forget(struct vperfctr *perfctr)
{
	struct perfctr_tree *tree;

	raw_spin_lock_irq(&perfctr->lock);
	tree = perfctr->tree;
	if (!perfctr->inherited)
		WRITE_ONCE(perfctr->tree, NULL);
	raw_spin_unlock_irq(&perfctr->lock);
	if (!perfctr->inherited)
		perfctr_tree_end(tree);
}

/* Somebody else holds the state, and wants to be the only one who stops it. */
static bool stopped_by_holder_only(const struct vperfctr *perfctr, const struct file *file)
{
	const struct file *holder = READ_ONCE(perfctr->holder);

	return perfctr->flags & PERFCTR_CONTROL_HOLDER_ONLY && holder && holder != file;
}

/* The caller's own state, if it is that of the handle, or of the same tree. */
struct vperfctr *perfctr_own(const struct vperfctr *perfctr)
{
	struct perfctr_tree *tree = READ_ONCE(perfctr->tree);
	struct vperfctr *own = perfctr_current();

	return own && (own == perfctr || (tree && own->tree == tree)) ? own : NULL;
}

/*
 * Stop and go: of the caller's own counters, and of all threads of its tree, which
 * may be done by any of them.
 */
static int vperfctr_stop_go(struct vperfctr *perfctr, const struct file *file, bool stop)
{
	struct vperfctr *own = perfctr_own(perfctr);
	struct perfctr_tree *tree;
	unsigned long flags;

	if (!own)
		return rcu_access_pointer(perfctr->owner) ? -EPERM : -ESRCH;
	tree = own->tree;
	if (tree) {
		/* It lives, as own has a reference that only own gives back. */
		return perfctr_tree_stop(tree, file, stop);
	}
	if (stopped_by_holder_only(own, file))
		return -EBUSY;
	raw_spin_lock_irqsave(&own->lock, flags);
	perfctr_suspend(own);
	if (stop)
		vperfctr_hold(own, PERFCTR_HOLD_SUSPENDED);
	else
		vperfctr_unhold(own, PERFCTR_HOLD_SUSPENDED);
	resume_locked(own);
	raw_spin_unlock_irqrestore(&own->lock, flags);
	return 0;
}

static int vperfctr_unlink(struct vperfctr *perfctr, struct file *file)
{
	if (perfctr != perfctr_current())
		return rcu_access_pointer(perfctr->owner) ? -EPERM : 0;
	if (held_by_other(perfctr, file))
		return -EBUSY;
	vperfctr_detach(perfctr, false);
	if (perfctr->tree)
		tree_forget(perfctr);
	return 0;
}

/*
 * The map. The owner's own maps, in the mm where it made them, show its page;
 * any other (a sibling's, a fork's copy) shows a page that says "ask the kernel".
 */

static vm_fault_t foreign_fault(struct vm_fault *vmf)
{
	vmf->page = virt_to_page(foreign_page);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct foreign_vm_ops = {
	.fault = foreign_fault,
};

static vm_fault_t owner_fault(struct vm_fault *vmf)
{
	struct vperfctr *perfctr = vmf->vma->vm_private_data;
	struct perfctr_page *page = foreign_page;

	/* After an exec the page may be another than those who stayed with the old mm have. */
	raw_spin_lock(&perfctr->map_lock);
	if (perfctr->map_mm == vmf->vma->vm_mm)
		page = perfctr->page;
	vmf->page = virt_to_page(page);
	get_page(vmf->page);
	raw_spin_unlock(&perfctr->map_lock);
	return 0;
}

/* In the owner's context its registers change hands at once, else at its next switch. */
static void set_user(struct vperfctr *perfctr, bool user)
{
	bool own = perfctr == perfctr_current();
	unsigned long flags;

	local_irq_save(flags);
	if (own)
		perfctr_suspend(perfctr);
	WRITE_ONCE(perfctr->user, user);
	if (own)
		perfctr_resume(perfctr);
	local_irq_restore(flags);
}

/* A copy by fork is in another mm; mremap moves a map within its own. */
static void owner_vm_open(struct vm_area_struct *vma);

static void owner_vm_close(struct vm_area_struct *vma)
{
	struct vperfctr *perfctr = vma->vm_private_data;
	bool last;

	raw_spin_lock(&perfctr->map_lock);
	last = perfctr->map_mm == vma->vm_mm && !--perfctr->owner_maps;
	if (last) {
		perfctr->map_mm = NULL;
		set_user(perfctr, false);
	}
	raw_spin_unlock(&perfctr->map_lock);
	perfctr_forbid(vma->vm_mm);
}

static const struct vm_operations_struct owner_vm_ops = {
	.open = owner_vm_open,
	.close = owner_vm_close,
	.fault = owner_fault,
};

static void owner_vm_open(struct vm_area_struct *vma)
{
	struct vperfctr *perfctr = vma->vm_private_data;
	bool own;

	raw_spin_lock(&perfctr->map_lock);
	own = perfctr->map_mm == vma->vm_mm;
	if (own)
		perfctr->owner_maps++;
	else
		vma->vm_ops = &foreign_vm_ops;
	raw_spin_unlock(&perfctr->map_lock);
	/* There is one already, so nothing is allocated. */
	if (own)
		WARN_ON(perfctr_cpu_mm_get(vma->vm_mm));
}

/*
 * After exec the thread has another mm, though others may go on with the old one and its
 * maps. They are not shown what the new program does: it gets another page.
 */
void vperfctr_exec_unmap(struct vperfctr *perfctr)
{
	raw_spin_lock(&perfctr->map_lock);
	if (perfctr->map_mm && perfctr->map_mm != current->mm) {
		perfctr->map_mm = NULL;
		perfctr->owner_maps = 0;
		perfctr->stale = true;
		set_user(perfctr, false);
	}
	raw_spin_unlock(&perfctr->map_lock);
}

/* In the owner's context: only there do its registers change hands. */
static void set_lent(struct vperfctr *perfctr, bool lent)
{
	unsigned long flags;

	local_irq_save(flags);
	perfctr_suspend(perfctr);
	perfctr_revoke(perfctr);
	perfctr->lent = lent;
	perfctr_resume(perfctr);
	local_irq_restore(flags);
}

/*
 * The child has gone to a memory of its own, or died, if this is the way to user mode,
 * which clears the flag before it runs works. A tracer that follows the child has works
 * run before the wait for it. A deadly signal ends the wait, though not the child.
 */
static bool take_back(struct vperfctr *perfctr)
{
	if (test_thread_flag(TIF_NOTIFY_RESUME) || fatal_signal_pending(current))
		return false;
	set_lent(perfctr, false);
	return true;
}

/* Gives what could not be done now. */
static u8 return_todo(struct vperfctr *perfctr, u8 todo)
{
	unsigned long flags;
	u8 left = 0;

	if (todo & PERFCTR_TODO_LENT && !take_back(perfctr))
		left |= PERFCTR_TODO_LENT;
	if (todo & PERFCTR_TODO_PERMIT && READ_ONCE(perfctr->user) && !perfctr_permit())
		left |= PERFCTR_TODO_PERMIT;
	if (todo & PERFCTR_TODO_SPARE && perfctr->tree && !perfctr->spare)
		perfctr->spare = perfctr_spare_create(perfctr->config->nr_ictrs, true);
	if (todo & PERFCTR_TODO_OVERFLOW && perfctr->imode)
		perfctr_imode_deliver(perfctr);
	if (todo & (PERFCTR_TODO_OVERFLOW | PERFCTR_TODO_RESUME)) {
		local_irq_save(flags);
		if (!(perfctr->seq & 1))
			perfctr_resume(perfctr);
		local_irq_restore(flags);
	}
	return left;
}

/*
 * An exec by a thread other than its process's first gave it that one's id. The last
 * reference of the old one may be ours, which the probe of exec cannot give back.
 */
static void update_pid(struct vperfctr *perfctr)
{
	struct pid *pid = get_pid(task_pid(current));
	unsigned long flags;

	raw_spin_lock_irqsave(&perfctr->lock, flags);
	swap(perfctr->pid, pid);
	raw_spin_unlock_irqrestore(&perfctr->lock, flags);
	put_pid(pid);
}

void vperfctr_exec_pid(struct vperfctr *perfctr)
{
	if (perfctr->pid != task_pid(current))
		perfctr_return_soon(perfctr, current, PERFCTR_TODO_PID);
}

/*
 * By the owner, before it returns to user mode, or as it dies. May sleep. What cannot be
 * done now stays in todo: resume() has it tried again when the owner was switched out and
 * in. To queue this work here would have it run again at once, for ever.
 */
static void vperfctr_return(struct callback_head *work)
{
	struct vperfctr *perfctr = container_of(work, struct vperfctr, return_work);
	unsigned long flags;
	u8 todo, left;

	local_irq_save(flags);
	todo = perfctr->todo;
	perfctr->todo = 0;
	local_irq_restore(flags);
	if (todo & PERFCTR_TODO_PID)
		update_pid(perfctr);
	if (perfctr == perfctr_current()) {
		if (todo & PERFCTR_TODO_DETACH) {
			vperfctr_detach(perfctr, false);
		} else {
			left = return_todo(perfctr, todo);
			local_irq_save(flags);
			perfctr->todo |= left;
			if (left)
				WRITE_ONCE(perfctr->at_once, PERFCTR_NO_CONFIG);
			local_irq_restore(flags);
		}
	}
	if (perfctr != perfctr_current() && perfctr->spare) {
		perfctr_descendant_free(perfctr->spare);
		perfctr->spare = NULL;
	}
	vperfctr_put(perfctr);
	module_put(THIS_MODULE);	/* perfctr_exit() waits for whoever is still here */
}

/* True if it was not queued yet: whoever asked gives it the references. */
static bool return_queue(struct vperfctr *perfctr, struct task_struct *task)
{
	unsigned long flags;
	bool queued = false;

	local_irq_save(flags);
	if (!(perfctr->todo & PERFCTR_TODO_QUEUED)) {
		init_task_work(&perfctr->return_work, vperfctr_return);
		/* It fails only for who is past all that, and never again runs user code. */
		queued = !task_work_add(task, &perfctr->return_work, TWA_RESUME);
		if (queued)
			perfctr->todo |= PERFCTR_TODO_QUEUED;
	}
	local_irq_restore(flags);
	return queued;
}

/* By the owner, an interrupt on its CPU, or for a child that has not run yet. */
void perfctr_return_soon(struct vperfctr *perfctr, struct task_struct *task, u8 todo)
{
	unsigned long flags;

	/* On this CPU it does not run before there are references. */
	local_irq_save(flags);
	perfctr->todo |= todo;
	if (return_queue(perfctr, task)) {
		refcount_inc(&perfctr->refs);
		__module_get(THIS_MODULE);
	}
	local_irq_restore(flags);
}

/*
 * The owner made a child that runs in its memory and with its thread pointer, by
 * vfork(): to the child the page looks like its own, and it may run on another
 * CPU before the owner has left this one. It has gone to a memory of its own, or
 * died, when the owner returns to user mode. (A child of a bare clone() with
 * CLONE_VM has not: perfctr(4) tells that threads have thread pointers.)
 */
void vperfctr_lend(struct vperfctr *perfctr)
{
	if (!READ_ONCE(perfctr->user) || perfctr->lent)
		return;
	/* First: resume() lets nobody resume at once who has something to do. */
	perfctr_return_soon(perfctr, current, PERFCTR_TODO_LENT);
	set_lent(perfctr, true);
}

static int vperfctr_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct vperfctr *perfctr = file_perfctr(file);
	struct perfctr_page *page;
	unsigned long flags;
	int err;

	if (!perfctr)
		return -ENODEV;
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PAGE_SIZE ||
	    !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTEXPAND, VM_MAYWRITE);

	if (perfctr != perfctr_current()) {
		vma->vm_ops = &foreign_vm_ops;
		return 0;
	}
	if (!perfctr->page || perfctr->stale) {
		page = page_alloc();
		if (!page)
			return -ENOMEM;
		raw_spin_lock(&perfctr->map_lock);
		swap(perfctr->page, page);
		perfctr->stale = false;
		raw_spin_unlock(&perfctr->map_lock);
		/* Their maps have references. */
		free_page((unsigned long)page);
	}
	err = perfctr_cpu_mm_get(vma->vm_mm);
	if (err)
		return err;
	vma->vm_private_data = perfctr;
	vma->vm_ops = &owner_vm_ops;
	raw_spin_lock(&perfctr->map_lock);
	if (perfctr->map_mm != vma->vm_mm)
		perfctr->owner_maps = 0;
	perfctr->map_mm = vma->vm_mm;
	perfctr->owner_maps++;
	/* Not while it is shown. */
	local_irq_save(flags);
	perfctr_suspend(perfctr);
	page_update(perfctr);
	local_irq_restore(flags);
	/* A thread without a thread pointer could not tell its slots from nobody's. */
	set_user(perfctr, perfctr_cpu_thread_pointer(current) != 0);
	raw_spin_unlock(&perfctr->map_lock);
	/* Not under the mmap_lock */
	if (perfctr_cpu_mm_waits(vma->vm_mm))
		perfctr_return_soon(perfctr, current, PERFCTR_TODO_PERMIT);
	return 0;
}

/*
 * The handle
 */

size_t vperfctr_size(void)
{
	return STATE_SIZE(perfctr_cpu_nrctrs());
}

void vperfctr_setup(struct vperfctr *perfctr)
{
	refcount_set(&perfctr->refs, 1);
	raw_spin_lock_init(&perfctr->lock);
	raw_spin_lock_init(&perfctr->map_lock);
	atomic_set(&perfctr->hold, PERFCTR_HOLD_IDLE);
	perfctr->at_once = PERFCTR_NO_CONFIG;
	perfctr->cpu_state.end = perfctr->cpu_state.ctr;
}

static struct vperfctr *vperfctr_create(void)
{
	struct vperfctr *perfctr = kmem_cache_zalloc(state_cache, GFP_KERNEL);

	if (!perfctr)
		return NULL;
	vperfctr_setup(perfctr);
	perfctr->pid = get_pid(task_pid(current));
	return perfctr;
}

static int open_check(const struct perfctr_open *open)
{
	if (open->flags & ~(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL | PERFCTR_OPEN_PIDFD) ||
	    open->reserved0 || !perfctr_all_zero(open->reserved, sizeof(open->reserved)) ||
	    (open->flags & (PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL)) == PERFCTR_OPEN_EXCL)
		return -EINVAL;
	/* No kernel lets modules know whose a pidfd is. */
	if (open->flags & PERFCTR_OPEN_PIDFD)
		return -EOPNOTSUPP;
	return open->pidfd ? -EINVAL : 0;
}

/* Of short structures some processors copy each byte: by words it takes a quarter of that. */
static int open_get(const struct perfctr_open __user *arg, struct perfctr_open *open)
{
	const u64 __user *from = (const u64 __user *)arg;
	u64 *to = (u64 *)open;
	unsigned int i;
	u32 size;
	int err;

	err = perfctr_get_size(arg, PERFCTR_OPEN_SIZE_VER0, &size);
	if (err)
		return err;
	if (size != sizeof(*open))
		return copy_struct_from_user(open, sizeof(*open), arg, size);
	if (!user_read_access_begin(from, sizeof(*open)))
		return -EFAULT;
	for (i = 0; i < sizeof(*open) / sizeof(*to); i++)
		unsafe_get_user(to[i], &from[i], fault);
	user_read_access_end();
	return 0;

fault:
	user_read_access_end();
	return -EFAULT;
}

/* OPEN: the file becomes a handle. Of two that try at once, the second was late. */
static int vperfctr_make_handle(struct file *file, void __user *arg)
{
	struct vperfctr *perfctr;
	struct perfctr_open open;
	bool create;
	int err;

	err = open_get(arg, &open);
	if (!err)
		err = open_check(&open);
	if (err)
		return err;

	perfctr = perfctr_current();
	create = !perfctr;
	if (create && !(open.flags & PERFCTR_OPEN_CREAT))
		return -ENOENT;
	if (!create && open.flags & PERFCTR_OPEN_EXCL)
		return -EEXIST;
	if (create)
		perfctr = vperfctr_create();
	else
		refcount_inc(&perfctr->refs);
	if (!perfctr)
		return -ENOMEM;
	if (cmpxchg(&file->private_data, NULL, perfctr)) {
		vperfctr_put(perfctr);
		return -ENOTTY;
	}
	if (create)
		vperfctr_attach(perfctr);
	return 0;
}

static long vperfctr_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	struct vperfctr *perfctr = file_perfctr(file);
	void __user *arg = (void __user *)uarg;

	switch (cmd) {
	case PERFCTR_IOC_INFO:
		return perfctr_info_ioctl(arg);
	case PERFCTR_IOC_CPUS:
		return perfctr_cpus_ioctl(arg);
	}
	if (!perfctr)
		return cmd == PERFCTR_IOC_OPEN ? vperfctr_make_handle(file, arg) : -ENOTTY;
	switch (cmd) {
	case PERFCTR_IOC_READ:
		return vperfctr_read_ioctl(perfctr, arg);
	case PERFCTR_IOC_READ_TREE:
		return perfctr_read_tree_ioctl(perfctr, arg);
	case PERFCTR_IOC_NEXT_MEMBER:
		return perfctr_next_member_ioctl(perfctr, arg);
	case PERFCTR_IOC_SUSPEND:
		return vperfctr_stop_go(perfctr, file, true);
	case PERFCTR_IOC_RESUME:
		return vperfctr_stop_go(perfctr, file, false);
	case PERFCTR_IOC_CONTROL:
		return vperfctr_control(perfctr, file, arg);
	case PERFCTR_IOC_READ_CONTROL:
		return vperfctr_read_control(perfctr, arg);
	case PERFCTR_IOC_UNLINK:
		return vperfctr_unlink(perfctr, file);
	case PERFCTR_IOC_IRESUME:
		return perfctr_iresume_ioctl(perfctr);
	case PERFCTR_IOC_REFRESH:
		return perfctr_refresh_ioctl(perfctr, uarg);
	}
	return -ENOTTY;
}

/* No position to lock at each read, and no state yet. */
static int vperfctr_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return stream_open(inode, file);
}

static int vperfctr_release(struct inode *inode, struct file *file)
{
	struct vperfctr *perfctr = file_perfctr(file);

	if (!perfctr)
		return 0;
	cmpxchg(&perfctr->holder, file, NULL);
	vperfctr_put(perfctr);
	return 0;
}

pid_t vperfctr_tid(struct vperfctr *perfctr)
{
	struct pid *pid;
	pid_t tid;

	raw_spin_lock_irq(&perfctr->lock);
	pid = get_pid(perfctr->pid);
	raw_spin_unlock_irq(&perfctr->lock);
	tid = pid_vnr(pid);
	put_pid(pid);
	return tid;
}

static void vperfctr_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct vperfctr *perfctr = file_perfctr(file);

	if (!perfctr)
		return;
	seq_printf(m, "tid:\t%d\n", vperfctr_tid(perfctr));
	seq_printf(m, "cstatus:\t%#x\n", state_cstatus(perfctr));
	seq_printf(m, "error:\t%u\n", READ_ONCE(perfctr->error));
}

const struct file_operations vperfctr_fops = {
	.owner = THIS_MODULE,
	.open = vperfctr_open,
	.read = vperfctr_read,
	.unlocked_ioctl = vperfctr_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = vperfctr_mmap,
	.release = vperfctr_release,
	.show_fdinfo = vperfctr_show_fdinfo,
};

int vperfctr_init(void)
{
	most_counters = perfctr_cpu_nrctrs() ?: PERFCTR_MAX_HW;
	foreign_page = (struct perfctr_page *)get_zeroed_page(GFP_KERNEL);
	if (!foreign_page)
		return -ENOMEM;
	foreign_page->size = sizeof(*foreign_page);
	foreign_page->seq = -1;
	state_cache = kmem_cache_create("perfctr", vperfctr_size(), 0,
					SLAB_ACCOUNT, NULL);
	if (!state_cache) {
		free_page((unsigned long)foreign_page);
		return -ENOMEM;
	}
	return 0;
}

void vperfctr_exit(void)
{
	kmem_cache_destroy(state_cache);
	free_page((unsigned long)foreign_page);
}
