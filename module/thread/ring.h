/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring of records: memory that a reader maps, and that CPUs write to one after the other. ring.c
 * makes it, and wakes its reader; record.c says what is written.
 */
#ifndef PERFCTR_RING_H
#define PERFCTR_RING_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/irq_work.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/perfctr.h>

struct cred;
struct perfctr_user;
struct fasync_struct;
struct mm_struct;
struct page;
struct pid_namespace;
struct poll_table_struct;
struct vm_area_struct;

/**
 * struct perfctr_known_map - an executable mapping that readers were told of
 * @start, @end, @offset: its addresses, and bytes from the start of the file
 * @inode, @dev: of the file, and of the device where it is; 0: none
 * @generation: of the inode, whose number a later file may have
 */
struct perfctr_known_map {
	unsigned long start;
	unsigned long end;
	u64 offset;
	unsigned long inode;
	dev_t dev;
	u32 generation;
};

/**
 * struct perfctr_watched_mm - an mm that readers of any ring were told of
 * @node: in the table of all. A change looks for it under RCU
 * @mm: the mm, whose memory is kept, so that no other one gets its address
 * @refs: struct perfctr_known_mm that refer to it; the table's lock
 * @changes: changes of its executable memory. Rises while mmap_lock is held for writing; samples
 *	read it at any time
 * @rcu: frees it
 */
struct perfctr_watched_mm {
	struct hlist_node node;
	struct mm_struct *mm;
	unsigned int refs;
	u32 changes;
	struct rcu_head rcu;
};

/**
 * struct perfctr_known_mm - what readers of a ring were told of a process; maps_mutex of the ring
 * @node: in the ring's @known_mms
 * @watched: its mm, with a reference. Processes that share their memory share this
 * @pid: the process, as in its records
 * @users: struct perfctr_recorder that refer to it. Rises from 0 under maps_mutex alone
 * @told: @watched->changes when all was told; samples read it at any time
 * @last_look: who looked last, to compare alone: it may have ended. A fork reads it at any time
 * @map: @nr mappings, in the order of addresses
 */
struct perfctr_known_mm {
	struct list_head node;
	struct perfctr_watched_mm *watched;
	pid_t pid;
	atomic_t users;
	u32 told;
	const struct perfctr_recorder *last_look;
	unsigned int nr;
	struct perfctr_known_map *map;
};

/**
 * struct perfctr_ring_buffer - a ring
 * @refs: the state that made it, and its trees
 * @lock: guards the next seven. Innermost; in any context but an NMI, with interrupts off
 * @head: bytes written, of which the page has a copy for the reader
 * @written: records since the reader was woken because of @wakeup
 * @untold: records that were lost since the latest LOST
 * @ready: the reader was woken, and did not poll yet
 * @unread: bytes that the reader had not read as the record in progress began
 * @next: @head after the record in progress
 * @whole: where a record is written that goes on at the beginning of @data: it is copied then
 * @page: the first page, mapped for the kernel, with the records behind it. The reader may write
 *	to all of it: only @tail is ever read here, and no value of it does harm
 * @data: the records
 * @length: bytes of records; constant, as all that follows
 * @wakeup, @flags, @user_depth, @kernel_depth: as in struct perfctr_ring
 * @nr_pages: of @pages, the first one included
 * @pages: all pages
 * @pid_ns: ids in records are those of this namespace; with a reference
 * @cred: of who made it, whose user is charged; with a reference
 * @payer: the account that is charged as well
 * @nr_writers: attached states that write to it
 * @wait: readers in poll(2)
 * @fasync: readers with O_ASYNC
 * @wake: wakes both
 * @wake_work: the same on RT, where that sleeps
 * @maps_mutex: guards @known_mms and @nr_known. Inside mmap_lock
 * @known_mms: what record.c told of each process
 * @nr_known: how many
 * @free: frees it where it may sleep
 */
struct perfctr_ring_buffer {
	refcount_t refs;
	raw_spinlock_t lock;	/* see above */
	u32 head;
	u32 written;
	u64 untold;
	bool ready;
	u32 unread;
	u32 next;
	void *whole;
	struct perfctr_ring_page *page;
	void *data;
	u32 length;
	u32 wakeup;
	u32 flags;
	u32 user_depth;
	u32 kernel_depth;
	unsigned int nr_pages;
	struct page **pages;
	struct pid_namespace *pid_ns;
	const struct cred *cred;
	struct perfctr_user *payer;
	atomic_t nr_writers;
	wait_queue_head_t wait;
	struct fasync_struct *fasync;
	struct irq_work wake;
	struct work_struct wake_work;
	struct mutex maps_mutex;	/* see above */
	struct list_head known_mms;
	unsigned int nr_known;
	struct work_struct free;
};

/* For current: EINVAL, EACCES, ENOMEM, EINTR. May sleep. */
struct perfctr_ring_buffer *perfctr_ring_create(const struct perfctr_ring *wanted);
/* A reference more, or less. NULL is allowed. put: in any context, but not under a lock of ours */
void perfctr_ring_get(struct perfctr_ring_buffer *ring);
void perfctr_ring_put(struct perfctr_ring_buffer *ring);
/* Was it made with PERFCTR_RING_MAPS? */
bool perfctr_ring_tells_maps(const struct perfctr_ring_buffer *ring);
/* One state more writes to it, or one less: then the last one tells readers. Interrupts are off. */
void perfctr_ring_join(struct perfctr_ring_buffer *ring);
void perfctr_ring_leave(struct perfctr_ring_buffer *ring);
/* For its file. They may sleep. */
int perfctr_ring_mmap(struct perfctr_ring_buffer *ring, struct vm_area_struct *vma);
__poll_t perfctr_ring_poll(struct perfctr_ring_buffer *ring, struct file *file,
			   struct poll_table_struct *table);
int perfctr_ring_fasync(struct perfctr_ring_buffer *ring, int fd, struct file *file, int on);

/* By current, of its own mm: one reference more. NULL: no memory. May sleep. */
struct perfctr_watched_mm *perfctr_watch_mm(struct mm_struct *mm);
/* Its executable memory is about to change. mmap_lock is held for writing. */
void perfctr_mm_changed(const struct mm_struct *mm);
/* Nobody uses it. Under maps_mutex, or when nobody refers to the ring. May sleep. */
void perfctr_forget_mm(struct perfctr_known_mm *known);

/*
 * Begins a record of so many bytes, a multiple of 8: where it is to be written. NULL: there is no
 * room, and it is counted as lost. Interrupts are off until ring_end().
 */
void *perfctr_ring_begin(struct perfctr_ring_buffer *ring, u32 size);
/* Ends it, also where there was no room. */
void perfctr_ring_end(struct perfctr_ring_buffer *ring);
/* Something is not told, for lack of memory: it counts as a record that was lost. */
void perfctr_ring_lose(struct perfctr_ring_buffer *ring);

/* The time of a record, in any context */
static inline u64 perfctr_ring_time(void)
{
	/* What the kernel reads for it may change meanwhile, and is read again then. */
	return data_race(ktime_get_mono_fast_ns());
}

/* No record is larger: a MAP, of a file with the longest path */
#define PERFCTR_RING_LARGEST	(sizeof(struct perfctr_record_map) + PATH_MAX)

#endif /* PERFCTR_RING_H */
