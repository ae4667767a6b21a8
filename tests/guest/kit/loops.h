/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length, in assembly (loops_ARCH.S), and reads around it. So a test can
 * demand a number of instructions instead of "more than zero".
 *
 * A count covers the instructions between two samples of the counter, where a sample is
 * the register read of an inline read, or the system call of a kernel read. Each EXACT_*
 * below is the number of instructions beside the body; the .S file numbers them one by one.
 *
 * Between two kernel reads it does not matter on which side the system call instruction is
 * counted. A count that begins or ends elsewhere says so.
 */
#ifndef PERFCTR_LOOPS_H
#define PERFCTR_LOOPS_H

#include <linux/perfctr.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A body: called with its argument in the first argument register, and counted
 * from its first instruction to its return, both included.
 */
typedef void body_fn(unsigned long arg);

/* Counts down from @n (at least 1). */
body_fn body_spin;
#define BODY_SPIN(n)		(2 * (uint64_t)(n) + 1)

/* Calls sched_yield() @n times. */
body_fn body_yield;
#define BODY_YIELD(n)		(4 * (uint64_t)(n) + LOOPS_YIELD)

/* Stores to @n addresses, PAGE_SIZE apart; @arg points to one of these. */
struct body_touch_arg {
	void *base;
	unsigned long n;
};
body_fn body_touch;
#define BODY_TOUCH(n)		(4 * (uint64_t)(n) + 4)

/*
 * Sends itself @n times a signal, whose handler is loops_handler(). What the
 * kernel's return path executes in user mode is counted as well: see
 * sigreturn_length().
 */
struct body_signal_arg {
	unsigned long pid;
	unsigned long tid;
	unsigned long signo;
	unsigned long n;
};
body_fn body_signal;
#define BODY_SIGNAL(n, sigreturn) \
	(LOOPS_SIGNAL + (uint64_t)(n) * (LOOPS_SIGNAL_TURN + LOOPS_HANDLER + (uint64_t)(sigreturn)))

/*
 * Lets the signals of the set @unblock come in while it spins, and none
 * before or after.
 */
struct body_unblocked_arg {
	const void *unblock;
	unsigned long n;
};
body_fn body_unblocked;
#define BODY_UNBLOCKED(n)	(LOOPS_UNBLOCKED + 2 * (uint64_t)(n))

/* A signal handler of known length, which counts its calls. */
void loops_handler(int signo);
extern uint64_t loops_handled;
/* Where the handler was last told to return to. */
extern uintptr_t loops_return;

/*
 * Instructions of the trampoline at which a signal handler returns, the system
 * call included; by looking at it.
 */
unsigned int sigreturn_length(void);

/*
 * Reads counter @i of the page before and after body(arg), each as the ABI
 * says, and stores both values. Returns how often the second read was repeated,
 * or a negative number if the page said "ask the kernel".
 * Counted: EXACT_INLINE + body + retries * EXACT_INLINE_RETRY.
 */
long exact_inline(const struct perfctr_page *page, unsigned int i, body_fn *body,
		  unsigned long arg, uint64_t value[2]);

/*
 * The same by ioctl(fd, cmd, ...) before and after; the second call's argument
 * is at @rd + 1. Returns 0 or the -errno of a call.
 * Counted: EXACT_KERNEL + body.
 */
long exact_kernel(int fd, unsigned long cmd, struct perfctr_read *rd, body_fn *body,
		  unsigned long arg);

/*
 * The same by read(2), of @size bytes each time; the second goes right behind
 * the first. Returns a negative error, or what the second call returned.
 * Counted: EXACT_KERNEL + body.
 */
long exact_read(int fd, uint64_t *words, unsigned long size, body_fn *body,
		unsigned long arg);

/**
 * struct reader_result - what a run of exact_reader() saw
 * @turns: turns that were right
 * @retries: reads repeated because a switch came between
 * @delta: of the turn that was wrong
 * @expected: what it should have been
 */
