// SPDX-License-Identifier: GPL-2.0
/*
 * What real processors, firmware and hypervisors do amiss with x86's counters. Either the counts
 * are right all the same, or, by the next look at the registers, there is an error that names
 * the cause and stays; never a wrong count without one.
 *
 * The environment's VICE says what this machine's processor does: tests/machines/vices.sh has
 * the list. Without it the processor is as the manual says, and the tests themselves write to
 * registers behind the module's back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/registers.h"
#include "kit/rivals.h"
#include "suites/vices.h"

#define LOOPS 1000ul

/*
 * Registers are looked at ten times a second in a virtual machine, as QEMU says that these are, on
 * a CPU that is not idle, and as a thread's counting ends, but once in a jiffy at most.
 */
#define A_LOOK_US 200000

void wait_for_a_look(void)
{
	sleep_us(A_LOOK_US);
	body_spin(SOME_JIFFIES);
}

#define EV_BUS_CYCLES	0x013cu
#define EV_REF_CYCLES	0x0300u
#define EV_HW_INTERRUPTS 0x01cbu
#define EV_L1D_PENDING	0x0148u
#define EV_MEM_LOADS	0x01d1u
#define EV_STORES	0x01d0u

#define FIXED_INSTRUCTIONS 24

bool has_fixed(void)
{
	return guest.info.counters >> 24;
}

/* --- what is right --- */

static void read_twice(int fd, struct perfctr_read *rd, unsigned long loops)
{
	rd[0].size = sizeof(*rd);
	rd[1].size = sizeof(*rd);
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, loops), 0);
}

void counts_instructions(int fd, unsigned int i)
{
	struct perfctr_read rd[2];

	read_twice(fd, rd, LOOPS);
	ck_assert_uint_eq(rd[1].sum[i] - rd[0].sum[i], EXACT_KERNEL + BODY_SPIN(LOOPS));
}

/* Each general-purpose counter that the module has, and the fixed one of instructions, alone */
static void each_counter_is_right(void)
{
	struct perfctr_control control;
	unsigned int hw;
	int fd = open_self();

	for (hw = 0; hw <= FIXED_INSTRUCTIONS; hw++) {
		if (!(guest.info.counters >> hw & 1))
			continue;
		control_init(&control);
		control_add_at(&control, hw, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
		set_control(fd, &control);
		counts_instructions(fd, 0);
	}
	unlink_self(fd);
	close(fd);
}

/* All of the control count what is as many as instructions, which are as many as cycles. */
static void all_are_right(struct perfctr_control *control)
{
	struct perfctr_read rd[2];
	int fd = open_self();
	unsigned int i;

	set_control(fd, control);
	read_twice(fd, rd, LOOPS);
	for (i = 0; i < control->nractrs; i++)
		ck_assert_msg(rd[1].sum[i] - rd[0].sum[i] == EXACT_KERNEL + BODY_SPIN(LOOPS),
			      "counter %u: %lu", i,
			      (unsigned long)(rd[1].sum[i] - rd[0].sum[i]));
	unlink_self(fd);
	close(fd);
}

static void control_add_each(struct perfctr_control *control, uint64_t event, unsigned int n)
{
	while (n--)
		control_add(control, event);
}

/* It is refused because of its last counter: @err, @reason, and the counters that it could have */
static void is_refused(struct perfctr_control *control, int err, uint32_t reason, uint64_t possible)
{
	int fd = open_self();

	ck_assert_int_eq(try_control(fd, control), -err);
	ck_assert_uint_eq(control->refused, control->nractrs - 1);
	ck_assert_uint_eq(control->reason, reason);
	ck_assert_uint_eq(control->possible, possible);
	close(fd);
}

/* --- counts that differ from what is executed or from each other --- */

/* pmu-vice-bus-ratio=25 */
START_TEST(bus_cycles_are_slower)
{
	struct perfctr_control control;
	struct perfctr_read rd[2];
	uint64_t ref, bus;
	int fd = open_self();

	control_init(&control);
	control_add(&control, EV_REF_CYCLES);
	control_add(&control, EV_BUS_CYCLES);
	control_add_at(&control, 26, EV_BUS_CYCLES, PERFCTR_CTR_USER);
	control.nractrs = 2;
	set_control(fd, &control);
	read_twice(fd, rd, LOOPS);
	ref = rd[1].sum[0] - rd[0].sum[0];
	bus = rd[1].sum[1] - rd[0].sum[1];
	ck_assert_uint_eq(ref, EXACT_KERNEL + BODY_SPIN(LOOPS));
	ck_assert_uint_ge(bus, ref / 25);
	ck_assert_uint_le(bus, ref / 25 + 1);
	/* 2.6's way to say it: the event of a general-purpose counter, and which counter */
	control.ctr[0] = control.ctr[2];
	control.nractrs = 1;
	set_control(fd, &control);
	read_twice(fd, rd, LOOPS);
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
}
END_TEST

/* pmu-vice-interrupts=on: who subtracts the interrupts in user mode is exact. */
START_TEST(an_instruction_for_each_interrupt)
{
	const unsigned long loops = 50000000;
	struct perfctr_control control;
	struct perfctr_read rd[2];
	uint64_t instructions, interrupts;
	int fd = open_self();

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_HW_INTERRUPTS);
	set_control(fd, &control);
	read_twice(fd, rd, loops);
	instructions = rd[1].sum[0] - rd[0].sum[0];
	interrupts = rd[1].sum[1] - rd[0].sum[1];
	/* 100 ms: ticks */
	ck_assert_uint_ge(interrupts, 5);
	ck_assert_uint_eq(instructions, EXACT_KERNEL + BODY_SPIN(loops) + interrupts);
}
END_TEST

