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

PERFCTR_INLINE __u64 perfctr_rdpmc(unsigned int operand)
{
	unsigned int low, high;

	__asm__ __volatile__ ("rdpmc" : "=a" (low), "=d" (high) : "c" (operand));
	return (__u64)high << 32 | low;
}

/* Of slot n: 24 and up are the fixed counters, which RDPMC knows by other numbers. */
PERFCTR_INLINE __u64 perfctr_register(unsigned int n)
{
	unsigned int low, high;

	if (n != PERFCTR_CLOCK_SLOT)
		return perfctr_rdpmc(n < 24 ? n : 0x40000000u + n - 24);
	__asm__ __volatile__ ("rdtsc" : "=a" (low), "=d" (high));
	return (__u64)high << 32 | low;
}

PERFCTR_INLINE __u64 perfctr_slot_count(const struct perfctr_page *page,
					unsigned int i, __u64 bias,
					unsigned long offset)
{
	(void)offset;
	return bias + perfctr_rdpmc(page->operand[i]);
}

#endif /* PERFCTR_X86_H */
