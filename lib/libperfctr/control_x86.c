// SPDX-License-Identifier: LGPL-2.1-or-later
/* Translates perfctr 2.6's controls for x86. */
#include "control.h"

#if defined(__x86_64__) || defined(__i386__)

#define EVNTSEL_USR	0x00010000u
#define EVNTSEL_OS	0x00020000u
#define EVNTSEL_EVENT	0x0000ffffu	/* event and unit mask */

/* 2.6 names a counter by its RDPMC operand. The operands of fixed counters begin here. */
#define RDPMC_FIXED	0x40000000u
#define FIRST_FIXED	24u	/* first fixed counter in perfctr_ctr_control.map */
#define LAST_FIXED	31u

/* The events of fixed counters 0 to 2: instructions, core cycles, reference cycles */
static const unsigned int fixed_events[] = { 0xc0, 0x3c, 0x13c };

/* What the words of evntsel[] and evntsel_high[] can be */
enum words {
	WORDS_EVNTSEL,		/* event selects of the P6's layout */
	WORDS_CESR,		/* halves of the P5's CESR */
	WORDS_MODELESS,		/* events of counters that always count both modes */
	WORDS_P4,		/* CCCRs; the ESCRs are in p4.escr[] */
};

static enum words words_of(unsigned int cpu_type)
{
	switch (cpu_type) {
	case PERFCTR_X86_INTEL_P5: case PERFCTR_X86_INTEL_P5MMX: case PERFCTR_X86_CYRIX_MII:
		return WORDS_CESR;
	case PERFCTR_X86_WINCHIP_C6: case PERFCTR_X86_WINCHIP_2: case PERFCTR_X86_VIA_C3:
		return WORDS_MODELESS;
	case PERFCTR_X86_INTEL_P4: case PERFCTR_X86_INTEL_P4M2: case PERFCTR_X86_INTEL_P4M3:
		return WORDS_P4;
	default:
		return WORDS_EVNTSEL;
	}
}

/* Returns the PERFCTR_CTR_* of a word, whose bits @usr and @os mean user and kernel mode. */
static unsigned int flags_of(unsigned int word, unsigned int usr, unsigned int os)
{
	return (word & usr ? PERFCTR_CTR_USER : 0) | (word & os ? PERFCTR_CTR_KERNEL : 0);
}

static unsigned int bits_of(unsigned int flags, unsigned int usr, unsigned int os)
{
	return (flags & PERFCTR_CTR_USER ? usr : 0) | (flags & PERFCTR_CTR_KERNEL ? os : 0);
}

#define CESR_OS		0x40u
#define CESR_USR	0x80u

#define P4_FAST_RDPMC	0x80000000u	/* a flag in 2.6's pmc_map; the kernel's map lacks it */
#define P4_ESCR_USR	0x4u
#define P4_ESCR_OS	0x8u

static void p4_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			 struct perfctr_ctr_control *to)
{
	unsigned int block = from->pmc_map[i] - PERFCTR_P4_ANY(0);

	if (block < PERFCTR_P4_BLOCKS) {
		to->map = PERFCTR_MAP_ANY;
		to->event |= (__u64)(block + 1) << P4_BLOCK_SHIFT;
	} else if (to->map != PERFCTR_MAP_ANY) {
		to->map &= ~P4_FAST_RDPMC;
	}
	to->config = from->p4.escr[i];
	to->config1 = from->p4.pebs_enable;
	to->config2 = from->p4.pebs_matrix_vert;
	to->flags = flags_of(from->p4.escr[i], P4_ESCR_USR, P4_ESCR_OS);
}

/* All counters share the two registers for tags, so this collects the bits of each counter. */
static void p4_from_native(const struct perfctr_ctr_control *from,
			   struct perfctr_cpu_control *to, unsigned int i)
{
	unsigned int block = from->event >> P4_BLOCK_SHIFT & 7;

	if (from->map == PERFCTR_MAP_ANY && block)
		to->pmc_map[i] = PERFCTR_P4_ANY(block - 1);
	to->p4.escr[i] = (unsigned int)from->config |
			 bits_of(from->flags, P4_ESCR_USR, P4_ESCR_OS);
	to->p4.pebs_enable |= (unsigned int)from->config1;
	to->p4.pebs_matrix_vert |= (unsigned int)from->config2;
}

/* Events that use offcore_rsp[]: the first two on Nehalem and Westmere, the last one on Atoms */
static const struct {
	unsigned short event;
	unsigned char rsp;
} offcore[] = {
	{ 0x01b7, 0 }, { 0x01bb, 1 }, { 0x02b7, 1 },
};

