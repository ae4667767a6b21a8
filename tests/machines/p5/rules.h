/* SPDX-License-Identifier: GPL-2.0 */
/* What rules.c and rules_asm.S have in common */
#ifndef RULES_H
#define RULES_H

#define CODE_0	0x08	/* segments: kernel mode, user mode, the task */
#define DATA_0	0x10
#define CODE_3	0x1b
#define DATA_3	0x23
#define TASK	0x28

#define GATE_USER	0x80	/* back from user mode */

#define UD	6
#define GP	13

#define STACK	16384

#endif /* RULES_H */
