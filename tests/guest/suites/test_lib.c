// SPDX-License-Identifier: GPL-2.0
/*
 * libperfctr: the calls of perfctr 2.6 that concern the own thread, and what
 * came beside them, against the real module.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/lib.h"

/* On the P6 the second counter has no enable bit, also if ANY became that counter. */
static unsigned int reserved_in_second(void)
{
#if defined(__x86_64__) || defined(__i386__)
	/* perf chooses the counter, so the control stays as it was given. */
	if (guest.nprogrammable == 2 && !guest.info.events[0] && !guest.shared)
		return 1u << 22;
#endif
	return 0;
}

START_TEST(info_of_any_descriptor)
{
	struct perfctr_info one, two, three;
	struct vperfctr *v = usual();
	int dev;

	ck_ok(vperfctr_info(v, &one));
	ck_ok(perfctr_get_info(&two));
	ck_ok(dev = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC));
	ck_ok(perfctr_info(dev, &three));
	ck_assert_uint_eq(one.abi_version, PERFCTR_ABI_VERSION);
	ck_assert_str_eq(one.driver_version, two.driver_version);
	ck_assert_uint_eq(one.cpu_type, guest.info.cpu_type);
	ck_assert_mem_eq(&two, &three, sizeof(two));
	ck_assert_uint_eq(perfctr_info_nrctrs(&one), guest.info.nrctrs);
	ck_assert_ptr_nonnull(perfctr_info_cpu_name(&one));
	ck_assert_int_eq(perfctr_abi_check_fd(dev), 0);
	ck_assert_int_eq(perfctr_abi_check_fd(vperfctr_fd(v)), 0);
	ck_errno(perfctr_info(0, &one), ENOTTY);
	vperfctr_close(v);
}
END_TEST

START_TEST(cpus_info)
{
	struct vperfctr *v = usual();
	struct perfctr_cpus_info *info = vperfctr_cpus_info(v);
	unsigned int i, n = 0;

	ck_assert_ptr_nonnull(info);
	for (i = 0; i < info->cpus->nrwords; i++)
		n += (unsigned int)__builtin_popcount(info->cpus->mask[i]);
	ck_assert_uint_eq(n, guest.ncpus);
	for (i = 0; i < info->cpus_forbidden->nrwords; i++)
		ck_assert_uint_eq(info->cpus_forbidden->mask[i], 0);
	free(info);
	vperfctr_close(v);
}
END_TEST

START_TEST(every_way_to_read_agrees)
{
	struct perfctr_sum_ctrs a, b, c, d;
	struct vperfctr_control control, expected;
	struct vperfctr *v = usual();
	struct perfctr_read rd;
	uint64_t tsc;

	body_spin(LOOPS);
	tsc = vperfctr_read_tsc(v);
	ck_ok(vperfctr_read_ctrs(v, &a));
	ck_ok(vperfctr_read_state(v, &b, &control));
	ck_ok(vperfctr_read_ctrs(v, &c));
	ck_ok(_vperfctr_read_sum(vperfctr_fd(v), &d));
	ck_ok(vperfctr_read_native(v, &rd));
	ck_assert_uint_le(tsc, a.tsc);
	ck_assert_uint_le(a.tsc, b.tsc);
	ck_assert_uint_le(b.tsc, c.tsc);
	ck_assert_uint_le(c.tsc, d.tsc);
	ck_assert_uint_le(d.tsc, rd.clock);
	usual_control(&expected);
	ck_assert_uint_eq(control.cpu_control.tsc_on, 1);
	ck_assert_uint_eq(control.cpu_control.nractrs, expected.cpu_control.nractrs);
	ck_assert_uint_eq(control.cpu_control.nrictrs, 0);
	ck_assert_int_eq(control.si_signo, 0);
	if (!has_counters())
		return;
	ck_assert_uint_gt(a.pmc[0], BODY_SPIN(LOOPS));
	ck_assert_uint_lt(a.pmc[0], b.pmc[0]);
	ck_assert_uint_lt(b.pmc[0], c.pmc[0]);
	ck_assert_uint_lt(c.pmc[0], d.pmc[0]);
	ck_assert_uint_lt(d.pmc[0], rd.sum[0]);
	ck_assert_uint_lt(rd.sum[0], vperfctr_read_pmc(v, 0));
	ck_assert_uint_le(rd.sum[1], vperfctr_read_pmc(v, 1));
	ck_assert_uint_eq(control.cpu_control.evntsel[0], EVNTSEL(EV_INSTRUCTIONS));
	ck_assert_uint_eq(control.cpu_control.evntsel[1],
			  EVNTSEL(EV_DTLB_STORE_MISSES) & ~reserved_in_second());
	/* Either pointer may be NULL. */
	ck_ok(vperfctr_read_state(v, &b, NULL));
	ck_ok(vperfctr_read_state(v, NULL, &control));
	vperfctr_close(v);
}
END_TEST

