// SPDX-License-Identifier: GPL-2.0
/*
 * Atomics of 64 bits between processes, for a PowerPC of 32 bits, which has none. libatomic's take a
 * lock of their own process. The machine has one CPU: a switch between two instructions takes
 * away the reservation of LWARX, and STWCX fails. fetch_add() has no carry.
 */
#include <stdint.h>

uint64_t load(const volatile uint64_t *at, int order) __asm__("__atomic_load_8");
void store(volatile uint64_t *at, uint64_t value, int order) __asm__("__atomic_store_8");
uint64_t fetch_add(volatile uint64_t *at, uint64_t more, int order) __asm__("__atomic_fetch_add_8");

uint64_t load(const volatile uint64_t *at, int order)
{
	const volatile uint32_t *half = (const volatile uint32_t *)at;
	uint32_t high, low;

	(void)order;
	do {
		high = half[0];
		low = half[1];
	} while (high != half[0]);
	return (uint64_t)high << 32 | low;
}

void store(volatile uint64_t *at, uint64_t value, int order)
{
	(void)order;
	*at = value;
}

uint64_t fetch_add(volatile uint64_t *at, uint64_t more, int order)
{
	volatile uint32_t *half = (volatile uint32_t *)at;
	uint32_t stored, low;
	uint64_t before, after;

	(void)order;
	do {
		__asm__ volatile("lwarx %0, 0, %1" : "=r" (low) : "r" (&half[1]) : "memory");
		before = (uint64_t)half[0] << 32 | low;
		after = before + more;
		/* One instruction writes one half; nothing here counts so far. */
		if (after >> 32 != before >> 32)
			__builtin_trap();
		__asm__ volatile("stwcx. %1, 0, %2\n\t"
				 "mfcr %0\n\t"
				 "rlwinm %0, %0, 3, 31, 31"
				 : "=r" (stored) : "r" ((uint32_t)after), "r" (&half[1])
				 : "cr0", "memory");
	} while (!stored);
	return before;
}
