// SPDX-License-Identifier: GPL-2.0
/*
 * Inheritance: a root, whose control asked for it, and its descendants, flat:
 * each of them is counted in a state of its own and belongs to the root's tree,
 * however many generations lie between. What has ended is added to the tree.
 *
 * A descendant's state must be there when it is made, where nothing may sleep or
 * (on RT) allocate. So each thread of a tree keeps a spare one, and gets the next
 * at once if that is easy, else on its way back to user mode, where what can be
 * had is had.
 *
 * The root's state has one reference of the tree, each descendant another. When
 * the root's state goes, or its control is another, the tree is dead: nobody can
 * read it any more, and each descendant detaches itself as it next runs.
 */

#include <linux/cpumask.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "perfctr.h"

/* Members that are looked at before others get the lock, or an interrupt its turn. */
#define STRETCH		64

static unsigned int perfctr_keep = 65536;
module_param_named(keep, perfctr_keep, uint, 0644);
MODULE_PARM_DESC(keep, "threads of a tree that are kept after their end, for each tree (65536)");

/**
 * struct descendant - a state that was inherited
 * @node: in the tree's @live, or in its @kept; tree's lock
 * @id: rises with the order of birth
 * @seen: the tree's @gen that has counted it, or in which it was born; tree's lock
 * @ended: its sums are final and in the tree's; tree's lock
 * @tgid: its process
 * @comm: its name, once it has no owner; state's lock
 * @state: last, as its array is as long as need be
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
 * @lock: guards all below, but what says otherwise. Inside @reading; around the
 *	lock of a state. Nobody has it for more than STRETCH descendants at a time
 * @reading: whoever goes through @live and lets go of @lock on the way
 * @root: the root's state; NULL once dead
 * @config: what all count, with a reference; constant. While there is a descendant
 *	that lives, and the tree is not dead, the tree is a user of it
 * @stopped: nobody counts (PERFCTR_IOC_SUSPEND)
 * @dead: nobody can read it any more
 * @keep: descendants that have ended go to @kept; constant
 * @cstatus: what is counted; constant
 * @id: see perfctr_read_tree.tree_id; constant
 * @live: descendants that live, by @id
 * @kept: those that have ended and are kept, likewise
 * @cpus: those where descendants were when they were told something; @reading
 * @gen: rises as a read begins, and as it ends: odd while one is in progress
 * @last_id: of the latest descendant
 * @nr_live: descendants that live
 * @nr_kept: those in @kept
 * @ended: those that have ended
 * @missed: those that could not be counted
 * @not_kept: those that have ended, and were to be kept, but were too many
 * @error: of any that has ended
 * @sums: of those that have ended
 * @seen_sums: of those of them that the read in progress had seen alive
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
};

static struct kmem_cache *descendant_cache;

/* Of the latest tree */
static atomic64_t last_tree_id = ATOMIC64_INIT(0);

static struct descendant *to_descendant(struct vperfctr *perfctr)
{
	return container_of(perfctr, struct descendant, state);
}

