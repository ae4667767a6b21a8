/* SPDX-License-Identifier: GPL-2.0 */
/* How a recorder writes to its ring; for record.c and maps.c */
#ifndef PERFCTR_RECORDER_H
#define PERFCTR_RECORDER_H

#include <linux/sched.h>

#include "thread/ring.h"
#include "thread/state.h"

/*
 * For @changes and @told of a recorder whose process's memory is not watched: @told is `none`, and
 * so is @changes if readers know all of the memory; else that is `some`.
 */
extern const u32 perfctr_changes_none;
extern const u32 perfctr_changes_some;

/* All members but the time */
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

/* In any context but an NMI */
void perfctr_record_write(struct perfctr_ring_buffer *ring, const struct perfctr_record *record);

/* Does its ring tell of threads and maps? */
static inline bool perfctr_records_maps(const struct perfctr_recorder *recorder)
{
	return recorder->ring->flags & PERFCTR_RING_MAPS;
}

static inline bool vperfctr_records_maps(const struct vperfctr *perfctr)
{
	return perfctr->recorder && perfctr_records_maps(perfctr->recorder);
}

/*
 * Finds out the ids of the owner, which is current, for its records: after the recorder was made,
 * and after an exec. Readers know nothing of its memory then. Interrupts are off.
 */
void perfctr_find_ids(struct perfctr_recorder *recorder);

/* Writes current's name. @flags: of the record. Interrupts are off. */
void perfctr_write_comm(struct perfctr_recorder *recorder, unsigned int flags);

/* Do readers know current's name? memcmp() takes longer than all else that a sample asks. */
static __always_inline bool perfctr_is_known_as(const struct perfctr_recorder *recorder)
{
	const unsigned long *known = (const unsigned long *)recorder->comm;
	const unsigned long *now = (const unsigned long *)current->comm;
	unsigned int i;

	BUILD_BUG_ON(offsetof(struct task_struct, comm) % sizeof(*now) ||
		     offsetof(struct perfctr_recorder, comm) % sizeof(*known));
	for (i = 0; i < TASK_COMM_LEN / sizeof(*now); i++)
		/* It may be changing; a later sample finds it changed. */
		if (known[i] != data_race(now[i]))
			return false;
	return true;
}

/* Tells what must stand before a record of current's. Interrupts are off. */
static __always_inline void perfctr_introduce(struct perfctr_recorder *recorder)
{
	lockdep_assert_irqs_disabled();
	if (unlikely(!recorder->told))
		perfctr_find_ids(recorder);
	if (perfctr_records_maps(recorder) && unlikely(!perfctr_is_known_as(recorder)))
		perfctr_write_comm(recorder, 0);
}

/* The same where interrupts may be on: one may write a sample meanwhile. */
void perfctr_introduce_now(struct perfctr_recorder *recorder);

#endif /* PERFCTR_RECORDER_H */
