// SPDX-License-Identifier: GPL-2.0
/*
 * Inheritance: a root, whose control asked for it, and its descendants. The tree is flat:
 * each descendant is counted in a state of its own and belongs to the root's tree,
 * however many generations lie between. When a descendant ends its sums are added to the
 * tree's.
 *
 * A fork needs a state for the child where nothing may sleep or (on RT) allocate. So each
 * thread of a tree keeps a spare state. After using it, it allocates the next one at once if
 * that is possible without sleeping, else on its way back to user mode. Most threads end
 * without a child: their tree keeps one of their spares for the next child.
 *
 * The root's state has one reference to the tree, and each descendant another. When
 * the root's state is freed, or gets another control, the tree is dead: nobody can
 * read it any more, and each descendant detaches itself when it next runs.
 */

#include <linux/cpumask.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "perfctr.h"

/* How many members are visited before the lock is dropped, for others and for interrupts */
#define STRETCH		64

static unsigned int perfctr_keep = 65536;
module_param_named(keep, perfctr_keep, uint, 0644);
MODULE_PARM_DESC(keep, "threads of a tree that are kept after their end, for each tree (65536)");

/**
 * struct descendant - a state that was inherited
 * @node: in the tree's @live, or in its @kept; tree's lock
 * @id: rises in the order of birth
 * @seen: @gen of the tree when a read counted it, or when it was born; tree's lock
 * @ended: its sums are final, and added to the tree's; tree's lock
 * @tgid: its process
 * @comm: its name, once it has no owner; state's lock
 * @state: last, as its array is of variable length
 */
struct descendant {
	struct rb_node node;
	u64 id;
	u32 seen;
	bool ended;
	struct pid *tgid;
	char comm[TASK_COMM_LEN];
	struct vperfctr state;
};

struct sums {
	u64 value[1 + PERFCTR_MAX_HW];	/* as in struct perfctr_sample */
	u64 soft[PERFCTR_NR_SOFT];
};

/**
 * struct perfctr_tree - the descendants of a root
 * @refs: the root's, and one for each descendant's state
 * @lock: guards all members below, unless they say otherwise. Inside @reading; around the
 *	lock of a state. Nobody holds it for more than STRETCH descendants at a time
 * @reading: held while going through @live and dropping @lock on the way
 * @root: the root's state; NULL once dead
 * @config: the config of all members, with a reference; constant. While there is a live
 *	descendant, and the tree is not dead, the tree is a user of it
 * @stopped: nobody counts (PERFCTR_IOC_SUSPEND)
 * @dead: nobody can read it any more
 * @keep: descendants that end go to @kept; constant
 * @cstatus: what is counted; constant
 * @id: see perfctr_read_tree.tree_id; constant
 * @live: live descendants, by @id
 * @kept: descendants that have ended and are kept, by @id
 * @spare: a spare that a descendant has left, or NULL
 * @cpus: the CPUs where members last were when their hold was changed; @reading
 * @gen: rises when a read begins, and when it ends: odd while one is in progress
 * @last_id: @id of the latest descendant
 * @nr_live: number of live descendants
 * @nr_kept: number of those in @kept
 * @ended: number of descendants that have ended
 * @missed: number of those that could not be counted
 * @not_kept: number of those that ended and were too many to be kept
 * @error: of any descendant that has ended
 * @sums: of all descendants that have ended
 * @seen_sums: the part of @sums of those that the read in progress has seen alive
 * @seen_ended: there are such; @seen_sums is zero if not
 */
struct perfctr_tree {
	refcount_t refs;
	raw_spinlock_t lock;	/* see above */
	struct mutex reading;	/* see above */
	struct vperfctr *root;
	struct perfctr_config *config;
	bool stopped;
	bool dead;
	bool keep;
	u32 cstatus;
	u64 id;
	struct rb_root live;
	struct rb_root kept;
	struct vperfctr *spare;
	cpumask_var_t cpus;
	u32 gen;
	u32 error;
	u64 last_id;
	u64 nr_live;
	u64 nr_kept;
	u64 ended;
	u64 missed;
	u64 not_kept;
	struct sums sums;
	struct sums seen_sums;
	bool seen_ended;
};

