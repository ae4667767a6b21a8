// SPDX-License-Identifier: GPL-2.0
/*
 * TopDown: how many of the pipeline's slots for operations were used, and why the others were not.
 * Fixed counter 3, SLOTS, counts all slots. One register, PERF_METRICS, has up to eight metrics of
 * 8 bits. A metric of n says that, of the slots since SLOTS and PERF_METRICS were zero, n / 255
 * were of the metric's kind (Intel SDM, volume 3, "Performance Metrics"; Linux's perf_metrics of
 * intel/core.c).
 *
 * So a metric is not a counter, and the difference of two of its values means nothing. We make a
 * sum for each metric. When a state with metrics is resumed, we zero both registers. When the state
 * is suspended, we add each metric's part of SLOTS to the metric's sum. This happens at each
 * switch, at each read through the kernel, and once a second (fold.c). A metric is exact to 1/255
 * of the slots since the registers were zero. Each addition rounds its part to a whole slot, which
 * adds an error of half a slot. So after n additions a sum is wrong by at most n / 2 slots and
 * 1/255 of the counted slots.
 *
 * PERF_METRICS runs whenever SLOTS runs, counts in the same modes, and is zeroed together with
 * SLOTS. So a thread that may read SLOTS learns nothing more about others from PERF_METRICS.
 */

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <asm/msr-index.h>

#include "arch/sums.h"
#include "arch/x86/evntsel.h"
#include "arch/x86/registers.h"
#include "arch/x86/topdown.h"

#define UNITS	255	/* the metric's value for all slots */

#define METRIC_FIRST	PERFCTR_EVENT_METRIC(0)
#define METRIC_STEP	(PERFCTR_EVENT_METRIC(1) - PERFCTR_EVENT_METRIC(0))

void __init perfctr_x86_topdown_describe(unsigned int nr_metrics, u32 operand)
{
	unsigned int i;

	perfctr_pmu.slots = BIT(PERFCTR_X86_SLOTS);
	perfctr_pmu.nr_metrics = nr_metrics;
	perfctr_pmu.global_always = PERFCTR_X86_GLOBAL_METRICS;
	for (i = 0; i < nr_metrics; i++)
		perfctr_x86_rdpmc[PERFCTR_X86_METRIC + i] = operand;
}

/* Without SLOTS, which a trial may have dropped, there are no metrics. */
unsigned int perfctr_x86_topdown_metrics(void)
{
	return perfctr_pmu.counters & perfctr_pmu.slots ? perfctr_pmu.nr_metrics : 0;
}

static bool is_metric(u64 event, unsigned int *metric)
{
	*metric = (event - METRIC_FIRST) / METRIC_STEP;
	return event >= METRIC_FIRST && *metric < PERFCTR_METRICS && !(event % METRIC_STEP);
}

static bool metric_is_there(unsigned int metric)
{
	return metric < perfctr_x86_topdown_metrics();
}

bool perfctr_x86_topdown_lacks(u64 event)
{
	unsigned int metric;

	if (event == PERFCTR_EVENT_SLOTS)
		return !perfctr_x86_topdown_metrics();
	return is_metric(event, &metric) && !metric_is_there(metric);
}

int perfctr_x86_topdown_check(u64 event, struct perfctr_refusal *why)
{
	if (!perfctr_x86_topdown_lacks(event))
		return 0;
	why->reason = PERFCTR_REASON_TOPDOWN;
	return -EINVAL;
}

bool perfctr_x86_is_metric(const struct perfctr_ctr_control *ctr, unsigned int *metric)
{
	unsigned int found;

	if (!is_metric(ctr->event & EVNTSEL_EVENT, &found) || !metric_is_there(found))
		return false;
	if (metric)
		*metric = found;
	return true;
}

static bool is_slots_for(const struct perfctr_ctr_control *ctr,
			 const struct perfctr_ctr_control *metric)
{
	return (ctr->event & EVNTSEL_EVENT) == PERFCTR_EVENT_SLOTS && !ctr->ireset &&
	       ctr->flags == metric->flags;
}

int perfctr_x86_metrics_check(const struct perfctr_ctr_control *ctr, unsigned int nr,
			      struct perfctr_refusal *why)
{
	unsigned int i, slots;

	for (i = 0; i < nr; i++) {
		if (!perfctr_x86_is_metric(&ctr[i], NULL))
			continue;
		why->index = i;
		/* A control cannot name a counter for a metric. */
		if (ctr[i].map != PERFCTR_MAP_ANY || perfctr_x86_evntsel_check(&ctr[i]))
			return -EINVAL;
		for (slots = 0; slots < nr; slots++)
			if (is_slots_for(&ctr[slots], &ctr[i]))
				break;
		if (slots == nr || ctr[i].ireset) {
			why->reason = PERFCTR_REASON_SLOTS;
			return -EINVAL;
		}
	}
	why->index = PERFCTR_NO_INDEX;
	return 0;
}

/* Beside perf, an NMI may restore the register from our copy, so the copy is written first. */
static notrace void write_fixed(struct perfctr_x86_cpu *cpu, u64 value)
{
	u32 reg = perfctr_pmu.fixed_control;

	WRITE_ONCE(cpu->control[reg], value);
	barrier();
	write_msr(perfctr_pmu.control[reg].msr, value);
}

