/* SPDX-License-Identifier: GPL-2.0 */
/* --passes: more events than can be counted at a time. */
#ifndef PERFEX_PASSES_H
#define PERFEX_PASSES_H

#include "perfex.h"

/* Each pass is a run of the program with these events. */
struct passes {
	unsigned int n;
	struct events *pass;
};

/*
 * choose.c: makes passes of a list with commas: an event is in the first one where it can be counted
 * with those before it. False, after it told what is wrong with an event
 */
bool passes_make(const struct perfctr_info *info, const struct how *how, const char *list,
		 struct passes *passes);

#endif /* PERFEX_PASSES_H */
