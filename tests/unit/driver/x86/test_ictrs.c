// SPDX-License-Identifier: GPL-2.0
/* i-mode counters of the x86 driver: starts, stops, and the interrupt. */
#include <asm/apic.h>
#include <asm/nmi.h>
#include <check.h>

#include "arch/x86/interrupt.h"
#include "tests.h"

#define SEL(n)	model_evntsel(n)
#define OLD(n)	model_perfctr(n)
#define WHOLE(n)	(MSR_IA32_PMC0 + (n))
#define PERIOD	1000

static struct mm_struct mm = { .context = { .ctx_id = 77 } };

static const struct perfctr_ctr_control zeroth[] = { ICTR(0, EV_INSTRUCTIONS, USER, PERIOD) };
static const struct perfctr_ctr_control last[] = { ICTR(1, EV_INSTRUCTIONS, USER, PERIOD) };
static const struct perfctr_ctr_control behind[] = {
	CTR(0, EV_BRANCHES, BOTH), ICTR(1, EV_INSTRUCTIONS, USER, PERIOD),
};
static const struct perfctr_ctr_control before[] = {
	CTR(1, EV_BRANCHES, BOTH), ICTR(0, EV_INSTRUCTIONS, USER, PERIOD),
};
static const struct perfctr_ctr_control fixed[] = {
	CTR(0, EV_BRANCHES, BOTH), ICTR(FIXED(0), EV_INSTRUCTIONS, USER, PERIOD),
};

/* Chosen by the number of the row, modulo their number */
static const struct {
	const struct perfctr_ctr_control *ctr;
	unsigned int nr, i;	/* counters; the i-mode counter, which is the last */
} controls[] = {
	{ zeroth, 1, 0 }, { last, 1, 1 }, { behind, 2, 1 }, { before, 2, 0 },
	{ fixed, 2, FIXED(0) },
};

#define NR_CONTROLS	((int)ARRAY_SIZE(controls))
#define NR_ROWS		(NR_CONTROLS * NR_MACHINES)

static const u64 period[] = { -(u64)PERIOD };

static u64 bits(void)
{
	return ~0ull >> (64 - perfctr_cpu_iwidth());
}

static int heard[2];

static void hear(bool ends)
{
	ck_assert(shim_irqs_off);
	heard[ends]++;
}

/* Claims a config and loads it on CPU 0; NULL if there is no such counter. */
static struct perfctr_config *begin_with(int row, u64 debugctl)
{
	struct perfctr_config *config;

	driver_init(machines[row / NR_CONTROLS]);
	model_set_msr(0, MSR_IA32_DEBUGCTLMSR, debugctl);
	ck_assert_int_eq(perfctr_cpu_set_ihandler(hear), 0);
	shim_current.mm = &mm;
	if (!model_has_fixed() && controls[row % NR_CONTROLS].i >= FIXED(0))
		return NULL;
	config = claim_well(controls[row % NR_CONTROLS].ctr, controls[row % NR_CONTROLS].nr);
	ck_assert_uint_eq(config->imask, BIT(controls[row % NR_CONTROLS].i));
	ck_assert_int_eq(load_on(0, config), 0);
	return config;
}

static struct perfctr_config *begin(int row)
{
	return begin_with(row, 0);
}

static unsigned int ictr(const struct perfctr_config *config)
{
	return config->hw[config->nr - 1];
}

static void istart(const struct perfctr_config *config, const u64 *value)
{
	local_irq_disable();
	ck_assert_int_eq(perfctr_cpu_istart(config, value), 0);
	local_irq_enable();
}

static void istop(const struct perfctr_config *config)
{
	local_irq_disable();
	perfctr_cpu_istop(config, config);
	ck_assert(!perfctr_cpu_istopped(config));
	local_irq_enable();
}

