/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_TIMEX_H
#define SHIM_ASM_TIMEX_H

extern unsigned long riscv_timebase;

#endif /* SHIM_ASM_TIMEX_H */
