// SPDX-License-Identifier: GPL-2.0
/* Bad input of CONTROL, as in test_abi.c; and whose control it is. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/abi.h"

#define BOTH (PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

/* --- CONTROL --- */

/* One way to spoil a good control, and the error that it gets */
struct spoiled {
	const char *how;
	void (*spoil)(struct perfctr_control *control);
	int err;
	bool counters;		/* makes sense only if there are counters */
	uint32_t refused;	/* the counter that is blamed */
};

#define SPOIL(name, statement) \
static void spoil_ ## name(struct perfctr_control *control) { statement; }

SPOIL(size_zero, control->size = 0)
SPOIL(size_one_byte, control->size = 1)
SPOIL(size_short, control->size = CONTROL_SIZE(0) - 8)
SPOIL(size_no_room, control->size = CONTROL_SIZE(control->nractrs - 1))
SPOIL(size_half_a_counter, control->size = CONTROL_SIZE(control->nractrs) - 4)
SPOIL(size_giant, control->size = 0xffffffff)
SPOIL(offset_short, control->ctr_offset = PERFCTR_CONTROL_SIZE_VER0 - 8)
SPOIL(offset_zero, control->ctr_offset = 0)
SPOIL(offset_odd, control->ctr_offset += 4)
SPOIL(offset_beyond, control->ctr_offset = control->size + 8)
SPOIL(offset_wraps, control->ctr_offset = 0xfffffff8)
SPOIL(stride_short, control->ctr_size = PERFCTR_CTR_CONTROL_SIZE_VER0 - 8)
SPOIL(stride_zero, control->ctr_size = 0)
SPOIL(stride_odd, control->ctr_size += 4)
SPOIL(stride_beyond, control->ctr_size = (control->size - CONTROL_SIZE(0)) / 2 + 8)
SPOIL(stride_wraps, control->ctr_size = 0x80000000)
SPOIL(flags, control->flags = 1u << 30)
SPOIL(flags_top, control->flags = 0x80000000)
SPOIL(tsc_on_two, control->tsc_on = 2)
SPOIL(nractrs_too_many, control->nractrs = PERFCTR_MAX_CTRS + 1)
SPOIL(nractrs_giant, control->nractrs = 0xffffffff)
SPOIL(nractrs_wraps, control->nractrs = 0xffffffff; control->nrictrs = 3)
SPOIL(nrictrs_one, control->nractrs--; control->nrictrs = 1)
SPOIL(signo, control->si_signo = SIGUSR1)
SPOIL(signo_bad, control->si_signo = -1)
SPOIL(preserve_beyond, control->preserve = 1ull << 32)
SPOIL(preserve_top, control->preserve = 1ull << 63)
SPOIL(refresh, control->refresh = 1)
SPOIL(refresh_top, control->refresh = 1ull << 63)
SPOIL(reserved0, control->reserved0 = 1)
SPOIL(timer_ns, control->timer_ns = PERFCTR_TIMER_MIN)
SPOIL(record, control->flags |= PERFCTR_CONTROL_RECORD)
SPOIL(reserved, control->reserved[0] = 1)
SPOIL(reserved_last, control->reserved[4] = 1ull << 63)
SPOIL(cpu_without_flag, control->cpu = 1)
SPOIL(cpu_impossible, control->flags |= PERFCTR_CONTROL_CPU; control->cpu = 0xffffffff)
SPOIL(cpu_high, control->flags |= PERFCTR_CONTROL_CPU; control->reserved0 = 0x80000000)
SPOIL(source, control->source = PERFCTR_SOURCE_ANY + 1)
SPOIL(ctr_flags_none, control->ctr[0].flags = 0)
SPOIL(ctr_flags_unknown, control->ctr[0].flags = 8 | PERFCTR_CTR_USER)
SPOIL(ctr_flags_top, control->ctr[1].flags |= 0x80000000)
SPOIL(ctr_reserved, control->ctr[0].reserved[0] = 1)
SPOIL(ctr_reserved_last, control->ctr[1].reserved[1] = 1ull << 40)
SPOIL(ctr_config1, control->ctr[0].config1 = 1)
SPOIL(ctr_config2, control->ctr[1].config2 = 1ull << 63)
SPOIL(ireset, control->ctr[0].ireset = -1)
SPOIL(config, control->ctr[0].config = 1)
SPOIL(map_beyond, control->ctr[0].map = 32)
SPOIL(map_giant, control->ctr[0].map = 0xfffffffe)
SPOIL(event_missing, control->ctr[0].event = EV_MISSING)
SPOIL(event_high, control->ctr[0].event = 1ull << 36 | EV_INSTRUCTIONS)
SPOIL(event_top, control->ctr[0].event = 1ull << 63 | EV_INSTRUCTIONS)
SPOIL(event_last_counter, control->ctr[1].event = EV_MISSING)
#if defined(__x86_64__) || defined(__i386__)
/* Of a Pentium 4's CCCR these are a filter, and bits 10 to 0 are reserved. */
#define RESERVED(bit)	(is_p4() ? 1u << (bit) % 11 : 1u << (bit))
SPOIL(map_missing, control->ctr[0].map = 23)
SPOIL(map_missing_fixed, control->ctr[0].map = 31)
SPOIL(map_rdpmc, control->ctr[0].map = 0x40000000)
SPOIL(map_twice, control->ctr[0].map = 1; control->ctr[1].map = 1)
SPOIL(map_fixed_twice, control->ctr[0].map = 25; control->ctr[1] = control->ctr[0])
SPOIL(map_instructions_cycles, control->ctr[0].map = 24; control->ctr[0].event = EV_CYCLES)
SPOIL(map_cycles_instructions, control->ctr[0].map = 25; control->ctr[0].event = EV_INSTRUCTIONS)
SPOIL(map_reference_cycles, control->ctr[0].map = 26; control->ctr[0].event = EV_CYCLES)
SPOIL(map_fixed_edge, control->ctr[0].map = 25; control->ctr[0].event = EV_CYCLES | 1u << 18)
SPOIL(map_fixed_mask, control->ctr[0].map = 25; control->ctr[0].event = EV_CYCLES | 1u << 24)
SPOIL(event_usr_alone, control->ctr[0].event |= 1u << 16)
SPOIL(event_enabled_alone, control->ctr[0].event |= RESERVED(22))
SPOIL(event_os_too, control->ctr[0].event |= 1u << 16 | 1u << 17 | 1u << 22)
SPOIL(event_interrupts, control->ctr[0].event |= 1u << 16 | 1u << 20 | 1u << 22)
SPOIL(event_pin_control, control->ctr[0].event |= RESERVED(19))
SPOIL(event_any_thread, control->ctr[0].event |= RESERVED(21))
SPOIL(event_guest_only, control->ctr[0].event |= 1ull << 40)
SPOIL(event_host_only, control->ctr[0].event |= 1ull << 41)
#elif defined(__powerpc__)
/* Both registers are of the control as a whole. */
#define CONFIG(bits) control->ctr[0].config = (bits), control->ctr[1].config = (bits)
SPOIL(map_missing, control->ctr[0].map = 6)
SPOIL(map_far, control->ctr[0].map = 64)
SPOIL(map_twice, control->ctr[0].map = 1; control->ctr[1].map = 1)
SPOIL(event_far_on_second, control->ctr[1].map = 1; control->ctr[1].event = 64)
SPOIL(event_far_on_third, control->ctr[0].map = 2; control->ctr[0].event = 32)
SPOIL(event_of_one_counter, control->ctr[0].event = 23)
SPOIL(modes_differ, control->ctr[1].flags |= PERFCTR_CTR_KERNEL)
SPOIL(registers_differ, control->ctr[1].config = 1u << 16)
SPOIL(mmcr0_fc, CONFIG(1u << 31))
SPOIL(mmcr0_fcs, CONFIG(1u << 30))
SPOIL(mmcr0_fcp, CONFIG(1u << 29))
SPOIL(mmcr0_pmxe, CONFIG(1u << 26))
SPOIL(mmcr0_pmc1sel, CONFIG(1u << 6))
SPOIL(mmcr0_pmc2sel, CONFIG(1u << 5))
SPOIL(mmcr2_smcntenable, CONFIG(1ull << 62))
SPOIL(mmcr2_smintenable, CONFIG(1ull << 61))
SPOIL(mmcr2_last, CONFIG(1ull << 32))
#else
SPOIL(map_time, control->ctr[0].map = 1)
SPOIL(map_missing, control->ctr[0].map = 31)
SPOIL(map_far, control->ctr[0].map = 64)
SPOIL(map_twice, control->ctr[0].map = 5; control->ctr[1].map = 5)
SPOIL(map_cycle_instructions, control->ctr[0].map = 0; control->ctr[0].event = EV_INSTRUCTIONS)
SPOIL(map_instret_cycles, control->ctr[0].map = 2; control->ctr[0].event = EV_CYCLES)
SPOIL(map_instret_tlb, control->ctr[0].map = 2; control->ctr[0].event = EV_DTLB_LOAD_MISSES)
SPOIL(event_none, control->ctr[0].event = 0)
SPOIL(event_hw_undefined, control->ctr[0].event = 11)
SPOIL(event_hw_far, control->ctr[0].event = 0xffff)
SPOIL(event_cache_missing, control->ctr[0].event = 0x10001)
SPOIL(event_cache_undefined, control->ctr[0].event = 0x10000 | 7 << 3)
SPOIL(event_cache_bad_op, control->ctr[0].event = 0x10000 | 3 << 3 | 3 << 1)
SPOIL(event_cache_far, control->ctr[0].event = 0x1ffff)
SPOIL(event_raw_missing, control->ctr[0].event = 0x20000; control->ctr[0].config = 0x7777)
SPOIL(event_raw_code, control->ctr[0].event = 0x20001)
SPOIL(event_type_undefined, control->ctr[0].event = 0x40000)
SPOIL(event_type_undefined_last, control->ctr[0].event = 0xe0001)
SPOIL(event_firmware, control->ctr[0].event = 0xf0005)
SPOIL(event_beyond, control->ctr[0].event = 0x100000 | EV_INSTRUCTIONS)
#endif

