// SPDX-License-Identifier: GPL-2.0
/* perfex: what is written of runs whose numbers are known, in each form. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "count/cpus.h"
#include "out/csv.h"
#include "out/json.h"
#include "out/text.h"
#include "run.h"

#define U	PERFCTR_CTR_USER
#define K	PERFCTR_CTR_KERNEL

static struct perfctr_info info = { .cpu_type = PERFCTR_X86_INTEL_ARCH, .tsc_hz = 1000000000 };
static struct events events;
static struct how how;
static struct run run;
static struct series series;
static char text[16384];
static char *argv[] = { (char[]){ "program" }, NULL };

/* Of cpus.c: CPU 2 was lost, and CPU 5 was never there. */
static const struct cpu_counts cpu_now[] = {
	{ .cpu = 0, .online = true, .clock = 900, .sum = { 5000, 700 } },
	{ .cpu = 2, .online = true, .lost = true, .clock = 800, .sum = { 4000, 600 } },
	{ .cpu = 5 },
}, cpu_before[] = {
	{ .cpu = 0, .online = true, .clock = 300, .sum = { 1000, 200 } },
	{ .cpu = 2, .online = true, .clock = 300, .sum = { 1500, 100 } },
	{ .cpu = 5 },
};

const struct cpu_counts *cpus_counts(unsigned int i)
{
	return &cpu_now[i];
}

const struct cpu_counts *cpus_before(unsigned int i)
{
	return &cpu_before[i];
}

/* Of the kernel, in place of the C library's: the first thread, and those that it made */
static const struct perfctr_member members[] = {
	{ .tid = 1000, .tgid = 1000, .clock = 9, .nrctrs = 2, .sum = { 100, 200 },
	  .soft = { 1, 2, 3, 4, 5000000000 } },
	{ .tid = 1001, .tgid = 1000, .comm = "whole", .clock = 5, .nrctrs = 2, .sum = { 300, 400 },
	  .soft = { 6, 7, 8, 9, 10000000 } },
	{ .tid = 1002, .tgid = 1002, .comm = "in part", .clock = 5, .nrctrs = 2, .sum = { 500, 600 },
	  .error = 1 },
	{ .tid = 1003, .tgid = 1003, .comm = "never", .nrctrs = 2, .error = 1 },
};

int ioctl(int fd, unsigned long request, ...)
{
	static unsigned int next;
	struct perfctr_member *member;
	struct perfctr_read *sums;
	va_list args;

	(void)fd;
	va_start(args, request);
	if (request == PERFCTR_IOC_READ) {
		sums = va_arg(args, struct perfctr_read *);
		sums->nrctrs = members[0].nrctrs;
		sums->clock = members[0].clock;
		memcpy(sums->sum, members[0].sum, sizeof(sums->sum));
		sums->soft = members[0].soft;
		next = 1;
	} else {
		ck_assert(request == PERFCTR_IOC_NEXT_MEMBER);
		member = va_arg(args, struct perfctr_member *);
		if (next < sizeof(members) / sizeof(members[0]))
			*member = members[next];
	}
	va_end(args);
	if (request == PERFCTR_IOC_READ || next++ < sizeof(members) / sizeof(members[0]))
		return 0;
	errno = ENOENT;
	return -1;
}

static void add_event(const char *name, unsigned int modes, uint64_t count)
{
	struct event *event = &events.event[events.n];

	(void)snprintf(event->name, sizeof(event->name), "%s", name);
	ck_assert_int_eq(perfctr_event_parse(info.cpu_type, name, &event->ctr), 0);
	event->ctr.flags = (event->ctr.flags & ~(__u32)MODES) | modes;
	event->modifier = true;
	run.sums.sum[events.n] = count;
	run.sums.nrctrs = ++events.n;
}

/* A run that ended with 0, and whose counts are all there; without events yet */
static void begin(void)
{
	memset(&events, 0, sizeof(events));
	memset(&how, 0, sizeof(how));
	memset(&run, 0, sizeof(run));
	how.repeat = 1;
	run.pid = 1000;
	run.counted = run.complete = true;
	run.sums.clock = 1000000;
	run.end.tv_sec = 1;
	series_free(&series);
}

static const char *written(void (*print)(FILE *f))
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	ck_assert_ptr_nonnull(f);
	print(f);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

static void as_text(FILE *f)
{
	text_run(f, argv, &info, &events, &how, &run);
}

static void as_json(FILE *f)
{
	json_run(f, argv, &info, &events, &how, &run);
}

static void as_csv(FILE *f)
{
	csv_run(f, argv, &info, &events, &how, &run);
}

static void series_as_text(FILE *f)
{
	text_series(f, argv, &events, &how, &run, &series);
}

