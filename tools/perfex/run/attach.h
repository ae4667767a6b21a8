/* SPDX-License-Identifier: GPL-2.0 */
/* -p: processes that run already. */
#ifndef PERFEX_ATTACH_H
#define PERFEX_ATTACH_H

#include "count/counts.h"
#include "count/how.h"

/* A list of process ids. False: it has told what is wrong. */
bool attach_parse(const char *list, struct how *how);
/* Counts them. False: @run says why not. */
bool attach_begin(const struct events *events, const struct how *how, struct run *run);
/* Whether all of them have ended */
bool attach_ended(const struct how *how);
/*
 * Waits until one of the processes ends or a signal comes, at most @ms milliseconds (-1: for ever).
 * True: a signal asked perfex to end.
 */
bool attach_wait(const struct how *how, int64_t ms);

#endif /* PERFEX_ATTACH_H */
