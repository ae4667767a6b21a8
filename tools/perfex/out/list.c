// SPDX-License-Identifier: GPL-2.0
/* Implements --list, which prints the names of events and whether this processor has them. */
#include <errno.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/perfex.h"
#include "count/why.h"
#include "out/list.h"

#define KERNELS_NAME	"the kernel's name for an event of this processor"

/*
 * Returns a word that says whether an event can be counted here. perf does not say which events it
 * can count, so each of its events is tried. On RISC-V every event is tried, as some counters there
 * count all modes together. Their events get "uk".
 */
static const char *whether_here(int fd, const struct perfctr_info *info,
				const struct perfctr_ctr_control *ctr)
{
	struct perfctr_control control = {
		PERFCTR_CONTROL_INIT,
		.source = PERFCTR_SOURCE_ANY,
		.nractrs = 1,
		.ctr = { *ctr },
	};

	if (!perfctr_event_available(info, ctr))
		return "no";
	if (!(ctr->flags & PERFCTR_CTR_PERF) && !IS_RISCV)
		return "yes";
	control.ctr[0].flags |= PERFCTR_CTR_USER;
	if (!_vperfctr_control_native(fd, &control))
		return "yes";
	if (!(ctr->flags & PERFCTR_CTR_PERF))
		return errno == EOPNOTSUPP ? "uk" : "yes";
	/* These errors mean that perf does not know the event, at least on one CPU. */
	return errno == EINVAL || errno == EXDEV ? "no" : "?";
}

static bool is_in_table(const struct perfctr_info *info, const struct perfctr_event_set *set,
			const struct perfctr_ctr_control *ctr)
{
	struct perfctr_ctr_control other;
	unsigned int i;

	for (i = 0; i < set->nevents; i++)
		if (!perfctr_event_parse(info->cpu_type, set->events[i].name, &other) &&
		    !memcmp(ctr, &other, sizeof(other)))
			return true;
	return false;
}

static bool has_name(const struct perfctr_event_set *set, const char *name)
{
	unsigned int i;

	for (i = 0; i < set->nevents; i++)
		if (!strcmp(set->events[i].name, name))
			return true;
	return false;
}

/* Prints a line with the first sentence of the description. */
static void print_event(const char *name, const char *here, const char *description)
{
	const char *end = strstr(description, ". ");

	printf("%-28s %-4s %.*s\n", name, here,
	       (int)(end ? end - description : (ptrdiff_t)strlen(description)), description);
}

/*
 * Prints the cache events of this model, and events that only the kernel or libpfm4 has names for.
 */
static void print_more(int fd, const struct perfctr_info *info, const struct perfctr_event_set *set)
{
	struct perfctr_event_name *names = perfctr_more_event_names();
	struct perfctr_ctr_control ctr;
	unsigned int i;

	for (i = 0; names && names[i].name; i++)
		if (!has_name(set, names[i].name) &&
		    !perfctr_event_parse(info->cpu_type, names[i].name, &ctr) &&
		    (names[i].description || !is_in_table(info, set, &ctr)))
			print_event(names[i].name, whether_here(fd, info, &ctr),
				    names[i].description ?: KERNELS_NAME);
	free(names);
}

/* Returns true if only the table of perfctr 2.6 has names for the events of @cpu_type. */
static bool has_table(unsigned int cpu_type)
{
	switch (IS_X86 ? cpu_type : PERFCTR_X86_GENERIC) {
	case PERFCTR_X86_INTEL_P5: case PERFCTR_X86_INTEL_P5MMX: case PERFCTR_X86_CYRIX_MII:
	case PERFCTR_X86_WINCHIP_C6: case PERFCTR_X86_WINCHIP_2: case PERFCTR_X86_VIA_C3:
	case PERFCTR_X86_INTEL_P4: case PERFCTR_X86_INTEL_P4M2: case PERFCTR_X86_INTEL_P4M3:
		return true;
	default:
		return false;
	}
}

/* Prints each event of the table, with each of its units. */
static void print_table(const struct perfctr_info *info)
{
	const struct perfctr_event_set *set = perfctr_cpu_event_set(info->cpu_type);
	const struct perfctr_unit_mask *mask;
	const struct perfctr_event *event;
	struct perfctr_ctr_control ctr;
	unsigned int i, k;
	const char *text;
	char name[128];

	for (; set; set = set->include) {
		for (i = 0; i < set->nevents; i++) {
			event = &set->events[i];
			if (perfctr_event_parse(info->cpu_type, event->name, &ctr) < 0)
				continue;
			print_event(event->name, perfctr_event_available(info, &ctr) ? "yes" : "no",
				    event->description);
			mask = event->unit_mask;
			for (k = 0; mask && mask->nvalues > 1 && k < mask->nvalues; k++) {
				text = mask->values[k].description;
				(void)snprintf(name, sizeof(name), "%s:%.*s", event->name,
					       (int)strcspn(text, ":"), text);
				text = strchr(text, ':');
				print_event(name, "", text ? text + 2 : "");
			}
		}
	}
}

/* Returns a processor type of this architecture whose events have perf's names. */
static unsigned int usual_type(void)
{
	if (IS_X86)
		return PERFCTR_X86_GENERIC;
	if (IS_PPC)
		return PERFCTR_PPC_7450;
	return IS_RISCV ? PERFCTR_RISCV_SBI : PERFCTR_ARM64_GENERIC;
}

void print_names(void)
{
	struct perfctr_info info = { .cpu_type = usual_type() };
	const struct perfctr_event_set *set = perfctr_event_names(info.cpu_type);
	struct perfctr_event_name *names = perfctr_more_event_names();
	unsigned int i;

	printf("%-28s %-4s\n", "event", "here");
	for (i = 0; i < set->nevents; i++)
		print_event(set->events[i].name, "?", set->events[i].description);
	for (i = 0; names && names[i].name; i++)
		if (!has_name(set, names[i].name))
			print_event(names[i].name, "?", names[i].description ?: KERNELS_NAME);
	free(names);
	printf("\nWith :u counted in user mode, :k in kernel mode, :uk in both.\n"
	       "There is no " PERFCTR_DEVICE " here, so it is not known which of these this processor has.\n");
}

void print_list(const struct perfctr_info *info)
{
	const struct perfctr_event_set *set = perfctr_event_names(info->cpu_type);
	struct perfctr_ctr_control ctr;
	unsigned int i;
	int fd;

	if (!set || !set->nevents || why_no_counters(info)) {
		printf("Of this processor (%s) this version of perfctr counts only the\n"
		       "clock, which is always counted.\n", perfctr_info_cpu_name(info));
		return;
	}
	fd = _vperfctr_open(1);
	printf("%-28s %-4s\n", "event", "here");
	for (i = 0; i < set->nevents; i++) {
		if (perfctr_event_parse(info->cpu_type, set->events[i].name, &ctr) < 0)
			continue;
		print_event(set->events[i].name, whether_here(fd, info, &ctr),
			    set->events[i].description);
	}
	if (has_table(info->cpu_type))
		print_table(info);
	else
		print_more(fd, info, set);
	if (fd >= 0)
		close(fd);
	if (perfctr_event_parse(info->cpu_type, "r0", &ctr) == 0)
		printf("%-28s %-4s %s\n", "rHEX",
		       perfctr_event_available(info, &ctr) ? "?" : "no",
		       "a raw event, by its number in the processor's manual");
	printf("\nWith :u counted in user mode, :k in kernel mode, :uk in both%s.\n",
	       IS_RISCV ? "; \"uk\": in both together only" : "");
}
