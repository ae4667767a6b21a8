/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The read path, inline. Only libperfctr.h includes this file.
 *
 * <linux/perfctr.h> describes the algorithm above struct perfctr_page. The code runs in the thread
 * that is counted, and the page changes only while that thread is in the kernel. So program order
 * is enough, and compiler barriers keep that order without a fence. (With volatile accesses the
 * compiler could not load and extend in one instruction.) 32-bit machines load a member of 64 bits
 * in two halves. If the member changes between the two loads, the sequence count changes too, and
 * the read is repeated.
 */
#ifndef PERFCTR_INLINE_H
#define PERFCTR_INLINE_H

#ifndef LIBPERFCTR_H
#error "include <libperfctr.h>"
#endif

#define perfctr_likely(x)	__builtin_expect(!!(x), 1)
#define perfctr_unlikely(x)	__builtin_expect(!!(x), 0)
#define perfctr_barrier()	__asm__ __volatile__ ("" : : : "memory")

#if defined(__riscv) && __riscv_xlen == 64
#include "perfctr-riscv.h"
#elif defined(__x86_64__) || defined(__i386__)
#include "perfctr-x86.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "perfctr-arm64.h"
#elif defined(__powerpc__) && !defined(__powerpc64__)
#include "perfctr-ppc32.h"
#endif

#ifdef PERFCTR_CLOCK_SLOT

#ifdef PERFCTR_SLOTS_BY_PLACE

/* Returns the slot of register @reg. Slots are in the control's order, so this searches them. */
PERFCTR_INLINE const struct perfctr_page_slot *
perfctr_reg_slot(const struct perfctr_page *page, unsigned int reg)
{
	unsigned int i;

	if (reg == PERFCTR_CLOCK_SLOT)
		return &page->slot[reg];
	for (i = 0; i < PERFCTR_MAX_CTRS; i++)
		if (page->slot[i].owner && perfctr_page_counts_on(page, i, reg))
			return &page->slot[i];
	return &page->slot[PERFCTR_PAGE_NO_SLOT];
}

PERFCTR_INLINE unsigned long perfctr_page_place(const struct perfctr_page *page,
						unsigned int i)
{
	(void)page;
	return i;
}

PERFCTR_INLINE const struct perfctr_page_slot *
perfctr_place_slot(const struct perfctr_page *page, unsigned long i)
{
	return &page->slot[i];
}

#endif

/*
 * perfctr_page_read_reg(), perfctr_page_read_pmc() and perfctr_page_snapshot() store what they read
 * and return 1, or return 0 if the kernel must be asked. They are for callers who keep the page's
 * address in a register and ask the kernel themselves.
 */

/* Reads hardware counter @reg, or the clock if @reg is PERFCTR_CLOCK_SLOT. */
PERFCTR_INLINE int perfctr_page_read_reg(const struct perfctr_page *page,
					 unsigned int reg,
					 unsigned long long *value)
{
	const struct perfctr_page_slot *slot;
	unsigned long long count;
	int seq;

	if (reg >= PERFCTR_PAGE_NO_SLOT)
		return 0;
	do {
		perfctr_barrier();
		seq = page->seq;
		perfctr_barrier();
		slot = perfctr_reg_slot(page, reg);
		if (perfctr_unlikely(slot->owner != perfctr_thread_pointer()))
			return 0;
		count = slot->bias + perfctr_register(reg);
		perfctr_barrier();
	} while (perfctr_unlikely(page->seq != seq));
	*value = count;
	return 1;
}

/* Reads counter @i of the control. */
PERFCTR_INLINE int perfctr_page_read_pmc(const struct perfctr_page *page,
					 unsigned int i,
					 unsigned long long *value)
{
	unsigned long long count;
	unsigned long place;
	int seq;

	if (i >= PERFCTR_MAX_CTRS)
		return 0;
	do {
		perfctr_barrier();
		seq = page->seq;
		perfctr_barrier();
		place = perfctr_page_place(page, i);
		if (perfctr_unlikely(perfctr_place_slot(page, place)->owner !=
				     perfctr_thread_pointer()))
			return 0;
		count = perfctr_place_count(page, place);
		perfctr_barrier();
	} while (perfctr_unlikely(page->seq != seq));
	*value = count;
	return 1;
}

PERFCTR_INLINE unsigned long long
perfctr_page_count(const struct perfctr_page *page, unsigned int i)
{
	return perfctr_place_count(page, perfctr_page_place(page, i));
}

