// SPDX-License-Identifier: GPL-2.0
/*
 * x86 processors: the time-stamp counter as the clock, of any that has one, and
 * the counters of Intel's family 6: architectural performance monitoring and the
 * P6, which are alike but for a few registers.
 *
 * The counters are taken all together, since that is how perf takes them: it has all or
 * none, and so have we.
 */

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/nospec.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>
#include <asm/tsc.h>

#include "registers.h"
#include "extra.h"
#include "interrupt.h"
#include "measure.h"
#include "processor.h"

#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

/*
 * What counts up to 2^MAX_RATE_SHIFT in a second, wide of what any event can. Some count
 * more than one in a cycle: issue slots 4 to 8, and events of occupancy as many as a queue
 * is long, some dozens. This is 45 a cycle at 6 GHz.
 */
#define MAX_RATE_SHIFT	38

/*
 * Who has the counters. config_mutex
 * @users: configs that are claimed
 * @iusers: those of them with i-mode counters
 * @taken: the counters are reserved, and ours on every CPU that is told: while there are users,
 *	and for some time after the last, see perfctr_cpu_lingers()
 * @joinable: a CPU that was not told may take them: ends before they are given back
 */
static struct {
	unsigned int users;
	unsigned int iusers;
	bool taken;
	bool joinable;
} claims;

/* It would count zero, as if nothing had happened. */
static bool is_lacking(u64 event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(perfctr_x86_arch_events); i++)
		if (perfctr_pmu.lacks & BIT(i) && (event & 0xffff) == perfctr_x86_arch_events[i])
			return true;
	return false;
}

int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why)
{
	u64 extras[PERFCTR_X86_EXTRAS] = {};
	unsigned int i, any = 0;
	u32 used = 0;
	int err;

	for (i = 0; i < nr; i++, ctr++) {
		why->index = i;
		if (!ctr->flags || ctr->flags & ~CTR_BOTH)
			return -EINVAL;
		if (!perfctr_pmu.nr || ctr->event & ~(EVENT_BITS | CONTROL_BITS))
			return -EINVAL;
		/* perfctr 2.6 gives the whole register: then it must say what the rest says. */
		if (ctr->event & CONTROL_BITS &&
		    (ctr->event & CONTROL_BITS) !=
		    control_bits(ctr, ctr->map == PERFCTR_MAP_ANY ? 0 : ctr->map))
			return -EINVAL;
		if (is_lacking(ctr->event))
			return -EINVAL;
		if (ctr->map != PERFCTR_MAP_ANY) {
			u32 hw;

			if (ctr->map >= PERFCTR_X86_MAX)
				return -EINVAL;
			hw = array_index_nospec(ctr->map, PERFCTR_X86_MAX);
			if (!(perfctr_pmu.counters & BIT(hw)) || used & BIT(hw))
				return -EINVAL;
			used |= BIT(hw);
			if (hw >= PERFCTR_X86_FIXED) {
				hw = array_index_nospec(hw - PERFCTR_X86_FIXED,
							ARRAY_SIZE(perfctr_x86_fixed_events));
				if ((ctr->event & EVENT_BITS) != perfctr_x86_fixed_events[hw])
					return -EINVAL;
			}
		} else {
			any++;
		}
		err = perfctr_x86_extra_check(ctr, extras);
		if (err)
			return err;
		if (ctr->ireset && !perfctr_pmu.interrupts)
			return -EOPNOTSUPP;
		if (ctr->flags & PERFCTR_CTR_KERNEL)
			*kernel = true;
	}
	why->index = PERFCTR_NO_INDEX;
	return any > hweight32(GENMASK(PERFCTR_X86_FIXED - 1, 0) & perfctr_pmu.counters & ~used) ?
	       -EINVAL : 0;
}

void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw)
{
	ctr->map = hw;
	/* A whole event select is that of the counter: on the P6 not all are enabled. */
	if (ctr->event & CONTROL_BITS)
		ctr->event = (ctr->event & EVENT_BITS) | control_bits(ctr, hw);
}

/* Where it was allowed to run when it asked: elsewhere perfctr_cpu_load() fails. */
int perfctr_cpu_core(u32 *core)
{
	bool found = false, same = true;
	unsigned long flags;
	unsigned int cpu;

	*core = 0;
	if (!perfctr_pmu.hybrid)
		return 0;
	/* Others may bind it elsewhere. */
	raw_spin_lock_irqsave(&current->pi_lock, flags);
	for_each_cpu_and(cpu, &current->cpus_mask, cpu_online_mask) {
		u32 own = per_cpu(perfctr_x86_cpu, cpu).core;

		if (found && own != *core)
			same = false;
		*core = own;
		found = true;
	}
	raw_spin_unlock_irqrestore(&current->pi_lock, flags);
	return same && *core != PERFCTR_X86_NO_CORE ? 0 : -EXDEV;
}

