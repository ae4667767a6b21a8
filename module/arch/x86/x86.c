// SPDX-License-Identifier: GPL-2.0
/*
 * x86 processors: the time-stamp counter as the clock, of any that has one, and the
 * counters of those whose family is known: what they are, and how a control comes to be
 * values of registers, the family's file says.
 *
 * The counters are taken all together, since that is how perf takes them: it has all or
 * none, and so have we.
 */

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>
#include <asm/tsc.h>

#include "arch/user.h"
#include "arch/x86/extra.h"
#include "arch/x86/interrupt.h"
#include "arch/x86/measure.h"
#include "arch/x86/mediated.h"
#include "arch/x86/place.h"
#include "arch/x86/processor.h"
#include "arch/x86/registers.h"
#include "arch/x86/topdown.h"
#include "arch/x86/trial.h"
#include "arch/x86/verify.h"
#include "arch/x86/virt.h"

#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

/*
 * What counts up to 2^MAX_RATE_SHIFT in a second, wide of what any event can. Some count
 * more than one in a cycle: issue slots 4 to 8, and events of occupancy as many as a queue
 * is long, some dozens. This is 45 a cycle at 6 GHz.
 */
#define MAX_RATE_SHIFT	38

/*
 * Firmware that counts has mostly forgotten to stop, and perf takes its counters with a warning.
 * So do we, and are told if it is not so, since registers are verified.
 */
static bool override_firmware = true;
module_param(override_firmware, bool, 0644);
MODULE_PARM_DESC(override_firmware, "x86: take counters that the firmware uses, until it takes them back (Y)");

/*
 * Who has the counters. config_mutex
 * @users: configs that are claimed
 * @iusers: those of them with i-mode counters
 * @taken: the counters are reserved, and ours on every CPU that is told: while there are users,
 *	and for some time after the last, see perfctr_cpu_lingers()
 * @joinable: a CPU that was not told may take them: ends before they are given back
 * @returned: firmware that was overridden has taken counters back, while they were @taken
 * @settled: somebody has claimed some, so perfctr_pmu does not change any more
 */
static struct {
	unsigned int users;
	unsigned int iusers;
	bool taken;
	bool joinable;
	bool returned;
	bool settled;
} claims;

/*
 * Those that can count what it asks for, and that it may have: 0, or an error with *why. None if
 * it is a metric
 */
static int find_counters(const struct perfctr_ctr_control *ctr, u32 *can,
			 struct perfctr_refusal *why)
{
	u32 asked = perfctr_pmu.counters, counters = 0;
	int err;

	*can = 0;
	/* What else it needs perfctr_x86_metrics_check() has found. */
	if (perfctr_x86_is_metric(ctr, NULL))
		return 0;
	if (ctr->map != PERFCTR_MAP_ANY) {
		if (ctr->map >= PERFCTR_X86_MAX)
			return -EINVAL;
		asked &= BIT(array_index_nospec(ctr->map, PERFCTR_X86_MAX));
		if (!asked)
			return -EINVAL;
	}
	err = perfctr_pmu.family->check(ctr, &counters, why);
	*can = counters & asked;
	if (err || *can)
		return err;
	why->reason = PERFCTR_REASON_COUNTER;
	why->possible = counters;
	return -EINVAL;
}

/* Chooses among these, which metrics need not. EINVAL with *why: none is left for one of them. */
static int place(const struct perfctr_ctr_control *ctr, const u32 *can, unsigned int nr, u8 *hw,
		 struct perfctr_refusal *why)
{
	unsigned int i, metric;
	u32 counters = 0;

