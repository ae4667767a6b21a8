// SPDX-License-Identifier: GPL-2.0
/* CPUs that come and go, with their counters. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/rivals.h"
#include "suites/sharing.h"

START_TEST(cpu_goes_and_comes)
{
	struct perfctr_control control = control_of(EV_INSTRUCTIONS);
	struct rivals_plan plan = {
		.threads = 4, .cpu = -1, .control = &control, .exact = true,
	};
	struct rivals *rivals = rivals_start(&plan);
	int fd = open_self(), turn;

	set_control(fd, &control);
	for (turn = 0; turn < 10; turn++) {
		ck_assert_int_eq(cpu_online(1, false), 0);
		exact_once(fd);
		sleep_us(20000);
		ck_assert_int_eq(cpu_online(1, true), 0);
		exact_once(fd);
		sleep_us(20000);
		pin_self(1);
		exact_once(fd);
		pin_self(0);
		exact_once(fd);
	}
	rivals_stop(rivals);
}
END_TEST

/* If a CPU is away during a control, its counters are taken as it comes. */
START_TEST(cpu_comes_after_control)
{
	struct perfctr_control control = control_of(EV_INSTRUCTIONS);
	const struct perfctr_page *page;
	uint64_t value[2];
	int fd = open_self(), turn;
	long ret;

	page = map_page(fd);
	for (turn = 0; turn < 5; turn++) {
		ck_assert_int_eq(cpu_online(1, false), 0);
		control.ctr[0].event = own_event(turn & 1 ? EV_INSTRUCTIONS : EV_CYCLES);
		control.ctr[0].config = own_config(turn & 1 ? EV_INSTRUCTIONS : EV_CYCLES);
		set_control(fd, &control);
		exact_once(fd);
		ck_assert_int_eq(cpu_online(1, true), 0);
		pin_self(1);
		exact_once(fd);
		if (guest.info.cpu_features & PERFCTR_FEATURE_RDPMC) {
			ret = exact_inline(page, 0, body_spin, SHORT_LOOPS, value);
			ck_assert_int_ge(ret, 0);
			ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(SHORT_LOOPS) +
					  (uint64_t)ret * EXACT_INLINE_RETRY);
		}
		pin_self(0);
	}
	unlink_self(fd);
	perf_gets_all();
}
END_TEST

/*
 * perf counts for the very thread that brings CPU 1 up, so the counters there
 * are taken at the moment when we ask for them.
 */
struct obstacle {
	unsigned int n;
	int fds[PROGRAMMABLE_MAX];
	unsigned int ncpu1;
	int cpu1_fds[PROGRAMMABLE_MAX];
};

static void obstacle_raise(struct obstacle *obstacle)
{
	pid_t pid = kernel_thread("cpuhp/1");
	struct perf_event_attr attr;

	ck_assert_int_gt(pid, 0);
	obstacle->ncpu1 = 0;
	ck_assert_int_eq(cpu_online(1, false), 0);
	perf_attr_init(&attr, EV_DTLB_LOAD_MISSES);
	attr.exclude_kernel = 0;
	attr.pinned = 1;
	for (obstacle->n = 0; obstacle->n < guest.nprogrammable; obstacle->n++) {
		int fd = perf_open(&attr, pid, -1, -1);

		ck_assert_msg(fd >= 0, "perf_event_open(cpuhp/1): %s", strerror(errno));
		obstacle->fds[obstacle->n] = fd;
	}
}

/* The CPU is up: perf keeps its counters, all of them, since we had none. */
static void obstacle_stays(struct obstacle *obstacle)
{
	obstacle->ncpu1 = perf_take_counters(1, obstacle->cpu1_fds, PROGRAMMABLE_MAX);
	ck_assert_uint_eq(obstacle->ncpu1, guest.nprogrammable);
}

static void obstacle_remove(struct obstacle *obstacle)
{
	perf_give_counters(obstacle->cpu1_fds, obstacle->ncpu1);
	perf_give_counters(obstacle->fds, obstacle->n);
	(void)cpu_online(1, true);
}

