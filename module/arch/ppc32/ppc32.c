// SPDX-License-Identifier: GPL-2.0
/*
 * PowerPC, 32 bits: which counters a processor has, checks and claims. The rules are those of
 * perfctr 2.6's low-level-ppc32.txt. Facts about models are from the user's manuals of the 604,
 * 750GX, MPC7400 and MPC7450, and from Linux's arch/powerpc/perf/mpc7450-pmu.c. Any other PowerPC
 * with a timebase has only the clock.
 */

#define pr_fmt(fmt) "perfctr: " fmt

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <asm/pmc.h>
#include <asm/reg.h>
#include <asm/time.h>

#include "arch/user.h"
#include "arch/ppc32/registers.h"

#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

/* perfctr_ctr_control.config has MMCR0 in its lower half and MMCR2 in its upper half. */
#define CONFIG_MMCR0(config)	lower_32_bits(config)
#define CONFIG_MMCR2(config)	upper_32_bits(config)

/*
 * Users may not set these bits of MMCR0. The flags of a control give the modes, and the driver
 * enables interrupts.
 */
#define MMCR0_RESERVED		(MMCR0_FC_BIT | MMCR0_FCS_BIT | MMCR0_FCP_BIT | MMCR0_PMXE_BIT | \
				 MMCR0_SELECTS)

/*
 * No model counts more than 2^33 events per second on one counter. This limits the ageing period.
 */
#define MAX_RATE_SHIFT	33
#define AGED_WIDTH	31	/* bits that a counter uses before it is aged */

static bool unsafe_interrupts;
module_param(unsafe_interrupts, bool, 0444);
MODULE_PARM_DESC(unsafe_interrupts, "i-mode counters even where an erratum of the processor may crash the kernel then (no)");

/* The 604 decodes 5 bits of each select. */
static const struct perfctr_ppc32_events events_604 = { { 5, 5 }, { 0x3 }, { 4 } };
/* All counters have the same first events: nothing, cycles, instructions, ... */
static const struct perfctr_ppc32_events events_4 = { { 7, 6, 5, 5 }, { 0xf }, { 4 } };
/* These numbers are those of mpc7450_classify_event(). */
static const struct perfctr_ppc32_events events_7450 = {
	{ 7, 6, 5, 5, 5, 6 }, { 0x3f, 0x0f, 0x0b, 0x03 }, { 1, 7, 13, 22 },
};

static const struct perfctr_ppc32_model models[] __initconst = {
	{ 0x0004, PERFCTR_PPC_604, 2, 1, false, false, &events_604 },
	{ 0x0009, PERFCTR_PPC_604e, 4, 2, false, false, &events_4 },
	{ 0x000a, PERFCTR_PPC_604e, 4, 2, false, false, &events_4 },	/* 604ev */
	{ 0x0008, PERFCTR_PPC_750, 4, 2, false, true, &events_4 },	/* 740, 750 */
	{ 0x7000, PERFCTR_PPC_750, 4, 2, false, true, &events_4 },	/* 750FX */
	{ 0x7002, PERFCTR_PPC_750, 4, 2, false, true, &events_4 },	/* 750GX */
	{ 0x000c, PERFCTR_PPC_7400, 4, 3, true, true, &events_4 },
	{ 0x800c, PERFCTR_PPC_7400, 4, 3, true, true, &events_4 },	/* 7410 */
	{ 0x8000, PERFCTR_PPC_7450, 6, 3, true, true, &events_7450 },	/* 7441, 7451 */
	{ 0x8001, PERFCTR_PPC_7450, 6, 3, true, true, &events_7450 },	/* 7445, 7455 */
	{ 0x8002, PERFCTR_PPC_7450, 6, 3, true, true, &events_7450 },	/* 7447, 7457 */
	{ 0x8003, PERFCTR_PPC_7450, 6, 3, true, true, &events_7450 },	/* 7447A */
	{ 0x8004, PERFCTR_PPC_7450, 6, 3, true, true, &events_7450 },	/* 7448 */
};

/*
 * The first bit of each counter's select. The selects of PMC1 and PMC2 are in MMCR0, and the other
 * selects are in MMCR1.
 */
static const u8 select_shift[PERFCTR_PPC32_MAX] = { 6, 0, 27, 22, 17, 11 };

static bool interrupts;			/* i-mode is available; constant after init */
static unsigned int nr_claims;		/* number of claimed configs; under config_mutex */

/*
 * Returns true if counters can interrupt without harm. If a counter's interrupt comes together with
 * the decrementer's or a thermal interrupt, some processors lose SRR0 and SRR1, and so the address
 * to return to. The MPC7410 1.3 fixed this, as engineers of Motorola said on linux-kernel in March
 * 2003. The 7400 was never fixed. Nobody knows about the 750, the ancestor of both. The 745x is
 * another design, and perf uses its interrupt.
 */
