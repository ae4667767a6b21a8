// SPDX-License-Identifier: GPL-2.0
/* Who may read registers, under each policy: the owner of a page, and who is beside it. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/rivals.h"
#include "suites/guarded.h"

/* The readable registers, if @own are the caller's: x86 permits all of them or none. */
static unsigned int readable_with(unsigned int own)
{
#if defined(__riscv)
	return own;
#else
	return own ? (unsigned int)our_counters() : 0;
#endif
}

static void exact_by_kernel(int fd)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, 1000), 0);
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(1000));
}

/* --- who may read a register at all --- */

static unsigned int readable_registers(void)
{
	unsigned int n, readable = 0;

	for (n = 0; n < REGISTERS; n++)
		/* Beside perf, the others are perf's. */
		if (n != TIME_REGISTER && may_read_register(n) &&
		    (!is_beside() || (our_counters() >> n & 1)))
			readable |= 1u << n;
	return readable;
}

START_TEST(owner_reads_its_own_and_no_others)
{
	struct perfctr_control control = usual_control(false);
	const struct perfctr_page *page;
	int fd = open_self();
	unsigned int own;

	ck_assert_uint_eq(readable_registers(), 0);
	set_control(fd, &control);
	/* Without a map there is no permission. */
	ck_assert_uint_eq(readable_registers(), 0);
	page = map_page(fd);
	own = 1u << page_hw_counter(page, 0) | 1u << page_hw_counter(page, 1);
	ck_assert_uint_eq(readable_registers(), readable_with(own));
	sched_yield();
	sleep_us(2000);
	ck_assert_uint_eq(readable_registers(), readable_with(own));
	/*
	 * A permission ends with the next switch: a control in a signal handler must
	 * not kill a reader that it has interrupted.
	 */
	control.nractrs = 1;
	set_control(fd, &control);
	sleep_us(1000);
	ck_assert_uint_eq(readable_registers(), readable_with(1u << page_hw_counter(page, 0)));
	unmap_page(page);
	sleep_us(1000);
	ck_assert_uint_eq(readable_registers(), 0);
	page = map_page(fd);
	ck_assert_uint_ne(readable_registers(), 0);
	unlink_self(fd);
	sleep_us(1000);
	ck_assert_int_lt(page->seq, 0);
#if !defined(__riscv)
	/* x86: the process is permitted as long as it has the page. */
	unmap_page(page);
#endif
	ck_assert_uint_eq(readable_registers(), 0);
}
END_TEST

/* Tries registers while the owner runs on the same CPU and yields now and then. */
struct peeper {
	volatile bool stop;
	volatile uint64_t tries;
	volatile unsigned int readable;
};

static void *peep(void *arg)
{
	struct peeper *peeper = arg;

	while (!peeper->stop) {
		peeper->readable |= readable_registers();
		peeper->tries++;
		sched_yield();
	}
	return NULL;
}

/* SIGILL is handled per process, so the owner must not try at the same time. */
static void owner_beside(struct peeper *peeper)
{
	while (peeper->tries < 200) {
		body_spin(10000);
		sched_yield();
	}
	peeper->stop = true;
}

#if defined(__riscv)
START_TEST(sibling_reads_none)
{
	struct peeper peeper = { 0 };
	pthread_t thread;

	map_page(count_event(EV_INSTRUCTIONS));
	pin_self(0);
	ck_assert_int_eq(pthread_create(&thread, NULL, peep, &peeper), 0);
	owner_beside(&peeper);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(peeper.readable, 0);
}
END_TEST

/* The permission ends with the switch, although the page is unmapped by then. */
START_TEST(sibling_of_who_unmaps_reads_none)
{
	struct peeper peeper = { 0 };
	int fd = count_event(EV_INSTRUCTIONS);
	pthread_t thread;

	pin_self(0);
	ck_assert_int_eq(pthread_create(&thread, NULL, peep, &peeper), 0);
	while (peeper.tries < 200) {
		unmap_page(map_page(fd));
		sched_yield();
	}
	peeper.stop = true;
	pthread_join(thread, NULL);
	ck_assert_uint_eq(peeper.readable, 0);
}
END_TEST
#endif

