// SPDX-License-Identifier: GPL-2.0
/* Samples in a ring: of a program that is executed, of threads, and of descendants. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "suites/record.h"

/* What a child of known length executes, from its first instruction on. */
START_TEST(samples_of_an_exec)
{
	const struct perfctr_record *record;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	int sock[2], fd;
	unsigned int samples = 0, maps = 0, execs = 0, exits = 0, before = 0;
	uint64_t start = 0, length = 0;
	struct pollfd p;
	pid_t pid;

	ck_ok(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sock));
	pid = fork();
	if (!pid) {
		fd = try_open(PERFCTR_OPEN_CREAT);
		if (fd < 0 || make_ring_of(fd, PAGES, PERFCTR_RING_MAPS))
			_exit(1);
		control_samples(&control, PERIOD, PERFCTR_CONTROL_ON_EXEC | PERFCTR_CONTROL_INHERIT);
		if (try_control(fd, &control) || send_fd(sock[1], fd))
			_exit(2);
		execl(KNOWN_PATH, KNOWN_PATH, NULL);
		_exit(3);
	}
	fd = receive_fd(sock[0]);
	ring = map_ring(fd, PAGES);
	expect_exit(pid, 0);
	/* Nobody writes any more. */
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, -1), 1);
	ck_assert(p.revents & POLLHUP);
	while ((record = vperfctr_ring_next(ring))) {
		ck_assert_int_eq(record->pid, pid);
		ck_assert_int_eq(record->tid, pid);
		if (record->type == PERFCTR_RECORD_COMM) {
			const struct perfctr_record_comm *comm = (const void *)record;

			ck_assert_str_eq(comm->comm, "known");
			execs += record->flags == PERFCTR_RECORD_EXEC;
			before += samples;
		} else if (record->type == PERFCTR_RECORD_MAP) {
			const struct perfctr_record_map *map = (const void *)record;

			before += samples;
			ck_assert_uint_eq(record->size % 8, 0);
			ck_assert_uint_eq(record->size, sizeof(*map) + (strlen(map->path) / 8 + 1) * 8);
			if (!strcmp(map->path, KNOWN_PATH)) {
				start = map->start;
				length = map->length;
				ck_assert_uint_ne(map->inode, 0);
				maps++;
			}
		} else if (record->type == PERFCTR_RECORD_SAMPLE) {
			const struct perfctr_record_sample *sample = as_sample(record);

			samples++;
			ck_assert_uint_eq(sample->value[0], samples * PERIOD);
			ck_assert_msg(sample->ip >= start && sample->ip < start + length,
				      "%#llx is not in %#llx", (unsigned long long)sample->ip,
				      (unsigned long long)start);
		} else {
			ck_assert_uint_eq(record->type, PERFCTR_RECORD_EXIT);
			exits++;
		}
	}
	ck_assert_uint_eq(execs, 1);
	ck_assert_uint_eq(maps, 1);
	ck_assert_uint_eq(before, 0);
	ck_assert_uint_eq(exits, 1);
	ck_assert_uint_eq(samples, KNOWN_LENGTH(KNOWN_LOOPS) / PERIOD);
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

/* Each name is told once, before the first sample under it. */
START_TEST(names_of_a_thread)
{
	static const char *const name[] = { "first", "a second one", "fifteen letters" };
	const struct perfctr_record *record;
	struct perfctr_control control;
	unsigned int i, samples[4] = { 0 }, n = 0;
	struct vperfctr_ring *ring;
	int fd, err;

	fd = open_with_ring(PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, PAGES);
	control_samples(&control, PERIOD, 0);
	ck_ok(prctl(PR_SET_NAME, name[0]));
	/* Assertions are instructions as well. */
	err = try_control(fd, &control);
	for (i = 0; i < 3; i++) {
		err |= prctl(PR_SET_NAME, name[i]);
		body_spin(10 * PERIOD);
	}
	err |= ioctl(fd, PERFCTR_IOC_SUSPEND);
	ck_assert_int_eq(err, 0);
	while ((record = vperfctr_ring_next(ring))) {
		samples[n] += record->type == PERFCTR_RECORD_SAMPLE;
		if (record->type != PERFCTR_RECORD_COMM)
			continue;
		ck_assert_uint_lt(n, 3);
		ck_assert_uint_eq(record->size, sizeof(struct perfctr_record_comm));
		ck_assert_uint_eq(record->flags, 0);
		ck_assert_int_eq(record->tid, gettid());
		ck_assert_str_eq(((const struct perfctr_record_comm *)record)->comm, name[n]);
		n++;
	}
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(samples[0], 0);
	for (i = 1; i < 4; i++) {
		ck_assert_uint_ge(samples[i], 20);
		ck_assert_uint_le(samples[i], 21);
	}
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

#define CHILDREN 4

/* Threads and processes that are made write to the same ring, at the same time. */
START_TEST(samples_of_descendants)
{
	unsigned int forks = 0, exits = 0, samples[2 * CHILDREN] = { 0 }, n = 0, i;
	pid_t tid[2 * CHILDREN] = { 0 }, known[CHILDREN];
	const struct perfctr_record *record;
	struct perfctr_control control;
	struct vperfctr_ring *ring;
	int fd;

	fd = open_with_ring(16 * PAGES, PERFCTR_RING_MAPS);
	ring = map_ring(fd, 16 * PAGES);
	control_samples(&control, PERIOD, PERFCTR_CONTROL_INHERIT);
	set_control(fd, &control);
	for (i = 0; i < CHILDREN; i++) {
		known[i] = fork();
		if (!known[i]) {
			execl(KNOWN_PATH, KNOWN_PATH, NULL);
			_exit(3);
		}
	}
	for (i = 0; i < CHILDREN; i++)
		expect_exit(known[i], 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	while ((record = vperfctr_ring_next(ring))) {
		if (record->tid == getpid())
			continue;
		if (record->type == PERFCTR_RECORD_FORK) {
			const struct perfctr_record_fork *made = (const void *)record;

			ck_assert_int_eq(made->parent_pid, getpid());
			ck_assert_int_eq(made->parent_tid, gettid());
			ck_assert_int_eq(record->pid, record->tid);
			ck_assert_uint_lt(n, CHILDREN);
			tid[n++] = record->tid;
			forks++;
			continue;
		}
		for (i = 0; i < n && tid[i] != record->tid; i++)
			;
		ck_assert_msg(i < n, "tid %d was not born", record->tid);
		exits += record->type == PERFCTR_RECORD_EXIT;
		if (record->type == PERFCTR_RECORD_SAMPLE) {
			samples[i]++;
			ck_assert_uint_eq(as_sample(record)->value[0], samples[i] * PERIOD);
		}
	}
	ck_assert_uint_eq(forks, CHILDREN);
	ck_assert_uint_eq(exits, CHILDREN);
	/* Between fork and exec they execute a little more. */
	for (i = 0; i < CHILDREN; i++)
		ck_assert_msg(samples[i] - KNOWN_LENGTH(KNOWN_LOOPS) / PERIOD < 8, "%u samples of %lu",
			      samples[i], (unsigned long)(KNOWN_LENGTH(KNOWN_LOOPS) / PERIOD));
	ck_assert_uint_eq(vperfctr_ring_lost(ring), 0);
	vperfctr_ring_unmap(ring);
	close(fd);
}
END_TEST

void record_tree(void)
{
	GUEST_RUN(samples_of_an_exec, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(names_of_a_thread, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(samples_of_descendants, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
}
