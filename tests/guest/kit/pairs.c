// SPDX-License-Identifier: GPL-2.0
/* The values of states that counted; see pairs.h. */
#define _GNU_SOURCE
#include "kit/pairs.h"

#include <errno.h>
#include <linux/perfctr.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"

#define MAX_FDS		1024
#define MAX_SEEN	1000

#define BY_TRACEPOINT	MODULE_PARAMS "by_tracepoint"

#define MMCR0_FCECE	0x02000000u
#define MMCR0_TRIGGER	0x00002000u
#define CCCR_ENABLE	0x00001000u

enum value {
	NATIVE, INLINE, CALL,
	AMODE, SIGNAL, OVERFLOW, TIME, OWN_WAY,
	NOTIFIER, TRACEPOINT,
	OWN, TRACED, OUTSIDE, SESSION, BOUND,
	OFF, GUARDED, OPEN,
	VALUES
};

static const char *const names[VALUES] = {
	"native", "inline", "call",
	"a-mode", "signal", "overflow", "time", "own way",
	"notifier", "tracepoint",
	"own", "traced", "outside", "session", "one-cpu",
	"off", "guarded", "open",
};

#define BIT(value)	(1u << (value))

/* In memory that all processes of a test share: masks of values */
static struct seen {
	unsigned int nr;
	uint32_t mask[MAX_SEEN];
} *seen;
static unsigned int nr_before;	/* those of earlier tests that passed */

/*
 * Handles that this process has opened. @whose: OWN, TRACED or SESSION. @controlled: it has made a
 * control; of a session @cpu's was the last with counters, and @mask are its values. @added: there is a
 * member from outside
 */
static struct handle {
	pid_t pid;
	enum value whose;
	bool controlled;
	bool added;
	unsigned int cpu;
	uint32_t mask;
} handles[MAX_FDS];
static int last_fd = -1;	/* the highest that it has opened */
static bool watching;
static bool by_tracepoint;

/*
 * What the module tells. It is not zeroed before: the thread that looks may count itself, and tests
 * allow for few instructions beside those that they know.
 */
static __thread struct perfctr_control control;
static __thread struct perfctr_read_tree tree;
static __thread struct perfctr_read_cpu of_cpu;
static __thread struct perfctr_read rd;
static __thread struct perfctr_kernel_info info;

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, void *arg);
/* Its name where 32 bits of time are not the default any more */
int __wrap___ioctl_time64(int fd, unsigned long request, void *arg)
	__attribute__((alias("__wrap_ioctl")));
int __real_close(int fd);
int __wrap_close(int fd);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));
/* NOLINTEND(bugprone-reserved-identifier) */

static struct handle *handle_of(int fd)
{
	if (!watching || fd < 0 || fd >= MAX_FDS || handles[fd].pid != getpid())
		return NULL;
	return &handles[fd];
}

static void see(uint32_t mask)
{
	unsigned int i, nr = __atomic_load_n(&seen->nr, __ATOMIC_RELAXED);

	for (i = 0; i < nr && i < MAX_SEEN; i++)
		if (seen->mask[i] == mask)
			return;
	i = __atomic_fetch_add(&seen->nr, 1, __ATOMIC_RELAXED);
	if (i < MAX_SEEN)
		seen->mask[i] = mask;
}

static uint32_t see_machine(int fd)
{
	static const enum value policies[] = {
		[PERFCTR_USER_READ_OFF] = OFF,
		[PERFCTR_USER_READ_GUARDED] = GUARDED,
		[PERFCTR_USER_READ_OPEN] = OPEN,
	};

	info.size = sizeof(info);
	if (__real_ioctl(fd, PERFCTR_IOC_INFO, &info))
		return 0;
	return BIT(policies[info.user_read]) | BIT(by_tracepoint ? TRACEPOINT : NOTIFIER);
}