	for (i = 0; i < nr; i++)
		if (perfctr_x86_is_metric(&ctr[i], &metric))
			hw[i] = PERFCTR_X86_METRIC + metric;
	why->index = perfctr_pmu.family && perfctr_pmu.family->place ?
		     perfctr_pmu.family->place(ctr, can, nr, hw) : perfctr_x86_place(can, nr, hw);
	if (why->index == nr) {
		why->index = PERFCTR_NO_INDEX;
		return 0;
	}
	perfctr_pmu.family->check(&ctr[why->index], &counters, why);
	why->reason = PERFCTR_REASON_COUNTER;
	why->possible = counters;
	return -EINVAL;
}

int perfctr_cpu_check(const struct perfctr_ctr_control *first, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why)
{
	const struct perfctr_ctr_control *ctr = first;
	u64 extras[PERFCTR_X86_EXTRAS] = {};
	u32 can[PERFCTR_X86_MAX];
	u8 hw[PERFCTR_X86_MAX];
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++, ctr++) {
		why->index = i;
		/* Others' modes are in its config. */
		if ((!ctr->flags && !perfctr_cpu_for_sessions(ctr)) || ctr->flags & ~CTR_BOTH)
			return -EINVAL;
		if (!perfctr_pmu.counters) {
			if (perfctr_pmu.none == PERFCTR_NO_COUNTERS_TRIAL)
				why->reason = PERFCTR_REASON_TRIAL;
			return -EINVAL;
		}
		err = find_counters(ctr, &can[i], why);
		if (err)
			return err;
		err = perfctr_x86_extra_check(ctr, extras);
		if (err)
			return err;
		if (ctr->ireset && -(u64)ctr->ireset < perfctr_pmu.least_period)
			return -EINVAL;
		if (ctr->ireset && !perfctr_pmu.interrupts)
			return -EOPNOTSUPP;
		if (ctr->flags & PERFCTR_CTR_KERNEL)
			*kernel = true;
	}
	err = perfctr_x86_metrics_check(first, nr, why);
	return err ?: place(first, can, nr, hw, why);
}

void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw)
{
	if (hw >= PERFCTR_X86_METRIC)
		return;
	ctr->map = hw;
	perfctr_pmu.family->name(ctr, hw);
}

/* struct perfctr_x86_family's @core says which CPU counts, and as what. */
static bool cores_differ(void)
{
	return perfctr_pmu.hybrid || perfctr_x86_siblings;
}

/* Where it was allowed to run when it asked: elsewhere perfctr_cpu_load() fails. */
int perfctr_cpu_core(const struct perfctr_where *where, u32 *core)
{
	struct task_struct *task = where->task;
	bool found = false, same = true;
	unsigned long flags;
	unsigned int cpu;

	*core = 0;
	if (!cores_differ())
		return 0;
	if (where->cpu >= 0) {
		/* Of one that never came it is not known. */
		if (!cpumask_test_cpu(where->cpu, cpu_online_mask))
			return -EXDEV;
		*core = per_cpu(perfctr_x86_cpu, where->cpu).core;
		if (*core != PERFCTR_X86_NO_CORE)
			return 0;
		return perfctr_x86_siblings ? -EINVAL : -EXDEV;
	}
	/* Others may bind it elsewhere. */
	raw_spin_lock_irqsave(&task->pi_lock, flags);
	for_each_cpu_and(cpu, &task->cpus_mask, cpu_online_mask) {
		u32 own = per_cpu(perfctr_x86_cpu, cpu).core;

		/* It is kept off these: see perfctr_keep_off(). */
		if (perfctr_x86_siblings && own == PERFCTR_X86_NO_CORE)
			continue;
		if (found && own != *core)
			same = false;
		*core = own;
		found = true;
	}
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	if (perfctr_x86_siblings)
		return found ? 0 : -EINVAL;
	return same && *core != PERFCTR_X86_NO_CORE ? 0 : -EXDEV;
}

bool perfctr_cpu_is_forbidden(unsigned int cpu)
{
	return READ_ONCE(per_cpu(perfctr_x86_cpu, cpu).core) == PERFCTR_X86_NO_CORE;
}

