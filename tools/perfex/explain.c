// SPDX-License-Identifier: GPL-2.0
/* What is wrong, and what to do about it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "perfex.h"

void explain(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "perfex: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
}

/* Would modprobe find the module for the kernel that runs? */
static bool module_installed(const char *release)
{
	char path[256], line[4096];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, "/perfctr.ko") != NULL;
	fclose(f);
	return found;
}

void explain_device(int error)
{
	struct utsname uts;

	switch (error) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		if (uname(&uts) < 0)
			memset(&uts, 0, sizeof(uts));
		if (module_installed(uts.release))
			explain("there is no " PERFCTR_DEVICE ": the module is not loaded.\n"
				"Load it as root: modprobe perfctr");
		else
			explain("there is no " PERFCTR_DEVICE ": the module is neither loaded nor installed for\n"
				"the kernel that runs, %s. Install it (README.md tells how, with DKMS), then\n"
				"load it as root: modprobe perfctr", uts.release);
		break;
	case EEXIST:
		explain("this program is counted already, by a perfex around this one say.\n"
			"Let that one count only what it starts itself: perfex --self");
		break;
	case EACCES:
	case EPERM:
		explain("you may not open " PERFCTR_DEVICE ". Who may is up to the administrator; see its\n"
			"owner and mode (ls -l " PERFCTR_DEVICE ") and the udev rules for it");
		break;
	case EPROTO:
		explain("the module that is loaded speaks another version of the interface.\n"
			"Install the module and perfex of one version");
		break;
	case ENOTTY:
		explain(PERFCTR_DEVICE " is not the device of perfctr");
		break;
	default:
		explain(PERFCTR_DEVICE ": %s", strerror(error));
		break;
	}
}

void explain_event(const struct perfctr_info *info, const char *spec, int error)
{
	const struct perfctr_event_set *set = perfctr_cpu_event_set(info->cpu_type);
	const char *names[5];
	size_t i, n;

	if (error == EINVAL) {
		explain("'%s': after the colon stands u (user mode), k (kernel mode) or uk;\n"
			"a raw event is r and up to 16 hexadecimal digits; on x86 a slash and as many\n"
			"may follow, the value of the event's own register", spec);
		return;
	}
	if (!set || !set->nevents) {
		explain("no event '%s': of this processor (%s) this version of\n"
			"perfctr counts only the clock, which is always counted. Leave out -e",
			spec, perfctr_info_cpu_name(info));
		return;
	}
	explain("no event has the name '%s'", spec);
	n = perfctr_event_suggest(info->cpu_type, spec, names, sizeof(names) / sizeof(names[0]));
	if (n) {
		fprintf(stderr, "Did you mean");
		for (i = 0; i < n; i++) {
			if (i)
				fputs(i + 1 < n ? "," : " or", stderr);
			fprintf(stderr, " %s", names[i]);
		}
		fprintf(stderr, "?\n");
	}
	fprintf(stderr, "perfex --list shows all names\n");
}

void explain_missing_event(const struct perfctr_info *info, const char *name)
{
	explain("this processor (%s) cannot count %s.\n"
		"perfex --list shows what it can count", perfctr_info_cpu_name(info), name);
}

void explain_too_many(const struct perfctr_info *info, unsigned int n)
{
	explain("%u events are more than this processor counts at a time, which is %u.\n"
		"Run the program once for each part of them", n, info->nrctrs);
}

const char *why_busy(const struct perfctr_info *info, unsigned int owner)
{
	switch (owner) {
	case PERFCTR_OWNER_PERF:
		return "the counters are taken, probably by perf_events.\n"
			"Stop other profilers (perf, systemd units that use it), then try again";
	case PERFCTR_OWNER_WATCHDOG:
		return "the counters are taken, probably by the NMI watchdog of the kernel.\n"
			"Turn it off as root: sysctl kernel.nmi_watchdog=0";
	case PERFCTR_OWNER_FIRMWARE:
		/* It asks nobody there, and so it has all. */
		if (info->cpu_type < PERFCTR_RISCV_GENERIC)
			return "the counters are taken, probably by the firmware: they count, though nobody\n"
				"in the kernel has them. Its set-up may have a switch for that";
		return "the firmware has no counter left for these events: it has fewer than are\n"
			"asked for, or another user (perf?) has them. Try fewer events, or --info";
	case PERFCTR_OWNER_PERFCTR:
		/* That is all of which there is but one there. */
		if (info->cpu_type < PERFCTR_RISCV_GENERIC)
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

const char *why_unbound(void)
{
	return "the cores of this processor are of several types, which do not count the same.\n"
		"Keep the program on cores of one type: taskset -c CPUS perfex ...\n"
		"Which CPUs these are say /sys/devices/cpu_core/cpus and /sys/devices/cpu_atom/cpus";
}

static void explain_control(const struct run *run, const struct perfctr_info *info,
			    const struct events *events)
{
	const char *name = run->bad_event < 0 ? NULL : events->event[run->bad_event].name;

	switch (run->error) {
	case EBUSY:
		explain("%s", why_busy(info, run->owner));
		break;
	case EACCES:
		explain("%s%scounting in kernel mode, or --raw-csr, needs a privilege.\n"
			"Count user mode alone (-e EVENT:u), or run perfex as root or with CAP_PERFMON",
			name ? name : "", name ? ": " : "");
		break;
	case EOPNOTSUPP:
		if (name && info->cpu_type < PERFCTR_RISCV_GENERIC)
			explain("%s: the event takes a register of its own, which perfctr cannot set on this\n"
				"processor (%s)", name, perfctr_info_cpu_name(info));
		else if (name)
			explain("%s: this processor cannot restrict the counter to user or to kernel mode.\n"
				"Count both (-e %s:uk), as root or with CAP_PERFMON", name, name);
		else
			explain("this processor cannot count one event on two counters.\n"
				"Run the program once for each of the two");
		break;
	case EXDEV:
		explain("%s", why_unbound());
		break;
	case EIO:
		explain("a CPU has just come whose counters cannot be had. Try again");
		break;
	case EINVAL:
		if (name)
			explain_missing_event(info, name);
		else
			explain("this processor cannot count these events together.\n"
				"Try fewer, or each alone");
		break;
	default:
		explain("%s%scannot count: %s", name ? name : "", name ? ": " : "",
			strerror(run->error));
		break;
	}
}

void explain_run(const struct run *run, char **argv, const struct perfctr_info *info,
		 const struct events *events)
{
	switch (run->stage) {
	case STAGE_FORK:
		explain("cannot start '%s': %s", argv[0], strerror(run->error));
		break;
	case STAGE_OPEN:
		if (run->error == ENOMEM)
			explain("no memory for counters: %s", strerror(run->error));
		else
			explain_device(run->error);
		break;
	case STAGE_CONTROL:
		explain_control(run, info, events);
		break;
	case STAGE_EXEC:
		explain("cannot run '%s': %s", argv[0], strerror(run->error));
		break;
	case STAGE_RUNNING:
		break;
	}
}