/* A load does not start them; start, overflow and stop are exact to the instruction. */
START_TEST(period_is_exact)
{
	struct perfctr_config *config = begin(_i);
	unsigned int hw, i;

	if (!config)
		return;
	hw = ictr(config);
	model_execute(MODEL_USER, 500);
	ck_assert_uint_eq(model_value(0, hw), 0);
	for (i = 1; i < 4; i++) {
		istart(config, period);
		ck_assert_uint_eq(model_value(0, hw), period[0] & bits());
		model_execute(MODEL_KERNEL, 5000);
		model_execute(MODEL_USER, PERIOD - 1);
		ck_assert(!model_irq_waits[0]);
		model_execute(MODEL_USER, 1);
		ck_assert(model_irq_waits[0]);
		ck_assert_uint_eq(model_value(0, hw), 0);
		model_irq(0);
		ck_assert_uint_eq(model_lvtpc[0], IRQ_WORK_VECTOR);
		ck_assert_int_eq(heard[0], (int)i);
		ck_assert_int_eq(heard[1], (int)i);
		istop(config);
		model_execute(MODEL_USER, 500);
		ck_assert_uint_eq(model_value(0, hw), 0);
	}
	ck_assert_uint_eq(model_pmis[0], 3);
}
END_TEST

/*
 * Firmware has left the bit of DEBUGCTL set by which an overflow stops all counters. The bit
 * is clear while the counters are ours. The register's other bits are left.
 */
START_TEST(firmware_freezes)
{
	unsigned int cpu, turn;
	struct thread thread;

	driver_init(machines[_i]);
	if (model.version < 2)
		return;
	for (cpu = 0; cpu < 2; cpu++) {
		model_set_msr(cpu, MSR_IA32_DEBUGCTLMSR, BIT(1) | BIT(12));
		if (model.version >= 4)
			model_set_msr(cpu, model_global_status(), BIT(59));
	}
	for (turn = 0; turn < 2; turn++) {
		static const struct perfctr_ctr_control ctr[] = {
			CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_CYCLES, KERNEL),
		};
		struct perfctr_config *config = claim_well(ctr, 2);

		for (cpu = 0; cpu < 2; cpu++)
			ck_assert_uint_eq(model_msr(cpu, MSR_IA32_DEBUGCTLMSR), BIT(1));
		thread_init(&thread, config);
		thread_run(&thread, 0, 100);
		thread_expect_exact(&thread);
		unclaim(config);
		for (cpu = 0; cpu < 2; cpu++)
			ck_assert_uint_eq(model_msr(cpu, MSR_IA32_DEBUGCTLMSR), BIT(1) | BIT(12));
		/* If the firmware has not set the bit, it stays clear. */
		if (!turn)
			continue;
		model_set_msr(0, MSR_IA32_DEBUGCTLMSR, BIT(1));
		unclaim(claim_well(ctr, 2));
		ck_assert_uint_eq(model_msr(0, MSR_IA32_DEBUGCTLMSR), BIT(1));
	}
}
END_TEST

/* Periods begin anew although firmware's bit was set. */
START_TEST(periods_of_a_freezer)
{
	struct perfctr_config *config = begin_with(_i, BIT(12));
	unsigned int i;

	if (!config)
		return;
	for (i = 1; i < 4; i++) {
		istart(config, period);
		model_execute(MODEL_USER, PERIOD);
		ck_assert(model_irq_waits[0]);
		model_irq(0);
		istop(config);
		ck_assert_int_eq(heard[0], (int)i);
	}
	ck_assert_uint_eq(model_pmis[0], 3);
}
END_TEST

/* Also if all counters were stopped, as after a restart for a reader, and none runs beside it */
START_TEST(started_after_a_restart)
{
	struct perfctr_config *config = begin(_i);

	if (!config)
		return;
	ck_assert_int_eq(restart_on(0, config, 1000), 0);
	model_execute(MODEL_USER, PERIOD);
	ck_assert_uint_eq(model_value(0, ictr(config)), 0);
	istart(config, period);
	model_execute(MODEL_USER, PERIOD - 1);
	ck_assert_uint_eq(model_value(0, ictr(config)), bits());
	model_execute(MODEL_USER, 1);
	ck_assert(model_irq_waits[0]);
	istop(config);
	on_cpu_irqs_off(0, perfctr_cpu_leave);
	model_execute(MODEL_USER, PERIOD);
	ck_assert_uint_eq(model_value(0, ictr(config)), 0);
}
END_TEST

