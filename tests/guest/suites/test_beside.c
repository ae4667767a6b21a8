// SPDX-License-Identifier: GPL-2.0
/*
 * Counting through perf, beside perf: whatever perf's other users do, a count is exact, or the
 * thread is told that it was lost. Nobody else reads these counters, and the NMI watchdog and
 * root's perf keep theirs.
 *
 * All but the last two tests count by the shared source, whatever the environment says.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/rivals.h"
#include "suites/beside.h"

#define RUNS		1000u
#define YIELDS		4ul
#define COUNTERS_MAX	40u

/* --- perf is busy --- */

/**
 * struct storm - a user of perf's who opens and closes events all the time
 * @watched: the thread that it looks at, too
 * @rounds: how often
 * @rotated: how many events were not always on a counter
 * @samples: how many
 * @error: errno of what failed
 */
struct storm {
	pid_t watched;
	volatile bool stop;
	volatile uint64_t rounds;
	volatile uint64_t rotated;
	volatile uint64_t samples;
	volatile int error;
};

/*
 * An interrupt that finds no overflow, as that counter's event has gone, ends with all counters
 * of the CPU stopped: pmu_sbi_ovf_handler(). Then perf's own counts have gaps, too.
 */
#if defined(__riscv)
#define STORM_PERIOD	(1ull << 40)
#else
#define STORM_PERIOD	9973
#endif

static int open_timed(unsigned int event, pid_t pid, int cpu)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, event);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return perf_open(&attr, pid, cpu, -1);
}

/* Counts and samples a thread, or all of a CPU, by more events than there are counters. */
static int storm_round(struct storm *storm, pid_t pid, int cpu)
{
	struct {
		uint64_t count, enabled, running;
	} now;
	unsigned int i, n = guest.nprogrammable + 4;
	struct perf_sampling sampling;
	int fds[COUNTERS_MAX], err = 0;

	if (!perf_sampling_begin_at(&sampling, EV_CYCLES, STORM_PERIOD, pid, cpu))
		return -errno;
	for (i = 0; i < n; i++) {
		fds[i] = open_timed(i & 1 ? EV_CYCLES : EV_INSTRUCTIONS, pid, cpu);
		if (fds[i] < 0)
			err = -errno;
	}
	sleep_us(7000);
	for (i = 0; i < n; i++) {
		if (read(fds[i], &now, sizeof(now)) == sizeof(now))
			storm->rotated += now.running < now.enabled;
		close(fds[i]);
	}
	storm->samples += perf_sampling_end(&sampling);
	return err;
}

static void play_storm(struct storm *storm)
{
	int err = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!storm->stop && !err) {
		uint64_t cpu = storm->rounds % (guest.ncpus + 1);

		if (cpu < guest.ncpus)
			err = storm_round(storm, -1, (int)cpu);
		else
			err = storm_round(storm, storm->watched, -1);
		storm->rounds++;
	}
	storm->error = -err;
	_exit(0);
}

START_TEST(exact_while_perf_is_busy)
{
	struct perfctr_control control = two_counters();
	struct rivals_plan plan = {
		.threads = 4, .cpu = -1, .uid = STRANGER_UID, .control = &control, .exact = true,
	};
	struct storm *storm = shared_alloc(sizeof(*storm));
	struct rivals *rivals;
	struct mover *mover = NULL;
	unsigned int turn;
	pid_t pid;
	int fd = count_two();

	storm->watched = gettid();
	ck_ok(pid = fork());
	if (!pid)
		play_storm(storm);
	rivals = rivals_start(&plan);
	if (guest.ncpus > 1)
		mover = mover_start(gettid(), 50);
	for (turn = 0; turn < RUNS || storm->rounds < 12; turn++) {
		exact(fd, body_spin, LOOPS + turn, BODY_SPIN(LOOPS + turn));
		exact(fd, body_yield, YIELDS, BODY_YIELD(YIELDS));
		ck_assert_msg(!storm->error, "perf: %s", strerror(storm->error));
	}
	if (mover)
		ck_assert_uint_gt(mover_stop(mover), 100);
	rivals_stop(rivals);
	storm->stop = true;
	expect_exit(pid, 0);
	ck_assert_uint_gt(storm->rotated, 10);
	if (STORM_PERIOD < 100000)
		ck_assert_uint_gt(storm->samples, 100);
}
END_TEST

/* --- perf takes a counter away --- */

/**
 * struct taker - root's perf has all counters of CPU 0 but one, which it can take
 * @early: the event that takes it; older than ours, so it comes first
 */
struct taker {
	unsigned int n;
	int fds[COUNTERS_MAX];
	int early;
};

