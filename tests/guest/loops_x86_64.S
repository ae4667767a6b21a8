/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length for x86_64; see loops.h. Numbers at the right count the
 * instructions of a body, or those between the two samples of a read. Counters
 * that could be read in user mode come with their own issue: the readers say
 * "ask the kernel".
 */
#include <sys/syscall.h>

#define READ_SIZEOF	328	/* sizeof(struct perfctr_read) */

	.text

	.macro	FUNC name
	.balign	16
	.globl	\name
	.type	\name, @function
\name:
	.endm

	.macro	END name
	.size	\name, . - \name
	.endm

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
	ret				# 5
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
	mov	$-1, %rax
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

FUNC exact_reader
	mov	$2, %eax
	ret
END exact_reader

FUNC read_register
	mov	%edi, %ecx
	rdpmc
	shl	$32, %rdx
	or	%rdx, %rax
	ret
END read_register

	.section .note.GNU-stack, "", @progbits