bool perfctr_cpu_is_forbidden(unsigned int cpu)
{
	return READ_ONCE(per_cpu(perfctr_x86_cpu, cpu).core) == PERFCTR_X86_NO_CORE;
}

static void unreserve(unsigned int perfctrs, unsigned int evntsels)
{
	while (perfctrs)
		release_perfctr_nmi(MSR_ARCH_PERFMON_PERFCTR0 + --perfctrs);
	while (evntsels)
		release_evntsel_nmi(MSR_ARCH_PERFMON_EVENTSEL0 + --evntsels);
}

/* Who has one has all, the fixed ones too: perf does just the same. */
static int reserve(void)
{
	unsigned int perfctrs, evntsels = 0;

	for (perfctrs = 0; perfctrs < perfctr_pmu.nr; perfctrs++)
		if (!reserve_perfctr_nmi(MSR_ARCH_PERFMON_PERFCTR0 + perfctrs))
			goto busy;
	for (; evntsels < perfctr_pmu.nr; evntsels++)
		if (!reserve_evntsel_nmi(MSR_ARCH_PERFMON_EVENTSEL0 + evntsels))
			goto busy;
	return 0;

busy:
	unreserve(perfctrs, evntsels);
	return -EBUSY;
}

/* Somebody who does not reserve: firmware. Not perf, which leaves the P6's enabled, in no mode. */
static int claim_look(void *unused)
{
	bool enabled = false;
	unsigned int i;

	if (this_cpu_read(perfctr_x86_cpu.core) == PERFCTR_X86_NO_CORE)
		return 0;
	for (i = 0; i < perfctr_pmu.nr; i++) {
		u32 sel = read_msr(MSR_ARCH_PERFMON_EVENTSEL0 + i);

		if (enable(i))
			enabled = sel & EVNTSEL_EN;
		if (enabled && sel & (EVNTSEL_USR | EVNTSEL_OS))
			return -EBUSY;
	}
	return perfctr_pmu.nr_fixed && read_msr(MSR_CORE_PERF_FIXED_CTR_CTRL) ? -EBUSY : 0;
}

static int claim_take(void *unused)
{
	perfctr_x86_take_all();
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
	if (cpu->private_config == READ_ONCE(config->id))
		cpu->private_config = 0;
	return 0;
}

/* All counters, for the first config */
static int claim_first(perfctr_run_t run, struct perfctr_refusal *why)
{
	if (reserve()) {
		why->owner = PERFCTR_OWNER_PERF;
		return -EBUSY;
	}
	if (run(claim_look, NULL)) {
		unreserve(perfctr_pmu.nr, perfctr_pmu.nr);
		why->owner = PERFCTR_OWNER_FIRMWARE;
		return -EBUSY;
	}
	perfctr_x86_forget_permits();
	run(claim_take, NULL);
	WRITE_ONCE(claims.taken, true);
	WRITE_ONCE(claims.joinable, true);
	return 0;
}

int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	bool first = !claims.taken;
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
	for (i = 0; i < config->nr; i++)
		if (config->ctr[i].map != PERFCTR_MAP_ANY)
			used |= BIT(config->ctr[i].map);
	for (i = 0; i < config->nr; i++) {
		config->hw[i] = config->ctr[i].map;
		if (config->ctr[i].map == PERFCTR_MAP_ANY)
			config->hw[i] = ffz(used);
		used |= BIT(config->hw[i]);
	}
	if (first && claim_first(run, why))
		return -EBUSY;
	WRITE_ONCE(claims.users, claims.users + 1);
	config->mask = used;
	for (i = perfctr_config_nr_actrs(config); i < config->nr; i++)
		config->imask |= BIT(config->hw[i]);
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
	else if (perfctr_x86_any_permitted())
		run(claim_rest, NULL);
	else
		perfctr_cpu_give_back(run);
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
	unreserve(perfctr_pmu.nr, perfctr_pmu.nr);
}

/* Its registers hold what they held as it went, which may be ours: see perfctr_cpu_load(). */
void perfctr_cpu_prepare(unsigned int cpu)
{
	struct perfctr_x86_cpu *coming = per_cpu_ptr(&perfctr_x86_cpu, cpu);

	perfctr_x86_belong_to_nobody(coming);
	perfctr_x86_forget_interrupts(cpu);
	if (perfctr_pmu.hybrid)
		WRITE_ONCE(coming->core, PERFCTR_X86_NO_CORE);
}