static void series_as_csv(FILE *f)
{
	csv_series(f, &how, &run, &series);
}

static void series_as_json(FILE *f)
{
	json_series(f, argv, &info, &events, &how, &run, &series);
}

static void has(void (*print)(FILE *f), const char *words)
{
	ck_assert_msg(strstr(written(print), words), "no \"%s\" in \"%s\"", words, text);
}

/* A program that ended by itself has executed something in user mode. */
START_TEST(zero_that_cannot_be)
{
	begin();
	add_event("instructions", U, 0);
	add_event("cycles", U | K, 0);
	add_event("instructions", K, 0);
	add_event("branch-misses", U, 0);
	add_event("instructions", U, 5);
	note_zeroes(&info, &events, &how, &run);
	ck_assert_uint_eq(run.zeroes, 3);
	ck_assert_int_eq(exit_status(&run), 123);
	has(as_text, "       <not counted>  instructions:u\n       <not counted>  cycles:uk\n"
	    "                   0  instructions:k\n                   0  branch-misses:u\n"
	    "                   5  instructions:u\n");
	has(as_text, " Instructions or cycles of a program that ran cannot be 0, and so are not counted:\n"
	    " a hypervisor, the firmware or another program may");
	has(as_json, "{\"event\": \"instructions\", \"user\": true, \"kernel\": false, \"count\": null}");
	has(as_json, "{\"event\": \"cycles\", \"user\": true, \"kernel\": true, \"count\": null}");
	has(as_json, "{\"event\": \"instructions\", \"user\": false, \"kernel\": true, \"count\": 0}");
	has(as_json, "\"complete\": true, \"incomplete_because\": null, \"not_counted_because\": \"a hypervisor");
	has(as_csv, ",,instructions,u,,\n");
	has(as_csv, ",,cycles,uk,,\n");
	has(as_csv, ",,instructions,k,,0\n");
	/* Nor does anything follow from it. */
	ck_assert_ptr_null(strstr(written(as_csv), "instructions per cycle"));
	ck_assert_ptr_null(strstr(written(as_csv), "GHz"));
	/* The module may know why. */
	info.no_counters = PERFCTR_NO_COUNTERS_TRIAL;
	note_zeroes(&info, &events, &how, &run);
	info.no_counters = PERFCTR_NO_COUNTERS_NONE;
	has(as_text, " none of the counters counted a loop of known length as the module was loaded:\n"
	    " a hypervisor or the firmware may keep them.\n");
}
END_TEST

static void is_zero(void)
{
	note_zeroes(&info, &events, &how, &run);
	ck_assert_uint_eq(run.zeroes, 0);
	has(as_json, "\"count\": 0}");
	has(as_json, "\"not_counted_because\": null");
}

/* Where 0 may be the truth it is a number as any other. */
START_TEST(zero_that_can_be)
{
	static pid_t pid = 5;
	static unsigned int cpu;

	begin();
	add_event("instructions", K, 0);
	is_zero();
	ck_assert_int_eq(exit_status(&run), 0);
	begin();
	add_event("instructions", U, 0);
	/* A signal has killed it, perhaps before its first instruction. */
	run.status = SIGKILL;
	is_zero();
	run.status = 0;
	run.complete = false;
	run.why = "";
	is_zero();
	ck_assert_int_eq(exit_status(&run), 125);
	run.complete = true;
	/* It slept; and without a program there are no threads that must have run. */
	how.pids = &pid;
	how.npids = 1;
	is_zero();
	how.npids = 0;
	note_zeroes(&info, &events, &how, &run);
	ck_assert_uint_eq(run.zeroes, 1);
	how.cpus = &cpu;
	how.ncpus = 1;
	note_zeroes(&info, &events, &how, &run);
	ck_assert_uint_eq(run.zeroes, 0);
	how.ncpus = 0;
	/* Events without a modifier, where kernel mode was left out */
	events.event[0].modifier = false;
	run.user_only = true;
	note_zeroes(&info, &events, &how, &run);
	ck_assert_uint_eq(run.zeroes, 1);
	/* Counting that never began has no count, and no zero. */
	run.counted = false;
	note_zeroes(&info, &events, &how, &run);
	ck_assert_uint_eq(run.zeroes, 0);
}
END_TEST

static void add_run(uint64_t count, int status)
{
	run.sums.sum[0] = count;
	run.status = status;
	note_zeroes(&info, &events, &how, &run);
	ck_assert(series_add(&series, &run, false, series_values(&info, &events, &how, &run, NULL)));
}

