// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Translation between the control of perfctr 2.6, which has an array for each member and
 * members of its own for each arch, and the kernel's, which has a structure for each counter.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

/* Whether members are meant that 2.6 did not have, or not look at */
static int is_extended(const struct perfctr_cpu_control *cpu)
{
	return cpu->extended == PERFCTR_EXTENDED;
}

#if defined(__x86_64__) || defined(__i386__)

#define EVNTSEL_USR	0x00010000u
#define EVNTSEL_OS	0x00020000u
#define EVNTSEL_EVENT	0x0000ffffu	/* event and unit mask */

/* 2.6 names a counter by its RDPMC operand: fixed ones from here on */
#define RDPMC_FIXED	0x40000000u
#define FIRST_FIXED	24u	/* perfctr_ctr_control.map */
#define LAST_FIXED	31u

/* instructions, core cycles, reference cycles */
static const unsigned int fixed_events[] = { 0xc0, 0x3c, 0x13c };

/* Whose registers the words are */
enum words {
	WORDS_EVNTSEL,		/* event selects of the P6's layout */
	WORDS_CESR,		/* halves of the P5's register */
	WORDS_MODELESS,		/* events, which are always counted in both modes */
	WORDS_P4,		/* CCCRs, and ESCRs where others have the selects' upper halves */
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

/* @usr and @os: the bits of the modes */
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

#define P4_FAST_RDPMC	0x80000000u	/* in pmc_map: the kernel's reads need no such thing */
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

/* All counters have the same tags. */
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

/* Events that take offcore_rsp[]: Nehalem's, Westmere's, and the second one of Atoms */
static const struct {
	unsigned short event;
	unsigned char rsp;
} offcore[] = {
	{ 0x01b7, 0 }, { 0x01bb, 1 }, { 0x02b7, 1 },
};

/* The index in offcore_rsp[]; -1: the event takes none */
static int find_offcore(__u64 event)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offcore); i++)
		if (offcore[i].event == (event & EVNTSEL_EVENT))
			return offcore[i].rsp;
	return -1;
}

/* A value that no counter uses is a mistake, but 2.6 did not look at it. */
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

static __u64 config_high(const struct perfctr_cpu_control *from, unsigned int i)
{
	return from->evntsel_high[i];
}

static int set_config_high(struct perfctr_cpu_control *to, unsigned int i, unsigned int high)
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
	/* 2.6 ignored the event of a fixed counter, so it may be 0. */
	if (fixed < ARRAY_SIZE(fixed_events) && !(from->evntsel[i] & EVNTSEL_EVENT))
		to->event |= fixed_events[fixed];
	to->flags = flags_of(from->evntsel[i], EVNTSEL_USR, EVNTSEL_OS);
}

static void ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			  unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	enum words words = words_of(cpu_type);

	to->event = from->evntsel[i];
	/* 2.6 looked at it there alone. */
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

static void ctr_from_native(const struct perfctr_ctr_control *from, unsigned int cpu_type,
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

/* What all counters have together */
static int shared_to_native(const struct perfctr_cpu_control *from, unsigned int n,
			    unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	return words_of(cpu_type) == WORDS_EVNTSEL ? offcore_to_native(from, n, to) : 0;
}

static int shared_from_native(const struct perfctr_ctr_control *from, unsigned int n,
			      unsigned int cpu_type, struct perfctr_cpu_control *to)
{
	return words_of(cpu_type) == WORDS_EVNTSEL ? offcore_from_native(from, n, to) : 0;
}

#elif defined(__powerpc__)

/* MMCR0 */
#define FCS		0x40000000u	/* not in supervisor mode */
#define FCP		0x20000000u	/* not in user mode */
#define PMXE		0x04000000u	/* interrupts */
#define PMC1CE		0x00008000u	/* ... of PMC1 */
#define PMCNCE		0x00004000u	/* ... of the others */

static __u64 config_high(const struct perfctr_cpu_control *from, unsigned int i)
{
	(void)from;
	(void)i;
	return 0;
}

static int set_config_high(struct perfctr_cpu_control *to, unsigned int i, unsigned int high)
{
	(void)to;
	(void)i;
	return high ? -1 : 0;
}

static void ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			  unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	unsigned int mmcr0 = from->ppc.mmcr0 & ~(FCS | FCP);

	(void)cpu_type;
	/* The kernel sets them for its i-mode counters. */
	if (from->nrictrs)
		mmcr0 &= ~(PMXE | PMC1CE | PMCNCE);
	to->event = from->evntsel[i];
	to->config = (__u64)from->ppc.mmcr2 << 32 | mmcr0;
	if (!(from->ppc.mmcr0 & FCP))
		to->flags |= PERFCTR_CTR_USER;
	if (!(from->ppc.mmcr0 & FCS))
		to->flags |= PERFCTR_CTR_KERNEL;
}

