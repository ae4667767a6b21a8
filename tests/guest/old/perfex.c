/* SPDX-License-Identifier: GPL-2.0 */
/*
 * perfex - counts a command. The child makes its counters and passes its handle to the parent, which
 * reads them, and what they counted, when the child is gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "old/old.h"

static void show_info(void)
{
	struct perfctr_cpus_info *cpus;
	struct perfctr_info info;
	int fd;

	fd = _vperfctr_open(0);
	if (fd < 0 || perfctr_abi_check_fd(fd) < 0 || perfctr_info(fd, &info) < 0)
		fail("_vperfctr_open");
	perfctr_info_print(&info);
	cpus = perfctr_cpus_info(fd);
	if (!cpus)
		fail("perfctr_cpus_info");
	perfctr_cpus_info_print(cpus);
	free(cpus);
	close(fd);
	exit(0);
}

static void run_child(int sock, const struct vperfctr_control *control, char **argv)
{
	int fd;

	fd = _vperfctr_open(1);
	if (fd < 0)
		fail("_vperfctr_open");
	send_handle(sock, fd);
	if (_vperfctr_control(fd, control) < 0)
		fail("_vperfctr_control");
	close(fd);
	close(sock);
	execv(argv[0], argv);
	fail(argv[0]);
}

int main(int argc, char **argv)
{
	struct vperfctr_control control, was;
	struct perfctr_sum_ctrs sum;
	struct perfctr_info info;
	int sock[2], fd, status;
	unsigned i;
	pid_t pid;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "-i"))
		show_info();
	if (perfctr_get_info(&info) < 0)
		fail("perfctr_get_info");
	memset(&control, 0, sizeof(control));
	control.cpu_control.tsc_on = 1;
	control.cpu_control.nractrs = 1;
	if (set_instructions(info.cpu_type, &control.cpu_control, 0, 0) < 0)
		return NOT_SUPPORTED;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sock) < 0)
		fail("socketpair");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0)
		run_child(sock[1], &control, argv + 1);
	fd = receive_handle(sock[0]);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 1;
	if (_vperfctr_read_control(fd, &was) < 0 || _vperfctr_read_sum(fd, &sum) < 0)
		fail("_vperfctr_read_sum");
	printf("tsc %llu\n", was.cpu_control.tsc_on ? sum.tsc : 0);
	for (i = 0; i < was.cpu_control.nractrs; i++) {
		printf("event %u\n", was.cpu_control.evntsel[i]);
		printf("instructions %llu\n", sum.pmc[i]);
	}
	return 0;
}
