// SPDX-License-Identifier: GPL-2.0
/*
 * stress: everything that the ABI offers, in random order, by many processes and
 * threads that fork, exec, move, die and hand each other their handles, while
 * the second CPU comes and goes and the module is to be unloaded.
 *
 *	stress [-s SEED] [-n OPERATIONS] [-i]
 *
 * 200,000 operations, or OPS of the environment. A worker that knows what it must have
 * counted demands exactly that, unless -i says that this machine has no instruction
 * clock. The same seed gives each process the same numbers, but not the same order of
 * processes. Every second worker is the user GUEST_UID, from whom root takes the counters now
 * and then: they expect that; all others must count on. Operations that this machine cannot
 * do are reported as skipped. With SOURCE=shared in the environment all controls count through
 * perf_events.
 *
 * A new operation is a function and a line in the table operations[].
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "stress/stress.h"
#define DEFAULT_OPERATIONS 200000
#define PATIENCE_NS 600000000000ull	/* of the guest's clock, without any operation */

struct shared *shared;

void wrong(const struct actor *actor, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!atomic_exchange(&shared->failed, true))
		(void)dprintf(STDOUT_FILENO,
			      "not ok stress: %s (process %d, depth %u, after %llu operations)\n",
			      text, getpid(), actor ? actor->depth : 0,
			      (unsigned long long)shared->operations);
	shared->stop = true;
}

uint64_t any(struct actor *actor)
{
	actor->rng ^= actor->rng >> 12;
	actor->rng ^= actor->rng << 25;
	actor->rng ^= actor->rng >> 27;
	return actor->rng * 0x2545f4914f6cdd1dull;
}

unsigned int below(struct actor *actor, unsigned int n)
{
	return (unsigned int)((any(actor) >> 33) % n);
}

bool one_in(struct actor *actor, unsigned int n)
{
	return below(actor, n) == 0;
}

void actor_init(struct actor *actor, uint64_t rng, unsigned int depth)
{
	unsigned int i;

	memset(actor, 0, sizeof(*actor));
	actor->rng = rng | 1;
	actor->own = -1;
	for (i = 0; i < FOREIGN; i++)
		actor->foreign[i] = -1;
	actor->depth = depth;
	actor->evictable = getuid() == GUEST_UID;
	control_init(&actor->control);
}

void give_page(const struct perfctr_page *page)
{
	if (munmap((void *)(uintptr_t)page, PAGE_SIZE))
		wrong(NULL, "munmap: %s", strerror(errno));
}

/* Keeps a handle on somebody else's state, in place of an older one. */
void keep_foreign(struct actor *actor, int fd)
{
	int *slot = &actor->foreign[below(actor, FOREIGN)];

	if (*slot >= 0)
		close(*slot);
	*slot = fd;
}

bool is_on(const struct perfctr_control *control)
{
	return control->tsc_on || control->nractrs || control->nrictrs;
}

unsigned int nr_of(const struct perfctr_control *control)
{
	return control->nractrs + control->nrictrs;
}

__thread volatile int own_handle = -1;

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	int error = errno;

	(void)signo;
	(void)context;
	if (info->si_code == PERFCTR_SI_OVF)
		shared->overflows++;
	leave_handler();
	/* The handle may be closed by now, or be another file. */
	(void)ioctl(own_handle, PERFCTR_IOC_IRESUME);
	errno = error;
}

/* Index of a counter that counts instructions in user mode only, now; or -1. */
int exact_counter(const struct actor *actor)
{
	const struct perfctr_control *control = &actor->control;
	unsigned int i;

	/* The overflow handler's own instructions are counted too. */
	if (actor->own < 0 || !actor->attached || (control->flags & PERFCTR_CONTROL_ON_EXEC) ||
	    control->nrictrs)
		return -1;
	for (i = 0; i < control->nractrs; i++)
		if (control->ctr[i].event == EV_INSTRUCTIONS &&
		    control->ctr[i].flags == PERFCTR_CTR_USER)
			return (int)i;
	return -1;
}

