/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel as module/ sees when it is compiled for the host. What
 * the kernel checks with lockdep is checked here as well: a violation fails the
 * test. The headers in linux/ and asm/ all lead here; ../Makefile makes those that have
 * nothing else (LIKE_KERNEL).
 */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <asm/thread.h>
#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned short ushort;
typedef unsigned int uint;

#define S64_MAX			((s64)(~0ULL >> 1))

#define __user
#define __percpu
#define __force
#define __init
#define __initconst
#define __cold
#define __rcu
#define __percpu
#define notrace
#define __aligned(n)		__attribute__((aligned(n)))
#define noinline		__attribute__((__noinline__))
#ifndef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#endif
/* In linux/stddef.h since 6.5 */
#ifndef __counted_by
#define __counted_by(member)
#endif
#define __same_type(a, b)	__builtin_types_compatible_p(__typeof__(a), __typeof__(b))
#define BUILD_BUG_ON_ZERO(e)	((int)sizeof(struct { int : (-!!(e)); }))
#define static_assert(x)	_Static_assert(x, #x)
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define __stringify_1(x...)	#x
#define __stringify(x...)	__stringify_1(x)
#define migrate_disable()	((void)0)
#define migrate_enable()	((void)0)
#define barrier()		__asm__ volatile("" : : : "memory")
/*
 * Another CPU may do something between any two accesses that are in a certain order: it is called
 * at each. NULL: nobody does
 */
extern void (*shim_at_point)(void);
static inline void shim_point(void)
{
	if (__builtin_expect(!!shim_at_point, 0))
		shim_at_point();
}

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)						\
({									\
	*(volatile __typeof__(x) *)&(x) = (value);			\
	shim_point();							\
})

#define min(a, b)							\
({									\
	__typeof__(a) __a = (a);					\
	__typeof__(b) __b = (b);					\
									\
	__a < __b ? __a : __b;						\
})
#define max(a, b)							\
({									\
	__typeof__(a) __max_a = (a);					\
	__typeof__(b) __max_b = (b);					\
									\
	__max_a > __max_b ? __max_a : __max_b;				\
})

#define min_t(type, a, b)	min((type)(a), (type)(b))
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define pr_info(...)		((void)0)
/* What the kernel warns of */
extern unsigned int shim_warnings;
#define pr_warn(...)		((void)shim_warnings++)
#define pr_warn_ratelimited(...)	pr_warn(__VA_ARGS__)

#define container_of(ptr, type, member)					\
	((type *)((char *)(ptr) - offsetof(type, member)))

/* Bits */
/* Of a kernel of 32 bits: so few that ids begin again. */
#if defined(CONFIG_PPC32)
#define BITS_PER_LONG		20
#else
#define BITS_PER_LONG		64
#endif
#define BIT(nr)			(1UL << (nr))
#define BIT_ULL(nr)		(1ULL << (nr))
#define lower_32_bits(n)	((u32)(n))
#define upper_32_bits(n)	((u32)((u64)(n) >> 32))
#define GENMASK(high, low)	((~0UL << (low)) & (~0UL >> (63 - (high))))
#define GENMASK_ULL(high, low)	((~0ULL << (low)) & (~0ULL >> (63 - (high))))
#define __ffs(word)		((unsigned int)__builtin_ctzl(word))
#define __fls(word)		((unsigned int)(63 - __builtin_clzl(word)))
#define fls(word)		((word) ? 32 - __builtin_clz(word) : 0)
#define ffz(word)		__ffs(~(unsigned long)(word))
#define hweight32(w)		((unsigned int)__builtin_popcount(w))
#define hweight64(w)		((unsigned int)__builtin_popcountll(w))

/* @index: of the sign bit */
static inline s64 sign_extend64(u64 value, int index)
{
	return (s64)(value << (63 - index)) >> (63 - index);
}

static inline unsigned long shim_next_bit(unsigned long word, unsigned long size,
					  unsigned long from)
{
	while (from < size && !(word & BIT(from)))
		from++;
	return from;
}

/* Of one word, which is all that there is here */
#define for_each_set_bit(bit, addr, size)				\
	for ((bit) = shim_next_bit(*(addr), size, 0); (bit) < (size);	\
	     (bit) = shim_next_bit(*(addr), size, (bit) + 1))

/* An index that was not compared before is a bug that speculation makes worse. */
unsigned long shim_index_nospec(unsigned long index, unsigned long size);
#define array_index_nospec(index, size)	shim_index_nospec(index, size)

