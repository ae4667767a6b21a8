// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Turns names of events into counters of a control, and counters into names. Names are perf's. Each
 * family of processors has a table: events_x86.c, events_amd.c, events_old.c (x86 before the P6,
 * and the Pentium 4), events_ppc.c, events_perf.c (RISC-V, and processors that the module has no
 * driver for). events_intel.c has the cache events of Intel's models.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

/* PowerPC has its own types, whose numbers mean other processors on x86. */
static int is_ppc(unsigned int cpu_type)
{
#if defined(__powerpc__)
	return cpu_type > PERFCTR_PPC_GENERIC && cpu_type <= PERFCTR_PPC_7450;
#else
	(void)cpu_type;
	return 0;
#endif
}

static int is_amd(unsigned int cpu_type)
{
	return !is_ppc(cpu_type) && perfctr_amd_event_names(cpu_type);
}

/* Returns true for an x86 processor whose event selects do not have the P6's layout. */
static int is_old(unsigned int cpu_type)
{
	return !is_ppc(cpu_type) && perfctr_old_event_names(cpu_type);
}

const struct perfctr_event_set *perfctr_event_names(unsigned int cpu_type)
{
	const struct perfctr_event_set *set;

	if (is_ppc(cpu_type))
		return perfctr_ppc_event_names(cpu_type);
	set = perfctr_amd_event_names(cpu_type);
	if (!set)
		set = perfctr_old_event_names(cpu_type);
	if (!set)
		set = perfctr_x86_event_names(cpu_type);
	if (!set)
		set = perfctr_perf_event_names(cpu_type);
	return set ? set : perfctr_riscv_event_names(cpu_type);
}

/* Returns perf's cache events on this machine's Intel model, or NULL if none are known. */
static const struct perfctr_intel_cache *caches_of(unsigned int cpu_type)
{
	return is_ppc(cpu_type) || !perfctr_x86_event_names(cpu_type) ?
		NULL : perfctr_intel_caches(perfctr_intel_model());
}

/*
 * Returns 1 if @name is a cache event that the model counts; 0 if @name is no cache event, or the
 * model is not known; or -1 if the model cannot count the event.
 */
static int parse_cache_event(unsigned int cpu_type, const char *name,
			     struct perfctr_ctr_control *ctr)
{
	const struct perfctr_intel_cache *cache = caches_of(cpu_type);
	const struct perfctr_event *event = cache ? perfctr_perf_cache_event(name) : NULL;

	if (!event)
		return 0;
	for (; cache->event; cache++) {
		if (cache->config != PERF_CONFIG(event->evntsel))
			continue;
		ctr->event = cache->event;
		ctr->config = cache->value;
		ctr->map = PERFCTR_MAP_ANY;
		return 1;
	}
	return -1;
}

static int parse_modifier(const char *modifier, __u32 *flags)
{
	if (!*modifier)
		return -1;
	for (; *modifier; modifier++) {
		if (*modifier == 'u')
			*flags |= PERFCTR_CTR_USER;
		else if (*modifier == 'k')
			*flags |= PERFCTR_CTR_KERNEL;
		else
			return -1;
	}
	return 0;
}

static int is_x86(unsigned int cpu_type)
{
	return cpu_type < PERFCTR_RISCV_GENERIC && cpu_type != PERFCTR_X86_GENERIC &&
	       !is_ppc(cpu_type);
}

/* Returns the number that an event of a set has in a control. */
static __u64 number_of(const struct perfctr_event_set *set, const struct perfctr_event *event)
{
	return is_amd(set->cpu_type) ? perfctr_amd_event(event->evntsel) : event->evntsel;
}

/* Returns the level of TopDown of SLOTS or a metric on Intel, or 0 for any other event. */
static unsigned int topdown_level(unsigned int cpu_type, __u64 event)
{
	__u64 metric = (event - PERFCTR_EVENT_METRIC(0)) >> 8;

	if (!is_x86(cpu_type) || is_amd(cpu_type) || is_old(cpu_type))
		return 0;
	if (event == PERFCTR_EVENT_SLOTS)
		return 1;
	if (event & 0xffu || metric >= PERFCTR_METRICS)
		return 0;
	return metric < PERFCTR_METRICS / 2 ? 1 : 2;
}

static int is_riscv(unsigned int cpu_type)
{
	return cpu_type == PERFCTR_RISCV_SBI || cpu_type == PERFCTR_RISCV_GENERIC;
}

static int has_perf_events(const struct perfctr_event_set *set)
{
	return set && set == perfctr_perf_event_names(set->cpu_type);
}

