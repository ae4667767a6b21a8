/* SPDX-License-Identifier: GPL-2.0 */
/* For the loops_*.S: what they have of the interface's structures, and functions. */
#ifndef LOOPS_ASM_H
#define LOOPS_ASM_H

#define READ_SIZEOF	584	/* sizeof(struct perfctr_read) */
#define PAGE_SEQ	4
#define PAGE_MAP	32
#define PAGE_SLOT	288
#define PAGE_OPERAND	1344
#define SLOT_BIAS	8

	.macro	FUNC name
	.balign	16
	.globl	\name
	.type	\name, @function
\name:
	.endm

	.macro	END name
	.size	\name, . - \name
	.endm

#endif /* LOOPS_ASM_H */
