// SPDX-License-Identifier: GPL-2.0
/*
 * Inheritance: a root, whose control has INHERIT, and its descendants. The tree is flat: each
 * descendant is counted in a state of its own and belongs to the root's tree, however many
 * generations lie between the two. When a descendant ends, its sums are added to the tree's sums.
 *
 * A fork needs a state for the child in a context that may not sleep, nor (on PREEMPT_RT) allocate.
 * So each thread of a tree keeps a spare state. After a fork the thread allocates the next spare at
 * once if that is possible without sleeping, else on its way back to user mode. Most threads end
 * without a child, and their tree keeps one of their spares for the next child.
 *
 * The root's state has a reference to the tree, and so has each descendant. When the root's state
 * is freed, or gets another control, the tree is dead: it cannot be read any more, and each
 * descendant detaches itself when it next runs.
 */

#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/account.h"
#include "thread/kin.h"
#include "thread/notify.h"
#include "thread/ring.h"
#include "switch/period.h"
#include "switch/run.h"
#include "deliver/record.h"
#include "config/config.h"
#include "tree/tree.h"

static unsigned int perfctr_keep = 65536;
module_param_named(keep, perfctr_keep, uint, 0644);
MODULE_PARM_DESC(keep, "threads of a tree that are kept after their end, for each tree (65536)");

static struct kmem_cache *descendant_cache;

/* @id of the latest tree */
static atomic64_t last_tree_id = ATOMIC64_INIT(0);

static struct descendant *to_descendant(struct vperfctr *perfctr)
{
	return container_of(perfctr, struct descendant, state);
}

void perfctr_tree_put(struct perfctr_tree *tree)
{
	if (!tree || !refcount_dec_and_test(&tree->refs))
		return;
	if (tree->spare)
		vperfctr_put(tree->spare);
	perfctr_config_unref(tree->config);
	perfctr_ring_put(tree->ring);
	free_cpumask_var(tree->cpus);
	kfree(tree);
}

struct perfctr_tree *perfctr_tree_create(struct vperfctr *root, struct perfctr_config *config,
					 u32 flags, u32 cstatus)
{
	struct perfctr_tree *tree = kzalloc(sizeof(*tree), GFP_KERNEL_ACCOUNT);

	if (!tree)
		return NULL;
	if (!zalloc_cpumask_var(&tree->cpus, GFP_KERNEL_ACCOUNT)) {
		kfree(tree);
		return NULL;
	}
	refcount_set(&tree->refs, 1);
	raw_spin_lock_init(&tree->lock);
	mutex_init(&tree->reading);
	tree->live = RB_ROOT;
	tree->kept = RB_ROOT;
	tree->root = root;
	refcount_inc(&config->refs);
	tree->config = config;
	if (flags & PERFCTR_CONTROL_RECORD) {
		tree->ring = root->ring;
		perfctr_ring_get(tree->ring);
	}
	tree->keep = flags & PERFCTR_CONTROL_KEEP;
	tree->stopped = flags & PERFCTR_CONTROL_SUSPENDED;
	tree->cstatus = cstatus;
	tree->id = atomic64_inc_return(&last_tree_id);
	return tree;
}

static bool is_older(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct descendant, node)->id <
	       rb_entry(b, struct descendant, node)->id;
}

struct descendant *perfctr_first_after(const struct rb_root *members, u64 id)
{
	struct descendant *descendant, *found = NULL;
	struct rb_node *node = members->rb_node;