/*
 * Parses a raw event and fills in the counter. The type of processor decides what the numbers mean.
 * Returns what perfctr_parse_raw() returns.
 */
static int parse_raw_event(unsigned int cpu_type, const char *name,
			   struct perfctr_ctr_control *ctr)
{
	__u64 values[4] = { 0 };
	int raw = 0;

	if (is_ppc(cpu_type)) {
		raw = perfctr_parse_raw(name, values, 1);
		return raw > 0 ? perfctr_ppc_parse_raw(values[0], ctr) : raw;
	}
	if (cpu_type == PERFCTR_RISCV_SBI) {
		raw = perfctr_parse_raw(name, &ctr->config, 1);
		ctr->event = SBI_EVENT(SBI_TYPE_RAW, 0u);
	} else if (is_x86(cpu_type)) {
		/*
		 * On a Pentium 4 the numbers are CCCR, ESCR, PEBS_ENABLE and PEBS_MATRIX_VERT, on
		 * others the event select and the event's own register.
		 */
		raw = perfctr_parse_raw(name, values, is_old(cpu_type) && perfctr_is_p4(cpu_type) ? 4 : 2);
		ctr->event = values[0];
		ctr->config = values[1];
		ctr->config1 = values[2];
		ctr->config2 = values[3];
	} else if (has_perf_events(perfctr_event_names(cpu_type))) {
		/* On Intel config1 is the value of the event's own register. */
		raw = perfctr_parse_raw(name, values, cpu_type == PERFCTR_X86_GENERIC ? 2 : 1);
		ctr->event = PERF_TYPE_RAW;
		ctr->config = values[0];
		ctr->config1 = values[1];
		ctr->flags = PERFCTR_CTR_PERF;
	}
	ctr->map = PERFCTR_MAP_ANY;
	return raw;
}

static void set_event(const struct perfctr_event_set *set, const struct perfctr_event *event,
		      struct perfctr_ctr_control *ctr)
{
	ctr->event = number_of(set, event);
	ctr->map = PERFCTR_MAP_ANY;
	if (has_perf_events(set)) {
		ctr->event = PERF_TYPE(event->evntsel);
		ctr->config = PERF_CONFIG(event->evntsel);
		ctr->flags = PERFCTR_CTR_PERF;
	} else if (is_ppc(set->cpu_type)) {
		/* If only one counter can count the event, the control names that counter. */
		if (!(event->counters_set & (event->counters_set - 1)))
			ctr->map = (unsigned int)__builtin_ctz(event->counters_set);
	} else if (event->counters_set == CTRS_CYCLE) {
		ctr->map = RISCV_CYCLE;
	} else if (event->counters_set == CTRS_INSTRET) {
		ctr->map = RISCV_INSTRET;
	} else if (is_old(set->cpu_type)) {
		perfctr_old_set_event(set->cpu_type, event, ctr);
	} else if (event->counters_set == 1u << X86_FIXED_REF) {
		ctr->map = X86_FIXED_REF;
	}
}

/*
 * Fills in a counter for an event by perf's numbers. On x86 config is an event select, and on Intel
 * config1 is the value of the event's own register. Returns 0, or an error of <errno.h>.
 */
static int set_named_event(unsigned int cpu_type, const struct perfctr_named_event *event,
			   struct perfctr_ctr_control *ctr)
{
	ctr->map = event->map;
	ctr->flags = event->modes;
	ctr->config = event->config[0];
	ctr->config1 = event->config[1];
	ctr->config2 = event->config[2];
	ctr->event = event->type;
	if (!is_x86(cpu_type)) {
		ctr->flags |= PERFCTR_CTR_PERF;
		ctr->map = PERFCTR_MAP_ANY;
		return 0;
	}
	if (event->type != PERF_TYPE_RAW || event->config[2] ||
	    event->config[0] & ~(0xffffffffULL | (is_amd(cpu_type) ? PERFCTR_AMD_HIGH : 0)))
		return EOPNOTSUPP;
	ctr->event = event->config[0];
	ctr->config = event->config[1];
	ctr->config1 = 0;
	return 0;
}

/*
 * Fills in a counter for an event that the kernel or libpfm4 names. Returns 0, or an error of
 * <errno.h>.
 */
static int parse_named_event(unsigned int cpu_type, const char *name, struct perfctr_ctr_control *ctr)
{
	struct perfctr_named_event event;
	int err;

	if (is_ppc(cpu_type) || is_riscv(cpu_type))
		return ENOENT;
	/* Controls of these processors have other numbers than the kernel and libpfm4. */
	if (is_old(cpu_type))
		return perfctr_old_event(cpu_type, name, ctr);
	err = perfctr_sysfs_event(PERFCTR_SYSFS, name, &event);
	if (err == ENOENT && perfctr_pfm_event)
		err = perfctr_pfm_event(name, &event);
	return err ? err : set_named_event(cpu_type, &event, ctr);
}