static bool __init interrupts_are_safe(u32 pvr)
{
	switch (perfctr_ppc32_model.type) {
	case PERFCTR_PPC_750:
		return false;
	case PERFCTR_PPC_7400:
		return PVR_VER(pvr) == 0x800c && (PVR_REV(pvr) & 0xff) >= 3;
	default:
		return true;
	}
}

/*
 * Returns the counters on which this number means the same event. Returns 0 if the number means
 * different events on different counters, so that the control must name a counter.
 */
static u32 common_counters(u64 event)
{
	const struct perfctr_ppc32_events *events = perfctr_ppc32_model.events;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events->common); i++)
		if (event <= events->last[i])
			return events->common[i];
	return 0;
}

static bool selects(unsigned int hw, u64 event)
{
	return event < BIT(perfctr_ppc32_model.events->selects[hw]);
}

/*
 * Places the counters that asked for PERFCTR_MAP_ANY. The sets of counters that can count an event
 * are nested: each set contains all smaller sets. So counters with the smallest sets choose first,
 * and this function finds a placement if there is one. Returns the index of the first counter
 * without a place, or @nr.
 */
static u32 place(const struct perfctr_ctr_control *ctr, u32 nr, u8 *hw, u32 *used)
{
	unsigned int size;
	u32 i;

	*used = 0;
	for (i = 0; i < nr; i++) {
		if (ctr[i].map == PERFCTR_MAP_ANY)
			continue;
		hw[i] = array_index_nospec(ctr[i].map, PERFCTR_PPC32_MAX);
		*used |= BIT(hw[i]);
	}
	for (size = 1; size <= PERFCTR_PPC32_MAX; size++) {
		for (i = 0; i < nr; i++) {
			u32 can = common_counters(ctr[i].event);

			if (ctr[i].map != PERFCTR_MAP_ANY || hweight32(can) != size)
				continue;
			can &= ~*used;
			if (!can)
				return i;
			/* The last counters count fewer events than the first. */
			hw[i] = fls(can) - 1;
			*used |= BIT(hw[i]);
		}
	}
	return nr;
}

/*
 * All counters share the control registers, so each counter of a control must ask for the same
 * values.
 */
static int check_registers(const struct perfctr_ctr_control *ctr, u32 nr)
{
	u32 mmcr0 = CONFIG_MMCR0(ctr->config), mmcr2 = CONFIG_MMCR2(ctr->config);
	u32 conditions = MMCR0_TBEE_BIT | MMCR0_PMC1CE_BIT | MMCR0_PMCNCE_BIT;

	if (mmcr0 & MMCR0_RESERVED)
		return -EINVAL;
	if (mmcr2 & ~(perfctr_ppc32_model.mmcrs > 2 ? MMCR2_THRESHMULT_BIT : 0))
		return -EINVAL;
	/*
	 * i-mode counters, which come last, use the conditions to interrupt. Nothing else may
	 * interrupt.
	 */
	return ctr[nr - 1].ireset && mmcr0 & conditions ? -EINVAL : 0;
}

static int check_one(const struct perfctr_ctr_control *ctr, const struct perfctr_ctr_control *first,
		     u32 *used, struct perfctr_refusal *why)
{
	u32 map = ctr->map;

	if (!ctr->flags || ctr->flags & ~CTR_BOTH)
		return -EINVAL;
	if (ctr->flags != first->flags || ctr->config != first->config)
		return -EINVAL;
	if (map == PERFCTR_MAP_ANY) {
		if (!common_counters(ctr->event))
			return -EINVAL;
	} else {
		if (map >= perfctr_ppc32_model.counters)
			return -EINVAL;
		map = array_index_nospec(map, PERFCTR_PPC32_MAX);
		if (*used & BIT(map) || !selects(map, ctr->event))
			return -EINVAL;
		*used |= BIT(map);
	}
	if (!ctr->ireset)
		return 0;
	if (!interrupts) {
		why->reason = PERFCTR_REASON_ERRATUM;
		return -EOPNOTSUPP;
	}
	/*
	 * A counter with a period longer than 2^31 overflows before the period ends. Each overflow
	 * would freeze all counters.
	 */
	if (CONFIG_MMCR0(ctr->config) & MMCR0_FCECE_BIT && ctr->ireset < -(s64)BIT_ULL(31))
		return -EINVAL;
	return 0;
}

