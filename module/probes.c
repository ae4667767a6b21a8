// SPDX-License-Identifier: GPL-2.0
/* See probes.h. */

#include <linux/errno.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "probes.h"

struct search {
	struct perfctr_probe *probes;
	unsigned int nr;
};

static void find_one(struct tracepoint *tracepoint, void *data)
{
	const struct search *search = data;
	unsigned int i;

	for (i = 0; i < search->nr; i++)
		if (!strcmp(tracepoint->name, search->probes[i].name))
			search->probes[i].tracepoint = tracepoint;
}

int perfctr_probes_find(struct perfctr_probe *probes, unsigned int nr)
{
	struct search search = { .probes = probes, .nr = nr };

	for_each_kernel_tracepoint(find_one, &search);
	while (nr--)
		if (!probes[nr].tracepoint)
			return -ENOENT;
	return 0;
}

void perfctr_probes_unregister(const struct perfctr_probe *probes, unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tracepoint, probes[nr].fn, NULL);
	tracepoint_synchronize_unregister();
}

int perfctr_probes_register(const struct perfctr_probe *probes, unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = tracepoint_probe_register(probes[i].tracepoint, probes[i].fn, NULL);
		if (err) {
			perfctr_probes_unregister(probes, i);
			return err;
		}
	}
	return 0;
}
