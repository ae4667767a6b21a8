// SPDX-License-Identifier: GPL-2.0
/*
 * stress: everything that the ABI offers, in random order, by many processes and
 * threads that fork, exec, move, die and hand each other their handles, while
 * the second CPU comes and goes and the module is to be unloaded.
 *
 *	stress [-s SEED] [-n OPERATIONS] [-i]
 *
 * 200,000 operations, or OPS of the environment. One who knows what it counts
 * demands it exactly, unless -i says that this machine's clock is none of
 * instructions. The same seed gives each process the same numbers, but
 * who runs when is the machine's affair.
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

#include "counting.h"
#include "guest.h"
#include "loops.h"

#define DEFAULT_OPERATIONS 200000
#define WORKERS 6
#define BURST 40		/* most operations of a child */
#define DEPTH 3			/* generations below a worker */
#define FOREIGN 6		/* handles of others that an actor keeps */
#define CHILDREN 3
#define PATIENCE_NS 600000000000ull	/* of the guest's clock, without any operation */

/* Where a program finds them after exec */
#define SHARED_FD 100
#define SEND_FD 101
#define RECEIVE_FD 102

/* What all processes share */
struct shared {
	_Atomic uint64_t operations;
	uint64_t target;
	atomic_bool stop;
	atomic_bool failed;
	bool exact;
	bool smp;
	bool interrupts;
	unsigned int nctrs;	/* most of a control */
	unsigned int nevents;
	uint64_t event[8];	/* that this machine has; instructions come first */
	_Atomic uint64_t exacts;
	_Atomic uint64_t execs;
	_Atomic uint64_t kills;
	_Atomic uint64_t hotplugs;
	_Atomic uint64_t refusals;
	_Atomic uint64_t trees;
	_Atomic uint64_t members;	/* of those trees that were compared */
	_Atomic uint64_t overflows;	/* signals */
	_Atomic uint64_t periods;	/* that were compared */
};

static struct shared *shared;

/**
 * struct actor - a thread that does operations, and what it knows
 * @rng: its random numbers
 * @attached: it has a state
 * @own: handle on that, or -1
 * @shared_handle: others may have the open file that holds the state
 * @control: in force
 * @page: its map of the page, or NULL
 * @foreign: handles on states that are not its own, -1 where none
 * @child: children, 0 where none
 * @killed: ... which were killed
 * @depth: generations above
 */
struct actor {
	uint64_t rng;
	bool attached;
	int own;
	bool shared_handle;
	struct perfctr_control control;
	const struct perfctr_page *page;
	int foreign[FOREIGN];
	pid_t child[CHILDREN];
	bool killed[CHILDREN];
	unsigned int depth;
};

__attribute__((format(printf, 2, 3)))
static void wrong(const struct actor *actor, const char *format, ...)
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

static uint64_t any(struct actor *actor)
{
	actor->rng ^= actor->rng >> 12;
	actor->rng ^= actor->rng << 25;
	actor->rng ^= actor->rng >> 27;
	return actor->rng * 0x2545f4914f6cdd1dull;
}

static unsigned int below(struct actor *actor, unsigned int n)
{
	return (unsigned int)((any(actor) >> 33) % n);
}

static bool one_in(struct actor *actor, unsigned int n)
{
	return below(actor, n) == 0;
}

static void actor_init(struct actor *actor, uint64_t rng, unsigned int depth)
{
	unsigned int i;

	memset(actor, 0, sizeof(*actor));
	actor->rng = rng | 1;
	actor->own = -1;
	for (i = 0; i < FOREIGN; i++)
		actor->foreign[i] = -1;
	actor->depth = depth;
	control_init(&actor->control);
}

static void give_page(const struct perfctr_page *page)
{
	if (munmap((void *)(uintptr_t)page, PAGE_SIZE))
		wrong(NULL, "munmap: %s", strerror(errno));
}

/* Keeps a handle of somebody else, in place of another. */
static void keep_foreign(struct actor *actor, int fd)
{
	int *slot = &actor->foreign[below(actor, FOREIGN)];

	if (*slot >= 0)
		close(*slot);
	*slot = fd;
}

static bool is_on(const struct perfctr_control *control)
{
	return control->tsc_on || control->nractrs || control->nrictrs;
}

static unsigned int nr_of(const struct perfctr_control *control)
{
	return control->nractrs + control->nrictrs;
}

/* The handle by which this thread's last control was, which its handler of overflows uses */
static __thread volatile int own_handle = -1;

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	int error = errno;

	(void)signo;
	(void)context;
	if (info->si_code == PERFCTR_SI_OVF)
		shared->overflows++;
	/* It may have been closed, or be something else by now. */
	(void)ioctl(own_handle, PERFCTR_IOC_IRESUME);
	errno = error;
}

/* Index of a counter that counts instructions in user mode only, now; or -1. */
static int exact_counter(const struct actor *actor)
{
	const struct perfctr_control *control = &actor->control;
	unsigned int i;

	/* A handler of overflows counts itself. */
	if (actor->own < 0 || !actor->attached || (control->flags & PERFCTR_CONTROL_ON_EXEC) ||
	    control->nrictrs)
		return -1;
	for (i = 0; i < control->nractrs; i++)
		if (control->ctr[i].event == EV_INSTRUCTIONS &&
		    control->ctr[i].flags == PERFCTR_CTR_USER)
			return (int)i;
	return -1;
}

/* --- operations --- */

static void op_open(struct actor *actor)
{
	static const unsigned int flags[] = {
		PERFCTR_OPEN_CREAT, PERFCTR_OPEN_CREAT, PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL, 0,
	};
	unsigned int how = flags[below(actor, 4)];
	int fd, expected = 0;

	if (actor->attached && (how & PERFCTR_OPEN_EXCL))
		expected = -EEXIST;
	else if (!actor->attached && !how)
		expected = -ENOENT;
	fd = try_open(how);
	if ((fd < 0 ? fd : 0) != expected)
		wrong(actor, "OPEN with flags %u: %d, expected %d", how, fd, expected);
	if (fd < 0)
		return;
	if (actor->attached && actor->own >= 0) {
		keep_foreign(actor, fd);	/* a second one on the same state */
		return;
	}
	if (!actor->attached)
		control_init(&actor->control);
	actor->attached = true;
	/* A handle on what was unlinked goes to the others. */
	if (actor->own >= 0)
		keep_foreign(actor, actor->own);
	actor->own = fd;
}

