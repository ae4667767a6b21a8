/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file that `perfex record' writes and `perfex report' reads, and its writer.
 *
 * A file has a struct recfile_header, then @nrctrs struct recfile_counter, then the command, then
 * the records of the kernel's ring as they were there: struct perfctr_record and those that begin
 * with it, in <linux/perfctr.h>. Each record tells its size, a multiple of 8, so a reader can skip
 * types that it does not know. Types from RECFILE_TYPES on are perfex's own, below. The last record
 * is a struct recfile_end; a file without it was cut short.
 *
 * Numbers are in the byte order of the machine that recorded: see @byte_order.
 */
#ifndef PERFEX_RECFILE_H
#define PERFEX_RECFILE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perfctr.h>

#define RECFILE_MAGIC		"PERFCTR\n"	/* its first eight bytes, without a NUL */
#define RECFILE_VERSION		2u
#define RECFILE_BYTE_ORDER	0x01020304u

#define RECFILE_NAME	"perfex.rec"		/* the usual name */

/**
 * struct recfile_header - what the file begins with
 * @magic: RECFILE_MAGIC
 * @version: RECFILE_VERSION. A reader refuses others
 * @byte_order: RECFILE_BYTE_ORDER
 * @size: of this structure, bytes: where the counters begin. Later versions may append to it
 * @counter_size: of each struct recfile_counter, likewise
 * @nrctrs: number of counters; each SAMPLE has so many sums
 * @command_size: bytes of the command's words, each with a NUL at its end; 0: processes that ran
 *	already were recorded
 * @data: offset of the first record in the file, a multiple of 8; NULs fill up the command to it
 * @machine: EM_* of <elf.h>: the architecture of perfex
 * @page_size: of the kernel, bytes
 * @ring_flags: PERFCTR_RING_* of the ring
 * @reserved: zero
 * @clock_hz: ticks of a record's clock in a second; 0: unknown
 * @timer_ns: nanoseconds on a processor between samples by time; 0: there are none
 * @start: when it began, seconds since 1970
 * @boot_id: /proc/sys/kernel/random/boot_id, as each boot changes the kernel's addresses; or empty
 * @release: of the kernel, from uname(2)
 * @host: name of the machine, from uname(2)
 *
 * The three texts end with a NUL and are filled up with NULs.
 */
struct recfile_header {
	char magic[8];
	uint32_t version;
	uint32_t byte_order;
	uint32_t size;
	uint32_t counter_size;
	uint32_t nrctrs;
	uint32_t command_size;
	uint64_t data;
	uint32_t machine;
	uint32_t page_size;
	uint32_t ring_flags;
	uint32_t reserved;
	uint64_t clock_hz;
	uint64_t timer_ns;
	uint64_t start;
	char boot_id[40];
	char release[72];
	char host[72];
};

/**
 * struct recfile_counter - one counter of the state, in the order of the sums in a SAMPLE
 * @name: of the event, as perfex -e takes it, without a modifier; filled up with NULs
 * @flags: PERFCTR_CTR_USER and PERFCTR_CTR_KERNEL
 * @reserved: zero
 * @period: events between overflows; 0: it is an a-mode counter
 */
struct recfile_counter {
	char name[128];
	uint32_t flags;
	uint32_t reserved;
	uint64_t period;
};

/* perfctr_record.type of records that perfex writes */
#define RECFILE_TYPES		0x8000
#define RECFILE_BUILD_ID	0x8001
#define RECFILE_END		0x8002
#define RECFILE_FILE		0x8003

#define RECFILE_MAX_BUILD_ID	64

/* No record is larger; paths have up to 4096 bytes. */
#define RECFILE_MAX_RECORD	65536u

/**
 * struct recfile_build_id - BUILD_ID: the file that a MAP named
 * @record: time, pid and tid are those of the first MAP of that file
 * @inode: as in that MAP
 * @major: the same
 * @minor: the same
 * @id_size: bytes of @id
 * @reserved: zero
 * @id: the build id, from the note NT_GNU_BUILD_ID, filled up with zeros
 * @path: as in that MAP
 *
 * It may come some records after the MAP. A file without a build id has a struct recfile_file. If
 * perfex found the file gone, or changed since the MAP, there is neither. If the file was changed
 * and then mapped again, there is one more.
 */
struct recfile_build_id {
	struct perfctr_record record;
	uint64_t inode;
	uint32_t major;
	uint32_t minor;
	uint32_t id_size;
	uint32_t reserved;
	uint8_t id[RECFILE_MAX_BUILD_ID];
	char path[];
};

/**
 * struct recfile_file - FILE: how a file without a build id is known again
 * @record: as in struct recfile_build_id
 * @inode: as in that MAP
 * @major: the same
 * @minor: the same
 * @size: of the file, bytes
 * @mtime: when its content was changed last, nanoseconds since 1970
 * @ctime: when the file was changed last; nobody can set this
 * @path: as in that MAP
 */
struct recfile_file {
	struct perfctr_record record;
	uint64_t inode;
	uint32_t major;
	uint32_t minor;
	int64_t size;
	int64_t mtime;
	int64_t ctime;
	char path[];
};

/**
 * struct recfile_end - END: nothing is missing before it
 * @record: pid and tid are 0
 * @records: number of records before this one
 * @lost: number of records that found no room in the ring
 */
struct recfile_end {
	struct perfctr_record record;
	uint64_t records;
	uint64_t lost;
};

/* What the caller tells of a recording */
struct recfile_about {
	struct recfile_counter counter[PERFCTR_MAX_CTRS];
	unsigned int nrctrs;
	unsigned int ring_flags;
	uint64_t clock_hz;
	uint64_t timer_ns;
	char **argv;			/* the command, up to a NULL; or NULL */
};

struct recfile;

/*
 * recfile_create: begins a file; NULL and errno if it cannot be written. Until recfile_finish()
 * succeeds it is @path.XXXXXX, which only its owner may read. If @path is a symbolic link, the file
 * that it leads to is meant. EEXIST: @path is no regular file. EPERM: it, or @path.old, cannot be
 * renamed.
 *
 * recfile_append: appends whole records: @size bytes at @piece, then @size2 bytes at @piece2 (NULL
 * and 0: there is one piece). One record may lie in both, as the ring wraps. EINVAL: they are not
 * whole records; nothing is appended. For each MAP it also appends a BUILD_ID or a FILE, unless the
 * recording describes that file as it is now already.
 *
 * recfile_finish: writes the end, and gives the file its name. An old file of that name becomes
 * @path.old. On failure the old file stays, and the recording is in the temporary file, with whole
 * records and the end, as far as there was room.
 *
 * recfile_kept: after such a failure, the name of that file; NULL: there is none, or it is empty.
 *
 * recfile_abandon: removes what was written.
 *
 * recfile_abandon() and recfile_free() free @file, and recfile_finish() if it succeeds. Those that
 * return int return 0, or -1 and errno. After any error of an append but EINVAL nothing more is
 * written, further records are counted as lost, and recfile_finish() fails with the same error.
 */
struct recfile *recfile_create(const char *path, const struct recfile_about *about);
int recfile_append(struct recfile *file, const void *piece, size_t size, const void *piece2,
		   size_t size2);
int recfile_finish(struct recfile *file, uint64_t lost);
const char *recfile_kept(const struct recfile *file);
void recfile_free(struct recfile *file);
void recfile_abandon(struct recfile *file);

#endif /* PERFEX_RECFILE_H */
