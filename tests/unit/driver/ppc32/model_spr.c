// SPDX-License-Identifier: GPL-2.0
/* The modelled machine: see model_spr.h. */
#include <asm/pmc.h>
#include <asm/reg.h>
#include <asm/time.h>
#include <check.h>

#include "ppc32/model_spr.h"

/* More interrupts in a row than this do not end. */
#define STORM	20

struct model_machine model;
unsigned int model_writes[SHIM_CPUS][MODEL_SPRS];
unsigned int model_sets[SHIM_CPUS][MODEL_PMCS];
unsigned int model_irqs[SHIM_CPUS];
unsigned int model_complaints, model_releases;
unsigned long ppc_tb_freq, ppc_proc_freq;

static struct {
	u32 mmcr[MODEL_MMCRS];
	u32 bamr;
	u32 pmc[MODEL_PMCS];
	u64 timebase;
	bool condition;		/* one stood when we last looked */
} cpus[SHIM_CPUS];

static enum model_owner holder;
static perf_irq_t heard_by;

/*
 * The user's manuals of the 604, 604e, 750, MPC7400 (and 7410) and MPC7450; version numbers as in
 * Linux's arch/powerpc/kernel/cpu_specs_book3s_32.h.
 */
const struct model_processor model_processors[MODEL_PROCESSORS] = {
	{ "601", 0x00010001, PERFCTR_PPC_GENERIC, 0, 0, false, false, false },
	{ "603e", 0x00060101, PERFCTR_PPC_GENERIC, 0, 0, false, false, false },
	{ "604", 0x00040103, PERFCTR_PPC_604, 2, 1, false, false, true },
	{ "604e", 0x00090204, PERFCTR_PPC_604e, 4, 2, false, false, true },
	{ "604ev", 0x000a0101, PERFCTR_PPC_604e, 4, 2, false, false, true },
	{ "750", 0x00080202, PERFCTR_PPC_750, 4, 2, false, true, false },
	{ "750FX", 0x70000203, PERFCTR_PPC_750, 4, 2, false, true, false },
	{ "750GX", 0x70020102, PERFCTR_PPC_750, 4, 2, false, true, false },
	{ "7400", 0x000c0209, PERFCTR_PPC_7400, 4, 3, true, true, false },
	{ "7410 1.2", 0x800c1102, PERFCTR_PPC_7400, 4, 3, true, true, false },
	{ "7410 1.3", 0x800c1103, PERFCTR_PPC_7400, 4, 3, true, true, true },
	{ "7450", 0x80000201, PERFCTR_PPC_7450, 6, 3, true, true, true },
	{ "7455", 0x80010303, PERFCTR_PPC_7450, 6, 3, true, true, true },
	{ "7457", 0x80020102, PERFCTR_PPC_7450, 6, 3, true, true, true },
	{ "7447A", 0x80030101, PERFCTR_PPC_7450, 6, 3, true, true, true },
	{ "7448", 0x80040202, PERFCTR_PPC_7450, 6, 3, true, true, true },
	/* Another book: its numbers of SPRs mean something else. */
	{ "e500", 0x80200010, PERFCTR_PPC_GENERIC, 0, 0, false, false, false },
};

const struct model_machine model_default = { .pvr = 0x80000201, .nr_cpus = 2 };
const struct model_machine model_tight = { .pvr = 0x80000201, .nr_cpus = 2 };
/* Only one without counters has nothing to age. */
const struct model_machine model_ageless = { .pvr = 0x00060101, .nr_cpus = 2 };
const struct model_machine model_narrow = { .pvr = 0x80000201, .nr_cpus = 2 };

static const u64 kinds[KIND_NR] = {
	[KIND_CYCLES] = EV_CYCLES,
	[KIND_INSTRUCTIONS] = EV_INSTRUCTIONS,
	[KIND_BRANCHES] = EV_BRANCHES,
	[KIND_DTLB_READ] = EV_DTLB_READ,
	[KIND_DTLB_WRITE] = EV_DTLB_WRITE,
	[KIND_ITLB] = EV_ITLB,
	[KIND_STORES] = EV_STORES,
	[KIND_LOADS] = EV_LOADS,
	[KIND_REFERENCE_CYCLES] = ~0ull,	/* has none */
	[KIND_MISPREDICTIONS] = ~0ull,
};

