/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which states there were that counted: of a test that passed, a line for each state that no test of
 * the program had before, with its values in words of tests/pairs.py, which says which pairs
 * of these are to be seen:
 *
 *	state: native, a-mode, notifier, own, guarded
 *
 * The linker hands calls of ioctl(), close() and _exit() to pairs.c. It looks at a state before its
 * control, policy or handle goes. So nothing is executed between a control and the reads of what it
 * counts, and what is said is what the module tells then.
 */
#ifndef PERFCTR_GUEST_PAIRS_H
#define PERFCTR_GUEST_PAIRS_H

#include <stdbool.h>

/* By the runner, around each test; @passed: what it saw counts. */
void pairs_test_begins(void);
void pairs_test_ended(bool passed);
/* By the test's own process, and by whoever changes the policy while states count */
void pairs_watch(void);
void pairs_look(void);
/* By a test that counts, to the instruction, what is around a control, an UNLINK or an end: look no more. */
void pairs_ignore(void);

#endif /* PERFCTR_GUEST_PAIRS_H */
