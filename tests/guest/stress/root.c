// SPDX-License-Identifier: GPL-2.0
/*
 * What root does while stress runs, in processes of its own: it changes the policy, takes
 * counters back, and lets a user come to the limit of its controls. At the end it checks what
 * the module has left in memory.
 */
#define _GNU_SOURCE
#include "stress/stress.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

static void set_parameter(const struct actor *actor, const char *name, const char *value)
{
	char path[128];
	int err;

	(void)snprintf(path, sizeof(path), MODULE_PARAMS "%s", name);
	err = write_text(path, value);
	if (err)
		wrong(actor, "%s to the parameter %s: %s", value, name, strerror(-err));
}

/* policy_changes is odd meanwhile, so readers know that the policy is uncertain. */
static void set_policy(const struct actor *actor, unsigned int policy)
{
	static const char *const names[] = { "off", "guarded", "open" };

	shared->policy_changes++;
	set_parameter(actor, "user_read", names[policy]);
	shared->policy = policy;
	shared->policy_changes++;
}

void administrator(uint64_t rng)
{
	struct actor actor;
	unsigned int policy;
	int err;

	actor_init(&actor, rng, 0);
	while (!shared->stop) {
		sleep_us(1000 + below(&actor, 20000));
		policy = below(&actor, 4);
		set_policy(&actor, policy < 3 ? policy : PERFCTR_USER_READ_GUARDED);
		if (!one_in(&actor, 4))
			continue;
		err = module_unload();
		if (err != -EWOULDBLOCK && err != -EBUSY)
			wrong(&actor, "unloading the module in use: %s", strerror(-err));
		shared->refusals++;
	}
	set_policy(&actor, PERFCTR_USER_READ_GUARDED);
}

/* Waits until about @operations more were done; false at the end. */
static bool wait_for(struct actor *actor, uint64_t operations)
{
	uint64_t next = shared->operations + operations + below(actor, 500);

	while (!shared->stop && shared->operations < next)
		sleep_us(20000);
	return !shared->stop;
}

void evictor(uint64_t rng)
{
	struct actor actor;
	char user[16];

	actor_init(&actor, rng, 0);
	(void)snprintf(user, sizeof(user), "%u", GUEST_UID);
	while (wait_for(&actor, shared->target / 100)) {
		shared->evictions++;
		set_parameter(&actor, "evict", user);
		shared->evicted++;
	}
}

static int control_cpu(struct actor *actor, int fd, unsigned int cpu)
{
	static const unsigned int sources[] = {
		PERFCTR_SOURCE_NATIVE, PERFCTR_SOURCE_SHARED, PERFCTR_SOURCE_ANY,
	};
	struct perfctr_control control;
	int err;

	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	control.cpu = cpu;
	control.tsc_on = 1;
	control.source = sources[below(actor, 3)];
	if (shared->nevents)
		control_add(&control, EV_INSTRUCTIONS);
	err = try_control(fd, &control);
	/* Threads have the counters, or perf, or there is no such source, or anybody could read them. */
	if (err && err != -EBUSY && err != -EOPNOTSUPP && !(is_ppc() && err == -EACCES))
		wrong(actor, "CONTROL of CPU %u: %s", cpu, strerror(-err));
	return err;
}

/* Sums and clock never go back, and are lost only where counters come and go. */
static void read_cpu(const struct actor *actor, int fd, unsigned int cpu,
		     struct perfctr_read_cpu *last)
{
	struct perfctr_read_cpu rd = { .size = sizeof(rd), .cpu = cpu };
	int err = ioctl(fd, PERFCTR_IOC_READ_CPU, &rd) ? errno : 0;