const struct model_processor *model_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < MODEL_PROCESSORS; i++)
		if (!strcmp(model_processors[i].name, name))
			return &model_processors[i];
	ck_abort_msg("no processor %s", name);
	return NULL;
}

const struct model_processor *model_processor(void)
{
	unsigned int i;

	for (i = 0; i < MODEL_PROCESSORS; i++)
		if (model_processors[i].pvr == model.pvr)
			return &model_processors[i];
	ck_abort_msg("no processor has the version %#x", model.pvr);
	return NULL;
}

struct model_machine model_machine_of(const struct model_processor *processor)
{
	return (struct model_machine) { .pvr = processor->pvr, .nr_cpus = 2 };
}

/*
 * Registers
 */

static u32 *reg_of(unsigned int cpu, unsigned int spr)
{
	const struct model_processor *has = model_processor();
	unsigned int hw = MODEL_PMCS;

	switch (spr) {
	case SPR_MMCR0:
		return has->mmcrs > 0 ? &cpus[cpu].mmcr[0] : NULL;
	case SPR_MMCR1:
		return has->mmcrs > 1 ? &cpus[cpu].mmcr[1] : NULL;
	case SPR_MMCR2:
		return has->mmcrs > 2 ? &cpus[cpu].mmcr[2] : NULL;
	case SPR_BAMR:
		return has->bamr ? &cpus[cpu].bamr : NULL;
	case SPR_PMC1:
	case SPR_PMC2:
		hw = spr - SPR_PMC1;
		break;
	case SPR_PMC3:
	case SPR_PMC4:
		hw = spr - SPR_PMC3 + 2;
		break;
	case SPR_PMC5:
	case SPR_PMC6:
		hw = spr - SPR_PMC5 + 4;
		break;
	default:
		break;
	}
	return hw < has->counters ? &cpus[cpu].pmc[hw] : NULL;
}

static u32 *get_reg(unsigned int cpu, unsigned int spr)
{
	u32 *reg = reg_of(cpu, spr);

	/* A program exception */
	ck_assert_msg(reg, "a %s has no SPR %u", model_processor()->name, spr);
	return reg;
}

bool model_has_spr(unsigned int spr)
{
	return reg_of(0, spr);
}

static unsigned int pmc_spr(unsigned int hw)
{
	static const unsigned int spr[MODEL_PMCS] = {
		SPR_PMC1, SPR_PMC2, SPR_PMC3, SPR_PMC4, SPR_PMC5, SPR_PMC6,
	};

	ck_assert_uint_lt(hw, MODEL_PMCS);
	return spr[hw];
}

/* A condition that PMC1CE or PMCnCE enables */
static bool condition_stands(unsigned int cpu)
{
	u32 mmcr0 = cpus[cpu].mmcr[0];
	unsigned int hw;

	for (hw = 0; hw < model_processor()->counters; hw++)
		if (cpus[cpu].pmc[hw] & NEGATIVE && mmcr0 & (hw ? PMCNCE : PMC1CE))
			return true;
	return false;
}

/* Something is enabled, and occurs right now. */
static void occur(unsigned int cpu)
{
	u32 *mmcr0 = &cpus[cpu].mmcr[0];

	if (*mmcr0 & TRIGGER)
		*mmcr0 &= ~TRIGGER;
	else if (*mmcr0 & FCECE)
		*mmcr0 |= FC;
}

/* A register has changed. */
static void look(unsigned int cpu)
{
	bool stood = cpus[cpu].condition;

	cpus[cpu].condition = condition_stands(cpu);
	if (cpus[cpu].condition && !stood)
		occur(cpu);
	/* Without a condition as well */
	if (cpus[cpu].pmc[0] & NEGATIVE)
		cpus[cpu].mmcr[0] &= ~TRIGGER;
}

