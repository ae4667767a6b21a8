// SPDX-License-Identifier: GPL-2.0
/* What was counted, for people and for programs. */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "perfex.h"

#define COLUMN	20	/* width of the numbers */

/* 1,234,567; buf has room for any number. */
static const char *thousands(uint64_t value, char buf[32])
{
	char *p = buf + 31;
	int digits = 0;

	*p = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + value % 10);
		value /= 10;
		digits++;
	} while (value);
	return p;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double elapsed(const struct run *run)
{
	return (double)(run->end.tv_sec - run->start.tv_sec) +
		(double)(run->end.tv_nsec - run->start.tv_nsec) / 1e9;
}

static unsigned int mode(const struct event *event, const struct run *run)
{
	if (event->modifier)
		return event->ctr.flags;
	return run->user_only ? PERFCTR_CTR_USER : PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL;
}

/* As in perf's output: nothing where both modes are counted because nothing was said */
static const char *modifier(const struct event *event, const struct run *run)
{
	switch (mode(event, run)) {
	case PERFCTR_CTR_USER:
		return ":u";
	case PERFCTR_CTR_KERNEL:
		return ":k";
	default:
		return event->modifier ? ":uk" : "";
	}
}

static void print_seconds(FILE *f, double s, const char *what)
{
	fprintf(f, "%*.9f  %s\n", COLUMN, s, what);
}

void print_text(FILE *f, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct run *run)
{
	bool unsaid = false;
	unsigned int i;
	char buf[32];

	fprintf(f, "\n Counts of '");
	for (i = 0; argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : "", argv[i]);
	fprintf(f, "'%s\n\n", run->complete ? ":" : ", INCOMPLETE:");

	for (i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];

		unsaid |= !event->modifier;
		if (i < run->sums.nrctrs)
			fprintf(f, "%*s  %s%s\n", COLUMN, thousands(run->sums.sum[i], buf),
				event->name, modifier(event, run));
		else
			fprintf(f, "%*s  %s%s\n", COLUMN, "<not counted>",
				event->name, modifier(event, run));
	}
	if (info->tsc_hz)
		fprintf(f, "%*.9f  seconds on a processor (%s ticks of the clock)\n", COLUMN,
			(double)run->sums.clock / (double)info->tsc_hz,
			thousands(run->sums.clock, buf));
	else
		fprintf(f, "%*s  ticks of the clock, on a processor\n", COLUMN,
			thousands(run->sums.clock, buf));

	fprintf(f, "\n");
	print_seconds(f, elapsed(run), "seconds elapsed");
	print_seconds(f, seconds(&run->usage.ru_utime), "seconds user");
	print_seconds(f, seconds(&run->usage.ru_stime), "seconds system");
	fprintf(f, "\n");

	if (unsaid)
		fprintf(f, " Events without a modifier were counted in %s.\n", run->user_only ?
			"user mode only: kernel mode needs a privilege" : "user and kernel mode");
	if (run->clock_only)
		fprintf(f, " Only the clock was counted: instructions and cycles cannot be counted here%s.\n",
			run->user_only ? " without a privilege" : "");
	else if (!events->n)
		fprintf(f, " Only the clock was counted: perfctr has no other counters here.\n");
	if (!run->complete)
		fprintf(f, " The counts are INCOMPLETE: %s.\n", run->why);
	if (unsaid || !events->n || !run->complete)
		fprintf(f, "\n");
}

/* Length of the UTF-8 sequence at s, 0 if it is none */
static unsigned int utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned int i, n;

	if (u[0] >= 0xc2 && u[0] <= 0xdf)
		n = 2;
	else if (u[0] >= 0xe0 && u[0] <= 0xef)
		n = 3;
	else if (u[0] >= 0xf0 && u[0] <= 0xf4)
		n = 4;
	else
		return 0;
	for (i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what is beyond the last code point */
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return n;
}

