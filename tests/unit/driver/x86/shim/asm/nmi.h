/* SPDX-License-Identifier: GPL-2.0 */
/* Who may touch a register: a bit for each, and no owner. Not zero if it could be had. */
#ifndef SHIM_ASM_NMI_H
#define SHIM_ASM_NMI_H

int reserve_perfctr_nmi(unsigned int msr);
void release_perfctr_nmi(unsigned int msr);
int reserve_evntsel_nmi(unsigned int msr);
void release_evntsel_nmi(unsigned int msr);

#endif /* SHIM_ASM_NMI_H */
