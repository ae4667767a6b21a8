/* SPDX-License-Identifier: GPL-2.0 */
/* A tree and its members: a root, and all threads that it and its descendants make */
#ifndef PERFCTR_TREE_H
#define PERFCTR_TREE_H

#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>

#include "thread/state.h"

/* After so many members the lock is dropped for a moment, for others and for interrupts. */
#define PERFCTR_STRETCH		64

/**
 * struct descendant - a state that was inherited
 * @node: in the tree's @live, or in its @kept; tree's lock
 * @id: rises in the order of birth
 * @seen: @gen of the tree when a read counted it, or when it was born; tree's lock
 * @ended: its sums are final, and added to the tree's; tree's lock
 * @tgid: its process
 * @comm: its owner's name, once the owner has ended; state's lock
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
 *	lock of a state. Nobody holds it for more than PERFCTR_STRETCH descendants at a time
 * @reading: held by whoever goes through @live, and drops @lock on the way
 * @root: the root's state; NULL once dead
 * @config: the config of all members, with a reference; constant. While there is a live
 *	descendant, and the tree is not dead, the tree is a user of it
 * @ring: of controls with RECORD, else NULL; with a reference; constant
 * @holder: with HOLDER_ONLY the open file whose control made the tree, until that file is closed;
 *	only compared. NULL: any member may stop the tree
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
 * @missed: number of descendants that could not be counted
 * @not_kept: number of descendants that ended and were too many to be kept
 * @error: of any descendant that has ended
 * @sums: of all descendants that have ended
 * @seen_sums: the part of @sums from descendants that the read in progress has counted alive
 * @seen_ended: some such descendant has ended; else @seen_sums is zero
 */
struct perfctr_tree {
	refcount_t refs;
	raw_spinlock_t lock;	/* see above */
	struct mutex reading;	/* see above */
	struct vperfctr *root;
	struct perfctr_config *config;
	struct perfctr_ring_buffer *ring;
	struct file *holder;
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

int perfctr_tree_init(void);
void perfctr_tree_exit(void);

/* Makes a tree for a control with these flags. The root is a user of the config. NULL: no memory */
struct perfctr_tree *perfctr_tree_create(struct vperfctr *root, struct perfctr_config *config,
					 u32 flags, u32 cstatus);
void perfctr_tree_end(struct perfctr_tree *tree);
void perfctr_tree_put(struct perfctr_tree *tree);
/* While a tree with HOLDER_ONLY is made: @file is its holder. */
void perfctr_tree_set_holder(struct perfctr_tree *tree, struct file *file);
/* @file is closed, or holds the tree no more. By the root's owner, or under the root's lock */
void perfctr_tree_release(struct perfctr_tree *tree, struct file *file);
/* SUSPEND or RESUME. EBUSY: the root's control has HOLDER_ONLY, and @file is not its holder. */
int perfctr_tree_stop(struct perfctr_tree *tree, const struct file *file, bool stop);

/* Makes a state for a later child, which is to count as @like does. NULL: no memory */
struct vperfctr *vperfctr_spare_create(const struct vperfctr *like, bool may_sleep);
/* The same for a state with so many i-mode counters, and with a recorder if @records */
struct vperfctr *perfctr_spare_create(u32 nr_ictrs, bool records, bool may_sleep);
/* Current has made a child, which has not run yet. The child gets a state of the same tree. */
void vperfctr_inherit(struct vperfctr *parent, struct task_struct *child);
/* For vperfctr_put() alone */
void vperfctr_descendant_free(struct vperfctr *perfctr);
/* Notes the owner's name, as the owner ends. perfctr->lock is held. */
void vperfctr_descendant_name(struct vperfctr *perfctr);
void vperfctr_descendant_end(struct vperfctr *perfctr);

/* The first descendant whose id is above @id, or NULL */
struct descendant *perfctr_first_after(const struct rb_root *members, u64 id);
/* Sets up a new state that counts as @like does, but without signals. @like is a member. */
void vperfctr_member_init(struct vperfctr *perfctr, const struct vperfctr *like, bool apart);
/* From now on the state is @task's, which current traces. tree->lock is held. */
void vperfctr_member_enter(struct perfctr_tree *tree, struct vperfctr *perfctr,
			   struct task_struct *task, int hold);

#endif /* PERFCTR_TREE_H */
