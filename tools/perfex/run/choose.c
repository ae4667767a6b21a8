// SPDX-License-Identifier: GPL-2.0
/* Interprets the arguments of options: events, numbers, the source. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count/explain.h"
#include "count/topdown.h"
#include "count/why.h"
#include "run/choose.h"
#include "run/control.h"

bool get_info(struct perfctr_info *info)
{
	if (perfctr_get_info(info) < 0) {
		explain_device(errno);
		return false;
	}
	if ((info->abi_version ^ PERFCTR_ABI_VERSION) >> 24) {
		explain_device(EPROTO);
		return false;
	}
	return true;
}

static bool find_event(const struct perfctr_info *info, const char *spec, struct event *event)
{
	memset(event, 0, sizeof(*event));
	if (perfctr_event_parse(info->cpu_type, spec, &event->ctr) < 0) {
		explain_event(info, spec, errno);
		return false;
	}
	/* perfctr_event_parse() refuses longer names. */
	snprintf(event->name, sizeof(event->name), "%.*s",
		 (int)(perfctr_event_modifier(spec) - spec), spec);
	event->modifier = (event->ctr.flags & MODES) != 0;
	if (!perfctr_event_available(info, &event->ctr)) {
		explain_missing_event(info, event->name);
		return false;
	}
	return true;
}

/* Returns true if an earlier event is bound to the same counter. */
static bool is_named(const struct events *events, const struct event *event)
{
	unsigned int i;

	for (i = 0; i < events->n && event->ctr.map != PERFCTR_MAP_ANY; i++)
		if (events->event[i].ctr.map == event->ctr.map)
			return true;
	return false;
}

static bool add_event(const struct perfctr_info *info, struct events *events,
		      const char *spec)
{
	struct event *event;

	if (events->n == PERFCTR_MAX_CTRS || events->n >= info->nrctrs) {
		/* If the event itself is wrong, explain that first. */
		struct perfctr_ctr_control ctr;

		errno = 0;
		if (perfctr_event_parse(info->cpu_type, spec, &ctr) < 0 || why_no_counters(info))
			explain_event(info, spec, errno);
		else
			explain_too_many(info, events->n + 1);
		return false;
	}
	event = &events->event[events->n];
	if (!find_event(info, spec, event))
		return false;
	if (is_named(events, event)) {
		explain("there is only one counter '%s': it cannot be counted on twice",
			event->name);
		return false;
	}
	events->n++;
	return true;
}

/*
 * Adds an event if the kernel can count it together with the others. Returns true if it was added.
 */
static bool joins(const struct perfctr_info *info, const struct how *how, struct events *events,
		  const struct event *event)
{
	if (events->n == PERFCTR_MAX_CTRS || events->n >= info->nrctrs || is_named(events, event))
		return false;
	events->event[events->n++] = *event;
	if (can_be_counted(events, how))
		return true;
	events->n--;
	return false;
}

/*
 * Moves the last pass to the front if the kernel will refuse it. Then perfex fails before anything
 * runs.
 */
static void refused_first(struct passes *passes, const struct how *how)
{
	struct events first = passes->pass[0], *last = &passes->pass[passes->n - 1];

	if (can_be_counted(last, how))
		return;
	passes->pass[0] = *last;
	*last = first;
}

/* Adds an event to the first pass that has room, or to a new pass. */
static bool add_to_passes(const struct perfctr_info *info, const struct how *how,
			  struct passes *passes, const char *spec)
{
	struct events *pass;
	struct event event;
	unsigned int i;

	if (!find_event(info, spec, &event))
		return false;
	for (i = 0; i < passes->n; i++)
		if (joins(info, how, &passes->pass[i], &event))
			return true;
	pass = realloc(passes->pass, (passes->n + 1) * sizeof(*pass));
	if (!pass) {
		explain("no memory for so many events");
		return false;
	}
	passes->pass = pass;
	pass += passes->n++;
	memset(pass, 0, sizeof(*pass));
	pass->chosen = true;
	pass->event[pass->n++] = event;
	refused_first(passes, how);
	return true;
}