START_TEST(reads_are_exact)
{
	struct vperfctr *v = usual();

	counts_exactly(v);
	vperfctr_close(v);
}
END_TEST

static __attribute__((noipa)) unsigned long long count_once_fenced(const struct vperfctr *v,
								   unsigned long n)
{
	unsigned long long first = vperfctr_read_pmc_fenced(v, 0);

	body_spin(n);
	return vperfctr_read_pmc_fenced(v, 0) - first;
}

/* One fence behind the first read and one before the second are all that is counted more. */
START_TEST(fenced_reads_are_exact)
{
	struct vperfctr *v = usual();
	unsigned int i, exact = 0, more = 0;
	unsigned long long fences = 2;

#if defined(__i386__) && !defined(__SSE2__)
	/* CPUID, and what it takes: some more, but always as many */
	fences = count_once_fenced(v, 1) - count_once(v, 1);
	ck_assert_uint_gt(fences, 2);
	ck_assert_uint_lt(fences, 30);
#endif
	for (i = 0; i < 100; i++) {
		exact += count_once_fenced(v, LOOPS + i) - count_once_fenced(v, i + 1) ==
			 2 * (LOOPS - 1);
		more += count_once_fenced(v, i + 1) - count_once(v, i + 1) == fences;
	}
	/* As counts_exactly() */
	ck_assert_uint_ge(exact, 95);
	ck_assert_uint_ge(more, 95);
	vperfctr_close(v);
}
END_TEST

START_TEST(a_counter_that_is_not_there)
{
	struct vperfctr *v = usual();
	unsigned int n = has_counters() ? 2 : 0;

	/* Also if a register has that number, and counts */
	for (; n < PERFCTR_MAX_CTRS; n++) {
		errno = 0;
		ck_assert_uint_eq(vperfctr_read_pmc(v, n), PERFCTR_NO_COUNT);
		ck_assert_int_eq(errno, EINVAL);
	}
	errno = 0;
	ck_assert_uint_eq(vperfctr_read_pmc(v, 1000000), PERFCTR_NO_COUNT);
	ck_assert_int_eq(errno, EINVAL);
	vperfctr_close(v);
}
END_TEST

START_TEST(preserve_and_stop)
{
	struct vperfctr_control control;
	struct vperfctr *v = usual();
	unsigned long long sum;

	usual_control(&control);
	body_spin(LOOPS);
	if (has_counters()) {
		sum = vperfctr_read_pmc(v, 0);
		control.preserve = 1;
		ck_ok(vperfctr_control(v, &control));
		ck_assert_uint_gt(vperfctr_read_pmc(v, 0), sum);
		control.preserve = 0;
		ck_ok(vperfctr_control(v, &control));
		ck_assert_uint_lt(vperfctr_read_pmc(v, 0), LOOPS);
	}
	ck_assert_int_eq(vperfctr_is_running(v), 1);
	ck_ok(vperfctr_stop(v));
	ck_assert_int_eq(vperfctr_is_running(v), 0);
	ck_errno(vperfctr_iresume(v), EINVAL);
	vperfctr_close(v);
}
END_TEST

static struct vperfctr *the_handle;
static volatile unsigned int overflows;
static unsigned long long overflow_sum;
static int overflow_mask;

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	if (info->si_code != SI_PMC_OVF)
		return;
	overflow_mask = info->si_pmc_ovf_mask;
	overflow_sum = vperfctr_read_pmc(the_handle, 1);
	overflows++;
	vperfctr_iresume(the_handle);
}