int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why)
{
	u32 i, used = 0;
	u8 hw[PERFCTR_MAX_HW];
	int err;

	if (!nr)
		return 0;
	why->index = 0;
	if (!perfctr_ppc32_model.counters || nr > perfctr_ppc32_model.counters)
		return -EINVAL;
	err = check_registers(ctr, nr);
	if (err)
		return err;
	for (i = 0; i < nr; i++) {
		why->index = i;
		err = check_one(&ctr[i], ctr, &used, why);
		if (err)
			return err;
	}
	i = place(ctr, nr, hw, &used);
	if (i < nr) {
		why->index = i;
		why->reason = PERFCTR_REASON_COUNTER;
		why->possible = common_counters(ctr[i].event);
		return -EINVAL;
	}
	why->index = PERFCTR_NO_INDEX;
	*kernel |= ctr->flags & PERFCTR_CTR_KERNEL;
	return 0;
}

size_t perfctr_cpu_image_size(u32 nr)
{
	return nr ? sizeof(struct perfctr_cpu_image) : 0;
}

static void make_image(struct perfctr_config *config)
{
	struct perfctr_cpu_image *image = config->image;
	u32 flags = config->ctr[0].flags, i;
	u32 mmcr0 = CONFIG_MMCR0(config->ctr[0].config);
	u32 select[2] = {}, iselect[2] = {};

	if (!(flags & PERFCTR_CTR_USER))
		mmcr0 |= MMCR0_FCP_BIT;
	if (!(flags & PERFCTR_CTR_KERNEL))
		mmcr0 |= MMCR0_FCS_BIT;
	config->own_way = mmcr0 & (MMCR0_FCECE_BIT | MMCR0_TRIGGER_BIT);
	for (i = 0; i < config->nr; i++) {
		unsigned int hw = config->hw[i];
		u32 bits = (u32)config->ctr[i].event << select_shift[hw];

		if (i < perfctr_config_nr_actrs(config))
			select[hw >= 2] |= bits;
		else
			iselect[hw >= 2] |= bits;
	}
	image->full[0] = mmcr0 | select[0] | iselect[0];
	image->full[1] = select[1] | iselect[1];
	image->full[2] = CONFIG_MMCR2(config->ctr[0].config);
	image->chained = 0;
	if (config->nr_ictrs)
		image->full[0] |= MMCR0_PMXE_BIT;
	if (config->imask & BIT(0))
		image->full[0] |= MMCR0_PMC1CE_BIT;
	if (config->imask & ~BIT(0)) {
		image->full[0] |= MMCR0_PMCNCE_BIT;
		image->chained = GENMASK(perfctr_ppc32_model.counters - 1, 1);
	}
	image->mmcr[0] = config->own_way ? MMCR0_FC_BIT : mmcr0 | select[0];
	image->mmcr[1] = select[1];
	image->mmcr[2] = image->full[2];
}

/* Either perf has all counters, or we have them. The kernel records who has them. */

static perfctr_ihandler_t ihandler;	/* NULL without a handler */
static DEFINE_PER_CPU(struct pt_regs *, interrupted);

/*
 * The kernel calls this like any interrupt handler: interrupts are off, and irq_enter() was called.
 * If the interrupt was raised before the switch to this thread, the handler finds no overflow.
 */
static void overflow(struct pt_regs *regs)
{
	perfctr_ihandler_t handler = READ_ONCE(ihandler);

	__this_cpu_write(interrupted, regs);
	if (handler)
		handler(false);
	perfctr_ppc32_quiet();
	if (handler)
		handler(true);
}

bool perfctr_cpu_interrupted_user(void)
{
	return user_mode(__this_cpu_read(interrupted));
}

struct pt_regs *perfctr_cpu_interrupted_regs(void)
{
	return __this_cpu_read(interrupted);
}

int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	if (!interrupts)
		return -ENODEV;
	WRITE_ONCE(ihandler, handler);
	/* Wait until CPUs that have read the old handler leave their interrupts. */
	if (!handler)
		synchronize_rcu();
	return 0;
}

/*
 * Records a failed reservation if @failed. Returns true if too many have failed. The kernel logs
 * each failed reservation, so we try at most ten times in a row, and then twice per second.
 * Requests in between fail without asking the kernel. config_mutex is held.
 */
static bool asked_too_often(bool failed)
{
	static unsigned long since;	/* when @failures last decreased */
	static unsigned int failures;
	const unsigned int most = 10;
	unsigned long passed = (jiffies - since) / (HZ / 2);

	failures -= min_t(unsigned long, passed, failures);
	since = failures ? since + passed * (HZ / 2) : jiffies;
	failures += failed;
	return failures >= most;
}

static int reserve(void)
{
	int err;

	if (asked_too_often(false))
		return -EBUSY;
	err = reserve_pmc_hardware(overflow);
	if (err)
		asked_too_often(true);
	return err;
}

static int take(void *unused)
{
	perfctr_ppc32_take();
	return 0;
}

static int release(void *unused)
{
	perfctr_ppc32_release();
	return 0;
}

/* Runs on each CPU when the claim of a config has ended and other claims remain. */
static int forget(void *unused)
{
	perfctr_cpu_rest();
	return 0;
}