/* Counters beside it count on, and only the i-mode counter has the bit that interrupts. */
START_TEST(only_it_interrupts)
{
	struct perfctr_config *config = begin(_i);
	unsigned int hw, i;
	u64 sel;

	if (!config)
		return;
	hw = ictr(config);
	istart(config, period);
	for (i = 0; i < 2; i++) {
		sel = model_msr(0, SEL(i));
		ck_assert_int_eq(!!(sel & SEL_INT), i == hw);
	}
	if (model_has_fixed()) {
		ck_assert_uint_eq(model_msr(0, MSR_CORE_PERF_FIXED_CTR_CTRL),
				  hw == FIXED(0) ? 0xa : 0);
		ck_assert_uint_eq(model_msr(0, model_global_ctrl()) &
				  (hw < FIXED(0) ? BIT(hw) : BIT(32)),
				  hw < FIXED(0) ? BIT(hw) : BIT(32));
	}
	if (config->nr > 1) {
		model_execute(MODEL_USER, 100);
		ck_assert_uint_ne(model_value(0, config->hw[0]), 0);
		istop(config);
		sel = model_value(0, config->hw[0]);
		model_execute(MODEL_USER, 100);
		ck_assert_uint_gt(model_value(0, config->hw[0]), sel);
	}
}
END_TEST

/* How far a start value may be, and its write: 32 bits, or full-width; none if it is there. */
START_TEST(start_values)
{
	struct perfctr_config *config = begin(_i);
	bool whole;
	unsigned int hw, i;
	u32 msr;
	u64 far;

	if (!config)
		return;
	hw = ictr(config);
	/* AMD's write takes all of it. */
	whole = model.version >= 4 || model_is_amd();
	msr = whole && !model_is_amd() ? WHOLE(hw) : OLD(hw);
	if (hw >= FIXED(0))
		msr = MSR_CORE_PERF_FIXED_CTR0;
	ck_assert_uint_eq(perfctr_cpu_iwidth(), model.version < 3 && !model_is_amd() ? 40 : 48);
	ck_assert_uint_eq(perfctr_cpu_irange(), whole ? 1ull << 47 : 1ull << 31);
	far = -perfctr_cpu_irange();
	for (i = 0; i < 64; i++) {
		u64 value = -(perfctr_cpu_irange() >> i);

		if (!value)
			break;
		istop(config);
		model_calls_reset();
		istart(config, &value);
		ck_assert_uint_eq(model_value(0, hw), value & bits());
		ck_assert_uint_eq(model_writes[0][model_index(msr)], 1);
		istop(config);
		/* The value is there already. */
		model_calls_reset();
		istart(config, &value);
		ck_assert_uint_eq(model_value(0, hw), value & bits());
		ck_assert_uint_eq(model_writes[0][model_index(msr)], 0);
		ck_assert_uint_eq(model_all_writes(), 1);
	}
	/* There is no interrupt before the end of the period. */
	istop(config);
	istart(config, &far);
	model_execute(MODEL_USER, perfctr_cpu_irange() - 1);
	ck_assert(!model_irq_waits[0]);
	model_execute(MODEL_USER, 1);
	ck_assert(model_irq_waits[0]);
}
END_TEST

/* Full-width writes need the feature, its register, the bit there, and the registers themselves. */
static const struct {
	const char *name;
	const struct model_machine *machine;
	u32 no_msr;
	bool no_pdcm, whole;
} wholes[] = {
	{ "p6", &model_p6, ~0u, false, false }, { "v1", &model_v1, ~0u, false, false },
	{ "v3, no bit", &model_v3, ~0u, false, false }, { "v4", &model_v4, ~0u, false, true },
	{ "v4, no feature", &model_v4, ~0u, true, false },
	{ "v4, no capabilities", &model_v4, MSR_IA32_PERF_CAPABILITIES, false, false },
	{ "v4, no registers", &model_v4, MSR_IA32_PMC0, false, false },
	{ "v5", &model_v5, ~0u, false, true },
};

