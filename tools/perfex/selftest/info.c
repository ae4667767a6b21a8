// SPDX-License-Identifier: GPL-2.0
/* Implements --info, which prints the processor, the module, the CPUs, and who has the counters. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/perfex.h"
#include "count/why.h"
#include "selftest/cpuid.h"
#include "selftest/info.h"

/* Tries to count by @source. Returns 0, or -1 with errno. */
static int try_source(const struct perfctr_info *info, unsigned int source,
		      struct perfctr_control *control)
{
	struct vperfctr *v = vperfctr_open();
	int ret = -1, err;

	*control = (struct perfctr_control){ .source = source, .nractrs = 1 };
	if (!v)
		return -1;
	if (!perfctr_event_parse(info->cpu_type, "instructions:u", &control->ctr[0]))
		ret = vperfctr_control_native(v, control);
	err = errno;
	if (!ret)
		(void)vperfctr_read_control_native(v, control);
	(void)vperfctr_unlink(v);
	vperfctr_close(v);
	errno = err;
	return ret;
}

/* Prints who has the processor's counters, and which source would count a program now. */
static void print_sources(const struct perfctr_info *info)
{
	struct perfctr_control control;

	if (info->cpu_features & PERFCTR_FEATURE_NATIVE &&
	    try_source(info, PERFCTR_SOURCE_NATIVE, &control) < 0 && errno == EBUSY)
		printf("owner\t\t\t%s\n", perfctr_owner_name(control.owner));
	if (!try_source(info, PERFCTR_SOURCE_ANY, &control))
		printf("source\t\t\t%s\n", control.source == PERFCTR_SOURCE_SHARED ?
		       "shared (through perf_events)" : "native");
	else if (control.reason)
		printf("source\t\t\tnone: %s\n", perfctr_reason_name(control.reason));
	else
		printf("source\t\t\tnone: %s\n", strerror(errno));
}

void print_info(const struct perfctr_info *info)
{
	const char *why = why_no_driver(info);
	struct perfctr_cpus_info *cpus;
	FILE *dev;

	perfctr_info_print(info);
	if (why)
		printf("no_counters\t\t%s\n", why);
#if IS_X86
	print_left_alone(info);
#endif
	if (info->cpu_features & PERFCTR_FEATURE_UNKNOWN_MODEL)
		printf("model\t\t\tnot known: perfctr's own driver counts architectural events only\n");
	dev = fopen(PERFCTR_DEVICE, "re");
	cpus = dev ? perfctr_cpus_info(fileno(dev)) : NULL;
	if (cpus)
		perfctr_cpus_info_print(cpus);
	free(cpus);
	if (dev)
		fclose(dev);
	print_sources(info);
}