	if (err && !(err == EIO && (shared->smp || is_ppc()) && rd.error == PERFCTR_ERROR_LOST))
		wrong(actor, "READ_CPU of %u: %s, error %u", cpu, strerror(err), rd.error);
	if (rd.clock < last->clock || rd.sum[0] < last->sum[0] || rd.sum[0] >> 60)
		wrong(actor, "CPU %u: clock %llu after %llu, sum %llu after %llu", cpu,
		      (unsigned long long)rd.clock, (unsigned long long)last->clock,
		      (unsigned long long)rd.sum[0], (unsigned long long)last->sum[0]);
	*last = rd;
}

/* A session counts CPUs for a moment. */
void observer(uint64_t rng)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	unsigned int cpu, i, ncpus = shared->smp ? 2 : 1;
	struct actor actor;
	int fd;

	actor_init(&actor, rng, 0);
	while (wait_for(&actor, shared->target / 200)) {
		struct perfctr_read_cpu last[2] = { { .size = 0 } };
		bool counts = false;

		fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);
		if (fd < 0 || ioctl(fd, PERFCTR_IOC_OPEN, &o))
			wrong(&actor, "OPEN of CPUs: %s", strerror(errno));
		for (cpu = 0; cpu < ncpus; cpu++)
			counts |= !control_cpu(&actor, fd, cpu);
		if (ioctl(fd, PERFCTR_IOC_RESUME))
			wrong(&actor, "RESUME of CPUs: %s", strerror(errno));
		for (i = 0; counts && i < 10; i++) {
			sleep_us(below(&actor, 3000));
			for (cpu = 0; cpu < ncpus; cpu++)
				read_cpu(&actor, fd, cpu, &last[cpu]);
		}
		if (counts)
			shared->sessions++;
		if (one_in(&actor, 2) && ioctl(fd, PERFCTR_IOC_SUSPEND))
			wrong(&actor, "SUSPEND of CPUs: %s", strerror(errno));
		close(fd);
	}
}

/*
 * A crowd: threads of a user who does nothing else, each with a period of its own, until the
 * parameter `controls` allows no more
 */

#define CROWD_STACK ((size_t)64 * 1024)
/* So long that no counter overflows */
#define CROWD_PERIOD (1ll << 40)

/**
 * struct crowd
 * @limit: different controls that the user may have
 * @ready: members that have controlled, or failed to
 * @go: the members up to this one may end
 */
struct crowd {
	struct actor *actor;
	unsigned int limit;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int ready;
	unsigned int go;
};

struct crowd_member {
	struct crowd *crowd;
	unsigned int i;
	pthread_t thread;
};

static void crowd_control(struct perfctr_control *control, unsigned int i)
{
	control_init(control);
	control_add_ictr(control, EV_INSTRUCTIONS, -CROWD_PERIOD - (int64_t)i);
	control->si_signo = SIGUSR2;
}

/* Checks a loop of known length, and the control in force. */
static void crowd_counts(const struct crowd_member *member, int fd)
{
	struct perfctr_control control;
	struct perfctr_read rd[2];
	unsigned long n = 100 + member->i;
	uint64_t delta;
	int err;

	memset(rd, 0, sizeof(rd));
	rd[0].size = rd[1].size = sizeof(rd[0]);
	err = (int)exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, n);
	delta = rd[1].sum[0] - rd[0].sum[0];
	if (err || rd[1].sum[0] < rd[0].sum[0] || rd[1].overflows ||
	    (shared->exact && delta != EXACT_KERNEL + BODY_SPIN(n)))
		wrong(member->crowd->actor, "one of a crowd counts %llu, expected %llu: %s, %u overflows",
		      (unsigned long long)delta, (unsigned long long)(EXACT_KERNEL + BODY_SPIN(n)),
		      strerror(-err), rd[1].overflows);
	control_init(&control);
	if (ioctl(fd, PERFCTR_IOC_READ_CONTROL, &control) ||
	    control.ctr[0].ireset != -CROWD_PERIOD - (int64_t)member->i)
		wrong(member->crowd->actor, "one of a crowd has the period %lld, and not %lld",
		      -(long long)control.ctr[0].ireset,
		      (long long)CROWD_PERIOD + (long long)member->i);
}