/* What must never happen */
void shim_fail(const char *file, int line, const char *what) __attribute__((__noreturn__));
#define shim_assert(condition)						\
do {									\
	if (!(condition))						\
		shim_fail(__FILE__, __LINE__, #condition);		\
} while (0)

#define WARN_ON(condition)						\
({									\
	bool __warn = (condition);					\
									\
	if (__warn)							\
		shim_fail(__FILE__, __LINE__, #condition);		\
	__warn;								\
})

/* CPUs and interrupts */
#define SHIM_CPUS	4

extern unsigned int shim_cpu;		/* the current one */
#define raw_smp_processor_id()	shim_cpu
extern u32 shim_online;			/* bit map */
extern u32 shim_going;			/* those that only run what has to leave them */
extern bool shim_irqs_off;
extern unsigned int shim_possible;	/* how many there can be */

/* As the kernel has it, the variable itself is only where the CPUs' own begin from. */
#define SHIM_PER_CPU			__attribute__((__section__("shim_percpu")))
#define DECLARE_PER_CPU(type, name)	extern __typeof__(type) name
#define DEFINE_PER_CPU(type, name)	SHIM_PER_CPU __typeof__(type) name
void *shim_per_cpu(void *ptr, unsigned int cpu);
#define per_cpu_ptr(ptr, cpu)	((__typeof__(ptr))shim_per_cpu(ptr, cpu))
#define per_cpu(name, cpu)	(*per_cpu_ptr(&(name), cpu))
/* Nothing here uses per-CPU data with interrupts on. */
#define this_cpu_ptr(ptr)						\
({									\
	shim_assert(shim_irqs_off);					\
	per_cpu_ptr(ptr, shim_cpu);					\
})
/* As there: what it reads may be another CPU's a moment later. */
#define this_cpu_read(name)		per_cpu(name, shim_cpu)
#define raw_cpu_read(name)		(*this_cpu_ptr(&(name)))
#define this_cpu_write(name, value)	((void)(*this_cpu_ptr(&(name)) = (value)))
#define __this_cpu_read(name)		raw_cpu_read(name)
#define __this_cpu_write(name, value)	this_cpu_write(name, value)

#define for_each_possible_cpu(cpu)					\
	for ((cpu) = 0; (cpu) < shim_possible; (cpu)++)

#define for_each_online_cpu(cpu)					\
	for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++)			\
		if (shim_online & BIT(cpu))

struct cpumask {
	unsigned long bits;
};

#define cpumask_test_cpu(cpu, mask)	((mask)->bits >> (cpu) & 1)
#define cpu_possible(cpu)	((cpu) < SHIM_CPUS)
#define cpu_online_mask		(&(const struct cpumask) { shim_online })
/* Of those, the ones that will not go right now */
#define cpu_active_mask		(&(const struct cpumask) { shim_online & ~shim_going })
#define for_each_cpu_and(cpu, a, b)					\
	for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++)			\
		if ((a)->bits & (b)->bits & BIT(cpu))

static inline unsigned long shim_irq_save(void)
{
	unsigned long flags = shim_irqs_off;

	shim_irqs_off = true;
	return flags;
}

#define local_irq_save(flags)		((flags) = shim_irq_save())
#define local_irq_restore(flags)					\
do {									\
	shim_assert(shim_irqs_off);					\
	shim_irqs_off = (flags);					\
} while (0)
#define local_irq_disable()						\
do {									\
	shim_assert(!shim_irqs_off);					\
	shim_irqs_off = true;						\
} while (0)
#define local_irq_enable()						\
do {									\
	shim_assert(shim_irqs_off);					\
	shim_irqs_off = false;						\
} while (0)
#define lockdep_assert_irqs_disabled()	shim_assert(shim_irqs_off)
#define might_sleep()			shim_assert(!shim_irqs_off)