START_TEST(full_width)
{
	struct model_machine machine = *wholes[_i].machine;
	struct perfctr_config *config;

	machine.no_pdcm = wholes[_i].no_pdcm;
	model_no_msr = wholes[_i].no_msr;
	driver_init(&machine);
	ck_assert_msg(perfctr_cpu_irange() == (wholes[_i].whole ? 1ull << 47 : 1ull << 31), "%s",
		      wholes[_i].name);
	config = CLAIM(zeroth);
	ck_assert_int_eq(load_on(0, config), 0);
	istart(config, period);
	ck_assert_uint_eq(model_writes[0][WHOLE(0)], wholes[_i].whole);
	ck_assert_uint_eq(model_value(0, 0), period[0] & bits());
}
END_TEST

/* A register that was used for i-mode starts from zero for an a-mode counter. */
START_TEST(no_sum_goes_over_zero)
{
	struct perfctr_config *config = begin(_i), *other;
	struct perfctr_ctr_control ctr;
	struct thread thread;
	unsigned int i, hw;

	if (!config)
		return;
	hw = ictr(config);
	ctr = (struct perfctr_ctr_control) CTR(hw, EV_INSTRUCTIONS, USER);
	other = claim_well(&ctr, 1);
	thread_init(&thread, other);
	for (i = 0; i < 5; i++) {
		istart(config, period);
		model_execute(MODEL_USER, 10);
		istop(config);
		if (i == 3) {
			ck_assert_int_eq(restart_on(0, other, 1000), 0);
			ck_assert_uint_lt(model_value(0, hw), PERIOD);
		}
		thread_run(&thread, 0, 4ull * PERIOD);
		ck_assert_uint_lt(model_value(0, hw), bits() / 2);
		ck_assert_int_eq(i == 4 ? restart_on(0, config, 1000) : load_on(0, config), 0);
	}
	thread_expect_exact(&thread);
	ck_assert_uint_eq(model_pmis[0], 0);
}
END_TEST

/* Registers that may be read while they do not count hold nothing of others. */
START_TEST(cleared)
{
	struct perfctr_config *config = begin(_i);
	unsigned int hw;

	if (!config)
		return;
	hw = ictr(config);
	istart(config, period);
	model_execute(MODEL_USER, 10);
	local_irq_disable();
	perfctr_cpu_iclear(config);
	local_irq_enable();
	ck_assert_uint_eq(model_value(0, hw), 0);
	model_execute(MODEL_USER, 10);
	ck_assert_uint_eq(model_value(0, hw), 0);
	model_calls_reset();
	local_irq_disable();
	perfctr_cpu_iclear(config);
	local_irq_enable();
	ck_assert_uint_eq(model_all_writes(), 0);
	istart(config, period);
	istop(config);
	unclaim(config);
	ck_assert_uint_eq(model_value(0, hw), 0);
}
END_TEST

/* After an overflow it may interrupt again. perf hears of no interrupt, late or in vain. */
START_TEST(acknowledged)
{
	struct perfctr_config *config = begin(_i);
	int i;

	if (!config)
		return;
	/* The interrupt of the kernel's own irq_work */
	model_irq(0);
	ck_assert_int_eq(heard[1], 1);
	for (i = 0; i < 2; i++) {
		istart(config, period);
		model_execute(MODEL_USER, PERIOD + 7);
		ck_assert(model_irq_waits[0]);
		/* Stopped before its interrupt, or in it */
		if (i)
			istop(config);
		model_irq(0);
		istop(config);
		ck_assert_int_eq(heard[1], i + 2);
		if (model.version >= 2)
			ck_assert_uint_eq(model_msr(0, model_global_status()), 0);
		ck_assert_uint_eq(model_lvtpc[0], IRQ_WORK_VECTOR);
	}
	ck_assert_uint_eq(model_pmis[0], 2);
	ck_assert(!model_irq_waits[0]);
	ck_assert(!model_nmi_waits[0]);
	/* Nobody has i-mode counters any more. */
	unclaim(config);
	model_irq(0);
	ck_assert_int_eq(heard[1], 3);
	ck_assert(model_lvtpc[0] & APIC_LVT_MASKED);
}
END_TEST

