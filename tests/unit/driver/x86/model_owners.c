// SPDX-License-Identifier: GPL-2.0
/* Who has reserved which registers, and what they must hold then. */
#include <check.h>

#include <asm/nmi.h>

#include "x86/model_inside.h"

/*
 * Reservations
 */

static u8 *reservation(u8 *all, u32 msr, u32 first)
{
	u32 i = family()->select ? 0 : index_of(msr, first, family()->stride);

	ck_assert_msg(i < nr_gp() || i < nr_gp_of(0), "the processor has no counter %u", i);
	return &all[i];
}

static int reserve(u8 *owner)
{
	if (*owner != MODEL_NOBODY)
		return 0;
	*owner = MODEL_DRIVER;
	return 1;
}

static void release(u8 *owner)
{
	shim_assert(*owner == MODEL_DRIVER);
	*owner = MODEL_NOBODY;
}

int reserve_perfctr_nmi(unsigned int msr)
{
	return reserve(reservation(model_reserved.perfctr, msr, family()->perfctr));
}

void release_perfctr_nmi(unsigned int msr)
{
	release(reservation(model_reserved.perfctr, msr, family()->perfctr));
}

int reserve_evntsel_nmi(unsigned int msr)
{
	return reserve(reservation(model_reserved.evntsel, msr, family()->evntsel));
}

void release_evntsel_nmi(unsigned int msr)
{
	release(reservation(model_reserved.evntsel, msr, family()->evntsel));
}

/* perf has all reservations while it counts anywhere, or has an event. */
static u32 perf_cpus;
static unsigned int perf_events;

static bool perf_reserve(void)
{
	unsigned int i;

	for (i = 0; i < MODEL_P4; i++)
		if (model_reserved.perfctr[i] != MODEL_NOBODY ||
		    model_reserved.evntsel[i] != MODEL_NOBODY)
			return false;
	memset(model_reserved.perfctr, MODEL_PERF, nr_gp_of(0));
	memset(model_reserved.evntsel, MODEL_PERF, nr_gp_of(0));
	return true;
}

bool model_perf_reserve(void)
{
	if (!perf_cpus && !perf_events && !perf_reserve())
		return false;
	perf_events++;
	return true;
}

static void perf_unreserve(void)
{
	if (!perf_cpus && !perf_events)
		memset(&model_reserved, MODEL_NOBODY, sizeof(model_reserved));
}

void model_perf_unreserve(void)
{
	shim_assert(perf_events);
	perf_events--;
	perf_unreserve();
}

bool model_perf_has_all(unsigned int cpu)
{
	return perf_cpus & BIT(cpu);
}

u32 model_perf_take_all(unsigned int cpu)
{
	unsigned int i;

	if (!perf_cpus && !perf_events && !perf_reserve())
		return 0;
	perf_cpus |= BIT(cpu);
	for (i = 0; i < nr_gp(); i++) {
		cpus[cpu].control.evntsel[i] = EV_BRANCHES | SEL_USR | SEL_INT |
					       enable_of(i);
		cpus[cpu].stale[i] = false;
		/* perf's counters start from a negative value. */
		cpus[cpu].gp[i] = bits(model.width) - 1000000;
	}
	if (model.version >= 2)
		cpus[cpu].control.global_ctrl = global_bits_of(cpu);
	return (u32)bits(nr_gp());
}

void model_perf_give(unsigned int cpu, u32 counters)
{
	shim_assert(perf_cpus & BIT(cpu) && counters == bits(nr_gp()));
	memset(cpus[cpu].control.evntsel, 0, sizeof(cpus[cpu].control.evntsel));
	model_perf_dirty[cpu] = (u32)bits(nr_gp());
	perf_cpus &= ~BIT(cpu);
	perf_unreserve();
}

/*
 * What tests look at
 */

void model_expect_loaded(void)
{
	static const struct model_reservations nothing;

	ck_assert_msg(!model_all_writes(), "registers were written");
	ck_assert_msg(!memcmp(&model_reserved, &nothing, sizeof(nothing)), "something is reserved");
}

bool driver_remembers(unsigned int cpu, const struct perfctr_config *config)
{
	const struct perfctr_x86_cpu *driver = per_cpu_ptr(&perfctr_x86_cpu, cpu);

	return driver->active == config->id || driver->private_kin == config->kin;
}