static void taker_begin(struct taker *taker)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.pinned = 1;
	attr.disabled = 1;
	ck_ok(taker->early = perf_open(&attr, -1, 0, -1));
	/* RISC-V's firmware has two more counters, which do not keep to user mode. */
	taker->n = perf_take_by(EV_INSTRUCTIONS, 0, taker->fds,
				is_x86() ? COUNTERS_MAX : guest.nprogrammable);
	ck_assert_uint_ge(taker->n, 2);
	close(taker->fds[0]);
	taker->fds[0] = -1;
}

static int count_last_one(struct perfctr_control *control)
{
	int fd = open_self();

	control_init(control);
	control->tsc_on = 1;
	control_add(control, EV_INSTRUCTIONS);
	set_control(fd, control);
	return fd;
}

/* As exact(), of the one counter */
static long try_exact_last(int fd, uint64_t *counted)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	long err = exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, LOOPS);

	*counted = rd[1].sum[0] - rd[0].sum[0];
	return err;
}

static void exact_last(int fd)
{
	uint64_t counted;

	ck_assert_int_eq(try_exact_last(fd, &counted), 0);
	ck_assert_uint_eq(counted, EXACT_KERNEL + BODY_SPIN(LOOPS));
}

/* The sum is that of the loss, and stays so, until a control that finds room. */
START_TEST(an_older_event_takes_the_counter)
{
	struct perfctr_control control;
	struct perfctr_read before, lost, later;
	const struct perfctr_page *page;
	uint64_t words[2], theirs;
	struct taker taker;
	int fd, err;

	pin_self(0);
	taker_begin(&taker);
	fd = count_last_one(&control);
	page = map_page(fd);
	exact_last(fd);
	/* Assertions write. */
	err = try_read(fd, &before);
	body_spin(LOOPS);
	err |= ioctl(taker.early, PERF_EVENT_IOC_ENABLE);
	body_spin(LOOPS);
	ck_assert_int_eq(try_read(fd, &lost), -EIO);
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(lost.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_eq(lost.nrctrs, 1);
	ck_assert_uint_ge(lost.sum[0] - before.sum[0], BODY_SPIN(LOOPS));
	ck_assert_uint_lt(lost.sum[0] - before.sum[0], BODY_SPIN(LOOPS) + 200);
	ck_assert_uint_eq(page->error, PERFCTR_ERROR_LOST);
	ck_errno(read(fd, words, sizeof(words)), EIO);
	theirs = perf_read_one(taker.early);
	body_spin(LOOPS);
	ck_assert_uint_gt(perf_read_one(taker.early) - theirs, BODY_SPIN(LOOPS));
	ck_assert_int_eq(try_read(fd, &later), -EIO);
	ck_assert_uint_eq(later.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_eq(later.sum[0], lost.sum[0]);

	/* There is no room yet on this CPU. */
	ck_assert_int_eq(try_control(fd, &control), -EIO);
	ck_assert_int_eq(try_read(fd, &later), -EIO);
	if (guest.ncpus > 1) {
		pin_self(1);
		set_control(fd, &control);
		exact_last(fd);
		pin_self(0);
		ck_assert_int_eq(try_read(fd, &later), -EIO);
	}
	/* There is one as soon as perf's event has gone. */
	ck_ok(ioctl(taker.early, PERF_EVENT_IOC_DISABLE));
	ck_assert_int_eq(try_read(fd, &later), -EIO);
	set_control(fd, &control);
	ck_assert_uint_eq(page->error, PERFCTR_ERROR_NONE);
	exact_last(fd);
	close(taker.early);
	perf_give_counters(taker.fds, taker.n);
}
END_TEST

/* Takes the counter and gives it back, and has ours made anew each time. */
static void play_taker(const struct taker *taker, unsigned int cpu, const volatile bool *stop)
{
	struct perfctr_control control;
	int fd = try_open(PERFCTR_OPEN_CREAT);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin_self(cpu);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	while (!*stop) {
		ioctl(taker->early, PERF_EVENT_IOC_ENABLE);
		sleep_us(200);
		ioctl(taker->early, PERF_EVENT_IOC_DISABLE);
		if (try_control(fd, &control))
			_exit(1);
		sleep_us(200);
	}
	_exit(0);
}

/* Each run is counted exactly, or is told to be lost, however soon the event is there again. */
static void exact_or_lost(unsigned int cpu)
{
	volatile bool *stop = shared_alloc(sizeof(*stop));
	unsigned int lost = 0, right = 0;
	struct perfctr_control control;
	struct taker taker;
	pid_t pid;
	int fd;

	pin_self(0);
	taker_begin(&taker);
	fd = count_last_one(&control);
	ck_ok(pid = fork());
	if (!pid)
		play_taker(&taker, cpu, stop);
	while (lost < 50 || right < RUNS) {
		uint64_t counted;
		long err = try_exact_last(fd, &counted);

		if (err == -EIO) {
			lost++;
			/* It is lost at once if there is no room. */
			err = try_control(fd, &control);
			ck_assert(!err || err == -EIO);
			continue;
		}
		ck_assert_int_eq(err, 0);
		ck_assert_msg(counted == EXACT_KERNEL + BODY_SPIN(LOOPS),
			      "counted %llu, executed %llu, after %u that were right and %u lost",
			      (unsigned long long)counted,
			      (unsigned long long)(EXACT_KERNEL + BODY_SPIN(LOOPS)), right, lost);
		right++;
		ck_assert_msg(right < 100 * RUNS, "%u were lost", lost);
	}
	*stop = true;
	expect_exit(pid, 0);
	close(taker.early);
	perf_give_counters(taker.fds, taker.n);
}

START_TEST(exact_or_lost_on_this_cpu)
{
	exact_or_lost(0);
}
END_TEST

START_TEST(exact_or_lost_from_another_cpu)
{
	exact_or_lost(1);
}
END_TEST

/* Threads count on a CPU that goes; they count on elsewhere, and come back. */
START_TEST(cpu_goes_from_under_threads)
{
	struct perfctr_control control = two_counters();
	struct rivals_plan plan = { .n = 4, .cpu = 1, .control = &control, .exact = true };
	unsigned int turn;
	int fd = count_two();

	pin_self(0);
	for (turn = 0; turn < 5; turn++) {
		struct rivals *rivals = rivals_start(&plan);
		uint64_t turns;

		ck_assert_int_eq(cpu_online(1, false), 0);
		for (turns = rivals_turns(rivals); rivals_turns(rivals) < turns + 20;)
			exact_once(fd);
		ck_assert_int_eq(cpu_online(1, true), 0);
		pin_self(1);
		exact_once(fd);
		pin_self(0);
		exact_once(fd);
		rivals_stop(rivals);
	}
}
END_TEST

/* --- everything at once --- */

#define ROUNDS	5

#define NR_PARTIES 5

/**
 * struct party - one of those who count at the same time
 * @command: what it runs, or NULL: it counts itself, by the library
 * @uid: who it is
 * @says: what the command's output must contain
 */
struct party {
	const char *command;
	uid_t uid;
	char says[64];
	pid_t pid;
	volatile unsigned int rounds;
	volatile bool stop;
	char failure[512];
};

static void party_runs(struct party *party)
{
	while (!party->stop && !party->failure[0]) {
		char text[8192];
		FILE *output = popen(party->command, "r");
		size_t size = output ? fread(text, 1, sizeof(text) - 1, output) : 0;
		int status = output ? pclose(output) : -1;

		text[size] = '\0';
		if (status || !strstr(text, party->says))
			(void)snprintf(party->failure, sizeof(party->failure),
				       "%s: status %#x: %.400s", party->command,
				       (unsigned int)status, text);
		party->rounds++;
	}
}

/* A program with its page mapped: reads are inline where the page shows registers. */
static void party_counts(struct party *party)
{
	struct vperfctr *v = vperfctr_open();
	struct vperfctr_control control = {};
	uint64_t value[2], expected, wrong = 0;
	long ret = -1;

	control.cpu_control.tsc_on = 1;
	control.cpu_control.nractrs = 2;
	control.cpu_control.pmc_map[0] = PERFCTR_MAP_ANY;
	control.cpu_control.pmc_map[1] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control.cpu_control, 0, EV_INSTRUCTIONS);
	OLD_EVENT(&control.cpu_control, 1, EV_CYCLES);
	if (!v || vperfctr_control(v, &control)) {
		(void)snprintf(party->failure, sizeof(party->failure), "library: %s",
			       strerror(errno));
		return;
	}
	while (!party->stop && !party->failure[0]) {
		if (page_asks(vperfctr_page(v), 0)) {
			ret = try_exact(vperfctr_fd(v), body_spin, LOOPS, BODY_SPIN(LOOPS), &wrong);
		} else {
			ret = exact_inline(vperfctr_page(v), 0, body_spin, LOOPS, value);
			expected = EXACT_INLINE + BODY_SPIN(LOOPS) + (uint64_t)ret * EXACT_INLINE_RETRY;
			wrong = value[1] - value[0];
			if (ret >= 0)
				ret = wrong == expected ? 0 : -ERANGE;
		}
		if (ret)
			(void)snprintf(party->failure, sizeof(party->failure),
				       "library: %s, counted %llu", strerror((int)-ret),
				       (unsigned long long)wrong);
		party->rounds++;
		if (party->rounds % 16 == 0)
			sched_yield();
	}
}

/* @cpu: where, or -1 */
static void party_start(struct party *party, int cpu)
{
	pid_t pid;

	ck_ok(pid = fork());
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (party->uid)
			become(party->uid);
		if (cpu >= 0)
			pin_self((unsigned int)cpu);
		if (party->command)
			party_runs(party);
		else
			party_counts(party);
		_exit(0);
	}
	party->pid = pid;
	while (!party->rounds && !party->failure[0])
		sleep_us(1000);
}

