/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_CPUFEATURE_H
#define SHIM_ASM_CPUFEATURE_H

#include "hwcap.h"

#endif /* SHIM_ASM_CPUFEATURE_H */
