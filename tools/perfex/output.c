// SPDX-License-Identifier: GPL-2.0
/* What was counted, for people and for programs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
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

static void print_command(FILE *f, char **argv)
{
	unsigned int i;

	for (i = 0; argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : "", argv[i]);
}

static void print_notes(FILE *f, const struct events *events, const struct run *run)
{
	bool unsaid = false;
	unsigned int i;

	for (i = 0; i < events->n; i++)
		unsaid |= !events->event[i].modifier;
	if (unsaid)
		fprintf(f, " Events without a modifier were counted in %s.\n", run->user_only ?
			"user mode only: kernel mode needs a privilege" : "user and kernel mode");
	if (run->clock_only)
		fprintf(f, " Only the clock was counted: instructions and cycles cannot be counted here%s.\n",
			run->user_only ? " without a privilege" : "");
	else if (!events->n)
		fprintf(f, " Only the clock was counted: perfctr has no other counters here.\n");
	if (run->sums.live)
		fprintf(f, " %" PRIu64 " threads that it started still ran when it ended.\n",
			(uint64_t)run->sums.live);
	if (!run->complete)
		fprintf(f, " The counts are INCOMPLETE: %s.\n", run->why);
	if (unsaid || !events->n || !run->complete || run->sums.live)
		fprintf(f, "\n");
}

/* Root and descendants, as long as there are any; false at the end. */
static bool next_thread(const struct run *run, char **argv, struct perfctr_member *member,
			bool first)
{
	struct perfctr_read self;
	const char *name = strrchr(argv[0], '/');

	if (!first)
		return !_vperfctr_next_member(run->fd, member);
	memset(member, 0, sizeof(*member));
	if (_vperfctr_read_native(run->fd, &self) < 0 && errno != EIO)
		return false;
	member->tid = member->tgid = run->pid;
	(void)snprintf(member->comm, sizeof(member->comm), "%s", name ? name + 1 : argv[0]);
	member->error = self.error;
	member->nrctrs = self.nrctrs;
	member->clock = self.clock;
	memcpy(member->sum, self.sum, sizeof(member->sum));
	member->soft = self.soft;
	return true;
}

static void print_threads(FILE *f, char **argv, const struct events *events,
			  const struct run *run)
{
	struct perfctr_member member;
	unsigned int i;
	bool first;
	char buf[32];

	fprintf(f, "%*s  %-16s", COLUMN / 2, "thread", "name");
	for (i = 0; i < events->n; i++)
		fprintf(f, " %*s%s", COLUMN - (int)strlen(modifier(&events->event[i], run)),
			events->event[i].name, modifier(&events->event[i], run));
	fprintf(f, "\n");
	for (first = true; next_thread(run, argv, &member, first); first = false) {
		fprintf(f, "%*d  %-16s", COLUMN / 2, member.tid, member.comm);
		for (i = 0; i < member.nrctrs; i++)
			fprintf(f, " %*s", COLUMN, thousands(member.sum[i], buf));
		fprintf(f, "%s\n", member.error ? "  INCOMPLETE" : "");
	}
	fprintf(f, "\n");
}

static void print_soft(FILE *f, const struct perfctr_soft *soft)
{
	char buf[32];

	fprintf(f, "%*s  context switches\n", COLUMN, thousands(soft->switches, buf));
	fprintf(f, "%*s  migrations to another CPU\n", COLUMN, thousands(soft->migrations, buf));
	fprintf(f, "%*s  page faults", COLUMN,
		thousands(soft->minor_faults + soft->major_faults, buf));
	fprintf(f, " (%s with input or output)\n", thousands(soft->major_faults, buf));
}