/* Bytes that are no text become the replacement character: JSON is UTF-8. */
static void json_string(FILE *f, const char *s)
{
	unsigned int n;

	fputc('"', f);
	while (*s) {
		if (*s == '"' || *s == '\\') {
			fprintf(f, "\\%c", *s++);
		} else if ((unsigned char)*s < 0x20 || *s == 0x7f) {
			fprintf(f, "\\u%04x", (unsigned int)(unsigned char)*s++);
		} else if ((unsigned char)*s < 0x80) {
			fputc(*s++, f);
		} else {
			n = utf8_length(s);
			if (n) {
				fwrite(s, 1, n, f);
				s += n;
			} else {
				fputs("\\ufffd", f);
				s++;
			}
		}
	}
	fputc('"', f);
}

static const char *json_bool(bool b)
{
	return b ? "true" : "false";
}

void print_json(FILE *f, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct run *run)
{
	unsigned int i;

	fprintf(f, "{\"command\": [");
	for (i = 0; argv[i]; i++) {
		if (i)
			fprintf(f, ", ");
		json_string(f, argv[i]);
	}
	fprintf(f, "],\n \"counts\": [");
	for (i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];
		unsigned int m = mode(event, run);

		fprintf(f, "%s\n  {\"event\": ", i ? "," : "");
		json_string(f, event->name);
		fprintf(f, ", \"user\": %s, \"kernel\": %s, \"count\": ",
			json_bool(m & PERFCTR_CTR_USER), json_bool(m & PERFCTR_CTR_KERNEL));
		if (i < run->sums.nrctrs)
			fprintf(f, "%" PRIu64 "}", (uint64_t)run->sums.sum[i]);
		else
			fprintf(f, "null}");
	}
	fprintf(f, "%s],\n", events->n ? "\n " : "");
	fprintf(f, " \"clock\": {\"ticks\": %" PRIu64 ", \"hz\": %" PRIu64 ", \"seconds\": ",
		(uint64_t)run->sums.clock, (uint64_t)info->tsc_hz);
	if (info->tsc_hz)
		fprintf(f, "%.9f},\n", (double)run->sums.clock / (double)info->tsc_hz);
	else
		fprintf(f, "null},\n");
	fprintf(f, " \"user_only\": %s, \"complete\": %s, \"incomplete_because\": ",
		json_bool(run->user_only), json_bool(run->complete));
	if (run->complete)
		fprintf(f, "null,\n");
	else
		json_string(f, run->why), fprintf(f, ",\n");
	fprintf(f, " \"elapsed\": %.9f, \"user\": %.6f, \"system\": %.6f,\n",
		elapsed(run), seconds(&run->usage.ru_utime), seconds(&run->usage.ru_stime));
	if (WIFSIGNALED(run->status))
		fprintf(f, " \"exit_status\": null, \"signal\": %d}\n", WTERMSIG(run->status));
	else
		fprintf(f, " \"exit_status\": %d, \"signal\": null}\n", WEXITSTATUS(run->status));
}

void print_list(const struct perfctr_info *info)
{
	const struct perfctr_event_set *set = perfctr_cpu_event_set(info->cpu_type);
	struct perfctr_ctr_control ctr;
	unsigned int i;

	if (!set || !set->nevents) {
		printf("Of this processor (%s) this version of perfctr counts only the\n"
		       "clock, which is always counted.\n", perfctr_info_cpu_name(info));
		return;
	}
	printf("%-28s %-4s %s\n", "event", "here", "");
	for (i = 0; i < set->nevents; i++) {
		if (perfctr_event_parse(info->cpu_type, set->events[i].name, &ctr) < 0)
			continue;
		printf("%-28s %-4s %s\n", set->events[i].name,
		       perfctr_event_available(info, &ctr) ? "yes" : "no",
		       set->events[i].description);
	}
	if (perfctr_event_parse(info->cpu_type, "r0", &ctr) == 0)
		printf("%-28s %-4s %s\n", "rHEX",
		       perfctr_event_available(info, &ctr) ? "?" : "no",
		       "a raw event, by its number in the processor's manual");
	printf("\nWith :u counted in user mode, :k in kernel mode, :uk in both.\n");
}
