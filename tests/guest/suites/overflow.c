// SPDX-License-Identifier: GPL-2.0
/* What test_overflow*.c share; see overflow.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <ucontext.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/overflow.h"

__thread struct listener *listener;

static uintptr_t interrupted_pc(const ucontext_t *context)
{
#if defined(__riscv)
	return context->uc_mcontext.__gregs[REG_PC];
#elif defined(__aarch64__)
	return context->uc_mcontext.pc;
#elif defined(__powerpc__)
	return context->uc_mcontext.uc_regs->gregs[32];	/* NIP */
#elif defined(__i386__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_EIP];
#else
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#endif
}

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	struct listener *self = listener;
	struct perfctr_read rd;
	unsigned int i;

	if (self->nr < NOTES) {
		struct note *note = &self->note[self->nr];

		(void)try_read(self->fd, &rd);
		for (i = 0; i < 3; i++)
			note->sum[i] = rd.sum[i];
		note->clock = rd.clock;
		note->pc = interrupted_pc(context);
		note->flags = rd.flags;
		note->mask = info->si_pid;
		note->code = info->si_code;
		note->error = info->si_errno;
		note->signo = signo;
	}
	self->nr++;
	if (info->si_errno == EAGAIN)
		self->throttled = true;
	if (self->then == IRESUME)
		(void)ioctl(self->fd, PERFCTR_IOC_IRESUME);
}

struct listener *listen_to(int signo, enum then then)
{
	struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_RESTART };

	(void)sigaction(signo, &action, NULL);
	listener = shared_alloc(sizeof(*listener));
	listener->then = then;
	listener->fd = try_open(PERFCTR_OPEN_CREAT);
	return listener;
}

void period_control(struct perfctr_control *control, int64_t period)
{
	control_init(control);
	control->tsc_on = 1;
	control->si_signo = SIGUSR1;
	control_add_ictr(control, EV_INSTRUCTIONS, -period);
}

__attribute__((format(printf, 2, 3)))
bool fault(struct listener *self, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(self->fault, sizeof(self->fault), format, args);
	va_end(args);
	return false;
}

/* What is counted of each handler, from its IRESUME to its return. Measured once. */
static uint64_t tail;

bool spin_and_check(struct listener *self, uint64_t period, unsigned long loops)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	struct perfctr_control control;
	uint64_t length, expected;
	unsigned int before, within, i;
	int err;

	if (self->fd < 0)
		return fault(self, "OPEN: %s", strerror(-self->fd));
	period_control(&control, (int64_t)period);
	self->nr = 0;
	err = try_control(self->fd, &control);
	if (!err)
		err = (int)exact_kernel(self->fd, PERFCTR_IOC_READ, rd, body_spin, loops);
	(void)ioctl(self->fd, PERFCTR_IOC_SUSPEND);
	if (err)
		return fault(self, "%s", strerror(-err));
	before = rd[0].overflows;
	within = rd[1].overflows - before;
	if (rd[1].overflows != rd[1].sum[0] / period)
		return fault(self, "%u overflows in %llu of %llu", rd[1].overflows,
			     (unsigned long long)rd[1].sum[0], (unsigned long long)period);
	/* More may have come since that read. */
	if (self->nr < rd[1].overflows)
		return fault(self, "%u signals of %u", self->nr, rd[1].overflows);
	for (i = 0; i < self->nr && i < NOTES; i++) {
		const struct note *note = &self->note[i];

		expected = (i + 1) * period;
		if (note->sum[0] != expected)
			return fault(self, "overflow %u at %llu, expected %llu", i,
				     (unsigned long long)note->sum[0], (unsigned long long)expected);
		if (note->mask != 1 || note->code != 'P' || note->error || note->signo != SIGUSR1 ||
		    note->flags != (PERFCTR_READ_ATTACHED | PERFCTR_READ_OVERFLOWN))
			return fault(self, "overflow %u: mask %#x, code %d, errno %d, signal %d, flags %#x",
				     i, note->mask, note->code, note->error, note->signo, note->flags);
	}
	length = rd[1].sum[0] - rd[0].sum[0];
	expected = EXACT_KERNEL + BODY_SPIN(loops);
	if (!tail && within == 1)
		tail = length - expected;
	expected += within * tail;
	if (length != expected)
		return fault(self, "%llu instructions with %u overflows, expected %llu",
			     (unsigned long long)length, within, (unsigned long long)expected);
	return true;
}

void learn_tail(struct listener *self)
{
	if (!tail)
		ck_assert_msg(spin_and_check(self, 20000, 15000) && tail, "%s", self->fault);
	ck_assert_uint_lt(tail, 100);
}

void *spinner_run(void *arg)
{
	struct spinner *spinner = arg;
	unsigned int i;

	if (spinner->cpu >= 0)
		pin_self((unsigned int)spinner->cpu);
	spinner->self = listen_to(SIGUSR1, IRESUME);
	spinner->fine = true;
	for (i = 0; i < spinner->rounds && spinner->fine; i++)
		spinner->fine = spin_and_check(spinner->self, spinner->period, spinner->loops);
	return NULL;
}

void refresh_control(struct perfctr_control *control, int64_t period, uint64_t refresh)
{
	period_control(control, period);
	control->si_signo = SIGRTMIN + 1;	/* these queue up */
	control->refresh = refresh;
}
