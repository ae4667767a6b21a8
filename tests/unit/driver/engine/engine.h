/* SPDX-License-Identifier: GPL-2.0 */
/* What the modelled kernel tells the test. */
#ifndef ENGINE_H
#define ENGINE_H

#include "model.h"

/* Something was done to the registers of this CPU, other than to execute. */
void engine_look(void);
/* Current is told of overflows of these counters. */
void engine_signal(u32 mask);
/* Current writes a sample: of overflows of these counters, or by time, if there are none. */
void engine_sample(u32 mask, const u64 *value);

/* References to rings, and states that write to them */
extern struct engine_rings {
	int refs;
	int writers;
} engine_rings;

#endif /* ENGINE_H */
