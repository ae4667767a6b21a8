/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may touch a register: a bit for each, and no owner. Not zero if it could be had.
 * And who hears of NMIs.
 */
#ifndef SHIM_ASM_NMI_H
#define SHIM_ASM_NMI_H

struct pt_regs;

int reserve_perfctr_nmi(unsigned int msr);
void release_perfctr_nmi(unsigned int msr);
int reserve_evntsel_nmi(unsigned int msr);
void release_evntsel_nmi(unsigned int msr);

#define NMI_LOCAL	0
#define NMI_DONE	0
#define NMI_HANDLED	1

typedef int (*nmi_handler_t)(unsigned int type, struct pt_regs *regs);

#define NMI_FLAG_FIRST 1

int register_nmi_handler(unsigned int type, nmi_handler_t handler, unsigned long flags,
			 const char *name);
void unregister_nmi_handler(unsigned int type, const char *name);

#endif /* SHIM_ASM_NMI_H */
