// SPDX-License-Identifier: GPL-2.0
/*
 * Intel's events that need a second register beside the event select: off-core responses, and
 * misses of the front end. The model determines which of these events exist, and which bits their
 * registers define.
 */

#include <linux/init.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "arch/x86/extra.h"
#include "arch/x86/intel/intel.h"

enum { OFFCORE_0, OFFCORE_1, FRONTEND };

#define NONE	PERFCTR_X86_NO_EXTRA

static const u32 msrs[PERFCTR_X86_EXTRAS] = {
	[OFFCORE_0] = 0x1a6, [OFFCORE_1] = 0x1a7, [FRONTEND] = 0x3f7,
};

/* The tables below have an entry for each such event. The last entry of a table is all zero. */

/* Core, Core 2, Bonnell and Saltwell have no such events. */
static const struct perfctr_x86_extra_event before_there_were_any[] = { {} };

/*
 * Nehalem has one register. Event 0x100b is the latency of loads up to Westmere. Later models use
 * another event for this latency.
 */
static const struct perfctr_x86_extra_event nehalem[] = {
	{ 0x01b7, OFFCORE_0, 0xffff }, { 0x100b, NONE, 0 }, {}
};

static const struct perfctr_x86_extra_event westmere[] = {
	{ 0x01b7, OFFCORE_0, 0xffff }, { 0x01bb, OFFCORE_1, 0xffff }, { 0x100b, NONE, 0 }, {}
};

static const struct perfctr_x86_extra_event sandy_bridge[] = {
	{ 0x01b7, OFFCORE_0, 0x3f807f8fff }, { 0x01bb, OFFCORE_1, 0x3f807f8fff },
	{ 0x01cd, NONE, 0 }, {}
};

/* This table also serves Ivy Bridge-EP, Haswell and Broadwell. */
static const struct perfctr_x86_extra_event sandy_bridge_ep[] = {
	{ 0x01b7, OFFCORE_0, 0x3fffff8fff }, { 0x01bb, OFFCORE_1, 0x3fffff8fff },
	{ 0x01cd, NONE, 0 }, {}
};

static const struct perfctr_x86_extra_event skylake[] = {
	{ 0x01b7, OFFCORE_0, 0x3fffff8fff }, { 0x01bb, OFFCORE_1, 0x3fffff8fff },
	{ 0x01cd, NONE, 0 }, { 0x01c6, FRONTEND, 0x7fff17 }, {}
};

static const struct perfctr_x86_extra_event ice_lake[] = {
	{ 0x01b7, OFFCORE_0, 0x3fffffbfff }, { 0x01bb, OFFCORE_1, 0x3fffffbfff },
	{ 0x01cd, NONE, 0 }, { 0x01c6, FRONTEND, 0x7fff17 }, {}
};

/* This table also serves Bartlett Lake, which has Raptor Lake's cores. */
static const struct perfctr_x86_extra_event sapphire_rapids[] = {
	{ 0x012a, OFFCORE_0, 0x3fffffffff }, { 0x012b, OFFCORE_1, 0x3fffffffff },
	{ 0x01cd, NONE, 0 }, { 0x01c6, FRONTEND, 0x7fff1f }, { 0x40ad, FRONTEND, 0x7 },
	{ 0x04c2, FRONTEND, 0x8 }, {}
};

static const struct perfctr_x86_extra_event granite_rapids[] = {
	{ 0x012a, OFFCORE_0, 0x3fffffffff }, { 0x012b, OFFCORE_1, 0x3fffffffff },
	{ 0x01cd, NONE, 0 }, { 0x02c6, FRONTEND, 0x9 }, { 0x03c6, FRONTEND, 0x7fff1f },
	{ 0x40ad, FRONTEND, 0x7 }, { 0x04c2, FRONTEND, 0x8 }, {}
};

static const struct perfctr_x86_extra_event knights_landing[] = {
	{ 0x01b7, OFFCORE_0, 0x799ffbb6e7 }, { 0x02b7, OFFCORE_1, 0x399ffbffe7 }, {}
};

