// SPDX-License-Identifier: GPL-2.0
/* Operations of stress: calls of the kernel that have nothing to do with counters, but meet them. */
#define _GNU_SOURCE
#include "stress/stress.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

static __thread sigjmp_buf way_out;
static __thread volatile sig_atomic_t leaves;

/* Called by the overflow handler: jumps out of it if op_long_jump() waits for that. */
void leave_handler(void)
{
	if (leaves) {
		leaves = 0;
		siglongjmp(way_out, 1);
	}
}

/* A handler that never returns. IRESUME is called after the jump. */
void op_long_jump(struct actor *actor)
{
	struct perfctr_control control;
	uint64_t before = shared->evicted;
	int err;

	if (actor->own < 0 || !actor->attached || !shared->interrupts || !shared->nevents)
		return;
	control_init(&control);
	control_add_ictr(&control, EV_INSTRUCTIONS, -1000 - (int64_t)below(actor, 100000));
	control.si_signo = SIGUSR2;
	/* After the jump it overflows once more. If that resumed, nothing else would be done. */
	own_handle = -1;
	err = try_control(actor->own, &control);
	if (err == -EBUSY)
		return;
	actor->control = control;
	actor->nr_sums = 1;
	actor->before = before;
	actor->after = shared->evictions;
	if (!err && !sigsetjmp(way_out, 1)) {
		/* Not earlier: an overflow of the previous control would jump over this one. */
		leaves = 1;
		body_spin(1000 + below(actor, 50000));
		leaves = 0;
	}
	if (err && !is_lost(actor, err))
		wrong(actor, "CONTROL of an overflow: %s", strerror(-err));
	op_read(actor);
	(void)ioctl(actor->own, PERFCTR_IOC_IRESUME);
	op_control(actor);
}

/* perf_events' prctl()s for all events of a thread leave our counters alone. */
void op_perf_calls(struct actor *actor)
{
	if (prctl(PR_TASK_PERF_EVENTS_DISABLE) && errno != EINVAL)
		wrong(actor, "PR_TASK_PERF_EVENTS_DISABLE: %s", strerror(errno));
	op_exact(actor);
	if (prctl(PR_TASK_PERF_EVENTS_ENABLE) && errno != EINVAL)
		wrong(actor, "PR_TASK_PERF_EVENTS_ENABLE: %s", strerror(errno));
	op_exact(actor);
}

/* A tracer stops one of its children, takes it some steps further, and lets it go. */
void op_trace(struct actor *actor)
{
	pid_t pid = actor->child[below(actor, CHILDREN)];
	unsigned int steps = 1 + below(actor, 20);
	int signo = 0;

	if (!pid || ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		return;		/* it may have ended */
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		return;
	/* Children that have ended are left to reap(). RISC-V has no single steps. */
	for (;;) {
		siginfo_t info;

		memset(&info, 0, sizeof(info));
		if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT))
			return;
		if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
			return;
		/* Another thread's exit may have killed it since. */
		memset(&info, 0, sizeof(info));
		if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) || !info.si_pid)
			return;
		/* The higher bits say which event stopped it. */
		signo = info.si_status;
		if (signo >> 8 || signo == SIGTRAP)
			signo = 0;
		if (!steps-- || ptrace(PTRACE_SINGLESTEP, pid, NULL, (long)signo))
			break;
		shared->steps++;
	}
	(void)ptrace(PTRACE_DETACH, pid, NULL, (long)signo);
}

/* A child makes a sibling by CLONE_PARENT, whose parent is the actor. */
void op_sibling(struct actor *actor)
{
	pid_t *sibling = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int status;

	if (sibling == MAP_FAILED)
		return;
	actor->shared_handle = true;
	pid = fork();
	if (!pid) {
		(void)try_open(PERFCTR_OPEN_CREAT);
		pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
		if (!pid) {
			int fd = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);

			if (fd < 0)
				wrong(actor, "OPEN by a sibling: %s", strerror(-fd));
			_exit(0);
		}
		*sibling = pid;
		_exit(0);
	}
	if (pid > 0 && (waitpid(pid, &status, 0) != pid || status))
		wrong(actor, "who made a sibling ended with status %#x", (unsigned int)status);
	pid = *sibling;
	if (pid > 0 && (waitpid(pid, &status, 0) != pid || status))
		wrong(actor, "a sibling ended with status %#x", (unsigned int)status);
	munmap(sibling, PAGE_SIZE);
}

