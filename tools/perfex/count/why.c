// SPDX-License-Identifier: GPL-2.0
/* Says why something cannot be counted. */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/line.h"
#include "base/perfex.h"
#include "count/why.h"

const char *why_no_driver(const struct perfctr_info *info)
{
	switch (info->no_counters) {
	case PERFCTR_NO_COUNTERS_NONE:
		return NULL;
	case PERFCTR_NO_COUNTERS_PROCESSOR:
		return "the module has no driver for the counters of this processor";
	case PERFCTR_NO_COUNTERS_VERSION:
		return "this processor's performance monitoring is of version 6 or later, where perf_events\n"
			"could not be kept out of the counters";
	case PERFCTR_NO_COUNTERS_TRIAL:
		return "none of the counters counted a loop of known length as the module was loaded:\n"
			"a hypervisor or the firmware may keep them";
	case PERFCTR_NO_COUNTERS_REGISTERS:
		return "its registers are missing: a hypervisor or an emulator may not have them";
	default:
		return "the module says why, but in a way that is newer than this perfex";
	}
}

const char *why_no_counters(const struct perfctr_info *info)
{
	return info->cpu_features & PERFCTR_FEATURE_SHARED ? NULL : why_no_driver(info);
}

/* Returns a text for @reason, or NULL if the reason alone does not explain the refusal. */
static const char *why_so_few(unsigned int reason)
{
	switch (reason) {
	case PERFCTR_REASON_HALF:
		return "without a privilege perfctr takes at most half of the counters through perf_events.\n"
			"Try fewer events, or count as root or with CAP_PERFMON";
	case PERFCTR_REASON_ONLY:
		return "there is one counter for this event, and it is left to the users of perf_events\n"
			"unless you count as root or with CAP_PERFMON";
	case PERFCTR_REASON_ROOM:
		return "all users together count too many different events through perf_events.\n"
			"Try fewer events, or wait until others are done";
	case PERFCTR_REASON_SOURCE:
		return "other users of perfctr count by the other source, and this processor's counters\n"
			"are of one source at a time. Leave out --source, or wait until they are done";
	case PERFCTR_REASON_CPUS:
		return "somebody counts CPUs (perfex -a, perhaps) by perfctr's own driver, which has the\n"
			"counters for nobody else then. Wait until that is done";
	case PERFCTR_REASON_THREADS:
		return "threads are counted by perfctr's own driver, which cannot count CPUs as well.\n"
			"Wait until that is done";
	case PERFCTR_REASON_MEDIATED:
		return "a virtual machine has the processor's counters for itself, as KVM's parameter\n"
			"enable_mediated_pmu is on. Leave out --source, or wait until it has ended";
	default:
		return NULL;
	}
}

const char *why_busy(unsigned int owner, unsigned int reason)
{
	const char *few = why_so_few(reason);

	if (few)
		return few;
	switch (owner) {
	case PERFCTR_OWNER_PERF:
		return "the counters are taken, probably by perf_events.\n"
			"Stop other profilers (perf, systemd units that use it), then try again";
	case PERFCTR_OWNER_WATCHDOG:
		return "the counters are taken, probably by the NMI watchdog of the kernel.\n"
			"Turn it off as root: sysctl kernel.nmi_watchdog=0";
	case PERFCTR_OWNER_FIRMWARE:
		/* On x86, firmware takes the counters without asking the kernel. */
		if (IS_X86)
			return "the counters are taken, probably by the firmware: they count, though nobody\n"
				"in the kernel has them. Its set-up may have a switch for that";
		return "the firmware has no counter left for these events: it has fewer than are\n"
			"asked for, or another user (perf?) has them. Try fewer events, or --info";
	case PERFCTR_OWNER_PERFCTR:
		/* On x86, users of perfctr compete only for an event's register. */
		if (IS_X86)
			return "other users of perfctr count with another value of the event's register (after\n"
				"the slash), of which there can be one at a time. Wait until they are done";
		return "the counters are taken by other users of perfctr.\n"
			"Try fewer events, or wait until they are done";
	case PERFCTR_OWNER_HOLDER:
		return "the counters of the program are already programmed by another open file";
	default:
		return "the counters are taken, and the kernel does not know by whom.\n"
			"Try fewer events, or stop other profilers";
	}
}

const char *why_zero(const struct perfctr_info *info)
{
	/* The module found this out when it was loaded, but perf_events may count nevertheless. */
	if (info->no_counters == PERFCTR_NO_COUNTERS_TRIAL ||
	    info->no_counters == PERFCTR_NO_COUNTERS_REGISTERS)
		return why_no_driver(info);
	return "a hypervisor, the firmware or another program may keep the counters from counting.\n"
	       "perfex selftest tells more";
}

const char *why_unbound(void)
{
	return "the cores of this processor are of several types, which do not count the same.\n"
		"Keep the program on cores of one type: taskset -c CPUS perfex ...\n"
		"Which CPUs these are say /sys/devices/cpu_core/cpus and /sys/devices/cpu_atom/cpus";
}

/*
 * Returns the command by which root forbids user mode to read perf's counters. It writes to a
 * setting on arm64, and to an attribute on x86. The attribute's path is different on hybrid
 * processors.
 */
static const char *how_to_hide(void)
{
	if (!access("/proc/sys/kernel/perf_user_access", F_OK))
		return "sysctl kernel.perf_user_access=0";
	if (!access("/sys/bus/event_source/devices/cpu_core/rdpmc", F_OK))
		return "echo 0 > /sys/bus/event_source/devices/cpu_core/rdpmc";
	return "echo 0 > /sys/bus/event_source/devices/cpu/rdpmc";
}

const char *why_open(void)
{
	static char text[768];

	if (IS_PPC)
		return "any program can read perf_events' counters on this processor, and so what you count.\n"
			"To count nevertheless, as root:\n"
			"  echo 1 > /sys/module/perfctr/parameters/shared_open (that discloses it)\n"
			"or count with CAP_PERFMON";
	(void)snprintf(text, sizeof(text),
		       "any user who has mapped an event of perf_events' could read these counters, and so\n"
		       "what you count. To count nevertheless, do one of these as root:\n"
		       "  sysctl kernel.perf_event_paranoid=3 (only kernels that have this level, as Debian's,\n"
		       "    then keep all others from perf_events)\n"
		       "  %s\n"
		       "  echo 1 > /sys/module/perfctr/parameters/shared_open (that discloses it)\n"
		       "or count with CAP_PERFMON", how_to_hide());
	return text;
}

const char *which_privilege(void)
{
	static char text[128];
	char level[16];

	first_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
	(void)snprintf(text, sizeof(text),
		       "root, CAP_PERFMON, or kernel.perf_event_paranoid of at most 1%s%s%s",
		       *level ? " (it is " : "", level, *level ? ")" : "");
	return text;
}
