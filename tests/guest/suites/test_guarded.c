// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing leaks: under `guarded` a thread of one user that reads every register
 * it may read, as fast as it can, while a thread of another user computes on the
 * same CPU, learns nothing of it. The test computes what it would have seen. Under
 * `open` the same test must find something, or it could not fail.
 *
 * The victim works for turns of very different length, which are the secret.
 * The spy gives up the CPU, or is interrupted, between two readings of its
 * registers. From what it sees it can explain a difference that is as long as
 * its own code, and a register that began again from zero and counted its own
 * code since. The rest is what it learnt of others.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/rivals.h"

#define REGISTERS 32
#if defined(__riscv)
#define TIME_REGISTER 1	/* the time of day is no secret */
#define STANDS_STILL 0
#else
#define TIME_REGISTER REGISTERS
#define STANDS_STILL 1
#endif
#define TURNS 4000
#define CLASSES 4
/* More than all that the spy itself executes between two readings */
#define OWN_WORK 3000

static const unsigned long secret_work[CLASSES] = { 4000, 20000, 60000, 150000 };

enum victim_kind { VICTIM_MAPS, VICTIM_COUNTS, VICTIM_IS_ANYBODY, VICTIM_WAS_KIN };

/**
 * struct scene - what the spy and its victim are doing
 * @victim: what the victim does with counters. One that was kin maps, as the spy's user;
 *	it becomes another as its turn begins, and works as that
 * @other_control: the spy counts other events than the victim
 * @asleep: the victim sleeps between its turns and preempts the spy, which
 *	reads without a pause; else both yield to each other
 * @paused_kin: another process of the spy's user counts the same, but is suspended
 * @kin: the victim is of the spy's user, and maps
 * @namespace: CLONE_NEWPID or CLONE_NEWUSER: the spy is in such a namespace of its own
 * @traced: the victim is controlled by its tracer, who is of the spy's user and namespaces;
 *	then it is the victim that is in @namespace
 * @sibling: the spy is a thread that counts nothing, of a process of which another
 *	thread may read registers
 * @bare: the spy counts nothing, where registers are read without a permission
 */
struct scene {
	enum victim_kind victim;
	bool other_control;
	bool asleep;
	bool sibling;
	bool paused_kin;
	bool kin;
	bool bare;
	bool traced;
	int namespace;
};

/* Shared between test, victim and spy */
struct stage {
	struct scene scene;
	volatile bool stop;
	volatile int error;
	volatile bool ready;
	volatile uint64_t turn;		/* of the victim */
	unsigned int nregs;		/* that the spy may read */
	unsigned int regs[REGISTERS];
	uint64_t turns;			/* in which the spy saw the victim run */
	uint64_t worked;		/* instructions of the victim's in these turns */
	uint64_t learnt;		/* instructions of the victim's */
	uint64_t odd;			/* readings that differ from the usual */
	/* The usual reading after a turn of each class, per register */
	uint64_t usual[CLASSES][REGISTERS];
	uint64_t usual_votes[CLASSES][REGISTERS];
};

static unsigned int secret(uint64_t turn)
{
	/* Without a pattern that the spy's own work could follow */
	return (unsigned int)((turn * 2654435761u) >> 16) % CLASSES;
}

/*
 * Some 100 us, to the nanosecond without a pattern: the spy's loop takes about as many
 * instructions each time. Else the victim would come at the same place of it again and again.
 */
static void sleep_a_while(uint64_t turn)
{
	struct timespec time = {
		.tv_nsec = 100000 + (long)((turn * 2654435761u >> 8) % 4096)
	};

	nanosleep(&time, NULL);
}

static struct perfctr_control usual_control(bool other)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, other ? EV_CYCLES : EV_INSTRUCTIONS);
	control_add(&control, other ? EV_INSTRUCTIONS : EV_CYCLES);
	if (other && guest.nprogrammable > 2)
		control_add(&control, EV_DTLB_LOAD_MISSES);
	return control;
}

static int begin_counting(bool other, bool map)
{
	struct perfctr_control control = usual_control(other);
	int fd = try_open(PERFCTR_OPEN_CREAT), err;

	if (fd < 0)
		return fd;
	err = try_control(fd, &control);
	if (!err && map && !try_map(fd))
		err = -errno;
	return err;
}