/* @refused: not written; the whole control; the counter to blame */
#define UNTOLD 77
#define BAD_UNREAD(name, err, counters) { #name, spoil_ ## name, err, counters, UNTOLD }
#define BAD(name, err, counters) { #name, spoil_ ## name, err, counters, PERFCTR_NO_INDEX }
#define BAD_CTR(name, err, refused) { #name, spoil_ ## name, err, true, refused }

static const struct spoiled spoils[] = {
	BAD_UNREAD(size_zero, EINVAL, false),
	BAD_UNREAD(size_one_byte, EINVAL, false),
	BAD_UNREAD(size_short, EINVAL, false),
	BAD_UNREAD(size_no_room, EINVAL, true),
	BAD_UNREAD(size_half_a_counter, EINVAL, true),
	BAD_UNREAD(size_giant, E2BIG, false),
	BAD_UNREAD(offset_short, EINVAL, false),
	BAD_UNREAD(offset_zero, EINVAL, false),
	BAD_UNREAD(offset_odd, EINVAL, false),
	BAD_UNREAD(offset_beyond, EINVAL, false),
	BAD_UNREAD(offset_wraps, EINVAL, false),
	BAD_UNREAD(stride_short, EINVAL, false),
	BAD_UNREAD(stride_zero, EINVAL, false),
	BAD_UNREAD(stride_odd, EINVAL, false),
	BAD_UNREAD(stride_beyond, EINVAL, true),
	BAD_UNREAD(stride_wraps, EINVAL, true),
	BAD(flags, EINVAL, false),
	BAD(flags_top, EINVAL, false),
	BAD(tsc_on_two, EINVAL, false),
	BAD_UNREAD(nractrs_too_many, EINVAL, false),
	BAD_UNREAD(nractrs_giant, EINVAL, false),
	BAD_UNREAD(nractrs_wraps, EINVAL, false),
	BAD_CTR(nrictrs_one, EINVAL, 1),
	BAD(signo, EINVAL, false),
	BAD(signo_bad, EINVAL, false),
	BAD(reserved, EINVAL, false),
	BAD(reserved_last, EINVAL, false),
	BAD(reserved0, EINVAL, false),
	BAD(timer_ns, EINVAL, false),
	BAD(record, EINVAL, false),
	BAD(cpu_without_flag, EINVAL, false),
	BAD(cpu_impossible, EINVAL, false),
	BAD(cpu_high, EINVAL, false),
	BAD(source, EINVAL, false),
	BAD(preserve_beyond, EINVAL, false),
	BAD(preserve_top, EINVAL, false),
	BAD(refresh, EINVAL, false),
	BAD(refresh_top, EINVAL, false),
	BAD_CTR(ctr_flags_none, EINVAL, 0),
	BAD_CTR(ctr_flags_unknown, EINVAL, 0),
	BAD_CTR(ctr_flags_top, EINVAL, 1),
	BAD_CTR(ctr_reserved, EINVAL, 0),
	BAD_CTR(ctr_reserved_last, EINVAL, 1),
	BAD_CTR(ctr_config1, EINVAL, 0),
	BAD_CTR(ctr_config2, EINVAL, 1),
	BAD_CTR(ireset, EINVAL, 0),
	BAD_CTR(config, EINVAL, 0),
	BAD_CTR(map_beyond, EINVAL, 0),
	BAD_CTR(map_giant, EINVAL, 0),
	BAD_CTR(event_missing, EINVAL, 0),
	BAD_CTR(event_high, EINVAL, 0),
	BAD_CTR(event_top, EINVAL, 0),
	BAD_CTR(event_last_counter, EINVAL, 1),
#if defined(__x86_64__) || defined(__i386__)
	BAD_CTR(map_missing, EINVAL, 0),
	BAD_CTR(map_missing_fixed, EINVAL, 0),
	BAD_CTR(map_rdpmc, EINVAL, 0),
	BAD_CTR(map_twice, EINVAL, 1),
	BAD_CTR(map_fixed_twice, EINVAL, 1),
	BAD_CTR(map_instructions_cycles, EINVAL, 0),
	BAD_CTR(map_cycles_instructions, EINVAL, 0),
	BAD_CTR(map_reference_cycles, EINVAL, 0),
	BAD_CTR(map_fixed_edge, EINVAL, 0),
	BAD_CTR(map_fixed_mask, EINVAL, 0),
	BAD_CTR(event_usr_alone, EINVAL, 0),
	BAD_CTR(event_enabled_alone, EINVAL, 0),
	BAD_CTR(event_os_too, EINVAL, 0),
	BAD_CTR(event_interrupts, EINVAL, 0),
	BAD_CTR(event_pin_control, EINVAL, 0),
	BAD_CTR(event_any_thread, EINVAL, 0),
	BAD_CTR(event_guest_only, EINVAL, 0),
	BAD_CTR(event_host_only, EINVAL, 0),
#elif defined(__powerpc__)
	BAD_CTR(map_missing, EINVAL, 0),
	BAD_CTR(map_far, EINVAL, 0),
	BAD_CTR(map_twice, EINVAL, 1),
	BAD_CTR(event_far_on_second, EINVAL, 1),
	BAD_CTR(event_far_on_third, EINVAL, 0),
	BAD_CTR(event_of_one_counter, EINVAL, 0),
	BAD_CTR(modes_differ, EINVAL, 1),
	BAD_CTR(registers_differ, EINVAL, 1),
	BAD_CTR(mmcr0_fc, EINVAL, 0),
	BAD_CTR(mmcr0_fcs, EINVAL, 0),
	BAD_CTR(mmcr0_fcp, EINVAL, 0),
	BAD_CTR(mmcr0_pmxe, EINVAL, 0),
	BAD_CTR(mmcr0_pmc1sel, EINVAL, 0),
	BAD_CTR(mmcr0_pmc2sel, EINVAL, 0),
	BAD_CTR(mmcr2_smcntenable, EINVAL, 0),
	BAD_CTR(mmcr2_smintenable, EINVAL, 0),
	BAD_CTR(mmcr2_last, EINVAL, 0),
#else
	BAD_CTR(map_time, EINVAL, 0),
	BAD_CTR(map_missing, EINVAL, 0),
	BAD_CTR(map_far, EINVAL, 0),
	BAD_CTR(map_twice, EINVAL, 1),
	BAD_CTR(map_cycle_instructions, EINVAL, 0),
	BAD_CTR(map_instret_cycles, EINVAL, 0),
	BAD_CTR(map_instret_tlb, EINVAL, 0),
	BAD_CTR(event_none, EINVAL, 0),
	BAD_CTR(event_hw_undefined, EINVAL, 0),
	BAD_CTR(event_hw_far, EINVAL, 0),
	BAD_CTR(event_cache_missing, EINVAL, 0),
	BAD_CTR(event_cache_undefined, EINVAL, 0),
	BAD_CTR(event_cache_bad_op, EINVAL, 0),
	BAD_CTR(event_cache_far, EINVAL, 0),
	BAD_CTR(event_raw_missing, EINVAL, 0),
	BAD_CTR(event_raw_code, EINVAL, 0),
	BAD_CTR(event_type_undefined, EINVAL, 0),
	BAD_CTR(event_type_undefined_last, EINVAL, 0),
	BAD_CTR(event_firmware, EOPNOTSUPP, 0),
	BAD_CTR(event_beyond, EINVAL, 0),
#endif
};

