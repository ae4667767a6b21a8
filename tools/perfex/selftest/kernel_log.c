// SPDX-License-Identifier: GPL-2.0
/* Prints what the module logged on x86 when it was loaded. */
#include "selftest/checks.h"
#include "selftest/kernel_log.h"

#if IS_X86

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>

/* Commands of klogctl(). */
#define SYSLOG_READ_ALL		3
#define SYSLOG_SIZE_BUFFER	10

#define COST	"perfctr: cost "
#define HELD	"perfctr: at load"
#define STANDS	"perfctr: GLOBAL_CTRL=0: "
#define WRONG	"counts a known loop wrong"
#define ELSE	"somebody else writes"
#define FIRMWARE	"the firmware counts"

/* Returns the kernel's log, or NULL. */
static char *read_log(void)
{
	int size = klogctl(SYSLOG_SIZE_BUFFER, NULL, 0), n;
	char *log;

	if (size < 0)
		return NULL;
	log = malloc((size_t)size + 1);
	if (!log)
		return NULL;
	n = klogctl(SYSLOG_READ_ALL, log, size);
	if (n < 0) {
		free(log);
		return NULL;
	}
	log[n] = '\0';
	return log;
}

/*
 * Returns the first line of the last measurement, as the module may have been loaded several times.
 */
static const char *last_costs(const char *log)
{
	const char *found, *start = NULL;

	for (found = strstr(log, COST); found; found = strstr(found + 1, COST))
		if (!strncmp(found, COST "of RDTSC:", strlen(COST "of RDTSC:")) ||
		    !strncmp(found, COST "not", strlen(COST "not")))
			start = found;
	return start;
}

void print_costs(void)
{
	char *log = read_log();
	const char *line = log ? last_costs(log) : NULL;

	printf("\nWhat instructions cost, in cycles of the clock:\n");
	if (!log)
		printf("  unknown: the kernel's log cannot be read (%s). Try as root\n",
		       strerror(errno));
	else if (!line)
		printf("  not measured. To do so, as root: rmmod perfctr; modprobe perfctr measure=1\n"
		       "  dmesg has it then, and so has perfex selftest\n");
	for (; line; line = strstr(line + 1, COST))
		printf("  %.*s\n", (int)strcspn(line, "\n") - (int)strlen("perfctr: "),
		       line + strlen("perfctr: "));
	free(log);
}

/* Prints all lines with @words. Returns their number. */
static unsigned int tell_lines(const char *log, const char *words)
{
	const char *found, *line;
	unsigned int n = 0;

	for (found = strstr(log, words); found; found = strstr(found + 1, words), n++) {
		for (line = found; line > log && line[-1] != '\n' && line[-1] != ']'; line--)
			;
		line += strspn(line, " ");
		if (!strncmp(line, "perfctr: ", strlen("perfctr: ")))
			line += strlen("perfctr: ");
		tell("%.*s", (int)strcspn(line, "\n"), line);
	}
	return n;
}

/* Prints what the last load with measure=1 has logged. */
static void tell_measured(const char *log)
{
	const char *found, *last = NULL;
	uint64_t beyond;

	for (found = strstr(log, HELD ", "); found; found = strstr(found + 1, HELD ", "))
		last = found;
	if (!last) {
		not_made("the module was not loaded with measure=1, or others had the counters then");
		return;
	}
	tell_lines(last, HELD);
	found = strstr(last, STANDS);
	if (!found)
		return;
	beyond = strtoull(found + strlen(STANDS), NULL, 10);
	tell("GLOBAL_CTRL=0: %" PRIu64 " instructions counted after it", beyond);
	if (beyond)
		deviates("after GLOBAL_CTRL was zeroed a counter counted %" PRIu64 " instructions",
			 beyond);
}

void check_load(const struct machine *m)
{
	char *log = read_log();
	unsigned int n;

	(void)m;
	if (!log) {
		not_made("the kernel's log cannot be read (%s). Try as root", strerror(errno));
		return;
	}
	tell_lines(log, WRONG);
	tell_lines(log, FIRMWARE);
	n = tell_lines(log, ELSE);
	if (n)
		deviates("somebody else wrote to counters' registers, %u times", n);
	tell_measured(log);
	free(log);
}

#endif /* IS_X86 */
