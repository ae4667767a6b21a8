/* SPDX-License-Identifier: GPL-2.0 */
/* Implements -p, which counts processes that run already. */
#ifndef PERFEX_ATTACH_H
#define PERFEX_ATTACH_H

#include "count/counts.h"
#include "count/how.h"

/* Parses a list of process ids. Returns true, or false after printing what is wrong. */
bool attach_parse(const char *list, struct how *how);
/* Begins to count the processes. Returns true, or false with the reason in @run. */
bool attach_begin(const struct events *events, const struct how *how, struct run *run);
/* Returns true if all the processes have ended. */
bool attach_ended(const struct how *how);
/*
 * Waits until one of the processes ends or a signal comes, at most @ms milliseconds (-1: for ever).
 * Returns true if a signal asked perfex to end.
 */
bool attach_wait(const struct how *how, int64_t ms);

#endif /* PERFEX_ATTACH_H */
