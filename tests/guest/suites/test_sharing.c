// SPDX-License-Identifier: GPL-2.0
/*
 * One set of counters, several tenants: perf_events and we, in turn and at
 * once; the module itself, which goes only when nobody counts.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/sharing.h"

/* The same for an event of perf's that counts instructions */
static void perf_exact_once(int fd)
{
	uint64_t words[2];

	ck_assert_int_eq(exact_read(fd, words, sizeof(words[0]), body_spin, SHORT_LOOPS),
			 sizeof(words[0]));
	ck_assert_uint_eq(words[1] - words[0], EXACT_KERNEL + BODY_SPIN(SHORT_LOOPS));
}

/* --- perf_events --- */

/* An instruction is a cycle on this machine, so both can be exact at once. */
START_TEST(perf_and_we_at_once)
{
	struct perfctr_control control = control_of(EV_CYCLES);
	int fd = open_self(), perf, turn;

	set_control(fd, &control);
	for (turn = 0; turn < 100; turn++) {
		ck_ok(perf = perf_open_self(EV_INSTRUCTIONS));
		perf_exact_once(perf);
		exact_once(fd);
		perf_exact_once(perf);
		close(perf);
		exact_once(fd);
	}
	control = control_of(EV_INSTRUCTIONS);
	set_control(fd, &control);
	for (turn = 0; turn < 100; turn++) {
		ck_ok(perf = perf_open_self(EV_CYCLES));
		exact_once(fd);
		perf_exact_once(perf);
		exact_once(fd);
		close(perf);
	}
}
END_TEST

START_TEST(perf_before_us)
{
	struct perfctr_control control = control_of(EV_CYCLES);
	int fd = open_self(), perf, turn;

	ck_ok(perf = perf_open_self(EV_INSTRUCTIONS));
	for (turn = 0; turn < 100; turn++) {
		set_control(fd, &control);
		perf_exact_once(perf);
		exact_once(fd);
		control.nractrs ^= 1;
		set_control(fd, &control);
		control.nractrs ^= 1;
		perf_exact_once(perf);
	}
	unlink_self(fd);
	perf_exact_once(perf);
}
END_TEST

/* The counters of a thread that has ended are given back a moment later. */
static int perf_open_patiently(unsigned int event)
{
	int fd, tries;

	for (tries = 0; tries < 1000; tries++) {
		fd = perf_open_self(event);
		if (fd >= 0)
			return fd;
		if (errno != EBUSY)
			break;
		sleep_us(1000);
	}
	return -1;
}

/* Where one has all counters, who was refused ten times in five seconds is refused unasked. */
static void be_asked(void)
{
	if (has_one_source())
		sleep_us(5000000);
}

/* While one has all counters the other is refused, is told by whom, and has them all afterwards. */
START_TEST(one_or_the_other)
{
	struct perfctr_control control = control_of(EV_INSTRUCTIONS);
	int fd = open_self(), perf, status, turn;
	pid_t child;

	be_asked();
	for (turn = 0; turn < 8; turn++) {
		ck_ok(perf = perf_open_patiently(EV_INSTRUCTIONS));
		ck_assert_int_eq(try_control(fd, &control), -EBUSY);
		ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERF);
		perf_exact_once(perf);
		close(perf);

		set_control(fd, &control);
		exact_once(fd);
		ck_errno(perf_open_self(EV_INSTRUCTIONS), EBUSY);
		exact_once(fd);
		/* A control without counters gives them back; so does the thread's end. */
		if (turn % 2) {
			control.nractrs = 0;
			set_control(fd, &control);
			control.nractrs = 1;
			continue;
		}
		unlink_self(fd);
		child = fork();
		if (!child) {
			int own = try_open(PERFCTR_OPEN_CREAT);

			_exit(own < 0 || try_control(own, &control));
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
		/* The old handle's state is unlinked, so this is another one. */
		fd = open_self();
	}
}
END_TEST

/* The same event, one after the other, back and forth. */
START_TEST(same_event_in_turn)
{
	int fd, perf, turn;

	be_asked();
	for (turn = 0; turn < 50; turn++) {
		ck_ok(perf = perf_open_patiently(EV_INSTRUCTIONS));
		perf_exact_once(perf);
		close(perf);
		fd = count_event(EV_INSTRUCTIONS);
		exact_once(fd);
		unlink_self(fd);
		close(fd);
	}
}
END_TEST

