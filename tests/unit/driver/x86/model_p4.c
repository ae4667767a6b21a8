// SPDX-License-Identifier: GPL-2.0
/* The registers of a Pentium 4. */
#include "x86/model_inside.h"

static const u8 p4_escrs[][2] = {	/* the first one's place, and the last one's */
	{ 0x00, 0x1e }, { 0x20, 0x25 }, { 0x28, 0x2d }, { 0x40, 0x41 },
};

static u64 p4_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return bits(40);
}

/* Of the IQ's counters 0, and 3 to 5, one that waits for another one of 4 and 5 */
static bool p4_can_extend(unsigned int i)
{
	return model.model >= 2 && (i == 12 || i >= 15);
}

static u64 p4_cccr_valid(unsigned int cpu, unsigned int i)
{
	(void)cpu;
	return 0xc7fff000 | (p4_can_extend(i) ? CCCR_EXTENDED : 0) |
	       (model.threads > 1 ? CCCR_OVF_PMI_T1 : 0);
}

static bool p4_escr_there(unsigned int cpu, unsigned int i)
{
	unsigned int k;

	(void)cpu;
	if ((i == 0x1a || i == 0x1b) && model.model > 2)
		return false;
	for (k = 0; k < sizeof(p4_escrs) / sizeof(p4_escrs[0]); k++)
		if (i >= p4_escrs[k][0] && i <= p4_escrs[k][1])
			return true;
	return false;
}

static u64 p4_escr_valid(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return 0x7ffffffc | (model.threads > 1 ? ESCR_T1 : 0);
}

static u64 *p4_escr_value(unsigned int cpu, unsigned int i)
{
	return &cpus[core_of(cpu)].control.escr[i];
}

static bool p4_there(unsigned int cpu, unsigned int i)
{
	UNUSED(cpu, i);
	return true;
}

static u64 p4_pebs_valid(unsigned int cpu, unsigned int i)
{
	(void)cpu;
	return i ? 0x1fff : 0x7001fff;
}

static u64 *p4_pebs_value(unsigned int cpu, unsigned int i)
{
	return &cpus[core_of(cpu)].pebs[i];
}

static u64 *p4_misc_value(unsigned int cpu, unsigned int i)
{
	static u64 misc;

	UNUSED(cpu, i);
	misc = model.no_perfmon ? 1 : 0x81;
	return &misc;
}

/* Bit 31 is the quick read, of 32 bits: the driver never uses it. */
static const u64 *p4_rdpmc(unsigned int cpu, u32 counter)
{
	return counter < nr_gp_of(cpu) ? gp_value(cpu, counter) : NULL;
}

/* OVF is cleared and not set; T1's interrupts are nobody's. */
static const struct range p4_ranges[] = {
	{ MSR_IA32_MISC_ENABLE, ONE, REG_READ_ONLY, p4_there, valid_none, p4_misc_value, 0 },
	{ 0x300, 1, MODEL_P4, 0, REG_PLAIN, gp_there, p4_valid, gp_value, 0 },
	{ 0x360, 1, MODEL_P4, 0, REG_PLAIN, gp_there, p4_cccr_valid, evntsel_value,
	  CCCR_OVF_PMI_T1 | CCCR_OVF },
	{ 0x3a0, 1, MODEL_ESCRS, 0, REG_PLAIN, p4_escr_there, p4_escr_valid, p4_escr_value,
	  ESCR_T1 },
	{ 0x3f1, 1, 2, 0, REG_PLAIN, p4_there, p4_pebs_valid, p4_pebs_value, 0 },
	{ .most = 0 },
};

const struct family p4_family = {
	.perfctr = 0x300, .evntsel = 0x360, .stride = 1,
	.ranges = p4_ranges, .rdpmc = p4_rdpmc,
	.lvtpc_masked = true,
};

/* The place of the ESCR that a counter selects; of events of the model alone */
static const struct p4_event {
	u32 block, select;
	u64 escr;
	enum model_kind kind;
} p4_events[] = {
	{ 0, 6, P4_ESCR(0x13, 1), KIND_CYCLES },
	{ 1, 2, P4_ESCR(0x04, 0x1e), KIND_BRANCHES },
	{ 2, 5, P4_ESCR(0x05, 1), KIND_STORES },
	{ 3, 4, P4_ESCR(0x02, 1), KIND_INSTRUCTIONS },
	{ 3, 5, P4_ESCR(0x06, 0xf), KIND_BRANCHES },
	{ 3, 5, P4_ESCR(0x06, 0xa), KIND_MISPREDICTIONS },
	{ 3, 5, P4_ESCR(0x09, 1), KIND_DTLB_READ },
};

/* MSRs of the ESCRs: of each block those of the first half, by what selects them */
static const u16 p4_select[4][8] = {
	{ 0x3b2, 0x3b4, 0x3aa, 0x3b6, 0x3ac, 0x3c8, 0x3a2, 0x3a0 },
	{ 0x3c0, 0x3c4, 0x3c2, 0, 0, 0, 0, 0 },
	{ 0x3a6, 0x3a4, 0x3ae, 0x3b0, 0, 0x3a8, 0, 0 },
	{ 0x3ba, 0x3ca, 0x3bc, 0x3be, 0x3b8, 0x3cc, 0x3e0, 0 },
};

unsigned int p4_block(unsigned int i)
{
	return i < 12 ? i / 4 : 3;
}

static bool p4_second_half(unsigned int i)
{
	return i < 16 ? i & 2 : i & 1;
}

u32 model_escr(unsigned int i, u64 cccr)
{
	u32 first = p4_select[p4_block(i)][cccr >> 13 & 7];

	/* SSU_ESCR0 has no second one. */
	if (!first || (first == 0x3be && p4_second_half(i)))
		return 0;
	return first + p4_second_half(i);
}

enum model_kind p4_kind(unsigned int block, u64 cccr, u64 escr, const u64 *pebs)
{
	unsigned int k;

	if (cccr & CCCR_COMPARE)
		return KIND_NR;
	for (k = 0; k < sizeof(p4_events) / sizeof(p4_events[0]); k++) {
		const struct p4_event *event = &p4_events[k];

		if (event->block != block || event->select != (cccr >> 13 & 7) ||
		    event->escr != (escr & 0x7ffffe00))
			continue;
		/* Replays are counted where their cause is tagged: here, misses of the TLB by loads. */
		if (event->kind == KIND_DTLB_READ && (pebs[0] != 0x1000004 || pebs[1] != 1))
			return KIND_NR;
		return event->kind;
	}
	return KIND_NR;
}
