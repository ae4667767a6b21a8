/* SPDX-License-Identifier: GPL-2.0 */
/*
 * everything - a performance library for all platforms, which calls all that there is. The calls that
 * its other half makes, of other threads and of processors, are in attach and in global, too.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "old/old.h"

static int bad;

/* Says which call did other than 2.6's did. */
static void expect(int good, const char *what)
{
	if (good)
		return;
	printf("bad: %s: %s\n", what, strerror(errno));
	bad++;
}

static void information(void)
{
	struct perfctr_cpus_info *cpus;
	struct perfctr_info info;
	int fd;

	expect(perfctr_get_info(&info) == 0, "perfctr_get_info");
	expect(perfctr_info_cpu_name(&info) != NULL, "perfctr_info_cpu_name");
	expect(info.abi_version == PERFCTR_ABI_VERSION, "abi_version");
	fd = _vperfctr_open(0);
	expect(fd >= 0, "_vperfctr_open(0)");
	expect(perfctr_abi_check_fd(fd) == 0, "perfctr_abi_check_fd");
	expect(perfctr_info(fd, &info) == 0, "perfctr_info");
	cpus = perfctr_cpus_info(fd);
	if (!cpus)
		fail("perfctr_cpus_info");
	perfctr_info_print(&info);
	perfctr_cpus_info_print(cpus);
	free(cpus);
	close(fd);
	expect(perfctr_abi_check_fd(0) < 0, "perfctr_abi_check_fd of another file");
}

static void descriptors(const struct vperfctr_control *control)
{
	struct vperfctr_control was;
	struct perfctr_sum_ctrs sum;
	struct vperfctr *self;
	int fd, second;

	fd = _vperfctr_open(1);
	expect(fd >= 0, "_vperfctr_open(1)");
	expect(_vperfctr_open(1) < 0 && errno == EEXIST, "_vperfctr_open(1) again");
	expect(_vperfctr_control(fd, control) == 0, "_vperfctr_control");
	expect(_vperfctr_read_control(fd, &was) == 0, "_vperfctr_read_control");
	expect(was.cpu_control.nractrs == control->cpu_control.nractrs &&
	       was.cpu_control.tsc_on, "the control that was read");
	expect(_vperfctr_read_sum(fd, &sum) == 0, "_vperfctr_read_sum");
	/* Others only read: here we differ from 2.6. */
	second = _vperfctr_open(0);
	expect(_vperfctr_read_sum(second, &sum) == 0, "_vperfctr_read_sum of a second");
	expect(_vperfctr_control(second, control) < 0 && errno == EBUSY, "a second controls");
	close(second);
	close(fd);
	self = vperfctr_open_mode(0);
	if (!self)
		fail("vperfctr_open_mode(0) of what exists");
	expect(vperfctr_unlink(self) == 0, "vperfctr_unlink");
	vperfctr_close(self);
}

static void own_thread(struct vperfctr_control *control)
{
	struct perfctr_sum_ctrs a, b, c;
	struct perfctr_cpus_info *cpus;
	struct vperfctr_control was;
	struct perfctr_info info;
	struct vperfctr *self;
	unsigned n = control->cpu_control.nractrs;

	self = vperfctr_open_mode(0);
	expect(self == NULL && errno == ENOENT, "vperfctr_open_mode(0)");
	self = vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL);
	if (!self)
		fail("vperfctr_open_mode(CREAT_EXCL)");
	expect(vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL) == NULL && errno == EEXIST,
	       "vperfctr_open_mode(CREAT_EXCL) again");
	expect(vperfctr_info(self, &info) == 0, "vperfctr_info");
	cpus = vperfctr_cpus_info(self);
	expect(cpus && cpus->cpus->nrwords && cpus->cpus_forbidden->nrwords, "vperfctr_cpus_info");
	free(cpus);
	expect(vperfctr_is_running(self) == 0, "vperfctr_is_running before");
	control->flags = VPERFCTR_CONTROL_CLOEXEC;
	expect(vperfctr_control(self, control) == 0, "vperfctr_control");
	expect(vperfctr_is_running(self) == 1, "vperfctr_is_running");
	expect(vperfctr_read_ctrs(self, &a) == 0, "vperfctr_read_ctrs");
	body_spin(1000);
	expect(vperfctr_read_state(self, &b, &was) == 0, "vperfctr_read_state");
	expect(was.flags == VPERFCTR_CONTROL_CLOEXEC, "flags");
	expect(b.tsc >= a.tsc && (!n || b.pmc[0] - a.pmc[0] >= 2001), "sums grow");
	expect(vperfctr_read_tsc(self) >= b.tsc, "vperfctr_read_tsc");
	if (n)
		expect(vperfctr_read_pmc(self, 0) > b.pmc[0], "vperfctr_read_pmc");
	expect(vperfctr_iresume(self) < 0, "vperfctr_iresume without overflow");
	/* Sums are kept by preserve; the clock's goes on in any case. */
	control->preserve = 1;
	expect(vperfctr_control(self, control) == 0, "vperfctr_control, preserve");
	expect(vperfctr_read_state(self, &c, NULL) == 0, "vperfctr_read_state, NULL");
	expect(c.tsc >= b.tsc && (!n || c.pmc[0] > b.pmc[0]), "preserve");
	control->preserve = 0;
	expect(vperfctr_control(self, control) == 0, "vperfctr_control, no preserve");
	expect(vperfctr_read_state(self, &a, NULL) == 0, "vperfctr_read_state");
	expect(a.tsc >= c.tsc && (!n || a.pmc[0] < c.pmc[0]), "no preserve");
	perfctr_cpu_control_print(&was.cpu_control);
	expect(vperfctr_stop(self) == 0, "vperfctr_stop");
	expect(vperfctr_is_running(self) == 0, "vperfctr_is_running after");
	expect(vperfctr_unlink(self) == 0, "vperfctr_unlink");
	vperfctr_close(self);
}

