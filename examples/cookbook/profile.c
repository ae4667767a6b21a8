// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program that profiles itself. It gets a signal after each 10000 instructions, and the handler
 * looks where the thread was. The linker defines symbols for the beginning and the end of the
 * section "slow_part".
 */
#define _GNU_SOURCE /* REG_RIP */
#include <err.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

#include <libperfctr.h>

#define PERIOD	10000

/* NOLINTNEXTLINE(bugprone-reserved-identifier): names of the linker's */
extern const char __start_slow_part[], __stop_slow_part[];

static struct vperfctr_meter *meter;
static volatile unsigned int samples, in_slow;

static uintptr_t place(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_EIP];
#elif defined(__riscv)
	return context->uc_mcontext.__gregs[REG_PC];
#elif defined(__aarch64__)
	return context->uc_mcontext.pc;
#elif defined(__powerpc__)
	return context->uc_mcontext.uc_regs->gregs[32]; /* PT_NIP of the kernel's asm/ptrace.h */
#else
#error "where does this processor keep its place?"
#endif
}

static void on_period(int signo, siginfo_t *info, void *context)
{
	uintptr_t at = place(context);

	(void)signo;
	(void)info;
	samples++;
	if (at >= (uintptr_t)__start_slow_part && at < (uintptr_t)__stop_slow_part)
		in_slow++;
	vperfctr_meter_start(meter);
}

__attribute__((noinline, section("slow_part"))) static void slow(void)
{
	unsigned long turns = 750000;

	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);
}

__attribute__((noinline)) static void quick(void)
{
	unsigned long turns = 250000;

	do
		__asm__ volatile ("" : "+r" (turns));
	while (--turns);
}

int main(void)
{
	const struct sigaction action = { .sa_sigaction = on_period, .sa_flags = SA_SIGINFO };
	int error;

	if (sigaction(SIGUSR1, &action, NULL) < 0)
		err(1, "sigaction");
	error = vperfctr_meter_open_budget(&meter, "instructions", PERIOD, SIGUSR1);
	if (error)
		errx(1, "%s", vperfctr_strerror(meter, error));
	slow();
	quick();
	vperfctr_meter_stop(meter);
	printf("%u samples, %.0f %% of them in slow()\n", samples, 100.0 * in_slow / samples);
	vperfctr_meter_close(meter);
	return 0;
}
