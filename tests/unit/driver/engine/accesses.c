// SPDX-License-Identifier: GPL-2.0
/*
 * The files that write to rings are compiled as for a checker of races, which calls these before each
 * access to memory that others may see. An interrupt may come there, if they are on, and other CPUs
 * may do something. AddressSanitizer does not look at what is compiled like this, so it is asked here.
 */
#include "shim/kernel.h"

/* As gcc has them. NOLINTBEGIN(*-reserved-identifier) */
void *__asan_region_is_poisoned(void *begin, size_t size) __attribute__((__weak__));
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void *caller);
void __tsan_read_range(void *at, long size);
void __tsan_write_range(void *at, long size);

void (*shim_at_access)(void);

static void access_begins(void *at, size_t size)
{
	shim_assert(!__asan_region_is_poisoned || !__asan_region_is_poisoned(at, size));
	if (shim_at_access)
		shim_at_access();
}

#define SHIM_ACCESS(name, size)						\
void __tsan_##name(void *at);						\
void __tsan_##name(void *at)						\
{									\
	access_begins(at, size);					\
}									\
extern int shim_access_end

SHIM_ACCESS(read1, 1);
SHIM_ACCESS(read2, 2);
SHIM_ACCESS(read4, 4);
SHIM_ACCESS(read8, 8);
SHIM_ACCESS(read16, 16);
SHIM_ACCESS(write1, 1);
SHIM_ACCESS(write2, 2);
SHIM_ACCESS(write4, 4);
SHIM_ACCESS(write8, 8);
SHIM_ACCESS(write16, 16);
SHIM_ACCESS(unaligned_read2, 2);
SHIM_ACCESS(unaligned_read4, 4);
SHIM_ACCESS(unaligned_read8, 8);
SHIM_ACCESS(unaligned_read16, 16);
SHIM_ACCESS(unaligned_write2, 2);
SHIM_ACCESS(unaligned_write4, 4);
SHIM_ACCESS(unaligned_write8, 8);
SHIM_ACCESS(unaligned_write16, 16);

void __tsan_read_range(void *at, long size)
{
	access_begins(at, (size_t)size);
}

void __tsan_write_range(void *at, long size)
{
	access_begins(at, (size_t)size);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void *caller)
{
	(void)caller;
}
/* NOLINTEND(*-reserved-identifier) */
