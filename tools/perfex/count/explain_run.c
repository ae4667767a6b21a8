// SPDX-License-Identifier: GPL-2.0
/* Prints why a run did not start. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/line.h"
#include "base/perfex.h"
#include "count/counts.h"
#include "count/explain.h"
#include "count/explain_run.h"
#include "count/why.h"

/*
 * Returns true if the counters count all modes together, as those of WinChips and the C3 do. If the
 * module has no driver for the processor, perf decides about modes.
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

/* Writes the numbers of a set of counters, as "0, 1, fixed 0". */
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

/* Explains why the events cannot be counted together, though each can be counted alone. */
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
			IS_X86 || IS_PPC ? "general-purpose" : "programmable", there);
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

static void explain_source(const char *name, const struct how *how)
{
	if (how->source == PERFCTR_SOURCE_NATIVE)
		explain("%s%sonly perf_events counts this, or the module's parameter `source' allows\n"
			"nothing else. Leave out --source native", name ? name : "", name ? ": " : "");
	else
		explain("only perfctr's own driver can do this, or the module's parameter `source' allows\n"
			"nothing else. Leave out --source shared");
}

/*
 * Returns what perf_events can do about an event that perfctr's own driver cannot count. Without
 * --source, perf_events was asked too.
 */
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

	/* All events of the user found a counter, but the event for interrupts did not. */
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

/*
 * Returns the path of the file that execvp() would run, or NULL if there is none. The caller frees
 * the path.
 */
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

/*
 * Explains ENOENT if the program exists, so that its interpreter must be missing. Returns false if
 * the program itself does not exist.
 */
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
