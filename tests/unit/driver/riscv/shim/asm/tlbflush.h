/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_TLBFLUSH_H
#define SHIM_ASM_TLBFLUSH_H

/* What is executed next misses all TLBs. */
void local_flush_tlb_all(void);

#endif /* SHIM_ASM_TLBFLUSH_H */
