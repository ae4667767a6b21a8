// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts one loop by PAPI, by PAPI and a meter at a time, by a meter, and by PAPI while a meter has
 * the counters.
 *
 *	cc -O2 -o papi papi.c $(pkg-config --cflags --libs libperfctr) -lpapi
 */
#include <err.h>
#include <stdio.h>

#include <libperfctr.h>
#include <papi.h>

/* Executes two instructions a turn. */
static void work(void)
{
	unsigned long turns = 1000000;

	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);
}

static void nothing(void)
{
}

/* Makes a set with one event, instructions. Returns PAPI_OK, or an error of PAPI's. */
static int make_set(int *set)
{
	int ret;

	*set = PAPI_NULL;
	ret = PAPI_create_eventset(set);
	return ret == PAPI_OK ? PAPI_add_event(*set, PAPI_TOT_INS) : ret;
}

/*
 * Returns what PAPI counts of @what, with PAPI's own calls. A result below 0 is an error of PAPI's.
 */
static long long count_by_papi(int set, void (*what)(void))
{
	long long count = 0;
	int ret = PAPI_start(set);

	if (ret == PAPI_OK) {
		what();
		ret = PAPI_stop(set, &count);
	}
	return ret == PAPI_OK ? count : ret;
}

static void by_papi(int set)
{
	long long own, all;

	count_by_papi(set, nothing);
	own = count_by_papi(set, nothing);
	all = count_by_papi(set, work);
	if (own < 0 || all < 0)
		printf("PAPI: %s\n", PAPI_strerror((int)(own < 0 ? own : all)));
	else
		printf("PAPI: %lld instructions, less its own %lld: %lld\n", all, own, all - own);
}

static void by_meter(void)
{
	struct vperfctr_meter *meter;
	struct perfctr_sum_ctrs sum;
	int error = vperfctr_meter_open(&meter, "instructions", VPERFCTR_METER_NET);

	if (!error) {
		vperfctr_meter_begin(meter, &sum);
		work();
		error = vperfctr_meter_end(meter, &sum);
	}
	if (!error)
		printf("meter: %llu instructions\n", sum.pmc[0]);
	else
		printf("meter: %s\n", vperfctr_strerror(meter, error));
	vperfctr_meter_close(meter);
}

/* Counts by both at a time. PAPI's count contains the reads of the meter. */
static void by_both(int set)
{
	struct vperfctr_meter *meter;
	struct perfctr_sum_ctrs sum;
	long long from, to;
	int error;

	error = vperfctr_meter_open(&meter, "instructions", VPERFCTR_METER_NET);
	if (error) {
		printf("both: meter: %s\n", vperfctr_strerror(meter, error));
	} else if (PAPI_start(set) == PAPI_OK) {
		PAPI_read(set, &from);
		vperfctr_meter_begin(meter, &sum);
		work();
		error = vperfctr_meter_end(meter, &sum);
		PAPI_stop(set, &to);
		if (error)
			printf("both: meter: %s\n", vperfctr_strerror(meter, error));
		else
			printf("both: PAPI %lld, meter %llu instructions\n", to - from, sum.pmc[0]);
	}
	vperfctr_meter_close(meter);
}

int main(void)
{
	struct vperfctr_meter *meter;
	int set, ret;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		errx(1, "PAPI does not start");
	ret = make_set(&set);
	if (ret != PAPI_OK)
		errx(1, "PAPI: %s: %s", PAPI_strerror(ret),
		     PAPI_get_component_info(PAPI_get_component_index("perf_event"))->disabled_reason);
	by_papi(set);
	by_both(set);
	/* perf keeps the counters as long as the set has events. */
	PAPI_cleanup_eventset(set);

	by_meter();
	if (!vperfctr_meter_open(&meter, "instructions", 0)) {
		ret = make_set(&set);
		printf("PAPI beside a meter: %s\n", PAPI_strerror(ret));
		if (ret == PAPI_OK)
			by_papi(set);
	}
	vperfctr_meter_close(meter);
	return 0;
}
