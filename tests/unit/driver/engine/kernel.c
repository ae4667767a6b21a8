// SPDX-License-Identifier: GPL-2.0
/* What shim/services.h declares. */

#include <linux/irq_work.h>

#include "engine/shim/records.h"
#include "engine/world.h"
#include "shim/kernel.h"
#include "thread/notify.h"
#include "thread/tracee.h"
#include "tree/tree.h"

int shim_module_refs;
int shim_notifiers;
struct notifier_block *shim_pm_notifier;
struct syscore_ops *shim_syscore;

/* Calls of other CPUs */

void smp_call_function_single(unsigned int cpu, void (*fn)(void *arg), void *arg, int wait)
{
	unsigned int before = shim_cpu, uid = shim_uid;
	unsigned long flags;

	might_sleep();
	shim_assert(wait && shim_online & BIT(cpu));
	shim_cpu = cpu;
	local_irq_save(flags);
	fn(arg);
	local_irq_restore(flags);
	engine_look();
	shim_cpu = before;
	shim_uid = uid;
}

void on_each_cpu_mask(const struct cpumask *mask, void (*fn)(void *arg), void *arg, int wait)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, mask, cpu_online_mask)
		smp_call_function_single(cpu, fn, arg, wait);
}

bool shim_killed, shim_no_work;
unsigned int shim_ills;

void shim_fput(struct file *file)
{
	shim_assert(!file);
}

/* Rings, samples and the timer */

struct user_struct shim_user;
const struct cred shim_cred = { .user = &shim_user };

struct page *alloc_page(gfp_t gfp)
{
	return kzalloc(1, gfp);
}

void __free_page(struct page *page)
{
	kfree(page);
}

void *vmap(struct page **pages, unsigned int nr, unsigned long flags, int prot)
{
	shim_assert(pages && !flags && !prot);
	return kzalloc(nr * PAGE_SIZE, GFP_KERNEL);
}

void vunmap(const void *address)
{
	reader_ends(address);
	kfree(address);
}

bool cancel_work_sync(struct work_struct *work)
{
	might_sleep();
	shim_assert(!work->pending);
	return false;
}

bool shim_wake(struct irq_work *work)
{
	bool pending = work->pending;

	shim_assert(shim_irqs_off && !work->hard);
	work->pending = true;
	return !pending;
}

void shim_wake_sync(struct irq_work *work)
{
	might_sleep();
	work->pending = false;
}

u64 ktime_get_mono_fast_ns(void)
{
	return shim_now += 8;
}

static struct hrtimer *hrtimers[SHIM_CPUS];

void hrtimer_start(struct hrtimer *timer, u64 ns, int mode)
{
	u64 hz = perfctr_cpu_clock_hz();

	shim_assert(shim_irqs_off && timer->fn && !mode);
	/* At most a second: see perfctr_timer_ticks(). */
	timer->expires = perfctr_cpu_clock() + DIV_ROUND_UP(ns * hz, NSEC_PER_SEC);
	timer->pending = true;
	hrtimers[shim_cpu] = timer;
}

void hrtimer_cancel(struct hrtimer *timer)
{
	timer->pending = false;
}

void shim_hrtimer(bool early)
{
	struct hrtimer *timer = hrtimers[shim_cpu];

	if (!timer || !timer->pending ||
	    (!early && (s64)(perfctr_cpu_clock() - timer->expires) < 0))
		return;
	timer->pending = false;
	local_irq_disable();
	timer->fn(timer);
	local_irq_enable();
}

/* Callers are not modelled. */
unsigned long perfctr_cpu_first_frame(const struct pt_regs *regs)
{
	shim_assert(!regs);
	return 0;
}

bool perfctr_cpu_next_frame(const struct pt_regs *regs, unsigned long *frame, u64 *caller)
{
	shim_assert(!regs);
	*frame = 0;
	*caller = 0;
	return false;
}

