/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring of records is memory that a reader maps, and that CPUs write to one after the other.
 * ring.c makes the ring, and wakes its reader. record.c writes the records.
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
struct perfctr_account;
struct fasync_struct;
struct mm_struct;
struct page;
struct pid_namespace;
struct poll_table_struct;
struct vm_area_struct;

/**
 * struct perfctr_known_map - an executable mapping that readers know
 * @start, @end, @offset: its addresses, and where it begins in the file, in bytes
 * @inode, @dev: the numbers of the file's inode and device, or 0 without a file
 * @generation: the generation of the inode, because a later file may have the same inode number
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
 * struct perfctr_watched_mm - an mm that readers of any ring know
 * @node: in the table of all watched mms. A function that changes an mm looks for it there under
 *	RCU
 * @mm: the mm. We keep its struct, so that no other mm gets this address
 * @refs: number of struct perfctr_known_mm that refer to this structure; the table's lock
 * @changes: number of changes of the mm's executable memory. Rises while mmap_lock is held for
 *	writing; samples read it at any time
 * @rcu: frees this structure
 */
struct perfctr_watched_mm {
	struct hlist_node node;
	struct mm_struct *mm;
	unsigned int refs;
	u32 changes;
	struct rcu_head rcu;
};

/**
 * struct perfctr_known_mm - what readers of a ring know of a process; maps_mutex of the ring
 * @node: in the ring's @known_mms
 * @watched: the process's mm, with a reference. Processes that share their memory have one
 *	watched mm
 * @pid: the id of the process, as in its records
 * @users: number of struct perfctr_recorder that refer to this structure. Rises from 0 only under
 *	maps_mutex
 * @announced: the value of @watched->changes when readers last knew everything; samples read it at
 *	any time
 * @last_look: the recorder that looked last. Only compared, because that recorder may have ended. A
 *	fork reads it at any time
 * @map: @nr mappings, in the order of addresses
 */
struct perfctr_known_mm {
	struct list_head node;
	struct perfctr_watched_mm *watched;
	pid_t pid;
	atomic_t users;
	u32 announced;
	const struct perfctr_recorder *last_look;
	unsigned int nr;
	struct perfctr_known_map *map;
};

/**
 * struct perfctr_ring_buffer - a ring
 * @refs: references of the state that made it, and of that state's trees
 * @lock: guards the next seven members. Inside all other locks. Taken with interrupts off, in any
 *	context but an NMI
 * @head: number of bytes written; the page has a copy for the reader
 * @written: number of records since the reader was woken because of @wakeup
 * @nr_lost: number of records that were lost since the latest LOST record
 * @ready: the reader was woken, and has not polled since
 * @unread: bytes that the reader had not read when the record in progress began
 * @next: @head after the record in progress
 * @whole: a buffer for a record that wraps around the end of @data. We copy the record from there,
 *	in two parts
 * @page: the first page, mapped for the kernel, with the records behind it. The reader may write to
 *	all of it. We only ever read its tail, and no value of the tail does harm
 * @data: the records
 * @length: size of @data in bytes; constant
 * @wakeup, @flags, @user_depth, @kernel_depth: as in struct perfctr_ring; constant, like all
 *	members up to @account
 * @nr_pages: number of pages, the first one included
 * @pages: all pages
 * @pid_ns: the namespace whose ids the records have; with a reference
 * @cred: the credentials of the thread that made the ring, whose user is charged; with a reference
 * @account: the account that is charged, too
 * @nr_writers: number of attached states that write to the ring
 * @wait: readers in poll(2)
 * @fasync: readers with O_ASYNC
 * @wake: wakes readers of both kinds
 * @wake_work: wakes readers for @wake on RT, where waking may sleep
 * @maps_mutex: guards @known_mms and @nr_known. Inside mmap_lock
 * @known_mms: what readers know of each process
 * @nr_known: length of @known_mms
 * @free: frees the ring in a context that may sleep
 */
struct perfctr_ring_buffer {
	refcount_t refs;
	raw_spinlock_t lock;	/* guards @head to @whole */
	u32 head;
	u32 written;
	u64 nr_lost;
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
	struct perfctr_account *account;
	atomic_t nr_writers;
	wait_queue_head_t wait;
	struct fasync_struct *fasync;
	struct irq_work wake;
	struct work_struct wake_work;
	struct mutex maps_mutex;	/* guards @known_mms and @nr_known */
	struct list_head known_mms;
	unsigned int nr_known;
	struct work_struct free;
};

/* Makes a ring for current. Returns the ring, or -EINVAL, -EACCES, -ENOMEM or -EINTR. May sleep. */
struct perfctr_ring_buffer *perfctr_ring_create(const struct perfctr_ring *wanted);
/*
 * Take or drop a reference. NULL is allowed. put may be called in any context, but under no lock of
 * ours.
 */
void perfctr_ring_get(struct perfctr_ring_buffer *ring);
void perfctr_ring_put(struct perfctr_ring_buffer *ring);
/* Returns true if the ring was made with PERFCTR_RING_MAPS. */
bool perfctr_ring_wants_maps(const struct perfctr_ring_buffer *ring);
/*
 * Call add when a state begins to write to the ring, and drop when it ends. When the last writer
 * ends, readers are woken. Interrupts are off.
 */
void perfctr_ring_add_writer(struct perfctr_ring_buffer *ring);
void perfctr_ring_drop_writer(struct perfctr_ring_buffer *ring);
/* These are the file's operations. They may sleep. */
int perfctr_ring_mmap(struct perfctr_ring_buffer *ring, struct vm_area_struct *vma);
__poll_t perfctr_ring_poll(struct perfctr_ring_buffer *ring, struct file *file,
			   struct poll_table_struct *table);
int perfctr_ring_fasync(struct perfctr_ring_buffer *ring, int fd, struct file *file, int on);

/* Watches current's own mm, and takes a reference. Returns NULL if memory is short. May sleep. */
struct perfctr_watched_mm *perfctr_watch_mm(struct mm_struct *mm);
/* Call this before executable memory of @mm changes. mmap_lock is held for writing. */
void perfctr_mm_changed(const struct mm_struct *mm);
/*
 * Frees @known, whose @users is 0. Call this with maps_mutex held, or when nobody refers to the
 * ring. May sleep.
 */
void perfctr_forget_mm(struct perfctr_known_mm *known);

/*
 * Begins a record of @size bytes, a multiple of 8. Returns where to write the record. Returns NULL
 * if there is no room, and the record then counts as lost. Call perfctr_ring_end() in both cases.
 * Interrupts are off until then.
 */
void *perfctr_ring_begin(struct perfctr_ring_buffer *ring, u32 size);
/* Ends the record. */
void perfctr_ring_end(struct perfctr_ring_buffer *ring);
/* Counts a lost record. Call this if something is not recorded for lack of memory. */
void perfctr_ring_lose(struct perfctr_ring_buffer *ring);

/* Returns the time for a record. May be called in any context. */
static inline u64 perfctr_ring_time(void)
{
	/* If the kernel changes its data meanwhile, ktime_get_mono_fast_ns() reads them again. */
	return data_race(ktime_get_mono_fast_ns());
}

/* The size of the largest record: a MAP of a file with the longest path */
#define PERFCTR_RING_LARGEST	(sizeof(struct perfctr_record_map) + PATH_MAX)

#endif /* PERFCTR_RING_H */
