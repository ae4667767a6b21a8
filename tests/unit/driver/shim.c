// SPDX-License-Identifier: GPL-2.0
/* What shim/kernel.h declares. */
#include <check.h>
#include <stdio.h>

#include <linux/pid_namespace.h>
#include <linux/user_namespace.h>

#include "shim/kernel.h"
#include "base/hook.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

unsigned int shim_cpu;
u32 shim_online = 1;
u32 shim_going;
unsigned int shim_possible = 1;
bool shim_irqs_off;
int shim_hz = 250;
/* As in the kernel: about to wrap */
unsigned long shim_jiffies = -300UL * 250;
struct task_struct shim_current = { .cpus_mask = { ~0UL } };
struct task_struct *shim_on[SHIM_CPUS] = { [0 ... SHIM_CPUS - 1] = &shim_current };
unsigned int shim_hotplug_locked;
unsigned int shim_allocations;
bool shim_no_memory;
unsigned int shim_fail_nth;
void (*shim_at_point)(void);
int shim_allow_kernel;
bool shim_perfmon_capable = true;
void (*shim_while_waiting)(void);
void (*shim_kthread)(bool comes);
unsigned int shim_uid;
struct pid_namespace init_pid_ns;
struct user_namespace init_user_ns, *shim_user_ns = &init_user_ns;
u64 shim_now = 1000 * NSEC_PER_SEC;
unsigned int shim_waits;
int shim_signal_after = -1;

void shim_fail(const char *file, int line, const char *what)
{
	ck_abort_msg("%s:%d: not so: %s", file, line, what);
	abort();
}

unsigned long shim_index_nospec(unsigned long index, unsigned long size)
{
	shim_assert(index < size);
	return index;
}

/* Per-CPU data. The linker says where the variables are; their own memory is not used. */
extern char percpu_start[] __asm__("__start_shim_percpu");
extern char percpu_end[] __asm__("__stop_shim_percpu");

void *shim_per_cpu(void *ptr, unsigned int cpu)
{
	static char *copies;
	/* Each copy is aligned like the first one. */
	size_t size = ((size_t)(percpu_end - percpu_start) + 63) & ~(size_t)63;
	unsigned int i;

	shim_assert((char *)ptr >= percpu_start && (char *)ptr < percpu_end && cpu < SHIM_CPUS);
	if (!copies) {
		copies = calloc(SHIM_CPUS, size);
		if (!copies)
			abort();
		for (i = 0; i < SHIM_CPUS; i++)
			memcpy(copies + i * size, percpu_start,
			       (size_t)(percpu_end - percpu_start));
	}
	return copies + cpu * size + ((char *)ptr - percpu_start);
}

/* Module parameters */

static struct {
	const char *name;
	void *value;
	size_t size;
} params[8];

static size_t nr_params;

void shim_param(const char *name, void *value, size_t size)
{
	if (nr_params == NR(params))
		abort();
	params[nr_params].name = name;
	params[nr_params].size = size;
	params[nr_params++].value = value;
}

void shim_set_param(const char *name, unsigned int value)
{
	size_t i;

	for (i = 0; i < nr_params; i++) {
		if (strcmp(params[i].name, name) != 0)
			continue;
		if (params[i].size == sizeof(bool))
			*(bool *)params[i].value = value;
		else
			*(unsigned int *)params[i].value = value;
		return;
	}
	ck_abort_msg("the module has no parameter %s", name);
}

/* Locks */

void mutex_lock(struct mutex *lock)
{
	might_sleep();
	shim_assert(!lock->held);
	lock->held = true;
}

void mutex_unlock(struct mutex *lock)
{
	shim_assert(lock->held);
	lock->held = false;
}

void cpus_read_lock(void)
{
	might_sleep();
	shim_hotplug_locked++;
}

void cpus_read_unlock(void)
{
	shim_assert(shim_hotplug_locked);
	shim_hotplug_locked--;
}

/* Memory */

void *kzalloc(size_t size, unsigned int flags)
{
	void *ptr;

	if (!(flags & GFP_NOWAIT))
		might_sleep();
	if (!(flags & __GFP_NOFAIL) && (shim_no_memory || shim_fails()))
		return NULL;
	ptr = calloc(1, size);
	if (!ptr)
		abort();
	shim_allocations++;
	return ptr;
}

void kfree(const void *ptr)
{
	if (!ptr)
		return;
	shim_assert(shim_allocations);
	shim_allocations--;
	free((void *)ptr);
}

/* Tracepoints */

