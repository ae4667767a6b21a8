/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_ASM_SEGMENT_H
#define SHIM_ASM_SEGMENT_H

#include "shim/kernel.h"

#define GDT_ENTRY_TLS_MIN	12
#define GDT_ENTRY_TLS_ENTRIES	3
#define SEGMENT_TI_MASK		0x4

/* GS of the current thread */
extern unsigned int shim_gs;

#define savesegment(segment, value)	((value) = shim_##segment)

#endif /* SHIM_ASM_SEGMENT_H */