/* Module parameters */
void shim_param(const char *name, void *value, size_t size);
#define module_param(name, type, mode)					\
static __attribute__((__constructor__)) void shim_param_##name(void)	\
{									\
	shim_param(#name, &(name), sizeof(name));			\
}									\
extern int shim_param_end
#define module_param_named(name, variable, type, mode)			\
static __attribute__((__constructor__)) void shim_param_##name(void)	\
{									\
	shim_param(#name, &(variable), sizeof(variable));		\
}									\
extern int shim_param_end
#define MODULE_PARM_DESC(name, text)	extern int shim_param_end

/* Users */
typedef struct {
	unsigned int val;
} kuid_t;
#define KUIDT_INIT(value)	((kuid_t) { value })
#define __kuid_val(uid)		((uid).val)
extern unsigned int shim_uid;		/* of the current thread */
#define current_uid()		KUIDT_INIT(shim_uid)
#define GLOBAL_ROOT_UID		KUIDT_INIT(0)
#define uid_eq(a, b)		((a).val == (b).val)

typedef struct {
	bool held;
} spinlock_t;

typedef spinlock_t raw_spinlock_t;

#define DEFINE_SPINLOCK(name)		spinlock_t name
#define DEFINE_RAW_SPINLOCK(name)	raw_spinlock_t name

#define spin_lock(lock)							\
do {									\
	shim_assert(!(lock)->held);					\
	(lock)->held = true;						\
} while (0)
#define spin_unlock(lock)						\
do {									\
	shim_assert((lock)->held);					\
	(lock)->held = false;						\
} while (0)
#define raw_spin_lock_irq(lock)						\
do {									\
	local_irq_disable();						\
	spin_lock(lock);						\
} while (0)
#define raw_spin_unlock_irq(lock)					\
do {									\
	spin_unlock(lock);						\
	local_irq_enable();						\
} while (0)
#define raw_spin_lock_irqsave(lock, flags)				\
do {									\
	local_irq_save(flags);						\
	shim_assert(!(lock)->held);					\
	(lock)->held = true;						\
} while (0)
#define raw_spin_unlock_irqrestore(lock, flags)				\
do {									\
	shim_assert((lock)->held);					\
	(lock)->held = false;						\
	local_irq_restore(flags);					\
} while (0)

/* The current thread: what the arch looks at, and then what the services above it do */
struct mm_struct;
struct pid;
struct callback_head;
struct fs_struct;

struct cred {
	kuid_t euid;
	struct user_struct *user;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define TASK_COMM_LEN		16

struct pid_namespace;

struct task_struct {
	unsigned int flags;
	struct mm_struct *mm;
	raw_spinlock_t pi_lock;
	struct cpumask cpus_mask;	/* ~0 as the test begins */
	struct thread_struct thread;
	unsigned long ti_flags;
	unsigned int cpu;
	const struct cred *real_cred;
	struct hlist_head preempt_notifiers;
	struct callback_head *task_works;
	struct pid *pid, *tgid;
	struct pid_namespace *pid_ns;
	struct fs_struct *fs;
	bool in_execve;
	bool killed;
	char comm[TASK_COMM_LEN] __aligned(sizeof(long));
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	unsigned int __state;
	int on_rq, on_cpu;
	unsigned int ptrace;
	struct task_struct *parent;
	unsigned int refs;
	struct {
		u64 nr_migrations;
		unsigned char sched_delayed;
	} se;
};

/* Of a test that has no threads */
extern struct task_struct shim_current;
/* Who runs on each CPU */
extern struct task_struct *shim_on[SHIM_CPUS];
#define current			(shim_on[shim_cpu])
#define test_thread_flag(flag)	(current->ti_flags >> (flag) & 1)

/* Time */
extern int shim_hz;
#ifdef SHIM_HZ
#define HZ			SHIM_HZ		/* in a constant */
#else
#define HZ			shim_hz
#endif
/* Moves when a test says so. */
extern unsigned long shim_jiffies;
#define jiffies			shim_jiffies
#define time_before(a, b)	((long)((a) - (b)) < 0)
#define time_after(a, b)	time_before(b, a)

/* ns; moves when a test says so, or somebody waits, who is signalled after so many waits. */
#define NSEC_PER_SEC		1000000000ull
#define ERESTARTSYS		512
#define is_idle_task(task)	((void)(task), false)
#define PF_KTHREAD		1
#define PF_EXITING		0x4
extern u64 shim_now;
extern unsigned int shim_waits;
extern int shim_signal_after;		/* -1: never */
#define ktime_get_ns()		shim_now
#define nsecs_to_jiffies(ns)	((ns) / (NSEC_PER_SEC / (unsigned int)HZ))
#define schedule_timeout_interruptible(ticks)				\
({									\
	might_sleep();							\
	shim_now += (ticks) * (NSEC_PER_SEC / (unsigned int)HZ);	\
	shim_waits++;							\
	if (shim_while_waiting)						\
		shim_while_waiting();					\
	signal_pending(current) ? (long)(ticks) : 0L;			\
})
/* What else happens while somebody waits */
extern void (*shim_while_waiting)(void);
#define jiffies_to_msecs(ticks)	((unsigned int)((ticks) * 1000 / (unsigned int)HZ))
#define msleep(ms)							\
({									\
	might_sleep();							\
	shim_now += (ms) * (NSEC_PER_SEC / 1000);			\
	shim_waits++;							\
	if (shim_while_waiting)						\
		shim_while_waiting();					\
})
extern bool shim_perfmon_capable;	/* the privilege to look at others by perf; true */
#define perfmon_capable()	shim_perfmon_capable

#define signal_pending(task)						\
	(shim_signal_after >= 0 && shim_waits > (unsigned int)shim_signal_after)

#define get_random_u64()	0x9e3779b97f4a7c15ull

#define pagefault_disable()	((void)0)
#define pagefault_enable()	((void)0)

/* Atomics and lists: one thread of control here */
typedef struct {
	int counter;
} atomic_t;

#define ATOMIC_INIT(i)			{ i }
#define atomic_read(v)			READ_ONCE((v)->counter)
#define atomic_set(v, i)		WRITE_ONCE((v)->counter, i)
#define atomic_inc(v)			((void)++(v)->counter)
#define atomic_dec(v)			((void)--(v)->counter)
#define atomic_add(i, v)		((void)((v)->counter += (i)))
#define atomic_dec_and_test(v)		(!--(v)->counter)
#define atomic_add_unless(v, add, unless)				\
	((v)->counter != (unless) && ((v)->counter += (add), true))

typedef struct {
	int counter;
} refcount_t;

#define refcount_set(r, n)		((void)((r)->counter = (n)))
#define refcount_inc(r)			((void)++(r)->counter)
#define refcount_dec_and_test(r)	(!--(r)->counter)

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name)		struct list_head name = { &(name), &(name) }
#define list_empty(head)	((head)->next == (head))

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

/* Poisoned as the kernel does */
static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	entry->next = NULL;
	entry->prev = NULL;
}

#define list_entry(ptr, type, member)	container_of(ptr, type, member)
#define list_first_entry_or_null(head, type, member)			\
	(list_empty(head) ? NULL : list_entry((head)->next, type, member))
#define list_for_each_entry(pos, head, member)				\
	for (pos = list_entry((head)->next, __typeof__(*pos), member);	\
	     &pos->member != (head);					\
	     pos = list_entry(pos->member.next, __typeof__(*pos), member))
#define list_for_each_entry_safe(pos, n, head, member)			\
	for (pos = list_entry((head)->next, __typeof__(*pos), member),	\
	     n = list_entry(pos->member.next, __typeof__(*pos), member);	\
	     &pos->member != (head);					\
	     pos = n, n = list_entry(n->member.next, __typeof__(*n), member))

/* Locks: never waited for, since nobody else is there, but checked */
struct mutex {
	bool held;
};

#define DEFINE_MUTEX(name)	struct mutex name
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
#define lockdep_assert_held(lock)	shim_assert((lock)->held)
void cpus_read_lock(void);
/* x86 only */
bool cpu_smt_possible(void);
void cpus_read_unlock(void);
extern unsigned int shim_hotplug_locked;

struct preempt_notifier;

struct preempt_ops {
	void (*sched_in)(struct preempt_notifier *notifier, int cpu);
	void (*sched_out)(struct preempt_notifier *notifier, struct task_struct *next);
};

struct preempt_notifier {
	struct hlist_node link;
	struct preempt_ops *ops;
};

/* Memory */
typedef unsigned int gfp_t;
#define GFP_KERNEL		0
#define GFP_NOWAIT		1	/* the caller may not sleep */
#define __GFP_NOWARN		2
#define __GFP_ACCOUNT		4
#define __GFP_NOFAIL		8
#define GFP_KERNEL_ACCOUNT	(GFP_KERNEL | __GFP_ACCOUNT)
extern unsigned int shim_allocations;	/* alive */
extern bool shim_no_memory;
/* From now on the n-th allocation, or copy from or to a user, fails; 0: none does */
extern unsigned int shim_fail_nth;
static inline bool shim_fails(void)
{
	return __builtin_expect(shim_fail_nth > 0, 0) && !--shim_fail_nth;
}

void *kzalloc(size_t size, unsigned int flags);
void kfree(const void *ptr);
#define struct_size(ptr, member, nr)	(sizeof(*(ptr)) + (nr) * sizeof((ptr)->member[0]))
#define ERR_PTR(error)		((void *)(long)(error))
#define PTR_ERR(ptr)		((long)(ptr))
#define ERR_CAST(ptr)		((void *)(ptr))
#define IS_ERR(ptr)		((unsigned long)(ptr) >= (unsigned long)-4095L)

/* Work: put off until the test says shim_work() */
struct callback_head {
	struct callback_head *next;
	void (*func)(struct callback_head *work);
};

struct work_struct {
	void (*fn)(struct work_struct *work);
	bool pending;
	unsigned long delay;
};

struct delayed_work {
	struct work_struct work;
};

struct workqueue_struct;

#define DECLARE_WORK(name, f)		struct work_struct name = { .fn = (f) }
#define DECLARE_DELAYED_WORK(name, f)	struct delayed_work name = { .work = { .fn = (f) } }
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
		      unsigned long delay);
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *work,
			unsigned long delay);
