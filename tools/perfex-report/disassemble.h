/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the instructions of a function, by objdump. */
#ifndef PERFEX_REPORT_DISASSEMBLE_H
#define PERFEX_REPORT_DISASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

struct instruction {
	uint64_t address;
	char *text;
};

struct instructions {
	struct instruction *instruction;	/* sorted by address */
	size_t n, capacity;
	const char *missing;			/* why there are no instructions, or NULL */
};

/* Disassembles from @start to @end. @file is a descriptor of the ELF file. */
void disassemble(struct instructions *instructions, int file, unsigned int machine,
		 uint64_t start, uint64_t end);
void instructions_free(struct instructions *instructions);

#endif /* PERFEX_REPORT_DISASSEMBLE_H */
