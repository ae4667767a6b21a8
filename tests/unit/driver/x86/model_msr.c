// SPDX-License-Identifier: GPL-2.0
/* The modelled machine: see model_msr.h. */
#include <check.h>

#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>

#include "x86/model_inside.h"

const struct family *family(void)
{
	if (old_family())
		return old_family();
	if (model_is_p4())
		return &p4_family;
	if (model_is_amd())
		return model.amd_core ? &core : &k7;
	return model.version ? &architectural : &p6;
}

u32 model_perfctr(unsigned int n)
{
	return family()->perfctr + n * family()->stride;
}

u32 model_evntsel(unsigned int n)
{
	return family()->evntsel + n * family()->stride;
}

u32 model_global_ctrl(void)
{
	return model_is_amd() ? MSR_AMD64_PERF_CNTR_GLOBAL_CTL : MSR_CORE_PERF_GLOBAL_CTRL;
}

u32 model_global_status(void)
{
	return model_is_amd() ? MSR_AMD64_PERF_CNTR_GLOBAL_STATUS : MSR_CORE_PERF_GLOBAL_STATUS;
}

bool boot_cpu_has(unsigned int feature)
{
	switch (feature) {
	case X86_FEATURE_TSC:
		return !model.no_tsc;
	case X86_FEATURE_XENPV:
		return model.xenpv;
	case X86_FEATURE_HYBRID_CPU:
		return model.hybrid;
	case X86_FEATURE_APIC:
		return !model.no_apic;
	case X86_FEATURE_INTEL_PT:
		return model.pt;
	case X86_FEATURE_PDCM:
		return family()->pdcm && !model.no_pdcm;
	case X86_FEATURE_HT:
		return model.threads > 1;
	case X86_FEATURE_PERFCTR_CORE:
		return model.amd_core;
	case X86_FEATURE_PERFMON_V2:
		return model_is_amd() && model.version >= 2;
	case X86_FEATURE_PERFCTR_NB:
	case X86_FEATURE_PERFCTR_LLC:
		return model.amd_outside;
	case X86_FEATURE_MMX:
		return model.mmx;
	case X86_FEATURE_HYPERVISOR:
		return model.hypervisor;
	case X86_FEATURE_TSX_FORCE_ABORT:
		return model.tsx_force_abort;
	case X86_FEATURE_RTM_ALWAYS_ABORT:
		return model.rtm_always_abort;
	default:
		ck_abort_msg("no feature %u", feature);
		return false;
	}
}

bool cpu_smt_possible(void)
{
	return model.siblings;
}

u32 index_of(u32 msr, u32 first, u32 stride)
{
	u32 distance = msr - first;

	return distance % stride ? ~0u : distance / stride;
}

u64 enable_of(unsigned int i)
{
	return family()->one_enable && i ? 0 : SEL_EN;
}

/* NULL if there is no such register */
static const struct range *find_range(unsigned int cpu, u32 msr, u32 *i)
{
	const struct range *range;

	for (range = family()->ranges; range->most; range++) {
		*i = index_of(msr, range->first, range->stride);
		if (*i >= range->most)
			continue;
		*i += range->from;
		return range->is_there(cpu, *i) ? range : NULL;
	}
	return NULL;
}

static struct reg find(unsigned int cpu, u32 msr)
{
	struct reg missing = { .kind = REG_MISSING };
	const struct range *range;
	u32 i;

	if (msr == MSR_FS_BASE)
		return (struct reg) { REG_PLAIN, ~0ull, &cpus[cpu].fs_base };
	range = find_range(cpu, msr, &i);
	if (msr == model_no_msr || !range)
		return missing;
	return (struct reg) { range->kind, range->valid(cpu, i), range->value(cpu, i) };
}

/* All counters are at zero, and have the three events that the errata name. */
static bool has_reset_events(unsigned int cpu)
{
	static const u64 events[] = { 0x4300b5, 0x4300d2, 0x4300b1 };
	unsigned int i, k;
	u32 found = 0;

	for (i = 0; i < nr_gp_of(cpu); i++) {
		for (k = 0; k < 3 && cpus[cpu].control.evntsel[i] != events[k]; k++)
			;
		if (k == 3 || cpus[cpu].gp[i])
			return false;
		found |= (u32)BIT(k);
	}
	return found == 7;
}

