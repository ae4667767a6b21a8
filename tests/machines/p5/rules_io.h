/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RULES_IO_H
#define RULES_IO_H

#include <stdint.h>

static inline void out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint8_t in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

/* Says how many checks passed and failed, and ends QEMU by a reset. */
void io_end(void) __attribute__((noreturn));

/* %s, %u and %x, of 32 bits, and %X of 64 */
void say(const char *format, ...);
void check(uint64_t got, uint64_t want, const char *format, ...);

#endif /* RULES_IO_H */
