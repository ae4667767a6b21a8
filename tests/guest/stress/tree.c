// SPDX-License-Identifier: GPL-2.0
/* Operations of stress: trees. */
#define _GNU_SOURCE
#include "stress/stress.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

/*
 * A process counts, and its descendants inherit that. In the end the tree's sums must contain
 * what the members last saw of their own, and not much more, unless some could not look at
 * the end.
 */

#define MEMBER_DEPTH 3
#define MEMBER_CHILDREN 3
/* Most that a member executes before its first instruction here, and after its last look */
#define MEMBER_REST 20000
#define MEMBER_NAME "member"

struct grove {
	_Atomic uint64_t seen;
	_Atomic uint64_t members;
	_Atomic uint64_t unseen;	/* members that were killed, or became another program */
	bool quiet;			/* nobody stops it: members count exactly */
	uint64_t evictions;		/* that had ended before the control */
};

/**
 * struct member - one thread of a tree
 * @own: its own state's handle
 * @root: the root's
 * @thread: those that it made, @nthreads of them
 * @pid: its children, @npids of them
 */
struct member {
	struct actor actor;
	struct grove *grove;
	unsigned int depth;
	int own;
	int root;
	pthread_t thread[MEMBER_CHILDREN];
	pid_t pid[MEMBER_CHILDREN];
	unsigned int nthreads;
	unsigned int npids;
};

static bool is_end_of_tree(int err)
{
	return err == -ENOENT || err == -EINTR;
}

/* Has root evicted the tree's counters? */
static bool is_evicted(const struct member *member, int err)
{
	return err == -EIO && member->actor.evictable &&
	       shared->evictions != member->grove->evictions;
}

static int read_tree(struct member *member, unsigned int which, struct perfctr_read_tree *tree)
{
	int err = try_read_tree(member->root, which, tree);

	/* READ_TREE has stored everything all the same. */
	return is_evicted(member, err) && tree->error == PERFCTR_ERROR_LOST ? 0 : err;
}

static void member_reads_tree(struct member *member)
{
	struct perfctr_read_tree tree[2];
	unsigned int which = 1 + below(&member->actor, 7), i;
	uint64_t since = now_ns();
	int err;

	/* A live member may have ended by the second read. */
	if (which & PERFCTR_TREE_LIVE)
		which |= PERFCTR_TREE_ENDED;
	err = read_tree(member, which, &tree[0]);
	if (!err)
		err = read_tree(member, which, &tree[1]);
	if (err && !is_end_of_tree(err))
		wrong(&member->actor, "READ_TREE: %s, error %u, %llu missed", strerror(-err),
		      tree[0].error, (unsigned long long)tree[0].missed);
	since = now_ns() - since;
	/* The root may have made another tree by a new control: see be_root(). */
	if (!err && tree[1].tree_id != tree[0].tree_id)
		return;
	for (i = 0; !err && i < tree[0].nrctrs; i++)
		if (tree[1].sum[i] < tree[0].sum[i] ||
		    tree[1].sum[i] - tree[0].sum[i] > 2 * most_events(since))
			wrong(&member->actor, "a tree's sum %u went from %llu to %llu in %llu ns", i,
			      (unsigned long long)tree[0].sum[i],
			      (unsigned long long)tree[1].sum[i], (unsigned long long)since);
}

/* A live member may be changing its name right now. */
static void check_name(struct member *member, const struct perfctr_member *other)
{
	static const char *const names[] = { "stress", "exe", MEMBER_NAME };
	unsigned int i;

	if (!other->comm[0] || !memchr(other->comm, 0, sizeof(other->comm))) {
		wrong(&member->actor, "NEXT_MEMBER gives %d, flags %#x, the name '%.16s'", other->tid,
		      other->flags, other->comm);
		return;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(other->comm, names[i]))
			return;
	if (!(other->flags & PERFCTR_MEMBER_LIVE))
		wrong(&member->actor, "NEXT_MEMBER gives %d, which has ended, the name '%s'",
		      other->tid, other->comm);
}

static void member_walks(struct member *member)
{
	struct perfctr_member other = { .size = sizeof(other) };
	uint64_t cursor = 0;

	while (!ioctl(member->root, PERFCTR_IOC_NEXT_MEMBER, &other)) {
		if (other.cursor <= cursor)
			wrong(&member->actor, "NEXT_MEMBER goes round");
		cursor = other.cursor;
		check_name(member, &other);
	}
	if (!is_end_of_tree(-errno))
		wrong(&member->actor, "NEXT_MEMBER: %s", strerror(errno));
}

