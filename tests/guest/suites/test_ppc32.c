// SPDX-License-Identifier: GPL-2.0
/*
 * PowerPC: perfctr 2.6's control, whose modes, interrupts and thresholds are bits of MMCR0 and
 * MMCR2, and whose i-mode counters begin from a positive number.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "libperfctr.h"
#include "kit/loops.h"

#if defined(__powerpc__)

#define LOOPS		10000ul
#define FCS		0x40000000u
#define FCP		0x20000000u
#define PMXE		0x04000000u
#define THRESHOLD(n)	((n) << 16)
#define PMC1CE		0x00008000u
#define PMCNCE		0x00004000u
#define TRIGGER		0x00002000u
#define FCECE		0x02000000u
#define TBEE		0x00400000u
#define TBSEL_BIT16	0x01800000u	/* of the time base, counted from its end */
#define TB_BIT		0x00010000u
#define THRESHMULT	0x80000000u

static struct vperfctr *v;

static void instructions(struct vperfctr_control *control, unsigned int mmcr0)
{
	memset(control, 0, sizeof(*control));
	control->cpu_control.tsc_on = 1;
	control->cpu_control.nractrs = 1;
	control->cpu_control.pmc_map[0] = PERFCTR_MAP_ANY;
	control->cpu_control.evntsel[0] = EV_INSTRUCTIONS;
	control->cpu_control.ppc.mmcr0 = mmcr0;
	if (!v)
		v = vperfctr_open();
	ck_assert_ptr_nonnull(v);
}

/* What a loop and two reads count by the control that is in force, less what @before has */
static uint64_t loop(void)
{
	uint64_t before = vperfctr_read_pmc(v, 0);

	body_spin(LOOPS);
	sched_yield();
	return vperfctr_read_pmc(v, 0) - before;
}

static const struct {
	unsigned int mmcr0;
	unsigned int flags;
} modes[] = {
	{ 0, PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL },
	{ FCS, PERFCTR_CTR_USER },
	{ FCP, PERFCTR_CTR_KERNEL },
};

START_TEST(freeze_bits_are_modes)
{
	struct vperfctr_control control, again;
	struct perfctr_control native;
	uint64_t user, count;
	unsigned int i;

	instructions(&control, FCS);
	ck_ok(vperfctr_control(v, &control));
	user = loop();
	ck_assert_uint_ge(user, BODY_SPIN(LOOPS));
	ck_assert_uint_lt(user, BODY_SPIN(LOOPS) + 1000);
	for (i = 0; i < 3; i++) {
		instructions(&control, modes[i].mmcr0);
		ck_ok(vperfctr_control(v, &control));
		memset(&native, 0, sizeof(native));
		ck_ok(vperfctr_read_control_native(v, &native));
		ck_assert_uint_eq(native.ctr[0].flags, modes[i].flags);
		ck_assert_uint_eq(native.ctr[0].config, 0);
		ck_ok(vperfctr_read_state(v, NULL, &again));
		ck_assert_uint_eq(again.cpu_control.ppc.mmcr0, modes[i].mmcr0);
		count = loop();
		if (modes[i].flags == PERFCTR_CTR_USER)
			ck_assert_uint_lt(count, user + 1000);
		else if (modes[i].flags == PERFCTR_CTR_KERNEL)
			ck_assert_uint_lt(count, BODY_SPIN(LOOPS));
		else
			ck_assert_uint_gt(count, user + 100);
	}
	/* None at all */
	instructions(&control, FCS | FCP);
	ck_errno(vperfctr_control(v, &control), EINVAL);
}
END_TEST

START_TEST(kernel_mode_is_frozen_out)
{
	struct vperfctr_control control, again;
	uint64_t count;

	/* As a program of 2.6's that counted both */
	instructions(&control, 0);
	ck_ok(vperfctr_control(v, &control));
	count = loop();
	ck_assert_uint_ge(count, BODY_SPIN(LOOPS));
	ck_assert_uint_lt(count, BODY_SPIN(LOOPS) + 1000);
	ck_ok(vperfctr_read_state(v, NULL, &again));
	ck_assert_uint_eq(again.cpu_control.ppc.mmcr0, FCS);
	/* The kernel alone is another matter. */
	instructions(&control, FCP);
	ck_errno(vperfctr_control(v, &control), EACCES);
}
END_TEST

START_TEST(other_bits_are_kept)
{
	bool has_mmcr2 = guest.info.cpu_type >= PERFCTR_PPC_7400;
	struct vperfctr_control control, again;

	instructions(&control, FCS | THRESHOLD(63u));
	control.cpu_control.ppc.mmcr2 = has_mmcr2 ? THRESHMULT : 0;
	ck_ok(vperfctr_control(v, &control));
	ck_ok(vperfctr_read_state(v, NULL, &again));
	ck_assert_uint_eq(again.cpu_control.ppc.mmcr0, FCS | THRESHOLD(63u));
	ck_assert_uint_eq(again.cpu_control.ppc.mmcr2, control.cpu_control.ppc.mmcr2);
	control.cpu_control.ppc.mmcr2 = has_mmcr2 ? THRESHMULT >> 1 : THRESHMULT;
	ck_errno(vperfctr_control(v, &control), EINVAL);
	/* Without i-mode counters nothing may interrupt. */
	instructions(&control, FCS | PMXE);
	ck_errno(vperfctr_control(v, &control), EINVAL);
	/* What was refused has changed nothing. */
	ck_ok(vperfctr_read_state(v, NULL, &again));
	ck_assert_uint_eq(again.cpu_control.ppc.mmcr0, FCS | THRESHOLD(63u));
	ck_assert_uint_ge(loop(), BODY_SPIN(LOOPS));
}
END_TEST

