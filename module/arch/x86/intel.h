/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_X86_INTEL_H
#define PERFCTR_X86_INTEL_H

/* intel_events.c; version of architectural performance monitoring */
void perfctr_intel_events_init(unsigned int version);

#endif /* PERFCTR_X86_INTEL_H */
