// SPDX-License-Identifier: GPL-2.0
/* Checks who else has the counters, and what a CPU counts after it was offline. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftest/checks.h"
#include "selftest/loop.h"

/* The following functions read counters without having claimed them. */

static void faulted(int sig)
{
	(void)sig;
	_exit(0);
}

static void read_counter(void)
{
	unsigned long value;

#if IS_X86
	__asm__ volatile("rdpmc" : "=a" (value) : "c" (0) : "edx");
#elif defined(__riscv)
	__asm__ volatile("rdinstret %0" : "=r" (value));
#elif defined(__aarch64__)
	__asm__ volatile("mrs %0, pmccntr_el0" : "=r" (value));
#elif IS_PPC
	__asm__ volatile("mfspr %0, 937" : "=r" (value));	/* UPMC1 */
#endif
	(void)value;
}

/*
 * Returns true if root lets all users read counters, by an attribute on x86 or a setting elsewhere.
 */
static bool all_may_read(void)
{
	static const char *const files[] = {
		"/sys/bus/event_source/devices/cpu/rdpmc",
		"/sys/bus/event_source/devices/cpu_core/rdpmc",
		"/proc/sys/kernel/perf_user_access",
	};
	bool all = false;
	size_t i;
	FILE *f;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		f = fopen(files[i], "re");
		if (!f)
			continue;
		all |= fgetc(f) == '2';
		fclose(f);
	}
	return all;
}

void check_unclaimed(const struct machine *m)
{
	const struct sigaction action = { .sa_handler = faulted };
	int status = -1;
	pid_t pid;

	(void)m;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		sigaction(SIGSEGV, &action, NULL);
		sigaction(SIGILL, &action, NULL);
		read_counter();
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
		not_made("%s", pid < 0 ? strerror(errno) : "the process that tries died");
		return;
	}
	if (!WEXITSTATUS(status))
		tell("faults");
	else if (IS_PPC)
		tell("is allowed, as the processor has no way to forbid it");
	else if (all_may_read())
		tell("is allowed, as a setting of perf_events lets everybody do");
	else
		deviates("a process with 0 counters of its own reads a counter's register");
}

/* The following functions count beside perf. */

/*
 * Starts a counter by perf, and tries again for a while: the module may keep the counters for a
 * moment (see PERFCTR_IOC_CONTROL).
 */
static bool start_perf_patiently(struct counting *c, uint64_t event)
{
	unsigned int i;

	for (i = 0; i < 30; i++) {
		if (start_perf(c, PERF_TYPE_HARDWARE, event))
			return true;
		if (c->error != EBUSY)
			return false;
		nap(100);
	}
	return false;
}

static bool count_loop(const struct counting *c, uint64_t *least)
{
	return fewest(c, spin, SHORT, LONG, least);
}

static void try_beside_perf(const struct machine *m, const char *name, uint64_t event)
{
	uint64_t counts[3];
	struct counting c;
	char spec[64];
	bool started, read;
	unsigned int i;

	(void)snprintf(spec, sizeof(spec), "%s:u", name);
	for (i = 0; i < 3; i++) {
		started = i == 1 ? start_event(&c, m, spec) : start_perf_patiently(&c, event);
		if (!started) {
			tell("%s: not tried, as %s cannot count it: %s", name,
			     i == 1 ? "perfctr" : "perf",
			     i == 1 ? why_not_started(&c) : strerror(c.error));
			return;
		}
		read = count_loop(&c, &counts[i]);
		if (!read)
			deviates("%s: %s", name, why_unread(&c));
		stop(&c);
		if (!read)
			return;
	}
	tell("%s: perf %" PRIu64 ", perfctr %" PRIu64 ", perf %" PRIu64, name, counts[0],
	     counts[1], counts[2]);
	if (counts[0] != counts[1] || counts[1] != counts[2])
		deviates("of the same loop perfctr counts %" PRIu64 " %s, and perf %" PRIu64 " before and %" PRIu64 " after",
			 counts[1], name, counts[0], counts[2]);
}

