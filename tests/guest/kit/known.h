/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The programs "known", "known_other" and "known_long" (known_ARCH.S): static, without a C
 * library, and of known length, from their first instruction to the system
 * call by which they exit. Their exit status is 0.
 */
#ifndef PERFCTR_KNOWN_H
#define PERFCTR_KNOWN_H

#define KNOWN_PATH	"/usr/libexec/perfctr/known"
#define KNOWN_OTHER_PATH "/usr/libexec/perfctr/known_other"
#define KNOWN_LONG_PATH	"/usr/libexec/perfctr/known_long"

#ifndef KNOWN_LOOPS
#define KNOWN_LOOPS	1000000
#endif
#define KNOWN_OTHER_LOOPS 123456
#define KNOWN_LONG_LOOPS 10000000

#define KNOWN_YIELDS	8

/* With @loops turns of its loop; the last system call is counted. */
#define KNOWN_LENGTH(loops) (2 * (loops) + 3 * KNOWN_YIELDS + 8)

#endif /* PERFCTR_KNOWN_H */