static void random_control(struct actor *actor, struct perfctr_control *control)
{
	unsigned int i, n = shared->nevents ? below(actor, 5) : 0;
	bool tiny;

	if (n > shared->nctrs)
		n = shared->nctrs;
	control_init(control);
	control->tsc_on = below(actor, 2);
	if (one_in(actor, 3))
		control->preserve = any(actor) & 0xffffffffu;
	if (one_in(actor, 16))
		control->flags |= PERFCTR_CONTROL_CLOEXEC;
	if (one_in(actor, 16))
		control->flags |= PERFCTR_CONTROL_ON_EXEC;
	if (one_in(actor, 16))
		control->flags |= CONTROL_RAW;
	for (i = 0; i < n; i++) {
		unsigned int e = i || one_in(actor, 3) ? below(actor, shared->nevents) : 0;
		uint32_t flags = PERFCTR_CTR_USER;

		if (one_in(actor, 12))
			flags |= PERFCTR_CTR_KERNEL;
		control_add_at(control, PERFCTR_MAP_ANY, shared->event[e], flags);
	}
	if (!shared->interrupts || n == shared->nctrs || !one_in(actor, 4))
		return;
	control->flags &= ~(unsigned int)PERFCTR_CONTROL_ON_EXEC;
	control->si_signo = SIGUSR2;
	if (one_in(actor, 3))
		control->refresh = 1 + below(actor, 1000);
	/* Some are so short that nobody gets anywhere if they go on. */
	tiny = one_in(actor, 40);
	if (tiny)
		control->refresh = below(actor, 100);
	/* And in kernel mode it may be no more than from one overflow to its handler's end. */
	for (n += 1 + below(actor, 2); i < n && i < shared->nctrs; i++, control->nrictrs++) {
		bool kernel = one_in(actor, 12);

		control->ctr[i] = (struct perfctr_ctr_control) {
			.map = PERFCTR_MAP_ANY,
			.ireset = tiny ? -1 - (int64_t)below(actor, 20) :
					 (kernel ? -2000000 : -1000) -
						(int64_t)below(actor, 1u << below(actor, 20)),
			.flags = PERFCTR_CTR_USER | (kernel ? PERFCTR_CTR_KERNEL : 0),
			.event = shared->event[below(actor, shared->nevents)],
		};
	}
}

static void op_read(struct actor *actor);

static void op_control(struct actor *actor)
{
	struct perfctr_control control;
	int err;

	if (actor->own < 0)
		return;
	random_control(actor, &control);
	control.size = (uint32_t)CONTROL_SIZE(nr_of(&control) + below(actor, 3));
	own_handle = control.nrictrs && control.ctr[control.nractrs].ireset > -1000 ? -1 : actor->own;
	err = try_control(actor->own, &control);
	switch (err) {
	case 0:
		if (!actor->attached)
			wrong(actor, "CONTROL of what is not attached succeeded");
		actor->control = control;
		if (!is_on(&control))
			actor->control.flags &= ~(unsigned int)PERFCTR_CONTROL_ON_EXEC;
		if (control.nrictrs && actor->attached) {
			body_spin(1 + below(actor, 20000));
			op_read(actor);
		}
		break;
	case -ESRCH:
		if (actor->attached)
			wrong(actor, "CONTROL: ESRCH, but it is attached");
		break;
	case -EBUSY:		/* held by another open file, or no counter is left */
	case -EOPNOTSUPP:	/* an event twice */
	case -EACCES:		/* kernel mode */
		break;
	default:
		wrong(actor, "CONTROL of %u counters, flags %#x: %s", nr_of(&control),
		     control.flags, strerror(-err));
	}
}

static void op_wrong_control(struct actor *actor)
{
	struct perfctr_control control;
	int err;

	if (actor->own < 0)
		return;
	random_control(actor, &control);
	switch (below(actor, 11)) {
	case 0: control.size = below(actor, 16); break;
	case 1: control.size = 4097 + below(actor, 1000); break;
	case 2: control.flags = 1u << 31; break;
	case 3: control.tsc_on = 2; break;
	case 4: control.nractrs = PERFCTR_MAX_CTRS + 1 + below(actor, 1000); break;
	case 5: control.nrictrs = ~0u; break;
	case 6: control.nrictrs++; control.ctr[nr_of(&control) - 1].ireset = 0; break;
	case 7: control.si_signo = control.nrictrs ? SIGKILL : SIGIO; break;
	case 8: control.preserve = 1ull << 32; break;
	case 9: control.reserved = any(actor) | 1; break;
	default:
		control.nractrs = 0;
		control.nrictrs = 0;
		control_add_at(&control, PERFCTR_MAP_ANY, any(actor) | 1ull << 63, PERFCTR_CTR_USER);
	}
	err = try_control(actor->own, &control);
	if (!err)
		wrong(actor, "a wrong CONTROL succeeded");
	err = ioctl(actor->own, PERFCTR_IOC_CONTROL, (void *)8) ? errno : 0;
	if (err != EFAULT && err != ESRCH)
		wrong(actor, "CONTROL of a wrong address: %s", strerror(err));
}

/*
 * Where one counter has a period, of user mode, its overflows are at multiples of that;
 * but a TLB may miss more than once before the interrupt. After an exec there are none.
 */
static void check_overflows(const struct actor *actor, const struct perfctr_read *rd)
{
	const struct perfctr_control *control = &actor->control;
	unsigned int i = control->nractrs;
	uint64_t expected;

	if (!shared->exact || control->nrictrs != 1 || control->ctr[i].flags != PERFCTR_CTR_USER ||
	    (control->ctr[i].event != EV_INSTRUCTIONS && control->ctr[i].event != EV_CYCLES) ||
	    (control->preserve & 1ull << i) || !control->si_signo)
		return;
	expected = rd->sum[i] / -(uint64_t)control->ctr[i].ireset;
	if (rd->overflows != (uint32_t)expected)
		wrong(actor, "%u overflows in %llu, expected %llu (period %lld)", rd->overflows,
		      (unsigned long long)rd->sum[i], (unsigned long long)expected,
		      -(long long)control->ctr[i].ireset);
	shared->periods++;
}

