// SPDX-License-Identifier: GPL-2.0
/*
 * Events of Intel's that take more than an event select: which responses to which
 * requests count as off-core responses, which misses of the front end, is said by
 * a register of their own. Its hyperthreads share a core's, so it cannot follow
 * the threads that are switched in: it holds one value, on all CPUs, from the first
 * config that wants it to the last, and who wants another has to wait. Nothing of it
 * is done at a switch.
 *
 * Which events there are and which bits they define goes by the model.
 */

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/msr-index.h>
#include <asm/msr.h>
#include <asm/processor.h>

#include "extra.h"

#define EVENT_AND_UMASK	0xffff

enum { OFFCORE_0, OFFCORE_1, FRONTEND, NONE };

static const u32 msrs[PERFCTR_X86_EXTRAS] = {
	[OFFCORE_0] = 0x1a6, [OFFCORE_1] = 0x1a7, [FRONTEND] = 0x3f7,
};

/*
 * @event: event and unit mask
 * @reg: its register. NONE: it cannot be had: it takes precise event-based sampling
 * @valid: bits that are defined
 */
struct extra_event {
	u16 event;
	u8 reg;
	u64 valid;
};

/* The last of each is all zero. */

/* Nehalem has one; the latency of loads has moved since Westmere. */
static const struct extra_event nehalem[] = {
	{ 0x01b7, OFFCORE_0, 0xffff }, { 0x100b, NONE, 0 }, {}
};

static const struct extra_event westmere[] = {
	{ 0x01b7, OFFCORE_0, 0xffff }, { 0x01bb, OFFCORE_1, 0xffff }, { 0x100b, NONE, 0 }, {}
};

static const struct extra_event sandy_bridge[] = {
	{ 0x01b7, OFFCORE_0, 0x3f807f8fff }, { 0x01bb, OFFCORE_1, 0x3f807f8fff },
	{ 0x01cd, NONE, 0 }, {}
};

/* And Ivy Bridge's, Haswell, Broadwell */
static const struct extra_event sandy_bridge_ep[] = {
	{ 0x01b7, OFFCORE_0, 0x3fffff8fff }, { 0x01bb, OFFCORE_1, 0x3fffff8fff },
	{ 0x01cd, NONE, 0 }, {}
};

static const struct extra_event skylake[] = {
	{ 0x01b7, OFFCORE_0, 0x3fffff8fff }, { 0x01bb, OFFCORE_1, 0x3fffff8fff },
	{ 0x01cd, NONE, 0 }, { 0x01c6, FRONTEND, 0x7fff17 }, {}
};

static const struct extra_event ice_lake[] = {
	{ 0x01b7, OFFCORE_0, 0x3fffffbfff }, { 0x01bb, OFFCORE_1, 0x3fffffbfff },
	{ 0x01cd, NONE, 0 }, { 0x01c6, FRONTEND, 0x7fff17 }, {}
};

static const struct extra_event sapphire_rapids[] = {
	{ 0x012a, OFFCORE_0, 0x3fffffffff }, { 0x012b, OFFCORE_1, 0x3fffffffff },
	{ 0x01cd, NONE, 0 }, { 0x01c6, FRONTEND, 0x7fff1f }, { 0x40ad, FRONTEND, 0x7 },
	{ 0x04c2, FRONTEND, 0x8 }, {}
};

static const struct extra_event granite_rapids[] = {
	{ 0x012a, OFFCORE_0, 0x3fffffffff }, { 0x012b, OFFCORE_1, 0x3fffffffff },
	{ 0x01cd, NONE, 0 }, { 0x02c6, FRONTEND, 0x9 }, { 0x03c6, FRONTEND, 0x7fff1f },
	{ 0x40ad, FRONTEND, 0x7 }, { 0x04c2, FRONTEND, 0x8 }, {}
};

static const struct extra_event knights_landing[] = {
	{ 0x01b7, OFFCORE_0, 0x799ffbb6e7 }, { 0x02b7, OFFCORE_1, 0x399ffbffe7 }, {}
};

/* Bonnell, Saltwell */
static const struct extra_event atom[] = { {} };

/* And Airmont */
static const struct extra_event silvermont[] = {
	{ 0x01b7, OFFCORE_0, 0x768005ffff }, { 0x02b7, OFFCORE_1, 0x368005ffff }, {}
};