/* Without fixed counters, as on the P6, the first counter that names one is to blame. */
static uint32_t blamed(const struct spoiled *spoiled)
{
	if (!strcmp(spoiled->how, "map_fixed_twice"))
		return guest.info.counters >> 25 & 1;
	return spoiled->refused;
}

/*
 * Run as root, so that no control is refused for want of privilege first, and as user, so
 * that no refusal depends on having it.
 */
static void spoil_controls(void)
{
	struct watch watch = watch_begin();
	struct perfctr_control control;
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
		if (spoils[i].counters && !has_counters())
			continue;
		control_init(&control);
		control.tsc_on = 1;
		if (has_counters()) {
			control_add(&control, EV_CYCLES);
			control_add(&control, EV_DTLB_LOAD_MISSES);
		}
		control.owner = UNTOLD;
		control.refused = UNTOLD;
		control.possible = UNTOLD;
		spoils[i].spoil(&control);
		err = try_control(watch.fd, &control);
		ck_assert_msg(err == -spoils[i].err, "%s: %s, expected %s", spoils[i].how,
			      err ? strerror(-err) : "succeeded", strerror(spoils[i].err));
		ck_assert_msg(control.refused == blamed(&spoils[i]), "%s: refused is %u",
			      spoils[i].how, control.refused);
		ck_assert_uint_eq(control.owner, spoils[i].refused == UNTOLD ? UNTOLD :
						 PERFCTR_OWNER_NONE);
		if (spoils[i].refused == UNTOLD)
			ck_assert_uint_eq(control.possible, UNTOLD);
		else
			ck_assert_uint_eq(control.possible != 0,
					  control.reason == PERFCTR_REASON_COUNTER);
		watch_unchanged(&watch);
	}
}

