// SPDX-License-Identifier: GPL-2.0
/* What the program says, and its end: the serial chip and Cuda of QEMU's mac99. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "rules_io.h"

/* UniNorth's PCI bus; both are little-endian */
#define PCI_ADDRESS	0xf2800000u
#define PCI_DATA	0xf2c00000u
#define PCI_MEMORY	0x80000000u

#define KEYLARGO	0x0022106bu
#define SERIAL		0x13020u	/* channel A */
#define VIA		0x16000u	/* of Cuda; its registers are 512 bytes apart */

static unsigned int passed, failed;

static void write_le(uint32_t address, uint32_t value)
{
	__asm__ volatile("stwbrx %0, 0, %1; eieio" : : "r"(value), "r"(address) : "memory");
}

static uint32_t read_le(uint32_t address)
{
	uint32_t value;

	__asm__ volatile("lwbrx %0, 0, %1; eieio" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static volatile uint8_t *at(uint32_t offset)
{
	return (volatile uint8_t *)(PCI_MEMORY + offset);
}

void io_begin(void)
{
	uint32_t slot;

	/* No firmware has given the chip its addresses. */
	for (slot = 11; slot < 32; slot++) {
		write_le(PCI_ADDRESS, 1u << slot);
		if (read_le(PCI_DATA) != KEYLARGO)
			continue;
		write_le(PCI_ADDRESS, 1u << slot | 0x10);
		write_le(PCI_DATA, PCI_MEMORY);
		write_le(PCI_ADDRESS, 1u << slot | 0x04);
		write_le(PCI_DATA + 4, 2);
	}
	/* Write register 5: transmit */
	*at(SERIAL) = 5;
	*at(SERIAL) = 8;
}

/* Packet 1, command 10: switch the power off. */
static void __attribute__((noreturn)) power_off(void)
{
	volatile uint8_t *port = at(VIA), *direction = at(VIA + 2 * 512);
	volatile uint8_t *shift = at(VIA + 10 * 512), *control = at(VIA + 11 * 512);
	const uint8_t idle = 0x30, busy = 0x10, next = 0x00; /* TIP and TACK are low-active */

	*direction = 0x30;
	*port = idle;
	*control = 0x1c;
	*shift = 1;
	*port = busy;
	*shift = 10;
	*port = next;
	*port = idle;
	for (;;)
		;
}

static void put(char c)
{
	*at(SERIAL + 0x10) = (uint8_t)c;
}

static void put_number(uint32_t value, uint32_t base)
{
	char digits[12];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (n)
		put(digits[--n]);
}

/* %s, %u and %x */
static void vsay(const char *format, va_list args)
{
	const char *s;

	for (; *format; format++) {
		if (*format != '%') {
			put(*format);
			continue;
		}
		switch (*++format) {
		case 's':
			for (s = va_arg(args, const char *); *s; s++)
				put(*s);
			break;
		case 'u':
			put_number(va_arg(args, uint32_t), 10);
			break;
		default:
			put_number(va_arg(args, uint32_t), 16);
		}
	}
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

void check(uint32_t got, uint32_t want, const char *format, ...)
{
	va_list args;

	if (got == want)
		passed++;
	else
		failed++;
	say(got == want ? "ok " : "not ok ");
	va_start(args, format);
	vsay(format, args);
	va_end(args);
	if (got != want)
		say(": %u (0x%x), not %u (0x%x)", got, got, want, want);
	say("\n");
}

void io_end(void)
{
	say("%u passed, %u failed\n", passed, failed);
	power_off();
}
