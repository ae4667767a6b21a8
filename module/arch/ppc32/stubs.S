/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mfspr contains the number of the SPR. So each of the six counters has a stub of 16 bytes, which
 * reads the counter to r3 and returns. Six more stubs are for i-mode counters. They invert the
 * highest bit: registers.c says why.
 */
#include <linux/linkage.h>
#include <asm/ppc_asm.h>

	.text
	.balign 16
_GLOBAL(perfctr_ppc32_stubs)
	.irp	spr, 953, 954, 957, 958, 945, 946
	mfspr	r3, \spr
	blr
	.balign	16
	.endr
	.irp	spr, 953, 954, 957, 958, 945, 946
	mfspr	r3, \spr
	xoris	r3, r3, 0x8000
	blr
	.balign	16
	.endr
