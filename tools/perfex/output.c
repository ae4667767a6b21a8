// SPDX-License-Identifier: GPL-2.0
/* What was counted, for people and for programs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "perfex.h"
#include "quote.h"

#define COLUMN	20	/* width of the numbers */

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

/* A number in its column, or that there is none */
static void print_number(FILE *f, bool counted, uint64_t value)
{
	char buf[32];

	fprintf(f, "%*s", COLUMN, counted ? thousands(value, buf) : "<not counted>");
}

/* Behind the count of a metric: its share of the slots */
static void print_share(FILE *f, const struct event *event, unsigned int known,
			const double *ratio)
{
	int metric = metric_of(event);

	if (metric >= 0 && known >> metric & 1)
		fprintf(f, "  (%.1f%%)", 100 * ratio[metric]);
}

/* Shares that have no count: what is left of level 1's. On lines that begin with @before */
static void print_rests(FILE *f, const char *before, unsigned int known, const double *ratio)
{
	unsigned int i;

	for (i = PERFCTR_METRICS; i < PERFCTR_TOPDOWN_RATIOS; i++)
		if (known >> i & 1)
			fprintf(f, "%s%*.1f%%  %s\n", before, COLUMN - 1, 100 * ratio[i],
				perfctr_topdown_name(i));
}

static void print_seconds(FILE *f, double s, const char *what)
{
	fprintf(f, "%*.9f  %s\n", COLUMN, s, what);
}

static void print_command(FILE *f, char **argv)
{
	unsigned int i;

	for (i = 0; argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : "'", argv[i]);
	fprintf(f, "'");
}

static void print_processes(FILE *f, const struct how *how)
{
	unsigned int i;

	fprintf(f, "process%s", how->npids > 1 ? "es" : "");
	for (i = 0; i < how->npids; i++)
		fprintf(f, "%s %d", i ? "," : "", how->pids[i]);
}

/* "CPUs 0, 2" */
static void print_cpu_list(FILE *f, const struct how *how)
{
	unsigned int i;

	fprintf(f, "CPU%s", how->ncpus > 1 ? "s" : "");
	for (i = 0; i < how->ncpus; i++)
		fprintf(f, "%s %u", i ? "," : "", how->cpus[i]);
}

static void print_subject(FILE *f, char **argv, const struct how *how)
{
	fprintf(f, "\n Counts of ");
	if (how->npids) {
		print_processes(f, how);
		return;
	}
	if (how->ncpus)
		print_cpu_list(f, how);
	if (how->ncpus && argv[0])
		fprintf(f, " during ");
	if (argv[0])
		print_command(f, argv);
}

/* Each line of it a little to the right */
static void print_indented(FILE *f, const char *text)
{
	for (; *text; text++)
		fprintf(f, *text == '\n' ? "\n " : "%c", *text);
}

/* Events that the user did not choose could not be counted. */
static void print_clock_only(FILE *f, const struct run *run)
{
	fprintf(f, " Only the clock was counted: instructions and cycles cannot be counted here%s",
		run->user_only ? " without a privilege" : "");
	if (run->reason == PERFCTR_REASON_OPEN) {
		fprintf(f, ":\n ");
		print_indented(f, why_open());
	}
	fprintf(f, ".\n");
}

/* @run's counts are of one run: what was taken off them is known. */
static void print_exact(FILE *f, const struct how *how, const struct run *run, bool one_run)
{
	uint64_t excess = exact_excess(how, &run->sums);
	char buf[32];

	if (!how->correction.per_interrupt)
		fprintf(f, " This processor counts no instruction too many at an interrupt.\n");
	else if (one_run)
		fprintf(f, " From instructions:u %s were subtracted: this processor counts one too many at\n"
			" each interrupt.\n",
			thousands(exact_subtracted(how, &run->sums), buf));
	else
		fprintf(f, " Instructions:u are without those that this processor counts too many at\n"
			" interrupts.\n");
	if (how->correction.per_fault)
		fprintf(f, " But it counts one too many at each page fault as well: instructions:u may be\n"
			" too many by up to %s.\n", thousands(excess, buf));
}

