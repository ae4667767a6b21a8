/* SPDX-License-Identifier: GPL-2.0 */
/* Probes of the kernel's tracepoints, which are not exported: they are found by name. */
#ifndef PERFCTR_PROBES_H
#define PERFCTR_PROBES_H

#include <linux/build_bug.h>
#include <linux/compiler.h>

struct tracepoint;

/**
 * struct perfctr_probe
 * @name: of the tracepoint
 * @fn: what it calls, with NULL and the tracepoint's arguments
 * @tracepoint: found by perfctr_probes_find()
 */
struct perfctr_probe {
	const char *name;
	void *fn;
	struct tracepoint *tracepoint;
};

/*
 * A struct perfctr_probe of the tracepoint tp, whose header is included. Kernels change
 * the arguments: a probe that does not take those of this one does not compile.
 */
#define PERFCTR_PROBE(tp, probe)						\
	{									\
		.name = #tp,							\
		.fn = (void *)(probe) +						\
		      BUILD_BUG_ON_ZERO(!__same_type(check_trace_callback_type_##tp, \
						     void (typeof(probe) *))),	\
	}

/* ENOENT if the kernel lacks one of them. */
int perfctr_probes_find(struct perfctr_probe *probes, unsigned int nr);
/* All, or none. May sleep; not under the hotplug lock, which this takes itself. */
int perfctr_probes_register(const struct perfctr_probe *probes, unsigned int nr);
/* Whoever runs one of them has left it when this returns. */
void perfctr_probes_unregister(const struct perfctr_probe *probes, unsigned int nr);

#endif /* PERFCTR_PROBES_H */