START_TEST(cpu_comes_without_its_counters)
{
	struct perfctr_control control = control_of(EV_INSTRUCTIONS);
	const struct perfctr_page *page;
	struct perfctr_read rd, later;
	struct obstacle obstacle;
	uint64_t before, words[2];
	int fd = open_self();

	pin_self(0);
	page = map_page(fd);
	obstacle_raise(&obstacle);
	set_control(fd, &control);
	ck_assert_int_eq(cpu_online(1, true), 0);
	obstacle_stays(&obstacle);
	/* On this CPU all is as it was. */
	exact_once(fd);
	before = read_sum(fd, 0);

	pin_self(1);
	ck_assert_int_eq(try_read(fd, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_ge(rd.sum[0], before);
	ck_assert_uint_eq(page->error, PERFCTR_ERROR_LOST);
	ck_assert_int_lt(page->seq, 0);
	ck_errno(read(fd, words, sizeof(words)), EIO);

	/* The error is sticky, also on a CPU whose counters we have. */
	pin_self(0);
	body_spin(SHORT_LOOPS);
	ck_assert_int_eq(try_read(fd, &later), -EIO);
	ck_assert_mem_eq(&later, &rd, sizeof(rd));
	ck_assert_uint_eq(page->error, PERFCTR_ERROR_LOST);

	/* A new control starts anew, and works once perf is gone. */
	obstacle_remove(&obstacle);
	set_control(fd, &control);
	ck_assert_uint_eq(page->error, PERFCTR_ERROR_NONE);
	exact_once(fd);
	pin_self(1);
	exact_once(fd);
	unlink_self(fd);
	perf_gets_all();
}
END_TEST

/* A program that perfex runs is moved to such a CPU. */
#define CPU_IS_UP "/tmp/cpu-is-up"
#define CPU_IS_TAKEN "/tmp/cpu-is-taken"

START_TEST(perfex_shows_a_lost_counter)
{
	static const char command[] =
		"perfex --self -e instructions:u -o /tmp/lost.txt -- taskset 1 sh -c '"
		"echo 1 > /sys/devices/system/cpu/cpu1/online; touch " CPU_IS_UP "; "
		"while [ ! -e " CPU_IS_TAKEN " ]; do sleep 0.01; done; "
		"exec taskset 2 " KNOWN_PATH "'";
	struct obstacle obstacle;
	char output[4096];
	pid_t child;
	int status;

	(void)unlink(CPU_IS_UP);
	(void)unlink(CPU_IS_TAKEN);
	obstacle_raise(&obstacle);
	ck_ok(child = fork());
	if (!child) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(99);
	}
	while (access(CPU_IS_UP, F_OK))
		sleep_us(1000);
	obstacle_stays(&obstacle);
	ck_assert_int_ge(open(CPU_IS_TAKEN, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	obstacle_remove(&obstacle);

	/* The program's status was 0, but its counts are not those of the whole run. */
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 125);
	ck_assert_int_gt(read_text("/tmp/lost.txt", output, sizeof(output)), 0);
	ck_assert_msg(strstr(output, "INCOMPLETE") != NULL, "perfex says: %s", output);
}
END_TEST

void sharing_hotplug(void)
{
	GUEST_RUN(cpu_goes_and_comes, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(cpu_comes_after_control, NEED_COUNTERS | NEED_BESIDE | NEED_PERF | NEED_SMP);
	/* On x86, a kernel thread holds the counters of a CPU that comes, where events of cpuhp do not count. */
	if (is_beside())
		return;
	GUEST_RUN(cpu_comes_without_its_counters,
		  NEED_BESIDE | NEED_COUNTERS | NEED_PERF | NEED_SMP | LOG_MODULE);
	GUEST_RUN(perfex_shows_a_lost_counter,
		  NEED_BESIDE | NEED_COUNTERS | NEED_PERF | NEED_SMP | LOG_MODULE);
}