static const struct extra_event goldmont[] = {
	{ 0x01b7, OFFCORE_0, 0x760005ffbf }, { 0x02b7, OFFCORE_1, 0x360005ffbf }, {}
};

static const struct extra_event tremont[] = {
	{ 0x01b7, OFFCORE_0, 0x800ff0ffffff9fff }, { 0x02b7, OFFCORE_1, 0xff0ffffff9fff }, {}
};

static const struct extra_event gracemont[] = {
	{ 0x01b7, OFFCORE_0, 0x3fffffffff }, { 0x02b7, OFFCORE_1, 0x3fffffffff },
	{ 0x05d0, NONE, 0 }, {}
};

static const struct extra_event crestmont[] = {
	{ 0x01b7, OFFCORE_0, 0x800ff3ffffffffff }, { 0x02b7, OFFCORE_1, 0xff3ffffffffff },
	{ 0x05d0, NONE, 0 }, { 0x0127, NONE, 0 }, { 0x0227, NONE, 0 }, {}
};

/* What may be such an event on a model that is not known here: from Nehalem on */
static const struct extra_event unknown[] = {
	{ 0x01b7, NONE, 0 }, { 0x01bb, NONE, 0 }, { 0x02b7, NONE, 0 }, { 0x012a, NONE, 0 },
	{ 0x012b, NONE, 0 }, { 0x100b, NONE, 0 }, { 0x01cd, NONE, 0 }, { 0x05d0, NONE, 0 },
	{ 0x01c6, NONE, 0 }, { 0x02c6, NONE, 0 }, { 0x03c6, NONE, 0 }, { 0x40ad, NONE, 0 },
	{ 0x04c2, NONE, 0 }, { 0x0127, NONE, 0 }, { 0x0227, NONE, 0 },
	{}
};

struct extra_model {
	u8 model;
	const struct extra_event *events;
};

static const struct extra_model models[] __initconst = {
	{ 0x1a, nehalem }, { 0x1e, nehalem }, { 0x2e, nehalem },
	{ 0x25, westmere }, { 0x2c, westmere }, { 0x2f, westmere },
	{ 0x2a, sandy_bridge }, { 0x3a, sandy_bridge },
	{ 0x2d, sandy_bridge_ep }, { 0x3e, sandy_bridge_ep },
	{ 0x3c, sandy_bridge_ep }, { 0x3f, sandy_bridge_ep }, { 0x45, sandy_bridge_ep },
	{ 0x46, sandy_bridge_ep },
	{ 0x3d, sandy_bridge_ep }, { 0x47, sandy_bridge_ep }, { 0x4f, sandy_bridge_ep },
	{ 0x56, sandy_bridge_ep },
	{ 0x4e, skylake }, { 0x5e, skylake }, { 0x55, skylake }, { 0x8e, skylake },
	{ 0x9e, skylake }, { 0xa5, skylake }, { 0xa6, skylake },
	{ 0x6a, ice_lake }, { 0x6c, ice_lake }, { 0x7d, ice_lake }, { 0x7e, ice_lake },
	{ 0x8c, ice_lake }, { 0x8d, ice_lake }, { 0xa7, ice_lake },
	{ 0x8f, sapphire_rapids }, { 0xcf, sapphire_rapids },
	{ 0xad, granite_rapids }, { 0xae, granite_rapids },
	{ 0x57, knights_landing }, { 0x85, knights_landing },
	{ 0x1c, atom }, { 0x26, atom }, { 0x27, atom }, { 0x35, atom }, { 0x36, atom },
	{ 0x37, silvermont }, { 0x4a, silvermont }, { 0x4d, silvermont }, { 0x4c, silvermont },
	{ 0x5a, silvermont },
	{ 0x5c, goldmont }, { 0x5f, goldmont }, { 0x7a, goldmont },
	{ 0x86, tremont }, { 0x96, tremont }, { 0x9c, tremont },
	{ 0xbe, gracemont }, { 0xaf, crestmont }, { 0xb6, crestmont },
};

/* Of this processor, constant after init: its events; the registers that it turned out to have */
static const struct extra_event *events = atom;
static u32 registers;

/* Those that any config ever had; config_mutex */
static u32 ever_had;

/*
 * config_mutex
 * @value: what the register holds on every CPU that is ours; 0: nobody wants it
 * @users: counters, of all configs that are claimed, that want it
 */
