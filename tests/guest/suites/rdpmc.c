// SPDX-License-Identifier: GPL-2.0
/* What test_rdpmc*.c share; see rdpmc.h. */
#define _GNU_SOURCE

#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/rdpmc.h"

unsigned int try_registers(uint64_t *value)
{
	unsigned int n, readable = 0;

	for (n = 0; n < REGISTERS; n++) {
		value[n] = 0;
		/* Tries once: the permission may end between two tries. */
		if (our_counters() >> n & 1 && try_read_register(n, &value[n]))
			readable |= 1u << n;
	}
	return readable;
}

int perf_open_cpu(void)
{
	struct perf_event_attr attr;

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	return perf_open(&attr, -1, 0, -1);
}

void run(const TTest *test, unsigned int what)
{
	char before[8] = "0";

	read_text(WATCHDOG, before, sizeof(before));
	write_text(MODULE_PARAMS "user_read", "guarded");
	guest_run(test, what | NEED_X86 | NEED_COUNTERS | NEED_USER_READ | NEED_PERF);
	write_text(MODULE_PARAMS "user_read", "guarded");
	write_text(WATCHDOG, before);
}
