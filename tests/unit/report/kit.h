/* SPDX-License-Identifier: GPL-2.0 */
/* Recordings that no kernel made, written by perfex's writer */
#ifndef REPORT_KIT_H
#define REPORT_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../tools/perfex-report/output.h"

/* Two counters, both modes: cycles, each 1000, and instructions; the clock has 1000 Hz. */
extern struct recfile_about kit_about;

/* Each begins where the one before ended; time is counted on. */
void kit_begin(const struct recfile_about *about);
void kit_map(int pid, uint64_t start, uint64_t length, uint64_t offset, uint64_t inode,
	     const char *name);
void kit_unmap(int pid, uint64_t start, uint64_t length);
void kit_comm(int pid, int tid, const char *comm, bool exec);
void kit_fork(int parent_pid, int parent_tid, int pid, int tid);
void kit_exit(int pid, int tid);
void kit_lost(uint64_t lost);
/* Of any type, with no more than a header */
void kit_plain(unsigned int type, int pid, int tid);
/* In user mode; callers from the innermost, up to a 0. The clock is a tenth of the cycles. */
void kit_sample(int pid, int tid, uint64_t cycles, uint64_t instructions, uint64_t ip,
		const uint64_t *callers);
/* In the kernel, which was entered at @user */
void kit_kernel_sample(int pid, int tid, uint64_t cycles, uint64_t instructions, uint64_t ip,
		       uint64_t user);
/* Bytes of a record as they are */
void kit_raw(const void *record, size_t size);
/* The whole file; until the next kit_begin() */
const char *kit_end(uint64_t lost, size_t *size);

/* Reads a file; NULL: *error is why it was refused. It is to be given back to kit_free(). */
struct kit_report {
	struct reader reader;
	struct profile profile;
	struct symbols symbols;
	struct stacks stacks;
};

struct kit_report *kit_read(const void *data, size_t size, const char **error);
/* As perfex report would; kit_read() is without it. Again, for what else @how asks for */
void kit_symbolize(struct kit_report *report, const struct symbols_how *how);
/* kit_end(), kit_read() of what must be good, and kit_symbolize() */
struct kit_report *kit_report(uint64_t lost, const struct symbols_how *how);
void kit_free(struct kit_report *report);

/* Whether nothing in it moves a cursor: in UTF-8, which it must be, and as a terminal of bytes sees it */
bool kit_is_plain(const char *text);

/* What was printed, to be freed */
char *kit_folded(struct kit_report *report, unsigned int column);
char *kit_svg(struct kit_report *report, unsigned int column);
char *kit_table(struct kit_report *report, const struct table_how *how, bool json);

#endif /* REPORT_KIT_H */