/* With these events they run, and stand again. That lasts until a thread runs. */
static void watch_reset(u32 msr, u64 value)
{
	u32 i = index_of(msr, MSR_ARCH_PERFMON_EVENTSEL0, 1);

	if (msr == MSR_CORE_PERF_GLOBAL_CTRL) {
		if (!value && cpus[shim_cpu].resetting)
			cpus[shim_cpu].reset = true;
		cpus[shim_cpu].resetting = (value & 0xf) == 0xf && has_reset_events(shim_cpu);
	} else if (i < nr_gp_of(shim_cpu)) {
		cpus[shim_cpu].stale[i] = value & SEL_EN && !cpus[shim_cpu].reset;
	}
}

/* Of each CPU's counters: the last increase has carried. And what was written last */
static u32 p4_carried[SHIM_CPUS], p4_written;

static u64 p4_carry(u32 msr, u64 value)
{
	u64 *gp = cpus[shim_cpu].gp;
	u32 last = p4_written, i = msr - 0x360;

	p4_written = msr;
	if (msr - 0x300 < MODEL_P4 && last != msr)
		return (value + BIT(32)) & bits(40);
	if (i < MODEL_P4 && p4_carried[shim_cpu] & BIT(i) && !(value & CCCR_ENABLE) &&
	    cpus[shim_cpu].control.evntsel[i] & CCCR_ENABLE)
		gp[i] = (gp[i] - BIT(32)) & bits(40);
	return value;
}

bool model_wrmsr(u32 msr, u64 value)
{
	struct reg reg = find(shim_cpu, msr);

	if (reg.kind == REG_MISSING || reg.kind == REG_READ_ONLY || value & ~reg.valid ||
	    msr == model_no_write)
		return false;
	if (msr == model_drops)
		return true;
	if (msr == model_global_ctrl())
		value &= ~model_global_drops;
	if (model_carries)
		value = p4_carry(msr, value);
	switch (reg.kind) {
	case REG_SIGN_EXTENDED:
		*reg.value = (u64)(s64)(s32)value & bits(of(shim_cpu)->width);
		break;
	case REG_CLEARS:
		*reg.value &= ~value;
		break;
	case REG_SETS:
		*reg.value |= value;
		break;
	default:
		*reg.value = value;
		if (msr == MSR_PERF_METRICS)
			memset(cpus[shim_cpu].parts, 0, sizeof(cpus[shim_cpu].parts));
	}
	if (model.resets)
		watch_reset(msr, value);
	return true;
}

bool model_rdmsr(u32 msr, u64 *value)
{
	struct reg reg = find(shim_cpu, msr);

	if (reg.kind == REG_MISSING)
		return false;
	*value = reg.kind == REG_CLEARS || reg.kind == REG_SETS ? 0 : *reg.value;
	return true;
}

bool model_rdpmc(u32 counter, u64 *value)
{
	const u64 *ctr = counter == model_no_rdpmc ? NULL : family()->rdpmc(shim_cpu, counter);

	if (ctr)
		*value = *ctr;
	return ctr;
}

u64 model_msr(unsigned int cpu, u32 msr)
{
	struct reg reg = find(cpu, msr);

	ck_assert_msg(reg.kind != REG_MISSING, "there is no MSR %#x", msr);
	return *reg.value;
}

void model_set_msr(unsigned int cpu, u32 msr, u64 value)
{
	struct reg reg = find(cpu, msr);

	ck_assert_msg(reg.kind != REG_MISSING, "there is no MSR %#x", msr);
	*reg.value = value;
}

/*
 * The driver's accesses
 */

/* A counter's two registers are reserved one by one. Other MSRs need the reservation of all. */
static bool is_reserved(u32 msr)
{
	/* One covers all. */
	if (family()->select)
		return model_reserved.perfctr[0] == MODEL_DRIVER &&
		       model_reserved.evntsel[0] == MODEL_DRIVER;

	u32 ctr = index_of(msr, family()->perfctr, family()->stride);
	u32 sel = index_of(msr, family()->evntsel, family()->stride);
	unsigned int i;

	/* Nobody else reserves what only CPUs of one type have. */
	if (ctr < nr_gp())
		return model_reserved.perfctr[ctr] == MODEL_DRIVER;
	if (!model_is_p4() && sel < MODEL_GP)
		return model_reserved.evntsel[sel] == MODEL_DRIVER;
	for (i = 0; i < nr_gp(); i++)
		if (model_reserved.perfctr[i] != MODEL_DRIVER ||
		    (!model_is_p4() && model_reserved.evntsel[i] != MODEL_DRIVER))
			return false;
	return true;
}