/* What READ says of the actor's own state must be what it knows. */
static void op_read(struct actor *actor)
{
	struct perfctr_read rd;
	unsigned int nr;
	int err;

	if (actor->own < 0)
		return;
	err = try_read(actor->own, &rd);
	if (err) {
		wrong(actor, "READ of its own: %s, error %u", strerror(-err), rd.error);
		return;
	}
	if (actor->attached != ((rd.flags & PERFCTR_READ_ATTACHED) != 0))
		wrong(actor, "READ: flags %#x, but attached is %d", rd.flags, actor->attached);
	if (!actor->attached)
		return;
	nr = PERFCTR_CSTATUS_NRCTRS(rd.cstatus);
	if (rd.nrctrs != nr || nr != nr_of(&actor->control) ||
	    PERFCTR_CSTATUS_NRICTRS(rd.cstatus) != actor->control.nrictrs ||
	    ((rd.cstatus & PERFCTR_CSTATUS_CLOCK) != 0) != actor->control.tsc_on)
		wrong(actor, "READ: cstatus %#x with %u counters, expected %u and clock %u",
		     rd.cstatus, rd.nrctrs, nr_of(&actor->control), actor->control.tsc_on);
	check_overflows(actor, &rd);
	if (((rd.flags & PERFCTR_READ_ON_EXEC) != 0) !=
	    ((actor->control.flags & PERFCTR_CONTROL_ON_EXEC) != 0))
		wrong(actor, "READ: flags %#x with control flags %#x", rd.flags,
		     actor->control.flags);
}

static void op_read_words(struct actor *actor)
{
	uint64_t words[1 + PERFCTR_MAX_CTRS];
	size_t room = sizeof(*words) * below(actor, 2 + PERFCTR_MAX_CTRS);
	size_t needed = sizeof(*words) * (1 + (size_t)nr_of(&actor->control));
	ssize_t got;

	if (actor->own < 0 || !actor->attached)
		return;
	got = read(actor->own, words, room);
	if (room < needed ? got != -1 || errno != EINVAL : got != (ssize_t)needed)
		wrong(actor, "read(2) of %zu bytes: %zd (%s), %zu are needed", room, got,
		     got < 0 ? strerror(errno) : "", needed);
	if (room >= needed && syscall(SYS_read, actor->own, 8, room) != -1)
		wrong(actor, "read(2) to a wrong address succeeded");
}

static void op_read_control(struct actor *actor)
{
	struct perfctr_control control;
	unsigned int i;

	if (actor->own < 0)
		return;
	control_init(&control);
	if (ioctl(actor->own, PERFCTR_IOC_READ_CONTROL, &control)) {
		wrong(actor, "READ_CONTROL: %s", strerror(errno));
		return;
	}
	if (!actor->attached)
		return;
	if (control.nractrs != actor->control.nractrs ||
	    control.nrictrs != actor->control.nrictrs ||
	    control.tsc_on != actor->control.tsc_on)
		wrong(actor, "READ_CONTROL: %u counters, clock %u; expected %u, %u",
		     control.nractrs, control.tsc_on, actor->control.nractrs,
		     actor->control.tsc_on);
	for (i = 0; i < nr_of(&control) && i < PERFCTR_MAX_CTRS; i++)
		if (control.ctr[i].event != actor->control.ctr[i].event)
			wrong(actor, "READ_CONTROL: counter %u has event %#llx", i,
			     (unsigned long long)control.ctr[i].event);
}

/* A loop of known length between two reads(2), and between two looks at the page */
static void op_exact(struct actor *actor)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS], value[2], delta, expected;
	unsigned long n = 1 + below(actor, one_in(actor, 50) ? 200000 : 2000);
	int k = exact_counter(actor);
	long got;

	if (k < 0 && one_in(actor, 2)) {
		op_open(actor);
		op_control(actor);
		k = exact_counter(actor);
	}
	if (k < 0)
		return;
	got = exact_read(actor->own, words[0], sizeof(words[0]), body_spin, n);
	if (got != (long)(sizeof(uint64_t) * (1 + actor->control.nractrs))) {
		wrong(actor, "read(2): %ld", got);
		return;
	}
	delta = words[1][1 + k] - words[0][1 + k];
	expected = EXACT_KERNEL + BODY_SPIN(n);
	if (shared->exact && delta != expected)
		wrong(actor, "read(2): %llu instructions, expected %llu (from %llu on; counter %d of %u)",
		     (unsigned long long)delta, (unsigned long long)expected,
		     (unsigned long long)words[0][1 + k], k, actor->control.nractrs);
	if (words[1][0] < words[0][0])
		wrong(actor, "the clock went back");
	shared->exacts++;
	if (!actor->page)
		return;
	got = exact_inline(actor->page, (unsigned int)k, body_spin, n, value);
	if (got < 0)
		return;		/* the page says: ask the kernel */
	delta = value[1] - value[0];
	expected = EXACT_INLINE + BODY_SPIN(n) + (uint64_t)got * EXACT_INLINE_RETRY;
	if (shared->exact && delta != expected)
		wrong(actor, "page: %llu instructions, expected %llu with %ld retries",
		     (unsigned long long)delta, (unsigned long long)expected, got);
	if (value[0] < words[1][1 + k])
		wrong(actor, "page: %llu, after read(2) had said %llu",
		     (unsigned long long)value[0], (unsigned long long)words[1][1 + k]);
	shared->exacts++;
}

static void op_map(struct actor *actor)
{
	const struct perfctr_page *page;

	if (actor->own < 0)
		return;
	if (one_in(actor, 8)) {
		if (mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, actor->own, 0) !=
		    MAP_FAILED)
			wrong(actor, "a writable map was granted");
		if (mmap(NULL, 2 * PAGE_SIZE, PROT_READ, MAP_SHARED, actor->own, 0) != MAP_FAILED)
			wrong(actor, "a map of two pages was granted");
	}
	page = try_map(actor->own);
	if (!page) {
		wrong(actor, "mmap: %s", strerror(errno));
		return;
	}
	if (!actor->attached && page->seq >= 0)
		wrong(actor, "the page of a state that is no longer attached has registers");
	/* An exact read at once, since the first touch is what happens rarely. */
	if (actor->page) {
		(void)page_asks(page, 0);
		give_page(one_in(actor, 2) ? page : actor->page);
		actor->page = NULL;
		if (one_in(actor, 2))
			return;
		page = try_map(actor->own);
	}
	if (actor->attached)
		actor->page = page;
	else
		give_page(page);
}

static void op_unmap(struct actor *actor)
{
	if (!actor->page)
		return;
	give_page(actor->page);
	actor->page = NULL;
}

