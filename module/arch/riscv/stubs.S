/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of a CSR is an immediate of csrr: one stub of 8 bytes for each of
 * the 32 counters reads it to t1 and returns to t0. A second set, of 32 bytes
 * each, extends the sign of a counter of less than 64 bits. The last one is of no
 * counter.
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

	.balign 32
SYM_CODE_START(perfctr_riscv_signed_stubs)
	.set	n, 0
	.rept	32
	.balign 32
	lla	t2, perfctr_riscv_unused_bits
	lw	t2, 0(t2)
	csrr	t1, 0xc00 + n
	sll	t1, t1, t2
	sra	t1, t1, t2
	jr	t0
	.set	n, n + 1
	.endr
SYM_CODE_END(perfctr_riscv_signed_stubs)

	.balign 8
SYM_CODE_START(perfctr_riscv_zero)
	li	t1, 0
	jr	t0
SYM_CODE_END(perfctr_riscv_zero)
	.option pop
