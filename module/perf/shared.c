// SPDX-License-Identifier: GPL-2.0
/*
 * This file claims events of perf's for the shared source. shared.h says what an event set is.
 *
 * perf may take a register from one event and give it to another event that comes first in perf's
 * order. From then on, the first event is in error and does not count, but perf does not report
 * that. So each reader of an event checks that the event counts on this CPU. If the event does not
 * count, the reader's state has lost its counters. We replace an event only while no state is
 * resumed on its CPU, so no state counts on across the gap.
 *
 * On x86 any event of perf's reserves all counters, as a native claim does: see config.c.
 */

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "base/account.h"
#include "base/work.h"
#include "arch/cpu.h"
#include "arch/perf.h"
#include "perf/event.h"
#include "perf/shared.h"
#include "perf/told.h"

/* True if any user may count through perf, even if others could then read the counters. */
static bool shared_open;
module_param(shared_open, bool, 0644);
MODULE_PARM_DESC(shared_open, "let users without privilege count through perf where perf's users can read all counters (no)");

/* This event stands in for an event that a CPU does not have. */
static struct perf_event absent = { .oncpu = -1 };

DEFINE_PER_CPU(struct perfctr_shared_cpu, perfctr_shared_cpu);

bool perfctr_shared_any_lost;

/**
 * struct event_set - one event of perf's on every told CPU, by which configs count; config_mutex
 * @event: the event, as perf numbers it
 * @flags: PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL or both
 * @users: number of counters of configs that use the set
 * @unprivileged: how many of @users are of users without privilege
 * @another: perf could count the event twice, so it has a counter left for the event
 * @general: on some CPU the event's counter can count any event
 * @call: only perf's driver can read the set's registers
 * @visible: on some CPU others may read the event's counter in user mode
 */
struct event_set {
	struct perfctr_shared_attr event;
	u32 flags;
	unsigned int users;
	unsigned int unprivileged;
	bool another;
	bool general;
	bool call;
	bool visible;
};

static struct event_set sets[PERFCTR_MAX_HW];

/*
 * How many counters of a CPU can count any event: the smallest number among the CPUs where we have
 * made events; config_mutex
 */
static unsigned int fewest_generals;

/* True while we watch perf's settings (perfctr_cpu_shared_watch()); config_mutex */
static bool watched;

/* Each set's event on a CPU, or NULL. It is here even while readers do not see it; config_mutex */
static DEFINE_PER_CPU(struct {
	struct perf_event *event[PERFCTR_MAX_HW];
}, made);

static struct perf_event **event_on(unsigned int cpu, unsigned int set)
{
	return &per_cpu_ptr(&perfctr_shared_cpu, cpu)->event[set];
}

/*
 * Claiming
 */

/**
 * struct claim - the events that one CPU is to make
 * @fresh: bit map of the event sets of these events
 * @new: no config counts by these sets yet
 * @made: bit map of the sets in @fresh for which some CPU has made an event
 * @missing: bit map of the sets in @fresh whose events this CPU's PMU does not know
 * @set: the set that failed
 * @reason: why @set failed, PERFCTR_REASON_*
 */
struct claim {
	u32 fresh;
	bool new;
	u32 made;
	u32 missing;
	unsigned int set;
	u32 reason;
};

/* Returns 0 if perf can count the set's event twice on this CPU. Runs in a kernel thread. */
static long try_another(void *arg)
{
	struct event_set *set = arg;
	struct perf_event *event = perfctr_event_make(&set->event, set->flags);
	bool works;

	if (IS_ERR(event))
		return perfctr_event_error(PTR_ERR(event));
	works = perfctr_event_counts(event);
	perf_event_release_kernel(event);
	return works ? 0 : -EBUSY;
}

/* Returns true if our reading of the register agrees with that of perf's driver. */
static bool reads_agree(struct perf_event *event, u32 flags)
{
	u64 before, after, count;
	unsigned long irq;

	if (!perfctr_event_counts(event) || !perfctr_cpu_shared_inline(event))
		return false;
	local_irq_save(irq);
	before = perfctr_cpu_shared_read(event);
	event->pmu->read(event);
	count = local64_read(&event->count);
	after = perfctr_cpu_shared_read(event);
	local_irq_restore(irq);
	/* We stay in the kernel here, so a counter of user mode stands still. */
	if (!(flags & PERFCTR_CTR_KERNEL))
		return before == count && count == after;
	return before <= count && count <= after && after - before < BIT(20);
}