void check_beside_perf(const struct machine *m)
{
	struct perfctr_ctr_control ctr;

	try_beside_perf(m, "instructions", PERF_COUNT_HW_INSTRUCTIONS);
	if (!perfctr_event_parse(m->info->cpu_type, "branches:u", &ctr) &&
	    perfctr_event_available(m->info, &ctr))
		try_beside_perf(m, "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
}

/* Counts the loop by @first while @second tries to count too. */
static void try_while(const struct machine *m, struct counting *first, const char *who,
		      bool (*second)(const struct machine *m))
{
	uint64_t before, after;
	bool good;

	if (!count_loop(first, &before)) {
		deviates("%s: %s", who, why_unread(first));
		return;
	}
	good = second(m);
	if (!count_loop(first, &after))
		deviates("%s: %s", who, why_unread(first));
	else if (before != after)
		deviates("%s counts %" PRIu64 " of a loop of %" PRIu64 " instructions, and counted %" PRIu64 " before the other came",
			 who, after, EXPECTED, before);
	else if (good)
		tell("while %s counts: as it should be, and it counts %" PRIu64 " as before",
		     who, after);
}

/*
 * Tries to count by perf while the module counts. On x86 and ppc32, either perf or the module has
 * all counters. Elsewhere, and with PERFCTR_FEATURE_BESIDE, perf and the module each take counters
 * as long as any are free.
 */
static bool perf_comes(const struct machine *m)
{
	struct counting c;
	uint64_t count;
	bool good = true;

	if (start_perf(&c, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)) {
		if (HAS_ONE_SOURCE(m->info->cpu_features)) {
			deviates("perf has counters while perfctr has them all, 1 instead of 0");
			good = false;
		} else if (!count_loop(&c, &count) || count != EXPECTED) {
			deviates("perf counts %" PRIu64 " of %" PRIu64 " instructions while perfctr counts",
				 count, EXPECTED);
			good = false;
		}
	} else if (!HAS_ONE_SOURCE(m->info->cpu_features) || c.error != EBUSY) {
		deviates("perf is refused with error %d (%s) while perfctr counts", c.error,
			 strerror(c.error));
		good = false;
	}
	stop(&c);
	return good;
}

static bool perfctr_comes(const struct machine *m)
{
	struct perfctr_ctr_control ctr;
	struct counting c;
	uint64_t count = 0;
	bool good = true;

	(void)perfctr_event_parse(m->info->cpu_type, "instructions:u", &ctr);
	if (start(&c, PERFCTR_SOURCE_NATIVE, &ctr)) {
		if (HAS_ONE_SOURCE(m->info->cpu_features)) {
			deviates("perfctr has counters while perf has them all, 1 instead of 0");
			good = false;
		} else if (!count_loop(&c, &count) || count != EXPECTED) {
			deviates("perfctr counts %" PRIu64 " of %" PRIu64 " instructions while perf counts",
				 count, EXPECTED);
			good = false;
		}
	} else if (!HAS_ONE_SOURCE(m->info->cpu_features) || c.error != EBUSY || c.control.owner != PERFCTR_OWNER_PERF) {
		deviates("perfctr is refused with error %d (%s) and owner %u while perf counts",
			 c.error, strerror(c.error), c.control.owner);
		good = false;
	}
	stop(&c);
	return good;
}

void check_exclusion(const struct machine *m)
{
	struct counting c;

	if (start_event(&c, m, "instructions:u"))
		try_while(m, &c, "perfctr", perf_comes);
	else
		not_made("%s", why_not_started(&c));
	stop(&c);
	if (start_perf_patiently(&c, PERF_COUNT_HW_INSTRUCTIONS))
		try_while(m, &c, "perf", perfctr_comes);
	else
		not_made("perf: %s", strerror(c.error));
	stop(&c);
}

/*
 * The following functions look for firmware, a hypervisor or another tool that takes counters
 * without asking.
 */

void check_registers_kept(const struct machine *m)
{
	const unsigned int seconds = m->how->watch;
	struct counting c;
	unsigned int i;

	if (!start_event(&c, m, "instructions:u")) {
		not_made("%s", why_not_started(&c));
		return;
	}
	/* The module checks the registers only while their CPU is busy. */
	for (i = 0; i < seconds * 10; i++) {
		struct perfctr_read sums;

		spin(SHORT);
		nap(100);
		if (_vperfctr_read_native(c.fd, &sums) < 0)
			break;
	}
	if (i < seconds * 10)
		deviates("after %u.%u seconds: %s", i / 10, i % 10, why_unread(&c));
	else
		tell("nobody else wrote to them in %u second%s", seconds,
		     seconds > 1 ? "s" : "");
	stop(&c);
}

/* The following functions count after a CPU was offline, and after sleep. */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

static bool go_to(unsigned int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

/* Counts the loop on a CPU that has come online again. */
static void try_cpu(const struct machine *m, unsigned int cpu, const char *what)
{
	struct counting c;
	struct tally t;

	if (!go_to(cpu)) {
		not_made("%s", strerror(errno));
		return;
	}
	if (!start_event(&c, m, "instructions:u")) {
		deviates("%s CPU %u counts nothing: error %d (%s)", what, cpu, c.error,
			 why_not_started(&c));
	} else if (!tally(&c, 10, spin, SHORT, LONG, EXPECTED, &t)) {
		deviates("%s CPU %u: %s", what, cpu, why_unread(&c));
	} else {
		char words[64];

		(void)snprintf(words, sizeof(words), "%s CPU %u", what, cpu);
		tell_tally(words, &t, EXPECTED, NO_SWITCHES);
		judge_tally(words, &t, EXPECTED);
	}
	stop(&c);
	(void)go_to(m->cpu);
}

void check_hotplug(const struct machine *m)
{
	long cpu = sysconf(_SC_NPROCESSORS_CONF) - 1;
	struct counting c;
	char path[64];
	bool off;

	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/online", cpu);
	if (cpu < 1 || access(path, W_OK) || !go_to(0)) {
		not_made("there is no CPU that could be taken off");
		return;
	}
	/*
	 * start_event() claims the counters while the CPU is offline. So the CPU must join the
	 * claim when it comes online.
	 */
	if (!start_event(&c, m, "instructions:u")) {
		not_made("%s", why_not_started(&c));
		(void)go_to(m->cpu);
		return;
	}
	off = write_file(path, "0");
	if (off && !write_file(path, "1"))
		deviates("CPU %ld did not come back: error %d (%s)", cpu, errno, strerror(errno));
	stop(&c);
	if (off)
		try_cpu(m, (unsigned int)cpu, "after it was off,");
	else
		not_made("CPU %ld cannot be taken off: %s", cpu, strerror(errno));
	(void)go_to(m->cpu);
}

void check_sleep(const struct machine *m)
{
	static const char alarm[] = "/sys/class/rtc/rtc0/wakealarm";

	(void)write_file(alarm, "0");
	if (!write_file(alarm, "+5")) {
		not_made("no clock could wake the machine: %s", strerror(errno));
		return;
	}
	if (!write_file("/sys/power/state", "mem")) {
		not_made("it does not sleep: %s", strerror(errno));
		(void)write_file(alarm, "0");
		return;
	}
	try_cpu(m, m->cpu, "after sleep,");
}
