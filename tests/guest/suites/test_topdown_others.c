// SPDX-License-Identifier: GPL-2.0
/* TopDown: what is refused, and perfex. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/perfside.h"
#include "suites/topdown.h"

#define OUTPUT		"/tmp/topdown.out"

static int try_events(int fd, struct perfctr_control *control, unsigned int n,
		      const uint64_t *event, const uint32_t *flags)
{
	unsigned int i;

	control_init(control);
	for (i = 0; i < n; i++)
		control_add_at(control, PERFCTR_MAP_ANY, event[i], flags[i]);
	return try_control(fd, control);
}

/* What is refused, and that it says why; elsewhere there is no such event, except on AMD's. */
START_TEST(refusals)
{
	static const uint64_t metric[] = { EV_INSTRUCTIONS, METRIC(1) };
	static const uint64_t slots[] = { METRIC(1), SLOTS };
	static const uint32_t user[] = { USER, USER };
	static const uint32_t other[] = { USER, USER | PERFCTR_CTR_KERNEL };
	static const uint64_t level_2[] = { SLOTS, METRIC(4) };
	struct perfctr_control control;
	int fd = open_self();

	ck_assert_int_eq(try_events(fd, &control, 2, metric, user), -EINVAL);
	ck_assert_uint_eq(control.refused, 1);
	ck_assert_uint_eq(control.reason, guest.info.topdown ? PERFCTR_REASON_SLOTS :
							      PERFCTR_REASON_TOPDOWN);
	ck_assert_int_eq(try_events(fd, &control, 2, slots, other), -EINVAL);
	ck_assert_uint_eq(control.refused, 0);
	ck_assert_uint_eq(control.reason, guest.info.topdown ? PERFCTR_REASON_SLOTS :
							      PERFCTR_REASON_TOPDOWN);
	ck_assert_int_eq(try_events(fd, &control, 2, slots, user),
			 guest.info.topdown ? 0 : -EINVAL);
	ck_assert_int_eq(try_events(fd, &control, 2, level_2, user),
			 guest.info.topdown > 1 ? 0 : -EINVAL);
	if (guest.info.topdown < 2)
		ck_assert_uint_eq(control.reason, PERFCTR_REASON_TOPDOWN);
	unlink_self(fd);
}
END_TEST

/* Through perf: its kernel events have no groups. */
START_TEST(refused_through_perf)
{
	static const uint64_t events[] = { SLOTS, METRIC(0) };
	struct perfctr_control control;
	int fd = open_self(), i;

	control_init(&control);
	for (i = 0; i < 2; i++)
		add(&control, events[i]);
	control.source = PERFCTR_SOURCE_SHARED;
	ck_assert_int_eq(try_control(fd, &control), -EOPNOTSUPP);
	ck_assert_uint_eq(control.refused, 1);
	ck_assert_uint_eq(control.reason, PERFCTR_REASON_SOURCE);
	/* As perf numbers it, too */
	control.nractrs = 1;
	control.ctr[0] = (struct perfctr_ctr_control){
		.map = PERFCTR_MAP_ANY, .flags = USER | PERFCTR_CTR_PERF, .event = PERF_TYPE_RAW,
		.config = METRIC(0),
	};
	ck_assert_int_eq(try_control(fd, &control), -EOPNOTSUPP);
	ck_assert_uint_eq(control.reason, PERFCTR_REASON_SOURCE);
	unlink_self(fd);
}
END_TEST

/* READ_CONTROL gives what CONTROL takes; a metric has no counter to be named. */
START_TEST(control_is_read_back)
{
	struct perfctr_control control;
	int fd = count_all();
	unsigned int i;

	ck_ok(_vperfctr_read_control_native(fd, &control));
	ck_assert_uint_eq(control.nractrs, METRICS_AT + nr_metrics());
	ck_assert_uint_eq(control.ctr[SLOTS_AT].map, 27);
	for (i = 0; i < nr_metrics(); i++) {
		ck_assert_uint_eq(control.ctr[METRICS_AT + i].map, PERFCTR_MAP_ANY);
		ck_assert_uint_eq(control.ctr[METRICS_AT + i].event, METRIC(i));
	}
	set_control(fd, &control);
	unlink_self(fd);
}
END_TEST

static char output[65536];

