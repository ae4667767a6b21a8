/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length for riscv64; see loops.h. Numbers at the right count the
 * instructions of a body, or those between the two samples of a read.
 */
#include <sys/syscall.h>

#include "kit/loops_asm.h"

/* No pair of instructions becomes one, no branch two: they are counted. */
	.option	norvc
	.option	norelax

	.text

FUNC body_spin
1:	addi	a0, a0, -1		# n times 1
	bnez	a0, 1b			# n times 2
	ret				# 1
END body_spin

FUNC body_yield
	mv	t0, a0			# 1
1:	li	a7, SYS_sched_yield	# n times 1
	ecall				# n times 2
	addi	t0, t0, -1		# n times 3
	bnez	t0, 1b			# n times 4
	ret				# 2
END body_yield

FUNC body_touch
	ld	t0, 0(a0)		# 1
	ld	t1, 8(a0)		# 2
	lui	t2, 1			# 3: 4096
1:	sd	zero, 0(t0)		# n times 1
	add	t0, t0, t2		# n times 2
	addi	t1, t1, -1		# n times 3
	bnez	t1, 1b			# n times 4
	ret				# 4
END body_touch

FUNC body_signal
	mv	t0, a0			# 1
	ld	t1, 24(t0)		# 2
	ld	a2, 16(t0)		# 3
	li	a7, SYS_tgkill		# 4
1:	ld	a0, 0(t0)		# n times 1
	ld	a1, 8(t0)		# n times 2
	ecall				# n times 3, and the handler
	addi	t1, t1, -1		# n times 4
	nop				# n times 5
	bnez	t1, 1b			# n times 6
	nop				# 5
	ret				# 6
END body_signal

FUNC body_unblocked
	mv	t0, a0			# 1
	li	a0, 1			# 2: SIG_UNBLOCK
	ld	a1, 0(t0)		# 3
	li	a2, 0			# 4
	li	a3, 8			# 5
	li	a7, SYS_rt_sigprocmask	# 6
	ecall				# 7
	ld	t1, 8(t0)		# 8
1:	addi	t1, t1, -1		# n times 1
	bnez	t1, 1b			# n times 2
	li	a0, 0			# 9: SIG_BLOCK
	ld	a1, 0(t0)		# 10
	li	a2, 0			# 11
	li	a3, 8			# 12
	li	a7, SYS_rt_sigprocmask	# 13
	ecall				# 14
	nop				# 15
	ret				# 16
END body_unblocked

FUNC loops_handler
	lla	t0, loops_handled	# 1, 2
	ld	t1, 0(t0)		# 3
	addi	t1, t1, 1		# 4
	sd	t1, 0(t0)		# 5
	sd	ra, 8(t0)		# 6: loops_return
	nop				# 7
	ret				# 8
END loops_handler

	.bss
	.balign	8
	.globl	loops_handled
	.globl	loops_return
	.type	loops_handled, @object
	.size	loops_handled, 8
	.type	loops_return, @object
	.size	loops_return, 8
loops_handled:
	.zero	8
loops_return:
	.zero	8
	.text

/*
 * One copy of the reader per CSR, whose number is an immediate; each jumps in
 * its own block only, so that no branch is ever made of two.
 * s0 page, s1 slot, s2 body, s3 arg, s4 value[2], s5 retries
 */
#define INLINE_SHIFT	7

	.macro	INLINE_READER csr
	.balign	1 << INLINE_SHIFT
1:	lw	t0, PAGE_SEQ(s0)
	bltz	t0, 9f
	ld	t1, 0(s1)
	bne	t1, tp, 9f
	ld	t2, SLOT_BIAS(s1)
	csrr	s6, \csr		# 1: the first sample
	lw	t1, PAGE_SEQ(s0)	# 2
	bne	t1, t0, 1b		# 3
	add	s6, s6, t2		# 4
	mv	a0, s3			# 5
	jalr	s2			# 6, and the body
