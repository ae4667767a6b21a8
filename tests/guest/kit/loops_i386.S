/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length for i386; see loops.h. Numbers at the right count the
 * instructions of a body, or those between the two samples of a read. Arguments
 * are on the stack, and the callee may change them.
 */
#include <sys/syscall.h>

#include "kit/loops_asm.h"

	.text

FUNC body_spin
1:	decl	4(%esp)			# n times 1
	jnz	1b			# n times 2
	ret				# 1
END body_spin

FUNC body_yield
	mov	4(%esp), %edx		# 1
1:	mov	$SYS_sched_yield, %eax	# n times 1
	int	$0x80			# n times 2
	dec	%edx			# n times 3
	jnz	1b			# n times 4
	ret				# 2
END body_yield

FUNC body_touch
	mov	4(%esp), %edx		# 1
	mov	0(%edx), %eax		# 2
	mov	4(%edx), %edx		# 3
1:	movl	$0, (%eax)		# n times 1
	add	$4096, %eax		# n times 2
	dec	%edx			# n times 3
	jnz	1b			# n times 4
	ret				# 4
END body_touch

FUNC body_signal
	pusha				# 1
	mov	36(%esp), %esi		# 2
	mov	8(%esi), %edx		# 3
	mov	12(%esi), %edi		# 4
1:	mov	0(%esi), %ebx		# n times 1
	mov	4(%esi), %ecx		# n times 2
	mov	$SYS_tgkill, %eax	# n times 3
	int	$0x80			# n times 4, and the handler
	dec	%edi			# n times 5
	jnz	1b			# n times 6
	popa				# 5
	ret				# 6
END body_signal

FUNC body_unblocked
	pusha				# 1
	mov	36(%esp), %edi		# 2
	mov	$1, %ebx		# 3: SIG_UNBLOCK
	mov	0(%edi), %ecx		# 4
	mov	$0, %edx		# 5
	mov	$8, %esi		# 6
	mov	$SYS_rt_sigprocmask, %eax # 7
	int	$0x80			# 8
	mov	4(%edi), %ebp		# 9
1:	dec	%ebp			# n times 1
	jnz	1b			# n times 2
	mov	$0, %ebx		# 10: SIG_BLOCK
	mov	$SYS_rt_sigprocmask, %eax # 11
	int	$0x80			# 12
	nop				# 13
	nop				# 14
	popa				# 15
	ret				# 16
END body_unblocked

FUNC loops_handler
	addl	$1, loops_handled	# 1
	adcl	$0, loops_handled + 4	# 2
	mov	(%esp), %eax		# 3
	mov	%eax, loops_return	# 4
	ret				# 5
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

	/* The stack is aligned where the body is called. */
	.macro	ENTER
	push	%ebx
	push	%ebp
	push	%esi
	push	%edi
	sub	$8, %esp
	.endm

	.macro	LEAVE
	add	$8, %esp
	pop	%edi
	pop	%esi
	pop	%ebp
	pop	%ebx
	ret
	.endm

#define ARG(n)	24 + 4 * (n)(%esp)	/* from 1 on, after ENTER */

/* After 4 more: the argument of the body, the operand, and i's place for the retries */
#define INLINE_ARG(n)	ARG((n) + 1)
#define INLINE_OPERAND	4(%esp)
#define INLINE_RETRIES	INLINE_ARG(2)

FUNC exact_inline
	ENTER
	sub	$4, %esp
	mov	INLINE_ARG(1), %ebx
	mov	INLINE_ARG(2), %ecx
	mov	PAGE_OPERAND(%ebx,%ecx,4), %eax
	mov	%eax, INLINE_OPERAND
	mov	PAGE_MAP(%ebx,%ecx,4), %eax
	lea	PAGE_SLOT(%ebx,%eax), %ebp
	mov	INLINE_ARG(4), %eax
	mov	%eax, (%esp)
	mov	INLINE_ARG(5), %edi
	movl	$0, INLINE_RETRIES