/* --- counters that count some events only --- */

/* model=42,pmu-vice-constraints=0x48/0x4: Sandy Bridge counts this event on counter 2. */
START_TEST(an_event_of_one_counter)
{
	struct perfctr_control control;

	control_init(&control);
	control_add(&control, EV_L1D_PENDING);
	all_are_right(&control);
	/* The last one, when others could have that counter, too */
	control_init(&control);
	control_add_each(&control, EV_CYCLES, 3);
	control_add_each(&control, EV_INSTRUCTIONS, 2);
	control_add(&control, EV_L1D_PENDING);
	all_are_right(&control);

	control_add(&control, EV_L1D_PENDING);
	is_refused(&control, EINVAL, PERFCTR_REASON_COUNTER, 0x4);
	control_init(&control);
	control_add_at(&control, 1, EV_L1D_PENDING, PERFCTR_CTR_USER);
	is_refused(&control, EINVAL, PERFCTR_REASON_COUNTER, 0x4);
}
END_TEST

/* pmu-vice-constraints=0xd0-0xe6/0xf: Ice Lake's counters 4 to 7 do not count these. */
START_TEST(events_of_four_counters)
{
	struct perfctr_control control;

	control_init(&control);
	control_add_each(&control, EV_INSTRUCTIONS, 3);
	control_add_each(&control, EV_CYCLES, 3);
	control_add_each(&control, EV_MEM_LOADS, 4);
	all_are_right(&control);
	control_init(&control);
	control_add_each(&control, EV_MEM_LOADS, 5);
	is_refused(&control, EINVAL, PERFCTR_REASON_COUNTER, 0xf);
	control_init(&control);
	control_add_at(&control, 4, EV_MEM_LOADS, PERFCTR_CTR_USER);
	is_refused(&control, EINVAL, PERFCTR_REASON_COUNTER, 0xf);
}
END_TEST

/* --- registers and events that do nothing --- */

/* pmu-vice-drop=0x188:0xc6:0x4c6: event select 2 and counter 5 do not keep what is written. */
START_TEST(dropped_writes)
{
	ck_assert_uint_eq(guest.info.counters, 0x70000ff & ~0x24);
	each_counter_is_right();
}
END_TEST

/* pmu-vice-fault=0x189:0x30b: event select 3 and fixed counter 2 cannot be written. */
START_TEST(faulting_writes)
{
	ck_assert_uint_eq(guest.info.counters, 0x700000f & ~0x4000008);
	each_counter_is_right();
}
END_TEST