bool flush_work(struct work_struct *work);
bool flush_delayed_work(struct delayed_work *work);
bool cancel_delayed_work_sync(struct delayed_work *work);

/* Timers of one CPU each, which fire when the test says shim_timers() */
struct timer_list {
	void (*fn)(struct timer_list *timer);
	unsigned long expires;
	unsigned int cpu;
	bool pending;
};

#define TIMER_PINNED		1
#define TIMER_DEFERRABLE	2
void timer_setup(struct timer_list *timer, void (*fn)(struct timer_list *timer),
		 unsigned int flags);
int mod_timer(struct timer_list *timer, unsigned long expires);
int timer_delete_sync(struct timer_list *timer);

/* Probes of a tracepoint, in the order in which they are called */
#define SHIM_PROBES	3
struct tracepoint {
	const char *name;
	struct {
		void *fn;
		int prio;
	} probes[SHIM_PROBES + 1];
};

void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tracepoint, void *data), void *data);
#define TRACEPOINT_DEFAULT_PRIO	10
int tracepoint_probe_register_prio(struct tracepoint *tracepoint, void *probe, void *data,
				   int prio);
int tracepoint_probe_unregister(struct tracepoint *tracepoint, void *probe, void *data);
#define tracepoint_synchronize_unregister()	might_sleep()

