/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_SETTINGS_H
#define PERFCTR_SETTINGS_H

#include <linux/types.h>

/*
 * The number in a file of proc or sysfs, by its path without the first slash; -1: it cannot be
 * read. By a kernel thread: root alone may read some. May sleep.
 */
long perfctr_read_number(const char *name);

/* Can nobody without privilege open an event of perf's? As above. */
bool perfctr_perf_is_closed(void);

#endif /* PERFCTR_SETTINGS_H */
