/* SPDX-License-Identifier: GPL-2.0 */
/* A program of known length; see known.h. */
#include <sys/syscall.h>
#include "kit/known.h"

	.text
	.globl	_start
	.type	_start, @function
_start:
	adrp	x1, loops		// 1
	add	x1, x1, :lo12:loops	// 2
	ldr	x0, [x1]		// 3
1:	sub	x0, x0, #1		// KNOWN_LOOPS times 1
	cbnz	x0, 1b			// KNOWN_LOOPS times 2
	mov	x1, #KNOWN_YIELDS	// 4
	mov	x8, #SYS_sched_yield	// 5
2:	svc	#0			// KNOWN_YIELDS times 1
	sub	x1, x1, #1		// KNOWN_YIELDS times 2
	cbnz	x1, 2b			// KNOWN_YIELDS times 3
	mov	x0, #0			// 6
	mov	x8, #SYS_exit_group	// 7
	svc	#0			// 8
	.size	_start, . - _start

	.data
	.balign	8
loops:	.quad	KNOWN_LOOPS

	.section .note.GNU-stack, "", @progbits