static void beside_a_stranger(unsigned int cpu, uid_t uid)
{
	struct peeper *peeper = shared_alloc(sizeof(*peeper));
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		pin_self(cpu);
		if (uid)
			become(uid);
		peep(peeper);
		_exit(0);
	}
	pin_self(0);
	map_page(count_event(EV_INSTRUCTIONS));
	owner_beside(peeper);
	expect_exit(child, 0);
	ck_assert_uint_eq(peeper->readable, 0);
}

START_TEST(stranger_reads_none)
{
	beside_a_stranger(0, STRANGER_UID);
}
END_TEST

START_TEST(stranger_on_another_cpu_reads_none)
{
	beside_a_stranger(1, STRANGER_UID);
}
END_TEST

/* A child of the same user, made before the parent maps its page */
START_TEST(fork_child_reads_none)
{
	beside_a_stranger(0, 0);
}
END_TEST

/* A child that is made while the parent may read registers */
START_TEST(child_of_a_reader_reads_none)
{
	pid_t child;

	map_page(count_event(EV_INSTRUCTIONS));
	ck_assert_uint_ne(readable_registers(), 0);
	ck_ok(child = fork());
	if (!child)
		_exit(readable_registers() ? 1 : 0);
	expect_exit(child, 0);
	ck_assert_uint_ne(readable_registers(), 0);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)
/* --- CR4.PCE is the kernel's, and it changes its mind --- */

#define RDPMC_ATTRIBUTE "/sys/bus/event_source/devices/cpu/rdpmc"

static void exact_by_page(const struct perfctr_page *page, const char *when)
{
	uint64_t value[2];
	unsigned int i;
	long ret;

	for (i = 0; i < 100; i++) {
		ret = exact_inline(page, 0, body_spin, 1000, value);
		ck_assert_msg(ret >= 0, "%s, read %u: the page says: ask the kernel", when, i);
		ck_assert_uint_eq(value[1] - value[0], EXACT_INLINE + BODY_SPIN(1000) +
				  (uint64_t)ret * EXACT_INLINE_RETRY);
		if (i % 10 == 0)
			sched_yield();
	}
}

static void write_or_fail(const char *path, const char *text)
{
	int err = write_text(path, text);

	ck_assert_msg(!err, "%s > %s: %s", text, path, strerror(-err));
}

/*
 * The kernel copies perf's permission to a child for good. The parent's event was mapped
 * before the module was loaded, so the module did not see the fork.
 */
START_TEST(child_from_before_reads_none)
{
	int perf, to_child[2], from_child[2];
	void *map;
	char go = 0;
	pid_t child;

	ck_assert_int_eq(module_unload_patiently(), 0);
	perf = perf_open_self(EV_INSTRUCTIONS);
	ck_assert_int_ge(perf, 0);
	map = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, perf, 0);
	ck_assert(map != MAP_FAILED);
	ck_assert_uint_ne(readable_registers(), 0);
	ck_ok(pipe(to_child));
	ck_ok(pipe(from_child));
	ck_ok(child = fork());
	if (!child) {
		close(perf);
		if (write(from_child[1], &go, 1) != 1 || read(to_child[0], &go, 1) != 1)
			_exit(2);
		sleep_us(1000);
		_exit(readable_registers() ? 1 : 0);
	}
	ck_ok(read(from_child[0], &go, 1));
	ck_ok(munmap(map, PAGE_SIZE));
	close(perf);
	ck_assert_int_eq(module_load(NULL), 0);
	count_event(EV_INSTRUCTIONS);
	ck_ok(write(to_child[1], &go, 1));
	expect_exit(child, 0);
}
END_TEST