static void unreserve_some(unsigned int ctrs, unsigned int controls)
{
	while (ctrs)
		release_perfctr_nmi(perfctr_pmu.ctr[--ctrs].msr);
	while (controls)
		release_evntsel_nmi(perfctr_pmu.control[--controls].msr);
}

static void unreserve(void)
{
	unreserve_some(perfctr_pmu.nr_reserved, perfctr_pmu.nr_controls_reserved);
}

/* Who has one has all, also those that cannot be reserved: perf does just the same. */
static int reserve(void)
{
	unsigned int ctrs, controls = 0;

	for (ctrs = 0; ctrs < perfctr_pmu.nr_reserved; ctrs++)
		if (!reserve_perfctr_nmi(perfctr_pmu.ctr[ctrs].msr))
			goto busy;
	for (; controls < perfctr_pmu.nr_controls_reserved; controls++)
		if (!reserve_evntsel_nmi(perfctr_pmu.control[controls].msr))
			goto busy;
	return 0;

busy:
	unreserve_some(ctrs, controls);
	return -EBUSY;
}

/* Somebody who does not reserve. Root hears of it once: mostly as the module is loaded. */
static bool firmware_counts(void)
{
	static bool told;	/* nothing is wrong if two CPUs tell */
	u64 value;
	u32 msr;

	if (this_cpu_read(perfctr_x86_cpu.core) == PERFCTR_X86_NO_CORE)
		return false;
	msr = perfctr_pmu.family->counts(&value);
	if (msr && !READ_ONCE(told)) {
		WRITE_ONCE(told, true);
		pr_warn("perfctr: CPU %u, MSR 0x%x is 0x%llx: the firmware counts, and its counters are %s (parameter override_firmware)\n",
			smp_processor_id(), msr, value,
			READ_ONCE(override_firmware) ? "taken from it" : "left to it");
	}
	return msr;
}

static int claim_look(void *unused)
{
	return firmware_counts() && !READ_ONCE(override_firmware) ? -EBUSY : 0;
}

/* What it takes back it needs, and is not overridden again unless root says so. */
static void look_for_firmware(void)
{
	if (!perfctr_x86_firmware_returned())
		return;
	WRITE_ONCE(claims.returned, true);
	WRITE_ONCE(override_firmware, false);
}

static int claim_take(void *unused)
{
	perfctr_x86_take_all();
	if (this_cpu_read(perfctr_x86_cpu.ours))
		perfctr_x86_watch();
	return 0;
}

static int claim_take_interrupts(void *unused)
{
	perfctr_x86_acknowledge();
	perfctr_x86_take_interrupts(true);
	return 0;
}

static int claim_release_interrupts(void *unused)
{
	perfctr_x86_take_interrupts(false);
	return 0;
}

/* Nothing counts, and all are zero, but they stay ours. */
static int claim_rest(void *unused)
{
	look_for_firmware();
	if (perfctr_cpu_changed())
		claim_take(NULL);
	else
		perfctr_x86_rest();
	return 0;
}

static int claim_permit(void *unused)
{
	perfctr_cpu_update_permission();
	return 0;
}

/* What is not ours any more nobody may read. */
static int claim_release(void *unused)
{
	look_for_firmware();
	perfctr_cpu_update_permission();
	perfctr_x86_release_all();
	return 0;
}

/* Whoever counts by it looks again, as it may be without a claim now. */
static int claim_forget(void *arg)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	const struct perfctr_config *config = arg;

	if (cpu->active == READ_ONCE(config->id))
		cpu->active = 0;
	/* Others who run here leave their counts in registers that still run. */
	if (cpu->private_id == READ_ONCE(config->id)) {
		cpu->private_kin = 0;
		cpu->private_mm = 0;
	}
	return 0;
}