START_TEST(two_at_once)
{
	static const struct perfctr_ctr_control ctr[] = {
		ICTR(0, EV_INSTRUCTIONS, USER, PERIOD), ICTR(1, EV_INSTRUCTIONS, USER, PERIOD),
	};
	static const u64 values[] = { -(u64)PERIOD, -(u64)PERIOD };
	struct perfctr_config *config;

	driver_init(machines[_i]);
	ck_assert_int_eq(perfctr_cpu_set_ihandler(hear), 0);
	config = CLAIM(ctr);
	ck_assert_int_eq(load_on(0, config), 0);
	istart(config, values);
	model_execute(MODEL_USER, PERIOD);
	ck_assert_uint_eq(model_pmis[0], 2);
	istop(config);
	model_irq(0);
	ck_assert_int_eq(heard[0], 1);
	if (model.version >= 2)
		ck_assert_uint_eq(model_msr(0, model_global_status()), 0);
}
END_TEST

/* Other reasons for a PMI, and whether it is handed to perf as an NMI */
static const struct {
	const char *name;
	u64 status;
	bool overflow, tracing, handed;
	unsigned int version;	/* the first version that has it */
} others[] = {
	{ "nothing", 0, false, false, false, 0 },
	{ "overflow", 0, true, false, false, 0 },
	{ "overflow while it traces", 0, true, true, false, 4 },
	{ "PT", BIT(55), false, true, true, 4 },
	{ "PT and overflow", BIT(55), true, true, true, 4 },
	{ "PT no more", BIT(55), false, false, true, 4 },
	{ "DS", BIT(62), false, false, false, 2 },
	{ "uncore", BIT(61), false, false, false, 3 },
	{ "frozen", BIT(58) | BIT(59) | BIT(60), false, false, false, 4 },
};

START_TEST(handed_to_perf)
{
	struct model_machine machine = *machines[_i % NR_MACHINES];
	int row = _i / NR_MACHINES;
	struct perfctr_config *config;

	/* Other machines lack the register that says whether PT traces. */
	machine.pt = machine.version >= 4 && others[row].status == BIT(55);
	driver_init(&machine);
	if (model.version < others[row].version || (model_is_amd() && others[row].version))
		return;
	ck_assert_int_eq(perfctr_cpu_set_ihandler(hear), 0);
	config = CLAIM(zeroth);
	ck_assert_int_eq(load_on(0, config), 0);
	istart(config, period);
	if (others[row].overflow)
		model_execute(MODEL_USER, PERIOD);
	istop(config);
	if (machine.pt)
		model_set_msr(0, MSR_IA32_RTIT_CTL, others[row].tracing);
	if (others[row].status)
		model_set_msr(0, model_global_status(),
			      model_msr(0, model_global_status()) | others[row].status);
	model_irq(0);
	ck_assert_int_eq(heard[1], 1);
	ck_assert_msg(model_nmi_waits[0] == others[row].handed, "%s", others[row].name);
	ck_assert_uint_eq(model_lvtpc[0], IRQ_WORK_VECTOR);
	if (model.version >= 2)
		ck_assert_uint_eq(model_msr(0, model_global_status()), others[row].status);
	if (!others[row].handed)
		return;
	/*
	 * perf left the bit as it was. If PT traces, it counts as new; if not, nobody wants
	 * it, and once is enough. The NMI is an expected one.
	 */
	ck_assert_int_eq(model_nmi(0), NMI_HANDLED);
	ck_assert_uint_eq(model_msr(0, model_global_status()),
			  others[row].tracing ? BIT(55) : 0);
	ck_assert_int_eq(model_nmi(0), NMI_DONE);
	model_irq(0);
	ck_assert(model_nmi_waits[0] == others[row].tracing);
}
END_TEST