/* What the drivers and the services look for */
static struct tracepoint tracepoints[] = {
	{ .name = "irq_handler_entry" }, { .name = "irq_handler_exit" },
	{ .name = "irq_work_entry" }, { .name = "sched_switch" },
	{ .name = "sched_process_fork" }, { .name = "sched_process_exec" },
	{ .name = "sched_process_exit" },
};

const char *shim_no_tracepoint;

void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tracepoint, void *data), void *data)
{
	size_t i;

	for (i = 0; i < NR(tracepoints); i++)
		if (!shim_no_tracepoint ||
		    strcmp(tracepoints[i].name, shim_no_tracepoint) != 0)
			fn(&tracepoints[i], data);
}

int tracepoint_probe_register_prio(struct tracepoint *tracepoint, void *probe, void *data,
				   int prio)
{
	unsigned int i, n;

	might_sleep();
	shim_assert(probe && !data && !tracepoint->probes[SHIM_PROBES - 1].fn);
	if (shim_fails())
		return -ENOMEM;
	for (i = 0; tracepoint->probes[i].fn && tracepoint->probes[i].prio >= prio; i++)
		shim_assert(tracepoint->probes[i].fn != probe);
	for (n = SHIM_PROBES - 1; n > i; n--)
		tracepoint->probes[n] = tracepoint->probes[n - 1];
	tracepoint->probes[i].fn = probe;
	tracepoint->probes[i].prio = prio;
	return 0;
}

int tracepoint_probe_unregister(struct tracepoint *tracepoint, void *probe, void *data)
{
	unsigned int i;

	might_sleep();
	for (i = 0; i < SHIM_PROBES && tracepoint->probes[i].fn != probe; i++)
		;
	shim_assert(i < SHIM_PROBES && !data);
	/* The last one is always free. */
	for (; i < SHIM_PROBES; i++)
		tracepoint->probes[i] = tracepoint->probes[i + 1];
	return 0;
}

void *shim_probe_nth(const char *name, unsigned int n)
{
	size_t i;

	for (i = 0; i < NR(tracepoints); i++)
		if (!strcmp(tracepoints[i].name, name))
			return n < SHIM_PROBES ? tracepoints[i].probes[n].fn : NULL;
	shim_assert(!name);
	return NULL;
}

void *shim_probe(const char *name)
{
	return shim_probe_nth(name, 0);
}

/* Work */

static struct work_struct *works[64];

static bool work_add(struct work_struct *work, unsigned long delay)
{
	size_t i;

	if (work->pending)
		return false;
	work->pending = true;
	work->delay = delay;
	for (i = 0; i < NR(works); i++) {
		if (!works[i]) {
			works[i] = work;
			return true;
		}
	}
	abort();
}

static bool work_remove(struct work_struct *work)
{
	size_t i;

	for (i = 0; i < NR(works); i++)
		if (works[i] == work)
			works[i] = NULL;
	if (!work->pending)
		return false;
	work->pending = false;
	return true;
}

static void work_run(struct work_struct *work)
{
	work_remove(work);
	might_sleep();
	work->fn(work);
	might_sleep();
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	(void)wq;
	return work_add(work, 0);
}

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
			unsigned long delay)
{
	(void)wq;
	shim_assert(delay);
	return work_add(&work->work, delay);
}

bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay)
{
	bool pending = work_remove(&work->work);

	(void)wq;
	work_add(&work->work, delay);
	return pending;
}

bool flush_work(struct work_struct *work)
{
	bool pending = work->pending;

	might_sleep();
	if (pending)
		work_run(work);
	return pending;
}

bool cancel_delayed_work_sync(struct delayed_work *work)
{
	might_sleep();
	return work_remove(&work->work);
}

bool flush_delayed_work(struct delayed_work *work)
{
	bool pending = work_remove(&work->work);

	might_sleep();
	if (pending)
		work->work.fn(&work->work);
	return pending;
}

unsigned int shim_warnings;
static struct timer_list *timers[16];

void timer_setup(struct timer_list *timer, void (*fn)(struct timer_list *timer),
		 unsigned int flags)
{
	shim_assert(flags & TIMER_PINNED);
	*timer = (struct timer_list) { .fn = fn };
}

int mod_timer(struct timer_list *timer, unsigned long expires)
{
	bool pending = timer->pending;
	size_t i;

	shim_assert(timer->fn && (long)(expires - shim_jiffies) > 0);
	timer->expires = expires;
	timer->cpu = shim_cpu;
	timer->pending = true;
	for (i = 0; i < NR(timers) && timers[i] != timer && timers[i]; i++)
		;
	shim_assert(i < NR(timers));
	timers[i] = timer;
	return pending;
}

