// SPDX-License-Identifier: GPL-2.0
/* Beside perf: processes that have mapped an event of perf's may read registers, and see none of our counts. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/cpus.h"
#include "suites/sharing.h"

#define RDPMC "/sys/bus/event_source/devices/cpu/rdpmc"

#if defined(__x86_64__) || defined(__i386__)
static uint64_t rdpmc(unsigned int i)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (i));
	return (uint64_t)high << 32 | low;
}
#else
static uint64_t rdpmc(unsigned int i)
{
	(void)i;
	return 0;
}
#endif

/*
 * Three processes take turns on one CPU: we, who count; a bystander, so that the reader comes after somebody who counts
 * nothing; and the reader, a process of another user that maps an event of perf's, and so may read registers.
 */
enum { WE, BYSTANDER, READER, NR_TURNS };

struct turns {
	int pipe[NR_TURNS][2];	/* who reads a byte from his pipe has his turn */
	pid_t pid[NR_TURNS];
	volatile uint64_t seen;	/* bits that were ever set in any register of ours */
	volatile unsigned int readings;
};

/* Returns false if there are no more turns. */
static bool await_turn(struct turns *turns, unsigned int who)
{
	char byte;

	return read(turns->pipe[who][0], &byte, 1) == 1;
}

static void give_turn(struct turns *turns, unsigned int who)
{
	char byte = 0;

	ck_assert_int_eq(write(turns->pipe[who][1], &byte, 1), 1);
}

/* The others have a turn each. */
static void let_others(struct turns *turns)
{
	give_turn(turns, BYSTANDER);
	ck_assert(await_turn(turns, WE));
}

static void read_registers(struct turns *turns)
{
	const unsigned int counters = (unsigned int)our_counters();
	struct perf_event_attr attr;
	unsigned int i;
	int perf;

	perf_attr_init(&attr, EV_INSTRUCTIONS);
	/* So perf does nothing as the reader comes, and nothing of ours runs then but what looks for readers. */
	attr.disabled = 1;
	perf = perf_open(&attr, 0, -1, -1);
	if (perf < 0 || mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, perf, 0) == MAP_FAILED)
		_exit(1);
	become(STRANGER_UID);
	for (;;) {
		give_turn(turns, WE);
		if (!await_turn(turns, READER))
			_exit(0);
		for (i = 0; i < 32; i++)
			if (counters >> i & 1)
				turns->seen |= rdpmc(i < 24 ? i : 0x40000000 + i - 24);
		turns->readings++;
	}
}

/* Starts the others on this CPU. Both wait for their turns when this returns. */
static struct turns *start_turns(void)
{
	struct turns *turns = shared_alloc(sizeof(*turns));
	int i, j;

	for (i = 0; i < NR_TURNS; i++)
		ck_ok(pipe(turns->pipe[i]));
	for (i = READER; i > WE; i--) {
		pid_t pid;

		ck_ok(pid = fork());
		if (pid) {
			turns->pid[i] = pid;
			continue;
		}
		/* The pipe of who has the next turn ends with him. */
		for (j = 0; j < NR_TURNS; j++) {
			if (j != i)
				close(turns->pipe[j][0]);
			if (j != (i + 1) % NR_TURNS)
				close(turns->pipe[j][1]);
		}
		if (i == READER)
			read_registers(turns);
		while (await_turn(turns, BYSTANDER))
			give_turn(turns, READER);
		_exit(0);
	}
	close(turns->pipe[BYSTANDER][0]);
	close(turns->pipe[READER][0]);
	close(turns->pipe[READER][1]);
	close(turns->pipe[WE][1]);
	ck_assert(await_turn(turns, WE));
	return turns;
}

static void end_turns(struct turns *turns)
{
	close(turns->pipe[BYSTANDER][1]);
	expect_exit(turns->pid[BYSTANDER], 0);
	expect_exit(turns->pid[READER], 0);
	close(turns->pipe[WE][0]);
}

static void show_nothing(int fd)
{
	struct turns *turns;
	unsigned int turn;

	pin_self(0);
	ck_ok(write_text(REFUSE, "N"));
	turns = start_turns();
	for (turn = 0; turn < 500; turn++) {
		exact_once(fd);
		let_others(turns);
	}
	end_turns(turns);
	ck_ok(write_text(REFUSE, "Y"));
	ck_assert_uint_eq(turns->readings, 500);
	ck_assert_uint_eq(turns->seen, 0);
}

