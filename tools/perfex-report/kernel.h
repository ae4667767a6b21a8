/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the kernel's functions by /proc/kallsyms. */
#ifndef PERFEX_REPORT_KERNEL_H
#define PERFEX_REPORT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbol {
	uint64_t address;
	char *name;
	char *module;			/* "[name]", or NULL for the kernel itself */
};

struct kernel_symbols {
	struct kernel_symbol *symbol;	/* sorted by address */
	size_t n, capacity;
};

/* Returns true if the present boot has the id @boot_id. */
bool kernel_is_this_boot(const char *boot_id);

/*
 * Reads the symbols from @path. If @path is NULL, reads /proc/kallsyms, provided that the present
 * boot has the id @boot_id. Returns NULL with a sentence in @why if there is no list, or if its
 * addresses are hidden.
 */
struct kernel_symbols *kernel_symbols_read(const char *path, const char *boot_id,
					   const char **why);
/* Returns the last function that begins at or below the address, or NULL. */
const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols,
						uint64_t address);
void kernel_symbols_free(struct kernel_symbols *symbols);

#endif /* PERFEX_REPORT_KERNEL_H */
