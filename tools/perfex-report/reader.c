// SPDX-License-Identifier: GPL-2.0
/*
 * Reads recordings, which may be cut short, damaged, or made by an attacker. So every number is
 * checked before it is used. The first impossible number is reported with its offset.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "reader.h"

/*
 * The buffer is as large as the largest record. A sanitizer is told where the present record ends,
 * so that the fuzzer finds code that reads beyond the record.
 */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#ifdef SANITIZED
#include <sanitizer/asan_interface.h>
#define FENCE(begin, size)	__asan_poison_memory_region(begin, size)
#define UNFENCE(begin, size)	__asan_unpoison_memory_region(begin, size)
#else
#define FENCE(begin, size)	((void)(begin))
#define UNFENCE(begin, size)	((void)(begin))
#endif

/*
 * The largest structure that is accepted. Later versions may append to structures up to this size.
 */
#define MAX_STRUCTURE	65536u

static enum reader_status refuse(struct reader *reader, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static enum reader_status refuse(struct reader *reader, uint64_t offset, const char *format, ...)
{
	size_t n;
	va_list args;

	(void)snprintf(reader->error, sizeof(reader->error), "'%s': at byte %" PRIu64 ": ",
		       reader->name, offset);
	n = strlen(reader->error);
	va_start(args, format);
	(void)vsnprintf(reader->error + n, sizeof(reader->error) - n, format, args);
	va_end(args);
	return READER_REFUSED;
}

/*
 * Reads @size bytes of something that begins at offset @begin and has @whole bytes. Returns false
 * after an error message.
 */
static bool take_bytes(struct reader *reader, void *to, size_t size, uint64_t begin, uint64_t whole,
		       const char *what)
{
	size_t n = fread(to, 1, size, reader->f);

	reader->offset += n;
	if (n == size)
		return true;
	if (ferror(reader->f))
		refuse(reader, reader->offset, "cannot be read: %s", strerror(errno));
	else if (reader->offset == begin)
		refuse(reader, reader->offset,
		       "the file ends here, where %s should begin: it was cut short", what);
	else
		refuse(reader, reader->offset,
		       "the file ends here, within %s that begins at byte %" PRIu64
		       " and has %" PRIu64 " bytes: it was cut short", what, begin, whole);
	return false;
}

/* Skips @size bytes that a later version has appended. */
static bool skip(struct reader *reader, size_t size, uint64_t begin, uint64_t whole,
		 const char *what)
{
	char rest[512];
	size_t n;

	while (size) {
		n = size < sizeof(rest) ? size : sizeof(rest);
		if (!take_bytes(reader, rest, n, begin, whole, what))
			return false;
		size -= n;
	}
	return true;
}

static enum reader_status check_magic(struct reader *reader)
{
	struct recfile_header *header = &reader->header;
	char *magic = header->magic;
	size_t n = fread(magic, 1, sizeof(header->magic), reader->f);

	reader->offset = n;
	if (ferror(reader->f))
		return refuse(reader, n, "cannot be read: %s", strerror(errno));
	if (memcmp(magic, RECFILE_MAGIC, n) != 0)
		return refuse(reader, 0, "this is no file of perfex record: it does not begin with "
			      "\"PERFCTR\" and a newline%s",
			      n == 8 && !memcmp(magic, "PERFILE2", 8) ?
				      ", but as perf's own files do, which perf report reads" : "");
	if (n < sizeof(header->magic))
		return refuse(reader, n, "the file ends here, within the header that begins at byte "
			      "0 and has %zu bytes: it was cut short", sizeof(*header));
	return READER_RECORD;
}

static bool terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

#define OFFSET(member)	offsetof(struct recfile_header, member)

static enum reader_status check_header(struct reader *reader)
{
	const struct recfile_header *header = &reader->header;
	uint64_t data;

	if (header->size < sizeof(*header) || header->size > MAX_STRUCTURE || header->size % 8)
		return refuse(reader, OFFSET(size), "the header has %" PRIu32
			      " bytes; expected were %zu or a few more", header->size,
			      sizeof(*header));
	if (header->counter_size < sizeof(reader->counter[0]) ||
	    header->counter_size > MAX_STRUCTURE || header->counter_size % 8)
		return refuse(reader, OFFSET(counter_size), "a counter has %" PRIu32
			      " bytes; expected were %zu or a few more", header->counter_size,
			      sizeof(reader->counter[0]));
	if (header->nrctrs > PERFCTR_MAX_CTRS)
		return refuse(reader, OFFSET(nrctrs), "there are %" PRIu32
			      " counters; expected were at most %d", header->nrctrs,
			      PERFCTR_MAX_CTRS);
	if (header->command_size > READER_MAX_COMMAND)
		return refuse(reader, OFFSET(command_size), "the command has %" PRIu32
			      " bytes; expected were at most %u", header->command_size,
			      READER_MAX_COMMAND);
	data = (uint64_t)header->size + (uint64_t)header->nrctrs * header->counter_size +
		header->command_size;
	data = (data + 7) & ~(uint64_t)7;
	if (header->data != data)
		return refuse(reader, OFFSET(data), "the records begin at byte %" PRIu64
			      "; expected was %" PRIu64 ", where header, counters and command end",
			      header->data, data);
	if (!terminated(header->boot_id, sizeof(header->boot_id)))
		return refuse(reader, OFFSET(boot_id), "the boot id has no end");
	if (!terminated(header->release, sizeof(header->release)))
		return refuse(reader, OFFSET(release), "the kernel's release has no end");
	if (!terminated(header->host, sizeof(header->host)))
		return refuse(reader, OFFSET(host), "the host's name has no end");
	return READER_RECORD;
}

static enum reader_status read_counters(struct reader *reader)
{
	struct recfile_header *header = &reader->header;
	struct recfile_counter *counter = reader->counter;
	uint64_t begin;

	for (; counter < reader->counter + header->nrctrs; counter++) {
		begin = reader->offset;
		if (!take_bytes(reader, counter, sizeof(*counter), begin, header->counter_size,
				"a counter") ||
		    !skip(reader, header->counter_size - sizeof(*counter), begin,
			  header->counter_size, "a counter"))
			return READER_REFUSED;
		if (!terminated(counter->name, sizeof(counter->name)))
			return refuse(reader, begin, "the name of an event has no end");
		if (!counter->name[0])
			return refuse(reader, begin, "an event has no name");
	}
	return READER_RECORD;
}

/*
 * Reads the command in pieces, so that a short file with a large size cannot make perfex-report
 * take much memory.
 */
static enum reader_status read_command(struct reader *reader)
{
	size_t size = reader->header.command_size, have = 0, capacity = 0, n;
	uint64_t begin = reader->offset;

	reader->command = grow(NULL, 0, &capacity, 1);
	while (have < size) {
		reader->command = grow(reader->command, have, &capacity, 1);
		n = size - have < capacity - have ? size - have : capacity - have;
		if (!take_bytes(reader, reader->command + have, n, begin, size, "the command"))
			return READER_REFUSED;
		have += n;
	}
	if (size && reader->command[size - 1])
		return refuse(reader, reader->offset - 1, "the command's last word has no end");
	if (!skip(reader, reader->header.data - reader->offset, begin, reader->header.data - begin,
		  "the command"))
		return READER_REFUSED;
	return READER_RECORD;
}

enum reader_status reader_open(struct reader *reader, FILE *f, const char *name)
{
	struct recfile_header *header = &reader->header;
	uint32_t other = __builtin_bswap32(RECFILE_BYTE_ORDER);

	memset(reader, 0, sizeof(*reader));
	reader->f = f;
	reader->name = name;
	reader->buffer = get_memory(1, RECFILE_MAX_RECORD);
	if (check_magic(reader) == READER_REFUSED)
		return READER_REFUSED;
	/* The version says what the rest means. */
	if (!take_bytes(reader, &header->version, OFFSET(size) - sizeof(header->magic), 0,
			sizeof(*header), "the header"))
		return READER_REFUSED;
	if (header->byte_order == other)
		return refuse(reader, OFFSET(byte_order), "the file is of a machine with the other "
			      "byte order. Run perfex report on such a machine");
	if (header->byte_order != RECFILE_BYTE_ORDER)
		return refuse(reader, OFFSET(byte_order), "the mark of the byte order is 0x%" PRIx32
			      "; expected was 0x%x", header->byte_order, RECFILE_BYTE_ORDER);
	if (header->version != RECFILE_VERSION)
		return refuse(reader, OFFSET(version), "the file has version %" PRIu32
			      " of the format; this perfex reads version %u", header->version,
			      RECFILE_VERSION);
	if (!take_bytes(reader, &header->size, sizeof(*header) - OFFSET(size), 0, sizeof(*header),
			"the header") ||
	    check_header(reader) == READER_REFUSED ||
	    !skip(reader, header->size - sizeof(*header), 0, header->size, "the header") ||
	    read_counters(reader) == READER_REFUSED)
		return READER_REFUSED;
	return read_command(reader);
}

const uint64_t *sample_addresses(const struct perfctr_record_sample *sample)
{
	/* The cast is needed since __u64 and uint64_t are different types on some architectures. */
	const void *addresses = sample->value + sample->nrctrs;

	return addresses;
}

/* The offset in the file of a member of the present record. */
#define AT(reader, type, member)	((reader)->at + offsetof(struct type, member))

static enum reader_status check_sample(struct reader *reader,
				       const struct perfctr_record_sample *sample)
{
	uint64_t size = sizeof(*sample);

	if (sample->nrctrs != reader->header.nrctrs)
		return refuse(reader, AT(reader, perfctr_record_sample, nrctrs),
			      "a SAMPLE has %u sums; expected were %" PRIu32
			      ", one for each counter", sample->nrctrs, reader->header.nrctrs);
	if (sample->kernel_depth > PERFCTR_RING_MAX_DEPTH)
		return refuse(reader, AT(reader, perfctr_record_sample, kernel_depth),
			      "a SAMPLE has %u addresses in the kernel; expected were at most %d",
			      sample->kernel_depth, PERFCTR_RING_MAX_DEPTH);
	if (sample->user_depth > PERFCTR_RING_MAX_DEPTH)
		return refuse(reader, AT(reader, perfctr_record_sample, user_depth),
			      "a SAMPLE has %u addresses in user mode; expected were at most %d",
			      sample->user_depth, PERFCTR_RING_MAX_DEPTH);
	size += 8 * ((uint64_t)sample->nrctrs + sample->kernel_depth + sample->user_depth);
	if (sample->record.size != size)
		return refuse(reader, AT(reader, perfctr_record, size), "a SAMPLE has %" PRIu32
			      " bytes; expected were %" PRIu64 ", for its sums and addresses",
			      sample->record.size, size);
	return READER_RECORD;
}

static enum reader_status check_range(struct reader *reader, const char *what, uint64_t start,
				      uint64_t length)
{
	if (!length || start + length < start)
		return refuse(reader, AT(reader, perfctr_record_map, length), "%s has %" PRIu64
			      " bytes from address 0x%" PRIx64
			      "; expected were some, below the end of memory", what, length, start);
	return READER_RECORD;
}

static enum reader_status check_text(struct reader *reader, size_t from, size_t size,
				     const char *what)
{
	if (!terminated((const char *)reader->buffer + from, size))
		return refuse(reader, reader->at + from, "%s has no NUL at its end", what);
	return READER_RECORD;
}

static enum reader_status check_build_id(struct reader *reader, const struct recfile_build_id *id)
{
	if (!id->id_size || id->id_size > sizeof(id->id))
		return refuse(reader, AT(reader, recfile_build_id, id_size), "a build id has %" PRIu32
			      " bytes; expected were 1 to %zu", id->id_size, sizeof(id->id));
	return check_text(reader, sizeof(*id), id->record.size - sizeof(*id), "a path");
}

static enum reader_status check_end(struct reader *reader, const struct recfile_end *end)
{
	char c;

	if (end->records != reader->records)
		return refuse(reader, AT(reader, recfile_end, records), "the end tells of %" PRIu64
			      " records; there are %" PRIu64 " before it", (uint64_t)end->records,
			      reader->records);
	if (fread(&c, 1, 1, reader->f))
		return refuse(reader, reader->offset, "there is more behind the end");
	if (ferror(reader->f))
		return refuse(reader, reader->offset, "cannot be read: %s", strerror(errno));
	reader->lost = end->lost;
	return READER_END;
}

/* Returns the least size of a record of this type, and the type's name in *what. */
static size_t least(unsigned int type, const char **what)
{
	static const struct {
		unsigned int type;
		size_t size;
		const char *what;
	} types[] = {
		{ PERFCTR_RECORD_SAMPLE, sizeof(struct perfctr_record_sample), "a SAMPLE" },
		{ PERFCTR_RECORD_LOST, sizeof(struct perfctr_record_lost), "a LOST" },
		{ PERFCTR_RECORD_MAP, sizeof(struct perfctr_record_map) + 1, "a MAP" },
		{ PERFCTR_RECORD_UNMAP, sizeof(struct perfctr_record_unmap), "an UNMAP" },
		{ PERFCTR_RECORD_COMM, sizeof(struct perfctr_record_comm), "a COMM" },
		{ PERFCTR_RECORD_FORK, sizeof(struct perfctr_record_fork), "a FORK" },
		{ RECFILE_BUILD_ID, sizeof(struct recfile_build_id) + 1, "a BUILD_ID" },
		{ RECFILE_FILE, sizeof(struct recfile_file) + 1, "a FILE" },
		{ RECFILE_END, sizeof(struct recfile_end), "the END" },
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].type != type)
			continue;
		*what = types[i].what;
		return types[i].size;
	}
	*what = "a record";
	return sizeof(struct perfctr_record);
}

