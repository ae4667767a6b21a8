// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libpfm4's names of events of this machine's processor. libpfm4 is large, and most programs never
 * need it. So it is loaded only when a name is not found elsewhere.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "internal.h"

#if __has_include(<perfmon/pfmlib_perf_event.h>)

#include <perfmon/pfmlib_perf_event.h>

#define LIBPFM	"libpfm.so.4"

/* The functions of libpfm4, or NULL without libpfm4. load() sets them once. */
static struct {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_get_pmu_info) *pmu_info;
	__typeof__(pfm_get_event_next) *next_event;
	__typeof__(pfm_get_event_info) *event_info;
	__typeof__(pfm_get_event_attr_info) *attr_info;
} pfm;

/* The lock lets one thread at a time call libpfm4. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int loaded;

static void take_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

static void drop_lock(void)
{
	(void)pthread_mutex_unlock(&lock);
}

static void load(void)
{
	const struct {
		const char *name;
		void *function;		/* a pointer to a function pointer, as in dlsym(3) */
	} symbols[] = {
		{ "pfm_initialize", (void *)&pfm.initialize },
		{ "pfm_get_os_event_encoding", (void *)&pfm.encode },
		{ "pfm_get_pmu_info", (void *)&pfm.pmu_info },
		{ "pfm_get_event_next", (void *)&pfm.next_event },
		{ "pfm_get_event_info", (void *)&pfm.event_info },
		{ "pfm_get_event_attr_info", (void *)&pfm.attr_info },
	};
	void *library, *symbol;
	size_t i;

	/* libpfm4 reads the environment, which a privileged program must not trust. */
	if (getauxval(AT_SECURE))
		return;
	library = dlopen(LIBPFM, RTLD_NOW | RTLD_LOCAL);
	for (i = 0; library && i < ARRAY_SIZE(symbols); i++) {
		symbol = dlsym(library, symbols[i].name);
		if (!symbol)
			return;
		memcpy(symbols[i].function, (const void *)&symbol, sizeof(symbol));
	}
	/* pthread_atfork() lets a child of fork() start with the lock released. */
	loaded = library && pfm.initialize() == PFM_SUCCESS &&
		 !pthread_atfork(take_lock, drop_lock, drop_lock);
}

static int begin(void)
{
	(void)pthread_once(&once, load);
	if (!loaded)
		return -1;
	take_lock();
	return 0;
}

#if defined(__x86_64__) || defined(__i386__)

/*
 * Events of Intel's fixed counters. perf's numbers of these events have code 0. By mistake libpfm4
 * 4.13 gives such numbers to a few other events, too. For example TOPDOWN:BAD_SPEC_SLOTS of
 * Sapphire Rapids has the number of SLOTS, and INST_RETIRED:ANY has the old number of PREC_DIST. So
 * both name and number must fit. The names are those of Intel's event lists.
 */
static const struct {
	const char *name;
	unsigned int number, event, map;
} fixed_events[] = {
	{ "INST_RETIRED:ANY", 0x100, X86_INSTRUCTIONS, X86_FIXED_INSTRUCTIONS },
	{ "INST_RETIRED:ANY", 0x1c0, X86_INSTRUCTIONS, X86_FIXED_INSTRUCTIONS },
	{ "INST_RETIRED:PREC_DIST", 0x100, X86_INSTRUCTIONS, X86_FIXED_INSTRUCTIONS },
	{ "CPU_CLK_UNHALTED:THREAD", 0x200, X86_CYCLES, X86_FIXED_CYCLES },
	{ "CPU_CLK_UNHALTED:CORE", 0x200, X86_CYCLES, X86_FIXED_CYCLES },
	{ "CPU_CLK_UNHALTED:REF_TSC", 0x300, X86_REF_CYCLES, PERFCTR_MAP_ANY },
	{ "UNHALTED_REFERENCE_CYCLES", 0x300, X86_REF_CYCLES, PERFCTR_MAP_ANY },
	{ "TOPDOWN:SLOTS", 0x400, PERFCTR_EVENT_SLOTS, PERFCTR_MAP_ANY },
};

/*
 * Returns true if @name is the event @event, in capitals or not. @name may have dots where @event
 * has colons, and modes may follow.
 */
static int is_event(const char *name, const char *event)
{
	for (; *event; name++, event++)
		if (toupper((unsigned char)*name) != *event && !(*event == ':' && *name == '.'))
			return 0;
	return !*name || ((*name == ':' || *name == '.') && !name[1 + strspn(name + 1, "uk:.")]);
}

static int set_intel(const char *name, struct perfctr_named_event *event)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fixed_events); i++) {
		if (event->config[0] != fixed_events[i].number || !is_event(name, fixed_events[i].name))
			continue;
		event->config[0] = fixed_events[i].event;
		event->map = fixed_events[i].map;
		return 0;
	}
	return event->config[0] & 0xff ? 0 : EOPNOTSUPP;
}

static int set_processor(const char *name, const pfm_pmu_info_t *pmu,
			 struct perfctr_named_event *event)
{
	/* On AMD's processors events with code 0 are valid. */
	return strncmp(pmu->name, "amd", 3) ? set_intel(name, event) : 0;
}