/*
 * perf samples while we count: its interrupts must keep coming, at its period,
 * and our counts be exact.
 */
#define SAMPLE_PERIOD 100000

START_TEST(perf_samples_beside_us)
{
	struct perfctr_control control = control_of(EV_INSTRUCTIONS);
	struct perf_sampling sampling;
	uint64_t samples, periods;
	int fd = open_self(), turn;

	set_control(fd, &control);
	ck_assert(perf_sampling_begin(&sampling, EV_CYCLES, SAMPLE_PERIOD));
	for (turn = 0; turn < 200; turn++) {
		body_spin(10 * SHORT_LOOPS);
		exact_once(fd);
	}
	periods = perf_read_one(sampling.fd) / SAMPLE_PERIOD;
	samples = perf_sampling_end(&sampling);
	ck_assert_uint_ge(periods, 40);
	ck_assert_msg(samples + 1 >= periods && samples <= periods + 1,
		      "perf took %llu samples in %llu periods", (unsigned long long)samples,
		      (unsigned long long)periods);
	unlink_self(fd);
}
END_TEST

START_TEST(perf_has_all)
{
	struct perfctr_control control = control_of(EV_INSTRUCTIONS), clock, readback;
	struct takings takings;
	struct perfctr_read before, after;
	int fd = open_self();

	until_given_back();
	control_init(&clock);
	clock.tsc_on = 1;
	set_control(fd, &clock);
	read_all(fd, &before);
	take(&takings, 0, PROGRAMMABLE_MAX);
	ck_assert(has_all(&takings));

	ck_assert_int_eq(try_control(fd, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERF);
	ck_assert_uint_eq(control.refused, 0);
	read_all(fd, &after);
	ck_assert_uint_eq(after.cstatus, before.cstatus);
	ck_assert_uint_ge(after.clock, before.clock);
	control_init(&readback);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &readback));
	ck_assert_uint_eq(readback.nractrs, 0);
	ck_assert_uint_eq(readback.tsc_on, 1);

	give(&takings);
	set_control(fd, &control);
	exact_once(fd);
	unlink_self(fd);
	perf_gets_all();
}
END_TEST

/* Those that perf left are enough for the old control, but not for the new. */
START_TEST(perf_has_most)
{
	struct perfctr_control control, more;
	struct takings takings;
	struct perfctr_read before;
	unsigned int turn;
	int fd = open_self();

	until_given_back();
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_DTLB_STORE_MISSES);
	set_control(fd, &control);
	exact_once(fd);
	take(&takings, 0, PROGRAMMABLE_MAX);
	ck_assert_uint_ge(takings.n[0], guest.nprogrammable - 2);
	if (!is_beside())
		ck_assert_uint_eq(takings.n[0], guest.nprogrammable - 2);

	more = control;
	control_add(&more, EV_ITLB_LOAD_MISSES);
	control_add(&more, EV_CYCLES);
	for (turn = 0; turn < 20; turn++) {
		read_all(fd, &before);
		ck_assert_int_eq(try_control(fd, &more), -EBUSY);
		ck_assert_uint_eq(more.owner, PERFCTR_OWNER_PERF);
		ck_assert_uint_eq(more.refused, 2);
		ck_assert_uint_gt(read_sum(fd, 0), before.sum[0]);
		exact_once(fd);
	}
	/* An equal control takes no further counter. */
	set_control(fd, &control);
	exact_once(fd);
	give(&takings);
	set_control(fd, &more);
	exact_once(fd);
	unlink_self(fd);
	perf_gets_all();
}
END_TEST