/* A map that children do not get. */
void op_no_fork(struct actor *actor)
{
	const struct perfctr_page *page;
	unsigned char here;
	int status;
	pid_t pid;

	if (actor->own < 0)
		return;
	page = try_map(actor->own);
	if (!page)
		return;
	if (madvise((void *)(uintptr_t)page, PAGE_SIZE, MADV_DONTFORK)) {
		wrong(actor, "MADV_DONTFORK: %s", strerror(errno));
		give_page(page);
		return;
	}
	actor->shared_handle = true;
	pid = fork();
	if (!pid)
		_exit(mincore((void *)(uintptr_t)page, PAGE_SIZE, &here) == -1 && errno == ENOMEM ?
		      0 : EXIT_FAILURE);
	if (pid > 0 && (waitpid(pid, &status, 0) != pid || status))
		wrong(actor, "a child has a map in spite of MADV_DONTFORK: status %#x",
		      (unsigned int)status);
	give_page(page);
}

/* The kernel copies from the page as from any memory: all of it, or nothing. */
void op_copy_page(struct actor *actor)
{
	char copy[64];
	struct iovec there = { .iov_base = (void *)(uintptr_t)actor->page, .iov_len = sizeof(copy) };
	struct iovec here = { .iov_base = copy, .iov_len = sizeof(copy) };
	ssize_t got;
	int pair[2];

	if (!actor->page)
		return;
	got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
	if (got != (ssize_t)sizeof(copy) && (got != -1 || (errno != EFAULT && errno != ENOSYS)))
		wrong(actor, "process_vm_readv of the page: %zd, %s", got, strerror(errno));
	/* Small kernels have neither call. */
	got = process_vm_writev(getpid(), &here, 1, &there, 1, 0);
	if (got != -1 || (errno != EFAULT && errno != ENOSYS))
		wrong(actor, "process_vm_writev to the page: %zd, %s", got, strerror(errno));
	if (pipe(pair))
		return;
	got = vmsplice(pair[1], &there, 1, SPLICE_F_NONBLOCK);
	if (got != (ssize_t)sizeof(copy) && (got != -1 || errno != EFAULT))
		wrong(actor, "vmsplice of the page: %zd, %s", got, strerror(errno));
	got = write(pair[1], actor->page, sizeof(copy));
	if (got != (ssize_t)sizeof(copy))
		wrong(actor, "write(2) from the page: %zd, %s", got, strerror(errno));
	close(pair[0]);
	close(pair[1]);
}

/* Calls that any file has. readv(2) reads once for each piece, and each needs room for all. */
void op_file_calls(struct actor *actor)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS];
	struct iovec piece[2] = {
		{ words[0], sizeof(words[0]) }, { words[1], sizeof(words[1]) },
	};
	struct epoll_event event = { .events = EPOLLIN };
	int poll, err;
	ssize_t got;

	if (actor->own < 0 || !actor->attached)
		return;
	got = readv(actor->own, piece, 2);
	if (got < 0 && is_lost(actor, -errno))
		return;
	if (got < (ssize_t)sizeof(uint64_t) || got % (ssize_t)sizeof(uint64_t))
		wrong(actor, "readv: %zd, %s", got, strerror(errno));
	poll = epoll_create1(EPOLL_CLOEXEC);
	if (poll < 0)
		return;
	err = epoll_ctl(poll, EPOLL_CTL_ADD, actor->own, &event) ? errno : 0;
	if (err && err != EPERM)
		wrong(actor, "epoll_ctl: %s", strerror(err));
	close(poll);
}

/* Suspends itself while it waits for an exec. The new program finds that, and resumes. */
void op_exec_suspended(struct actor *actor)
{
	struct perfctr_control control;

	if (make_child(actor) != 0)
		return;
	op_open(actor);
	control_init(&control);
	control.tsc_on = 1;
	control.flags = PERFCTR_CONTROL_ON_EXEC;
	if (shared->nevents)
		control_add(&control, EV_INSTRUCTIONS);
	if (actor->own < 0 || actor_control(actor, actor->own, &control))
		_exit(0);
	if (ioctl(actor->own, PERFCTR_IOC_SUSPEND))
		wrong(actor, "SUSPEND before an exec: %s", strerror(errno));
	exec_self(actor);
}

#if !defined(__riscv) && !defined(__powerpc__)