/* By perfctr 2.6's names, and then by REFRESH */
START_TEST(interrupt_mode)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO };
	struct vperfctr_control control, again;
	struct perfctr_control native;

	(void)sigaction(SIGUSR1, &action, NULL);
	memset(&control, 0, sizeof(control));
	control.si_signo = SIGUSR1;
	control.cpu_control.tsc_on = 1;
	control.cpu_control.nractrs = 1;
	control.cpu_control.nrictrs = 1;
	control.cpu_control.pmc_map[0] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control.cpu_control, 0, EV_DTLB_LOAD_MISSES);
	control.cpu_control.pmc_map[1] = PERFCTR_MAP_ANY;
	OLD_EVENT(&control.cpu_control, 1, EV_INSTRUCTIONS);
	control.cpu_control.evntsel[1] = EVNTSEL_INT(EV_INSTRUCTIONS);
	control.cpu_control.ireset[1] = IRESET(50000);
	USER_MODE(&control);
	the_handle = vperfctr_open();
	ck_assert_ptr_nonnull(the_handle);
	ck_ok(vperfctr_control(the_handle, &control));
	body_spin(60000);
	ck_assert_uint_eq(overflows, 2);
	ck_assert_int_eq(overflow_mask, 2);
	ck_assert_uint_eq(overflow_sum, 100000);
	memset(&control, 0, sizeof(control));
	ck_ok(vperfctr_read_state(the_handle, NULL, &control));
	ck_assert_int_eq(control.si_signo, SIGUSR1);
	ck_assert_uint_eq(control.cpu_control.nrictrs, 1);
	ck_assert_int_eq(control.cpu_control.ireset[1], IRESET(50000));
	/* The counter that ANY became, in a form that can be given again */
	ck_assert_uint_ne(control.cpu_control.pmc_map[1], PERFCTR_MAP_ANY);
	ck_ok(vperfctr_control(the_handle, &control));
	ck_ok(vperfctr_read_state(the_handle, NULL, &again));
	ck_assert_mem_eq(&again, &control, sizeof(control));
	overflows = 0;
	body_spin(60000);
	ck_assert_uint_eq(overflows, 2);

	/* Nobody resumes: the last of three suspends. */
	(void)signal(SIGUSR1, SIG_IGN);
	memset(&native, 0, sizeof(native));
	ck_ok(vperfctr_read_control_native(the_handle, &native));
	ck_ok(vperfctr_control_native(the_handle, &native));
	ck_ok(vperfctr_refresh(the_handle, 3));
	body_spin(200000);
	ck_assert_uint_eq(vperfctr_read_pmc(the_handle, 1), 150000);
	ck_assert_int_eq(vperfctr_is_running(the_handle), 1);
	ck_errno(vperfctr_refresh(the_handle, 0), EINVAL);
	ck_ok(vperfctr_iresume(the_handle));
	vperfctr_close(the_handle);
}
END_TEST