void print_text(FILE *f, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct how *how, const struct run *run)
{
	unsigned int i;
	char buf[32];

	fprintf(f, "\n Counts of '");
	print_command(f, argv);
	fprintf(f, "'%s\n\n", run->complete ? ":" : ", INCOMPLETE:");

	if (how->per_thread)
		print_threads(f, argv, events, run);
	for (i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];

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
	print_soft(f, &run->sums.soft);

	fprintf(f, "\n");
	print_seconds(f, elapsed(run), "seconds elapsed");
	print_seconds(f, seconds(&run->usage.ru_utime), "seconds user");
	print_seconds(f, seconds(&run->usage.ru_stime), "seconds system");
	fprintf(f, "\n");

	print_notes(f, events, run);
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

static void json_command(FILE *f, char **argv)
{
	unsigned int i;

	fprintf(f, "\"command\": [");
	for (i = 0; argv[i]; i++) {
		if (i)
			fprintf(f, ", ");
		json_string(f, argv[i]);
	}
	fprintf(f, "]");
}

/* What was counted, without its number */
static void json_event(FILE *f, const struct event *event, const struct run *run)
{
	unsigned int m = mode(event, run);

	fprintf(f, "{\"event\": ");
	json_string(f, event->name);
	fprintf(f, ", \"user\": %s, \"kernel\": %s",
		json_bool(m & PERFCTR_CTR_USER), json_bool(m & PERFCTR_CTR_KERNEL));
}

static void json_soft(FILE *f, const struct perfctr_soft *soft)
{
	fprintf(f, "\"context_switches\": %" PRIu64 ", \"migrations\": %" PRIu64
		", \"minor_faults\": %" PRIu64 ", \"major_faults\": %" PRIu64
		", \"task_clock\": %.9f", (uint64_t)soft->switches, (uint64_t)soft->migrations,
		(uint64_t)soft->minor_faults, (uint64_t)soft->major_faults,
		(double)soft->task_clock / 1e9);
}

static void json_threads(FILE *f, char **argv, const struct run *run)
{
	struct perfctr_member member;
	unsigned int i;
	bool first;

	fprintf(f, " \"threads\": [");
	for (first = true; next_thread(run, argv, &member, first); first = false) {
		fprintf(f, "%s\n  {\"tid\": %d, \"pid\": %d, \"name\": ", first ? "" : ",",
			member.tid, member.tgid);
		json_string(f, member.comm);
		fprintf(f, ", \"complete\": %s, \"counts\": [", json_bool(!member.error));
		for (i = 0; i < member.nrctrs; i++)
			fprintf(f, "%s%" PRIu64, i ? ", " : "", (uint64_t)member.sum[i]);
		fprintf(f, "], ");
		json_soft(f, &member.soft);
		fprintf(f, "}");
	}
	fprintf(f, "\n ],\n");
}

void print_json(FILE *f, char **argv, const struct perfctr_info *info,
		const struct events *events, const struct how *how, const struct run *run)
{
	unsigned int i;

	fprintf(f, "{");
	json_command(f, argv);
	fprintf(f, ",\n \"counts\": [");
	for (i = 0; i < events->n; i++) {
		fprintf(f, "%s\n  ", i ? "," : "");
		json_event(f, &events->event[i], run);
		if (i < run->sums.nrctrs)
			fprintf(f, ", \"count\": %" PRIu64 "}", (uint64_t)run->sums.sum[i]);
		else
			fprintf(f, ", \"count\": null}");
	}
	fprintf(f, "%s],\n", events->n ? "\n " : "");
	if (how->per_thread)
		json_threads(f, argv, run);
	fprintf(f, " \"kernel_counts\": {");
	json_soft(f, &run->sums.soft);
	fprintf(f, "},\n \"descendants_ended\": %" PRIu64 ", \"descendants_live\": %" PRIu64
		", \"descendants_missed\": %" PRIu64 ",\n", (uint64_t)run->sums.ended,
		(uint64_t)run->sums.live, (uint64_t)run->sums.missed);
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

void print_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		    const struct how *how, const struct run *run,
		    const struct perfctr_read_tree *before)
{
	uint64_t clock = run->sums.clock - before->clock;
	unsigned int i;
	char buf[32];

	if (how->json) {
		fprintf(f, "{\"interval\": %.9f, \"counts\": [", elapsed(run));
		for (i = 0; i < events->n; i++) {
			fprintf(f, "%s", i ? ", " : "");
			json_event(f, &events->event[i], run);
			fprintf(f, ", \"count\": %" PRIu64 "}",
				(uint64_t)(run->sums.sum[i] - before->sum[i]));
		}
		fprintf(f, "], \"clock\": {\"ticks\": %" PRIu64 ", \"hz\": %" PRIu64
			"}, \"live\": %" PRIu64 "}\n", clock, (uint64_t)info->tsc_hz,
			(uint64_t)run->sums.live);
	} else {
		for (i = 0; i < events->n; i++)
			fprintf(f, "%*.6f %*s  %s%s\n", COLUMN - 4, elapsed(run), COLUMN,
				thousands(run->sums.sum[i] - before->sum[i], buf),
				events->event[i].name, modifier(&events->event[i], run));
		if (info->tsc_hz)
			fprintf(f, "%*.6f %*.9f  seconds on a processor\n", COLUMN - 4,
				elapsed(run), COLUMN, (double)clock / (double)info->tsc_hz);
	}
	fflush(f);
}

static void statistic_add(struct statistic *statistic, double value)
{
	double delta = value - statistic->mean;

	statistic->n++;
	statistic->mean += delta / statistic->n;
	statistic->squares += delta * (value - statistic->mean);
}

void statistics_add(struct statistics *statistics, const struct events *events,
		    const struct run *run)
{
	unsigned int i;

	for (i = 0; i < events->n; i++)
		statistic_add(&statistics->number[i], (double)run->sums.sum[i]);
	statistic_add(&statistics->number[i], (double)run->sums.clock);
	statistic_add(&statistics->number[i + 1], elapsed(run));
}

/* Of the sample, which is what is known of all runs that there could be */
static double deviation(const struct statistic *statistic)
{
	return statistic->n > 1 ? sqrt(statistic->squares / (statistic->n - 1)) : 0;
}

static double percent(const struct statistic *statistic)
{
	return statistic->mean != 0 ? 100 * deviation(statistic) / statistic->mean : 0;
}

static void statistics_json(FILE *f, char **argv, const struct perfctr_info *info,
			    const struct events *events, const struct run *run,
			    const struct statistics *statistics)
{
	const struct statistic *statistic = statistics->number;
	unsigned int i;

	fprintf(f, "{");
	json_command(f, argv);
	fprintf(f, ",\n \"runs\": %.0f,\n \"counts\": [", statistic->n);
	for (i = 0; i < events->n; i++, statistic++) {
		fprintf(f, "%s\n  ", i ? "," : "");
		json_event(f, &events->event[i], run);
		fprintf(f, ", \"mean\": %.3f, \"deviation\": %.3f}", statistic->mean,
			deviation(statistic));
	}
	fprintf(f, "%s],\n \"clock\": {\"hz\": %" PRIu64
		", \"mean\": %.3f, \"deviation\": %.3f},\n", events->n ? "\n " : "",
		(uint64_t)info->tsc_hz, statistic->mean, deviation(statistic));
	statistic++;
	fprintf(f, " \"elapsed\": {\"mean\": %.9f, \"deviation\": %.9f},\n", statistic->mean,
		deviation(statistic));
	fprintf(f, " \"user_only\": %s, \"complete\": %s}\n", json_bool(run->user_only),
		json_bool(run->complete));
}

void print_statistics(FILE *f, char **argv, const struct perfctr_info *info,
		      const struct events *events, const struct how *how,
		      const struct run *run, const struct statistics *statistics)
{
	const struct statistic *statistic = statistics->number;
	unsigned int i;
	char buf[32];

	if (how->json) {
		statistics_json(f, argv, info, events, run, statistics);
		return;
	}
	fprintf(f, "\n Counts of '");
	print_command(f, argv);
	fprintf(f, "', mean of %.0f runs%s\n\n", statistic->n,
		run->complete ? ":" : ", INCOMPLETE:");
	for (i = 0; i < events->n; i++, statistic++)
		fprintf(f, "%*s  %s%s  (+- %.2f%%)\n", COLUMN,
			thousands((uint64_t)(statistic->mean + 0.5), buf),
			events->event[i].name, modifier(&events->event[i], run),
			percent(statistic));
	if (info->tsc_hz)
		fprintf(f, "%*.9f  seconds on a processor  (+- %.2f%%)\n", COLUMN,
			statistic->mean / (double)info->tsc_hz, percent(statistic));
	statistic++;
	fprintf(f, "\n%*.9f  seconds elapsed  (+- %.2f%%)\n\n", COLUMN, statistic->mean,
		percent(statistic));
	print_notes(f, events, run);
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
