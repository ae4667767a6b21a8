/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How an x86 thread reads its counters: the parts of the read path that
 * perfctr-inline.h is made of. The driver has the clock alone so far, so this
 * does too; what asks for another register is sent to the kernel.
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

PERFCTR_INLINE __u64 perfctr_register(unsigned int n)
{
	unsigned int low, high;

	/* The clock, as nobody owns any other slot */
	(void)n;
	__asm__ __volatile__ ("rdtsc" : "=a" (low), "=d" (high));
	return (__u64)high << 32 | low;
}

PERFCTR_INLINE __u64 perfctr_slot_count(__u64 bias, unsigned long offset)
{
	return bias + perfctr_register((unsigned int)(offset / sizeof(struct perfctr_page_slot)));
}

#endif /* PERFCTR_X86_H */
