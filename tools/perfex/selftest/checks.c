// SPDX-License-Identifier: GPL-2.0
/* Makes the checks of the self test one by one, and prints the verdict. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count/explain.h"
#include "selftest/checks.h"

static struct {
	char **deviation;
	unsigned int deviations;
	unsigned int made, left_out;
	bool counted;		/* a check has counted by perfctr */
	bool refused;		/* the present check cannot be made */
	bool told;		/* machine.why_not has been printed */
} verdict;

/* Prints text with each line indented. */
static void print_lines(const char *text)
{
	printf("  ");
	for (; *text; text++) {
		putchar(*text);
		if (*text == '\n')
			printf("  ");
	}
	putchar('\n');
}

void tell(const char *format, ...)
{
	va_list args;

	printf("  ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void deviates(const char *format, ...)
{
	char **all = (char **)realloc((void *)verdict.deviation,
			     (verdict.deviations + 1) * sizeof(*verdict.deviation));
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!all || !text) {
		explain("there is no memory for the self test");
		exit(EXIT_PERFEX);
	}
	verdict.deviation = all;
	verdict.deviation[verdict.deviations++] = text;
	printf("  deviation %u: %s\n", verdict.deviations, text);
}

void not_made(const char *format, ...)
{
	char text[1024];
	va_list args;

	memcpy(text, "not made: ", sizeof("not made: "));
	va_start(args, format);
	(void)vsnprintf(text + strlen(text), sizeof(text) - strlen(text), format, args);
	va_end(args);
	print_lines(text);
	verdict.refused = true;
}

/* Returns why a check with these needs cannot be made here, or NULL if the check can be made. */
static const char *what_lacks(unsigned int needs, const struct machine *m)
{
	unsigned int lacks = needs & ~m->has;

	if (lacks & NEED_ROOT)
		return "needs root";
	if (lacks & NEED_HOTPLUG)
		return "needs the option --hotplug, which takes a CPU off for a moment";
	if (lacks & NEED_SLEEP)
		return "needs the option --sleep, which lets the machine sleep for some seconds";
	if (lacks & (NEED_COUNT | NEED_NATIVE))
		return m->why_not;
	if (lacks & NEED_PERF)
		return m->has & NEED_ROOT ? "the kernel's perf_events counts no instructions here" :
					    "needs root, or perf_events for users";
	if (lacks & NEED_INTERRUPT)
		return m->source == PERFCTR_SOURCE_NATIVE ? "counters do not interrupt here" :
							    "perf's counters have no interrupts for us";
	if (lacks & NEED_RDPMC)
		return "counters are read through the kernel here";
	return NULL;
}

void make_checks(const struct check *checks, size_t n, const struct machine *m)
{
	const char *lacks;
	size_t i;

	for (i = 0; i < n; i++) {
		printf("\n%s:\n", checks[i].title);
		fflush(stdout);
		verdict.refused = false;
		lacks = what_lacks(checks[i].needs, m);
		if (lacks && lacks == m->why_not && verdict.told)
			not_made("for the same reason");
		else if (lacks)
			not_made("%s", lacks);
		else
			checks[i].make(m);
		verdict.told |= lacks && lacks == m->why_not;
		if (verdict.refused) {
			verdict.left_out++;
		} else {
			verdict.made++;
			verdict.counted |= (checks[i].needs & NEED_COUNT) != 0;
		}
	}
}

void print_verdict(const struct machine *m)
{
	unsigned int i;

	printf("\nVerdict: ");
	if (verdict.deviations)
		printf("%u deviation%s", verdict.deviations, verdict.deviations > 1 ? "s" : "");
	else if (verdict.counted)
		printf("counts exactly");
	else
		printf("nothing was counted");
	if (verdict.counted && m->source == PERFCTR_SOURCE_SHARED)
		printf(", through perf_events");
	printf(" (%u checks made, %u not)\n", verdict.made, verdict.left_out);
	for (i = 0; i < verdict.deviations; i++) {
		printf("%3u. %s\n", i + 1, verdict.deviation[i]);
		free(verdict.deviation[i]);
	}
	free((void *)verdict.deviation);
	if (verdict.told) {
		printf("Some checks were not made:\n");
		print_lines(m->why_not);
	}
}
