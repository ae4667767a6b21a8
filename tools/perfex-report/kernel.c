// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the kernel's functions. Each boot puts the kernel at another address, so /proc/kallsyms is
 * only valid for recordings of the present boot. The file shows zeros to users who may not know the
 * addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "memory.h"

#define KALLSYMS	"/proc/kallsyms"
#define BOOT_ID		"/proc/sys/kernel/random/boot_id"

static int compare_kernel_symbols(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/*
 * Adds the symbol of a line such as "ffffffff81000000 T name", behind which a tab and "[module]"
 * may follow.
 */
static void add_kernel_symbol(struct kernel_symbols *symbols, const char *line)
{
	char type, name[512], module[64] = "";
	struct kernel_symbol *symbol;
	unsigned long long address;
	char *end;

	address = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !address ||
	    sscanf(end, " %c %511s %63s", &type, name, module) < 2 || !strchr("tTwW", type))
		return;
	symbols->symbol = grow(symbols->symbol, symbols->n, &symbols->capacity,
			       sizeof(*symbols->symbol));
	symbol = &symbols->symbol[symbols->n++];
	symbol->address = address;
	symbol->name = copy_memory(name, strlen(name) + 1);
	symbol->module = module[0] == '[' ? copy_memory(module, strlen(module) + 1) : NULL;
}

bool kernel_is_this_boot(const char *boot_id)
{
	FILE *f = fopen(BOOT_ID, "re");
	char id[64] = "";

	if (!f || !fgets(id, sizeof(id), f))
		id[0] = '\0';
	if (f)
		fclose(f);
	id[strcspn(id, "\n")] = '\0';
	return id[0] && !strcmp(id, boot_id);
}

struct kernel_symbols *kernel_symbols_read(const char *path, const char *boot_id,
					   const char **why)
{
	struct kernel_symbols *symbols;
	char *line = NULL;
	size_t size = 0;
	FILE *f;

	*why = NULL;
	if (!path && !kernel_is_this_boot(boot_id)) {
		*why = "the kernel has been booted since, or it was another machine's";
		return NULL;
	}
	f = fopen(path ? path : KALLSYMS, "re");
	if (!f) {
		*why = path ? "the file given by --kallsyms cannot be read" :
			KALLSYMS " cannot be read";
		return NULL;
	}
	symbols = get_memory(1, sizeof(*symbols));
	while (getline(&line, &size, f) >= 0)
		add_kernel_symbol(symbols, line);
	free(line);
	fclose(f);
	if (!symbols->n) {
		kernel_symbols_free(symbols);
		*why = path ? "the file given by --kallsyms has no addresses of functions" :
			"the addresses in " KALLSYMS " are hidden (kernel.kptr_restrict)";
		return NULL;
	}
	qsort(symbols->symbol, symbols->n, sizeof(*symbols->symbol), compare_kernel_symbols);
	return symbols;
}

const struct kernel_symbol *kernel_symbols_find(const struct kernel_symbols *symbols,
						uint64_t address)
{
	size_t low = 0, high = symbols->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (symbols->symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &symbols->symbol[low - 1] : NULL;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	size_t i;

	if (!symbols)
		return;
	for (i = 0; i < symbols->n; i++) {
		free(symbols->symbol[i].name);
		free(symbols->symbol[i].module);
	}
	free(symbols->symbol);
	free(symbols);
}
