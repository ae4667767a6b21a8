// SPDX-License-Identifier: GPL-2.0
/* Evaluates what a run counted. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/perfex.h"
#include "count/counts.h"

double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

double elapsed(const struct run *run)
{
	return (double)(run->end.tv_sec - run->start.tv_sec) +
		(double)(run->end.tv_nsec - run->start.tv_nsec) / 1e9;
}

unsigned int mode(const struct event *event, const struct run *run)
{
	if (event->modifier)
		return event->ctr.flags & MODES;
	return run->user_only ? PERFCTR_CTR_USER : MODES;
}

bool went_wrong(const struct run *run)
{
	return run->status || !run->complete;
}

static int badness(const struct run *run)
{
	return went_wrong(run) ? 2 : run->zeroes != 0;
}

bool decides(bool first, const struct run *worst, const struct run *run)
{
	return first || badness(run) > badness(worst);
}

int exit_status(const struct run *run)
{
	if (WEXITSTATUS(run->status))
		return WEXITSTATUS(run->status);
	if (!run->complete)
		return EXIT_PERFEX;
	return run->zeroes ? EXIT_NO_COUNT : 0;
}

bool is_counted(const struct run *run, unsigned int i)
{
	return run->counted && i < run->sums.nrctrs && !(run->zeroes >> i & 1);
}

/* A member that failed before it ran has a clock of 0. */
bool is_member_counted(const struct perfctr_member *member)
{
	return !member->error || member->clock;
}

bool next_thread(const struct run *run, char **argv, struct perfctr_member *member, bool first)
{
	struct perfctr_read self;
	const char *name;

	if (first)
		memset(member, 0, sizeof(*member));
	if (!first || !run->pid)
		return !_vperfctr_next_member(run->fd, member);
	name = strrchr(argv[0], '/');
	if (_vperfctr_read_native(run->fd, &self) < 0 && errno != EIO)
		return false;
	member->tid = member->tgid = run->pid;
	(void)snprintf(member->comm, sizeof(member->comm), "%s", name ? name + 1 : argv[0]);
	member->error = self.error;
	member->nrctrs = self.nrctrs;
	member->clock = self.clock;
	memcpy(member->sum, self.sum, sizeof(member->sum));
	member->soft = self.soft;
	return true;
}