2:	lw	t0, PAGE_SEQ(s0)	# 7; retry 6
	bltz	t0, 9f			# 8; retry 7
	ld	t1, 0(s1)		# 9; retry 8
	bne	t1, tp, 9f		# 10; retry 9
	ld	t2, SLOT_BIAS(s1)	# 11; retry 10
	csrr	s7, \csr		# the second sample; retry 1
	lw	t1, PAGE_SEQ(s0)	# retry 2
	beq	t1, t0, 3f		# retry 3
	addi	s5, s5, 1		# retry 4
	j	2b			# retry 5
3:	add	s7, s7, t2
	j	inline_done
9:	j	inline_ask
	.endm

	.balign	1 << INLINE_SHIFT
inline_readers:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	INLINE_READER	0xc00+\n
	.endr

FUNC exact_inline
	addi	sp, sp, -80
	sd	ra, 72(sp)
	sd	s0, 64(sp)
	sd	s1, 56(sp)
	sd	s2, 48(sp)
	sd	s3, 40(sp)
	sd	s4, 32(sp)
	sd	s5, 24(sp)
	sd	s6, 16(sp)
	sd	s7, 8(sp)
	mv	s0, a0
	mv	s2, a2
	mv	s3, a3
	mv	s4, a4
	li	s5, 0
	slli	a1, a1, 2
	add	a1, a1, a0
	lwu	a1, PAGE_MAP(a1)	# 16 times the number of the CSR
	addi	s1, a0, PAGE_SLOT
	add	s1, s1, a1
	li	t0, 16 * 32		# no CSR: the counter is not counted
	bgeu	a1, t0, inline_ask
	slli	a1, a1, INLINE_SHIFT - 4
	lla	t0, inline_readers
	add	t0, t0, a1
	jr	t0
inline_done:
	sd	s6, 0(s4)
	sd	s7, 8(s4)
	j	1f
inline_ask:
	li	s5, -1
1:	mv	a0, s5
	ld	ra, 72(sp)
	ld	s0, 64(sp)
	ld	s1, 56(sp)
	ld	s2, 48(sp)
	ld	s3, 40(sp)
	ld	s4, 32(sp)
	ld	s5, 24(sp)
	ld	s6, 16(sp)
	ld	s7, 8(sp)
	addi	sp, sp, 80
	ret
END exact_inline

FUNC exact_kernel
	addi	sp, sp, -48
	sd	ra, 40(sp)
	sd	s0, 32(sp)
	sd	s1, 24(sp)
	sd	s2, 16(sp)
	sd	s3, 8(sp)
	sd	s4, 0(sp)
	mv	s0, a0
	mv	s1, a1
	addi	s2, a2, READ_SIZEOF
	mv	s3, a3
	mv	s4, a4
	li	a7, SYS_ioctl
	ecall				# 1: the first sample
	bltz	a0, 1f			# 2
	mv	a0, s4			# 3
	jalr	s3			# 4, and the body
	mv	a0, s0			# 5
	mv	a1, s1			# 6
	mv	a2, s2			# 7
	li	a7, SYS_ioctl		# 8
	ecall				# the second sample
1:	ld	ra, 40(sp)
	ld	s0, 32(sp)
	ld	s1, 24(sp)
	ld	s2, 16(sp)
	ld	s3, 8(sp)
	ld	s4, 0(sp)
	addi	sp, sp, 48
	ret
END exact_kernel

FUNC exact_read
	addi	sp, sp, -48
	sd	ra, 40(sp)
	sd	s0, 32(sp)
	sd	s1, 24(sp)
	sd	s2, 16(sp)
	sd	s3, 8(sp)
	sd	s4, 0(sp)
	mv	s0, a0
	add	s1, a1, a2
	mv	s2, a2
	mv	s3, a3
	mv	s4, a4
	li	a7, SYS_read
	ecall				# 1: the first sample
	bltz	a0, 1f			# 2
	mv	a0, s4			# 3
	jalr	s3			# 4, and the body
	mv	a0, s0			# 5
	mv	a1, s1			# 6
	mv	a2, s2			# 7
	li	a7, SYS_read		# 8
	ecall				# the second sample
1:	ld	ra, 40(sp)
	ld	s0, 32(sp)
	ld	s1, 24(sp)
	ld	s2, 16(sp)
	ld	s3, 8(sp)
	ld	s4, 0(sp)
	addi	sp, sp, 48
	ret
