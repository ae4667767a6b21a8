// SPDX-License-Identifier: GPL-2.0
/* The parameter measure: what the module logs as it is loaded, and that it changes nothing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "kit/registers.h"

#define WATCHDOG "/proc/sys/kernel/nmi_watchdog"
#define LOOPS 1000ul
#define BUSY "cost not measured: perf_events or the NMI watchdog has the counters\n"

static char kernel_log[16384];

/* Loads the module afresh, and keeps what the kernel logs meanwhile, a record in a line. */
static void load_and_listen(const char *params)
{
	char record[4096];
	size_t used = 0;
	ssize_t len;
	int kmsg, err;

	err = module_unload_patiently();
	ck_assert_msg(!err || err == -ENOENT, "rmmod: %s", strerror(-err));
	ck_ok(kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	ck_ok(lseek(kmsg, 0, SEEK_END));
	ck_assert_int_eq(module_load(params), 0);
	while ((len = read(kmsg, record, sizeof(record) - 1)) > 0) {
		const char *text;

		record[len] = '\0';
		text = strchr(record, ';');
		ck_assert_ptr_nonnull(text);
		used += (size_t)snprintf(kernel_log + used, sizeof(kernel_log) - used, "%.*s\n",
					 (int)strcspn(text + 1, "\n"), text + 1);
		ck_assert_uint_lt(used, sizeof(kernel_log));
	}
	kernel_log[used] = '\0';
	close(kmsg);
}

static unsigned int times(const char *words)
{
	const char *found = kernel_log;
	unsigned int n = 0;

	while ((found = strstr(found, words))) {
		found += strlen(words);
		n++;
	}
	return n;
}

static bool has_global_ctrl(void)
{
	return guest.nprogrammable && msr_global_ctrl();
}

/* One line for @what, with a possible cost; or none, unless @there. */
static void line_of(const char *what, bool there)
{
	char words[64];
	const char *found;
	uint64_t cycles;
	char *end;

	(void)snprintf(words, sizeof(words), "perfctr: cost of %s: ", what);
	ck_assert_msg(times(words) == there, "%u times \"%s\" in: %s", times(words), words,
		      kernel_log);
	if (!there)
		return;
	found = strstr(kernel_log, words) + strlen(words);
	cycles = strtoull(found, &end, 10);
	ck_assert_msg(!strncmp(end, " cycles\n", 8), "%s%s", words, found);
	/* Without an instruction clock the batch may be faster than the empty one. */
	ck_assert_msg((cycles > 0 || !guest.nprogrammable) && cycles < 1000000,
		      "%s: %" PRIu64, what, cycles);
}

static void all_lines(bool write_counter)
{
	bool counters = guest.nprogrammable || is_modeless(), global_ctrl = has_global_ctrl();
	/* The Pentium's APIC has no such entry, and without MMX it has no RDPMC. */
	bool lvtpc = counters && !is_pentium();
	bool rdpmc = counters && guest.info.cpu_type != PERFCTR_X86_INTEL_P5;

	line_of("RDTSC", true);
	line_of("CR4 read", true);
	line_of("CR4 write", true);
	line_of("RDPMC", rdpmc);
	line_of("RDMSR of a counter", counters);
	line_of("WRMSR of a counter", counters && write_counter);
	line_of("WRMSR of an event select", counters);
	line_of("WRMSR of GLOBAL_CTRL", counters && global_ctrl);
	line_of("LVTPC write", lvtpc);
	ck_assert_uint_eq(times("perfctr: cost"),
			  counters ? 5u + rdpmc + write_counter + global_ctrl + lvtpc : 3u);
}

/* One line says why, and nothing is measured. */
static void not_measured(const char *why)
{
	ck_assert_uint_eq(times("perfctr: cost"), 1);
	ck_assert_msg(times(why) == 1, "no \"%s\" in: %s", why, kernel_log);
	ck_assert_uint_eq(times("perfctr: GLOBAL_CTRL=0"), 0);
}

static void perf_is_exact(int perf)
{
	uint64_t words[2];

	ck_assert_int_eq(exact_read(perf, words, sizeof(words[0]), body_spin, LOOPS),
			 sizeof(words[0]));
	ck_assert_uint_eq(words[1] - words[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
}

static void we_are_exact(void)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	int fd = count_event(EV_INSTRUCTIONS);

	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ, rd, body_spin, LOOPS), 0);
	ck_assert_uint_eq(rd[1].sum[0] - rd[0].sum[0], EXACT_KERNEL + BODY_SPIN(LOOPS));
	unlink_self(fd);
	close(fd);
}

