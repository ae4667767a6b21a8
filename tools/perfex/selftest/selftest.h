/* SPDX-License-Identifier: GPL-2.0 */
/* perfex --report. */
#ifndef PERFEX_SELFTEST_H
#define PERFEX_SELFTEST_H

#include <stdbool.h>

#include <libperfctr.h>

/* The makefile has the address if the packager gave one. */
#ifndef REPORT_TO
#define REPORT_TO	"those who packaged or gave you perfctr"
#endif
#define SEND_REPORT	"Send this text to " REPORT_TO "."

/**
 * struct report_options - what the options say
 * @overflows: number of overflows of each counter
 * @watch: number of seconds in which somebody may write to registers
 * @hotplug: a CPU may be taken off, and on again
 * @sleep: the machine may sleep
 */
struct report_options {
	unsigned int overflows;
	unsigned int watch;
	bool hotplug;
	bool sleep;
};

/* To stdout */
void print_report(const struct perfctr_info *info, const struct report_options *how);
void print_info(const struct perfctr_info *info);

#endif /* PERFEX_SELFTEST_H */