static bool is_never_right(u32 msr, u64 value)
{
	u32 i;
	const struct range *range = find_range(shim_cpu, msr, &i);

	return range && value & range->never_right;
}

bool shim_wrmsr_safe(u32 msr, u64 value)
{
	lockdep_assert_irqs_disabled();
	ck_assert_msg(is_reserved(msr), "CPU %u: WRMSR of %#x, which the driver has not reserved",
		      shim_cpu, msr);
	/* What counts before the write, or after it, counts the write's own instructions too. */
	if (!model_free_writes)
		model_execute(MODEL_KERNEL, 2);
	if (is_never_right(msr, value) || !model_wrmsr(msr, value))
		return false;
	model_writes[shim_cpu][model_index(msr)]++;
	if (!model_free_writes)
		model_execute(MODEL_KERNEL, 1);
	if (model_nmis_at_once)
		ck_assert_int_eq(model_nmi(shim_cpu), NMI_DONE);
	if (model_after_write)
		model_after_write(msr);
	return true;
}

void shim_wrmsr(u32 msr, u64 value)
{
	ck_assert_msg(shim_wrmsr_safe(msr, value), "CPU %u: WRMSR of %#llx to %#x: #GP", shim_cpu,
		      value, msr);
}

bool shim_rdmsr_safe(u32 msr, u64 *value)
{
	reads += msr != MSR_FS_BASE;
	return model_rdmsr(msr, value);
}

u64 shim_rdmsr(u32 msr)
{
	u64 value = 0;

	ck_assert_msg(shim_rdmsr_safe(msr, &value), "CPU %u: RDMSR of %#x: #GP", shim_cpu, msr);
	return value;
}

u64 shim_rdtsc(void)
{
	return cpus[shim_cpu].tsc;
}

unsigned int model_sets(unsigned int cpu, unsigned int n)
{
	unsigned int sets = model_writes[cpu][model_index(model_perfctr(n))];

	return model_is_amd() ? sets : sets + model_writes[cpu][MSR_IA32_PMC0 + n];
}

unsigned int model_all_writes(void)
{
	unsigned int cpu, msr, all = 0;

	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		for (msr = 0; msr < MODEL_MSRS; msr++)
			all += model_writes[cpu][msr];
	return all;
}

unsigned int model_all_calls(void)
{
	return model_all_writes() + reads;
}

void model_calls_reset(void)
{
	memset(model_writes, 0, sizeof(model_writes));
	reads = 0;
}

/*
 * Counting. Edge detection, inversion and counter masks are not modelled: such an event
 * counts nothing. Tests look at the register.
 */

/*
 * The kind of an off-core response is made up: bit 0 of the register stands for branches, bit
 * 1 for mispredictions. The register decides together with the event select.
 */
static enum model_kind kind_by(u64 extra)
{
	if (extra == 1)
		return KIND_BRANCHES;
	return extra == 2 ? KIND_MISPREDICTIONS : KIND_NR;
}

static enum model_kind kind_of(u64 evntsel, const u64 *extras)
{
	const struct event *event;
	u64 code = evntsel & (0xffff | AMD_EVENT_HIGH);

	if (code == model_filtered)
		return KIND_NR;
	if (model.extras[0] && code == EV_OFFCORE_0)
		return kind_by(extras[0]);
	if (model.extras[1] && code == EV_OFFCORE_1)
		return kind_by(extras[1]);
	if (evntsel & (SEL_EDGE | SEL_INV | SEL_CMASK(0xff)))
		return KIND_NR;
	for (event = family()->events; event->kind != KIND_NR; event++)
		if (event->event == code)
			return event->kind;
	return KIND_NR;
}

static void interrupt(void)
{
	model_pmis[shim_cpu]++;
	if (model.version >= 2 && cpus[shim_cpu].debugctl & DEBUGCTL_FREEZE) {
		if (model.version >= 4 || model_is_amd())
			cpus[shim_cpu].status |= STATUS_CTR_FRZ;
		else
			cpus[shim_cpu].control.global_ctrl = 0;
	}
	if (model_lvtpc[shim_cpu] & APIC_LVT_MASKED)
		return;
	if (model_lvtpc[shim_cpu] == APIC_DM_NMI) {
		model_nmi_waits[shim_cpu] = true;
	} else {
		shim_assert(model_lvtpc[shim_cpu] == IRQ_WORK_VECTOR);
		model_irq_waits[shim_cpu] = true;
	}
	if (family()->lvtpc_masked)
		model_lvtpc[shim_cpu] |= APIC_LVT_MASKED;
}