struct all {
	unsigned int n;
	uint32_t msr[64];
	uint64_t value[64];
};

static void keep(struct all *all, uint32_t msr)
{
	all->msr[all->n] = msr;
	ck_assert_msg(rdmsr(msr, &all->value[all->n++]), "RDMSR %#x", msr);
}

static void keep_all(struct all *all)
{
	unsigned int i;

	all->n = 0;
	for (i = 0; i < guest.nprogrammable; i++) {
		keep(all, msr_evntsel(i));
		keep(all, msr_perfctr(i));
	}
	for (i = 0; guest.info.counters >> (24 + i); i++)
		keep(all, MSR_FIXED_CTR0 + i);
	if (i)
		keep(all, MSR_FIXED_CTRL);
	if (has_global_ctrl())
		keep(all, msr_global_ctrl());
}

/* What each register held, whatever was done to it afterwards */
static void says_what_was_held(const struct all *all)
{
	char words[80];
	unsigned int i;

	ck_assert_uint_eq(times("perfctr: at load, CPU 0:\n"), 1);
	for (i = 0; i < all->n; i++) {
		(void)snprintf(words, sizeof(words), "perfctr: at load MSR 0x%x: 0x%" PRIx64 "\n",
			       all->msr[i], all->value[i]);
		ck_assert_msg(times(words) == 1, "no \"%s\" in: %s", words, kernel_log);
	}
}

/*
 * The module counts by each counter as it is loaded. A general-purpose counter that cannot be given
 * all of its bits is zero afterwards if its value has more than 31 and a sign. Those which can are in
 * processors with a global control; elsewhere QEMU reads the register as zero.
 */
static void forget_what_cannot_be_written(struct all *all)
{
	uint64_t mask = UINT64_MAX >> (64 - guest.info.width), value;
	unsigned int i;

	for (i = 0; i < all->n; i++)
		if (all->msr[i] - MSR_PMC0 < guest.nprogrammable &&
		    !(has_global_ctrl() && rdmsr(MSR_FULL_PMC0, &value)) &&
		    all->value[i] != ((uint64_t)(int32_t)all->value[i] & mask))
			all->value[i] = 0;
}

static void measured_without_a_trace(bool write_counter)
{
	struct all before, after;

	keep_all(&before);
	load_and_listen("measure=1");
	keep_all(&after);
	all_lines(write_counter);
	says_what_was_held(&before);
	/* The emulated processor stops at once. */
	ck_assert_uint_eq(times("perfctr: GLOBAL_CTRL=0: 0 instructions counted after it\n"),
			  has_global_ctrl() && write_counter);
	forget_what_cannot_be_written(&before);
	ck_assert_mem_eq(before.value, after.value, before.n * sizeof(before.value[0]));
}

/* --- the tests --- */

START_TEST(not_unless_asked)
{
	load_and_listen(NULL);
	ck_assert_uint_eq(times("perfctr: cost"), 0);
	load_and_listen("measure=0");
	ck_assert_uint_eq(times("perfctr: cost"), 0);
}
END_TEST