/* By a victim: its tracer makes it count, and then it maps. */
static int begin_traced(int namespace)
{
	int fd;

	if ((namespace == CLONE_NEWUSER && unshare(CLONE_NEWUSER)) ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
		return -errno;
	fd = try_open(0);
	if (fd < 0)
		return fd;
	return try_map(fd) ? 0 : -errno;
}

static void play_victim(struct stage *stage)
{
	bool was_kin = stage->scene.victim == VICTIM_WAS_KIN;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin_self(0);
	if (stage->scene.asleep)
		make_realtime();
	if (!was_kin)
		become(stage->scene.kin ? STRANGER_UID : GUEST_UID);
	else if (setresuid(GUEST_UID, STRANGER_UID, STRANGER_UID))
		stage->error = -errno;
	if (stage->scene.traced)
		stage->error = begin_traced(stage->scene.namespace);
	else if (stage->scene.victim != VICTIM_IS_ANYBODY)
		stage->error = begin_counting(false, stage->scene.victim != VICTIM_COUNTS);
	stage->ready = true;
	while (!stage->stop && !stage->error) {
		unsigned long work = secret_work[secret(stage->turn + 1)];

		if (was_kin) {
			if (seteuid(STRANGER_UID))
				stage->error = -errno;
			sched_yield();
			if (seteuid(GUEST_UID))
				stage->error = -errno;
		}
		body_spin(work);
		stage->turn++;
		if (stage->scene.asleep)
			sleep_a_while(stage->turn);
		else
			sched_yield();
	}
	_exit(0);
}

static pid_t fork_into(int namespace)
{
	return namespace != CLONE_NEWPID ? fork() :
	       (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
}

static int control_tracee(pid_t pid)
{
	struct perfctr_open o = { .size = sizeof(o), .tid = pid,
				  .flags = PERFCTR_OPEN_CREAT | PERFCTR_OPEN_THREAD };
	struct perfctr_control control = usual_control(false);
	int fd = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERFCTR_IOC_OPEN, &o))
		return -errno;
	return try_control(fd, &control);
}

/* Makes the victim, and controls it. */
static void play_tracer(struct stage *stage)
{
	int status;
	pid_t victim;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	victim = fork_into(stage->scene.namespace);
	if (!victim)
		play_victim(stage);
	become(STRANGER_UID);
	if (waitpid(victim, &status, 0) != victim || !WIFSTOPPED(status))
		stage->error = -ECHILD;
	else
		stage->error = control_tracee(victim);
	(void)ptrace(PTRACE_CONT, victim, NULL, NULL);
	_exit(waitpid(victim, &status, 0) != victim || status);
}

static void read_registers(const struct stage *stage, uint64_t *value)
{
	unsigned int i;

	for (i = 0; i < stage->nregs; i++)
		value[i] = read_register(stage->regs[i]);
}

static void find_registers(struct stage *stage)
{
	unsigned int n;

	stage->nregs = 0;
	for (n = 0; n < REGISTERS; n++)
		if (n != TIME_REGISTER && may_read_register(n))
			stage->regs[stage->nregs++] = n;
}

/* The part of a reading that the spy cannot explain by its own work */
static uint64_t unexplained(uint64_t before, uint64_t after)
{
	uint64_t since = after - before;

	if (since <= OWN_WORK || after <= OWN_WORK)
		return 0;
	/* The register began again from zero, or went on: the spy knows the lesser one for sure. */
	return since < after ? since - OWN_WORK : after - OWN_WORK;
}

/* A vote for the most frequent reading (Boyer and Moore) */
static void vote(uint64_t *usual, uint64_t *votes, uint64_t value)
{
	if (!*votes)
		*usual = value;
	if (*usual == value)
		++*votes;
	else
		--*votes;
}

static void look_once(struct stage *stage)
{
	uint64_t before[REGISTERS], after[REGISTERS];
	uint64_t turn = stage->turn, last;
	unsigned int class, i;

	read_registers(stage, before);
	if (!stage->scene.asleep)
		sched_yield();
	read_registers(stage, after);
	last = stage->turn;
	if (last == turn)
		return;
	stage->turns++;
	while (turn < last)
		stage->worked += BODY_SPIN(secret_work[secret(++turn)]);
	class = secret(last);
	for (i = 0; i < stage->nregs; i++) {
		uint64_t reading = after[i];

		stage->learnt += unexplained(before[i], after[i]);
		/* Registers that stood still go on from where they were. */
		if (STANDS_STILL && after[i] - before[i] < reading)
			reading = after[i] - before[i];
		vote(&stage->usual[class][i], &stage->usual_votes[class][i], reading);
		if (reading != stage->usual[class][i])
			stage->odd++;
	}
}