/* Of several runs it is in no mean, and decides the exit status unless one failed. */
START_TEST(zero_of_one_run)
{
	struct run worst, good;

	begin();
	add_event("instructions", U, 0);
	add_run(1000, 0);
	good = run;
	add_run(0, 0);
	ck_assert(decides(false, &good, &run));
	ck_assert(!decides(false, &run, &good));
	/* The first of a kind */
	ck_assert(!decides(false, &run, &run));
	ck_assert(!decides(false, &good, &good));
	worst = run;
	has(series_as_text, "', mean of 2 runs:\n");
	has(series_as_csv, "\ninstructions,u,,1,0,1000.000,0.000,1000.000,1000.000,1000.000\n");
	has(series_as_json, "\"not_counted_because\": \"");
	add_run(7, 3 << 8);
	ck_assert(decides(false, &worst, &run));
	ck_assert(!decides(false, &run, &run));
	ck_assert_int_eq(exit_status(&run), 3);
	has(series_as_csv, "\ninstructions,u,,1,1,1000.000,");
}
END_TEST

/* From 10^12 on a number is as wide as its column. */
START_TEST(wide_columns)
{
	begin();
	add_event("instructions", U, 0);
	add_run(1000000000000, 0);
	add_run(1000000000000, 0);
	has(series_as_text, "             mean       sd          minimum           median          maximum\n"
	    " 1,000,000,000,000    0.00% 1,000,000,000,000 1,000,000,000,000 1,000,000,000,000"
	    "  instructions:u\n");
	add_run(1000, 0);
	add_run(1000, 1);
	has(series_as_text, "', mean of 3 runs  (1 of 4 runs failed):\n");
	has(series_as_text, "\n  666,666,667,000   86.60%            1,000 1,000,000,000,000 1,000,000,000,000"
	    "  instructions:u\n");
}
END_TEST

static struct moment before;

static void interval_as_text(FILE *f)
{
	text_interval(f, &info, &events, &how, &run, &before);
}

static void interval_as_json(FILE *f)
{
	json_interval(f, &info, &events, &how, &run, &before);
}

static void interval_as_csv(FILE *f)
{
	csv_interval(f, &info, &events, &how, &run, &before);
}

static void is(void (*print)(FILE *f), const char *words)
{
	ck_assert_str_eq(written(print), words);
}

static void begins(void (*print)(FILE *f), const char *words)
{
	ck_assert_msg(!strncmp(written(print), words, strlen(words)), "not \"%s\" begins \"%s\"", words, text);
}

/* A run whose numbers are all different */
static void begin_run(void)
{
	begin();
	add_event("instructions", U, 3000000000);
	add_event("cycles", U | K, 2000000000);
	run.sums.clock = 1500000000;
	run.sums.soft = (struct perfctr_soft){
		.switches = 11, .migrations = 2, .minor_faults = 300, .major_faults = 4,
		.task_clock = 1250000000,
	};
	run.sums.ended = 5;
	run.sums.live = 2;
	run.sums.missed = 1;
	run.usage.ru_utime.tv_usec = 750000;
	run.usage.ru_stime.tv_usec = 250000;
	run.end.tv_sec = 2;
	run.end.tv_nsec = 500000000;
}

