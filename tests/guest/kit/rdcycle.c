// SPDX-License-Identifier: GPL-2.0
/* Executes rdcycle and rdinstret, also in a thread, and exits with 0 if it lives. */
#include <pthread.h>
#include <stddef.h>

static void *read_both(void *arg)
{
#if defined(__riscv)
	unsigned long first, second, cycle;

	__asm__ volatile ("rdinstret %0\n\trdcycle %1\n\trdinstret %2"
			  : "=r" (first), "=r" (cycle), "=r" (second));
	return second > first ? arg : NULL;
#else
	return arg;
#endif
}

int main(void)
{
	pthread_t thread;
	void *result;
	int one;

	if (!read_both(&one))
		return 1;
	if (pthread_create(&thread, NULL, read_both, &one) || pthread_join(thread, &result))
		return 2;
	return result ? 0 : 3;
}