static struct kmem_cache *descendant_cache;

/* @id of the latest tree */
static atomic64_t last_tree_id = ATOMIC64_INIT(0);

static struct descendant *to_descendant(struct vperfctr *perfctr)
{
	return container_of(perfctr, struct descendant, state);
}

static void tree_put(struct perfctr_tree *tree)
{
	if (!tree || !refcount_dec_and_test(&tree->refs))
		return;
	if (tree->spare)
		vperfctr_put(tree->spare);
	perfctr_config_unref(tree->config);
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

/* The first descendant whose id is above @id, or NULL */
static struct descendant *first_after(const struct rb_root *members, u64 id)
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

	tree_put(perfctr->tree);
	put_pid(descendant->tgid);
	kfree(perfctr->imode);
	vperfctr_free_memory(perfctr, free_memory);
}

struct vperfctr *vperfctr_spare_create(u32 nr_ictrs, bool may_sleep)
{
	gfp_t gfp = may_sleep ? GFP_KERNEL : GFP_NOWAIT | __GFP_NOWARN;
	struct descendant *descendant = kmem_cache_zalloc(descendant_cache, gfp);

	if (!descendant)
		return NULL;
	vperfctr_setup(&descendant->state);
	descendant->state.inherited = true;
	if (nr_ictrs) {
		descendant->state.imode = perfctr_imode_create(nr_ictrs, gfp | __GFP_ACCOUNT);
		if (!descendant->state.imode) {
			vperfctr_put(&descendant->state);
			return NULL;
		}
	}
	return &descendant->state;
}

/*
 * Birth and end
 */

/* In the probe of fork: gives current, or a child that has not run yet, a spare state. */
static void need_spare(struct vperfctr *perfctr, struct task_struct *task)
{
	/* The way back takes longer: TIF_NOTIFY_RESUME also runs rseq's work. */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		perfctr->spare = vperfctr_spare_create(perfctr->config->nr_ictrs, false);
	if (!perfctr->spare)
		vperfctr_return_soon(perfctr, task, PERFCTR_TODO_SPARE);
}