const char *perfctr_event_modifier(const char *spec)
{
	const char *colon = strrchr(spec, ':'), *end = spec + strlen(spec);

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "uk")] ? colon : end;
}

/*
 * Parses an event by the library's own names. Returns 1 if the name up to the first colon is known
 * or is a raw event; 0 if not; or -1 if a raw event or a modifier is wrong.
 */
static int parse_known_event(unsigned int cpu_type, const struct perfctr_event_set *set,
			     const char *spec, struct perfctr_ctr_control *ctr)
{
	size_t length = strcspn(spec, ":");
	const struct perfctr_event *event;
	int known = 1, cached;
	char name[64];

	if (length >= sizeof(name))
		return 0;
	memcpy(name, spec, length);
	name[length] = '\0';
	/* Try the model's own event before an alias, which may be wrong on some models. */
	event = perfctr_find_event(set, name);
	cached = event ? 0 : parse_cache_event(cpu_type, name, ctr);
	if (cached < 0)
		return 0;
	if (!event && !cached)
		event = perfctr_find_name(set, name);
	if (event)
		set_event(set, event, ctr);
	else if (!cached)
		known = parse_raw_event(cpu_type, name, ctr);
	if (known > 0 && spec[length] && parse_modifier(spec + length + 1, &ctr->flags) < 0)
		return -1;
	return known;
}

int perfctr_event_parse(unsigned int cpu_type, const char *spec,
			struct perfctr_ctr_control *ctr)
{
	const struct perfctr_event_set *set = perfctr_event_names(cpu_type);
	const char *modifier = perfctr_event_modifier(spec);
	char name[PERFCTR_EVENT_NAME_MAX];
	int known, err = ENOENT;

	memset(ctr, 0, sizeof(*ctr));
	known = set ? parse_known_event(cpu_type, set, spec, ctr) : 0;
	if (known > 0)
		return 0;
	if (set && (size_t)(modifier - spec) < sizeof(name)) {
		memcpy(name, spec, (size_t)(modifier - spec));
		name[modifier - spec] = '\0';
		err = parse_named_event(cpu_type, name, ctr);
		if (err == ENOENT && is_x86(cpu_type) && perfctr_perf_cache_event(name))
			err = EOPNOTSUPP;
		if (!err && *modifier)
			(void)parse_modifier(modifier + 1, &ctr->flags);
	}
	if (!err)
		return 0;
	/* EINVAL means that the event is known, but not the text that follows its name. */
	errno = known < 0 && err == ENOENT ? EINVAL : err;
	return -1;
}

struct perfctr_event_name *perfctr_more_event_names(void)
{
	const struct perfctr_intel_cache *cache = perfctr_intel_caches(perfctr_intel_model());
	const struct perfctr_event *event;
	struct perfctr_names names;

	if (perfctr_names_begin(&names) < 0)
		return NULL;
	/* This need not check for a lack of memory: perfctr_names_end() then returns NULL. */
	for (; cache && cache->event; cache++) {
		event = perfctr_perf_event(PERF_EVENT(PERF_TYPE_HW_CACHE, cache->config));
		if (event)
			(void)perfctr_names_add(&names, event->name, event->description);
	}
	(void)perfctr_sysfs_names(PERFCTR_SYSFS, &names);
	if (perfctr_pfm_names)
		(void)perfctr_pfm_names(&names);
	return perfctr_names_end(&names);
}

/* Writes the name of an event that has perf's numbers, which are the same on all processors. */
static int format_perf_event(const struct perfctr_ctr_control *ctr, const char *modifier,
			     char *buf, size_t size)
{
	const struct perfctr_event *event = NULL;

	if (ctr->event <= 0xff && ctr->config == PERF_CONFIG(ctr->config) && !ctr->config1 && !ctr->config2)
		event = perfctr_perf_event(PERF_EVENT(ctr->event, (unsigned int)ctr->config));
	if (event)
		return snprintf(buf, size, "%s%s", event->name, modifier);
	if (ctr->event == PERF_TYPE_RAW && !ctr->config1 && !ctr->config2)
		return snprintf(buf, size, "r%llx%s", ctr->config, modifier);
	if (ctr->event == PERF_TYPE_RAW && !ctr->config2)
		return snprintf(buf, size, "r%llx/%llx%s", ctr->config, ctr->config1, modifier);
	return snprintf(buf, size, "perf event %llu/0x%llx/0x%llx/0x%llx%s", ctr->event,
			ctr->config, ctr->config1, ctr->config2, modifier);
}

