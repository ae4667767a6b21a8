// SPDX-License-Identifier: GPL-2.0
/* What is wrong, and what to do about it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/perfex.h"
#include "base/quote.h"
#include "count/counts.h"
#include "count/explain.h"

void explain(const char *format, ...)
{
	char *text;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	fprintf(stderr, "perfex: ");
	plain_lines(stderr, n < 0 ? "no memory is left" : text);
	fprintf(stderr, "\n");
	if (n >= 0)
		free(text);
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

/* The first line of a file, without its end. What cannot be read is empty. */
static void first_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, size, f))
		line[0] = '\0';
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
}

/* Does the kernel load modules only if they are signed? Lockdown, as with Secure Boot, means that too. */
static bool signed_only(void)
{
	char enforced[4], lockdown[64];

	first_line("/sys/module/module/parameters/sig_enforce", enforced, sizeof(enforced));
	first_line("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	return enforced[0] == 'Y' || (lockdown[0] && strncmp(lockdown, "[none]", 6) != 0);
}

/* There is no device, and the module is not loaded. */
static void explain_module(const char *release)
{
	bool installed = module_installed(release);

	if (installed && signed_only())
		explain("there is no " PERFCTR_DEVICE ": the module is not loaded. This kernel loads signed modules only\n"
			"(Secure Boot, lockdown). If modprobe perfctr says \"Key was rejected by service\", enrol the\n"
			"key that dkms signs with: mokutil --import /var/lib/dkms/mok.pub, then boot (perfctr(4))");
	else if (installed)
		explain("there is no " PERFCTR_DEVICE ": the module is not loaded.\n"
			"Load it as root: modprobe perfctr");
	else if (!access("/var/lib/dkms/perfctr", F_OK))
		explain("there is no " PERFCTR_DEVICE ": dkms has the module, but not for the kernel that runs, %s.\n"
			"Build it as root, or hear why it cannot be built: dkms install perfctr/" PERFEX_VERSION, release);
	else
		explain("there is no " PERFCTR_DEVICE ": the module is neither loaded nor installed for\n"
			"the kernel that runs, %s. Install it (README.md tells how, with DKMS), then\n"
			"load it as root: modprobe perfctr", release);
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
		if (!access("/sys/module/perfctr", F_OK))
			explain("the module is loaded, but there is no " PERFCTR_DEVICE " here. A container must be\n"
				"given the device: docker run --device " PERFCTR_DEVICE);
		else
			explain_module(uts.release);
		break;
	case EEXIST:
		explain("this program is counted already, by a perfex around this one say.\n"
			"Let that one count only what it starts itself: perfex --self");
		break;
	case EPERM:
		explain(PERFCTR_DEVICE " may not be opened here. A container must be given the device, and\n"
			"not the file alone: docker run --device " PERFCTR_DEVICE);
		break;
	case EACCES:
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

/* "Did you mean a, b or c?", if there is anything near; with @units, among events and their units. */
static void suggest(const struct perfctr_info *info, const char *spec, bool units)
{
	char **names = perfctr_event_suggest(info->cpu_type, spec, 5);
	const char *before = NULL;
	size_t i;

	for (i = 0; names && names[i]; i++) {
		if (units && !strchr(names[i], ':'))
			continue;
		if (before)
			fprintf(stderr, "%s %s", before, names[i]);
		else
			fprintf(stderr, "Did you mean %s", names[i]);
		before = names[i + 1] && names[i + 2] ? "," : " or";
	}
	if (before)
		fprintf(stderr, "?\n");
	free((void *)names);
}

/* r and nothing but hexadecimal digits, or x86's two such numbers */
static bool looks_raw(const char *spec)
{
	size_t length = strcspn(spec, ":");

	return (*spec == 'r' || *spec == 'R') && strspn(spec + 1, "0123456789abcdefABCDEF/") == length - 1;
}

/* The name is known, or that of a raw event, or one of libpfm4's up to its first colon. */
static void explain_syntax(const struct perfctr_info *info, const char *spec)
{
	struct perfctr_ctr_control ctr;
	const char *colon = strchr(spec, ':');
	char *name = strndup(spec, strcspn(spec, ":"));

	if (name && colon && !perfctr_event_parse(info->cpu_type, name, &ctr)) {
		explain("'%s': '%s' is no modifier, and no unit of this event. Behind the last colon\n"
			"stands u (user mode), k (kernel mode) or uk (both)", spec, colon + 1);
		suggest(info, spec, true);
	} else if (looks_raw(spec)) {
		explain("'%s': a raw event is r and up to 16 hexadecimal digits; on x86 a slash and as\n"
			"many may follow, the value of the event's own register", spec);
	} else {
		explain("'%s': libpfm4 knows the event %s, but not with what stands behind its name:\n"
			"there are a colon and a unit of the event, and :u, :k or :uk at the end", spec,
			name ?: spec);
		suggest(info, spec, true);
		fprintf(stderr, "perfex --list shows each with its units\n");
	}
	free(name);
}

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

/* Names of perf's for what no counter of the processor counts, and how perfex has it */
static const char *software_event(const char *spec)
{
	static const char always[] = "perfex tells it always, without -e";
	static const char page_faults[] = "perfex tells all page faults, and those with input or output,\n"
					  "always, without -e";
	static const struct {
		const char *name, *answer;
	} events[] = {
		{ "task-clock", always }, { "cpu-clock", always }, { "duration_time", always },
		{ "user_time", always }, { "system_time", always },
		{ "context-switches", always }, { "cs", always },
		{ "cpu-migrations", always }, { "migrations", always },
		{ "page-faults", page_faults }, { "faults", page_faults },
		{ "minor-faults", page_faults }, { "major-faults", page_faults },
		{ "alignment-faults", "perfctr does not count it" },
		{ "emulation-faults", "perfctr does not count it" },
		{ "bpf-output", "perfctr does not count it" },
		{ "cgroup-switches", "perfctr does not count it" },
		{ "dummy", "perfctr does not count it" },
	};
	size_t i, length = strcspn(spec, ":");

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strlen(events[i].name) == length && !strncasecmp(spec, events[i].name, length))
			return events[i].answer;
	return NULL;
}

void explain_event(const struct perfctr_info *info, const char *spec, int error)
{
	const char *why = why_no_counters(info), *software = software_event(spec);
	const struct perfctr_event_set *set = perfctr_event_names(info->cpu_type);

	if (!*spec || *spec == ':') {
		explain("an event has no name%s%s. Is there a comma too many?", *spec ? " before " : "",
			spec);
		return;
	}
	if (error == EINVAL) {
		explain_syntax(info, spec);
		return;
	}
	if (error == EOPNOTSUPP) {
		explain("'%s': the name is known, but this model of processor (%s) has no\n"
			"such event, or none that a counter can be given a number for. perfex --list\n"
			"shows those that it has", spec, perfctr_info_cpu_name(info));
		return;
	}
	if (software) {
		explain("'%s' is no event of the processor, but counted by the kernel: %s", spec, software);
		return;
	}
	if (why) {
		explain("no event '%s': this processor (%s) has no counters here, but\n"
			"the clock, which is always counted. Leave out -e. The reason:\n%s",
			spec, perfctr_info_cpu_name(info), why);
		return;
	}
	if (!set || !set->nevents) {
		explain("no event '%s': of this processor (%s) this version of\n"
			"perfctr counts only the clock, which is always counted. Leave out -e",
			spec, perfctr_info_cpu_name(info));
		return;
	}
	explain("no event has the name '%s'", spec);
	suggest(info, spec, false);
	fprintf(stderr, "perfex --list shows all names\n");
}

#define EACH_PART	"Run the program once for each part of them, as perfex --passes does"

void explain_missing_event(const struct perfctr_info *info, const char *name)
{
	explain("this processor (%s) cannot count %s.\n"
		"perfex --list shows what it can count", perfctr_info_cpu_name(info), name);
}

void explain_too_many(const struct perfctr_info *info, unsigned int n)
{
	explain("%u events are more than this processor counts at a time, which is %u.\n" EACH_PART, n,
		info->nrctrs);
}

void explain_no_topdown(const struct perfctr_info *info, unsigned int source)
{
	if (info->cpu_features & PERFCTR_FEATURE_TOPDOWN && source == PERFCTR_SOURCE_SHARED)
		explain("TopDown's metrics are counted by perfctr's own driver alone: perf_events counts them in\n"
			"groups with slots, and what it counts for perfctr has no groups. Leave out\n"
			"--source shared");
	else
		explain("this processor (%s) has no TopDown metrics here. Intel's\n"
			"have them from Ice Lake on, but not in most virtual machines, and perfctr has none of\n"
			"hybrid processors", perfctr_info_cpu_name(info));
}

/* The reason alone tells; or NULL. */
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
		/* It asks nobody there, and so it has all. */
		if (IS_X86)
			return "the counters are taken, probably by the firmware: they count, though nobody\n"
				"in the kernel has them. Its set-up may have a switch for that";
		return "the firmware has no counter left for these events: it has fewer than are\n"
			"asked for, or another user (perf?) has them. Try fewer events, or --info";
	case PERFCTR_OWNER_PERFCTR:
		/* That is all of which there is but one there. */
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
	/* What the module saw as it was loaded, if perf_events has them nevertheless */
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
 * How to keep user mode from perf's counters: arm64's setting, or x86's attribute of the kernel's
 * driver, which has another name on hybrid processors
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

/*
 * Counters count all modes, as on x86 WinChips' and VIA's C3's do. Without a driver of our own there is no
 * hardware counter to speak of, and perf_events have what they have.
 */
static bool has_no_modes(const struct perfctr_info *info)
{
	return IS_X86 && info->counters && !(info->cpu_features & PERFCTR_FEATURE_FILTER);
}

static void explain_modeless(const struct perfctr_info *info, const char *name)
{
	explain("%s%sthis processor (%s) counts user and kernel mode together,\n"
		"with no modifier or with :uk. That needs a privilege:\n"
		"%s;\nor that the module's parameter `user_read' is `open'", name ? name : "",
		name ? ": " : "", perfctr_info_cpu_name(info), which_privilege());
}

static void explain_privilege(const char *name, unsigned int modes, const struct how *how)
{
	if (name && modes == PERFCTR_CTR_USER)
		explain("%s: this event may count other threads as well, which needs a privilege:\n%s",
			name, which_privilege());
	else if (how->raw_csr)
		explain("--raw-csr needs a privilege, since the registers tell of others too:\n%s",
			which_privilege());
	else
		explain("%s%scounting in kernel mode needs a privilege:\n%s.\n"
			"Or count user mode alone: -e %s:u", name ? name : "", name ? ": " : "",
			which_privilege(), name ? name : "EVENT");
}

/* "0, 1, fixed 0" */
static void name_counters(uint64_t counters, char *buf, size_t size)
{
	const char *between = "";
	unsigned int n;
	size_t used = 0;

	*buf = '\0';
	for (n = 0; n < 64; n++) {
		if (!(counters >> n & 1))
			continue;
		snprintf(buf + used, size - used, n < X86_FIXED ? "%s%u" : "%sfixed %u", between,
			 n < X86_FIXED ? n : n - X86_FIXED);
		used += strlen(buf + used);
		between = ", ";
	}
}

/* Each of them can be counted alone. */
static void explain_together(const struct run *run, const struct perfctr_info *info,
			     const struct events *events)
{
	struct perfctr_ctr_control ctr[PERFCTR_MAX_CTRS];
	unsigned int i, needed, there;
	char counters[512];

	for (i = 0; i < events->n; i++)
		ctr[i] = events->event[i].ctr;
	needed = perfctr_event_demand(info, ctr, events->n, &there);
	if (needed > there) {
		explain("%u events need %s counters, and this processor has %u.\n" EACH_PART, needed,
			HAS_ONE_SOURCE ? "general-purpose" : "programmable", there);
	} else if (run->possible && run->refused < events->n) {
		name_counters(run->possible, counters, sizeof(counters));
		explain("this processor cannot count these events together: %s can be counted on\n"
			"these counters only, which the others need: %s.\n" EACH_PART,
			events->event[run->refused].name, counters);
	} else {
		explain("this processor cannot count these events together: some of them can be counted\n"
			"on the same few of its counters only.\n" EACH_PART);
	}
}

/* The other source could do it, or the module's parameter allows no other. */
static void explain_source(const char *name, const struct how *how)
{
	if (how->source == PERFCTR_SOURCE_NATIVE)
		explain("%s%sonly perf_events counts this, or the module's parameter `source' allows\n"
			"nothing else. Leave out --source native", name ? name : "", name ? ": " : "");
	else
		explain("only perfctr's own driver can do this, or the module's parameter `source' allows\n"
			"nothing else. Leave out --source shared");
}

/* What perfctr's own driver does not count. Without --source perf_events was asked too. */
static const char *how_by_perf(const struct how *how)
{
	return how->source == PERFCTR_SOURCE_NATIVE ?
	       "perf_events may have a way: leave out --source" : "Nor does perf_events count it here";
}

static void explain_unsupported(const struct run *run, const char *name,
				const struct perfctr_info *info, const struct how *how)
{
	if (run->reason == PERFCTR_REASON_SOURCE)
		explain_source(name, how);
	else if (run->reason == PERFCTR_REASON_MODEL)
		explain("%s: perfctr does not know which counters of this processor (%s)\n"
			"can count it, as its model is not known. %s",
			name, perfctr_info_cpu_name(info), how_by_perf(how));
	else if (run->reason == PERFCTR_REASON_ERRATUM && IS_PPC)
		explain("by an erratum of this processor (%s) the counters' interrupts may crash\n"
			"the kernel. Who takes that risk loads the module with unsafe_interrupts=1",
			perfctr_info_cpu_name(info));
	else if (run->reason == PERFCTR_REASON_ERRATUM)
		explain("%s: an erratum of this processor makes this event count wrong, or change\n"
			"what others count. %s", name, how_by_perf(how));
	else if (how->source == PERFCTR_SOURCE_SHARED &&
		 !(info->cpu_features & PERFCTR_FEATURE_SHARED))
		explain("perf_events counts nothing on this machine. Leave out --source shared");
	else if (has_no_modes(info))
		explain_modeless(info, name);
	else if (name && IS_X86)
		explain("%s: the event takes a register of its own, which perfctr cannot set on this\n"
			"processor (%s)", name, perfctr_info_cpu_name(info));
	else if (name)
		explain("%s: this processor cannot restrict the counter to user or to kernel mode.\n"
			"Count both: -e %s:uk. That needs %s", name, name, which_privilege());
	else
		explain("this processor cannot count one event on two counters.\n" EACH_PART);
}

static void explain_control(const struct run *run, const struct perfctr_info *info,
			    const struct events *events, const struct how *how)
{
	const char *name = run->bad_event < 0 ? NULL : events->event[run->bad_event].name;

	/* Those that the user chose are all there. */
	if (how->exact && run->refused == events->n && run->error == EINVAL) {
		explain("--exact needs a counter for interrupts beside those of the events, and none that\n"
			"can count them is left. Try fewer events");
		return;
	}
	switch (run->error) {
	case EBUSY:
		explain("%s%s%s", name ? name : "", name ? ": " : "",
			why_busy(run->owner, run->reason));
		break;
	case EACCES:
		if (run->reason == PERFCTR_REASON_OPEN)
			explain("%s", why_open());
		else if (has_no_modes(info))
			explain_modeless(info, name);
		else
			explain_privilege(name, name ? mode(&events->event[run->bad_event], run) : 0,
					  how);
		break;
	case EOPNOTSUPP:
		explain_unsupported(run, name, info, how);
		break;
	case EXDEV:
		if (name && !(info->cpu_features & PERFCTR_FEATURE_HYBRID))
			explain("%s: perf_events does not count this event on each CPU where the program may\n"
				"run. perfex --list shows what it counts on all of them", name);
		else
			explain("%s", why_unbound());
		break;
	case EIO:
		explain("a CPU has just come whose counters cannot be had. Try again");
		break;
	case EINVAL:
		if (name && run->reason == PERFCTR_REASON_SLOTS)
			explain("%s: a metric of TopDown is a share of the slots, which must be counted with it, in\n"
				"the same modes: -e slots,%s. Or take --topdown", name, name);
		else if (name && run->reason == PERFCTR_REASON_TRIAL)
			explain("%s: the processor says that it does not count this event, or a known loop was\n"
				"counted wrong by it: a hypervisor may filter events. Count another event", name);
		else if (run->bad_event >= 0)
			explain_missing_event(info, name);
		else
			explain_together(run, info, events);
		break;
	default:
		explain("%s%scannot count: %s", name ? name : "", name ? ": " : "",
			strerror(run->error));
		break;
	}
}

/* The program's file, as execvp() looks for it; to be freed, NULL if there is none */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *copy, *rest, *dir, *file = NULL;

	if (!*name)
		return NULL;
	if (strchr(name, '/'))
		return access(name, F_OK) ? NULL : strdup(name);
	copy = path ? strdup(path) : NULL;
	rest = copy;
	while (rest && !file) {
		dir = strsep(&rest, ":");
		if (asprintf(&file, "%s/%s", *dir ? dir : ".", name) < 0)
			file = NULL;
		if (file && access(file, F_OK)) {
			free(file);
			file = NULL;
		}
	}
	free(copy);
	return file;
}