/* The same beside perf, where a counter is tried when a control first needs it */
START_TEST(dropped_writes_beside)
{
	struct perfctr_control control;
	unsigned int hw;
	int fd = open_self();

	ck_assert_uint_eq(guest.info.counters, 0x70000ff);
	for (hw = 2; hw <= 5; hw += 3) {
		control_init(&control);
		control_add_at(&control, hw, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
		ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	}
	ck_ok(ioctl(fd, PERFCTR_IOC_INFO, &guest.info));
	ck_assert_uint_eq(guest.info.counters, 0x70000ff & ~0x24);
	each_counter_is_right();
	close(fd);
}
END_TEST

/* Instructions count nothing, and are refused by either source, and by any name. */
static void instructions_are_refused(void)
{
	static const uint32_t sources[] = {
		PERFCTR_SOURCE_NATIVE, PERFCTR_SOURCE_SHARED, PERFCTR_SOURCE_ANY,
	};
	struct perfctr_control control;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		control_init(&control);
		control_add(&control, EV_INSTRUCTIONS);
		control.source = sources[i];
		is_refused(&control, EINVAL, PERFCTR_REASON_TRIAL, 0);
		if (!i)
			continue;
		control.ctr[0].flags |= PERFCTR_CTR_PERF;
		control.ctr[0].event = 0;	/* PERF_TYPE_HARDWARE */
		control.ctr[0].config = 1;	/* PERF_COUNT_HW_INSTRUCTIONS */
		is_refused(&control, EINVAL, PERFCTR_REASON_TRIAL, 0);
	}
}

/* pmu-vice-filter=0xc0,pmu-vice-filter-fixed=1 */
START_TEST(filtered_instructions)
{
	struct perfctr_control control;

	ck_assert_uint_eq(guest.info.counters, 0x600000f);
	instructions_are_refused();
	control_init(&control);
	control_add_each(&control, EV_CYCLES, 5);
	all_are_right(&control);
}
END_TEST

/* The same beside perf, whose watchdog has the fixed counter of cycles */
START_TEST(filtered_instructions_beside)
{
	struct perfctr_control control;
	int fd = open_self();

	ck_assert_uint_eq(guest.info.counters, 0x700000f);
	instructions_are_refused();
	ck_ok(ioctl(fd, PERFCTR_IOC_INFO, &guest.info));
	ck_assert_uint_eq(guest.info.counters, 0x600000f);
	control_init(&control);
	control_add_each(&control, EV_CYCLES, 4);
	all_are_right(&control);
	close(fd);
}
END_TEST

/* The global control drops writes, or a filter lets nothing pass. */
START_TEST(no_counters)
{
	ck_assert_uint_eq(guest.info.counters, 0);
	ck_assert_uint_eq(guest.info.no_counters, PERFCTR_NO_COUNTERS_TRIAL);
	instructions_are_refused();
}
END_TEST

/* perfex without -e counts cycles, and says that instructions are left out. */
static void instructions_are_left_out(const char *command)
{
	char text[4096];

	ck_assert_int_eq(system(command), 0);
	ck_assert_int_gt(read_text("/tmp/counts", text, sizeof(text)), 0);
	ck_assert_msg(strstr(text, "  cycles") && !strstr(text, "  instructions") &&
		      strstr(text, "\n instructions cannot be counted here: perfex -e instructions says "
			     "why.\n"), "%s", text);
}

/* The same while the NMI watchdog counts, so that perf alone can try, and after it has ended */
START_TEST(filtered_beside_the_watchdog)
{
	struct perfctr_control control;

	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(write_text("/proc/sys/kernel/nmi_watchdog", "1"), 0);
	ck_assert_int_eq(module_load(NULL), 0);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control.source = PERFCTR_SOURCE_ANY;
	is_refused(&control, EINVAL, PERFCTR_REASON_TRIAL, 0);
	control.source = PERFCTR_SOURCE_SHARED;
	is_refused(&control, EINVAL, PERFCTR_REASON_TRIAL, 0);
	instructions_are_left_out("perfex -o /tmp/counts -- true");
	instructions_are_left_out("perfex -o /tmp/counts -r 2 -- true");
	instructions_are_left_out("perfex -o /tmp/counts -a -- true");
	ck_assert_int_eq(write_text("/proc/sys/kernel/nmi_watchdog", "0"), 0);
	instructions_are_refused();
}
END_TEST

