// SPDX-License-Identifier: GPL-2.0
/*
 * x86: permits processes to execute RDPMC in user mode.
 *
 * CR4.PCE permits RDPMC, and the kernel owns this bit. At each change of mm, even one to patch its
 * own text, the kernel sets or clears the bit, as the count mm->context.perf_rdpmc_allowed and
 * perf's attribute "rdpmc" say. When the kernel sets the bit, it also zeroes what perf has left in
 * the counters. A write to the attribute makes the kernel set or clear the bit on all CPUs. A bit
 * that we set ourselves would not last. So we do as perf does for mapped events: we raise the count
 * perf_rdpmc_allowed, and call cr4_update_pce() on each CPU to apply it. That function is not
 * exported, but a kprobe tells us its address. The kernel and perf call cr4_update_pce() too, so we
 * keep a probe there. The probe suspends the states of this CPU during the call, and checks the
 * permission afterwards.
 *
 * When the first permitted mm comes to a CPU, the kernel would zero perf's counters. That would be
 * in the middle of a switch, when a thread of that mm may already count by our counters. So we make
 * the kernel zero perf's counters when we take them. perf leaves nothing more, because perf has no
 * counters while we have them.
 *
 * RDPMC reads whatever the registers hold. So a process may have the permission only while we have
 * the counters. Otherwise perf may count other users' programs by the registers. We give the
 * permission after we have taken the counters on every CPU. On each CPU we end the permission
 * before we give the counters back.
 *
 * If there are no kprobes, or no cr4_update_pce(), or if RDPMC is missing or has an erratum, nobody
 * is permitted, and reads go through the kernel.
 */

#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/mmu_context.h>
#include <asm/perf_event.h>

#include "arch/cpu.h"
#include "arch/user.h"
#include "arch/x86/registers.h"

/**
 * struct permit - the permission of an mm that has mapped pages; all protected by permit_mutex
 * @node: entry in permits, by @mm
 * @mm: the mm. A mapped page keeps it alive
 * @maps: number of pages that the mm has mapped
 * @given: we have raised perf_rdpmc_allowed of @mm by one, except while permissions are withheld
 */
struct permit {
	struct hlist_node node;
	struct mm_struct *mm;
	unsigned int maps;
	bool given;
};

/*
 * Callers may hold mmap_lock. So nobody may patch text or take the hotplug lock while holding this
 * mutex.
 */
static DEFINE_MUTEX(permit_mutex);
static DEFINE_HASHTABLE(permits, 10);	/* by mm; permit_mutex */
static unsigned int nr_given;	/* number of permits with @given; permit_mutex */

/*
 * Reasons to withhold all permissions: WITHHELD_UNCLAIMED and PERFCTR_WITHHELD_*. Protected by
 * permit_mutex.
 */
#define WITHHELD_UNCLAIMED	BIT(31)	/* we do not have the counters */
static unsigned int withheld = WITHHELD_UNCLAIMED;

atomic_t perfctr_x86_giving = ATOMIC_INIT(0);

static bool forbidden;	/* RDPMC is missing or has an erratum; constant after init */

/*
 * These are functions of the kernel. We call them directly, as the kernel does. The target of an
 * indirect call may have to begin with ENDBR, and one of these functions does not.
 */
DEFINE_STATIC_CALL_NULL(perfctr_x86_update_pce, cr4_update_pce);
DEFINE_STATIC_CALL_NULL(perfctr_x86_clear_dirty, perf_clear_dirty_counters);

/* These variables are constant after perfctr_cpu_permit_init(). */
static bool can_permit;
static void (*permission_changes)(bool ends);
static void (*clock_hides)(void);

static struct permit *permit_find(const struct mm_struct *mm)
{
	struct permit *permit;

	lockdep_assert_held(&permit_mutex);
	hash_for_each_possible(permits, permit, node, (unsigned long)mm)
		if (permit->mm == mm)
			return permit;
	return NULL;
}

