/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_HWCAP_H
#define SHIM_ASM_HWCAP_H

#include "shim/kernel.h"

bool shim_isa_extension(const char *name);

#define riscv_isa_extension_available(isa, name)	shim_isa_extension(#name)

#endif /* SHIM_ASM_HWCAP_H */