#else

static int set_processor(const char *name, const pfm_pmu_info_t *pmu,
			 struct perfctr_named_event *event)
{
	(void)name;
	(void)pmu;
	(void)event;
	return 0;
}

#endif

/* Returns true if a control has a place for all that libpfm4 has encoded. */
static int is_plain(const struct perf_event_attr *attr)
{
	struct perf_event_attr plain = {
		.type = attr->type,
		.size = attr->size,
		.config = attr->config,
		.config1 = attr->config1,
		.config2 = attr->config2,
		.exclude_user = attr->exclude_user,
		.exclude_kernel = attr->exclude_kernel,
		.exclude_hv = attr->exclude_hv,
		.exclude_guest = 1,	/* libpfm4's default */
	};

	return !memcmp(attr, &plain, sizeof(plain));
}

/*
 * Asks libpfm4 for perf's numbers of an event. @plm has the modes that a name without modes gets.
 * Returns PFM_SUCCESS, or an error of libpfm4's.
 */
static int encode(const char *name, int plm, struct perf_event_attr *attr, int *index)
{
	pfm_perf_encode_arg_t arg = { .attr = attr, .size = sizeof(arg) };
	int ret;

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	ret = pfm.encode(name, plm, PFM_OS_PERF_EVENT, &arg);
	*index = arg.idx;
	return ret;
}

static unsigned int modes_of(const struct perf_event_attr *attr)
{
	return (attr->exclude_user ? 0 : PERFCTR_CTR_USER) |
	       (attr->exclude_kernel ? 0 : PERFCTR_CTR_KERNEL);
}

/*
 * Finds the event's PMU. Returns 0, or -1 if the PMU is not one of this machine's cores: the
 * environment can make libpfm4 assume another machine.
 */
static int find_pmu(int index, pfm_pmu_info_t *pmu)
{
	pfm_event_info_t info = { .size = sizeof(info) };

	pmu->size = sizeof(*pmu);
	return pfm.event_info(index, PFM_OS_PERF_EVENT, &info) == PFM_SUCCESS &&
	       pfm.pmu_info(info.pmu, pmu) == PFM_SUCCESS && pmu->is_present &&
	       pmu->type == PFM_PMU_TYPE_CORE ? 0 : -1;
}

static int find_pfm_event(const char *name, struct perf_event_attr *attr, pfm_pmu_info_t *pmu)
{
	struct perf_event_attr both;
	int index, ret = encode(name, 0, attr, &index);

	if (ret == PFM_ERR_ATTR || ret == PFM_ERR_ATTR_VAL || ret == PFM_ERR_UMASK ||
	    ret == PFM_ERR_FEATCOMB || ret == PFM_ERR_ATTR_SET)
		return EINVAL;
	if (ret != PFM_SUCCESS || find_pmu(index, pmu) < 0)
		return ENOENT;
	/*
	 * The name asks for no mode, so encode it again with both modes as the default. If there is
	 * still no mode, the name itself excludes modes, as "u=0" does.
	 */
	if (!modes_of(attr) && (encode(name, PFM_PLM0 | PFM_PLM3, &both, &index) != PFM_SUCCESS ||
				!modes_of(&both)))
		return EINVAL;
	return is_plain(attr) ? 0 : EOPNOTSUPP;
}

int perfctr_pfm_event(const char *name, struct perfctr_named_event *event)
{
	pfm_pmu_info_t pmu = { .name = "" };
	struct perf_event_attr attr;
	int err;

	memset(event, 0, sizeof(*event));
	event->map = PERFCTR_MAP_ANY;
	if (begin() < 0)
		return ENOENT;
	err = find_pfm_event(name, &attr, &pmu);
	drop_lock();
	if (err)
		return err;
	event->type = attr.type;
	event->config[0] = attr.config;
	event->config[1] = attr.config1;
	event->config[2] = attr.config2;
	event->modes = modes_of(&attr);
	return set_processor(name, &pmu, event);
}

/* Adds an event, or each unit of an event that has units. */
static int add_pfm_event(struct perfctr_names *names, int index)
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

#define MOST_PMUS	4096	/* more than libpfm4 has, in case libpfm4 reports no end */

int perfctr_pfm_names(struct perfctr_names *names)
{
	pfm_pmu_info_t info = { .size = sizeof(info) };
	int pmu, event, ret = 0;
	pfm_err_t found;

	if (begin() < 0)
		return 0;
	for (pmu = 0; pmu < MOST_PMUS && !ret; pmu++) {
		found = pfm.pmu_info((pfm_pmu_t)pmu, &info);
		if (found == PFM_ERR_INVAL)
			break;
		/* The model's PMU has the architectural events, too. */
		if (found != PFM_SUCCESS || !info.is_present || info.type != PFM_PMU_TYPE_CORE ||
		    pmu == PFM_PMU_INTEL_X86_ARCH)
			continue;
		for (event = info.first_event; event != -1 && !ret; event = pfm.next_event(event))
			ret = add_pfm_event(names, event);
	}
	drop_lock();
	return ret;
}

#else

/* The library was built without libpfm4's headers. */
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
