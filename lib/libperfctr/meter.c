// SPDX-License-Identifier: LGPL-2.1-or-later
/* Meters, which count events by their names, in regions of code. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "meter.h"

#define MODES		((unsigned int)(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL))
#define MAX_BUDGET	(1ULL << 62)
/* The number of empty regions that calibrate() measures. The first ones fill caches. */
#define CALIBRATIONS	64

/* Adds an event to the control. @name has @len letters, with the modifier. */
static int meter_add_event(struct vperfctr_meter *m, const struct perfctr_info *info,
			   const char *name, size_t len)
{
	struct perfctr_ctr_control *ctr = &m->control.ctr[m->n];
	char *copy = m->name[m->n];

	if (m->n == PERFCTR_NRCTRS || m->n >= info->nrctrs)
		return perfctr_meter_fail(m, -ENOSPC, "'%.*s' is one event too many: this processor (%s) "
					  "counts %u at a time", (int)len, name,
					  perfctr_info_cpu_name(info), m->n);
	if (!len)
		return perfctr_meter_fail(m, -EINVAL, "event %u has no name: is there a comma too many?",
					  m->n);
	if (len >= METER_NAME_SIZE)
		return perfctr_meter_fail(m, -ENOENT, "no event has a name of %zu letters", len);
	memcpy(copy, name, len);
	copy[len] = '\0';
	if (perfctr_event_parse(info->cpu_type, copy, ctr) < 0)
		return perfctr_meter_fail_event(m, -errno, info, copy);
	if (!perfctr_event_available(info, ctr))
		return perfctr_meter_fail_event(m, -EOPNOTSUPP, info, copy);
	if (!(ctr->flags & MODES))
		ctr->flags |= PERFCTR_CTR_USER;
	m->n++;
	return 0;
}

static int add_events(struct vperfctr_meter *m, const struct perfctr_info *info,
		      const char *events)
{
	size_t len;
	int err;

	if (!events || !*events)
		return 0;
	for (;; events += len + 1) {
		len = strcspn(events, ",");
		err = meter_add_event(m, info, events, len);
		if (err || !events[len])
			return err;
	}
}

static pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/*
 * Returns true if the caller is a child of the process that opened the meter. The child has a copy
 * of the meter, and must not end its parent's counting.
 */
static int is_copy(const struct vperfctr_meter *m)
{
	return m->pid != getpid();
}

/*
 * These are descriptors of meters that another thread than the counted one has closed. The kernel
 * lets only the counted thread unlink its state, until that thread has ended. A thread can have
 * only one meter, so it unlinks the old state when it next opens a meter.
 *
 * Before a thread changes an entry it claims the entry, by setting tid to CLAIMED. Entries are
 * reused and never freed, so the list can be read without a lock.
 */
#define CLAIMED	(-1)

struct abandoned {
	struct abandoned *next;
	pid_t tid;				/* the counted thread; 0: the entry is free */
	int fd;
};

static struct abandoned *all_abandoned;