/* perf has the counters of one CPU only, and not of the caller's. */
START_TEST(perf_has_all_of_another_cpu)
{
	struct perfctr_control control = control_of(EV_INSTRUCTIONS);
	struct takings takings;
	int fd = open_self();

	until_given_back();
	pin_self(0);
	take(&takings, 1, PROGRAMMABLE_MAX);
	ck_assert_uint_eq(takings.n[0], 0);
	if (is_beside())
		ck_assert_uint_ge(takings.n[1], guest.nprogrammable);
	else
		ck_assert_uint_eq(takings.n[1], guest.nprogrammable);
	ck_assert_int_eq(try_control(fd, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERF);
	ck_assert_uint_eq(control.refused, 0);
	give(&takings);
	set_control(fd, &control);
	exact_once(fd);
	unlink_self(fd);
	perf_gets_all();
}
END_TEST

/* --- everything is given back --- */

static void count_much(int fd)
{
	struct perfctr_control control;

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_CYCLES);
	if (guest.nprogrammable > 4) {
		control_add(&control, EV_DTLB_LOAD_MISSES);
		control_add(&control, EV_DTLB_STORE_MISSES);
		control_add(&control, EV_ITLB_LOAD_MISSES);
	}
	if (try_control(fd, &control))
		_exit(1);
}

START_TEST(given_back_after_unlink)
{
	int fd = open_self();

	count_much(fd);
	exact_once(fd);
	unlink_self(fd);
	perf_gets_all();
}
END_TEST

START_TEST(given_back_after_stop)
{
	struct perfctr_control control;
	int fd = open_self();

	count_much(fd);
	control_init(&control);
	set_control(fd, &control);
	perf_gets_all();
}
END_TEST

static void counting_child(bool exits)
{
	volatile bool *counts = shared_alloc(sizeof(*counts));
	pid_t child;
	int status;

	ck_ok(child = fork());
	if (!child) {
		int fd = try_open(PERFCTR_OPEN_CREAT);

		if (fd < 0)
			_exit(2);
		count_much(fd);
		*counts = true;
		if (exits)
			_exit(0);
		for (;;)
			body_spin(SHORT_LOOPS);
	}
	while (!*counts)
		sleep_us(1000);
	if (!exits)
		ck_ok(kill(child, SIGKILL));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	perf_gets_all();
}

START_TEST(given_back_after_exit)
{
	counting_child(true);
}
END_TEST

START_TEST(given_back_after_kill)
{
	counting_child(false);
}
END_TEST

/* A control that is refused halfway leaves no counter behind. */
START_TEST(given_back_after_refusal)
{
	struct perfctr_control control;
	unsigned int i;
	int fd = open_self();

	control_init(&control);
	for (i = 0; i < guest.nprogrammable; i++)
		control_add_at(&control, general_map(i), i ? EV_CYCLES : EV_INSTRUCTIONS,
			       PERFCTR_CTR_USER);
	control_add(&control, EV_DTLB_LOAD_MISSES);
	ck_assert_int_ne(try_control(fd, &control), 0);
	perf_gets_all();
}
END_TEST

/* --- load and unload --- */

START_TEST(not_unloaded_while_counting)
{
	volatile bool *counts = shared_alloc(2 * sizeof(*counts));
	volatile bool *stop = counts + 1;
	pid_t child;
	int err;

	be_asked();
	ck_ok(child = fork());
	if (!child) {
		struct perfctr_control control = control_of(EV_INSTRUCTIONS);
		int fd;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!guest.nprogrammable)
			control.nractrs = 0;
		fd = try_open(PERFCTR_OPEN_CREAT);
		if (fd < 0 || try_control(fd, &control))
			_exit(1);
		/* No handle is open from here on. */
		close(fd);
		*counts = true;
		while (!*stop)
			sleep_us(1000);
		fd = try_open(0);
		_exit(fd < 0);
	}
	while (!*counts)
		sleep_us(1000);
	err = module_unload();
	ck_assert_msg(err == -EWOULDBLOCK || err == -EBUSY, "rmmod: %s", strerror(-err));
	ck_assert(module_is_loaded());
	*stop = true;
	expect_exit(child, 0);
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert(!module_is_loaded());
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