/* PT's interrupt comes as the last config gives the LVTPC back: perf gets it all the same. */
START_TEST(handed_to_perf_at_last)
{
	struct perfctr_config *config;

	driver_init(machines[_i]);
	if (!model.pt)
		return;
	model_lvtpc[0] = APIC_DM_NMI | APIC_LVT_MASKED;
	config = CLAIM(zeroth);
	ck_assert_uint_eq(model_lvtpc[0], IRQ_WORK_VECTOR);
	ck_assert(!model_nmi_waits[0]);
	model_set_msr(0, MSR_IA32_RTIT_CTL, 1);
	model_set_msr(0, model_global_status(), BIT(55));
	model_lvtpc[0] |= APIC_LVT_MASKED;
	unclaim(config);
	ck_assert(model_nmi_waits[0]);
	ck_assert_uint_eq(model_lvtpc[0], APIC_DM_NMI);
	model_irq(0);
	ck_assert_int_eq(heard[1], 0);
}
END_TEST

/* While KVM's guest has the counters nothing is touched. */
START_TEST(guests_are_left_alone)
{
	struct perfctr_config *config = begin(_i);
	unsigned int hears;

	if (!config)
		return;
	istart(config, period);
	if (model.version >= 2)
		model_set_msr(0, model_global_ctrl(), 0x1);
	model_lvtpc[0] = 0xf5;
	model_calls_reset();
	ck_assert_int_eq(model_nmi(0), NMI_DONE);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(model_lvtpc[0], 0xf5);
	/* The kernel gives perf its LVTPC back: our next overflow is an NMI, which we recognise. */
	if (model.version >= 2)
		model_set_msr(0, model_global_ctrl(), 0x1000000ff);
	model_lvtpc[0] = APIC_DM_NMI;
	model_execute(MODEL_USER, PERIOD);
	ck_assert(model_nmi_waits[0]);
	/* Of an LVTPC that does not mask itself nobody can tell. */
	hears = model.version && !model_is_amd() ? NMI_HANDLED : NMI_DONE;
	ck_assert_int_eq(model_nmi(0), (int)hears);
	ck_assert_uint_eq(model_lvtpc[0], IRQ_WORK_VECTOR);
	ck_assert(model_irq_waits[0]);
	model_irq(0);
	istop(config);
}
END_TEST

/* With Intel PT perf's handler acknowledges all, stops all, and sets the LVTPC to NMI. */
START_TEST(put_right_after_perf)
{
	struct perfctr_config *config = begin(_i);
	u64 ctrl = 0;

	if (!config)
		return;
	istart(config, period);
	if (model.version >= 2)
		ctrl = model_msr(0, model_global_ctrl());
	/* If our interrupt waits, it is not disturbed. */
	if (model.version)
		model_lvtpc[0] |= APIC_LVT_MASKED;
	model_calls_reset();
	model_nmi(0);
	ck_assert(!model_irq_waits[0]);
	ck_assert_uint_eq(model_lvtpc[0], IRQ_WORK_VECTOR | (model.version ? APIC_LVT_MASKED : 0));
	ck_assert_uint_eq(model_all_writes(), 0);
	model_execute(MODEL_USER, PERIOD - 1);
	if (model.version >= 2) {
		/* A status bit that comes now is left. */
		model_set_msr(0, model_global_status(), BIT(55));
		model_set_msr(0, model_global_ctrl(), 0);
	}
	model_lvtpc[0] = APIC_DM_NMI;
	ck_assert_int_eq(model_nmi(0), NMI_DONE);
	ck_assert_uint_eq(model_lvtpc[0], IRQ_WORK_VECTOR);
	if (model.version >= 2)
		ck_assert_uint_eq(model_msr(0, model_global_ctrl()), ctrl);
	if (model.version >= 2) {
		ck_assert_uint_eq(model_msr(0, model_global_status()), BIT(55));
		model_set_msr(0, model_global_status(), 0);
	}
	/* perf acknowledged in our place, so we look for overflows; after that ours interrupts. */
	ck_assert(model_irq_waits[0]);
	model_irq(0);
	ck_assert_int_eq(heard[1], 1);
	ck_assert(!model_irq_waits[0]);
	model_execute(MODEL_USER, 1);
	ck_assert(model_irq_waits[0]);
	model_irq(0);
	istop(config);
	unclaim(config);
	/* After the last config the LVTPC is none of our business. */
	model_lvtpc[0] = APIC_DM_NMI;
	if (model.version >= 2)
		model_set_msr(0, model_global_ctrl(), 0);
	model_calls_reset();
	model_nmi(0);
	ck_assert_uint_eq(model_all_calls(), 0);
	ck_assert_uint_eq(model_lvtpc[0], APIC_DM_NMI);
	ck_assert(!model_irq_waits[0]);
}
END_TEST