/*
 * The NMI watchdog where there is one, a program with a mapped page, perfex in three terminals,
 * and perf. On x86 all of them count through perf, which the watchdog has made the source of the
 * machine.
 */
START_TEST(everything_at_once)
{
#define PERFEX(events)	"/usr/bin/perfex -e " events " --json -- " KNOWN_PATH " 2>&1"
	static const char witness[] =
		"/usr/bin/witness -e instructions:u -e cycles:u -- " KNOWN_PATH " 2>&1";
	const struct party plan[NR_PARTIES] = {
		{ .uid = GUEST_UID },
		{ .command = PERFEX("instructions:u") },
		{ .uid = GUEST_UID, .command = PERFEX("cycles:u") },
		{ .uid = STRANGER_UID, .command = PERFEX("instructions:u,cycles:u") },
		{ .command = witness },
	};
	struct party *parties = shared_alloc(sizeof(plan));
	bool hybrid = guest.info.cpu_features & PERFCTR_FEATURE_HYBRID;
	unsigned int i;

	if (is_x86())
		set(WATCHDOG, "1");
	memcpy(parties, plan, sizeof(plan));
	for (i = 0; i < NR_PARTIES; i++) {
		(void)snprintf(parties[i].says, sizeof(parties[i].says), "%s%llu",
			       parties[i].command == witness ? "" : "\"count\": ",
			       (unsigned long long)KNOWN_LENGTH(KNOWN_LOOPS));
		/* An event of perf's that a thread has counts on one type of core. */
		party_start(&parties[i], parties[i].command == witness && hybrid ? 0 : -1);
	}
	for (i = 0; i < NR_PARTIES; i++)
		while (parties[i].rounds < ROUNDS && !parties[i].failure[0])
			sleep_us(1000);
	/* The first one last: while it counts there is a source. */
	for (i = NR_PARTIES; i--;) {
		parties[i].stop = true;
		expect_exit(parties[i].pid, 0);
		ck_assert_msg(!parties[i].failure[0], "%u: %s", i, parties[i].failure);
	}
}
END_TEST

