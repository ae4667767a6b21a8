/* SPDX-License-Identifier: GPL-2.0 */
/* events - a tool that lets its user choose from the events that the library knows, by name */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfctr_event_codes.h>

#include "old/old.h"

/* A macro of each kind, as programs for one processor had them */
static const unsigned codes[] = {
	P6_INST_RETIRED, K7_RETIRED_INSTRUCTIONS, PPC_750_INSTRUCTIONS,
};

static const struct perfctr_event *find_event(const struct perfctr_event_set *set, const char *name)
{
	unsigned i;

	for (; set; set = set->include)
		for (i = 0; i < set->nevents; i++)
			if (!strcmp(set->events[i].name, name))
				return &set->events[i];
	return NULL;
}

static const struct perfctr_event *find_instructions(const struct perfctr_event_set *set)
{
	static const char *names[] = {
		"INSTRUCTION_RETIRED", "INSTRUCTIONS_RETIRED", "RETIRED_INSTRUCTIONS",
		"INST_RETIRED", "INSTRUCTIONS", "INSTRUCTIONS_EXECUTED", "instr_retired",
	};
	const struct perfctr_event *event = NULL;
	unsigned i;

	for (i = 0; !event && i < sizeof(names) / sizeof(names[0]); i++)
		event = find_event(set, names[i]);
	return event;
}

static unsigned long long count(struct vperfctr *self, unsigned long n)
{
	struct perfctr_sum_ctrs before, after;

	vperfctr_read_state(self, &before, NULL);
	body_spin(n);
	vperfctr_read_state(self, &after, NULL);
	return after.pmc[0] - before.pmc[0];
}

#if defined(__x86_64__) || defined(__i386__)

/* The modes and the like, which are there, and the event anew */
static void set_event(unsigned cpu_type, const struct perfctr_event *event,
		      struct perfctr_cpu_control *control)
{
	unsigned mask = event->unit_mask ? event->unit_mask->default_value : 0;

	switch (cpu_type) {
	case PERFCTR_X86_INTEL_P5:
	case PERFCTR_X86_INTEL_P5MMX:
	case PERFCTR_X86_CYRIX_MII:
		control->evntsel[0] &= 0xFFFFFFC0;
		control->evntsel[0] |= event->evntsel;
		break;
	case PERFCTR_X86_INTEL_P4:
	case PERFCTR_X86_INTEL_P4M2:
	case PERFCTR_X86_INTEL_P4M3:
		control->evntsel[0] &= ~(7 << 13);
		control->evntsel[0] |= event->evntsel >> 8 << 13;
		control->p4.escr[0] &= 0xF;
		control->p4.escr[0] |= (event->evntsel & 0x3F) << 25 | mask << 9;
		break;
	default:
		control->evntsel[0] &= 0xFFFF0000;
		control->evntsel[0] |= event->evntsel | mask << 8;
	}
}

#else

static void set_event(unsigned cpu_type, const struct perfctr_event *event,
		      struct perfctr_cpu_control *control)
{
	(void)cpu_type;
	control->evntsel[0] = event->evntsel;
}

#endif

int main(void)
{
	const struct perfctr_event_set *set, *included;
	const struct perfctr_event *event;
	struct vperfctr_control control;
	struct perfctr_info info;
	struct vperfctr *self;
	unsigned pmc, n = 0;

	self = vperfctr_open();
	if (!self || vperfctr_info(self, &info) < 0)
		fail("vperfctr_open");
	set = perfctr_cpu_event_set(info.cpu_type);
	if (!set)
		return NOT_SUPPORTED;
	for (included = set; included; included = included->include)
		n += included->nevents;
	printf("type %u\nevents %u\ncode %u\n", set->cpu_type, n, codes[0]);
	memset(&control, 0, sizeof(control));
	event = find_instructions(set);
	if (!event || set_instructions(info.cpu_type, &control.cpu_control, 0, 0) < 0)
		return NOT_SUPPORTED;
	for (pmc = 0; !(event->counters_set & (1U << pmc)); pmc++)
		;
	control.cpu_control.tsc_on = 1;
	control.cpu_control.nractrs = 1;
	control.cpu_control.pmc_map[0] = pmc;
	set_event(info.cpu_type, event, &control.cpu_control);
	if (vperfctr_control(self, &control) < 0)
		fail("vperfctr_control");
	printf("instructions %llu\n", count(self, many) - count(self, one));
	vperfctr_close(self);
	return 0;
}