static const struct operation {
	void (*run)(struct actor *actor);
	unsigned int weight;
} operations[] = {
	{ op_open, 60 },
	{ op_control, 80 },
	{ op_wrong_control, 25 },
	{ op_read, 60 },
	{ op_read_words, 60 },
	{ op_read_control, 30 },
	{ op_exact, 200 },
	{ op_map, 40 },
	{ op_unmap, 20 },
	{ op_move_map, 10 },
	{ op_unlink, 20 },
	{ op_close, 30 },
	{ op_second_handle, 15 },
	{ op_info, 20 },
	{ op_fdinfo, 10 },
	{ op_move, 40 },
	{ op_rest, 40 },
	{ op_pass, 40 },
	{ op_receive, 50 },
	{ op_foreign, 120 },
	{ op_fork, 12 },
	{ op_exec, 4 },
	{ op_spawn, 3 },
	{ op_thread, 6 },
	{ op_heir, 4 },
	{ op_tree, 6 },
	{ op_stop_and_go, 15 },
	{ op_long_jump, 4 },
	{ op_perf_calls, 4 },
	{ op_trace, 10 },
	{ op_tracee, 6 },
	{ op_record, 6 },
	{ op_sibling, 3 },
	{ op_no_fork, 3 },
	{ op_copy_page, 6 },
	{ op_file_calls, 10 },
	{ op_exec_suspended, 2 },
	{ op_late_page, 8 },
	{ op_clock_forbidden, 20 },
	{ op_raw, 4 },
	{ op_limits, 4 },
	{ op_kill, 6 },
	{ op_reap, 20 },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static void operate(struct actor *actor)
{
	unsigned int i, sum = 0, pick;

	for (i = 0; i < OPERATIONS; i++)
		sum += operations[i].weight;
	pick = below(actor, sum);
	for (i = 0; pick >= operations[i].weight; i++)
		pick -= operations[i].weight;
	operations[i].run(actor);
	if (++shared->operations >= shared->target)
		shared->stop = true;
}

void burst(struct actor *actor)
{
	unsigned int n = 1 + below(actor, BURST);

	while (n-- && !shared->stop)
		operate(actor);
	reap_all(actor, 0);
}

/* --- processes --- */

void handle_overflows(void)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_RESTART };

	if (sigaction(SIGUSR2, &action, NULL))
		wrong(NULL, "sigaction: %s", strerror(errno));
}

/* The program after an exec: its state goes on, unless the control says otherwise. */
static int again(char **argv)
{
	struct perfctr_control control;
	struct perfctr_read rd;
	struct actor actor;
	int own = (int)strtol(argv[1], NULL, 10);

	actor_init(&actor, strtoull(argv[0], NULL, 10), (unsigned int)strtoul(argv[3], NULL, 10));
	handle_overflows();
	actor.attached = argv[2][0] == '1';
	actor.shared_handle = true;
	/* The control may be older than any eviction. */
	actor.after = shared->evictions;
	if (actor.attached && own < 0) {
		own = try_open(0);
		if (own < 0) {
			wrong(&actor, "OPEN after exec: %s", strerror(-own));
			return EXIT_FAILURE;
		}
	}
	actor.own = own;
	if (own >= 0) {
		control_init(&control);
		if (ioctl(own, PERFCTR_IOC_READ_CONTROL, &control))
			wrong(&actor, "READ_CONTROL after exec: %s", strerror(errno));
		if (!try_read(own, &rd) && rd.flags & PERFCTR_READ_ON_EXEC)
			wrong(&actor, "ON_EXEC still waits after exec");
		/* Its control now: counting has started, and the exec has ended the signals. */
		control.flags &= ~(uint32_t)PERFCTR_CONTROL_ON_EXEC;
		control.si_signo = 0;
		if (actor.attached) {
			actor.control = control;
			actor.nr_sums = rd.nrctrs;
		}
		fcntl(own, F_SETFD, FD_CLOEXEC);
		/* The state may have been suspended before. */
		if (actor.attached && ioctl(own, PERFCTR_IOC_RESUME))
			wrong(&actor, "RESUME after exec: %s", strerror(errno));
	}
	op_read(&actor);
	op_exact(&actor);
	burst(&actor);
	return shared->failed ? EXIT_FAILURE : 0;
}

