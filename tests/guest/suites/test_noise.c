// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions without noise: what libperfctr and perfex take off the counts of a processor that
 * counts an instruction too many at each interrupt, and that they take nothing off others.
 *
 * The environment's NOISE is what this machine is like: unset, it counts exactly; "interrupts",
 * it does not (QEMU's pmu-vice-interrupts); "filtered", its event for interrupts counts nothing
 * (pmu-vice-filter); "unexplained", both.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/rivals.h"

#define RUNS	20u
/* 10 ms of the instruction clock, so that ticks come */
#define LOOPS	5000000ul

static bool noise_is(const char *what)
{
	const char *noise = getenv("NOISE");

	return !strcmp(noise ? noise : "", what);
}

/* Whether the processor counts too many, and its event says how many */
static bool noisy(void)
{
	return noise_is("interrupts");
}

static unsigned int source(void)
{
	return guest.shared ? PERFCTR_SOURCE_SHARED : PERFCTR_SOURCE_NATIVE;
}

static struct vperfctr *measured(struct vperfctr_correction *correction)
{
	struct vperfctr *v = vperfctr_open();

	ck_assert_ptr_nonnull(v);
	ck_ok(vperfctr_measure_correction(v, source(), correction));
	return v;
}

static void add(struct perfctr_control *control, const char *event)
{
	ck_ok(perfctr_event_parse(guest.info.cpu_type, event, &control->ctr[control->nractrs]));
	control->nractrs++;
}

static void start(const struct vperfctr *v, struct perfctr_control *control)
{
	control->source = source();
	ck_ok(vperfctr_control_native(v, control));
}

/* What @v counts of a loop of LOOPS turns: READ's structures, before and after */
static void count_loop(const struct vperfctr *v, struct perfctr_read rd[2])
{
	memset(rd, 0, 2 * sizeof(*rd));
	rd[0].size = rd[1].size = sizeof(*rd);
	ck_assert_int_eq(exact_kernel(vperfctr_fd(v), PERFCTR_IOC_READ, rd, body_spin, LOOPS), 0);
}

/* Of the machine, not of perfctr: what these tests rest on */
START_TEST(machine_is_as_it_says)
{
	struct perfctr_control control = { PERFCTR_CONTROL_INIT };
	struct vperfctr *v = vperfctr_open();
	struct vperfctr_correction correction;
	uint64_t interrupts = 0, more = 0;
	struct perfctr_read rd[2];
	unsigned int run;

	/* Whether it succeeds is another test's question. */
	(void)vperfctr_measure_correction(v, source(), &correction);
	add(&control, "instructions:u");
	control.ctr[control.nractrs++] = correction.interrupts;
	start(v, &control);
	for (run = 0; run < RUNS; run++) {
		uint64_t came;

		count_loop(v, rd);
		came = rd[1].sum[1] - rd[0].sum[1];
		interrupts += came;
		more += rd[1].sum[0] - rd[0].sum[0] - EXACT_KERNEL - BODY_SPIN(LOOPS);
		if (noisy())
			ck_assert_uint_eq(more, interrupts);
	}
	if (noise_is("filtered") || noise_is("unexplained"))
		ck_assert_uint_eq(interrupts, 0);
	else
		ck_assert_uint_ge(interrupts, RUNS);
	if (noise_is("") || noise_is("filtered"))
		ck_assert_uint_eq(more, 0);
	else
		ck_assert_uint_ge(more, RUNS);
	vperfctr_close(v);
}
END_TEST

START_TEST(noise_is_measured)
{
	struct vperfctr_correction correction;
	struct perfctr_control control;
	struct vperfctr *v = vperfctr_open();
	unsigned int run;

	for (run = 0; run < 5; run++) {
		ck_ok(vperfctr_measure_correction(v, source(), &correction));
		ck_assert_uint_eq(correction.per_interrupt, noisy());
		ck_assert_uint_eq(correction.per_fault, 0);
		ck_ok(vperfctr_read_control_native(v, &control));
		ck_assert_uint_eq(control.nractrs, 0);
		ck_assert_uint_eq(control.tsc_on, 0);
	}
	vperfctr_close(v);
}
END_TEST

/* Where nothing can be proved nothing is corrected. */
START_TEST(not_without_proof)
{
	struct vperfctr_correction correction;
	struct vperfctr *v = vperfctr_open();

	ck_errno(vperfctr_measure_correction(v, source(), &correction),
		 noise_is("filtered") ? ETIME : ERANGE);
	vperfctr_close(v);
}
END_TEST

START_TEST(no_event_is_known)
{
	struct vperfctr_correction correction;
	struct vperfctr *v = vperfctr_open();

	ck_errno(vperfctr_measure_correction(v, source(), &correction), ENOENT);
	vperfctr_close(v);
}
END_TEST

START_TEST(refused_while_another_has_the_control)
{
	struct perfctr_control control = { PERFCTR_CONTROL_INIT, .tsc_on = 1 };
	struct vperfctr_correction correction;
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	/* A handle that is none of the library's: those of a thread share one open file. */
	int other = open_self();
	struct vperfctr *v = vperfctr_open();

	set_control(other, &control);
	read_all(other, &rd[0]);
	ck_errno(vperfctr_measure_correction(v, source(), &correction), EBUSY);
	ck_assert_int_eq(vperfctr_owner(v), PERFCTR_OWNER_HOLDER);
	/* That one's counts go on. */
	read_all(other, &rd[1]);
	ck_assert_uint_eq(rd[1].cstatus, rd[0].cstatus);
	ck_assert_uint_gt(rd[1].clock, rd[0].clock);
	vperfctr_close(v);
	close(other);
}
END_TEST

/* 20 of 20, and each beside what is not corrected */
static void correct_runs(const struct vperfctr *v, const struct vperfctr_correction *correction,
			 unsigned int i, unsigned int nrctrs)
{
	uint64_t more = 0, subtracted = 0;
	struct perfctr_read rd[2];
	unsigned int run, k;

	for (run = 0; run < RUNS; run++) {
		uint64_t plain, corrected;

		count_loop(v, rd);
		ck_assert_uint_eq(rd[1].nrctrs, nrctrs);
		plain = rd[1].sum[i] - rd[0].sum[i];
		corrected = vperfctr_corrected(correction, rd[1].sum, i) -
			    vperfctr_corrected(correction, rd[0].sum, i);
		ck_assert_uint_eq(corrected, EXACT_KERNEL + BODY_SPIN(LOOPS));
		more += plain - corrected;
		/* It works on differences as well, ... */
		for (k = 0; k < nrctrs; k++)
			rd[1].sum[k] -= rd[0].sum[k];
		ck_assert_uint_eq(vperfctr_corrected(correction, rd[1].sum, i), corrected);
		/* ... and leaves other counters alone. */
		for (k = 0; k < nrctrs; k++)
			if (k != i)
				ck_assert_uint_eq(vperfctr_corrected(correction, rd[1].sum, k),
						  rd[1].sum[k]);
		if (noisy())
			subtracted += rd[1].sum[correction->counter];
	}
	ck_assert_uint_eq(more, subtracted);
	if (noisy())
		ck_assert_uint_ge(more, RUNS);
}

START_TEST(corrected_alone)
{
	struct perfctr_control control = { PERFCTR_CONTROL_INIT };
	struct vperfctr_correction correction;
	struct vperfctr *v = measured(&correction);

	add(&control, "instructions:u");
	ck_ok(vperfctr_add_correction(&correction, &control));
	ck_assert_uint_eq(control.nractrs, 1 + noisy());
	start(v, &control);
	correct_runs(v, &correction, 0, control.nractrs);
	vperfctr_close(v);
}
END_TEST

/* Over many switches, on another counter, beside what is not corrected */
static void correct_among(const struct rivals_plan *plan)
{
	struct perfctr_control control = { PERFCTR_CONTROL_INIT };
	struct vperfctr_correction correction;
	struct vperfctr *v = measured(&correction);
	uint64_t switches;
	struct perfctr_read rd;
	struct rivals *rivals;

	add(&control, "cycles:u");
	add(&control, "instructions:u");
	ck_ok(vperfctr_add_correction(&correction, &control));
	if (plan->cpu >= 0)
		pin_self((unsigned int)plan->cpu);
	start(v, &control);
	rivals = rivals_start(plan);
	ck_ok(vperfctr_read_native(v, &rd));
	switches = rd.soft.switches;
	correct_runs(v, &correction, 1, control.nractrs);
	ck_ok(vperfctr_read_native(v, &rd));
	ck_assert_uint_ge(rd.soft.switches - switches, RUNS);
	rivals_stop(rivals);
	vperfctr_close(v);
}

START_TEST(corrected_among_rivals)
{
	correct_among(&(struct rivals_plan){ .n = 4, .cpu = 0 });
}
END_TEST

START_TEST(corrected_on_two_cpus)
{
	correct_among(&(struct rivals_plan){ .n = 4, .threads = 2, .cpu = -1 });
}
END_TEST

/*
 * The same, read inline over and over, so that most interrupts hit a read. Such a read is made
 * again, which takes some instructions; else each takes as many as the next.
 */
START_TEST(corrected_inline)
{
	/* Reads through the kernel take longer there: a loop between them is interrupted, too. */
	const unsigned int turns = guest.shared ? 2000 : 1000000, retry = 10;
	const unsigned long loops = guest.shared ? 20000 : 0;
	struct perfctr_control control = { PERFCTR_CONTROL_INIT };
	struct vperfctr_correction correction;
	struct vperfctr *v = measured(&correction);
	/* What each took: looking at it would make some turns longer. */
	unsigned short *took = shared_alloc(turns * sizeof(*took)), least = 0xffff;
	unsigned long long before, now;
	uint64_t plain[2], interrupts = 0;
	unsigned int turn, again = 0;

	add(&control, "instructions:u");
	ck_ok(vperfctr_add_correction(&correction, &control));
	start(v, &control);
	before = vperfctr_read_corrected(v, &correction, 0);
	for (turn = 0; turn < turns; turn++) {
		if (loops)
			body_spin(loops);
		now = vperfctr_read_corrected(v, &correction, 0);
		took[turn] = (unsigned short)(now - before);
		before = now;
	}
	/* The first ones have what comes before the loop. */
	for (turn = 10; turn < turns; turn++)
		if (took[turn] < least)
			least = took[turn];
	for (turn = 10; turn < turns; turn++) {
		ck_assert_msg(took[turn] == least || took[turn] >= least + retry,
			      "turn %u: %u, else %u", turn, took[turn], least);
		again += took[turn] != least;
	}
	ck_assert_uint_ge(least, loops ? BODY_SPIN(loops) : 1);
	ck_assert_uint_le(again, turns / 100);
	/* So the test has seen what it is about. */
	if (noisy() && !guest.shared)
		ck_assert_uint_ge(again, 5);

	/* Counters that are not corrected, or not there, are read as ever. */
	plain[0] = vperfctr_read_pmc(v, 0);
	plain[1] = vperfctr_read_corrected(v, &correction, 0);
	if (noisy()) {
		interrupts = vperfctr_read_corrected(v, &correction, correction.counter);
		ck_assert_uint_ge(interrupts, 15);
	}
	ck_assert_uint_lt(plain[1] + interrupts - plain[0], 1000);
	errno = 0;
	ck_assert(vperfctr_read_corrected(v, &correction, 20) == PERFCTR_NO_COUNT);
	ck_assert_int_eq(errno, EINVAL);
	vperfctr_close(v);
}
END_TEST

/*
 * perfex
 */

#define KNOWN	KNOWN_LONG_PATH
#define LENGTH	KNOWN_LENGTH(KNOWN_LONG_LOOPS)

static char output[16384];

/* Returns the exit status; what it said, to either stream, is in output[]. */
static int perfex(const char *arguments)
{
	char command[512];
	size_t n;
	FILE *f;
	int status;

	snprintf(command, sizeof(command), "/usr/bin/perfex --source %s %s 2>&1",
		 guest.shared ? "shared" : "native", arguments);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(output, 1, sizeof(output) - 1, f);
	output[n] = '\0';
	status = pclose(f);
	ck_assert_msg(WIFEXITED(status), "%s", output);
	return WEXITSTATUS(status);
}

static void succeeds(const char *arguments)
{
	int status = perfex(arguments);

	ck_assert_msg(!status, "perfex %s: status %d: %s", arguments, status, output);
}

static void refuses(const char *arguments, const char *why)
{
	ck_assert_int_eq(perfex(arguments), 125);
	ck_assert_msg(strstr(output, why) != NULL, "no \"%s\" in: %s", why, output);
	/* It did not run. */
	ck_assert_msg(!strstr(output, "Counts of"), "%s", output);
}

/* The number behind the first @key at or after @from */
static double number_at(const char *from, const char *key)
{
	const char *at = strstr(from, key);

	ck_assert_msg(at != NULL, "no %s in: %s", key, from);
	return strtod(at + strlen(key), NULL);
}

START_TEST(perfex_is_exact)
{
	succeeds("--exact --json -e instructions:u,cycles:u -r 20 " KNOWN);
	ck_assert_uint_eq((uint64_t)number_at(output, "\"runs\": "), RUNS);
	ck_assert(number_at(output, "\"kernel\": false, \"mean\": ") == (double)LENGTH);
	ck_assert(number_at(output, "\"deviation\": ") == 0);
	if (noisy())
		ck_assert(number_at(output, "\"exact\": {\"subtracted\": {\"mean\": ") >= 1);
	else
		ck_assert(number_at(output, "\"exact\": {\"subtracted\": {\"mean\": ") == 0);
	/* Without the option it is what the processor counts. */
	succeeds("--json -e instructions:u -r 20 " KNOWN);
	ck_assert(!strstr(output, "\"exact\""));
	if (noisy())
		ck_assert(number_at(output, "\"mean\": ") >= (double)LENGTH + 1);
	else
		ck_assert(number_at(output, "\"mean\": ") == (double)LENGTH);
}
END_TEST

START_TEST(perfex_says_what_it_did)
{
	static const char said[] = " From instructions:u ";
	const char *at;

	succeeds("--exact " KNOWN);
	ck_assert_uint_eq((uint64_t)LENGTH, 20000032);
	ck_assert_msg(strstr(output, "  20,000,032  instructions:u\n") != NULL, "%s", output);
	ck_assert_msg(strstr(output, "  cycles:u\n") != NULL, "%s", output);
	at = strstr(output, said);
	ck_assert_int_eq(at != NULL, noisy());
	if (at)
		ck_assert_int_ge(atoi(at + strlen(said)), 1);
	else
		ck_assert_msg(strstr(output, "counts no instruction too many") != NULL, "%s",
			      output);
	ck_assert_msg(!strstr(output, "page fault as well"), "%s", output);
}
END_TEST

/* Each interval is corrected, so that they add up. */
START_TEST(perfex_intervals_are_exact)
{
	uint64_t sum = 0, subtracted = 0;
	unsigned int intervals = 0;
	const char *at;

	succeeds("--exact --json -e instructions:u -I 10 " KNOWN);
	for (at = strstr(output, "{\"interval\""); at; at = strstr(at + 1, "{\"interval\"")) {
		sum += (uint64_t)number_at(at, "\"count\": ");
		subtracted += (uint64_t)number_at(at, "\"subtracted\": ");
		intervals++;
	}
	ck_assert_uint_ge(intervals, 2);
	ck_assert_uint_eq(sum, LENGTH);
	at = strstr(output, "{\"command\"");
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq((uint64_t)number_at(at, "\"count\": "), LENGTH);
	ck_assert_uint_eq((uint64_t)number_at(at, "\"subtracted\": "), subtracted);
	ck_assert_uint_eq((uint64_t)number_at(at, "\"still_too_many_at_most\": "), 0);
	if (noisy())
		ck_assert_uint_ge(subtracted, 1);
	else
		ck_assert_uint_eq(subtracted, 0);
}
END_TEST

START_TEST(perfex_threads_are_exact)
{
	const char *at;

	succeeds("--exact --json --per-thread -e cycles:u,instructions:u " KNOWN);
	at = strstr(output, "\"threads\": [");
	ck_assert_msg(at != NULL, "%s", output);
	at = strstr(at, "\"counts\": [");
	ck_assert_ptr_nonnull(at);
	/* Of two events, not of the interrupts */
	at = strchr(at, ',');
	ck_assert_uint_eq((uint64_t)strtod(at + 1, NULL), LENGTH);
	at = strpbrk(at + 1, ",]");
	ck_assert_msg(*at == ']', "%s", at);

	succeeds("--exact --per-thread -e instructions:u " KNOWN);
	ck_assert_msg(strstr(output, "known_long                 20,000,032\n") != NULL, "%s", output);
}
END_TEST

START_TEST(perfex_refuses_what_it_cannot_correct)
{
	char events[256];
	unsigned int i;
	int n;

	refuses("--exact -e cycles:u " KNOWN, "none of the events is instructions in user mode");
	refuses("--exact -e instructions:k " KNOWN, "none of the events is instructions");
	/* perf's counters are shared by equal events. */
	if (!noisy() || guest.shared)
		return;
	/* The fixed counters, where there are some, count no interrupts. */
	n = snprintf(events, sizeof(events), "--exact -e instructions:u");
	for (i = 0; i < guest.nprogrammable; i++)
		n += snprintf(events + n, sizeof(events) - (size_t)n, ",branches:u");
	(void)snprintf(events + n, sizeof(events) - (size_t)n, " " KNOWN);
	if (guest.info.nrctrs > guest.nprogrammable + 1)
		refuses(events, "none that\ncan count them is left");
	else
		refuses(events, "--exact needs a counter for interrupts");
}
END_TEST

START_TEST(perfex_refuses_without_proof)
{
	refuses("--exact -e instructions:u " KNOWN, noise_is("filtered") ?
		"event for interrupts did not count those of a timer" : "is neither exact, nor too\nmany by one");
}
END_TEST

START_TEST(perfex_knows_no_event)
{
	refuses("--exact -e instructions:u " KNOWN, "no event of this processor is known");
}
END_TEST

START_TEST(perfex_is_counted_itself)
{
	ck_assert_int_eq(perfex("/usr/bin/perfex --exact " KNOWN), 125);
	ck_assert_msg(strstr(output, "perfex is counted itself") != NULL, "%s", output);
	ck_assert_msg(!strstr(output, "Counts of '" KNOWN), "%s", output);
}
END_TEST

int main(void)
{
	guest_begin("noise", NULL);
	if (!is_x86() || is_p4()) {
		GUEST_RUN(no_event_is_known, NEED_COUNTERS | AS_USER);
		GUEST_RUN(perfex_knows_no_event, NEED_COUNTERS | AS_USER);
		return guest_end();
	}
	GUEST_RUN(machine_is_as_it_says, NEED_COUNTERS | AS_USER);
	if (noise_is("filtered") || noise_is("unexplained")) {
		GUEST_RUN(not_without_proof, NEED_COUNTERS | AS_USER);
		GUEST_RUN(perfex_refuses_without_proof, NEED_COUNTERS | AS_USER);
		return guest_end();
	}
	GUEST_RUN(noise_is_measured, NEED_COUNTERS | AS_USER);
	GUEST_RUN(refused_while_another_has_the_control, NEED_COUNTERS | AS_USER);
	GUEST_RUN(corrected_alone, NEED_COUNTERS | AS_USER);
	GUEST_RUN(corrected_among_rivals, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	GUEST_RUN(corrected_on_two_cpus, NEED_COUNTERS | NEED_SMP | AS_USER);
	GUEST_RUN(corrected_inline, NEED_COUNTERS | AS_USER);
	GUEST_RUN(perfex_is_exact, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	GUEST_RUN(perfex_says_what_it_did, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	GUEST_RUN(perfex_intervals_are_exact, NEED_COUNTERS | AS_USER);
	GUEST_RUN(perfex_threads_are_exact, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	GUEST_RUN(perfex_refuses_what_it_cannot_correct, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	GUEST_RUN(perfex_is_counted_itself, NEED_COUNTERS | AS_USER);
	return guest_end();
}
