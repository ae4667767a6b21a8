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
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/guarded.h"

#if defined(__riscv)
#define STANDS_STILL 0
#else
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

/* Beside perf, the others are perf's. */
static bool is_ours(unsigned int n)
{
	return !is_beside() || (our_counters() >> n & 1);
}

static void find_registers(struct stage *stage)
{
	unsigned int n;

	stage->nregs = 0;
	for (n = 0; n < REGISTERS; n++)
		if (n != TIME_REGISTER && is_ours(n) && may_read_register(n))
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

static void learns_nothing(const struct scene *scene)
{
	struct stage *stage = play(scene);
	unsigned int class, i;

	/* The spy did read registers: its own counters' only, or all on x86. */
#if defined(__riscv)
	ck_assert_uint_eq(stage->nregs, scene->other_control ? 3u : 2u);
#else
	ck_assert_int_eq((int)stage->nregs, __builtin_popcountll(our_counters()));
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
	guarded_registers();
#if defined(__riscv)
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
#endif
	return guest_end();
}
