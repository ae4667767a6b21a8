/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_DESC_H
#define SHIM_ASM_DESC_H

#include "shim/kernel.h"

#define get_desc_base(desc)	((desc)->base)

#endif /* SHIM_ASM_DESC_H */
