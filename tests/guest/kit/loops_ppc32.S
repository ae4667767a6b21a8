/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length for PowerPC of 32 bits; see loops.h. Numbers at the right count the
 * instructions of a body, or those between the two samples of a read. A system call leaves
 * r0, r3 to r12 and CTR undefined, and tells an error by the bit SO of CR0.
 */
#include <sys/syscall.h>

#include "kit/loops_asm.h"

	/* A count of 64 bits, and a thread pointer in one, has its lower half behind the upper. */
#define LOW	4

	.text

FUNC body_spin
1:	addic.	3, 3, -1		# n times 1
	bne	1b			# n times 2
	blr				# 1
END body_spin

FUNC body_yield
	stwu	1, -16(1)		# 1
	stw	31, 12(1)		# 2
	mr	31, 3			# 3
1:	li	0, SYS_sched_yield	# n times 1
	sc				# n times 2
	addic.	31, 31, -1		# n times 3
	bne	1b			# n times 4
	lwz	31, 12(1)		# 4
	addi	1, 1, 16		# 5
	blr				# 6
END body_yield

FUNC body_touch
	lwz	4, 0(3)			# 1
	lwz	5, 4(3)			# 2
	li	6, 0			# 3
1:	stw	6, 0(4)			# n times 1
	addi	4, 4, 4096		# n times 2
	addic.	5, 5, -1		# n times 3
	bne	1b			# n times 4
	blr				# 4
END body_touch

FUNC body_signal
	stwu	1, -16(1)		# 1
	stw	30, 8(1)		# 2
	stw	31, 12(1)		# 3
	mr	31, 3			# 4
	lwz	30, 12(31)		# 5
1:	lwz	3, 0(31)		# n times 1
	lwz	4, 4(31)		# n times 2
	lwz	5, 8(31)		# n times 3
	li	0, SYS_tgkill		# n times 4
	sc				# n times 5, and the handler
	addic.	30, 30, -1		# n times 6
	bne	1b			# n times 7
	lwz	30, 8(1)		# 6
	lwz	31, 12(1)		# 7
	addi	1, 1, 16		# 8
	blr				# 9
END body_signal

FUNC body_unblocked
	stwu	1, -16(1)		# 1
	stw	31, 12(1)		# 2
	mr	31, 3			# 3
	li	3, 1			# 4: SIG_UNBLOCK
	lwz	4, 0(31)		# 5
	li	5, 0			# 6
	li	6, 8			# 7
	li	0, SYS_rt_sigprocmask	# 8
	sc				# 9
	lwz	7, 4(31)		# 10
1:	addic.	7, 7, -1		# n times 1
	bne	1b			# n times 2
	li	3, 0			# 11: SIG_BLOCK
	lwz	4, 0(31)		# 12
	li	5, 0			# 13
	li	6, 8			# 14
	li	0, SYS_rt_sigprocmask	# 15
	sc				# 16
	lwz	31, 12(1)		# 17
	addi	1, 1, 16		# 18
	blr				# 19
END body_unblocked

FUNC loops_handler
	lis	9, loops_handled@ha	# 1
	lwz	10, loops_handled@l + LOW(9) # 2
	addic	10, 10, 1		# 3
	stw	10, loops_handled@l + LOW(9) # 4
	lwz	11, loops_handled@l(9)	# 5
	addze	11, 11			# 6
	stw	11, loops_handled@l(9)	# 7
	lis	9, loops_return@ha	# 8
	mflr	10			# 9
	stw	10, loops_return@l(9)	# 10
	blr				# 11
END loops_handler

	.bss
	.balign	8
	.globl	loops_handled
	.globl	loops_return
	.type	loops_handled, @object
	.size	loops_handled, 8
	.type	loops_return, @object
	.size	loops_return, 4
loops_handled:
	.zero	8
loops_return:
	.zero	4
	.text

