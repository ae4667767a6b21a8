// SPDX-License-Identifier: GPL-2.0
/* Operations of stress: what is refused, and leaves everything as it was. */
#define _GNU_SOURCE
#include "stress/stress.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

/* Upper bound of the instructions that are executed in user mode between two looks */
#define LOOK_REST 50000

/* An i-mode counter may overflow meanwhile. */
#define CHANGES (PERFCTR_READ_OVERFLOWN | PERFCTR_READ_THROTTLED)

/* All that a handle on the actor's own state tells */
struct look {
	struct perfctr_control control;
	struct perfctr_read rd;
	int err;
};

static void look(struct actor *actor, struct look *at)
{
	control_init(&at->control);
	if (ioctl(actor->own, PERFCTR_IOC_READ_CONTROL, &at->control))
		wrong(actor, "READ_CONTROL: %s", strerror(errno));
	at->err = try_read(actor->own, &at->rd);
	if (at->err && !is_lost(actor, at->err))
		wrong(actor, "READ: %s, error %u", strerror(-at->err), at->rd.error);
}

/* The control is the same, and the sums go on: not back, not from zero, and not too far. */
static void expect_unchanged(struct actor *actor, const struct look *before, const char *what)
{
	int k = exact_counter(actor);
	struct look now;
	unsigned int i;

	look(actor, &now);
	if (memcmp(&now.control, &before->control, sizeof(now.control)) != 0)
		wrong(actor, "%s changed READ_CONTROL: flags %#x, %u, %u, %u; before %#x, %u, %u, %u",
		      what, now.control.flags, now.control.nractrs, now.control.nrictrs,
		      now.control.tsc_on, before->control.flags, before->control.nractrs,
		      before->control.nrictrs, before->control.tsc_on);
	if (before->err && !now.err)
		wrong(actor, "%s took an error away", what);
	if (now.rd.cstatus != before->rd.cstatus || now.rd.nrctrs != before->rd.nrctrs ||
	    (now.rd.flags ^ before->rd.flags) & ~(uint32_t)CHANGES)
		wrong(actor, "%s changed READ: cstatus %#x, flags %#x; before %#x, %#x", what,
		      now.rd.cstatus, now.rd.flags, before->rd.cstatus, before->rd.flags);
	if (now.rd.clock < before->rd.clock)
		wrong(actor, "after %s the clock is %llu, before %llu", what,
		      (unsigned long long)now.rd.clock, (unsigned long long)before->rd.clock);
	for (i = 0; i < now.rd.nrctrs; i++)
		if (now.rd.sum[i] < before->rd.sum[i] ||
		    (shared->exact && (int)i == k &&
		     now.rd.sum[i] - before->rd.sum[i] > LOOK_REST))
			wrong(actor, "after %s sum %u is %llu, before %llu", what, i,
			      (unsigned long long)now.rd.sum[i],
			      (unsigned long long)before->rd.sum[i]);
	shared->refused++;
}

/*
 * Breaks a valid control in a way from docs/abi.md's table, and returns the error; 0 if there
 * was nothing to break. @refused becomes the counter to blame, if there is one.
 */
