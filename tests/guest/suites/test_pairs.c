// SPDX-License-Identifier: GPL-2.0
/*
 * All that a state can do, for each whose it can be, by each source, under each policy, and by either
 * way to see switches: what it counts of code of known length is exact. So each pair of these
 * values has a test, whatever the other subjects are about.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"

#define LENGTH		KNOWN_LENGTH(KNOWN_LOOPS)
#define LOOPS		50000
#define PERIOD		10007
#define MMCR0_TRIGGER	0x00002000u

enum does { AMODE, SIGNAL, OVERFLOW, TIME, OWN_WAY };
enum whose { OWN, BOUND, TRACED, OUTSIDE, SESSION };

static const char *const sources[] = { "native", "shared" };
static const char *const deeds[] = { "a-mode", "signal", "overflow", "time", "own way" };
static const char *const owners[] = { "own", "one-cpu", "traced", "outside", "session" };

/* What is counted now, for messages */
static unsigned int source;
static enum does does;
static enum whose whose;

static void expect(const char *what, uint64_t got, uint64_t want)
{
	ck_assert_msg(got == want, "%s, %s, %s: %s %llu, not %llu", sources[source], deeds[does],
		      owners[whose], what, (unsigned long long)got, (unsigned long long)want);
}

static bool has_imode(void)
{
	return does == SIGNAL || does == OVERFLOW;
}

static bool records(void)
{
	return does == OVERFLOW || does == TIME;
}

static bool can_be(const char *policy)
{
	const unsigned int features = guest.info.cpu_features;

	if (source == PERFCTR_SOURCE_SHARED &&
	    (!(features & PERFCTR_FEATURE_SHARED) || is_p4() || has_imode() || does == OWN_WAY))
		return false;
	if (source == PERFCTR_SOURCE_NATIVE && (guest.shared || !(features & PERFCTR_FEATURE_NATIVE)))
		return false;
	if (has_imode() && !(features & PERFCTR_FEATURE_PCINT))
		return false;
	/* The processor that has something of the kind whenever it has counters */
	if (does == OWN_WAY && !is_ppc())
		return false;
	if (whose == TRACED && records())
		return false;
	if (whose != SESSION)
		return true;
	/* Where everybody reads the registers a session needs "open". */
	return !has_imode() && !records() &&
	       (source == PERFCTR_SOURCE_SHARED || !is_ppc() || !strcmp(policy, "open"));
}

static void count(int fd)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = 4 };
	struct perfctr_control control;
	int err;

	control_init(&control);
	control.source = source;
	if (has_imode())
		control_add_ictr(&control, EV_INSTRUCTIONS, -PERIOD);
	else if (does == OWN_WAY)
		control_add_at(&control, 0, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	else
		control_add(&control, EV_INSTRUCTIONS);
	if (does == OWN_WAY) {
		/* It waits for the first to become negative, which takes longer. */
		control_add_at(&control, 1, EV_CYCLES, PERFCTR_CTR_USER);
		control.ctr[0].config = MMCR0_TRIGGER;
		control.ctr[1].config = MMCR0_TRIGGER;
	}
	/* Nobody handles the signal, so no more is executed for it. */
	if (does == SIGNAL) {
		control.si_signo = SIGURG;
		control.refresh = LENGTH;
	}
	if (records()) {
		control.flags |= PERFCTR_CONTROL_RECORD;
		ck_ok(ioctl(fd, PERFCTR_IOC_RING, &ring));
	}
	if (does == TIME)
		control.timer_ns = PERFCTR_TIMER_MIN;
	if (whose == BOUND || whose == SESSION)
		control.flags |= PERFCTR_CONTROL_CPU;
	if (whose == OUTSIDE)
		control.flags |= PERFCTR_CONTROL_INHERIT;
	err = try_control(fd, &control);
	ck_assert_msg(!err, "%s, %s, %s: CONTROL: %s, reason %u", sources[source], deeds[does],
		      owners[whose], strerror(-err), control.reason);
}

