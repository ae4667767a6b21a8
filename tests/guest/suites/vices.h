/* SPDX-License-Identifier: GPL-2.0 */
/* What test_vices*.c share: whether counts are right. */
#ifndef SUITES_VICES_H
#define SUITES_VICES_H

#include <linux/perfctr.h>
#include <stdbool.h>
#include <stdint.h>

/* Turns of a loop that take at least two jiffies, and at most five */
#define SOME_JIFFIES 10000000ul

/* Until the module has looked at the registers */
void wait_for_a_look(void);

#define TICK_NS		UINT64_C(4000000)	/* of Debian's kernels */
#define EV_BRANCHES	0x00c4u
#define EV_OFFCORE	0x01b7u

#define NEEDS (NEED_X86 | NEED_NATIVE | LOG_MODULE)

bool has_fixed(void);

/* Counter @i of the control counts instructions. */
void counts_instructions(int fd, unsigned int i);

/* Counts instructions by general-purpose counter 0 and, where there is one, its fixed one. */
int count_by_both(void);
uint32_t error_of(int fd);

/* The tests of test_vices_written.c. @bare: no hypervisor either */
void vices_written(bool bare);

#endif /* SUITES_VICES_H */
