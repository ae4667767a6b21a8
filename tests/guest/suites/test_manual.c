// SPDX-License-Identifier: GPL-2.0
/*
 * The examples of the manual pages, as the pages have them: docs/man/PAGE.3's example NAME is
 * manual/PAGE-NAME.inc, which manual.awk makes. work() is code of known length; what an
 * example prints is looked at.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/pairs.h"

#define PROGRAM	"/usr/libexec/perfctr/manual_program"

/* Two lengths of work(), whose instructions differ by 2 each turn */
#define SHORT	1000ul
#define LONG	3000ul
#define MORE	(BODY_SPIN(LONG) - BODY_SPIN(SHORT))

static unsigned long turns;

static __attribute__((__noinline__)) void work(void)
{
	body_spin(turns);
}

/* What was printed */
static char said[4096];

static __attribute__((__format__(printf, 1, 2))) void say(const char *format, ...)
{
	size_t used = strlen(said);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(said + used, sizeof(said) - used, format, args);
	va_end(args);
}

#define printf say

/* The number in @text behind @before, which must be there; *@text goes on behind it. */
static unsigned long long number(const char **text, const char *before)
{
	const char *at = strstr(*text, before);
	unsigned long long n;
	char *end;

	ck_assert_msg(at != NULL, "no \"%s\" in \"%s\"", before, said);
	at += strlen(before);
	n = strtoull(at, &end, 0);
	ck_assert_msg(end != at, "no number behind \"%s\" in \"%s\"", before, said);
	*text = end;
	return n;
}

/* The first number that an example prints when work() takes so many turns */
static unsigned long long first_number(void (*example)(void), unsigned long n)
{
	const char *text = said;

	said[0] = '\0';
	turns = n;
	example();
	return number(&text, "");
}

/* It counts work(), and the same of what is around it each time. */
static void counts_work(void (*example)(void))
{
	unsigned long long less, more;

	pairs_ignore();
	less = first_number(example, SHORT);
	more = first_number(example, LONG);
	ck_assert_uint_ge(less, BODY_SPIN(SHORT));
	ck_assert_uint_lt(less, BODY_SPIN(SHORT) + 500);
	ck_assert_uint_eq(more - less, MORE);
}

static void give_back(struct vperfctr *v)
{
	ck_ok(vperfctr_unlink(v));
	vperfctr_close(v);
}

/* Counters that an example takes as given: instructions and cycles in user mode, and the clock */
static struct vperfctr *counting(void)
{
	struct perfctr_control control = {
		PERFCTR_CONTROL_INIT,
		.tsc_on = 1,
		.nractrs = 2,
	};
	struct vperfctr *v = vperfctr_open();
	struct perfctr_info info;

	ck_assert_ptr_nonnull(v);
	ck_ok(vperfctr_info(v, &info));
	ck_ok(perfctr_event_parse(info.cpu_type, "instructions:u", &control.ctr[0]));
	ck_ok(perfctr_event_parse(info.cpu_type, "cycles:u", &control.ctr[1]));
	ck_ok(vperfctr_control_native(v, &control));
	return v;
}

/* --- libperfctr(3) --- */

/* A thousand turns, each the same few instructions */
START_TEST(program)
{
	unsigned long long n;
	char line[80];
	FILE *f = popen(PROGRAM, "re");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	ck_assert_int_eq(pclose(f), 0);
	(void)snprintf(said, sizeof(said), "%s", line);
	ck_assert_ptr_nonnull(strstr(said, " instructions\n"));
	n = strtoull(said, NULL, 10);
	ck_assert_uint_ge(n, 3000);
	ck_assert_uint_lt(n, 20000);
	ck_assert_msg(n % 1000 < 100, "%s", said);
}
END_TEST

/* --- perfctr_meter(3) --- */

static void meter_region(void)
{
#include "manual/perfctr_meter-region.inc"
}

START_TEST(region)
{
	counts_work(meter_region);
	ck_assert_ptr_nonnull(strstr(said, " instructions\n"));
}
END_TEST

static void meter_turns(void)
{
#include "manual/perfctr_meter-turns.inc"
}

START_TEST(turns_of_a_loop)
{
	unsigned long long n;
	const char *text = said;

	counts_work(meter_turns);
	n = number(&text, "");
	ck_assert_uint_eq(number(&text, "\n"), n);
	ck_assert_uint_eq(number(&text, "\n"), n);
}
END_TEST

