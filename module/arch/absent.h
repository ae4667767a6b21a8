/* SPDX-License-Identifier: GPL-2.0 */
/* What an architecture, or all others, do not have: see lowlevel.h, which includes this. */
#ifndef PERFCTR_ABSENT_H
#define PERFCTR_ABSENT_H

#ifndef PERFCTR_CPU_PERMITS_PROCESSES
static inline int perfctr_cpu_mm_get(struct mm_struct *mm)
{
	return 0;
}

static inline bool perfctr_cpu_mm_put(struct mm_struct *mm)
{
	return false;
}

static inline bool perfctr_cpu_mm_waits(struct mm_struct *mm)
{
	return false;
}

static inline void perfctr_cpu_mm_forked(struct mm_struct *mm)
{
}

static inline bool perfctr_cpu_is_permitted(const struct task_struct *task)
{
	return false;
}

static inline bool perfctr_cpu_may_see(const struct task_struct *task)
{
	return true;
}

static inline void perfctr_cpu_scrub(const struct task_struct *next)
{
}

static inline bool perfctr_cpu_lingers(void)
{
	return false;
}

static inline void perfctr_cpu_give_back(perfctr_run_t run)
{
}
#else
bool perfctr_cpu_lingers(void);
void perfctr_cpu_give_back(perfctr_run_t run);
#endif

#ifdef PERFCTR_CPU_VERIFIES
/* Before anything is claimed. NULL: no more. May sleep */
void perfctr_cpu_set_changed(perfctr_changed_t handler);
#else
static inline void perfctr_cpu_set_changed(perfctr_changed_t handler)
{
}

static inline bool perfctr_cpu_verify(void)
{
	return true;
}

static inline bool perfctr_cpu_changed(void)
{
	return false;
}
#endif

#ifndef PERFCTR_CPU_ALWAYS_READABLE
static __always_inline bool perfctr_cpu_always_readable(void)
{
	return false;
}

static inline void perfctr_cpu_rest(void)
{
}
#endif

#ifndef PERFCTR_CPU_BINDS_ICTRS
static __always_inline void perfctr_cpu_bind_ictr(struct perfctr_cpu_ctr *ctr, unsigned int hw)
{
	perfctr_cpu_bind(ctr, hw);
}
#endif

#ifndef PERFCTR_CPU_COUNTS_ONCE
static inline bool perfctr_cpu_counts_once(void)
{
	return false;
}
#endif

#ifndef PERFCTR_CPU_SHARED_TRIES
static inline bool perfctr_cpu_shared_twin(const struct perf_event *event,
					   struct perfctr_shared_attr *attr)
{
	return false;
}

static inline void perfctr_cpu_shared_try(struct perf_event *twin)
{
}
#endif

#ifndef PERFCTR_CPU_METRICS
static inline int perfctr_cpu_metric(unsigned int hw)
{
	return 0;
}
#endif

#ifndef PERFCTR_CPU_KEEPS_OFF
static inline bool perfctr_cpu_keeps_off(void)
{
	return false;
}

static inline bool perfctr_cpu_out_of_place(void)
{
	return false;
}

static inline bool perfctr_cpu_for_sessions(const struct perfctr_ctr_control *ctr)
{
	return false;
}
#endif

#ifndef PERFCTR_CPU_MORE_CONFIG
static inline bool perfctr_cpu_more_config(void)
{
	return false;
}
#endif

/* May config1 and config2 be other than zero? */
static inline bool perfctr_may_have_more(const struct perfctr_ctr_control *ctr)
{
	return ctr->flags & PERFCTR_CTR_PERF || perfctr_cpu_more_config();
}

#ifndef PERFCTR_CPU_OWN_WAY
static inline void perfctr_cpu_resume_own_way(const struct perfctr_config *config,
					      struct perfctr_cpu_state *state)
{
}

static inline void perfctr_cpu_suspend_own_way(const struct perfctr_config *config,
					       struct perfctr_cpu_state *state)
{
}

static inline void perfctr_cpu_sample_own_way(const struct perfctr_config *config,
					      struct perfctr_cpu_state *state, u64 *value)
{
}
#endif

/* Those are the metrics, where there are any. */
static inline bool perfctr_config_has_metrics(const struct perfctr_config *config)
{
#ifdef PERFCTR_CPU_METRICS
	return config->own_way;
#else
	return false;
#endif
}

static __always_inline bool perfctr_config_has_own_way(const struct perfctr_config *config)
{
#ifdef PERFCTR_CPU_OWN_WAY
	return config->own_way;
#else
	return false;
#endif
}

/* Can one thread have what the others of its process have not? */
static inline bool perfctr_cpu_permits_threads(void)
{
#ifdef PERFCTR_CPU_PERMITS_THREADS
	return true;
#else
	return false;
#endif
}

/* Counters count all modes together: then everybody counts the kernel. */
#ifndef PERFCTR_CPU_MODELESS
static inline bool perfctr_cpu_modeless(void)
{
	return false;
}
#endif

/* Can perfctr_cpu_clock_hidden() change? */
static inline bool perfctr_cpu_hides_clock(void)
{
#ifdef PERFCTR_CPU_HIDES_CLOCK
	return true;
#else
	return false;
#endif
}

#endif /* PERFCTR_ABSENT_H */