static void *crowd_member_lives(void *arg)
{
	struct crowd_member *member = arg;
	struct crowd *crowd = member->crowd;
	struct perfctr_control control;
	int fd = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL), err;

	crowd_control(&control, member->i);
	err = fd < 0 ? fd : try_control(fd, &control);
	if (err)
		wrong(crowd->actor, "control %u of %u: %s", member->i, crowd->limit, strerror(-err));
	else
		crowd_counts(member, fd);
	/* There are not enough descriptors for all. The state lives on without one. */
	if (fd >= 0)
		close(fd);
	pthread_mutex_lock(&crowd->lock);
	crowd->ready++;
	pthread_cond_broadcast(&crowd->changed);
	while (crowd->go <= member->i)
		pthread_cond_wait(&crowd->changed, &crowd->lock);
	pthread_mutex_unlock(&crowd->lock);
	if (err)
		return NULL;
	fd = try_open(0);
	if (fd < 0)
		wrong(crowd->actor, "OPEN by one of a crowd: %s", strerror(-fd));
	else
		crowd_counts(member, fd);
	close(fd);
	shared->crowded++;
	return NULL;
}

/* Ends the members below @n, and waits for them. */
static void crowd_goes(struct crowd *crowd, struct crowd_member *members, unsigned int n)
{
	unsigned int i = crowd->go;

	pthread_mutex_lock(&crowd->lock);
	crowd->go = n;
	pthread_cond_broadcast(&crowd->changed);
	pthread_mutex_unlock(&crowd->lock);
	for (; i < n; i++)
		pthread_join(members[i].thread, NULL);
}

static unsigned int crowd_comes(struct crowd *crowd, struct crowd_member *members)
{
	pthread_attr_t attr;
	unsigned int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, CROWD_STACK);
	for (i = 0; i < crowd->limit && !shared->stop; i++) {
		members[i].crowd = crowd;
		members[i].i = i;
		if (pthread_create(&members[i].thread, &attr, crowd_member_lives, &members[i]))
			break;
		/* Not all at once: their descriptors are open for a while. */
		pthread_mutex_lock(&crowd->lock);
		while (crowd->ready + 100 < i)
			pthread_cond_wait(&crowd->changed, &crowd->lock);
		pthread_mutex_unlock(&crowd->lock);
	}
	pthread_attr_destroy(&attr);
	pthread_mutex_lock(&crowd->lock);
	while (crowd->ready < i)
		pthread_cond_wait(&crowd->changed, &crowd->lock);
	pthread_mutex_unlock(&crowd->lock);
	return i;
}

/* The user has all controls that it may have: a new one is refused, an equal one is not. */
static void crowd_is_full(struct crowd *crowd, int fd)
{
	struct perfctr_control control;
	int err;

	crowd_control(&control, crowd->limit);
	err = try_control(fd, &control);
	if (err != -ENOSPC)
		wrong(crowd->actor, "control %u of %u: %s", crowd->limit, crowd->limit, strerror(-err));
	crowd_control(&control, below(crowd->actor, crowd->limit));
	err = try_control(fd, &control);
	if (err)
		wrong(crowd->actor, "a control that is there already: %s", strerror(-err));
	/* The refusal has changed nothing. */
	crowd_control(&control, crowd->limit);
	err = try_control(fd, &control);
	if (err != -ENOSPC)
		wrong(crowd->actor, "control %u of %u: %s", crowd->limit, crowd->limit, strerror(-err));
	control_init(&control);
	if (ioctl(fd, PERFCTR_IOC_READ_CONTROL, &control) || control.nrictrs != 1 ||
	    control.ctr[0].ireset <= -CROWD_PERIOD - (int64_t)crowd->limit)
		wrong(crowd->actor, "a control without a place has changed the period to %lld",
		      -(long long)control.ctr[0].ireset);
}

/*
 * Some members have ended, so there is room. A thread gives its control back a little after
 * its end.
 */
