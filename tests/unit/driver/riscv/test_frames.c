// SPDX-License-Identifier: GPL-2.0
/* Who called whom, by frame pointers: of functions that call others, and of leaf functions. */
#include <linux/sched/task_stack.h>

#include "tests.h"
#include "arch/cpu.h"

unsigned long shim_stack[THREAD_SIZE / sizeof(unsigned long)];

/* Addresses in the kernel, and in user mode */
#define KTEXT(n)	(0xffffffff80000000ul + (n))
#define UTEXT(n)		(0x10000ul + (n))

/* The frame pointer that has two words below it: the caller's frame pointer, the return address */
static unsigned long frame(unsigned int word)
{
	return (unsigned long)&shim_stack[word];
}

static void put_frame(unsigned int word, unsigned long caller, unsigned long ra)
{
	shim_stack[word - 2] = caller;
	shim_stack[word - 1] = ra;
}

static struct pt_regs begin(void)
{
	put_frame(10, frame(20), KTEXT(1));
	put_frame(20, frame(30), KTEXT(2));
	put_frame(30, 0, KTEXT(3));
	return (struct pt_regs){ .s0 = frame(10), .ra = KTEXT(9) };
}

static void expect_kernel(struct pt_regs *regs, unsigned int depth, unsigned int nr,
			  const unsigned long *callers)
{
	unsigned long found[8] = {};

	ck_assert_uint_eq(perfctr_cpu_kernel_chain(regs, found, depth), nr);
	ck_assert_int_eq(memcmp(found, callers, nr * sizeof(*found)), 0);
}

#define EXPECT_KERNEL(regs, depth, ...)						\
	expect_kernel(regs, depth, sizeof((unsigned long[]){ __VA_ARGS__ }) / sizeof(long),	\
		      (const unsigned long[]){ __VA_ARGS__ })

START_TEST(kernel_callers)
{
	struct pt_regs regs = begin();

	EXPECT_KERNEL(&regs, 8, KTEXT(1), KTEXT(2), KTEXT(3));
	EXPECT_KERNEL(&regs, 2, KTEXT(1), KTEXT(2));
	/* A leaf function has saved s0 alone: its return address is in ra. */
	put_frame(10, KTEXT(7), frame(20));
	EXPECT_KERNEL(&regs, 8, KTEXT(9), KTEXT(2), KTEXT(3));
	/* Only the first one can be a leaf. */
	begin();
	put_frame(20, frame(30), frame(30));
	EXPECT_KERNEL(&regs, 8, KTEXT(1));
	/* It was called from user mode; frames that do not go up; what is no frame */
	begin();
	put_frame(20, frame(30), UTEXT(2));
	EXPECT_KERNEL(&regs, 8, KTEXT(1));
	put_frame(20, frame(10), KTEXT(2));
	EXPECT_KERNEL(&regs, 8, KTEXT(1), KTEXT(2));
	begin();
	put_frame(10, frame(20) + 4, KTEXT(1));
	EXPECT_KERNEL(&regs, 8, KTEXT(1));
	regs.s0 = frame(1);
	ck_assert_uint_eq(perfctr_cpu_kernel_chain(&regs, NULL, 8), 0);
	regs.s0 = frame(0) + THREAD_SIZE + sizeof(long);
	ck_assert_uint_eq(perfctr_cpu_kernel_chain(&regs, NULL, 8), 0);
}
END_TEST

static const struct {
	const char *name;
	unsigned long at, below[2];	/* 0: in s0; what stands below */
	unsigned long frame;
	u64 caller;
} steps[] = {
	{ "a function", 0, { 0x2000, UTEXT(1) }, 0x2000, UTEXT(1) },
	{ "a leaf function", 0, { 5, 0x100 }, 0x100, UTEXT(9) },
	{ "a leaf function, without a frame of its own", 0, { 5, 0 }, 0, UTEXT(9) },
	{ "below this frame", 0, { 0x2000, -8ul }, 0x2000, -8ul },
	{ "a leaf function, at most so far", 0, { 5, 0xfffff }, 0xfffff, UTEXT(9) },
	{ "too far", 0, { 0x2000, 0x100000 }, 0x2000, 0x100000 },
	{ "no first frame", 16, { 0x2000, 0x100 }, 0x2000, 0x100 },
};

/* Frames, and a return address that is one, are relative to the frame pointer. */
START_TEST(user_callers)
{
	unsigned long stack[8] = {}, at, base;
	struct pt_regs regs = { .ra = UTEXT(9) };
	bool is_address = steps[_i].below[1] == UTEXT(1);
	u64 caller = 0;

	base = (unsigned long)&stack[2 + steps[_i].at / sizeof(long)];
	regs.s0 = base - steps[_i].at;
	stack[steps[_i].at / sizeof(long)] = base + steps[_i].below[0];
	stack[steps[_i].at / sizeof(long) + 1] = is_address ? UTEXT(1) : base + steps[_i].below[1];
	at = base;
	ck_assert(perfctr_cpu_next_frame(&regs, &at, &caller));
	ck_assert_uint_eq(at, base + steps[_i].frame);
	ck_assert_uint_eq(caller, steps[_i].caller == UTEXT(1) || steps[_i].caller == UTEXT(9) ?
				  steps[_i].caller : base + steps[_i].caller);
	ck_assert_uint_eq(perfctr_cpu_first_frame(&regs), regs.s0);
}
END_TEST

START_TEST(no_callers)
{
	unsigned long stack[4] = { 1, 2, 3, 4 }, at = (unsigned long)&stack[2];
	struct pt_regs regs = { .s0 = at };
	u64 caller = 7;

	for (shim_fail_nth = 1; shim_fail_nth < 3; shim_fail_nth++) {
		unsigned int n = shim_fail_nth;

		ck_assert(!perfctr_cpu_next_frame(&regs, &at, &caller));
		ck_assert_uint_eq(at, (unsigned long)&stack[2]);
		ck_assert_uint_eq(caller, 7);
		shim_fail_nth = n;
	}
	shim_fail_nth = 0;
	at += 4;
	ck_assert(!perfctr_cpu_next_frame(&regs, &at, &caller));
}
END_TEST

void test_frames(void)
{
	unit_begin("riscv_frames");
	UNIT_RUN(kernel_callers);
	UNIT_ROWS(user_callers, steps);
	UNIT_RUN(no_callers);
}
