/* SPDX-License-Identifier: GPL-2.0 */
/*
 * csrr contains the number of the CSR. So each of the 32 counters has a stub of 8 bytes, which
 * reads the counter to t1 and returns to t0.
 */
#include <linux/linkage.h>

	.text
	.balign 8
	.option push
	.option norvc
SYM_CODE_START(perfctr_riscv_stubs)
	.set	n, 0
	.rept	32
	csrr	t1, 0xc00 + n
	jr	t0
	.set	n, n + 1
	.endr
SYM_CODE_END(perfctr_riscv_stubs)
	.option pop
