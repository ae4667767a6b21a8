/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What else of the kernel ring.c, maps.c, record.c and timer.c see. Callers are not modelled, so no
 * ring here tells of them.
 */
#ifndef ENGINE_SHIM_RECORDS_H
#define ENGINE_SHIM_RECORDS_H

#include <limits.h>

#include "shim/kernel.h"
#include <linux/pid_namespace.h>

/* Numbers, and what else there is of the language */
#define WARN_ON_ONCE(condition)	shim_assert(!(condition))
#define U64_MAX			(~0ull)
#define MAJOR(dev)		((u32)((dev) >> 20))
#define MINOR(dev)		((u32)((dev) & 0xfffff))
#define SZ_1G			0x40000000u
#define is_power_of_2(n)	((n) && !((n) & ((n) - 1)))
#define round_up(x, to)		(((x) + (to) - 1) & ~((__typeof__(x))(to) - 1))
#define BUILD_BUG_ON(e)		((void)BUILD_BUG_ON_ZERO(e))
#define kcsan_disable_current()	((void)0)
#define kcsan_enable_current()	((void)0)
#define __acquires(lock)
#define __releases(lock)

/* Lists */
#define INIT_LIST_HEAD(head)	((void)((head)->next = (head)->prev = (head)))
#define list_for_each_entry_safe_reverse(pos, n, head, member)		\
	for (pos = list_entry((head)->prev, __typeof__(*pos), member),	\
	     n = list_entry(pos->member.prev, __typeof__(*pos), member);	\
	     &pos->member != (head);					\
	     pos = n, n = list_entry(n->member.prev, __typeof__(*n), member))
static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

/* A walk that lockdep is told of */
#define hlist_for_each_entry_rcu(pos, head, member, condition)		\
	hlist_for_each_entry(pos, head, member)
struct rcu_head {
	int unused;
};

#define kfree_rcu(ptr, member)	kfree(ptr)

/* Users, who may lock any memory */
struct user_struct {
	atomic_long_t locked_vm;
};

extern struct user_struct shim_user;
extern const struct cred shim_cred;
#define CAP_IPC_LOCK		14
#define capable(capability)	true
#define RLIMIT_MEMLOCK		8
#define rlimit(which)		ULONG_MAX
#define get_current_cred()	(&shim_cred)
#define put_cred(cred)		((void)(cred))
#define atomic_long_sub(i, v)	((void)((v)->counter -= (long)(i)))

/* Memory: pages of a ring stand one behind the other. */
#define __GFP_ZERO		16
#define VM_MAP			0
#define PAGE_KERNEL		0
#define VM_SHARED		0x8ul
#define VM_EXEC			0x4ul
#define VM_MAYEXEC		0x40ul
#define VM_DONTDUMP		0x4000000ul
#define vma_pages(vma)		(((vma)->vm_end - (vma)->vm_start) >> PAGE_SHIFT)
#define vm_insert_pages(vma, address, pages, nr)	(-ENOMEM)
struct page *alloc_page(gfp_t gfp);
void __free_page(struct page *page);
void *vmap(struct page **pages, unsigned int nr, unsigned long flags, int prot);
void vunmap(const void *address);
#define alloc_percpu(type)						\
({									\
	static SHIM_PER_CPU type __of_each;				\
									\
	&__of_each;							\
})
#define free_percpu(ptr)	((void)(ptr))

/* Readers, of whom there are none */
typedef struct {
	int unused;
} wait_queue_head_t;

struct fasync_struct;
#define init_waitqueue_head(head)	((void)(head))
#define wake_up_interruptible_poll(head, events)	((void)(head))
#define poll_wait(file, head, table)	((void)(file), (void)(head), (void)(table))
#define POLL_IN			1
#define kill_fasync(fasync, signal, band)	((void)(fasync))
#define fasync_helper(fd, file, on, fasync)	((void)(fd), (void)(file), (void)(on), (void)(fasync), 0)
#define EPOLLIN			1u
#define EPOLLHUP		16u
#define EPOLLRDNORM		64u
#define INIT_WORK(work, f)	((void)((work)->fn = (f)))
bool cancel_work_sync(struct work_struct *work);

/* The names by which ring.c calls irq_work_queue() and irq_work_sync() */
struct irq_work;
bool shim_wake(struct irq_work *work);
void shim_wake_sync(struct irq_work *work);

/* Time */
#define NSEC_PER_USEC		1000ull
#define TICK_NSEC		(NSEC_PER_SEC / (unsigned int)HZ)
/* It takes time to ask for it. */
u64 ktime_get_mono_fast_ns(void);
#define ns_to_ktime(ns)		(ns)
#define HRTIMER_MODE_REL_PINNED_HARD	0
enum hrtimer_restart { HRTIMER_NORESTART };

/* @expires: as the clock of its CPU has it */
struct hrtimer {
	enum hrtimer_restart (*fn)(struct hrtimer *timer);
	u64 expires;
	bool pending;
};

#define hrtimer_setup(timer, f, clock, mode)	((void)((timer)->fn = (f)))
void hrtimer_start(struct hrtimer *timer, u64 ns, int mode);
void hrtimer_cancel(struct hrtimer *timer);
/* The current CPU's fires if it is due, or @early. */
void shim_hrtimer(bool early);

/* Threads */
#define task_pid_nr_ns(task, ns)	((task)->pid->nr)
#define task_tgid_nr_ns(task, ns)	((task)->tgid->nr)
#ifndef user_mode
/* Only user mode is interrupted for a sample. */
#define user_mode(regs)		((void)(regs), true)
#endif

/* The memory of processes: engine/memory.c */
struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long address);
const char *d_path(const int *path, char *room, int size);
void mmgrab(struct mm_struct *mm);
void mmdrop(struct mm_struct *mm);
int mmap_read_lock_killable(struct mm_struct *mm);
void mmap_read_unlock(struct mm_struct *mm);
#define lockdep_assert_held_read(lock)	shim_assert((lock)->readers)
#define lockdep_assert_held_write(lock)	shim_assert((lock)->writers)
unsigned long regs_get_kernel_argument(const struct pt_regs *regs, unsigned int n);
/* The names by which maps.c calls register_kprobe(), and what fails here when the test says so */
struct kprobe;
int shim_map_probe(struct kprobe *probe);
void shim_no_map_probe(struct kprobe *probe);
void *shim_zalloc(size_t size, gfp_t gfp);

#endif /* ENGINE_SHIM_RECORDS_H */
