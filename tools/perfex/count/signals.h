/* SPDX-License-Identifier: GPL-2.0 */
/* Handles signals that are sent to perfex. */
#ifndef PERFEX_SIGNALS_H
#define PERFEX_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Blocks the signals, so that perfex takes them itself from now on. Call it once, before anything
 * runs.
 */
void signals_take(void);
/*
 * Ignores SIGXFSZ, so that perfex lives when write(2) fails at the limit on file sizes (ulimit -f).
 */
void signals_spare_limit(void);
/* Restores, in the child, the signal handling with which perfex was started. */
void signals_give_back(void);
/*
 * Waits for one signal, at most @ms milliseconds (-1: for ever), and sends it to @pid. Returns true
 * if the signal asked perfex to end.
 */
bool signals_pass_on(pid_t pid, int64_t ms);
/* Drops pending signals. Returns true if one of them asked perfex to end. */
bool signals_left(void);
/* Returns a descriptor that is readable while signals are pending. */
int signals_fd(void);

#endif /* PERFEX_SIGNALS_H */