static pid_t start(void (*run)(uint64_t), uint64_t rng)
{
	pid_t pid = fork();

	if (pid < 0)
		wrong(NULL, "fork: %s", strerror(errno));
	if (pid)
		return pid;
	run(rng);
	_exit(shared->failed ? EXIT_FAILURE : 0);
}

static void worker(uint64_t rng)
{
	struct actor actor;

	actor_init(&actor, rng, 0);
	/* Every second worker is an ordinary user. */
	if (rng >> 63) {
		become(GUEST_UID);
		actor.evictable = true;
	}
	while (!shared->stop)
		operate(&actor);
	reap_all(&actor, 0);
}

/* Takes the second CPU off and on. */
static void hotplugger(uint64_t rng)
{
	uint64_t next = shared->operations;
	struct actor actor;
	int err;

	actor_init(&actor, rng, 0);
	while (!shared->stop) {
		sleep_us(20000);
		if (shared->operations < next)
			continue;
		next = shared->operations + shared->target / 80 + below(&actor, 500);
		err = cpu_online(1, false);
		if (err && err != -EBUSY)
			wrong(&actor, "CPU 1 off: %s", strerror(-err));
		sleep_us(below(&actor, 20000));
		err = cpu_online(1, true);
		if (err)
			wrong(&actor, "CPU 1 on: %s", strerror(-err));
		shared->hotplugs++;
	}
}

static void learn_events(int fd)
{
	static const uint64_t events[] = {
		EV_INSTRUCTIONS, EV_CYCLES, EV_DTLB_LOAD_MISSES, EV_DTLB_STORE_MISSES,
		EV_ITLB_LOAD_MISSES,
	};
	struct perfctr_control control;
	unsigned int i;

	if (!guest.nprogrammable ||
	    !(guest.shared || guest.info.cpu_features & PERFCTR_FEATURE_FILTER))
		return;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		control_init(&control);
		control_add(&control, events[i]);
		if (!try_control(fd, &control))
			shared->event[shared->nevents++] = events[i];
	}
	if (shared->event[0] != EV_INSTRUCTIONS)
		wrong(NULL, "instructions cannot be counted");
}

/* Descriptors that all processes find, also after an exec */
static void share(void)
{
	int fd = memfd_create("stress", 0);
	int pair[2];

	if (fd < 0 || ftruncate(fd, sizeof(*shared)) || dup2(fd, SHARED_FD) < 0 ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair) ||
	    dup2(pair[0], SEND_FD) < 0 || dup2(pair[1], RECEIVE_FD) < 0) {
		perror("stress");
		exit(EXIT_FAILURE);
	}
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

static void find_shared(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
	if (shared == MAP_FAILED) {
		perror("stress: mmap");
		exit(EXIT_FAILURE);
	}
}

/* Looks after the workers until all is done; one that dies is replaced. */
static void supervise(struct actor *actor)
{
	uint64_t seen = 0, begun = now_ns(), since = begun, told = 0;
	pid_t pid;
	unsigned int i;
	int status;

	if (shared->smp)
		(void)start(hotplugger, any(actor));
	(void)start(administrator, any(actor));
	(void)start(freezer, any(actor));
	(void)start(evictor, any(actor));
	(void)start(observer, any(actor));
	if (shared->interrupts && shared->nevents)
		(void)start(crowder, any(actor));
	for (i = 0; i < WORKERS; i++)
		shared->worker[i] = start(worker, any(actor) >> 1 | (uint64_t)(i & 1) << 63);

	for (;;) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			return;
		if (pid > 0) {
			/* Also orphans, who may have been killed by their parents. */
			check_end(actor, status, true);
			for (i = 0; i < WORKERS; i++)
				if (shared->worker[i] == pid && !shared->stop)
					shared->worker[i] = start(worker, any(actor) >> 1 |
							   (uint64_t)(i & 1) << 63);
			continue;
		}
		if (shared->operations != seen) {
			seen = shared->operations;
			since = now_ns();
			if (seen / (shared->target / 10 + 1) > told) {
				told = seen / (shared->target / 10 + 1);
				printf("stress: %llu operations, %llu exact counts, %llu s\n",
				       (unsigned long long)seen,
				       (unsigned long long)shared->exacts,
				       (unsigned long long)((since - begun) / 1000000000));
			}
		} else if (now_ns() - since > PATIENCE_NS) {
			wrong(actor, "nothing happens any more");
			return;
		}
		sleep_us(50000);
		if (one_in(actor, 20) && !shared->stop) {
			(void)kill(shared->worker[below(actor, WORKERS)], SIGKILL);
			shared->kills++;
		}
	}
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (*end || end == text) {
		(void)fprintf(stderr, "stress: '%s' is no number\n", text);
		exit(2);
	}
	return n;
}

