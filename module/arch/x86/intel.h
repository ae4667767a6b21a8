/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_INTEL_H
#define PERFCTR_X86_INTEL_H

#include "registers.h"

extern const struct perfctr_x86_family perfctr_intel;

/* See processor.c. */
bool perfctr_intel_is(void);
u32 perfctr_intel_look(void);

/* intel_events.c; version of architectural performance monitoring */
void perfctr_intel_events_init(unsigned int version);

#endif /* PERFCTR_X86_INTEL_H */
