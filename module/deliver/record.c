// SPDX-License-Identifier: GPL-2.0
/*
 * The records that a thread writes about itself: samples, its name, its fork and its exit. Before
 * each record, the thread compares its name with the name that readers know.
 */

#include <linux/kcsan-checks.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "thread/notify.h"
#include "deliver/maps.h"
#include "deliver/record.h"
#include "deliver/recorder.h"

/**
 * struct chains - the addresses of the sample that a CPU is writing; used with interrupts off
 * @nr_kernel: number of addresses in @kernel
 * @nr_user: number of addresses in @user
 * @kernel: addresses in the kernel, from the innermost
 * @user: addresses in user mode, from the innermost
 */
struct chains {
	unsigned int nr_kernel;
	unsigned int nr_user;
	unsigned long kernel[PERFCTR_RING_MAX_DEPTH];
	u64 user[PERFCTR_RING_MAX_DEPTH];
};

static struct chains __percpu *chains;	/* constant after init */

/*
 * Samples
 */

/*
 * The interrupted code may be changing current's pagefault_disabled. allow_faults() leaves that
 * count as forbid_faults() found it, so there is no race. But KCSAN would report a race, because it
 * treats an interrupt as another CPU.
 */
static __always_inline void forbid_faults(void)
{
	kcsan_disable_current();
	pagefault_disable();
	kcsan_enable_current();
}

static __always_inline void allow_faults(void)
{
	kcsan_disable_current();
	pagefault_enable();
	kcsan_enable_current();
}

/*
 * Finds the callers in user mode. Outer frames have higher addresses, so the chain ends at a frame
 * whose address is not higher than the address of the frame before.
 */
static void find_user_chain(struct chains *to, struct pt_regs *regs, unsigned int depth)
{
	unsigned long frame = perfctr_cpu_first_frame(regs), last;

	to->user[0] = instruction_pointer(regs);
	to->nr_user = 1;
	forbid_faults();
	while (to->nr_user < depth) {
		last = frame;
		if (!perfctr_cpu_next_frame(regs, &frame, &to->user[to->nr_user]) ||
		    !to->user[to->nr_user])
			break;
		to->nr_user++;
		if (frame <= last)
			break;
	}
	allow_faults();
}

/*
 * Returns true if we may look at current's user mode. While current exits, another process's memory
 * may still be mapped. In an exec the memory of the new program is mapped, and the readers of the
 * ring may have no permission to see this memory.
 */
static __always_inline bool shows_user(void)
{
	return likely(current->mm && !current->in_execve);
}

/* Finds addresses in the kernel only if the ring may have them. Returns the sample's flags. */
static unsigned int find_chains(struct chains *chain, const struct perfctr_ring_buffer *ring,
				struct pt_regs *user, struct pt_regs *regs)
{
	chain->nr_kernel = 0;
	chain->nr_user = 0;
	if (ring->flags & PERFCTR_RING_USER_CHAIN && shows_user())
		find_user_chain(chain, user, ring->user_depth);
	if (regs && user_mode(regs))
		return 0;
	if (!regs || !(ring->flags & PERFCTR_RING_KERNEL))
		return PERFCTR_RECORD_ENTERED;
	if (ring->flags & PERFCTR_RING_KERNEL_CHAIN) {
		chain->kernel[0] = instruction_pointer(regs);
		chain->nr_kernel = 1 + perfctr_cpu_kernel_chain(regs, &chain->kernel[1],
								ring->kernel_depth - 1);
	}
	return PERFCTR_RECORD_KERNEL;
}

/*
 * Returns the flag of a sample that is written after the memory has changed. The owner looks at the
 * memory soon, unless it has looked a moment ago.
 */
static noinline unsigned int map_unknown(struct vperfctr *perfctr)
{
	if (perfctr_ring_time() >= perfctr->recorder->look_after) {
		perfctr->recorder->look_after = U64_MAX;
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_MAPS);
	}
	return PERFCTR_RECORD_MAP_UNKNOWN;
}

static __always_inline u64 *put_sums(u64 *to, const u64 *value, unsigned int nr)
{
	while (nr--)
		*to++ = *value++;
	return to;
}