static enum reader_status check_record(struct reader *reader, const void *p)
{
	const struct perfctr_record *record = p;
	const struct perfctr_record_map *map = p;
	const struct perfctr_record_unmap *unmap = p;
	const char *what;
	size_t size = least(record->type, &what);

	if (record->size < size)
		return refuse(reader, AT(reader, perfctr_record, size), "%s has %" PRIu32
			      " bytes; expected were at least %zu", what, record->size, size);
	switch (record->type) {
	case PERFCTR_RECORD_SAMPLE:
		return check_sample(reader, p);
	case PERFCTR_RECORD_MAP:
		if (check_range(reader, "a MAP", map->start, map->length) == READER_REFUSED)
			return READER_REFUSED;
		return check_text(reader, sizeof(*map), record->size - sizeof(*map), "a path");
	case PERFCTR_RECORD_UNMAP:
		return check_range(reader, "an UNMAP", unmap->start, unmap->length);
	case PERFCTR_RECORD_COMM:
		return check_text(reader, offsetof(struct perfctr_record_comm, comm),
				  sizeof(((struct perfctr_record_comm *)p)->comm),
				  "the name of a thread");
	case RECFILE_BUILD_ID:
		return check_build_id(reader, p);
	case RECFILE_FILE:
		return check_text(reader, sizeof(struct recfile_file),
				  record->size - sizeof(struct recfile_file), "a path");
	case RECFILE_END:
		return check_end(reader, p);
	default:
		return READER_RECORD;
	}
}

