/* SPDX-License-Identifier: GPL-2.0 */
/* Folds metrics once a second, also those of threads that are never switched. */
#ifndef PERFCTR_FOLD_H
#define PERFCTR_FOLD_H

/* Metrics are folded from the first perfctr_fold_get() to the last perfctr_fold_put(). */
void perfctr_fold_get(void);
void perfctr_fold_put(void);
/* Called after the last perfctr_fold_put(). May sleep. */
void perfctr_fold_exit(void);

#endif /* PERFCTR_FOLD_H */
