// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that count all modes and never stop: WinChips', and VIA's C3's. Who has no permission to
 * count the kernel gets none, unless the parameter user_read is open. Between two inline reads nothing
 * but the thread's own code is counted if no interrupt comes, so these are exact; whatever enters the
 * kernel is counted as well.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"
#include "kit/perfside.h"

#define RUNS 1000u
#define LOOPS 1000ul
/* Of LOOPS turns, where no interrupt comes */
#define EXACT (EXACT_INLINE + BODY_SPIN(LOOPS))
#define MILLION 1000000ul
#define BOTH (PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

static bool is_c3(void)
{
	return guest.info.cpu_type == PERFCTR_X86_VIA_C3;
}

static unsigned int nr_counters(void)
{
	return is_c3() ? 1 : 2;
}

static unsigned int event_bits(void)
{
	return is_c3() ? 9 : 8;
}

static void open_to_all(void)
{
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "open"), 0);
}

static int try_event(int fd, uint32_t map, uint64_t event, uint32_t flags,
		     struct perfctr_control *control)
{
	control_init(control);
	control->tsc_on = 1;
	control_add_at(control, map, event, flags);
	return try_control(fd, control);
}

static int count_at(uint32_t map, uint64_t event)
{
	struct perfctr_control control;
	int fd = open_self(), err = try_event(fd, map, event, BOTH, &control);

	ck_assert_msg(!err, "event %#llx on counter %u: %s", (unsigned long long)event, map,
		      strerror(-err));
	return fd;
}

START_TEST(info)
{
	ck_assert_uint_eq(guest.info.counters, is_c3() ? 2 : 3);
	ck_assert_uint_eq(guest.info.nrctrs, nr_counters());
	ck_assert_uint_eq(guest.info.width, 32);
	ck_assert_uint_eq(guest.info.events[0], 0);
	ck_assert_uint_eq(guest.info.user_read, PERFCTR_USER_READ_OFF);
	ck_assert_uint_eq(guest.info.cpu_features & (PERFCTR_FEATURE_PCINT | PERFCTR_FEATURE_FILTER |
			  PERFCTR_FEATURE_NATIVE | PERFCTR_FEATURE_SHARED | PERFCTR_FEATURE_RDPMC),
			  PERFCTR_FEATURE_NATIVE | PERFCTR_FEATURE_RDPMC);
	/* WinChips' time-stamp counter is not to be used. */
	ck_assert_uint_eq(guest.info.cpu_features & PERFCTR_FEATURE_RDTSC,
			  is_c3() ? PERFCTR_FEATURE_RDTSC : 0);
	if (!is_c3())
		ck_assert_uint_eq(guest.info.tsc_hz, 1000000000);
}
END_TEST

/* All bits but the event's are reserved. Nobody tells which events there are, so each is taken. */
START_TEST(bits_of_a_control)
{
	struct perfctr_control control;
	unsigned int bit;
	int fd = open_self();

	for (bit = 0; bit < 64; bit++) {
		ck_assert_int_eq(try_event(fd, PERFCTR_MAP_ANY, 1ull << bit, BOTH, &control),
				 bit < event_bits() ? 0 : -EINVAL);
		if (bit >= event_bits())
			ck_assert_uint_eq(control.refused, 0);
	}
	ck_assert_int_eq(try_event(fd, PERFCTR_MAP_ANY, (1ull << event_bits()) - 1, BOTH, &control), 0);
}
END_TEST

START_TEST(one_mode_cannot_be_had)
{
	struct perfctr_control control;
	int fd = open_self();

	ck_assert_int_eq(try_event(fd, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, PERFCTR_CTR_USER, &control),
			 -EOPNOTSUPP);
	ck_assert_uint_eq(control.refused, 0);
	ck_assert_int_eq(try_event(fd, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, PERFCTR_CTR_KERNEL, &control),
			 -EOPNOTSUPP);
	ck_assert_int_eq(try_event(fd, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, 0, &control), -EINVAL);
	/* Nor an interrupt */
	control_init(&control);
	control.si_signo = SIGUSR1;
	control_add_ictr(&control, EV_INSTRUCTIONS, -1000);
	control.ctr[0].flags = BOTH;
	ck_assert_int_eq(try_control(fd, &control), -EOPNOTSUPP);
}
END_TEST