/* Processes that perf lets read registers see none of our counts. No counter is left for events of theirs. */
START_TEST(mapped_events_show_nothing)
{
	struct perfctr_control control = control_with_fixed(guest.nprogrammable);
	int fd = open_self();

	set_control(fd, &control);
	show_nothing(fd);
	unlink_self(fd);
}
END_TEST

/* The same after a process had mapped a page of ours. Each switch is looked at until ten seconds after that. */
START_TEST(mapped_events_show_nothing_after_pages)
{
	struct perfctr_control control = control_with_fixed(guest.nprogrammable);
	int fd = open_self();
	const struct perfctr_page *page = map_page(fd);

	set_control(fd, &control);
	ck_assert(!page_asks(page, 0));
	unmap_page(page);
	sleep_us(12000000);
	show_nothing(fd);
	unlink_self(fd);
}
END_TEST

static bool is_watched(void)
{
	char line[256];
	bool watched = false;
	FILE *list = fopen("/sys/kernel/debug/kprobes/list", "r");

	ck_assert_ptr_nonnull(list);
	while (fgets(line, sizeof(line), list))
		watched |= strstr(line, "perf_clear_dirty_counters") && !strstr(line, "[DISABLED]");
	fclose(list);
	return watched;
}

/* If root lets every process read registers, nothing can be hidden, and no switch is interrupted for long. */
START_TEST(no_watch_if_all_may_read)
{
	struct perfctr_control control = control_with_fixed(guest.nprogrammable);
	struct turns *turns;
	int fd = open_self();
	unsigned int turn;

	pin_self(0);
	ck_ok(write_text(REFUSE, "N"));
	set_control(fd, &control);
	ck_assert(is_watched());
	turns = start_turns();
	ck_ok(write_text(RDPMC, "2"));
	for (turn = 0; turn < 100 && is_watched(); turn++) {
		let_others(turns);
		exact_once(fd);
		sleep_us(10000);
	}
	ck_assert(!is_watched());
	let_others(turns);
	exact_once(fd);
	end_turns(turns);
	ck_ok(write_text(RDPMC, "1"));
	ck_ok(write_text(REFUSE, "Y"));
	unlink_self(fd);
}
END_TEST

/* The counters of a CPU, if they are counted natively, are lost as soon as such a process comes to this CPU. */
START_TEST(cpu_lost_to_mapped_events)
{
	struct perfctr_control control = control_with_fixed(guest.nprogrammable);
	struct perfctr_read_cpu rd;
	struct turns *turns;
	int fd = open_cpus();
	uint64_t sum;

	pin_self(0);
	ck_ok(write_text(REFUSE, "N"));
	control.flags = PERFCTR_CONTROL_CPU;
	control.source = PERFCTR_SOURCE_NATIVE;
	set_control(fd, &control);
	go(fd);
	expect_exact(fd, 0);
	read_cpu(fd, 0, &rd);
	sum = rd.sum[0];
	turns = start_turns();
	let_others(turns);
	ck_assert_int_eq(try_read_cpu(fd, 0, &rd), -EIO);
	ck_assert_uint_eq(rd.error, PERFCTR_ERROR_LOST);
	ck_assert_uint_gt(rd.sum[0], sum);
	let_others(turns);
	end_turns(turns);
	ck_ok(write_text(REFUSE, "Y"));
	ck_assert_uint_eq(turns->readings, 2);
	ck_assert_uint_eq(turns->seen, 0);
	close(fd);
}
END_TEST

void sharing_readers(void)
{
	GUEST_RUN(mapped_events_show_nothing, NEED_COUNTERS | NEED_PERF | NEED_USER_READ);
	GUEST_RUN(mapped_events_show_nothing_after_pages, NEED_COUNTERS | NEED_PERF | NEED_USER_READ);
	GUEST_RUN(no_watch_if_all_may_read, NEED_COUNTERS | NEED_PERF | NEED_USER_READ);
	GUEST_RUN(cpu_lost_to_mapped_events, NEED_COUNTERS | NEED_PERF | NEED_USER_READ);
}