/* Returns 0, or the error that says why an event that perf has made is of no use. */
static int look_at(struct perf_event *event, struct claim *claim)
{
	struct event_set *set = &sets[claim->set];
	bool call = !reads_agree(event, set->flags);
	bool visible = !perfctr_cpu_shared_hides(event);
	int err;

	if (READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE)
		return -EBUSY;
	err = perfctr_cpu_shared_judge(event, &claim->reason);
	if (err)
		return err;
	if (!perfctr_cpu_shared_filters(event))
		return -EBUSY;
	if (claim->new) {
		set->call |= call;
	} else if ((call && !set->call) ||
		   (visible && !set->visible && set->unprivileged)) {
		/*
		 * The set's states already read its registers inline, or may count only while
		 * the registers are hidden.
		 */
		return -EINVAL;
	}
	set->general |= perfctr_cpu_shared_is_general(event);
	set->visible |= visible;
	return 0;
}

static int make_here(struct claim *claim, unsigned int cpu)
{
	unsigned long fresh = claim->fresh;
	struct perf_event *event;
	unsigned int i;
	int err;

	fewest_generals = min(fewest_generals, perfctr_cpu_shared_generals());
	for_each_set_bit(i, &fresh, PERFCTR_MAX_HW) {
		claim->set = i;
		event = perfctr_event_make_tried(&sets[i].event, sets[i].flags);
		if (event == ERR_PTR(-ENOENT)) {
			claim->missing |= BIT(i);
			continue;
		}
		if (IS_ERR(event))
			return perfctr_event_error(PTR_ERR(event));
		err = look_at(event, claim);
		if (err) {
			perf_event_release_kernel(event);
			return err;
		}
		claim->made |= BIT(i);
		per_cpu(made, cpu).event[i] = event;
		WRITE_ONCE(*event_on(cpu, i), event);
	}
	return 0;
}

/*
 * Makes the events of the running CPU. A kernel thread on that CPU calls this function. So no state
 * is resumed there meanwhile, and perf does not demand the privilege to count a CPU.
 */
static long make_by_kernel(void *arg)
{
	return make_here(arg, smp_processor_id());
}

static void set_release(unsigned int cpu, unsigned int set)
{
	struct perf_event *event = per_cpu(made, cpu).event[set];

	WRITE_ONCE(*event_on(cpu, set), &absent);
	per_cpu(made, cpu).event[set] = NULL;
	if (event)
		perf_event_release_kernel(event);
}

static void release_sets(unsigned long which)
{
	unsigned int cpu, i;

	for_each_set_bit(i, &which, PERFCTR_MAX_HW)
		for_each_online_cpu(cpu)
			set_release(cpu, i);
}

static bool may_run_on(const struct perfctr_where *where, unsigned int cpu)
{
	struct task_struct *task = where->task;
	unsigned long flags;
	bool may;

	/* A control that names a CPU counts there, wherever its thread may run now. */
	if (where->cpu >= 0)
		return cpu == where->cpu;
	/* Lock the thread's affinity, which others may change. */
	raw_spin_lock_irqsave(&task->pi_lock, flags);
	may = cpumask_test_cpu(cpu, &task->cpus_mask);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	return may;
}

/*
 * Returns true if a control needs its events on that CPU: the CPU is told, or the control's thread
 * may run there.
 */
static bool is_wanted(const struct perfctr_where *where, unsigned int cpu)
{
	return cpumask_test_cpu(cpu, &perfctr_told_cpus) || may_run_on(where, cpu);
}

/* Returns the event set of that event, or else a free event set, or NULL if no set is free. */
static struct event_set *find_set(const struct perfctr_shared_attr *event, u32 flags)
{
	struct event_set *set, *unused = NULL;

	for (set = sets; set < sets + ARRAY_SIZE(sets); set++) {
		if (!set->users)
			unused = unused ?: set;
		else if (set->flags == flags && perfctr_event_same(&set->event, event))
			return set;
	}
	return unused;
}

static void put_sets(const struct perfctr_config *config, u32 nr)
{
	u32 i, unused = 0;
	bool any = false;

	for (i = 0; i < nr; i++) {
		struct event_set *set = &sets[config->hw[i]];

		set->unprivileged -= config->unprivileged;
		if (!--set->users)
			unused |= BIT(config->hw[i]);
	}
	release_sets(unused);
	for (i = 0; i < ARRAY_SIZE(sets); i++)
		any |= sets[i].users > 0;
	if (!any && watched) {
		perfctr_cpu_shared_watch(false);
		watched = false;
	}
}