static void op_move_map(struct actor *actor)
{
	void *page;

	if (!actor->page)
		return;
	page = mmap(NULL, PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	page = mremap((void *)(uintptr_t)actor->page, PAGE_SIZE, PAGE_SIZE,
		      MREMAP_MAYMOVE | MREMAP_FIXED, page);
	if (page == MAP_FAILED)
		wrong(actor, "mremap: %s", strerror(errno));
	else
		actor->page = page;
}

static void op_unlink(struct actor *actor)
{
	int err;

	if (actor->own < 0)
		return;
	err = ioctl(actor->own, PERFCTR_IOC_UNLINK) ? errno : 0;
	if (err == EBUSY && actor->shared_handle)
		return;
	if (err) {
		wrong(actor, "UNLINK: %s", strerror(err));
		return;
	}
	actor->attached = false;
	actor->shared_handle = false;
	op_unmap(actor);
	if (one_in(actor, 4))
		return;		/* OPEN comes with the old one still there */
	keep_foreign(actor, actor->own);
	actor->own = -1;
}

/* The state goes on without its handle. */
static void op_close(struct actor *actor)
{
	unsigned int i = below(actor, FOREIGN);

	if (actor->foreign[i] >= 0)
		close(actor->foreign[i]);
	actor->foreign[i] = -1;
	if (actor->own >= 0 && one_in(actor, 4)) {
		op_unmap(actor);
		close(actor->own);
		actor->own = -1;
		/* Whether anyone else has it open is not known any more. */
		actor->shared_handle = true;
	}
}

static void op_second_handle(struct actor *actor)
{
	struct perfctr_control control;
	struct perfctr_read rd;
	int fd, err;

	if (actor->own < 0 || !actor->attached)
		return;
	fd = try_open(0);
	if (fd < 0) {
		wrong(actor, "OPEN of its own a second time: %s", strerror(-fd));
		return;
	}
	control_init(&control);
	err = try_read(fd, &rd);
	if (err || rd.nrctrs != nr_of(&actor->control))
		wrong(actor, "READ on a second handle: %s, %u counters", strerror(-err), rd.nrctrs);
	/* It stops what nobody holds. */
	if (!try_control(fd, &control))
		actor->control = control;
	close(fd);
}

static void op_info(struct actor *actor)
{
	struct perfctr_info info = { .size = sizeof(info) };
	uint32_t mask[8];
	struct perfctr_cpus cpus = {
		.size = sizeof(cpus),
		.nrwords = 8,
		.mask = (uint64_t)(uintptr_t)mask,
	};
	int fd = actor->own >= 0 ? actor->own : open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);

	if (ioctl(fd, PERFCTR_IOC_INFO, &info))
		wrong(actor, "INFO: %s", strerror(errno));
	cpus.which = below(actor, 2);
	if (ioctl(fd, PERFCTR_IOC_CPUS, &cpus))
		wrong(actor, "CPUS: %s", strerror(errno));
	if (fd != actor->own)
		close(fd);
}

static void op_fdinfo(struct actor *actor)
{
	char path[64], text[512];
	int fd = one_in(actor, 2) ? actor->own : actor->foreign[below(actor, FOREIGN)];
	ssize_t got;

	if (fd < 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	got = read_text(path, text, sizeof(text));
	/* In /proc/self another thread's exec or a lack of memory is all that is in the way. */
	if (got >= 0 && !strstr(text, "cstatus:"))
		wrong(actor, "fdinfo without cstatus");
}

static void op_move(struct actor *actor)
{
	unsigned int mask = 1 + below(actor, 3);
	cpu_set_t set;

	CPU_ZERO(&set);
	if (mask & 1)
		CPU_SET(0, &set);
	if (mask & 2)
		CPU_SET(1, &set);
	/* The second CPU may be away. */
	if (sched_setaffinity(0, sizeof(set), &set) && errno != EINVAL)
		wrong(actor, "sched_setaffinity: %s", strerror(errno));
}

static void op_rest(struct actor *actor)
{
	if (one_in(actor, 3))
		sleep_us(1 + below(actor, 300));
	else
		sched_yield();
}

/* Stopped, nothing is counted. */
static void op_stop_and_go(struct actor *actor)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS];
	int k = exact_counter(actor);

	if (actor->own < 0 || !actor->attached)
		return;
	if (ioctl(actor->own, PERFCTR_IOC_SUSPEND)) {
		wrong(actor, "SUSPEND: %s", strerror(errno));
		return;
	}
	if (k >= 0 && exact_read(actor->own, words[0], sizeof(words[0]), body_spin, 1000) > 0 &&
	    words[1][1 + k] != words[0][1 + k])
		wrong(actor, "%llu instructions were counted in spite of SUSPEND",
		      (unsigned long long)(words[1][1 + k] - words[0][1 + k]));
	if (one_in(actor, 8) && ioctl(actor->own, PERFCTR_IOC_SUSPEND))
		wrong(actor, "SUSPEND again: %s", strerror(errno));
	if (ioctl(actor->own, PERFCTR_IOC_RESUME))
		wrong(actor, "RESUME: %s", strerror(errno));
}

/* Handles on their way */

static void op_pass(struct actor *actor)
{
	int fd = one_in(actor, 3) ? actor->foreign[below(actor, FOREIGN)] : actor->own;
	int err;

	if (fd < 0)
		return;
	err = send_fd(SEND_FD, fd);
	if (err && err != -EAGAIN && err != -ETOOMANYREFS)
		wrong(actor, "sendmsg: %s", strerror(-err));
	if (fd == actor->own)
		actor->shared_handle = true;
}

static void op_receive(struct actor *actor)
{
	int fd = try_receive_fd(RECEIVE_FD, MSG_DONTWAIT);

	if (fd >= 0)
		keep_foreign(actor, fd);
}

/*
 * A handle of whomever, maybe of the actor's own thread. Sums of one that has
 * ended stand still.
 */
static void op_foreign(struct actor *actor)
{
	int fd = actor->foreign[below(actor, FOREIGN)];
	uint64_t words[1 + PERFCTR_MAX_CTRS];
	struct perfctr_control control;
	struct perfctr_read rd[2];
	const struct perfctr_page *page;
	int err;

	if (fd < 0)
		return;
	switch (below(actor, 6)) {
	case 0:
		err = try_read(fd, &rd[0]);
		if (!err)
			err = try_read(fd, &rd[1]);
		if (err && err != -EINTR)
			wrong(actor, "READ of another: %s, error %u", strerror(-err), rd[0].error);
		if (!err && !(rd[0].flags & PERFCTR_READ_ATTACHED) &&
		    memcmp(rd[0].sum, rd[1].sum, sizeof(rd[0].sum)) != 0)
			wrong(actor, "the sums of a state that has ended changed");
		break;
	case 1:
		if (read(fd, words, sizeof(words)) < 0 && errno != EINTR)
			wrong(actor, "read(2) of another: %s", strerror(errno));
		break;
	case 2:
		control_init(&control);
		if (ioctl(fd, PERFCTR_IOC_READ_CONTROL, &control))
			wrong(actor, "READ_CONTROL of another: %s", strerror(errno));
		break;
	case 3:
		page = try_map(fd);
		if (!page) {
			wrong(actor, "mmap of another: %s", strerror(errno));
			break;
		}
		(void)page_asks(page, 0);
		give_page(page);
		break;
	case 4:
		err = ioctl(fd, PERFCTR_IOC_SUSPEND) ? errno : 0;
		if (!err && actor->attached)
			(void)ioctl(fd, PERFCTR_IOC_RESUME);
		else if (err != EPERM && err != ESRCH)
			wrong(actor, "SUSPEND of another: %s", strerror(err));
		break;
	default:
		random_control(actor, &control);
		control_init(&control);
		control.tsc_on = below(actor, 2);
		err = try_control(fd, &control);
		/* It may have got a handle on its own state back. */
		if (!err && actor->attached) {
			actor->control = control;
			actor->shared_handle = true;
		} else if (err != -EPERM && err != -ESRCH && err != -EBUSY) {
			wrong(actor, "CONTROL of another: %s", strerror(-err));
		}
	}
}