static struct {
	u64 value;
	unsigned int users;
} extras[PERFCTR_X86_EXTRAS];

static const struct extra_event *find_event(const struct perfctr_ctr_control *ctr)
{
	const struct extra_event *event;

	for (event = events; event->event; event++)
		if (event->event == (ctr->event & EVENT_AND_UMASK))
			return event;
	return NULL;
}

/* Of one that was checked: the register, or NONE */
static unsigned int find_register(const struct perfctr_ctr_control *ctr)
{
	const struct extra_event *event = ctr->config ? find_event(ctr) : NULL;

	return event ? event->reg : NONE;
}

int perfctr_x86_extra_check(const struct perfctr_ctr_control *ctr, u64 *values)
{
	const struct extra_event *event = find_event(ctr);

	if (!event)
		return ctr->config ? -EINVAL : 0;
	if (event->reg == NONE || !(registers & BIT(event->reg)))
		return -EOPNOTSUPP;
	/* None of them set would be a count of nothing. */
	if (!ctr->config || ctr->config & ~event->valid)
		return -EINVAL;
	if (values[event->reg] && values[event->reg] != ctr->config)
		return -EINVAL;
	values[event->reg] = ctr->config;
	return 0;
}

static void write_extra(unsigned int reg, u64 value)
{
	wrmsr(msrs[reg], (u32)value, value >> 32);
}

void perfctr_x86_extra_take(void)
{
	unsigned int reg;

	for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++)
		if (extras[reg].value)
			write_extra(reg, extras[reg].value);
}

bool perfctr_x86_extra_ever_had(void)
{
	return ever_had;
}

void perfctr_x86_extra_release(void)
{
	unsigned int reg;

	for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++)
		if (ever_had & BIT(reg))
			write_extra(reg, 0);
}

u32 perfctr_x86_extra_refused(const struct perfctr_config *config)
{
	unsigned int i, reg;

	for (i = 0; i < config->nr; i++) {
		reg = find_register(&config->ctr[i]);
		if (reg != NONE && extras[reg].users && extras[reg].value != config->ctr[i].config)
			return i;
	}
	return PERFCTR_NO_INDEX;
}

/* A value that the processor refuses after all, or does not keep, must not be counted by. */
static int try_extra(void *arg)
{
	unsigned int reg = *(unsigned int *)arg;
	u64 value = extras[reg].value;
	u32 low, high;

	if (wrmsr_safe(msrs[reg], (u32)value, value >> 32) ||
	    rdmsr_safe(msrs[reg], &low, &high) || ((u64)high << 32 | low) != value)
		return -EINVAL;
	return 0;
}

static int zero_extra(void *arg)
{
	write_extra(*(unsigned int *)arg, 0);
	return 0;
}

int perfctr_x86_extra_get(const struct perfctr_config *config, perfctr_run_t run, u32 *index)
{
	unsigned int i, reg;
	int err = 0;

	for (i = 0; i < config->nr; i++) {
		reg = find_register(&config->ctr[i]);
		if (reg == NONE || extras[reg].users++)
			continue;
		ever_had |= BIT(reg);
		extras[reg].value = config->ctr[i].config;
		if (run(try_extra, &reg)) {
			*index = i;
			err = -EINVAL;
		}
	}
	return err;
}

void perfctr_x86_extra_put(const struct perfctr_config *config, perfctr_run_t run)
{
	unsigned int i, reg;

	for (i = 0; i < config->nr; i++) {
		reg = find_register(&config->ctr[i]);
		if (reg == NONE || --extras[reg].users)
			continue;
		extras[reg].value = 0;
		run(zero_extra, &reg);
	}
}

void __init perfctr_x86_extra_init(unsigned int version)
{
	const struct extra_event *event;
	unsigned int i;
	u32 low, high;

	if (version < 3)
		return;
	events = unknown;
	/* Of a hybrid one each type of core defines its own. */
	for (i = 0; i < ARRAY_SIZE(models) && !boot_cpu_has(X86_FEATURE_HYBRID_CPU); i++)
		if (models[i].model == boot_cpu_data.x86_model)
			events = models[i].events;
	for (event = events; event->event; event++)
		if (event->reg != NONE && !rdmsr_safe(msrs[event->reg], &low, &high))
			registers |= BIT(event->reg);
}
