/* SPDX-License-Identifier: GPL-2.0 */
/* These functions write a recorder's records to its ring. record.c and maps.c use them. */
#ifndef PERFCTR_RECORDER_H
#define PERFCTR_RECORDER_H

#include <linux/sched.h>

#include "thread/ring.h"
#include "thread/state.h"

/*
 * @announced and @changes of a recorder point here while the memory of its process is not watched.
 * @announced then points to `none`. @changes points to `none`, too, if readers know all of the
 * memory, and to `some` if they do not.
 */
extern const u32 perfctr_changes_none;
extern const u32 perfctr_changes_some;

/* Fills in all members but the time. */
static inline void perfctr_record_fill(struct perfctr_record *record,
				       const struct perfctr_recorder *recorder,
				       unsigned int type, unsigned int flags, u32 size)
{
	record->type = type;
	record->flags = flags;
	record->size = size;
	record->pid = recorder->pid;
	record->tid = recorder->tid;
}

/* Sets the time of a complete record, and writes it. May be called in any context but an NMI. */
void perfctr_record_write(struct perfctr_ring_buffer *ring, const struct perfctr_record *record);

/* Returns true if the ring has records of threads and maps. */
static inline bool perfctr_records_maps(const struct perfctr_recorder *recorder)
{
	return recorder->ring->flags & PERFCTR_RING_MAPS;
}

static inline bool vperfctr_records_maps(const struct vperfctr *perfctr)
{
	return perfctr->recorder && perfctr_records_maps(perfctr->recorder);
}

/*
 * Finds the ids of the owner, which is current, for its records. Call this after the recorder was
 * made, and after each exec. In both cases readers know nothing of the owner's memory yet.
 * Interrupts are off.
 */
void perfctr_find_ids(struct perfctr_recorder *recorder);

/* Writes a record with current's name and these flags. Interrupts are off. */
void perfctr_write_comm(struct perfctr_recorder *recorder, unsigned int flags);

/*
 * Returns true if readers know current's name. memcmp() would take longer than all other checks of
 * a sample.
 */
static __always_inline bool perfctr_is_known_as(const struct perfctr_recorder *recorder)
{
	const unsigned long *known = (const unsigned long *)recorder->comm;
	const unsigned long *now = (const unsigned long *)current->comm;
	unsigned int i;

	BUILD_BUG_ON(offsetof(struct task_struct, comm) % sizeof(*now) ||
		     offsetof(struct perfctr_recorder, comm) % sizeof(*known));
	for (i = 0; i < TASK_COMM_LEN / sizeof(*now); i++)
		/* If the name is changing right now, a later sample finds it changed. */
		if (known[i] != data_race(now[i]))
			return false;
	return true;
}

/* Finds and writes all that must come before a record of current. Interrupts are off. */
static __always_inline void perfctr_introduce(struct perfctr_recorder *recorder)
{
	lockdep_assert_irqs_disabled();
	if (unlikely(!recorder->announced))
		perfctr_find_ids(recorder);
	if (perfctr_records_maps(recorder) && unlikely(!perfctr_is_known_as(recorder)))
		perfctr_write_comm(recorder, 0);
}

/*
 * Calls perfctr_introduce() with interrupts off, because an interrupt may write a sample. The
 * caller has interrupts on.
 */
void perfctr_introduce_now(struct perfctr_recorder *recorder);

#endif /* PERFCTR_RECORDER_H */