/* The parameter `source`: who asks for any gets that, and who asks for the other is refused. */
START_TEST(forced_source)
{
	static const char *const names[] = { "native", "shared" };
	struct perfctr_control control;
	uint32_t forced, asked;
	int fd = open_self(), err;

	if (is_x86())
		set(WATCHDOG, "0");
	for (forced = PERFCTR_SOURCE_NATIVE; forced <= PERFCTR_SOURCE_SHARED; forced++) {
		set(MODULE_SOURCE, names[forced]);
		ck_assert_int_eq(write_text(MODULE_SOURCE, "neither"), -EINVAL);
		for (asked = PERFCTR_SOURCE_NATIVE; asked <= PERFCTR_SOURCE_ANY; asked++) {
			control = two_counters();
			control.source = asked;
			err = try_control(fd, &control);
			if (asked == forced || asked == PERFCTR_SOURCE_ANY) {
				struct perfctr_control seen = { PERFCTR_CONTROL_INIT };

				ck_assert_int_eq(err, 0);
				ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &seen));
				ck_assert_uint_eq(seen.source, forced);
				exact_once(fd);
			} else {
				ck_assert_int_eq(err, -EOPNOTSUPP);
				ck_assert_uint_eq(control.reason, PERFCTR_REASON_SOURCE);
			}
			control.nractrs = 0;
			set_control(fd, &control);
		}
	}
	unlink_self(fd);
}
END_TEST

int main(void)
{
	const unsigned int shared = NEED_COUNTERS | NEED_SHARED | NEED_PERF;
	size_t i;

	(void)setenv("SOURCE", "shared", 1);
	for (i = 0; i < NR_SETTINGS; i++)
		if (read_text(settings[i].path, settings[i].value, sizeof(settings[i].value)) < 0)
			settings[i].value[0] = '\0';
	guest_begin("beside", NULL);
	run(exact_while_perf_is_busy, shared);
	run(an_older_event_takes_the_counter, shared);
	run(exact_or_lost_on_this_cpu, shared);
	run(exact_or_lost_from_another_cpu, shared | NEED_SMP);
	run(cpu_goes_from_under_threads, shared | NEED_SMP);
	beside_others();
	run(everything_at_once, NEED_COUNTERS | NEED_PERF);
	if (guest.info.cpu_features & PERFCTR_FEATURE_NATIVE)
		run(forced_source, shared | NEED_ALIKE);
	return guest_end();
}