/* An NMI changes nothing, wherever it comes. */
START_TEST(nmi_after_each_write)
{
	struct perfctr_config *config;
	unsigned int i;

	model_nmis_at_once = true;
	config = begin(_i);
	if (!config)
		return;
	for (i = 1; i < 4; i++) {
		if (i == 2)
			ck_assert_int_eq(restart_on(0, config, 1000), 0);
		istart(config, period);
		model_execute(MODEL_USER, PERIOD - 1);
		ck_assert(!model_irq_waits[0]);
		model_execute(MODEL_USER, 1);
		ck_assert(model_irq_waits[0]);
		istop(config);
		model_irq(0);
		model_execute(MODEL_USER, 500);
		ck_assert_uint_eq(model_value(0, ictr(config)), 0);
		if (i == 2) {
			on_cpu_irqs_off(0, perfctr_cpu_leave);
			ck_assert_int_eq(load_on(0, config), 0);
		}
	}
	ck_assert_int_eq(heard[1], 3);
	unclaim(config);
}
END_TEST

/* The LVTPC is ours on all CPUs that are there, as long as anybody has i-mode counters. */
START_TEST(lvtpc_is_taken)
{
	struct perfctr_config *a, *b, *other;
	u32 found[2];
	unsigned int cpu;

	driver_init(machines[_i]);
	memcpy(found, model_lvtpc, sizeof(found));
	other = CLAIM(((struct perfctr_ctr_control []) { CTR(0, EV_BRANCHES, USER) }));
	ck_assert_uint_eq(model_lvtpc[0], found[0]);
	a = CLAIM(zeroth);
	b = CLAIM(behind);
	for (cpu = 0; cpu < 2; cpu++)
		ck_assert_uint_eq(model_lvtpc[cpu], IRQ_WORK_VECTOR);
	unclaim(b);
	/* Threads that have to leave may still overflow. The kernel sets the LVTPC up again. */
	cpu_offline(1);
	ck_assert_uint_eq(model_lvtpc[1], IRQ_WORK_VECTOR);
	ck_assert_uint_eq(model_lvtpc[0], IRQ_WORK_VECTOR);
	found[1] = APIC_DM_NMI;
	model_lvtpc[1] = found[1];
	perfctr_cpu_prepare(1);
	cpu_online(1);
	ck_assert_uint_eq(model_lvtpc[1], IRQ_WORK_VECTOR);
	/* Masked in a deep sleep */
	model_lvtpc[1] |= APIC_LVT_MASKED;
	on_cpu_irqs_off(1, perfctr_cpu_online);
	ck_assert_uint_eq(model_lvtpc[1], IRQ_WORK_VECTOR);
	unclaim(a);
	for (cpu = 0; cpu < 2; cpu++)
		ck_assert_uint_eq(model_lvtpc[cpu], found[cpu]);
	unclaim(other);
	for (cpu = 0; cpu < 2; cpu++)
		ck_assert_uint_eq(model_lvtpc[cpu], found[cpu]);
	ck_assert_int_eq(perfctr_cpu_set_ihandler(hear), 0);
	ck_assert_int_eq(perfctr_cpu_set_ihandler(NULL), 0);
}
END_TEST