/* Any member stops and resumes the tree. It stays suspended if the caller dies in between. */
static void member_stops_all(struct member *member)
{
	int err;

	if (member->grove->quiet)
		return;
	err = ioctl(member->root, PERFCTR_IOC_SUSPEND) ? errno : 0;
	if (err && err != EPERM && err != ESRCH)
		wrong(&member->actor, "SUSPEND of a tree: %s", strerror(err));
	op_rest(&member->actor);
	err = ioctl(member->root, PERFCTR_IOC_RESUME) ? errno : 0;
	if (err && err != EPERM && err != ESRCH)
		wrong(&member->actor, "RESUME of a tree: %s", strerror(err));
}

static void member_counts(struct member *member)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS], delta;
	unsigned long n = 1 + below(&member->actor, 2000);
	long got;

	got = exact_read(member->own, words[0], sizeof(words[0]), body_spin, n);
	if (is_evicted(member, (int)got))
		return;
	if (got < 0) {
		wrong(&member->actor, "read(2) of a descendant's own: %ld", got);
		return;
	}
	if (!shared->nevents || !shared->exact || !member->grove->quiet)
		return;
	delta = words[1][1] - words[0][1];
	if (delta != EXACT_KERNEL + BODY_SPIN(n))
		wrong(&member->actor, "a descendant's %llu instructions, expected %llu",
		      (unsigned long long)delta,
		      (unsigned long long)(EXACT_KERNEL + BODY_SPIN(n)));
	shared->exacts++;
}

static void member_maps(struct member *member)
{
	const struct perfctr_page *page = try_map(member->own);

	if (!page)
		wrong(&member->actor, "mmap of a descendant's own: %s", strerror(errno));
	member_counts(member);
	if (page)
		give_page(page);
}

static void member_lives(struct member *member);

static void *member_thread(void *arg)
{
	struct member member = *(struct member *)arg;

	free(arg);
	member_lives(&member);
	return NULL;
}

static struct member member_child(struct member *member)
{
	struct member child = *member;

	actor_init(&child.actor, any(&member->actor), member->actor.depth);
	child.depth++;
	child.nthreads = child.npids = 0;
	return child;
}

static void member_makes_thread(struct member *member)
{
	struct member *child;

	if (member->depth >= MEMBER_DEPTH || member->nthreads >= MEMBER_CHILDREN)
		return;
	child = malloc(sizeof(*child));
	if (!child)
		return;
	*child = member_child(member);
	if (pthread_create(&member->thread[member->nthreads], NULL, member_thread, child))
		free(child);
	else
		member->nthreads++;
}

static void member_forks(struct member *member)
{
	char *const argv[] = { "stress", "--nothing", NULL };
	char *const envp[] = { NULL };
	struct member child;
	bool execs;
	pid_t pid;

	if (member->depth >= MEMBER_DEPTH || member->npids >= MEMBER_CHILDREN)
		return;
	child = member_child(member);
	execs = one_in(&member->actor, 8);
	pid = fork();
	if (pid < 0) {
		wrong(&member->actor, "fork: %s", strerror(errno));
		return;
	}
	if (!pid) {
		if (execs) {
			child.grove->members++;
			child.grove->unseen++;
			execve("/proc/self/exe", argv, envp);
			_exit(EXIT_FAILURE);
		}
		member_lives(&child);
		_exit(0);
	}
	member->pid[member->npids++] = pid;
}

static void member_moves(struct member *member)
{
	op_move(&member->actor);
}

static void member_gets_a_name(struct member *member)
{
	if (prctl(PR_SET_NAME, one_in(&member->actor, 2) ? MEMBER_NAME : "stress"))
		wrong(&member->actor, "PR_SET_NAME: %s", strerror(errno));
}

static void member_rests(struct member *member)
{
	op_rest(&member->actor);
}

static void (*const member_operations[])(struct member *member) = {
	member_reads_tree, member_walks, member_stops_all, member_counts, member_maps,
	member_moves, member_rests, member_makes_thread, member_forks, member_gets_a_name,
};

#define MEMBER_OPERATIONS (sizeof(member_operations) / sizeof(member_operations[0]))