static void *spy(void *arg)
{
	struct stage *stage = arg;

	find_registers(stage);
	while (!stage->error && stage->turns < TURNS)
		look_once(stage);
	return NULL;
}

static void play_spy(struct stage *stage)
{
	pthread_t sibling;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin_self(0);
	become(STRANGER_UID);
	if (!stage->scene.traced && stage->scene.namespace == CLONE_NEWUSER &&
	    unshare(CLONE_NEWUSER))
		stage->error = -errno;
	else if (!stage->scene.bare)
		stage->error = begin_counting(stage->scene.other_control, true);
	if (!stage->scene.sibling)
		spy(stage);
	else if (pthread_create(&sibling, NULL, spy, stage) || pthread_join(sibling, NULL))
		stage->error = -EAGAIN;
	_exit(0);
}

static void play_kin(struct stage *stage)
{
	struct perfctr_control control = usual_control(stage->scene.other_control);
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin_self(0);
	become(STRANGER_UID);
	fd = try_open(PERFCTR_OPEN_CREAT);
	if (fd < 0 || try_control(fd, &control) || !try_map(fd) ||
	    ioctl(fd, PERFCTR_IOC_SUSPEND))
		stage->error = -EIO;
	while (!stage->stop)
		sched_yield();
	_exit(0);
}

static struct stage *play(const struct scene *scene)
{
	struct stage *stage = shared_alloc(sizeof(*stage));
	pid_t victim, spy, kin = 0;

	stage->scene = *scene;
	ck_ok(victim = fork());
	if (!victim && scene->traced)
		play_tracer(stage);
	if (!victim)
		play_victim(stage);
	while (!stage->ready)
		sleep_us(100);
	ck_ok(spy = fork_into(scene->traced ? 0 : scene->namespace));
	if (!spy)
		play_spy(stage);
	/* Last, so that it runs between the spy and its victim as they take turns */
	if (scene->paused_kin) {
		ck_ok(kin = fork());
		if (!kin)
			play_kin(stage);
	}
	expect_exit(spy, 0);
	stage->stop = true;
	if (kin)
		expect_exit(kin, 0);
	expect_exit(victim, 0);
	ck_assert_msg(!stage->error, "%s", strerror(-stage->error));
	ck_assert_uint_ge(stage->turns, TURNS);
	return stage;
}

/* The readable registers, if @own are the caller's: x86 permits all of them or none. */
static unsigned int readable_with(unsigned int own)
{
#if defined(__riscv)
	return own;
#else
	return own ? (unsigned int)guest.info.counters : 0;
#endif
}

static void set_policy(const char *policy)
{
	int err = write_text(MODULE_PARAMS "user_read", policy);

	ck_assert_msg(!err, "user_read=%s: %s", policy, strerror(-err));
}

static void learns_nothing(const struct scene *scene)
{
	struct stage *stage = play(scene);
	unsigned int class, i;

	/* The spy did read registers: its own counters' only, or all on x86. */
#if defined(__riscv)
	ck_assert_uint_eq(stage->nregs, scene->other_control ? 3u : 2u);
#else
	ck_assert_int_eq((int)stage->nregs, __builtin_popcountll(guest.info.counters));
#endif
	ck_assert_msg(stage->learnt == 0, "the spy learnt of %llu instructions of %llu",
		      (unsigned long long)stage->learnt, (unsigned long long)stage->worked);
	if (scene->asleep)
		return;
	/* After a turn, what the spy saw does not depend on the turn's length. */
	for (class = 1; class < CLASSES; class++)
		for (i = 0; i < 2; i++)
			ck_assert_msg(stage->usual[class][i] == stage->usual[0][i],
				      "after %lu loops register %u has %llu, after %lu %llu",
				      secret_work[class], stage->regs[i],
				      (unsigned long long)stage->usual[class][i],
				      secret_work[0], (unsigned long long)stage->usual[0][i]);
	/* Rare differences come from interrupts in the same moment. */
	ck_assert_uint_lt(stage->odd, stage->turns / 20);
}

START_TEST(nothing_of_a_mapped_victim)
{
	struct scene scene = { .victim = VICTIM_MAPS };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_of_a_counting_victim)
{
	struct scene scene = { .victim = VICTIM_COUNTS };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_of_a_victim_that_was_kin)
{
	struct scene scene = { .victim = VICTIM_WAS_KIN };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_of_anybody)
{
	struct scene scene = { .victim = VICTIM_IS_ANYBODY };

	learns_nothing(&scene);
}
END_TEST

