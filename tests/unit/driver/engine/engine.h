/* SPDX-License-Identifier: GPL-2.0 */
/* What the modelled kernel tells the test. */
#ifndef ENGINE_H
#define ENGINE_H

#include "model.h"

/* Something was done to the registers of this CPU, other than to execute. */
void engine_look(void);
/* Current is told of overflows of these counters, which were too many or not. */
void engine_signal(u32 mask, bool throttled);

#endif /* ENGINE_H */