/* Also without counters */
START_TEST(a_line_for_each)
{
	char text[16];

	load_and_listen("measure=1");
	if (guest.info.cpu_features & PERFCTR_FEATURE_RDTSC)
		all_lines(true);
	else
		not_measured("cost not measured: there is no time-stamp counter\n");
	ck_assert_int_gt(read_text(MODULE_PARAMS "measure", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "Y\n");
}
END_TEST

/* Registers keep their values, except one that cannot be written back. */
START_TEST(registers_as_before)
{
	unsigned int last = guest.nprogrammable - 1, i;
	uint64_t ctrl = 0, value = 0;

	open_registers();
	ck_assert_int_eq(module_unload_patiently(), 0);
	measured_without_a_trace(true);

	/* On the P6 perf leaves the enable bit set, and it is one for both counters. */
	ck_assert(wrmsr(msr_evntsel(0), 0));
	ck_assert(wrmsr(msr_perfctr(last), 0x12345678));
	ck_assert(wrmsr(msr_evntsel(last), evntsel_of(last, EV_INSTRUCTIONS, false)));
	measured_without_a_trace(true);
	/* Intel's extend the sign of 32 bits, AMD's take all of their bits. */
	ck_assert(wrmsr(msr_perfctr(last), UINT64_C(0xffffffff87654321)));
	if (has_global_ctrl()) {
		ck_assert(rdmsr(msr_global_ctrl(), &ctrl));
		ck_assert(wrmsr(msr_global_ctrl(), 2));
		measured_without_a_trace(true);
		ck_assert(wrmsr(msr_global_ctrl(), 3));
	}
	measured_without_a_trace(true);

	/* Counted beyond 31 bits, but not up to the width: 32 bits cannot write that back. */
	ck_assert(wrmsr(msr_perfctr(last), 0x7fffffff));
	if (has_global_ctrl())
		ck_assert(wrmsr(msr_global_ctrl(), UINT64_C(1) << last));
	for (i = 0; i <= last; i++)
		ck_assert(wrmsr(msr_evntsel(i), i == last ? evntsel_of(i, EV_INSTRUCTIONS, true) :
				is_pentium() ? 0 : EVNTSEL_EN));
	for (i = 0; i <= last; i++)
		ck_assert(wrmsr(msr_evntsel(i), 0));
	ck_assert(rdmsr(msr_perfctr(last), &value));
	ck_assert_uint_ge(value, UINT64_C(0x80000000));
	ck_assert_uint_lt(value, UINT64_C(0x100000000));
	measured_without_a_trace(false);

	ck_assert(wrmsr(msr_perfctr(last), 0));
	if (has_global_ctrl())
		ck_assert(wrmsr(msr_global_ctrl(), ctrl));
}
END_TEST

/* Nobody is refused afterwards, and the local APIC delivers interrupts. */
START_TEST(all_is_given_back)
{
	struct perf_sampling sampling;
	int perf;

	load_and_listen("measure=1");
	ck_ok(perf = perf_open_self(EV_INSTRUCTIONS));
	perf_is_exact(perf);
	close(perf);
	we_are_exact();
	load_and_listen("measure=1");
	if (guest.samples) {
		ck_assert(perf_sampling_begin(&sampling, EV_CYCLES, 100000));
		body_spin(1000000);
		ck_assert_uint_ge(perf_sampling_end(&sampling), 15);
	}
	we_are_exact();
}
END_TEST

START_TEST(perf_has_the_counters)
{
	int perf;

	/* perf has the counters before and after the module is loaded. */
	ck_ok(perf = perf_open_self(EV_INSTRUCTIONS));
	perf_is_exact(perf);
	load_and_listen("measure=1");
	perf_is_exact(perf);
	not_measured(BUSY);
	ck_assert_uint_eq(times("perfctr: at load"), 0);
	close(perf);
	we_are_exact();
}
END_TEST

START_TEST(the_watchdog_has_the_counters)
{
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(write_text(WATCHDOG, "1"), 0);
	load_and_listen("measure=1");
	ck_assert_int_eq(write_text(WATCHDOG, "0"), 0);
	not_measured(BUSY);
	we_are_exact();
	load_and_listen("measure=1");
	all_lines(true);
}
END_TEST

/* The firmware counts an event that does not exist, so its registers stand still. */
START_TEST(the_firmware_has_the_counters)
{
	struct all before, after;

	open_registers();
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert(wrmsr(msr_evntsel(0), evntsel_of(0, 0, true)));
	keep_all(&before);
	load_and_listen("measure=1");
	keep_all(&after);
	ck_assert(wrmsr(msr_evntsel(0), 0));
	not_measured("cost not measured: the firmware has the counters\n");
	says_what_was_held(&before);
	ck_assert_mem_eq(before.value, after.value, before.n * sizeof(before.value[0]));
	we_are_exact();
}
END_TEST

int main(void)
{
	guest_begin("measure", NULL);
	/* The CPU whose registers are looked at */
	pin_self(0);
	GUEST_RUN(not_unless_asked, NEED_X86 | LOG_MODULE);
	GUEST_RUN(a_line_for_each, NEED_X86 | LOG_MODULE);
	/* A Pentium 4's count by registers that are not looked at here; its unit test does. */
	GUEST_RUN(registers_as_before, NEED_X86 | NEED_COUNTERS | (is_p4() ? NEED_EVNTSEL : 0) |
		  LOG_MODULE);
	GUEST_RUN(all_is_given_back, NEED_X86 | NEED_COUNTERS | NEED_PERF | LOG_MODULE);
	GUEST_RUN(perf_has_the_counters, NEED_X86 | NEED_COUNTERS | NEED_PERF | LOG_MODULE);
	GUEST_RUN(the_watchdog_has_the_counters, NEED_X86 | NEED_COUNTERS | NEED_PERF | LOG_MODULE);
	GUEST_RUN(the_firmware_has_the_counters, NEED_X86 | NEED_COUNTERS | LOG_MODULE);
	return guest_end();
}