START_TEST(control_bad_input)
{
	spoil_controls();
}
END_TEST

START_TEST(control_bad_input_as_user)
{
	spoil_controls();
}
END_TEST

/*
 * Stock QEMU counts an event on one counter only; then the control is refused, as the other
 * counter's zero would be no count. Other machines count the event twice.
 */
START_TEST(control_event_twice)
{
	struct watch watch = watch_begin();
	struct perfctr_control control;
	struct perfctr_read rd;
	int err;

	control_init(&control);
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_INSTRUCTIONS);
	err = try_control(watch.fd, &control);
	if (err) {
		ck_assert_int_eq(err, -EOPNOTSUPP);
		watch_unchanged(&watch);
		return;
	}
	read_all(watch.fd, &rd);
	ck_assert_uint_gt(rd.sum[0], 0);
	ck_assert_uint_eq(rd.sum[0], rd.sum[1]);
}
END_TEST

/* A control of a later version, whose head and counters are @more bytes longer */
static unsigned char *longer(const struct perfctr_control *control, uint32_t more)
{
	uint32_t offset = CONTROL_SIZE(0) + more;
	uint32_t stride = sizeof(control->ctr[0]) + more;
	unsigned char *buf = calloc(1, offset + control->nractrs * stride);
	struct perfctr_control *to = (struct perfctr_control *)buf;
	unsigned int i;

	ck_assert_ptr_nonnull(buf);
	memcpy(buf, control, CONTROL_SIZE(0));
	to->size = offset + control->nractrs * stride;
	to->ctr_offset = offset;
	to->ctr_size = stride;
	for (i = 0; i < control->nractrs; i++)
		memcpy(buf + offset + (size_t)i * stride, &control->ctr[i], sizeof(control->ctr[i]));
	return buf;
}