/* One user id in two containers: who could not trace the other learns nothing either. */
START_TEST(nothing_of_another_pid_namespace)
{
	struct scene scene = {
		.victim = VICTIM_MAPS, .kin = true, .namespace = CLONE_NEWPID,
	};

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_of_another_user_namespace)
{
	struct scene scene = {
		.victim = VICTIM_MAPS, .kin = true, .namespace = CLONE_NEWUSER,
	};

	learns_nothing(&scene);
}
END_TEST

/* A tracee has its tracer's config, but is in a container. */
START_TEST(nothing_of_a_tracee_in_another_pid_namespace)
{
	struct scene scene = {
		.victim = VICTIM_MAPS, .kin = true, .traced = true, .namespace = CLONE_NEWPID,
	};

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_of_a_tracee_in_another_user_namespace)
{
	struct scene scene = {
		.victim = VICTIM_MAPS, .kin = true, .traced = true, .namespace = CLONE_NEWUSER,
	};

	learns_nothing(&scene);
}
END_TEST

static void learns_most(const struct scene *scene)
{
	struct stage *stage = play(scene);

	ck_assert_msg(stage->learnt > stage->worked / 2,
		      "the spy learnt of %llu instructions of %llu",
		      (unsigned long long)stage->learnt, (unsigned long long)stage->worked);
}

/* In the same namespaces the registers run on from one to the other. */
START_TEST(kin_share_registers)
{
	struct scene scene = { .victim = VICTIM_MAPS, .kin = true };

	learns_most(&scene);
}
END_TEST

START_TEST(kin_share_registers_with_a_tracee)
{
	struct scene scene = { .victim = VICTIM_MAPS, .kin = true, .traced = true };

	learns_most(&scene);
}
END_TEST

START_TEST(nothing_with_another_control)
{
	struct scene scene = { .victim = VICTIM_MAPS, .other_control = true };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_when_interrupted_by_a_mapped_victim)
{
	struct scene scene = { .victim = VICTIM_MAPS, .asleep = true };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_when_interrupted_by_a_counting_victim)
{
	struct scene scene = { .victim = VICTIM_COUNTS, .asleep = true };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_when_interrupted_by_anybody)
{
	struct scene scene = { .victim = VICTIM_IS_ANYBODY, .asleep = true };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_past_a_paused_kin)
{
	struct scene scene = { .victim = VICTIM_IS_ANYBODY, .paused_kin = true };
	struct stage *stage = play(&scene);

	ck_assert_msg(stage->learnt == 0, "the spy learnt of %llu instructions of %llu",
		      (unsigned long long)stage->learnt, (unsigned long long)stage->worked);
}
END_TEST

#if defined(__powerpc__)
START_TEST(nothing_for_who_counts_nothing)
{
	struct scene scene = { .victim = VICTIM_COUNTS, .bare = true };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_of_a_mapped_victim_for_who_counts_nothing)
{
	struct scene scene = { .victim = VICTIM_MAPS, .bare = true };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_for_who_is_interrupted_and_counts_nothing)
{
	struct scene scene = { .victim = VICTIM_COUNTS, .bare = true, .asleep = true };

	learns_nothing(&scene);
}
END_TEST

/* Nobody can forbid reads, so "off" guards as well. */
START_TEST(nothing_when_off)
{
	struct scene scene = { .victim = VICTIM_COUNTS, .bare = true };

	set_policy("off");
	learns_nothing(&scene);
}
END_TEST
#endif

#if defined(__x86_64__) || defined(__i386__)
START_TEST(nothing_for_a_sibling_of_a_counting_victim)
{
	struct scene scene = { .victim = VICTIM_COUNTS, .sibling = true };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_for_a_sibling_of_a_mapped_victim)
{
	struct scene scene = { .victim = VICTIM_MAPS, .sibling = true, .other_control = true };

	learns_nothing(&scene);
}
END_TEST

START_TEST(nothing_for_a_sibling_when_interrupted)
{
	struct scene scene = { .victim = VICTIM_COUNTS, .sibling = true, .asleep = true };

	learns_nothing(&scene);
}
END_TEST
#endif

/* If nothing is guarded, the same spy learns of most of the work of the turns that it sees. */
static void open_shows(const struct scene *scene)
{
	struct stage *stage;

	set_policy("open");
	stage = play(scene);
	ck_assert_msg(stage->learnt > stage->worked / 2,
		      "the spy learnt of %llu instructions of %llu",
		      (unsigned long long)stage->learnt, (unsigned long long)stage->worked);
}

START_TEST(open_shows_a_mapped_victim)
{
	struct scene scene = { .victim = VICTIM_MAPS };

	open_shows(&scene);
}
END_TEST

