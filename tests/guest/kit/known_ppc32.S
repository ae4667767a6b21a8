/* SPDX-License-Identifier: GPL-2.0 */
/* A program of known length; see known.h. */
#include <sys/syscall.h>
#include "kit/known.h"

	.text
	.globl	_start
	.type	_start, @function
_start:
	nop				# 1
	lis	9, KNOWN_LOOPS@ha	# 2
	addi	9, 9, KNOWN_LOOPS@l	# 3
1:	addic.	9, 9, -1		# KNOWN_LOOPS times 1
	bne	1b			# KNOWN_LOOPS times 2
	nop				# 4
	li	31, KNOWN_YIELDS * 3 / 4 # 5
2:	li	0, SYS_sched_yield	# 3/4 KNOWN_YIELDS times 1
	sc				# 3/4 KNOWN_YIELDS times 2
	addic.	31, 31, -1		# 3/4 KNOWN_YIELDS times 3
	bne	2b			# 3/4 KNOWN_YIELDS times 4
	li	3, 0			# 6
	li	0, SYS_exit_group	# 7
	sc				# 8
	.size	_start, . - _start

	.section .note.GNU-stack, "", @progbits
