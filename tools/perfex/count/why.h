/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Says why something cannot be counted. Each function returns a text without a newline at its end.
 */
#ifndef PERFEX_WHY_H
#define PERFEX_WHY_H

#include <libperfctr.h>

/*
 * Says why the module does not drive the counters itself. Returns NULL if it has a driver for them.
 */
const char *why_no_driver(const struct perfctr_info *info);
/*
 * Says why nothing can be counted. Returns NULL if the module has a driver or counts through perf.
 */
const char *why_no_counters(const struct perfctr_info *info);
/* For EXDEV: says why a program that may run on cores of several types cannot be counted. */
const char *why_unbound(void);
/* For EBUSY: says who has the counters, and what the user can do. */
const char *why_busy(unsigned int owner, unsigned int reason);
/*
 * For EACCES with PERFCTR_REASON_OPEN: says why nothing is counted while other users could read the
 * counters.
 */
const char *why_open(void);
/* Says why the instructions or cycles of a program that ran may be 0. */
const char *why_zero(const struct perfctr_info *info);
/* Says who may count in kernel mode. */
const char *which_privilege(void);

#endif /* PERFEX_WHY_H */
