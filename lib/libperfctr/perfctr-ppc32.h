/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of perfctr-inline.h that depend on the architecture, for 32-bit PowerPC. From the 750
 * on user mode can read counter n as UPMC<n + 1>. The 604 has no such registers, so on a 604 the
 * slots of counters have no owner.
 */
#ifndef PERFCTR_PPC32_H
#define PERFCTR_PPC32_H

/* The slot of the clock, the timebase */
#define PERFCTR_CLOCK_SLOT	(PERFCTR_PAGE_SLOTS - 2u)

PERFCTR_INLINE __u64 perfctr_thread_pointer(void)
{
	unsigned long tp;

	/* Register 2 never changes in a thread, so this need not be volatile. */
	__asm__ ("mr %0, 2" : "=r" (tp));
	return tp;
}

/* Reads the two halves of the timebase, again if the upper half has changed meanwhile. */
PERFCTR_INLINE __u64 perfctr_timebase(void)
{
	unsigned int high, low, again;

	do {
		__asm__ __volatile__ ("mftbu %0\n\t"
				      "mftb %1\n\t"
				      "mftbu %2"
				      : "=r" (high), "=r" (low), "=r" (again));
	} while (high != again);
	return (__u64)high << 32 | low;
}

/* MFSPR contains the number of its register, so each register needs an instruction of its own. */
#define PERFCTR_UPMC(spr, value)	\
	__asm__ __volatile__ ("mfspr %0, " #spr : "=r" (value))

PERFCTR_INLINE unsigned int perfctr_upmc(unsigned int n)
{
	unsigned int value = 0;

	switch (n) {
	case 0:
		PERFCTR_UPMC(937, value);
		break;
	case 1:
		PERFCTR_UPMC(938, value);
		break;
	case 2:
		PERFCTR_UPMC(941, value);
		break;
	case 3:
		PERFCTR_UPMC(942, value);
		break;
	case 4:
		PERFCTR_UPMC(929, value);
		break;
	case 5:
		PERFCTR_UPMC(930, value);
		break;
	}
	return value;
}

#undef PERFCTR_UPMC

PERFCTR_INLINE __u64 perfctr_register(unsigned int n)
{
	return n == PERFCTR_CLOCK_SLOT ? perfctr_timebase() : perfctr_upmc(n);
}

/* ISYNC waits until all earlier instructions have been executed, and later ones wait for ISYNC. */
PERFCTR_INLINE void perfctr_fence(void)
{
	__asm__ __volatile__ ("isync" : : : "memory");
}

/* Returns 1 if counter @i is in register @reg, else 0. */
PERFCTR_INLINE int perfctr_page_counts_on(const struct perfctr_page *page, unsigned int i,
					  unsigned int reg)
{
	return page->operand[i] == reg;
}

#define PERFCTR_SLOTS_BY_PLACE

PERFCTR_INLINE __u64 perfctr_place_count(const struct perfctr_page *page, unsigned long i)
{
	return page->slot[i].bias + perfctr_upmc(page->operand[i]);
}

#endif /* PERFCTR_PPC32_H */
