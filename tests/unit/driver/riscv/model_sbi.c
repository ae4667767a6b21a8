// SPDX-License-Identifier: GPL-2.0
/*
 * The modelled machine: see model_sbi.h. The firmware's behaviour is that of
 * OpenSBI 1.6 where the specification leaves a choice:
 *
 *  - CFG_MATCH gives, of the counters in the mask that are free and can count
 *    the event, the highest;
 *  - cycles and instructions fall back to the fixed counters, in the mask or not,
 *    had by anyone or not, and rewrite their filter; without Sscofpmf they are
 *    never given anything else;
 *  - START and STOP skip what was not handed out, and return what the last
 *    counter said; ALREADY_STARTED leaves the value;
 *  - only STOP with RESET gives a counter back;
 *  - CFG_MATCH sets OF, and START clears it, but not while the overflow
 *    interrupt is pending; a counter whose OF is set does not interrupt.
 */
#include <check.h>

#include "model_sbi.h"
#include "riscv/shim/asm/hwcap.h"
#include "riscv/shim/asm/timex.h"
#include "riscv/shim/asm/tlbflush.h"
#include "arch/riscv/interrupt.h"

#include "riscv/model_inside.h"

#define FW_CTRS		16	/* firmware counters follow the hardware's */
#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* Instructions of a call of the firmware and back: in supervisor mode, and in machine mode */
#define CALL_SUPERVISOR	7
#define CALL_MACHINE	300

struct model_hart harts[SHIM_CPUS];

const struct model_machine model_default = {
	.sbi = true,
	.sscofpmf = true,
	.nr_cpus = 2,
	.programmable = 0x7f8,
	.width = 48,
};

const struct model_machine model_filtering = {
	.sbi = true,
	.sscofpmf = true,
	.smcntrpmf = true,
	.nr_cpus = 2,
	.programmable = 0x7f8,
	.width = 48,
};

const struct model_machine model_tight = {
	.sbi = true,
	.sscofpmf = true,
	.nr_cpus = 2,
	.programmable = 0x18,
	.dtlb_counters = 0x8,
	.width = 48,
};

const struct model_machine model_ageless = {
	.sbi = true,
	.sscofpmf = true,
	.nr_cpus = 2,
	.programmable = 0x7f8,
	.width = 64,
};

const struct model_machine model_narrow = {
	.sbi = true,
	.sscofpmf = true,
	.nr_cpus = 2,
	.programmable = 0x7f8,
	.width = 32,
};

struct model_machine model;
unsigned int model_calls[MODEL_FIDS];
unsigned long riscv_timebase = 10000000;
unsigned long sbi_spec_version;
unsigned char shim_csr_readable[3];

enum model_owner caller;

static struct {
	unsigned int after;
	unsigned int times;
	long error;
} fail[MODEL_FIDS];

static const struct {
	u32 event;
	u64 data;
} kinds[KIND_NR] = {
	[KIND_REFERENCE_CYCLES] = { MODEL_NO_EVENT - 1, 0 },	/* has none */
	[KIND_MISPREDICTIONS] = { MODEL_NO_EVENT - 1, 0 },
	[KIND_CYCLES] = { EV_CYCLES, 0 },
	[KIND_INSTRUCTIONS] = { EV_INSTRUCTIONS, 0 },
	[KIND_BRANCHES] = { EV_BRANCHES, 0 },
	[KIND_DTLB_READ] = { EV_DTLB_READ, 0 },
	[KIND_DTLB_WRITE] = { EV_DTLB_WRITE, 0 },
	[KIND_ITLB] = { EV_ITLB, 0 },
	[KIND_STORES] = { EV_RAW, RAW_STORES },
	[KIND_LOADS] = { EV_RAW, RAW_LOADS },
};