static void tree_put(struct perfctr_tree *tree)
{
	if (!tree || !refcount_dec_and_test(&tree->refs))
		return;
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

/* The first with an id above that one, or NULL */
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

void perfctr_descendant_free(struct vperfctr *perfctr)
{
	struct descendant *descendant = to_descendant(perfctr);

	tree_put(perfctr->tree);
	put_pid(descendant->tgid);
	kfree(perfctr->imode);
	kmem_cache_free(descendant_cache, descendant);
}

struct vperfctr *perfctr_spare_create(u32 nr_ictrs, bool may_sleep)
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

/* In the probe of fork: for current, or a child that has not run yet. */
static void need_spare(struct vperfctr *perfctr, struct task_struct *task)
{
	/* The way back is the longer one: TIF_NOTIFY_RESUME means rseq's work too. */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		perfctr->spare = perfctr_spare_create(perfctr->config->nr_ictrs, false);
	if (!perfctr->spare)
		perfctr_return_soon(perfctr, task, PERFCTR_TODO_SPARE);
}

/* By the probe of fork, in the parent's context, before the child first runs. */
void perfctr_inherit(struct vperfctr *parent, struct task_struct *child)
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
	perfctr->clock_on = parent->clock_on;
	perfctr->flags = parent->flags;
	perfctr->preserve = parent->preserve;
	perfctr->raw = child->mm == current->mm ? parent->raw : 0;
	perfctr->error = parent->error;
	perfctr->cpu_state.end = perfctr->cpu_state.ctr + tree->config->nr;
	perfctr->nr_ictrs = parent->nr_ictrs;
	perfctr->quick = parent->quick;
	perfctr->plain = perfctr->config->nr && !perfctr->config->nr_ictrs && !perfctr->raw;
	vperfctr_bind(perfctr);
	if (perfctr->imode) {
		perfctr->imode->asked = parent->imode->asked;
		perfctr_imode_init(perfctr, parent->imode->signo, parent->imode->refresh);
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
		/* A child begins with zero of each. */
		perfctr->soft_on = !hold;
		parent->spare = NULL;
		perfctr_adopt(perfctr, child);
		rb_add(&descendant->node, &tree->live, is_older);
		/* It is a user by the parent, which is one by the tree, or as the root. */
		if (!tree->nr_live++)
			perfctr_config_share(tree->config);
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	if (dead)
		return;
	need_spare(perfctr, child);
	need_spare(parent, current);
}

static void sums_add(struct sums *to, const struct sums *from, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < 1 + nr; i++)
		to->value[i] += from->value[i];
	for (i = 0; i < PERFCTR_NR_SOFT; i++)
		to->soft[i] += from->soft[i];
}

void perfctr_descendant_name(struct vperfctr *perfctr)
{
	/* Without its lock, which sleeps on RT: a name in change is a name too. */
	strscpy(to_descendant(perfctr)->comm, current->comm, TASK_COMM_LEN);
}

/* Its sums are final; it is detached. By the owner. */
void perfctr_descendant_end(struct vperfctr *perfctr)
{
	struct descendant *descendant = to_descendant(perfctr);
	struct perfctr_tree *tree = perfctr->tree;
	u32 nr = perfctr->cpu_state.end - perfctr->cpu_state.ctr;
	struct sums *sums[2] = { &tree->sums, &tree->seen_sums };
	unsigned long flags;
	unsigned int i, k;
	bool last;

	raw_spin_lock_irqsave(&tree->lock, flags);
	for (k = 0; k < (tree->gen & 1 && descendant->seen == tree->gen ? 2 : 1); k++) {
		sums[k]->value[0] += perfctr->cpu_state.clock;
		for (i = 0; i < nr; i++)
			sums[k]->value[1 + i] += perfctr->cpu_state.ctr[i].acc;
		for (i = 0; i < PERFCTR_NR_SOFT; i++)
			sums[k]->soft[i] += perfctr->soft[i];
	}
	if (perfctr->error)
		tree->error = perfctr->error;
	descendant->ended = true;
	tree->ended++;
	last = !--tree->nr_live && !tree->dead;
	rb_erase(&descendant->node, &tree->live);
	if (tree->keep && !tree->dead && tree->nr_kept < READ_ONCE(perfctr_keep)) {
		rb_add(&descendant->node, &tree->kept, is_older);
		tree->nr_kept++;
		refcount_inc(&perfctr->refs);	/* @kept's */
	} else if (tree->keep) {
		tree->not_kept++;
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	/* The next one that is made is one by its parent. */
	if (last)
		perfctr_config_put(tree->config, true);
}

/*
 * Stop and go
 *
 * Who wants a member not to count says so in its hold, and then interrupts the CPU where
 * it was last. The member, as it is switched in, resumes at once where at_once is its
 * CPU's config, or looks at hold. Either it sees what was written, or its CPU is
 * interrupted after it resumed, and it is suspended and looks again:
 *  - we write hold and at_once, then, after a barrier, read its CPU;
 *  - if it comes to another CPU after that, its CPU was written before, under the lock
 *    of that one's runqueue, which the switch there takes, with a barrier, before it
 *    runs sched_in();
 *  - the thread before it there may have handed the counters over to it, for an at_once
 *    that it read before that barrier: sched_in() reads it again;
 *  - resume() writes at_once, then, after a barrier, looks at hold again, lest it undo
 *    what we wrote to at_once.
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

static int nothing(void *unused)
{
	return 0;
}

/* Who stood still may count again, from its next user instruction on at the latest. */
static int go_current(void *tree)
{
	struct vperfctr *perfctr = perfctr_current();

	if (perfctr && perfctr->tree == tree &&
	    !(atomic_read(&perfctr->hold) & ~PERFCTR_HOLD_COUNTERS))
		perfctr_return_soon(perfctr, current, PERFCTR_TODO_RESUME);
	return 0;
}

/* Of all that were there when it began: it is in force on every CPU when this returns. */
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
	perfctr_run_on(tree->cpus, hold ? nothing : go_current, tree);
}