/* By the probe of fork, in the parent's context, before the child first runs. */
void vperfctr_inherit(struct vperfctr *parent, struct task_struct *child)
{
	struct perfctr_tree *tree = parent->tree;
	struct descendant *descendant;
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
	descendant = to_descendant(perfctr);

	perfctr->config = tree->config;
	perfctr->apart = perfctr_is_apart(parent, child);
	perfctr->clock_on = parent->clock_on;
	perfctr->flags = parent->flags;
	perfctr->preserve = parent->preserve;
	perfctr->raw = child->mm == current->mm ? parent->raw : 0;
	perfctr->error = parent->error;
	perfctr->cpu_state.end = perfctr->cpu_state.ctr + tree->config->nr;
	perfctr->nr_ictrs = parent->nr_ictrs;
	perfctr->quick = parent->quick;
	perfctr->plain = perfctr->config->nr && !perfctr->config->nr_ictrs && !perfctr->raw &&
			 !perfctr_config_has_own_way(perfctr->config);
	vperfctr_bind(perfctr);
	if (perfctr->imode) {
		perfctr->imode->asked = parent->imode->asked;
		vperfctr_imode_init(perfctr, parent->imode->signo, parent->imode->refresh);
	}
	hold = atomic_read(&parent->hold) & (PERFCTR_HOLD_ON_EXEC | PERFCTR_HOLD_LOST);
	raw_spin_lock_irqsave(&tree->lock, flags);
	dead = tree->dead;
	if (!dead) {
		refcount_inc(&tree->refs);
		perfctr->tree = tree;
		perfctr->pid = get_pid(task_pid(child));
		descendant->tgid = get_pid(task_tgid(child));
		descendant->id = ++tree->last_id;
		descendant->seen = tree->gen;
		if (tree->stopped)
			hold |= PERFCTR_HOLD_SUSPENDED;
		atomic_set(&perfctr->hold, hold);
		/* The kernel's counts of a child begin at zero. */
		perfctr->soft_on = !hold;
		parent->spare = NULL;
		perfctr->spare = tree->spare;
		tree->spare = NULL;
		vperfctr_adopt(perfctr, child);
		rb_add(&descendant->node, &tree->live, is_older);
		/* The parent is a user, as the root or by the tree: so the tree may share it. */
		if (!tree->nr_live++)
			perfctr_config_share(tree->config);
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	if (dead)
		return;
	if (!perfctr->spare)
		need_spare(perfctr, child);
	need_spare(parent, current);
}

void vperfctr_descendant_name(struct vperfctr *perfctr)
{
	char *comm = to_descendant(perfctr)->comm;

	/*
	 * Without the name's lock, which sleeps on RT: a half-changed name does no harm. The last
	 * byte is always zero.
	 */
	data_race(memcpy(comm, current->comm, TASK_COMM_LEN));
}

/* By the owner, after it was detached: its sums are final. */
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
		swap(tree->spare, perfctr->spare);
	if (tree->keep && !tree->dead && tree->nr_kept < READ_ONCE(perfctr_keep)) {
		rb_add(&descendant->node, &tree->kept, is_older);
		tree->nr_kept++;
		refcount_inc(&perfctr->refs);	/* @kept's */
	} else if (tree->keep) {
		tree->not_kept++;
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	/* The next child's config is kept by its parent, which is a user of it. */
	if (last)
		perfctr_config_put(tree->config, true);
}

/*
 * Stop and go
 *
 * To stop a member we set its hold, write its at_once, and then interrupt the CPU where it
 * was last. When the member is switched in, it resumes at once if its CPU holds the id in
 * at_once, else it looks at hold. So either it sees what we wrote, or its CPU is interrupted
 * after it resumed, which suspends it, and it looks again:
 *  - we write hold and at_once, then, after a barrier, read the number of its CPU;
 *  - if it comes to another CPU after that, the kernel has written that number before,
 *    under the lock of that CPU's runqueue. The switch there takes this lock, with a
 *    barrier, before it runs sched_in();
 *  - the thread that ran there before may have handed over its counters, by an at_once that
 *    it read before that barrier: so sched_in() reads at_once again;
 *  - resume() writes at_once, then, after a barrier, looks at hold again: otherwise it might
 *    overwrite what we wrote to at_once.
 */

static void member_hold(struct perfctr_tree *tree, struct vperfctr *perfctr, int why, bool hold)
{
	struct task_struct *owner;

	lockdep_assert_held(&tree->lock);
	raw_spin_lock(&perfctr->lock);
	owner = rcu_dereference_protected(perfctr->owner, true);
	/* The root may have another control by now. */
	if (owner && perfctr->tree == tree) {
		if (hold)
			vperfctr_hold(perfctr, why);
		else
			vperfctr_unhold(perfctr, why);
		smp_mb();	/* pairs with the switch's, resume_plainly(), let_take_over() */
		cpumask_set_cpu(task_cpu(owner), tree->cpus);
	}
	raw_spin_unlock(&perfctr->lock);
}

/* Lets a member that was held count again, before its next user instruction. */
static int go_current(void *tree)
{
	struct vperfctr *perfctr = vperfctr_current();

	if (perfctr && perfctr->tree == tree &&
	    !(atomic_read(&perfctr->hold) & ~PERFCTR_HOLD_COUNTERS))
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_RESUME);
	return 0;
}

/* For all members that exist as it begins. In force on every CPU when this returns. */
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
	descendant = first_after(&tree->live, 0);
	while (descendant) {
		u64 id = descendant->id;

		member_hold(tree, &descendant->state, why, hold);
		if (++n % STRETCH == 0) {
			raw_spin_unlock_irqrestore(&tree->lock, flags);
			cond_resched();
			raw_spin_lock_irqsave(&tree->lock, flags);
		}
		descendant = first_after(&tree->live, id);
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	perfctr_run_on(tree->cpus, hold ? perfctr_run_nothing : go_current, tree);
}

