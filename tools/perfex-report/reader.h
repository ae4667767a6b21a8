/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a recording and checks all of it. record/recfile.h describes the file. */
#ifndef PERFEX_REPORT_READER_H
#define PERFEX_REPORT_READER_H

#include <stdint.h>
#include <stdio.h>

#include "record/recfile.h"

/* The longest command that is accepted, in bytes. No exec can have more. */
#define READER_MAX_COMMAND	(16u << 20)

struct reader {
	FILE *f;
	const char *name;		/* name of the file, for messages */
	struct recfile_header header;	/* checked; texts end with a NUL */
	struct recfile_counter counter[PERFCTR_MAX_CTRS];
	char *command;			/* header.command_size bytes; the last is NUL */
	uint64_t offset;		/* offset of the next byte to read */
	uint64_t at;			/* offset of the present record */
	uint64_t records;		/* number of records that were read, without END */
	uint64_t lost;			/* number of lost records, from END */
	void *buffer;			/* the present record */
	char error[8192];		/* a sentence: file, offset, what was expected */
};

enum reader_status {
	READER_RECORD,
	READER_END,
	READER_REFUSED,
};

/*
 * Reads the header. If READER_REFUSED is returned, reader->error says why. reader_close() is needed
 * in any case.
 */
enum reader_status reader_open(struct reader *reader, FILE *f, const char *name);
/*
 * Reads and checks the next record: sizes, depths, texts, ranges. The record is valid until the
 * next call. Returns READER_END if there are no more records and none is missing.
 */
enum reader_status reader_next(struct reader *reader, const struct perfctr_record **record);
/* Frees everything but the file. */
void reader_close(struct reader *reader);

/* Returns the addresses of a SAMPLE, first those in the kernel, then those in user mode. */
const uint64_t *sample_addresses(const struct perfctr_record_sample *sample);

#endif /* PERFEX_REPORT_READER_H */