/* Children */

static void burst(struct actor *actor);

static void check_end(const struct actor *actor, int status, bool killed)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && killed)
		return;
	wrong(actor, "a child ended with status %#x", (unsigned int)status);
}

static void reap(struct actor *actor, unsigned int i, int options)
{
	int status;
	pid_t pid;

	if (!actor->child[i])
		return;
	pid = waitpid(actor->child[i], &status, options);
	if (!pid)
		return;
	if (pid < 0)
		wrong(actor, "waitpid: %s", strerror(errno));
	else
		check_end(actor, status, actor->killed[i]);
	actor->child[i] = 0;
	actor->killed[i] = false;
}

static void reap_all(struct actor *actor, int options)
{
	unsigned int i;

	for (i = 0; i < CHILDREN; i++)
		reap(actor, i, options);
}

/* What the child of a fork has: its parent's handle and map are those of another. */
static void be_child(struct actor *actor, uint64_t rng)
{
	const struct perfctr_page *page = actor->page;
	int own = actor->own;
	unsigned int i;

	if (page && page->seq >= 0)
		wrong(actor, "a child sees registers in its parent's page");
	actor->rng = rng | 1;
	actor->attached = false;
	actor->own = -1;
	actor->page = NULL;
	actor->shared_handle = false;
	for (i = 0; i < CHILDREN; i++)
		actor->child[i] = 0;
	actor->depth++;
	if (page && one_in(actor, 2))
		give_page(page);
	if (own >= 0)
		keep_foreign(actor, own);
	control_init(&actor->control);
}

/* A free place for a child, or -1 */
static int child_slot(struct actor *actor)
{
	unsigned int i = below(actor, CHILDREN);

	if (actor->depth >= DEPTH)
		return -1;
	reap(actor, i, WNOHANG);
	return actor->child[i] ? -1 : (int)i;
}

/* A child in a free place: 0 is the child; -1: there is none. */
static pid_t make_child(struct actor *actor)
{
	uint64_t rng = any(actor);
	int i = child_slot(actor);
	pid_t pid;

	if (i < 0)
		return -1;
	actor->shared_handle = true;
	pid = fork();
	if (pid < 0) {
		wrong(actor, "fork: %s", strerror(errno));
	} else if (!pid) {
		be_child(actor, rng);
	} else {
		actor->child[i] = pid;
		actor->killed[i] = false;
	}
	return pid;
}

static void op_fork(struct actor *actor)
{
	if (make_child(actor) == 0) {
		burst(actor);
		_exit(shared->failed ? EXIT_FAILURE : 0);
	}
}

/* The state, and what it is known to count, goes on in the new program. */
static void exec_self(struct actor *actor)
{
	char rng[32], own[16], depth[16], attached[2] = "0";
	char *const argv[] = { "stress", "--again", rng, own, attached, depth, NULL };
	char *const envp[] = { NULL };

	if (actor->own >= 0 && fcntl(actor->own, F_SETFD, 0))
		wrong(actor, "fcntl: %s", strerror(errno));
	(void)snprintf(rng, sizeof(rng), "%llu", (unsigned long long)any(actor));
	(void)snprintf(own, sizeof(own), "%d", actor->own);
	(void)snprintf(depth, sizeof(depth), "%u", actor->depth);
	if (actor->attached && !(actor->control.flags & PERFCTR_CONTROL_CLOEXEC))
		attached[0] = '1';
	execve("/proc/self/exe", argv, envp);
	wrong(actor, "execve: %s", strerror(errno));
	_exit(EXIT_FAILURE);
}

static void prepare_and_exec(struct actor *actor)
{
	unsigned int i, n = below(actor, 6);

	op_open(actor);
	for (i = 0; i < n; i++) {
		op_control(actor);
		op_exact(actor);
		op_map(actor);
	}
	exec_self(actor);
}

static void *exec_thread(void *arg)
{
	prepare_and_exec(arg);
	return NULL;
}

/* By a child; in one of three by its second thread, which takes the first's place. */
static void op_exec(struct actor *actor)
{
	struct actor second;
	pthread_t thread;
	pid_t pid;

	pid = make_child(actor);
	if (!pid) {
		if (!one_in(actor, 3))
			prepare_and_exec(actor);
		op_open(actor);
		op_control(actor);
		actor_init(&second, any(actor), actor->depth);
		if (pthread_create(&thread, NULL, exec_thread, &second))
			_exit(0);
		while (!shared->stop)
			op_exact(actor);
		pause();	/* the exec ends it */
		_exit(EXIT_FAILURE);
	}
	if (pid > 0)
		shared->execs++;
}

/* As posix_spawn() does it: a child in the same memory, with the same thread pointer */
static void op_spawn(struct actor *actor)
{
	char *const argv[] = { "stress", "--nothing", NULL };
	char *const envp[] = { NULL };
	int err, status, i = child_slot(actor);
	pid_t pid;

	if (i < 0)
		return;
	actor->shared_handle = true;
	err = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, envp);
	if (err) {
		wrong(actor, "posix_spawn: %s", strerror(err));
		return;
	}
	op_exact(actor);
	if (waitpid(pid, &status, 0) != pid)
		wrong(actor, "waitpid: %s", strerror(errno));
	else
		check_end(actor, status, false);
	shared->execs++;
}

static void *thread_main(void *arg)
{
	struct actor *actor = arg;
	unsigned int i;

	burst(actor);
	/* Maps and files are all threads'; some maps stay. */
	if (one_in(actor, 2))
		op_unmap(actor);
	for (i = 0; i < FOREIGN; i++)
		if (actor->foreign[i] >= 0)
			close(actor->foreign[i]);
	if (actor->own >= 0)
		close(actor->own);
	return NULL;
}

