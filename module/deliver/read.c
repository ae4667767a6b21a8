// SPDX-License-Identifier: GPL-2.0
/*
 * Reads of sums: the owner reads its own sums, and other threads interrupt the owner's CPU.
 */

#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "base/usercopy.h"
#include "arch/sums.h"
#include "perf/shared.h"
#include "thread/notify.h"
#include "switch/period.h"
#include "switch/resume.h"
#include "switch/suspend.h"
#include "deliver/read.h"

bool vperfctr_sums(const struct vperfctr *perfctr, struct perfctr_sample *sample)
{
	/* Sums are read after seq. Pairs with change_end(), sums_are_complete(). */
	u32 seq = smp_load_acquire(&perfctr->seq);
	u32 cstatus = vperfctr_cstatus(perfctr);
	u64 *value = sample->value;
	unsigned int i;

	if (seq & 1)
		return false;
	sample->cstatus = cstatus;
	sample->overflows = READ_ONCE(perfctr->overflows);
	sample->hold = atomic_read(&perfctr->hold);
	/* If a sum changes meanwhile, seq changes, too, and the caller throws all sums away. */
	*value++ = data_race(perfctr->cpu_state.clock);
	for (i = 0; i < PERFCTR_CSTATUS_NRCTRS(cstatus); i++)
		/* If this sum changes, seq does, too. */
		*value++ = data_race(perfctr->cpu_state.ctr[i].acc);
	smp_rmb();	/* pairs with sums_are_changing(), change_begin() */
	return READ_ONCE(perfctr->seq) == seq;
}

/* Reads the counters of a shared state. Returns true if perf has lost the event of a counter. */
static bool sample_shared(const struct vperfctr *perfctr, u64 *value)
{
	const struct perfctr_cpu_ctr *ctr, *end = perfctr->cpu_state.end;
	bool call = vperfctr_calls(perfctr), lost = false;
	int cpu = smp_processor_id();

	for (ctr = perfctr->cpu_state.ctr; ctr != end; ctr++)
		*value++ = ctr->acc + perfctr_shared_read(ctr, cpu, call, &lost);
	return lost;
}

/* Reads sums by a suspend, as metrics cannot be read otherwise. Metrics then start from zero. */
static noinline void sample_own_way(struct vperfctr *perfctr, struct perfctr_sample *sample)
{
	vperfctr_suspend(perfctr);
	sample->overflows = perfctr->overflows;
	sample->hold = atomic_read(&perfctr->hold);
	perfctr_cpu_store_sums(&perfctr->cpu_state, sample->value);
	vperfctr_resume(perfctr);
}

/* Reads the sums of current's state. The caller is current, or an interrupt. Interrupts are off. */
static __always_inline void state_sample(struct vperfctr *perfctr, struct perfctr_sample *sample)
{
	const struct perfctr_cpu_state *state = &perfctr->cpu_state;
	const struct perfctr_cpu_ctr *ctr, *end = state->end;
	u64 *value = sample->value;

	sample->cstatus = vperfctr_cstatus(perfctr);
	sample->overflows = perfctr->overflows;
	sample->hold = atomic_read(&perfctr->hold);
	if (likely(perfctr->seq & 1)) {
		*value++ = state->clock + perfctr_cpu_clock();
		if (unlikely(!perfctr->quick)) {
			if (perfctr_config_has_own_way(perfctr->config)) {
				sample_own_way(perfctr, sample);
				return;
			}
			if (perfctr->imode) {
				vperfctr_imode_sample(perfctr, value);
				return;
			}
			if (!vperfctr_is_native(perfctr)) {
				/* If perf has lost an event, these values are the last ones. */
				if (unlikely(sample_shared(perfctr, value)))
					vperfctr_suspend(perfctr);
				return;
			}
		}
		for (ctr = state->ctr; ctr != end; ctr++)
			*value++ = ctr->acc + perfctr_cpu_read(ctr);
	} else {
		perfctr_cpu_store_sums(state, value);
	}
}

struct remote_read {
	struct vperfctr *perfctr;
	struct perfctr_sample *sample;
	bool done;
};