int perfctr_event_format(unsigned int cpu_type,
			 const struct perfctr_ctr_control *ctr,
			 char *buf, size_t size)
{
	static const char *const modifiers[] = { "", ":u", ":k", ":uk" };
	const char *modifier = modifiers[ctr->flags & (PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)];
	const struct perfctr_event_set *set = perfctr_event_names(cpu_type);
	const struct perfctr_intel_cache *cache = caches_of(cpu_type);
	const struct perfctr_event *event;
	unsigned int i, wanted = CTRS_PROG;
	char name[PERFCTR_EVENT_NAME_MAX];

	if (ctr->flags & PERFCTR_CTR_PERF)
		return format_perf_event(ctr, modifier, buf, size);
	if (set && is_ppc(cpu_type))
		return perfctr_ppc_format(set, ctr, modifier, buf, size);
	if (is_old(cpu_type) && perfctr_old_name(cpu_type, ctr, name, sizeof(name)))
		return snprintf(buf, size, "%s%s", name, modifier);
	if (is_riscv(cpu_type) && ctr->map <= RISCV_INSTRET)
		wanted = 1u << ctr->map;
	else if (topdown_level(cpu_type, ctr->event))
		wanted = 1u << X86_FIXED_SLOTS;
	else if (is_x86(cpu_type))
		wanted = ctr->map == X86_FIXED_REF ? 1u << X86_FIXED_REF : X86_PROG;
	for (i = 0; set && !is_old(cpu_type) && i < set->nevents; i++)
		if (number_of(set, &set->events[i]) == ctr->event &&
		    set->events[i].counters_set == wanted && (!ctr->config || !is_x86(cpu_type)))
			return snprintf(buf, size, "%s%s", set->events[i].name, modifier);
	for (; wanted == X86_PROG && cache && cache->event; cache++) {
		event = perfctr_perf_event(PERF_EVENT(PERF_TYPE_HW_CACHE, cache->config));
		if (event && cache->event == ctr->event && cache->value == ctr->config)
			return snprintf(buf, size, "%s%s", event->name, modifier);
	}
	if (is_riscv(cpu_type) && ctr->event == SBI_EVENT(SBI_TYPE_RAW, 0u))
		return snprintf(buf, size, "r%llx%s", ctr->config, modifier);
	if (is_x86(cpu_type) && (ctr->config1 || ctr->config2))
		return snprintf(buf, size, "r%llx/%llx/%llx/%llx%s", ctr->event, ctr->config, ctr->config1,
				ctr->config2, modifier);
	if (is_x86(cpu_type) && ctr->config)
		return snprintf(buf, size, "r%llx/%llx%s", ctr->event, ctr->config, modifier);
	if (is_x86(cpu_type))
		return snprintf(buf, size, "r%llx%s", ctr->event, modifier);
	return snprintf(buf, size, "event 0x%llx%s", ctr->event, modifier);
}

/*
 * Returns 1 unless the processor is known to lack the event. x86 processors tell only which
 * architectural events they have.
 */
static int x86_available(const struct perfctr_info *info, const struct perfctr_ctr_control *ctr)
{
	const struct perfctr_event_set *set = perfctr_event_names(info->cpu_type);
	unsigned int i;

	if (!set || (ctr->map != PERFCTR_MAP_ANY && ctr->map >= 64))
		return 0;
	if (set->events == perfctr_arch_events)
		for (i = 0; i < X86_ARCH_BITS; i++)
			if (set->events[i].evntsel == (ctr->event & 0xffffu) &&
			    !(info->events[0] >> i & 1))
				return 0;
	if (set->events == perfctr_arch_events && topdown_level(info->cpu_type, ctr->event & 0xffffu))
		return topdown_level(info->cpu_type, ctr->event & 0xffffu) <= info->topdown;
	return ctr->map == PERFCTR_MAP_ANY ? !!(info->counters & X86_PROG) :
					      !!(info->counters >> ctr->map & 1);
}

