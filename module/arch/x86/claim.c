// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the counters of all CPUs from perf, and gives them back. Like perf, we take all counters or
 * none.
 */

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include <linux/smp.h>
#include <asm/nmi.h>

#include "arch/user.h"
#include "arch/x86/beside.h"
#include "arch/x86/choose.h"
#include "arch/x86/claim.h"
#include "arch/x86/extra.h"
#include "arch/x86/interrupt.h"
#include "arch/x86/mediated.h"
#include "arch/x86/processor.h"
#include "arch/x86/registers.h"
#include "arch/x86/take.h"
#include "arch/x86/trial.h"
#include "arch/x86/verify.h"

/*
 * Most firmware that counts has only forgotten to stop. perf takes the counters of such firmware
 * with a warning, and so do we. If the firmware needs the counters and writes to them again, we
 * notice it, because registers are verified.
 */
static bool override_firmware = true;
module_param(override_firmware, bool, 0644);
MODULE_PARM_DESC(override_firmware, "x86: take counters that the firmware uses, until it takes them back (Y)");

/*
 * The claims of counters, protected by config_mutex
 * @users: number of claimed configs
 * @iusers: number of claimed configs with i-mode counters
 * @taken: the counters are reserved, and we have them on every told CPU. True while there are
 *	users, and for some time after the last user: see perfctr_cpu_lingers()
 * @joinable: a CPU that joins may take its counters. Becomes false before the counters are given
 *	back
 * @returned: firmware that was overridden has taken counters back since @taken became true
 * @readable: processes may have the permission to read registers
 * @uses: beside perf: number of claimed configs that use each counter
 * @needed: beside perf: the counters that any claimed config uses
 * @held: beside perf: the counters that CPUs may hold
 * @took: beside perf: of these, those that all told CPUs have taken
 */
static struct {
	unsigned int users;
	unsigned int iusers;
	bool taken;
	bool joinable;
	bool returned;
	bool readable;
	unsigned int uses[PERFCTR_X86_MAX];
	u32 needed;
	u32 held;
	u32 took;
} claims;

static void unreserve_some(unsigned int ctrs, unsigned int controls)
{
	while (ctrs)
		release_perfctr_nmi(perfctr_pmu.ctr[--ctrs].msr);
	while (controls)
		release_evntsel_nmi(perfctr_pmu.control[--controls].msr);
}

void perfctr_x86_unreserve(void)
{
	unreserve_some(perfctr_pmu.nr_reserved, perfctr_pmu.nr_controls_reserved);
}

int perfctr_x86_reserve(void)
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

bool perfctr_x86_firmware_counts(void)
{
	static bool reported;	/* two CPUs may both warn, which does no harm */
	u64 value;
	u32 msr;

	if (this_cpu_read(perfctr_x86_cpu.core) == PERFCTR_X86_NO_CORE)
		return false;
	msr = perfctr_pmu.family->counts(&value);
	if (msr && !READ_ONCE(reported)) {
		WRITE_ONCE(reported, true);
		pr_warn("perfctr: CPU %u, MSR 0x%x is 0x%llx: the firmware counts, and its counters are %s (parameter override_firmware)\n",
			smp_processor_id(), msr, value,
			READ_ONCE(override_firmware) ? "taken from it" : "left to it");
	}
	return msr;
}

static int claim_look(void *unused)
{
	return perfctr_x86_firmware_counts() && !READ_ONCE(override_firmware) ? -EBUSY : 0;
}

/*
 * Notes whether firmware has taken counters back on this CPU. Such firmware needs its counters, so
 * we do not override firmware again until root sets the parameter.
 */
static void look_for_firmware(void)
{
	if (!perfctr_x86_firmware_returned())
		return;
	WRITE_ONCE(claims.returned, true);
	WRITE_ONCE(override_firmware, false);
}

/*
 * Takes the counters that we have reserved or hold. Returns -EBUSY if we hold counters that perf's
 * NMIs did not let us try. No config uses these on this CPU.
 */
