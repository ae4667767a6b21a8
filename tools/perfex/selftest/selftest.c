// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the text of the self test, which people can send: what runs here, who has the counters,
 * what the module measured, and whether it counts exactly. The text names no machine and no user.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "count/why.h"
#include "selftest/checks.h"
#include "selftest/cpuid.h"
#include "selftest/info.h"
#include "selftest/kernel_log.h"
#include "selftest/loop.h"
#include "selftest/selftest.h"

/* The following functions print the processor. */

/* Returns true if the self test prints this key of /proc/cpuinfo. A key may have blanks. */
static bool is_wanted(const char *key)
{
	static const char *const keys[] = {
		"vendor_id", "cpu family", "model", "model name", "stepping", "microcode",
		"isa", "uarch", "mvendorid", "marchid", "mimpid",
		"CPU implementer", "CPU variant", "CPU part", "CPU revision",
		"cpu", "revision",
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/*
 * Splits the line at its colon, and cuts off the blanks at the end of the key. Returns the value,
 * or NULL if the line has no colon.
 */
static char *split_line(char *line)
{
	char *value = strchr(line, ':'), *end;

	if (!value)
		return NULL;
	for (end = value; end > line && (end[-1] == '\t' || end[-1] == ' '); end--)
		;
	*end = '\0';
	return value + strspn(value + 1, " ") + 1;
}

/* Prints the lines of the first CPU, and the microcode of other CPUs if it differs. */
static void print_processor(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *value, microcode[64] = "", cpu[16] = "";
	bool first = true;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		value = split_line(line);
		if (!value) {
			first = false;
			continue;
		}
		if (first && is_wanted(line))
			printf(KEY "%s", line, value);
		/* A hypervisor changes costs and counts. */
		if (first && !strcmp(line, "flags") && strstr(value, " hypervisor"))
			printf(KEY "yes\n", "hypervisor");
		if (!strcmp(line, "processor"))
			(void)snprintf(cpu, sizeof(cpu), "%.*s", (int)strcspn(value, "\n"), value);
		if (strcmp(line, "microcode") != 0)
			continue;
		if (!first && strcmp(value, microcode) != 0)
			printf("microcode from CPU %-4s %s", cpu, value);
		(void)snprintf(microcode, sizeof(microcode), "%s", value);
	}
	free(line);
	if (f)
		fclose(f);
}

/* The following functions print who else may have the counters. */

static void print_settings(void)
{
	static const char *const files[][2] = {
		{ "nmi_watchdog", "/proc/sys/kernel/nmi_watchdog" },
		{ "perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid" },
		{ "perf_user_access", "/proc/sys/kernel/perf_user_access" },
		{ "rdpmc", "/sys/bus/event_source/devices/cpu/rdpmc" },
		{ "rdpmc of cpu_core", "/sys/bus/event_source/devices/cpu_core/rdpmc" },
		/* With these parameters, KVM takes all counters without asking. */
		{ "mediated PMU", "/sys/module/kvm/parameters/enable_mediated_pmu" },
		{ "mediated PMU, Intel", "/sys/module/kvm_intel/parameters/enable_mediated_pmu" },
		{ "mediated PMU, AMD", "/sys/module/kvm_amd/parameters/enable_mediated_pmu" },
	};
	char value[32];
	size_t i;
	FILE *f;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		f = fopen(files[i][1], "re");
		if (!f)
			continue;
		if (fgets(value, sizeof(value), f))
			printf(KEY "%.*s\n", files[i][0], (int)strcspn(value, "\n"), value);
		fclose(f);
	}
}

/* The following table has the checks in the order in which they are made. */