/* May whoever has that file suspend and resume the tree? */
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

/* By whoever has the root's reference, which it was. Sleeps. */
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
	/* No descendant counts any more, nor ever will. Those that sleep keep nothing. */
	if (live)
		perfctr_config_put(tree->config, false);
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

static int sample_state(struct vperfctr *perfctr, struct sums *sums, unsigned int *nr, bool soft)
{
	struct perfctr_sample sample = { .value = sums->value };
	int err = vperfctr_sample(perfctr, &sample);

	if (err)
		return err;
	*nr = PERFCTR_CSTATUS_NRCTRS(sample.cstatus);
	if (soft)
		vperfctr_soft_read(perfctr, sums->soft);
	else
		memset(sums->soft, 0, sizeof(sums->soft));
	return 0;
}

/* The tree whose root that state is, with a reference; NULL if there is none. */
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

static void add_member(struct perfctr_tree *tree, struct descendant *descendant,
		       const struct sums *sums, unsigned int nr,
		       struct perfctr_read_tree *read, struct sums *total)
{
	lockdep_assert_held(&tree->lock);
	descendant->seen = tree->gen;
	sums_add(total, sums, nr);
	if (READ_ONCE(descendant->state.error))
		read->error = descendant->state.error;
}

/*
 * Adds those from @descendant on that are suspended, and need not be asked on their CPUs.
 * Returns the first that is not, or that comes after a stretch of them, or NULL.
 */
static struct descendant *add_suspended(struct perfctr_tree *tree, struct descendant *descendant,
					struct perfctr_read_tree *read, struct sums *total)
{
	bool soft = wants_soft(read);
	struct perfctr_sample sample;
	struct sums sums;
	unsigned int n;

	lockdep_assert_held(&tree->lock);
	memset(sums.soft, 0, sizeof(sums.soft));
	for (n = 0; n < STRETCH && descendant && descendant->seen != tree->gen; n++) {
		sample.value = sums.value;
		if (!vperfctr_sums(&descendant->state, &sample))
			break;
		if (soft)
			vperfctr_soft_read(&descendant->state, sums.soft);
		add_member(tree, descendant, &sums, PERFCTR_CSTATUS_NRCTRS(sample.cstatus),
			   read, total);
		descendant = rb_entry_safe(rb_next(&descendant->node), struct descendant, node);
	}
	return descendant && descendant->seen != tree->gen ? descendant : NULL;
}

/*
 * Each descendant is either seen alive here, or is in tree->sums and not in
 * tree->seen_sums. Whoever is born meanwhile counts as seen.
 */
static noinline_for_stack int tree_sum(struct perfctr_tree *tree, struct perfctr_read_tree *read,
				       struct sums *total)
{
	struct descendant *descendant = NULL;
	struct sums sums;
	unsigned int nr;
	int i, err = 0;
	u64 id = 0;