/* May the tree be suspended and resumed through that file? */
static bool may_stop(struct perfctr_tree *tree, const struct file *file)
{
	const struct file *holder = NULL;

	raw_spin_lock_irq(&tree->lock);
	if (tree->root && READ_ONCE(tree->root->flags) & PERFCTR_CONTROL_HOLDER_ONLY)
		holder = READ_ONCE(tree->root->holder);
	raw_spin_unlock_irq(&tree->lock);
	return !holder || holder == file;
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

/* Puts the root's reference, which is the caller's. Sleeps. */
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
	/* No descendant will count any more, so even sleeping ones keep no claim. */
	if (live)
		perfctr_config_put_late(tree->config);
	put_kept(&kept);
	tree_put(tree);
}

/*
 * Reading
 */

/* What the kernel counts is not summed up for those who do not look. */
static bool wants_soft(const struct perfctr_read_tree *read)
{
	return read->size > offsetof(struct perfctr_read_tree, soft);
}

static_assert(offsetof(struct perfctr_read_tree, sum) ==
	      offsetof(struct perfctr_read_tree, clock) + sizeof(u64));
static_assert(offsetof(struct perfctr_member, sum) ==
	      offsetof(struct perfctr_member, clock) + sizeof(u64));
static_assert(PERFCTR_MAX_CTRS >= PERFCTR_MAX_HW);

/* @nr: number of counters of *sums */
static __always_inline void sums_add(struct perfctr_read_tree *read, const struct sums *sums,
				     unsigned int nr, bool soft)
{
	u64 *value = &read->clock, *kernels = &read->soft.switches;
	unsigned int i;

	for (i = 0; i < 1 + nr; i++)
		value[i] += sums->value[i];
	for (i = 0; soft && i < PERFCTR_NR_SOFT; i++)
		kernels[i] += sums->soft[i];
}

/* The tree of which that state is the root, with a reference, or NULL */
static struct perfctr_tree *tree_of_root(struct vperfctr *perfctr)
{
	struct perfctr_tree *tree;

	raw_spin_lock_irq(&perfctr->lock);
	tree = perfctr->inherited ? NULL : perfctr->tree;
	if (tree)
		refcount_inc(&tree->refs);
	raw_spin_unlock_irq(&perfctr->lock);
	return tree;
}

static __always_inline void add_member(struct perfctr_tree *tree, struct descendant *descendant,
				       const struct sums *sums, u32 cstatus, bool soft,
				       struct perfctr_read_tree *read)
{
	lockdep_assert_held(&tree->lock);
	descendant->seen = tree->gen;
	sums_add(read, sums, PERFCTR_CSTATUS_NRCTRS(cstatus), soft);
	if (READ_ONCE(descendant->state.error))
		read->error = descendant->state.error;
}

/*
 * Adds those from @descendant on that are suspended, and need not be asked on their CPUs.
 * Returns the first that is not, or that comes after a stretch of them, or NULL.
 */
static struct descendant *add_suspended(struct perfctr_tree *tree, struct descendant *descendant,
					struct perfctr_read_tree *read)
{
	struct sums sums __uninitialized;
	struct perfctr_sample sample = { .value = sums.value };
	bool soft = wants_soft(read);
	unsigned int n;

	lockdep_assert_held(&tree->lock);
	for (n = 0; n < STRETCH && descendant && descendant->seen != tree->gen; n++) {
		if (!vperfctr_sums(&descendant->state, &sample))
			break;
		if (soft)
			vperfctr_soft_read(&descendant->state, sums.soft);
		add_member(tree, descendant, &sums, sample.cstatus, soft, read);
		descendant = rb_entry_safe(rb_next(&descendant->node), struct descendant, node);
	}
	return descendant && descendant->seen != tree->gen ? descendant : NULL;
}