START_TEST(control_sizes)
{
	struct watch watch = watch_begin();
	struct perfctr_control control = watch.control;
	unsigned int i, n = control.nractrs, more, last;
	unsigned char *buf, *back;

	for (more = 8; more <= 64; more += 8) {
		buf = longer(&watch.control, more);
		ck_ok(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf));
		read_all(watch.fd, &watch.last);
		/* READ_CONTROL uses this layout, with zeroes where the module knows no member. */
		back = longer(&watch.control, more);
		memset(back + 16, 0xaa, ((struct perfctr_control *)back)->size - 16);
		ck_ok(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, back));
		ck_assert_mem_eq(back, buf, ((struct perfctr_control *)buf)->size);
		/* One byte that the module does not know: the last of the head, or of a counter */
		last = CONTROL_SIZE(0) + more;
		for (i = 0; i <= n; i++, last += (unsigned int)sizeof(control.ctr[0]) + more) {
			buf[last - 1] = 1;
			ck_errno(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf), E2BIG);
			buf[last - 1] = 0;
			watch_unchanged(&watch);
		}
		/* Counters may not overlap members that the module knows. */
		((struct perfctr_control *)buf)->ctr_offset = CONTROL_SIZE(0) - 8;
		ck_errno(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf), EINVAL);
		ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, buf), EINVAL);
		watch_unchanged(&watch);
		free(buf);
		free(back);
	}
	/* The largest size. What is behind the last counter does not matter. */
	buf = malloc(PERFCTR_MAX_SIZE + 1);
	ck_assert_ptr_nonnull(buf);
	memset(buf, 0xaa, PERFCTR_MAX_SIZE + 1);
	memcpy(buf, &watch.control, CONTROL_SIZE(n));
	((struct perfctr_control *)buf)->size = PERFCTR_MAX_SIZE;
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf));
	read_all(watch.fd, &watch.last);
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, buf));
	ck_assert_uint_eq(buf[PERFCTR_MAX_SIZE - 1], 0);
	((struct perfctr_control *)buf)->size = PERFCTR_MAX_SIZE + 1;
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_CONTROL, buf), E2BIG);
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_READ_CONTROL, buf), E2BIG);
	free(buf);
	watch_unchanged(&watch);

	/* Exactly as long as it must be, at the end of mapped memory */
	control.size = CONTROL_SIZE(n);
	ck_ok(ioctl(watch.fd, PERFCTR_IOC_CONTROL, at_page_end(&control, control.size)));
	ck_errno(ioctl(watch.fd, PERFCTR_IOC_CONTROL, at_page_end(&control, control.size - 1)),
		 EFAULT);
}
END_TEST

