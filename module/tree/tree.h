/* SPDX-License-Identifier: GPL-2.0 */
/* A tree has members: a root, and the threads that the root and its descendants have made. */
#ifndef PERFCTR_TREE_H
#define PERFCTR_TREE_H

#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>

#include "thread/state.h"

/* After this number of members, a loop drops the tree's lock for a moment. */
#define PERFCTR_STRETCH		64

/**
 * struct descendant - a state that was inherited
 * @node: links the descendant into the tree's @live or @kept; tree's lock
 * @id: number of the descendant, in the order of birth
 * @seen: @gen of the tree when a read last counted the descendant, or at its birth; tree's lock
 * @ended: the sums of @state are final, and were added to the tree's sums; tree's lock
 * @tgid: the owner's process
 * @comm: the owner's name, once the owner has ended; state's lock
 * @state: the state itself; must be last, because it ends with an array
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
	u64 value[1 + PERFCTR_MAX_HW];	/* the clock, and the sums of the counters */
	u64 soft[PERFCTR_NR_SOFT];
};

/**
 * struct perfctr_tree - the descendants of a root
 * @refs: references: one of the root, and one of each descendant's state
 * @lock: guards all members below, unless they say otherwise. Taken inside @reading, and around the
 *	lock of a state. A loop holds @lock for at most PERFCTR_STRETCH descendants at a time
 * @reading: held while a loop goes through @live and drops @lock on the way
 * @root: the root's state; NULL once the tree is dead
 * @config: the config of all members, with a reference; constant. While there is a live descendant,
 *	and the tree is not dead, the tree is a user of it
 * @ring: the ring if the root's control has RECORD, else NULL; with a reference; constant
 * @holder: with HOLDER_ONLY, the open file whose control made the tree, until that file is closed;
 *	only compared. NULL: any member may stop the tree
 * @stopped: no member counts, because of PERFCTR_IOC_SUSPEND or the root's control
 * @dead: the tree cannot be read any more
 * @keep: descendants that end are moved to @kept; constant
 * @cstatus: what is counted; constant
 * @id: see perfctr_read_tree.tree_id; constant
 * @live: live descendants, by @id
 * @kept: descendants that have ended and are kept, by @id
 * @spare: a spare that an ended descendant has left, or NULL
 * @cpus: the CPUs where members last were when their hold was changed; @reading
 * @gen: rises when a read begins, and when it ends, so it is odd while a read is in progress
 * @last_id: @id of the latest descendant
 * @nr_live: number of live descendants
 * @nr_kept: number of descendants in @kept
 * @ended: number of descendants that have ended
 * @missed: number of threads that got no state, because there was no memory
 * @not_kept: number of descendants that have ended and were too many to be kept
 * @error: error of a descendant that has ended
 * @sums: sums of all descendants that have ended
 * @seen_sums: the part of @sums that comes from descendants which the read in progress has counted
 *	while they were alive
 * @seen_ended: at least one such descendant has ended. If false, @seen_sums is zero
 */
struct perfctr_tree {
	refcount_t refs;
	raw_spinlock_t lock;	/* guards most members, as described above */
	struct mutex reading;	/* held while a loop goes through @live */
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

/*
 * Makes a tree for a control with these flags. The root is a user of the config. Returns NULL if
 * there is no memory.
 */
struct perfctr_tree *perfctr_tree_create(struct vperfctr *root, struct perfctr_config *config,
					 u32 flags, u32 cstatus);
void perfctr_tree_end(struct perfctr_tree *tree);
void perfctr_tree_put(struct perfctr_tree *tree);
/* Makes @file the holder of a tree with HOLDER_ONLY, before others can find the tree. */
void perfctr_tree_set_holder(struct perfctr_tree *tree, struct file *file);
/*
 * Ends the role of @file as the tree's holder, if it is the holder. The root's owner calls this, or
 * a caller that holds the lock of the root's state.
 */
void perfctr_tree_release(struct perfctr_tree *tree, struct file *file);
/*
 * Does SUSPEND or RESUME for all members. Returns 0, or -EBUSY if the root's control has
 * HOLDER_ONLY and @file is not the holder, or the error of perfctr_broadcasts_allow().
 */
int perfctr_tree_stop(struct perfctr_tree *tree, const struct file *file, bool stop);

/* Returns a state for a later child, which will count as @like does, or NULL without memory. */
struct vperfctr *vperfctr_spare_create(const struct vperfctr *like, bool may_sleep);
/*
 * Returns a state for a later child, with @nr_ictrs i-mode counters, and with a recorder if
 * @records is true. Returns NULL if there is no memory.
 */
struct vperfctr *perfctr_spare_create(u32 nr_ictrs, bool records, bool may_sleep);
/* Gives a state of the parent's tree to a child that current has made and that has not run yet. */
void vperfctr_inherit(struct vperfctr *parent, struct task_struct *child);
/* Frees a descendant. Only vperfctr_put() calls this. */
void vperfctr_descendant_free(struct vperfctr *perfctr);
/* Notes the owner's name, as the owner ends. perfctr->lock is held. */
void vperfctr_descendant_name(struct vperfctr *perfctr);
void vperfctr_descendant_end(struct vperfctr *perfctr);

/* Returns the first descendant whose id is above @id, or NULL. */
struct descendant *perfctr_first_after(const struct rb_root *members, u64 id);
/* Sets up a new state that counts as @like does, but without signals. @like is a member. */
void vperfctr_member_init(struct vperfctr *perfctr, const struct vperfctr *like, bool apart);
/* Adds a state of @task, a thread that current traces, to the tree. tree->lock is held. */
void vperfctr_member_enter(struct perfctr_tree *tree, struct vperfctr *perfctr,
			   struct task_struct *task, int hold);

#endif /* PERFCTR_TREE_H */