static int claim_try(void *unused)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	struct perfctr_x86_trial found = {};

	if (cpu->tried || cpu->core == PERFCTR_X86_NO_CORE)
		return 0;
	if (perfctr_x86_trial_wanted)
		perfctr_x86_try(&found);
	cpu->bad = found.counters;
	cpu->bad_events = found.events;
	cpu->tried = true;
	return 0;
}

static bool is_bad(const struct perfctr_x86_cpu *cpu)
{
	return (cpu->bad & perfctr_pmu.counters) || (cpu->bad_events & perfctr_pmu.events);
}

/* Nobody uses what one of the online CPUs counts wrong. Nobody has claimed anything yet. */
static void drop_bad(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		const struct perfctr_x86_cpu *own = per_cpu_ptr(&perfctr_x86_cpu, cpu);

		if (!is_bad(own))
			continue;
		pr_warn("perfctr: CPU %u counts a known loop wrong: counters 0x%x and architectural events 0x%x are not used\n",
			cpu, own->bad & perfctr_pmu.counters, own->bad_events & perfctr_pmu.events);
		perfctr_x86_drop(own->bad, own->bad_events);
	}
	if (!perfctr_pmu.counters)
		perfctr_pmu.none = PERFCTR_NO_COUNTERS_TRIAL;
}

/* What perf had as each CPU came could not be tried then. */
static void settle(perfctr_run_t run)
{
	bool tried = true;
	unsigned int cpu;

	for_each_online_cpu(cpu)
		tried &= per_cpu(perfctr_x86_cpu, cpu).tried;
	if (!tried)
		run(claim_try, NULL);
	if (!claims.settled)
		drop_bad();
	claims.settled = true;
	if (tried)
		return;
	for_each_online_cpu(cpu) {
		struct perfctr_x86_cpu *own = per_cpu_ptr(&perfctr_x86_cpu, cpu);

		if (is_bad(own))
			perfctr_x86_set_core(own, PERFCTR_X86_NO_CORE);
	}
}

/* All counters, for the first config */
static int claim_first(perfctr_run_t run, struct perfctr_refusal *why)
{
	if (reserve()) {
		why->owner = PERFCTR_OWNER_PERF;
		return -EBUSY;
	}
	if (run(claim_look, NULL)) {
		unreserve();
		why->owner = PERFCTR_OWNER_FIRMWARE;
		return -EBUSY;
	}
	settle(run);
	claims.returned = false;
	perfctr_x86_forget_permits();
	run(claim_take, NULL);
	WRITE_ONCE(claims.taken, true);
	WRITE_ONCE(claims.joinable, true);
	return 0;
}

size_t perfctr_cpu_image_size(u32 nr)
{
	struct perfctr_cpu_image *image;

	return struct_size(image, entry, nr * PERFCTR_X86_ENTRIES);
}

static void compile(struct perfctr_config *config)
{
	struct perfctr_cpu_image *image = config->image;
	u32 i, nr_actrs = perfctr_config_nr_actrs(config);

	for (i = 0; i < nr_actrs; i++)
		if (config->hw[i] < PERFCTR_X86_METRIC)
			perfctr_pmu.family->compile(&config->ctr[i], config->hw[i], image);
	image->counters = config->mask & ~config->imask;
	if (!perfctr_pmu.global_ctrl)
		image->at_load = image->nr;
	for (; i < config->nr; i++)
		perfctr_pmu.family->compile(&config->ctr[i], config->hw[i], image);
	if (perfctr_pmu.global_ctrl) {
		image->counters = config->mask;
		image->at_load = image->nr;
	}
}

/* There are no users any more. */
static void unclaim_all(perfctr_run_t run)
{
	if (perfctr_x86_any_permitted())
		run(claim_rest, NULL);
	else
		perfctr_cpu_give_back(run);
}