static void hart_reset(unsigned int cpu)
{
	unsigned int hw;

	for (hw = 0; hw < MODEL_CTRS; hw++) {
		harts[cpu].ctr[hw] = (struct model_ctr) {
			.active = MODEL_NO_EVENT,
			.event = MODEL_NO_EVENT,
			.inhibited = true,
		};
	}
	harts[cpu].ctr[MODEL_CYCLE].active = EV_CYCLES;
	harts[cpu].ctr[MODEL_CYCLE].event = EV_CYCLES;
	harts[cpu].ctr[MODEL_INSTRET].active = EV_INSTRUCTIONS;
	harts[cpu].ctr[MODEL_INSTRET].event = EV_INSTRUCTIONS;
	/* Linux stops these with all others as a CPU comes. */
	harts[cpu].ctr[MODEL_CYCLE].inhibited = model.sbi;
	harts[cpu].ctr[MODEL_INSTRET].inhibited = model.sbi;
	harts[cpu].scounteren = BIT(1);
}

void model_boot(const struct model_machine *machine)
{
	unsigned int cpu, hw;

	model = *machine;
	shim_possible = model.nr_cpus;
	shim_online = BIT(model.nr_cpus) - 1;
	sbi_spec_version = sbi_mk_version(2, 0);
	memset(shim_csr_readable, 1, sizeof(shim_csr_readable));
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		hart_reset(cpu);
		/* No two registers hold the same by chance. */
		for (hw = 0; hw < MODEL_CTRS; hw++)
			harts[cpu].value[hw] = 0x10000ull * (hw + 1) + 0x100ull * cpu;
		harts[cpu].time = 1000000 + cpu;
		if (model.andes)
			shim_nodes[cpu].extensions = "i m a xandespmu zicntr";
		else if (model.smcntrpmf)
			shim_nodes[cpu].extensions = "i m a sscofpmf smcntrpmf zicntr";
		else
			shim_nodes[cpu].extensions = "i m a sscofpmf zicntr";
	}
}

void model_expect_loaded(void)
{
	ck_assert_msg(!shim_cpu_nodes, "%u device nodes not put", shim_cpu_nodes);
}

bool driver_remembers(unsigned int cpu, const struct perfctr_config *config)
{
	const struct perfctr_riscv_cpu *pcpu = per_cpu_ptr(&perfctr_riscv_cpu, cpu);

	return pcpu->active == config->id || pcpu->programmed == config->id ||
	       pcpu->private_kin == config->kin;
}

/*
 * Counting
 */

u64 ctr_limit(unsigned int hw)
{
	unsigned int width = model.width;

	if (hw < MODEL_HPM)
		return ~0ull;
	if (model.narrow == hw)
		width = model.narrow_width;
	return width < 64 ? (1ull << width) - 1 : ~0ull;
}

/* QEMU's limit: an event that one counter has is not counted by another. */
static bool event_is_new(unsigned long event, u64 data)
{
	unsigned int hw;

	for (hw = MODEL_HPM; hw < MODEL_CTRS; hw++) {
		const struct model_ctr *ctr = &harts[shim_cpu].ctr[hw];

		if (ctr->event == event && ctr->data == data && !ctr->dead)
			return false;
	}
	return true;
}

static void advance(unsigned int hw, u64 nr)
{
	u64 *value = &harts[shim_cpu].value[hw], limit = ctr_limit(hw);

	if (nr > limit - *value && hw >= MODEL_HPM && model.sscofpmf &&
	    !(harts[shim_cpu].of & BIT(hw))) {
		harts[shim_cpu].of |= BIT(hw);
		harts[shim_cpu].pending = true;
	}
	*value = (*value + nr) & limit;
}

void model_count(enum model_kind kind, enum model_mode mode, u64 nr)
{
	unsigned int hw;

	for (hw = 0; hw < MODEL_CTRS; hw++) {
		const struct model_ctr *ctr = &harts[shim_cpu].ctr[hw];

		if (ctr->event == kinds[kind].event && ctr->data == kinds[kind].data &&
		    !ctr->inhibited && !(ctr->modes_off & BIT(mode)) && !ctr->dead)
			advance(hw, nr);
	}
}

