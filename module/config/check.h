/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks whether a control may have a config. Each function returns 0, or returns an error and sets
 * *why.
 */
#ifndef PERFCTR_CHECK_H
#define PERFCTR_CHECK_H

#include "config/config.h"

/*
 * Checks that the wanted source can count this control, and that current is permitted to count it.
 * Sets wanted->kernel. Returns 0, or the error of perfctr_cpu_check() or perfctr_shared_check(), or
 * -EACCES.
 */
int perfctr_check(struct wanted *wanted, struct perfctr_refusal *why);
/*
 * Checks that current may use this config, which was checked for another thread of the user.
 * Returns 0 or -EACCES.
 */
int perfctr_check_again(const struct perfctr_config *config, const struct wanted *wanted,
			struct perfctr_refusal *why);
/*
 * Checks that native counters do not count for CPUs and for threads at once. Returns 0, or -EBUSY
 * if they now count for CPUs and a thread wants them, or the reverse. Returns -EAGAIN if processes
 * may still read counters that threads had. The caller has reaped configs without users, and holds
 * config_mutex.
 */
int perfctr_check_wide(const struct wanted *wanted, struct perfctr_refusal *why);

#endif /* PERFCTR_CHECK_H */
