// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Translation between the control of perfctr 2.6, which has an array for each member and
 * members of its own for each arch, and the kernel's, which has a structure for each counter.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

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

/* A value that no counter uses is a mistake. */
static int offcore_to_native(const struct perfctr_cpu_control *from, unsigned int n,
			     struct perfctr_ctr_control *to)
{
	unsigned int i, wanted = 0;
	int rsp;

	for (i = 0; i < n; i++) {
		rsp = find_offcore(to[i].event);
		if (rsp < 0)
			continue;
		to[i].config = from->nhlm.offcore_rsp[rsp];
		wanted |= 1u << rsp;
	}
	for (i = 0; i < 2; i++)
		if (from->nhlm.offcore_rsp[i] && !(wanted & 1u << i))
			return -1;
	return 0;
}

static int offcore_from_native(const struct perfctr_ctr_control *from, unsigned int n,
			       struct perfctr_cpu_control *to)
{
	unsigned int i;
	int rsp;

	for (i = 0; i < n; i++) {
		rsp = find_offcore(from[i].event);
		if (from[i].config >> 32 || (from[i].config && rsp < 0))
			return -1;
		if (rsp >= 0)
			to->nhlm.offcore_rsp[rsp] = (unsigned int)from[i].config;
	}
	return 0;
}

static void ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			  struct perfctr_ctr_control *to)
{
	unsigned int fixed = from->pmc_map[i] - RDPMC_FIXED;

	to->event = (__u64)from->evntsel_high[i] << 32 | from->evntsel[i];
	if (fixed <= LAST_FIXED - FIRST_FIXED)
		to->map = FIRST_FIXED + fixed;
	/* 2.6 ignored the event of a fixed counter, so it may be 0. */
	if (fixed < ARRAY_SIZE(fixed_events) && !(from->evntsel[i] & EVNTSEL_EVENT))
		to->event |= fixed_events[fixed];
	if (from->evntsel[i] & EVNTSEL_USR)
		to->flags |= PERFCTR_CTR_USER;
	if (from->evntsel[i] & EVNTSEL_OS)
		to->flags |= PERFCTR_CTR_KERNEL;
}

static void ctr_from_native(const struct perfctr_ctr_control *from,
			    struct perfctr_cpu_control *to, unsigned int i)
{
	to->evntsel[i] = (unsigned int)from->event;
	to->evntsel_high[i] = (unsigned int)(from->event >> 32);
	if (from->map >= FIRST_FIXED && from->map <= LAST_FIXED)
		to->pmc_map[i] = RDPMC_FIXED + from->map - FIRST_FIXED;
}

#elif defined(__powerpc__)

static void ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			  struct perfctr_ctr_control *to)
{
	to->event = from->evntsel[i];
	to->flags = PERFCTR_CTR_USER;
}

static void ctr_from_native(const struct perfctr_ctr_control *from,
			    struct perfctr_cpu_control *to, unsigned int i)
{
	to->evntsel[i] = (unsigned int)from->event;
}

#elif defined(__aarch64__)

static void ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			  struct perfctr_ctr_control *to)
{
	to->event = from->evntsel[i];
	to->config = from->arm64.config[i];
	to->flags = from->arm64.mode[i] ? from->arm64.mode[i] : PERFCTR_CTR_USER;
}

static void ctr_from_native(const struct perfctr_ctr_control *from,
			    struct perfctr_cpu_control *to, unsigned int i)
{
	to->evntsel[i] = (unsigned int)from->event;
	to->arm64.config[i] = from->config;
	to->arm64.mode[i] = from->flags;
}

#else /* riscv */

static void ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			  struct perfctr_ctr_control *to)
{
	to->event = from->evntsel[i];
	to->config = from->riscv.event_data[i];
	to->flags = from->riscv.mode[i] ? from->riscv.mode[i] : PERFCTR_CTR_USER;
}

static void ctr_from_native(const struct perfctr_ctr_control *from,
			    struct perfctr_cpu_control *to, unsigned int i)
{
	to->evntsel[i] = (unsigned int)from->event;
	to->riscv.event_data[i] = from->config;
	to->riscv.mode[i] = from->flags;
}

#endif

int perfctr_control_to_native(const struct vperfctr_control *from,
			      struct perfctr_control *to)
{
	const struct perfctr_cpu_control *cpu = &from->cpu_control;
	unsigned int i, n = cpu->nractrs + cpu->nrictrs;

	if (cpu->nractrs > PERFCTR_NRCTRS || cpu->nrictrs > PERFCTR_NRCTRS ||
	    n > PERFCTR_NRCTRS) {
		errno = EINVAL;
		return -1;
	}

	memset(to, 0, offsetof(struct perfctr_control, ctr) + n * sizeof(to->ctr[0]));
	to->size = (__u32)(offsetof(struct perfctr_control, ctr) +
			   n * sizeof(to->ctr[0]));
	to->ctr_offset = offsetof(struct perfctr_control, ctr);
	to->ctr_size = sizeof(to->ctr[0]);
	to->flags = from->flags;
	to->tsc_on = !!cpu->tsc_on;
	to->nractrs = cpu->nractrs;
	to->nrictrs = cpu->nrictrs;
	to->si_signo = from->si_signo;
	/* 2.6 ignored bits beyond the counters; the kernel does not. */
	to->preserve = from->preserve & ((1ULL << n) - 1);

	for (i = 0; i < n; i++) {
		to->ctr[i].map = cpu->pmc_map[i];
		if (i >= cpu->nractrs)
			to->ctr[i].ireset = cpu->ireset[i];
		ctr_to_native(cpu, i, &to->ctr[i]);
	}
#if defined(__x86_64__) || defined(__i386__)
	if (offcore_to_native(cpu, n, to->ctr)) {
		errno = EINVAL;
		return -1;
	}
#endif
	return 0;
}

int perfctr_control_from_native(const struct perfctr_control *from,
				struct vperfctr_control *to)
{
	struct perfctr_cpu_control *cpu = &to->cpu_control;
	unsigned int i, n = from->nractrs + from->nrictrs;

	memset(to, 0, sizeof(*to));
	if (n > PERFCTR_NRCTRS) {
		errno = EINVAL;
		return -1;
	}

	to->flags = from->flags;
	to->si_signo = from->si_signo;
	to->preserve = (unsigned int)from->preserve;
	cpu->tsc_on = from->tsc_on;
	cpu->nractrs = from->nractrs;
	cpu->nrictrs = from->nrictrs;
	for (i = 0; i < n; i++) {
		cpu->pmc_map[i] = from->ctr[i].map;
		cpu->ireset[i] = (int)from->ctr[i].ireset;
		ctr_from_native(&from->ctr[i], cpu, i);
	}
#if defined(__x86_64__) || defined(__i386__)
	if (offcore_from_native(from->ctr, n, cpu)) {
		errno = EINVAL;
		return -1;
	}
#endif
	return 0;
}