START_TEST(not_unloaded_with_a_handle)
{
	int dev = open_device();
	int fd = open_self();
	int err;

	unlink_self(fd);
	close(dev);
	/* The state is detached, but its handle is open. */
	err = module_unload();
	ck_assert_msg(err == -EWOULDBLOCK || err == -EBUSY, "rmmod: %s", strerror(-err));
	close(fd);
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

START_TEST(not_unloaded_with_a_map)
{
	int fd = open_self();
	const struct perfctr_page *page = map_page(fd);
	int err;

	unlink_self(fd);
	close(fd);
	err = module_unload();
	ck_assert_msg(err == -EWOULDBLOCK || err == -EBUSY, "rmmod: %s", strerror(-err));
	ck_assert_int_lt(page->seq, 0);
	unmap_page(page);
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

/* Threads that count for a moment, when there is a module, and end. */
static void come_and_go(volatile unsigned long *counted, const volatile bool *stop,
			unsigned int seed)
{
	struct perfctr_control control = control_of(EV_INSTRUCTIONS);
	unsigned int i;
	pid_t child;
	int fd, status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!guest.nprogrammable)
		control.nractrs = 0;
	for (i = 0; !*stop; i++) {
		child = fork();
		if (child < 0)
			_exit(1);
		if (!child) {
			fd = try_open(PERFCTR_OPEN_CREAT);
			if (fd >= 0 && !try_control(fd, &control)) {
				if (i & 1)
					(void)try_map(fd);
				if (i & 2)
					close(fd);
				body_spin(SHORT_LOOPS * (1 + i % 5));
				__sync_fetch_and_add(counted, 1);
			}
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status)
			_exit(1);
		sleep_us(1000 + (seed + i * 37) % 1000);
	}
	_exit(0);
}

/* Events of perf's, each opened by the functions that we hook while we hold counters */
static void perf_comes_and_goes(const volatile bool *stop)
{
	int perf;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!*stop) {
		perf = perf_open_self(EV_INSTRUCTIONS);
		if (perf < 0 && errno != EBUSY)
			_exit(1);
		close(perf);
		sleep_us(100);
	}
	_exit(0);
}

#define LOADS 20
#define SPAWNERS 4u

START_TEST(loads_while_threads_come_and_go)
{
	struct {
		volatile unsigned long counted;
		volatile bool stop;
	} *shared = shared_alloc(sizeof(*shared));
	/* Beside perf each takes a second, and the emulator is slow when no CPU idles. */
	unsigned int loads = is_beside() ? 5 : LOADS, i;
	pid_t spawner[SPAWNERS];
	int err;

	for (i = 0; i < SPAWNERS; i++) {
		ck_ok(spawner[i] = fork());
		if (!spawner[i] && !i && is_beside())
			perf_comes_and_goes(&shared->stop);
		if (!spawner[i])
			come_and_go(&shared->counted, &shared->stop, i * 333);
	}
	for (i = 0; i < loads; i++) {
		err = module_unload_patiently();
		ck_assert_msg(!err, "rmmod %u: %s", i, strerror(-err));
		err = module_load(NULL);
		ck_assert_msg(!err, "insmod %u: %s", i, strerror(-err));
		sleep_us(3000 + i * 100);
	}
	shared->stop = true;
	for (i = 0; i < SPAWNERS; i++)
		expect_exit(spawner[i], 0);
	ck_assert_uint_ge(shared->counted, loads);
}
END_TEST

/* --- instret, which the firmware hands to whoever asks where nothing filters --- */

#define INSTRET 2
/*
 * What the kernel may execute around a body: system calls, and the timer's ticks.
 * In one that checks itself this is up to some millions.
 */
#define KERNEL_TOO 10000000ul

static int count_instret(void)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	control_add_at(&control, INSTRET, EV_INSTRUCTIONS, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	set_control(fd, &control);
	return fd;
}

/* The count contains the body once, and not very much of the kernel. */
static void is_about(uint64_t count, uint64_t body)
{
	ck_assert_uint_ge(count, body);
	ck_assert_uint_le(count, body + KERNEL_TOO);
}

/* @perf: an event of perf's, or -1 */
static void instret_once(int fd, int perf)
{
	uint64_t perf_before = perf == -1 ? UINT64_MAX : perf_read_one(perf), perf_after;
	uint64_t before = read_sum(fd, 0);

	body_spin(SHORT_LOOPS);
	is_about(read_sum(fd, 0) - before, BODY_SPIN(SHORT_LOOPS));
	if (perf_before == UINT64_MAX)
		return;
	/* perf gives a count, or says that it could not count. */
	perf_after = perf_read_one(perf);
	if (perf_after != UINT64_MAX)
		is_about(perf_after - perf_before, BODY_SPIN(SHORT_LOOPS));
}