u32 shim_mfspr(unsigned int spr)
{
	if (spr == SPRN_PVR)
		return model.pvr;
	shim_point();
	lockdep_assert_irqs_disabled();
	ck_assert_msg(holder == MODEL_DRIVER, "SPR %u is read, which is not ours", spr);
	return *get_reg(shim_cpu, spr);
}

static void write_reg(unsigned int cpu, unsigned int spr, u32 value)
{
	u32 *reg = get_reg(cpu, spr);

	*reg = value;
	if (reg >= cpus[cpu].pmc && reg < cpus[cpu].pmc + MODEL_PMCS && value)
		model_sets[cpu][reg - cpus[cpu].pmc]++;
	look(cpu);
}

void shim_mtspr(unsigned int spr, u32 value)
{
	lockdep_assert_irqs_disabled();
	ck_assert_msg(holder == MODEL_DRIVER, "SPR %u is written, which is not ours", spr);
	write_reg(shim_cpu, spr, value);
	model_writes[shim_cpu][spr]++;
}

u32 model_spr(unsigned int cpu, unsigned int spr)
{
	return *get_reg(cpu, spr);
}

void model_set_spr(unsigned int cpu, unsigned int spr, u32 value)
{
	write_reg(cpu, spr, value);
}

u32 model_pmc(unsigned int cpu, unsigned int hw)
{
	return *get_reg(cpu, pmc_spr(hw));
}

void model_set_pmc(unsigned int cpu, unsigned int hw, u32 value)
{
	write_reg(cpu, pmc_spr(hw), value);
}

u64 model_value(unsigned int cpu, unsigned int hw)
{
	return hw < model_processor()->counters ? cpus[cpu].pmc[hw] : 0;
}

void model_set_value(unsigned int cpu, unsigned int hw, u64 value)
{
	model_set_pmc(cpu, hw, (u32)value);
}

unsigned int model_all_calls(void)
{
	unsigned int cpu, spr, all = 0;

	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		for (spr = 0; spr < MODEL_SPRS; spr++)
			all += model_writes[cpu][spr];
	return all;
}

void model_calls_reset(void)
{
	memset(model_writes, 0, sizeof(model_writes));
}

u64 get_tb(void)
{
	return cpus[shim_cpu].timebase;
}

/*
 * Counting
 */

static u32 select_of(unsigned int cpu, unsigned int hw)
{
	const u32 *mmcr = cpus[cpu].mmcr;

	switch (hw) {
	case 0:
		return mmcr[0] >> 6 & 0x7f;
	case 1:
		return mmcr[0] & 0x3f;
	case 2:
		return mmcr[1] >> 27;
	case 3:
		return mmcr[1] >> 22 & 0x1f;
	case 4:
		return mmcr[1] >> 17 & 0x1f;
	default:
		return mmcr[1] >> 11 & 0x3f;
	}
}

/* MSR[PMM] is 0 here. */
static bool is_frozen(u32 mmcr0, enum model_mode mode)
{
	return mmcr0 & (FC | FCM0) || (mode == MODEL_USER ? mmcr0 & FCP : mmcr0 & FCS);
}

/* The counters of the current CPU that count that now */
static u32 counting(u64 event, enum model_mode mode)
{
	u32 mmcr0 = cpus[shim_cpu].mmcr[0], mask = 0;
	unsigned int hw;

	if (is_frozen(mmcr0, mode))
		return 0;
	for (hw = 0; hw < model_processor()->counters; hw++)
		if (select_of(shim_cpu, hw) == event && !(hw && mmcr0 & TRIGGER))
			mask |= (u32)BIT(hw);
	return mask;
}

/* How many events it takes until one of these becomes negative, or @nr */
static u64 until_negative(u32 mask, u64 nr)
{
	unsigned int hw;

	for (hw = 0; hw < MODEL_PMCS; hw++) {
		u32 value = cpus[shim_cpu].pmc[hw];

		if (mask & BIT(hw) && !(value & NEGATIVE))
			nr = min(nr, (u64)(NEGATIVE - value));
	}
	return nr;
}