START_TEST(fixed_registers)
{
	struct perfctr_control control;
	struct vperfctr *v = vperfctr_open();
	unsigned long long cycle, instret;

	ck_assert_ptr_nonnull(v);
	control_init(&control);
	control_add_at(&control, 0, EV_CYCLES, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	control_add_at(&control, 2, EV_INSTRUCTIONS, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL);
	ck_ok(vperfctr_control_native(v, &control));
#if defined(__riscv)
	cycle = vperfctr_read_cycle(v);
	instret = vperfctr_read_instret(v);
	body_spin(LOOPS);
	ck_assert_uint_ge(vperfctr_read_cycle(v) - cycle, BODY_SPIN(LOOPS));
	ck_assert_uint_ge(vperfctr_read_instret(v) - instret, BODY_SPIN(LOOPS));
#else
	cycle = 0;
	instret = 0;
	ck_assert_uint_eq(cycle, instret);
#endif
	errno = 0;
	ck_assert_uint_eq(vperfctr_read_reg(v, 3), PERFCTR_NO_COUNT);
	ck_assert_int_eq(errno, EINVAL);
	vperfctr_close(v);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)
/* The fixed counters by 2.6's numbers; 2.6 did not look at their events. */
START_TEST(fixed_counters_of_x86)
{
	static const unsigned int fixed[] = { 0xc0, 0x3c, 0x13c };
	unsigned int i, n, bare, event[3];
	struct vperfctr_control control, back;
	struct perfctr_control native;
	struct perfctr_sum_ctrs sum, before;
	struct vperfctr *v = vperfctr_open();

	ck_assert_ptr_nonnull(v);
	memset(&sum, 0, sizeof(sum));
	memset(&before, 0, sizeof(before));
	memset(&control, 0, sizeof(control));
	control.cpu_control.extended = PERFCTR_EXTENDED;
	control.source = VPERFCTR_SOURCE_NATIVE;
	control.cpu_control.tsc_on = 1;
	control.cpu_control.nractrs = 1;
	control.cpu_control.pmc_map[0] = 0x40000000;
	control.cpu_control.evntsel[0] = EVNTSEL(fixed[0]);
	if (!(guest.info.counters >> 24)) {
		ck_errno(vperfctr_control(v, &control), EINVAL);
		vperfctr_close(v);
		return;
	}
	for (bare = 0; bare < 2; bare++) {
		memset(&control, 0, sizeof(control));
		control.cpu_control.extended = PERFCTR_EXTENDED;
		control.cpu_control.tsc_on = 1;
		/* QEMU counts its reference cycles by instructions too. */
		for (n = 0, i = 0; i < 3; i++) {
			if (!(our_counters() >> (24 + i) & 1))
				continue;
			control.cpu_control.pmc_map[n] = 0x40000000 + i;
			control.cpu_control.evntsel[n] = EVNTSEL(bare ? 0 : fixed[i]);
			event[n++] = fixed[i];
		}
		control.cpu_control.pmc_map[n] = 1;
		OLD_EVENT(&control.cpu_control, n, EV_INSTRUCTIONS);
		n++;
		control.cpu_control.nractrs = n;
		/* The first time the dynamic linker finds the calls, which adds instructions. */
		for (i = 0; i < 3; i++) {
			before = sum;
			ck_ok(vperfctr_control(v, &control));
			body_spin(LOOPS * (i + 1));
			ck_ok(vperfctr_read_state(v, &sum, &back));
		}
		for (i = 0; i < n; i++) {
			ck_assert_uint_eq(back.cpu_control.pmc_map[i],
					  control.cpu_control.pmc_map[i]);
			ck_assert_uint_eq(back.cpu_control.evntsel[i],
					  EVNTSEL(i < n - 1 ? event[i] : EV_INSTRUCTIONS));
			ck_assert_uint_eq(sum.pmc[i] - before.pmc[i],
					  BODY_SPIN(3 * LOOPS) - BODY_SPIN(2 * LOOPS));
		}
		/* All counts are of one moment. */
		ck_assert_uint_eq(sum.pmc[n - 1], sum.pmc[0]);
		ck_ok(vperfctr_read_control_native(v, &native));
		ck_assert_uint_eq(native.ctr[0].map, 24);
		ck_ok(vperfctr_control(v, &back));
	}
	OLD_EVENT(&control.cpu_control, 0, EV_CYCLES);
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel[0] = EVNTSEL(fixed[0]) & ~(1u << 22);
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel[0] = fixed[0];	/* no mode */
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel[0] = EVNTSEL_INT(fixed[0]);
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel[0] = EVNTSEL(fixed[0]);
	control.cpu_control.pmc_map[0] = 0x40000008;
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.pmc_map[0] = 0x40000000;
	control.cpu_control.evntsel_high[0] = 1;
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.evntsel_high[0] = 0;
	ck_ok(vperfctr_control(v, &control));
	vperfctr_close(v);
}
END_TEST
#endif

START_TEST(snapshots_of_fewer)
{
	struct perfctr_sum_ctrs sum;
	struct vperfctr *v = usual();

	memset(&sum, 0x5a, sizeof(sum));
	ck_ok(vperfctr_snapshot(v, &sum, 1));
	ck_assert_uint_eq(sum.pmc[1], 0x5a5a5a5a5a5a5a5aull);
	ck_assert_uint_ne(sum.pmc[0], 0x5a5a5a5a5a5a5a5aull);
	ck_ok(vperfctr_snapshot(v, &sum, 2));
	ck_assert_uint_ne(sum.pmc[1], 0x5a5a5a5a5a5a5a5aull);
	errno = 0;
	ck_assert_int_eq(vperfctr_snapshot(v, &sum, 3), -1);
	ck_assert_int_eq(errno, EINVAL);
	vperfctr_close(v);
}
END_TEST

/* Each thread has counters of its own, and its parent's handle reads the parent's. */
static void *count_as_thread(void *arg)
{
	struct vperfctr *parents = arg, *own;
	struct vperfctr_control control;
	unsigned long long first;

	own = vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL);
	usual_control(&control);
	if (!own || vperfctr_control(own, &control))
		return "a thread cannot count";
	if (!vperfctr_control(parents, &control) || errno != EPERM)
		return "it controls another";
	first = vperfctr_read_tsc(parents);
	body_spin(100 * LOOPS);
	if (vperfctr_read_tsc(own) == PERFCTR_NO_COUNT)
		return "it cannot read its own";
	if (vperfctr_read_tsc(parents) < first)
		return "the parent's clock goes back";
	vperfctr_close(own);
	return NULL;
}

