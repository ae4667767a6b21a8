// SPDX-License-Identifier: GPL-2.0
/*
 * This file makes a ring of records, wakes its reader, and finds room for the next record.
 *
 * All CPUs write to one ring. So its records are in the order of time, and a tree of threads takes
 * no more memory than one thread. Writers hold the lock while they copy a record, which takes some
 * hundred instructions.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "base/account.h"
#include "base/compat.h"
#include "base/hook.h"
#include "base/usercopy.h"
#include "thread/ring.h"

/* A ring has at most 1 GiB, so all offsets fit in 31 bits. */
#define MOST_PAGES	(SZ_1G >> PAGE_SHIFT)

static_assert(offsetof(struct perfctr_ring_page, tail) == 128);

/*
 * Each mm that readers of some ring know is in this table once. When any mm changes, we look for it
 * in one short chain, however many rings there are.
 */
#define WATCHED_BITS	10
static struct hlist_head watched_mms[1 << WATCHED_BITS];	/* watched_lock; read under RCU */
static DEFINE_SPINLOCK(watched_lock);

static struct hlist_head *list_of(const struct mm_struct *mm)
{
	return &watched_mms[hash_ptr(mm, WATCHED_BITS)];
}

/* Call this under RCU, or with the lock held. */
static struct perfctr_watched_mm *find_watched(const struct mm_struct *mm)
{
	struct perfctr_watched_mm *watched;

	hlist_for_each_entry_rcu(watched, list_of(mm), node, lockdep_is_held(&watched_lock))
		if (watched->mm == mm)
			return watched;
	return NULL;
}

struct perfctr_watched_mm *perfctr_watch_mm(struct mm_struct *mm)
{
	struct perfctr_watched_mm *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT), *watched;

	spin_lock(&watched_lock);
	watched = find_watched(mm);
	if (!watched && new) {
		watched = new;
		new = NULL;
		mmgrab(mm);
		watched->mm = mm;
		hlist_add_head_rcu(&watched->node, list_of(mm));
	}
	if (watched)
		watched->refs++;
	spin_unlock(&watched_lock);
	kfree(new);
	return watched;
}

static void unwatch(struct perfctr_watched_mm *watched)
{
	bool last;

	spin_lock(&watched_lock);
	last = !--watched->refs;
	if (last)
		hlist_del_rcu(&watched->node);
	spin_unlock(&watched_lock);
	if (!last)
		return;
	mmdrop(watched->mm);
	kfree_rcu(watched, rcu);
}

void perfctr_mm_changed(const struct mm_struct *mm)
{
	struct perfctr_watched_mm *watched;

	lockdep_assert_held_write(&mm->mmap_lock);
	rcu_read_lock();
	watched = find_watched(mm);
	if (watched)
		WRITE_ONCE(watched->changes, watched->changes + 1);
	rcu_read_unlock();
}

void perfctr_forget_mm(struct perfctr_known_mm *known)
{
	WARN_ON_ONCE(atomic_read(&known->users));
	list_del(&known->node);
	unwatch(known->watched);
	kvfree(known->map);
	kfree(known);
}

static void wake_readers(struct work_struct *work)
{
	struct perfctr_ring_buffer *ring;

	ring = container_of(work, struct perfctr_ring_buffer, wake_work);
	wake_up_interruptible_poll(&ring->wait, EPOLLIN | EPOLLRDNORM | EPOLLHUP);
	kill_fasync(&ring->fasync, SIGIO, POLL_IN);
}

static void wake(struct irq_work *work)
{
	struct perfctr_ring_buffer *ring = container_of(work, struct perfctr_ring_buffer, wake);

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		queue_work(perfctr_wq, &ring->wake_work);
	else
		wake_readers(&ring->wake_work);
}

/*
 * Applies the limit of mlock(2) to the sum of all rings of a user, including perf's. Also charges
 * the ring to the account that pays for that user: see account.c. Returns 0 or -ENOMEM.
 */
