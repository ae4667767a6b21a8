// SPDX-License-Identifier: GPL-2.0
/* x86's registers; see registers.h. */
#define _GNU_SOURCE
/* A register's number is an offset, and AMD's have 32 bits. */
#define _FILE_OFFSET_BITS 64
#include "kit/registers.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"

static int registers;

/* Constant once the program has begun */
static struct {
	uint32_t evntsel, perfctr, distance;
	uint32_t global_ctrl;
} of = { MSR_EVNTSEL0, MSR_PMC0, 1, 0 };

#if defined(__x86_64__) || defined(__i386__)

static void find_amds(void)
{
	unsigned int a, b, c, d, most;

	of.evntsel = 0xc0010000;
	of.perfctr = 0xc0010004;
	__cpuid(0x80000000, most, b, c, d);
	__cpuid(0x80000001, a, b, c, d);
	if (c & (1u << 23)) { /* PERFCTR_CORE */
		of.evntsel = 0xc0010200;
		of.perfctr = 0xc0010201;
		of.distance = 2;
	}
	if (most < 0x80000022)
		return;
	__cpuid(0x80000022, a, b, c, d);
	if (a & 1) /* performance monitoring version 2 */
		of.global_ctrl = 0xc0000301;
}

static void __attribute__((constructor)) find_registers(void)
{
	unsigned int a, b, c, d, most;

	__cpuid(0, most, b, c, d);
	if (b == signature_AMD_ebx) {
		find_amds();
	} else if (most >= 10) {
		__cpuid(10, a, b, c, d);
		if ((a & 0xff) >= 2)
			of.global_ctrl = MSR_GLOBAL_CTRL;
	}
	(void)b;
	(void)c;
	(void)d;
}

#endif

/* The Pentium 4's first counter that counts instructions, and its CCCR */
#define P4_CCCR		0x36cu
#define P4_PERFCTR	0x30cu
#define P4_ENABLE	0x1000u
#define P4_SELECT	0xe000u
#define P4_BOTH_THREADS	0x30000u

#define CESR		0x11u	/* the Pentium's: an event select in each half */
#define CTR0		0x12u
#define CESR_MODES	0xc0u

uint32_t msr_evntsel(unsigned int i)
{
	if (guest.info.cpu_type == PERFCTR_X86_VIA_C3)
		return MSR_EVNTSEL0 + 1;
	if (is_pentium())
		return CESR;
	if (is_p4())
		return P4_CCCR + i;
	return of.evntsel + i * of.distance;
}

uint64_t evntsel_of(unsigned int i, uint64_t event, bool on)
{
	if (is_p4())
		return (own_event(event) & P4_SELECT) | P4_BOTH_THREADS |
		       (on ? P4_ENABLE : 0);
	if (!is_pentium())
		return event | EVNTSEL_BOTH | (on ? EVNTSEL_EN : 0);
	return (own_event(event) | (on && !is_modeless() ? CESR_MODES : 0)) << 16 * i;
}

uint32_t msr_perfctr(unsigned int i)
{
	if (guest.info.cpu_type == PERFCTR_X86_VIA_C3)
		return MSR_PMC0 + 1;
	if (is_pentium())
		return CTR0 + i;
	if (is_p4())
		return P4_PERFCTR + i;
	return of.perfctr + i * of.distance;
}

uint32_t msr_global_ctrl(void)
{
	return of.global_ctrl;
}

bool wrmsr(uint32_t msr, uint64_t value)
{
	return pwrite(registers, &value, sizeof(value), msr) == sizeof(value);
}

bool rdmsr(uint32_t msr, uint64_t *value)
{
	return pread(registers, value, sizeof(*value), msr) == sizeof(*value);
}

void open_registers(void)
{
	int fd = open("/lib/msr.ko", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert(!syscall(SYS_finit_module, fd, "allow_writes=on", 0) || errno == EEXIST);
	close(fd);
	registers = open("/dev/cpu/0/msr", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(registers, 0);
}