/* Returns the index in offcore_rsp[] of the event's value, or -1 if the event has none. */
static int find_offcore(__u64 event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offcore); i++)
		if (offcore[i].event == (event & EVNTSEL_EVENT))
			return offcore[i].rsp;
	return -1;
}

/*
 * Gives each counter its offcore_rsp. Returns -1 if an offcore_rsp is set but no counter uses it.
 * In a control of a program for 2.6, an unused offcore_rsp is ignored, as 2.6 ignored it.
 */
static int offcore_to_native(const struct perfctr_cpu_control *from, unsigned int n,
			     struct perfctr_ctr_control *to)
{
	unsigned int i, wanted = 0;
	int rsp;

	for (i = 0; i < n; i++) {
		rsp = to[i].flags & PERFCTR_CTR_PERF ? -1 : find_offcore(to[i].event);
		if (rsp < 0)
			continue;
		to[i].config = from->nhlm.offcore_rsp[rsp];
		wanted |= 1u << rsp;
	}
	for (i = 0; i < 2; i++)
		if (is_extended(from) && from->nhlm.offcore_rsp[i] && !(wanted & 1u << i))
			return -1;
	return 0;
}

static int offcore_from_native(const struct perfctr_ctr_control *from, unsigned int n,
			       struct perfctr_cpu_control *to)
{
	unsigned int i;
	int rsp;

	for (i = 0; i < n; i++) {
		if (from[i].flags & PERFCTR_CTR_PERF)
			continue;
		rsp = find_offcore(from[i].event);
		if (from[i].config >> 32 || (from[i].config && rsp < 0))
			return -1;
		if (rsp >= 0)
			to->nhlm.offcore_rsp[rsp] = (unsigned int)from[i].config;
	}
	return 0;
}

__u64 perfctr_ctr_config_high(const struct perfctr_cpu_control *from, unsigned int i)
{
	return from->evntsel_high[i];
}

int perfctr_ctr_set_config_high(struct perfctr_cpu_control *to, unsigned int i, unsigned int high)
{
	to->evntsel_high[i] = high;
	return 0;
}

static void evntsel_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			      struct perfctr_ctr_control *to)
{
	unsigned int fixed = from->pmc_map[i] - RDPMC_FIXED;

	if (fixed <= LAST_FIXED - FIRST_FIXED)
		to->map = FIRST_FIXED + fixed;
	/* 2.6 ignored the event of a fixed counter, so the event may be 0. */
	if (fixed < ARRAY_SIZE(fixed_events) && !(from->evntsel[i] & EVNTSEL_EVENT))
		to->event |= fixed_events[fixed];
	to->flags = flags_of(from->evntsel[i], EVNTSEL_USR, EVNTSEL_OS);
}

void perfctr_ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			   unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	enum words words = words_of(cpu_type);

	to->event = from->evntsel[i];
	/* 2.6 used evntsel_high[] on FAM10H only. */
	if (words != WORDS_P4 && (is_extended(from) || cpu_type == PERFCTR_X86_AMD_FAM10H))
		to->event |= (__u64)from->evntsel_high[i] << 32;
	switch (words) {
	case WORDS_EVNTSEL:
		evntsel_to_native(from, i, to);
		break;
	case WORDS_CESR:
		to->flags = flags_of(from->evntsel[i], CESR_USR, CESR_OS);
		break;
	case WORDS_MODELESS:
		to->flags = PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL;
		break;
	case WORDS_P4:
		p4_to_native(from, i, to);
		break;
	}
}

void perfctr_ctr_from_native(const struct perfctr_ctr_control *from, unsigned int cpu_type,
			     struct perfctr_cpu_control *to, unsigned int i)
{
	enum words words = words_of(cpu_type);

	to->evntsel[i] = (unsigned int)from->event;
	if (words == WORDS_P4) {
		p4_from_native(from, to, i);
		return;
	}
	to->evntsel_high[i] = (unsigned int)(from->event >> 32);
	if (words == WORDS_CESR)
		to->evntsel[i] |= bits_of(from->flags, CESR_USR, CESR_OS);
	else if (words == WORDS_EVNTSEL && from->map >= FIRST_FIXED && from->map <= LAST_FIXED)
		to->pmc_map[i] = RDPMC_FIXED + from->map - FIRST_FIXED;
}

int perfctr_ctrs_shared_to_native(const struct perfctr_cpu_control *from, unsigned int n,
				  unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	return words_of(cpu_type) == WORDS_EVNTSEL ? offcore_to_native(from, n, to) : 0;
}

int perfctr_ctrs_shared_from_native(const struct perfctr_ctr_control *from, unsigned int n,
				    unsigned int cpu_type, struct perfctr_cpu_control *to)
{
	return words_of(cpu_type) == WORDS_EVNTSEL ? offcore_from_native(from, n, to) : 0;
}

#endif
