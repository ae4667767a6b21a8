/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perf's cache events on Intel's family 6. */
#ifndef PERFCTR_EVENTS_INTEL_H
#define PERFCTR_EVENTS_INTEL_H

#define PERFCTR_INTEL_NO_MODEL	0u
#define PERFCTR_INTEL_HYBRID	0x100u		/* it has cores of several types */

struct perfctr_intel_cache {
	unsigned int config;			/* perf's number of the event */
	unsigned int event;			/* as in an event select */
	unsigned long long value;		/* of the event's own register, or 0 */
};

/* The events of a model; the last has event 0. NULL: the model is not known */
__attribute__((visibility("hidden")))
const struct perfctr_intel_cache *perfctr_intel_caches(unsigned int model);
/* The model of this machine */
__attribute__((visibility("hidden")))
unsigned int perfctr_intel_model(void);

#endif /* PERFCTR_EVENTS_INTEL_H */