static void op_thread(struct actor *actor)
{
	struct actor other[2];
	pthread_t thread[2];
	unsigned int i, n = 1 + below(actor, 2);

	if (actor->depth >= DEPTH)
		return;
	for (i = 0; i < n; i++) {
		actor_init(&other[i], any(actor), DEPTH);
		if (actor->own >= 0) {
			other[i].foreign[0] = dup(actor->own);
			actor->shared_handle = true;
		}
		if (pthread_create(&thread[i], NULL, thread_main, &other[i]))
			break;
	}
	n = i;
	for (i = 0; i < 10; i++) {
		op_exact(actor);
		op_rest(actor);
	}
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static void op_kill(struct actor *actor)
{
	unsigned int i = below(actor, CHILDREN);

	if (!actor->child[i])
		return;
	actor->killed[i] = true;
	if (kill(actor->child[i], SIGKILL))
		wrong(actor, "kill: %s", strerror(errno));
	shared->kills++;
}

static void op_reap(struct actor *actor)
{
	reap_all(actor, WNOHANG);
}

/* The last handle of a child that dies has what the child last saw, or more. */
static void op_heir(struct actor *actor)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS], seen = 0;
	struct perfctr_control control;
	struct perfctr_read rd;
	int pair[2], fd, status;
	pid_t pid;

	if (!shared->nevents || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		return;
	actor->shared_handle = true;
	pid = fork();
	if (pid < 0) {
		wrong(actor, "fork: %s", strerror(errno));
		return;
	}
	if (!pid) {
		control_init(&control);
		control_add(&control, EV_INSTRUCTIONS);
		fd = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
		if (fd < 0)
			wrong(actor, "OPEN by a new child: %s", strerror(-fd));
		/* EBUSY: no counter is left. The child's death says so. */
		if (!try_control(fd, &control) &&
		    exact_read(fd, words[0], sizeof(words[0]), body_spin, 1000) > 0 &&
		    !send_fd(pair[1], fd))
			(void)send(pair[1], &words[1][1], sizeof(uint64_t), 0);
		_exit(0);
	}
	close(pair[1]);
	if (waitpid(pid, &status, 0) != pid || status)
		wrong(actor, "an heir's child ended with status %#x", (unsigned int)status);
	fd = try_receive_fd(pair[0], MSG_DONTWAIT);
	if (fd >= 0 && recv(pair[0], &seen, sizeof(seen), MSG_DONTWAIT) == sizeof(seen)) {
		int err = try_read(fd, &rd);

		if (err || (rd.flags & PERFCTR_READ_ATTACHED) || rd.sum[0] < seen ||
		    (shared->exact && rd.sum[0] > seen + 100000))
			wrong(actor, "READ of a dead child: %s, flags %#x, %llu; it had seen %llu",
			     strerror(-err), rd.flags, (unsigned long long)rd.sum[0],
			     (unsigned long long)seen);
	}
	close(pair[0]);
	if (fd >= 0)
		keep_foreign(actor, fd);
}

/*
 * Trees. A process counts, and those that it makes, and theirs, inherit that. What
 * they last saw of their own sums must be in the tree's in the end, and not much
 * more, unless some could not look any more.
 */

#define MEMBER_DEPTH 3
#define MEMBER_CHILDREN 3
/* Most that a member executes before its first instruction here, and after its last look */
#define MEMBER_REST 20000

struct grove {
	_Atomic uint64_t seen;
	_Atomic uint64_t members;
	_Atomic uint64_t unseen;	/* members that were killed, or became another program */
	bool quiet;			/* nobody stops it: members count exactly */
};

/**
 * struct member - one thread of a tree
 * @own: its own state's handle
 * @root: the root's
 * @thread: those that it made, @nthreads of them
 * @pid: its children, @npids of them
 */
struct member {
	struct actor actor;
	struct grove *grove;
	unsigned int depth;
	int own;
	int root;
	pthread_t thread[MEMBER_CHILDREN];
	pid_t pid[MEMBER_CHILDREN];
	unsigned int nthreads;
	unsigned int npids;
};

static bool is_end_of_tree(int err)
{
	return err == -ENOENT || err == -EINTR;
}

static void member_reads_tree(struct member *member)
{
	struct perfctr_read_tree tree[2];
	unsigned int which = 1 + below(&member->actor, 7), i;
	int err;

	/* What has ended can have been live before. */
	if (which & PERFCTR_TREE_LIVE)
		which |= PERFCTR_TREE_ENDED;
	err = try_read_tree(member->root, which, &tree[0]);
	if (!err)
		err = try_read_tree(member->root, which, &tree[1]);
	if (err && !is_end_of_tree(err))
		wrong(&member->actor, "READ_TREE: %s, error %u, %llu missed", strerror(-err),
		      tree[0].error, (unsigned long long)tree[0].missed);
	for (i = 0; !err && i < tree[0].nrctrs; i++)
		if (tree[1].sum[i] < tree[0].sum[i])
			wrong(&member->actor, "a tree's sum %u went back from %llu to %llu", i,
			      (unsigned long long)tree[0].sum[i],
			      (unsigned long long)tree[1].sum[i]);
}

static void member_walks(struct member *member)
{
	struct perfctr_member other = { .size = sizeof(other) };
	uint64_t cursor = 0;

	while (!ioctl(member->root, PERFCTR_IOC_NEXT_MEMBER, &other)) {
		if (other.cursor <= cursor)
			wrong(&member->actor, "NEXT_MEMBER goes round");
		cursor = other.cursor;
	}
	if (!is_end_of_tree(-errno))
		wrong(&member->actor, "NEXT_MEMBER: %s", strerror(errno));
}

/* Of all, by whomever of them. Not undone if the caller dies between. */
static void member_stops_all(struct member *member)
{
	int err;

	if (member->grove->quiet)
		return;
	err = ioctl(member->root, PERFCTR_IOC_SUSPEND) ? errno : 0;
	if (err && err != EPERM && err != ESRCH)
		wrong(&member->actor, "SUSPEND of a tree: %s", strerror(err));
	op_rest(&member->actor);
	err = ioctl(member->root, PERFCTR_IOC_RESUME) ? errno : 0;
	if (err && err != EPERM && err != ESRCH)
		wrong(&member->actor, "RESUME of a tree: %s", strerror(err));
}