void local_flush_tlb_all(void)
{
	model_count(KIND_DTLB_READ, MODEL_KERNEL, 2);
	model_count(KIND_DTLB_WRITE, MODEL_KERNEL, 1);
	model_count(KIND_ITLB, MODEL_KERNEL, 1);
}

void model_pass(u64 time)
{
	harts[shim_cpu].time += time;
}

enum model_kind model_kind(u32 event, u64 data)
{
	enum model_kind kind;

	for (kind = KIND_CYCLES; kind < KIND_NR; kind++)
		if (kinds[kind].event == event && kinds[kind].data == data)
			return kind;
	ck_abort_msg("no event %#x, %#llx", event, data);
	return KIND_NR;
}

u64 tally_count(const struct model_tally *tally, const struct perfctr_ctr_control *ctr,
		unsigned int hw)
{
	const u64 *nr = tally->nr[model_kind((u32)ctr->event, ctr->config)];
	bool filter = model.andes || (hw < MODEL_HPM ? model.smcntrpmf : model.sscofpmf);

	if (!filter)
		return nr[MODEL_USER] + nr[MODEL_KERNEL] + nr[MODEL_MACHINE];
	return (ctr->flags & USER ? nr[MODEL_USER] : 0) +
	       (ctr->flags & KERNEL ? nr[MODEL_KERNEL] : 0);
}

/*
 * The firmware. Its indices are those of the hardware's counters, in the order of the CSRs or
 * in another, and then its own.
 */

unsigned int nr_hw_ctrs(void)
{
	return model.programmable ? 32 - (unsigned int)__builtin_clz(model.programmable) : 3;
}

unsigned int index_of(unsigned int hw)
{
	return model.shuffled ? (hw + 5) % nr_hw_ctrs() : hw;
}

unsigned int hw_of(unsigned long index)
{
	unsigned int hw;

	for (hw = 0; hw < nr_hw_ctrs(); hw++)
		if (index_of(hw) == index && (model.programmable | MODEL_FIXED) & BIT(hw))
			return hw;
	return MODEL_CTRS;
}

static bool mask_is_good(unsigned long base, unsigned long mask)
{
	return mask && base + 63 - (unsigned int)__builtin_clzl(mask) < nr_hw_ctrs() + FW_CTRS;
}

/* Only the owner of a programmable counter may touch it. */
static void expect_own(unsigned int hw, const char *what)
{
	const struct model_ctr *ctr = &harts[shim_cpu].ctr[hw];

	if (hw < MODEL_HPM || ctr->owner == MODEL_NOBODY || ctr->owner == caller)
		return;
	ck_abort_msg("%s of hpmcounter%u of CPU %u, which is %s", what, hw, shim_cpu,
		     ctr->owner == MODEL_PERF ? "perf's" : "the driver's");
}

static u8 modes_off(unsigned long flags)
{
	u8 off = 0;

	if (flags & SBI_PMU_CFG_FLAG_SET_UINH)
		off |= BIT(MODEL_USER);
	if (flags & SBI_PMU_CFG_FLAG_SET_SINH)
		off |= BIT(MODEL_KERNEL);
	/* The firmware does not count itself if it can avoid that. */
	return off | BIT(MODEL_MACHINE);
}

static struct sbiret fixed(unsigned int hw, unsigned long flags)
{
	if (model.strict && model.sscofpmf && !model.smcntrpmf)
		return (struct sbiret) { .error = SBI_ERR_NOT_SUPPORTED };
	if (model.smcntrpmf || model.andes) {
		harts[shim_cpu].ctr[hw].modes_off = modes_off(flags);
		harts[shim_cpu].ctr[hw].owner = caller;
	}
	return (struct sbiret) { .value = index_of(hw) };
}

static bool event_is_valid(unsigned long event)
{
	unsigned int type = event >> 16, code = event & 0xffff;

	switch (type) {
	case 0:
		return code < SBI_PMU_HW_GENERAL_MAX;
	case 1:
		return code >> 3 < 7 && (code >> 1 & 3) < 3;
	case 2:
		return code == 0;
	default:
		return false;
	}
}

