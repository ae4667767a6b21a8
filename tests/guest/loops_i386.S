/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length for i386; see loops.h. Numbers at the right count the
 * instructions of a body, or those between the two samples of a read. Counters
 * that could be read in user mode come with their own issue: the readers say
 * "ask the kernel". Arguments are on the stack, and the callee may change them.
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

FUNC exact_inline
	mov	$-1, %eax
	ret
END exact_inline

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

FUNC exact_reader
	mov	$2, %eax
	ret
END exact_reader

FUNC read_register
	mov	4(%esp), %ecx
	rdpmc
	ret
END read_register

	.section .note.GNU-stack, "", @progbits
