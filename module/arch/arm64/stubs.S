/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The instruction that reads a counter contains the counter's number. So each of the 31 event
 * counters and the cycle counter has a stub of 16 bytes, which reads the counter to x9 and returns.
 * BTI requires a landing pad at the target of an indirect branch.
 */
#include <linux/linkage.h>

	.text
	.balign 16
SYM_CODE_START(perfctr_arm64_stubs)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	hint	#34			// bti c
	mrs	x9, pmevcntr\n\()_el0
	ret
	nop
	.endr
	hint	#34			// bti c
	mrs	x9, pmccntr_el0
	ret
	nop
SYM_CODE_END(perfctr_arm64_stubs)