unsigned int perfctr_cpu_kernel_chain(struct pt_regs *regs, unsigned long *caller,
				      unsigned int depth)
{
	shim_assert(!regs && depth);
	*caller = 0;
	return 1;
}

#ifndef CONFIG_PPC32
struct pt_regs *perfctr_cpu_interrupted_regs(void)
{
	return NULL;
}
#endif

struct pid *get_pid(struct pid *pid)
{
	if (pid)
		pid->refs++;
	return pid;
}

void put_pid(struct pid *pid)
{
	if (pid && !--pid->refs)
		kfree(pid);
}

int task_work_add(struct task_struct *task, struct callback_head *work, int how)
{
	(void)how;
	if (shim_no_work)
		return -ESRCH;
	work->next = task->task_works;
	task->task_works = work;
	return 0;
}

int send_sig_info(int signo, struct kernel_siginfo *info, struct task_struct *task)
{
	if (info == SEND_SIG_PRIV) {
		shim_assert(signo == SIGILL && task == current);
		shim_ills++;
		return 0;
	}
	shim_assert(task == current && info->si_signo == signo && info->si_uid == shim_uid);
	engine_signal(info->si_pid, info->si_errno == EAGAIN);
	return 0;
}

/* Memory */

struct kmem_cache {
	size_t size;
};

unsigned long get_zeroed_page(gfp_t gfp)
{
	return (unsigned long)kzalloc(PAGE_SIZE, gfp);
}

void free_page(unsigned long page)
{
	kfree((void *)page);
}

struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align,
				     unsigned long flags, void (*ctor)(void *object))
{
	struct kmem_cache *cache = kzalloc(sizeof(*cache), GFP_KERNEL);

	(void)name;
	shim_assert(!align && !flags && !ctor);
	cache->size = size;
	return cache;
}

void *kmem_cache_zalloc(struct kmem_cache *cache, gfp_t gfp)
{
	return kzalloc(cache->size, gfp);
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	(void)cache;
	kfree(object);
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
	kfree(cache);
}

/* Trees */

void rb_add(struct rb_node *node, struct rb_root *root,
	    bool (*less)(struct rb_node *a, const struct rb_node *b))
{
	struct rb_node **link = &root->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = less(node, parent) ? &parent->rb_left : &parent->rb_right;
	}
	*node = (struct rb_node) { .parent = parent };
	*link = node;
}

struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *next = node->rb_right;

	if (!next) {
		while (node->parent && node == node->parent->rb_right)
			node = node->parent;
		return node->parent;
	}
	while (next->rb_left)
		next = next->rb_left;
	return next;
}

static void replace(struct rb_node *node, struct rb_node *by, struct rb_root *root)
{
	if (!node->parent)
		root->rb_node = by;
	else if (node->parent->rb_left == node)
		node->parent->rb_left = by;
	else
		node->parent->rb_right = by;
	if (by)
		by->parent = node->parent;
}

void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *next = node->rb_right;

	if (!node->rb_left || !next) {
		replace(node, node->rb_left ? node->rb_left : next, root);
		return;
	}
	while (next->rb_left)
		next = next->rb_left;
	replace(next, next->rb_right, root);
	replace(node, next, root);
	next->rb_left = node->rb_left;
	next->rb_right = node->rb_right;
	next->rb_left->parent = next;
	if (next->rb_right)
		next->rb_right->parent = next;
}

static struct rb_node *deepest(struct rb_node *node)
{
	while (node->rb_left || node->rb_right)
		node = node->rb_left ? node->rb_left : node->rb_right;
	return node;
}

struct rb_node *rb_first_postorder(const struct rb_root *root)
{
	return root->rb_node ? deepest(root->rb_node) : NULL;
}

struct rb_node *rb_next_postorder(const struct rb_node *node)
{
	struct rb_node *parent = node->parent;

	if (parent && parent->rb_left == node && parent->rb_right)
		return deepest(parent->rb_right);
	return parent;
}