/* All counters have the same modes and registers. */
static void ctr_from_native(const struct perfctr_ctr_control *from, unsigned int cpu_type,
			    struct perfctr_cpu_control *to, unsigned int i)
{
	(void)cpu_type;
	to->evntsel[i] = (unsigned int)from->event;
	to->ppc.mmcr0 = (unsigned int)from->config;
	to->ppc.mmcr2 = (unsigned int)(from->config >> 32);
	if (!(from->flags & PERFCTR_CTR_USER))
		to->ppc.mmcr0 |= FCP;
	if (!(from->flags & PERFCTR_CTR_KERNEL))
		to->ppc.mmcr0 |= FCS;
	if (to->nrictrs)
		to->ppc.mmcr0 |= PMXE;
}

#elif defined(__aarch64__)

static __u64 config_high(const struct perfctr_cpu_control *from, unsigned int i)
{
	return from->arm64.config[i];
}

static int set_config_high(struct perfctr_cpu_control *to, unsigned int i, unsigned int high)
{
	to->arm64.config[i] = high;
	return 0;
}

static void ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			  unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	(void)cpu_type;
	to->event = from->evntsel[i];
	to->config = from->arm64.config[i];
	to->flags = from->arm64.mode[i] ? from->arm64.mode[i] : PERFCTR_CTR_USER;
}

static void ctr_from_native(const struct perfctr_ctr_control *from, unsigned int cpu_type,
			    struct perfctr_cpu_control *to, unsigned int i)
{
	(void)cpu_type;
	to->evntsel[i] = (unsigned int)from->event;
	to->arm64.config[i] = from->config;
	to->arm64.mode[i] = from->flags;
}

#else /* riscv */

static __u64 config_high(const struct perfctr_cpu_control *from, unsigned int i)
{
	return from->riscv.event_data[i];
}

static int set_config_high(struct perfctr_cpu_control *to, unsigned int i, unsigned int high)
{
	to->riscv.event_data[i] = high;
	return 0;
}

static void ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			  unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	(void)cpu_type;
	to->event = from->evntsel[i];
	to->config = from->riscv.event_data[i];
	to->flags = from->riscv.mode[i] ? from->riscv.mode[i] : PERFCTR_CTR_USER;
}

static void ctr_from_native(const struct perfctr_ctr_control *from, unsigned int cpu_type,
			    struct perfctr_cpu_control *to, unsigned int i)
{
	(void)cpu_type;
	to->evntsel[i] = (unsigned int)from->event;
	to->riscv.event_data[i] = from->config;
	to->riscv.mode[i] = from->flags;
}

#endif

#if !defined(__x86_64__) && !defined(__i386__)

static int shared_to_native(const struct perfctr_cpu_control *from, unsigned int n,
			    unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	(void)from;
	(void)n;
	(void)cpu_type;
	(void)to;
	return 0;
}

static int shared_from_native(const struct perfctr_ctr_control *from, unsigned int n,
			      unsigned int cpu_type, struct perfctr_cpu_control *to)
{
	(void)from;
	(void)n;
	(void)cpu_type;
	(void)to;
	return 0;
}

#endif

#if defined(__powerpc__)

/* Where 2.6's counters begin; they overflow as they become negative. */
static int ireset_to_native(int from, __s64 *to)
{
	*to = (__s64)from - 0x80000000LL;
	return from < 0 ? -1 : 0;
}