/* @command's exit status; what it wrote to OUTPUT is in @output. */
static int shell(const char *command)
{
	int status = system(command);

	ck_assert_int_ge(read_text(OUTPUT, output, sizeof(output)), 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The number behind @key, from @text on */
static double number_behind(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	ck_assert_msg(at, "no %s in: %s", key, text);
	return strtod(at + strlen(key), NULL);
}

/* perfex --topdown: percent that agree with what is counted beside */
START_TEST(perfex_percents)
{
	static const char *const events[] = { "cycles", "instructions", "branches" };
	uint64_t part[PERFCTR_METRICS], slots;
	__u64 sum[3];
	unsigned int i, lines = 0;
	char key[64], *line;

	ck_assert_int_eq(shell("perfex --topdown --json -o " OUTPUT
			       " -e slots:u,cycles:u,instructions:u,branches:u,"
			       "topdown-retiring:u,topdown-bad-spec:u,topdown-fe-bound:u,"
			       "topdown-be-bound:u"
			       "$(perfex -l | grep -q 'heavy-ops *yes' && echo ,"
			       "topdown-heavy-ops:u,topdown-br-mispredict:u,"
			       "topdown-fetch-lat:u,topdown-mem-bound:u)"
			       " " KNOWN_PATH " >/dev/null 2>&1"), 0);
	for (i = 0; i < 3; i++) {
		(void)snprintf(key, sizeof(key),
			       "\"%s\", \"user\": true, \"kernel\": false, \"count\": ", events[i]);
		sum[i] = (uint64_t)number_behind(output, key);
	}
	slots = (uint64_t)number_behind(output,
			"\"slots\", \"user\": true, \"kernel\": false, \"count\": ");
	ck_assert_uint_eq(slots, width() * sum[CYCLES]);
	parts_of(sum, part);
	for (i = 0; i < nr_metrics(); i++) {
		char *space;

		(void)snprintf(key, sizeof(key), "\"%s\": ", perfctr_topdown_name(i));
		for (space = key; *space && *space != ':'; space++)
			if (*space == ' ')
				*space = '_';
		ck_assert_double_eq_tol(number_behind(strstr(output, "\"topdown\""), key),
					share(part[i], slots), 1.5 / WHOLE);
	}
	ck_assert_int_eq(!!strstr(output, "core_bound"), guest.info.topdown > 1);

	/* For people, and with intervals */
	ck_assert_int_eq(shell("perfex --topdown " KNOWN_PATH " >/dev/null 2>" OUTPUT), 0);
	ck_assert_ptr_nonnull(strstr(output, "  slots"));
	ck_assert_ptr_nonnull(strstr(output, "  topdown-be-bound"));
	ck_assert_int_eq(!!strstr(output, "%  core bound"), guest.info.topdown > 1);
	ck_assert_int_eq(shell("perfex --topdown -I 50 sh -c '" KNOWN_PATH "; sleep 0.12' "
			       ">/dev/null 2>" OUTPUT), 0);
	for (line = output; line; line = strchr(line + 1, '\n'))
		if (strstr(line, "topdown-retiring"))
			lines++;
	ck_assert_uint_ge(lines, 3);
	ck_assert_int_eq(shell("perfex --topdown -r 3 " KNOWN_PATH " >/dev/null 2>" OUTPUT), 0);
	ck_assert_ptr_nonnull(strstr(output, "topdown-fe-bound"));
	ck_assert_int_eq(shell("perfex --topdown --source shared true 2>" OUTPUT), 125);
	ck_assert_ptr_nonnull(strstr(output, "groups"));
	ck_assert_int_eq(shell("perfex -e topdown-retiring true 2>" OUTPUT), 125);
	ck_assert_ptr_nonnull(strstr(output, "-e slots,topdown-retiring"));
}
END_TEST

/* Slots and the first level's metrics, in the rows of one interval, or of all of them */
struct rows {
	double slots, metrics, retiring, percent;
};

static void add_row(struct rows *rows, const char *name, double number)
{
	if (!strcmp(name, "slots"))
		rows->slots += number;
	if (!strcmp(name, "topdown-retiring") || !strcmp(name, "topdown-bad-spec") ||
	    !strcmp(name, "topdown-fe-bound") || !strcmp(name, "topdown-be-bound"))
		rows->metrics += number;
	if (!strcmp(name, "topdown-retiring"))
		rows->retiring += number;
	if (!strcmp(name, "retiring"))
		rows->percent = number;
}

/* Of all CPUs, at intervals: each interval's shares are of its own slots, and together they are all. */
START_TEST(perfex_of_cpus)
{
	struct rows now = { 0 }, sum = { 0 }, total = { 0 };
	char name[64], kind[16], *line, *next;
	unsigned int intervals = 0;
	double number;

	ck_assert_int_eq(shell("perfex -a --topdown -I 100 --csv sh -c '" KNOWN_PATH "; sleep 0.35' "
			       ">/dev/null 2>" OUTPUT), 0);
	for (line = output; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		/* kind,time,thread,name,mode,unit,number */
		if (sscanf(line, "%15[^,],%*[^,],,%63[^,],%*[^0-9-]%lf", kind, name, &number) != 3)
			continue;
		if (!strcmp(kind, "total")) {
			add_row(&total, name, number);
			continue;
		}
		add_row(&now, name, number);
		add_row(&sum, name, number);
		if (strcmp(name, "elapsed") != 0)
			continue;
		intervals++;
		ck_assert_double_gt(now.slots, 1000000);
		ck_assert_double_eq_tol(now.metrics, now.slots, now.slots / 100);
		ck_assert_double_eq_tol(now.percent, 100 * now.retiring / now.slots, 0.0001);
		now = (struct rows){ 0 };
	}
	ck_assert_uint_ge(intervals, 4);
	ck_assert_double_eq(total.slots, sum.slots);
	ck_assert_double_eq(total.retiring, sum.retiring);
	ck_assert_double_eq(total.metrics, sum.metrics);
}
END_TEST

/* Elsewhere it says that there is no such thing. */
START_TEST(perfex_without)
{
	if (guest.info.topdown)
		return;
	ck_assert_int_eq(shell("perfex --topdown true 2>" OUTPUT), 125);
	ck_assert_ptr_nonnull(strstr(output, "no TopDown metrics"));
}
END_TEST

void topdown_others(void)
{
	if (!is_amd())
		GUEST_RUN(refusals, NEED_NATIVE | NEED_COUNTERS | NEED_X86 | NEED_EVNTSEL |
			  AS_USER);
	GUEST_RUN(refused_through_perf, NEED_TOPDOWN | NEED_SHARED);
	GUEST_RUN(control_is_read_back, NEED_TOPDOWN | AS_USER);
	GUEST_RUN(perfex_percents, NEED_TOPDOWN);
	GUEST_RUN(perfex_of_cpus, NEED_TOPDOWN);
	GUEST_RUN(perfex_without, 0);
}