static volatile sig_atomic_t budgets;

static void out_of_budget(int signo)
{
	(void)signo;
	budgets++;
}

START_TEST(budget)
{
	turns = 200000;
#include "manual/perfctr_meter-budget.inc"
	ck_assert_int_eq(budgets, 1);
}
END_TEST

START_TEST(budget_that_is_not_spent)
{
	turns = 20000;
#include "manual/perfctr_meter-budget.inc"
	ck_assert_int_eq(budgets, 0);
}
END_TEST

/* --- perfctr_open(3) --- */

START_TEST(handle_that_was_sent)
{
	struct vperfctr *own = counting();
	int fd = dup(vperfctr_fd(own));

	turns = SHORT;
	work();
	{
#include "manual/perfctr_open-sent.inc"
	}
	ck_assert_ptr_nonnull(strstr(said, " instructions\n"));
	ck_assert_uint_gt(strtoull(said, NULL, 10), BODY_SPIN(SHORT));
}
END_TEST

/* --- perfctr_control(3) --- */

static void control_native(void)
{
#include "manual/perfctr_control-native.inc"
	give_back(v);
}

START_TEST(native)
{
	counts_work(control_native);
}
END_TEST

static void control_old(void)
{
#include "manual/perfctr_control-old.inc"
	give_back(v);
}

START_TEST(old)
{
	counts_work(control_old);
}
END_TEST

START_TEST(busy)
{
	struct vperfctr_control control = { .cpu_control = { .tsc_on = 1 } };
	/* No handle of the library's, of which a thread may have several */
	int fd = count_event(EV_INSTRUCTIONS);
	struct vperfctr *other = vperfctr_open();

	ck_assert_ptr_nonnull(other);
#include "manual/perfctr_control-busy.inc"
	ck_assert_str_eq(said, "busy: another open file that programmed the same thread\n");
	vperfctr_close(other);
	unlink_self(fd);
	close(fd);
}
END_TEST

/* --- perfctr_overflow(3) --- */

#include "manual/perfctr_overflow-handler.inc"

/* Ten periods, and what is left of the eleventh */
START_TEST(overflows_signal)
{
	turns = 500000;
#include "manual/perfctr_overflow-signal.inc"
	ck_assert_int_eq(overflows, 10);
}
END_TEST

/* --- perfctr_read(3) --- */

static struct vperfctr *counted;

static void read_snapshot(void)
{
	struct vperfctr *v = counted;
#include "manual/perfctr_read-snapshot.inc"
}

START_TEST(snapshot)
{
	const char *text = said;

	counted = counting();
	counts_work(read_snapshot);
	ck_assert_uint_ge(number(&text, "instructions, "), BODY_SPIN(LONG));
	ck_assert_uint_gt(number(&text, "cycles, "), 0);
}
END_TEST

START_TEST(error)
{
	struct vperfctr *v = counting();
#include "manual/perfctr_read-error.inc"
	ck_assert_msg(!strncmp(said, "2 counters, ", 12), "%s", said);
}
END_TEST

/* --- perfctr_topdown(3) --- */

/* What a loop of two instructions is, on the two emulated processors: tests/machines/README.md */
START_TEST(topdown)
{
	const char *text = said;
	double retiring, sum;

	turns = 20000000;
#include "manual/perfctr_topdown-region.inc"
	retiring = (double)number(&text, "retiring ");
	ck_assert_msg((retiring >= 29 && retiring <= 30) || (retiring >= 24 && retiring <= 25),
		      "%s", said);
	sum = 100 * (ratio[0] + ratio[1] + ratio[2] + ratio[3]);
	ck_assert_double_ge(sum, 98);
	ck_assert_double_le(sum, 102);
}
END_TEST

/* --- perfctr_tree(3) --- */

/* Both children execute the same. */
static void tree_children(void)
{
#include "manual/perfctr_tree-children.inc"
	give_back(v);
}

START_TEST(children)
{
	unsigned long long one[2], both;
	const char *text;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		said[0] = '\0';
		text = said;
		turns = i ? LONG : SHORT;
		tree_children();
		one[i] = number(&text, ": ");
		ck_assert_uint_eq(number(&text, ": "), one[i]);
		ck_assert_uint_eq(number(&text, "\n"), 2);
		both = number(&text, " children: ");
		ck_assert_uint_eq(both, 2 * one[i]);
	}
	ck_assert_uint_eq(one[1] - one[0], MORE);
}
END_TEST