static void print_notes(FILE *f, const struct events *events, const struct how *how,
			const struct run *run, bool one_run)
{
	bool unsaid = false, shared = events->n && run->source == PERFCTR_SOURCE_SHARED;
	unsigned int i;

	for (i = 0; i < events->n; i++)
		unsaid |= !events->event[i].modifier;
	if (unsaid && run->user_only)
		fprintf(f, " Events without a modifier were counted in user mode only: kernel mode needs\n"
			" %s.\n", which_privilege());
	else if (unsaid)
		fprintf(f, " Events without a modifier were counted in user and kernel mode.\n");
	if (how->no_idle)
		fprintf(f, " The idle tasks were left out.\n");
	if (how->exact)
		print_exact(f, how, run, one_run);
	if (shared)
		fprintf(f, " Counted through perf_events.\n");
	if (run->clock_only)
		print_clock_only(f, run);
	else if (!events->n)
		fprintf(f, " Only the clock was counted: perfctr has no other counters here.\n");
	if (run->sums.live)
		fprintf(f, " %" PRIu64 " thread%s that it started still ran when it ended.\n",
			(uint64_t)run->sums.live, run->sums.live == 1 ? "" : "s");
	if (!run->complete)
		fprintf(f, " The counts are INCOMPLETE: %s.\n", run->why);
	if (unsaid || how->no_idle || how->exact || shared || !events->n || !run->complete || run->sums.live)
		fprintf(f, "\n");
}

static void print_threads(FILE *f, char **argv, const struct events *events,
			  const struct how *how, const struct run *run)
{
	struct perfctr_member member;
	unsigned int i;
	bool first;

	fprintf(f, "%*s  %-16s", COLUMN / 2, "thread", "name");
	for (i = 0; i < events->n; i++)
		fprintf(f, " %*s%s", COLUMN - (int)strlen(modifier(&events->event[i], run)),
			events->event[i].name, modifier(&events->event[i], run));
	fprintf(f, "\n");
	for (first = true; next_thread(run, argv, &member, first); first = false) {
		exact_correct(how, member.nrctrs, member.sum);
		fprintf(f, "%*d  %-16s", COLUMN / 2, member.tid, member.comm);
		for (i = 0; i < member.nrctrs && i < events->n; i++) {
			fprintf(f, " ");
			print_number(f, is_member_counted(&member), member.sum[i]);
		}
		fprintf(f, "%s\n", member.error ? "  INCOMPLETE" : "");
	}
	fprintf(f, "\n");
}

/* A line for each CPU; on lines that begin with @time, of the interval, or NULL */
static void print_cpus(FILE *f, const struct events *events, const struct how *how,
		       const struct run *run, const char *time)
{
	unsigned int i, k;

	fprintf(f, "%s%*s", time ?: "", COLUMN / 2, "CPU");
	for (k = 0; k < events->n; k++)
		fprintf(f, " %*s%s", COLUMN - (int)strlen(modifier(&events->event[k], run)),
			events->event[k].name, modifier(&events->event[k], run));
	fprintf(f, "\n");
	for (i = 0; i < how->ncpus; i++) {
		const struct cpu_counts *now = cpus_counts(i), *before = cpus_before(i);

		fprintf(f, "%s%*u", time ?: "", COLUMN / 2, now->cpu);
		for (k = 0; k < events->n; k++) {
			fprintf(f, " ");
			print_number(f, now->clock != 0, now->sum[k] - (time ? before->sum[k] : 0));
		}
		fprintf(f, "%s%s\n", now->online ? "" : "  offline", now->lost ? "  INCOMPLETE" : "");
	}
	if (!time)
		fprintf(f, "\n");
}

static void print_soft(FILE *f, bool counted, const struct perfctr_soft *soft)
{
	char buf[32];

	print_number(f, counted, soft->switches);
	fprintf(f, "  context switches\n");
	print_number(f, counted, soft->migrations);
	fprintf(f, "  migrations to another CPU\n");
	print_number(f, counted, soft->minor_faults + soft->major_faults);
	fprintf(f, "  page faults");
	if (counted)
		fprintf(f, " (%s with input or output)", thousands(soft->major_faults, buf));
	fprintf(f, "\n");
}

