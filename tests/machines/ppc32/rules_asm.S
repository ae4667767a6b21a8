/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the program that must be known instruction by instruction: the
 * vectors, and what is counted. It is in ROM at FFF00000H, where the processor
 * begins; memory is at zero. The MMU is off but where a load is to fail.
 *
 * Exceptions change r26 to r29 and CR7. r30 and r31 are what they write to MMCR0.
 */
#include "rules.h"

	.macro	vector at, to
	.org	vectors + \at
	li	28, \at
	b	\to
	.endm

	.section .vectors, "ax"
	.globl	vectors
vectors:
	.org	vectors + 0x100
	b	start
	vector	0x200, fault
	vector	0x300, fault		# data storage
	vector	0x400, fault
	vector	0x500, fault
	vector	0x600, fault
	vector	0x700, fault		# program
	vector	0x800, fault
	vector	0x900, interrupt	# decrementer
	.org	vectors + 0xc00		# system call: the counted code is over
	mtspr	SPR_MMCR0, 31
	b	stop
	vector	0xd00, fault
	.org	vectors + 0xf00
	b	monitor
	vector	0xf20, fault
	vector	0x1100, fault		# a load that has no translation on the 745 and 755

	.text
start:
	li	0, MSR_KERNEL
	mtmsr	0
	isync
	lis	1, stack_top@ha
	addi	1, 1, stack_top@l
	li	0, 0
	stwu	0, -16(1)
	b	main

# An instruction failed: remember it, go on behind it.
fault:
	mfspr	26, SPR_SRR0
	addi	26, 26, 4
	mtspr	SPR_SRR0, 26
	lis	27, seen@ha
	addi	27, 27, seen@l
	lwz	26, SEEN_FAULTS(27)
	addi	26, 26, 1
	stw	26, SEEN_FAULTS(27)
	mfspr	26, SPR_SRR1
	stw	26, SEEN_FAULT_SRR1(27)
	b	remember

interrupt:
	lis	27, seen@ha
	addi	27, 27, seen@l
remember:				# in order, eight bits each
	lwz	26, SEEN_ORDER(27)
	slwi	26, 26, 8
	srwi	28, 28, 4
	or	26, 26, 28
	stw	26, SEEN_ORDER(27)
	rfi

# The performance monitor. It is told to stop when there were LIMIT of them.
monitor:
	lis	27, seen@ha
	addi	27, 27, seen@l
	mfspr	26, SPR_MMCR0
	stw	26, SEEN_MMCR0(27)
	mfspr	26, SPR_SIAR
	stw	26, SEEN_SIAR(27)
	mftb	26
	stw	26, SEEN_TBL(27)
	mfspr	26, SPR_SRR0
	stw	26, SEEN_SRR0(27)
	mfspr	26, SPR_SRR1
	stw	26, SEEN_SRR1(27)
	lwz	26, SEEN_PMIS(27)
	addi	26, 26, 1
	stw	26, SEEN_PMIS(27)
	lwz	28, SEEN_LIMIT(27)
	cmplw	7, 26, 28
	blt	7, 1f
	mtspr	SPR_MMCR0, 30
1:	li	28, 0xf00
	b	remember

# void run(uint32_t msr, const void *code, uint32_t mmcr0, uint32_t pmi, uint32_t end)
#
# Executes the code, which ends by sc, in the state msr, and counts it. There are
# counted in the state MSR_KERNEL: rfi and the one mtspr that ends the counting, so 2.
# It begins just behind a tick of the time base.
	.globl	run
run:
	mflr	0
	stw	0, 4(1)
	stwu	1, -96(1)
	stmw	13, 16(1)
	lis	9, run_stack@ha
	stw	1, run_stack@l(9)
	mtspr	SPR_SRR0, 4
	mtspr	SPR_SRR1, 3
	mr	30, 6
	mr	31, 7
	li	20, 0
	li	21, 0
	mftb	9
1:	mftb	10
	cmplw	9, 10
	beq	1b
	mtspr	SPR_MMCR0, 5
	rfi