static void remote_sample(void *arg)
{
	struct remote_read *read = arg;

	if (vperfctr_current() != read->perfctr)
		return;		/* the owner has left this CPU meanwhile */
	state_sample(read->perfctr, read->sample);
	read->done = true;
}

/*
 * Reads the sums of another thread, or of a thread that has ended. An attempt fails only if the
 * thread was switched meanwhile, so the loop ends. Returns 0, or -ERESTARTSYS.
 */
static noinline int sample_other(struct vperfctr *perfctr, struct perfctr_sample *sample)
{
	struct remote_read read = { .perfctr = perfctr, .sample = sample };
	struct task_struct *owner;

	for (;;) {
		if (vperfctr_sums(perfctr, sample))
			return 0;
		rcu_read_lock();
		owner = rcu_dereference(perfctr->owner);
		if (owner)
			smp_call_function_single(task_cpu(owner), remote_sample, &read, 1);
		rcu_read_unlock();
		if (read.done)
			return 0;
		if (signal_pending(current))
			return -ERESTARTSYS;
		/* The next attempt may find fewer sums, and all others must be zero. */
		memset(sample->value, 0, (1 + PERFCTR_MAX_HW) * sizeof(*sample->value));
		cond_resched();
	}
}

int vperfctr_sample(struct vperfctr *perfctr, struct perfctr_sample *sample)
{
	/* vperfctr_is_own() is true only in the owner itself, while the owner is alive. */
	if (!vperfctr_is_own(perfctr))
		return sample_other(perfctr, sample);
	local_irq_disable();
	state_sample(perfctr, sample);
	local_irq_enable();
	return 0;
}

static noinline ssize_t read_sample(struct vperfctr *perfctr, u64 __user *to, size_t count)
{
	u64 value[1 + PERFCTR_MAX_HW];
	struct perfctr_sample sample = { .value = value };
	size_t length;
	int err;

	err = vperfctr_sample(perfctr, &sample);
	if (err)
		return err;
	if (READ_ONCE(perfctr->error))
		return -EIO;
	if (!(sample.cstatus & PERFCTR_CSTATUS_CLOCK))
		value[0] = 0;
	length = (1 + PERFCTR_CSTATUS_NRCTRS(sample.cstatus)) * sizeof(*to);
	if (count < length)
		return -EINVAL;
	return copy_to_user(to, value, length) ? -EFAULT : length;
}

/*
 * Reads the counters of current's own state, which is a shared one. Interrupts are off for the
 * read, because perf moves its events to other registers in interrupts.
 */
static noinline ssize_t read_own_shared(struct vperfctr *perfctr, u64 __user *to, size_t count)
{
	u32 nr = perfctr->cpu_state.end - perfctr->cpu_state.ctr;
	u64 value[1 + PERFCTR_MAX_HW] __uninitialized;
	const u64 *from = value;
	size_t length = (1 + nr) * sizeof(*to);
	bool right;

	if (unlikely(count < length))
		return -EINVAL;
	local_irq_disable();
	right = perfctr->seq & 1;
	if (likely(right)) {
		value[0] = perfctr->cpu_state.clock + perfctr_cpu_clock();
		right = !sample_shared(perfctr, value + 1);
	}
	local_irq_enable();
	if (unlikely(!right || !user_write_access_begin(to, length)))
		return read_sample(perfctr, to, count);
	for (; from <= value + nr; from++, to++)
		unsafe_put_user(*from, to, fault);
	user_write_access_end();
	return length;

fault:
	user_write_access_end();
	return -EFAULT;
}

/*
 * read(2) returns the clock and the sums, as 64-bit words. read(2) exists because an ioctl takes
 * longer: the ioctl's way through the kernel alone takes longer than this whole function.
 *
 * The owner reads its own counters here as its user code would. The owner stores each count
 * straight to user memory, and starts again if a switch or an interrupt of ours has come between.
 * If a page must be fetched, read_sample() reads everything before it stores anything.
 */
