// SPDX-License-Identifier: GPL-2.0
/* What the program says, and its end: a PC's serial port, and a reset (-no-reboot) */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "rules_io.h"

#define SERIAL		0x3f8
#define SERIAL_STATUS	(SERIAL + 5)
#define SERIAL_EMPTY	0x20
#define SERIAL_SENT	0x40
#define RESET		0xcf9	/* of the chipset */

static unsigned int passed, failed;

static void put(char c)
{
	while (!(in8(SERIAL_STATUS) & SERIAL_EMPTY))
		;
	out8(SERIAL, (uint8_t)c);
}

static void put_hex(uint64_t value)
{
	unsigned int shift = 60;

	while (shift && !(value >> shift))
		shift -= 4;
	for (;; shift -= 4) {
		put("0123456789abcdef"[value >> shift & 0xf]);
		if (!shift)
			return;
	}
}

static void put_decimal(uint32_t value)
{
	char digits[10];
	unsigned int n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		put(digits[--n]);
}

static void vsay(const char *format, va_list args)
{
	const char *text;

	for (; *format; format++) {
		if (*format != '%') {
			put(*format);
			continue;
		}
		switch (*++format) {
		case 's':
			for (text = va_arg(args, const char *); *text; text++)
				put(*text);
			break;
		case 'u':
			put_decimal(va_arg(args, uint32_t));
			break;
		case 'x':
			put_hex(va_arg(args, uint32_t));
			break;
		case 'X':
			put_hex(va_arg(args, uint64_t));
			break;
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

void check(uint64_t got, uint64_t want, const char *format, ...)
{
	bool good = got == want;
	va_list args;

	say(good ? "ok " : "not ok ");
	va_start(args, format);
	vsay(format, args);
	va_end(args);
	if (!good)
		say(": 0x%X, wanted 0x%X", got, want);
	say("\n");
	if (good)
		passed++;
	else
		failed++;
}

void io_end(void)
{
	say("%u passed, %u failed\n", passed, failed);
	while (!(in8(SERIAL_STATUS) & SERIAL_SENT))
		;
	out8(RESET, 0x06);
	for (;;)
		__asm__ volatile("hlt");
}
