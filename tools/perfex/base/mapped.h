/* SPDX-License-Identifier: GPL-2.0 */
/* Opening a file that somebody else named, and knowing it again; for perfex-report too. */
#ifndef PERFEX_MAPPED_H
#define PERFEX_MAPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens a regular file for reading; @st becomes what fstat() says. Returns -1 with errno: ENODEV if
 * it is no regular file. Those are not opened, as opening a FIFO waits for its other end, and
 * opening a device may do anything.
 */
int open_regular(const char *path, struct stat *st);
/*
 * Whether the file has this inode and device, by the numbers that the kernel uses for maps: on some
 * file systems stat(2) gives another device.
 */
bool is_numbered(int fd, uint64_t inode, uint32_t major, uint32_t minor);
/* Nanoseconds since 1970 */
int64_t nanoseconds(struct timespec time);

#endif /* PERFEX_MAPPED_H */