bool passes_make(const struct perfctr_info *info, const struct how *how, const char *list,
		 struct passes *passes)
{
	char *copy = strdup(list), *rest = copy, *spec;
	bool ok = copy != NULL;

	while (ok && (spec = strsep(&rest, ",")))
		ok = add_to_passes(info, how, passes, spec);
	free(copy);
	return ok;
}

bool add_events(const struct perfctr_info *info, struct events *events, const char *list)
{
	char *copy = strdup(list), *rest = copy, *spec;
	bool ok = copy != NULL;

	while (ok) {
		spec = strsep(&rest, ",");
		if (!spec)
			break;
		ok = add_event(info, events, spec);
	}
	free(copy);
	return ok;
}

/* Adds instructions and cycles, if this processor has them. */
void usual_events(const struct perfctr_info *info, struct events *events)
{
	static const char *const names[] = { "instructions", "cycles" };
	struct perfctr_ctr_control ctr;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && events->n < info->nrctrs; i++)
		if (!perfctr_event_parse(info->cpu_type, names[i], &ctr) &&
		    perfctr_event_available(info, &ctr))
			add_event(info, events, names[i]);
}

/* Adds SLOTS and all metrics of this processor, unless -e has them already. */
bool topdown_events(const struct perfctr_info *info, struct events *events, unsigned int source)
{
	const struct perfctr_event_set *set = perfctr_event_names(info->cpu_type);
	struct event event = { .name = "" };
	unsigned int i, k;

	events->chosen = true;
	if (!(info->cpu_features & PERFCTR_FEATURE_TOPDOWN) || !set ||
	    source == PERFCTR_SOURCE_SHARED) {
		explain_no_topdown(info, source);
		return false;
	}
	for (i = 0; i < set->nevents; i++) {
		event.ctr.event = set->events[i].evntsel;
		if ((event.ctr.event != PERFCTR_EVENT_SLOTS && metric_of(&event) < 0) ||
		    !perfctr_event_available(info, &(struct perfctr_ctr_control){
				.map = PERFCTR_MAP_ANY, .event = event.ctr.event }))
			continue;
		for (k = 0; k < events->n; k++)
			if (events->event[k].ctr.event == event.ctr.event)
				break;
		if (k == events->n && !add_event(info, events, set->events[i].name))
			return false;
	}
	return true;
}

/* Adds the counters that rdcycle and rdinstret read, as both must run. */
bool raw_events(const struct perfctr_info *info, struct events *events)
{
	static const char *const names[] = { "cycle", "instret" };
	struct perfctr_ctr_control ctr;
	unsigned int i, k;

	events->chosen = true;
	for (i = 0; i < 2; i++) {
		if (perfctr_event_parse(info->cpu_type, names[i], &ctr) < 0) {
			explain("this processor has no rdcycle and rdinstret");
			return false;
		}
		for (k = 0; k < events->n; k++)
			if (events->event[k].ctr.map == ctr.map)
				break;
		if (k == events->n && !add_event(info, events, names[i]))
			return false;
	}
	return true;
}

bool number(const char *text, unsigned long least, unsigned long most, const char *what,
	    unsigned int *value)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || errno || n < least || n > most) {
		explain("'%s' is not %s (%lu to %lu)", text, what, least, most);
		return false;
	}
	*value = (unsigned int)n;
	return true;
}

bool source_by_name(const char *name, unsigned int *source)
{
	static const unsigned int sources[] = {
		PERFCTR_SOURCE_NATIVE, PERFCTR_SOURCE_SHARED, PERFCTR_SOURCE_ANY,
	};
	size_t i;

	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		*source = sources[i];
		if (!strcmp(name, perfctr_source_name(*source)))
			return true;
	}
	explain("'%s' is no source of counters: these are native, shared, and any of them", name);
	return false;
}