static int perf_instructions(pid_t pid, int cpu)
{
	struct perf_event_attr attr;
	int fd;

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	attr.pinned = 1;
	ck_ok(fd = perf_open(&attr, pid, cpu, -1));
	return fd;
}

/* perf writes and stops the counters that it has. */
START_TEST(instret_while_perf_comes_and_goes)
{
	int fd, perf, turn;

	/* Every other of perf's events counts what runs on this CPU. */
	pin_self(0);
	fd = count_instret();
	for (turn = 0; turn < 20; turn++) {
		uint64_t start = read_sum(fd, 0);

		instret_once(fd, -1);
		perf = perf_instructions(turn & 1 ? -1 : 0, turn & 1 ? 0 : -1);
		instret_once(fd, perf);
		close(perf);
		instret_once(fd, -1);
		is_about(read_sum(fd, 0) - start, 3 * BODY_SPIN(SHORT_LOOPS));
	}
	unlink_self(fd);
	/* instret is perf's again. */
	perf = perf_instructions(0, -1);
	ck_assert_uint_ne(perf_read_one(perf), UINT64_MAX);
	close(perf);
}
END_TEST

/* perf was first, on another CPU if there is one: it refuses us, or its count is not touched. */
START_TEST(instret_after_perf)
{
	struct perfctr_control control;
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	int fd = open_self(), perf, err;
	uint64_t before;

	control_init(&control);
	control_add_at(&control, INSTRET, EV_INSTRUCTIONS, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	perf = perf_instructions(-1, (int)guest.ncpus - 1);
	ck_assert_uint_ne(perf_read_one(perf), UINT64_MAX);
	err = try_control(fd, &control);
	if (err) {
		ck_assert_int_eq(err, -EBUSY);
		ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERF);
		ck_assert_uint_eq(control.refused, 0);
	}
	pin_self(guest.ncpus - 1);
	before = perf_read_one(perf);
	body_spin(SHORT_LOOPS);
	is_about(perf_read_one(perf) - before, BODY_SPIN(SHORT_LOOPS));
	close(perf);
	set_control(fd, &control);
	instret_once(fd, -1);
}
END_TEST

int main(void)
{
	guest_begin("sharing", NULL);
	GUEST_RUN(perf_and_we_at_once, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(perf_before_us, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(one_or_the_other, NEED_COUNTERS | NEED_NO_BESIDE | NEED_PERF);
	GUEST_RUN(same_event_in_turn, NEED_COUNTERS | NEED_PERF);
	GUEST_RUN(perf_samples_beside_us, NEED_COUNTERS | NEED_BESIDE | NEED_PERF | NEED_SAMPLES);
	GUEST_RUN(instret_while_perf_comes_and_goes, NEED_FIXED | NEED_UNFILTERED | NEED_PERF);
	GUEST_RUN(instret_after_perf, NEED_FIXED | NEED_UNFILTERED | NEED_PERF);
	GUEST_RUN(perf_has_all, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	if (!is_beside() || guest.nprogrammable >= 4)
		GUEST_RUN(perf_has_most, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(perf_has_all_of_another_cpu, NEED_COUNTERS | NEED_BESIDE | NEED_PERF | NEED_SMP);
	GUEST_RUN(given_back_after_unlink, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(given_back_after_stop, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(given_back_after_exit, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(given_back_after_kill, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	GUEST_RUN(given_back_after_refusal, NEED_COUNTERS | NEED_BESIDE | NEED_PERF);
	sharing_hotplug();
	sharing_held();
	GUEST_RUN(not_unloaded_while_counting, LOG_MODULE);
	GUEST_RUN(not_unloaded_with_a_handle, LOG_MODULE);
	GUEST_RUN(not_unloaded_with_a_map, LOG_MODULE);
	GUEST_RUN(loads_while_threads_come_and_go, LOG_MODULE);
	return guest_end();
}
