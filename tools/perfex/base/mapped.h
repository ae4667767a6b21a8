/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens files that a mapping or another user named, and recognizes them. perfex-report uses this
 * file too.
 */
#ifndef PERFEX_MAPPED_H
#define PERFEX_MAPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens a regular file for reading, and fills @st as fstat() does. Returns a descriptor, or -1 with
 * errno, which is ENODEV if the file is not regular. Other kinds of files are never opened: opening
 * a FIFO waits for its other end, and opening a device may do anything.
 */
int open_regular(const char *path, struct stat *st);
/*
 * Returns true if the file has this inode and device, by the numbers that the kernel uses for
 * mappings. On some file systems, stat(2) gives another device.
 */
bool is_numbered(int fd, uint64_t inode, uint32_t major, uint32_t minor);
/* Converts a time since 1970 to nanoseconds. */
int64_t nanoseconds(struct timespec time);

#endif /* PERFEX_MAPPED_H */
