/* SPDX-License-Identifier: GPL-2.0 */
/* What bad input must not change, and memory that is bad input. */
#ifndef PERFCTR_TEST_ABI_H
#define PERFCTR_TEST_ABI_H

#include <linux/perfctr.h>
#include <stdbool.h>
#include <sys/types.h>

#define BAD_ADDRESS 8ul
#define KERNEL_ADDRESS ((void *)-4096l)

bool has_counters(void);

/*
 * A state that counts, as the victim of bad input: after each, its control must
 * read back the same and its counts must have gone on, exactly.
 */
struct watch {
	int fd;
	struct perfctr_control control;
	struct perfctr_read last;
};

void read_control(int fd, struct perfctr_control *control);
struct watch watch_begin(void);
void watch_unchanged(struct watch *watch);

/* A copy of @known with @size bytes; the bytes behind the first @len are @fill. */
void *padded(const void *known, size_t len, size_t size, unsigned char fill);

/* A copy of @data that ends at the last byte of a page. The next page is not mapped. */
void *at_page_end(const void *data, size_t mapped);
const void *read_only(const void *data, size_t len);

/* Every way in which an ioctl's pointer can be bad. */
void bad_pointers(int fd, unsigned long cmd, const void *good, size_t len, bool writes);

/* The tests of test_abi_*.c, which test_abi.c calls */
void abi_control(void);
void abi_read(void);
void abi_map(void);
void abi_first(void);

#endif