static void advance(u64 *value, unsigned int width, unsigned int bit, bool interrupts, u64 nr)
{
	u64 limit = bits(width);

	if (nr > limit - *value) {
		if (model.version >= 2)
			cpus[shim_cpu].status |= BIT(bit);
		if (interrupts)
			interrupt();
	}
	*value = (*value + nr) & limit;
}

/* What a general-purpose counter's control says */
static u64 select_of(unsigned int i)
{
	return family()->select ? family()->select(shim_cpu, i) :
				  cpus[shim_cpu].control.evntsel[i];
}

/* What a general-purpose counter counts */
static enum model_kind kind_on(unsigned int i)
{
	u64 evntsel = select_of(i);

	if (family() == &p5mmx && i && (evntsel & 0x3f) == EV_P5MMX_CYCLES)
		return KIND_NR;
	if (cpus[shim_cpu].stale[i])
		return KIND_CYCLES;
	if ((evntsel & 0xffff) == model_confined && !(model_confined_to & BIT(i)))
		return KIND_NR;
	return kind_of(evntsel, extra(shim_cpu, 0));
}

static bool counts_in(unsigned int hw, bool mode)
{
	if (model_stuck[shim_cpu] & BIT(hw))
		return false;
	return mode || model_modeless[shim_cpu] & BIT(hw);
}

static void p4_advance(unsigned int i, u64 nr)
{
	u64 *cccr = cpus[shim_cpu].control.evntsel, limit = bits(40);
	u64 *value = &cpus[shim_cpu].gp[i];
	bool overflows = nr && (nr > limit - *value || cccr[i] & CCCR_FORCE_OVF);
	unsigned int k;

	p4_carried[shim_cpu] &= ~BIT(i);
	if (((*value & bits(32)) + nr) >> 32)
		p4_carried[shim_cpu] |= BIT(i);
	*value = (*value + nr) & limit;
	if (!overflows)
		return;
	cccr[i] |= CCCR_OVF;
	/* Others wait for that: of a pair of halves, or, of the IQ's, for one of its last two. */
	for (k = 0; k < MODEL_P4; k++) {
		if ((cccr[k] & CCCR_CASCADE && i == (k < 16 ? k ^ 2 : k - 2)) ||
		    (cccr[k] & CCCR_EXTENDED && i == (k == 12 || k == 17 ? 16 : 17)))
			cccr[k] |= CCCR_ENABLE;
	}
	if (cccr[i] & CCCR_OVF_PMI_T0)
		interrupt();
}

/* On the second thread nothing here counts, as no ESCR has its modes. */
static void p4_count(enum model_kind kind, enum model_mode mode, u64 nr)
{
	struct model_control *control = &cpus[shim_cpu].control;
	u64 enabled = 0;
	unsigned int i;

	if (core_of(shim_cpu) != shim_cpu)
		return;
	for (i = 0; i < MODEL_P4; i++)
		if (control->evntsel[i] & CCCR_ENABLE)
			enabled |= BIT(i);
	for (i = 0; i < MODEL_P4; i++) {
		u64 cccr = control->evntsel[i];
		u32 msr = model_escr(i, cccr);
		u64 escr = msr ? control->escr[msr - 0x3a0] : 0;

		if (enabled & BIT(i) && (cccr & CCCR_ANY_THREAD) == CCCR_ANY_THREAD &&
		    p4_kind(p4_block(i), cccr, escr, cpus[shim_cpu].pebs) == kind &&
		    counts_in(i, escr & (mode == MODEL_USER ? ESCR_T0_USR : ESCR_T0_OS)))
			p4_advance(i, nr);
	}
}

static bool is_enabled(const struct model_control *control, unsigned int i)
{
	if (family()->select)
		return select_of(i) & SEL_EN;
	return control->evntsel[family()->one_enable ? 0 : i] & SEL_EN &&
	       (model.version < 2 || control->global_ctrl & BIT(i));
}

static void count_slots(enum model_mode mode, u64 slots)
{
	const struct model_control *control = &cpus[shim_cpu].control;
	u64 ctrl = control->fixed_ctrl >> 4 * SLOTS;
	unsigned int i;

	if (!of(shim_cpu)->metrics || model_stuck[shim_cpu] & BIT(FIXED(SLOTS)) ||
	    !(control->global_ctrl & BIT(32 + SLOTS)) ||
	    !(ctrl & (mode == MODEL_USER ? FIXED_USR : FIXED_OS)))
		return;
	advance(&cpus[shim_cpu].fixed[SLOTS], of(shim_cpu)->fixed_width, 32 + SLOTS,
		ctrl & FIXED_PMI, slots);
	for (i = 0; i < of(shim_cpu)->metrics && control->global_ctrl & GLOBAL_METRICS; i++)
		cpus[shim_cpu].parts[i] += model_part(i, slots);
}

