/* SPDX-License-Identifier: GPL-2.0 */
/* Debug information of one file: lines, and inlined functions. */
#ifndef PERFEX_REPORT_DEBUG_H
#define PERFEX_REPORT_DEBUG_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct debug;

/* An inlined function, and the line that calls it */
struct inlined {
	Dwarf_Die die;
	const char *file;		/* NULL: not known */
	unsigned int line;
};

/* Addresses are the module's. NULL: there is no debug information. */
struct debug *debug_open(Dwfl_Module *module);
void debug_free(struct debug *debug);
/* The source file of an address, or NULL; @line is 0 if it is not known. */
const char *debug_line(struct debug *debug, Dwarf_Addr address, unsigned int *line);
/* Functions that were inlined at an address, the innermost first; returns how many. */
unsigned int debug_inlined(struct debug *debug, Dwarf_Addr address, struct inlined *inlined,
			   unsigned int most);
/* The name that its symbol would have, else its name in the source; or NULL */
const char *debug_name(Dwarf_Die *die);
/* Why something is missing, as a sentence; NULL: nothing that was asked for is missing */
const char *debug_incomplete(const struct debug *debug);

/* Whether libdw may open this: it is a regular file or missing. libdw would wait for a FIFO. */
bool debug_is_harmless(const char *dir, const char *sub, const char *name);
/* @dir becomes the directory of @path; returns the rest. */
const char *debug_split(const char *path, char *dir, size_t size);

#endif /* PERFEX_REPORT_DEBUG_H */
