// SPDX-License-Identifier: GPL-2.0
/* Prints what went wrong with the device or with an event, and what the user can do. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/line.h"
#include "base/perfex.h"
#include "base/quote.h"
#include "count/explain.h"
#include "count/why.h"

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

/* Returns true if modprobe finds the module for the running kernel. */
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

/* Returns true if the kernel loads only signed modules, which lockdown (Secure Boot) implies. */
static bool signed_only(void)
{
	char enforced[4], lockdown[64];

	first_line("/sys/module/module/parameters/sig_enforce", enforced, sizeof(enforced));
	first_line("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	return enforced[0] == 'Y' || (lockdown[0] && strncmp(lockdown, "[none]", 6) != 0);
}

/* Explains why the device is missing, if the module is not loaded. */
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

/*
 * Prints "Did you mean a, b or c?" if any names are similar to @spec. With @units, only names with
 * units are suggested.
 */
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

/*
 * Returns true if @spec is "r" and hexadecimal digits. On x86, a slash and more digits may follow.
 */
static bool looks_raw(const char *spec)
{
	size_t length = strcspn(spec, ":");

	return (*spec == 'r' || *spec == 'R') && strspn(spec + 1, "0123456789abcdefABCDEF/") == length - 1;
}

/*
 * Explains an error behind the first colon of @spec. The name before the colon is known, or is a
 * raw event.
 */
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

/*
 * Returns a text that says how perfex reports the software event @spec, which no counter counts.
 * Returns NULL if @spec is no software event of perf.
 */
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
