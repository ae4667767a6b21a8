/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Holds counters of a CPU beside perf. For each counter that we hold, perf has a placeholder: a
 * pinned event of that CPU which perf never starts. So perf gives the counter to nobody else, and
 * never writes its control register. Perf's other counters, its interrupt and its global control
 * stay perf's.
 *
 * Functions of perf's PMU are hooked while we hold any counter. Our event_init() refuses an event
 * that would find no counter at all. Our add() keeps placeholders stopped when perf schedules the
 * events of a CPU anew, and gives events of others a counter that we do not hold. Our pmu_enable()
 * finds out whether perf has moved or removed a placeholder or has written to its counter. These
 * two run before any instruction of user mode can be counted wrong.
 *
 * Counters have perf's numbers here: struct hw_perf_event.idx.
 */
#ifndef PERFCTR_BESIDE_H
#define PERFCTR_BESIDE_H

#include <linux/perf_event.h>
#include <linux/types.h>

#define PERFCTR_BESIDE_MAX	64	/* counters from this number on are perf's */
#define PERFCTR_BESIDE_NONE	(-2)	/* no counter is free */
#define PERFCTR_BESIDE_ANY	(-1)	/* perf may choose */

/**
 * struct perfctr_beside - a PMU of perf's, and what the driver does about it; constant after init
 * @type: type of a placeholder's event
 * @describe: fills in the event of a counter's placeholder. The counter must be able to count it
 * @event_bits: bits of hw_perf_event.config that choose the event. perf may replace an event by
 *	one that counts the same with another register. Then the placeholder has lost its register
 * @shared: counters that have a common control register, which perf writes whole
 * @place: returns a counter for an event that is not ours, whose number is not in @taken. Returns
 *	PERFCTR_BESIDE_NONE if the event must wait, or PERFCTR_BESIDE_ANY. Called on the CPU with
 *	interrupts off
 * @starves: returns true if an event that a user opens is to be refused, because it has no counter
 *	but those that are held
 * @changes: called on the CPU with interrupts off, with false before perf may change registers of
 *	counters that we hold, and with true afterwards. Nobody may count by them in between
 * @found: called between these two calls, if perf has done something to counters that we hold.
 *	@lost: the CPU does not hold them any more. @idle: of these, those that perf does not use
 *	now. @written: perf has written to the values of these counters, which we still hold
 * @restore: called on the CPU with interrupts off when perf may have written the control register
 *	of @shared, if the CPU holds any of them
 */
struct perfctr_beside {
	u32 type;
	void (*describe)(unsigned int idx, struct perf_event_attr *attr);
	u64 event_bits;
	u64 shared;
	int (*place)(const struct perf_event *event, u64 taken);
	bool (*starves)(const struct perf_event *event, u64 held);
	void (*changes)(bool ends);
	void (*found)(u64 lost, u64 idle, u64 written);
	void (*restore)(void);
};

/*
 * Finds the PMU. Returns 0, or an error if perf has no such PMU. Changes no register. May sleep.
 * *beside must stay as it is until the module is unloaded.
 */
int perfctr_beside_init(const struct perfctr_beside *beside);

/*
 * Call the functions below in a context that may sleep. The caller serializes them, and holds the
 * CPU hotplug lock or is a hotplug callback.
 */

/*
 * Holds these counters on an online CPU, too. Returns 0, -EBUSY if perf has one of them,
 * -EOPNOTSUPP if a guest has all counters, -ENOMEM, or another error if perf does not know the
 * event of a placeholder. After an error, the CPU may hold some of them.
 */
int perfctr_beside_hold(unsigned int cpu, u64 counters);
/* Does not hold these counters of this CPU any more. The CPU may be offline. */
void perfctr_beside_release(unsigned int cpu, u64 counters);
/* Removes the hooks. Call this when no CPU holds a counter. */
void perfctr_beside_unhook(void);
/*
 * Waits until no hook runs. Call this before the module is unloaded. Returns false if somebody else
 * has hooked the same functions after us, so that the module must stay.
 */
bool perfctr_beside_exit(void);

/* Returns the counters that the CPU holds. */
u64 perfctr_beside_held(unsigned int cpu);

#endif /* PERFCTR_BESIDE_H */
