// SPDX-License-Identifier: GPL-2.0
/*
 * How much a user may burden the machine: interrupts of CPUs that others use, and different
 * controls.
 *
 * The module is loaded as it is by default, unlike for other tests.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/burden.h"

/* The parameter's default: broadcasts a second, and broadcasts at once */
#define LIMIT 100u
/* Most broadcasts of one call, which waits before it begins and not in its middle */
#define ONE_CALL 40u

static bool says_1(const char *path)
{
	char text[64];

	return read_text(path, text, sizeof(text)) > 0 && text[0] == '1';
}

/* Is CPU 1 isolated (isolcpus=1, or nohz_full=1)? */
static bool is_isolated(void)
{
	return says_1("/sys/devices/system/cpu/isolated") ||
	       says_1("/sys/devices/system/cpu/nohz_full");
}

/* CPU 1's interrupts by which other CPUs make it call functions, as broadcasts do */
static uint64_t calls_of_cpu1(void)
{
	static char text[65536];
	char *line, *end;

	ck_assert_int_gt(read_text("/proc/interrupts", text, sizeof(text)), 0);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strstr(line, "unction call interrupts"))
			continue;
		/* "name: CPU0 CPU1 text" */
		strtoull(strchr(line, ':') + 1, &end, 10);
		return strtoull(end, NULL, 10);
	}
	ck_abort_msg("/proc/interrupts does not tell of function calls");
	return 0;
}

static void set_parameter(const char *name, unsigned int value)
{
	char path[128], text[16];

	(void)snprintf(path, sizeof(path), MODULE_PARAMS "%s", name);
	(void)snprintf(text, sizeof(text), "%u", value);
	ck_assert_int_eq(write_text(path, text), 0);
}

/* --- what makes broadcasts: each call is the next of its kind, and returns 0 or -errno --- */

/* Claims a control that nobody else has, each time another, and gives its predecessor back. */
static int new_control(int fd)
{
	static unsigned int turn;
	struct perfctr_control control;

	control_init(&control);
	control_add(&control, turn++ % 2 ? EV_INSTRUCTIONS : EV_CYCLES);
	return try_control(fd, &control);
}

/* Stops or resumes a tree with a member on CPU 1. */
static int stop_tree(int fd)
{
	static bool stop;

	stop = !stop;
	return ioctl(fd, stop ? PERFCTR_IOC_SUSPEND : PERFCTR_IOC_RESUME) ? -errno : 0;
}

/* Permits the process to read registers, and ends that. */
static int map_and_unmap(int fd)
{
	void *page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	return page == MAP_FAILED || munmap(page, PAGE_SIZE) ? -errno : 0;
}

/*
 * A control that is refused. RISC-V's firmware is asked about a raw event, on each counter
 * and each CPU; x86's processor itself says which events it lacks.
 */
static int refused_control(int fd)
{
	struct perfctr_control control;

	control_init(&control);
	control_add(&control, EV_MISSING);
#if defined(__riscv)
	control.ctr[0].event = 0x20000;
	control.ctr[0].config = 0x7fff;
#endif
	return try_control(fd, &control) == -EINVAL ? 0 : -EIO;
}

/* A tree with a member that has ended. vfork() makes the kernel itself interrupt nobody. */
static int new_tree(int fd)
{
	struct perfctr_control control;
	pid_t child;
	int err;

	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add(&control, EV_INSTRUCTIONS);
	err = try_control(fd, &control);
	if (err)
		return err;
	child = vfork();	/* NOLINT(*vfork,bugprone-unsafe-functions) */
	if (!child)
		_exit(0);
	return waitpid(child, NULL, 0) == child ? 0 : -errno;
}