int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	bool first = !claims.taken;
	u32 can[PERFCTR_X86_MAX];
	unsigned int i;
	u32 used = 0;
	int err;

	if (!config->nr)
		return 0;
	why->index = perfctr_x86_extra_refused(config);
	if (why->index != PERFCTR_NO_INDEX) {
		why->owner = PERFCTR_OWNER_PERFCTR;
		return -EBUSY;
	}
	err = perfctr_x86_mediated(!first);
	if (err == -EBUSY)
		why->reason = PERFCTR_REASON_MEDIATED;
	if (err)
		return err;
	if (first && claim_first(run, why))
		return -EBUSY;
	/* They linger. */
	if (claims.returned) {
		why->owner = PERFCTR_OWNER_FIRMWARE;
		return -EBUSY;
	}
	/* As the check did, but some counters may have been found not to count since. */
	for (i = 0; i < config->nr && !err; i++) {
		why->index = i;
		err = find_counters(&config->ctr[i], &can[i], why);
	}
	err = err ?: place(config->ctr, can, config->nr, config->hw, why);
	if (err) {
		if (first)
			unclaim_all(run);
		return err;
	}
	WRITE_ONCE(claims.users, claims.users + 1);
	for (i = 0; i < config->nr; i++) {
		if (config->hw[i] < PERFCTR_X86_METRIC)
			used |= BIT(config->hw[i]);
		else
			config->own_way = true;
		if (perfctr_x86_waits(&config->ctr[i]))
			config->own_way = true;
	}
	config->mask = used;
	for (i = perfctr_config_nr_actrs(config); i < config->nr; i++)
		config->imask |= BIT(config->hw[i]);
	compile(config);
	if (config->nr_ictrs && !claims.iusers++)
		run(claim_take_interrupts, NULL);
	err = perfctr_x86_extra_get(config, run, &why->index);
	if (err) {
		perfctr_cpu_unclaim(config, run);
	} else if (first) {
		/* All registers are zero, everywhere. */
		perfctr_x86_permit_claimed(true);
		if (perfctr_x86_any_permitted())
			run(claim_permit, NULL);
	}
	return err;
}

void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run)
{
	if (!config->nr)
		return;
	perfctr_x86_extra_put(config, run);
	if (config->nr_ictrs && !--claims.iusers)
		run(claim_release_interrupts, NULL);
	WRITE_ONCE(claims.users, claims.users - 1);
	if (claims.users)
		run(claim_forget, config);
	else
		unclaim_all(run);
}

/*
 * A thread that saw its registers in the page may not have read them yet when another
 * ended its counting. It would die of that if nobody might read any more, and everybody
 * could read perf's if all might. So the counters are kept for a while, at zero.
 */
bool perfctr_cpu_lingers(void)
{
	return READ_ONCE(claims.taken) && !READ_ONCE(claims.users);
}

void perfctr_cpu_give_back(perfctr_run_t run)
{
	if (!perfctr_cpu_lingers())
		return;
	perfctr_x86_permit_claimed(false);
	WRITE_ONCE(claims.joinable, false);
	run(claim_release, NULL);
	WRITE_ONCE(claims.taken, false);
	unreserve();
}

/* Its registers hold what they held as it went, which may be ours: see perfctr_cpu_load(). */
void perfctr_cpu_prepare(unsigned int cpu)
{
	struct perfctr_x86_cpu *coming = per_cpu_ptr(&perfctr_x86_cpu, cpu);

	perfctr_x86_belong_to_nobody(coming);
	perfctr_x86_forget_interrupts(cpu);
	perfctr_x86_shared_forget(cpu);
	coming->tried = false;
	perfctr_x86_set_core(coming, cores_differ() ? PERFCTR_X86_NO_CORE : 0);
}

void perfctr_cpu_unreserve(unsigned int cpu)
{
}

/*
 * It comes while others may count, so what does not count here is not used here, and states that
 * come here are lost. As the module is loaded each CPU comes, and nobody counts yet.
 */