/* The first filter makes the kernel patch its text, in the thread's own context. */
START_TEST(readable_after_seccomp)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &allow };
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));

	exact_by_page(page, "before");
	ck_ok(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ck_ok(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	exact_by_page(page, "with a filter");
}
END_TEST

START_TEST(readable_after_text_patching)
{
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));
	unsigned int i;

	for (i = 0; i < 20; i++) {
		write_or_fail("/proc/sys/kernel/sched_schedstats", i % 2 ? "0" : "1");
		exact_by_page(page, "after text was patched");
	}
}
END_TEST

/* Another thread patches the text, likely on another CPU, while this one reads all the time. */
static void *patch_text(void *arg)
{
	volatile bool *stop = arg;
	unsigned int i;

	for (i = 0; !*stop; i++) {
		write_text("/proc/sys/kernel/sched_schedstats", i % 2 ? "0" : "1");
		sleep_us(1000);
	}
	write_text("/proc/sys/kernel/sched_schedstats", "0");
	return NULL;
}

START_TEST(readable_while_text_is_patched)
{
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));
	volatile bool stop = false;
	pthread_t thread;
	unsigned int i;

	ck_assert_int_eq(pthread_create(&thread, NULL, patch_text, (void *)&stop), 0);
	for (i = 0; i < 20; i++) {
		exact_by_page(page, "while text is patched");
		sleep_us(500);
	}
	stop = true;
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(rdpmc_is_written)
{
	int fd = count_event(EV_INSTRUCTIONS);
	const struct perfctr_page *page = map_page(fd);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		write_or_fail(RDPMC_ATTRIBUTE, "2");
		exact_by_page(page, "rdpmc is 2");
		write_or_fail(RDPMC_ATTRIBUTE, "1");
		exact_by_page(page, "rdpmc is 1");
		write_or_fail(RDPMC_ATTRIBUTE, "0");
		ck_assert(page_asks(page, 0));
		ck_assert_uint_eq(readable_registers(), 0);
		exact_by_kernel(fd);
		sched_yield();
		ck_assert(page_asks(page, 0));
		exact_by_kernel(fd);
		write_or_fail(RDPMC_ATTRIBUTE, "1");
		exact_by_page(page, "rdpmc is 1 again");
	}
}
END_TEST

struct twin {
	volatile bool stop;
	volatile bool shown;
	volatile unsigned int looks;
};

/* The twin has the control and the process of the thread that shares its CPU. */
static void *twin_looks(void *arg)
{
	const struct perfctr_page *page = map_page(count_event(EV_INSTRUCTIONS));
	struct twin *twin = arg;

	while (!twin->stop) {
		twin->shown = !page_asks(page, 0);
		twin->looks++;
		sched_yield();
	}
	return NULL;
}

static void let_twin_look(struct twin *twin)
{
	unsigned int seen = twin->looks;

	while (twin->looks - seen < 3)
		sched_yield();
}

/* While the permission ends, a thread that hands over to its twin shows it nothing. */
START_TEST(rdpmc_is_written_while_a_twin_waits)
{
	const struct perfctr_page *page;
	struct twin twin = { 0 };
	pthread_t thread;
	unsigned int i;

	pin_self(0);
	page = map_page(count_event(EV_INSTRUCTIONS));
	ck_assert_int_eq(pthread_create(&thread, NULL, twin_looks, &twin), 0);
	for (i = 0; i < 10; i++) {
		let_twin_look(&twin);
		ck_assert(twin.shown);
		ck_assert(!page_asks(page, 0));
		write_or_fail(RDPMC_ATTRIBUTE, "0");
		let_twin_look(&twin);
		ck_assert(!twin.shown);
		ck_assert(page_asks(page, 0));
		write_or_fail(RDPMC_ATTRIBUTE, "1");
		let_twin_look(&twin);
	}
	twin.stop = true;
	pthread_join(thread, NULL);
}
END_TEST

