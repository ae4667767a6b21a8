/* SPDX-License-Identifier: GPL-2.0 */
/* Events of threads and CPUs: fork, exec, exit, and the sleep of a CPU. */
#ifndef PERFCTR_THREADS_H
#define PERFCTR_THREADS_H

int perfctr_threads_init(void);
void perfctr_threads_exit(void);

#endif /* PERFCTR_THREADS_H */