static void crowd_has_room(struct crowd *crowd, int fd)
{
	struct perfctr_control control;
	unsigned int i;
	int err = -ENOSPC;

	for (i = 0; err == -ENOSPC && i < 5000; i++) {
		crowd_control(&control, crowd->limit);
		err = try_control(fd, &control);
		if (err)
			sleep_us(1000);
	}
	if (err)
		wrong(crowd->actor, "a control in place of those that went: %s", strerror(-err));
}

static void be_crowd(struct actor *actor, unsigned int limit)
{
	const struct rlimit many = { RLIM_INFINITY, RLIM_INFINITY };
	struct crowd crowd = {
		.actor = actor,
		.limit = limit,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	struct crowd_member *members = calloc(limit, sizeof(*members));
	unsigned int n;
	int fd;

	(void)setrlimit(RLIMIT_NPROC, &many);
	become(STRANGER_UID);
	fd = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
	if (!members || fd < 0) {
		wrong(actor, "a crowd cannot begin: %s", strerror(-fd));
		free(members);
		return;
	}
	n = crowd_comes(&crowd, members);
	if (n < limit) {
		if (!shared->stop)
			printf("skipped stress.crowd of %u: there is no thread %u\n", limit, n);
		crowd_goes(&crowd, members, n);
		free(members);
		return;
	}
	crowd_is_full(&crowd, fd);
	crowd_goes(&crowd, members, 1 + below(actor, 10));
	crowd_has_room(&crowd, fd);
	crowd_goes(&crowd, members, n);
	free(members);
	shared->crowds++;
}

/*
 * The limit is per user, and the other users are far from it. Thousands of controls take
 * long, so a short run has fewer.
 */
void crowder(uint64_t rng)
{
	unsigned int limit, most = shared->target < 20000 ? (unsigned int)shared->target / 8 + 1 : 2500;
	struct actor actor;
	char value[16];
	int status;
	pid_t pid;

	actor_init(&actor, rng, 0);
	while (wait_for(&actor, shared->target / 10)) {
		limit = 300 + below(&actor, most);
		(void)snprintf(value, sizeof(value), "%u", limit);
		set_parameter(&actor, "controls", value);
		(void)fflush(stdout);
		pid = fork();
		if (!pid) {
			be_crowd(&actor, limit);
			(void)fflush(stdout);
			_exit(shared->failed ? EXIT_FAILURE : 0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			wrong(&actor, "fork, waitpid: %s", strerror(errno));
		else
			check_end(&actor, status, false);
		set_parameter(&actor, "controls", "16384");
	}
}

/*
 * Number of objects in a slab cache of the module; -1 if others share the cache. The kernel
 * counts free objects that CPUs keep as used, until it is told to shrink the cache.
 */
static int slab_objects(const char *cache)
{
	char path[128], text[64];

	(void)snprintf(path, sizeof(path), "/sys/kernel/slab/%s/aliases", cache);
	if (read_text(path, text, sizeof(text)) <= 0 || strtol(text, NULL, 10))
		return -1;
	(void)snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", cache);
	if (write_text(path, "1"))
		return -1;
	(void)snprintf(path, sizeof(path), "/sys/kernel/slab/%s/objects", cache);
	return read_text(path, text, sizeof(text)) > 0 ? (int)strtol(text, NULL, 10) : -1;
}

void check_slabs(void)
{
	static const char *const caches[] = { "perfctr", "perfctr_descendant" };
	unsigned int i, waited;
	int n;

	for (i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		/* Threads that have ended and files that were closed go in their own time. */
		for (waited = 0; (n = slab_objects(caches[i])) > 0 && waited < 3000; waited += 10)
			sleep_us(10000);
		if (n < 0)
			printf("skipped stress.slab of %s: it is not alone in its cache (the kernel parameter slab_nomerge)\n",
			       caches[i]);
		else if (n)
			wrong(NULL, "%d objects are left in %s", n, caches[i]);
		else
			printf("stress: no object is left in %s\n", caches[i]);
	}
}
