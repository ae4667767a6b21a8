/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files of the library share, and that are not exported. */
#ifndef PERFCTR_INTERNAL_H
#define PERFCTR_INTERNAL_H

/* The library defines the calls that users get inline, so it wants no inline copies. */
#define PERFCTR_NO_INLINE
#include "libperfctr.h"

#define perfctr_internal __attribute__((visibility("hidden")))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct vperfctr {
	const struct perfctr_page *page;	/* first: vperfctr_page() relies on it */
	int fd;
	void *map;				/* the page if it is the kernel's, or NULL */
	unsigned int owner;			/* PERFCTR_OWNER_* of the latest control */
	unsigned int reason;			/* PERFCTR_REASON_*, likewise */
};

/* Translate a control of 2.6 to the kernel's, and back; -1 and EINVAL if that is impossible */
perfctr_internal
int perfctr_control_to_native(const struct vperfctr_control *from,
			      struct perfctr_control *to);
perfctr_internal
int perfctr_control_from_native(const struct perfctr_control *from,
				struct vperfctr_control *to);

/* PERFCTR_IOC_READ with room for the first n counters */
perfctr_internal
int perfctr_read_some(int fd, struct perfctr_read *sums, unsigned int n);

/* The clock and the sums as read(2) stores them */
struct perfctr_words {
	__u64 clock;
	__u64 sum[PERFCTR_MAX_CTRS];
};

/* read(2) with room for size bytes; returns the number of counters, or -1 */
perfctr_internal
int perfctr_read_words(int fd, void *words, size_t size);

#endif /* PERFCTR_INTERNAL_H */