1:	mov	PAGE_SEQ(%ebx), %esi
	mov	%gs:0, %eax
	cmp	%eax, (%ebp)
	jne	9f
	mov	INLINE_OPERAND, %ecx
	rdpmc				# 1: the first sample
	add	SLOT_BIAS(%ebp), %eax	# 2
	adc	SLOT_BIAS + 4(%ebp), %edx # 3
	cmp	PAGE_SEQ(%ebx), %esi	# 4
	jne	1b			# 5
	mov	%eax, (%edi)		# 6
	mov	%edx, 4(%edi)		# 7
	nop				# 8
	call	*INLINE_ARG(3)		# 9, and the body
2:	mov	PAGE_SEQ(%ebx), %esi	# 10; retry 9
	mov	%gs:0, %eax		# 11; retry 10
	cmp	%eax, (%ebp)		# 12; retry 11
	jne	9f			# 13; retry 12
	mov	INLINE_OPERAND, %ecx	# 14; retry 13
	rdpmc				# the second sample; retry 1
	add	SLOT_BIAS(%ebp), %eax	# retry 2
	adc	SLOT_BIAS + 4(%ebp), %edx # retry 3
	cmp	PAGE_SEQ(%ebx), %esi	# retry 4
	je	3f			# retry 5
	incl	INLINE_RETRIES		# retry 6
	nop				# retry 7
	jmp	2b			# retry 8
3:	mov	%eax, 8(%edi)
	mov	%edx, 12(%edi)
	mov	INLINE_RETRIES, %eax
	jmp	4f
9:	mov	$-1, %eax
4:	add	$4, %esp
	LEAVE
END exact_inline

FUNC exact_kernel
	ENTER
	mov	ARG(1), %ebx
	mov	ARG(2), %ecx
	mov	ARG(3), %edx
	lea	READ_SIZEOF(%edx), %esi
	mov	ARG(4), %edi
	mov	ARG(5), %ebp
	mov	$SYS_ioctl, %eax
	int	$0x80			# 1: the first sample
	test	%eax, %eax		# 2
	js	1f			# 3
	push	%ebp			# 4
	call	*%edi			# 5, and the body
	pop	%ebp			# 6
	mov	ARG(2), %ecx		# 7
	mov	%esi, %edx		# 8
	nop				# 9
	nop				# 10
	mov	$SYS_ioctl, %eax	# 11
	int	$0x80			# the second sample
1:	LEAVE
END exact_kernel

FUNC exact_read
	ENTER
	mov	ARG(1), %ebx
	mov	ARG(2), %ecx
	mov	ARG(3), %edx
	lea	(%ecx,%edx), %esi
	mov	ARG(4), %edi
	mov	ARG(5), %ebp
	mov	$SYS_read, %eax
	int	$0x80			# 1: the first sample
	test	%eax, %eax		# 2
	js	1f			# 3
	push	%ebp			# 4
	call	*%edi			# 5, and the body
	pop	%ebp			# 6
	mov	%esi, %ecx		# 7
	mov	ARG(3), %edx		# 8
	nop				# 9
	nop				# 10
	mov	$SYS_read, %eax		# 11
	int	$0x80			# the second sample
1:	LEAVE
END exact_read

/*
 * ebx page, ebp slot, esi sequence count; in the frame the operand, turns left, retries,
 * the previous value, what the next difference must be, and what it is. A turn is
 * what lies between two samples. Turns fit in 32 bits.
 */
#define TURN		25
#define TURN_RETRY	13
#define OPERAND		0(%esp)
#define LEFT		4(%esp)
#define RETRIES		8(%esp)
#define EXPECTED	12(%esp)
#define LAST		16(%esp)
#define LAST_HIGH	20(%esp)
#define DELTA		24(%esp)
#define DELTA_HIGH	28(%esp)
#define FRAME		32

#define READER_ARG(n)	ARG((n) + FRAME / 4)