/* This table also serves Airmont. */
static const struct perfctr_x86_extra_event silvermont[] = {
	{ 0x01b7, OFFCORE_0, 0x768005ffff }, { 0x02b7, OFFCORE_1, 0x368005ffff }, {}
};

static const struct perfctr_x86_extra_event goldmont[] = {
	{ 0x01b7, OFFCORE_0, 0x760005ffbf }, { 0x02b7, OFFCORE_1, 0x360005ffbf }, {}
};

static const struct perfctr_x86_extra_event tremont[] = {
	{ 0x01b7, OFFCORE_0, 0x800ff0ffffff9fff }, { 0x02b7, OFFCORE_1, 0xff0ffffff9fff }, {}
};

static const struct perfctr_x86_extra_event gracemont[] = {
	{ 0x01b7, OFFCORE_0, 0x8003f03fffffffff }, { 0x02b7, OFFCORE_1, 0x3f03fffffffff },
	{ 0x05d0, NONE, 0 }, {}
};

static const struct perfctr_x86_extra_event crestmont[] = {
	{ 0x01b7, OFFCORE_0, 0x800ff3ffffffffff }, { 0x02b7, OFFCORE_1, 0xff3ffffffffff },
	{ 0x05d0, NONE, 0 }, { 0x0127, NONE, 0 }, { 0x0227, NONE, 0 }, {}
};

/*
 * On an unknown model we refuse each event that needs such a register on any model since Nehalem.
 */
static const struct perfctr_x86_extra_event unknown[] = {
	{ 0x01b7, NONE, 0 }, { 0x01bb, NONE, 0 }, { 0x02b7, NONE, 0 }, { 0x012a, NONE, 0 },
	{ 0x012b, NONE, 0 }, { 0x100b, NONE, 0 }, { 0x01cd, NONE, 0 }, { 0x05d0, NONE, 0 },
	{ 0x01c6, NONE, 0 }, { 0x02c6, NONE, 0 }, { 0x03c6, NONE, 0 }, { 0x40ad, NONE, 0 },
	{ 0x04c2, NONE, 0 }, { 0x0127, NONE, 0 }, { 0x0227, NONE, 0 },
	{}
};

struct model {
	u8 model;
	const struct perfctr_x86_extra_event *events;
};

static const struct model models[] __initconst = {
	{ 0x0e, before_there_were_any }, { 0x0f, before_there_were_any },
	{ 0x16, before_there_were_any }, { 0x17, before_there_were_any },
	{ 0x1d, before_there_were_any },
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
	{ 0x8f, sapphire_rapids }, { 0xcf, sapphire_rapids }, { 0xd7, sapphire_rapids },
	{ 0xad, granite_rapids }, { 0xae, granite_rapids },
	{ 0x57, knights_landing }, { 0x85, knights_landing },
	{ 0x1c, before_there_were_any }, { 0x26, before_there_were_any },
	{ 0x27, before_there_were_any }, { 0x35, before_there_were_any },
	{ 0x36, before_there_were_any },
	{ 0x37, silvermont }, { 0x4a, silvermont }, { 0x4d, silvermont }, { 0x4c, silvermont },
	{ 0x5a, silvermont }, { 0x75, silvermont },
	{ 0x5c, goldmont }, { 0x5f, goldmont }, { 0x7a, goldmont },
	{ 0x86, tremont }, { 0x96, tremont }, { 0x9c, tremont },
	{ 0xbe, gracemont }, { 0xaf, crestmont }, { 0xb6, crestmont },
};

/*
 * Chooses the table by the model and not by the version, because a hypervisor may report a lower
 * version than the model's.
 */
void __init perfctr_intel_events_init(void)
{
	const struct perfctr_x86_extra_event *events = unknown;
	unsigned int i;

	/* On a hybrid processor each type of core defines its own events. */
	for (i = 0; i < ARRAY_SIZE(models) && !boot_cpu_has(X86_FEATURE_HYBRID_CPU); i++)
		if (boot_cpu_data.x86 == 6 && models[i].model == boot_cpu_data.x86_model)
			events = models[i].events;
	perfctr_x86_extra_init(events, msrs);
}
