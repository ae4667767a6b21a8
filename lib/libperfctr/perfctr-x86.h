/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of perfctr-inline.h that depend on the architecture, for x86. A program may be compiled
 * with -masm=intel, so the assembly has both orders of operands: {AT&T's|Intel's}.
 */
#ifndef PERFCTR_X86_H
#define PERFCTR_X86_H

/* The slot of the clock, the TSC */
#define PERFCTR_CLOCK_SLOT	(PERFCTR_PAGE_SLOTS - 2u)

/*
 * Returns the base of the segment with the thread's own data. By the ABI the first word of that
 * segment is its own address. User mode can read this word on any processor, but it cannot read the
 * base itself on all of them.
 */
PERFCTR_INLINE __u64 perfctr_thread_pointer(void)
{
	unsigned long tp;

#if defined(__x86_64__)
	__asm__ __volatile__ ("mov {%%fs:0, %0|%0, fs:[0]}" : "=r" (tp));
#else
	__asm__ __volatile__ ("mov {%%gs:0, %0|%0, gs:[0]}" : "=r" (tp));
#endif
	return tp;
}

/* Returns the RDPMC operand of hardware counter @n. From 24 on these are fixed counters. */
PERFCTR_INLINE unsigned int perfctr_operand(unsigned int n)
{
	return n < 24 ? n : 0x40000000u + n - 24;
}

PERFCTR_INLINE __u64 perfctr_register(unsigned int n)
{
	unsigned int low, high;

	if (n == PERFCTR_CLOCK_SLOT)
		__asm__ __volatile__ ("rdtsc" : "=a" (low), "=d" (high));
	else
		__asm__ __volatile__ ("rdpmc" : "=a" (low), "=d" (high)
				      : "c" (perfctr_operand(n)));
	return (__u64)high << 32 | low;
}

/*
 * LFENCE waits until all earlier instructions have been executed, and later instructions wait for
 * LFENCE. On AMD's processors LFENCE does so because the kernel sets a bit.
 */
PERFCTR_INLINE void perfctr_fence(void)
{
#if defined(__SSE2__)
	__asm__ __volatile__ ("lfence" : : : "memory");
#else
	unsigned int eax = 0, ecx = 0;

	/* CPUID changes EBX, which position-independent code may need. */
	__asm__ __volatile__ ("push {%%|}ebx\n\t"
			      "cpuid\n\t"
			      "pop {%%|}ebx"
			      : "+a" (eax), "+c" (ecx) : : "edx", "memory");
#endif
}

/* Returns 1 if counter @i is in register @reg, else 0. */
PERFCTR_INLINE int perfctr_page_counts_on(const struct perfctr_page *page, unsigned int i,
					  unsigned int reg)
{
	return page->operand[i] == perfctr_operand(reg);
}

#define PERFCTR_SLOTS_BY_PLACE

PERFCTR_INLINE __u64 perfctr_place_count(const struct perfctr_page *page, unsigned long i)
{
#if defined(__x86_64__)
	unsigned long long count, high;

	/* For C code, compilers load the bias first, which costs a register and an instruction. */
	__asm__ __volatile__ ("rdpmc\n\t"
			      "shl {$32, %1|%1, 32}\n\t"
			      "or {%1, %0|%0, %1}\n\t"
			      "add {%3, %0|%0, %3}"
			      : "=&a" (count), "=&d" (high)
			      : "c" (page->operand[i]), "m" (page->slot[i].bias)
			      : "cc");
	return count;
#else
	unsigned int low, high;

	__asm__ __volatile__ ("rdpmc" : "=a" (low), "=d" (high) : "c" (page->operand[i]));
	return page->slot[i].bias + ((__u64)high << 32 | low);
#endif
}

/*
 * TopDown's metrics, which are all in one register
 */
#define PERFCTR_READS_METRICS

PERFCTR_INLINE __u64 perfctr_rdpmc(unsigned int operand)
{
	unsigned int low, high;

	__asm__ __volatile__ ("rdpmc" : "=a" (low), "=d" (high) : "c" (operand));
	return (__u64)high << 32 | low;
}

