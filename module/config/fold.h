/* SPDX-License-Identifier: GPL-2.0 */
/* Metrics are folded once a second, also those of threads that are never switched. */
#ifndef PERFCTR_FOLD_H
#define PERFCTR_FOLD_H

/* Metrics are folded from now on, until the last put. */
void perfctr_fold_get(void);
void perfctr_fold_put(void);
/* After the last put. May sleep. */
void perfctr_fold_exit(void);

#endif /* PERFCTR_FOLD_H */
