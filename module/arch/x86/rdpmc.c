// SPDX-License-Identifier: GPL-2.0
/*
 * x86: which processes may execute RDPMC in user mode.
 *
 * The kernel owns CR4.PCE. At each change of mm, including those that it makes to patch its text,
 * it sets the bit if mm->context.perf_rdpmc_allowed says so, and then also zeroes what perf has
 * left in the counters; perf's attribute "rdpmc" makes it do so on all CPUs. A bit that we set
 * ourselves would not last. So we do as perf does for mapped events: we raise that count, and have
 * cr4_update_pce() apply it on each CPU. That function is not exported, but a kprobe tells us its
 * address. Others have it called too, so a probe stays there: it suspends the states of this CPU
 * meanwhile, and then checks the permission again.
 *
 * The kernel would zero what perf has left when the first permitted mm comes: in the middle of a
 * switch, when a thread of that mm may already have been handed our counters. So we zero it when we
 * take the counters. perf leaves nothing more, since it has no counters while they are ours.
 *
 * RDPMC reads whatever the registers hold. So a process has the permission only while the counters
 * are ours: otherwise they are perf's, which counts what others do. We give it after the counters
 * were taken on every CPU, and on each CPU we end it before they are given back there.
 *
 * If there are no kprobes, or no such function, or the processor has an erratum, nobody is
 * permitted, and reads go through the kernel.
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
#include <asm/mmu_context.h>
#include <asm/perf_event.h>

#include "arch/cpu.h"
#include "arch/user.h"

/**
 * struct permit - the permission of an mm that has mapped pages
 * @node: in permits, by @mm; permit_mutex
 * @mm: mostly only compared; accessed while it has a page mapped, which keeps it alive
 * @maps: number of mapped pages; permit_mutex
 * @given: it has one count of perf_rdpmc_allowed, unless @withheld; permit_mutex
 */
struct permit {
	struct hlist_node node;
	struct mm_struct *mm;
	unsigned int maps;
	bool given;
};

/* Taken inside mmap_lock. So do not patch text or take the hotplug lock while you hold it. */
static DEFINE_MUTEX(permit_mutex);
static DEFINE_HASHTABLE(permits, 10);	/* permit_mutex */
static unsigned int nr_given;	/* permits that are given; permit_mutex */

/* Why no mm has the count that it was given: see also PERFCTR_WITHHELD_*; permit_mutex */
#define WITHHELD_UNCLAIMED	BIT(31)	/* the counters are not ours */
static unsigned int withheld = WITHHELD_UNCLAIMED;

atomic_t perfctr_x86_giving = ATOMIC_INIT(0);

static bool forbidden;	/* RDPMC has an erratum here; constant after init */

/*
 * Functions of the kernel. We call them directly, as the kernel does: the target of an indirect
 * call needs an ENDBR, or whatever else the kernel has there, and one of them has none.
 */
DEFINE_STATIC_CALL_NULL(perfctr_x86_update_pce, cr4_update_pce);
DEFINE_STATIC_CALL_NULL(perfctr_x86_clear_dirty, perf_clear_dirty_counters);

/* Constant after perfctr_cpu_permit_init() */
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

/* Returns true if this starts or ends the withholding. */
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
 * Clears counts that the kernel copied at forks before we were loaded: the child of a process that
 * had mapped perf's events would be permitted for good. perf has no counters now, so no such map is
 * left, and nobody has our permission before the counters are ours.
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

/* The kernel copies the count with the rest of the context, but perf's maps are not copied. */
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
 * Probes of prctl(PR_SET_TSC) and of seccomp's strict mode. If one cannot be probed, the page
 * offers the clock until its thread is switched out.
 */
static struct kretprobe clock_probes[] = {
	{ .kp.symbol_name = "set_tsc_mode", .handler = clock_ends },
	{ .kp.symbol_name = "disable_TSC", .handler = clock_ends },
};

static bool clock_probed[ARRAY_SIZE(clock_probes)];

/* A kprobe stands behind ENDBR, or what the kernel has in its place. NULL: not known. */
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
}

/* No page is mapped any more. */
void perfctr_cpu_permit_exit(void)
{
	unsigned int i;

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
}

void perfctr_cpu_permit_exit(void)
{
}

#endif