/* The others have counted all the time and are gone: counts are exact, and the module unloads. */
static void finish(struct actor *actor)
{
	unsigned int i;
	int err;

	for (i = 0; i < 100; i++)
		op_exact(actor);
	if (ioctl(actor->own, PERFCTR_IOC_UNLINK))
		wrong(actor, "UNLINK at the end: %s", strerror(errno));
	close(actor->own);
	for (i = 0; i < FOREIGN; i++)
		if (actor->foreign[i] >= 0)
			close(actor->foreign[i]);
	close(SEND_FD);
	close(RECEIVE_FD);
	check_slabs();
	err = module_unload_patiently();
	if (err)
		wrong(actor, "the module cannot be unloaded at the end: %s", strerror(-err));
}

/* If the host has no time for QEMU, Linux measures the clock's frequency wrongly as it boots. */
static void learn_clock(int fd)
{
	uint64_t since = now_ns(), ns, hz;
	struct perfctr_read rd[2];

	if (shared->exact || try_read(fd, &rd[0]))
		return;
	do
		body_spin(10000);
	while (now_ns() - since < 100000000);
	if (try_read(fd, &rd[1]))
		return;
	ns = now_ns() - since;
	hz = (rd[1].clock - rd[0].clock) * 1000 / (ns / 1000000);
	if (hz > shared->clock_hz)
		shared->clock_hz = hz;
}

/* What is not tried here, and why */
static void learn_limits(void)
{
	int fd;

	/* By default only root may handle page faults of the kernel. */
	(void)write_text("/proc/sys/vm/unprivileged_userfaultfd", "1");
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	shared->late_pages = fd >= 0;
	if (fd >= 0)
		close(fd);
	else
		printf("skipped stress.late_page: userfaultfd: %s\n", strerror(errno));
	if (!shared->nevents)
		printf("skipped stress.exact, limits, raw: no counters that filter\n");
	if (!shared->interrupts || !shared->nevents)
		printf("skipped stress.crowd, overflows: no i-mode counters\n");
	if (!shared->topdown)
		printf("skipped stress.metrics: no TopDown\n");
	if (!shared->raw)
		printf("skipped stress.raw: %s\n", CONTROL_RAW ?
		       "perf's counters are not read in user mode" :
		       "no permission is one thread's");
#if defined(__riscv) || defined(__powerpc__)
	printf("skipped stress.clock_forbidden: there is no PR_SET_TSC\n");
#endif
	if (!shared->smp)
		printf("skipped stress.hotplug: one CPU\n");
}

