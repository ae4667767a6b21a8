/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs as they were written for perfctr 2.6. Each uses what libperfctr-2.6's header had and
 * nothing that came later, and is compiled as C of that time. They print "name number" lines, which
 * test_old.c compares, and exit with 0, or with NOT_SUPPORTED if they do not know the processor.
 */
#ifndef OLD_H
#define OLD_H

#include <libperfctr.h>

#define NOT_SUPPORTED	77

/*
 * The work that is measured: 2 * n + 1 instructions (loops.h). The compiler does not know these
 * lengths, which are 1, 5001 and 10001: for constants it may need more instructions, or fewer.
 */
extern void body_spin(unsigned long n);
extern volatile unsigned long one, some, many;

/*
 * Counter i counts instructions in user mode: writes the members of 2.6's that say so, and no others.
 * With a period it is an i-mode counter. Returns -1 if the type of processor is not known.
 */
int set_instructions(unsigned cpu_type, struct perfctr_cpu_control *control, unsigned i,
		     unsigned period);

/* perror() and exit(1) */
void fail(const char *what) __attribute__((noreturn));

/* Descriptors over a socket */
void send_handle(int sock, int fd);
int receive_handle(int sock);

#endif