static void member_counts(struct member *member)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS], delta;
	unsigned long n = 1 + below(&member->actor, 2000);
	long got;

	got = exact_read(member->own, words[0], sizeof(words[0]), body_spin, n);
	if (got < 0) {
		wrong(&member->actor, "read(2) of a descendant's own: %ld", got);
		return;
	}
	if (!shared->nevents || !shared->exact || !member->grove->quiet)
		return;
	delta = words[1][1] - words[0][1];
	if (delta != EXACT_KERNEL + BODY_SPIN(n))
		wrong(&member->actor, "a descendant's %llu instructions, expected %llu",
		      (unsigned long long)delta,
		      (unsigned long long)(EXACT_KERNEL + BODY_SPIN(n)));
	shared->exacts++;
}

static void member_maps(struct member *member)
{
	const struct perfctr_page *page = try_map(member->own);

	if (!page)
		wrong(&member->actor, "mmap of a descendant's own: %s", strerror(errno));
	member_counts(member);
	if (page)
		give_page(page);
}

static void member_lives(struct member *member);

static void *member_thread(void *arg)
{
	struct member member = *(struct member *)arg;

	free(arg);
	member_lives(&member);
	return NULL;
}

static struct member member_child(struct member *member)
{
	struct member child = *member;

	actor_init(&child.actor, any(&member->actor), member->actor.depth);
	child.depth++;
	child.nthreads = child.npids = 0;
	return child;
}

static void member_makes_thread(struct member *member)
{
	struct member *child;

	if (member->depth >= MEMBER_DEPTH || member->nthreads >= MEMBER_CHILDREN)
		return;
	child = malloc(sizeof(*child));
	if (!child)
		return;
	*child = member_child(member);
	if (pthread_create(&member->thread[member->nthreads], NULL, member_thread, child))
		free(child);
	else
		member->nthreads++;
}

static void member_forks(struct member *member)
{
	char *const argv[] = { "stress", "--nothing", NULL };
	char *const envp[] = { NULL };
	struct member child;
	bool execs;
	pid_t pid;

	if (member->depth >= MEMBER_DEPTH || member->npids >= MEMBER_CHILDREN)
		return;
	child = member_child(member);
	execs = one_in(&member->actor, 8);
	pid = fork();
	if (pid < 0) {
		wrong(&member->actor, "fork: %s", strerror(errno));
		return;
	}
	if (!pid) {
		if (execs) {
			child.grove->members++;
			child.grove->unseen++;
			execve("/proc/self/exe", argv, envp);
			_exit(EXIT_FAILURE);
		}
		member_lives(&child);
		_exit(0);
	}
	member->pid[member->npids++] = pid;
}

static void member_moves(struct member *member)
{
	op_move(&member->actor);
}

static void member_rests(struct member *member)
{
	op_rest(&member->actor);
}

static void (*const member_operations[])(struct member *member) = {
	member_reads_tree, member_walks, member_stops_all, member_counts, member_maps,
	member_moves, member_rests, member_makes_thread, member_forks,
};

#define MEMBER_OPERATIONS (sizeof(member_operations) / sizeof(member_operations[0]))

static void member_lives(struct member *member)
{
	unsigned int i, n = 1 + below(&member->actor, 10);
	struct perfctr_read rd;
	int status;

	if (member->depth) {
		member->grove->members++;
		member->own = try_open(0);
		/* Its tree may be gone before it first ran. */
		if (member->own < 0 && (member->own != -ENOENT || member->grove->quiet))
			wrong(&member->actor, "OPEN by a descendant: %s", strerror(-member->own));
	}
	while (n-- && member->own >= 0)
		member_operations[below(&member->actor, MEMBER_OPERATIONS)](member);
	/* Who is killed leaves orphans, and has not looked, or has. */
	if (member->npids && one_in(&member->actor, 6)) {
		member->grove->unseen++;
		if (kill(member->pid[0], SIGKILL))
			wrong(&member->actor, "kill: %s", strerror(errno));
		shared->kills++;
	}
	for (i = 0; i < member->npids; i++)
		if (waitpid(member->pid[i], &status, 0) != member->pid[i] ||
		    (status && status != SIGKILL))
			wrong(&member->actor, "a descendant ended with status %#x",
			      (unsigned int)status);
	for (i = 0; i < member->nthreads; i++)
		pthread_join(member->thread[i], NULL);
	member->npids = member->nthreads = 0;
	if (!member->depth || member->own < 0)
		return;
	if (try_read(member->own, &rd))
		wrong(&member->actor, "READ of a descendant's own: error %u", rd.error);
	close(member->own);
	member->grove->seen += rd.sum[0];
}

/* The root's last look: all that were are there, once. */
static void compare_tree(struct member *root)
{
	struct grove *grove = root->grove;
	struct perfctr_read_tree tree;
	uint64_t total;
	int err;

	/* Orphans of who was killed, and threads that have been joined, end in their own time. */
	for (;;) {
		err = try_read_tree(root->root, PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE, &tree);
		if (err || !tree.live)
			break;
		sleep_us(1000);
	}
	if (err) {
		wrong(&root->actor, "READ_TREE at the end: %s, error %u, %llu missed",
		      strerror(-err), tree.error, (unsigned long long)tree.missed);
		return;
	}
	total = tree.sum[0];
	if (tree.ended < grove->members ||
	    (tree.ended > grove->members && !grove->unseen))
		wrong(&root->actor, "a tree of %llu, not %llu", (unsigned long long)tree.ended,
		      (unsigned long long)grove->members);
	if (shared->nevents &&
	    (total < grove->seen ||
	     (shared->exact && !grove->unseen && total > grove->seen + tree.ended * MEMBER_REST)))
		wrong(&root->actor, "a tree's sum %llu; its %llu members saw %llu",
		      (unsigned long long)total, (unsigned long long)tree.ended,
		      (unsigned long long)grove->seen);
	shared->trees++;
	shared->members += tree.ended;
}

/* The root, a process of its own. It may be killed. */
static void be_root(struct actor *actor, struct grove *grove)
{
	struct member root = { .actor = *actor, .grove = grove };
	unsigned int i, n = below(actor, 4), fate = below(actor, 6);
	struct perfctr_control control;

	grove->quiet = fate > 3;
	root.root = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
	if (root.root < 0) {
		wrong(actor, "OPEN by a root: %s", strerror(-root.root));
		return;
	}
	root.own = root.root;
	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_INHERIT;
	if (one_in(actor, 2))
		control.flags |= PERFCTR_CONTROL_KEEP;
	for (i = 0; shared->nevents && i < 1 + n; i++)
		control_add(&control, shared->event[i % shared->nevents]);
	/* EBUSY: no counter is left. */
	if (try_control(root.root, &control))
		return;
	member_lives(&root);
	switch (fate) {
	case 0:
		/* Its descendants are on their own. */
		member_forks(&root);
		break;
	case 1:
		member_forks(&root);
		if (ioctl(root.root, PERFCTR_IOC_UNLINK))
			wrong(actor, "UNLINK of a root: %s", strerror(errno));
		break;
	case 2:
		member_forks(&root);
		control.flags ^= PERFCTR_CONTROL_KEEP;
		if (try_control(root.root, &control))
			wrong(actor, "CONTROL of a root");
		break;
	default:
		compare_tree(&root);
	}
}