#if defined(__clang__)
#define PERFCTR_UNROLL	_Pragma("clang loop unroll(full)")
#else
#define PERFCTR_UNROLL	_Pragma("GCC unroll 8")
#endif

PERFCTR_INLINE void perfctr_page_counts(const struct perfctr_page *page,
					struct perfctr_sum_ctrs *sum,
					unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		sum->pmc[i] = perfctr_page_count(page, i);
}

/* Does what perfctr_page_counts() does, unrolled for a small constant @n. */
PERFCTR_INLINE void perfctr_page_few_counts(const struct perfctr_page *page,
					    struct perfctr_sum_ctrs *sum,
					    unsigned int n)
{
	unsigned int i;

	PERFCTR_UNROLL
	for (i = 0; i < n; i++)
		sum->pmc[i] = perfctr_page_count(page, i);
}

/* Reads the clock and the first @n counters. */
PERFCTR_INLINE int perfctr_page_snapshot(const struct perfctr_page *page,
					 struct perfctr_sum_ctrs *sum,
					 unsigned int n)
{
	int seq;

	if (n > PERFCTR_NRCTRS)
		return 0;
	do {
		perfctr_barrier();
		seq = page->seq;
		perfctr_barrier();
		if (perfctr_unlikely(page->owner != perfctr_thread_pointer()))
			return 0;
		if (perfctr_unlikely(n > page->nrctrs))
			return 0;
		sum->tsc = page->slot[PERFCTR_CLOCK_SLOT].bias +
			perfctr_register(PERFCTR_CLOCK_SLOT);
		if (__builtin_constant_p(n) && n <= 8)
			perfctr_page_few_counts(page, sum, n);
		else
			perfctr_page_counts(page, sum, n);
		perfctr_barrier();
	} while (perfctr_unlikely(page->seq != seq));
	return 1;
}

#undef PERFCTR_UNROLL

/* The library itself defines these functions out of line. */
#ifndef PERFCTR_NO_INLINE

#ifdef __cplusplus
extern "C" {
#endif

PERFCTR_INLINE
const struct perfctr_page *vperfctr_page(const struct vperfctr *v)
{
	/* The first member of the structure is the page's address. */
	return *(const struct perfctr_page *const *)(const void *)v;
}

PERFCTR_INLINE
unsigned long long vperfctr_read_reg(const struct vperfctr *v, unsigned int reg)
{
	unsigned long long value;

	if (perfctr_likely(perfctr_page_read_reg(vperfctr_page(v), reg, &value)))
		return value;
	return vperfctr_ask_reg(v, reg);
}

PERFCTR_INLINE
unsigned long long vperfctr_read_tsc(const struct vperfctr *v)
{
	unsigned long long value;

	if (perfctr_likely(perfctr_page_read_reg(vperfctr_page(v), PERFCTR_CLOCK_SLOT, &value)))
		return value;
	return vperfctr_ask_tsc(v);
}

PERFCTR_INLINE
unsigned long long vperfctr_read_pmc(const struct vperfctr *v, unsigned int i)
{
	unsigned long long value;

	if (perfctr_likely(perfctr_page_read_pmc(vperfctr_page(v), i, &value)))
		return value;
	return vperfctr_ask_pmc(v, i);
}

PERFCTR_INLINE
unsigned long long vperfctr_read_pmc_fenced(const struct vperfctr *v, unsigned int i)
{
	unsigned long long value;

	perfctr_fence();
	value = vperfctr_read_pmc(v, i);
	perfctr_fence();
	return value;
}

PERFCTR_INLINE
int vperfctr_snapshot(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
		      unsigned int n)
{
	if (perfctr_likely(perfctr_page_snapshot(vperfctr_page(v), sum, n)))
		return 0;
	return vperfctr_ask_snapshot(v, sum, n);
}

#ifdef PERFCTR_READS_METRICS
PERFCTR_INLINE
int vperfctr_read_topdown(const struct vperfctr *v, struct perfctr_topdown *topdown)
{
	if (perfctr_likely(perfctr_page_read_topdown(vperfctr_page(v), topdown)))
		return 0;
	return vperfctr_ask_topdown(v, topdown);
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* PERFCTR_NO_INLINE */

#endif /* PERFCTR_CLOCK_SLOT */

#endif /* PERFCTR_INLINE_H */