START_TEST(forms_of_a_run)
{
	begin_run();
	is(as_text, "\n"
	   " Counts of 'program':\n"
	   "\n"
	   "       3,000,000,000  instructions:u\n"
	   "       2,000,000,000  cycles:uk\n"
	   "           1.333 GHz  cycles per nanosecond:uk\n"
	   "               0.600  processors used\n"
	   "         1.500000000  seconds on a processor (1,500,000,000 ticks of the clock)\n"
	   "                  11  context switches\n"
	   "                   2  migrations to another CPU\n"
	   "                 304  page faults (4 with input or output)\n"
	   "\n"
	   "         2.500000000  seconds elapsed\n"
	   "         0.750000000  seconds user\n"
	   "         0.250000000  seconds system\n"
	   "\n"
	   " 2 threads that it started still ran when it ended.\n"
	   "\n");
	is(as_json, "{\"command\": [\"program\"], \"counts\": [{\"event\": \"instructions\", \"user\": true, "
	   "\"kernel\": false, \"count\": 3000000000}, {\"event\": \"cycles\", \"user\": true, "
	   "\"kernel\": true, \"count\": 2000000000}], \"clock\": {\"ticks\": 1500000000, "
	   "\"hz\": 1000000000, \"seconds\": 1.500000000}, "
	   "\"derived\": [{\"name\": \"cycles per nanosecond\", \"user\": true, \"kernel\": true, "
	   "\"unit\": \"GHz\", \"value\": 1.333333}, {\"name\": \"processors used\", "
	   "\"unit\": \"\", \"value\": 0.600000}], \"kernel_counts\": {\"context_switches\": 11, "
	   "\"migrations\": 2, \"minor_faults\": 300, \"major_faults\": 4, "
	   "\"task_clock\": 1.250000000}, \"descendants_ended\": 5, \"descendants_live\": 2, "
	   "\"descendants_missed\": 1, \"elapsed\": 2.500000000, \"user\": 0.750000, "
	   "\"system\": 0.250000, \"source\": \"native\", \"user_only\": false, \"complete\": true, "
	   "\"incomplete_because\": null, \"not_counted_because\": null, \"exit_status\": 0, "
	   "\"signal\": null}\n");
	is(as_csv, "record,time,part,name,mode,unit,value\n"
	   "total,2.500000000,,instructions,u,,3000000000\n"
	   "total,2.500000000,,cycles,uk,,2000000000\n"
	   "total,2.500000000,,clock,,,1500000000\n"
	   "total,2.500000000,,context switches,,,11\n"
	   "total,2.500000000,,migrations,,,2\n"
	   "total,2.500000000,,minor faults,,,300\n"
	   "total,2.500000000,,major faults,,,4\n"
	   "total,2.500000000,,on a processor,,s,1.500000000\n"
	   "total,2.500000000,,elapsed,,s,2.500000000\n"
	   "total,2.500000000,,user,,s,0.750000000\n"
	   "total,2.500000000,,system,,s,0.250000000\n"
	   "total,2.500000000,,cycles per nanosecond,uk,GHz,1.333333\n"
	   "total,2.500000000,,processors used,,,0.600000\n");
	/* What ended by a signal, too early, and of which not all was allowed */
	run.status = SIGTERM;
	run.complete = false;
	run.why = "a \"reason\"";
	run.user_only = true;
	events.event[1].modifier = false;
	has(as_text, "Counts of 'program', INCOMPLETE:\n\n");
	has(as_text, "       2,000,000,000  cycles:u\n");
	has(as_text, " Events without a modifier were counted in user mode only: kernel mode needs\n");
	has(as_text, " The counts are INCOMPLETE: a \"reason\".\n");
	has(as_json, ", \"user_only\": true, \"complete\": false, \"incomplete_because\": \"a \\\"reason\\\"\", "
	    "\"not_counted_because\": null, \"exit_status\": null, \"signal\": 15}\n");
	has(as_csv, ",cycles,u,,2000000000\n");
	run.status = 3 << 8;
	run.sums.live = 1;
	has(as_json, "\"exit_status\": 3, \"signal\": null}\n");
	has(as_text, " 1 thread that it started still ran when it ended.\n");
}
END_TEST

static void begin_interval(void)
{
	begin_run();
	before.sums = run.sums;
	before.sums.clock = 500000000;
	before.sums.sum[0] = 1000000000;
	before.sums.sum[1] = 800000000;
	before.sums.soft = (struct perfctr_soft){
		.switches = 3, .migrations = 1, .minor_faults = 200, .major_faults = 1,
	};
	before.elapsed = 0.5;
	how.interval = 100;
}

START_TEST(forms_of_an_interval)
{
	begin_interval();
	is(interval_as_text, "        2.500000        2,000,000,000  instructions:u\n"
	   "        2.500000        1,200,000,000  cycles:uk\n"
	   "        2.500000            1.200 GHz  cycles per nanosecond:uk\n"
	   "        2.500000                0.500  processors used\n"
	   "        2.500000          1.000000000  seconds on a processor\n");
	is(interval_as_json, "{\"interval\": 2.500000000, \"counts\": [{\"event\": \"instructions\", \"user\": true, "
	   "\"kernel\": false, \"count\": 2000000000}, {\"event\": \"cycles\", \"user\": true, "
	   "\"kernel\": true, \"count\": 1200000000}], \"clock\": {\"ticks\": 1000000000, "
	   "\"hz\": 1000000000, \"seconds\": 1.000000000}, "
	   "\"derived\": [{\"name\": \"cycles per nanosecond\", \"user\": true, \"kernel\": true, "
	   "\"unit\": \"GHz\", \"value\": 1.200000}, {\"name\": \"processors used\", "
	   "\"unit\": \"\", \"value\": 0.500000}], \"live\": 2}\n");
	is(interval_as_csv, "interval,2.500000000,,instructions,u,,2000000000\n"
	   "interval,2.500000000,,cycles,uk,,1200000000\n"
	   "interval,2.500000000,,clock,,,1000000000\n"
	   "interval,2.500000000,,context switches,,,8\n"
	   "interval,2.500000000,,migrations,,,1\n"
	   "interval,2.500000000,,minor faults,,,100\n"
	   "interval,2.500000000,,major faults,,,3\n"
	   "interval,2.500000000,,on a processor,,s,1.000000000\n"
	   "interval,2.500000000,,elapsed,,s,2.000000000\n"
	   "interval,2.500000000,,cycles per nanosecond,uk,GHz,1.200000\n"
	   "interval,2.500000000,,processors used,,,0.500000\n");
	/* The header is before the first one, and not before the run. */
	before.elapsed = 0;
	begins(interval_as_csv, "record,time,part,name,mode,unit,value\ninterval,2.500000000,,instr");
	begins(as_csv, "total,2.500000000,,instructions,");
}
END_TEST