static void witness_slots(struct model_tally *tally, u64 slots)
{
	unsigned int i;

	for (i = 0; i < PERFCTR_METRICS; i++)
		tally->part[i] += model_part(i, slots);
	tally->slots += slots;
	tally->runs++;
}

void model_count(enum model_kind kind, enum model_mode mode, u64 nr)
{
	const struct model_control *control = &cpus[shim_cpu].control;
	unsigned int i;

	if (kind == KIND_CYCLES && mode == MODEL_USER && model_witness[shim_cpu])
		witness_slots(model_witness[shim_cpu], MODEL_SLOTS * nr);
	if (model_is_p4()) {
		p4_count(kind, mode, nr);
		return;
	}
	if (mode == MODEL_USER)
		cpus[shim_cpu].reset = false;
	if (cpus[shim_cpu].status & STATUS_CTR_FRZ)
		return;
	if (kind == KIND_CYCLES)
		count_slots(mode, MODEL_SLOTS * nr);
	for (i = 0; i < nr_gp_of(shim_cpu); i++) {
		u64 evntsel = select_of(i);

		if (is_enabled(control, i) && kind_on(i) == kind &&
		    counts_in(i, evntsel & (mode == MODEL_USER ? SEL_USR : SEL_OS)))
			advance(&cpus[shim_cpu].gp[i], of(shim_cpu)->width, i, evntsel & SEL_INT, nr);
	}
	for (i = 0; i < of(shim_cpu)->nr_fixed; i++) {
		u64 ctrl = control->fixed_ctrl >> 4 * i;

		if (control->global_ctrl & BIT(32 + i) && fixed_kinds[i] == kind &&
		    counts_in(FIXED(i), ctrl & (mode == MODEL_USER ? FIXED_USR : FIXED_OS)))
			advance(&cpus[shim_cpu].fixed[i], of(shim_cpu)->fixed_width, 32 + i,
				ctrl & FIXED_PMI, nr);
	}
}

void model_pass(u64 time)
{
	cpus[shim_cpu].tsc += time;
	/* Elsewhere tests say how the kernel's goes. */
	if (model.no_tsc || (model.vendor == X86_VENDOR_CENTAUR && model.family == 5))
		shim_now += time;
}

u64 tally_count(const struct model_tally *tally, const struct perfctr_ctr_control *ctr,
		unsigned int hw)
{
	const u64 extras[MODEL_EXTRAS] = { ctr->config, ctr->config, ctr->config };
	const u64 pebs[] = { ctr->config1, ctr->config2 };
	enum model_kind kind;

	if (model_is_p4())
		kind = p4_kind(p4_block(hw), ctr->event, ctr->config, pebs);
	else if (family()->select)
		kind = kind_of(ctr->event & family()->code, extras);
	else
		kind = kind_of(ctr->event & ~(SEL_USR | SEL_OS | SEL_EN), extras);
	if (family() == &p5mmx && hw && (ctr->event & family()->code) == EV_P5MMX_CYCLES)
		return 0;
	if (!model_is_p4() && (ctr->event & 0xffff) == EV_SLOTS)
		return MODEL_SLOTS * ((ctr->flags & USER ? tally->nr[KIND_CYCLES][MODEL_USER] : 0) +
			(ctr->flags & KERNEL ? tally->nr[KIND_CYCLES][MODEL_KERNEL] : 0));
	if (kind == KIND_NR)
		return 0;
	return (ctr->flags & USER ? tally->nr[kind][MODEL_USER] : 0) +
	       (ctr->flags & KERNEL ? tally->nr[kind][MODEL_KERNEL] : 0);
}

static u64 *value_of(unsigned int cpu, unsigned int hw)
{
	if (hw < nr_gp_of(cpu))
		return gp_value(cpu, hw);
	shim_assert(hw >= FIXED(0) && hw < FIXED(MODEL_FIXED));
	return &cpus[cpu].fixed[hw - FIXED(0)];
}

u64 model_value(unsigned int cpu, unsigned int hw)
{
	return *value_of(cpu, hw);
}

void model_set_value(unsigned int cpu, unsigned int hw, u64 value)
{
	*value_of(cpu, hw) = value;
}
