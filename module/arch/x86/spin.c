// SPDX-License-Identifier: GPL-2.0
/* Executes the loop that trial.c counts. */

#include <asm/asm.h>

#include "arch/x86/trial.h"

notrace void perfctr_x86_spin(unsigned long turns)
{
	asm volatile("1:	" _ASM_DEC "%0\n"
		     "	jnz	1b" : "+r" (turns) : : "cc");
}