/* Metrics, cascades, and what freezes or triggers: what the module resumes in a way of its own */
static bool has_own_way(const struct perfctr_ctr_control *ctr)
{
	if (is_ppc())
		return ctr->config & (MMCR0_FCECE | MMCR0_TRIGGER);
	if (is_p4())
		return !(ctr->event & CCCR_ENABLE) && ctr->event & (1u << 30 | 1u << 11);
	return is_x86() && guest.info.topdown && ctr->event >= PERFCTR_EVENT_METRIC(0) &&
	       ctr->event < PERFCTR_EVENT_METRIC(PERFCTR_METRICS);
}

/*
 * The module does not tell whether it reads perf's counters itself or calls perf's driver. It calls on
 * RISC-V and PowerPC; for x86's SLOTS; and on those of x86 whose counters CPUID does not describe.
 */
static enum value way_of_shared(const struct perfctr_control *given)
{
	unsigned int i;

	if (is_arm64())
		return INLINE;
	if (!is_x86() || !(is_amd() || guest.info.cpu_type >= PERFCTR_X86_INTEL_CORE))
		return CALL;
	for (i = 0; i < given->nractrs; i++)
		if (given->ctr[i].event == PERFCTR_EVENT_SLOTS && guest.info.topdown)
			return CALL;
	return INLINE;
}

/* What the control says of a state; 0: it has no counters */
static uint32_t see_control(const struct perfctr_control *given, unsigned int source)
{
	unsigned int i, nr = given->nractrs + given->nrictrs;
	uint32_t mask = 0;

	if (!nr || nr > PERFCTR_MAX_CTRS)
		return 0;
	for (i = 0; i < nr; i++)
		if (source == PERFCTR_SOURCE_NATIVE && has_own_way(&given->ctr[i]))
			mask |= BIT(OWN_WAY);
	if (given->nrictrs)
		mask |= BIT(given->flags & PERFCTR_CONTROL_RECORD ? OVERFLOW : SIGNAL);
	if (given->timer_ns)
		mask |= BIT(TIME);
	if (!mask)
		mask = BIT(AMODE);
	return mask | BIT(source == PERFCTR_SOURCE_NATIVE ? NATIVE : way_of_shared(given));
}

static bool counted(const __u64 *sum, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && i < PERFCTR_MAX_CTRS; i++)
		if (sum[i])
			return true;
	return false;
}

static void look_at_session(int fd, const struct handle *handle)
{
	uint32_t machine;

	of_cpu.size = sizeof(of_cpu);
	of_cpu.cpu = handle->cpu;
	if (!handle->mask || __real_ioctl(fd, PERFCTR_IOC_READ_CPU, &of_cpu) ||
	    !counted(of_cpu.sum, of_cpu.nrctrs))
		return;
	machine = see_machine(fd);
	if (machine)
		see(machine | handle->mask | BIT(SESSION));
}

static void look_at_thread(int fd, const struct handle *handle)
{
	enum value whose = handle->whose;
	uint32_t mask, machine;

	control.size = sizeof(control);
	control.ctr_offset = CONTROL_SIZE(0);
	control.ctr_size = sizeof(control.ctr[0]);
	if (__real_ioctl(fd, PERFCTR_IOC_READ_CONTROL, &control))
		return;
	mask = see_control(&control, control.source);
	machine = mask ? see_machine(fd) : 0;
	if (!machine)
		return;
	mask |= machine;
	tree.size = sizeof(tree);
	tree.which = PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE;
	if (handle->added && !__real_ioctl(fd, PERFCTR_IOC_READ_TREE, &tree) && counted(tree.sum, tree.nrctrs))
		see(mask | BIT(OUTSIDE));
	if (whose == OWN && control.flags & PERFCTR_CONTROL_CPU)
		whose = BOUND;
	rd.size = sizeof(rd);
	if (__real_ioctl(fd, PERFCTR_IOC_READ, &rd) || !counted(rd.sum, rd.nrctrs) ||
	    (control.nrictrs && !rd.overflows))
		return;
	see(mask | BIT(whose));
}