int main(int argc, char **argv)
{
	uint64_t seed = now_ns() % 1000000007, n = DEFAULT_OPERATIONS;
	const char *ops = getenv("OPS");
	struct actor actor;
	bool exact = true;
	int opt;

	if (argc > 1 && !strcmp(argv[1], "--nothing"))
		return 0;
	if (argc == 6 && !strcmp(argv[1], "--again")) {
		find_shared();
		guest.shared = shared->through_perf;
		return again(argv + 2);
	}
	if (ops && *ops)
		n = number(ops);
	while ((opt = getopt(argc, argv, "s:n:i")) != -1) {
		if (opt == 's') {
			seed = number(optarg);
		} else if (opt == 'n') {
			n = number(optarg);
		} else if (opt == 'i') {
			exact = false;
		} else {
			(void)fprintf(stderr, "usage: stress [-s SEED] [-n OPERATIONS] [-i]\n");
			return 2;
		}
	}

	guest_begin("stress", NULL);
	printf("stress: %llu operations, seed %llu%s%s\n", (unsigned long long)n,
	       (unsigned long long)seed, exact ? "" : ", counts need not be exact",
	       guest.shared ? ", through perf_events" : "");
	/* Else a user may be refused: root's setting of perf may let others read its counters. */
	if (guest.shared)
		(void)write_text(MODULE_PARAMS "shared_open", "1");
	share();
	find_shared();
	handle_overflows();
	shared->target = n;
	shared->exact = exact;
	shared->smp = guest.ncpus > 1;
	shared->nctrs = guest.nprogrammable;
	shared->clock_hz = guest.info.tsc_hz;
	shared->through_perf = guest.shared;
	shared->interrupts = guest.info.cpu_features & PERFCTR_FEATURE_PCINT && !guest.shared;
	shared->topdown = guest.info.topdown && !guest.shared;
	shared->raw = CONTROL_RAW && !guest.shared;
	shared->features = guest.info.cpu_features;
	shared->policy = guest.info.user_read;
	prctl(PR_SET_CHILD_SUBREAPER, 1);

	actor_init(&actor, seed * 0x9e3779b97f4a7c15ull, 0);
	actor.own = try_open(PERFCTR_OPEN_CREAT);
	if (actor.own < 0) {
		wrong(NULL, "OPEN: %s", strerror(-actor.own));
		return EXIT_FAILURE;
	}
	actor.attached = true;
	learn_events(actor.own);
	actor.control.tsc_on = 1;
	if (shared->nevents)
		control_add(&actor.control, EV_INSTRUCTIONS);
	actor.nr_sums = nr_of(&actor.control);
	if (try_control(actor.own, &actor.control))
		wrong(NULL, "the first CONTROL failed");
	learn_clock(actor.own);
	learn_limits();

	supervise(&actor);
	finish(&actor);
	if (guest_end() || shared->failed)
		return EXIT_FAILURE;
	printf("stress: %llu overflow signals, %llu looks at periods\n",
	       (unsigned long long)shared->overflows, (unsigned long long)shared->periods);
	printf("stress: %llu members of %llu trees added up\n",
	       (unsigned long long)shared->members, (unsigned long long)shared->trees);
	printf("stress: %llu controls refused, %llu late pages, %llu clocks forbidden, %llu raw reads revoked\n",
	       (unsigned long long)shared->refused, (unsigned long long)shared->late,
	       (unsigned long long)shared->tsc, (unsigned long long)shared->revoked);
	printf("stress: %llu sessions counted CPUs, %llu metrics compared with slots\n",
	       (unsigned long long)shared->sessions, (unsigned long long)shared->metrics);
	printf("stress: %llu evictions found by %llu states, %llu at their limits, %llu controls in %llu crowds\n",
	       (unsigned long long)shared->evictions, (unsigned long long)shared->losses,
	       (unsigned long long)shared->limits, (unsigned long long)shared->crowded,
	       (unsigned long long)shared->crowds);
	printf("stress: %llu single steps, %llu freezes, %llu controls of tracees, %llu recordings\n",
	       (unsigned long long)shared->steps, (unsigned long long)shared->freezes,
	       (unsigned long long)shared->tracees, (unsigned long long)shared->recordings);
	printf("stress: %llu exact counts, %llu execs, %llu kills, %llu times CPU 1 off and on, %llu refusals to unload\n",
	       (unsigned long long)shared->exacts, (unsigned long long)shared->execs,
	       (unsigned long long)shared->kills, (unsigned long long)shared->hotplugs,
	       (unsigned long long)shared->refusals);
	printf("ok stress\n%llu operations, seed %llu\n",
	       (unsigned long long)shared->operations, (unsigned long long)seed);
	return 0;
}