START_TEST(counters_that_there_are)
{
	struct perfctr_control control;
	unsigned int hw, i;
	int fd = open_self();

	for (hw = 0; hw < 64; hw++)
		ck_assert_int_eq(try_event(fd, hw, EV_INSTRUCTIONS, BOTH, &control),
				 hw < 32 && guest.info.counters >> hw & 1 ? 0 : -EINVAL);
	control_init(&control);
	for (i = 0; i < nr_counters(); i++)
		control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, BOTH);
	set_control(fd, &control);
	/* One more than there are; and one of them twice */
	control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, BOTH);
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	control_init(&control);
	control_add_at(&control, 1, EV_INSTRUCTIONS, BOTH);
	control_add_at(&control, 1, EV_CYCLES, BOTH);
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	/* More counters than there are is nobody's fault. */
	if (!is_c3())
		ck_assert_uint_eq(control.refused, 1);
}
END_TEST

/* Each is the only one that may have them, and who is refused is told who has. */
START_TEST(taken)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	int cpus = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC), self, other;
	struct perfctr_control control;

	ck_ok(cpus);
	ck_ok(ioctl(cpus, PERFCTR_IOC_OPEN, &o));
	self = count_at(PERFCTR_MAP_ANY, EV_INSTRUCTIONS);
	other = try_open(0);
	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(try_event(other, PERFCTR_MAP_ANY, EV_CYCLES, BOTH, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_HOLDER);

	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, BOTH);
	ck_assert_int_eq(try_control(cpus, &control), -EBUSY);
	ck_assert_uint_eq(control.reason, PERFCTR_REASON_THREADS);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERFCTR);
	unlink_self(self);
	set_control(cpus, &control);
	close(self);
	self = open_self();
	ck_assert_int_eq(try_event(self, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, BOTH, &control), -EBUSY);
	ck_assert_uint_eq(control.reason, PERFCTR_REASON_CPUS);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_PERFCTR);
}
END_TEST

static void expect_refused_as_user(void)
{
	struct perfctr_control control;
	int fd = open_self();

	ck_assert_int_eq(try_event(fd, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, BOTH, &control), -EACCES);
	ck_assert_uint_eq(control.reason, PERFCTR_REASON_KERNEL);
	ck_assert_int_eq(try_event(fd, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, PERFCTR_CTR_USER, &control),
			 -EOPNOTSUPP);
	close(fd);
}

/* They show what the kernel did, so it takes a permission, or root who says that all may know. */
START_TEST(users_need_permission)
{
	static const char * const policies[] = { "off", "guarded" };
	unsigned int i;
	pid_t child;

	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", i < 2 ? policies[i] : "open"), 0);
		ck_ok(child = fork());
		if (!child) {
			become(GUEST_UID);
			if (i < 2)
				expect_refused_as_user();
			else
				count_at(PERFCTR_MAP_ANY, EV_INSTRUCTIONS);
			_exit(0);
		}
		expect_exit(child, 0);
	}
}
END_TEST

/* What never stops would show others' counts, so nobody reads registers unless all may. */
START_TEST(pages_ask_unless_open)
{
	const struct perfctr_page *page;
	int fd;

	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "guarded"), 0);
	fd = count_at(PERFCTR_MAP_ANY, EV_INSTRUCTIONS);
	page = map_page(fd);
	ck_assert(page_asks(page, 0));
	ck_assert(!may_read_register(page->operand[0]));
	unlink_self(fd);
	unmap_page(page);
	close(fd);
	open_to_all();
	fd = count_at(PERFCTR_MAP_ANY, EV_INSTRUCTIONS);
	page = map_page(fd);
	ck_assert(!page_asks(page, 0));
	ck_assert(may_read_register(page->operand[0]));
	/* WinChips' time-stamp counter is not to be used. */
	ck_assert_uint_eq(page->slot[PERFCTR_CLOCK_SLOT].owner, is_c3() ? thread_pointer() : 0);
}
END_TEST

/*
 * All runs in which no interrupt came are exact, and the others count what that was. The tick comes
 * once in some hundred runs.
 */
static void demand_exact(const struct perfctr_page *page, unsigned int i, const char *what)
{
	unsigned int turn, exact = 0;
	uint64_t value[2], delta;

	for (turn = 0; turn < RUNS; turn++) {
		long ret = exact_inline(page, i, body_spin, LOOPS, value);

		ck_assert_msg(ret >= 0, "run %u: the page says: ask the kernel", turn);
		delta = value[1] - value[0];
		ck_assert_msg(delta >= EXACT, "%s, run %u: %llu, executed %llu", what, turn,
			      (unsigned long long)delta, (unsigned long long)EXACT);
		exact += delta == EXACT;
	}
	ck_assert_msg(exact >= RUNS * 98 / 100, "%s: %u of %u runs are exact", what, exact, RUNS);
}

