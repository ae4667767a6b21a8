/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Defines the file that `perfex record' writes and `perfex report' reads, and the functions that
 * write it.
 *
 * A file has a struct recfile_header, then @nrctrs struct recfile_counter, then the command, then
 * the records of the kernel's ring as they were in the ring: struct perfctr_record and the
 * structures that begin with it, in <linux/perfctr.h>. Each record has its size, a multiple of 8,
 * so a reader can skip types that it does not know. perfex itself adds records of the types from
 * RECFILE_TYPES on, which are below. The last record is a struct recfile_end. A file without it was
 * cut short.
 *
 * Numbers are in the byte order of the machine that recorded: see @byte_order.
 */
#ifndef PERFEX_RECFILE_H
#define PERFEX_RECFILE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perfctr.h>

#define RECFILE_MAGIC		"PERFCTR\n"	/* the first eight bytes, without a NUL */
#define RECFILE_VERSION		2u
#define RECFILE_BYTE_ORDER	0x01020304u

#define RECFILE_NAME	"perfex.rec"		/* the usual name */

/**
 * struct recfile_header - the beginning of the file
 * @magic: RECFILE_MAGIC
 * @version: RECFILE_VERSION. A reader refuses other versions
 * @byte_order: RECFILE_BYTE_ORDER
 * @size: bytes of this structure; the counters begin behind it. Later versions may append to it
 * @counter_size: bytes of each struct recfile_counter. Later versions may append to it
 * @nrctrs: number of counters, and of sums in each SAMPLE
 * @command_size: bytes of the command's words, each with a NUL at its end; 0 if processes that ran
 *	already were recorded
 * @data: offset of the first record in the file, a multiple of 8; NULs fill the gap before it
 * @machine: EM_* of <elf.h>: the architecture of perfex
 * @page_size: bytes of the kernel's pages
 * @ring_flags: PERFCTR_RING_* of the ring
 * @reserved: zero
 * @clock_hz: ticks of a record's clock in a second; 0: unknown
 * @timer_ns: nanoseconds on a processor between samples by time; 0: no samples by time
 * @start: time when the recording began, seconds since 1970
 * @boot_id: /proc/sys/kernel/random/boot_id, or empty. Each boot changes the kernel's addresses
 * @release: the kernel's release, from uname(2)
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
 * @name: the event as perfex -e takes it, without a modifier; filled up with NULs
 * @flags: PERFCTR_CTR_USER and PERFCTR_CTR_KERNEL
 * @reserved: zero
 * @period: events between overflows; 0 for an a-mode counter
 */
struct recfile_counter {
	char name[128];
	uint32_t flags;
	uint32_t reserved;
	uint64_t period;
};

/* Values of perfctr_record.type in records that perfex adds. */
#define RECFILE_TYPES		0x8000
#define RECFILE_BUILD_ID	0x8001
#define RECFILE_END		0x8002
#define RECFILE_FILE		0x8003

#define RECFILE_MAX_BUILD_ID	64

/* The size of the largest record. A path has up to 4096 bytes. */
#define RECFILE_MAX_RECORD	65536u

/**
 * struct recfile_build_id - BUILD_ID: the build id of a file that a MAP named
 * @record: time, pid and tid are those of the first MAP of that file
 * @inode: as in that MAP
 * @major: as in that MAP
 * @minor: as in that MAP
 * @id_size: bytes of @id
 * @reserved: zero
 * @id: the build id, from the note NT_GNU_BUILD_ID, filled up with zeros
 * @path: as in that MAP
 *
 * The BUILD_ID may stand some records after the MAP. A file without a build id has a FILE instead,
 * struct recfile_file. If perfex found the file gone, or changed since the MAP, there is neither.
 * If the file was changed and mapped again, it has another BUILD_ID or FILE.
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
 * struct recfile_file - FILE: identifies a file without a build id
 * @record: time, pid and tid are those of the first MAP of that file
 * @inode: as in that MAP
 * @major: as in that MAP
 * @minor: as in that MAP
 * @size: bytes of the file
 * @mtime: time of the last change to the content, nanoseconds since 1970
 * @ctime: time of the last change to the file, which no program can set
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
 * struct recfile_end - END: the end of a file that is complete
 * @record: pid and tid are 0
 * @records: number of records before END
 * @lost: number of records that are missing, because the ring was full or a write failed
 */
struct recfile_end {
	struct perfctr_record record;
	uint64_t records;
	uint64_t lost;
};

/* The description of a recording, from which recfile_create() makes the header. */
struct recfile_about {
	struct recfile_counter counter[PERFCTR_MAX_CTRS];
	unsigned int nrctrs;
	unsigned int ring_flags;
	uint64_t clock_hz;
	uint64_t timer_ns;
	char **argv;			/* the command, with NULL at its end; or NULL */
};

struct recfile;

/*
 * recfile_create: begins a file. Returns NULL with errno if the file cannot be written. Until
 * recfile_finish() succeeds, the file has the name @path.XXXXXX, and only its owner may read it. If
 * @path is a symbolic link, the file that the link leads to is replaced. EEXIST: @path is not a
 * regular file. EPERM: @path, or @path.old, cannot be renamed.
 *
 * recfile_append: appends whole records: @size bytes at @piece, then @size2 bytes at @piece2. If
 * there is only one piece, @size2 is 0 and @piece2 is NULL. One record may lie in both pieces, as
 * the ring wraps. EINVAL: the pieces are not whole records, and nothing is appended. For each MAP,
 * the function also appends a BUILD_ID or a FILE, unless the recording already describes the
 * present state of that file.
 *
 * recfile_finish: writes END, and gives the file its name. An old file of that name becomes
 * @path.old. On failure the old file stays. The recording is then in the temporary file, with whole
 * records and END, as far as there was room.
 *
 * recfile_kept: returns the name of that temporary file after such a failure, or NULL if there is
 * none or it is empty.
 *
 * recfile_abandon: removes what was written.
 *
 * recfile_abandon(), recfile_free() and a successful recfile_finish() free @file. The functions
 * that return int return 0, or -1 with errno. If recfile_append() fails, except with EINVAL,
 * nothing more is written and further records are counted as lost. recfile_finish() then fails with
 * the same error.
 */
struct recfile *recfile_create(const char *path, const struct recfile_about *about);
int recfile_append(struct recfile *file, const void *piece, size_t size, const void *piece2,
		   size_t size2);
int recfile_finish(struct recfile *file, uint64_t lost);
const char *recfile_kept(const struct recfile *file);
void recfile_free(struct recfile *file);
void recfile_abandon(struct recfile *file);

#endif /* PERFEX_RECFILE_H */