#define FRAME		80
#define SAVED		24	/* where r19 is */

	.macro	ENTER
	mflr	0
	stwu	1, -FRAME(1)
	stw	0, FRAME + 4(1)
	stmw	19, SAVED(1)
	.endm

	.macro	LEAVE
	lmw	19, SAVED(1)
	lwz	0, FRAME + 4(1)
	mtlr	0
	addi	1, 1, FRAME
	blr
	.endm

/* For each counter, its copy that user mode reads: to r11 */
	.balign	8
upmc_stubs:
	.irp	spr, 937, 938, 941, 942, 929, 930
	mfspr	11, \spr
	blr
	.endr

/* \to becomes the stub that reads counter \n. */
	.macro	STUB to, n
	lis	10, upmc_stubs@ha
	addi	10, 10, upmc_stubs@l
	slwi	\to, \n, 3
	add	\to, \to, 10
	.endm

/* Of the page in r3 and counter r4: r31 the page, r30 the stub, r29 the slot */
	.macro	LOCATE
	mr	31, 3
	slwi	8, 4, 2
	add	8, 8, 31
	lwz	9, PAGE_OPERAND(8)
	STUB	30, 9
	lwz	8, PAGE_MAP(8)
	addi	29, 31, PAGE_SLOT
	add	29, 29, 8
	.endm

FUNC exact_inline
	ENTER
	LOCATE
	mr	28, 5
	mr	27, 6
	mr	26, 7
	li	25, 0
1:	lwz	24, PAGE_SEQ(31)
	lwz	0, LOW(29)
	cmpw	0, 2
	bne	9f
	mtctr	30
	bctrl				# 1, the first sample, and 2
	lwz	8, SLOT_BIAS + LOW(29)	# 3
	lwz	9, SLOT_BIAS(29)	# 4
	addc	8, 8, 11		# 5
	addze	9, 9			# 6
	lwz	0, PAGE_SEQ(31)		# 7
	cmpw	0, 24			# 8
	bne	1b			# 9
	stw	9, 0(26)		# 10
	stw	8, LOW(26)		# 11
	mtctr	28			# 12
	mr	3, 27			# 13
	bctrl				# 14, and the body
2:	lwz	24, PAGE_SEQ(31)	# 15; retry 12
	lwz	0, LOW(29)		# 16; retry 13
	cmpw	0, 2			# 17; retry 14
	bne	9f			# 18; retry 15
	mtctr	30			# 19; retry 16
	bctrl				# 20; retry 17; the second sample, retry 1, and 2
	lwz	8, SLOT_BIAS + LOW(29)	# retry 3
	lwz	9, SLOT_BIAS(29)	# retry 4
	addc	8, 8, 11		# retry 5
	addze	9, 9			# retry 6
	lwz	0, PAGE_SEQ(31)		# retry 7
	cmpw	0, 24			# retry 8
	beq	3f			# retry 9
	addi	25, 25, 1		# retry 10
	b	2b			# retry 11
3:	stw	9, 8(26)
	stw	8, 8 + LOW(26)
	mr	3, 25
	b	4f
9:	li	3, -1
4:	LEAVE
END exact_inline

	/* After a system call: r3 becomes the -errno, if it failed. */
	.macro	RESULT
	bns	5f
	neg	3, 3
5:
	.endm

FUNC exact_kernel
	ENTER
	mr	31, 3
	mr	30, 4
	mr	29, 5
	mr	28, 6
	mr	27, 7
	li	0, SYS_ioctl
	sc				# 1: the first sample
	bso	1f			# 2
	mtctr	28			# 3
	mr	3, 27			# 4
	bctrl				# 5, and the body
	mr	3, 31			# 6
	mr	4, 30			# 7
	addi	5, 29, READ_SIZEOF	# 8
	li	0, SYS_ioctl		# 9
	sc				# the second sample
1:	RESULT
	LEAVE
END exact_kernel

