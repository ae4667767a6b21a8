/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rest of the kernel, which the services above the drivers see: at the end of
 * kernel.h. What is no macro is in engine/kernel.c.
 */
#ifndef SHIM_SERVICES_H
#define SHIM_SERVICES_H

#include <limits.h>
#include <linux/mm_types.h>

/* The compiler's, and one CPU's: nothing runs at the same time here */
#define __no_kcsan
#define __uninitialized
#define __ro_after_init
#define __must_hold(lock)
#define __acquire(lock)		((void)0)
#define __release(lock)		((void)0)
#define noinline_for_stack	noinline
#define OPTIMIZER_HIDE_VAR(var)	__asm__ ("" : "=r" (var) : "0" (var))
#define shim_barrier()							\
do {									\
	barrier();							\
	shim_point();							\
	barrier();							\
} while (0)
#define data_race(expr)							\
({									\
	shim_barrier();							\
	(expr);								\
})
#define smp_mb()		shim_barrier()
#define smp_rmb()		shim_barrier()
#define smp_wmb()		shim_barrier()
#define smp_load_acquire(p)						\
({									\
	__typeof__(*(p)) __loaded = READ_ONCE(*(p));			\
									\
	shim_barrier();							\
	__loaded;							\
})
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define xchg(p, new)							\
({									\
	__typeof__(*(p)) __was = *(p);					\
									\
	*(p) = (new);							\
	__was;								\
})
#define cmpxchg(p, old, new)						\
({									\
	__typeof__(*(p)) __was;						\
									\
	shim_point();							\
	__was = *(p);							\
									\
	if (__was == (old))						\
		*(p) = (new);						\
	__was;								\
})
#define swap(a, b)							\
do {									\
	__typeof__(a) __swapped = (a);					\
									\
	(a) = (b);							\
	(b) = __swapped;						\
} while (0)

#define S32_MAX			((s32)(~0u >> 1))
#define S32_MIN			(-S32_MAX - 1)
#define U8_MAX			((u8)~0)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_CLOSEST(n, d)	(((n) + (d) / 2) / (d))
#define div_u64(a, b)		((a) / (b))
#define div64_u64(a, b)		((a) / (b))
#define div64_u64_rem(a, b, rest)	(*(rest) = (a) % (b), (a) / (b))

#define rcu_assign_pointer(p, v)	WRITE_ONCE(p, v)
#define rcu_access_pointer(p)		READ_ONCE(p)
#define rcu_dereference(p)		READ_ONCE(p)
#define rcu_dereference_sched(p)	READ_ONCE(p)
#define rcu_dereference_protected(p, c)	((void)(c), (p))
#define rcu_read_lock()			((void)0)
#define rcu_read_unlock()		((void)0)
#define synchronize_rcu()		might_sleep()
#define lockdep_is_held(lock)		((lock)->held)
#define lockdep_posixtimer_enter()	((void)0)
#define lockdep_posixtimer_exit()	((void)0)

#define raw_spin_lock(lock)		spin_lock(lock)
#define raw_spin_unlock(lock)		spin_unlock(lock)
#define raw_spin_lock_init(lock)	((void)((lock)->held = false))
#define mutex_init(lock)		((void)((lock)->held = false))
#define __MUTEX_INITIALIZER(name)	{ .held = false }
#define __DELAYED_WORK_INITIALIZER(name, f, flags)	{ .work = { .fn = (f) } }
#define cond_resched()							\
do {									\
	might_sleep();							\
	shim_point();							\
} while (0)

#define atomic_or(bits, v)		((void)((v)->counter |= (bits)))
#define atomic_andnot(bits, v)		((void)((v)->counter &= ~(bits)))
typedef struct {
	s64 counter;
} atomic64_t;
#define ATOMIC64_INIT(i)		{ i }
#define atomic64_inc_return(v)		(++(v)->counter)
typedef struct { long counter; } atomic_long_t;
#define atomic_long_add_return(i, v)	((v)->counter += (long)(i))

/* Lists */
#define hlist_entry(ptr, type, member)	container_of(ptr, type, member)
#define hlist_for_each_entry(pos, head, member)				\
	for ((pos) = (head)->first ?					\
		     hlist_entry((head)->first, __typeof__(*(pos)), member) : NULL;	\
	     (pos);							\
	     (pos) = (pos)->member.next ?				\
		     hlist_entry((pos)->member.next, __typeof__(*(pos)), member) : NULL)

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
	node->pprev = &head->first;
}

static inline void hlist_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

/* Trees, of which nobody sees whether they are balanced */
struct rb_node {
	struct rb_node *rb_left, *rb_right, *parent;
};

struct rb_root {
	struct rb_node *rb_node;
};

