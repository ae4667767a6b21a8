/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of counters through perf have in common */
#ifndef SHARED_KIT_H
#define SHARED_KIT_H

#include "threads.h"
#include "unit.h"

#define NATIVE		PERFCTR_SOURCE_NATIVE
#define SHARED		PERFCTR_SOURCE_SHARED
#define ANY_SOURCE	PERFCTR_SOURCE_ANY

/* A counter whose event is numbered as perf does */
#define CTR_PERF(t, c, f)	{ .map = ANY, .event = (t), .config = (c),	\
				  .flags = (f) | PERFCTR_CTR_PERF }

/* Nine different events for counters that count anything, on both architectures */
#define NR_GENERAL	9
extern const struct perfctr_ctr_control general[NR_GENERAL];

/* Of the latest get() or expect_refused() */
extern struct perfctr_refusal refusal;

/* perf has the counters as the module is loaded, where it takes all of them. */
extern bool shared_untried;

/* Loads the module; and unloads it, which leaves nothing of anything. */
void shared_begin(const struct model_machine *machine);
void shared_end(void);

/* The config, or the error */
struct perfctr_config *shared_try(const struct perfctr_ctr_control *ctr, u32 nr, u32 source);
/* It can be had, by this source. */
struct perfctr_config *shared_get(const struct perfctr_ctr_control *ctr, u32 nr, u32 source);
#define GET(ctrs, source)	shared_get(ctrs, ARRAY_SIZE(ctrs), source)
void shared_put(struct perfctr_config *config);
/* It cannot, for that reason, and nothing has changed. */
void expect_refused(const struct perfctr_ctr_control *ctr, u32 nr, u32 source, int err,
		    u32 index, u32 owner, u32 reason);
#define NOBODY		PERFCTR_OWNER_NONE
#define NO_INDEX	PERFCTR_NO_INDEX
#define NO_REASON	PERFCTR_REASON_NONE

/* Its threads count exactly, on all of these CPUs. */
void expect_counts(struct perfctr_config *config, u32 cpus);
/* Of a control that is perf's: what it counts, as the architecture numbers it */
void expect_counts_as(struct perfctr_config *config, u32 cpus,
		      const struct perfctr_ctr_control *twin);

/* Current has no privilege, and is another user; on x86 nobody can read perf's counters. */
void drop_privilege(void);
void take_privilege(void);

/* The event of a config's counter on a CPU */
struct perf_event *event_of(const struct perfctr_config *config, u32 i, unsigned int cpu);

/* Called by test_shared() */
void test_shared_lost(void);

#endif /* SHARED_KIT_H */