static void print_clock(FILE *f, const struct perfctr_info *info, const struct how *how,
			const struct run *run)
{
	const char *where = how->ncpus ? "of all these CPUs" : "on a processor";
	char buf[32];

	if (info->tsc_hz && run->counted) {
		fprintf(f, "%*.9f  seconds %s (%s ticks of the clock)\n", COLUMN,
			(double)run->sums.clock / (double)info->tsc_hz, where,
			thousands(run->sums.clock, buf));
		return;
	}
	print_number(f, run->counted, run->sums.clock);
	fprintf(f, "  ticks of the clock, %s\n", where);
}

static void print_text_run(FILE *f, char **argv, const struct perfctr_info *info,
			   const struct events *events, const struct how *how,
			   const struct run *run)
{
	double ratio[PERFCTR_TOPDOWN_RATIOS];
	unsigned int i, known = topdown_shares(events, run->sums.sum, NULL, ratio);

	print_subject(f, argv, how);
	fprintf(f, "%s\n\n", run->complete ? ":" : ", INCOMPLETE:");

	if (how->per_thread)
		print_threads(f, argv, events, how, run);
	if (how->per_cpu)
		print_cpus(f, events, how, run, NULL);
	for (i = 0; i < events->n; i++) {
		print_number(f, is_counted(run, i), run->sums.sum[i]);
		fprintf(f, "  %s%s", events->event[i].name, modifier(&events->event[i], run));
		print_share(f, &events->event[i], known, ratio);
		fprintf(f, "\n");
	}
	print_rests(f, "", known, ratio);
	print_clock(f, info, how, run);
	if (!how->ncpus)
		print_soft(f, run->counted, &run->sums.soft);

	fprintf(f, "\n");
	print_seconds(f, elapsed(run), "seconds elapsed");
	/* What processes used that run already is not known from their beginning. */
	if (run->pid) {
		print_seconds(f, seconds(&run->usage.ru_utime), "seconds user");
		print_seconds(f, seconds(&run->usage.ru_stime), "seconds system");
	}
	fprintf(f, "\n");

	print_notes(f, events, how, run, true);
}

void print_run(FILE *f, char **argv, const struct perfctr_info *info,
	       const struct events *events, const struct how *how, const struct run *run)
{
	if (how->json)
		json_run(f, argv, info, events, how, run);
	else
		print_text_run(f, argv, info, events, how, run);
}

void print_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		    const struct how *how, const struct run *run,
		    const struct perfctr_read_tree *before)
{
	uint64_t clock = run->sums.clock - before->clock;
	double ratio[PERFCTR_TOPDOWN_RATIOS];
	unsigned int i, known = topdown_shares(events, run->sums.sum, before->sum, ratio);
	char time[32];

	(void)snprintf(time, sizeof(time), "%*.6f ", COLUMN - 4, elapsed(run));
	if (how->json) {
		json_interval(f, info, events, how, run, before);
	} else {
		if (how->per_cpu)
			print_cpus(f, events, how, run, time);
		for (i = 0; i < events->n; i++) {
			fprintf(f, "%s", time);
			print_number(f, is_counted(run, i), run->sums.sum[i] - before->sum[i]);
			fprintf(f, "  %s%s", events->event[i].name,
				modifier(&events->event[i], run));
			print_share(f, &events->event[i], known, ratio);
			fprintf(f, "\n");
		}
		print_rests(f, time, known, ratio);
		if (info->tsc_hz && run->counted)
			fprintf(f, "%s%*.9f  seconds %s\n", time, COLUMN,
				(double)clock / (double)info->tsc_hz,
				how->ncpus ? "of all these CPUs" : "on a processor");
	}
	fflush(f);
}

static double percent(const struct statistic *statistic)
{
	return statistic->mean != 0 ? 100 * deviation(statistic) / statistic->mean : 0;
}