START_TEST(control_pointers)
{
	struct watch watch = watch_begin();
	struct perfctr_control control = watch.control;

	/* Every byte of it is read. */
	control.size = CONTROL_SIZE(control.nractrs);
	bad_pointers(watch.fd, PERFCTR_IOC_CONTROL, &control, control.size, true);
	watch_unchanged(&watch);
}
END_TEST

/*
 * More counters than the machine has. They cannot all count different events, and this
 * machine counts an event once only: either may be the reason of the refusal.
 */
START_TEST(control_too_many_counters)
{
	struct watch watch = watch_begin();
	struct perfctr_control control;
	unsigned int i;
	int err;

	control_init(&control);
	for (i = 0; i <= guest.info.nrctrs; i++)
		control_add(&control, EV_CYCLES);
	ck_assert_uint_le(control.nractrs, PERFCTR_MAX_CTRS);
	err = try_control(watch.fd, &control);
	ck_assert_msg(err == -EINVAL || err == -EOPNOTSUPP, "%s", strerror(-err));
	watch_unchanged(&watch);
}
END_TEST

START_TEST(kernel_counting_needs_privilege)
{
	static const uint32_t flags[] = { PERFCTR_CTR_KERNEL, BOTH };
	struct watch watch = watch_begin();
	struct perfctr_control control;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		control_init(&control);
		/* On ppc32 all counters of a control count the same modes. */
		control_add_at(&control, PERFCTR_MAP_ANY, EV_CYCLES,
			       is_ppc() ? flags[i] : PERFCTR_CTR_USER);
		control_add_at(&control, PERFCTR_MAP_ANY, EV_DTLB_LOAD_MISSES, flags[i]);
		ck_assert_int_eq(try_control(watch.fd, &control), -EACCES);
		ck_assert_uint_eq(control.refused, is_ppc() ? 0 : 1);
		ck_assert_uint_eq(control.owner, PERFCTR_OWNER_NONE);
		watch_unchanged(&watch);
	}
}
END_TEST

