// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads of counters: copies of the header's inline functions, and the functions that ask the kernel
 * when the page says that it must be asked.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

#ifndef PERFCTR_CLOCK_SLOT

/* On an architecture without inline reads these make each read ask the kernel. */
static int perfctr_page_read_reg(const struct perfctr_page *page, unsigned int reg,
				 unsigned long long *value)
{
	(void)page;
	(void)reg;
	(void)value;
	return 0;
}

static void perfctr_fence(void)
{
}

#define PERFCTR_CLOCK_SLOT	PERFCTR_PAGE_NO_SLOT
#define perfctr_page_read_pmc	perfctr_page_read_reg

static int perfctr_page_snapshot(const struct perfctr_page *page,
				 struct perfctr_sum_ctrs *sum, unsigned int n)
{
	(void)page;
	(void)sum;
	(void)n;
	return 0;
}

#endif

#ifndef PERFCTR_READS_METRICS
#define perfctr_page_read_metric(page, i, value)	((void)(page), (void)(i), (void)(value), 0)
#define perfctr_page_metrics_snapshot	perfctr_page_snapshot
#endif

/* The inline read does not know metrics, so this first tries to read a metric in user mode. */
unsigned long long vperfctr_ask_pmc(const struct vperfctr *v, unsigned int i)
{
	struct perfctr_words words;
	unsigned long long value;
	int n;

	if (perfctr_page_read_metric(v->page, i, &value))
		return value;
	n = perfctr_read_words(v->fd, &words, sizeof(words));
	if (n < 0)
		return PERFCTR_NO_COUNT;
	if (i >= (unsigned int)n) {
		errno = EINVAL;
		return PERFCTR_NO_COUNT;
	}
	return words.sum[i];
}

unsigned long long vperfctr_ask_tsc(const struct vperfctr *v)
{
	struct perfctr_words words;

	if (perfctr_read_words(v->fd, &words, sizeof(words)) < 0)
		return PERFCTR_NO_COUNT;
	return words.clock;
}

unsigned long long vperfctr_ask_reg(const struct vperfctr *v, unsigned int reg)
{
	const struct perfctr_page *page = v->page;
	struct perfctr_control control;
	unsigned int i, n;

	if (reg == PERFCTR_CLOCK_SLOT)
		return vperfctr_ask_tsc(v);

	if (v->map) {
		n = page->nrctrs < PERFCTR_MAX_CTRS ? page->nrctrs : PERFCTR_MAX_CTRS;
		for (i = 0; i < n; i++)
			/* A counter without a slot has a register that perf has chosen. */
			if (page->map[i] != PERFCTR_PAGE_NO_SLOT * sizeof(page->slot[0]) &&
			    perfctr_page_counts_on(page, i, reg))
				return vperfctr_ask_pmc(v, i);
	} else {
		if (_vperfctr_read_control_native(v->fd, &control) < 0)
			return PERFCTR_NO_COUNT;
		n = control.nractrs + control.nrictrs;
		for (i = 0; i < n && i < PERFCTR_MAX_CTRS; i++)
			if (control.ctr[i].map == reg)
				return vperfctr_ask_pmc(v, i);
	}
	errno = EINVAL;
	return PERFCTR_NO_COUNT;
}

int vperfctr_ask_snapshot(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
			  unsigned int n)
{
	struct perfctr_sum_ctrs all;
	struct perfctr_read r;
	int ret = 0, have;

	if (n > PERFCTR_NRCTRS) {
		errno = EINVAL;
		return -1;
	}
	if (perfctr_page_metrics_snapshot(v->page, sum, n))
		return 0;
	have = perfctr_read_words(v->fd, &all, sizeof(all));
	if (have < 0) {
		/* read(2) fails with a sticky error. The ioctl stores the sums all the same. */
		ret = perfctr_read_some(v->fd, &r, n);
		if (ret < 0 && errno != EIO)
			return ret;
		have = (int)r.nrctrs;
		all.tsc = r.clock;
		memcpy(all.pmc, r.sum, n * sizeof(all.pmc[0]));
	}
	if (n > (unsigned int)have) {
		errno = EINVAL;
		return -1;
	}
	sum->tsc = all.tsc;
	memcpy(sum->pmc, all.pmc, n * sizeof(sum->pmc[0]));
	return ret;
}

unsigned long long vperfctr_read_pmc(const struct vperfctr *v, unsigned int i)
{
	unsigned long long value;

	if (perfctr_page_read_pmc(v->page, i, &value))
		return value;
	return vperfctr_ask_pmc(v, i);
}

unsigned long long vperfctr_read_pmc_fenced(const struct vperfctr *v, unsigned int i)
{
	unsigned long long value;

	perfctr_fence();
	value = vperfctr_read_pmc(v, i);
	perfctr_fence();
	return value;
}

unsigned long long vperfctr_read_tsc(const struct vperfctr *v)
{
	unsigned long long value;

	if (perfctr_page_read_reg(v->page, PERFCTR_CLOCK_SLOT, &value))
		return value;
	return vperfctr_ask_tsc(v);
}

unsigned long long vperfctr_read_reg(const struct vperfctr *v, unsigned int reg)
{
	unsigned long long value;

	if (perfctr_page_read_reg(v->page, reg, &value))
		return value;
	return vperfctr_ask_reg(v, reg);
}

int vperfctr_snapshot(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
		      unsigned int n)
{
	if (perfctr_page_snapshot(v->page, sum, n))
		return 0;
	return vperfctr_ask_snapshot(v, sum, n);
}

int vperfctr_read_ctrs(const struct vperfctr *v, struct perfctr_sum_ctrs *sum)
{
	if (perfctr_page_snapshot(v->page, sum, v->page->nrctrs) ||
	    (v->page->nrctrs <= PERFCTR_NRCTRS &&
	     perfctr_page_metrics_snapshot(v->page, sum, v->page->nrctrs)))
		return 0;
	/* If the page cannot be used, the kernel knows how many counters there are. */
	return _vperfctr_read_sum(v->fd, sum);
}
