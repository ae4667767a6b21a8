/* SPDX-License-Identifier: GPL-2.0 */
/* Which function, file and line an address belongs to: what elfutils' libdw says. */
#ifndef PERFEX_REPORT_SYMBOLS_H
#define PERFEX_REPORT_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

/* What the options say of it */
struct symbols_how {
	const char *symfs;		/* files are looked for below this directory; NULL: / */
	const char *kallsyms;		/* the kernel's symbols; NULL: of this kernel, if it is that */
	bool no_inline;
};

/* Most functions at one address: one, and those that were inlined there into each other */
#define MAX_FRAMES	32

enum frame_kind {
	FRAME_UNKNOWN,			/* @function is "[unknown]" */
	FRAME_USER,
	FRAME_INLINED,
	FRAME_KERNEL,
};

/* A function at an address; the texts are good until symbols_free(). */
struct frame {
	const char *function;
	const char *object;		/* its file, or [kernel], or a module of the kernel's */
	const char *file;		/* of the source, or NULL */
	unsigned int line;
	enum frame_kind kind;
};

/* A function by its name: where it is in its object */
struct function {
	uint32_t object;
	const char *name;
	uint64_t address, size;		/* as addresses of the ELF file */
};

struct symbols {
	struct profile *profile;
	struct symbols_how how;
	struct texts texts;
	struct readable_name {
		const char *raw, *readable;
	} *names;
	size_t names_capacity;
	struct table names_table;
	struct kernel_symbols *kernel;
	const char *kernel_missing;	/* why the kernel has no symbols */
};

void symbols_init(struct symbols *symbols, struct profile *profile, const struct symbols_how *how);
void symbols_free(struct symbols *symbols);
/* The functions at an address of an object, at least one, from the innermost; returns how many. */
unsigned int symbols_frames(struct symbols *symbols, uint32_t object, uint64_t address,
			    struct frame frames[MAX_FRAMES]);
/* Why an object that has been asked for has no symbols, as a sentence about it; NULL if it has */
const char *symbols_missing(const struct object *object);
/* Why some of its names are missing, likewise */
const char *symbols_incomplete(const struct object *object);
/*
 * Why an object that has been asked for may be another file than was recorded; NULL if it is not.
 * Returns how many samples have a name of it, of where they are or of a caller.
 */
uint64_t symbols_unsure(const struct profile *profile, uint32_t object, const char **why);

/* annotate: the function at an address, as the ELF file's table has it; false: it has none there */
bool symbols_function(struct symbols *symbols, uint32_t object, uint64_t address,
		      struct function *function);
/* An address of an object as the ELF file itself counts them; and the file, still symbols.c's */
bool symbols_elf_address(struct symbols *symbols, uint32_t object, uint64_t address, uint64_t *elf);
int symbols_fd(struct symbols *symbols, uint32_t object);
/* Whether any address of the object could have a line */
bool symbols_has_lines(struct symbols *symbols, uint32_t object);
/* File and line at an address of the ELF file; false if that is not known */
bool symbols_line(struct symbols *symbols, uint32_t object, uint64_t elf, const char **file,
		  unsigned int *line);

#endif /* PERFEX_REPORT_SYMBOLS_H */
