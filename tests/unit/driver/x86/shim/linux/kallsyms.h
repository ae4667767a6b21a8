/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_KALLSYMS_H
#define SHIM_LINUX_KALLSYMS_H

#include <stdio.h>

#include "shim/kernel.h"

#define KSYM_SYMBOL_LEN	64

int sprint_symbol(char *text, unsigned long address);

#endif /* SHIM_LINUX_KALLSYMS_H */