/*
 * Sessions, whose MMCR0 the processor changes by itself: as a counter becomes negative or, which takes
 * less time here, as a bit of the time base becomes 1. Only 74xx do so by that bit without an exception.
 */

static bool changes_by_time(void)
{
	return guest.info.cpu_type >= PERFCTR_PPC_7400;
}

static void wait_for_bit(void)
{
	while (perfctr_timebase() & TB_BIT)
		;
	while (!(perfctr_timebase() & TB_BIT))
		;
}

/* Of the loop each of the two counters counts all, or nothing. */
static void session_counts(int fd, bool first, bool second)
{
	const uint64_t all = EXACT_KERNEL + BODY_SPIN(LOOPS);
	struct perfctr_read space[2] = {};
	struct perfctr_read_cpu *rd[2] = { (void *)&space[0], (void *)&space[1] };
	unsigned int i;

	for (i = 0; i < 2; i++)
		rd[i]->size = sizeof(*rd[i]);
	ck_assert_int_eq(exact_kernel(fd, PERFCTR_IOC_READ_CPU, space, body_spin, LOOPS), 0);
	ck_assert_uint_eq(rd[1]->sum[0] - rd[0]->sum[0], first ? all : 0);
	ck_assert_uint_eq(rd[1]->sum[1] - rd[0]->sum[1], second ? all : 0);
}

/* Until the bit of the time base, and from there on, over a stop or none. A new control begins anew. */
static void session_by(unsigned int mmcr0, bool second_until, bool both_then)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = PERFCTR_OPEN_CPUS };
	struct perfctr_control control;
	int fd = open_device();
	unsigned int i;

	/* Where everybody can read the registers that is the condition. */
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "open"), 0);
	ck_ok(ioctl(fd, PERFCTR_IOC_OPEN, &o));
	control_init(&control);
	control.flags = PERFCTR_CONTROL_CPU;
	control.source = PERFCTR_SOURCE_NATIVE;
	control_add_at(&control, 0, EV_INSTRUCTIONS, PERFCTR_CTR_USER);
	control_add_at(&control, 1, EV_CYCLES, PERFCTR_CTR_USER);
	for (i = 0; i < 2; i++)
		control.ctr[i].config = mmcr0 | (changes_by_time() ? TBEE | TBSEL_BIT16 : 0);
	make_realtime();
	for (i = 0; i < 2; i++) {
		set_control(fd, &control);
		wait_for_bit();
		ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
		session_counts(fd, true, second_until);
		session_counts(fd, true, second_until);
		if (changes_by_time()) {
			wait_for_bit();
			/* A read would notice it as well. */
			if (i) {
				ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
				ck_ok(ioctl(fd, PERFCTR_IOC_RESUME));
			}
			session_counts(fd, both_then, both_then);
		}
		ck_ok(ioctl(fd, PERFCTR_IOC_SUSPEND));
	}
	close(fd);
	ck_assert_int_eq(write_text(MODULE_PARAMS "user_read", "guarded"), 0);
}

/* PMC2 waits until the processor clears the bit. */
START_TEST(session_with_trigger)
{
	session_by(TRIGGER, false, true);
}
END_TEST

/* The processor sets FC. */
START_TEST(session_that_freezes)
{
	session_by(FCECE, true, false);
}
END_TEST

static const int begins[] = { 0, 1, 0x40000000, 0x7ffffffe, 0x7fffffff };

START_TEST(iresets_begin_from)
{
	struct vperfctr_control control, again;
	struct perfctr_control native;
	unsigned int i;

	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		instructions(&control, FCS | PMXE | PMC1CE | PMCNCE);
		/* Nothing of it happens here. */
		control.cpu_control.evntsel[0] = 0;
		control.cpu_control.nractrs = 0;
		control.cpu_control.nrictrs = 1;
		control.si_signo = SIGUSR1;
		control.cpu_control.ireset[0] = begins[i];
		ck_ok(vperfctr_control(v, &control));
		memset(&native, 0, sizeof(native));
		ck_ok(vperfctr_read_control_native(v, &native));
		ck_assert_int_eq(native.ctr[0].ireset, begins[i] - 0x80000000ll);
		ck_ok(vperfctr_read_state(v, NULL, &again));
		ck_assert_int_eq(again.cpu_control.ireset[0], begins[i]);
		ck_assert_uint_eq(again.cpu_control.ppc.mmcr0, FCS | PMXE);
	}
	control.cpu_control.ireset[0] = -1;
	ck_errno(vperfctr_control(v, &control), EINVAL);
	control.cpu_control.ireset[0] = INT_MIN;
	ck_errno(vperfctr_control(v, &control), EINVAL);
	ck_ok(vperfctr_read_state(v, NULL, &again));
	ck_assert_int_eq(again.cpu_control.ireset[0], 0x7fffffff);
}
END_TEST

int main(void)
{
	guest_begin("ppc32", NULL);
	GUEST_RUN(freeze_bits_are_modes, NEED_COUNTERS | NEED_NATIVE);
	GUEST_RUN(kernel_mode_is_frozen_out, NEED_COUNTERS | NEED_NATIVE | AS_USER);
	GUEST_RUN(other_bits_are_kept, NEED_COUNTERS | NEED_NATIVE | AS_USER);
	GUEST_RUN(iresets_begin_from, NEED_INTERRUPT | NEED_NATIVE | AS_USER);
	GUEST_RUN(session_with_trigger, NEED_COUNTERS | NEED_NATIVE);
	if (changes_by_time())
		GUEST_RUN(session_that_freezes, NEED_COUNTERS | NEED_NATIVE);
	return guest_end();
}

#else

int main(void)
{
	guest_begin("ppc32", NULL);
	return guest_end();
}

#endif