#define CLOCK_SLOT (PERFCTR_PAGE_SLOTS - 2)

static uint64_t clock_register(void)
{
#if defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r" (value));
	return value;
#elif defined(__powerpc__)
	uint32_t high, low, again;

	do {
		__asm__ volatile("mftbu %0\n\tmftb %1\n\tmftbu %2"
				 : "=r" (high), "=r" (low), "=r" (again));
	} while (high != again);
	return (uint64_t)high << 32 | low;
#else
	return __builtin_ia32_rdtsc();
#endif
}

/* The clock as any reader takes it; false if the page says "ask the kernel". */
static bool page_clock(const volatile struct perfctr_page *page, uint64_t *value)
{
	int32_t seq;

	do {
		seq = page->seq;
		if (page->slot[CLOCK_SLOT].owner != thread_pointer())
			return false;
		*value = page->slot[CLOCK_SLOT].bias + clock_register();
	} while (page->seq != seq);
	return true;
}

/* The page's clock is between what the kernel says before and after. */
static void compare_clock(struct actor *actor)
{
	struct perfctr_read rd[2];
	uint64_t value;
	int err;

	err = try_read(actor->own, &rd[0]);
	if (err || !page_clock(actor->page, &value))
		return;
	err = try_read(actor->own, &rd[1]);
	if (!err && (value < rd[0].clock || value > rd[1].clock))
		wrong(actor, "the page's clock is %llu, but READ said %llu, and then %llu",
		      (unsigned long long)value, (unsigned long long)rd[0].clock,
		      (unsigned long long)rd[1].clock);
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* A sleep may be over before the thread has left its CPU. */
static void leave_the_cpu(void)
{
	long before = switches();

	do
		sleep_us(1);
	while (switches() == before);
}

/*
 * A read of the clock raises SIGSEGV meanwhile, which would kill the actor. So it does not
 * ask for the time, as the C library reads the clock for that.
 */
void op_clock_forbidden(struct actor *actor)
{
	unsigned int i, n = 1 + below(actor, 20);
	uint64_t value[2];
	long got;
	int k;

	if (actor->own < 0 || !actor->attached)
		return;
	if (!actor->control.tsc_on && !count_instructions(actor))
		return;
	if (!actor->page)
		op_map(actor);
	if (!actor->page)
		return;
	k = exact_counter(actor);
	compare_clock(actor);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV)) {
		wrong(actor, "PR_TSC_SIGSEGV: %s", strerror(errno));
		return;
	}
	/* Without the kernel's probes the page changes at the next switch. */
	if (!(shared->features & PERFCTR_FEATURE_RDPMC))
		leave_the_cpu();
	for (i = 0; i < n; i++) {
		const volatile struct perfctr_page *page = actor->page;

		if (page->slot[CLOCK_SLOT].owner || page->owner)
			wrong(actor, "the page offers a clock that is forbidden, at look %u", i);
		(void)page_clock(page, &value[0]);
		/* The counters are not affected. */
		got = k < 0 ? -1 : exact_inline(actor->page, (unsigned int)k, body_spin, 100, value);
		if (got >= 0 && shared->exact &&
		    value[1] - value[0] != EXACT_INLINE + BODY_SPIN(100) +
					   (uint64_t)got * EXACT_INLINE_RETRY)
			wrong(actor, "page: %llu instructions, without a clock",
			      (unsigned long long)(value[1] - value[0]));
		switch (below(actor, 4)) {
		case 0: op_rest(actor); break;
		case 1: op_move(actor); break;
		case 2: op_move_map(actor); break;
		default: op_read(actor);
		}
	}
	if (prctl(PR_SET_TSC, PR_TSC_ENABLE))
		wrong(actor, "PR_TSC_ENABLE: %s", strerror(errno));
	compare_clock(actor);
	shared->tsc++;
}

#else

void op_clock_forbidden(struct actor *actor)
{
	(void)actor;	/* main() says that it is skipped */
}

#endif

/* The policy, or -1 if it has changed since @changes was read */
static int policy_since(uint64_t changes)
{
	unsigned int policy = shared->policy;

	return changes & 1 || shared->policy_changes != changes ? -1 : (int)policy;
}

