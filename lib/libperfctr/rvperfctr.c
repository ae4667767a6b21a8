// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counters of another thread that the caller traces by ptrace(2). */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* As in 2.6 the structure begins with a struct vperfctr: programs cast a pointer to that type. */
struct rvperfctr {
	struct vperfctr v;
	int pid;
};

_Static_assert(offsetof(struct rvperfctr, v) == 0, "a struct vperfctr with more behind it");

/* Opens the counters of thread @pid. @pidfd is a descriptor of the thread, or -1. */
static struct rvperfctr *open_thread(int pid, int pidfd)
{
	struct perfctr_open o = {
		.size = sizeof(o),
		.flags = PERFCTR_OPEN_CREAT | PERFCTR_OPEN_THREAD,
		.tid = pid,
	};
	struct rvperfctr *r = malloc(sizeof(*r));
	int fd;

	if (!r)
		return NULL;
	if (pidfd >= 0) {
		o.flags |= PERFCTR_OPEN_PIDFD;
		o.pidfd = pidfd;
	}
	fd = perfctr_open_fd(&o);
	if (fd < 0) {
		free(r);
		return NULL;
	}
	r->pid = pid;
	/* Only the counted thread could use the page, so it is not mapped. */
	perfctr_handle_init(&r->v, fd, 0);
	return r;
}

struct rvperfctr *rvperfctr_open(int pid)
{
	return open_thread(pid, -1);
}

/*
 * Returns the id of a pidfd's thread, or -1. The module cannot tell the id, because the kernel
 * exports no function for it. So the library asks /proc.
 */
static int pid_of(int pidfd)
{
	char path[40], text[512], *line;
	int pid = 0, fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT)
			errno = EBADF;
		return -1;
	}
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nPid:");
	if (!line) {
		errno = EBADF;
		return -1;
	}
	/* The kernel prints -1 if the thread has ended, and 0 if it is in another pid namespace. */
	pid = (int)strtol(line + strlen("\nPid:"), NULL, 10);
	if (pid <= 0) {
		errno = ESRCH;
		return -1;
	}
	return pid;
}

struct rvperfctr *rvperfctr_open_pidfd(int pidfd)
{
	int pid = pid_of(pidfd);

	return pid < 0 ? NULL : open_thread(pid, pidfd);
}

void rvperfctr_close(struct rvperfctr *r)
{
	/* The structure begins with its handle, so vperfctr_close() frees all of it. */
	vperfctr_close((struct vperfctr *)r);
}

struct vperfctr *rvperfctr_vperfctr(const struct rvperfctr *r)
{
	/* open_thread() allocated the object, so it may be written to. */
	return (struct vperfctr *)(uintptr_t)&r->v;
}

int rvperfctr_pid(const struct rvperfctr *r)
{
	return r->pid;
}

int rvperfctr_info(const struct rvperfctr *r, struct perfctr_info *info)
{
	return vperfctr_info(&r->v, info);
}

int rvperfctr_read_ctrs(const struct rvperfctr *r, struct perfctr_sum_ctrs *sum)
{
	return vperfctr_read_ctrs(&r->v, sum);
}

int rvperfctr_read_state(const struct rvperfctr *r, struct perfctr_sum_ctrs *sum,
			 struct vperfctr_control *control)
{
	return vperfctr_read_state(&r->v, sum, control);
}

int rvperfctr_control(const struct rvperfctr *r, struct vperfctr_control *control)
{
	return vperfctr_control(&r->v, control);
}

int rvperfctr_stop(const struct rvperfctr *r)
{
	return vperfctr_stop(&r->v);
}

int rvperfctr_iresume(const struct rvperfctr *r)
{
	return vperfctr_iresume(&r->v);
}

int rvperfctr_unlink(const struct rvperfctr *r)
{
	return vperfctr_unlink(&r->v);
}
