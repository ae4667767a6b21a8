/* SPDX-License-Identifier: GPL-2.0 */
/* Files that others name: opening them, and knowing one again; perfex-report has this as well. */
#ifndef PERFEX_MAPPED_H
#define PERFEX_MAPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens a regular file for reading, and nothing else: opening a FIFO waits for its other end, and
 * opening a device may do anything. @st is what fstat() says. -1 and errno; ENODEV: it is no regular
 * file.
 */
int open_regular(const char *path, struct stat *st);
/*
 * Whether it has that inode and device, as the kernel itself numbers them and tells of what is
 * mapped: on some file systems stat(2) has another number of the device.
 */
bool is_numbered(int fd, uint64_t inode, uint32_t major, uint32_t minor);
/* Nanoseconds since 1970 */
int64_t nanoseconds(struct timespec time);

#endif /* PERFEX_MAPPED_H */
