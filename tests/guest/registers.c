// SPDX-License-Identifier: GPL-2.0
/* x86's registers; see registers.h. */
#define _GNU_SOURCE
/* A register's number is an offset, and AMD's have 32 bits. */
#define _FILE_OFFSET_BITS 64
#include "registers.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

static int registers;

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