int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	u32 i;

	config->mask = 0;
	if (!config->nr)
		return 0;
	place(config->ctr, config->nr, config->hw, &config->mask);
	config->imask = 0;
	for (i = perfctr_config_nr_actrs(config); i < config->nr; i++)
		config->imask |= BIT(config->hw[i]);
	config->arch_mask = config->mask & ~config->imask;
	make_image(config);
	if (!nr_claims) {
		if (reserve()) {
			why->owner = PERFCTR_OWNER_PERF;
			return -EBUSY;
		}
		WRITE_ONCE(perfctr_ppc32_claimed, true);
		run(take, NULL);
	}
	nr_claims++;
	return 0;
}

void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run)
{
	if (!config->nr)
		return;
	if (--nr_claims) {
		run(forget, NULL);
		return;
	}
	WRITE_ONCE(perfctr_ppc32_claimed, false);
	run(release, NULL);
	/*
	 * Our counters no longer interrupt. On a 74xx, the kernel's own way to stop interrupts
	 * would not work.
	 */
	release_pmc_hardware();
}

void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw)
{
	ctr->map = hw;
}

int perfctr_cpu_core(const struct perfctr_where *where, u32 *core)
{
	*core = 0;
	return 0;
}

bool perfctr_cpu_is_forbidden(unsigned int cpu)
{
	return false;
}

/*
 * Clears what we know of the CPU. After the CPU's offline callback ran, threads that still had to
 * leave the CPU may have loaded a config.
 */
void perfctr_cpu_prepare(unsigned int cpu)
{
	memset(per_cpu_ptr(&perfctr_ppc32_cpu, cpu), 0, sizeof(struct perfctr_ppc32_cpu));
}

void perfctr_cpu_reserve(unsigned int cpu)
{
}

void perfctr_cpu_unreserve(unsigned int cpu)
{
}

void perfctr_cpu_online(void)
{
	if (READ_ONCE(perfctr_ppc32_claimed))
		perfctr_ppc32_take();
}

void perfctr_cpu_offline(void)
{
	perfctr_ppc32_release();
}

void perfctr_cpu_join_claims(void)
{
	perfctr_cpu_online();
}

int perfctr_cpu_age(void *unused)
{
	perfctr_ppc32_age();
	return 0;
}

unsigned long perfctr_cpu_age_period(void)
{
	return perfctr_ppc32_model.counters ? perfctr_age_period(AGED_WIDTH, MAX_RATE_SHIFT) : 0;
}

u64 perfctr_cpu_clock_hz(void)
{
	return ppc_tb_freq;
}

unsigned int perfctr_cpu_nrctrs(void)
{
	return perfctr_ppc32_model.counters;
}

void perfctr_cpu_info(struct perfctr_kernel_info *info)
{
	const struct perfctr_ppc32_model *model = &perfctr_ppc32_model;

	info->cpu_type = model->type;
	info->cpu_features = PERFCTR_FEATURE_RDTSC;
	info->tsc_hz = ppc_tb_freq;
	info->cpu_khz = ppc_proc_freq / 1000;
	info->tsc_to_cpu_mult = DIV_ROUND_CLOSEST(ppc_proc_freq, ppc_tb_freq);
	info->nrctrs = model->counters;
	info->width = model->counters ? 32 : 64;
	if (!model->counters) {
		info->no_counters = PERFCTR_NO_COUNTERS_PROCESSOR;
		return;
	}
	info->counters = GENMASK_ULL(model->counters - 1, 0);
	info->cpu_features |= PERFCTR_FEATURE_FILTER;
	if (model->copies)
		info->cpu_features |= PERFCTR_FEATURE_RDPMC;
	if (interrupts)
		info->cpu_features |= PERFCTR_FEATURE_PCINT;
}

int __init perfctr_cpu_init(void)
{
	u32 pvr = mfspr(SPRN_PVR);
	unsigned int i;

	/* The 601 has no timebase. The frequency comes from the firmware. */
	if (!ppc_tb_freq)
		return -ENODEV;
	perfctr_ppc32_model.type = PERFCTR_PPC_GENERIC;
	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (PVR_VER(pvr) == models[i].pvr)
			perfctr_ppc32_model = models[i];
	if (perfctr_ppc32_model.copies)
		static_branch_enable(&perfctr_ppc32_copies);
	perfctr_ppc32_verify_init();
	if (!perfctr_ppc32_model.counters)
		return 0;
	interrupts = interrupts_are_safe(pvr) || unsafe_interrupts;
	if (!interrupts)
		pr_info("no i-mode counters: an erratum makes their interrupts unsafe; see the parameter unsafe_interrupts\n");
	else if (!interrupts_are_safe(pvr))
		pr_warn("i-mode counters may crash the kernel, by an erratum of this processor\n");
	return 0;
}

void perfctr_cpu_exit(void)
{
	perfctr_ppc32_verify_exit();
}