static int ireset_from_native(__s64 from, int *to)
{
	*to = from ? (int)(from + 0x80000000LL) : 0;
	return from < -0x80000000LL ? -1 : 0;
}

#else

static int ireset_to_native(int from, __s64 *to)
{
	*to = from;
	return 0;
}

static int ireset_from_native(__s64 from, int *to)
{
	*to = (int)from;
	return 0;
}

#endif

/*
 * Events of perf's; see PERFCTR_PERF_EVENTS
 */

_Static_assert(PERFCTR_NRCTRS <= 32, "a bit for each counter");

int perfctr_has_perf_event(const struct perfctr_cpu_control *cpu, unsigned int i)
{
	return is_extended(cpu) && ((cpu->perf_user | cpu->perf_kernel) >> i & 1);
}

static int perf_ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			      struct perfctr_ctr_control *to)
{
	__u64 high = config_high(from, i);

	if (high >> 32)
		return -1;
	to->map = PERFCTR_MAP_ANY;
	to->event = from->pmc_map[i];
	to->config = high << 32 | from->evntsel[i];
	to->flags = PERFCTR_CTR_PERF;
	if (from->perf_user >> i & 1)
		to->flags |= PERFCTR_CTR_USER;
	if (from->perf_kernel >> i & 1)
		to->flags |= PERFCTR_CTR_KERNEL;
	return 0;
}

/* There is no place for perf's config1 and config2. */
static int perf_ctr_from_native(const struct perfctr_ctr_control *from,
				struct perfctr_cpu_control *to, unsigned int i)
{
	if (from->config1 || from->config2 || from->event >> 32)
		return -1;
	to->pmc_map[i] = (unsigned int)from->event;
	to->evntsel[i] = (unsigned int)from->config;
	if (from->flags & PERFCTR_CTR_USER)
		to->perf_user |= 1u << i;
	if (from->flags & PERFCTR_CTR_KERNEL)
		to->perf_kernel |= 1u << i;
	return set_config_high(to, i, (unsigned int)(from->config >> 32));
}

/* VPERFCTR_SOURCE_* begin with ANY, so that controls of old programs have that. */
static const unsigned int sources[] = {
	[VPERFCTR_SOURCE_ANY] = PERFCTR_SOURCE_ANY,
	[VPERFCTR_SOURCE_NATIVE] = PERFCTR_SOURCE_NATIVE,
	[VPERFCTR_SOURCE_SHARED] = PERFCTR_SOURCE_SHARED,
};

static unsigned int source_from_native(unsigned int source)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		if (sources[i] == source)
			return i;
	return VPERFCTR_SOURCE_ANY;
}

/*
 * Controls
 */

static int ctrs_to_native(const struct perfctr_cpu_control *cpu, unsigned int n,
			  unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (i >= cpu->nractrs && ireset_to_native(cpu->ireset[i], &to[i].ireset) < 0)
			return -1;
		if (perfctr_has_perf_event(cpu, i)) {
			if (perf_ctr_to_native(cpu, i, &to[i]) < 0)
				return -1;
			continue;
		}
		to[i].map = cpu->pmc_map[i];
		ctr_to_native(cpu, i, cpu_type, &to[i]);
	}
	return shared_to_native(cpu, n, cpu_type, to);
}

static int ctrs_from_native(const struct perfctr_ctr_control *from, unsigned int n,
			    unsigned int cpu_type, struct perfctr_cpu_control *cpu)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (ireset_from_native(from[i].ireset, &cpu->ireset[i]) < 0)
			return -1;
		if (from[i].flags & PERFCTR_CTR_PERF) {
			if (perf_ctr_from_native(&from[i], cpu, i) < 0)
				return -1;
			continue;
		}
		cpu->pmc_map[i] = from[i].map;
		ctr_from_native(&from[i], cpu_type, cpu, i);
	}
	return shared_from_native(from, n, cpu_type, cpu);
}