int perfctr_cpu_mm_get(struct mm_struct *mm)
{
	struct permit *permit;
	int err = 0;

	if (!can_permit)
		return 0;
	mutex_lock(&permit_mutex);
	permit = permit_find(mm);
	if (permit) {
		permit->maps++;
		goto out;
	}
	permit = kzalloc(sizeof(*permit), GFP_KERNEL_ACCOUNT);
	if (permit) {
		permit->mm = mm;
		permit->maps = 1;
		hash_add(permits, &permit->node, (unsigned long)mm);
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

	if (!can_permit)
		return false;
	mutex_lock(&permit_mutex);
	permit = permit_find(mm);
	if (permit && !--permit->maps) {
		given = permit->given;
		nr_given -= given;
		if (given && !withheld)
			atomic_dec(&mm->context.perf_rdpmc_allowed);
		hash_del(&permit->node);
		kfree(permit);
	}
	mutex_unlock(&permit_mutex);
	return given;
}

bool perfctr_cpu_mm_waits(struct mm_struct *mm)
{
	struct permit *permit;
	bool waits;

	if (!can_permit)
		return false;
	mutex_lock(&permit_mutex);
	permit = permit_find(mm);
	waits = permit && !permit->given;
	mutex_unlock(&permit_mutex);
	return waits;
}

bool perfctr_cpu_mm_permit(struct mm_struct *mm)
{
	struct permit *permit;
	bool give;

	mutex_lock(&permit_mutex);
	permit = permit_find(mm);
	give = permit && !permit->given;
	if (give) {
		permit->given = true;
		nr_given++;
		if (!withheld)
			atomic_inc(&mm->context.perf_rdpmc_allowed);
	}
	mutex_unlock(&permit_mutex);
	return give;
}

bool perfctr_cpu_mm_any_given(void)
{
	bool any;

	mutex_lock(&permit_mutex);
	any = nr_given;
	mutex_unlock(&permit_mutex);
	return any;
}

/* Returns true if this call starts or ends the withholding. */
bool perfctr_cpu_withhold(unsigned int why, bool withhold)
{
	struct permit *permit;
	bool before, changed;
	int bucket;

	mutex_lock(&permit_mutex);
	before = withheld;
	withheld = withhold ? withheld | why : withheld & ~why;
	changed = before != !!withheld;
	if (changed)
		hash_for_each(permits, bucket, permit, node)
			if (permit->given)
				atomic_add(withheld ? -1 : 1,
					   &permit->mm->context.perf_rdpmc_allowed);
	mutex_unlock(&permit_mutex);
	return changed;
}

void perfctr_x86_permit_claimed(bool claimed)
{
	perfctr_cpu_withhold(WITHHELD_UNCLAIMED, !claimed);
}

bool perfctr_x86_any_permitted(void)
{
	bool any;

	mutex_lock(&permit_mutex);
	any = nr_given && !withheld;
	mutex_unlock(&permit_mutex);
	return any;
}

/*
 * Zeroes perf_rdpmc_allowed of all processes. At a fork the kernel copies this count but not perf's
 * maps. So if a process that had mapped perf's events forked before the module was loaded, its
 * child would be permitted for good. perf has no counters now, so none of perf's maps is left. We
 * have not given any permission yet.
 */
void perfctr_x86_forget_permits(void)
{
	struct task_struct *process, *thread;

	mutex_lock(&permit_mutex);
	WARN_ON(!withheld);
	rcu_read_lock();
	for_each_process_thread(process, thread) {
		task_lock(thread);
		if (thread->mm && atomic_read(&thread->mm->context.perf_rdpmc_allowed))
			atomic_set(&thread->mm->context.perf_rdpmc_allowed, 0);
		task_unlock(thread);
	}
	rcu_read_unlock();
	mutex_unlock(&permit_mutex);
}

/*
 * Zeroes the count perf_rdpmc_allowed of a child. At a fork the kernel copies this count, but not
 * perf's maps to which it belongs.
 */
void perfctr_cpu_mm_forked(struct mm_struct *mm)
{
	atomic_set(&mm->context.perf_rdpmc_allowed, 0);
}

void __init perfctr_x86_forbid_user_reads(void)
{
	forbidden = true;
}

bool perfctr_cpu_can_permit(void)
{
	return can_permit;
}

notrace void perfctr_cpu_update_permission(void)
{
	lockdep_assert_irqs_disabled();
	static_call_cond(perfctr_x86_update_pce)(NULL);
}

notrace void perfctr_x86_registers_change(bool ends)
{
	lockdep_assert_irqs_disabled();
	if (permission_changes)
		permission_changes(ends);
}

notrace void perfctr_x86_clear_perfs(void)
{
	lockdep_assert_irqs_disabled();
	static_call_cond(perfctr_x86_clear_dirty)();
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

static int clock_ends(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	clock_hides();
	return 0;
}

/*
 * These probes tell us of prctl(PR_SET_TSC) and of seccomp's strict mode. If a function cannot be
 * probed, a page may offer the clock until its thread is switched out, although RDTSC is forbidden.
 */
static struct kretprobe clock_probes[] = {
	{ .kp.symbol_name = "set_tsc_mode", .handler = clock_ends },
	{ .kp.symbol_name = "disable_TSC", .handler = clock_ends },
};

static bool clock_probed[ARRAY_SIZE(clock_probes)];

static void (*reader_comes)(void);	/* changes only while the probe is off */

static int clear_begins(struct kprobe *probe, struct pt_regs *regs)
{
	if (this_cpu_read(perfctr_x86_cpu.ours))
		reader_comes();
	return 0;
}

/*
 * The kernel calls this function each time before it sets CR4.PCE: as a permitted mm comes to a
 * CPU, and when the mm of a CPU has just been permitted.
 */
static struct kprobe clear_probe = {
	.symbol_name = "perf_clear_dirty_counters",
	.pre_handler = clear_begins,
	.flags = KPROBE_FLAG_DISABLED,
};

static bool can_watch;	/* clear_probe is registered */

/*
 * Returns the start of the probed function, or NULL. The kernel puts a kprobe behind ENDBR or a
 * similar instruction at the start.
 */
static void *function_start(const struct kprobe *probe)
{
	char text[KSYM_SYMBOL_LEN];
	const char *behind;
	unsigned long n;

	sprint_symbol(text, (unsigned long)probe->addr);
	behind = strchr(text, '+');
	if (!behind || sscanf(behind, "+%lx", &n) != 1)
		return NULL;
	return (void *)probe->addr - n;
}

static void *find_function(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	void *start;

	if (register_kprobe(&probe))
		return NULL;
	start = function_start(&probe);
	unregister_kprobe(&probe);
	return start;
}

int perfctr_cpu_watch_readers(void (*comes)(void))
{
	if (!can_watch)
		return comes ? -EOPNOTSUPP : 0;
	if (!comes)
		return disable_kprobe(&clear_probe);
	reader_comes = comes;
	return enable_kprobe(&clear_probe);
}

void perfctr_cpu_permit_init(void (*changes)(bool ends), void (*hides)(void))
{
	void *clear, *update;
	unsigned int i;

	permission_changes = changes;
	clock_hides = hides;
	for (i = 0; i < ARRAY_SIZE(clock_probes); i++)
		clock_probed[i] = !register_kretprobe(&clock_probes[i]);
	clear = find_function("perf_clear_dirty_counters");
	static_call_update(perfctr_x86_clear_dirty, clear);
	if (forbidden || !clear || register_kretprobe(&update_probe))
		return;
	update = function_start(&update_probe.kp);
	static_call_update(perfctr_x86_update_pce, update);
	can_permit = update;
	if (!can_permit)
		unregister_kretprobe(&update_probe);
	/* Without a local APIC an irq_work would wait for the next tick. */
	can_watch = can_permit && perfctr_pmu.beside && boot_cpu_has(X86_FEATURE_APIC) &&
		    !register_kprobe(&clear_probe);
}

/* Call this when no page is mapped any more. */
void perfctr_cpu_permit_exit(void)
{
	unsigned int i;

	if (can_watch)
		unregister_kprobe(&clear_probe);
	can_watch = false;
	if (can_permit)
		unregister_kretprobe(&update_probe);
	can_permit = false;
	static_call_update(perfctr_x86_update_pce, NULL);
	static_call_update(perfctr_x86_clear_dirty, NULL);
	for (i = 0; i < ARRAY_SIZE(clock_probes); i++)
		if (clock_probed[i])
			unregister_kretprobe(&clock_probes[i]);
}

#else

void perfctr_cpu_permit_init(void (*changes)(bool ends), void (*hides)(void))
{
	permission_changes = changes;
}

void perfctr_cpu_permit_exit(void)
{
}

int perfctr_cpu_watch_readers(void (*comes)(void))
{
	return comes ? -EOPNOTSUPP : 0;
}

#endif
