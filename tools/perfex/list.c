// SPDX-License-Identifier: GPL-2.0
/* --list: the events by name, and which of them this processor has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfex.h"

/* Of perf's events only perf knows which ones there are, so each is tried. */
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
	if (!(ctr->flags & PERFCTR_CTR_PERF))
		return "yes";
	control.ctr[0].flags |= PERFCTR_CTR_USER;
	if (!_vperfctr_control_native(fd, &control))
		return "yes";
	/* perf does not know it on a CPU. */
	return errno == EINVAL || errno == EXDEV ? "no" : "?";
}

/* Is the event in the table, by this name or another? */
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

/* Those that only the kernel has a name for */
static void print_kernel_events(int fd, const struct perfctr_info *info,
				const struct perfctr_event_set *set)
{
	char **names = perfctr_kernel_event_names();
	struct perfctr_ctr_control ctr;
	unsigned int i;

	for (i = 0; names && names[i]; i++)
		if (!perfctr_event_parse(info->cpu_type, names[i], &ctr) &&
		    !is_in_table(info, set, &ctr))
			printf("%-28s %-4s %s\n", names[i], whether_here(fd, info, &ctr),
			       "the kernel's name for an event of this processor");
	free((void *)names);
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
	printf("%-28s %-4s %s\n", "event", "here", "");
	for (i = 0; i < set->nevents; i++) {
		if (perfctr_event_parse(info->cpu_type, set->events[i].name, &ctr) < 0)
			continue;
		printf("%-28s %-4s %s\n", set->events[i].name, whether_here(fd, info, &ctr),
		       set->events[i].description);
	}
	print_kernel_events(fd, info, set);
	if (fd >= 0)
		close(fd);
	if (perfctr_event_parse(info->cpu_type, "r0", &ctr) == 0)
		printf("%-28s %-4s %s\n", "rHEX",
		       perfctr_event_available(info, &ctr) ? "?" : "no",
		       "a raw event, by its number in the processor's manual");
	printf("\nWith :u counted in user mode, :k in kernel mode, :uk in both.\n");
}