static void print_mean_seconds(FILE *f, const struct statistic *statistic, double scale,
			       const char *what)
{
	fprintf(f, "%*.9f  seconds %s  (+- %.2f%%)\n", COLUMN, statistic->mean / scale, what,
		percent(statistic));
}

void print_statistics(FILE *f, char **argv, const struct perfctr_info *info,
		      const struct events *events, const struct how *how,
		      const struct run *run, const struct statistics *statistics)
{
	double ratio[PERFCTR_TOPDOWN_RATIOS];
	__u64 mean[PERFCTR_MAX_CTRS] = { 0 };
	unsigned int i, known;

	if (how->json) {
		json_statistics(f, argv, info, events, how, run, statistics);
		return;
	}
	print_subject(f, argv, how);
	fprintf(f, ", mean of %u runs%s\n\n", statistics->runs,
		run->complete ? ":" : ", INCOMPLETE:");
	for (i = 0; i < events->n; i++)
		mean[i] = (uint64_t)llround(statistics->count[i].mean);
	known = topdown_shares(events, mean, NULL, ratio);
	for (i = 0; i < events->n; i++) {
		const struct statistic *count = &statistics->count[i];

		print_number(f, count->n > 0, mean[i]);
		fprintf(f, "  %s%s", events->event[i].name, modifier(&events->event[i], run));
		print_share(f, &events->event[i], known, ratio);
		if (count->n > 0)
			fprintf(f, "  (+- %.2f%%)", percent(count));
		fprintf(f, "\n");
	}
	print_rests(f, "", known, ratio);
	if (info->tsc_hz && statistics->clock.n > 0)
		print_mean_seconds(f, &statistics->clock, (double)info->tsc_hz, "on a processor");
	fprintf(f, "\n");
	print_mean_seconds(f, &statistics->elapsed, 1, "elapsed");
	print_mean_seconds(f, &statistics->user, 1, "user");
	print_mean_seconds(f, &statistics->system, 1, "system");
	fprintf(f, "\n");
	print_notes(f, events, how, run, false);
}

/* Of perf's events only perf knows which ones there are, so each is tried. */
static const char *whether_here(int fd, const struct perfctr_info *info,
				const struct perfctr_ctr_control *ctr)
{
	struct perfctr_control control = {
		PERFCTR_CONTROL_INIT,
		.source = PERFCTR_SOURCE_ANY,
		.nractrs = 1,
		.ctr = { *ctr },
	};

	if (!perfctr_event_available(info, ctr))
		return "no";
	if (!(ctr->flags & PERFCTR_CTR_PERF))
		return "yes";
	control.ctr[0].flags |= PERFCTR_CTR_USER;
	if (!_vperfctr_control_native(fd, &control))
		return "yes";
	/* perf does not know it on a CPU. */
	return errno == EINVAL || errno == EXDEV ? "no" : "?";
}

void print_list(const struct perfctr_info *info)
{
	const struct perfctr_event_set *set = perfctr_event_names(info->cpu_type);
	struct perfctr_ctr_control ctr;
	unsigned int i;
	int fd;

	if (!set || !set->nevents || why_no_counters(info)) {
		printf("Of this processor (%s) this version of perfctr counts only the\n"
		       "clock, which is always counted.\n", perfctr_info_cpu_name(info));
		return;
	}
	fd = _vperfctr_open(1);
	printf("%-28s %-4s %s\n", "event", "here", "");
	for (i = 0; i < set->nevents; i++) {
		if (perfctr_event_parse(info->cpu_type, set->events[i].name, &ctr) < 0)
			continue;
		printf("%-28s %-4s %s\n", set->events[i].name, whether_here(fd, info, &ctr),
		       set->events[i].description);
	}
	if (fd >= 0)
		close(fd);
	if (perfctr_event_parse(info->cpu_type, "r0", &ctr) == 0)
		printf("%-28s %-4s %s\n", "rHEX",
		       perfctr_event_available(info, &ctr) ? "?" : "no",
		       "a raw event, by its number in the processor's manual");
	printf("\nWith :u counted in user mode, :k in kernel mode, :uk in both.\n");
}