START_TEST(open_shows_anybody)
{
	struct scene scene = { .victim = VICTIM_IS_ANYBODY };

	open_shows(&scene);
}
END_TEST

START_TEST(open_shows_when_interrupted)
{
	struct scene scene = { .victim = VICTIM_COUNTS, .asleep = true };

	open_shows(&scene);
}
END_TEST

#if defined(__powerpc__)
START_TEST(open_shows_who_counts_nothing)
{
	struct scene scene = { .victim = VICTIM_COUNTS, .bare = true };

	open_shows(&scene);
}
END_TEST
#endif

#if defined(__x86_64__) || defined(__i386__)
START_TEST(open_shows_a_sibling)
{
	struct scene scene = { .victim = VICTIM_COUNTS, .sibling = true };

	open_shows(&scene);
}
END_TEST
#endif

static void exact_by_kernel(int fd)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, 1000), 0);
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(1000));
}

/* --- who may read a register at all --- */

static unsigned int readable_registers(void)
{
	unsigned int n, readable = 0;

	for (n = 0; n < REGISTERS; n++)
		if (n != TIME_REGISTER && may_read_register(n))
			readable |= 1u << n;
	return readable;
}

START_TEST(owner_reads_its_own_and_no_others)
{
	struct perfctr_control control = usual_control(false);
	const struct perfctr_page *page;
	int fd = open_self();
	unsigned int own;

	ck_assert_uint_eq(readable_registers(), 0);
	set_control(fd, &control);
	/* Without a map there is no permission. */
	ck_assert_uint_eq(readable_registers(), 0);
	page = map_page(fd);
	own = 1u << page_hw_counter(page, 0) | 1u << page_hw_counter(page, 1);
	ck_assert_uint_eq(readable_registers(), readable_with(own));
	sched_yield();
	sleep_us(2000);
	ck_assert_uint_eq(readable_registers(), readable_with(own));
	/*
	 * A permission ends with the next switch: a control in a signal handler must
	 * not kill a reader that it has interrupted.
	 */
	control.nractrs = 1;
	set_control(fd, &control);
	sleep_us(1000);
	ck_assert_uint_eq(readable_registers(), readable_with(1u << page_hw_counter(page, 0)));
	unmap_page(page);
	sleep_us(1000);
	ck_assert_uint_eq(readable_registers(), 0);
	page = map_page(fd);
	ck_assert_uint_ne(readable_registers(), 0);
	unlink_self(fd);
	sleep_us(1000);
	ck_assert_int_lt(page->seq, 0);
#if !defined(__riscv)
	/* x86: the process is permitted as long as it has the page. */
	unmap_page(page);
#endif
	ck_assert_uint_eq(readable_registers(), 0);
}
END_TEST

/* Tries registers while the owner runs on the same CPU and yields now and then. */
struct peeper {
	volatile bool stop;
	volatile uint64_t tries;
	volatile unsigned int readable;
};

static void *peep(void *arg)
{
	struct peeper *peeper = arg;

	while (!peeper->stop) {
		peeper->readable |= readable_registers();
		peeper->tries++;
		sched_yield();
	}
	return NULL;
}

/* SIGILL is handled per process, so the owner must not try at the same time. */
static void owner_beside(struct peeper *peeper)
{
	while (peeper->tries < 200) {
		body_spin(10000);
		sched_yield();
	}
	peeper->stop = true;
}

#if defined(__riscv)
START_TEST(sibling_reads_none)
{
	struct peeper peeper = { 0 };
	pthread_t thread;

	map_page(count_event(EV_INSTRUCTIONS));
	pin_self(0);
	ck_assert_int_eq(pthread_create(&thread, NULL, peep, &peeper), 0);
	owner_beside(&peeper);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(peeper.readable, 0);
}
END_TEST

/* The permission ends with the switch, although the page is unmapped by then. */
START_TEST(sibling_of_who_unmaps_reads_none)
{
	struct peeper peeper = { 0 };
	int fd = count_event(EV_INSTRUCTIONS);
	pthread_t thread;

	pin_self(0);
	ck_assert_int_eq(pthread_create(&thread, NULL, peep, &peeper), 0);
	while (peeper.tries < 200) {
		unmap_page(map_page(fd));
		sched_yield();
	}
	peeper.stop = true;
	pthread_join(thread, NULL);
	ck_assert_uint_eq(peeper.readable, 0);
}
END_TEST
#endif

