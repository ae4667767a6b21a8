/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a control may have a config. Each of these returns 0, or an error with *why.
 */
#ifndef PERFCTR_CHECK_H
#define PERFCTR_CHECK_H

#include "config/config.h"

/*
 * Can the wanted source count this control, and is current permitted to? Sets wanted->kernel.
 * EINVAL, EOPNOTSUPP, EACCES, as perfctr_cpu_check() and perfctr_shared_check()
 */
int perfctr_check(struct wanted *wanted, struct perfctr_refusal *why);
/* May current use this config, which was checked for another thread of its user? EACCES */
int perfctr_check_again(const struct perfctr_config *config, const struct wanted *wanted,
			struct perfctr_refusal *why);
/*
 * Native counters count for CPUs or for threads, never for both. EBUSY: now they count for the
 * other. EAGAIN: processes may still read counters that threads had. The caller has reaped configs
 * without users, and holds config_mutex.
 */
int perfctr_check_wide(const struct wanted *wanted, struct perfctr_refusal *why);

#endif /* PERFCTR_CHECK_H */
