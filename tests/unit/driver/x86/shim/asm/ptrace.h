/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_PTRACE_H
#define SHIM_ASM_PTRACE_H

#include "shim/kernel.h"

#define SHIM_USER_CS		0x33

#define user_64bit_mode(regs)	((regs)->cs == SHIM_USER_CS)

#endif /* SHIM_ASM_PTRACE_H */