static void other_thread(struct vperfctr_control *control)
{
	struct perfctr_sum_ctrs sum;
	struct vperfctr_control was;
	struct perfctr_info info;
	struct rvperfctr *other;
	int status;
	pid_t pid;

	expect(rvperfctr_open(getppid()) == NULL && errno == EPERM, "rvperfctr_open of another's");
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	other = rvperfctr_open(pid);
	expect(other != NULL, "rvperfctr_open");
	if (other) {
		expect(rvperfctr_pid(other) == pid, "rvperfctr_pid");
		expect(rvperfctr_info(other, &info) == 0, "rvperfctr_info");
		expect(rvperfctr_control(other, control) == 0, "rvperfctr_control");
		expect(rvperfctr_read_ctrs(other, &sum) == 0, "rvperfctr_read_ctrs");
		expect(rvperfctr_read_state(other, &sum, &was) == 0, "rvperfctr_read_state");
		expect(was.cpu_control.nractrs == control->cpu_control.nractrs, "other's control");
		expect(rvperfctr_iresume(other) < 0, "rvperfctr_iresume");
		expect(rvperfctr_stop(other) == 0, "rvperfctr_stop");
		expect(rvperfctr_unlink(other) == 0, "rvperfctr_unlink");
		rvperfctr_close(other);
	}
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	expect(status == 0, "the debugged process");
}

/* For root; others may not. */
static void processors(const struct vperfctr_control *control)
{
	struct gperfctr_cpu_control cpu;
	struct gperfctr_cpu_state state;
	struct perfctr_cpus_info *cpus;
	struct perfctr_info info;
	struct gperfctr *all;

	all = gperfctr_open();
	if (geteuid() != 0) {
		expect(all == NULL && errno == EACCES, "gperfctr_open");
		return;
	}
	if (!all)
		fail("gperfctr_open");
	expect(gperfctr_info(all, &info) == 0, "gperfctr_info");
	cpus = gperfctr_cpus_info(all);
	expect(cpus != NULL, "gperfctr_cpus_info");
	free(cpus);
	memset(&cpu, 0, sizeof(cpu));
	cpu.cpu = 0;
	cpu.cpu_control = control->cpu_control;
	expect(gperfctr_control(all, &cpu) == 0, "gperfctr_control");
	expect(gperfctr_start(all, 10000) == 1, "gperfctr_start");
	memset(&state, 0, sizeof(state));
	expect(gperfctr_read(all, &state) == 0, "gperfctr_read");
	expect(state.cpu_control.tsc_on == 1, "the control of a processor");
	expect(gperfctr_stop(all) == 0, "gperfctr_stop");
	gperfctr_close(all);
}

int main(void)
{
	struct vperfctr_control control;
	struct perfctr_info info;
	int counts;

	information();
	perfctr_get_info(&info);
	memset(&control, 0, sizeof(control));
	control.cpu_control.tsc_on = 1;
	counts = set_instructions(info.cpu_type, &control.cpu_control, 0, 0) == 0;
	if (counts)
		control.cpu_control.nractrs = 1;
	own_thread(&control);
	control.flags = 0;
	descriptors(&control);
	other_thread(&control);
	processors(&control);
	expect(perfctr_cpu_event_set(info.cpu_type) != NULL, "perfctr_cpu_event_set");
	printf("bad %d\n", bad);
	if (bad)
		return 1;
	return counts ? 0 : NOT_SUPPORTED;
}
