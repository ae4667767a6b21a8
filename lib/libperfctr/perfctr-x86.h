/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How an x86 thread reads its counters: the parts of the read path that
 * perfctr-inline.h is made of.
 */
#ifndef PERFCTR_X86_H
#define PERFCTR_X86_H

/* The slot of the clock, the TSC */
#define PERFCTR_CLOCK_SLOT	(PERFCTR_PAGE_SLOTS - 2u)

/*
 * The base of the segment that holds the thread's own data. The ABI has a
 * pointer to itself there, which unlike the base is readable on any processor.
 */
PERFCTR_INLINE __u64 perfctr_thread_pointer(void)
{
	unsigned long tp;

#if defined(__x86_64__)
	__asm__ __volatile__ ("mov %%fs:0, %0" : "=r" (tp));
#else
	__asm__ __volatile__ ("mov %%gs:0, %0" : "=r" (tp));
#endif
	return tp;
}

/* The hardware counter n: 24 and up are the fixed ones. */
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

/* Is it the register of counter i? */
PERFCTR_INLINE int perfctr_page_counts_on(const struct perfctr_page *page, unsigned int i,
					  unsigned int reg)
{
	return page->operand[i] == perfctr_operand(reg);
}

/* Slots are by the counters' places, so this is a search. */
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

PERFCTR_INLINE __u64 perfctr_place_count(const struct perfctr_page *page, unsigned long i)
{
#if defined(__x86_64__)
	unsigned long long count, high;

	/* Compilers load the bias first, and then need one more register, and instruction. */
	__asm__ __volatile__ ("rdpmc\n\t"
			      "shl $32, %1\n\t"
			      "or %1, %0\n\t"
			      "add %3, %0"
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

#endif /* PERFCTR_X86_H */
