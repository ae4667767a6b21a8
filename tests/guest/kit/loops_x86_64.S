/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length for x86_64; see loops.h. Numbers at the right count the
 * instructions of a body, or those between the two samples of a read.
 */
#include <sys/syscall.h>

#include "kit/loops_asm.h"

	.text

FUNC body_spin
1:	dec	%rdi			# n times 1
	jnz	1b			# n times 2
	ret				# 1
END body_spin

FUNC body_yield
	mov	%rdi, %rdx		# 1
1:	mov	$SYS_sched_yield, %eax	# n times 1
	syscall				# n times 2
	dec	%rdx			# n times 3
	jnz	1b			# n times 4
	ret				# 2
END body_yield

FUNC body_touch
	mov	(%rdi), %rax		# 1
	mov	8(%rdi), %rdx		# 2
	nop				# 3
1:	movq	$0, (%rax)		# n times 1
	add	$4096, %rax		# n times 2
	dec	%rdx			# n times 3
	jnz	1b			# n times 4
	ret				# 4
END body_touch

FUNC body_signal
	mov	%rdi, %r8		# 1
	mov	24(%r8), %r9		# 2
	mov	16(%r8), %rdx		# 3
	nop				# 4
1:	mov	0(%r8), %rdi		# n times 1
	mov	8(%r8), %rsi		# n times 2
	mov	$SYS_tgkill, %eax	# n times 3
	syscall				# n times 4, and the handler
	dec	%r9			# n times 5
	jnz	1b			# n times 6
	nop				# 5
	ret				# 6
END body_signal

FUNC body_unblocked
	mov	%rdi, %r8		# 1
	mov	$1, %edi		# 2: SIG_UNBLOCK
	mov	0(%r8), %rsi		# 3
	mov	$0, %edx		# 4
	mov	$8, %r10d		# 5
	mov	$SYS_rt_sigprocmask, %eax # 6
	syscall				# 7
	mov	8(%r8), %r9		# 8
1:	dec	%r9			# n times 1
	jnz	1b			# n times 2
	mov	$0, %edi		# 9: SIG_BLOCK
	mov	0(%r8), %rsi		# 10
	mov	$0, %edx		# 11
	mov	$8, %r10d		# 12
	mov	$SYS_rt_sigprocmask, %eax # 13
	syscall				# 14
	nop				# 15
	ret				# 16
END body_unblocked

FUNC loops_handler
	incq	loops_handled(%rip)	# 1
	mov	(%rsp), %rax		# 2
	mov	%rax, loops_return(%rip) # 3
	nop				# 4
	ret				# 5
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

FUNC exact_inline
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	PAGE_OPERAND(%rdi,%rsi,4), %eax
	push	%rax
	mov	%rdi, %rbx
	mov	PAGE_MAP(%rdi,%rsi,4), %eax
	lea	PAGE_SLOT(%rdi,%rax), %rbp
	mov	%rdx, %r12
	mov	%rcx, %r13
	mov	%r8, %r14
	xor	%r15d, %r15d
1:	mov	PAGE_SEQ(%rbx), %esi
	mov	%fs:0, %rax
	cmp	%rax, (%rbp)
	jne	9f
	mov	(%rsp), %ecx
	rdpmc				# 1: the first sample
	shl	$32, %rdx		# 2
	or	%rdx, %rax		# 3
	add	SLOT_BIAS(%rbp), %rax	# 4
	cmp	PAGE_SEQ(%rbx), %esi	# 5
	jne	1b			# 6
	mov	%rax, (%r14)		# 7
	mov	%r13, %rdi		# 8
	call	*%r12			# 9, and the body
2:	mov	PAGE_SEQ(%rbx), %esi	# 10; retry 9
	mov	%fs:0, %rax		# 11; retry 10
	cmp	%rax, (%rbp)		# 12; retry 11
	jne	9f			# 13; retry 12
	mov	(%rsp), %ecx		# 14; retry 13
	rdpmc				# the second sample; retry 1
	shl	$32, %rdx		# retry 2
	or	%rdx, %rax		# retry 3
	add	SLOT_BIAS(%rbp), %rax	# retry 4
	cmp	PAGE_SEQ(%rbx), %esi	# retry 5
	je	3f			# retry 6
	inc	%r15			# retry 7
	jmp	2b			# retry 8
3:	mov	%rax, 8(%r14)
	mov	%r15, %rax
	jmp	4f
9:	mov	$-1, %rax
4:	pop	%rcx
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
END exact_inline

