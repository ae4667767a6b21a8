/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of known length for arm64; see loops.h. Numbers at the right count the
 * instructions of a body, or those between the two samples of a read.
 */
#include <sys/syscall.h>

#include "kit/loops_asm.h"

	.text

FUNC body_spin
1:	sub	x0, x0, #1		// n times 1
	cbnz	x0, 1b			// n times 2
	ret				// 1
END body_spin

FUNC body_yield
	mov	x9, x0			// 1
1:	mov	x8, #SYS_sched_yield	// n times 1
	svc	#0			// n times 2
	sub	x9, x9, #1		// n times 3
	cbnz	x9, 1b			// n times 4
	ret				// 2
END body_yield

FUNC body_touch
	ldr	x9, [x0]		// 1
	ldr	x10, [x0, #8]		// 2
	nop				// 3
1:	str	xzr, [x9]		// n times 1
	add	x9, x9, #4096		// n times 2
	sub	x10, x10, #1		// n times 3
	cbnz	x10, 1b			// n times 4
	ret				// 4
END body_touch

FUNC body_signal
	mov	x9, x0			// 1
	ldr	x10, [x9, #24]		// 2
	ldr	x2, [x9, #16]		// 3
	mov	x8, #SYS_tgkill		// 4
1:	ldr	x0, [x9]		// n times 1
	ldr	x1, [x9, #8]		// n times 2
	svc	#0			// n times 3, and the handler
	sub	x10, x10, #1		// n times 4
	nop				// n times 5
	cbnz	x10, 1b			// n times 6
	nop				// 5
	ret				// 6
END body_signal

FUNC body_unblocked
	mov	x9, x0			// 1
	mov	x0, #1			// 2: SIG_UNBLOCK
	ldr	x1, [x9]		// 3
	mov	x2, #0			// 4
	mov	x3, #8			// 5
	mov	x8, #SYS_rt_sigprocmask	// 6
	svc	#0			// 7
	ldr	x10, [x9, #8]		// 8
1:	sub	x10, x10, #1		// n times 1
	cbnz	x10, 1b			// n times 2
	mov	x0, #0			// 9: SIG_BLOCK
	ldr	x1, [x9]		// 10
	mov	x2, #0			// 11
	mov	x3, #8			// 12
	mov	x8, #SYS_rt_sigprocmask	// 13
	svc	#0			// 14
	nop				// 15
	ret				// 16
END body_unblocked

FUNC loops_handler
	adrp	x9, loops_handled	// 1
	add	x9, x9, :lo12:loops_handled // 2
	ldr	x10, [x9]		// 3
	add	x10, x10, #1		// 4
	str	x10, [x9]		// 5
	str	x30, [x9, #8]		// 6: loops_return
	nop				// 7
	ret				// 8
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

/* No counter is read by instruction: this is the answer if the page says "ask". */
FUNC exact_inline
	mov	x0, #-1
	ret
END exact_inline

FUNC exact_reader
	mov	x0, #2
	ret
END exact_reader

FUNC exact_kernel
	stp	x29, x30, [sp, #-48]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	mov	x19, x0
	mov	x20, x1
	add	x21, x2, #READ_SIZEOF
	mov	x22, x3
	mov	x29, x4
	mov	x8, #SYS_ioctl
	svc	#0			// 1: the first sample
	tbnz	x0, #63, 1f		// 2
	mov	x0, x29			// 3
	blr	x22			// 4, and the body
	mov	x0, x19			// 5
	mov	x1, x20			// 6
	mov	x2, x21			// 7
	mov	x8, #SYS_ioctl		// 8
	svc	#0			// the second sample
1:	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #48
	ret
END exact_kernel

FUNC exact_read
	stp	x29, x30, [sp, #-48]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	mov	x19, x0
	add	x20, x1, x2
	mov	x21, x2
	mov	x22, x3
	mov	x29, x4
	mov	x8, #SYS_read
	svc	#0			// 1: the first sample
	tbnz	x0, #63, 1f		// 2
	mov	x0, x29			// 3
	blr	x22			// 4, and the body
	mov	x0, x19			// 5
	mov	x1, x20			// 6
	mov	x2, x21			// 7
	mov	x8, #SYS_read		// 8
	svc	#0			// the second sample
1:	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #48
	ret
END exact_read

/* PMEVCNTR<n>_EL0; 31 is PMCCNTR_EL0. User mode may read them if PMUSERENR_EL0 says so. */
register_stubs:
	.irp	m, 8,9,10,11
	.irp	op, 0,1,2,3,4,5,6,7
	.if	\m * 8 + \op < 95
	mrs	x0, s3_3_c14_c\m\()_\op
	ret
	.endif
	.endr
	.endr
	mrs	x0, pmccntr_el0
	ret

FUNC read_register
	adrp	x9, register_stubs
	add	x9, x9, :lo12:register_stubs
	add	x9, x9, x0, lsl #3
	br	x9
END read_register

	.section .note.GNU-stack, "", @progbits
