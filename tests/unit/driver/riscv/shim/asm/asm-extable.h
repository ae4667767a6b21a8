/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The driver tries in assembly whether a CSR can be read. Its instructions are
 * macros of the host's assembler here; the exception table's way around them, to
 * the label 2, is a jump.
 */
#ifndef SHIM_ASM_EXTABLE_H
#define SHIM_ASM_EXTABLE_H

/* shim_csr_readable[] says which: model_sbi.c */
#if defined(__x86_64__)
asm(".macro	csrr rd:req, csr:req\n"
    "	cmpb	$0, shim_csr_readable + \\csr - 0xc00(%rip)\n"
    "	je	2f\n"
    "	mov	$0, \\rd\n"
    ".endm\n"
    ".macro	li rd:req, value:req\n"
    "	mov	$\\value, \\rd\n"
    ".endm\n");
#else
#error "the instructions of this host are missing here"
#endif

#define _ASM_EXTABLE(from, to)	""

#endif /* SHIM_ASM_EXTABLE_H */
