// SPDX-License-Identifier: GPL-2.0
/*
 * Operations of stress: a process writes samples of itself and of what it makes to a ring, which it,
 * and others that have the handle, read and spoil.
 */
#define _GNU_SOURCE
#include "stress/stress.h"

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

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"

#define THREADS 64	/* whose sums are compared */
#define MAPS	1024	/* that are known at a time */

enum { GOOD, BAD_RECORD, BAD_SUM, BAD_LOST, BAD_CALL, BAD_MAP };

struct reader {
	struct vperfctr_ring *ring;
	uint64_t lost;
	struct {
		pid_t tid;
		uint64_t sum;
	} last[THREADS];
	struct {
		pid_t pid;
		uint64_t start, end;
	} map[MAPS];
	unsigned int nmaps;
	bool knows_maps;	/* none was lost, and there is room for all */
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

static void add_map(struct reader *reader, pid_t pid, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	if (reader->nmaps == MAPS) {
		reader->knows_maps = false;
		return;
	}
	reader->map[reader->nmaps].pid = pid;
	reader->map[reader->nmaps].start = start;
	reader->map[reader->nmaps++].end = end;
}

static void unmap(struct reader *reader, pid_t pid, uint64_t start, uint64_t end)
{
	unsigned int i = 0;

	while (i < reader->nmaps) {
		uint64_t first = reader->map[i].start, last = reader->map[i].end;

		if (reader->map[i].pid != pid || first >= end || last <= start) {
			i++;
			continue;
		}
		reader->map[i] = reader->map[--reader->nmaps];
		add_map(reader, pid, first, start); // NOLINT(readability-suspicious-call-argument)
		add_map(reader, pid, end, last); // NOLINT(readability-suspicious-call-argument)
	}
}

/* What a reader knows of executable memory, as the records tell it */
static void follow_maps(struct reader *reader, const struct perfctr_record *record)
{
	const struct perfctr_record_map *map = (const void *)record;
	const struct perfctr_record_fork *made = (const void *)record;
	unsigned int n = reader->nmaps, i;

	/* An UNMAP has its addresses at the same place. */
	if (record->type == PERFCTR_RECORD_MAP || record->type == PERFCTR_RECORD_UNMAP)
		unmap(reader, record->pid, map->start, map->start + map->length);
	if (record->type == PERFCTR_RECORD_MAP)
		add_map(reader, record->pid, map->start, map->start + map->length);
	if ((record->type == PERFCTR_RECORD_COMM && record->flags & PERFCTR_RECORD_EXEC) ||
	    (record->type == PERFCTR_RECORD_FORK && record->pid != made->parent_pid)) {
		unmap(reader, record->pid, 0, UINT64_MAX);
		n = reader->nmaps;
	}
	if (record->type != PERFCTR_RECORD_FORK || record->pid == made->parent_pid)
		return;
	for (i = 0; i < n; i++)
		if (reader->map[i].pid == made->parent_pid)
			add_map(reader, record->pid, reader->map[i].start, reader->map[i].end);
}

/* Where a thread is was told before it, or the sample says that it was not. */
static bool is_told(const struct reader *reader, const struct perfctr_record_sample *sample)
{
	unsigned int i;

	if (!reader->knows_maps || !sample->ip || sample->record.flags & PERFCTR_RECORD_MAP_UNKNOWN)
		return true;
	for (i = 0; i < reader->nmaps; i++)
		if (reader->map[i].pid == sample->record.pid && sample->ip >= reader->map[i].start &&
		    sample->ip < reader->map[i].end)
			return true;
	return false;
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
	return is_told(reader, sample) ? GOOD : BAD_MAP;
}

static int drain(struct reader *reader)
{
	const struct perfctr_record *record;
	int err = GOOD;

	while (!err && (record = vperfctr_ring_next(reader->ring))) {
		if (record->type == PERFCTR_RECORD_SAMPLE) {
			err = check_sample(reader, (const void *)record);
		} else if (record->type == PERFCTR_RECORD_LOST) {
			reader->lost += ((const struct perfctr_record_lost *)record)->lost;
			reader->knows_maps = false;
		} else if (record->type > PERFCTR_RECORD_EXIT) {
			err = BAD_RECORD;
		} else {
			follow_maps(reader, record);
		}
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

/* Code that one thread maps, which may be counted or not, and another executes */
static void *volatile mapped_code;

static void *map_code(void *arg)
{
	(void)arg;
	while (!shared->stop) {
		char *code = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (code == MAP_FAILED)
			break;
		memcpy(code, (const void *)(uintptr_t)body_spin, 64);
		__builtin___clear_cache(code, code + 64);
		mapped_code = code;
		while (mapped_code && !shared->stop)
			sleep_us(100);
		munmap(code, PAGE_SIZE);
	}
	return NULL;
}

static void execute_mapped_code(struct actor *actor)
{
	void *code = mapped_code;

	if (code)
		((void (*)(unsigned long))(uintptr_t)code)(1 + below(actor, 20000));
	mapped_code = NULL;
}

/* What it records */
static void do_something(struct actor *actor, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	pthread_t thread;
	pid_t pid;
	void *map;

	switch (below(actor, 9)) {
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
	case 7:
		execute_mapped_code(actor);
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
	bool mapper_counts = one_in(actor, 2);
	pthread_t mapper;

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
	reader->knows_maps = wanted.flags & PERFCTR_RING_MAPS;
	if (!mapper_counts && !pthread_create(&mapper, NULL, map_code, NULL))
		pthread_detach(mapper);
	random_recording(actor, &control);
	/* Taken, or evicted: EBUSY, EIO and the like */
	if (try_control(fd, &control))
		return GOOD;
	if (mapper_counts && !pthread_create(&mapper, NULL, map_code, NULL))
		pthread_detach(mapper);
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
		[BAD_MAP] = "it was where no map is",
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
	if (WIFEXITED(status) && WEXITSTATUS(status) && WEXITSTATUS(status) <= BAD_MAP)
		wrong(actor, "samples: %s", words[WEXITSTATUS(status)]);
}
