// SPDX-License-Identifier: GPL-2.0
/*
 * The handle: an open file, and its calls. INFO and CPUS return facts about the processor and the
 * CPUs.
 */

#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/usercopy.h"
#include "thread/kin.h"
#include "thread/notify.h"
#include "thread/ring.h"
#include "thread/tracee.h"
#include "deliver/maps.h"
#include "deliver/overflow.h"
#include "deliver/read.h"
#include "config/config.h"
#include "tree/invite.h"
#include "tree/read_tree.h"
#include "tree/tree.h"
#include "calls/control.h"
#include "calls/handle.h"
#include "calls/life.h"
#include "calls/map.h"
#include "calls/return.h"
#include "calls/session.h"

/*
 * Offsets and sizes of the first version stay valid: never change a number here. i386 aligns
 * members of 64 bits to 32 bits only, so the structures must need no padding.
 */
#define FIRST(type, member, offset)					\
	static_assert(offsetof(struct perfctr_ ## type, member) == (offset))
FIRST(kernel_info, source, 104);
FIRST(cpus, mask, 16);
FIRST(open, reserved, 16);
FIRST(control, ctr, 128);
FIRST(control, cpu, 72);
FIRST(ctr_control, config1, 32);
FIRST(read, sum, 32);
FIRST(read_tree, sum, 72);
FIRST(member, sum, 56);
FIRST(read_cpu, sum, 32);
static_assert(PERFCTR_INFO_SIZE_VER0 == 192);
static_assert(PERFCTR_CPUS_SIZE_VER0 == 24);
static_assert(PERFCTR_OPEN_SIZE_VER0 == 64);
static_assert(PERFCTR_CONTROL_SIZE_VER0 == 128);
static_assert(PERFCTR_CTR_CONTROL_SIZE_VER0 == 64);
static_assert(PERFCTR_READ_SIZE_VER0 == 32);
static_assert(PERFCTR_READ_TREE_SIZE_VER0 == 72);
static_assert(PERFCTR_MEMBER_SIZE_VER0 == 56);
static_assert(PERFCTR_READ_CPU_SIZE_VER0 == 32);
static_assert(sizeof(struct perfctr_add_member) == PERFCTR_ADD_MEMBER_SIZE_VER0);
static_assert(sizeof(struct perfctr_ring) == PERFCTR_RING_SIZE_VER0);
static_assert(sizeof(struct perfctr_record) == 24);
static_assert(sizeof(struct perfctr_record_sample) == 56);
static_assert(sizeof(struct perfctr_record_map) == 64);
static_assert(PERFCTR_RING_OFFSET % PAGE_SIZE == 0);
static_assert(sizeof(struct perfctr_ctr_control) % 8 == 0);
/* struct perfctr_page may have at most 2048 bytes, half of a page. */
static_assert(offsetof(struct perfctr_page, slot) == 288);
static_assert(offsetof(struct perfctr_page, operand) == 1344);
static_assert(sizeof(struct perfctr_page) <= 2048);

/* Returns the session to which an open file refers, or NULL. */
static struct perfctr_session *file_session(const struct file *file)
{
	unsigned long handle = (unsigned long)READ_ONCE(file->private_data);

	return handle & PERFCTR_FILE_SESSION ? (void *)(handle - PERFCTR_FILE_SESSION) : NULL;
}

static int open_check(const struct perfctr_open *open)
{
	if (open->flags & ~(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL | PERFCTR_OPEN_PIDFD |
			    PERFCTR_OPEN_THREAD | PERFCTR_OPEN_CPUS) ||
	    !perfctr_all_zero(open->reserved, sizeof(open->reserved)) ||
	    (open->flags & (PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL)) == PERFCTR_OPEN_EXCL)
		return -EINVAL;
	if (!(open->flags & PERFCTR_OPEN_PIDFD) && open->pidfd)
		return -EINVAL;
	if (open->flags & PERFCTR_OPEN_CPUS)
		return open->flags != PERFCTR_OPEN_CPUS || open->tid ? -EINVAL : 0;
	/* A pidfd comes with a tid, because no kernel lets modules find the task of a pidfd. */
	if (!(open->flags & PERFCTR_OPEN_THREAD))
		return open->tid || open->flags & PERFCTR_OPEN_PIDFD ? -EINVAL : 0;
	return open->tid > 0 ? 0 : -EINVAL;
}

/*
 * Copies the caller's structure. Some archs copy short structures byte by byte. A copy by words
 * takes a quarter of the time.
 */
static int open_get(const struct perfctr_open __user *arg, struct perfctr_open *open)
{
	const u64 __user *from = (const u64 __user *)arg;
	u64 *to = (u64 *)open;
	unsigned int i;
	u32 size;
	int err;

	err = perfctr_get_size(arg, PERFCTR_OPEN_SIZE_VER0, &size);
	if (err)
		return err;
	if (size != sizeof(*open))
		return copy_struct_from_user(open, sizeof(*open), arg, size);
	if (!user_read_access_begin(from, sizeof(*open)))
		return -EFAULT;
	for (i = 0; i < sizeof(*open) / sizeof(*to); i++)
		unsafe_get_user(to[i], &from[i], fault);
	user_read_access_end();
	return 0;

fault:
	user_read_access_end();
	return -EFAULT;
}

/*
 * Makes the file a handle of @perfctr. Returns 0, or -EACCES if the control of @perfctr counts more
 * than current may count, or -ENOTTY if the file is a handle already.
 */
static int open_found(struct file *file, struct vperfctr *perfctr, bool kernel, bool shared)
{
	if (kernel && !perfctr_may_count_kernel(shared))
		return -EACCES;
	return cmpxchg(&file->private_data, NULL, perfctr) ? -ENOTTY : 0;
}

/*
 * Does OPEN for a thread that current traces. A new state is made before we know whether it is
 * needed, because we may not sleep while the thread is frozen.
 */
static int open_tracee(struct file *file, struct task_struct *tracee, u32 how)
{
	bool kernel = false, shared = false;
	struct vperfctr *made = NULL, *perfctr;
	unsigned long flags;
	int err = 0;

	if (how & PERFCTR_OPEN_CREAT) {
		err = perfctr_notify_get();
		if (err)
			return err;
		made = vperfctr_create(tracee);
		err = made ? perfctr_tracee_freeze(tracee, &flags) : -ENOMEM;
	} else {
		err = perfctr_tracee_freeze(tracee, &flags);
	}
	if (err)
		goto out;
	perfctr = perfctr_of_task(tracee, false);
	if (perfctr) {
		refcount_inc(&perfctr->refs);
		kernel = perfctr_config_counts_kernel(perfctr->config);
		shared = kernel && perfctr->config->shared;
		if (how & PERFCTR_OPEN_EXCL)
			err = -EEXIST;
	} else if (!made) {
		err = -ENOENT;
	} else if (cmpxchg(&file->private_data, NULL, made)) {
		err = -ENOTTY;
	} else {
		vperfctr_attach(made, tracee);
	}
	perfctr_tracee_thaw(tracee, flags);
	if (!err && perfctr)
		err = open_found(file, perfctr, kernel, shared);
	/* Without an error, the file keeps the reference. */
	if (err && perfctr)
		vperfctr_put(perfctr);
	if (!err && !perfctr)
		return 0;
out:
	if (how & PERFCTR_OPEN_CREAT)
		perfctr_notify_put();
	if (made)
		vperfctr_put(made);
	return err;
}

static int open_thread(struct file *file, const struct perfctr_open *open)
{
	struct task_struct *tracee;
	int err;

	tracee = perfctr_tracee_get(open->tid, open->flags & PERFCTR_OPEN_PIDFD, open->pidfd);
	if (IS_ERR(tracee))
		return PTR_ERR(tracee);
	err = open_tracee(file, tracee, open->flags);
	perfctr_tracee_put(tracee);
	return err;
}

/* Does OPEN for CPUs: the file gets a session. */
static int open_session(struct file *file)
{
	struct perfctr_session *session = perfctr_session_create();
	unsigned long handle = (unsigned long)session | PERFCTR_FILE_SESSION;

	if (IS_ERR(session))
		return PTR_ERR(session);
	if (!cmpxchg(&file->private_data, NULL, (void *)handle))
		return 0;
	perfctr_session_free(session);
	return -ENOTTY;
}

/* Does OPEN: the file becomes a handle. If two threads try this at once, the second fails. */
static int vperfctr_make_handle(struct file *file, void __user *arg)
{
	struct vperfctr *perfctr;
	struct perfctr_open open;
	bool create;
	int err;

	err = open_get(arg, &open);
	if (!err)
		err = open_check(&open);
	if (err)
		return err;
	if (unlikely(open.flags & PERFCTR_OPEN_THREAD))
		return open_thread(file, &open);
	if (unlikely(open.flags & PERFCTR_OPEN_CPUS))
		return open_session(file);

	/* The tracer of current may have invited current at the entry of this call. */
	perfctr = vperfctr_current_or_invited();
	create = !perfctr;
	if (create && !(open.flags & PERFCTR_OPEN_CREAT))
		return -ENOENT;
	if (!create && open.flags & PERFCTR_OPEN_EXCL)
		return -EEXIST;
	if (!create) {
		refcount_inc(&perfctr->refs);
	} else {
		err = perfctr_notify_get();
		if (err)
			return err;
		perfctr = vperfctr_create(current);
	}
	if (!perfctr)
		err = -ENOMEM;
	else
		err = open_found(file, perfctr, perfctr_config_counts_kernel(perfctr->config),
				 vperfctr_is_shared(perfctr));
	if (!err) {
		if (create)
			vperfctr_attach(perfctr, current);
		return 0;
	}
	if (create)
		perfctr_notify_put();
	if (perfctr)
		vperfctr_put(perfctr);
	return err;
}

static int info_ioctl(void __user *arg)
{
	struct perfctr_kernel_info info = {
		.abi_version = PERFCTR_ABI_VERSION,
		.driver_version = PERFCTR_VERSION,
	};
	u32 size;
	int err;

	err = perfctr_get_size(arg, PERFCTR_INFO_SIZE_VER0, &size);
	if (err)
		return err;
	info.size = size;
	info.user_read = READ_ONCE(perfctr_user_read);
	perfctr_config_info(&info);
	return perfctr_put_struct(arg, size, &info, sizeof(info));
}

static int cpus_ioctl(void __user *arg)
{
	u32 nrwords = DIV_ROUND_UP(nr_cpu_ids, 32);
	struct perfctr_cpus __user *user = arg;
	struct perfctr_cpus cpus;
	u32 cpu, *words;
	int err;

	err = perfctr_get_struct(&cpus, sizeof(cpus), arg, PERFCTR_CPUS_SIZE_VER0);
	if (err)
		return err;
	if (cpus.which > PERFCTR_CPUS_FORBIDDEN || cpus.reserved)
		return -EINVAL;
	if (put_user(nrwords, &user->nrwords))
		return -EFAULT;
	if (cpus.nrwords < nrwords)
		return -EOVERFLOW;

	words = kcalloc(nrwords, sizeof(*words), GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (cpus.which == PERFCTR_CPUS_ALL || perfctr_cpu_is_forbidden(cpu))
			words[cpu / 32] |= BIT(cpu % 32);
	cpus_read_unlock();
	if (copy_to_user(u64_to_user_ptr(cpus.mask), words, nrwords * sizeof(*words)))
		err = -EFAULT;
	kfree(words);
	return err;
}

/* Does RING, which only the owner may call. */
static int ring_ioctl(struct vperfctr *perfctr, void __user *arg)
{
	struct perfctr_ring_buffer *ring;
	struct perfctr_ring wanted;
	int err;

	perfctr = vperfctr_acting_owner(perfctr, false);
	if (IS_ERR(perfctr))
		return PTR_ERR(perfctr);
	err = perfctr_get_struct(&wanted, sizeof(wanted), arg, PERFCTR_RING_SIZE_VER0);
	if (err)
		return err;
	if (perfctr->inherited)
		return -EBUSY;
	if (perfctr->ring)
		return -EEXIST;
	ring = perfctr_ring_create(&wanted);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	if (perfctr_ring_wants_maps(ring))
		err = perfctr_record_maps_get();
	if (err) {
		perfctr_ring_put(ring);
		return err;
	}
	/* This needs no lock, because only the owner sets the ring. */
	smp_store_release(&perfctr->ring, ring);
	return 0;
}

/* Returns the ring of the state to which an open file refers, or NULL. */
static struct perfctr_ring_buffer *file_ring(const struct file *file)
{
	struct vperfctr *perfctr = perfctr_file_state(file);

	return perfctr ? READ_ONCE(perfctr->ring) : NULL;
}

/* Without a ring, poll(2) returns what it returns for a file without this function. */
static __poll_t vperfctr_poll(struct file *file, struct poll_table_struct *table)
{
	struct perfctr_ring_buffer *ring = file_ring(file);

	return ring ? perfctr_ring_poll(ring, file, table) : DEFAULT_POLLMASK;
}

static int vperfctr_fasync(int fd, struct file *file, int on)
{
	struct perfctr_ring_buffer *ring = file_ring(file);

	if (ring)
		return perfctr_ring_fasync(ring, fd, file, on);
	return on ? -EINVAL : 0;
}

static long vperfctr_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	struct vperfctr *perfctr = perfctr_file_state(file);
	void __user *arg = (void __user *)uarg;

	/* Test READ first: READ is called most often, and a switch statement searches its cases. */
	if (likely(perfctr && cmd == PERFCTR_IOC_READ))
		return vperfctr_read_ioctl(perfctr, arg);
	switch (cmd) {
	case PERFCTR_IOC_INFO:
		return info_ioctl(arg);
	case PERFCTR_IOC_CPUS:
		return cpus_ioctl(arg);
	}
	if (unlikely(!perfctr)) {
		struct perfctr_session *session = file_session(file);

		if (session)
			return perfctr_session_ioctl(session, cmd, arg);
		return cmd == PERFCTR_IOC_OPEN ? vperfctr_make_handle(file, arg) : -ENOTTY;
	}
	switch (cmd) {
	case PERFCTR_IOC_READ_TREE:
		return vperfctr_read_tree_ioctl(perfctr, arg);
	case PERFCTR_IOC_NEXT_MEMBER:
		return vperfctr_next_member_ioctl(perfctr, arg);
	case PERFCTR_IOC_ADD_MEMBER:
		return vperfctr_add_member_ioctl(perfctr, arg);
	case PERFCTR_IOC_RING:
		return ring_ioctl(perfctr, arg);
	case PERFCTR_IOC_SUSPEND:
		return vperfctr_stop_go(perfctr, file, true);
	case PERFCTR_IOC_RESUME:
		return vperfctr_stop_go(perfctr, file, false);
	case PERFCTR_IOC_CONTROL:
		return vperfctr_control(perfctr, file, arg);
	case PERFCTR_IOC_READ_CONTROL:
		return vperfctr_read_control(perfctr, arg);
	case PERFCTR_IOC_UNLINK:
		return vperfctr_unlink(perfctr, file);
	case PERFCTR_IOC_IRESUME:
		return vperfctr_iresume_ioctl(perfctr);
	case PERFCTR_IOC_REFRESH:
		return vperfctr_refresh_ioctl(perfctr, uarg);
	}
	return -ENOTTY;
}

/* Opens the file, without a state, as a stream, so that read(2) does not lock a file position. */
static int vperfctr_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return stream_open(inode, file);
}

static int vperfctr_release(struct inode *inode, struct file *file)
{
	struct vperfctr *perfctr = perfctr_file_state(file);
	struct perfctr_session *session = file_session(file);

	if (session)
		perfctr_session_free(session);
	if (!perfctr)
		return 0;
	cmpxchg(&perfctr->holder, file, NULL);
	raw_spin_lock_irq(&perfctr->lock);
	if (perfctr->tree)
		perfctr_tree_release(perfctr->tree, file);
	raw_spin_unlock_irq(&perfctr->lock);
	vperfctr_put(perfctr);
	return 0;
}

static void vperfctr_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct vperfctr *perfctr = perfctr_file_state(file);

	if (!perfctr) {
		if (file_session(file))
			seq_puts(m, "cpus:\n");
		return;
	}
	seq_printf(m, "tid:\t%d\n", vperfctr_tid(perfctr));
	seq_printf(m, "cstatus:\t%#x\n", vperfctr_counted(perfctr));
	seq_printf(m, "error:\t%u\n", READ_ONCE(perfctr->error));
	seq_printf(m, "source:\t%s\n", vperfctr_is_shared(perfctr) ? "shared" : "native");
}

const struct file_operations vperfctr_fops = {
	.owner = THIS_MODULE,
	.open = vperfctr_open,
	.read = vperfctr_read,
	.unlocked_ioctl = vperfctr_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = vperfctr_mmap,
	.poll = vperfctr_poll,
	.fasync = vperfctr_fasync,
	.release = vperfctr_release,
	.show_fdinfo = vperfctr_show_fdinfo,
};