START_TEST(unfiltered_counting_needs_privilege)
{
	struct watch watch = watch_begin();
	struct perfctr_control control;

	control_init(&control);
	control_add_at(&control, 0, EV_CYCLES, BOTH);
	ck_assert_int_eq(try_control(watch.fd, &control), -EACCES);
	watch_unchanged(&watch);
	control_init(&control);
	control_add_at(&control, 2, EV_INSTRUCTIONS, BOTH);
	ck_assert_int_eq(try_control(watch.fd, &control), -EACCES);
	watch_unchanged(&watch);
}
END_TEST

/* A counter without a filter is refused with a restriction, whoever asks. */
static void restrict_fixed(void)
{
	static const uint32_t flags[] = { PERFCTR_CTR_USER, PERFCTR_CTR_KERNEL };
	struct watch watch = watch_begin();
	struct perfctr_control control;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		control_init(&control);
		control_add_at(&control, 0, EV_CYCLES, flags[i]);
		ck_assert_int_eq(try_control(watch.fd, &control), -EOPNOTSUPP);
		watch_unchanged(&watch);
		control_init(&control);
		control_add_at(&control, 2, EV_INSTRUCTIONS, flags[i]);
		ck_assert_int_eq(try_control(watch.fd, &control), -EOPNOTSUPP);
		watch_unchanged(&watch);
	}
}

START_TEST(fixed_counters_have_no_filter)
{
	restrict_fixed();
}
END_TEST

START_TEST(fixed_counters_have_no_filter_as_user)
{
	restrict_fixed();
}
END_TEST

START_TEST(fixed_counters_count)
{
	struct perfctr_control control;
	struct perfctr_read a, b;
	int fd = open_self();

	control_init(&control);
	control.tsc_on = 1;
	control_add_at(&control, 0, EV_CYCLES, BOTH);
	control_add_at(&control, 2, EV_INSTRUCTIONS, BOTH);
	set_control(fd, &control);
	read_all(fd, &a);
	body_spin(100000);
	read_all(fd, &b);
	ck_assert_uint_ge(b.sum[0] - a.sum[0], BODY_SPIN(100000));
	ck_assert_uint_ge(b.sum[1] - a.sum[1], BODY_SPIN(100000));
	/* The rest is the two calls, and perhaps an interrupt. */
	ck_assert_uint_lt(b.sum[1] - a.sum[1], 2 * BODY_SPIN(100000));
}
END_TEST

START_TEST(second_open_file)
{
	struct watch watch = watch_begin();
	struct perfctr_control control = watch.control;
	int second = try_open(0);

	ck_assert_int_ge(second, 0);
	ck_assert_int_eq(try_control(second, &control), -EBUSY);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_HOLDER);
	ck_assert_uint_eq(control.refused, PERFCTR_NO_INDEX);
	watch_unchanged(&watch);

	/* Nor can the other handle stop or unlink what the holder controls. */
	control_init(&control);
	ck_assert_int_eq(try_control(second, &control), -EBUSY);
	ck_errno(ioctl(second, PERFCTR_IOC_UNLINK), EBUSY);
	watch_unchanged(&watch);

	/* The holder stops: the state is free again. */
	set_control(watch.fd, &control);
	ck_assert_uint_eq(control.owner, PERFCTR_OWNER_NONE);
	control.tsc_on = 1;
	set_control(second, &control);
	ck_assert_int_eq(try_control(watch.fd, &watch.control), -EBUSY);

	/* Its last close frees the state, too, and counting goes on. */
	close(second);
	control_init(&control);
	control.tsc_on = 1;
	set_control(watch.fd, &control);
}
END_TEST

/* A duplicate of the descriptor is the same open file, and so the same holder. */
START_TEST(duplicate_is_the_holder)
{
	struct watch watch = watch_begin();
	int copy = dup(watch.fd);

	ck_ok(copy);
	set_control(copy, &watch.control);
	close(watch.fd);
	set_control(copy, &watch.control);
	unlink_self(copy);
}
END_TEST

/* --- other threads --- */

struct foreign {
	int fd;
	struct perfctr_control *control;
	int control_err;
	int unlink_err;
	int read_err;
};

