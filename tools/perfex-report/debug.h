/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the debug information of one file: lines, and inlined functions. */
#ifndef PERFEX_REPORT_DEBUG_H
#define PERFEX_REPORT_DEBUG_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct debug;

/* An inlined function, and the line that calls it. */
struct inlined {
	Dwarf_Die die;
	const char *file;		/* source file; NULL if it is not known */
	unsigned int line;
};

/*
 * Opens the debug information of a module. Returns NULL if there is none. All addresses below are
 * the module's.
 */
struct debug *debug_open(Dwfl_Module *module);
void debug_free(struct debug *debug);
/* Returns the source file of an address, or NULL. *line is 0 if the line is not known. */
const char *debug_line(struct debug *debug, Dwarf_Addr address, unsigned int *line);
/*
 * Finds the functions that were inlined at an address, the innermost first. Returns their number.
 */
unsigned int debug_inlined(struct debug *debug, Dwarf_Addr address, struct inlined *inlined,
			   unsigned int most);
/*
 * Returns the name that the function's symbol would have, or else the function's name in the
 * source, or NULL.
 */
const char *debug_name(Dwarf_Die *die);
/* Returns a sentence that says why something is missing, or NULL if everything was found. */
const char *debug_incomplete(const struct debug *debug);

/*
 * Returns true if libdw may open this file, because it is a regular file or does not exist. libdw
 * would wait on a FIFO.
 */
bool debug_is_harmless(const char *dir, const char *sub, const char *name);
/* Copies the directory of @path to @dir. Returns the rest. */
const char *debug_split(const char *path, char *dir, size_t size);

#endif /* PERFEX_REPORT_DEBUG_H */