FUNC exact_read
	ENTER
	mr	31, 3
	mr	30, 4
	mr	29, 5
	mr	28, 6
	mr	27, 7
	li	0, SYS_read
	sc				# 1: the first sample
	bso	1f			# 2
	mtctr	28			# 3
	mr	3, 27			# 4
	bctrl				# 5, and the body
	mr	3, 31			# 6
	add	4, 30, 29		# 7
	mr	5, 29			# 8
	li	0, SYS_read		# 9
	sc				# the second sample
1:	RESULT
	LEAVE
END exact_read

/*
 * r31 page, r30 stub, r29 slot, r28 result, r27 turns asked for, r24 sequence count, r23 and r22
 * the previous value, r21 what the next difference must be, r20 turns left, r19 retries, r12 and
 * r10 the difference. A turn is what lies between two samples. Turns fit in 32 bits.
 */
#define TURN		26
#define TURN_RETRY	18

FUNC exact_reader
	ENTER
	LOCATE
	mr	28, 7
	mr	27, 6
	mr	20, 6
	li	19, 0
	li	21, 0
	li	10, 0
	li	12, 0
1:	lwz	24, PAGE_SEQ(31)
	lwz	0, LOW(29)
	cmpw	0, 2
	bne	9f
	mtctr	30
	bctrl				# 1, the first sample of all, and 2
	lwz	8, SLOT_BIAS + LOW(29)	# 3
	lwz	9, SLOT_BIAS(29)	# 4
	addc	8, 8, 11		# 5
	addze	9, 9			# 6
	lwz	0, PAGE_SEQ(31)		# 7
	cmpw	0, 24			# 8
	bne	1b			# 9
	mr	22, 8			# 10
	mr	23, 9			# 11
	.rept	8
	nop				# 12 to 19: in place of what is 12 to 19 below
	.endr
2:	li	21, TURN		# 20
3:	lwz	24, PAGE_SEQ(31)	# 21; retry 13
	lwz	0, LOW(29)		# 22; retry 14
	cmpw	0, 2			# 23; retry 15
	bne	9f			# 24; retry 16
	mtctr	30			# 25; retry 17
	bctrl				# 26; retry 18; 1, the sample, retry 1, and 2
	lwz	8, SLOT_BIAS + LOW(29)	# 3; retry 3
	lwz	9, SLOT_BIAS(29)	# 4; retry 4
	addc	8, 8, 11		# 5; retry 5
	addze	9, 9			# 6; retry 6
	lwz	0, PAGE_SEQ(31)		# 7; retry 7
	cmpw	0, 24			# 8; retry 8
	bne	4f			# 9; retry 9
	subfc	10, 22, 8		# 10
	subfe	12, 23, 9		# 11
	mr	22, 8			# 12
	mr	23, 9			# 13
	cmpw	10, 21			# 14
	bne	8f			# 15
	cmpwi	12, 0			# 16
	bne	8f			# 17
	addic.	20, 20, -1		# 18
	bne	2b			# 19
	li	3, 0
	b	5f
4:	addi	19, 19, 1		# retry 10
	addi	21, 21, TURN_RETRY	# retry 11
	b	3b			# retry 12
8:	li	3, 1
	b	5f
9:	li	3, 2
5:	li	0, 0
	subf	9, 20, 27
	stw	0, 0(28)		# turns
	stw	9, 0 + LOW(28)
	stw	0, 8(28)		# retries
	stw	19, 8 + LOW(28)
	stw	12, 16(28)		# delta
	stw	10, 16 + LOW(28)
	stw	0, 24(28)		# expected
	stw	21, 24 + LOW(28)
	LEAVE
END exact_reader

/* There are six; another one is an illegal instruction, as on the 604 all are. */
FUNC read_register
	cmplwi	3, 6
	blt	1f
	.long	0
	li	3, 0
	li	4, 0
	blr
1:	mflr	0
	STUB	9, 3
	mtctr	9
	bctrl
	mtlr	0
	li	3, 0
	mr	4, 11
	blr
END read_register

	.section .note.GNU-stack, "", @progbits