/* Stops SLOTS. Returns what start_slots() needs to know. */
static notrace u64 stop_slots(struct perfctr_x86_cpu *cpu)
{
	u64 before = cpu->control[perfctr_pmu.fixed_control];
	u64 own = perfctr_pmu.ctr[PERFCTR_X86_SLOTS].stop;

	if (perfctr_pmu.global_ctrl)
		write_global(cpu->running & ~perfctr_pmu.slots);
	else
		write_fixed(cpu, before & ~own);
	return before & own;
}

static notrace void start_slots(struct perfctr_x86_cpu *cpu, u64 own)
{
	if (perfctr_pmu.global_ctrl)
		write_global(cpu->running);
	else
		write_fixed(cpu, cpu->control[perfctr_pmu.fixed_control] | own);
}

/*
 * Zeroes SLOTS and PERF_METRICS. Both must begin at the same time, because the metrics are parts of
 * the slots. If SLOTS counts kernel mode, it is stopped meanwhile. Otherwise it stands still
 * anyway.
 */
static notrace void zero_metrics(const struct perfctr_config *config)
{
	struct perfctr_x86_cpu *cpu = this_cpu_ptr(&perfctr_x86_cpu);
	bool counts = !(READ_ONCE(config->id) & PERFCTR_ID_USER);
	u64 own = 0;

	lockdep_assert_irqs_disabled();
	if (counts)
		own = stop_slots(cpu);
	/* Zero SLOTS first, as Linux does. */
	write_msr(perfctr_pmu.ctr[PERFCTR_X86_SLOTS].msr, 0);
	write_msr(MSR_PERF_METRICS, 0);
	if (counts)
		start_slots(cpu, own);
}

notrace void perfctr_cpu_resume_own_way(const struct perfctr_config *config,
					struct perfctr_cpu_state *state)
{
	u32 i;

	if (perfctr_pmu.cascade) {
		perfctr_x86_resume_waiting(config, state);
		return;
	}
	zero_metrics(config);
	for (i = 0; i < config->nr; i++)
		if (!perfctr_cpu_metric(config->hw[i]))
			state->ctr[i].acc -= perfctr_cpu_read(&state->ctr[i]);
	perfctr_cpu_resume_clock(state);
}

static __always_inline u64 read_operand(u32 operand)
{
	const struct perfctr_cpu_ctr ctr = { .read = operand };

	return perfctr_cpu_read(&ctr);
}

/* Returns the metric's part of the slots since both registers were zero. */
static __always_inline u64 part_of(u64 slots, u64 metrics, int metric)
{
	u64 field = metrics >> 8 * (metric - 1) & 0xff;

	return div_u64(field * slots + UNITS / 2, UNITS);
}

notrace void perfctr_cpu_suspend_own_way(const struct perfctr_config *config,
					 struct perfctr_cpu_state *state)
{
	u64 slots, metrics;
	u32 i;

	if (perfctr_pmu.cascade) {
		perfctr_x86_suspend_waiting(config, state);
		return;
	}
	slots = read_operand(perfctr_x86_rdpmc[PERFCTR_X86_SLOTS]);
	metrics = read_operand(perfctr_x86_rdpmc[PERFCTR_X86_METRIC]);
	lockdep_assert_irqs_disabled();
	perfctr_cpu_suspend_clock(state);
	for (i = 0; i < config->nr; i++) {
		struct perfctr_cpu_ctr *ctr = &state->ctr[i];
		int metric = perfctr_cpu_metric(config->hw[i]);

		if (metric == PERFCTR_WHOLE)
			ctr->acc += slots;
		else if (metric)
			ctr->acc += part_of(slots, metrics, metric);
		else
			ctr->acc += perfctr_cpu_read(ctr);
	}
}

/*
 * Reads the sums of a state that stays resumed. Each read adds the metrics to their sums and zeroes
 * the registers. Otherwise a metric that is rounded down later could be less than at the last read.
 * Only slots of kernel mode are missed, while the registers are zeroed.
 */
notrace void perfctr_cpu_sample_own_way(const struct perfctr_config *config,
					struct perfctr_cpu_state *state, u64 *value)
{
	bool cascade = perfctr_pmu.cascade;
	u64 slots = 0, metrics = 0;
	u32 i;

	if (!cascade) {
		slots = read_operand(perfctr_x86_rdpmc[PERFCTR_X86_SLOTS]);
		metrics = read_operand(perfctr_x86_rdpmc[PERFCTR_X86_METRIC]);
		zero_metrics(config);
	}
	*value++ = state->clock + perfctr_cpu_clock();
	for (i = 0; i < config->nr; i++) {
		struct perfctr_cpu_ctr *ctr = &state->ctr[i];
		int metric = perfctr_cpu_metric(config->hw[i]);

		if (!metric) {
			*value++ = ctr->acc + perfctr_cpu_read(ctr);
			continue;
		}
		ctr->acc += metric == PERFCTR_WHOLE ? slots : part_of(slots, metrics, metric);
		*value++ = ctr->acc;
	}
}