void model_expect_taken(unsigned int cpu)
{
	const struct model_control *control = &cpus[cpu].control;
	u64 idle = model_is_p4() ? CCCR_ANY_THREAD : 0;
	unsigned int i;

	for (i = 0; i < MODEL_ESCRS; i++)
		ck_assert_msg(!control->escr[i], "CPU %u, ESCR %#x: %#llx", cpu, 0x3a0 + i,
			      control->escr[i]);
	for (i = 0; i < nr_gp(); i++) {
		ck_assert_msg(control->evntsel[i] == (family()->one_enable ? enable_of(i) : idle),
			      "CPU %u, EVNTSEL%u: %#llx", cpu, i, control->evntsel[i]);
		ck_assert_msg(!cpus[cpu].gp[i], "CPU %u, counter %u: %#llx", cpu, i,
			      cpus[cpu].gp[i]);
	}
	if (model.version < 2)
		return;
	if (model_is_amd()) {
		ck_assert_uint_eq(control->global_ctrl, bits(nr_gp()));
		return;
	}
	ck_assert_msg(!control->fixed_ctrl, "CPU %u, FIXED_CTR_CTRL: %#llx", cpu,
		      control->fixed_ctrl);
	for (i = 0; i < 3; i++)
		ck_assert_msg(!cpus[cpu].fixed[i], "CPU %u, fixed counter %u: %#llx", cpu, i,
			      cpus[cpu].fixed[i]);
	ck_assert_msg(control->global_ctrl == (bits(nr_gp()) | 0x700000000),
		      "CPU %u, GLOBAL_CTRL: %#llx", cpu, control->global_ctrl);
}

void model_ownership(struct model_ownership *all)
{
	unsigned int cpu;

	memset(all, 0, sizeof(*all));
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		all->cpu[cpu] = cpus[cpu].control;
		memcpy(all->cpu[cpu].extras, extra(cpu, 0), sizeof(all->cpu[cpu].extras));
	}
	all->reserved = model_reserved;
}

void model_expect_ownership(const struct model_ownership *before)
{
	unsigned int cpu, i;

	for (i = 0; i < MODEL_P4; i++)
		ck_assert_msg(model_reserved.perfctr[i] == before->reserved.perfctr[i] &&
			      model_reserved.evntsel[i] == before->reserved.evntsel[i],
			      "counter %u: reserved by %u and %u, was by %u and %u", i,
			      model_reserved.perfctr[i], model_reserved.evntsel[i],
			      before->reserved.perfctr[i], before->reserved.evntsel[i]);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		const struct model_control *is = &cpus[cpu].control, *was = &before->cpu[cpu];

		for (i = 0; i < MODEL_ESCRS; i++)
			ck_assert_msg(is->escr[i] == was->escr[i],
				      "CPU %u, ESCR %#x: %#llx, was %#llx", cpu, 0x3a0 + i,
				      is->escr[i], was->escr[i]);
		for (i = 0; i < MODEL_P4; i++)
			ck_assert_msg(is->evntsel[i] == was->evntsel[i],
				      "CPU %u, EVNTSEL%u: %#llx, was %#llx", cpu, i,
				      is->evntsel[i], was->evntsel[i]);
		for (i = 0; i < MODEL_EXTRAS; i++)
			ck_assert_msg(*extra(cpu, i) == was->extras[i],
				      "CPU %u, extra register %u: %#llx, was %#llx", cpu, i,
				      *extra(cpu, i), was->extras[i]);
		ck_assert_msg(is->fixed_ctrl == was->fixed_ctrl,
			      "CPU %u, FIXED_CTR_CTRL: %#llx, was %#llx", cpu,
			      is->fixed_ctrl, was->fixed_ctrl);
		ck_assert_msg(is->global_ctrl == was->global_ctrl,
			      "CPU %u, GLOBAL_CTRL: %#llx, was %#llx", cpu,
			      is->global_ctrl, was->global_ctrl);
	}
}

/* All or none: the counters of a CPU are the driver's if they are set up, and reserved. */
u32 model_owned(unsigned int cpu, enum model_owner owner)
{
	if (owner == MODEL_DRIVER && !per_cpu_ptr(&perfctr_x86_cpu, cpu)->ours)
		return 0;
	return model_reserved.perfctr[0] == owner &&
	       (model_is_p4() || model_reserved.evntsel[0] == owner) ?
	       (u32)bits(nr_gp()) : 0;
}

u32 model_needed(const struct perfctr_config *config)
{
	return config->nr ? (u32)bits(nr_gp()) : 0;
}

/*
 * CPUs that lose registers. INIT, by which a CPU comes, leaves the counters as they are.
 */

void model_cpu_off(unsigned int cpu)
{
	(void)cpu;
}

void model_cpu_on(unsigned int cpu)
{
	(void)cpu;
}

void model_cpu_sleep(unsigned int cpu, bool firmware_forgets)
{
	(void)firmware_forgets;
	memset(&cpus[cpu].control, 0, sizeof(cpus[cpu].control));
	memset(cpus[cpu].gp, 0, sizeof(cpus[cpu].gp));
	memset(cpus[cpu].stale, 0, sizeof(cpus[cpu].stale));
	memset(cpus[cpu].fixed, 0, sizeof(cpus[cpu].fixed));
	/* A core's registers are lost with the last of its hyperthreads. */
	if (!model.siblings || !(shim_online & BIT(cpu ^ 1)))
		memset(extra(cpu, 0), 0, sizeof(cpus[cpu].extras));
	cpus[cpu].status = 0;
	if (model.version >= 2)
		cpus[cpu].control.global_ctrl = bits(of(cpu)->nr);
}
