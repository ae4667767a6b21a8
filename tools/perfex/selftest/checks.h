/* SPDX-License-Identifier: GPL-2.0 */
/* Defines what the checks need, and how they print. */
#ifndef PERFEX_CHECKS_H
#define PERFEX_CHECKS_H

#include "base/perfex.h"
#include "selftest/selftest.h"

/* The format of a key in front of its value, in the columns of perfctr_info_print(). */
#define KEY "%-23s "

/* What a check may need. A check whose needs are not met is not made. */
#define NEED_COUNT	0x01	/* instructions in user mode are counted, by any source */
#define NEED_NATIVE	0x02	/* the module's own driver counts instructions */
#define NEED_ROOT	0x04
#define NEED_PERF	0x08	/* perf_event_open() is allowed */
#define NEED_INTERRUPT	0x10	/* counters interrupt as they overflow */
#define NEED_RDPMC	0x20	/* counters are read in user mode */
#define NEED_HOTPLUG	0x40	/* the option --hotplug was given */
#define NEED_SLEEP	0x80	/* the option --sleep was given */

/**
 * struct machine - where the checks run
 * @info: what the module says about the processor
 * @how: the options
 * @has: the needs that this machine meets, NEED_*
 * @source: the source that counts instructions now, PERFCTR_SOURCE_*
 * @why_not: why instructions are not counted, or not by the module's own driver
 * @firmware: the firmware has the counters
 * @cpu: the CPU on which the checks run
 */
struct machine {
	const struct perfctr_info *info;
	const struct selftest_options *how;
	unsigned int has;
	unsigned int source;
	const char *why_not;
	bool firmware;
	unsigned int cpu;
};

struct check {
	const char *title;
	unsigned int needs;
	void (*make)(const struct machine *m);
};

/* Makes the checks one by one, and counts deviations. */
void make_checks(const struct check *checks, size_t n, const struct machine *m);
/* Prints a line of a check. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a deviation as a numbered sentence, which the verdict repeats. */
void deviates(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints why the present check cannot be made after all. */
void not_made(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_verdict(const struct machine *m);

/* True if check_ticks() has found that interrupts add instructions. */
extern bool interrupts_add;
void check_unclaimed(const struct machine *m);
void check_loop(const struct machine *m);
void check_every_counter(const struct machine *m);
void check_kernel_mode(const struct machine *m);
void check_events(const struct machine *m);
void check_ref_cycles(const struct machine *m);
void check_page_faults(const struct machine *m);
void check_system_calls(const struct machine *m);
void check_ticks(const struct machine *m);
void check_runs(const struct machine *m);
void check_overflows(const struct machine *m);
void check_short_periods(const struct machine *m);
void check_wrap(const struct machine *m);
void check_beside_perf(const struct machine *m);
void check_exclusion(const struct machine *m);
void check_registers_kept(const struct machine *m);
void check_hotplug(const struct machine *m);
void check_sleep(const struct machine *m);

/* The checks of x86, in cpuid.c, kernel_log.c and check_x86.c. */
#if IS_X86
void check_promises(const struct machine *m);
void check_load(const struct machine *m);
void check_read_cost(const struct machine *m);
void check_constraints(const struct machine *m);
void check_hyperthreads(const struct machine *m);
#endif

#endif /* PERFEX_CHECKS_H */