u32 event_counters(unsigned long event, u64 data)
{
	if (model.basic && event != EV_CYCLES && event != EV_INSTRUCTIONS)
		return 0;
	switch (event) {
	case EV_CYCLES:
	case EV_INSTRUCTIONS:
		return model.board ? 0 : model.programmable;
	case EV_ITLB:
		return model.programmable;
	case EV_BRANCHES:
		return model.branches ? model.programmable : 0;
	case EV_DTLB_READ:
	case EV_DTLB_WRITE:
		return model.dtlb_counters ? model.dtlb_counters : model.programmable;
	case EV_RAW:
		return data == RAW_STORES || data == RAW_LOADS ? model.programmable : 0;
	default:
		return 0;
	}
}

struct sbiret cfg_match(unsigned long base, unsigned long mask, unsigned long flags,
			unsigned long event, u64 data)
{
	unsigned int index, fallback = MODEL_CTRS, found = MODEL_CTRS;
	struct model_ctr *ctr;

	if (event == EV_CYCLES)
		fallback = MODEL_CYCLE;
	else if (event == EV_INSTRUCTIONS)
		fallback = MODEL_INSTRET;
	if (!mask_is_good(base, mask) || !event_is_valid(event))
		return (struct sbiret) { .error = SBI_ERR_INVALID_PARAM };
	if (flags & SBI_PMU_CFG_FLAG_SKIP_MATCH) {
		index = base + (unsigned int)__builtin_ctzl(mask);
		found = hw_of(index);
		if (found == MODEL_CTRS || harts[shim_cpu].ctr[found].active == MODEL_NO_EVENT)
			return (struct sbiret) { .error = SBI_ERR_INVALID_PARAM };
		expect_own(found, "CFG_MATCH");
		return (struct sbiret) { .value = index };
	}
	if (fallback < MODEL_CTRS && !model.sscofpmf && !model.andes)
		return fixed(fallback, flags);

	for (index = 0; index < nr_hw_ctrs(); index++) {
		unsigned int hw = hw_of(index);

		if (hw < MODEL_CTRS && hw >= MODEL_HPM &&
		    event_counters(event, data) & BIT(hw) &&
		    (model.ignores_mask || (index >= base && mask & BIT(index - base))) &&
		    harts[shim_cpu].ctr[hw].active == MODEL_NO_EVENT &&
		    harts[shim_cpu].ctr[hw].inhibited)
			found = hw;
	}
	if (found == MODEL_CTRS)
		return fallback < MODEL_CTRS ? fixed(fallback, flags) :
			(struct sbiret) { .error = SBI_ERR_NOT_SUPPORTED };

	ctr = &harts[shim_cpu].ctr[found];
	*ctr = (struct model_ctr) {
		.active = event,
		.owner = caller,
		.inhibited = true,
		.modes_off = model.sscofpmf || model.andes ? modes_off(flags) : 0,
		.event = event,
		.data = data,
		.dead = model.event_once && !event_is_new(event, data),
	};
	harts[shim_cpu].of |= BIT(found);
	if (flags & SBI_PMU_CFG_FLAG_CLEAR_VALUE && event >> 16 == 0)
		harts[shim_cpu].value[found] = 0;
	if (flags & SBI_PMU_CFG_FLAG_AUTO_START && event >> 16 == 0)
		ctr->inhibited = false;
	return (struct sbiret) { .value = index_of(found) };
}

struct sbiret start(unsigned long base, unsigned long mask, unsigned long flags, u64 value)
{
	struct sbiret ret = { .error = SBI_ERR_INVALID_PARAM };
	unsigned int index;

