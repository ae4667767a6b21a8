/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the function, file and line of an address, by elfutils' libdw. */
#ifndef PERFEX_REPORT_SYMBOLS_H
#define PERFEX_REPORT_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

struct symbols_how {
	const char *symfs;		/* directory with the files; NULL: / */
	const char *kallsyms;		/* file of the kernel's symbols; NULL: /proc/kallsyms */
	bool no_inline;
};

/* The most functions at one address: one function, and those that were inlined into it. */
#define MAX_FRAMES	32

enum frame_kind {
	FRAME_UNKNOWN,			/* @function is "[unknown]" */
	FRAME_USER,
	FRAME_INLINED,
	FRAME_KERNEL,
};

/* A function at an address. The texts are valid until symbols_free(). */
struct frame {
	const char *function;
	const char *object;		/* the function's file, "[kernel]", or a kernel module */
	const char *file;		/* source file, or NULL */
	unsigned int line;
	enum frame_kind kind;
};

/* The place of a function in its object. */
struct function {
	uint32_t object;
	const char *name;
	uint64_t address, size;		/* as in the ELF file */
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
/*
 * Finds the functions at an address of an object, the innermost first. Returns their number, which
 * is at least 1.
 */
unsigned int symbols_frames(struct symbols *symbols, uint32_t object, uint64_t address,
			    struct frame frames[MAX_FRAMES]);
/*
 * Returns a sentence that says why an object has no symbols. Returns NULL if it has symbols, or if
 * nobody asked for them.
 */
const char *symbols_missing(const struct object *object);
/* Returns why some names of an object are missing, or NULL. */
const char *symbols_incomplete(const struct object *object);
/*
 * If the object may be another file than was recorded, returns the number of samples in the object
 * or called from it, with a sentence in *why. Otherwise *why is NULL.
 */
uint64_t symbols_unsure(const struct profile *profile, uint32_t object, const char **why);

/* Finds the symbol at an address, not an inlined function. Returns false if there is none. */
bool symbols_function(struct symbols *symbols, uint32_t object, uint64_t address,
		      struct function *function);
/*
 * symbols_elf_address() converts an offset in an object to an address of the ELF file. symbols_fd()
 * returns the object's descriptor, which stays open.
 */
bool symbols_elf_address(struct symbols *symbols, uint32_t object, uint64_t address, uint64_t *elf);
int symbols_fd(struct symbols *symbols, uint32_t object);
/* Returns true if the object has debug information. */
bool symbols_has_lines(struct symbols *symbols, uint32_t object);
/* Finds the file and line at an address of the ELF file. Returns false if they are not known. */
bool symbols_line(struct symbols *symbols, uint32_t object, uint64_t elf, const char **file,
		  unsigned int *line);

#endif /* PERFEX_REPORT_SYMBOLS_H */
