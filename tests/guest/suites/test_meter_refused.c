// SPDX-License-Identifier: GPL-2.0
/* Meters: budgets, and machines that refuse: no device, no permission, no more controls. */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/meter.h"

/* The handler notes what it is told; the counters stand still by then. */
static struct vperfctr_meter *limited;
static volatile unsigned int signals;
static unsigned long long at_signal[2];
static int code, mask;

static void on_limit(int signo, siginfo_t *info, void *context)
{
	struct perfctr_sum_ctrs sum;

	(void)signo;
	(void)context;
	if (!vperfctr_meter_read(limited, &sum) && signals < 2)
		at_signal[signals] = sum.pmc[0];
	code = info->si_code;
	mask = info->si_pmc_ovf_mask;
	signals++;
}

START_TEST(budget_stops_the_thread)
{
	struct sigaction action = { .sa_sigaction = on_limit, .sa_flags = SA_SIGINFO };
	unsigned int early, late, early_again, late_again;
	struct perfctr_sum_ctrs sum;
	int err, bad;

	ck_ok(sigaction(SIGUSR1, &action, NULL));
	err = vperfctr_meter_open_budget(&limited, NULL, 50000, SIGUSR1);
	body_spin(24000);
	early = signals;
	body_spin(24000);
	late = signals;
	bad = vperfctr_meter_read(limited, &sum);
	/* Another one, which is begun anew before its end */
	bad |= vperfctr_meter_start(limited);
	body_spin(24000);
	bad |= vperfctr_meter_start(limited);
	body_spin(24000);
	early_again = signals;
	body_spin(24000);
	late_again = signals;

	ck_assert_msg(!err, "%s", vperfctr_strerror(limited, err));
	ck_assert_int_eq(bad, 0);
	ck_assert_str_eq(vperfctr_meter_name(limited, 0), NAME);
	ck_assert_uint_eq(early, 0);
	ck_assert_uint_eq(late, 1);
	/* These processors have no skid. */
	ck_assert_uint_eq(at_signal[0], 50000);
	ck_assert_uint_eq(sum.pmc[0], 50000);
	ck_assert_int_eq(code, SI_PMC_OVF);
	ck_assert_int_eq(mask, 1);
	ck_assert_uint_eq(early_again, 1);
	ck_assert_uint_eq(late_again, 2);
	ck_assert_uint_eq(at_signal[1], 50000);
	vperfctr_meter_close(limited);
}
END_TEST

START_TEST(budgets_that_there_are_not)
{
	static const int bad[] = { 0, -1, SIGKILL, SIGSTOP, 1000 };
	struct vperfctr_meter *m;
	unsigned int i;
	int err;

	err = vperfctr_meter_open_budget(&m, NULL, 0, SIGUSR1);
	expect_failure(m, err, EINVAL, "0 is no budget", NULL);
	err = vperfctr_meter_open_budget(&m, NULL, (1ULL << 62) + 1, SIGUSR1);
	expect_failure(m, err, EINVAL, "4611686018427387905", NULL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = vperfctr_meter_open_budget(&m, NULL, 1000, bad[i]);
		expect_failure(m, err, EINVAL, "is no signal", NULL);
	}
	err = vperfctr_meter_open_budget(&m, NAME ",cycles", 1000, SIGUSR1);
	expect_failure(m, err, EINVAL, "of one event", NULL);
	err = vperfctr_meter_open_budget(&m, "nosuch", 1000, SIGUSR1);
	expect_failure(m, err, ENOENT, "'nosuch'", NULL);
	/* The thread is as it was. */
	m = meter_of(NAME, 0);
	vperfctr_meter_close(m);
}
END_TEST

START_TEST(no_budget_without_interrupt)
{
	struct vperfctr_meter *m;
	int err = vperfctr_meter_open_budget(&m, NULL, 1000, SIGUSR1);

	expect_failure(m, err, EOPNOTSUPP, "interrupt", NULL);
}
END_TEST

START_TEST(no_device)
{
	struct vperfctr_meter *m;
	int err;

	ck_assert_int_eq(module_unload_patiently(), 0);
	err = vperfctr_meter_open(&m, NULL, 0);
	ck_assert_int_eq(module_load(NULL), 0);
	expect_failure(m, err, ENOENT, "/dev/perfctr", "not loaded", NULL);
}
END_TEST

START_TEST(device_of_others)
{
	struct vperfctr_meter *m;
	pid_t pid;
	int err;

	ck_ok(chmod("/dev/perfctr", 0600));
	pid = fork();
	if (!pid) {
		become(GUEST_UID);
		err = vperfctr_meter_open(&m, NULL, 0);
		_exit(err != -EACCES || !strstr(vperfctr_strerror(m, err), "owner and mode"));
	}
	expect_exit(pid, 0);
	ck_ok(chmod("/dev/perfctr", 0666));
}
END_TEST