	if (!mask_is_good(base, mask))
		return ret;
	for (index = 0; index < 64; index++) {
		unsigned int hw = hw_of(base + index);
		struct model_ctr *ctr;

		if (!(mask & BIT(index)) || hw == MODEL_CTRS)
			continue;
		ctr = &harts[shim_cpu].ctr[hw];
		if (ctr->active == MODEL_NO_EVENT)
			continue;
		expect_own(hw, "START");
		if (!ctr->inhibited) {
			ret.error = SBI_ERR_ALREADY_STARTED;
			continue;
		}
		ctr->inhibited = false;
		if (!harts[shim_cpu].pending)
			harts[shim_cpu].of &= ~BIT(hw);
		if (flags & SBI_PMU_START_FLAG_SET_INIT_VALUE) {
			harts[shim_cpu].value[hw] = value & ctr_limit(hw);
			model_sets[shim_cpu][hw]++;
		}
		ret.error = 0;
	}
	return ret;
}

struct sbiret stop(unsigned long base, unsigned long mask, unsigned long flags)
{
	struct sbiret ret = { .error = SBI_ERR_INVALID_PARAM };
	unsigned int index;

	if (!mask_is_good(base, mask))
		return ret;
	for (index = 0; index < 64; index++) {
		unsigned int hw = hw_of(base + index);
		struct model_ctr *ctr;

		if (!(mask & BIT(index)) || hw == MODEL_CTRS)
			continue;
		ctr = &harts[shim_cpu].ctr[hw];
		if (ctr->active == MODEL_NO_EVENT)
			continue;
		expect_own(hw, "STOP");
		ret.error = ctr->inhibited ? SBI_ERR_ALREADY_STOPPED : 0;
		ctr->inhibited = true;
		if (flags & SBI_PMU_STOP_FLAG_RESET && hw >= MODEL_HPM) {
			ctr->active = MODEL_NO_EVENT;
			ctr->owner = MODEL_NOBODY;
			ctr->event = MODEL_NO_EVENT;
			ctr->data = 0;
			ctr->modes_off = 0;
			ctr->dead = false;
			harts[shim_cpu].of &= ~BIT(hw);
		}
	}
	return ret;
}

static struct sbiret get_info(unsigned long index)
{
	union sbi_pmu_ctr_info info = { .value = 0 };
	unsigned int hw = hw_of(index);

	if (index >= nr_hw_ctrs() + FW_CTRS || (index < nr_hw_ctrs() && hw == MODEL_CTRS))
		return (struct sbiret) { .error = SBI_ERR_INVALID_PARAM };
	info.width = 63;
	if (hw == MODEL_CTRS) {
		info.type = 1;
	} else {
		info.csr = CSR_CYCLE + hw;
		if (hw >= MODEL_HPM)
			info.width = (unsigned int)__builtin_popcountll(ctr_limit(hw)) - 1;
	}
	return (struct sbiret) { .value = (long)info.value };
}

long sbi_probe_extension(int ext)
{
	return ext == SBI_EXT_PMU && model.sbi;
}

bool shim_isa_extension(const char *name)
{
	shim_assert(!strcmp(name, "SSCOFPMF"));
	return model.sscofpmf;
}

static bool injected(unsigned int fid)
{
	if (!fail[fid].times)
		return false;
	if (fail[fid].after) {
		fail[fid].after--;
		return false;
	}
	fail[fid].times--;
	return true;
}

void model_fail(unsigned int fid, unsigned int after, unsigned int times, long error)
{
	fail[fid].after = after;
	fail[fid].times = times;
	fail[fid].error = error;
}