static void try_coming(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	bool own = !claims.taken;

	if (cpu->core == PERFCTR_X86_NO_CORE || !perfctr_pmu.counters || (own && reserve()))
		return;
	if (!own || !firmware_counts())
		claim_try(NULL);
	if (own)
		unreserve();
	if (!claims.settled)
		drop_bad();
	else if (is_bad(cpu))
		perfctr_x86_set_core(cpu, PERFCTR_X86_NO_CORE);
}

/* Also after a sleep in which the registers were lost */
void perfctr_cpu_online(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (!cpu->tried)
		try_coming();
	if (claims.taken) {
		claim_take(NULL);
		if (claims.iusers)
			perfctr_x86_take_interrupts(true);
		return;
	}
	/* Ours still: loaded as it went, when the last user had it no more. Or perf's by now. */
	if ((cpu->ours || perfctr_x86_extra_ever_had()) && !reserve()) {
		perfctr_x86_release_all();
		perfctr_x86_extra_release();
		unreserve();
	}
	cpu->ours = false;
	perfctr_x86_belong_to_nobody(cpu);
}

void perfctr_cpu_join_claims(void)
{
	if (READ_ONCE(claims.joinable))
		perfctr_cpu_online();
}

/* Interrupts may still come, of threads that have to leave: the kernel ends them all. */
void perfctr_cpu_offline(void)
{
	lockdep_assert_irqs_disabled();
	perfctr_x86_release_all();
}

/* Also where no timer runs that could look, since no tick does */
int perfctr_cpu_age(void *unused)
{
	perfctr_cpu_verify();
	perfctr_x86_age();
	return 0;
}

unsigned long perfctr_cpu_age_period(void)
{
	if (!perfctr_pmu.family)
		return 0;
	return perfctr_age_period(perfctr_pmu.width, perfctr_pmu.rate_shift ?: MAX_RATE_SHIFT);
}

u64 perfctr_cpu_clock_hz(void)
{
	return perfctr_x86_clock_is_kernels() ? NSEC_PER_SEC : (u64)tsc_khz * 1000;
}

bool perfctr_cpu_modeless(void)
{
	return perfctr_pmu.modeless;
}

unsigned int perfctr_cpu_nrctrs(void)
{
	return hweight32(perfctr_pmu.counters) + perfctr_x86_topdown_metrics();
}

void perfctr_cpu_info(struct perfctr_kernel_info *info)
{
	info->cpu_type = perfctr_pmu.family ? perfctr_pmu.family->cpu_type() : PERFCTR_X86_GENERIC;
	info->cpu_features = perfctr_x86_clock_is_kernels() ? 0 : PERFCTR_FEATURE_RDTSC;
	if (perfctr_pmu.family && !perfctr_pmu.modeless)
		info->cpu_features |= PERFCTR_FEATURE_FILTER | PERFCTR_FEATURE_FILTER_FIXED;
	if (perfctr_pmu.family && perfctr_cpu_can_permit())
		info->cpu_features |= PERFCTR_FEATURE_RDPMC;
	if (perfctr_pmu.interrupts)
		info->cpu_features |= PERFCTR_FEATURE_PCINT;
	if (boot_cpu_has(X86_FEATURE_HYPERVISOR))
		info->cpu_features |= PERFCTR_FEATURE_HYPERVISOR;
	if (perfctr_pmu.hybrid)
		info->cpu_features |= PERFCTR_FEATURE_HYBRID;
	if (perfctr_pmu.unknown_model)
		info->cpu_features |= PERFCTR_FEATURE_UNKNOWN_MODEL;
	if (perfctr_x86_topdown_metrics())
		info->cpu_features |= PERFCTR_FEATURE_TOPDOWN;
	info->topdown = DIV_ROUND_UP(perfctr_x86_topdown_metrics(), PERFCTR_METRICS / 2);
	info->cpu_khz = cpu_khz;
	info->tsc_to_cpu_mult = 1;
	info->tsc_hz = perfctr_cpu_clock_hz();
	info->nrctrs = perfctr_cpu_nrctrs();
	info->no_counters = perfctr_pmu.none;
	info->width = perfctr_pmu.family ? perfctr_pmu.width : 64;
	info->counters = perfctr_pmu.counters;
	info->events[0] = perfctr_pmu.events;
}

