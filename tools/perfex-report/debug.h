/* SPDX-License-Identifier: GPL-2.0 */
/* Debugging information of one file: lines, and which functions were inlined where */
#ifndef PERFEX_REPORT_DEBUG_H
#define PERFEX_REPORT_DEBUG_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct debug;

/* A function that was inlined, and where the one around it called it */
struct inlined {
	Dwarf_Die die;
	const char *file;		/* NULL: not known */
	unsigned int line;
};

/* Addresses are the module's. NULL: there is none. */
struct debug *debug_open(Dwfl_Module *module);
void debug_free(struct debug *debug);
/* The file of a line at an address, or NULL; @line is 0 if it has no number. */
const char *debug_line(struct debug *debug, Dwarf_Addr address, unsigned int *line);
/* The functions that were inlined at an address, from the innermost, at most so many; returns how many */
unsigned int debug_inlined(struct debug *debug, Dwarf_Addr address, struct inlined *inlined,
			   unsigned int most);
/* As the symbol of it would be called if it had one, else as it is in the source; or NULL */
const char *debug_name(Dwarf_Die *die);
/* Why something that was asked for is missing, as a sentence about the file; or NULL */
const char *debug_incomplete(const struct debug *debug);

/* Whether libdw may open that: there is a regular file or nothing. It would wait for a FIFO. */
bool debug_is_harmless(const char *dir, const char *sub, const char *name);
/* The directory of a path, and what is behind it */
const char *debug_split(const char *path, char *dir, size_t size);

#endif /* PERFEX_REPORT_DEBUG_H */