static int claim_take(void *unused)
{
	bool tried = true;

	if (perfctr_pmu.beside) {
		tried = perfctr_x86_try_here(perfctr_x86_beside_held());
		perfctr_x86_beside_take();
	} else {
		perfctr_x86_take_all();
	}
	if (this_cpu_read(perfctr_x86_cpu.ours))
		perfctr_x86_watch();
	return tried ? 0 : -EBUSY;
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

/* Stops and zeroes all counters, but does not give them back. */
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

/* Forbids user mode to read counters, then gives the counters back. */
static int claim_release(void *unused)
{
	look_for_firmware();
	perfctr_cpu_update_permission();
	if (!perfctr_pmu.beside)
		perfctr_x86_release_all();
	return 0;
}

/*
 * Makes this CPU forget that it has loaded this config, because the config may have lost its claim.
 * The next resume of a state with this config then has to load the config.
 */
static int claim_forget(void *arg)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	const struct perfctr_config *config = arg;

	if (cpu->active == READ_ONCE(config->id))
		cpu->active = 0;
	/* The registers still run, so they will hold counts of other threads. */
	if (cpu->private_id == READ_ONCE(config->id)) {
		cpu->private_kin = 0;
		cpu->private_mm = 0;
	}
	return 0;
}

/*
 * Holds, tries and takes the counters that were chosen for a config. Returns 0, -EAGAIN if trials
 * have dropped some of them, or an error with *busy: see perfctr_x86_beside_hold().
 */
static int hold_chosen(const struct perfctr_config *config, perfctr_run_t run, u32 *busy)
{
	u32 counters = perfctr_x86_chosen(config);
	int err;

	/*
	 * After a loss, wait until those who counted have been told, then begin anew. Counters that
	 * nobody needs any more must not be why perf's last one is refused.
	 */
	if (perfctr_x86_beside_has_lost() || perfctr_x86_beside_is_last(counters))
		perfctr_cpu_give_back(run);
	*busy = 0;
	if (perfctr_x86_beside_has_lost())
		return -EBUSY;
	err = perfctr_x86_beside_hold(config, counters, busy);
	WRITE_ONCE(claims.held, claims.held | counters);
	WRITE_ONCE(claims.taken, true);
	WRITE_ONCE(claims.joinable, true);
	if (err || !(counters & ~claims.took))
		return err;
	*busy = counters & ~claims.took;
	err = run(claim_take, NULL);
	if (err)
		return err;
	if (perfctr_x86_drop_bad())
		return -EAGAIN;
	claims.took |= counters;
	return 0;
}

/*
 * Chooses counters for a config without those of @avoid, and so that an extra register is owned
 * with the right value. Returns 0, or an error with why->index.
 */
static int choose_without(struct perfctr_config *config, const u32 *can, u32 avoid,
			  struct perfctr_refusal *why)
{
	u32 left[PERFCTR_X86_MAX], i;

	for (i = 0; i < config->nr; i++) {
		left[i] = can[i] & ~avoid & perfctr_x86_beside_fit(&config->ctr[i]);
		why->index = i;
		/* A metric has no counter. */
		if (can[i] && !left[i])
			return -EBUSY;
	}
	return perfctr_x86_choose(config->ctr, left, config->nr, config->hw, why);
}

/*
 * Returns what a claim returns after perfctr_x86_beside_hold() has returned @err, which is not
 * -EBUSY. @index: the counter of the control that could not be had
 */
static int hold_failed(int err, u32 index, struct perfctr_refusal *why)
{
	switch (err) {
	case 0:
	case -EAGAIN:
	case -ENOMEM:
		return err;
	case -EOPNOTSUPP:
		why->reason = PERFCTR_REASON_MEDIATED;
		return -EBUSY;
	default:
		/* perf does not know the event, or its register. */
		why->reason = PERFCTR_REASON_MODEL;
		why->index = index;
		return -EOPNOTSUPP;
	}
}

/*
 * Chooses and holds the counters of a config beside perf: if possible those that all CPUs have
 * taken, because these cost perf nothing more. If perf has pinned an event to one of the others,
 * tries others again. Returns 0, -EAGAIN if trials have dropped counters, or an error with *why.
 */
static int claim_beside(struct perfctr_config *config, const u32 *can, perfctr_run_t run,
			struct perfctr_refusal *why)
{
	u32 index = PERFCTR_NO_INDEX, owner = PERFCTR_OWNER_PERF, avoid = 0, busy;
	int err;

