// SPDX-License-Identifier: GPL-2.0
/* Opens files that a mapping or another user named, and recognizes them. */
#define _FILE_OFFSET_BITS 64	/* a library with debug information may have more than 2 GB */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/mapped.h"

int open_regular(const char *path, struct stat *st)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1, error;
	char link[40];

	if (place < 0)
		return -1;
	/* This link leads to the file that fstat() saw. @path may lead to another file by now. */
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	if (fstat(place, st))
		error = errno;
	else if (!S_ISREG(st->st_mode))
		error = ENODEV;
	else
		error = (fd = open(link, O_RDONLY | O_CLOEXEC)) < 0 ? errno : 0;
	close(place);
	errno = error;
	return fd;
}

/* Maps the file, because /proc/self/maps has the same inode and device numbers as a MAP record. */
bool is_numbered(int fd, uint64_t inode, uint32_t major, uint32_t minor)
{
	void *map = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	unsigned int their_major = 0, their_minor = 0;
	uint64_t start, their_inode = 0;
	bool found = false;
	char line[4352];
	FILE *f;

	if (map == MAP_FAILED)
		return false;
	f = fopen("/proc/self/maps", "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%" SCNx64 "-%*x %*s %*x %x:%x %" SCNu64, &start, &their_major,
			       &their_minor, &their_inode) == 4 && start == (uintptr_t)map;
	if (f)
		fclose(f);
	(void)munmap(map, 1);
	return found && their_inode == inode && their_major == major && their_minor == minor;
}

int64_t nanoseconds(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
