// SPDX-License-Identifier: GPL-2.0
/* Prints folded stacks, one per line, from which other tools make flame graphs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "output.h"

/* Prints a name without semicolons and newlines, which separate functions and stacks. */
static void print_folded_name(FILE *f, const char *name)
{
	char *copy = copy_memory(name, strlen(name) + 1), *p;

	for (p = copy; (p = strchr(p, ';')); )
		*p = ':';
	(void)plain_text(f, 0, copy);
	free(copy);
}

/* Prints the calls from the root to @last. */
static void print_way(FILE *f, const struct stacks *stacks, uint32_t last, uint32_t *way)
{
	uint32_t call;
	size_t n = 0;

	for (call = last; call != NO_NODE; call = stacks->calls[call].parent)
		way[n++] = call;
	while (n--) {
		print_folded_name(f, stacks->named[stacks->calls[way[n]].named].function);
		fputc(n ? ';' : ' ', f);
	}
}

void print_folded(FILE *f, const struct stacks *stacks, unsigned int column)
{
	/* A path has no more calls than there are calls in all. */
	uint32_t *way = get_memory(stacks->calls_table.n, sizeof(*way));
	uint64_t count;
	uint32_t i;

	for (i = 0; i < stacks->calls_table.n; i++) {
		count = stacks_self(stacks, i, column);
		if (!count)
			continue;
		print_way(f, stacks, i, way);
		fprintf(f, "%" PRIu64 "\n", count);
	}
	free(way);
}
