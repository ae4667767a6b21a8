// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts the instructions of a command, with all threads and processes that it starts. Counting
 * begins at an exec. This process itself never execs, so it counts nothing.
 *
 *	command PROGRAM [ARG...]
 */
#include <err.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libperfctr.h>

int main(int argc, char **argv)
{
	struct perfctr_control control = {
		PERFCTR_CONTROL_INIT,
		.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_ON_EXEC,
		.source = PERFCTR_SOURCE_ANY,
		.tsc_on = 1,
		.nractrs = 1,
	};
	struct perfctr_read_tree sums;
	struct perfctr_info info;
	struct vperfctr *v;
	int status;
	pid_t pid;

	if (argc < 2)
		errx(1, "usage: command PROGRAM [ARG...]");
	v = vperfctr_open();
	if (!v || vperfctr_info(v, &info) < 0)
		err(1, "%s", PERFCTR_DEVICE);
	if (perfctr_event_parse(info.cpu_type, "instructions:u", &control.ctr[0]) < 0 ||
	    vperfctr_control_native(v, &control) < 0)
		err(1, "cannot count: %s", perfctr_reason_name(control.reason));

	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		err(127, "%s", argv[1]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		err(1, "%s", argv[1]);
	if (vperfctr_read_tree(v, PERFCTR_TREE_ENDED | PERFCTR_TREE_LIVE, &sums) < 0)
		err(1, "not all was counted: %s", perfctr_error_name(sums.error));
	printf("%llu instructions, %.6f s of processors, threads: %llu\n", sums.sum[0],
	       (double)sums.clock / (double)info.tsc_hz, sums.ended + sums.live);
	vperfctr_close(v);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