START_TEST(threads)
{
	struct vperfctr *v = usual();
	pthread_t thread[4];
	unsigned int i;
	void *wrong;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, count_as_thread, v), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &wrong);
		ck_assert_msg(!wrong, "%s", (const char *)wrong);
	}
	ck_assert_int_eq(vperfctr_is_running(v), 1);
	vperfctr_close(v);
}
END_TEST

START_TEST(printing)
{
	struct vperfctr_control control;
	struct perfctr_cpus_info *cpus;
	struct perfctr_info about;
	int out, null;

	ck_ok(perfctr_get_info(&about));
	cpus = perfctr_cpus_info(open_device());
	ck_assert_ptr_nonnull(cpus);
	usual_control(&control);
	ck_ok(out = dup(1));
	ck_ok(null = open("/dev/null", O_WRONLY | O_CLOEXEC));
	ck_ok(dup2(null, 1));
	perfctr_info_print(&about);
	perfctr_cpus_info_print(cpus);
	perfctr_cpu_control_print(&control.cpu_control);
	(void)fflush(stdout);
	ck_ok(dup2(out, 1));
	free(cpus);
}
END_TEST

START_TEST(no_permission)
{
	int fd;

	ck_ok(chmod(PERFCTR_DEVICE, 0600));
	become(GUEST_UID);
	errno = 0;
	ck_assert_ptr_null(vperfctr_open());
	ck_assert_int_eq(errno, EACCES);
	fd = _vperfctr_open(1);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(errno, EACCES);
}
END_TEST

START_TEST(no_module)
{
	struct perfctr_info about;

	ck_assert_int_eq(module_unload_patiently(), 0);
	errno = 0;
	ck_assert_ptr_null(vperfctr_open());
	ck_assert_int_eq(errno, ENOENT);
	ck_errno(perfctr_get_info(&about), ENOENT);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

int main(void)
{
	guest_begin("lib", NULL);
	lib_handles();
	GUEST_RUN(info_of_any_descriptor, AS_USER);
	GUEST_RUN(cpus_info, AS_USER);
	GUEST_RUN(every_way_to_read_agrees, AS_USER);
	GUEST_RUN(reads_are_exact, NEED_COUNTERS | AS_USER);
	GUEST_RUN(fenced_reads_are_exact, NEED_COUNTERS | NEED_USER_READ | AS_USER);
	GUEST_RUN(a_counter_that_is_not_there, AS_USER);
	GUEST_RUN(preserve_and_stop, AS_USER);
	GUEST_RUN(fixed_registers, NEED_FIXED);
#if defined(__x86_64__) || defined(__i386__)
	GUEST_RUN(fixed_counters_of_x86, NEED_COUNTERS | NEED_NATIVE | LOG_SILENT);
#endif
	GUEST_RUN(snapshots_of_fewer, NEED_COUNTERS | AS_USER);
	GUEST_RUN(threads, AS_USER);
	lib_events();
	GUEST_RUN(printing, AS_USER);
	GUEST_RUN(no_permission, 0);
	(void)chmod(PERFCTR_DEVICE, 0666);
	GUEST_RUN(no_module, LOG_MODULE);
	GUEST_RUN(interrupt_mode, NEED_INTERRUPT | LOG_SILENT | AS_USER);
	return guest_end();
}