void vperfctr_record_sample(struct vperfctr *perfctr, struct pt_regs *regs, u32 overflown,
			    const u64 *value)
{
	struct pt_regs *user = task_pt_regs(current);
	u32 nr = perfctr->cpu_state.end - perfctr->cpu_state.ctr, size;
	struct perfctr_recorder *recorder = perfctr->recorder;
	struct perfctr_ring_buffer *ring = recorder->ring;
	struct chains *chain = this_cpu_ptr(chains);
	struct perfctr_record_sample *sample;
	unsigned int flags, depth, i;
	u32 announced;
	u64 *to;

	lockdep_assert_irqs_disabled();
	perfctr_introduce(recorder);
	announced = smp_load_acquire(recorder->announced);	/* pairs with announce_changes() */
	flags = find_chains(chain, ring, user, regs);
	depth = chain->nr_kernel + chain->nr_user;
	size = sizeof(*sample) + (nr + depth) * sizeof(u64);
	sample = perfctr_ring_begin(ring, size);
	/*
	 * Compare while the ring is locked: the records of any later change then stand behind this
	 * sample. @announced was read before the chain was found. So the two values differ after a
	 * change since then, even if the records of that change stand in front of this sample.
	 */
	if (unlikely(READ_ONCE(*recorder->changes) != announced))
		flags |= map_unknown(perfctr);
	if (unlikely(!sample))
		goto out;
	perfctr_record_fill(&sample->record, recorder, PERFCTR_RECORD_SAMPLE, flags, size);
	/* Read the time while the ring is locked, so that records are in the order of time. */
	sample->record.time = perfctr_ring_time();
	sample->ip = 0;
	if (flags & PERFCTR_RECORD_KERNEL)
		sample->ip = instruction_pointer(regs);
	else if (shows_user())
		sample->ip = instruction_pointer(user);
	sample->cpu = smp_processor_id();
	sample->overflown = overflown;
	sample->nrctrs = nr;
	sample->kernel_depth = chain->nr_kernel;
	sample->user_depth = chain->nr_user;
	sample->reserved = 0;
	sample->clock = perfctr->clock_on ? *value : 0;
	to = put_sums(sample->value, value + 1, nr);
	if (depth) {
		for (i = 0; i < chain->nr_kernel; i++)
			*to++ = chain->kernel[i];
		put_sums(to, chain->user, chain->nr_user);
	}
out:
	perfctr_ring_end(ring);
}

void vperfctr_record_throttled(struct vperfctr *perfctr)
{
	struct perfctr_recorder *recorder = perfctr->recorder;
	struct perfctr_record record;

	perfctr_introduce(recorder);
	perfctr_record_fill(&record, recorder, PERFCTR_RECORD_THROTTLED, 0, sizeof(record));
	perfctr_record_write(recorder->ring, &record);
}

/*
 * Threads
 */

void vperfctr_record_fork(struct vperfctr *parent, struct vperfctr *perfctr,
			  struct task_struct *child)
{
	struct perfctr_recorder *recorder = perfctr->recorder;
	struct perfctr_record_fork record;
	unsigned long flags;

	if (!vperfctr_records_maps(parent))
		return;
	local_irq_save(flags);
	perfctr_introduce(parent->recorder);
	recorder->pid = task_tgid_nr_ns(child, recorder->ring->pid_ns);
	recorder->tid = task_pid_nr_ns(child, recorder->ring->pid_ns);
	memcpy(recorder->comm, parent->recorder->comm, sizeof(recorder->comm));
	if (child->mm == current->mm)
		vperfctr_use_same_maps(parent, perfctr, child);
	perfctr_record_fill(&record.record, recorder, PERFCTR_RECORD_FORK, 0, sizeof(record));
	record.parent_pid = parent->recorder->pid;
	record.parent_tid = parent->recorder->tid;
	perfctr_record_write(recorder->ring, &record.record);
	if (child->mm != current->mm)
		perfctr_copy_maps(parent->recorder, recorder);
	local_irq_restore(flags);
}

void vperfctr_record_exec(struct vperfctr *perfctr)
{
	unsigned long flags;

	if (!perfctr->recorder)
		return;
	local_irq_save(flags);
	perfctr_find_ids(perfctr->recorder);
	if (vperfctr_records_maps(perfctr)) {
		perfctr_write_comm(perfctr->recorder, PERFCTR_RECORD_EXEC);
		vperfctr_return_soon(perfctr, current, PERFCTR_TODO_MAPS);
	}
	local_irq_restore(flags);
}

void vperfctr_record_exit(struct vperfctr *perfctr)
{
	struct perfctr_record record;

	if (!vperfctr_records_maps(perfctr))
		return;
	perfctr_introduce_now(perfctr->recorder);
	perfctr_record_fill(&record, perfctr->recorder, PERFCTR_RECORD_EXIT, 0, sizeof(record));
	perfctr_record_write(perfctr->recorder->ring, &record);
}

void perfctr_record_free(struct perfctr_recorder *recorder)
{
	if (recorder && recorder->known)
		atomic_dec(&recorder->known->users);
	kfree(recorder);
}

int __init perfctr_record_init(void)
{
	chains = alloc_percpu(struct chains);
	return chains ? 0 : -ENOMEM;
}

void perfctr_record_exit(void)
{
	perfctr_maps_exit();
	free_percpu(chains);
}