/* The sentence of a meter that cannot be opened has this word, and not that one. */
static int refusal_says(int expected, const char *word, const char *other)
{
	struct vperfctr_meter *m;
	int err = vperfctr_meter_open(&m, NULL, 0), good;

	good = err == -expected && strstr(vperfctr_strerror(m, err), word) &&
	       !strstr(vperfctr_strerror(m, err), other);
	vperfctr_meter_close(m);
	return good;
}

/* A /dev of its own, and the host's modules */
START_TEST(container_without_device)
{
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("tmpfs", "/dev", "tmpfs", 0, NULL))
			_exit(1);
		_exit(refusal_says(ENOENT, "container", "not loaded") ? 0 : 2);
	}
	expect_exit(pid, 0);
}
END_TEST

#define CGROUP	"/tmp/cgroup"

/* No process of this control group may open a device: ENOSYS, EINVAL and so on if the kernel cannot do it. */
static int forbid_devices(int cgroup)
{
	static const struct bpf_insn no[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
		.insns = (uintptr_t)no,
		.insn_cnt = sizeof(no) / sizeof(no[0]),
		.license = (uintptr_t)"GPL",
	};
	int prog = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (prog < 0)
		return -errno;
	memset(&attr, 0, sizeof(attr));
	attr.target_fd = (__u32)cgroup;
	attr.attach_bpf_fd = (__u32)prog;
	attr.attach_type = BPF_CGROUP_DEVICE;
	return syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr)) ? -errno : 0;
}

/* The device's file is there, as by a volume, but the container's rules have no such device. */
START_TEST(container_with_the_file_alone)
{
	int cgroup, err;
	pid_t pid;
	FILE *f;

	ck_ok(mkdir(CGROUP, 0700));
	if (mount("none", CGROUP, "cgroup2", 0, NULL)) {
		ck_assert_int_eq(errno, ENODEV);	/* this kernel has none */
		ck_assert(!is_x86());
		ck_ok(rmdir(CGROUP));
		return;
	}
	ck_ok(mkdir(CGROUP "/container", 0700));
	cgroup = open(CGROUP "/container", O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(cgroup, 0);
	err = forbid_devices(cgroup);
	/* Kernels without BPF, or without that kind; Debian's and ours for x86 have it. */
	if (err)
		ck_assert(!is_x86() && (err == -ENOSYS || err == -EINVAL));
	if (!err) {
		pid = fork();
		if (!pid) {
			f = fopen(CGROUP "/container/cgroup.procs", "w");
			if (!f || fprintf(f, "0") < 0 || fclose(f))
				_exit(1);
			_exit(refusal_says(EACCES, "container", "mode") ? 0 : 2);
		}
		expect_exit(pid, 0);
	}
	close(cgroup);
	ck_ok(rmdir(CGROUP "/container"));
	ck_ok(umount(CGROUP));
	ck_ok(rmdir(CGROUP));
}
END_TEST

/* Of a user who may have one control at a time, and has another: whether the sentence says so */
static int limit_is_told(void)
{
	struct vperfctr_meter *m;
	int ready[2], err;
	bool said;
	pid_t pid;
	char byte;

	become(GUEST_UID);
	if (pipe(ready))
		return 2;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (vperfctr_meter_open(&m, NAME, 0) || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return 3;
	/* The same is no other control. */
	if (vperfctr_meter_open(&m, NAME, 0))
		return 4;
	vperfctr_meter_close(m);
	err = vperfctr_meter_open(&m, "cycles", 0);
	said = strstr(vperfctr_strerror(m, err), "this user has as many different controls") != NULL;
	vperfctr_meter_close(m);
	return err == -ENOSPC && said ? 0 : 5;
}

START_TEST(limit_of_controls)
{
	char limit[32];
	pid_t pid;

	ck_assert_int_gt(read_text(MODULE_PARAMS "controls", limit, sizeof(limit)), 0);
	ck_assert_int_eq(write_text(MODULE_PARAMS "controls", "1"), 0);
	ck_ok(pid = fork());
	if (!pid)
		_exit(limit_is_told());
	expect_exit(pid, 0);
	ck_assert_int_eq(write_text(MODULE_PARAMS "controls", limit), 0);
}
END_TEST

void meter_refused(void)
{
	GUEST_RUN(budget_stops_the_thread, NEED_INTERRUPT | NEED_NATIVE | AS_USER);
	GUEST_RUN(budgets_that_there_are_not, NEED_INTERRUPT | AS_USER);
	GUEST_RUN(no_budget_without_interrupt, NEED_COUNTERS | NEED_NO_INTERRUPT | AS_USER);
	GUEST_RUN(limit_of_controls, NEED_CYCLES | NEED_COUNTERS);
	GUEST_RUN(no_device, LOG_MODULE);
	GUEST_RUN(device_of_others, 0);
	GUEST_RUN(container_without_device, 0);
	GUEST_RUN(container_with_the_file_alone, 0);
}
