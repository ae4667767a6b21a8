// SPDX-License-Identifier: GPL-2.0
/* What test_inherit*.c share; see inherit.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/inherit.h"

int count_tree(unsigned int event, unsigned int flags)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_INHERIT | flags;
	control_add(&control, event);
	set_control(fd, &control);
	return fd;
}

struct perfctr_read_tree read_tree(int fd, unsigned int which)
{
	struct perfctr_read_tree tree;
	int err = try_read_tree(fd, which, &tree);

	ck_assert_msg(!err, "READ_TREE: %s", strerror(-err));
	return tree;
}

int next_member(int fd, struct perfctr_member *member)
{
	member->size = sizeof(*member);
	return ioctl(fd, PERFCTR_IOC_NEXT_MEMBER, member) ? -errno : 0;
}

void *spin_thread(void *arg)
{
	body_spin((unsigned long)arg);
	return NULL;
}

int perf_inherited(void)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.inherit = 1;
	ck_ok(fd = perf_open(&attr, 0, -1, -1));
	return fd;
}

void be_reaper(void)
{
	ck_ok(prctl(PR_SET_CHILD_SUBREAPER, 1));
}

__attribute__((noinline)) int both_totals(int fd, struct perfctr_read_tree *tree,
					  int perf, uint64_t *theirs)
{
	int err = try_read_tree(fd, ALL, tree);

	*theirs = perf_read_one(perf);
	return err;
}

struct totals totals_begin(void)
{
	struct perfctr_read_tree tree;
	struct totals totals;

	be_reaper();
	totals.fd = count_tree(EV_LIKE_INSTRUCTIONS, 0);
	totals.perf = perf_inherited();
	ck_assert_int_eq(both_totals(totals.fd, &tree, totals.perf, &totals.theirs), 0);
	totals.ours = tree.sum[0];
	return totals;
}

uint64_t totals_agree(const struct totals *totals)
{
	struct perfctr_read_tree tree;
	uint64_t theirs;

	ck_assert_int_eq(both_totals(totals->fd, &tree, totals->perf, &theirs), 0);
	ck_assert_uint_eq(tree.sum[0] - totals->ours, theirs - totals->theirs);
	ck_assert_uint_eq(tree.live, 0);
	return tree.sum[0] - totals->ours;
}

struct children children_start(unsigned int n, bool spin)
{
	struct children children = { .n = n };
	unsigned int i;

	children.ready = shared_alloc(sizeof(*children.ready));
	children.leave = shared_alloc(sizeof(*children.leave));
	for (i = 0; i < n; i++) {
		ck_ok(children.pid[i] = fork());
		if (!children.pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (guest.ncpus > 1)
				pin_self(i % 2);
			__sync_fetch_and_add(children.ready, 1);
			while (!*children.leave) {
				if (spin)
					body_spin(LOOPS);
				else
					sleep_us(1000);
			}
			_exit(0);
		}
	}
	while (*children.ready < n)
		sleep_us(100);
	return children;
}

void children_end(struct children *children)
{
	unsigned int i;

	*children->leave = true;
	for (i = 0; i < children->n; i++)
		expect_exit(children->pid[i], 0);
}