	if (claims.taken && !perfctr_x86_beside_has_lost() &&
	    !choose_without(config, can, ~claims.took, why))
		return 0;
	*why = PERFCTR_NO_REFUSAL;
	err = perfctr_x86_choose(config->ctr, can, config->nr, config->hw, why);
	if (err)
		return err;
	/* Counters that nobody needs any more must not be why a control is refused. */
	if (choose_without(config, can, 0, why))
		perfctr_cpu_give_back(run);
	for (;;) {
		err = choose_without(config, can, avoid, why);
		if (err && !avoid) {
			index = why->index;
			owner = PERFCTR_OWNER_PERFCTR;
		}
		if (err)
			break;
		err = hold_chosen(config, run, &busy);
		if (err != -EBUSY)
			return hold_failed(err, perfctr_x86_index_of(config, busy & -busy), why);
		if (index == PERFCTR_NO_INDEX)
			index = perfctr_x86_index_of(config, busy);
		busy &= -busy;
		if (!busy || busy & avoid)
			break;
		avoid |= busy;
	}
	*why = PERFCTR_NO_REFUSAL;
	why->owner = owner;
	why->index = index;
	return -EBUSY;
}

/* Notes that a claimed config uses its counters, or does so no more. */
static void note_uses(const struct perfctr_config *config, bool more)
{
	unsigned long counters = config->mask;
	unsigned int hw;
	u32 needed = claims.needed;

	for_each_set_bit(hw, &counters, PERFCTR_X86_MAX) {
		claims.uses[hw] += more ? 1 : -1;
		needed = claims.uses[hw] ? needed | BIT(hw) : needed & ~BIT(hw);
	}
	WRITE_ONCE(claims.needed, needed);
}

static int claim_stop_others(void *unused)
{
	perfctr_x86_beside_stop_others(claims.needed);
	return 0;
}

/* Gives back the counters that no config uses any more. */
static void give_back_some(perfctr_run_t run)
{
	run(claim_stop_others, NULL);
	perfctr_x86_beside_keep(claims.needed);
	WRITE_ONCE(claims.held, claims.needed);
	claims.took &= claims.needed;
}

/* Takes all counters for the first config. Returns 0, or -EBUSY with why->owner. */
static int claim_first(perfctr_run_t run, struct perfctr_refusal *why)
{
	if (perfctr_x86_reserve()) {
		why->owner = PERFCTR_OWNER_PERF;
		return -EBUSY;
	}
	if (run(claim_look, NULL)) {
		perfctr_x86_unreserve();
		why->owner = PERFCTR_OWNER_FIRMWARE;
		return -EBUSY;
	}
	perfctr_x86_try_all(run);
	claims.returned = false;
	perfctr_x86_forget_permits();
	run(claim_take, NULL);
	WRITE_ONCE(claims.taken, true);
	WRITE_ONCE(claims.joinable, true);
	return 0;
}

/*
 * Chooses the counters of a config, and beside perf also holds them. The control is checked again,
 * because trials may have dropped counters since the first check. Returns 0, or an error with *why.
 */
static int choose(struct perfctr_config *config, perfctr_run_t run, struct perfctr_refusal *why)
{
	u32 can[PERFCTR_X86_MAX];
	unsigned int i;
	int err = 0;

	do {
		for (i = 0; i < config->nr && !err; i++) {
			why->index = i;
			err = perfctr_x86_can_count(&config->ctr[i], &can[i], why);
		}
		if (err)
			return err;
		err = perfctr_pmu.beside ?
		      claim_beside(config, can, run, why) :
		      perfctr_x86_choose(config->ctr, can, config->nr, config->hw, why);
	} while (err == -EAGAIN);
	return err;
}

/*
 * Gives the counters back, or only stops them if processes may still read them. Called when no
 * users are left.
 */
static void unclaim_all(perfctr_run_t run)
{
	/* Beside perf, the next config soon needs counters again, and holding them is slow. */
	if (perfctr_pmu.beside || perfctr_x86_any_permitted())
		run(claim_rest, NULL);
	else
		perfctr_cpu_give_back(run);
}