FUNC exact_reader
	ENTER
	sub	$FRAME, %esp
	mov	READER_ARG(1), %ebx
	mov	READER_ARG(2), %ecx
	mov	PAGE_OPERAND(%ebx,%ecx,4), %eax
	mov	%eax, OPERAND
	mov	PAGE_MAP(%ebx,%ecx,4), %eax
	lea	PAGE_SLOT(%ebx,%eax), %ebp
	mov	READER_ARG(3), %eax
	mov	%eax, LEFT
	movl	$0, RETRIES
	movl	$0, EXPECTED
	movl	$0, DELTA
	movl	$0, DELTA_HIGH
1:	mov	PAGE_SEQ(%ebx), %esi
	mov	%gs:0, %eax
	cmp	%eax, (%ebp)
	jne	9f
	mov	OPERAND, %ecx
	rdpmc				# 1: the first sample of all
	add	SLOT_BIAS(%ebp), %eax	# 2
	adc	SLOT_BIAS + 4(%ebp), %edx # 3
	cmp	PAGE_SEQ(%ebx), %esi	# 4
	jne	1b			# 5
	mov	%eax, LAST		# 6
	mov	%edx, LAST_HIGH		# 7
	.rept	12
	nop				# 8 to 19: in place of what is 8 to 19 below
	.endr
2:	movl	$TURN, EXPECTED		# 20
3:	mov	PAGE_SEQ(%ebx), %esi	# 21; retry 9
	mov	%gs:0, %eax		# 22; retry 10
	cmp	%eax, (%ebp)		# 23; retry 11
	jne	9f			# 24; retry 12
	mov	OPERAND, %ecx		# 25; retry 13
	rdpmc				# 1: the sample; retry 1
	add	SLOT_BIAS(%ebp), %eax	# 2; retry 2
	adc	SLOT_BIAS + 4(%ebp), %edx # 3; retry 3
	cmp	PAGE_SEQ(%ebx), %esi	# 4; retry 4
	jne	4f			# 5; retry 5
	mov	%eax, %ecx		# 6
	mov	%edx, %edi		# 7
	sub	LAST, %ecx		# 8
	sbb	LAST_HIGH, %edi		# 9
	mov	%eax, LAST		# 10
	mov	%edx, LAST_HIGH		# 11
	mov	%ecx, DELTA		# 12
	mov	%edi, DELTA_HIGH	# 13
	cmp	EXPECTED, %ecx		# 14
	jne	8f			# 15
	test	%edi, %edi		# 16
	jnz	8f			# 17
	decl	LEFT			# 18
	jnz	2b			# 19
	xor	%eax, %eax
	jmp	5f
4:	incl	RETRIES			# retry 6
	addl	$TURN_RETRY, EXPECTED	# retry 7
	jmp	3b			# retry 8
8:	mov	$1, %eax
	jmp	5f
9:	mov	$2, %eax
5:	mov	READER_ARG(5), %edi
	mov	READER_ARG(3), %ecx
	sub	LEFT, %ecx
	mov	%ecx, 0(%edi)		# turns
	movl	$0, 4(%edi)
	mov	RETRIES, %ecx
	mov	%ecx, 8(%edi)		# retries
	movl	$0, 12(%edi)
	mov	DELTA, %ecx
	mov	%ecx, 16(%edi)		# delta
	mov	DELTA_HIGH, %ecx
	mov	%ecx, 20(%edi)
	mov	EXPECTED, %ecx
	mov	%ecx, 24(%edi)		# expected
	movl	$0, 28(%edi)
	add	$FRAME, %esp
	LEAVE
END exact_reader

/* From 24 on they are the fixed counters. */
FUNC read_register
	mov	4(%esp), %ecx
	lea	0x40000000 - 24(%ecx), %eax
	cmp	$24, %ecx
	cmovae	%eax, %ecx
	rdpmc
	ret
END read_register

	.section .note.GNU-stack, "", @progbits