ssize_t vperfctr_read(struct file *file, char __user *buffer, size_t count, loff_t *pos)
{
	struct vperfctr *perfctr = perfctr_file_state(file);
	const struct perfctr_cpu_state *state;
	const struct perfctr_cpu_ctr *ctr, *end;
	u64 __user *to = (u64 __user *)buffer;
	size_t length;
	u32 seq;

	if (unlikely(!perfctr))
		return -EINVAL;
	state = &perfctr->cpu_state;
	end = READ_ONCE(state->end);
	length = sizeof(*to) + ((char *)end - (char *)state->ctr) / sizeof(*ctr) * sizeof(*to);
	seq = READ_ONCE(perfctr->seq);
	if (unlikely(rcu_access_pointer(perfctr->owner) != current || !(seq & 1) ||
		     !perfctr->quick)) {
		if (rcu_access_pointer(perfctr->owner) == current && perfctr->clock_on &&
		    !vperfctr_is_native(perfctr))
			return read_own_shared(perfctr, to, count);
		return read_sample(perfctr, to, count);
	}
	if (unlikely(count < length))
		return -EINVAL;
	if (unlikely(!user_write_access_begin(to, length)))
		return -EFAULT;
	perfctr_cpu_faults_begin();
	for (;;) {
		unsafe_put_user(READ_ONCE(state->clock) + perfctr_cpu_clock(), to, not_now);
		for (ctr = state->ctr; ctr != end; ctr++) {
			to++;	/* not in the next line, whose macro may evaluate it twice */
			unsafe_put_user(READ_ONCE(ctr->acc) + perfctr_cpu_read(ctr), to, not_now);
		}
		/* A state with an error is suspended, so it does not get here. */
		if (likely(READ_ONCE(perfctr->seq) == seq)) {
			if (unlikely(perfctr_cpu_faulted()))
				goto not_now;
			break;
		}
		seq = READ_ONCE(perfctr->seq);
		to = (u64 __user *)buffer;
		/* The state was suspended meanwhile. */
		if (unlikely(!(seq & 1)))
			goto not_now;
	}
	perfctr_cpu_faults_end();
	user_write_access_end();
	return length;

not_now:
	perfctr_cpu_faults_end();
	user_write_access_end();
	return read_sample(perfctr, (u64 __user *)buffer, count);
}

static_assert(offsetof(struct perfctr_read, sum) ==
	      offsetof(struct perfctr_read, clock) + sizeof(u64));

int vperfctr_read_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_read read __uninitialized;
	/* The clock is stored to read.clock, and the sums to read.sum behind it. */
	struct perfctr_sample sample = { .value = &read.clock };
	u32 size;
	int err;

	err = perfctr_get_size(arg, PERFCTR_READ_SIZE_VER0, &size);
	if (err)
		return err;
	/* The caller gets only the first @size bytes. */
	memset(&read, 0, min_t(size_t, size, sizeof(read)));
	/* Look before the sample is taken: if the state is not attached now, its sums are final. */
	if (rcu_access_pointer(perfctr->owner))
		read.flags |= PERFCTR_READ_ATTACHED;
	smp_rmb();	/* pairs with perfctr_notify_put() in disown(), between seq and owner */
	err = vperfctr_sample(perfctr, &sample);
	if (err)
		return err;

	read.size = size;
	read.cstatus = sample.hold & PERFCTR_HOLD_IDLE ? 0 : sample.cstatus;
	read.error = READ_ONCE(perfctr->error);
	read.nrctrs = PERFCTR_CSTATUS_NRCTRS(sample.cstatus);
	read.flags |= sample.hold & PERFCTR_HOLD_REPORTED;
	read.overflows = sample.overflows;
	if (!(sample.cstatus & PERFCTR_CSTATUS_CLOCK))
		read.clock = 0;
	/* Read the kernel's counts only for callers whose structure has room for them. */
	if (size > offsetof(struct perfctr_read, soft)) {
		vperfctr_soft_read(perfctr, &read.soft.switches);
		read.soft.task_clock = vperfctr_task_clock(read.clock);
	}

	err = perfctr_put_struct(arg, size, &read, sizeof(read));
	if (err)
		return err;
	return read.error ? -EIO : 0;
}