static int ring_charge(struct perfctr_ring_buffer *ring)
{
	bool all = capable(CAP_IPC_LOCK);
	unsigned long limit = all ? ULONG_MAX : rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	atomic_long_t *locked = &ring->cred->user->locked_vm;
	int err = 0;

	if (atomic_long_add_return(ring->nr_pages, locked) > limit)
		err = -ENOMEM;
	if (!err)
		err = perfctr_account_add_pages(&ring->account, ring->nr_pages, limit);
	if (err)
		atomic_long_sub(ring->nr_pages, locked);
	return err;
}

static void uncharge(struct perfctr_ring_buffer *ring)
{
	atomic_long_sub(ring->nr_pages, &ring->cred->user->locked_vm);
	perfctr_account_drop_pages(ring->account, ring->nr_pages);
}

static void free_pages_of(struct perfctr_ring_buffer *ring)
{
	unsigned int i;

	vunmap(ring->page);
	for (i = 0; ring->pages && i < ring->nr_pages && ring->pages[i]; i++) {
		__free_page(ring->pages[i]);
		cond_resched();
	}
	kvfree(ring->pages);
	kfree(ring->whole);
}

static void forget_mms(struct perfctr_ring_buffer *ring)
{
	struct perfctr_known_mm *known, *next;

	list_for_each_entry_safe(known, next, &ring->known_mms, node)
		perfctr_forget_mm(known);
}

static void free_ring(struct work_struct *work)
{
	struct perfctr_ring_buffer *ring = container_of(work, struct perfctr_ring_buffer, free);

	irq_work_sync(&ring->wake);
	cancel_work_sync(&ring->wake_work);
	forget_mms(ring);
	free_pages_of(ring);
	uncharge(ring);
	put_cred(ring->cred);
	put_pid_ns(ring->pid_ns);
	kfree(ring);
}