/*
 * Adds all descendants that live, with the lock, which it drops on the way. Each of them is
 * either seen alive here, or it is in tree->sums and not in tree->seen_sums. One that is born
 * meanwhile counts as seen.
 */
static noinline_for_stack int add_live(struct perfctr_tree *tree, struct perfctr_read_tree *read)
	__must_hold(&tree->lock)
{
	struct sums sums __uninitialized;
	struct perfctr_sample sample = { .value = sums.value };
	struct descendant *descendant;
	bool soft = wants_soft(read);
	int err = 0;
	u64 id = 0;

	lockdep_assert_held(&tree->reading);
	lockdep_assert_held(&tree->lock);
	while (!err) {
		descendant = add_suspended(tree, first_after(&tree->live, id), read);
		if (!descendant)
			break;
		/* It runs, or so many were added that others are to have the lock. */
		id = descendant->id;
		refcount_inc(&descendant->state.refs);
		raw_spin_unlock_irq(&tree->lock);
		err = vperfctr_sample(&descendant->state, &sample);
		if (!err && soft)
			vperfctr_soft_read(&descendant->state, sums.soft);
		raw_spin_lock_irq(&tree->lock);
		/* If it has ended meanwhile it is in the tree's sums. */
		if (!err && !descendant->ended)
			add_member(tree, descendant, &sums, sample.cstatus, soft, read);
		raw_spin_unlock_irq(&tree->lock);
		vperfctr_put(&descendant->state);
		cond_resched();
		raw_spin_lock_irq(&tree->lock);
	}
	return err;
}

/* Without the part of @seen_sums: see add_live() */
static void add_ended(struct perfctr_tree *tree, struct perfctr_read_tree *read)
{
	struct sums sums __uninitialized;
	unsigned int i;

	for (i = 0; i < 1 + read->nrctrs; i++)
		sums.value[i] = tree->sums.value[i] - tree->seen_sums.value[i];
	for (i = 0; i < PERFCTR_NR_SOFT; i++)
		sums.soft[i] = tree->sums.soft[i] - tree->seen_sums.soft[i];
	sums_add(read, &sums, read->nrctrs, wants_soft(read));
}

/* Adds the descendants. */
static int tree_sum(struct perfctr_tree *tree, struct perfctr_read_tree *read)
{
	int err = 0;

	lockdep_assert_held(&tree->reading);
	raw_spin_lock_irq(&tree->lock);
	tree->gen++;
	if (read->which & PERFCTR_TREE_LIVE && tree->nr_live)
		err = add_live(tree, read);
	tree->gen++;
	read->live = tree->nr_live;
	read->ended = tree->ended;
	read->missed = tree->missed;
	read->not_kept = tree->not_kept;
	if (tree->error)
		read->error = tree->error;
	if (tree->missed)
		read->error = PERFCTR_ERROR_MEMORY;
	if (read->which & PERFCTR_TREE_ENDED && tree->ended)
		add_ended(tree, read);
	if (tree->seen_ended) {
		memset(&tree->seen_sums, 0, sizeof(tree->seen_sums));
		tree->seen_ended = false;
	}
	raw_spin_unlock_irq(&tree->lock);
	return err;
}

#define TREE_ALL		(PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)