static int break_control(struct actor *actor, struct perfctr_control *control, uint32_t *refused)
{
	unsigned int nr = nr_of(control), i = nr ? below(actor, nr) : 0;

	switch (below(actor, 27)) {
	case 0:
		control->size = below(actor, 16);
		return EINVAL;
	case 1:
		control->size = PERFCTR_MAX_SIZE + 1 + below(actor, 1000);
		return E2BIG;
	case 2:
		control->flags |= 1u << (8 + below(actor, 24));
		return EINVAL;
	case 3:
		control->tsc_on = 2 + below(actor, 1000);
		return EINVAL;
	case 4:
		control->nractrs = PERFCTR_MAX_CTRS + 1 + below(actor, 1000);
		return shared->nctrs || !control->nrictrs ? EINVAL : EOPNOTSUPP;
	case 5:
		control->nrictrs = ~0u;
		return shared->nctrs ? EINVAL : EOPNOTSUPP;
	case 6:
		if (!control->nrictrs)
			return 0;
		*refused = control->nractrs + below(actor, control->nrictrs);
		control->ctr[*refused].ireset = below(actor, 1000);
		return EINVAL;
	case 7:
		control->si_signo = control->nrictrs ? SIGKILL : SIGIO;
		return EINVAL;
	case 8:
		control->ctr_size = below(actor, 64);
		return EINVAL;
	case 9:
		control->ctr_size += 1 + below(actor, 7);
		return EINVAL;
	case 10:
		control->ctr_offset = below(actor, PERFCTR_CONTROL_SIZE_VER0);
		return EINVAL;
	case 11:
		control->ctr_offset += 1 + below(actor, 7);
		return EINVAL;
	case 12:
		control->flags &= ~(uint32_t)PERFCTR_CONTROL_INHERIT;
		control->flags |= PERFCTR_CONTROL_KEEP;
		return EINVAL;
	case 13:
		control->reserved[below(actor, sizeof(control->reserved) / 8)] = any(actor) | 1;
		return EINVAL;
	case 14:
		control->preserve |= 1ull << (32 + below(actor, 32));
		return EINVAL;
	case 15:
		if (control->nrictrs)
			return 0;
		control->refresh = 1 + below(actor, 1000);
		return EINVAL;
	case 16:
		if (!control->nrictrs)
			return 0;
		control->flags |= PERFCTR_CONTROL_ON_EXEC;
		return EINVAL;
	case 17:
		if (!control->nrictrs)
			return 0;
		control->si_signo = one_in(actor, 2) ? 0 : 65 + (int)below(actor, 1000);
		return EINVAL;
	case 18:
		if (!nr)
			return 0;
		control->size = (uint32_t)CONTROL_SIZE(nr) - 1 - below(actor, 63);
		return EINVAL;
	case 19:
		if (!nr)
			return 0;
		*refused = i;
		control->ctr[i].reserved[below(actor, 2)] = any(actor) | 1;
		return EINVAL;
	case 20:
		if (!control->nractrs)
			return 0;
		*refused = below(actor, control->nractrs);
		control->ctr[*refused].ireset = one_in(actor, 2) ? -1000 : 1000;
		return EINVAL;
	case 21:
		if (!nr)
			return 0;
		*refused = i;
		control->ctr[i].flags = one_in(actor, 2) ? 0 : 1u << (2 + below(actor, 30));
		return EINVAL;
	case 22:
		/* perf chooses the counter, whatever the control says. */
		if (!nr || shared->through_perf)
			return 0;
		*refused = i;
		control->ctr[i].map = 64 + below(actor, 1u << 30);
		return EINVAL;
	case 23:
		/* Members that the module does not know */
		control->ctr_offset += 8;
		memmove((char *)control->ctr + 8, control->ctr,
			sizeof(control->ctr) - sizeof(control->ctr[0]));
		memset(control->ctr, 1 + (int)below(actor, 255), 8);
		return E2BIG;
	case 24:
		if (shared->raw)
			return 0;
		control->flags |= PERFCTR_CONTROL_RAW;
		return EOPNOTSUPP;
	case 25:
		if (!shared->through_perf || control->flags & PERFCTR_CONTROL_ON_EXEC)
			return 0;
		control_add_ictr(control, EV_INSTRUCTIONS, -1000);
		control->si_signo = SIGUSR2;
		return EOPNOTSUPP;
	default:
		if (!shared->nevents)
			return 0;
		control->nractrs = control->nrictrs = 0;
		control->si_signo = 0;
		control->refresh = 0;
		control_add_at(control, PERFCTR_MAP_ANY, any(actor) | 1ull << 63, PERFCTR_CTR_USER);
		*refused = 0;
		return EINVAL;
	}
}

/* Other errors of the control, or of the caller, may be the answer too. */
static bool is_refusal(int err, int expected)
{
	return err == expected || err == EINVAL || err == EBUSY || err == EACCES ||
	       err == EOPNOTSUPP || err == ESRCH;
}

static void refuse(struct actor *actor)
{
	uint32_t refused = PERFCTR_NO_INDEX, untold = 0x5a5a5a5a;
	struct perfctr_control control;
	int err, expected;

	do {
		random_control(actor, &control);
		expected = break_control(actor, &control, &refused);
	} while (!expected);
	control.refused = untold;
	err = -try_control(actor->own, &control);
	if (!is_refusal(err, expected) || (err == ESRCH && actor->attached))
		wrong(actor, "a wrong CONTROL: %s, expected error %d; flags %#x, %u and %u counters, sizes %u, %u, %u",
		      strerror(err), expected, control.flags, control.nractrs, control.nrictrs,
		      control.size, control.ctr_offset, control.ctr_size);
	if (err == expected && refused != PERFCTR_NO_INDEX && control.refused != refused &&
	    control.refused != untold && control.refused != PERFCTR_NO_INDEX)
		wrong(actor, "a wrong CONTROL: %s because of counter %u, expected %u", strerror(err),
		      control.refused, refused);
}

