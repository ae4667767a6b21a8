// SPDX-License-Identifier: GPL-2.0
/*
 * Operations of stress: a process writes samples of itself and of what it makes to a ring, which it,
 * and others that have the handle, read and spoil.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libperfctr.h>

#include "counting.h"
#include "guest.h"
#include "known.h"
#include "loops.h"

#define THREADS 64	/* whose sums are compared */

enum { GOOD, BAD_RECORD, BAD_SUM, BAD_LOST, BAD_CALL };

struct reader {
	struct vperfctr_ring *ring;
	uint64_t lost;
	struct {
		pid_t tid;
		uint64_t sum;
	} last[THREADS];
};

static bool random_recording(struct actor *actor, struct perfctr_control *control)
{
	control_init(control);
	control->tsc_on = 1;
	control->flags = PERFCTR_CONTROL_RECORD | PERFCTR_CONTROL_INHERIT;
	if (one_in(actor, 4))
		control->timer_ns = PERFCTR_TIMER_MIN + below(actor, 1000000);
	if (shared->interrupts && shared->nevents && !shared->through_perf && !one_in(actor, 4))
		control_add_ictr(control, EV_INSTRUCTIONS, -500 - (int64_t)below(actor, 100000));
	else if (!control->timer_ns)
		control->timer_ns = PERFCTR_TIMER_MIN;
	return control->nrictrs > 0;
}

/* Sums of a thread only grow. */
static int check_sample(struct reader *reader, const struct perfctr_record_sample *sample)
{
	unsigned int i = (unsigned int)sample->record.tid % THREADS;
	uint64_t sum = sample->nrctrs ? sample->value[0] : sample->clock;

	if (sample->record.size != sizeof(*sample) + 8ul * (sample->nrctrs + sample->kernel_depth +
							    sample->user_depth))
		return BAD_RECORD;
	if (reader->last[i].tid == sample->record.tid && sum < reader->last[i].sum)
		return BAD_SUM;
	reader->last[i].tid = sample->record.tid;
	reader->last[i].sum = sum;
	return GOOD;
}

static int drain(struct reader *reader)
{
	const struct perfctr_record *record;
	int err = GOOD;

	while (!err && (record = vperfctr_ring_next(reader->ring))) {
		if (record->type == PERFCTR_RECORD_SAMPLE)
			err = check_sample(reader, (const void *)record);
		else if (record->type == PERFCTR_RECORD_LOST)
			reader->lost += ((const struct perfctr_record_lost *)record)->lost;
		else if (record->type > PERFCTR_RECORD_EXIT)
			err = BAD_RECORD;
	}
	if (!err && errno != EAGAIN)
		err = BAD_RECORD;
	return reader->lost > vperfctr_ring_lost(reader->ring) ? BAD_LOST : err;
}

static void *spin(void *arg)
{
	body_spin((unsigned long)arg);
	return NULL;
}

/* What it records */
static void do_something(struct actor *actor, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	pthread_t thread;
	pid_t pid;
	void *map;

	switch (below(actor, 8)) {
	case 0:
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (one_in(actor, 2))
				execl(KNOWN_PATH, KNOWN_PATH, NULL);
			body_spin(1 + below(actor, 100000));
			_exit(0);
		}
		if (pid > 0 && one_in(actor, 3))
			kill(pid, SIGKILL);
		break;
	case 1:
		if (!pthread_create(&thread, NULL, spin, (void *)(1ul + below(actor, 100000))))
			pthread_detach(thread);
		break;
	case 2:
		map = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (map != MAP_FAILED && one_in(actor, 2))
			munmap(map, PAGE_SIZE);
		break;
	case 3:
		(void)prctl(PR_SET_NAME, one_in(actor, 2) ? "one" : "another");
		break;
	case 4:
		(void)ioctl(fd, one_in(actor, 2) ? PERFCTR_IOC_SUSPEND : PERFCTR_IOC_RESUME);
		break;
	case 5:
		(void)poll(&p, 1, 0);
		break;
	case 6:
		op_move(actor);
		break;
	default:
		body_spin(1 + below(actor, 50000));
	}
}

static int record(struct actor *actor)
{
	struct perfctr_ring wanted = { .size = sizeof(wanted), .pages = 1u << below(actor, 6) };
	struct reader *reader = shared_alloc(sizeof(*reader));
	struct perfctr_control control;
	unsigned int turns = 5 + below(actor, 30);
	int fd = try_open(PERFCTR_OPEN_CREAT), err = GOOD;

	if (fd < 0)
		return fd == -ENOMEM ? GOOD : BAD_CALL;
	if (one_in(actor, 2))
		wanted.flags |= PERFCTR_RING_MAPS;
	if (one_in(actor, 2)) {
		wanted.flags |= PERFCTR_RING_USER_CHAIN;
		wanted.user_depth = 1 + below(actor, 20);
	}
	wanted.wakeup = below(actor, 10);
	/* The state may be inherited, and the limit on memory low. */
	if (ioctl(fd, PERFCTR_IOC_RING, &wanted))
		return errno == EBUSY || errno == EEXIST || errno == ENOMEM ? GOOD : BAD_CALL;
	reader->ring = vperfctr_ring_map(fd, wanted.pages);
	if (!reader->ring)
		return errno == ENOMEM || errno == EAGAIN ? GOOD : BAD_CALL;
	random_recording(actor, &control);
	/* Taken, or evicted: EBUSY, EIO and the like */
	if (try_control(fd, &control))
		return GOOD;
	while (!err && turns-- && !shared->stop) {
		do_something(actor, fd);
		err = drain(reader);
		if (one_in(actor, 20)) {
			(void)ioctl(fd, PERFCTR_IOC_UNLINK);
			err = err ? err : drain(reader);
			break;
		}
	}
	if (one_in(actor, 2))
		vperfctr_ring_unmap(reader->ring);
	if (one_in(actor, 2))
		close(fd);
	shared->recordings++;
	return err;
}

void op_record(struct actor *actor)
{
	static const char *const words[] = {
		[BAD_RECORD] = "a record makes no sense", [BAD_SUM] = "a sum went back",
		[BAD_LOST] = "more was told lost than was lost", [BAD_CALL] = "a call failed",
	};
	pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		own_handle = -1;
		_exit(record(actor));
	}
	if (pid < 0)
		return;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	if (WIFEXITED(status) && WEXITSTATUS(status) && WEXITSTATUS(status) <= BAD_CALL)
		wrong(actor, "samples: %s", words[WEXITSTATUS(status)]);
}
