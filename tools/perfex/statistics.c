// SPDX-License-Identifier: GPL-2.0
/* Mean and deviation of several runs. */
#include <math.h>

#include "perfex.h"

static void statistic_add(struct statistic *statistic, double value)
{
	double delta = value - statistic->mean;

	statistic->n++;
	statistic->mean += delta / statistic->n;
	statistic->squares += delta * (value - statistic->mean);
}

void statistics_add(struct statistics *statistics, const struct events *events,
		    const struct how *how, const struct run *run)
{
	unsigned int i;

	statistics->runs++;
	for (i = 0; i < events->n; i++)
		if (is_counted(run, i))
			statistic_add(&statistics->count[i], (double)run->sums.sum[i]);
	if (run->counted) {
		statistic_add(&statistics->clock, (double)run->sums.clock);
		statistic_add(&statistics->subtracted,
			      (double)exact_subtracted(how, &run->sums));
	}
	statistic_add(&statistics->elapsed, elapsed(run));
	statistic_add(&statistics->user, seconds(&run->usage.ru_utime));
	statistic_add(&statistics->system, seconds(&run->usage.ru_stime));
}

double deviation(const struct statistic *statistic)
{
	return statistic->n > 1 ? sqrt(statistic->squares / (statistic->n - 1)) : 0;
}
