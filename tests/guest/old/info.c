/* SPDX-License-Identifier: GPL-2.0 */
/*
 * info - a daemon that hands out what it knows of its processor as raw bytes, and a client that was
 * built elsewhere and finds 2.6's members where they were
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "old/old.h"

/* What the client knows */
#define OFFSET_VERSION	0
#define OFFSET_DRIVER	4
#define OFFSET_TYPE	36
#define OFFSET_FEATURES	40
#define OFFSET_KHZ	44
#define OFFSET_MULT	48
#define SIZE		52

static void serve(int pipe)
{
	struct perfctr_info info;

	if (perfctr_get_info(&info) < 0)
		fail("perfctr_get_info");
	if (write(pipe, &info, sizeof(info)) != sizeof(info))
		fail("write");
	_exit(0);
}

static unsigned word(const char *bytes, int offset)
{
	unsigned w;

	memcpy(&w, bytes + offset, sizeof(w));
	return w;
}

int main(void)
{
	struct perfctr_info info;
	char bytes[SIZE];
	int pipes[2], fd, status;
	pid_t pid;

	if (pipe(pipes) < 0)
		fail("pipe");
	pid = fork();
	if (pid == 0)
		serve(pipes[1]);
	if (read(pipes[0], bytes, SIZE) != SIZE || waitpid(pid, &status, 0) != pid || status)
		return 1;
	printf("version %u\ntype %u\nfeatures %u\nkhz %u\nmult %u\n", word(bytes, OFFSET_VERSION),
	       word(bytes, OFFSET_TYPE), word(bytes, OFFSET_FEATURES), word(bytes, OFFSET_KHZ),
	       word(bytes, OFFSET_MULT));
	/* Information needs no counters. */
	fd = _vperfctr_open(0);
	if (fd < 0 || perfctr_info(fd, &info) < 0 || perfctr_abi_check_fd(fd) < 0)
		fail("_vperfctr_open");
	printf("driver %d\n", !strncmp(bytes + OFFSET_DRIVER, info.driver_version, 32) &&
	       info.driver_version[0]);
	printf("counters %u\nname %d\n", perfctr_info_nrctrs(&info),
	       perfctr_info_cpu_name(&info) != NULL);
	close(fd);
	return 0;
}
