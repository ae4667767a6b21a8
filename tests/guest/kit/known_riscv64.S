/* SPDX-License-Identifier: GPL-2.0 */
/* A program of known length; see known.h. */
#include <sys/syscall.h>
#include "kit/known.h"

	/* No pair of instructions becomes one: they are counted. */
	.option	norvc
	.option	norelax

	.text
	.globl	_start
	.type	_start, @function
_start:
	lla	t1, loops		# 1, 2
	ld	t0, 0(t1)		# 3
1:	addi	t0, t0, -1		# KNOWN_LOOPS times 1
	bnez	t0, 1b			# KNOWN_LOOPS times 2
	li	t0, KNOWN_YIELDS	# 4
	li	a7, SYS_sched_yield	# 5
2:	ecall				# KNOWN_YIELDS times 1
	addi	t0, t0, -1		# KNOWN_YIELDS times 2
	bnez	t0, 2b			# KNOWN_YIELDS times 3
	li	a0, 0			# 6
	li	a7, SYS_exit_group	# 7
	ecall				# 8
	.size	_start, . - _start

	.data
	.balign	8
loops:	.dword	KNOWN_LOOPS

	.section .note.GNU-stack, "", @progbits