static const struct {
	const char *name;
	bool no_apic, no_irq_probe;
	u32 no_msr;
} without[] = {
	{ "no local APIC", true, false, ~0u },
	{ "no tracepoint", false, true, ~0u },
	{ "no global status", false, false, MSR_CORE_PERF_GLOBAL_STATUS },
};

START_TEST(no_interrupts)
{
	struct model_machine machine = *machines[_i % NR_MACHINES];
	bool kernel, none;
	int row = _i / NR_MACHINES;

	machine.no_apic = without[row].no_apic;
	machine.no_irq_probe = without[row].no_irq_probe;
	model_no_msr = without[row].no_msr;
	none = machine.no_apic || machine.no_irq_probe ||
	       (machine.version >= 2 && machine.vendor == X86_VENDOR_INTEL);
	driver_init(&machine);
	ck_assert_int_eq(perfctr_cpu_set_ihandler(hear), none ? -ENODEV : 0);
	ck_assert_msg(check(zeroth, 1, &kernel) == (none ? -EOPNOTSUPP : 0), "%s",
		      without[row].name);
	unclaim(CLAIM(((struct perfctr_ctr_control []) { CTR(0, EV_BRANCHES, USER) })));
}
END_TEST

/* Perf's handler of a trace's NMI lets all counters run, also where ours cannot interrupt. */
START_TEST(stopped_again_after_a_trace)
{
	struct model_machine machine = model_v4;
	struct perfctr_config *config;
	u64 running;

	machine.no_irq_probe = true;
	driver_init(&machine);
	config = CLAIM(((struct perfctr_ctr_control []) { CTR(0, EV_BRANCHES, USER) }));
	ck_assert_int_eq(restart_on(0, config, 1000), 0);
	on_cpu_irqs_off(0, perfctr_cpu_leave);
	running = model_msr(0, model_global_ctrl());
	ck_assert_uint_eq(running, 0);
	model_set_msr(0, MSR_IA32_RTIT_CTL, 1);
	model_set_msr(0, model_global_ctrl(), 0x70000000f);
	model_lvtpc[0] = APIC_DM_NMI;
	ck_assert_int_eq(model_nmi(0), NMI_DONE);
	ck_assert_uint_eq(model_msr(0, model_global_ctrl()), running);
	ck_assert_uint_eq(model_lvtpc[0], APIC_DM_NMI);
	unclaim(config);
	perfctr_cpu_exit();
	ck_assert_int_eq(model_nmi(0), NMI_DONE);
}
END_TEST

void test_ictrs(void)
{
	unit_begin("x86_ictrs");
	unit_run(period_is_exact, NR_ROWS);
	UNIT_ROWS(firmware_freezes, machines);
	unit_run(periods_of_a_freezer, NR_ROWS);
	unit_run(started_after_a_restart, NR_ROWS);
	unit_run(only_it_interrupts, NR_ROWS);
	unit_run(start_values, NR_ROWS);
	UNIT_ROWS(full_width, wholes);
	unit_run(no_sum_goes_over_zero, NR_ROWS);
	unit_run(cleared, NR_ROWS);
	unit_run(acknowledged, NR_ROWS);
	UNIT_ROWS(two_at_once, machines);
	unit_run(handed_to_perf, (int)ARRAY_SIZE(others) * NR_MACHINES);
	UNIT_ROWS(handed_to_perf_at_last, machines);
	unit_run(guests_are_left_alone, NR_ROWS);
	unit_run(put_right_after_perf, NR_ROWS);
	unit_run(nmi_after_each_write, NR_ROWS);
	UNIT_RUN(stopped_again_after_a_trace);
	UNIT_ROWS(lvtpc_is_taken, machines);
	unit_run(no_interrupts, (int)ARRAY_SIZE(without) * NR_MACHINES);
}