static int alloc_pages_of(struct perfctr_ring_buffer *ring)
{
	unsigned int i;

	ring->pages = kvcalloc(ring->nr_pages, sizeof(*ring->pages), GFP_KERNEL_ACCOUNT);
	if (!ring->pages)
		return -ENOMEM;
	for (i = 0; i < ring->nr_pages; i++) {
		ring->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
		if (!ring->pages[i])
			return -ENOMEM;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	ring->whole = kmalloc(PERFCTR_RING_LARGEST, GFP_KERNEL_ACCOUNT);
	if (!ring->whole)
		return -ENOMEM;
	ring->page = vmap(ring->pages, ring->nr_pages, VM_MAP, PAGE_KERNEL);
	return ring->page ? 0 : -ENOMEM;
}

static int check(const struct perfctr_ring *wanted)
{
	u32 flags = wanted->flags;

	if (flags & ~(PERFCTR_RING_USER_CHAIN | PERFCTR_RING_KERNEL | PERFCTR_RING_KERNEL_CHAIN |
		      PERFCTR_RING_MAPS) ||
	    (flags & PERFCTR_RING_KERNEL_CHAIN && !(flags & PERFCTR_RING_KERNEL)) ||
	    !is_power_of_2(wanted->pages) || wanted->pages > MOST_PAGES ||
	    wanted->user_depth > PERFCTR_RING_MAX_DEPTH ||
	    wanted->kernel_depth > PERFCTR_RING_MAX_DEPTH ||
	    !(flags & PERFCTR_RING_USER_CHAIN) != !wanted->user_depth ||
	    !(flags & PERFCTR_RING_KERNEL_CHAIN) != !wanted->kernel_depth ||
	    !perfctr_all_zero(wanted->reserved, sizeof(wanted->reserved)))
		return -EINVAL;
	return flags & PERFCTR_RING_KERNEL ? perfctr_allow_kernel() : 0;
}

struct perfctr_ring_buffer *perfctr_ring_create(const struct perfctr_ring *wanted)
{
	struct perfctr_ring_buffer *ring;
	int err = check(wanted);

	if (err)
		return ERR_PTR(err);
	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->nr_pages = 1 + wanted->pages;
	ring->cred = get_current_cred();
	err = ring_charge(ring);
	if (err)
		goto err_free;
	err = alloc_pages_of(ring);
	if (err)
		goto err_pages;
	refcount_set(&ring->refs, 1);
	raw_spin_lock_init(&ring->lock);
	mutex_init(&ring->maps_mutex);
	INIT_LIST_HEAD(&ring->known_mms);
	init_waitqueue_head(&ring->wait);
	/*
	 * The irq_work is hard only on RT, where wake() just queues work. Elsewhere lockdep would
	 * report the locks that wake() takes.
	 */
	ring->wake = IS_ENABLED(CONFIG_PREEMPT_RT) ? IRQ_WORK_INIT_HARD(wake) :
						     IRQ_WORK_INIT(wake);
	INIT_WORK(&ring->wake_work, wake_readers);
	INIT_WORK(&ring->free, free_ring);
	ring->length = wanted->pages * PAGE_SIZE;
	ring->data = (void *)ring->page + PAGE_SIZE;
	ring->wakeup = wanted->wakeup;
	ring->flags = wanted->flags;
	ring->user_depth = wanted->user_depth;
	ring->kernel_depth = wanted->kernel_depth;
	ring->pid_ns = get_pid_ns(task_active_pid_ns(current));
	ring->page->size = sizeof(*ring->page);
	ring->page->flags = ring->flags;
	ring->page->offset = PAGE_SIZE;
	ring->page->length = ring->length;
	return ring;

err_pages:
	free_pages_of(ring);
	uncharge(ring);
err_free:
	put_cred(ring->cred);
	kfree(ring);
	return ERR_PTR(err);
}

void perfctr_ring_get(struct perfctr_ring_buffer *ring)
{
	if (ring)
		refcount_inc(&ring->refs);
}

void perfctr_ring_put(struct perfctr_ring_buffer *ring)
{
	if (ring && refcount_dec_and_test(&ring->refs))
		queue_work(perfctr_wq, &ring->free);
}

/*
 * A map keeps its file open, and the file keeps the ring. The map also has references to the pages.
 */
int perfctr_ring_mmap(struct perfctr_ring_buffer *ring, struct vm_area_struct *vma)
{
	unsigned long nr = ring->nr_pages;

	if (vma->vm_pgoff != PERFCTR_RING_OFFSET >> PAGE_SHIFT || vma_pages(vma) != nr ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	return vm_insert_pages(vma, vma->vm_start, ring->pages, &nr);
}

static u32 unread(const struct perfctr_ring_buffer *ring)
{
	u32 used = READ_ONCE(ring->head) - READ_ONCE(ring->page->tail);

	return min(used, ring->length);
}

__poll_t perfctr_ring_poll(struct perfctr_ring_buffer *ring, struct file *file,
			   struct poll_table_struct *table)
{
	__poll_t events = 0;

	poll_wait(file, &ring->wait, table);
	raw_spin_lock_irq(&ring->lock);
	if (ring->ready || unread(ring) >= ring->length / 2)
		events = EPOLLIN | EPOLLRDNORM;
	ring->ready = false;
	raw_spin_unlock_irq(&ring->lock);
	if (!atomic_read(&ring->nr_writers))
		events |= EPOLLHUP;
	return events;
}

int perfctr_ring_fasync(struct perfctr_ring_buffer *ring, int fd, struct file *file, int on)
{
	return fasync_helper(fd, file, on, &ring->fasync);
}

bool perfctr_ring_wants_maps(const struct perfctr_ring_buffer *ring)
{
	return ring->flags & PERFCTR_RING_MAPS;
}

void perfctr_ring_add_writer(struct perfctr_ring_buffer *ring)
{
	atomic_inc(&ring->nr_writers);
}

void perfctr_ring_drop_writer(struct perfctr_ring_buffer *ring)
{
	if (atomic_dec_and_test(&ring->nr_writers))
		irq_work_queue(&ring->wake);
}

static void ring_lose(struct perfctr_ring_buffer *ring)
{
	/* Wake the reader, even if the ring is not half full, so that the reader makes room. */
	if (!ring->nr_lost++) {
		ring->ready = true;
		irq_work_queue(&ring->wake);
	}
	WRITE_ONCE(ring->page->lost, ring->page->lost + 1);
}

void perfctr_ring_lose(struct perfctr_ring_buffer *ring)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ring->lock, flags);
	ring_lose(ring);
	raw_spin_unlock_irqrestore(&ring->lock, flags);
}

