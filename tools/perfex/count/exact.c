// SPDX-License-Identifier: GPL-2.0
/*
 * Implements --exact, which subtracts the extra instructions that a processor counts at interrupts.
 */
#include <errno.h>
#include <string.h>

#include "count/exact.h"
#include "count/explain.h"
#include "count/why.h"

static const char *why_not_measured(const struct vperfctr *v, int error)
{
	switch (error) {
	case ENOENT:
		return "no event of this processor is known that counts interrupts";
	case ETIME:
		return "the processor's event for interrupts did not count those of a timer. It may count\n"
			"nothing here (in a virtual machine?), or timers interrupt other CPUs (nohz_full)";
	case ERANGE:
		return "what a loop of known length counts on this processor is neither exact, nor too\n"
			"many by one at each interrupt";
	case EBUSY:
		return why_busy((unsigned int)vperfctr_owner(v), (unsigned int)vperfctr_reason(v));
	case EXDEV:
		return why_unbound();
	case EACCES:
		if (vperfctr_reason(v) == PERFCTR_REASON_OPEN)
			return why_open();
		break;
	default:
		break;
	}
	return vperfctr_reason(v) ? perfctr_reason_name((unsigned int)vperfctr_reason(v)) :
				    strerror(error);
}

/* Measures on perfex itself, before the program starts, how many extra instructions are counted. */
static bool measure(struct how *how)
{
	struct vperfctr *v = vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL);
	int ret;

	if (!v) {
		explain("--exact: %s", errno == EEXIST ?
			"perfex is counted itself, by a perfex around it say, and so cannot measure what\n"
			"to take off" : strerror(errno));
		return false;
	}
	ret = vperfctr_measure_correction(v, how->source, &how->correction);
	if (ret < 0)
		explain("--exact: %s", why_not_measured(v, errno));
	(void)vperfctr_unlink(v);
	vperfctr_close(v);
	return !ret;
}

bool exact_begin(const struct perfctr_info *info, struct events *events, struct how *how)
{
	struct perfctr_control control = { PERFCTR_CONTROL_INIT, .nractrs = events->n };
	unsigned int i;

	/*
	 * Kernel mode is never exact, since what the kernel executes depends on the whole machine.
	 */
	for (i = 0; i < events->n; i++) {
		if (!events->event[i].modifier)
			events->event[i].ctr.flags |= PERFCTR_CTR_USER;
		events->event[i].modifier = true;
		control.ctr[i] = events->event[i].ctr;
	}
	/* With @chosen, perfex fails if an event cannot be counted. */
	events->chosen = true;
	if (!measure(how))
		return false;
	if (vperfctr_add_correction(&how->correction, &control) < 0 ||
	    control.nractrs > info->nrctrs) {
		explain("--exact needs a counter for interrupts beside those of the events, and this\n"
			"processor has %u counters. Try fewer events", info->nrctrs);
		return false;
	}
	if (how->correction.corrected)
		return true;
	explain("--exact: none of the events is instructions in user mode, which alone are corrected");
	return false;
}

static bool subtracts(const struct how *how)
{
	return how->exact && how->correction.per_interrupt;
}

void exact_control(const struct how *how, struct perfctr_control *control)
{
	if (subtracts(how))
		control->ctr[control->nractrs++] = how->correction.interrupts;
}

void exact_correct(const struct how *how, unsigned int nrctrs, __u64 *sum)
{
	unsigned int i;

	/* A thread that never counted has no sums. */
	if (!subtracts(how) || nrctrs <= how->correction.counter)
		return;
	for (i = 0; i < how->correction.counter; i++)
		sum[i] = vperfctr_corrected(&how->correction, sum, i);
}

uint64_t exact_subtracted(const struct how *how, const struct perfctr_read_tree *sums)
{
	return subtracts(how) ? sums->sum[how->correction.counter] : 0;
}

uint64_t exact_excess(const struct how *how, const struct perfctr_read_tree *sums)
{
	if (!how->exact || !how->correction.per_fault)
		return 0;
	return sums->soft.minor_faults + sums->soft.major_faults;
}