int vperfctr_read_tree_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_read_tree read __uninitialized;
	/* The clock, and the sums behind it */
	struct perfctr_sample sample = { .value = &read.clock };
	struct perfctr_tree *tree;
	u32 size;
	int err;

	err = perfctr_get_size(arg, PERFCTR_READ_TREE_SIZE_VER0, &size);
	if (err)
		return err;
	/* The caller gets no more than that. */
	memset(&read, 0, min_t(size_t, size, sizeof(read)));
	if (get_user(read.which, &((struct perfctr_read_tree __user *)arg)->which))
		return -EFAULT;
	if (!read.which || read.which & ~TREE_ALL)
		return -EINVAL;
	tree = tree_of_root(perfctr);
	if (!tree)
		return -ENOENT;

	read.size = size;
	read.cstatus = tree->cstatus;
	read.tree_id = tree->id;
	read.nrctrs = PERFCTR_CSTATUS_NRCTRS(tree->cstatus);
	mutex_lock(&tree->reading);
	if (read.which & PERFCTR_TREE_ROOT) {
		err = vperfctr_sample(perfctr, &sample);
		if (!err && wants_soft(&read))
			vperfctr_soft_read(perfctr, &read.soft.switches);
		read.error = READ_ONCE(perfctr->error);
	}
	if (!err)
		err = tree_sum(tree, &read);
	/* The root's sums may be of another control by now. */
	if (!err && READ_ONCE(perfctr->tree) != tree)
		err = -ENOENT;
	mutex_unlock(&tree->reading);
	tree_put(tree);
	if (err)
		return err;

	if (!(read.cstatus & PERFCTR_CSTATUS_CLOCK))
		read.clock = 0;
	if (wants_soft(&read))
		read.soft.task_clock = vperfctr_task_clock(read.clock);
	err = perfctr_put_struct(arg, size, &read, sizeof(read));
	if (err)
		return err;
	return read.error ? -EIO : 0;
}

static struct descendant *next_descendant(struct perfctr_tree *tree, u64 id)
{
	struct descendant *live = first_after(&tree->live, id);
	struct descendant *kept = first_after(&tree->kept, id);

	return !kept || (live && live->id < kept->id) ? live : kept;
}

/* Its name when it ended, or now */
static void descendant_name(struct descendant *descendant, char *comm)
{
	struct vperfctr *perfctr = &descendant->state;
	struct task_struct *owner;

	raw_spin_lock_irq(&perfctr->lock);
	owner = rcu_dereference_protected(perfctr->owner, lockdep_is_held(&perfctr->lock));
	strscpy(comm, owner ? owner->comm : descendant->comm, TASK_COMM_LEN);
	raw_spin_unlock_irq(&perfctr->lock);
}

int vperfctr_next_member_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_member member = {};
	struct descendant *descendant;
	struct perfctr_tree *tree;
	/* The clock, and the sums behind it */
	struct perfctr_sample sample = { .value = &member.clock };
	u32 size, cstatus;
	int err;

	err = perfctr_get_size(arg, PERFCTR_MEMBER_SIZE_VER0, &size);
	if (err)
		return err;
	if (copy_from_user(&member.cursor, &((struct perfctr_member __user *)arg)->cursor,
			   sizeof(member.cursor)))
		return -EFAULT;
	tree = tree_of_root(perfctr);
	if (!tree)
		return -ENOENT;

	raw_spin_lock_irq(&tree->lock);
	descendant = next_descendant(tree, member.cursor);
	if (descendant) {
		refcount_inc(&descendant->state.refs);
		if (!descendant->ended)
			member.flags |= PERFCTR_MEMBER_LIVE;
	}
	raw_spin_unlock_irq(&tree->lock);
	cstatus = tree->cstatus;
	tree_put(tree);
	if (!descendant)
		return -ENOENT;

	descendant_name(descendant, member.comm);
	err = vperfctr_sample(&descendant->state, &sample);
	vperfctr_soft_read(&descendant->state, &member.soft.switches);
	member.size = size;
	member.cursor = descendant->id;
	member.tid = vperfctr_tid(&descendant->state);
	member.tgid = pid_vnr(descendant->tgid);
	member.error = READ_ONCE(descendant->state.error);
	vperfctr_put(&descendant->state);
	if (err)
		return err;

	member.nrctrs = PERFCTR_CSTATUS_NRCTRS(sample.cstatus);
	if (!(cstatus & PERFCTR_CSTATUS_CLOCK))
		member.clock = 0;
	member.soft.task_clock = vperfctr_task_clock(member.clock);
	return perfctr_put_struct(arg, size, &member, sizeof(member));
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
