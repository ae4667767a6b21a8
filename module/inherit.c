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

#include <linux/cpu.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "perfctr.h"

/**
 * struct descendant - a state that was inherited
 * @node: in the tree's list while it lives, and with KEEP to the tree's end;
 *	tree's lock
 * @id: rises with the order of birth
 * @seen: the tree's @gen that has counted it, or in which it was born; tree's lock
 * @ended: its sums are final and in the tree's; tree's lock
 * @tgid: its process
 * @comm: its name, once it has ended
 * @state: last, as its array is as long as need be
 */
struct descendant {
	struct list_head node;
	u64 id;
	u32 seen;
	bool ended;
	struct pid *tgid;
	char comm[TASK_COMM_LEN];
	struct vperfctr state;
};

struct sums {
	u64 value[1 + PERFCTR_MAX_CTRS];	/* as in struct perfctr_sample */
	u64 soft[PERFCTR_NR_SOFT];
};

/**
 * struct perfctr_tree - the descendants of a root
 * @refs: the root's, and one for each descendant's state
 * @lock: guards all below, but what says otherwise. Inside @reading; around the
 *	lock of a state
 * @reading: whoever walks @list and lets go of @lock on the way
 * @root: the root's state; NULL once dead
 * @stopped: nobody counts (PERFCTR_IOC_SUSPEND); written under both, read by owners
 * @dead: likewise
 * @keep: descendants that have ended stay in @list; constant
 * @cstatus: what is counted; constant
 * @list: of descendants, in order of birth
 * @cursor: between those that a reader has seen and those that it has not
 * @gen: rises as a read begins, and as it ends: odd while one is in progress
 * @last_id: of the latest descendant
 * @live: descendants that live
 * @ended: those that have ended
 * @missed: those that could not be counted
 * @error: of any that has ended
 * @sums: of those that have ended
 * @seen_sums: of those of them that the read in progress had seen alive
 */
struct perfctr_tree {
	refcount_t refs;
	raw_spinlock_t lock;	/* see above */
	struct mutex reading;	/* see above */
	struct vperfctr *root;
	bool stopped;
	bool dead;
	bool keep;
	u32 cstatus;
	struct list_head list;
	struct list_head cursor;
	u32 gen;
	u64 last_id;
	u64 live;
	u64 ended;
	u64 missed;
	u32 error;
	struct sums sums;
	struct sums seen_sums;
};

static struct kmem_cache *descendant_cache;

static struct descendant *to_descendant(struct vperfctr *perfctr)
{
	return container_of(perfctr, struct descendant, state);
}

static void tree_put(struct perfctr_tree *tree)
{
	if (tree && refcount_dec_and_test(&tree->refs))
		kfree(tree);
}

struct perfctr_tree *perfctr_tree_create(struct vperfctr *root, bool keep, u32 cstatus)
{
	struct perfctr_tree *tree = kzalloc(sizeof(*tree), GFP_KERNEL_ACCOUNT);

	if (!tree)
		return NULL;
	refcount_set(&tree->refs, 1);
	raw_spin_lock_init(&tree->lock);
	mutex_init(&tree->reading);
	INIT_LIST_HEAD(&tree->list);
	tree->root = root;
	tree->keep = keep;
	tree->cstatus = cstatus;
	return tree;
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
			perfctr_descendant_free(&descendant->state);
			return NULL;
		}
	}
	return &descendant->state;
}

/* By vperfctr_free(), or of a spare. */
void perfctr_descendant_free(struct vperfctr *perfctr)
{
	struct descendant *descendant = to_descendant(perfctr);

	tree_put(perfctr->tree);
	put_pid(descendant->tgid);
	kfree(perfctr->imode);
	kmem_cache_free(descendant_cache, descendant);
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
		perfctr_return_soon(perfctr, task);
}