/* Returns 1 if this thread may read the clock and all @n counters, some of which may be metrics. */
PERFCTR_INLINE int perfctr_page_shows_all(const struct perfctr_page *page, unsigned int n,
					  __u64 thread_pointer)
{
	unsigned int i;

	if (page->metrics_owner != thread_pointer || n > page->nrctrs ||
	    page->slot[PERFCTR_CLOCK_SLOT].owner != thread_pointer)
		return 0;
	for (i = 0; i < n; i++)
		if (!page->metric[i] && page->slot[i].owner != thread_pointer)
			return 0;
	return 1;
}

/* Returns the count of metric @i. @slots and @metrics are the values of the two registers. */
PERFCTR_INLINE __u64 perfctr_metric_count(const struct perfctr_page *page, unsigned int i,
					  __u64 slots, __u64 metrics)
{
	__u64 field = metrics >> 8 * (page->metric[i] - 1) & 255;

	return page->slot[i].bias + (field * slots + 127) / 255;
}

/* Reads the clock and the first @n counters of a state that has metrics. */
PERFCTR_INLINE int perfctr_page_metrics_snapshot(const struct perfctr_page *page,
						 struct perfctr_sum_ctrs *sum, unsigned int n)
{
	__u64 slots, metrics = 0;
	unsigned int i;
	int seq;

	do {
		perfctr_barrier();
		seq = page->seq;
		perfctr_barrier();
		if (!perfctr_page_shows_all(page, n, perfctr_thread_pointer()))
			return 0;
		sum->tsc = page->slot[PERFCTR_CLOCK_SLOT].bias +
			   perfctr_register(PERFCTR_CLOCK_SLOT);
		slots = perfctr_rdpmc(page->operand[page->slots]);
		for (i = 0; i < n; i++)
			if (page->metric[i])
				break;
		if (i < n)
			metrics = perfctr_rdpmc(page->operand[i]);
		for (i = 0; i < n; i++) {
			if (page->metric[i])
				sum->pmc[i] = perfctr_metric_count(page, i, slots, metrics);
			else if (i == page->slots)
				sum->pmc[i] = page->slot[i].bias + slots;
			else
				sum->pmc[i] = perfctr_place_count(page, i);
		}
		perfctr_barrier();
	} while (perfctr_unlikely(page->seq != seq));
	return 1;
}

/* Reads counter @i. Returns 0 if counter @i is no metric, or the kernel must be asked. */
PERFCTR_INLINE int perfctr_page_read_metric(const struct perfctr_page *page, unsigned int i,
					    unsigned long long *value)
{
	__u64 slots;
	int seq;

	do {
		perfctr_barrier();
		seq = page->seq;
		perfctr_barrier();
		if (page->metrics_owner != perfctr_thread_pointer() || i >= page->nrctrs ||
		    !page->metric[i])
			return 0;
		slots = perfctr_rdpmc(page->operand[page->slots]);
		*value = perfctr_metric_count(page, i, slots, perfctr_rdpmc(page->operand[i]));
		perfctr_barrier();
	} while (perfctr_unlikely(page->seq != seq));
	return 1;
}

/* Reads SLOTS and all metrics. Returns 0 if the kernel must be asked. */
PERFCTR_INLINE int perfctr_page_read_topdown(const struct perfctr_page *page,
					     struct perfctr_topdown *topdown)
{
	__u64 slots, metrics = 0;
	unsigned int i;
	int seq;

	do {
		perfctr_barrier();
		seq = page->seq;
		perfctr_barrier();
		if (perfctr_unlikely(page->metrics_owner != perfctr_thread_pointer()))
			return 0;
		slots = perfctr_rdpmc(page->operand[page->slots]);
		topdown->slots = page->slot[page->slots].bias + slots;
		topdown->metrics = 0;
		for (i = 0; i < page->nrctrs; i++) {
			if (!page->metric[i])
				continue;
			if (!topdown->metrics)
				metrics = perfctr_rdpmc(page->operand[i]);
			topdown->metric[page->metric[i] - 1] =
				perfctr_metric_count(page, i, slots, metrics);
			topdown->metrics |= 1u << (page->metric[i] - 1);
		}
		perfctr_barrier();
	} while (perfctr_unlikely(page->seq != seq));
	return 1;
}

#endif /* PERFCTR_X86_H */