/* --- perfctr_ring(3) --- */

START_TEST(samples)
{
	const char *text = said;
	unsigned int n;

	turns = 500000;
#include "manual/perfctr_ring-samples.inc"
	for (n = 0; strchr(text, '\n'); n++) {
		ck_assert_uint_gt(number(&text, ""), 0);
		/* The interrupt comes behind the event, on real processors some more later. */
		ck_assert_uint_eq(number(&text, ": ") / 1000, 100 * (n + 1));
		text = strchr(text, '\n') + 1;
	}
	ck_assert_uint_eq(n, 10);
	ck_ok(vperfctr_unlink(v));
}
END_TEST

/* --- rvperfctr(3) --- */

/* work() is between a system call and the end of the child, with the C library around it. */
static void other_child(void)
{
#include "manual/rvperfctr-child.inc"
}

START_TEST(child)
{
	counts_work(other_child);
}
END_TEST

/* --- gperfctr(3) --- */

START_TEST(session)
{
	pin_self(0);
	turns = 1000000;
#include "manual/gperfctr-session.inc"
	ck_assert_uint_gt(strtoull(said, NULL, 10), BODY_SPIN(turns));
}
END_TEST

/* --- perfctr_info(3) --- */

START_TEST(information)
{
	const char *text = said;
#include "manual/perfctr_info-info.inc"
	ck_assert_uint_eq(number(&text, ""), guest.ncpus);
	ck_assert_uint_eq(number(&text, ") with "), guest.info.nrctrs);
	ck_assert_uint_eq(number(&text, " counters of "), guest.info.width);
}
END_TEST

/* --- perfctr_events(3) --- */

START_TEST(names_of_events)
{
#include "manual/perfctr_events-names.inc"
	ck_assert_msg(!strncmp(said, "instructions:u is there: 1\nnear: instructions\n", 46),
		      "%s", said);
}
END_TEST

/* --- perfctr_correction(3) --- */

static void correct(void)
{
#include "manual/perfctr_correction-corrected.inc"
	give_back(v);
}

START_TEST(corrected)
{
	counts_work(correct);
}
END_TEST

int main(void)
{
	guest_begin("manual", NULL);
	GUEST_RUN(program, NEED_COUNTERS | AS_USER);
	GUEST_RUN(region, NEED_CYCLES | NEED_COUNTERS | AS_USER);
	GUEST_RUN(turns_of_a_loop, NEED_COUNTERS | AS_USER);
	GUEST_RUN(budget, NEED_INTERRUPT | NEED_NATIVE | AS_USER);
	GUEST_RUN(budget_that_is_not_spent, NEED_INTERRUPT | NEED_NATIVE | AS_USER);
	GUEST_RUN(handle_that_was_sent, NEED_CYCLES | NEED_COUNTERS | NEED_NATIVE | AS_USER);
	GUEST_RUN(native, NEED_COUNTERS | AS_USER);
	GUEST_RUN(old, NEED_COUNTERS | NEED_X86 | NEED_EVNTSEL | AS_USER);
	GUEST_RUN(busy, NEED_CYCLES | NEED_COUNTERS | NEED_NATIVE | AS_USER);
	GUEST_RUN(overflows_signal, NEED_INTERRUPT | NEED_NATIVE | AS_USER);
	GUEST_RUN(snapshot, NEED_CYCLES | NEED_COUNTERS | NEED_NATIVE | AS_USER);
	GUEST_RUN(error, NEED_CYCLES | NEED_COUNTERS | NEED_NATIVE | AS_USER);
	GUEST_RUN(topdown, NEED_TOPDOWN | NEED_NATIVE | AS_USER);
	GUEST_RUN(children, NEED_COUNTERS | AS_USER);
	GUEST_RUN(samples, NEED_INTERRUPT | NEED_NATIVE | AS_USER);
	GUEST_RUN(child, NEED_COUNTERS | AS_USER);
	GUEST_RUN(session, NEED_COUNTERS);
	GUEST_RUN(information, AS_USER);
	GUEST_RUN(names_of_events, NEED_COUNTERS | AS_USER);
	GUEST_RUN(corrected, NEED_COUNTERS | NEED_X86 | NEED_NATIVE | NEED_NOISE | AS_USER);
	return guest_end();
}