static void beside_a_stranger(unsigned int cpu, uid_t uid)
{
	struct peeper *peeper = shared_alloc(sizeof(*peeper));
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		pin_self(cpu);
		if (uid)
			become(uid);
		peep(peeper);
		_exit(0);
	}
	pin_self(0);
	map_page(count_event(EV_INSTRUCTIONS));
	owner_beside(peeper);
	expect_exit(child, 0);
	ck_assert_uint_eq(peeper->readable, 0);
}

START_TEST(stranger_reads_none)
{
	beside_a_stranger(0, STRANGER_UID);
}
END_TEST

START_TEST(stranger_on_another_cpu_reads_none)
{
	beside_a_stranger(1, STRANGER_UID);
}
END_TEST

/* A child of the same user, made before the parent maps its page */
START_TEST(fork_child_reads_none)
{
	beside_a_stranger(0, 0);
}
END_TEST

/* A child that is made while the parent may read registers */
START_TEST(child_of_a_reader_reads_none)
{
	pid_t child;

	map_page(count_event(EV_INSTRUCTIONS));
	ck_assert_uint_ne(readable_registers(), 0);
	ck_ok(child = fork());
	if (!child)
		_exit(readable_registers() ? 1 : 0);
	expect_exit(child, 0);
	ck_assert_uint_ne(readable_registers(), 0);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)
/* --- CR4.PCE is the kernel's, and it changes its mind --- */

#define RDPMC_ATTRIBUTE "/sys/bus/event_source/devices/cpu/rdpmc"

static void exact_by_page(const struct perfctr_page *page, const char *when)
{
	uint64_t value[2];
	unsigned int i;
	long ret;

	for (i = 0; i < 100; i++) {
		ret = exact_inline(page, 0, body_spin, 1000, value);
		ck_assert_msg(ret >= 0, "%s, read %u: the page says: ask the kernel", when, i);
		ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(1000) +
				  (uint64_t)ret * EXACT_INLINE_RETRY);
		if (i % 10 == 0)
			sched_yield();
	}
}

static void write_or_fail(const char *path, const char *text)
{
	int err = write_text(path, text);

	ck_assert_msg(!err, "%s > %s: %s", text, path, strerror(-err));
}

/*
 * The kernel copies perf's permission to a child for good. The parent's event was mapped
 * before the module was loaded, so the module did not see the fork.
 */
START_TEST(child_from_before_reads_none)
{
	int perf, to_child[2], from_child[2];
	void *map;
	char go = 0;
	pid_t child;

	ck_assert_int_eq(module_unload_patiently(), 0);
	perf = perf_open_self(EV_INSTRUCTIONS);
	ck_assert_int_ge(perf, 0);
	map = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, perf, 0);
	ck_assert(map != MAP_FAILED);
	ck_assert_uint_ne(readable_registers(), 0);
	ck_ok(pipe(to_child));
	ck_ok(pipe(from_child));
	ck_ok(child = fork());
	if (!child) {
		close(perf);
		if (write(from_child[1], &go, 1) != 1 || read(to_child[0], &go, 1) != 1)
			_exit(2);
		sleep_us(1000);
		_exit(readable_registers() ? 1 : 0);
	}
	ck_ok(read(from_child[0], &go, 1));
	ck_ok(munmap(map, PAGE_SIZE));
	close(perf);
	ck_assert_int_eq(module_load(NULL), 0);
	count_event(EV_INSTRUCTIONS);
	ck_ok(write(to_child[1], &go, 1));
	expect_exit(child, 0);
}
END_TEST

/* The first filter makes the kernel patch its text, in the thread's own context. */
START_TEST(readable_after_seccomp)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &allow };
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));

	exact_by_page(page, "before");
	ck_ok(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ck_ok(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	exact_by_page(page, "with a filter");
}
END_TEST

START_TEST(readable_after_text_patching)
{
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));
	unsigned int i;

	for (i = 0; i < 20; i++) {
		write_or_fail("/proc/sys/kernel/sched_schedstats", i % 2 ? "0" : "1");
		exact_by_page(page, "after text was patched");
	}
}
END_TEST

/* Another thread patches the text, likely on another CPU, while this one reads all the time. */
static void *patch_text(void *arg)
{
	volatile bool *stop = arg;
	unsigned int i;

	for (i = 0; !*stop; i++) {
		write_text("/proc/sys/kernel/sched_schedstats", i % 2 ? "0" : "1");
		sleep_us(1000);
	}
	write_text("/proc/sys/kernel/sched_schedstats", "0");
	return NULL;
}

