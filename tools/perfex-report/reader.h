/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a recording, and checks all of it; record/recfile.h describes the file. */
#ifndef PERFEX_REPORT_READER_H
#define PERFEX_REPORT_READER_H

#include <stdint.h>
#include <stdio.h>

#include "record/recfile.h"

/* Longest command, bytes: more than an exec can have */
#define READER_MAX_COMMAND	(16u << 20)

struct reader {
	FILE *f;
	const char *name;		/* of the file, for messages */
	struct recfile_header header;	/* checked; texts have a NUL at their end */
	struct recfile_counter counter[PERFCTR_MAX_CTRS];
	char *command;			/* header.command_size bytes; the last is NUL */
	uint64_t offset;		/* of the next byte */
	uint64_t at;			/* offset of the present record */
	uint64_t records;		/* number of records that were read, without END */
	uint64_t lost;			/* from END */
	void *buffer;			/* the present record */
	char error[8192];		/* a sentence: file, offset, what was expected */
};

enum reader_status {
	READER_RECORD,
	READER_END,
	READER_REFUSED,
};

/* Reads the header. REFUSED: reader->error says why. reader_close() is always needed. */
enum reader_status reader_open(struct reader *reader, FILE *f, const char *name);
/*
 * Reads and checks the next record: sizes, depths, texts, ranges. It is good until the next call.
 * END: there are no more, and nothing is missing.
 */
enum reader_status reader_next(struct reader *reader, const struct perfctr_record **record);
/* Frees all but the file. */
void reader_close(struct reader *reader);

/* The addresses of a SAMPLE: those in the kernel, then those in user mode */
const uint64_t *sample_addresses(const struct perfctr_record_sample *sample);

#endif /* PERFEX_REPORT_READER_H */