void op_wrong_control(struct actor *actor)
{
	struct look before;
	unsigned int n = 1 + below(actor, 4);
	int err;

	if (actor->own < 0)
		return;
	look(actor, &before);
	while (n--)
		refuse(actor);
	err = ioctl(actor->own, PERFCTR_IOC_CONTROL, (void *)8) ? errno : 0;
	if (err != EFAULT && err != ESRCH)
		wrong(actor, "CONTROL of a wrong address: %s", strerror(err));
	expect_unchanged(actor, &before, "a wrong CONTROL");
}

/* A process at the limit of its resources */

static void limit(struct actor *actor, int what, rlim_t to, struct rlimit *old)
{
	struct rlimit limit;

	if (getrlimit(what, old))
		wrong(actor, "getrlimit: %s", strerror(errno));
	limit = *old;
	limit.rlim_cur = to;
	if (setrlimit(what, &limit))
		wrong(actor, "setrlimit: %s", strerror(errno));
}

static void unlimit(struct actor *actor, int what, const struct rlimit *old)
{
	if (setrlimit(what, old))
		wrong(actor, "setrlimit back: %s", strerror(errno));
}

static void without_files(struct actor *actor)
{
	int first = dup(actor->own), fd;
	struct rlimit old;
	struct look before;

	close(first);
	look(actor, &before);
	limit(actor, RLIMIT_NOFILE, one_in(actor, 2) ? (rlim_t)first : 0, &old);
	fd = try_open(one_in(actor, 2) ? PERFCTR_OPEN_CREAT : 0);
	if (fd != -EMFILE)
		wrong(actor, "OPEN without a descriptor: %d", fd);
	/* A handle that is received now is lost. */
	if (one_in(actor, 4)) {
		fd = try_receive_fd(RECEIVE_FD, MSG_DONTWAIT);
		if (fd >= 0)
			wrong(actor, "received handle %d without a descriptor", fd);
	}
	expect_unchanged(actor, &before, "an OPEN without a descriptor");
	op_exact(actor);
	unlimit(actor, RLIMIT_NOFILE, &old);
	fd = try_open(0);
	if (fd != first)
		wrong(actor, "OPEN gives %d, expected %d", fd, first);
	close(fd);
}

static void expect_no_map(struct actor *actor, int flags, const char *what)
{
	void *page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED | flags, actor->own, 0);

	if (page != MAP_FAILED || (errno != EAGAIN && errno != EPERM && errno != ENOMEM))
		wrong(actor, "mmap without %s: %p, %s", what, page, strerror(errno));
}

static void without_memory(struct actor *actor)
{
	struct rlimit old;
	struct look before;
	unsigned int i;

	look(actor, &before);
	limit(actor, RLIMIT_MEMLOCK, one_in(actor, 2) ? PAGE_SIZE - 1 : 0, &old);
	for (i = 0; i < 3; i++)
		expect_no_map(actor, MAP_LOCKED, "locked memory");
	expect_unchanged(actor, &before, "a map that cannot be locked");
	/* A map that is not locked needs no such memory. */
	op_map(actor);
	op_exact(actor);
	unlimit(actor, RLIMIT_MEMLOCK, &old);
	look(actor, &before);
	limit(actor, RLIMIT_AS, 0, &old);
	for (i = 0; i < 3; i++)
		expect_no_map(actor, 0, "addresses");
	unlimit(actor, RLIMIT_AS, &old);
	expect_unchanged(actor, &before, "a map without addresses");
	if (actor->page && mlock(actor->page, PAGE_SIZE))
		wrong(actor, "mlock of the page: %s", strerror(errno));
}

/* In a child, which has no other threads: the limits affect nobody else. */
void op_limits(struct actor *actor)
{
	unsigned int i;

	if (make_child(actor) != 0)
		return;
	if (!getuid())
		become(GUEST_UID);
	actor->evictable = true;
	if (!count_instructions(actor))
		_exit(shared->failed ? EXIT_FAILURE : 0);
	op_map(actor);
	for (i = 0; i < 3; i++) {
		without_files(actor);
		without_memory(actor);
		op_exact(actor);
	}
	/* The failed maps have left nothing: unmapping the last one takes the registers away. */
	op_unmap(actor);
	op_map(actor);
	op_exact(actor);
	shared->limits++;
	_exit(shared->failed ? EXIT_FAILURE : 0);
}