static const struct {
	const char *name;
	int (*call)(int fd);
} kinds[] = {
	{ "controls", new_control },
	{ "refusals", refused_control },
	{ "stop and go", stop_tree },
	{ "maps", map_and_unmap },
	{ "trees", new_tree },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/*
 * Some CPU has the thread that ends RCU's grace periods. Others wake it by the same interrupts as
 * broadcasts make, some 50 times a second in kernels that check themselves: it stays on CPU 0.
 */
static void keep_rcu_away(void)
{
	pid_t rcu = kernel_thread("rcu_preempt");

	if (!rcu)
		rcu = kernel_thread("rcu_sched");
	if (rcu)
		pin_thread(rcu, 0);
}

/*
 * A user on CPU 0 that counts, as the root of a tree. With @member one of its threads spins
 * on CPU 1.
 */
static int begin(bool member)
{
	struct perfctr_control control;
	pid_t child;
	int fd;

	pin_self(0);
	fd = open_self();
	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add(&control, EV_INSTRUCTIONS);
	set_control(fd, &control);
	if (member) {
		ck_ok(child = fork());
		if (!child) {
			pin_self(1);
			for (;;)
				body_spin(LOOPS);
		}
		sleep_us(20000);
	}
	return fd;
}

/* The number of calls in @ns, and CPU 1's interrupts meanwhile */
static unsigned int call_for(int (*call)(int fd), int fd, uint64_t ns, uint64_t *interrupts)
{
	uint64_t end = now_ns() + ns, before = calls_of_cpu1();
	unsigned int n = 0;
	int err;

	do {
		err = call(fd);
		ck_assert_msg(!err, "call %u: %s", n, strerror(-err));
		n++;
	} while (now_ns() < end);
	*interrupts = calls_of_cpu1() - before;
	return n;
}

/* So many seconds' broadcasts, and one second's saved up. Other interrupts are few. */
static void expect_bounded(int (*call)(int fd), bool member, unsigned int seconds)
{
	int fd = begin(member);
	uint64_t interrupts;
	unsigned int n;

	/* Patches of the kernel's text come once, here. */
	ck_assert_int_eq(map_and_unmap(fd), 0);
	sleep_us(100000);
	n = call_for(call, fd, seconds * 1000000000ull, &interrupts);
	ck_assert_msg(interrupts <= (1 + seconds) * LIMIT + ONE_CALL + 20, "%u calls made %llu interrupts",
		      n, (unsigned long long)interrupts);
}

START_TEST(controls_are_bounded)
{
	expect_bounded(new_control, false, 3);
}
END_TEST

START_TEST(refusals_are_bounded)
{
	/* A call that is refused without a broadcast does not wait: each second is a long one. */
	expect_bounded(refused_control, false, 1);
}
END_TEST

START_TEST(stop_and_go_is_bounded)
{
	expect_bounded(stop_tree, true, 3);
}
END_TEST

START_TEST(maps_are_bounded)
{
	expect_bounded(map_and_unmap, false, 3);
}
END_TEST

/*
 * A tree with a live member that was last on CPU 1, which is told as the next control ends
 * the tree. The kernel itself interrupts for a fork, so calls are counted and not interrupts.
 */
START_TEST(trees_are_bounded)
{
	int fd = begin(false), ready[2];
	uint64_t start = now_ns();
	unsigned int n = 0;
	char byte;

	ck_ok(pipe(ready));
	do {
		pid_t member;

		ck_assert_int_eq(new_tree(fd), 0);
		ck_ok(member = fork());
		if (!member) {
			pin_self(1);
			if (write(ready[1], "x", 1) == 1)
				pause();
			_exit(1);
		}
		ck_assert_int_eq(read(ready[0], &byte, 1), 1);
		ck_assert_int_eq(new_tree(fd), 0);
		ck_ok(kill(member, SIGKILL));
		ck_assert_int_eq(waitpid(member, NULL, 0), member);
		n++;
	} while (now_ns() - start < 3000000000ull);
	ck_assert_uint_le(n, 4 * LIMIT + 20);
}
END_TEST

/* So the limit is what bounds the calls, and the interrupts are ours. */
START_TEST(without_a_limit_they_are_more)
{
	int fd;
	uint64_t interrupts;

	set_parameter("broadcasts", 0);
	become(GUEST_UID);
	fd = begin(false);
	call_for(new_control, fd, 2000000000ull, &interrupts);
	ck_assert_uint_gt(interrupts, 1000);
}
END_TEST

/* Spends all broadcasts, so that the next call waits. */
static int spend(void)
{
	int fd = begin(false);
	unsigned int i;

	for (i = 0; i < LIMIT; i++)
		ck_assert_int_eq(new_control(fd), 0);
	return fd;
}

/* The call waits; a signal ends that with EINTR, and nothing has changed. */
START_TEST(the_wait_is_interruptible)
{
	struct sigaction action = { .sa_handler = wake };
	struct perfctr_control before = { PERFCTR_CONTROL_INIT }, after = { PERFCTR_CONTROL_INIT };
	int fd = spend(), err = 0;
	unsigned int i;

	sigaction(SIGALRM, &action, NULL);
	for (i = 0; i < 5 && !err; i++) {
		ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &before));
		ualarm(2000, 0);
		err = new_control(fd);
		ualarm(0, 0);
	}
	ck_assert_int_eq(err, -EINTR);
	ck_ok(ioctl(fd, PERFCTR_IOC_READ_CONTROL, &after));
	ck_assert_mem_eq(&before, &after, sizeof(before));
	/* The call is not denied for ever. */
	ck_assert_int_eq(new_control(fd), 0);
}
END_TEST

