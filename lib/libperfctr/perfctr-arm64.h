/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of perfctr-inline.h that depend on the architecture, for arm64. User mode can read the
 * register of the clock, but no counter. The slots of counters have no owner, so their reads ask
 * the kernel.
 */
#ifndef PERFCTR_ARM64_H
#define PERFCTR_ARM64_H

/* The slot of the clock, CNTVCT_EL0 */
#define PERFCTR_CLOCK_SLOT	(PERFCTR_PAGE_SLOTS - 2u)

PERFCTR_INLINE __u64 perfctr_thread_pointer(void)
{
	return (__u64)(unsigned long)__builtin_thread_pointer();
}

/*
 * There is no ISB, so the processor may read the clock before earlier instructions are complete,
 * like RDTSC on x86. The kernel's vDSO needs an ISB, because another CPU writes the number that the
 * vDSO adds to the clock. Here the bias changes only while this thread is in the kernel. The
 * exception that enters the kernel comes between two instructions in any case, so no ISB is needed.
 */
PERFCTR_INLINE __u64 perfctr_register(unsigned int n)
{
	__u64 value = 0;

	if (n == PERFCTR_CLOCK_SLOT)
		__asm__ __volatile__ ("mrs %0, cntvct_el0" : "=r" (value));
	return value;
}

PERFCTR_INLINE void perfctr_fence(void)
{
	__asm__ __volatile__ ("isb" : : : "memory");
}

PERFCTR_INLINE int perfctr_page_counts_on(const struct perfctr_page *page, unsigned int i,
					  unsigned int reg)
{
	(void)page;
	(void)i;
	(void)reg;
	return 0;
}

PERFCTR_INLINE const struct perfctr_page_slot *
perfctr_reg_slot(const struct perfctr_page *page, unsigned int reg)
{
	return &page->slot[reg == PERFCTR_CLOCK_SLOT ? reg : PERFCTR_PAGE_NO_SLOT];
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

/* Returns a value that no read uses: the slot of a counter has no owner on arm64. */
PERFCTR_INLINE __u64 perfctr_place_count(const struct perfctr_page *page, unsigned long i)
{
	return page->slot[i].bias;
}

#endif /* PERFCTR_ARM64_H */
