/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file that `perfex record' writes and `perfex report' reads, and its writer.
 *
 * A file has a struct recfile_header, then @nrctrs struct recfile_counter, then the command, then
 * the records of the kernel's ring, in its order, byte by byte as they were there: struct
 * perfctr_record and those that begin with it, in <linux/perfctr.h>. Each record has its size,
 * which is a multiple of 8, so a reader skips what it does not know. Types from RECFILE_TYPES on
 * are not the kernel's: they are below. The last record is a struct recfile_end, behind which
 * there is nothing: a file without it was cut short.
 *
 * All numbers are in the byte order of the machine that recorded, which @byte_order shows.
 */
#ifndef PERFEX_RECFILE_H
#define PERFEX_RECFILE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perfctr.h>

#define RECFILE_MAGIC		"PERFCTR\n"	/* its first eight bytes, without a NUL */
#define RECFILE_VERSION		2u
#define RECFILE_BYTE_ORDER	0x01020304u

#define RECFILE_NAME	"perfex.rec"		/* the file's name unless another is given */

/**
 * struct recfile_header - what the file begins with
 * @magic: RECFILE_MAGIC
 * @version: RECFILE_VERSION. A reader refuses what it does not know
 * @byte_order: RECFILE_BYTE_ORDER
 * @size: of this structure, bytes: where the counters begin. Later versions may append to it
 * @counter_size: of each struct recfile_counter, likewise
 * @nrctrs: number of counters; each SAMPLE has so many sums
 * @command_size: bytes of the command behind the counters: its words, each with a NUL at its end;
 *	0 if processes were recorded that ran already
 * @data: offset of the first record in the file, a multiple of 8: where the command ends, filled up
 *	with NULs
 * @machine: EM_* of <elf.h>: what the program that recorded is made for
 * @page_size: of the kernel, bytes
 * @ring_flags: PERFCTR_RING_*, what the ring was asked for
 * @reserved: zero
 * @clock_hz: ticks of a record's clock in a second; 0: unknown
 * @timer_ns: a SAMPLE is also written after so many nanoseconds on a processor; 0: it is not
 * @start: when it began, seconds since 1970
 * @boot_id: /proc/sys/kernel/random/boot_id, to which the kernel's addresses belong; or empty
 * @release: of the kernel, as uname(2) has it
 * @host: name of the machine, likewise
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
 * @name: of the event, as perfex -e takes it, without its modifier; NUL-terminated, filled up
 * @flags: PERFCTR_CTR_USER and PERFCTR_CTR_KERNEL: where it counts
 * @reserved: zero
 * @period: an i-mode counter overflows after so many events; 0: it is an a-mode counter
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

/* No record is larger, of whatever type: paths have up to 4096 bytes. */
#define RECFILE_MAX_RECORD	65536u

/**
 * struct recfile_build_id - BUILD_ID: which file it was that a MAP named
 * @record: the beginning; time, pid and tid are those of the first MAP of that file
 * @inode: as in that MAP
 * @major: the same
 * @minor: the same
 * @id_size: bytes of @id
 * @reserved: zero
 * @id: the build id, from its note NT_GNU_BUILD_ID, filled up with zeros
 * @path: as in that MAP
 *
 * It may come some records later than the MAP. A file that has no build id has a struct
 * recfile_file. A file has neither if it was not there any more, or had been changed since the MAP,
 * when perfex came to look; and has another one if it was changed, and then mapped again.
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
 * @ctime: when anything of it was changed last, which nobody can set
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
 * @record: the beginning; pid and tid are 0
 * @records: number of records before this one
 * @lost: number of records that found no room in the ring, as its page told in the end
 */
struct recfile_end {
	struct perfctr_record record;
	uint64_t records;
	uint64_t lost;
};

/* What only the caller knows of a recording */
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
 * recfile_create: begins a file; NULL and errno if it cannot be written. Under the name @path there
 * is nothing new before recfile_finish() has succeeded: until then it is @path.XXXXXX in the same
 * directory, which only its owner may read. If @path is a symbolic link all that is said of the file
 * it leads to. EEXIST: @path is there, and is no regular file. EPERM: it, or @path.old, cannot be
 * renamed.
 *
 * recfile_append: appends whole records: @size bytes at @piece, then @size2 bytes at @piece2, which
 * is the beginning of the ring where its content wraps (else NULL and 0). A record may begin in
 * the one and end in the other. EINVAL: these are not whole records; nothing is appended. It looks
 * at each file that is mapped, and appends a BUILD_ID or a FILE if it has none of it, or not of
 * what is there now.
 *
 * recfile_finish: writes the end, and gives the file its name. A file that had the name before is
 * @path.old afterwards. On failure the old one is as it was, and what was recorded stays in a file
 * of its own: with whole records and the end, as far as there was room.
 *
 * recfile_kept: after that, the name of that file; NULL if there is none, or nothing in it.
 *
 * recfile_abandon: removes what was written.
 *
 * recfile_abandon(), recfile_free() and recfile_finish() that succeeds free @file. Those that return
 * int return 0, or -1 and errno. After an append has failed otherwise than by EINVAL nothing more is
 * written, what comes is counted as lost, and recfile_finish() fails as that append did.
 */
struct recfile *recfile_create(const char *path, const struct recfile_about *about);
int recfile_append(struct recfile *file, const void *piece, size_t size, const void *piece2,
		   size_t size2);
int recfile_finish(struct recfile *file, uint64_t lost);
const char *recfile_kept(const struct recfile *file);
void recfile_free(struct recfile *file);
void recfile_abandon(struct recfile *file);

#endif /* PERFEX_RECFILE_H */