	lockdep_assert_held(&tree->reading);
	raw_spin_lock_irq(&tree->lock);
	tree->gen++;
	memset(&tree->seen_sums, 0, sizeof(tree->seen_sums));
	if (read->which & PERFCTR_TREE_LIVE)
		descendant = first_after(&tree->live, id);
	for (;;) {
		descendant = add_suspended(tree, descendant, read, total);
		if (!descendant)
			break;
		/* It runs, or so many were added that others are to have the lock. */
		id = descendant->id;
		refcount_inc(&descendant->state.refs);
		raw_spin_unlock_irq(&tree->lock);
		err = sample_state(&descendant->state, &sums, &nr, wants_soft(read));
		raw_spin_lock_irq(&tree->lock);
		/* What has ended meanwhile is in the tree's sums. */
		if (!err && !descendant->ended)
			add_member(tree, descendant, &sums, nr, read, total);
		raw_spin_unlock_irq(&tree->lock);
		vperfctr_put(&descendant->state);
		cond_resched();
		raw_spin_lock_irq(&tree->lock);
		if (err)
			break;
		descendant = first_after(&tree->live, id);
	}
	tree->gen++;
	read->live = tree->nr_live;
	read->ended = tree->ended;
	read->missed = tree->missed;
	read->not_kept = tree->not_kept;
	if (tree->error)
		read->error = tree->error;
	if (tree->missed)
		read->error = PERFCTR_ERROR_MEMORY;
	if (read->which & PERFCTR_TREE_ENDED) {
		sums_add(total, &tree->sums, read->nrctrs);
		for (i = 0; i < 1 + read->nrctrs; i++)
			total->value[i] -= tree->seen_sums.value[i];
		for (i = 0; i < PERFCTR_NR_SOFT; i++)
			total->soft[i] -= tree->seen_sums.soft[i];
	}
	raw_spin_unlock_irq(&tree->lock);
	return err;
}

#define TREE_ALL		(PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)

int perfctr_read_tree_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_read_tree read = {};
	struct sums total = {};
	struct perfctr_tree *tree;
	unsigned int nr;
	u32 size;
	int err;

	err = perfctr_get_size(arg, PERFCTR_READ_TREE_SIZE_VER0, &size);
	if (err)
		return err;
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
		err = sample_state(perfctr, &total, &nr, wants_soft(&read));
		read.error = READ_ONCE(perfctr->error);
	}
	if (!err)
		err = tree_sum(tree, &read, &total);
	/* The root's may be of another control by now. */
	if (!err && READ_ONCE(perfctr->tree) != tree)
		err = -ENOENT;
	mutex_unlock(&tree->reading);
	tree_put(tree);
	if (err)
		return err;

	memcpy(read.sum, &total.value[1], read.nrctrs * sizeof(read.sum[0]));
	if (read.cstatus & PERFCTR_CSTATUS_CLOCK)
		read.clock = total.value[0];
	memcpy(&read.soft, total.soft, sizeof(total.soft));
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

/* As it ended, or now. */
static void descendant_name(struct descendant *descendant, char *comm)
{
	struct vperfctr *perfctr = &descendant->state;
	struct task_struct *owner;

	raw_spin_lock_irq(&perfctr->lock);
	owner = rcu_dereference_protected(perfctr->owner, lockdep_is_held(&perfctr->lock));
	strscpy(comm, owner ? owner->comm : descendant->comm, TASK_COMM_LEN);
	raw_spin_unlock_irq(&perfctr->lock);
}

int perfctr_next_member_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_member member = {};
	struct descendant *descendant;
	struct perfctr_tree *tree;
	struct sums sums = {};
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
	err = sample_state(&descendant->state, &sums, &member.nrctrs, true);
	member.size = size;
	member.cursor = descendant->id;
	member.tid = vperfctr_tid(&descendant->state);
	member.tgid = pid_vnr(descendant->tgid);
	member.error = READ_ONCE(descendant->state.error);
	vperfctr_put(&descendant->state);
	if (err)
		return err;

	memcpy(member.sum, &sums.value[1], member.nrctrs * sizeof(member.sum[0]));
	if (cstatus & PERFCTR_CSTATUS_CLOCK)
		member.clock = sums.value[0];
	memcpy(&member.soft, sums.soft, sizeof(sums.soft));
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