enum reader_status reader_next(struct reader *reader, const struct perfctr_record **record)
{
	struct perfctr_record *r = reader->buffer;
	enum reader_status status;

	UNFENCE(reader->buffer, RECFILE_MAX_RECORD);
	reader->at = reader->offset;
	if (!take_bytes(reader, r, sizeof(*r), reader->at, sizeof(*r), "a record or the end"))
		return READER_REFUSED;
	if (r->size < sizeof(*r) || r->size % 8 || r->size > RECFILE_MAX_RECORD)
		return refuse(reader, AT(reader, perfctr_record, size), "a record has %" PRIu32
			      " bytes; expected was a multiple of 8, from %zu to %u",
			      (uint32_t)r->size, sizeof(*r), RECFILE_MAX_RECORD);
	if (r->size > sizeof(*r) && !take_bytes(reader, r + 1, r->size - sizeof(*r), reader->at,
						r->size, "a record"))
		return READER_REFUSED;
	FENCE((char *)reader->buffer + r->size, RECFILE_MAX_RECORD - r->size);
	status = check_record(reader, r);
	reader->records += status == READER_RECORD;
	*record = r;
	return status;
}

void reader_close(struct reader *reader)
{
	if (reader->buffer)
		UNFENCE(reader->buffer, RECFILE_MAX_RECORD);
	free(reader->buffer);
	free(reader->command);
	reader->buffer = NULL;
	reader->command = NULL;
}