stop:
	lis	9, run_stack@ha
	lwz	1, run_stack@l(9)
	lis	9, seen@ha
	addi	9, 9, seen@l
	stw	20, SEEN_R20(9)
	stw	21, SEEN_R21(9)
	lmw	13, 16(1)
	addi	1, 1, 96
	lwz	0, 4(1)
	mtlr	0
	li	0, MSR_KERNEL
	mtmsr	0
	blr

	.macro	code name
	.balign	64
	.globl	\name
\name:
	.endm

# 203 with sc, 100 of them branches
code	loop_100
	li	3, 100
	mtctr	3
1:	nop
	bdnz	1b
	sc

# 129 with sc
code	nops_128
	.rept	128
	nop
	.endr
	sc

# 65: sets MSR[EE] by its 32nd instruction
code	late_ee
	mfmsr	3
	ori	3, 3, MSR_EE
	.rept	29
	nop
	.endr
	mtmsr	3
	.globl	late_ee_taken
late_ee_taken:
	.rept	32
	nop
	.endr
	sc

# 67, with MSR[PM] from the 12th to the 22nd: the mtmsr that clears it is the 22nd
code	marked_10
	mfmsr	3
	ori	4, 3, MSR_PM
	.rept	8
	nop
	.endr
	mtmsr	4
	.rept	10
	nop
	.endr
	mtmsr	3
	.rept	44
	nop
	.endr
	sc

# 35 begin and 33 are executed: a trap and an illegal instruction are not
code	faults
	.rept	16
	nop
	.endr
	trap
	.rept	8
	nop
	.endr
	.long	0
	.rept	8
	nop
	.endr
	sc

# 33 begin; if MSR[DR] is set, the load is not executed
code	load
	.rept	15
	nop
	.endr
	li	3, 0
	lwz	4, 0(3)
	.rept	15
	nop
	.endr
	sc

# Reads PMC1 in the middle of a block: r21 - r20 is 6.
code	reads
	nop
	nop
	mfspr	20, SPR_PMC1
	.rept	5
	nop
	.endr
	mfspr	21, SPR_PMC1
	nop
	sc

# Starts counting by itself, with r30, and stops with r31: in between are 7 nops, and the
# second mtspr.
code	starts
	nop
	mtspr	SPR_MMCR0, 30
	.rept	7
	nop
	.endr
	mtspr	SPR_MMCR0, 31
	nop
	sc

# From one tick of the time base to another one, about 100,000 instructions later
code	ticks
	mftb	20
	lis	3, 50000@h
	ori	3, 3, 50000@l
	mtctr	3
1:	nop
	bdnz	1b
	mftb	21
2:	mftb	3
	cmplw	3, 21
	beq	2b
	mr	21, 3
	sc

# 120,004 instructions, while 3,000 ticks, and 6,000,004, while 150,000: there bits 31 and 23,
# and 19 and 15 of the time base have become 1.
	.macro	wait turns
	lis	3, \turns@h
	ori	3, 3, \turns@l
	mtctr	3
1:	nop
	bdnz	1b
	sc
	.endm
code	waits
	wait	60000
code	waits_long
	wait	3000000

# The performance monitor and the decrementer want to interrupt; then both may.
code	both
	li	3, 1
	mtspr	SPR_DEC, 3
	li	3, 100
	mtctr	3
1:	nop
	bdnz	1b
	mfmsr	3
	ori	3, 3, MSR_EE
	mtmsr	3
	nop
	sc

# Each register that could be one of them: mfspr to r20, mtspr of 0
	.balign	32
	.globl	spr_accesses
spr_accesses:
	.set	number, 928
	.rept	32
	.balign	32
	li	20, 0x5a5a
	mfspr	20, number
	sc
	.balign	16
	li	3, 0
	mtspr	number, 3
	sc
	.set	number, number + 1
	.endr

	.bss
	.balign	16
run_stack:
	.skip	16
	.skip	16384
stack_top:

	.section .note.GNU-stack, "", @progbits