/* Events that count by a register of their own, and nothing without it */
START_TEST(registers_that_are_not_set)
{
	static const uint64_t events[] = { 0x01b7, 0x01bb, 0x01c6 };
	struct perfctr_control control;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		control_init(&control);
		control_add(&control, events[i]);
		is_refused(&control, EINVAL, PERFCTR_REASON_NONE, 0);
		control.source = PERFCTR_SOURCE_ANY;
		is_refused(&control, EINVAL, PERFCTR_REASON_NONE, 0);
		control.source = PERFCTR_SOURCE_SHARED;
		is_refused(&control, EINVAL, PERFCTR_REASON_NONE, 0);
	}
	/* The latency of loads takes precise sampling. */
	control_init(&control);
	control_add(&control, 0x01cd);
	control.ctr[0].config = 3;
	is_refused(&control, EOPNOTSUPP, PERFCTR_REASON_NONE, 0);
	control.source = PERFCTR_SOURCE_ANY;
	is_refused(&control, EOPNOTSUPP, PERFCTR_REASON_NONE, 0);
}
END_TEST

/* --- the interrupt --- */

#define PERIOD 100003

/*
 * Instructions by an i-mode and an a-mode counter, while the loop is executed. Both count on over
 * each overflow. A period begins as the overflow before is seen, so where the interrupt is @late
 * there are fewer of them. The signal stays blocked.
 */
static void overflows_are_right(unsigned int late)
{
	/* Its end is far from an overflow. */
	const unsigned long loops = 1020000;
	struct perfctr_control control;
	struct perfctr_read rd[2];
	int fd = open_self();
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGIO);
	ck_ok(sigprocmask(SIG_BLOCK, &blocked, NULL));
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add_ictr(&control, EV_INSTRUCTIONS, -PERIOD);
	control.si_signo = SIGIO;
	control.refresh = INT32_MAX;
	set_control(fd, &control);
	read_twice(fd, rd, loops);
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(loops));
	ck_assert_uint_eq(rd[1].sum[1] - rd[0].sum[1], EXACT_KERNEL + BODY_SPIN(loops));
	ck_assert_uint_eq(rd[1].overflows, rd[1].sum[1] / (PERIOD + late));
	unlink_self(fd);
	close(fd);
}

START_TEST(overflows)
{
	overflows_are_right(0);
}
END_TEST

/* pmu-vice-skid=3000 */
START_TEST(late_overflows)
{
	overflows_are_right(3000);
}
END_TEST

/*
 * pmu-vice-reset=0x1d9/0x1000: firmware had set DEBUGCTL's bit by which an overflow interrupt stops
 * all counters. It gets the bit back.
 */
