/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the file of a recording, and believes nothing in it: see ../perfex/recfile.h. */
#ifndef PERFEX_REPORT_READER_H
#define PERFEX_REPORT_READER_H

#include <stdint.h>
#include <stdio.h>

#include "record/recfile.h"

/* Longest command, bytes: what the kernel lets an exec have, and more */
#define READER_MAX_COMMAND	(16u << 20)

struct reader {
	FILE *f;
	const char *name;		/* of the file, for messages */
	struct recfile_header header;	/* texts are terminated, sizes are right */
	struct recfile_counter counter[PERFCTR_MAX_CTRS];
	char *command;			/* header.command_size bytes, and the last is NUL */
	uint64_t offset;		/* of the next byte */
	uint64_t at;			/* where the record begins */
	uint64_t records;		/* how many were read, without the end */
	uint64_t lost;			/* after the end: what it says */
	void *buffer;			/* the record */
	char error[8192];		/* why it is refused: file, offset, what was expected */
};

enum reader_status {
	READER_RECORD,
	READER_END,
	READER_REFUSED,
};

/* Reads the header; REFUSED: reader->error says why. It must be closed in any case. */
enum reader_status reader_open(struct reader *reader, FILE *f, const char *name);
/*
 * Reads the next record, of which everything that its type promises is true: sizes, depths, texts,
 * ranges. It is good until the next call. END: it was the last, and nothing is missing.
 */
enum reader_status reader_next(struct reader *reader, const struct perfctr_record **record);
/* Frees all but the file. */
void reader_close(struct reader *reader);

/* The addresses of a SAMPLE: those in the kernel, then those in user mode */
const uint64_t *sample_addresses(const struct perfctr_record_sample *sample);

#endif /* PERFEX_REPORT_READER_H */