struct sbiret sbi_ecall(int ext, int fid, unsigned long a0, unsigned long a1, unsigned long a2,
			unsigned long a3, unsigned long a4, unsigned long a5)
{
	struct sbiret ret = { .error = SBI_ERR_NOT_SUPPORTED };

	(void)a5;
	if (ext == SBI_EXT_BASE && fid == SBI_EXT_BASE_GET_IMP_ID)
		return (struct sbiret) { .value = model.kvm ? 3 : 1 };
	shim_assert(model.sbi && ext == SBI_EXT_PMU && fid >= 0 && fid < MODEL_FIDS);
	/* All but the first two are about the CPU that makes them. */
	if (fid >= SBI_EXT_PMU_COUNTER_CFG_MATCH)
		lockdep_assert_irqs_disabled();
	model_calls[fid]++;
	caller = MODEL_DRIVER;
	model_execute(MODEL_KERNEL, CALL_SUPERVISOR);
	model_execute(MODEL_MACHINE, CALL_MACHINE);
	if (injected(fid)) {
		ret.error = fail[fid].error;
	} else {
		switch (fid) {
		case SBI_EXT_PMU_NUM_COUNTERS:
			ret = (struct sbiret) { .value = nr_hw_ctrs() + FW_CTRS };
			break;
		case SBI_EXT_PMU_COUNTER_GET_INFO:
			ret = get_info(a0);
			break;
		case SBI_EXT_PMU_COUNTER_CFG_MATCH:
			ret = cfg_match(a0, a1, a2, a3, a4);
			break;
		case SBI_EXT_PMU_COUNTER_START:
			ret = start(a0, a1, a2, a3);
			break;
		case SBI_EXT_PMU_COUNTER_STOP:
		default:
			ret = stop(a0, a1, a2);
			break;
		}
	}
	model_execute(MODEL_MACHINE, CALL_MACHINE);
	model_execute(MODEL_KERNEL, CALL_SUPERVISOR);
	return ret;
}

unsigned int model_all_calls(void)
{
	unsigned int fid, all = 0;

	for (fid = 0; fid < MODEL_FIDS; fid++)
		all += model_calls[fid];
	return all;
}

void model_calls_reset(void)
{
	memset(model_calls, 0, sizeof(model_calls));
}

/*
 * What tests look at
 */

void model_ownership(struct model_ownership *all)
{
	unsigned int cpu;

	memset(all, 0, sizeof(*all));
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		memcpy(all->ctr[cpu], harts[cpu].ctr, sizeof(all->ctr[cpu]));
}

void model_expect_ownership(const struct model_ownership *before)
{
	unsigned int cpu, hw;

	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		for (hw = 0; hw < MODEL_CTRS; hw++) {
			const struct model_ctr *is = &harts[cpu].ctr[hw];
			const struct model_ctr *was = &before->ctr[cpu][hw];

			/* A fixed counter has no owner, whoever wrote its filter. */
			ck_assert_msg(hw < MODEL_HPM || is->owner == was->owner,
				      "CPU %u, counter %u: owner %u, was %u",
				      cpu, hw, is->owner, was->owner);
			/* The driver's own counters are checked by what they count. */
			if (hw >= MODEL_HPM && is->owner == MODEL_DRIVER)
				continue;
			ck_assert_msg(is->active == was->active, "CPU %u, counter %u: event %#x, was %#x",
				      cpu, hw, is->active, was->active);
			ck_assert_msg(is->inhibited == was->inhibited, "CPU %u, counter %u: runs %u, was %u",
				      cpu, hw, !is->inhibited, !was->inhibited);
			ck_assert_msg((is->modes_off & ~BIT(MODEL_MACHINE)) ==
				      (was->modes_off & ~BIT(MODEL_MACHINE)),
				      "CPU %u, counter %u: modes off %#x, were %#x",
				      cpu, hw, is->modes_off, was->modes_off);
		}
	}
}

u32 model_owned(unsigned int cpu, enum model_owner owner)
{
	unsigned int hw;
	u32 owned = 0;

	for (hw = MODEL_HPM; hw < MODEL_CTRS; hw++)
		if (harts[cpu].ctr[hw].owner == owner && model.programmable & BIT(hw))
			owned |= BIT(hw);
	return owned;
}

u32 model_needed(const struct perfctr_config *config)
{
	return config->mask & ~MODEL_FIXED;
}

const struct model_ctr *model_ctr(unsigned int cpu, unsigned int hw)
{
	return &harts[cpu].ctr[hw];
}

