// SPDX-License-Identifier: GPL-2.0
/* Finds the ids and the name of a recorder's owner, and writes complete records to its ring. */

#include <linux/pid.h>

#include "deliver/recorder.h"

const u32 perfctr_changes_none;
const u32 perfctr_changes_some = 1;

void perfctr_record_write(struct perfctr_ring_buffer *ring, const struct perfctr_record *record)
{
	struct perfctr_record *to;
	unsigned long flags;

	local_irq_save(flags);
	to = perfctr_ring_begin(ring, record->size);
	if (to) {
		memcpy(to, record, record->size);
		to->time = perfctr_ring_time();
	}
	perfctr_ring_end(ring);
	local_irq_restore(flags);
}

void perfctr_find_ids(struct perfctr_recorder *recorder)
{
	/* An interrupt may write a sample, so it must not come when only half of this is done. */
	lockdep_assert_irqs_disabled();
	recorder->pid = task_tgid_nr_ns(current, recorder->ring->pid_ns);
	recorder->tid = task_pid_nr_ns(current, recorder->ring->pid_ns);
	recorder->announced = &perfctr_changes_none;
	recorder->changes = perfctr_records_maps(recorder) ? &perfctr_changes_some :
							      &perfctr_changes_none;
}

void perfctr_write_comm(struct perfctr_recorder *recorder, unsigned int flags)
{
	struct perfctr_record_comm comm = {};

	/* The name may be half changed now. A later sample then writes it anew. */
	data_race(memcpy(recorder->comm, current->comm, sizeof(recorder->comm)));
	perfctr_record_fill(&comm.record, recorder, PERFCTR_RECORD_COMM, flags, sizeof(comm));
	memcpy(comm.comm, recorder->comm, sizeof(comm.comm));
	comm.comm[sizeof(comm.comm) - 1] = '\0';
	perfctr_record_write(recorder->ring, &comm.record);
}

void perfctr_introduce_now(struct perfctr_recorder *recorder)
{
	unsigned long flags;

	local_irq_save(flags);
	perfctr_introduce(recorder);
	local_irq_restore(flags);
}