void model_count(enum model_kind kind, enum model_mode mode, u64 nr)
{
	unsigned int hw;

	while (nr) {
		u32 mask = counting(kinds[kind], mode);
		u64 some = until_negative(mask, nr);

		if (!mask)
			return;
		for (hw = 0; hw < MODEL_PMCS; hw++)
			if (mask & BIT(hw))
				cpus[shim_cpu].pmc[hw] += (u32)some;
		look(shim_cpu);
		nr -= some;
	}
}

/* The bit of the timebase becomes 1 at some time on the way. */
static bool timebase_event(u64 from, u64 time, u32 mmcr0)
{
	static const unsigned int bits[] = { 0, 8, 12, 16 };
	unsigned int bit = bits[mmcr0 >> 23 & 3];

	return ((from + time + BIT_ULL(bit)) >> (bit + 1)) > ((from + BIT_ULL(bit)) >> (bit + 1));
}

void model_pass(u64 time)
{
	u64 from = cpus[shim_cpu].timebase;
	u32 mmcr0 = cpus[shim_cpu].mmcr[0];

	cpus[shim_cpu].timebase += time;
	if (mmcr0 & TBEE && timebase_event(from, time, mmcr0))
		occur(shim_cpu);
}

enum model_kind model_kind(u64 event)
{
	enum model_kind kind;

	for (kind = KIND_CYCLES; kind < KIND_NR; kind++)
		if (kinds[kind] == event)
			return kind;
	ck_abort_msg("no event %llu", event);
	return KIND_NR;
}

/* Whatever is not user mode is supervisor mode here. */
u64 tally_count(const struct model_tally *tally, const struct perfctr_ctr_control *ctr,
		unsigned int hw)
{
	const u64 *nr;

	(void)hw;
	if (ctr->event == EV_NOTHING)
		return 0;
	nr = tally->nr[model_kind(ctr->event)];
	return (ctr->flags & USER ? nr[MODEL_USER] : 0) +
	       (ctr->flags & KERNEL ? nr[MODEL_KERNEL] + nr[MODEL_MACHINE] : 0);
}

/*
 * The interrupt, and who has the performance monitor
 */

bool model_irq_waits(unsigned int cpu)
{
	return cpus[cpu].mmcr[0] & PMXE && condition_stands(cpu);
}

void model_irq(unsigned int cpu, bool user)
{
	struct pt_regs regs = { .msr = user ? SHIM_MSR_PR : 0 };
	unsigned int before = shim_cpu, times = 0;

	shim_cpu = cpu;
	do {
		ck_assert_msg(times++ < STORM, "CPU %u gets nothing done but interrupts", cpu);
		if (!model.keeps_pmxe)
			cpus[cpu].mmcr[0] &= ~PMXE;
		model_irqs[cpu]++;
		/* As the kernel's dummy, which that is without an owner */
		ck_assert_msg(heard_by, "CPU %u is interrupted, and nobody hears it", cpu);
		local_irq_disable();
		heard_by(&regs);
		local_irq_enable();
	} while (model_irq_waits(cpu));
	shim_cpu = before;
}

static int reserve(enum model_owner who, perf_irq_t irq)
{
	if (holder != MODEL_NOBODY) {
		model_complaints++;
		return -EBUSY;
	}
	holder = who;
	heard_by = irq;
	return 0;
}

int reserve_pmc_hardware(perf_irq_t handler)
{
	might_sleep();
	return reserve(MODEL_DRIVER, handler);
}

/* From here on nobody hears an interrupt: none may come any more. */
void release_pmc_hardware(void)
{
	unsigned int cpu;

	might_sleep();
	ck_assert_int_eq(holder, MODEL_DRIVER);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		ck_assert_msg(!(cpus[cpu].mmcr[0] & PMXE), "CPU %u may interrupt for nobody", cpu);
	holder = MODEL_NOBODY;
	heard_by = NULL;
	model_releases++;
}