int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	bool first = !claims.taken;
	unsigned int i;
	int err;

	if (!config->nr)
		return 0;
	why->index = perfctr_x86_extra_refused(config);
	if (why->index != PERFCTR_NO_INDEX) {
		why->owner = PERFCTR_OWNER_PERFCTR;
		return -EBUSY;
	}
	err = perfctr_pmu.beside ? 0 : perfctr_x86_mediated(!first);
	if (err == -EBUSY)
		why->reason = PERFCTR_REASON_MEDIATED;
	if (err)
		return err;
	if (first && !perfctr_pmu.beside && claim_first(run, why))
		return -EBUSY;
	/* We have the counters, but firmware has taken some of them back. */
	if (claims.returned) {
		why->owner = PERFCTR_OWNER_FIRMWARE;
		return -EBUSY;
	}
	err = choose(config, run, why);
	if (err) {
		if (first && claims.taken)
			unclaim_all(run);
		return err;
	}
	WRITE_ONCE(claims.users, claims.users + 1);
	for (i = 0; i < config->nr; i++)
		if (config->hw[i] >= PERFCTR_X86_METRIC || perfctr_x86_waits(&config->ctr[i]))
			config->own_way = true;
	config->mask = perfctr_x86_chosen(config);
	if (perfctr_pmu.beside)
		note_uses(config, true);
	for (i = perfctr_config_nr_actrs(config); i < config->nr; i++)
		config->imask |= BIT(config->hw[i]);
	perfctr_x86_compile(config);
	if (config->nr_ictrs && !claims.iusers++)
		run(claim_take_interrupts, NULL);
	err = perfctr_x86_extra_get(config, run, &why->index);
	if (err) {
		perfctr_cpu_unclaim(config, run);
	} else if (!claims.readable) {
		claims.readable = true;
		/* Now all registers are zero on every CPU, so processes may read them. */
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
	if (perfctr_pmu.beside)
		note_uses(config, false);
	if (claims.users)
		run(claim_forget, config);
	else
		unclaim_all(run);
}

/*
 * Returns true if we keep the counters although there are no users. A thread may see in its page
 * that it can read a register, and read the register only after another thread has ended the
 * counting. If the permission had ended by then, the read would kill the thread. If the permission
 * stayed after the counters are perf's again, the thread could read perf's counts. So we keep the
 * counters for a while, at zero. Beside perf, we also keep single counters for a while.
 */
bool perfctr_cpu_lingers(void)
{
	return READ_ONCE(claims.taken) && (!READ_ONCE(claims.users) ||
					   READ_ONCE(claims.held) & ~READ_ONCE(claims.needed));
}

void perfctr_cpu_give_back(perfctr_run_t run)
{
	if (!perfctr_cpu_lingers())
		return;
	if (claims.users) {
		give_back_some(run);
		return;
	}
	claims.readable = false;
	perfctr_x86_permit_claimed(false);
	WRITE_ONCE(claims.joinable, false);
	run(claim_release, NULL);
	WRITE_ONCE(claims.taken, false);
	if (perfctr_pmu.beside)
		give_back_some(run);
	else
		perfctr_x86_unreserve();
}

/* Tries the counters of a CPU that comes up. */
static void try_coming(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	bool own = !claims.taken;

	if (cpu->core == PERFCTR_X86_NO_CORE || !perfctr_pmu.counters || perfctr_pmu.beside ||
	    (own && perfctr_x86_reserve()))
		return;
	if (!own || !perfctr_x86_firmware_counts())
		perfctr_x86_try_here(perfctr_pmu.counters);
	if (own)
		perfctr_x86_unreserve();
	perfctr_x86_judge_coming();
}

/*
 * Takes this CPU's counters if there are claims. This is also called after a sleep in which the
 * registers were lost.
 */
void perfctr_cpu_online(void)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);

	if (!cpu->tried)
		try_coming();
	if (claims.taken) {
		if (claim_take(NULL))
			cpu->load_core = PERFCTR_X86_LOST;
		if (perfctr_pmu.beside)
			perfctr_x86_judge_coming();
		if (claims.iusers)
			perfctr_x86_take_interrupts(true);
		return;
	}
	/*
	 * We may still have this CPU's counters, if a thread loaded a config as the CPU went down
	 * and the last user has gone since. But perf may have reserved the counters by now.
	 */
	if (!perfctr_pmu.beside && (cpu->ours || perfctr_x86_extra_ever_had()) &&
	    !perfctr_x86_reserve()) {
		perfctr_x86_release_all();
		perfctr_x86_extra_release();
		perfctr_x86_unreserve();
	}
	cpu->ours = false;
	perfctr_x86_belong_to_nobody(cpu);
}

void perfctr_cpu_join_claims(void)
{
	if (READ_ONCE(claims.joinable))
		perfctr_cpu_online();
}

/*
 * Gives this CPU's counters back. Threads that must leave the CPU may take them again and raise
 * interrupts, but the kernel masks all interrupts of a CPU that goes down.
 */
void perfctr_cpu_offline(void)
{
	lockdep_assert_irqs_disabled();
	/*
	 * Beside perf we keep the counters until the CPU comes up again. perf soon removes all its
	 * events from the CPU, and does not touch a counter that we hold.
	 */
	if (!perfctr_pmu.beside)
		perfctr_x86_release_all();
}