END exact_read

/*
 * s0 page, s1 slot, s2 turns left, s3 result, s4 previous value, s5 retries,
 * s6 what the next difference must be. A turn is what lies between two samples.
 */
#define TURN_SHIFT	8
#define TURN		15
#define TURN_RETRY	11

	.macro	TURN_READER csr
	.balign	1 << TURN_SHIFT
1:	lw	t0, PAGE_SEQ(s0)
	bltz	t0, 9f
	ld	t1, 0(s1)
	bne	t1, tp, 9f
	ld	t2, SLOT_BIAS(s1)
	csrr	s4, \csr		# 1: the first sample of all
	lw	t1, PAGE_SEQ(s0)	# 2
	bne	t1, t0, 1b		# 3
	add	s4, s4, t2		# 4
	nop				# 5: in place of what is 5 to 9 below
	nop				# 6
	nop				# 7
	nop				# 8
	nop				# 9
2:	li	s6, TURN		# 10
3:	lw	t0, PAGE_SEQ(s0)	# 11; retry 7
	bltz	t0, 9f			# 12; retry 8
	ld	t1, 0(s1)		# 13; retry 9
	bne	t1, tp, 9f		# 14; retry 10
	ld	t2, SLOT_BIAS(s1)	# 15; retry 11
	csrr	s7, \csr		# 1: the sample; retry 1
	lw	t1, PAGE_SEQ(s0)	# 2; retry 2
	bne	t1, t0, 4f		# 3; retry 3
	add	s7, s7, t2		# 4
	sub	t3, s7, s4		# 5
	mv	s4, s7			# 6
	bne	t3, s6, 8f		# 7
	addi	s2, s2, -1		# 8
	bnez	s2, 2b			# 9
	li	a0, 0
	j	turn_end
4:	addi	s5, s5, 1		# retry 4
	addi	s6, s6, TURN_RETRY	# retry 5
	j	3b			# retry 6
8:	li	a0, 1
	j	turn_end
9:	li	a0, 2
	j	turn_end
	.endm

	.balign	1 << TURN_SHIFT
turn_readers:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	TURN_READER	0xc00+\n
	.endr

FUNC exact_reader
	addi	sp, sp, -80
	sd	s0, 64(sp)
	sd	s1, 56(sp)
	sd	s2, 48(sp)
	sd	s3, 40(sp)
	sd	s4, 32(sp)
	sd	s5, 24(sp)
	sd	s6, 16(sp)
	sd	s7, 8(sp)
	sd	a2, 0(sp)
	mv	s0, a0
	mv	s2, a2
	mv	s3, a3
	li	s5, 0
	li	s6, 0
	li	t3, 0
	slli	a1, a1, 2
	add	a1, a1, a0
	lwu	a1, PAGE_MAP(a1)
	addi	s1, a0, PAGE_SLOT
	add	s1, s1, a1
	li	a0, 2
	li	t0, 16 * 32
	bgeu	a1, t0, turn_end
	slli	a1, a1, TURN_SHIFT - 4
	lla	t0, turn_readers
	add	t0, t0, a1
	jr	t0
turn_end:
	ld	t0, 0(sp)
	sub	t0, t0, s2
	sd	t0, 0(s3)		# turns
	sd	s5, 8(s3)		# retries
	sd	t3, 16(s3)		# delta
	sd	s6, 24(s3)		# expected
	ld	s0, 64(sp)
	ld	s1, 56(sp)
	ld	s2, 48(sp)
	ld	s3, 40(sp)
	ld	s4, 32(sp)
	ld	s5, 24(sp)
	ld	s6, 16(sp)
	ld	s7, 8(sp)
	addi	sp, sp, 80
	ret
END exact_reader

register_stubs:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	csrr	a0, 0xc00+\n
	ret
	.endr

FUNC read_register
	slli	a0, a0, 3
	lla	t0, register_stubs
	add	t0, t0, a0
	jr	t0
END read_register

	.section .note.GNU-stack, "", @progbits