START_TEST(readable_while_text_is_patched)
{
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));
	volatile bool stop = false;
	pthread_t thread;
	unsigned int i;

	ck_assert_int_eq(pthread_create(&thread, NULL, patch_text, (void *)&stop), 0);
	for (i = 0; i < 20; i++) {
		exact_by_page(page, "while text is patched");
		sleep_us(500);
	}
	stop = true;
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(rdpmc_is_written)
{
	int fd = count_event(EV_INSTRUCTIONS);
	const struct perfctr_page *page = map_page(fd);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		write_or_fail(RDPMC_ATTRIBUTE, "2");
		exact_by_page(page, "rdpmc is 2");
		write_or_fail(RDPMC_ATTRIBUTE, "1");
		exact_by_page(page, "rdpmc is 1");
		write_or_fail(RDPMC_ATTRIBUTE, "0");
		ck_assert(page_asks(page, 0));
		ck_assert_uint_eq(readable_registers(), 0);
		exact_by_kernel(fd);
		sched_yield();
		ck_assert(page_asks(page, 0));
		exact_by_kernel(fd);
		write_or_fail(RDPMC_ATTRIBUTE, "1");
		exact_by_page(page, "rdpmc is 1 again");
	}
}
END_TEST

struct twin {
	volatile bool stop;
	volatile bool shown;
	volatile unsigned int looks;
};

/* The twin has the control and the process of the thread that shares its CPU. */
static void *twin_looks(void *arg)
{
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));
	struct twin *twin = arg;

	while (!twin->stop) {
		twin->shown = !page_asks(page, 0);
		twin->looks++;
		sched_yield();
	}
	return NULL;
}

static void let_twin_look(struct twin *twin)
{
	unsigned int seen = twin->looks;

	while (twin->looks - seen < 3)
		sched_yield();
}

/* While the permission ends, a thread that hands over to its twin shows it nothing. */
START_TEST(rdpmc_is_written_while_a_twin_waits)
{
	const struct perfctr_page *page;
	struct twin twin = { 0 };
	pthread_t thread;
	unsigned int i;

	pin_self(0);
	page = map_page(count_event(EV_INSTRUCTIONS));
	ck_assert_int_eq(pthread_create(&thread, NULL, twin_looks, &twin), 0);
	for (i = 0; i < 10; i++) {
		let_twin_look(&twin);
		ck_assert(twin.shown);
		ck_assert(!page_asks(page, 0));
		write_or_fail(RDPMC_ATTRIBUTE, "0");
		let_twin_look(&twin);
		ck_assert(!twin.shown);
		ck_assert(page_asks(page, 0));
		write_or_fail(RDPMC_ATTRIBUTE, "1");
		let_twin_look(&twin);
	}
	twin.stop = true;
	pthread_join(thread, NULL);
}
END_TEST

/* One of the threads that run meanwhile may be between its look at the page and its RDPMC. */
START_TEST(rdpmc_is_written_while_others_count)
{
	struct rivals_plan plan = { .threads = 4, .cpu = -1, .exact = true };
	struct perfctr_control control = usual_control(false);
	struct rivals *rivals;
	unsigned int i;

	plan.control = &control;
	rivals = rivals_start(&plan);
	for (i = 0; i < 20; i++) {
		write_or_fail(RDPMC_ATTRIBUTE, i % 2 ? "1" : "2");
		sleep_us(2000);
	}
	write_or_fail(RDPMC_ATTRIBUTE, "1");
	rivals_stop(rivals);
}
END_TEST
#endif

/* --- the policy --- */

START_TEST(off_asks_the_kernel)
{
	const struct perfctr_page *page;
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	unsigned int i;
	int fd;

	set_policy("off");
	fd = count_event(EV_INSTRUCTIONS);
	page = map_page(fd);
	ck_ok(ioctl(fd, PERFCTR_IOC_INFO, &info));
	ck_assert_uint_eq(info.user_read, PERFCTR_USER_READ_OFF);
	ck_assert_int_lt(page->seq, 0);
	ck_assert(!readable_registers() || is_ppc());
	for (i = 0; i < 100; i++) {
		exact_by_kernel(fd);
		sched_yield();
	}
	ck_assert_int_lt(page->seq, 0);
}
END_TEST