/*
 * A signal ends the wait as a session is closed, and it is stopped all the same. A kernel that
 * checks itself says whether somebody looks at what was freed.
 */
START_TEST(a_session_ends_in_spite_of_a_signal)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	struct sigaction action = { .sa_handler = wake };
	struct perfctr_control control;
	unsigned int i;
	int session;

	sigaction(SIGALRM, &action, NULL);
	for (i = 0; i < 5; i++) {
		session = open_device();
		ck_ok(ioctl(session, PERFCTR_IOC_OPEN, &o));
		control_init(&control);
		control.flags = PERFCTR_CONTROL_CPU;
		control.tsc_on = 1;
		set_control(session, &control);
		ck_ok(ioctl(session, PERFCTR_IOC_RESUME));
		close(spend());
		ualarm(2000, 0);
		close(session);
		ualarm(0, 0);
		/* Suspends and resumes whatever counts on this CPU */
		ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "guarded"), 0);
	}
}
END_TEST

START_TEST(the_wait_can_be_killed)
{
	pid_t child;
	int status;

	ck_ok(child = fork());
	if (!child) {
		int fd = spend();

		for (;;)
			new_control(fd);
	}
	sleep_us(500000);
	ck_ok(kill(child, SIGKILL));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

/* A user that has spent its broadcasts does not make another one wait. */
START_TEST(each_user_has_its_own)
{
	uint64_t start, took;
	pid_t spender;
	int fd, pair[2];
	char byte;

	ck_ok(pipe(pair));
	ck_ok(spender = fork());
	if (!spender) {
		become(GUEST_UID);
		fd = spend();
		ck_assert_int_eq(write(pair[1], "x", 1), 1);
		for (;;)
			new_control(fd);
	}
	ck_assert_int_eq(read(pair[0], &byte, 1), 1);
	become(STRANGER_UID);
	start = now_ns();
	fd = begin(false);
	ck_assert_int_eq(new_control(fd), 0);
	ck_assert_int_eq(new_control(fd), 0);
	took = now_ns() - start;
	ck_assert_msg(took < 20000000, "it took %llu us", (unsigned long long)took / 1000);
}
END_TEST

/* --- an isolated CPU --- */

/* A loop on CPU 1: 0 if it was counted exactly */
static int count_there(int fd)
{
	struct perfctr_read before, after;
	uint64_t took;

	if (try_read(fd, &before))
		return 1;
	body_spin(LOOPS);
	if (try_read(fd, &after))
		return 2;
	took = after.sum[0] - before.sum[0];
	return took < BODY_SPIN(LOOPS) || took > BODY_SPIN(LOOPS) + 2000 ? 3 : 0;
}

/* Starts to count on another CPU, is bound to CPU 1, says so, and goes on when told. */
static void play_resident(int says, int hears)
{
	struct perfctr_control control;
	int fd = try_open(PERFCTR_OPEN_CREAT), err;
	char byte;

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	if (try_control(fd, &control))
		_exit(10);
	pin_self(1);
	err = count_there(fd);
	if (write(says, "x", 1) != 1 || read(hears, &byte, 1) != 1)
		_exit(11);
	/* What others did meanwhile, on that CPU too, does not matter. */
	_exit(err ? err : count_there(fd));
}

/* Interrupts of CPU 1 while all kinds of calls are made on CPU 0 */
static uint64_t all_calls_interrupt(void)
{
	uint64_t interrupts, sum = 0;
	unsigned int kind;
	int fd = begin(false);

	/* Patches of the kernel's text interrupt every CPU, once in some seconds. */
	ck_assert_int_eq(map_and_unmap(fd), 0);
	sleep_us(100000);
	for (kind = 0; kind < NR_KINDS; kind++) {
		call_for(kinds[kind].call, fd, 300000000ull, &interrupts);
		sum += interrupts;
	}
	unlink_self(fd);
	close(fd);
	return sum;
}

/* Calls on other CPUs do not interrupt it; a thread that counts on it counts right. */
START_TEST(an_isolated_cpu_is_left_alone)
{
	uint64_t idle, interrupts;
	unsigned int round;
	int says[2], hears[2];
	pid_t resident;
	char byte;

	set_parameter("broadcasts", 0);
	become(GUEST_UID);
	/* The interrupts that are not ours */
	idle = calls_of_cpu1();
	sleep_us(1500000);
	idle = calls_of_cpu1() - idle;
	for (round = 0; round < 2; round++) {
		interrupts = all_calls_interrupt();
		ck_assert_msg(interrupts <= idle + 10, "round %u: %llu interrupts, idle %llu",
			      round, (unsigned long long)interrupts, (unsigned long long)idle);
		/* Now a thread counts there, so the CPU is told. */
		ck_ok(pipe(says));
		ck_ok(pipe(hears));
		ck_ok(resident = fork());
		if (!resident)
			play_resident(says[1], hears[0]);
		close(says[1]);
		ck_assert_int_eq(read(says[0], &byte, 1), 1);
		ck_assert_uint_gt(all_calls_interrupt(), 100);
		ck_assert_int_eq(write(hears[1], "x", 1), 1);
		expect_exit(resident, 0);
		/* The counters are kept for a second, if somebody may read them. */
		sleep_us(1500000);
	}
}
END_TEST

/* --- different controls --- */

/* Processes @first to @last, each with a period of its own; the -errno of one that is refused */
static int different_controls(unsigned int first, unsigned int last, int *go)
{
	unsigned int i;
	int err = 0;

	for (i = first; i <= last && !err; i++) {
		struct perfctr_control control;
		int pair[2], status = 0;
		pid_t child;

		ck_ok(pipe(pair));
		ck_ok(child = fork());
		if (!child) {
			char byte;

			close(go[1]);
			signal(SIGUSR1, SIG_IGN);
			control_init(&control);
			control.si_signo = SIGUSR1;
			control_add_ictr(&control, EV_INSTRUCTIONS, -1000000000ll - i);
			status = try_control(open_self(), &control);
			if (write(pair[1], &status, sizeof(status)) != sizeof(status) || status)
				_exit(1);
			close(pair[1]);
			_exit(read(go[0], &byte, 1) < 0);
		}
		close(pair[1]);
		if (read(pair[0], &err, sizeof(err)) != sizeof(err))
			err = -EIO;
		close(pair[0]);
	}
	return err;
}

START_TEST(different_controls_are_bounded)
{
	struct perfctr_control none;
	int go[2], fd;

	set_parameter("controls", 10);
	ck_ok(pipe(go));
	become(GUEST_UID);
	ck_assert_int_eq(different_controls(1, 10, go), 0);
	ck_assert_int_eq(different_controls(11, 11, go), -ENOSPC);
	/* A control that is there already does not count again. */
	ck_assert_int_eq(different_controls(5, 5, go), 0);
	fd = open_self();
	ck_assert_int_eq(new_control(fd), -ENOSPC);
	/* Stopping is never refused. */
	control_init(&none);
	ck_assert_int_eq(try_control(fd, &none), 0);
	close(go[1]);
	while (wait(NULL) > 0)
		;
	ck_assert_int_eq(new_control(fd), 0);
}
END_TEST

/* --- who pays --- */

/* Makes the caller a user of a namespace of its own, with 65,536 other ids. */
static void enter_namespace(void)
{
	int ask[2], status;
	pid_t self = getpid(), mapper;
	char path[64], byte;

	(void)snprintf(path, sizeof(path), "/proc/%d/uid_map", self);
	ck_ok(pipe(ask));
	ck_ok(mapper = fork());
	if (!mapper) {
		close(ask[1]);
		_exit(read(ask[0], &byte, 1) != 1 ||
		      write_text(path, "0 1000 1\n1 100000 65536\n"));
	}
	become(GUEST_UID);
	ck_ok(unshare(CLONE_NEWUSER));
	ck_assert_int_eq(write(ask[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(mapper, &status, 0), mapper);
	ck_assert_int_eq(status, 0);
}

/* Each 95 calls as another user of the namespace, who has made none yet */
static int stop_tree_as_others(int fd)
{
	static unsigned int calls;

	if (calls % 95 == 0 && setresuid(1 + calls / 95 % 65000, (uid_t)-1, (uid_t)-1))
		return -errno;
	calls++;
	return stop_tree(fd);
}

START_TEST(a_namespace_interrupts_as_one_user)
{
	enter_namespace();
	expect_bounded(stop_tree_as_others, true, 3);
}
END_TEST

START_TEST(a_namespace_has_controls_of_one_user)
{
	unsigned int i;
	int go[2];

	set_parameter("controls", 10);
	ck_ok(pipe(go));
	enter_namespace();
	for (i = 1; i <= 11; i++) {
		ck_ok(setresuid(i, (uid_t)-1, (uid_t)-1));
		ck_assert_int_eq(different_controls(i, i, go), i <= 10 ? 0 : -ENOSPC);
	}
	close(go[1]);
	while (wait(NULL) > 0)
		;
}
END_TEST

/* A ring of so many pages, as user @uid of the namespace; 0 or -errno */
static int ring_as(uid_t uid, unsigned int pages)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = pages };
	int fd;

	if (setresuid(uid, (uid_t)-1, (uid_t)-1))
		return -errno;
	fd = try_open(PERFCTR_OPEN_CREAT);
	if (fd < 0)
		return fd;
	return ioctl(fd, PERFCTR_IOC_RING, &ring) ? -errno : 0;
}

START_TEST(a_namespace_locks_memory_of_one_user)
{
	const struct rlimit limit = { 64 * PAGE_SIZE, 64 * PAGE_SIZE };
	int *error = shared_alloc(sizeof(*error)), ready[2];
	pid_t other;
	char byte;

	ck_ok(setrlimit(RLIMIT_MEMLOCK, &limit));
	ck_ok(pipe(ready));
	enter_namespace();
	ck_ok(other = fork());
	if (!other) {
		*error = ring_as(1, 32);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(*error, 0);
	ck_assert_int_eq(ring_as(2, 32), -ENOMEM);
	ck_assert_int_eq(ring_as(2, 16), 0);
	ck_ok(kill(other, SIGKILL));
	ck_assert_int_eq(waitpid(other, NULL, 0), other);
}
END_TEST

/* Asks for a thread to be added that waits for CPU 1, and has a state of its own. */
static void add_a_waiting_thread(int asks)
{
	const struct sched_param least = { 0 };
	struct perfctr_add_member add = { .size = sizeof(add) };
	int fd, state[2];
	pid_t waits;
	char byte;

	if (pipe(state))
		_exit(1);
	waits = fork();
	if (!waits) {
		if (try_open(PERFCTR_OPEN_CREAT) < 0 || sched_setscheduler(0, SCHED_IDLE, &least) ||
		    write(state[1], "x", 1) != 1)
			_exit(1);
		pin_self(1);
		for (;;)
			body_spin(LOOPS);
	}
	fd = try_open(PERFCTR_OPEN_CREAT);
	if (read(state[0], &byte, 1) != 1 || ptrace(PTRACE_SEIZE, waits, NULL, NULL) || fd < 0)
		_exit(2);
	add.tid = waits;
	if (new_tree(fd) || write(asks, "x", 1) != 1)
		_exit(3);
	do
		(void)ioctl(fd, PERFCTR_IOC_ADD_MEMBER, &add);
	while (errno == EBUSY);
	_exit(4);
}

/*
 * As long as it is not on its CPU nobody is interrupted there to look at it. Now and then it is, and
 * then the user pays.
 */
START_TEST(a_waiting_thread_is_left_alone)
{
	int asks[2], seconds;
	uint64_t before, calls = UINT64_MAX;
	pid_t has_it, caller;
	char byte;

	pin_self(0);
	ck_ok(pipe(asks));
	ck_ok(has_it = fork());
	if (!has_it) {
		pin_self(1);
		for (;;)
			body_spin(LOOPS);
	}
	ck_ok(caller = fork());
	if (!caller) {
		become(GUEST_UID);
		add_a_waiting_thread(asks[1]);
	}
	ck_assert_int_eq(read(asks[0], &byte, 1), 1);
	/* It is looked at some twenty times a second. In one of three seconds it does not run then. */
	for (seconds = 0; seconds < 3 && calls > 8; seconds++) {
		before = calls_of_cpu1();
		sleep_us(1000000);
		calls = calls_of_cpu1() - before;
	}
	ck_assert_uint_le(calls, 8);
	ck_assert_int_eq(waitpid(caller, NULL, WNOHANG), 0);
	ck_ok(kill(caller, SIGKILL));
	ck_ok(kill(has_it, SIGKILL));
	while (wait(NULL) > 0)
		;
}
END_TEST

/* ADD_MEMBER of a thread that runs on CPU 1, and counts itself */
static pid_t runner;

static int add_a_running_thread(int fd)
{
	struct perfctr_add_member add = { .size = sizeof(add), .tid = runner };

	if (!ioctl(fd, PERFCTR_IOC_ADD_MEMBER, &add))
		return -EEXIST;
	return errno == EBUSY ? 0 : -errno;
}

/* Each time that CPU is interrupted to look at it. */
START_TEST(looks_at_a_running_thread_are_bounded)
{
	int state[2];
	char byte;

	ck_ok(pipe(state));
	ck_ok(runner = fork());
	if (!runner) {
		pin_self(1);
		if (try_open(PERFCTR_OPEN_CREAT) < 0 || write(state[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			body_spin(LOOPS);
	}
	ck_assert_int_eq(read(state[0], &byte, 1), 1);
	ck_ok(ptrace(PTRACE_SEIZE, runner, NULL, NULL));
	expect_bounded(add_a_running_thread, false, 1);
}
END_TEST

int main(void)
{
	guest_begin("burden", MODULE_DEFAULTS);
	keep_rcu_away();
	/* On an isolated CPU isolation is the bound. */
	if (!is_isolated()) {
		GUEST_RUN(controls_are_bounded, NEED_COUNTERS | NEED_SMP | NEED_NO_RT | AS_USER);
		GUEST_RUN(refusals_are_bounded, NEED_COUNTERS | NEED_SMP | AS_USER);
		GUEST_RUN(stop_and_go_is_bounded, NEED_COUNTERS | NEED_SMP | AS_USER);
		GUEST_RUN(maps_are_bounded, NEED_COUNTERS | NEED_SMP | NEED_NO_RT | AS_USER);
		GUEST_RUN(trees_are_bounded, NEED_COUNTERS | NEED_SMP | AS_USER);
		GUEST_RUN(a_namespace_interrupts_as_one_user,
			  NEED_COUNTERS | NEED_SMP | NEED_NAMESPACES);
		GUEST_RUN(a_waiting_thread_is_left_alone, NEED_COUNTERS | NEED_SMP | NEED_NO_RT);
		GUEST_RUN(looks_at_a_running_thread_are_bounded,
			  NEED_COUNTERS | NEED_SMP | NEED_NO_RT | AS_USER);
	}
	GUEST_RUN(the_wait_is_interruptible, NEED_COUNTERS | NEED_SMP | AS_USER);
	GUEST_RUN(a_session_ends_in_spite_of_a_signal, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(the_wait_can_be_killed, NEED_COUNTERS | NEED_SMP | AS_USER);
	GUEST_RUN(each_user_has_its_own, NEED_COUNTERS | NEED_SMP);
	GUEST_RUN(different_controls_are_bounded, NEED_COUNTERS | NEED_INTERRUPT);
	GUEST_RUN(a_namespace_has_controls_of_one_user,
		  NEED_COUNTERS | NEED_INTERRUPT | NEED_NAMESPACES);
	GUEST_RUN(a_namespace_locks_memory_of_one_user, NEED_NAMESPACES);
	burden_evicted();
	/* From here on no broadcast is bounded. */
	if (is_isolated())
		GUEST_RUN(an_isolated_cpu_is_left_alone, NEED_COUNTERS | NEED_SMP);
	else
		GUEST_RUN(without_a_limit_they_are_more, NEED_COUNTERS | NEED_SMP);
	return guest_end();
}