void perfctr_cpu_reserve(unsigned int cpu)
{
	struct perfctr_x86_cpu *coming = per_cpu_ptr(&perfctr_x86_cpu, cpu);
	u32 core;

	if (!cores_differ())
		return;
	core = perfctr_pmu.family->core();
	/* What it may have held was another's in its place. */
	if (core == PERFCTR_X86_NO_CORE)
		coming->ours = false;
	perfctr_x86_set_core(coming, core);
}

/* The value of its control by which a general counter counts instructions in kernel mode */
static u64 __init counting(unsigned int hw)
{
	const struct perfctr_ctr_control ctr = {
		.map = hw, .event = perfctr_pmu.family->known->event, .flags = PERFCTR_CTR_KERNEL,
	};
	struct perfctr_cpu_image *image = kzalloc(perfctr_cpu_image_size(1), GFP_KERNEL);
	u64 value;

	if (!image)
		return 0;
	perfctr_pmu.family->compile(&ctr, hw, image);
	value = image->entry[0].value;
	kfree(image);
	return value;
}

/* Nobody can have claimed anything yet. The last counter: nothing of the P6's counts by it. */
static void __init measure(void)
{
	struct perfctr_x86_registers regs = {};
	unsigned int last;

	if (perfctr_x86_clock_is_kernels()) {
		pr_info("perfctr: cost not measured: there is no time-stamp counter\n");
		return;
	}
	if (perfctr_pmu.family) {
		last = __fls(perfctr_pmu.general);
		regs.rdpmc = perfctr_cpu_operand(last);
		regs.no_rdpmc = perfctr_x86_has_no_rdpmc();
		regs.perfctr = perfctr_pmu.ctr[last].msr;
		regs.width = perfctr_pmu.width;
		regs.evntsel = perfctr_pmu.control[perfctr_pmu.ctr[last].slot].msr;
		memcpy(regs.evntsels, perfctr_pmu.sample, sizeof(regs.evntsels));
		if (perfctr_pmu.global_ctrl)
			regs.counting = counting(last);
		regs.global_ctrl = perfctr_pmu.global_ctrl;
		regs.run = global_bits(perfctr_pmu.counters);
		if (reserve()) {
			pr_info("perfctr: cost not measured: perf_events or the NMI watchdog has the counters\n");
			return;
		}
	}
	migrate_disable();
	if (perfctr_pmu.family)
		perfctr_x86_tell_held();
	if (perfctr_pmu.family && firmware_counts())
		pr_info("perfctr: cost not measured: the firmware has the counters\n");
	else
		perfctr_x86_measure(&regs);
	migrate_enable();
	if (perfctr_pmu.family)
		unreserve();
}

void perfctr_cpu_set_changed(perfctr_changed_t handler)
{
	perfctr_x86_set_changed(handler);
	if (handler)
		perfctr_x86_mediated_init(handler);
	else
		perfctr_x86_mediated_exit();
}

int __init perfctr_cpu_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_TSC)) {
		if (!PERFCTR_X86_OLD)
			return -ENODEV;
		perfctr_x86_use_kernels_clock();
	}
	perfctr_x86_find_counters();
	perfctr_x86_shared_init();
	/* Its unit is the time-stamp counter's. */
	if (perfctr_x86_measure_wanted)
		measure();
	perfctr_x86_verify_init();
	perfctr_x86_virt_init();
	if (perfctr_pmu.family)
		perfctr_x86_trial_init();
	return 0;
}

void perfctr_cpu_exit(void)
{
	perfctr_x86_virt_exit();
	perfctr_x86_verify_exit();
	perfctr_x86_interrupt_exit();
}
