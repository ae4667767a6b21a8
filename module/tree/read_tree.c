// SPDX-License-Identifier: GPL-2.0
/* Reads the sums of all members of a tree, and the members one by one. */

#include <linux/uaccess.h>

#include "base/usercopy.h"
#include "deliver/read.h"
#include "tree/read_tree.h"
#include "tree/tree.h"

/* Returns true if the caller's structure has room for the kernel's counts. */
static bool wants_soft(const struct perfctr_read_tree *read)
{
	return read->size > offsetof(struct perfctr_read_tree, soft);
}

static_assert(offsetof(struct perfctr_read_tree, sum) ==
	      offsetof(struct perfctr_read_tree, clock) + sizeof(u64));
static_assert(offsetof(struct perfctr_member, sum) ==
	      offsetof(struct perfctr_member, clock) + sizeof(u64));
static_assert(PERFCTR_MAX_CTRS >= PERFCTR_MAX_HW);

/* Adds @nr counters of @sums to @read, and the kernel's counts if @soft. */
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

/* Returns the tree whose root is @perfctr, with a reference, or NULL. */
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

static __always_inline void add_up(struct perfctr_tree *tree, struct descendant *descendant,
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
 * Adds the sums of descendants from @descendant on, as long as they are suspended, so that no CPU
 * must be asked. Returns the first descendant that was not added, because it runs, or because
 * PERFCTR_STRETCH descendants were added. Returns NULL if all were added.
 */
static struct descendant *add_suspended(struct perfctr_tree *tree, struct descendant *descendant,
					struct perfctr_read_tree *read)
{
	struct sums sums __uninitialized;
	struct perfctr_sample sample = { .value = sums.value };
	bool soft = wants_soft(read);
	unsigned int n;

	lockdep_assert_held(&tree->lock);
	for (n = 0; n < PERFCTR_STRETCH && descendant && descendant->seen != tree->gen; n++) {
		if (!vperfctr_sums(&descendant->state, &sample))
			break;
		if (soft)
			vperfctr_soft_read(&descendant->state, sums.soft);
		add_up(tree, descendant, &sums, sample.cstatus, soft, read);
		descendant = rb_entry_safe(rb_next(&descendant->node), struct descendant, node);
	}
	return descendant && descendant->seen != tree->gen ? descendant : NULL;
}

/*
 * Adds the sums of all live descendants. The caller holds tree->lock, which is dropped on the way.
 * Each descendant is either counted alive here, or its sums are in tree->sums and not in
 * tree->seen_sums. A descendant that is born meanwhile is treated as counted.
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
		descendant = add_suspended(tree, perfctr_first_after(&tree->live, id), read);
		if (!descendant)
			break;
		/* This descendant runs, or it is time to let others take the lock. */
		id = descendant->id;
		refcount_inc(&descendant->state.refs);
		raw_spin_unlock_irq(&tree->lock);
		err = vperfctr_sample(&descendant->state, &sample);
		if (!err && soft)
			vperfctr_soft_read(&descendant->state, sums.soft);
		raw_spin_lock_irq(&tree->lock);
		/* If the descendant has ended meanwhile, the tree's sums include it. */
		if (!err && !descendant->ended)
			add_up(tree, descendant, &sums, sample.cstatus, soft, read);
		raw_spin_unlock_irq(&tree->lock);
		vperfctr_put(&descendant->state);
		cond_resched();
		raw_spin_lock_irq(&tree->lock);
	}
	return err;
}

/* Adds tree->sums minus tree->seen_sums. add_live() has counted tree->seen_sums already. */
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

/* Adds the sums of the descendants for which @which asks. */
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
	if (tree->stopped)
		read->flags |= PERFCTR_READ_SUSPENDED;
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
	/* The clock is stored to read.clock, and the sums to read.sum behind it. */
	struct perfctr_sample sample = { .value = &read.clock };
	struct perfctr_tree *tree;
	u32 size;
	int err;

	err = perfctr_get_size(arg, PERFCTR_READ_TREE_SIZE_VER0, &size);
	if (err)
		return err;
	/* The caller gets only the first @size bytes. */
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
	/* If the root has got another control, the sums may belong to the new control. */
	if (!err && READ_ONCE(perfctr->tree) != tree)
		err = -ENOENT;
	mutex_unlock(&tree->reading);
	perfctr_tree_put(tree);
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
	struct descendant *live = perfctr_first_after(&tree->live, id);
	struct descendant *kept = perfctr_first_after(&tree->kept, id);

	return !kept || (live && live->id < kept->id) ? live : kept;
}

/* Copies the name that the descendant's thread has, or had as the thread ended. */
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
	/* The clock is stored to member.clock, and the sums to member.sum behind it. */
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
	perfctr_tree_put(tree);
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