static void begin_cpus(void)
{
	static unsigned int cpus[] = { 0, 2, 5 };

	begin_interval();
	how.cpus = cpus;
	how.ncpus = 3;
	how.per_cpu = true;
	how.no_idle = true;
	run.pid = 0;
	run.sums.live = 0;
}

START_TEST(forms_of_cpus)
{
	begin_cpus();
	is(as_text, "\n"
	   " Counts of CPUs 0, 2, 5 during 'program':\n"
	   "\n"
	   "       CPU       instructions:u            cycles:uk\n"
	   "         0                5,000                  700\n"
	   "         2                4,000                  600  INCOMPLETE\n"
	   "         5        <not counted>        <not counted>  offline\n"
	   "\n"
	   "       3,000,000,000  instructions:u\n"
	   "       2,000,000,000  cycles:uk\n"
	   "           1.333 GHz  cycles per nanosecond:uk\n"
	   "               0.600  processors used\n"
	   "         1.500000000  seconds of all these CPUs (1,500,000,000 ticks of the clock)\n"
	   "\n"
	   "         2.500000000  seconds elapsed\n"
	   "\n"
	   " The idle tasks were left out.\n"
	   "\n");
	is(as_json, "{\"cpus\": [0, 2, 5], \"command\": [\"program\"], "
	   "\"counts\": [{\"event\": \"instructions\", \"user\": true, \"kernel\": false, "
	   "\"count\": 3000000000}, {\"event\": \"cycles\", \"user\": true, \"kernel\": true, "
	   "\"count\": 2000000000}], \"clock\": {\"ticks\": 1500000000, \"hz\": 1000000000, "
	   "\"seconds\": 1.500000000}, \"derived\": [{\"name\": \"cycles per nanosecond\", "
	   "\"user\": true, \"kernel\": true, \"unit\": \"GHz\", \"value\": 1.333333}, "
	   "{\"name\": \"processors used\", \"unit\": \"\", \"value\": 0.600000}], "
	   "\"per_cpu\": [{\"cpu\": 0, \"online\": true, \"complete\": true, \"counts\": [5000, "
	   "700], \"ticks\": 900}, {\"cpu\": 2, \"online\": true, \"complete\": false, "
	   "\"counts\": [4000, 600], \"ticks\": 800}, {\"cpu\": 5, \"online\": false, "
	   "\"complete\": true, \"counts\": [null, null], \"ticks\": 0}], \"elapsed\": 2.500000000, "
	   "\"source\": \"native\", \"user_only\": false, \"complete\": true, "
	   "\"incomplete_because\": null, \"not_counted_because\": null, \"exit_status\": 0, "
	   "\"signal\": null}\n");
	is(as_csv, "total,2.500000000,,instructions,u,,3000000000\n"
	   "total,2.500000000,,cycles,uk,,2000000000\n"
	   "total,2.500000000,,clock,,,1500000000\n"
	   "total,2.500000000,,on a processor,,s,1.500000000\n"
	   "total,2.500000000,,elapsed,,s,2.500000000\n"
	   "total,2.500000000,,cycles per nanosecond,uk,GHz,1.333333\n"
	   "total,2.500000000,,processors used,,,0.600000\n"
	   "total,2.500000000,CPU 0,instructions,u,,5000\n"
	   "total,2.500000000,CPU 0,cycles,uk,,700\n"
	   "total,2.500000000,CPU 2,instructions,u,,4000\n"
	   "total,2.500000000,CPU 2,cycles,uk,,600\n"
	   "total,2.500000000,CPU 5,instructions,u,,\n"
	   "total,2.500000000,CPU 5,cycles,uk,,\n");
	is(interval_as_text, "        2.500000        CPU       instructions:u            cycles:uk\n"
	   "        2.500000          0                4,000                  500\n"
	   "        2.500000          2                2,500                  500  INCOMPLETE\n"
	   "        2.500000          5        <not counted>        <not counted>  offline\n"
	   "        2.500000        2,000,000,000  instructions:u\n"
	   "        2.500000        1,200,000,000  cycles:uk\n"
	   "        2.500000            1.200 GHz  cycles per nanosecond:uk\n"
	   "        2.500000                0.500  processors used\n"
	   "        2.500000          1.000000000  seconds of all these CPUs\n");
	is(interval_as_json, "{\"interval\": 2.500000000, \"counts\": [{\"event\": \"instructions\", \"user\": true, "
	   "\"kernel\": false, \"count\": 2000000000}, {\"event\": \"cycles\", \"user\": true, "
	   "\"kernel\": true, \"count\": 1200000000}], \"clock\": {\"ticks\": 1000000000, "
	   "\"hz\": 1000000000, \"seconds\": 1.000000000}, "
	   "\"derived\": [{\"name\": \"cycles per nanosecond\", \"user\": true, \"kernel\": true, "
	   "\"unit\": \"GHz\", \"value\": 1.200000}, {\"name\": \"processors used\", "
	   "\"unit\": \"\", \"value\": 0.500000}], \"per_cpu\": [{\"cpu\": 0, \"online\": true, "
	   "\"complete\": true, \"counts\": [4000, 500], \"ticks\": 600}, {\"cpu\": 2, "
	   "\"online\": true, \"complete\": false, \"counts\": [2500, 500], \"ticks\": 500}, "
	   "{\"cpu\": 5, \"online\": false, \"complete\": true, \"counts\": [null, null], "
	   "\"ticks\": 0}], \"live\": 0}\n");
	is(interval_as_csv, "interval,2.500000000,,instructions,u,,2000000000\n"
	   "interval,2.500000000,,cycles,uk,,1200000000\n"
	   "interval,2.500000000,,clock,,,1000000000\n"
	   "interval,2.500000000,,on a processor,,s,1.000000000\n"
	   "interval,2.500000000,,elapsed,,s,2.000000000\n"
	   "interval,2.500000000,,cycles per nanosecond,uk,GHz,1.200000\n"
	   "interval,2.500000000,,processors used,,,0.500000\n"
	   "interval,2.500000000,CPU 0,instructions,u,,4000\n"
	   "interval,2.500000000,CPU 0,cycles,uk,,500\n"
	   "interval,2.500000000,CPU 2,instructions,u,,2500\n"
	   "interval,2.500000000,CPU 2,cycles,uk,,500\n"
	   "interval,2.500000000,CPU 5,instructions,u,,\n"
	   "interval,2.500000000,CPU 5,cycles,uk,,\n");
}
END_TEST

