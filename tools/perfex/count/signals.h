/* SPDX-License-Identifier: GPL-2.0 */
/* Signals that are sent to perfex. */
#ifndef PERFEX_SIGNALS_H
#define PERFEX_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Called once, before anything runs: from now on perfex takes signals itself. */
void signals_take(void);
/* From now on the limit on the size of files (ulimit -f) makes write(2) fail, and does not kill. */
void signals_spare_limit(void);
/* In the child: it gets the signals as perfex was started with. */
void signals_give_back(void);
/*
 * Waits for one signal, at most @ms milliseconds (-1: for ever), and sends it to @pid. True: the
 * signal asked perfex to end.
 */
bool signals_pass_on(pid_t pid, int64_t ms);
/* Drops signals that have come. True: one of them asked perfex to end. */
bool signals_left(void);
/* It is readable while there are signals. */
int signals_fd(void);

#endif /* PERFEX_SIGNALS_H */
