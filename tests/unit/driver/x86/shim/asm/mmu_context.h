/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_MMU_CONTEXT_H
#define SHIM_ASM_MMU_CONTEXT_H

void cr4_update_pce(void *unused);

#endif /* SHIM_ASM_MMU_CONTEXT_H */
