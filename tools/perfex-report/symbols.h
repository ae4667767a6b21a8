/* SPDX-License-Identifier: GPL-2.0 */
/* The function, file and line of an address, by elfutils' libdw. */
#ifndef PERFEX_REPORT_SYMBOLS_H
#define PERFEX_REPORT_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

struct symbols_how {
	const char *symfs;		/* look for files below this directory; NULL: / */
	const char *kallsyms;		/* the kernel's symbols; NULL: /proc/kallsyms */
	bool no_inline;
};

/* Most functions at one address: one, and those that were inlined into it */
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
	const char *object;		/* its file, or "[kernel]", or a module of the kernel */
	const char *file;		/* of the source, or NULL */
	unsigned int line;
	enum frame_kind kind;
};

/* Where a function is in its object */
struct function {
	uint32_t object;
	const char *name;
	uint64_t address, size;		/* as the ELF file has them */
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
/* The functions at an address of an object, the innermost first; returns how many: 1 or more */
unsigned int symbols_frames(struct symbols *symbols, uint32_t object, uint64_t address,
			    struct frame frames[MAX_FRAMES]);
/* Why an object has no symbols, as a sentence; NULL: it has, or was not asked for */
const char *symbols_missing(const struct object *object);
/* Why some of its names are missing; or NULL */
const char *symbols_incomplete(const struct object *object);
/*
 * If the object may be another file than was recorded, *why is a sentence; else NULL. Returns the
 * number of samples that are in the object or were called from it.
 */
uint64_t symbols_unsure(const struct profile *profile, uint32_t object, const char **why);

/* The symbol at an address, not an inlined function. False: there is none. */
bool symbols_function(struct symbols *symbols, uint32_t object, uint64_t address,
		      struct function *function);
/* An offset in an object as an address of the ELF file; and its descriptor, which stays open */
bool symbols_elf_address(struct symbols *symbols, uint32_t object, uint64_t address, uint64_t *elf);
int symbols_fd(struct symbols *symbols, uint32_t object);
/* Whether the object has debug information */
bool symbols_has_lines(struct symbols *symbols, uint32_t object);
/* File and line at an address of the ELF file. False: not known. */
bool symbols_line(struct symbols *symbols, uint32_t object, uint64_t elf, const char **file,
		  unsigned int *line);

#endif /* PERFEX_REPORT_SYMBOLS_H */
