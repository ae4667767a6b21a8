/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's functions, as /proc/kallsyms lists them */
#ifndef PERFEX_REPORT_KERNEL_H
#define PERFEX_REPORT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbol {
	uint64_t address;
	char *name;
	char *module;			/* "[name]", or NULL: of the kernel itself */
};

struct kernel_symbols {
	struct kernel_symbol *symbol;	/* by address */
	size_t n, capacity;
};

/* Has the kernel that runs been booted with that id? */
bool kernel_is_this_boot(const char *boot_id);

/*
 * Reads @path; NULL: this kernel's list, if it is the one of that boot id. NULL and a sentence if
 * there is none, or its addresses are hidden.
 */
struct kernel_symbols *kernel_symbols_read(const char *path, const char *boot_id,
					   const char **why);
/* The function that begins at or below the address; or NULL */
const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols,
						uint64_t address);
void kernel_symbols_free(struct kernel_symbols *symbols);

#endif /* PERFEX_REPORT_KERNEL_H */