static void *act_on_foreign(void *arg)
{
	struct foreign *foreign = arg;
	struct perfctr_read rd;

	foreign->control_err = try_control(foreign->fd, foreign->control);
	foreign->unlink_err = ioctl(foreign->fd, PERFCTR_IOC_UNLINK) ? -errno : 0;
	foreign->read_err = try_read(foreign->fd, &rd);
	return NULL;
}

START_TEST(control_of_another_thread)
{
	struct watch watch = watch_begin();
	struct foreign *foreign = shared_alloc(sizeof(*foreign));
	pthread_t thread;
	pid_t child;

	foreign->fd = watch.fd;
	foreign->control = &watch.control;
	ck_assert_int_eq(pthread_create(&thread, NULL, act_on_foreign, foreign), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(foreign->control_err, -EPERM);
	ck_assert_int_eq(foreign->unlink_err, -EPERM);
	ck_assert_int_eq(foreign->read_err, 0);
	watch_unchanged(&watch);

	memset(foreign, 0, sizeof(*foreign));
	foreign->fd = watch.fd;
	foreign->control = &watch.control;
	ck_ok(child = fork());
	if (!child) {
		act_on_foreign(foreign);
		_exit(0);
	}
	expect_exit(child, 0);
	ck_assert_int_eq(foreign->control_err, -EPERM);
	ck_assert_int_eq(foreign->unlink_err, -EPERM);
	ck_assert_int_eq(foreign->read_err, 0);
	watch_unchanged(&watch);
}
END_TEST

struct leaver {
	int fd;
	struct perfctr_control control;
};

static void *count_and_leave(void *arg)
{
	struct leaver *leaver = arg;

	leaver->fd = try_open(PERFCTR_OPEN_CREAT);
	if (leaver->fd >= 0 && try_control(leaver->fd, &leaver->control))
		leaver->fd = -1;
	return NULL;
}

START_TEST(control_of_a_dead_thread)
{
	struct leaver leaver;
	struct perfctr_read rd;
	pthread_t thread;

	control_init(&leaver.control);
	leaver.control.tsc_on = 1;
	ck_assert_int_eq(pthread_create(&thread, NULL, count_and_leave, &leaver), 0);
	pthread_join(thread, NULL);
	ck_assert_int_ge(leaver.fd, 0);
	/* pthread_join() returns before the kernel has ended the thread. */
	do {
		sleep_us(1000);
		read_all(leaver.fd, &rd);
	} while (rd.flags & PERFCTR_READ_ATTACHED);
	ck_assert_int_eq(try_control(leaver.fd, &leaver.control), -ESRCH);
	ck_ok(ioctl(leaver.fd, PERFCTR_IOC_UNLINK));
	ck_assert_uint_gt(rd.clock, 0);
}
END_TEST

void abi_control(void)
{
	GUEST_RUN(control_bad_input, LOG_SILENT);
	GUEST_RUN(control_bad_input_as_user, LOG_SILENT | AS_USER);
	GUEST_RUN(control_event_twice, NEED_COUNTERS | LOG_SILENT | AS_USER);
	GUEST_RUN(control_sizes, LOG_SILENT | AS_USER);
	GUEST_RUN(control_pointers, LOG_SILENT | AS_USER);
	GUEST_RUN(control_too_many_counters, LOG_SILENT | NEED_COUNTERS | AS_USER);
	GUEST_RUN(kernel_counting_needs_privilege, LOG_SILENT | NEED_COUNTERS | AS_USER);
	GUEST_RUN(unfiltered_counting_needs_privilege,
		  LOG_SILENT | NEED_FIXED | NEED_UNFILTERED | AS_USER);
	GUEST_RUN(fixed_counters_have_no_filter, LOG_SILENT | NEED_FIXED | NEED_UNFILTERED);
	GUEST_RUN(fixed_counters_have_no_filter_as_user,
		  LOG_SILENT | NEED_FIXED | NEED_UNFILTERED | AS_USER);
	GUEST_RUN(fixed_counters_count, LOG_SILENT | NEED_FIXED);
	GUEST_RUN(second_open_file, LOG_SILENT | AS_USER);
	GUEST_RUN(duplicate_is_the_holder, LOG_SILENT | AS_USER);
	GUEST_RUN(control_of_another_thread, LOG_SILENT | AS_USER);
	GUEST_RUN(control_of_a_dead_thread, LOG_SILENT | AS_USER);
}
