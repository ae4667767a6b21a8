// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names that libpfm4 has for events of this machine's processor. The library is loaded when a name
 * is first asked for that nothing else knows: it is large, and most programs never need it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#if __has_include(<perfmon/pfmlib_perf_event.h>)

#include <perfmon/pfmlib_perf_event.h>

#define LIBPFM	"libpfm.so.4"

/* What is called there; NULL without the library. Set once, by load(). */
static struct {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_get_pmu_info) *pmu_info;
	__typeof__(pfm_get_event_next) *next_event;
	__typeof__(pfm_get_event_info) *event_info;
	__typeof__(pfm_get_event_attr_info) *attr_info;
} pfm;

/* Its functions may not be called by two threads at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int loaded;

static void load(void)
{
	const struct {
		const char *name;
		void *function;		/* a pointer to one, as dlsym(3) has it */
	} symbols[] = {
		{ "pfm_initialize", (void *)&pfm.initialize },
		{ "pfm_get_os_event_encoding", (void *)&pfm.encode },
		{ "pfm_get_pmu_info", (void *)&pfm.pmu_info },
		{ "pfm_get_event_next", (void *)&pfm.next_event },
		{ "pfm_get_event_info", (void *)&pfm.event_info },
		{ "pfm_get_event_attr_info", (void *)&pfm.attr_info },
	};
	void *library = dlopen(LIBPFM, RTLD_NOW | RTLD_LOCAL), *symbol;
	size_t i;

	for (i = 0; library && i < ARRAY_SIZE(symbols); i++) {
		symbol = dlsym(library, symbols[i].name);
		if (!symbol)
			return;
		memcpy(symbols[i].function, &symbol, sizeof(symbol));
	}
	loaded = library && pfm.initialize() == PFM_SUCCESS;
}

static int begin(void)
{
	(void)pthread_once(&once, load);
	if (!loaded)
		return -1;
	(void)pthread_mutex_lock(&lock);
	return 0;
}

static void end(void)
{
	(void)pthread_mutex_unlock(&lock);
}

int perfctr_pfm_event(const char *name, struct perfctr_named_event *event)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	int ret;

	memset(event, 0, sizeof(*event));
	memset(&attr, 0, sizeof(attr));
	memset(&arg, 0, sizeof(arg));
	attr.size = sizeof(attr);
	arg.attr = &attr;
	arg.size = sizeof(arg);
	if (begin() < 0)
		return ENOENT;
	/* In the modes that the name says, or in none */
	ret = pfm.encode(name, 0, PFM_OS_PERF_EVENT, &arg);
	end();
	if (ret == PFM_ERR_NOTFOUND || ret == PFM_ERR_NOTSUPP)
		return ENOENT;
	/* Software events are not counted by counters. */
	if (ret == PFM_SUCCESS && (attr.type == PERF_TYPE_SOFTWARE || attr.type == PERF_TYPE_TRACEPOINT))
		return ENOENT;
	if (ret != PFM_SUCCESS || attr.precise_ip)
		return EINVAL;
	event->type = attr.type;
	event->config[0] = attr.config;
	event->config[1] = attr.config1;
	event->config[2] = attr.config2;
	event->modes = (attr.exclude_user ? 0 : PERFCTR_CTR_USER) |
		       (attr.exclude_kernel ? 0 : PERFCTR_CTR_KERNEL);
	return 0;
}

/* An event: by itself if it has no units, else with each of them */
static int add_event(struct perfctr_names *names, int index)
{
	pfm_event_attr_info_t attr = { .size = sizeof(attr) };
	pfm_event_info_t info = { .size = sizeof(info) };
	int i, units = 0, ret = 0;
	char name[256];

	if (pfm.event_info(index, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
		return 0;
	for (i = 0; i < info.nattrs && !ret; i++) {
		if (pfm.attr_info(index, i, PFM_OS_PERF_EVENT, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		units++;
		(void)snprintf(name, sizeof(name), "%s:%s", info.name, attr.name);
		ret = perfctr_names_add(names, name, attr.desc);
	}
	return units ? ret : perfctr_names_add(names, info.name, info.desc);
}

int perfctr_pfm_names(struct perfctr_names *names)
{
	pfm_pmu_info_t info = { .size = sizeof(info) };
	int pmu, event, ret = 0;

	if (begin() < 0)
		return 0;
	for (pmu = 0; pmu < PFM_PMU_MAX && !ret; pmu++) {
		/* The same events are there by the model's names, and perf's are known. */
		if (pfm.pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS || !info.is_present ||
		    info.type != PFM_PMU_TYPE_CORE || pmu == PFM_PMU_INTEL_X86_ARCH)
			continue;
		for (event = info.first_event; event != -1 && !ret; event = pfm.next_event(event))
			ret = add_event(names, event);
	}
	end();
	return ret;
}

#else

/* Built without libpfm4 */
int perfctr_pfm_event(const char *name, struct perfctr_named_event *event)
{
	(void)name;
	memset(event, 0, sizeof(*event));
	return ENOENT;
}

int perfctr_pfm_names(struct perfctr_names *names)
{
	(void)names;
	return 0;
}

#endif
