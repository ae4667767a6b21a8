/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux's driver of Intel's counters, and a part of AMD's, from its source: which counters can count which event, by
 * model, which periods there are, and what else it does on a model. See extract.awk.
 */
#ifndef LINUX_H
#define LINUX_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define LINUX_FIXED	32	/* the first fixed counter's bit in a bit map of counters */
#define LINUX_PMUS	3	/* types of cores that a processor may have */
#define LINUX_NAMES	12

struct event_constraint;
struct perf_event;

/**
 * struct extra_reg - an event with a register of its own, as linux.c reads Linux's tables; the last
 *	of a table is all zero
 * @event: as in bits 15..0 of an event select
 * @reg: the register, by Linux's name of it
 * @valid: bits that are defined
 */
struct extra_reg {
	uint32_t event;
	const char *reg;
	uint64_t valid;
};

/**
 * struct linux_label - a model
 * @name: as Linux has it
 * @vfm: vendor, family and model, in bits 23..16, 15..8 and 7..0
 */
struct linux_label {
	const char *name;
	uint32_t vfm;
};

extern const struct linux_label linux_labels[];
extern const unsigned int linux_nr_labels;

/**
 * struct linux_cache - perf's cache events
 * @event: as in an event select; 0: there is none; -1: there can be none
 * @value: of the event's own register
 */
struct linux_cache {
	uint64_t event[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_OP_MAX]
		[PERF_COUNT_HW_CACHE_RESULT_MAX];
	uint64_t value[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_OP_MAX]
		[PERF_COUNT_HW_CACHE_RESULT_MAX];
};

/**
 * struct linux_model - what applies to a model
 * @unknown: Linux does not know it
 * @hybrid: it has cores of several types
 * @pmu: for by_model(): the type of core that it is at
 * @constraints: of each type of core; NULL: there is no such type
 * @extras: the events of each type of core that have a register of their own; NULL: none has
 * @cache: likewise
 * @limit_period: as struct x86_pmu has it; NULL: there is none
 * @names: quirks, and functions that do not just do the usual, by name
 */
struct linux_model {
	bool unknown;
	bool hybrid;
	unsigned int pmu;
	const struct event_constraint *constraints[LINUX_PMUS];
	const struct extra_reg *extras[LINUX_PMUS];
	struct linux_cache cache[LINUX_PMUS];
	void (*limit_period)(struct perf_event *event, int64_t *left);
	unsigned int nr_names;
	const char *names[LINUX_NAMES];
};

void linux_look(uint32_t vfm, struct linux_model *m);
/* Of the P6's models, which have no labels */
const struct linux_cache *linux_p6(void);
bool linux_does(const struct linux_model *m, const char *name);
/*
 * The counters that can count an event, given as in bits 31..0 of an event select, as a bit map; of
 * general-purpose counters it has eight. *alone: beside nothing on the other hyperthread
 */
uint64_t linux_counters(const struct linux_model *m, unsigned int pmu, uint32_t event, bool *alone);
/* NULL: it has no register. */
const struct extra_reg *linux_extra(const struct linux_model *m, unsigned int pmu, uint32_t event);
/* What Linux makes of a period */
int64_t linux_period(const struct linux_model *m, uint32_t event, int64_t period);
/* Does nothing but the event, its unit mask, and whether there is more, make a difference? */
bool linux_is_simple(const struct linux_model *m, unsigned int pmu);

/* The counters of AMD's family 15h that can count an event */
uint64_t linux_amd_15h_counters(uint64_t event);

#endif /* LINUX_H */