/* Instructions and clocks, of which each instruction has one */
START_TEST(every_counter_is_exact)
{
	const struct perfctr_page *page;
	unsigned int hw, n = 0;
	int fd;

	open_to_all();
	for (hw = 0; hw < 32; hw++) {
		if (!(guest.info.counters >> hw & 1))
			continue;
		fd = count_at(hw, EV_INSTRUCTIONS);
		page = map_page(fd);
		ck_assert_uint_eq(page_hw_counter(page, 0), hw);
		demand_exact(page, 0, "instructions");
		unmap_page(page);
		close(fd);
		fd = count_at(hw, EV_CYCLES);
		page = map_page(fd);
		demand_exact(page, 0, "cycles");
		unmap_page(page);
		unlink_self(fd);
		close(fd);
		n++;
	}
	ck_assert_uint_eq(n, nr_counters());
}
END_TEST

START_TEST(all_at_once_are_exact)
{
	struct perfctr_control control;
	const struct perfctr_page *page;
	unsigned int i;
	int fd;

	open_to_all();
	fd = open_self();
	control_init(&control);
	control.tsc_on = 1;
	for (i = 0; i < nr_counters(); i++)
		control_add_at(&control, PERFCTR_MAP_ANY, i ? EV_CYCLES : EV_INSTRUCTIONS, BOTH);
	set_control(fd, &control);
	page = map_page(fd);
	for (i = 0; i < nr_counters(); i++)
		demand_exact(page, i, "counter");
}
END_TEST

/* The kernel's read is counted, too. */
START_TEST(kernel_mode_is_counted)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	int fd = count_at(PERFCTR_MAP_ANY, EV_INSTRUCTIONS);
	const uint64_t user = EXACT_KERNEL + BODY_YIELD(100);
	uint64_t count;

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_yield, 100), 0);
	count = rd[1].sum[0] - rd[0].sum[0];
	ck_assert_uint_gt(count, user + 100 * UINT64_C(100));
}
END_TEST

static pid_t spinner(void)
{
	pid_t pid;

	ck_ok(pid = fork());
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			body_spin(10000);
	}
	return pid;
}