/* A change while threads count takes effect, and no count suffers. */
START_TEST(policy_changes_under_way)
{
	static const char *const policies[] = { "off", "open", "guarded", "open", "off", "guarded" };
	struct rivals_plan plan = { .threads = 4, .cpu = -1, .map = true, .exact = true };
	struct perfctr_control control = usual_control(false);
	const struct perfctr_page *page;
	struct rivals *rivals;
	unsigned int i;
	int fd;

	plan.control = &control;
	rivals = rivals_start(&plan);
	fd = open_self();
	page = map_page(fd);
	set_control(fd, &control);
	for (i = 0; i < 60; i++) {
		const char *policy = policies[i % 6];

		set_policy(policy);
		exact_by_kernel(fd);
		sleep_us(5000);
		exact_by_kernel(fd);
		ck_assert_msg((page->seq < 0) == !strcmp(policy, "off"), "%s: seq %d", policy,
			      page->seq);
	}
	rivals_stop(rivals);
}
END_TEST

START_TEST(policy_bad_input)
{
	char text[64];

	set_policy("open");
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "sesame"), -EINVAL);
	ck_assert_int_gt(read_text(MODULE_PARAMS "user_read", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "open\n");
}
END_TEST

START_TEST(policy_is_roots)
{
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "open"), -EACCES);
}
END_TEST

static void run_policy(const TTest *test, unsigned int what)
{
	write_text(MODULE_PARAMS "user_read", "guarded");
	guest_run(test, what);
	write_text(MODULE_PARAMS "user_read", "guarded");
}

int main(void)
{
	const unsigned int both = NEED_COUNTERS | NEED_USER_READ;

	guest_begin("guarded", NULL);
	run_policy(nothing_of_a_mapped_victim, both);
	run_policy(nothing_of_a_counting_victim, both);
	run_policy(nothing_of_a_victim_that_was_kin, both);
	run_policy(nothing_of_anybody, both);
	run_policy(nothing_of_another_pid_namespace, both | NEED_NAMESPACES);
	run_policy(nothing_of_another_user_namespace, both | NEED_NAMESPACES);
	run_policy(nothing_of_a_tracee_in_another_pid_namespace, both | NEED_NAMESPACES);
	run_policy(nothing_of_a_tracee_in_another_user_namespace, both | NEED_NAMESPACES);
	run_policy(kin_share_registers, both);
	run_policy(kin_share_registers_with_a_tracee, both);
	run_policy(nothing_with_another_control, both);
	run_policy(nothing_when_interrupted_by_a_mapped_victim, both);
	run_policy(nothing_when_interrupted_by_a_counting_victim, both);
	run_policy(nothing_when_interrupted_by_anybody, both);
	run_policy(nothing_past_a_paused_kin, both);
	run_policy(open_shows_a_mapped_victim, both);
	run_policy(open_shows_anybody, both);
	run_policy(open_shows_when_interrupted, both);
	run_policy(owner_reads_its_own_and_no_others, both | NEED_PERMISSION | AS_USER);
#if defined(__riscv)
	run_policy(sibling_reads_none, both | AS_USER);
	run_policy(sibling_of_who_unmaps_reads_none, both | AS_USER);
#elif defined(__powerpc__)
	run_policy(nothing_for_who_counts_nothing, both);
	run_policy(nothing_of_a_mapped_victim_for_who_counts_nothing, both);
	run_policy(nothing_for_who_is_interrupted_and_counts_nothing, both);
	run_policy(nothing_when_off, both);
	run_policy(open_shows_who_counts_nothing, both);
#elif defined(__x86_64__) || defined(__i386__)
	run_policy(nothing_for_a_sibling_of_a_counting_victim, both);
	run_policy(nothing_for_a_sibling_of_a_mapped_victim, both);
	run_policy(nothing_for_a_sibling_when_interrupted, both);
	run_policy(open_shows_a_sibling, both);
	run_policy(child_from_before_reads_none, both | NEED_PERF | LOG_MODULE);
	run_policy(readable_after_seccomp, both);
	run_policy(readable_after_text_patching, both);
	run_policy(readable_while_text_is_patched, both);
	run_policy(rdpmc_is_written, both | NEED_PERF);
	run_policy(rdpmc_is_written_while_a_twin_waits, both | NEED_PERF);
	run_policy(rdpmc_is_written_while_others_count, both | NEED_PERF);
#endif
	run_policy(child_of_a_reader_reads_none, both | NEED_PERMISSION | AS_USER);
	run_policy(stranger_reads_none, both | NEED_PERMISSION);
	run_policy(stranger_on_another_cpu_reads_none, both | NEED_PERMISSION | NEED_SMP);
	run_policy(fork_child_reads_none, both | NEED_PERMISSION);
	run_policy(off_asks_the_kernel, both);
	run_policy(policy_changes_under_way, both);
	run_policy(policy_bad_input, 0);
	run_policy(policy_is_roots, AS_USER);
	return guest_end();
}