/*
 * On that CPU, by a thread of the kernel's: whoever runs there is switched out for it, as
 * shim_kthread says.
 */
extern void (*shim_kthread)(bool comes);
#define CONFIG_SMP	1
long work_on_cpu(unsigned int cpu, long (*fn)(void *arg), void *arg);
#define smp_processor_id()	shim_cpu
/* As linux/kconfig.h: 1 if the option is defined as 1. No option is a module here. */
#define SHIM_OPTION_1		0,
#define SHIM_SECOND(first, second, ...)	second
#define SHIM_ENABLED(junk)	SHIM_SECOND(junk 1, 0, 0)
#define SHIM_OPTION(value)	SHIM_ENABLED(SHIM_OPTION_##value)
#define IS_ENABLED(option)	SHIM_OPTION(option)
#define IS_ALIGNED(x, to)	(((x) & ((to) - 1)) == 0)

/* CPU hotplug */
#define CPUHP_BP_PREPARE_DYN	1
#define CPUHP_AP_ONLINE_DYN	2
int cpuhp_setup_state_nocalls(int state, const char *name, int (*prepare)(unsigned int cpu),
			      int (*dead)(unsigned int cpu));
void cpuhp_remove_state_nocalls(int state);
int cpuhp_setup_state(int state, const char *name, int (*online)(unsigned int cpu),
		      int (*offline)(unsigned int cpu));
void cpuhp_remove_state(int state);

/* Permissions, and what else compat.h mentions */
#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 16, 0)
#define SUID_DUMP_USER		1
extern int shim_allow_kernel;		/* what perf_allow_kernel() says */
#define PERFCTR_PERF_ALLOW_KERNEL_VOID
#define perf_allow_kernel()	shim_allow_kernel
int get_dumpable(struct mm_struct *mm);

/* For tests */
void shim_set_param(const char *name, unsigned int value);
/* Runs what is pending: the work, or also the delayed work. */
void shim_work(bool delayed);
/* Those of a CPU that are pending fire now: how many? */
unsigned int shim_timers(unsigned int cpu);
/* In how many jiffies the first of them would; 0: none is pending */
unsigned int shim_next_timer(unsigned int cpu);
/* The shortest delay of pending delayed work, jiffies; 0 if none is. */
unsigned long shim_work_delay(void);
/* Calls the hotplug callbacks on that CPU; the model of the hart is the caller's. */
void shim_cpu_up(unsigned int cpu);
void shim_cpu_down(unsigned int cpu);
/* The first probe that is registered for the tracepoint of that name, or NULL; or the n-th, from 0 */
void *shim_probe(const char *name);
void *shim_probe_nth(const char *name, unsigned int n);
/* There is no such tracepoint. */
extern const char *shim_no_tracepoint;

#include "shim/services.h"

#endif /* SHIM_KERNEL_H */