int perfctr_event_available(const struct perfctr_info *info,
			    const struct perfctr_ctr_control *ctr)
{
	unsigned int code = SBI_CODE((unsigned int)ctr->event);

	if (ctr->flags & PERFCTR_CTR_PERF)
		return !!(info->cpu_features & PERFCTR_FEATURE_SHARED);
	if (is_ppc(info->cpu_type))
		return ctr->map == PERFCTR_MAP_ANY ? !!info->counters :
						      ctr->map < 64 && info->counters >> ctr->map & 1;
	if (is_x86(info->cpu_type))
		return x86_available(info, ctr);
	if (!is_riscv(info->cpu_type))
		return 0;
	if (ctr->map != PERFCTR_MAP_ANY && ctr->map <= RISCV_INSTRET)
		return !!(info->counters >> ctr->map & 1);
	switch (SBI_TYPE((unsigned int)ctr->event)) {
	case SBI_TYPE_HW:
		return code < 64 && (info->events[0] >> code & 1);
	case SBI_TYPE_CACHE:
		return code < 64 && (info->events[1] >> code & 1);
	case SBI_TYPE_RAW:
		return !!(info->counters & CTRS_PROG);
	default:
		return 0;
	}
}

static __u64 general_purpose(const struct perfctr_info *info)
{
	if (is_x86(info->cpu_type))
		return info->counters & X86_PROG;
	return is_riscv(info->cpu_type) ? info->counters & CTRS_PROG : info->counters;
}

/* Returns the fixed counter for the event, as a bit of perfctr_info.counters, or 0. */
static __u64 fixed_counter(const struct perfctr_info *info, const struct perfctr_ctr_control *ctr)
{
	static const __u32 x86_fixed[] = { X86_INSTRUCTIONS, X86_CYCLES, X86_REF_CYCLES };
	int unfiltered = is_riscv(info->cpu_type) && !(info->cpu_features & PERFCTR_FEATURE_FILTER);
	__u64 counter = 0;
	unsigned int i;

	if (ctr->map != PERFCTR_MAP_ANY)
		return ctr->map < 64 ? info->counters & 1ULL << ctr->map & ~general_purpose(info) : 0;
	for (i = 0; is_x86(info->cpu_type) && i < ARRAY_SIZE(x86_fixed); i++)
		if (ctr->event == x86_fixed[i])
			counter = 1ULL << (X86_FIXED_INSTRUCTIONS + i);
	/* If programmable counters have no filter, the kernel uses fixed counters here. */
	if (unfiltered && ctr->event == SBI_EVENT(SBI_TYPE_HW, SBI_HW_CPU_CYCLES))
		counter = CTRS_CYCLE;
	if (unfiltered && ctr->event == SBI_EVENT(SBI_TYPE_HW, SBI_HW_INSTRUCTIONS))
		counter = CTRS_INSTRET;
	return counter & info->counters;
}

unsigned int perfctr_event_demand(const struct perfctr_info *info,
				  const struct perfctr_ctr_control *ctr, unsigned int n,
				  unsigned int *there)
{
	unsigned int i, needed = 0;
	__u64 used = 0, fixed;

	*there = (unsigned int)__builtin_popcountll(general_purpose(info));
	for (i = 0; i < n; i++) {
		if (ctr[i].flags & PERFCTR_CTR_PERF)
			return 0;
		if (topdown_level(info->cpu_type, ctr[i].event))
			continue;
		fixed = fixed_counter(info, &ctr[i]);
		needed += !fixed || used & fixed;
		used |= fixed;
	}
	return needed;
}

char **perfctr_event_suggest(unsigned int cpu_type, const char *spec, size_t max)
{
	const struct perfctr_event_set *set = perfctr_event_names(cpu_type);
	size_t i, length = (size_t)(perfctr_event_modifier(spec) - spec);
	struct perfctr_near near = { .max = max < PERFCTR_NEAR_MAX ? max : PERFCTR_NEAR_MAX };
	struct perfctr_event_name *more = NULL;
	char **names;

	if (!set)
		return NULL;
	for (i = 0; i < set->nevents; i++)
		perfctr_near_compare(&near, spec, length, set->events[i].name);
	perfctr_near_aliases(&near, spec, length, set);
	for (set = is_old(cpu_type) ? perfctr_event_table(cpu_type) : NULL; set; set = set->include)
		for (i = 0; i < set->nevents; i++)
			perfctr_near_compare(&near, spec, length, set->events[i].name);
	if (!is_ppc(cpu_type) && !is_riscv(cpu_type) && !is_old(cpu_type))
		more = perfctr_more_event_names();
	for (i = 0; more && more[i].name; i++)
		perfctr_near_compare(&near, spec, length, more[i].name);
	names = perfctr_near_names(&near);
	free(more);
	return names;
}

/* Types that 2.6 did not know have no table of 2.6's. For them this returns perf's names. */
const struct perfctr_event_set *perfctr_cpu_event_set(unsigned int cpu_type)
{
	const struct perfctr_event_set *set = perfctr_event_table(cpu_type);

	return set || cpu_type <= PERFCTR_X86_INTEL_ARCH ? set : perfctr_event_names(cpu_type);
}