/* The counter goes on while another thread has the CPU, but that is not this thread's. */
START_TEST(others_are_not_counted)
{
	int fd = count_at(PERFCTR_MAP_ANY, EV_INSTRUCTIONS);
	pid_t pid = spinner();
	uint64_t before = read_sum(fd, 0);

	sleep_us(50000);	/* 50,000,000 instructions of the other one */
	ck_assert_uint_lt(read_sum(fd, 0) - before, MILLION);
	ck_ok(kill(pid, SIGKILL));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* The counter goes on while it is suspended. */
START_TEST(sums_stand_still)
{
	int fd = count_at(PERFCTR_MAP_ANY, EV_INSTRUCTIONS);
	uint64_t before;

	ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	before = read_sum(fd, 0);
	body_spin(MILLION);
	ck_assert_uint_eq(read_sum(fd, 0), before);
	ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
	body_spin(MILLION);
	ck_assert_uint_ge(read_sum(fd, 0) - before, BODY_SPIN(MILLION));
	/* What it counted meanwhile is not in it. */
	ck_assert_uint_lt(read_sum(fd, 0) - before, BODY_SPIN(MILLION) + MILLION);
}
END_TEST

START_TEST(children_are_counted)
{
	struct perfctr_read_tree tree;
	struct perfctr_control control;
	int fd = open_self();
	pid_t child;

	control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	control_add_at(&control, PERFCTR_MAP_ANY, EV_INSTRUCTIONS, BOTH);
	set_control(fd, &control);
	ck_ok(child = fork());
	if (!child) {
		body_spin(10 * MILLION);
		_exit(0);
	}
	expect_exit(child, 0);
	ck_assert_int_eq(try_read_tree(fd, PERFCTR_TREE_ENDED, &tree), 0);
	ck_assert_uint_ge(tree.sum[0], BODY_SPIN(10 * MILLION));
	/* Ticks, the fork's end and the exit */
	ck_assert_uint_lt(tree.sum[0], BODY_SPIN(10 * MILLION) + MILLION);
}
END_TEST

/* The register has 32 bits. */
START_TEST(sums_are_wider_than_the_counter)
{
	const unsigned long billion = 1000 * MILLION;
	int fd = count_at(PERFCTR_MAP_ANY, EV_INSTRUCTIONS);
	uint64_t before = read_sum(fd, 0), count;

	body_spin(billion);
	body_spin(billion);
	body_spin(billion);
	count = read_sum(fd, 0) - before;
	ck_assert_uint_ge(count, 3 * BODY_SPIN(billion));
	/* A tick in each 4,000,000 of them */
	ck_assert_uint_lt(count, 3 * BODY_SPIN(billion) / 100 * 101);
}
END_TEST

#define PERFEX "/usr/bin/perfex"

static char output[4096];

/* @arguments and the known program; what perfex says, and its status */
static int perfex(const char *arguments)
{
	char command[256];
	size_t n;
	FILE *f;
	int status;

	(void)snprintf(command, sizeof(command), PERFEX " %s -- " KNOWN_PATH " 2>&1", arguments);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(output, 1, sizeof(output) - 1, f);
	output[n] = '\0';
	status = pclose(f);
	ck_assert_msg(WIFEXITED(status), "%s", output);
	return WEXITSTATUS(status);
}

static void says(const char *words)
{
	ck_assert_msg(strstr(output, words) != NULL, "no \"%s\" in: %s", words, output);
}

/* The program's instructions and some of the kernel's: it starts the program, too. */
static void perfex_counts(const char *arguments)
{
	static const char key[] = "\"event\": \"instructions\"";
	const char *found;
	uint64_t count;

	ck_assert_msg(!perfex(arguments), "%s", output);
	found = strstr(output, key);
	ck_assert_msg(found != NULL, "%s", output);
	found = strstr(found, "\"count\": ");
	ck_assert_msg(found != NULL, "%s", output);
	count = strtoull(found + strlen("\"count\": "), NULL, 10);
	ck_assert_uint_gt(count, KNOWN_LENGTH(KNOWN_LOOPS));
	ck_assert_uint_lt(count, UINT64_C(2) * KNOWN_LENGTH(KNOWN_LOOPS));
}

static void perfex_refuses(const char *arguments)
{
	ck_assert_int_eq(perfex(arguments), 125);
	says("instructions: this processor (");
	says(") counts user and kernel mode together,\nwith no modifier or with :uk. That needs a privilege:\n");
	says("or that the module's parameter `user_read' is `open'");
}

START_TEST(perfex_of_root)
{
	perfex_counts("-e instructions --json");
	perfex_counts("-e instructions:uk --json");
	perfex_refuses("-e instructions:u");
	perfex_refuses("-e instructions:k");
}
END_TEST

START_TEST(perfex_of_a_user)
{
	pid_t child;

	ck_ok(child = fork());
	if (!child) {
		become(GUEST_UID);
		perfex_refuses("-e instructions");
		perfex_refuses("-e instructions:uk");
		perfex_refuses("-e instructions:u");
		/* Who asks for nothing gets the clock. */
		ck_assert_int_eq(perfex(""), 0);
		says("Only the clock was counted: instructions and cycles cannot be counted here");
		_exit(0);
	}
	expect_exit(child, 0);
	open_to_all();
	become(GUEST_UID);
	perfex_counts("-e instructions --json");
	perfex_counts("--json");
}
END_TEST

static void run(const TTest *test, uint64_t what)
{
	write_text(MODULE_PARAMS "user_read", "guarded");
	guest_run(test, what | NEED_MODELESS);
}

int main(void)
{
	guest_begin("modeless", NULL);
	run(info, AS_USER);
	run(bits_of_a_control, 0);
	run(one_mode_cannot_be_had, 0);
	run(counters_that_there_are, 0);
	run(taken, 0);
	run(users_need_permission, 0);
	run(pages_ask_unless_open, 0);
	run(every_counter_is_exact, 0);
	run(all_at_once_are_exact, 0);
	run(kernel_mode_is_counted, 0);
	run(others_are_not_counted, 0);
	run(sums_stand_still, 0);
	run(children_are_counted, 0);
	run(sums_are_wider_than_the_counter, 0);
	run(perfex_of_root, 0);
	run(perfex_of_a_user, 0);
	write_text(MODULE_PARAMS "user_read", "guarded");
	return guest_end();
}