static void member_lives(struct member *member)
{
	unsigned int i, n = 1 + below(&member->actor, 10);
	struct perfctr_read rd;
	int status, err;

	if (member->depth) {
		member->grove->members++;
		member->own = try_open(0);
		/* Its tree may be gone before it first ran. */
		if (member->own < 0 && (member->own != -ENOENT || member->grove->quiet))
			wrong(&member->actor, "OPEN by a descendant: %s", strerror(-member->own));
	}
	while (n-- && member->own >= 0)
		member_operations[below(&member->actor, MEMBER_OPERATIONS)](member);
	/* A killed member leaves orphans, and may or may not have looked before. */
	if (member->npids && one_in(&member->actor, 6)) {
		member->grove->unseen++;
		if (kill(member->pid[0], SIGKILL))
			wrong(&member->actor, "kill: %s", strerror(errno));
		shared->kills++;
	}
	for (i = 0; i < member->npids; i++)
		if (waitpid(member->pid[i], &status, 0) != member->pid[i] ||
		    (status && status != SIGKILL))
			wrong(&member->actor, "a descendant ended with status %#x",
			      (unsigned int)status);
	for (i = 0; i < member->nthreads; i++)
		pthread_join(member->thread[i], NULL);
	member->npids = member->nthreads = 0;
	if (!member->depth || member->own < 0)
		return;
	err = try_read(member->own, &rd);
	if (err && !is_evicted(member, err))
		wrong(&member->actor, "READ of a descendant's own: error %u", rd.error);
	close(member->own);
	member->grove->seen += rd.sum[0];
}

/* The root's last look: each member is there, once. */
static void compare_tree(struct member *root)
{
	struct grove *grove = root->grove;
	struct perfctr_read_tree tree;
	uint64_t total;
	int err;

	/* Orphans of killed members, and threads that were joined, end a little later. */
	for (;;) {
		err = read_tree(root, PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE, &tree);
		if (err || !tree.live)
			break;
		sleep_us(1000);
	}
	if (err) {
		wrong(&root->actor, "READ_TREE at the end: %s, error %u, %llu missed",
		      strerror(-err), tree.error, (unsigned long long)tree.missed);
		return;
	}
	total = tree.sum[0];
	if (tree.ended < grove->members ||
	    (tree.ended > grove->members && !grove->unseen))
		wrong(&root->actor, "a tree of %llu, not %llu", (unsigned long long)tree.ended,
		      (unsigned long long)grove->members);
	if (shared->nevents &&
	    (total < grove->seen ||
	     (shared->exact && !grove->unseen && total > grove->seen + tree.ended * MEMBER_REST)))
		wrong(&root->actor, "a tree's sum %llu; its %llu members saw %llu",
		      (unsigned long long)total, (unsigned long long)tree.ended,
		      (unsigned long long)grove->seen);
	shared->trees++;
	shared->members += tree.ended;
}

/* The root, a process of its own. It may be killed. */
static void be_root(struct actor *actor, struct grove *grove)
{
	struct member root = { .actor = *actor, .grove = grove };
	unsigned int i, n = below(actor, 4), fate = below(actor, 6);
	struct perfctr_control control;
	int err;

	grove->quiet = fate > 3;
	root.root = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
	if (root.root < 0) {
		wrong(actor, "OPEN by a root: %s", strerror(-root.root));
		return;
	}
	root.own = root.root;
	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_INHERIT;
	if (one_in(actor, 2))
		control.flags |= PERFCTR_CONTROL_KEEP;
	for (i = 0; shared->nevents && i < 1 + n; i++)
		control_add(&control, shared->event[i % shared->nevents]);
	grove->evictions = shared->evicted;
	/* EBUSY: no counter is left. EIO: evicted at once. */
	if (try_control(root.root, &control))
		return;
	member_lives(&root);
	switch (fate) {
	case 0:
		/* Its descendants are on their own. */
		member_forks(&root);
		break;
	case 1:
		member_forks(&root);
		if (ioctl(root.root, PERFCTR_IOC_UNLINK))
			wrong(actor, "UNLINK of a root: %s", strerror(errno));
		break;
	case 2:
		member_forks(&root);
		control.flags ^= PERFCTR_CONTROL_KEEP;
		err = try_control(root.root, &control);
		if (err && !is_evicted(&root, err))
			wrong(actor, "CONTROL of a root: %s", strerror(-err));
		break;
	default:
		compare_tree(&root);
	}
}

void op_tree(struct actor *actor)
{
	struct grove *grove = mmap(NULL, sizeof(*grove), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (grove == MAP_FAILED) {
		wrong(actor, "mmap: %s", strerror(errno));
		return;
	}
	if (make_child(actor) == 0) {
		be_root(actor, grove);
		_exit(shared->failed ? EXIT_FAILURE : 0);
	}
	munmap(grove, sizeof(*grove));
}