int perfctr_control_to_native(const struct vperfctr_control *from, unsigned int cpu_type,
			      struct perfctr_control *to)
{
	const struct perfctr_cpu_control *cpu = &from->cpu_control;
	unsigned int source = is_extended(cpu) ? from->source : VPERFCTR_SOURCE_ANY;
	unsigned int n = cpu->nractrs + cpu->nrictrs;

	if (cpu->nractrs > PERFCTR_NRCTRS || cpu->nrictrs > PERFCTR_NRCTRS ||
	    n > PERFCTR_NRCTRS || source >= ARRAY_SIZE(sources)) {
		errno = EINVAL;
		return -1;
	}

	memset(to, 0, offsetof(struct perfctr_control, ctr) + n * sizeof(to->ctr[0]));
	to->size = (__u32)(offsetof(struct perfctr_control, ctr) +
			   n * sizeof(to->ctr[0]));
	to->ctr_offset = offsetof(struct perfctr_control, ctr);
	to->ctr_size = sizeof(to->ctr[0]);
	to->flags = is_extended(cpu) ? from->flags : from->flags & VPERFCTR_CONTROL_CLOEXEC;
	to->tsc_on = !!cpu->tsc_on;
	to->nractrs = cpu->nractrs;
	to->nrictrs = cpu->nrictrs;
	to->si_signo = is_extended(cpu) || cpu->nrictrs ? from->si_signo : 0;
	to->source = sources[source];
	/* 2.6 ignored bits beyond the counters; the kernel does not. */
	to->preserve = from->preserve & ((1ULL << n) - 1);
	if (ctrs_to_native(cpu, n, cpu_type, to->ctr) < 0) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

int perfctr_control_from_native(const struct perfctr_control *from, unsigned int cpu_type,
				struct vperfctr_control *to)
{
	struct perfctr_cpu_control *cpu = &to->cpu_control;
	unsigned int n = from->nractrs + from->nrictrs;

	memset(to, 0, sizeof(*to));
	if (n > PERFCTR_NRCTRS) {
		errno = EINVAL;
		return -1;
	}

	to->flags = from->flags;
	to->si_signo = from->si_signo;
	to->preserve = (unsigned int)from->preserve;
	/* The clock alone has no source: counters that are added to it may have any. */
	to->source = n ? source_from_native(from->source) : VPERFCTR_SOURCE_ANY;
	cpu->extended = PERFCTR_EXTENDED;
	cpu->tsc_on = from->tsc_on;
	cpu->nractrs = from->nractrs;
	cpu->nrictrs = from->nrictrs;
	if (ctrs_from_native(from->ctr, n, cpu_type, cpu) < 0) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

#if defined(__powerpc__)

int perfctr_control_user_only(struct perfctr_control *control)
{
	const unsigned int both = PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL;
	unsigned int i, n = control->nractrs + control->nrictrs;

	if (errno != EACCES || control->reason != PERFCTR_REASON_KERNEL)
		return 0;
	for (i = 0; i < n; i++)
		if (control->ctr[i].flags != both)
			return 0;
	for (i = 0; i < n; i++)
		control->ctr[i].flags = PERFCTR_CTR_USER;
	return 1;
}

#else

int perfctr_control_user_only(struct perfctr_control *control)
{
	(void)control;
	return 0;
}

#endif

/* The least ones that the kernel insists on: some x86s are late with shorter ones. */
static const __s64 least_periods[] = { 2, 32 };

/* 2.6 took any period. One that is too short for the processor is lengthened. */
static int lengthen(struct perfctr_control *control)
{
	struct perfctr_ctr_control *ctr;
	unsigned int i;

	if (errno != EINVAL || control->refused < control->nractrs ||
	    control->refused >= control->nractrs + control->nrictrs)
		return 0;
	ctr = &control->ctr[control->refused];
	for (i = 0; i < ARRAY_SIZE(least_periods); i++)
		if (ctr->ireset < 0 && ctr->ireset > -least_periods[i]) {
			ctr->ireset = -least_periods[i];
			return 1;
		}
	return 0;
}

int perfctr_control_again(const struct vperfctr_control *from, struct perfctr_control *control)
{
	return perfctr_control_user_only(control) ||
	       (!is_extended(&from->cpu_control) && lengthen(control));
}