	while (node) {
		descendant = rb_entry(node, struct descendant, node);
		if (descendant->id > id) {
			found = descendant;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

static void free_memory(struct callback_head *work)
{
	kmem_cache_free(descendant_cache, container_of(work, struct descendant, state.return_work));
}

void vperfctr_descendant_free(struct vperfctr *perfctr)
{
	struct descendant *descendant = to_descendant(perfctr);

	/* The tree has a reference to the recorder's ring, so the recorder is freed first. */
	if (unlikely(perfctr->imode || perfctr->recorder)) {
		kfree(perfctr->imode);
		perfctr_record_free(perfctr->recorder);
	}
	perfctr_tree_put(perfctr->tree);
	put_pid(descendant->tgid);
	vperfctr_free_memory(perfctr, free_memory);
}

/* Allocates what i-mode counters and records need. Returns false if there is no memory. */
static noinline bool make_room(struct vperfctr *perfctr, u32 nr_ictrs, bool records, gfp_t gfp)
{
	if (nr_ictrs) {
		perfctr->imode = perfctr_imode_create(nr_ictrs, gfp);
		if (!perfctr->imode)
			return false;
	}
	if (records)
		perfctr->recorder = kzalloc(sizeof(*perfctr->recorder), gfp);
	return !records || perfctr->recorder;
}

struct vperfctr *perfctr_spare_create(u32 nr_ictrs, bool records, bool may_sleep)
{
	gfp_t gfp = may_sleep ? GFP_KERNEL : GFP_NOWAIT | __GFP_NOWARN;
	struct descendant *descendant = kmem_cache_zalloc(descendant_cache, gfp);

	if (!descendant)
		return NULL;
	vperfctr_setup(&descendant->state);
	descendant->state.inherited = true;
	if (unlikely(nr_ictrs || records) &&
	    !make_room(&descendant->state, nr_ictrs, records, gfp | __GFP_ACCOUNT)) {
		vperfctr_put(&descendant->state);
		return NULL;
	}
	return &descendant->state;
}

struct vperfctr *vperfctr_spare_create(const struct vperfctr *like, bool may_sleep)
{
	return perfctr_spare_create(like->config->nr_ictrs, like->recorder, may_sleep);
}

/*
 * Birth and end
 */

/* Gives current, or a child that has not run yet, a spare state. The probe of fork calls this. */
static void need_spare(struct vperfctr *perfctr, struct task_struct *task)
{
	/* A later allocation takes longer, because TIF_NOTIFY_RESUME also runs rseq's work. */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		perfctr->spare = vperfctr_spare_create(perfctr, false);
	if (!perfctr->spare)
		vperfctr_return_soon(perfctr, task, PERFCTR_TODO_SPARE);
}

/*
 * member_init() and member_enter() are inline, because a fork must take little time. Functions
 * below call them for invite.c.
 */
static __always_inline void member_init(struct vperfctr *perfctr, const struct vperfctr *like,
					u8 raw, bool apart, int signo)
{
	struct perfctr_config *config = like->tree->config;

	perfctr->config = config;
	perfctr->apart = apart;
	perfctr->clock_on = like->clock_on;
	perfctr->flags = like->flags;
	perfctr->only_cpu = like->only_cpu;
	perfctr->preserve = like->preserve;
	perfctr->raw = raw;
	perfctr->error = like->error;
	perfctr->cpu_state.end = perfctr->cpu_state.ctr + config->nr;
	perfctr->nr_ictrs = like->nr_ictrs;
	perfctr->quick = like->quick;
	perfctr->plain = vperfctr_is_plain(perfctr, raw, like->flags & PERFCTR_CONTROL_CPU);
	vperfctr_bind(perfctr);
	if (perfctr->recorder) {
		perfctr->recorder->ring = like->recorder->ring;
		perfctr->recorder->timer_ns = like->recorder->timer_ns;
		perfctr->recorder->timer = like->recorder->timer;
		perfctr->recorder->due = perfctr->recorder->timer;
	}
	if (perfctr->imode) {
		perfctr->imode->asked = like->imode->asked;
		vperfctr_imode_init(perfctr, signo, like->imode->refresh);
	}
}

static __always_inline void member_enter(struct perfctr_tree *tree, struct vperfctr *perfctr,
					 struct task_struct *task, int hold)
{
	struct descendant *descendant = to_descendant(perfctr);

	lockdep_assert_held(&tree->lock);
	refcount_inc(&tree->refs);
	perfctr->tree = tree;
	perfctr->pid = get_pid(task_pid(task));
	descendant->tgid = get_pid(task_tgid(task));
	descendant->id = ++tree->last_id;
	descendant->seen = tree->gen;
	if (tree->stopped)
		hold |= PERFCTR_HOLD_SUSPENDED;
	if (perfctr->flags & PERFCTR_CONTROL_CPU)
		hold |= PERFCTR_HOLD_ONE_CPU;
	atomic_set(&perfctr->hold, hold);
	perfctr->spare = tree->spare;
	tree->spare = NULL;
	rb_add(&descendant->node, &tree->live, is_older);
	/* The root or the tree is a user of the config, as perfctr_config_add_user() demands. */
	if (!tree->nr_live++)
		perfctr_config_add_user(tree->config);
}

/* The probe of fork calls this, in the parent's context, before the child first runs. */
void vperfctr_inherit(struct vperfctr *parent, struct task_struct *child)
{
	struct perfctr_tree *tree = parent->tree;
	struct vperfctr *perfctr;
	unsigned long flags;
	bool dead;
	int hold;

	if (!tree || child->flags & PERFCTR_PF_NOT_USER)
		return;
	if (!parent->spare)
		need_spare(parent, current);
	perfctr = parent->spare;
	if (!perfctr) {
		raw_spin_lock_irqsave(&tree->lock, flags);
		tree->missed += !tree->dead;
		raw_spin_unlock_irqrestore(&tree->lock, flags);
		return;
	}
	member_init(perfctr, parent, child->mm == current->mm ? parent->raw : 0,
		    perfctr_is_apart(parent, child), parent->imode ? parent->imode->signo : 0);
	hold = atomic_read(&parent->hold) & (PERFCTR_HOLD_ON_EXEC | PERFCTR_HOLD_LOST);
	raw_spin_lock_irqsave(&tree->lock, flags);
	dead = tree->dead;
	if (!dead) {
		parent->spare = NULL;
		member_enter(tree, perfctr, child, hold);
		/* The kernel's counts of a child begin at zero. */
		perfctr->soft_on = !(atomic_read(&perfctr->hold) & ~PERFCTR_HOLD_ONE_CPU);
		vperfctr_adopt(perfctr, child);
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	if (dead)
		return;
	if (perfctr->recorder)
		vperfctr_record_fork(parent, perfctr, child);
	if (!perfctr->spare)
		need_spare(perfctr, child);
	need_spare(parent, current);
}

void vperfctr_member_init(struct vperfctr *perfctr, const struct vperfctr *like, bool apart)
{
	member_init(perfctr, like, 0, apart, 0);
}

void vperfctr_member_enter(struct perfctr_tree *tree, struct vperfctr *perfctr,
			   struct task_struct *task, int hold)
{
	member_enter(tree, perfctr, task, hold);
}

void vperfctr_descendant_name(struct vperfctr *perfctr)
{
	const struct task_struct *owner =
		rcu_dereference_protected(perfctr->owner, lockdep_is_held(&perfctr->lock));
	char *comm = to_descendant(perfctr)->comm;

	/*
	 * We do not take the name's lock, which sleeps on PREEMPT_RT. A half-changed name does no
	 * harm, and its last byte is always zero.
	 */
	data_race(memcpy(comm, owner->comm, TASK_COMM_LEN));
}

/* Ends a descendant. The owner calls this after the state was detached, when the sums are final. */
void vperfctr_descendant_end(struct vperfctr *perfctr)
{
	struct descendant *descendant = to_descendant(perfctr);
	struct perfctr_tree *tree = perfctr->tree;
	u32 nr = perfctr->cpu_state.end - perfctr->cpu_state.ctr;
	struct sums *sums[2] = { &tree->sums, &tree->seen_sums };
	unsigned long flags;
	unsigned int i, k;
	bool last, seen;

	raw_spin_lock_irqsave(&tree->lock, flags);
	seen = tree->gen & 1 && descendant->seen == tree->gen;
	for (k = 0; k < 1 + seen; k++) {
		sums[k]->value[0] += perfctr->cpu_state.clock;
		for (i = 0; i < nr; i++)
			sums[k]->value[1 + i] += perfctr->cpu_state.ctr[i].acc;
		for (i = 0; i < PERFCTR_NR_SOFT; i++)
			sums[k]->soft[i] += perfctr->soft[i];
	}
	tree->seen_ended |= seen;
	if (perfctr->error)
		tree->error = perfctr->error;
	descendant->ended = true;
	tree->ended++;
	last = !--tree->nr_live && !tree->dead;
	rb_erase(&descendant->node, &tree->live);
	if (!tree->spare)
		tree->spare = xchg(&perfctr->spare, NULL);
	if (tree->keep && !tree->dead && tree->nr_kept < READ_ONCE(perfctr_keep)) {
		rb_add(&descendant->node, &tree->kept, is_older);
		tree->nr_kept++;
		refcount_inc(&perfctr->refs);	/* the reference of @kept */
	} else if (tree->keep) {
		tree->not_kept++;
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	/* Only the root can make the next child, and the root is a user of the config itself. */
	if (last)
		perfctr_config_put(tree->config, true);
}

/*
 * Stop and go
 *
 * To stop a member we set its hold, write its at_once, and then interrupt the CPU where the member
 * was last. sched_in() resumes a member at once if the CPU has loaded the id in at_once. Otherwise
 * sched_in() looks at hold. So either sched_in() sees what we wrote, or we interrupt the CPU after
 * sched_in() has resumed the member. The interrupt suspends the member and looks at hold again.
 * This is the proof:
 *  - We write hold and at_once. After a barrier we read the number of the member's CPU.
 *  - If the member comes to another CPU later, the kernel first writes that CPU's number, under
 *    the lock of that CPU's runqueue. The switch there takes this lock, with a barrier, before it
 *    runs sched_in().
 *  - On that CPU the thread before the member may have handed over its counters because of an
 *    at_once that it read before that barrier. So sched_in() reads at_once again.
 *  - resume() writes at_once, and after a barrier looks at hold again. Otherwise resume() might
 *    overwrite what we wrote to at_once.
 */

static void member_hold(struct perfctr_tree *tree, struct vperfctr *perfctr, int why, bool hold)
{
	struct task_struct *owner;

	lockdep_assert_held(&tree->lock);
	raw_spin_lock(&perfctr->lock);
	owner = rcu_dereference_protected(perfctr->owner, true);
	/* The root's state may have got another control, and then the state is not of this tree. */
	if (owner && perfctr->tree == tree) {
		if (hold)
			vperfctr_hold(perfctr, why);
		else
			vperfctr_unhold(perfctr, why);
		smp_mb();	/* pairs with a switch, resume_plainly(), let_take_over() */
		cpumask_set_cpu(task_cpu(owner), tree->cpus);
	}
	raw_spin_unlock(&perfctr->lock);
}

/* If current was a held member, makes its state count again before its next user instruction. */
static int go_current(void *tree)
{
	struct vperfctr *perfctr = vperfctr_current();

	if (perfctr && perfctr->tree == tree &&
	    !(atomic_read(&perfctr->hold) & ~PERFCTR_HOLD_PARTLY))
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_RESUME);
	return 0;
}

/*
 * Sets or clears @why in hold of all present members. All CPUs have seen the change when this
 * function returns.
 */
static void tree_hold(struct perfctr_tree *tree, int why, bool hold)
{
	struct descendant *descendant;
	unsigned int n = 0;
	unsigned long flags;

	lockdep_assert_held(&tree->reading);
	cpumask_clear(tree->cpus);
	raw_spin_lock_irqsave(&tree->lock, flags);
	if (tree->root)
		member_hold(tree, tree->root, why, hold);
	descendant = perfctr_first_after(&tree->live, 0);
	while (descendant) {
		u64 id = descendant->id;

		member_hold(tree, &descendant->state, why, hold);
		if (++n % PERFCTR_STRETCH == 0) {
			raw_spin_unlock_irqrestore(&tree->lock, flags);
			cond_resched();
			raw_spin_lock_irqsave(&tree->lock, flags);
		}
		descendant = perfctr_first_after(&tree->live, id);
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	perfctr_run_on(tree->cpus, hold ? perfctr_run_nothing : go_current, tree);
}

/*
 * Returns true if the tree may be suspended and resumed through @file. An open file stays the
 * holder until it is closed, also after the root's thread has ended.
 */
static bool may_stop(const struct perfctr_tree *tree, const struct file *file)
{
	const struct file *holder = READ_ONCE(tree->holder);

	return !holder || holder == file;
}

void perfctr_tree_set_holder(struct perfctr_tree *tree, struct file *file)
{
	tree->holder = file;
}

void perfctr_tree_release(struct perfctr_tree *tree, struct file *file)
{
	cmpxchg(&tree->holder, file, NULL);
}

int perfctr_tree_stop(struct perfctr_tree *tree, const struct file *file, bool stop)
{
	int err;

	if (!may_stop(tree, file))
		return -EBUSY;
	err = perfctr_broadcasts_allow();
	if (err)
		return err;
	mutex_lock(&tree->reading);
	raw_spin_lock_irq(&tree->lock);
	tree->stopped = stop;
	raw_spin_unlock_irq(&tree->lock);
	tree_hold(tree, PERFCTR_HOLD_SUSPENDED, stop);
	mutex_unlock(&tree->reading);
	return 0;
}

static void put_kept(struct rb_root *kept)
{
	struct descendant *descendant, *next;

	rbtree_postorder_for_each_entry_safe(descendant, next, kept, node) {
		vperfctr_put(&descendant->state);
		cond_resched();
	}
}

/* Makes the tree dead, and puts the root's reference, which the caller has. May sleep. */
void perfctr_tree_end(struct perfctr_tree *tree)
{
	struct rb_root kept;
	bool live;

	if (!tree)
		return;
	mutex_lock(&tree->reading);
	raw_spin_lock_irq(&tree->lock);
	tree->dead = true;
	tree->root = NULL;
	live = tree->nr_live;
	kept = tree->kept;
	tree->kept = RB_ROOT;
	raw_spin_unlock_irq(&tree->lock);
	if (live)
		tree_hold(tree, PERFCTR_HOLD_DEAD, true);
	mutex_unlock(&tree->reading);
	/* No descendant will count any more, so the claim ends, even while descendants sleep. */
	if (live)
		perfctr_config_put_late(tree->config);
	put_kept(&kept);
	perfctr_tree_put(tree);
}

int perfctr_tree_init(void)
{
	descendant_cache = kmem_cache_create("perfctr_descendant",
					     offsetof(struct descendant, state) +
					     vperfctr_size(), 0, SLAB_ACCOUNT, NULL);
	return descendant_cache ? 0 : -ENOMEM;
}

void perfctr_tree_exit(void)
{
	kmem_cache_destroy(descendant_cache);
}