static void op_tree(struct actor *actor)
{
	struct grove *grove = mmap(NULL, sizeof(*grove), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (grove == MAP_FAILED) {
		wrong(actor, "mmap: %s", strerror(errno));
		return;
	}
	if (make_child(actor) == 0) {
		be_root(actor, grove);
		_exit(shared->failed ? EXIT_FAILURE : 0);
	}
	munmap(grove, sizeof(*grove));
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

static void burst(struct actor *actor)
{
	unsigned int n = 1 + below(actor, BURST);

	while (n-- && !shared->stop)
		operate(actor);
	reap_all(actor, 0);
}

/* --- processes --- */

/* The program after an exec: its state goes on, if the control did not say otherwise. */
static void handle_overflows(void)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_RESTART };

	if (sigaction(SIGUSR2, &action, NULL))
		wrong(NULL, "sigaction: %s", strerror(errno));
}

static int again(char **argv)
{
	struct perfctr_control control;
	struct actor actor;
	int own = (int)strtol(argv[1], NULL, 10);

	actor_init(&actor, strtoull(argv[0], NULL, 10), (unsigned int)strtoul(argv[3], NULL, 10));
	handle_overflows();
	actor.attached = argv[2][0] == '1';
	actor.shared_handle = true;
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
		if (control.flags & PERFCTR_CONTROL_ON_EXEC)
			wrong(&actor, "ON_EXEC still waits after exec");
		if (actor.attached)
			actor.control = control;
		fcntl(own, F_SETFD, FD_CLOEXEC);
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
	/* Every second one is nobody special. */
	if (rng >> 63)
		become(GUEST_UID);
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

/* Changes the policy, and tries to unload the module, which somebody always uses. */
static void administrator(uint64_t rng)
{
	static const char *const policies[] = { "off", "guarded", "open", "guarded" };
	struct actor actor;
	int err;

	actor_init(&actor, rng, 0);
	while (!shared->stop) {
		sleep_us(1000 + below(&actor, 20000));
		err = write_text(MODULE_PARAMS "user_read", policies[below(&actor, 4)]);
		if (err)
			wrong(&actor, "user_read: %s", strerror(-err));
		if (!one_in(&actor, 4))
			continue;
		err = module_unload();
		if (err != -EWOULDBLOCK && err != -EBUSY)
			wrong(&actor, "unloading the module in use: %s", strerror(-err));
		shared->refusals++;
	}
	(void)write_text(MODULE_PARAMS "user_read", "guarded");
}

static void learn_events(int fd)
{
	static const uint64_t events[] = {
		EV_INSTRUCTIONS, EV_CYCLES, EV_DTLB_LOAD_MISSES, EV_DTLB_STORE_MISSES,
		EV_ITLB_LOAD_MISSES,
	};
	struct perfctr_control control;
	unsigned int i;

	if (!guest.nprogrammable || !(guest.info.cpu_features & PERFCTR_FEATURE_FILTER))
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

/* What all processes find, also after an exec */
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
	uint64_t seen = 0, since = now_ns(), told = 0;
	pid_t workers[WORKERS], pid;
	unsigned int i;
	int status;

	if (shared->smp)
		(void)start(hotplugger, any(actor));
	(void)start(administrator, any(actor));
	for (i = 0; i < WORKERS; i++)
		workers[i] = start(worker, any(actor) >> 1 | (uint64_t)(i & 1) << 63);

	for (;;) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			return;
		if (pid > 0) {
			/* Also orphans, who may have been killed by their parents. */
			check_end(actor, status, true);
			for (i = 0; i < WORKERS; i++)
				if (workers[i] == pid && !shared->stop)
					workers[i] = start(worker, any(actor) >> 1 |
							   (uint64_t)(i & 1) << 63);
			continue;
		}
		if (shared->operations != seen) {
			seen = shared->operations;
			since = now_ns();
			if (seen / (shared->target / 10 + 1) > told) {
				told = seen / (shared->target / 10 + 1);
				printf("stress: %llu operations, %llu exact counts\n",
				       (unsigned long long)seen,
				       (unsigned long long)shared->exacts);
			}
		} else if (now_ns() - since > PATIENCE_NS) {
			wrong(actor, "nothing happens any more");
			return;
		}
		sleep_us(50000);
		if (one_in(actor, 20) && !shared->stop) {
			(void)kill(workers[below(actor, WORKERS)], SIGKILL);
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

/* Others have counted all the time, and gone: it is exact, and the module can go. */
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
	err = module_unload_patiently();
	if (err)
		wrong(actor, "the module cannot be unloaded at the end: %s", strerror(-err));
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
	printf("stress: %llu operations, seed %llu%s\n", (unsigned long long)n,
	       (unsigned long long)seed, exact ? "" : ", counts need not be exact");
	share();
	find_shared();
	handle_overflows();
	shared->target = n;
	shared->exact = exact;
	shared->smp = guest.ncpus > 1;
	shared->nctrs = guest.nprogrammable;
	shared->interrupts = guest.info.cpu_features & PERFCTR_FEATURE_PCINT;
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
	if (try_control(actor.own, &actor.control))
		wrong(NULL, "the first CONTROL failed");

	supervise(&actor);
	finish(&actor);
	if (guest_end() || shared->failed)
		return EXIT_FAILURE;
	printf("stress: %llu overflow signals, %llu looks at periods\n",
	       (unsigned long long)shared->overflows, (unsigned long long)shared->periods);
	printf("stress: %llu members of %llu trees added up\n",
	       (unsigned long long)shared->members, (unsigned long long)shared->trees);
	printf("stress: %llu exact counts, %llu execs, %llu kills, %llu times CPU 1 off and on, %llu refusals to unload\n",
	       (unsigned long long)shared->exacts, (unsigned long long)shared->execs,
	       (unsigned long long)shared->kills, (unsigned long long)shared->hotplugs,
	       (unsigned long long)shared->refusals);
	printf("ok stress\n%llu operations, seed %llu\n",
	       (unsigned long long)shared->operations, (unsigned long long)seed);
	return 0;
}