int timer_delete_sync(struct timer_list *timer)
{
	bool pending = timer->pending;

	might_sleep();
	timer->pending = false;
	return pending;
}

unsigned int shim_next_timer(unsigned int cpu)
{
	unsigned long next = 0;
	size_t i;

	for (i = 0; i < NR(timers) && timers[i]; i++)
		if (timers[i]->pending && timers[i]->cpu == cpu &&
		    (!next || timers[i]->expires - shim_jiffies < next))
			next = timers[i]->expires - shim_jiffies;
	return (unsigned int)next;
}

unsigned int shim_timers(unsigned int cpu)
{
	unsigned int before = shim_cpu, fired = 0;
	size_t i;

	shim_cpu = cpu;
	for (i = 0; i < NR(timers) && timers[i]; i++) {
		if (!timers[i]->pending || timers[i]->cpu != cpu)
			continue;
		timers[i]->pending = false;
		fired++;
		timers[i]->fn(timers[i]);
	}
	shim_cpu = before;
	return fired;
}

long work_on_cpu(unsigned int cpu, long (*fn)(void *arg), void *arg)
{
	unsigned int before = shim_cpu;
	long ret;

	might_sleep();
	shim_assert(shim_online & BIT(cpu));
	shim_cpu = cpu;
	if (shim_kthread)
		shim_kthread(true);
	ret = fn(arg);
	might_sleep();
	if (shim_kthread)
		shim_kthread(false);
	shim_cpu = before;
	return ret;
}

void shim_work(bool delayed)
{
	struct work_struct *now[NR(works)];
	size_t i;

	for (i = 0; i < NR(now); i++)
		now[i] = works[i];
	for (i = 0; i < NR(now); i++)
		if (now[i] && now[i]->pending && (delayed || !now[i]->delay))
			work_run(now[i]);
}

unsigned long shim_work_delay(void)
{
	unsigned long delay = 0;
	size_t i;

	for (i = 0; i < NR(works); i++)
		if (works[i] && works[i]->pending && works[i]->delay &&
		    (!delay || works[i]->delay < delay))
			delay = works[i]->delay;
	return delay;
}

/* CPU hotplug */

static int (*cpu_prepare)(unsigned int cpu);
static int (*cpu_online)(unsigned int cpu);
static int (*cpu_offline)(unsigned int cpu);

static void on_cpu(unsigned int cpu, int (*fn)(unsigned int cpu))
{
	unsigned int before = shim_cpu;

	if (!fn)
		return;
	shim_cpu = cpu;
	might_sleep();
	shim_assert(!fn(cpu));
	might_sleep();
	shim_cpu = before;
}

int cpuhp_setup_state_nocalls(int state, const char *name, int (*prepare)(unsigned int cpu),
			      int (*dead)(unsigned int cpu))
{
	(void)name;
	shim_assert(!cpu_prepare && prepare && !dead && !shim_hotplug_locked);
	cpu_prepare = prepare;
	return state;
}

void cpuhp_remove_state_nocalls(int state)
{
	(void)state;
	shim_assert(!shim_hotplug_locked);
	cpu_prepare = NULL;
}

int cpuhp_setup_state(int state, const char *name, int (*online)(unsigned int cpu),
		      int (*offline)(unsigned int cpu))
{
	unsigned int cpu;

	(void)name;
	shim_assert(!cpu_online && !shim_hotplug_locked);
	cpu_online = online;
	cpu_offline = offline;
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		if (shim_online & BIT(cpu))
			on_cpu(cpu, online);
	return state;
}

void cpuhp_remove_state(int state)
{
	unsigned int cpu;

	(void)state;
	shim_assert(!shim_hotplug_locked);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		if (shim_online & BIT(cpu))
			on_cpu(cpu, cpu_offline);
	cpu_online = NULL;
	cpu_offline = NULL;
}

void shim_cpu_up(unsigned int cpu)
{
	shim_assert(!(shim_online & BIT(cpu)));
	/* On a CPU that is up */
	if (cpu_prepare)
		shim_assert(!cpu_prepare(cpu));
	shim_online |= BIT(cpu);
	on_cpu(cpu, cpu_online);
}

void shim_cpu_down(unsigned int cpu)
{
	shim_assert(shim_online & BIT(cpu));
	on_cpu(cpu, cpu_offline);
	shim_online &= ~BIT(cpu);
}
