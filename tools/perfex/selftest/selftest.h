/* SPDX-License-Identifier: GPL-2.0 */
/* perfex selftest: does perfctr count right on this machine? */
#ifndef PERFEX_SELFTEST_H
#define PERFEX_SELFTEST_H

#include <stdbool.h>

#include <libperfctr.h>

/* The makefile has the address if the packager gave one. */
#ifndef SEND_TO
#define SEND_TO	"those who packaged or gave you perfctr"
#endif
#define SEND	"Send this text to " SEND_TO "."

/**
 * struct selftest_options - what the options say
 * @overflows: number of overflows of each counter
 * @watch: number of seconds in which somebody may write to registers
 * @hotplug: a CPU may be taken off, and on again
 * @sleep: the machine may sleep
 */
struct selftest_options {
	unsigned int overflows;
	unsigned int watch;
	bool hotplug;
	bool sleep;
};

/* To stdout */
void selftest_print(const struct perfctr_info *info, const struct selftest_options *how);

#endif /* PERFEX_SELFTEST_H */
