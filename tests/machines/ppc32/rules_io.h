/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RULES_IO_H
#define RULES_IO_H

#include <stdint.h>

void io_begin(void);
/* Says how many checks passed and failed, and ends QEMU. */
void io_end(void) __attribute__((noreturn));

/* %s, %u and %x */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void check(uint32_t got, uint32_t want, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* RULES_IO_H */