/* By the probe of fork, in the parent's context, before the child first runs. */
void perfctr_inherit(struct vperfctr *parent, struct task_struct *child)
{
	struct perfctr_tree *tree = parent->tree;
	struct descendant *descendant;
	struct vperfctr *perfctr;
	unsigned long flags;
	bool dead;

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

	perfctr->config = parent->config;
	perfctr->clock_on = parent->clock_on;
	perfctr->on_exec = parent->on_exec;
	perfctr->cloexec = parent->cloexec;
	perfctr->active = parent->active;
	perfctr->raw = parent->raw && child->mm == current->mm;
	perfctr->error = parent->error;
	perfctr->cpu_state.end = perfctr->cpu_state.ctr + parent->config->nr;
	perfctr->nr_ictrs = parent->nr_ictrs;
	vperfctr_bind(perfctr);
	if (perfctr->imode)
		perfctr_imode_init(perfctr, parent->imode->signo, parent->imode->refresh);

	raw_spin_lock_irqsave(&tree->lock, flags);
	dead = tree->dead;
	if (!dead) {
		refcount_inc(&tree->refs);
		perfctr->tree = tree;
		perfctr->pid = get_pid(task_pid(child));
		descendant->tgid = get_pid(task_tgid(child));
		descendant->id = ++tree->last_id;
		descendant->seen = tree->gen;
		/* A child begins with zero of each. */
		perfctr->soft_on = perfctr->active && !tree->stopped;
		parent->spare = NULL;
		atomic_inc(&parent->config->refs);
		vperfctr_adopt(perfctr, child);
		list_add_tail(&descendant->node, &tree->list);
		tree->live++;
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	if (dead) {
		perfctr->config = NULL;
		return;
	}
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

/* Its sums are final; it is detached. By the owner. */
void perfctr_descendant_end(struct vperfctr *perfctr)
{
	struct descendant *descendant = to_descendant(perfctr);
	struct perfctr_tree *tree = perfctr->tree;
	u32 nr = perfctr->cpu_state.end - perfctr->cpu_state.ctr;
	struct sums *sums[2] = { &tree->sums, &tree->seen_sums };
	unsigned long flags;
	unsigned int i, k;

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
	tree->live--;
	tree->ended++;
	if (tree->keep && !tree->dead) {
		/* Without its lock, which sleeps on RT: a name in change is a name too. */
		strscpy(descendant->comm, current->comm, sizeof(descendant->comm));
		refcount_inc(&perfctr->refs);	/* the list's */
	} else {
		list_del_init(&descendant->node);
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
}

/*
 * Stop and go
 */

/* May the owner's counters run? By the owner, who detaches soon if they never will. */
bool perfctr_tree_counts(struct vperfctr *perfctr)
{
	const struct perfctr_tree *tree = perfctr->tree;

	if (READ_ONCE(tree->dead)) {
		if (perfctr->inherited)
			perfctr_return_soon(perfctr, current);
		return !perfctr->inherited;
	}
	return !READ_ONCE(tree->stopped);
}

bool perfctr_tree_is_dead(const struct vperfctr *perfctr)
{
	return perfctr->tree && READ_ONCE(perfctr->tree->dead);
}

bool perfctr_tree_is_stopped(const struct vperfctr *perfctr)
{
	return perfctr->tree && READ_ONCE(perfctr->tree->stopped);
}

static int nothing(void *unused)
{
	return 0;
}

/*
 * What was written before is in force on every CPU: whoever was on its way to
 * resume without having seen it has done so, and is suspended and looks again.
 */
static void everywhere(int (*fn)(void *arg))
{
	cpus_read_lock();
	perfctr_run(fn, NULL);
	cpus_read_unlock();
}

/* Of all that might resume at once when they next run; and the soft counts. */
static void tree_change(struct perfctr_tree *tree, bool counts)
{
	struct descendant *descendant;
	unsigned long flags;

	raw_spin_lock_irqsave(&tree->lock, flags);
	if (tree->root)
		vperfctr_soft_change(tree->root, counts);
	list_for_each_entry(descendant, &tree->list, node)
		if (!descendant->ended)
			vperfctr_soft_change(&descendant->state, counts);
	raw_spin_unlock_irqrestore(&tree->lock, flags);
}

void perfctr_tree_stop(struct perfctr_tree *tree, bool stop)
{
	mutex_lock(&tree->reading);
	WRITE_ONCE(tree->stopped, stop);
	if (stop) {
		/*
		 * First nobody is on its way to be one of those that resume at once,
		 * then nobody is one, then those that did meanwhile are suspended.
		 */
		everywhere(nothing);
		tree_change(tree, false);
		everywhere(nothing);
	} else {
		tree_change(tree, true);
		everywhere(perfctr_go_current);
	}
	mutex_unlock(&tree->reading);
}

/* By whoever has the root's reference, which it was. Sleeps. */
void perfctr_tree_end(struct perfctr_tree *tree)
{
	struct descendant *descendant, *next;
	unsigned long flags;
	LIST_HEAD(ended);
	bool live;

	if (!tree)
		return;
	mutex_lock(&tree->reading);
	raw_spin_lock_irqsave(&tree->lock, flags);
	WRITE_ONCE(tree->dead, true);
	tree->root = NULL;
	live = tree->live;
	list_for_each_entry_safe(descendant, next, &tree->list, node)
		if (descendant->ended)
			list_move(&descendant->node, &ended);
	raw_spin_unlock_irqrestore(&tree->lock, flags);
	if (live) {
		everywhere(nothing);
		tree_change(tree, false);
		everywhere(nothing);
	}
	mutex_unlock(&tree->reading);
	list_for_each_entry_safe(descendant, next, &ended, node) {
		list_del_init(&descendant->node);
		vperfctr_put(&descendant->state);
	}
	tree_put(tree);
}

/*
 * Reading
 */

static int sample_state(struct vperfctr *perfctr, struct sums *sums, unsigned int *nr)
{
	struct perfctr_sample sample;
	int err = vperfctr_sample(perfctr, &sample);

	if (err)
		return err;
	*nr = PERFCTR_CSTATUS_NRCTRS(sample.cstatus);
	memcpy(sums->value, sample.value, (1 + *nr) * sizeof(sums->value[0]));
	vperfctr_soft_read(perfctr, sums->soft);
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

/*
 * Each descendant is either seen alive here, or is in tree->sums and not in
 * tree->seen_sums. Whoever is born meanwhile counts as seen.
 */
static int tree_sum(struct perfctr_tree *tree, struct perfctr_read_tree *read, struct sums *total)
{
	struct descendant *descendant;
	struct sums sums;
	unsigned int nr;
	int i, err = 0;

	lockdep_assert_held(&tree->reading);
	raw_spin_lock_irq(&tree->lock);
	tree->gen++;
	memset(&tree->seen_sums, 0, sizeof(tree->seen_sums));
	list_add(&tree->cursor, &tree->list);
	while (!err && read->which & PERFCTR_TREE_LIVE && tree->cursor.next != &tree->list) {
		descendant = list_entry(tree->cursor.next, struct descendant, node);
		list_move(&tree->cursor, &descendant->node);
		if (descendant->ended || descendant->seen == tree->gen)
			continue;
		refcount_inc(&descendant->state.refs);
		raw_spin_unlock_irq(&tree->lock);
		err = sample_state(&descendant->state, &sums, &nr);
		raw_spin_lock_irq(&tree->lock);
		/* What has ended meanwhile is in the tree's sums. */
		if (!err && !descendant->ended) {
			descendant->seen = tree->gen;
			sums_add(total, &sums, nr);
			if (READ_ONCE(descendant->state.error))
				read->error = descendant->state.error;
		}
		raw_spin_unlock_irq(&tree->lock);
		vperfctr_put(&descendant->state);
		raw_spin_lock_irq(&tree->lock);
	}
	list_del(&tree->cursor);
	tree->gen++;
	read->live = tree->live;
	read->ended = tree->ended;
	read->missed = tree->missed;
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

#define READ_TREE_HEAD		offsetof(struct perfctr_read_tree, sum)
#define TREE_ALL		(PERFCTR_TREE_ROOT | PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE)

int perfctr_read_tree_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_read_tree read = {};
	struct sums total = {};
	struct perfctr_tree *tree;
	unsigned int nr;
	u32 size;
	int err;

	err = perfctr_get_size(arg, READ_TREE_HEAD, &size);
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
	read.nrctrs = PERFCTR_CSTATUS_NRCTRS(tree->cstatus);
	mutex_lock(&tree->reading);
	if (read.which & PERFCTR_TREE_ROOT) {
		err = sample_state(perfctr, &total, &nr);
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
	vperfctr_soft_fill(&read.soft, total.soft, read.clock);
	err = perfctr_put_struct(arg, size, &read, sizeof(read));
	if (err)
		return err;
	return read.error ? -EIO : 0;
}

static struct descendant *next_descendant(struct perfctr_tree *tree, u64 id)
{
	struct descendant *descendant;

	list_for_each_entry(descendant, &tree->list, node)
		if (descendant->id > id)
			return descendant;
	return NULL;
}

#define MEMBER_HEAD		offsetof(struct perfctr_member, sum)

int perfctr_next_member_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_member member = {};
	struct descendant *descendant;
	struct task_struct *owner;
	struct perfctr_tree *tree;
	struct sums sums = {};
	u32 size, cstatus;
	int err;

	err = perfctr_get_size(arg, MEMBER_HEAD, &size);
	if (err)
		return err;
	if (copy_from_user(&member.cursor, &((struct perfctr_member __user *)arg)->cursor,
			   sizeof(member.cursor)))
		return -EFAULT;
	tree = tree_of_root(perfctr);
	if (!tree)
		return -ENOENT;

	mutex_lock(&tree->reading);
	raw_spin_lock_irq(&tree->lock);
	descendant = next_descendant(tree, member.cursor);
	if (descendant) {
		refcount_inc(&descendant->state.refs);
		memcpy(member.comm, descendant->comm, sizeof(member.comm));
		if (!descendant->ended)
			member.flags |= PERFCTR_MEMBER_LIVE;
	}
	raw_spin_unlock_irq(&tree->lock);
	mutex_unlock(&tree->reading);
	cstatus = tree->cstatus;
	tree_put(tree);
	if (!descendant)
		return -ENOENT;

	rcu_read_lock();
	owner = rcu_dereference(descendant->state.owner);
	if (owner)
		strscpy(member.comm, owner->comm, sizeof(member.comm));
	rcu_read_unlock();
	err = sample_state(&descendant->state, &sums, &member.nrctrs);
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
	vperfctr_soft_fill(&member.soft, sums.soft, member.clock);
	return perfctr_put_struct(arg, size, &member, sizeof(member));
}

int perfctr_inherit_init(void)
{
	descendant_cache = kmem_cache_create("perfctr_descendant",
					     offsetof(struct descendant, state) +
					     vperfctr_size(), 0, SLAB_ACCOUNT, NULL);
	return descendant_cache ? 0 : -ENOMEM;
}

void perfctr_inherit_exit(void)
{
	kmem_cache_destroy(descendant_cache);
}