/* Finds out who has the counters. perf only says that it has found no free counter. */
static void blame(u32 fresh, struct perfctr_refusal *why)
{
	unsigned int i, nr = 0;

	why->owner = PERFCTR_OWNER_PERF;
	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		nr += sets[i].users > 0;
		if (sets[i].users && !(fresh & BIT(i)))
			why->owner = PERFCTR_OWNER_PERFCTR;
	}
	if (nr > 1)
		why->reason = PERFCTR_REASON_ROOM;
}

/* Returns true if users without privilege have over half of the counters that count any event. */
static bool takes_too_many(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(sets); i++)
		nr += sets[i].unprivileged && sets[i].general;
	return nr > fewest_generals / 2;
}

/* Runs in a kernel thread, because only root may open some of perf's attributes. */
static long watch_by_kernel(void *unused)
{
	perfctr_cpu_shared_watch(true);
	return 0;
}

/* Returns perfctr_cpu_shared_discloses(). We watch the settings until no set is used. */
static bool discloses(void)
{
	if (!watched) {
		perfctr_work_on_cpu(raw_smp_processor_id(), watch_by_kernel, NULL);
		watched = true;
	}
	return perfctr_cpu_shared_discloses();
}

int perfctr_shared_allowed(const struct perfctr_config *config, struct perfctr_refusal *why)
{
	u32 i;

	for (i = 0; i < config->nr; i++)
		if (sets[config->hw[i]].visible)
			break;
	if (i == config->nr || READ_ONCE(shared_open) || !discloses())
		return 0;
	why->index = i;
	why->reason = PERFCTR_REASON_OPEN;
	return -EACCES;
}

static u32 index_of(const struct perfctr_config *config, unsigned int set)
{
	u32 i;

	for (i = 0; i < config->nr; i++)
		if (config->hw[i] == set)
			return i;
	return PERFCTR_NO_INDEX;
}

static int make_fresh(const struct perfctr_config *config, u32 fresh,
		      const struct perfctr_where *where, struct perfctr_refusal *why)
{
	struct claim claim = {
		.fresh = fresh,
		.new = true,
	};
	u32 missed = 0;		/* sets missing on a CPU where the control may count */
	unsigned int cpu;
	int err = 0;

	for_each_online_cpu(cpu) {
		if (!is_wanted(where, cpu))
			continue;
		claim.missing = 0;
		err = perfctr_work_on_cpu(cpu, make_by_kernel, &claim);
		if (err)
			break;
		if (may_run_on(where, cpu))
			missed |= claim.missing;
	}
	if (!err && missed) {
		/* The error is -EINVAL if no CPU knows the event. Otherwise it is -EXDEV. */
		err = missed & ~claim.made ? -EINVAL : -EXDEV;
		claim.set = __ffs(missed & ~claim.made ?: missed);
	}
	/* Each counter takes two broadcasts: one now, and one when it is given back. */
	perfctr_broadcasts_made(2 * hweight32(fresh));
	if (!err)
		return 0;
	why->index = index_of(config, claim.set);
	why->reason = claim.reason;
	if (err == -EBUSY)
		blame(fresh, why);
	return err;
}

/* Tries on the first CPU that has the set's event. Returns 0 if perf can count the event twice. */
static int find_another(unsigned int set)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (per_cpu(made, cpu).event[set])
			return perfctr_work_on_cpu(cpu, try_another, &sets[set]);
	/* No CPU has the event any more. The next control tries to make it again. */
	WRITE_ONCE(perfctr_shared_any_lost, true);
	return -EBUSY;
}

/*
 * Some events can be counted by only one counter at a time. Users without privilege may not have
 * such an event, because then root's perf could not count it.
 */
static int check_another(const struct perfctr_config *config, struct perfctr_refusal *why)
{
	u32 i;
	int err;

	for (i = 0; i < config->nr; i++) {
		struct event_set *set = &sets[config->hw[i]];

		if (set->another)
			continue;
		err = find_another(config->hw[i]);
		if (err) {
			why->index = i;
			if (err == -EBUSY)
				why->reason = PERFCTR_REASON_ONLY;
			return err;
		}
		set->another = true;
	}
	return 0;
}

static int check_unprivileged(const struct perfctr_config *config, struct perfctr_refusal *why)
{
	if (takes_too_many()) {
		why->reason = PERFCTR_REASON_HALF;
		return -EBUSY;
	}
	return check_another(config, why) ?: perfctr_shared_allowed(config, why);
}

/*
 * On some CPUs only one set can have a given event. Returns 0, -EBUSY if a set of another config
 * has the event in other modes, or -EOPNOTSUPP if a set of this config has it in other modes.
 */