struct reader_result {
	uint64_t turns;
	uint64_t retries;
	uint64_t delta;
	uint64_t expected;
};

/*
 * Reads counter @i of the page, which counts instructions in user mode, @n + 1
 * times in a row, and compares every two successive values with the
 * instructions between them. Returns 0; 1 at the first turn that was wrong,
 * with the details in @result; or 2 if the page said "ask the kernel".
 */
long exact_reader(const struct perfctr_page *page, unsigned int i, uint64_t n,
		  struct reader_result *result);

#if defined(__riscv)

/* QEMU and the kernel agree: an ecall is counted once, in user mode. */
#define EXACT_INLINE		11u
#define EXACT_INLINE_RETRY	10u
#define EXACT_KERNEL		8u
#define EXACT_BEFORE_BODY	3u	/* between the first sample and the body */
#define LOOPS_HANDLER		8u
#define BODY_SPIN_FIRST		4u	/* bytes of its first instruction */

static inline uint64_t thread_pointer(void)
{
	uint64_t tp;

	__asm__("mv %0, tp" : "=r" (tp));
	return tp;
}

#elif defined(__aarch64__)

/* Counters are read by the kernel alone: the page says "ask" for each. */
#define EXACT_INLINE		0u
#define EXACT_INLINE_RETRY	0u
#define EXACT_KERNEL		8u
#define EXACT_BEFORE_BODY	3u
#define LOOPS_HANDLER		8u
#define BODY_SPIN_FIRST		4u

static inline uint64_t thread_pointer(void)
{
	uint64_t tp;

	__asm__("mrs %0, tpidr_el0" : "=r" (tp));
	return tp;
}

#elif defined(__powerpc__)

#define EXACT_INLINE		20u
#define EXACT_INLINE_RETRY	17u
#define EXACT_KERNEL		9u
#define EXACT_BEFORE_BODY	4u
#define LOOPS_HANDLER		11u
#define LOOPS_YIELD		6u	/* what a body has beside its turns */
#define LOOPS_SIGNAL		9u
#define LOOPS_SIGNAL_TURN	7u
#define LOOPS_UNBLOCKED		19u
#define BODY_SPIN_FIRST		4u

static inline uint64_t thread_pointer(void)
{
	unsigned long tp;

	__asm__("mr %0, 2" : "=r" (tp));
	return tp;
}

#elif defined(__x86_64__) || defined(__i386__)

#define EXACT_INLINE		14u
#define EXACT_INLINE_RETRY	13u
#define EXACT_KERNEL		11u
#define EXACT_BEFORE_BODY	4u
#define LOOPS_HANDLER		5u
#if defined(__x86_64__)
#define BODY_SPIN_FIRST		3u
#else
#define BODY_SPIN_FIRST		4u
#endif

static inline uint64_t thread_pointer(void)
{
	unsigned long tp;

#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r" (tp));
#else
	__asm__("mov %%gs:0, %0" : "=r" (tp));
#endif
	return tp;
}

#endif

/* On most, system calls preserve all registers but a few, so bodies have no need to save any. */
#ifndef LOOPS_YIELD
#define LOOPS_YIELD		2u
#define LOOPS_SIGNAL		6u
#define LOOPS_SIGNAL_TURN	6u
#define LOOPS_UNBLOCKED		16u
#endif

/*
 * Whether this CPU lets the caller read hardware counter @n now, found by
 * trying: a read that is refused raises SIGILL or SIGSEGV. Not for threads in
 * parallel.
 */
int may_read_register(unsigned int n);
/* The same, by one instruction: 0 if it was refused. */
bool try_read_register(unsigned int n, uint64_t *value);
/* Reads it; only after may_read_register(), or with SIGILL handled. */
uint64_t read_register(unsigned int n);

#endif /* PERFCTR_LOOPS_H */