/* perf has all or nothing, as a machine. */
u32 model_perf_take_all(unsigned int cpu)
{
	(void)cpu;
	return reserve(MODEL_PERF, NULL) ? 0 : (u32)BIT(model_processor()->counters) - 1;
}

void model_perf_give(unsigned int cpu, u32 counters)
{
	(void)cpu;
	(void)counters;
	ck_assert_int_eq(holder, MODEL_PERF);
	holder = MODEL_NOBODY;
}

void model_ownership(struct model_ownership *all)
{
	unsigned int cpu;

	memset(all, 0, sizeof(*all));
	all->owner = holder;
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		memcpy(all->mmcr[cpu], cpus[cpu].mmcr, sizeof(all->mmcr[cpu]));
}

/* What the driver has given back is stopped, which it need not have been before. */
void model_expect_ownership(const struct model_ownership *before)
{
	unsigned int cpu, i;

	ck_assert_int_eq(holder, before->owner);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		for (i = 0; i < MODEL_MMCRS; i++) {
			u32 was = before->mmcr[cpu][i], is = cpus[cpu].mmcr[i];

			if (holder == MODEL_NOBODY && is == (i ? 0 : FC))
				continue;
			ck_assert_msg(is == was || holder == MODEL_DRIVER,
				      "CPU %u: MMCR%u is %#x, was %#x", cpu, i, is, was);
		}
	}
}

u32 model_owned(unsigned int cpu, enum model_owner owner)
{
	if (holder != owner || (owner == MODEL_DRIVER && !per_cpu(perfctr_ppc32_cpu, cpu).ours))
		return 0;
	return (u32)BIT(model_processor()->counters) - 1;
}

u32 model_needed(const struct perfctr_config *config)
{
	return config->nr ? (u32)BIT(model_processor()->counters) - 1 : 0;
}

bool driver_remembers(unsigned int cpu, const struct perfctr_config *config)
{
	const struct perfctr_ppc32_cpu *pcpu = per_cpu_ptr(&perfctr_ppc32_cpu, cpu);

	return pcpu->active == config->id || pcpu->private_kin == config->kin;
}

/*
 * CPUs that come, and that lose something
 */

static void reset(unsigned int cpu)
{
	unsigned int hw;

	memset(cpus[cpu].mmcr, 0, sizeof(cpus[cpu].mmcr));
	cpus[cpu].bamr = 0;
	for (hw = 0; hw < MODEL_PMCS; hw++)
		cpus[cpu].pmc[hw] = 0;
	cpus[cpu].condition = false;
}

void model_boot(const struct model_machine *machine)
{
	unsigned int cpu, hw;

	model = *machine;
	shim_possible = model.nr_cpus;
	shim_online = (u32)BIT(model.nr_cpus) - 1;
	ppc_tb_freq = model.no_timebase ? 0 : 33333333;
	ppc_proc_freq = 999999990;
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		reset(cpu);
		/* What the firmware left; no two registers hold the same by chance. */
		for (hw = 0; hw < model_processor()->counters; hw++)
			cpus[cpu].pmc[hw] = 0x10000u * (hw + 1) + 0x100u * cpu;
		cpus[cpu].bamr = model_processor()->bamr ? 0xfffffff0u : 0;
		cpus[cpu].timebase = 1000000 + cpu;
	}
}

void model_expect_loaded(void)
{
	ck_assert_int_eq(holder, MODEL_NOBODY);
	ck_assert_uint_eq(model_all_calls(), 0);
}

void model_cpu_off(unsigned int cpu)
{
	reset(cpu);
}

void model_cpu_on(unsigned int cpu)
{
	reset(cpu);
	/* Undefined after power-on */
	cpus[cpu].pmc[0] = 0x1234;
}

/* No firmware knows of them. */
void model_cpu_sleep(unsigned int cpu, bool firmware_forgets)
{
	(void)firmware_forgets;
	reset(cpu);
}