FUNC exact_kernel
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	mov	%rdi, %rbx
	mov	%rsi, %rbp
	lea	READ_SIZEOF(%rdx), %r12
	mov	%rcx, %r13
	mov	%r8, %r14
	mov	$SYS_ioctl, %eax
	syscall				# 1: the first sample
	test	%rax, %rax		# 2
	js	1f			# 3
	mov	%r14, %rdi		# 4
	call	*%r13			# 5, and the body
	mov	%rbx, %rdi		# 6
	mov	%rbp, %rsi		# 7
	mov	%r12, %rdx		# 8
	nop				# 9
	nop				# 10
	mov	$SYS_ioctl, %eax	# 11
	syscall				# the second sample
1:	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
END exact_kernel

FUNC exact_read
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	mov	%rdi, %rbx
	lea	(%rsi,%rdx), %rbp
	mov	%rdx, %r12
	mov	%rcx, %r13
	mov	%r8, %r14
	mov	$SYS_read, %eax
	syscall				# 1: the first sample
	test	%rax, %rax		# 2
	js	1f			# 3
	mov	%r14, %rdi		# 4
	call	*%r13			# 5, and the body
	mov	%rbx, %rdi		# 6
	mov	%rbp, %rsi		# 7
	mov	%r12, %rdx		# 8
	nop				# 9
	nop				# 10
	mov	$SYS_read, %eax		# 11
	syscall				# the second sample
1:	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
END exact_read

/*
 * rbx page, rbp slot, r10 operand, r12 turns left, r13 result, r14 previous value,
 * r15 retries, r9 what the next difference must be, r11 what it is. A turn is what
 * lies between two samples.
 */
#define TURN		19
#define TURN_RETRY	14

FUNC exact_reader
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rdx
	mov	%rdi, %rbx
	mov	PAGE_OPERAND(%rdi,%rsi,4), %r10d
	mov	PAGE_MAP(%rdi,%rsi,4), %eax
	lea	PAGE_SLOT(%rdi,%rax), %rbp
	mov	%rdx, %r12
	mov	%rcx, %r13
	xor	%r15d, %r15d
	xor	%r9d, %r9d
	xor	%r11d, %r11d
1:	mov	PAGE_SEQ(%rbx), %esi
	mov	%fs:0, %rax
	cmp	%rax, (%rbp)
	jne	9f
	mov	%r10d, %ecx
	rdpmc				# 1: the first sample of all
	shl	$32, %rdx		# 2
	or	%rdx, %rax		# 3
	add	SLOT_BIAS(%rbp), %rax	# 4
	cmp	PAGE_SEQ(%rbx), %esi	# 5
	jne	1b			# 6
	mov	%rax, %r14		# 7
	nop				# 8: in place of what is 8 to 13 below
	nop				# 9
	nop				# 10
	nop				# 11
	nop				# 12
	nop				# 13
2:	mov	$TURN, %r9d		# 14
3:	mov	PAGE_SEQ(%rbx), %esi	# 15; retry 10
	mov	%fs:0, %rax		# 16; retry 11
	cmp	%rax, (%rbp)		# 17; retry 12
	jne	9f			# 18; retry 13
	mov	%r10d, %ecx		# 19; retry 14
	rdpmc				# 1: the sample; retry 1
	shl	$32, %rdx		# 2; retry 2
	or	%rdx, %rax		# 3; retry 3
	add	SLOT_BIAS(%rbp), %rax	# 4; retry 4
	cmp	PAGE_SEQ(%rbx), %esi	# 5; retry 5
	jne	4f			# 6; retry 6
	mov	%rax, %r11		# 7
	sub	%r14, %r11		# 8
	mov	%rax, %r14		# 9
	cmp	%r9, %r11		# 10
	jne	8f			# 11
	dec	%r12			# 12
	jnz	2b			# 13
	xor	%eax, %eax
	jmp	5f
4:	inc	%r15			# retry 7
	add	$TURN_RETRY, %r9	# retry 8
	jmp	3b			# retry 9
8:	mov	$1, %eax
	jmp	5f
9:	mov	$2, %eax
5:	pop	%rdx
	sub	%r12, %rdx
	mov	%rdx, 0(%r13)		# turns
	mov	%r15, 8(%r13)		# retries
	mov	%r11, 16(%r13)		# delta
	mov	%r9, 24(%r13)		# expected
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
END exact_reader

/* From 24 on they are the fixed counters. */
FUNC read_register
	mov	%edi, %ecx
	lea	0x40000000 - 24(%rdi), %eax
	cmp	$24, %edi
	cmovae	%eax, %ecx
	rdpmc
	shl	$32, %rdx
	or	%rdx, %rax
	ret
END read_register

	.section .note.GNU-stack, "", @progbits