static const struct check checks[] = {
#if IS_X86
	{ "Counters and events that CPUID promises", 0, check_promises },
	{ "What the module found as it was loaded", 0, check_load },
#endif
	{ "A read of a counter's register without a claim", 0, check_unclaimed },
	{ "Self-test, a loop of 2000000 instructions in user mode", NEED_COUNT, check_loop },
	{ "The loop on each counter", NEED_NATIVE, check_every_counter },
	{ "Kernel mode on each counter", NEED_NATIVE | NEED_ROOT, check_kernel_mode },
	{ "Events that this processor has", NEED_COUNT, check_events },
#if IS_X86
	{ "Reference cycles against the clock", NEED_NATIVE, check_ref_cycles },
#endif
	{ "Instructions at page faults", NEED_COUNT, check_page_faults },
	{ "Instructions at system calls", NEED_COUNT, check_system_calls },
	{ "Instructions at interrupts", NEED_COUNT, check_ticks },
	{ "The loop by perf, by perfctr and by perf", NEED_COUNT | NEED_PERF, check_beside_perf },
	{ "Perf while perfctr counts, and the reverse", NEED_NATIVE | NEED_PERF, check_exclusion },
	{ "Overflows on each counter, of every 1000 instructions", NEED_NATIVE | NEED_INTERRUPT,
	  check_overflows },
	{ "Overflows after few instructions", NEED_NATIVE | NEED_INTERRUPT, check_short_periods },
	{ "The loop while a counter goes over its top", NEED_NATIVE | NEED_INTERRUPT, check_wrap },
#if IS_X86
	{ "Events that some counters do not count", NEED_NATIVE, check_constraints },
	{ "Events that spoil another hyperthread's counts", NEED_NATIVE, check_hyperthreads },
	{ "Registers that somebody else may write to", NEED_NATIVE, check_registers_kept },
	{ "A read in user mode", NEED_NATIVE | NEED_RDPMC, check_read_cost },
#endif
	{ "A CPU that was off", NEED_ROOT | NEED_COUNT | NEED_HOTPLUG, check_hotplug },
	{ "After the machine slept", NEED_ROOT | NEED_COUNT | NEED_SLEEP, check_sleep },
	{ "All runs of loops of known length", NEED_COUNT, check_runs },
};

/*
 * Binds perfex to the present CPU, so that all checks run on one type of core and with the same
 * interrupts. Returns the CPU.
 */
static unsigned int stay(void)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&one);
	CPU_SET((unsigned int)cpu, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
	return (unsigned int)cpu;
}

static void find_counting(struct machine *m)
{
	struct perfctr_ctr_control ctr;
	struct counting c;

	m->source = PERFCTR_SOURCE_ANY;
	if (perfctr_event_parse(m->info->cpu_type, "instructions:u", &ctr) < 0 ||
	    !perfctr_event_available(m->info, &ctr)) {
		m->why_not = "perfctr counts no instructions here";
		return;
	}
	if (!start(&c, PERFCTR_SOURCE_ANY, &ctr)) {
		m->why_not = why_not_started(&c);
	} else {
		m->has |= NEED_COUNT;
		(void)_vperfctr_read_control_native(c.fd, &c.control);
		m->source = c.control.source;
		stop(&c);
	}
	if (m->source == PERFCTR_SOURCE_NATIVE) {
		m->has |= NEED_NATIVE;
		return;
	}
	/* The module's own driver does not count, so find out why. */
	if (start(&c, PERFCTR_SOURCE_NATIVE, &ctr))
		stop(&c);
	else if (c.error == EBUSY && c.control.owner == PERFCTR_OWNER_FIRMWARE)
		m->firmware = true;
	if (!m->why_not)
		m->why_not = why_no_driver(m->info);
	if (!m->why_not)
		m->why_not = m->info->cpu_features & PERFCTR_FEATURE_NATIVE ?
			     why_not_started(&c) :
			     "the module has no counters of its own here";
}

static void look_at_machine(struct machine *m)
{
	struct counting perf;

	m->cpu = stay();
	find_counting(m);
	if (!geteuid())
		m->has |= NEED_ROOT;
	if (m->how->hotplug)
		m->has |= NEED_HOTPLUG;
	if (m->how->sleep)
		m->has |= NEED_SLEEP;
	if (m->info->cpu_features & PERFCTR_FEATURE_PCINT)
		m->has |= NEED_INTERRUPT;
	if (m->info->cpu_features & PERFCTR_FEATURE_RDPMC)
		m->has |= NEED_RDPMC;
	/* EBUSY means that the counter is taken, and not that perf is forbidden. */
	if (start_perf(&perf, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) ||
	    perf.error == EBUSY)
		m->has |= NEED_PERF;
	stop(&perf);
}

void selftest_print(const struct perfctr_info *info, const struct selftest_options *how)
{
	struct machine m = { .info = info, .how = how };
	struct utsname uts;

	printf("perfctr selftest\n\n");
	printf(KEY PERFEX_VERSION "\n", "perfex");
	printf(KEY LIBPERFCTR_VERSION "\n", "library");
	if (!uname(&uts))
		printf(KEY "%s %s %s\n", "kernel", uts.sysname, uts.release, uts.machine);
	print_processor();
	print_info(info);
	print_settings();
#if IS_X86
	print_cpuid();
	print_costs();
#endif
	look_at_machine(&m);
	if (info->cpu_features & PERFCTR_FEATURE_HYBRID)
		printf("\nThe checks are made on CPU %u, and hold for its type of core.\n", m.cpu);
	make_checks(checks, sizeof(checks) / sizeof(checks[0]), &m);
	print_verdict(&m);
	printf("\n%s\n", SEND);
}
