/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring of records: memory that a reader maps, and that CPUs write to one after the other. ring.c
 * makes it, and wakes its reader; record.c writes the records.
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
 * @start, @end, @offset: its addresses; where it begins in the file, in bytes
 * @inode, @dev: the numbers of the file's inode and device; 0: no file
 * @generation: of the inode, since a later file may get the same inode number
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
 * struct perfctr_watched_mm - an mm that readers of any ring know of
 * @node: in the table of all. Whoever changes an mm looks for it under RCU
 * @mm: the mm. We keep its struct, so that no other mm gets this address
 * @refs: number of struct perfctr_known_mm that refer to it; the table's lock
 * @changes: number of changes of its executable memory. Rises while mmap_lock is held for writing;
 *	samples read it at any time
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
 * struct perfctr_known_mm - what readers of a ring know of a process; maps_mutex of the ring
 * @node: in the ring's @known_mms
 * @watched: its mm, with a reference. Processes that share their memory share this
 * @pid: the process, as in its records
 * @users: number of struct perfctr_recorder that refer to it. Rises from 0 only under maps_mutex
 * @announced: the value of @watched->changes when readers last knew everything; samples read it at
 *	any time
 * @last_look: the recorder that looked last. Only compared, as it may have ended. A fork reads it
 *	at any time
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
 * @lock: guards the next seven members. Innermost; in any context but an NMI, with interrupts off
 * @head: bytes written, of which the page has a copy for the reader
 * @written: records since the reader was woken because of @wakeup
 * @nr_lost: records that were lost since the latest LOST
 * @ready: the reader was woken, and has not polled since
 * @unread: bytes that the reader had not read when the record in progress began
 * @next: @head after the record in progress
 * @whole: a buffer for a record that wraps around the end of @data. Its two parts are then copied
 * @page: the first page, mapped for the kernel, with the records behind it. The reader may write
 *	to all of it. We only ever read its tail, and no value of that does harm
 * @data: the records
 * @length: size of @data in bytes; constant
 * @wakeup, @flags, @user_depth, @kernel_depth: as in struct perfctr_ring; constant, as all members
 *	up to @account
 * @nr_pages: number of pages, the first one included
 * @pages: all pages
 * @pid_ns: records have the ids of this namespace; with a reference
 * @cred: the maker's credentials, whose user is charged; with a reference
 * @account: the account that is charged as well
 * @nr_writers: attached states that write to it
 * @wait: readers in poll(2)
 * @fasync: readers with O_ASYNC
 * @wake: wakes readers of both kinds
 * @wake_work: does that for @wake on RT, where waking may sleep
 * @maps_mutex: guards @known_mms and @nr_known. Inside mmap_lock
 * @known_mms: what readers know of each process
 * @nr_known: length of @known_mms
 * @free: frees the ring in a context that may sleep
 */
struct perfctr_ring_buffer {
	refcount_t refs;
	raw_spinlock_t lock;	/* see above */
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
	struct mutex maps_mutex;	/* see above */
	struct list_head known_mms;
	unsigned int nr_known;
	struct work_struct free;
};

/* Makes a ring for current: EINVAL, EACCES, ENOMEM, EINTR. May sleep. */
struct perfctr_ring_buffer *perfctr_ring_create(const struct perfctr_ring *wanted);
/* Takes or drops a reference. NULL is allowed. put: in any context, but under no lock of ours */
void perfctr_ring_get(struct perfctr_ring_buffer *ring);
void perfctr_ring_put(struct perfctr_ring_buffer *ring);
/* Was it made with PERFCTR_RING_MAPS? */
bool perfctr_ring_wants_maps(const struct perfctr_ring_buffer *ring);
/* A state becomes a writer, or ends to be one. The last writer wakes readers. Interrupts off. */
void perfctr_ring_add_writer(struct perfctr_ring_buffer *ring);
void perfctr_ring_drop_writer(struct perfctr_ring_buffer *ring);
/* The file's operations. They may sleep. */
int perfctr_ring_mmap(struct perfctr_ring_buffer *ring, struct vm_area_struct *vma);
__poll_t perfctr_ring_poll(struct perfctr_ring_buffer *ring, struct file *file,
			   struct poll_table_struct *table);
int perfctr_ring_fasync(struct perfctr_ring_buffer *ring, int fd, struct file *file, int on);

/* Watches current's own mm, and takes a reference. NULL: no memory. May sleep. */
struct perfctr_watched_mm *perfctr_watch_mm(struct mm_struct *mm);
/* Executable memory of @mm is about to change. mmap_lock is held for writing. */
void perfctr_mm_changed(const struct mm_struct *mm);
/* Frees it. @users is 0. Under maps_mutex, or when nobody refers to the ring. May sleep. */
void perfctr_forget_mm(struct perfctr_known_mm *known);

/*
 * Begins a record of @size bytes, a multiple of 8, and returns where to write it. NULL: there is no
 * room, and the record counts as lost. Call perfctr_ring_end() in both cases. Interrupts are off
 * until then.
 */
void *perfctr_ring_begin(struct perfctr_ring_buffer *ring, u32 size);
/* Ends the record. */
void perfctr_ring_end(struct perfctr_ring_buffer *ring);
/* For lack of memory something is not recorded. It counts as a lost record. */
void perfctr_ring_lose(struct perfctr_ring_buffer *ring);

/* The time of a record, in any context */
static inline u64 perfctr_ring_time(void)
{
	/* The kernel reads its data again if they change meanwhile. */
	return data_race(ktime_get_mono_fast_ns());
}

/* The size of the largest record: a MAP of a file with the longest path */
#define PERFCTR_RING_LARGEST	(sizeof(struct perfctr_record_map) + PATH_MAX)

#endif /* PERFCTR_RING_H */
