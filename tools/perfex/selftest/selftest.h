/* SPDX-License-Identifier: GPL-2.0 */
/* Implements perfex selftest, which checks that perfctr counts right on this machine. */
#ifndef PERFEX_SELFTEST_H
#define PERFEX_SELFTEST_H

#include <stdbool.h>

#include <libperfctr.h>

/* The makefile defines SEND_TO if the packager gave an address. */
#ifndef SEND_TO
#define SEND_TO	"those who packaged or gave you perfctr"
#endif
#define SEND	"Send this text to " SEND_TO "."

/**
 * struct selftest_options - what the options say
 * @overflows: number of overflows to try on each counter
 * @watch: seconds to watch whether anybody else writes to the registers
 * @hotplug: a CPU may be taken offline and online again
 * @sleep: the machine may be put to sleep
 */
struct selftest_options {
	unsigned int overflows;
	unsigned int watch;
	bool hotplug;
	bool sleep;
};

/* Prints the self test to stdout. */
void selftest_print(const struct perfctr_info *info, const struct selftest_options *how);

#endif /* PERFEX_SELFTEST_H */
