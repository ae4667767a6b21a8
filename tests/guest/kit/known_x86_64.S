/* SPDX-License-Identifier: GPL-2.0 */
/* A program of known length; see known.h. */
#include <sys/syscall.h>
#include "kit/known.h"

	.text
	.globl	_start
	.type	_start, @function
_start:
	nop				# 1
	nop				# 2
	mov	$KNOWN_LOOPS, %ebx	# 3
1:	dec	%ebx			# KNOWN_LOOPS times 1
	jnz	1b			# KNOWN_LOOPS times 2
	nop				# 4
	mov	$KNOWN_YIELDS * 3 / 4, %ebx # 5
2:	mov	$SYS_sched_yield, %eax	# 3/4 KNOWN_YIELDS times 1
	syscall				# 3/4 KNOWN_YIELDS times 2
	dec	%ebx			# 3/4 KNOWN_YIELDS times 3
	jnz	2b			# 3/4 KNOWN_YIELDS times 4
	mov	$0, %edi		# 6
	mov	$SYS_exit_group, %eax	# 7
	syscall				# 8
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
