// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader's side of rings of records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "internal.h"

struct vperfctr_ring {
	struct perfctr_ring_page *page;
	const char *data;
	size_t size;		/* bytes of the map */
	__u32 length;		/* bytes of room for records; a copy that others cannot change */
	__u32 tail;
	__u32 given;		/* bytes of the record that vperfctr_ring_next() returned last */
	char *whole;		/* room for a record that wraps, in one piece */
	size_t room;		/* bytes at @whole */
};

int _vperfctr_make_ring(int fd, struct perfctr_ring *ring)
{
	if (!ring->size)
		ring->size = sizeof(*ring);
	return ioctl(fd, PERFCTR_IOC_RING, ring);
}

int vperfctr_make_ring(const struct vperfctr *v, struct perfctr_ring *ring)
{
	return _vperfctr_make_ring(v->fd, ring);
}

struct vperfctr_ring *vperfctr_ring_map(int fd, unsigned int pages)
{
	struct vperfctr_ring *ring = calloc(1, sizeof(*ring));
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	void *map;

	if (!ring)
		return NULL;
	ring->size = (1 + (size_t)pages) * page_size;
	map = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PERFCTR_RING_OFFSET);
	if (map == MAP_FAILED) {
		free(ring);
		return NULL;
	}
	ring->page = map;
	ring->data = (const char *)map + page_size;
	ring->length = (__u32)(ring->size - page_size);
	ring->tail = ring->page->tail;
	return ring;
}

void vperfctr_ring_unmap(struct vperfctr_ring *ring)
{
	if (!ring)
		return;
	munmap(ring->page, ring->size);
	free(ring->whole);
	free(ring);
}

size_t vperfctr_ring_peek(struct vperfctr_ring *ring, struct iovec *part)
{
	__u32 n = __atomic_load_n(&ring->page->head, __ATOMIC_ACQUIRE) - ring->tail;
	__u32 at = ring->tail & (ring->length - 1), first = ring->length - at;

	/* Another process may have written a wrong head to the page. */
	if (n > ring->length)
		n = ring->length;
	if (first > n)
		first = n;
	part[0].iov_base = (void *)(ring->data + at);
	part[0].iov_len = first;
	part[1].iov_base = (void *)ring->data;
	part[1].iov_len = n - first;
	return n;
}

void vperfctr_ring_consume(struct vperfctr_ring *ring, size_t bytes)
{
	ring->tail += (__u32)bytes;
	__atomic_store_n(&ring->page->tail, ring->tail, __ATOMIC_RELEASE);
}

/* Copies a record that wraps into one piece, and returns it, or NULL with ENOMEM. */
static const void *copy(struct vperfctr_ring *ring, const struct iovec part[2], size_t size)
{
	size_t first = part[0].iov_len < size ? part[0].iov_len : size;

	if (size > ring->room) {
		char *larger = realloc(ring->whole, size);

		if (!larger)
			return NULL;
		ring->whole = larger;
		ring->room = size;
	}
	memcpy(ring->whole, part[0].iov_base, first);
	memcpy(ring->whole + first, part[1].iov_base, size - first);
	return ring->whole;
}

const struct perfctr_record *vperfctr_ring_next(struct vperfctr_ring *ring)
{
	const struct perfctr_record *record;
	struct iovec part[2];
	size_t n, size;

	if (ring->given)
		vperfctr_ring_consume(ring, ring->given);
	ring->given = 0;
	n = vperfctr_ring_peek(ring, part);
	errno = EAGAIN;
	if (!n)
		return NULL;
	/* Sizes are multiples of 8, so the first 8 bytes, with type, flags and size, never wrap. */
	record = part[0].iov_base;
	size = record->size;
	if (n < sizeof(*record) || size < sizeof(*record) || size > n || size % 8) {
		errno = EBADMSG;
		return NULL;
	}
	if (size > part[0].iov_len)
		record = copy(ring, part, size);
	if (record)
		ring->given = (__u32)size;
	return record;
}

unsigned long long vperfctr_ring_lost(const struct vperfctr_ring *ring)
{
	return *(const volatile __u64 *)&ring->page->lost;
}