static int claim(struct abandoned *a, pid_t tid)
{
	return __atomic_compare_exchange_n(&a->tid, &tid, CLAIMED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/*
 * Notes the descriptor of thread @tid's state for unlink_abandoned(). If there is no memory, the
 * state stays until the thread ends.
 */
static void abandon(pid_t tid, int fd)
{
	struct abandoned *a = __atomic_load_n(&all_abandoned, __ATOMIC_ACQUIRE);

	while (a && !claim(a, 0))
		a = a->next;
	if (!a) {
		a = malloc(sizeof(*a));
		if (!a) {
			close(fd);
			return;
		}
		a->tid = CLAIMED;
		a->next = __atomic_load_n(&all_abandoned, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(&all_abandoned, &a->next, a, 1,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
	}
	a->fd = fd;
	__atomic_store_n(&a->tid, tid, __ATOMIC_RELEASE);
}

/* Unlinks the abandoned states of the caller, and of threads that have ended. */
static void unlink_abandoned(void)
{
	struct abandoned *a = __atomic_load_n(&all_abandoned, __ATOMIC_ACQUIRE);
	pid_t own = own_tid(), tid;

	for (; a; a = a->next) {
		tid = __atomic_load_n(&a->tid, __ATOMIC_RELAXED);
		if (tid <= 0 || (tid != own && !syscall(SYS_tgkill, getpid(), tid, 0)) || !claim(a, tid))
			continue;
		/* In a child of fork() this fails for threads of the parent. */
		if (!ioctl(a->fd, PERFCTR_IOC_UNLINK)) {
			close(a->fd);
			tid = 0;
		}
		__atomic_store_n(&a->tid, tid, __ATOMIC_RELEASE);
	}
}

static void release(struct vperfctr_meter *m)
{
	if (m->handle.fd >= 0 && !is_copy(m) && vperfctr_unlink(&m->handle) < 0 && errno == EPERM) {
		abandon(m->tid, m->handle.fd);
		m->handle.fd = -1;
	}
	perfctr_handle_release(&m->handle);
}

/* Opens the thread's counters, and gets information on the processor. */
static int open_handle(struct vperfctr_meter *m, struct perfctr_info *info)
{
	struct perfctr_open o = {
		.size = sizeof(o), .flags = PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL,
	};
	int fd;

	/* INFO comes first, because it shows whether a module of this version is loaded. */
	if (perfctr_get_info(info) < 0)
		return perfctr_meter_fail_device(m, -errno);
	if ((info->abi_version ^ PERFCTR_ABI_VERSION) >> 24)
		return perfctr_meter_fail_device(m, -EPROTO);
	m->tsc_hz = (double)info->tsc_hz;
	unlink_abandoned();
	fd = perfctr_open_fd(&o);
	if (fd < 0)
		return perfctr_meter_fail_device(m, -errno);
	perfctr_handle_init(&m->handle, fd, 1);
	return 0;
}

static int control(struct vperfctr_meter *m)
{
	return _vperfctr_control_native(m->handle.fd, &m->control) < 0 ? -errno : 0;
}

/* Stores in m->cost the least that an empty region counts. */
static int calibrate(struct vperfctr_meter *m)
{
	struct perfctr_sum_ctrs region, to, least = { .tsc = ~0ULL };
	unsigned int i, turn;
	int err;

	memset(least.pmc, 0xff, sizeof(least.pmc));
	for (turn = 0; turn < CALIBRATIONS; turn++) {
		/* In an empty region the inline begin and end make these two calls. */
		(void)vperfctr_meter_read(m, &region);
		err = vperfctr_meter_read(m, &to);
		if (err)
			return perfctr_meter_fail(m, err, "%s", vperfctr_strerror(m, err));
		vperfctr_meter_difference(m, &region, &to, &region);
		if (region.tsc < least.tsc)
			least.tsc = region.tsc;
		for (i = 0; i < m->n; i++)
			if (region.pmc[i] < least.pmc[i])
				least.pmc[i] = region.pmc[i];
	}
	m->cost.tsc = least.tsc;
	memcpy(m->cost.pmc, least.pmc, m->n * sizeof(m->cost.pmc[0]));
	return 0;
}

/* Returns a meter that counts the clock and has no handle yet, or NULL. */
static struct vperfctr_meter *meter_new(unsigned int flags)
{
	static const struct perfctr_control clock_only = {
		PERFCTR_CONTROL_INIT,
		.flags = PERFCTR_CONTROL_CLOEXEC,
		.source = PERFCTR_SOURCE_ANY,
		.tsc_on = 1,
	};
	struct vperfctr_meter *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	perfctr_handle_init(&m->handle, -1, 0);
	m->pid = getpid();
	m->tid = own_tid();
	m->flags = flags;
	m->control = clock_only;
	return m;
}

/*
 * Opens the handle and starts the counters. If @n is 0, all counters are a-mode. Else there is one
 * i-mode counter, which stops after @n events.
 */
static int count(struct vperfctr_meter *m, const char *events, unsigned long long n, int signo)
{
	struct perfctr_info info;
	int err;

	err = open_handle(m, &info);
	if (!err)
		err = add_events(m, &info, events);
	if (err)
		return err;
	m->control.nractrs = m->n;
	if (n && m->n != 1)
		return perfctr_meter_fail(m, -EINVAL, "a budget is of one event, not of '%s'", events);
	if (n && !(info.cpu_features & PERFCTR_FEATURE_PCINT))
		return perfctr_meter_fail(m, -EOPNOTSUPP, "this processor (%s) has no counter interrupt "
					  "here, which a budget needs", perfctr_info_cpu_name(&info));
	if (n) {
		m->control.nractrs = 0;
		m->control.nrictrs = 1;
		m->control.si_signo = signo;
		m->control.ctr[0].ireset = -(long long)n;
	}
	err = control(m);
	if (err)
		return perfctr_meter_fail_control(m, err, &info);
	return m->flags & VPERFCTR_METER_NET ? calibrate(m) : 0;
}

/* Does what count() does, and releases the handle if that fails. */
static int start_counting(struct vperfctr_meter *m, const char *events, unsigned long long n,
			  int signo)
{
	int err = count(m, events, n, signo);

	if (err)
		release(m);
	return err;
}

int vperfctr_meter_open(struct vperfctr_meter **meter, const char *events, unsigned int flags)
{
	struct vperfctr_meter *m = meter_new(flags);

	*meter = m;
	if (!m)
		return -ENOMEM;
	if (flags & ~VPERFCTR_METER_NET)
		return perfctr_meter_fail(m, -EINVAL, "0x%x are no flags of a meter: there is "
					  "VPERFCTR_METER_NET alone", flags);
	return start_counting(m, events, 0, 0);
}

int vperfctr_meter_open_budget(struct vperfctr_meter **meter, const char *event,
			       unsigned long long n, int signo)
{
	struct vperfctr_meter *m = meter_new(0);

	*meter = m;
	if (!m)
		return -ENOMEM;
	if (!n || n > MAX_BUDGET)
		return perfctr_meter_fail(m, -EINVAL, "%llu is no budget: it is 1 to 2^62", n);
	if (signo <= 0 || signo > SIGRTMAX || signo == SIGKILL || signo == SIGSTOP)
		return perfctr_meter_fail(m, -EINVAL, "%d is no signal for a budget: 1 to %d, but not "
					  "SIGKILL and SIGSTOP", signo, SIGRTMAX);
	return start_counting(m, event && *event ? event : "instructions", n, signo);
}

void vperfctr_meter_close(struct vperfctr_meter *m)
{
	if (!m)
		return;
	release(m);
	free(m);
}

int vperfctr_meter_stop(struct vperfctr_meter *m)
{
	if (is_copy(m))
		return -ECHILD;
	return vperfctr_suspend(&m->handle) < 0 ? -errno : 0;
}

int vperfctr_meter_start(struct vperfctr_meter *m)
{
	if (is_copy(m))
		return -ECHILD;
	if (m->control.nrictrs)
		return control(m);
	return vperfctr_resume(&m->handle) < 0 ? -errno : 0;
}

/*
 * Asks the kernel. In a child process, which has a copy of the meter after fork(), the page always
 * says that the kernel must be asked. So only this function has to compare the process id.
 */
static PERFCTR_COLD int ask(const struct vperfctr_meter *m, struct perfctr_sum_ctrs *sum)
{
	if (is_copy(m))
		return -ECHILD;
	return vperfctr_ask_snapshot(&m->handle, sum, m->n) < 0 ? -errno : 0;
}

int vperfctr_meter_read(const struct vperfctr_meter *m, struct perfctr_sum_ctrs *sum)
{
#ifdef PERFCTR_CLOCK_SLOT
	if (perfctr_likely(perfctr_page_snapshot(m->handle.page, sum, m->n)))
		return 0;
#endif
	return ask(m, sum);
}

void vperfctr_meter_difference(const struct vperfctr_meter *m, const struct perfctr_sum_ctrs *from,
			       const struct perfctr_sum_ctrs *to,
			       struct perfctr_sum_ctrs *difference)
{
	unsigned int i;

	difference->tsc = to->tsc - from->tsc;
	for (i = 0; i < m->n; i++)
		difference->pmc[i] = to->pmc[i] - from->pmc[i];
}

static unsigned long long net(unsigned long long count, unsigned long long cost)
{
	return count > cost ? count - cost : 0;
}

/* Subtracts m->cost, too, which is 0 without VPERFCTR_METER_NET. */
void vperfctr_meter_net(const struct vperfctr_meter *m, const struct perfctr_sum_ctrs *from,
			const struct perfctr_sum_ctrs *to, struct perfctr_sum_ctrs *difference)
{
	unsigned int i;

	difference->tsc = net(to->tsc - from->tsc, m->cost.tsc);
	for (i = 0; i < m->n; i++)
		difference->pmc[i] = net(to->pmc[i] - from->pmc[i], m->cost.pmc[i]);
}

/* In C and C++ begin and end are inline. Other languages call these copies. */
int vperfctr_meter_begin(const struct vperfctr_meter *m, struct perfctr_sum_ctrs *region)
{
	return vperfctr_meter_read(m, region);
}

int vperfctr_meter_end(const struct vperfctr_meter *m, struct perfctr_sum_ctrs *region)
{
	struct perfctr_sum_ctrs to;
	int err = vperfctr_meter_read(m, &to);

	if (!err)
		vperfctr_meter_net(m, region, &to, region);
	return err;
}

const struct perfctr_sum_ctrs *vperfctr_meter_cost(const struct vperfctr_meter *m)
{
	return &m->cost;
}

unsigned int vperfctr_meter_events(const struct vperfctr_meter *m)
{
	return m->n;
}

const char *vperfctr_meter_name(const struct vperfctr_meter *m, unsigned int i)
{
	return i < m->n ? m->name[i] : NULL;
}

double vperfctr_meter_seconds(const struct vperfctr_meter *m, unsigned long long ticks)
{
	return m->tsc_hz > 0 ? (double)ticks / m->tsc_hz : 0;
}

const struct vperfctr *vperfctr_meter_handle(const struct vperfctr_meter *m)
{
	return &m->handle;
}
