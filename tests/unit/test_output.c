// SPDX-License-Identifier: GPL-2.0
/* perfex: what is written of runs whose numbers are known, in each form. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/perfex/csv.h"
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

int main(void)
{
	TCase *tcase = tcase_create("output");

	tcase_add_test(tcase, zero_that_cannot_be);
	tcase_add_test(tcase, zero_that_can_be);
	tcase_add_test(tcase, zero_of_one_run);
	tcase_add_test(tcase, wide_columns);
	return run_tests("output", tcase);
}
