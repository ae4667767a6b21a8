/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's functions, as in /proc/kallsyms. */
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
	struct kernel_symbol *symbol;	/* sorted by address */
	size_t n, capacity;
};

/* Whether this boot has that id */
bool kernel_is_this_boot(const char *boot_id);

/*
 * Reads @path; NULL: /proc/kallsyms, if this boot has that id. Returns NULL with a sentence in @why
 * if there is no list, or its addresses are hidden.
 */
struct kernel_symbols *kernel_symbols_read(const char *path, const char *boot_id,
					   const char **why);
/* The last function that begins at the address or below it; or NULL */
const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols,
						uint64_t address);
void kernel_symbols_free(struct kernel_symbols *symbols);

#endif /* PERFEX_REPORT_KERNEL_H */