/* One of the threads that run meanwhile may be between its look at the page and its RDPMC. */
START_TEST(rdpmc_is_written_while_others_count)
{
	struct rivals_plan plan = { .threads = 4, .cpu = -1, .exact = true };
	struct perfctr_control control = usual_control(false);
	struct rivals *rivals;
	unsigned int i;

	plan.control = &control;
	rivals = rivals_start(&plan);
	for (i = 0; i < 20; i++) {
		write_or_fail(RDPMC_ATTRIBUTE, i % 2 ? "1" : "2");
		sleep_us(2000);
	}
	write_or_fail(RDPMC_ATTRIBUTE, "1");
	rivals_stop(rivals);
}
END_TEST
#endif

/* --- the policy --- */

START_TEST(off_asks_the_kernel)
{
	const struct perfctr_page *page;
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	unsigned int i;
	int fd;

	set_policy("off");
	fd = count_event(EV_INSTRUCTIONS);
	page = map_page(fd);
	ck_ok(ioctl(fd, PERFCTR_IOC_INFO, &info));
	ck_assert_uint_eq(info.user_read, PERFCTR_USER_READ_OFF);
	ck_assert_int_lt(page->seq, 0);
	ck_assert(!readable_registers() || is_ppc());
	for (i = 0; i < 100; i++) {
		exact_by_kernel(fd);
		sched_yield();
	}
	ck_assert_int_lt(page->seq, 0);
}
END_TEST

/* A change while threads count takes effect, and no count suffers. */
START_TEST(policy_changes_under_way)
{
	static const char *const policies[] = { "off", "open", "guarded", "open", "off", "guarded" };
	struct rivals_plan plan = { .threads = 4, .cpu = -1, .map = true, .exact = true };
	struct perfctr_control control = usual_control(false);
	const struct perfctr_page *page;
	struct rivals *rivals;
	unsigned int i;
	int fd;

	plan.control = &control;
	rivals = rivals_start(&plan);
	fd = open_self();
	page = map_page(fd);
	set_control(fd, &control);
	for (i = 0; i < 60; i++) {
		const char *policy = policies[i % 6];

		set_policy(policy);
		exact_by_kernel(fd);
		sleep_us(5000);
		exact_by_kernel(fd);
		ck_assert_msg((page->seq < 0) == !strcmp(policy, "off"), "%s: seq %d", policy,
			      page->seq);
	}
	rivals_stop(rivals);
}
END_TEST

START_TEST(policy_bad_input)
{
	char text[64];

	set_policy("open");
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "sesame"), -EINVAL);
	ck_assert_int_gt(read_text(MODULE_PARAMS "user_read", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "open\n");
}
END_TEST

START_TEST(policy_is_roots)
{
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "open"), -EACCES);
}
END_TEST

void guarded_registers(void)
{
	const unsigned int both = NEED_COUNTERS | NEED_USER_READ;

	run_policy(owner_reads_its_own_and_no_others, both | NEED_PERMISSION | AS_USER);
#if defined(__riscv)
	run_policy(sibling_reads_none, both | AS_USER);
	run_policy(sibling_of_who_unmaps_reads_none, both | AS_USER);
#elif defined(__x86_64__) || defined(__i386__)
	run_policy(child_from_before_reads_none, both | NEED_PERF | NEED_NO_BESIDE | LOG_MODULE);
	run_policy(readable_after_seccomp, both);
	run_policy(readable_after_text_patching, both);
	run_policy(readable_while_text_is_patched, both);
	run_policy(rdpmc_is_written, both | NEED_PERF);
	run_policy(rdpmc_is_written_while_a_twin_waits, both | NEED_PERF);
	run_policy(rdpmc_is_written_while_others_count, both | NEED_PERF);
#endif
	run_policy(child_of_a_reader_reads_none, both | NEED_PERMISSION | AS_USER);
	run_policy(stranger_reads_none, both | NEED_PERMISSION);
	run_policy(stranger_on_another_cpu_reads_none, both | NEED_PERMISSION | NEED_SMP);
	run_policy(fork_child_reads_none, both | NEED_PERMISSION);
	run_policy(off_asks_the_kernel, both);
	run_policy(policy_changes_under_way, both);
	run_policy(policy_bad_input, 0);
	run_policy(policy_is_roots, AS_USER);
}