/* RAW of an ordinary user: allowed under the policy "open", and until it changes */
static void read_raw(struct actor *actor)
{
	uint64_t evictions = shared->evicted, changes, since, value;
	struct perfctr_control control;
	struct perfctr_read rd;
	int err = -EACCES, policy;
	unsigned int i;
	bool may;

	for (i = 0; err && i < 100 && !shared->stop; i++) {
		control_init(&control);
		control.flags = PERFCTR_CONTROL_RAW;
		control_add(&control, EV_INSTRUCTIONS);
		since = shared->policy_changes;
		err = try_control(actor->own, &control);
		policy = policy_since(since);
		if (err == -EIO && shared->evictions != evictions)
			return;
		if (err != -EBUSY && policy >= 0 &&
		    err != (policy == PERFCTR_USER_READ_OPEN ? 0 : -EACCES))
			wrong(actor, "CONTROL with RAW, policy %d: %s", policy, strerror(-err));
		if (err)
			sleep_us(1000);
	}
	if (err || ioctl(actor->own, PERFCTR_IOC_READ_CONTROL, &control))
		return;
	for (i = 0; i < 300 && !shared->stop; i++) {
		changes = shared->policy_changes;
		may = try_read_register(control.ctr[0].map, &value);
		policy = policy_since(changes);
		if (policy < 0)
			continue;
		if (may && policy != PERFCTR_USER_READ_OPEN)
			wrong(actor, "a register can be read, although the policy is %d", policy);
		if (!may && policy == PERFCTR_USER_READ_OPEN && changes == since) {
			err = try_read(actor->own, &rd);
			if (err != -EIO || shared->evictions == evictions)
				wrong(actor, "a register cannot be read, although the policy is open: %s",
				      strerror(-err));
			return;
		}
		if (!may && policy != PERFCTR_USER_READ_OPEN) {
			shared->revoked++;
			return;
		}
		op_rest(actor);
	}
}

/* In a child without a page, as a page would permit reads too. */
void op_raw(struct actor *actor)
{
	if (!shared->raw || !shared->nevents || make_child(actor) != 0)
		return;
	if (!getuid())
		become(GUEST_UID);
	actor->own = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
	if (actor->own < 0)
		wrong(actor, "OPEN by a new child: %s", strerror(-actor->own));
	else
		read_raw(actor);
	_exit(shared->failed ? EXIT_FAILURE : 0);
}

/* The freezer makes workers sleep, and moves them to a CPU that it chooses. */
#define CGROUPS "/tmp/cgroups"
#define GROUP CGROUPS "/stress"

/*
 * Puts workers in a group, which it freezes, thaws and binds. cgroup.procs takes one process
 * at a time; ESRCH: that one has ended.
 */
void freezer(uint64_t rng)
{
	static const char *const cpus[] = { "0", "1" };
	struct actor actor;
	char pid[16];
	bool binds;
	int err;

	actor_init(&actor, rng, 0);
	(void)mkdir(CGROUPS, 0755);
	if (mount("cgroup2", CGROUPS, "cgroup2", 0, NULL))
		return;		/* this kernel has none */
	binds = !write_text(CGROUPS "/cgroup.subtree_control", "+cpuset");
	if (mkdir(GROUP, 0755) && errno != EEXIST) {
		wrong(&actor, "mkdir of a cgroup: %s", strerror(errno));
		return;
	}
	while (!shared->stop) {
		pid_t worker = shared->worker[below(&actor, WORKERS)];

		sleep_us(10000 + below(&actor, 50000));
		(void)snprintf(pid, sizeof(pid), "%d", worker);
		/* 0 would be the freezer itself. */
		err = worker > 0 ? write_text(GROUP "/cgroup.procs", pid) : 0;
		if (err && err != -ESRCH && err != -EINVAL)
			wrong(&actor, "cgroup.procs: %s", strerror(-err));
		/* For a short time, or all would be on one CPU. The second CPU may be away. */
		if (binds && one_in(&actor, 2)) {
			(void)write_text(GROUP "/cpuset.cpus", cpus[below(&actor, 2)]);
			sleep_us(below(&actor, 5000));
			(void)write_text(GROUP "/cpuset.cpus", "");
		}
		if (one_in(&actor, 2))
			continue;
		err = write_text(GROUP "/cgroup.freeze", "1");
		sleep_us(below(&actor, 5000));
		if (!err)
			err = write_text(GROUP "/cgroup.freeze", "0");
		if (err)
			wrong(&actor, "cgroup.freeze: %s", strerror(-err));
		else
			shared->freezes++;
	}
}