u64 model_value(unsigned int cpu, unsigned int hw)
{
	return harts[cpu].value[hw];
}

void model_set_value(unsigned int cpu, unsigned int hw, u64 value)
{
	harts[cpu].value[hw] = value & ctr_limit(hw);
}

bool model_pending(unsigned int cpu)
{
	return harts[cpu].pending;
}

u32 model_scountovf(unsigned int cpu)
{
	return harts[cpu].of;
}

void model_overflow_of_others(unsigned int cpu, bool overflowed)
{
	u32 others = BIT(CSR_TIME - CSR_CYCLE);		/* nobody's here */

	harts[cpu].pending |= overflowed;
	harts[cpu].of &= ~others;
	harts[cpu].of |= overflowed ? others : 0;
}

unsigned int model_sets[SHIM_CPUS][MODEL_CTRS];

u32 model_scounteren(unsigned int cpu)
{
	return harts[cpu].scounteren;
}

void model_set_scounteren(unsigned int cpu, u32 bits)
{
	harts[cpu].scounteren = bits;
}

/*
 * CSRs
 */

unsigned long shim_csr_read(unsigned int csr)
{
	unsigned int hw = csr - CSR_CYCLE;

	shim_point();
	if (csr == CSR_TIME)
		return harts[shim_cpu].time;
	if (csr == CSR_SCOUNTEREN)
		return harts[shim_cpu].scounteren;
	if (csr == CSR_SIE)
		return model.no_interrupt ? 0 : BIT(IRQ_PMU_OVF);
	if (csr == CSR_SIP)
		return harts[shim_cpu].pending ? BIT(IRQ_PMU_OVF) : 0;
	if (csr == CSR_SCOUNTOVF)
		return harts[shim_cpu].of;
	/* Any other CSR would be an illegal instruction. */
	shim_assert(hw < MODEL_CTRS && (model.programmable | MODEL_FIXED) & BIT(hw));
	return harts[shim_cpu].value[hw];
}

unsigned long shim_csr_read_set(unsigned int csr, unsigned long bits)
{
	unsigned long was = shim_csr_read(csr);

	shim_assert(csr == CSR_SCOUNTEREN);
	harts[shim_cpu].scounteren |= bits;
	return was;
}

void shim_csr_set(unsigned int csr, unsigned long bits)
{
	shim_assert(csr == CSR_SIP && bits == BIT(IRQ_PMU_OVF));
	harts[shim_cpu].pending = true;
}

void shim_csr_clear(unsigned int csr, unsigned long bits)
{
	if (csr == CSR_SIP) {
		shim_assert(bits == BIT(IRQ_PMU_OVF));
		harts[shim_cpu].pending = false;
		return;
	}
	shim_assert(csr == CSR_SCOUNTEREN);
	harts[shim_cpu].scounteren &= ~bits;
}

int perfctr_riscv_interrupt_init(void)
{
	return model.no_handler ? -ENODEV : 0;
}

void model_cpu_off(unsigned int cpu)
{
	hart_reset(cpu);
}

void model_cpu_on(unsigned int cpu)
{
	unsigned int hw;

	hart_reset(cpu);
	for (hw = 0; hw < MODEL_CTRS; hw++)
		harts[cpu].value[hw] = 0;
}

void model_cpu_sleep(unsigned int cpu, bool firmware_forgets)
{
	unsigned int hw;

	for (hw = 0; hw < MODEL_CTRS; hw++) {
		struct model_ctr *ctr = &harts[cpu].ctr[hw];

		harts[cpu].value[hw] = 0;
		ctr->modes_off = 0;
		if (hw < MODEL_HPM)
			continue;
		ctr->inhibited = true;
		ctr->event = MODEL_NO_EVENT;
		ctr->data = 0;
		if (firmware_forgets) {
			ctr->active = MODEL_NO_EVENT;
			ctr->owner = MODEL_NOBODY;
		}
	}
}
