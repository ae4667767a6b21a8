// SPDX-License-Identifier: GPL-2.0
/*
 * x86: which processes may execute RDPMC in user mode.
 *
 * CR4.PCE is the kernel's: at each change of mm, also those that it makes to patch
 * its text, it sets the bit as mm->context.perf_rdpmc_allowed says, and zeroes what
 * perf has left in the counters if it does; perf's attribute "rdpmc" makes it do so
 * on all CPUs. A bit that was set by hand does not last. So we do as perf does for
 * events that are mapped: raise that count, and have cr4_update_pce() look at it on
 * each CPU. That function is not exported, but a kprobe tells where it is. And since
 * others have it called too, a probe stays there: what reads registers stands still
 * meanwhile, and looks anew whether it may.
 *
 * Where there are no kprobes, or no such function, nobody is permitted, and reads go
 * through the kernel.
 */

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "lowlevel.h"

/**
 * struct permit - of an mm with maps of pages
 * @list: in permits; permit_mutex
 * @mm: only to be compared, and touched while there is a map in it, which keeps it
 * @maps: in it; permit_mutex
 * @given: it has one count of perf_rdpmc_allowed, unless all is withheld; permit_mutex
 */
struct permit {
	struct list_head list;
	struct mm_struct *mm;
	unsigned int maps;
	bool given;
};

/* Inside of mmap_lock, so no text may be patched under it, nor the hotplug lock be taken. */
static DEFINE_MUTEX(permit_mutex);
static LIST_HEAD(permits);	/* permit_mutex */
static bool withheld;		/* permit_mutex */

atomic_t perfctr_x86_giving = ATOMIC_INIT(0);

/* Constant after perfctr_cpu_permit_init() */
static void (*update_pce)(void *unused);
static void (*permission_changes)(bool ends);

static struct permit *find(const struct mm_struct *mm)
{
	struct permit *permit;

	lockdep_assert_held(&permit_mutex);
	list_for_each_entry(permit, &permits, list)
		if (permit->mm == mm)
			return permit;
	return NULL;
}

int perfctr_cpu_mm_get(struct mm_struct *mm)
{
	struct permit *permit;
	int err = 0;

	if (!update_pce)
		return 0;
	mutex_lock(&permit_mutex);
	permit = find(mm);
	if (permit) {
		permit->maps++;
		goto out;
	}
	permit = kzalloc(sizeof(*permit), GFP_KERNEL_ACCOUNT);
	if (permit) {
		permit->mm = mm;
		permit->maps = 1;
		list_add(&permit->list, &permits);
	} else {
		err = -ENOMEM;
	}
out:
	mutex_unlock(&permit_mutex);
	return err;
}

bool perfctr_cpu_mm_put(struct mm_struct *mm)
{
	struct permit *permit;
	bool given = false;

	if (!update_pce)
		return false;
	mutex_lock(&permit_mutex);
	permit = find(mm);
	if (permit && !--permit->maps) {
		given = permit->given;
		if (given && !withheld)
			atomic_dec(&mm->context.perf_rdpmc_allowed);
		list_del(&permit->list);
		kfree(permit);
	}
	mutex_unlock(&permit_mutex);
	return given;
}

bool perfctr_cpu_mm_waits(struct mm_struct *mm)
{
	struct permit *permit;
	bool waits;

	if (!update_pce)
		return false;
	mutex_lock(&permit_mutex);
	permit = find(mm);
	waits = permit && !permit->given;
	mutex_unlock(&permit_mutex);
	return waits;
}

bool perfctr_cpu_mm_permit(struct mm_struct *mm)
{
	struct permit *permit;
	bool give;

	mutex_lock(&permit_mutex);
	permit = find(mm);
	give = permit && !permit->given;
	if (give) {
		permit->given = true;
		if (!withheld)
			atomic_inc(&mm->context.perf_rdpmc_allowed);
	}
	mutex_unlock(&permit_mutex);
	return give;
}

bool perfctr_cpu_mm_any_given(void)
{
	struct permit *permit;
	bool any = false;

	mutex_lock(&permit_mutex);
	list_for_each_entry(permit, &permits, list)
		any |= permit->given;
	mutex_unlock(&permit_mutex);
	return any;
}

bool perfctr_cpu_withhold(bool withhold)
{
	struct permit *permit;
	bool changed;

	mutex_lock(&permit_mutex);
	changed = withheld != withhold;
	withheld = withhold;
	if (changed)
		list_for_each_entry(permit, &permits, list)
			if (permit->given)
				atomic_add(withhold ? -1 : 1,
					   &permit->mm->context.perf_rdpmc_allowed);
	mutex_unlock(&permit_mutex);
	return changed;
}

/*
 * What the kernel copied at forks before we were loaded: a child of a process that had
 * perf's events mapped is permitted for good. Perf has no counters now, so no such map
 * is left; but ours are.
 */
void perfctr_x86_forget_permits(void)
{
	struct task_struct *process, *thread;

	mutex_lock(&permit_mutex);
	rcu_read_lock();
	for_each_process_thread(process, thread) {
		task_lock(thread);
		if (thread->mm && !find(thread->mm) &&
		    atomic_read(&thread->mm->context.perf_rdpmc_allowed))
			atomic_set(&thread->mm->context.perf_rdpmc_allowed, 0);
		task_unlock(thread);
	}
	rcu_read_unlock();
	mutex_unlock(&permit_mutex);
}

/* The kernel copies the count with the rest of the context, but perf's maps are not copied. */
void perfctr_cpu_mm_forked(struct mm_struct *mm)
{
	atomic_set(&mm->context.perf_rdpmc_allowed, 0);
}

bool perfctr_cpu_can_permit(void)
{
	return update_pce;
}

notrace void perfctr_cpu_update_permission(void)
{
	lockdep_assert_irqs_disabled();
	if (update_pce)
		update_pce(NULL);
}

#ifdef CONFIG_KRETPROBES

static int update_begins(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	permission_changes(false);
	return 0;
}

static int update_ends(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	permission_changes(true);
	return 0;
}

static struct kretprobe update_probe = {
	.kp.symbol_name = "cr4_update_pce",
	.entry_handler = update_begins,
	.handler = update_ends,
};

/* Kprobes are behind ENDBR, which an indirect call has to go to. */
static void *function_start(void *address)
{
	static const u8 endbr[] = {
#ifdef CONFIG_X86_64
		0xf3, 0x0f, 0x1e, 0xfa
#else
		0xf3, 0x0f, 0x1e, 0xfb
#endif
	};

	if (!memcmp(address - sizeof(endbr), endbr, sizeof(endbr)))
		return address - sizeof(endbr);
	/* It may have another in its place, which wants a caller that knows it. */
	return IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? NULL : address;
}

void perfctr_cpu_permit_init(void (*changes)(bool ends))
{
	permission_changes = changes;
	if (register_kretprobe(&update_probe))
		return;
	update_pce = function_start(update_probe.kp.addr);
	if (!update_pce)
		unregister_kretprobe(&update_probe);
}

/* No map is left. */
void perfctr_cpu_permit_exit(void)
{
	if (update_pce)
		unregister_kretprobe(&update_probe);
	update_pce = NULL;
}

#else

void perfctr_cpu_permit_init(void (*changes)(bool ends))
{
}

void perfctr_cpu_permit_exit(void)
{
}

#endif