START_TEST(forms_of_threads)
{
	static char path[] = "/bin/first";

	begin_run();
	how.per_thread = true;
	argv[0] = path;
	has(as_text, "    thread  name                   instructions:u            cycles:uk\n"
	    "      1000  first                             100                  200\n"
	    "      1001  whole                             300                  400\n"
	    "      1002  in part                           500                  600  INCOMPLETE\n"
	    "      1003  never                   <not counted>        <not counted>  INCOMPLETE\n\n");
	has(as_json, ", \"threads\": [{\"tid\": 1000, \"pid\": 1000, \"name\": \"first\", \"complete\": true, "
	    "\"counts\": [100, 200], \"context_switches\": 1, \"migrations\": 2, \"minor_faults\": 3, "
	    "\"major_faults\": 4, \"task_clock\": 5.000000000}, {\"tid\": 1001, \"pid\": 1000, "
	    "\"name\": \"whole\", \"complete\": true, \"counts\": [300, 400], \"context_switches\": 6, "
	    "\"migrations\": 7, \"minor_faults\": 8, \"major_faults\": 9, \"task_clock\": 0.010000000}, "
	    "{\"tid\": 1002, \"pid\": 1002, \"name\": \"in part\", \"complete\": false, "
	    "\"counts\": [500, 600], \"context_switches\": 0, \"migrations\": 0, \"minor_faults\": 0, "
	    "\"major_faults\": 0, \"task_clock\": 0.000000000}, {\"tid\": 1003, \"pid\": 1003, "
	    "\"name\": \"never\", \"complete\": false, \"counts\": [null, null], "
	    "\"context_switches\": null, \"migrations\": null, \"minor_faults\": null, "
	    "\"major_faults\": null, \"task_clock\": null}], \"kernel_counts\": {");
	has(as_csv, "\ntotal,2.500000000,thread 1000 first,instructions,u,,100\n"
	    "total,2.500000000,thread 1000 first,cycles,uk,,200\n"
	    "total,2.500000000,thread 1001 whole,instructions,u,,300\n"
	    "total,2.500000000,thread 1001 whole,cycles,uk,,400\n"
	    "total,2.500000000,thread 1002 in part,instructions,u,,500\n"
	    "total,2.500000000,thread 1002 in part,cycles,uk,,600\n"
	    "total,2.500000000,thread 1003 never,instructions,u,,\n"
	    "total,2.500000000,thread 1003 never,cycles,uk,,\n");
}
END_TEST