#define RB_ROOT			((struct rb_root) { NULL })
#define rb_entry(ptr, type, member)	container_of(ptr, type, member)
void rb_add(struct rb_node *node, struct rb_root *root,
	    bool (*less)(struct rb_node *a, const struct rb_node *b));
void rb_erase(struct rb_node *node, struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *node);
struct rb_node *rb_first_postorder(const struct rb_root *root);
struct rb_node *rb_next_postorder(const struct rb_node *node);
#define shim_rb_entry(node, type, member)				\
({									\
	struct rb_node *__node = (node);				\
									\
	__node ? rb_entry(__node, type, member) : NULL;			\
})
#define rb_entry_safe(node, type, member)	shim_rb_entry(node, type, member)
#define rbtree_postorder_for_each_entry_safe(pos, n, root, member)	\
	for (pos = shim_rb_entry(rb_first_postorder(root), __typeof__(*pos), member);	\
	     pos && (n = shim_rb_entry(rb_next_postorder(&pos->member),	\
				       __typeof__(*pos), member), 1);	\
	     pos = n)

/* CPUs: calls of others come at once. */
typedef struct cpumask *cpumask_var_t;
#define zalloc_cpumask_var(mask, gfp)	(*(mask) = kzalloc(sizeof(struct cpumask), gfp), *(mask) != NULL)
#define alloc_cpumask_var(mask, gfp)	zalloc_cpumask_var(mask, gfp)
#define free_cpumask_var(mask)		kfree(mask)
#define cpumask_copy(to, from)		((void)((to)->bits = (from)->bits))
#define cpumask_equal(a, b)		((a)->bits == (b)->bits)
#define cpu_possible_mask		(&(const struct cpumask) { GENMASK(SHIM_CPUS - 1, 0) })
/* Not to none that is online */
#define set_cpus_allowed_ptr(task, mask)					\
	((mask)->bits & shim_online ? (void)((task)->cpus_mask.bits = (mask)->bits), 0 : -EINVAL)
#define cpumask_set_cpu(cpu, mask)	((void)((mask)->bits |= BIT(cpu)))
#define cpumask_clear_cpu(cpu, mask)	((void)((mask)->bits &= ~BIT(cpu)))
#define cpumask_clear(mask)		((void)((mask)->bits = 0))
#define cpumask_subset(a, b)		(!((a)->bits & ~(b)->bits))
#define for_each_cpu(cpu, mask)						\
	for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++)			\
		if ((mask)->bits & BIT(cpu))
#define nr_cpu_ids			shim_possible
#define num_online_cpus()		hweight32(shim_online)
#define task_cpu(task)			((task)->cpu)
#define HK_TYPE_DOMAIN			0
#define HK_TYPE_TICK			1
#define housekeeping_test_cpu(cpu, type)	true
void smp_call_function_single(unsigned int cpu, void (*fn)(void *arg), void *arg, int wait);
void on_each_cpu_mask(const struct cpumask *mask, void (*fn)(void *arg), void *arg, int wait);

/* Threads */
#define PF_IO_WORKER		0x10
#define PF_USER_WORKER		0x4000
#define TIF_NOTIFY_RESUME	1
#define THIS_MODULE		NULL
#define __module_get(module)	((void)shim_module_refs++)
#define module_put(module)	((void)shim_module_refs--)
extern int shim_module_refs;
extern int shim_notifiers;	/* how often they were turned on */
#define current_real_cred()	(current->real_cred)
/* The table of states, which is for kernels without preempt notifiers, is not used here. */
#define hash_32(value, bits)	((u32)(value) >> 4 & (BIT(bits) - 1))
#define hash_ptr(pointer, bits)	hash_32((unsigned long)(pointer), bits)
#define hlist_for_each_entry_rcu_notrace(pos, head, member)	hlist_for_each_entry(pos, head, member)
#define hlist_add_head_rcu(node, head)	hlist_add_head(node, head)
#define hlist_del_rcu(node)		hlist_del(node)
#define kvcalloc(nr, size, gfp)		kzalloc((nr) * (size), gfp)
#define kvfree(ptr)			kfree(ptr)
#define kvzalloc(size, gfp)		kzalloc(size, gfp)
#define rcu_barrier()			might_sleep()
#define call_rcu(head, fn)		fn(head)
#define smp_mb__after_spinlock()	barrier()
#define DECLARE_STATIC_KEY_FALSE(key)	extern bool key
#define DEFINE_STATIC_KEY_FALSE(key)	bool key
#define static_branch_unlikely(key)	(*(key))
#define static_branch_likely(key)	(*(key))
#define static_branch_enable(key)	((void)(*(key) = true))