static void count_a_loop(int fd)
{
	struct perfctr_read space[2] = {};
	struct perfctr_read_cpu *of_cpu[2] = { (void *)&space[0], (void *)&space[1] };
	unsigned long cmd = whose == SESSION ? PERFCTR_IOC_READ_CPU : PERFCTR_IOC_READ;
	const __u64 *first = space[0].sum, *second = space[1].sum;

	space[0].size = sizeof(*of_cpu[0]);
	space[1].size = sizeof(*of_cpu[1]);
	if (whose == SESSION) {
		first = of_cpu[0]->sum;
		second = of_cpu[1]->sum;
		of_cpu[0]->cpu = 0;
		of_cpu[1]->cpu = 0;
	} else {
		space[0].size = sizeof(space[0]);
		space[1].size = sizeof(space[1]);
	}
	expect("exact_kernel()", (uint64_t)exact_kernel(fd, cmd, space, body_spin, LOOPS), 0);
	expect("instructions", second[0] - first[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
	if (does == OWN_WAY)
		expect("of the counter that waits", second[1], 0);
	if (has_imode())
		expect("overflows", space[1].overflows, second[0] / PERIOD);
}

static void count_self(void)
{
	int fd = open_self();

	count(fd);
	count_a_loop(fd);
	unlink_self(fd);
	close(fd);
}

static void count_cpu(void)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	int fd = open_device();

	ck_ok(ioctl(fd, PERFCTR_IOC_OPEN, &o));
	count(fd);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	count_a_loop(fd);
	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	close(fd);
}

/* A signal would stop it again, so it is let go. */
static void finish(pid_t pid)
{
	ck_ok(ptrace(PTRACE_DETACH, pid, NULL, NULL));
	expect_exit(pid, 0);
}

static void count_tracee(void)
{
	pid_t pid = exec_traced(KNOWN_PATH);
	struct perfctr_open o = { .size = sizeof(o), .tid = pid,
				  .flags = PERFCTR_OPEN_CREAT | PERFCTR_OPEN_THREAD };
	struct perfctr_read rd;
	int fd = open_device();

	ck_ok(ioctl(fd, PERFCTR_IOC_OPEN, &o));
	count(fd);
	finish(pid);
	read_all(fd, &rd);
	expect("instructions", rd.sum[0], LENGTH);
	if (does == OWN_WAY)
		expect("of the counter that waits", rd.sum[1], 0);
	if (has_imode())
		expect("overflows", rd.overflows, LENGTH / PERIOD);
	close(fd);
}

static void count_member(void)
{
	pid_t pid = exec_traced(KNOWN_PATH);
	struct perfctr_add_member add = { .size = sizeof(add), .tid = pid };
	struct perfctr_read_tree tree;
	int fd = open_self();

	count(fd);
	ck_ok(ioctl(fd, PERFCTR_IOC_ADD_MEMBER, &add));
	finish(pid);
	ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &tree), 0);
	expect("members", tree.ended, 1);
	expect("instructions", tree.sum[0], LENGTH);
	if (does == OWN_WAY)
		expect("of the counter that waits", tree.sum[1], 0);
	unlink_self(fd);
	close(fd);
}

static void under(const char *policy)
{
	static void (*const counts[])(void) = {
		[OWN] = count_self,
		[BOUND] = count_self,
		[TRACED] = count_tracee,
		[OUTSIDE] = count_member,
		[SESSION] = count_cpu,
	};

	pin_self(0);
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", policy), 0);
	for (whose = OWN; whose <= SESSION; whose++) {
		/* A session counts whoever executes there. */
		if (whose == SESSION)
			make_realtime();
		for (source = PERFCTR_SOURCE_NATIVE; source <= PERFCTR_SOURCE_SHARED; source++)
			for (does = AMODE; does <= OWN_WAY; does++)
				if (can_be(policy))
					counts[whose]();
	}
}

START_TEST(all_under_off)
{
	under("off");
}
END_TEST

START_TEST(all_under_guarded)
{
	under("guarded");
}
END_TEST

START_TEST(all_under_open)
{
	under("open");
}
END_TEST

int main(void)
{
	static const char *const params[] = { NULL, "by_tracepoint=1" };
	unsigned int i;

	/* A kernel without preempt notifiers knows no such parameter, and takes it all the same. */
	for (i = 0; i < 2; i++) {
		if (i)
			(void)guest_end();
		guest_begin("pairs", params[i]);
		GUEST_RUN(all_under_off, NEED_COUNTERS);
		GUEST_RUN(all_under_guarded, NEED_COUNTERS);
		GUEST_RUN(all_under_open, NEED_COUNTERS);
		(void)write_text(MODULE_PARAMS "user_read", "guarded");
	}
	return guest_end();
}