/* --exact: the third counter has the interrupts. */
START_TEST(forms_of_exact)
{
	begin_interval();
	how.exact = true;
	how.correction.per_interrupt = 1;
	how.correction.per_fault = 1;
	how.correction.counter = 2;
	run.sums.sum[2] = 40;
	before.sums.sum[2] = 10;
	has(as_text, "\n From instructions:u 40 were subtracted: this processor counts one too many at\n"
	    " each interrupt.\n But it counts one too many at each page fault as well: instructions:u may be\n"
	    " too many by up to 304.\n");
	has(as_json, ", \"exact\": {\"subtracted\": 40, \"still_too_many_at_most\": 304}, ");
	has(as_csv, "\ntotal,2.500000000,,subtracted,,,40\n");
	has(interval_as_json, ", \"exact\": {\"subtracted\": 30, \"still_too_many_at_most\": 103}, ");
	has(interval_as_csv, "\ninterval,2.500000000,,subtracted,,,30\n");
	run.counted = false;
	has(as_json, ", \"exact\": {\"subtracted\": null, \"still_too_many_at_most\": null}, ");
}
END_TEST

START_TEST(forms_of_a_series)
{
	static const struct {
		uint64_t instructions;
		int status;
		bool warms_up;
	} rows[] = { { 900, 0, true }, { 950, 1 << 8, true }, { 10, 0, false }, { 777, 1 << 8, false },
		     { 30, 0, false }, { 14, 0, false } };
	unsigned int i;

	begin_run();
	how.repeat = 4;
	how.warm_up = 2;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run.sums.sum[0] = rows[i].instructions;
		run.status = rows[i].status;
		ck_assert(series_add(&series, &run, rows[i].warms_up,
				     series_values(&info, &events, &how, &run, NULL)));
	}
	is(series_as_text, "\n"
	   " Counts of 'program', mean of 3 runs after 2 to warm up  (1 of 4 runs failed, 1 to warm up failed):\n"
	   "\n"
	   "             mean       sd          minimum           median          maximum\n"
	   "               18   58.79%               10               14               30  instructions:u\n"
	   "    2,000,000,000    0.00%    2,000,000,000    2,000,000,000    2,000,000,000  cycles:uk\n"
	   "               11    0.00%               11               11               11  context switches\n"
	   "                2    0.00%                2                2                2  migrations\n"
	   "              300    0.00%              300              300              300  minor faults\n"
	   "                4    0.00%                4                4                4  major faults\n"
	   "      1.500000000    0.00%      1.500000000      1.500000000      1.500000000  seconds on a processor\n"
	   "      2.500000000    0.00%      2.500000000      2.500000000      2.500000000  seconds elapsed\n"
	   "      0.750000000    0.00%      0.750000000      0.750000000      0.750000000  seconds user\n"
	   "      0.250000000    0.00%      0.250000000      0.250000000      0.250000000  seconds system\n"
	   "        1.333 GHz    0.00%        1.333 GHz        1.333 GHz        1.333 GHz  cycles per nanosecond:uk\n"
	   "            0.600    0.00%            0.600            0.600            0.600  processors used\n"
	   "\n"
	   " 2 threads that it started still ran when it ended.\n"
	   "\n");
	is(series_as_json, "{\"command\": [\"program\"], \"runs\": 3, \"failed\": 1, \"warm_up_failed\": 1, "
	   "\"interrupted\": false, \"warm_up_runs\": 2, \"counts\": [{\"event\": \"instructions\", "
	   "\"user\": true, \"kernel\": false, \"mean\": 18.000, \"deviation\": 10.583, "
	   "\"minimum\": 10.000, \"median\": 14.000, \"maximum\": 30.000}, {\"event\": \"cycles\", "
	   "\"user\": true, \"kernel\": true, \"mean\": 2000000000.000, \"deviation\": 0.000, "
	   "\"minimum\": 2000000000.000, \"median\": 2000000000.000, \"maximum\": 2000000000.000}], "
	   "\"derived\": [{\"name\": \"cycles per nanosecond\", \"user\": true, \"kernel\": true, "
	   "\"unit\": \"GHz\", \"mean\": 1.333333, \"deviation\": 0.000000, \"minimum\": 1.333333, "
	   "\"median\": 1.333333, \"maximum\": 1.333333}, {\"name\": \"processors used\", "
	   "\"unit\": \"\", \"mean\": 0.600000, \"deviation\": 0.000000, \"minimum\": 0.600000, "
	   "\"median\": 0.600000, \"maximum\": 0.600000}], \"clock\": {\"hz\": 1000000000, "
	   "\"mean\": 1500000000.000, \"deviation\": 0.000, \"minimum\": 1500000000.000, "
	   "\"median\": 1500000000.000, \"maximum\": 1500000000.000}, "
	   "\"kernel_counts\": {\"context_switches\": {\"mean\": 11.000, \"deviation\": 0.000, "
	   "\"minimum\": 11.000, \"median\": 11.000, \"maximum\": 11.000}, "
	   "\"migrations\": {\"mean\": 2.000, \"deviation\": 0.000, \"minimum\": 2.000, "
	   "\"median\": 2.000, \"maximum\": 2.000}, \"minor_faults\": {\"mean\": 300.000, "
	   "\"deviation\": 0.000, \"minimum\": 300.000, \"median\": 300.000, \"maximum\": 300.000}, "
	   "\"major_faults\": {\"mean\": 4.000, \"deviation\": 0.000, \"minimum\": 4.000, "
	   "\"median\": 4.000, \"maximum\": 4.000}}, \"on_a_processor\": {\"mean\": 1.500000000, "
	   "\"deviation\": 0.000000000, \"minimum\": 1.500000000, \"median\": 1.500000000, "
	   "\"maximum\": 1.500000000}, \"elapsed\": {\"mean\": 2.500000000, "
	   "\"deviation\": 0.000000000, \"minimum\": 2.500000000, \"median\": 2.500000000, "
	   "\"maximum\": 2.500000000}, \"user\": {\"mean\": 0.750000000, "
	   "\"deviation\": 0.000000000, \"minimum\": 0.750000000, \"median\": 0.750000000, "
	   "\"maximum\": 0.750000000}, \"system\": {\"mean\": 0.250000000, "
	   "\"deviation\": 0.000000000, \"minimum\": 0.250000000, \"median\": 0.250000000, "
	   "\"maximum\": 0.250000000}, \"source\": \"native\", \"user_only\": false, "
	   "\"complete\": true, \"incomplete_because\": null, \"not_counted_because\": null, "
	   "\"exit_status\": 0, \"signal\": null}\n");
	is(series_as_csv, "name,mode,unit,runs,failed,mean,sd,minimum,median,maximum\n"
	   "instructions,u,,3,1,18.000,10.583,10.000,14.000,30.000\n"
	   "cycles,uk,,3,1,2000000000.000,0.000,2000000000.000,2000000000.000,2000000000.000\n"
	   "clock,,,3,1,1500000000.000,0.000,1500000000.000,1500000000.000,1500000000.000\n"
	   "context switches,,,3,1,11.000,0.000,11.000,11.000,11.000\n"
	   "migrations,,,3,1,2.000,0.000,2.000,2.000,2.000\n"
	   "minor faults,,,3,1,300.000,0.000,300.000,300.000,300.000\n"
	   "major faults,,,3,1,4.000,0.000,4.000,4.000,4.000\n"
	   "on a processor,,s,3,1,1.500000000,0.000000000,1.500000000,1.500000000,1.500000000\n"
	   "elapsed,,s,3,1,2.500000000,0.000000000,2.500000000,2.500000000,2.500000000\n"
	   "user,,s,3,1,0.750000000,0.000000000,0.750000000,0.750000000,0.750000000\n"
	   "system,,s,3,1,0.250000000,0.000000000,0.250000000,0.250000000,0.250000000\n"
	   "cycles per nanosecond,uk,GHz,3,1,1.333333,0.000000,1.333333,1.333333,1.333333\n"
	   "processors used,,,3,1,0.600000,0.000000,0.600000,0.600000,0.600000\n");
	how.pass = 2;
	how.passes = 3;
	has(series_as_text, "\n Counts of 'program', pass 2 of 3, mean of 3 runs after 2 to warm up  (");
	has(series_as_json, "\"command\": [\"program\"], \"pass\": 2, \"passes\": 3, \"runs\": 3, ");
	begins(series_as_csv, "2,instructions,u,,3,1,18.000,");
	how.pass = 1;
	begins(series_as_csv, "pass,name,mode,unit,runs,failed,mean,sd,minimum,median,maximum\n1,instr");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("output");

	tcase_add_test(tcase, zero_that_cannot_be);
	tcase_add_test(tcase, zero_that_can_be);
	tcase_add_test(tcase, zero_of_one_run);
	tcase_add_test(tcase, wide_columns);
	tcase_add_test(tcase, forms_of_a_run);
	tcase_add_test(tcase, forms_of_an_interval);
	tcase_add_test(tcase, forms_of_cpus);
	tcase_add_test(tcase, forms_of_threads);
	tcase_add_test(tcase, forms_of_exact);
	tcase_add_test(tcase, forms_of_a_series);
	return run_tests("output", tcase);
}
