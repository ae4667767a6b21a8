/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_CSR_H
#define SHIM_ASM_CSR_H

#include "shim/kernel.h"

#define CSR_SIE		0x104
#define CSR_SCOUNTEREN	0x106
#define CSR_SCAUSE	0x142
#define CSR_SIP		0x144
#define CSR_CYCLE	0xc00
#define CSR_TIME	0xc01
#define CSR_INSTRET	0xc02
#define CSR_SCOUNTOVF	0xda0

#define IRQ_PMU_OVF	13
#define EXC_SYSCALL	8

/* Of the current CPU's hart: model_sbi.c */
unsigned long shim_csr_read(unsigned int csr);
unsigned long shim_csr_read_set(unsigned int csr, unsigned long bits);
void shim_csr_set(unsigned int csr, unsigned long bits);
void shim_csr_clear(unsigned int csr, unsigned long bits);

#define csr_read(csr)		shim_csr_read(csr)
#define csr_read_set(csr, bits)	shim_csr_read_set(csr, bits)
#define csr_set(csr, bits)	shim_csr_set(csr, bits)
#define csr_clear(csr, bits)	shim_csr_clear(csr, bits)

#endif /* SHIM_ASM_CSR_H */