void perfctr_cpu_unreserve(unsigned int cpu)
{
}

/* Also after a sleep in which the registers were lost */
void perfctr_cpu_online(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (claims.taken) {
		perfctr_x86_take_all();
		if (claims.iusers)
			perfctr_x86_take_interrupts(true);
		return;
	}
	/* Ours still: loaded as it went, when the last user had it no more. Or perf's by now. */
	if ((cpu->ours || perfctr_x86_extra_ever_had()) && !reserve()) {
		perfctr_x86_release_all();
		perfctr_x86_extra_release();
		unreserve(perfctr_pmu.nr, perfctr_pmu.nr);
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

int perfctr_cpu_age(void *unused)
{
	perfctr_x86_age();
	return 0;
}

unsigned long perfctr_cpu_age_period(void)
{
	if (!perfctr_pmu.nr)
		return 0;
	return perfctr_age_period(perfctr_pmu.width, MAX_RATE_SHIFT);
}

u64 perfctr_cpu_clock_hz(void)
{
	return (u64)tsc_khz * 1000;
}

unsigned int perfctr_cpu_nrctrs(void)
{
	return hweight32(perfctr_pmu.counters);
}

void perfctr_cpu_info(struct perfctr_info *info)
{
	info->cpu_type = perfctr_x86_cpu_type();
	info->cpu_features = PERFCTR_FEATURE_RDTSC;
	if (perfctr_pmu.nr)
		info->cpu_features |= PERFCTR_FEATURE_FILTER | PERFCTR_FEATURE_FILTER_FIXED;
	if (perfctr_pmu.nr && perfctr_cpu_can_permit())
		info->cpu_features |= PERFCTR_FEATURE_RDPMC;
	if (perfctr_pmu.interrupts)
		info->cpu_features |= PERFCTR_FEATURE_PCINT;
	if (perfctr_pmu.hybrid)
		info->cpu_features |= PERFCTR_FEATURE_HYBRID;
	info->cpu_khz = cpu_khz;
	info->tsc_to_cpu_mult = 1;
	info->tsc_hz = (u64)tsc_khz * 1000;
	info->nrctrs = perfctr_cpu_nrctrs();
	info->no_counters = perfctr_pmu.none;
	info->width = perfctr_pmu.nr ? perfctr_pmu.width : 64;
	info->counters = perfctr_pmu.counters;
	if (perfctr_pmu.version)
		info->events[0] = PERFCTR_X86_ARCH_EVENTS & ~perfctr_pmu.lacks;
}

void perfctr_cpu_reserve(unsigned int cpu)
{
	struct perfctr_x86_cpu *coming = per_cpu_ptr(&perfctr_x86_cpu, cpu);
	u32 core;

	if (!perfctr_pmu.hybrid)
		return;
	core = perfctr_x86_core();
	/* What it may have held was another's in its place. */
	if (core == PERFCTR_X86_NO_CORE)
		coming->ours = false;
	WRITE_ONCE(coming->core, core);
}

/* Nobody can have claimed anything yet. The last counter: nothing of the P6's counts by it. */
static void __init measure(void)
{
	struct perfctr_x86_registers regs = {};
	unsigned int last = perfctr_pmu.nr - 1;

	if (perfctr_pmu.nr) {
		regs.rdpmc = last;
		regs.perfctr = MSR_ARCH_PERFMON_PERFCTR0 + last;
		regs.width = perfctr_pmu.width;
		regs.evntsel = MSR_ARCH_PERFMON_EVENTSEL0 + last;
		regs.control = EVNTSEL_USR | enable(last);
		regs.global_ctrl = perfctr_pmu.version >= 2 ? global_bits(perfctr_pmu.counters) : 0;
		if (reserve()) {
			pr_info("perfctr: cost not measured: perf_events or the NMI watchdog has the counters\n");
			return;
		}
	}
	migrate_disable();
	if (perfctr_pmu.nr && claim_look(NULL))
		pr_info("perfctr: cost not measured: the firmware has the counters\n");
	else
		perfctr_x86_measure(&regs);
	migrate_enable();
	if (perfctr_pmu.nr)
		unreserve(perfctr_pmu.nr, perfctr_pmu.nr);
}

int __init perfctr_cpu_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_TSC))
		return -ENODEV;
	perfctr_x86_find_counters();
	if (perfctr_x86_measure_wanted)
		measure();
	return 0;
}

void perfctr_cpu_exit(void)
{
	perfctr_x86_interrupt_exit();
}