static bool wraps(const struct perfctr_ring_buffer *ring, u32 size)
{
	return (ring->head & (ring->length - 1)) + size > ring->length;
}

static void *at(const struct perfctr_ring_buffer *ring, u32 head)
{
	return ring->data + (head & (ring->length - 1));
}

/*
 * Returns where to write a record, or NULL if there is no room. If the reader wrote nonsense to
 * tail, there is no room. The lock is held.
 */
static __always_inline void *begin(struct perfctr_ring_buffer *ring, u32 size)
{
	ring->unread = unread(ring);
	if (unlikely(size > ring->length - ring->unread))
		return NULL;
	smp_mb();	/* read the reader's tail before we overwrite what the reader has read */
	ring->next = ring->head + size;
	return likely(!wraps(ring, size)) ? at(ring, ring->head) : ring->whole;
}

static __always_inline void end(struct perfctr_ring_buffer *ring)
{
	u32 size = ring->next - ring->head, first;

	if (unlikely(wraps(ring, size))) {
		first = ring->length - (ring->head & (ring->length - 1));
		memcpy(at(ring, ring->head), ring->whole, first);
		memcpy(ring->data, ring->whole + first, size - first);
	}
	ring->head = ring->next;
	/* Release: the record is written before the head. This pairs with the reader's acquire. */
	smp_store_release(&ring->page->head, ring->head);
}

/* Writes a LOST record in front of the next record, but only if there is room for both. */
static noinline void report_lost(struct perfctr_ring_buffer *ring, u32 size)
{
	struct perfctr_record_lost *lost;

	if (sizeof(*lost) + size > ring->length - unread(ring))
		return;
	lost = begin(ring, sizeof(*lost));
	if (!lost)
		return;
	*lost = (struct perfctr_record_lost){
		.record = {
			.type = PERFCTR_RECORD_LOST,
			.size = sizeof(*lost),
			.time = perfctr_ring_time(),
		},
		.lost = ring->nr_lost,
	};
	end(ring);
	ring->nr_lost = 0;
}

void *perfctr_ring_begin(struct perfctr_ring_buffer *ring, u32 size)
	__acquires(&ring->lock)
{
	void *room = NULL;

	lockdep_assert_irqs_disabled();
	raw_spin_lock(&ring->lock);
	if (unlikely(ring->nr_lost))
		report_lost(ring, size);
	if (likely(!ring->nr_lost))
		room = begin(ring, size);
	if (unlikely(!room)) {
		ring_lose(ring);
		ring->next = ring->head;
	}
	return room;
}

static __always_inline void end_and_wake(struct perfctr_ring_buffer *ring, u32 size)
{
	u32 half = ring->length / 2;
	bool wakes;

	end(ring);
	wakes = ring->unread < half && ring->unread + size >= half;
	if (ring->wakeup && ++ring->written >= ring->wakeup) {
		ring->written = 0;
		wakes = true;
	}
	if (unlikely(wakes)) {
		ring->ready = true;
		irq_work_queue(&ring->wake);
	}
}

void perfctr_ring_end(struct perfctr_ring_buffer *ring)
	__releases(&ring->lock)
{
	u32 size = ring->next - ring->head;

	if (likely(size))
		end_and_wake(ring, size);
	raw_spin_unlock(&ring->lock);
}
