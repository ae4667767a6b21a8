/* SPDX-License-Identifier: GPL-2.0 */
/* attach - a debugger that counts what it debugs, from one stop to the next */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "old/old.h"

static void wait_for_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail("waitpid");
}

static void go_on(pid_t pid)
{
	if (ptrace(PTRACE_CONT, pid, NULL, NULL) < 0)
		fail("PTRACE_CONT");
	wait_for_stop(pid);
}

/* Stops before each piece of work. From stop to stop is a turn of the loop, and all are as long. */
static void debugged(void)
{
	static volatile unsigned long work[4];
	static volatile int pieces = 4;
	int i;

	work[0] = one;
	work[1] = many;
	work[2] = one;
	work[3] = one;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (i = 0; i < pieces; i++) {
		raise(SIGSTOP);
		body_spin(work[i]);
	}
	_exit(0);
}

int main(void)
{
	struct perfctr_sum_ctrs sum[3], last;
	struct vperfctr_control control, was;
	struct perfctr_info info;
	struct rvperfctr *other;
	int status, i, counts;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0)
		debugged();
	wait_for_stop(pid);
	other = rvperfctr_open(pid);
	if (!other)
		fail("rvperfctr_open");
	if (rvperfctr_pid(other) != pid || rvperfctr_info(other, &info) < 0)
		return 1;
	memset(&control, 0, sizeof(control));
	control.cpu_control.tsc_on = 1;
	counts = set_instructions(info.cpu_type, &control.cpu_control, 0, 0) == 0;
	if (counts)
		control.cpu_control.nractrs = 1;
	if (rvperfctr_control(other, &control) < 0)
		fail("rvperfctr_control");
	for (i = 0; i < 3; i++) {
		go_on(pid);
		if (rvperfctr_read_ctrs(other, &sum[i]) < 0)
			fail("rvperfctr_read_ctrs");
	}
	printf("tsc %llu\n", sum[2].tsc);
	if (counts)
		printf("instructions %llu\n", (sum[1].pmc[0] - sum[0].pmc[0]) -
		       (sum[2].pmc[0] - sum[1].pmc[0]));
	memset(&last, 0, sizeof(last));
	if (rvperfctr_read_state(other, &last, &was) < 0)
		fail("rvperfctr_read_state");
	printf("counters %u\nsame %d\n", was.cpu_control.nractrs,
	       !counts || last.pmc[0] == sum[2].pmc[0]);
	/* Nothing overflowed. */
	if (rvperfctr_iresume(other) == 0 || errno != EINVAL)
		return 1;
	if (rvperfctr_stop(other) < 0)
		fail("rvperfctr_stop");
	if (rvperfctr_unlink(other) < 0)
		fail("rvperfctr_unlink");
	rvperfctr_close(other);
	if (ptrace(PTRACE_CONT, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) != pid || status)
		return 1;
	return counts ? 0 : NOT_SUPPORTED;
}