#define preempt_notifier_inc()	((void)shim_notifiers++)
#define preempt_notifier_dec()	((void)shim_notifiers--)
#define preempt_notifier_register(notifier)				\
do {									\
	shim_assert(shim_notifiers > 0);				\
	hlist_add_head(&(notifier)->link, &current->preempt_notifiers);	\
} while (0)
#define preempt_notifier_unregister(notifier)	hlist_del(&(notifier)->link)

struct pid {
	int refs;
	int nr;
};

#define task_pid(task)		((task)->pid)
#define task_tgid(task)		((task)->tgid)
#define pid_vnr(p)		((p)->nr)
struct pid *get_pid(struct pid *pid);
#define PIDTYPE_PID			0
#define get_task_pid(task, type)	get_pid((task)->pid)
void put_pid(struct pid *pid);
struct pid *find_vpid(int nr);

/* The names by which tracee.c calls pid_task(), get_task_struct(), put_task_struct() and fput() */
struct task_struct *shim_pid_task(struct pid *pid, int type);
void shim_get_task(struct task_struct *task);
void shim_put_task(struct task_struct *task);
#define TASK_RUNNING			0
#define TASK_INTERRUPTIBLE		1
#define __TASK_TRACED			8
#define TASK_WAKING			0x200
#define task_is_traced(task)		(!!(READ_ONCE((task)->__state) & __TASK_TRACED))

#define TWA_RESUME		0
#define init_task_work(work, f)	((void)((work)->func = (f)))
/* ESRCH: its last work has been done, as it ended. */
extern bool shim_no_work;
int task_work_add(struct task_struct *task, struct callback_head *work, int how);

extern bool shim_killed;	/* the current thread is */
#define fatal_signal_pending(task)	(shim_killed || (task)->killed)
#define usleep_range(least, most)					\
do {									\
	shim_now += (least) * 1000ull;					\
	msleep(0);							\
} while (0)
#define valid_signal(signo)		((signo) <= 64)
#define sig_kernel_only(signo)		((signo) == 9 || (signo) == 19)
#define from_kuid_munged(ns, uid)	((uid).val)
#ifndef SIGIO
#define SIGIO				29
#define SIGILL				4
#endif
#define SEND_SIG_PRIV			((struct kernel_siginfo *)1)
/* Where signal.h is included these are its macros. */
#ifndef si_pid
struct kernel_siginfo {
	int si_signo, si_errno, si_code;
	u32 si_pid;
	unsigned int si_uid;
};

#define clear_siginfo(info)		((void)memset(info, 0, sizeof(*(info))))
extern unsigned int shim_ills;	/* how often SIGILL was sent */
int send_sig_info(int signo, struct kernel_siginfo *info, struct task_struct *task);
#endif

static inline void strscpy(char *to, const char *from, size_t size)
{
	while (--size && *from)
		*to++ = *from++;
	*to = 0;
}

/* Memory */
#define PAGE_SHIFT		12
#define PAGE_SIZE		4096ul
#define SLAB_ACCOUNT		0
#define kmalloc(size, gfp)	kzalloc(size, gfp)
#define kcalloc(nr, size, gfp)	kzalloc((nr) * (size), gfp)
unsigned long get_zeroed_page(gfp_t gfp);
void free_page(unsigned long page);
struct kmem_cache;
struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align,
				     unsigned long flags, void (*ctor)(void *object));
void *kmem_cache_zalloc(struct kmem_cache *cache, gfp_t gfp);
void kmem_cache_free(struct kmem_cache *cache, void *object);
void kmem_cache_destroy(struct kmem_cache *cache);

/* Of users: what is here is theirs as well. What fails is shim_fail_nth's. */
#define user_write_access_begin(to, size)	true
#define user_write_access_end()			((void)0)
#define user_read_access_begin(from, size)	true
#define user_read_access_end()			((void)0)
#define unsafe_put_user(value, to, label)				\
do {									\
	if (shim_fails())						\
		goto label;						\
	*(to) = (value);						\
} while (0)
#define unsafe_get_user(value, from, label)				\
do {									\
	if (shim_fails())						\
		goto label;						\
	(value) = *(from);						\
} while (0)
#define get_user(value, from)		(shim_fails() ? -EFAULT : ((value) = *(from), 0))
#define put_user(value, to)		(shim_fails() ? -EFAULT : (*(to) = (value), 0))
#define clear_user(to, size)		(shim_fails() ? (size) : (memset(to, 0, size), 0))
#define u64_to_user_ptr(address)	((void *)(uintptr_t)(address))

static inline unsigned long copy_to_user(void *to, const void *from, size_t size)
{
	if (shim_fails())
		return size;
	memcpy(to, from, size);
	return 0;
}