/* The kernel says ENOENT of an interpreter as well. Returns whether it is that one. */
static bool explain_interpreter(const char *name)
{
	char line[256], *path = find_program(name), *interpreter;
	size_t len;

	if (!path)
		return false;
	first_line(path, line, sizeof(line));
	free(path);
	if (strncmp(line, "#!", 2) != 0) {
		explain("cannot run '%s': the loader that it names is missing. It may be a program for\n"
			"another system", name);
		return true;
	}
	interpreter = line + 2 + strspn(line + 2, " \t");
	len = strcspn(interpreter, " \t\r\n");
	explain("cannot run '%s': its interpreter '%.*s'%s is missing", name, (int)len, interpreter,
		interpreter[len] == '\r' ? " with a carriage return behind it" : "");
	return true;
}

int explain_run(const struct run *run, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct how *how)
{
	switch (run->stage) {
	case STAGE_TRACE:
		if (run->error == ESRCH)
			explain("process %d has ended", run->pid);
		else if (run->error == EPERM)
			explain("thread %d cannot be traced, which -p does for a moment: it is another user's, or\n"
				"a kernel thread, or a debugger traces it, or kernel.yama.ptrace_scope forbids it",
				run->pid);
		else
			explain("thread %d: %s", run->pid, strerror(run->error));
		break;
	case STAGE_ADD:
		if (run->error == EBUSY)
			explain("thread %d is counted by perfctr already, by itself or by another perfex",
				run->pid);
		else
			explain("thread %d cannot be counted: %s", run->pid, strerror(run->error));
		break;
	case STAGE_FORK:
		if (!argv[0]) {
			explain("cannot start: %s", strerror(run->error));
			break;
		}
		explain("cannot start '%s': %s", argv[0], strerror(run->error));
		break;
	case STAGE_OPEN:
		if (how->ncpus && run->error == EACCES)
			explain("-a and -C count what everybody does, which needs root or CAP_PERFMON");
		else if (run->error == ENOMEM)
			explain("no memory for counters: %s", strerror(run->error));
		else
			explain_device(run->error);
		break;
	case STAGE_RING:
		if (run->error == ENOMEM)
			explain("no memory for samples: the limit on locked memory (ulimit -l) allows fewer --pages");
		else if (run->error == EOPNOTSUPP)
			explain("this kernel cannot tell what programs map: it has no kprobes");
		else
			explain("cannot make the ring of samples: %s", strerror(run->error));
		break;
	case STAGE_NO_CPU:
		explain("there is no CPU %u", run->refused);
		break;
	case STAGE_CONTROL:
		explain_control(run, info, events, how);
		break;
	case STAGE_EXEC:
		if (run->error == ENOENT && explain_interpreter(argv[0]))
			return EXIT_NOT_EXECUTABLE;
		explain("cannot run '%s': %s", argv[0],
			*argv[0] ? strerror(run->error) : "its name is empty");
		return run->error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	case STAGE_RUNNING:
		break;
	}
	return EXIT_PERFEX;
}
