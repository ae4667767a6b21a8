/* SPDX-License-Identifier: GPL-2.0 */
/* An instruction that faults goes on elsewhere: x86/insns.c looks here. */
#ifndef SHIM_ASM_ASM_H
#define SHIM_ASM_ASM_H

#define _ASM_EXTABLE(from, to)						\
	" .pushsection shim_extable, \"aw\"\n"				\
	" .balign 8\n"							\
	" .quad " #from ", " #to "\n"					\
	" .popsection\n"

#endif /* SHIM_ASM_ASM_H */