static void look_at(int fd)
{
	struct handle *handle = handle_of(fd);
	int err = errno;

	if (!handle || !handle->controlled)
		return;
	if (handle->whose == SESSION)
		look_at_session(fd, handle);
	else
		look_at_thread(fd, handle);
	errno = err;
}

void pairs_look(void)
{
	int fd;

	for (fd = 0; fd <= last_fd; fd++)
		if (handles[fd].pid)
			look_at(fd);
}

static int open_handle(int fd, const struct perfctr_open *arg)
{
	int ret = __real_ioctl(fd, PERFCTR_IOC_OPEN, arg);
	enum value whose = OWN;

	if (ret || fd >= MAX_FDS)
		return ret;
	if (arg->flags & PERFCTR_OPEN_CPUS)
		whose = SESSION;
	else if (arg->flags & PERFCTR_OPEN_THREAD)
		whose = TRACED;
	handles[fd] = (struct handle) { .pid = getpid(), .whose = whose };
	last_fd = fd > last_fd ? fd : last_fd;
	return 0;
}

/* Of another thread or of a CPU that does not count yet, so what this executes matters to nobody */
static int control_other(int fd, struct handle *handle, struct perfctr_control *given)
{
	int ret = __real_ioctl(fd, PERFCTR_IOC_CONTROL, given), err = errno;
	unsigned int source;

	if (ret)
		return ret;
	handle->controlled = true;
	if (handle->whose == SESSION && given->nractrs) {
		/* READ_CONTROL is not for sessions. */
		source = given->source;
		info.size = sizeof(info);
		if (source == PERFCTR_SOURCE_ANY && !__real_ioctl(fd, PERFCTR_IOC_INFO, &info))
			source = info.source;
		handle->cpu = given->cpu;
		handle->mask = source == PERFCTR_SOURCE_ANY ? 0 : see_control(given, source);
	}
	errno = err;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	struct handle *handle;

	if (!watching)
		return __real_ioctl(fd, request, arg);
	if (request == PERFCTR_IOC_OPEN)
		return open_handle(fd, arg);
	handle = request == PERFCTR_IOC_CONTROL || request == PERFCTR_IOC_UNLINK ||
		 request == PERFCTR_IOC_ADD_MEMBER ? handle_of(fd) : NULL;
	if (handle) {
		look_at(fd);
		if (request == PERFCTR_IOC_CONTROL && handle->whose != OWN)
			return control_other(fd, handle, arg);
		handle->controlled |= request == PERFCTR_IOC_CONTROL;
		handle->added |= request == PERFCTR_IOC_ADD_MEMBER;
	}
	return __real_ioctl(fd, request, arg);
}

int __wrap_close(int fd)
{
	struct handle *handle = handle_of(fd);

	if (handle) {
		look_at(fd);
		handle->pid = 0;
	}
	return __real_close(fd);
}

void __wrap__exit(int status)
{
	if (watching)
		pairs_look();
	__real__exit(status);
}

void pairs_watch(void)
{
	watching = true;
}

void pairs_ignore(void)
{
	watching = false;
}

void pairs_test_begins(void)
{
	char text[4] = "";

	if (!seen)
		seen = shared_alloc(sizeof(*seen));
	nr_before = seen->nr;
	/* A kernel without preempt notifiers has no such parameter, and no other way. */
	by_tracepoint = read_text(BY_TRACEPOINT, text, sizeof(text)) <= 0 || text[0] != 'N';
}

void pairs_test_ended(bool passed)
{
	unsigned int i, value;

	if (seen->nr > MAX_SEEN)
		seen->nr = MAX_SEEN;
	if (!passed)
		seen->nr = nr_before;
	for (i = nr_before; i < seen->nr; i++) {
		const char *comma = "state: ";

		for (value = 0; value < VALUES; value++) {
			if (!(seen->mask[i] & BIT(value)))
				continue;
			printf("%s%s", comma, names[value]);
			comma = ", ";
		}
		printf("\n");
	}
}