static inline unsigned long copy_from_user(void *to, const void *from, size_t size)
{
	if (shim_fails())
		return size;
	memcpy(to, from, size);
	return 0;
}

static inline int copy_struct_from_user(void *to, size_t size, const void *from, size_t usize)
{
	if (shim_fails())
		return -EFAULT;
	memset(to, 0, size);
	memcpy(to, from, min(size, usize));
	return 0;
}

/* Files and maps */
struct seq_file;
struct vm_area_struct;
struct poll_table_struct;

#define DEFAULT_POLLMASK	0

struct super_block {
	dev_t s_dev;
};

struct inode {
	unsigned long i_ino;
	u32 i_generation;
	const struct super_block *i_sb;
	void *i_private;
};

/* @f_path: the number of its path, if it is mapped */
struct file {
	void *private_data;
	const struct cred *f_cred;
	int f_path;
	const struct inode *f_inode;
};

#define file_inode(file)	((file)->f_inode)
/* No pidfd is open. */
#define fget(fd)		((void)(fd), (struct file *)NULL)
void shim_fput(struct file *file);

struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	ssize_t (*read)(struct file *file, char *buffer, size_t count, loff_t *pos);
	long (*unlocked_ioctl)(struct file *file, unsigned int cmd, unsigned long arg);
	long (*compat_ioctl)(struct file *file, unsigned int cmd, unsigned long arg);
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	__poll_t (*poll)(struct file *file, struct poll_table_struct *table);
	int (*fasync)(int fd, struct file *file, int on);
	int (*release)(struct inode *inode, struct file *file);
	void (*show_fdinfo)(struct seq_file *m, struct file *file);
};

#define compat_ptr_ioctl		NULL
#define stream_open(inode, file)	0
#define seq_printf(m, ...)		((void)(m))
#define seq_puts(m, text)		((void)(m))

struct page;

#define virt_to_page(address)	((struct page *)(address))
#define get_page(page)		((void)(page))

typedef unsigned int vm_fault_t;

struct vm_fault {
	struct vm_area_struct *vma;
	struct page *page;
};

struct vm_operations_struct {
	void (*open)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
	const char *(*name)(struct vm_area_struct *vma);
	vm_fault_t (*fault)(struct vm_fault *vmf);
};

#define VM_WRITE	0x2ul
#define VM_MAYWRITE	0x20ul
#define VM_MAYSHARE	0x80ul
#define VM_DONTEXPAND	0x40000ul
#define vm_flags_mod(vma, set, clear)					\
	((void)((vma)->vm_flags = ((vma)->vm_flags | (set)) & ~(clear)))

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct mm_struct *vm_mm;
	void *vm_private_data;
	const struct file *vm_file;
	const struct vm_operations_struct *vm_ops;
};

/* Tracepoints, and what else tells of threads and CPUs */
struct linux_binprm {
	bool secureexec;
};

void check_trace_callback_type_sched_switch(void (*probe)(void *data, bool preempt,
							  struct task_struct *prev,
							  struct task_struct *next,
							  unsigned int prev_state));
void check_trace_callback_type_sched_process_exit(void (*probe)(void *data,
								struct task_struct *task,
								bool group_dead));
void check_trace_callback_type_sched_process_fork(void (*probe)(void *data,
								struct task_struct *parent,
								struct task_struct *child));
void check_trace_callback_type_sched_process_exec(void (*probe)(void *data,
								struct task_struct *task,
								pid_t old_pid,
								struct linux_binprm *bprm));

#define NOTIFY_DONE		0
#define NOTIFY_OK		1
#define CPU_PM_ENTER		1
#define CPU_PM_ENTER_FAILED	2
#define CPU_PM_EXIT		3

struct notifier_block {
	int (*notifier_call)(struct notifier_block *notifier, unsigned long action, void *data);
};

/* Of modules that are loaded */
enum module_state { MODULE_STATE_LIVE, MODULE_STATE_COMING };

struct module {
	char name[56];
};

int register_module_notifier(struct notifier_block *block);
int unregister_module_notifier(struct notifier_block *block);

extern struct notifier_block *shim_pm_notifier;
#define cpu_pm_register_notifier(notifier)	((void)(shim_pm_notifier = (notifier)))
#define cpu_pm_unregister_notifier(notifier)	((void)(shim_pm_notifier = NULL))

/* Where no notifier is called */
struct syscore_ops {
	int (*suspend)(void);
	void (*resume)(void);
};

extern struct syscore_ops *shim_syscore;
#define register_syscore_ops(ops)	((void)(shim_syscore = (ops)))
#define unregister_syscore_ops(ops)	((void)((ops) == shim_syscore && (shim_syscore = NULL)))

#endif /* SHIM_SERVICES_H */