START_TEST(freeze_found_set)
{
	uint64_t value;

	open_registers();
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert(rdmsr(MSR_DEBUGCTL, &value));
	ck_assert_uint_eq(value & DEBUGCTL_FREEZE, DEBUGCTL_FREEZE);
	ck_assert_int_eq(module_load(NULL), 0);
	overflows_are_right(0);
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert(rdmsr(MSR_DEBUGCTL, &value));
	ck_assert_uint_eq(value & DEBUGCTL_FREEZE, DEBUGCTL_FREEZE);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

/* --- somebody writes to registers again and again --- */

static void is_firmwares(void)
{
	struct perfctr_control control;
	int fd = open_self();

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	ck_assert_int_eq(try_control(fd, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_FIRMWARE);
	unlink_self(fd);
	close(fd);
}

/* pmu-vice-rewrite: some time after our write the register holds something else. */
START_TEST(rewritten)
{
	int fd = count_by_both();

	wait_for_a_look();
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
	wait_for_a_look();
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
	close(fd);
}
END_TEST

/* pmu-vice-reset=0x187/0x4300c0: firmware left a counter on. It gets it back. */
START_TEST(firmware_forgot_a_counter)
{
	uint64_t value;

	open_registers();
	each_counter_is_right();
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert(rdmsr(msr_evntsel(1), &value));
	ck_assert_uint_eq(value, EV_INSTRUCTIONS | EVNTSEL_BOTH | EVNTSEL_EN);
	/* Or it is refused, if root wants that. */
	ck_assert_int_eq(module_load("override_firmware=0"), 0);
	is_firmwares();
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

/* The same with pmu-vice-rewrite: it needs the counter. */
START_TEST(firmware_takes_a_counter_back)
{
	int fd = count_by_both();

	wait_for_a_look();
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
	close(fd);
	is_firmwares();
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

/* --- errata --- */

/* model=42,pmu-vice-ht=on with two threads of a core */
START_TEST(events_that_spoil_the_sibling)
{
	struct perfctr_control control;

	for (uint64_t code = 0xd0; code <= 0xd3; code++) {
		control_init(&control);
		control_add(&control, 0x0100 | code);
		is_refused(&control, EOPNOTSUPP, PERFCTR_REASON_ERRATUM, 0);
	}
}
END_TEST

/*
 * Somebody else does it by the registers of CPU 0. A thread on CPU 1 counts wrong, and is told,
 * since CPU 0 tells all.
 */
START_TEST(a_sibling_that_spoils)
{
	struct perfctr_read rd[2];
	pid_t busy;
	int fd;

	open_registers();
	pin_self(1);
	busy = fork();
	ck_assert_int_ge(busy, 0);
	if (!busy) {
		pin_self(0);
		for (;;)
			body_spin(LOOPS);
	}
	fd = count_by_both();
	ck_assert(wrmsr(msr_evntsel(0), EV_STORES | EVNTSEL_BOTH | EVNTSEL_EN));
	read_twice(fd, rd, SOME_JIFFIES);
	ck_assert_uint_gt(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(SOME_JIFFIES));
	sleep_us(A_LOOK_US);
	body_spin(SOME_JIFFIES);
	ck_assert_uint_eq(error_of(fd), PERFCTR_ERROR_CHANGED);
	close(fd);
	kill(busy, SIGKILL);
	ck_assert_int_eq(waitpid(busy, NULL, 0), busy);
	pin_self(0);
}
END_TEST

/* pmu-vice-nehalem=on: event selects change at each switch. */
START_TEST(events_change_all_the_time)
{
	const struct rivals_plan plan = { .n = 4, .cpu = 0 };
	struct rivals *rivals = rivals_start(&plan);
	struct perfctr_control control;
	int fd = open_self(), turn;

	control_init(&control);
	for (turn = 0; turn < 4; turn++)
		control_add_at(&control, (unsigned int)turn, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	set_control(fd, &control);
	for (turn = 0; turn < 50; turn++) {
		counts_instructions(fd, 0);
		counts_instructions(fd, 3);
		sleep_us(100);
	}
	rivals_stop(rivals);
	unlink_self(fd);
	close(fd);
}
END_TEST

/* pmu-vice-tfa=on: counter 3 is microcode's. */
START_TEST(a_counter_of_microcode)
{
	struct perfctr_control control;

	ck_assert_uint_eq(guest.info.counters, 0x7000007);
	control_init(&control);
	control_add_each(&control, EV_INSTRUCTIONS, 2);
	control_add_each(&control, EV_CYCLES, 3);
	all_are_right(&control);
	control_add_at(&control, 3, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	is_refused(&control, EINVAL, PERFCTR_REASON_NONE, 0);
}
END_TEST

/* pmu-fixed-counters=4: the fourth one counts slots, but the metrics are masked. */
START_TEST(slots_without_metrics)
{
	ck_assert_uint_eq(guest.info.counters, 0x70000ff);
	each_counter_is_right();
}
END_TEST

/* --- hypervisors --- */

/* hypervisor=on,pmu-version=1,pmu-counters=2 */
START_TEST(two_counters)
{
	struct perfctr_control control;
	int fd;

	ck_assert_uint_eq(guest.info.counters, 0x3);
	ck_assert(guest.info.cpu_features & PERFCTR_FEATURE_HYPERVISOR);
	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_CYCLES);
	all_are_right(&control);
	control_add(&control, EV_INSTRUCTIONS);
	fd = open_self();
	ck_assert_int_eq(try_control(fd, &control), -EINVAL);
	close(fd);
}
END_TEST

/*
 * hypervisor=on,pmu-version=2: events of the model have registers of their own, which the virtual
 * machine has not. By the select alone such an event counts nothing.
 */
START_TEST(no_registers_of_events)
{
	static const uint32_t events[] = { EV_OFFCORE, 0x01bb, 0x01c6 };
	struct perfctr_control control;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		control_init(&control);
		control_add(&control, events[i / 2]);
		control.ctr[0].config = i % 2;
		is_refused(&control, EINVAL, PERFCTR_REASON_NONE, 0);
	}
	each_counter_is_right();
}
END_TEST

/*
 * pmu-vice-rdpmc=on: whoever executes it dies, and nobody can find out before. So root says that
 * nobody does, and a page tells its reader to ask the kernel.
 */
START_TEST(no_rdpmc_in_user_mode)
{
	const struct perfctr_page *page;
	uint64_t value[2];
	int fd;

	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "off"), 0);
	fd = count_event(EV_INSTRUCTIONS);
	page = map_page(fd);
	ck_assert_int_lt(exact_inline(page, 0, body_spin, LOOPS, value), 0);
	counts_instructions(fd, 0);
	unmap_page(page);
	unlink_self(fd);
	close(fd);
}
END_TEST

START_TEST(each_counter)
{
	each_counter_is_right();
}
END_TEST

/* --- */

static bool vice_is(const char *name)
{
	const char *vice = getenv("VICE");

	return !strcmp(vice ? vice : "none", name);
}

static void run_all(void)
{
	if (vice_is("none") || vice_is("bare")) {
		vices_written(vice_is("bare"));
	} else if (vice_is("counts")) {
		GUEST_RUN(bus_cycles_are_slower, NEEDS | AS_USER);
		GUEST_RUN(an_instruction_for_each_interrupt, NEEDS | AS_USER);
	} else if (vice_is("sandybridge")) {
		GUEST_RUN(an_event_of_one_counter, NEEDS | AS_USER);
	} else if (vice_is("icelake")) {
		GUEST_RUN(events_of_four_counters, NEEDS | AS_USER);
	} else if (vice_is("drop")) {
		GUEST_RUN(dropped_writes, NEEDS | AS_USER);
	} else if (vice_is("drop-beside")) {
		GUEST_RUN(dropped_writes_beside, NEEDS);
	} else if (vice_is("filter-beside")) {
		GUEST_RUN(filtered_instructions_beside, NEEDS);
	} else if (vice_is("fault")) {
		GUEST_RUN(faulting_writes, NEEDS | AS_USER);
	} else if (vice_is("filter")) {
		GUEST_RUN(filtered_instructions, NEEDS);
		GUEST_RUN(filtered_beside_the_watchdog, NEEDS);
		GUEST_RUN(registers_that_are_not_set, NEEDS);
	} else if (vice_is("drop-global") || vice_is("filter-all")) {
		GUEST_RUN(no_counters, NEEDS);
	} else if (vice_is("freeze-2") || vice_is("freeze-4")) {
		GUEST_RUN(freeze_found_set, NEEDS);
	} else if (vice_is("smi-select") || vice_is("smi-global")) {
		GUEST_RUN(rewritten, NEEDS | AS_USER);
	} else if (vice_is("firmware")) {
		GUEST_RUN(firmware_forgot_a_counter, NEEDS);
	} else if (vice_is("firmware-returns")) {
		GUEST_RUN(firmware_takes_a_counter_back, NEEDS);
	} else if (vice_is("slots")) {
		GUEST_RUN(slots_without_metrics, NEEDS | AS_USER);
	} else if (vice_is("ht")) {
		GUEST_RUN(events_that_spoil_the_sibling, NEEDS | AS_USER);
		GUEST_RUN(a_sibling_that_spoils, NEEDS);
		GUEST_RUN(each_counter, NEEDS | AS_USER);
	} else if (vice_is("nehalem")) {
		GUEST_RUN(each_counter, NEEDS | AS_USER);
		GUEST_RUN(events_change_all_the_time, NEEDS | AS_USER);
		GUEST_RUN(overflows, NEEDS | AS_USER);
	} else if (vice_is("tfa")) {
		GUEST_RUN(a_counter_of_microcode, NEEDS | AS_USER);
	} else if (vice_is("late")) {
		GUEST_RUN(late_overflows, NEEDS | AS_USER);
	} else if (vice_is("vpmu")) {
		GUEST_RUN(two_counters, NEEDS | AS_USER);
		GUEST_RUN(overflows, NEEDS | AS_USER);
	} else if (vice_is("version-2")) {
		GUEST_RUN(no_registers_of_events, NEEDS | AS_USER);
	} else if (vice_is("rdpmc")) {
		GUEST_RUN(no_rdpmc_in_user_mode, NEEDS);
	}
}

int main(void)
{
	guest_begin("vices", NULL);
	/* The CPU whose registers are written to */
	pin_self(0);
	run_all();
	return guest_end();
}