static int check_once(const struct perfctr_shared_attr *event, const struct perfctr_config *config)
{
	unsigned int i;

	if (!perfctr_cpu_counts_once())
		return 0;
	for (i = 0; i < ARRAY_SIZE(sets); i++)
		if (sets[i].users && perfctr_event_same(&sets[i].event, event))
			return config->mask & BIT(i) ? -EOPNOTSUPP : -EBUSY;
	return 0;
}

int perfctr_shared_claim(struct perfctr_config *config, const struct perfctr_where *where,
			 struct perfctr_refusal *why)
{
	struct perfctr_shared_attr event;
	u32 i, fresh = 0;
	int err = 0;

	for (i = 0; i < config->nr; i++) {
		const struct perfctr_ctr_control *ctr = &config->ctr[i];
		struct event_set *set;

		err = perfctr_event_find(ctr, &event);
		set = err ? NULL : find_set(&event, perfctr_event_modes(ctr));
		if (!err)
			err = !set ? -EBUSY : set->users ? 0 : check_once(&event, config);
		if (err) {
			why->index = i;
			if (err == -EBUSY) {
				why->owner = PERFCTR_OWNER_PERFCTR;
				why->reason = PERFCTR_REASON_ROOM;
			}
			goto err_put;
		}
		if (!set->users) {
			*set = (struct event_set){ .event = event,
						   .flags = perfctr_event_modes(ctr) };
			fresh |= BIT(set - sets);
		}
		set->users++;
		set->unprivileged += config->unprivileged;
		config->hw[i] = set - sets;
		config->mask |= BIT(set - sets);
	}
	if (fresh)
		err = make_fresh(config, fresh, where, why);
	if (!err && config->unprivileged)
		err = check_unprivileged(config, why);
	if (err)
		goto err_put;
	config->call = !PERFCTR_CPU_SHARED_INLINE;
	for (i = 0; i < config->nr; i++)
		config->call |= sets[config->hw[i]].call;
	return 0;

err_put:
	put_sets(config, i);
	return err;
}

void perfctr_shared_unclaim(struct perfctr_config *config)
{
	put_sets(config, config->nr);
}

/*
 * Making lost events again, and CPUs that come and go
 */

/*
 * Makes a new event on CPU @cpu for each missing or lost event, because perf cannot bring back
 * every event that failed. A kernel thread on that CPU calls this function. If one event cannot be
 * made, only the states that count by this event are lost there.
 */
void perfctr_shared_remake(unsigned int cpu)
{
	struct claim claim = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		struct perf_event *event = *event_on(cpu, i);

		if (!sets[i].users || (event != &absent && perfctr_event_counts(event)))
			continue;
		set_release(cpu, i);
		claim.fresh = BIT(i);
		make_here(&claim, cpu);
	}
}

static bool is_whole(unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sets); i++)
		if (sets[i].users && !perfctr_shared_counts(*event_on(cpu, i), cpu))
			return false;
	return true;
}

void perfctr_shared_mend(const struct perfctr_where *where, long (*remake)(void *unused))
{
	unsigned int cpu;

	if (likely(!READ_ONCE(perfctr_shared_any_lost) && !READ_ONCE(perfctr_any_rarity)))
		return;
	WRITE_ONCE(perfctr_shared_any_lost, false);
	for_each_online_cpu(cpu) {
		if (!is_wanted(where, cpu) || is_whole(cpu))
			continue;
		/*
		 * The switch to the kernel thread suspends a state that is resumed there. The state
		 * then sees that its event is lost.
		 */
		perfctr_work_on_cpu(cpu, remake, NULL);
		perfctr_broadcasts_made(1);
	}
}

/* perf does not know that the registers were lost. The next control makes the events again. */
void perfctr_shared_slept(void)
{
	unsigned int i;

	lockdep_assert_irqs_disabled();
	for (i = 0; i < ARRAY_SIZE(sets); i++)
		WRITE_ONCE(*event_on(smp_processor_id(), i), &absent);
	WRITE_ONCE(perfctr_shared_any_lost, true);
}

void perfctr_shared_online(unsigned int cpu)
{
	perfctr_event_online(cpu);
	if (cpumask_test_cpu(cpu, &perfctr_told_cpus))
		perfctr_shared_remake(cpu);
}

void perfctr_shared_offline(unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sets); i++)
		set_release(cpu, i);
}

void perfctr_shared_init(void)
{
	unsigned int cpu, i;

	fewest_generals = UINT_MAX;
	/* An initializer cannot do this, because per-CPU data of modules is not relocated. */
	for_each_possible_cpu(cpu)
		for (i = 0; i < ARRAY_SIZE(sets); i++)
			*event_on(cpu, i) = &absent;
	perfctr_event_init();
}
