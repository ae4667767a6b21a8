/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perf's cache events on Intel's family 6. */
#ifndef PERFCTR_EVENTS_INTEL_H
#define PERFCTR_EVENTS_INTEL_H

#define PERFCTR_INTEL_NO_MODEL	0u
#define PERFCTR_INTEL_HYBRID	0x100u		/* set if there are cores of several types */

struct perfctr_intel_cache {
	unsigned int config;			/* perf's number of the event */
	unsigned int event;			/* bits of the event select */
	unsigned long long value;		/* value of the event's own register, or 0 */
};

/* Returns a model's cache events, or NULL if the model is not known. The last entry has event 0. */
__attribute__((visibility("hidden")))
const struct perfctr_intel_cache *perfctr_intel_caches(unsigned int model);
/* Returns the model of this machine's processor, or PERFCTR_INTEL_NO_MODEL. */
__attribute__((visibility("hidden")))
unsigned int perfctr_intel_model(void);

#endif /* PERFCTR_EVENTS_INTEL_H */
