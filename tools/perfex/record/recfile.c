// SPDX-License-Identifier: GPL-2.0
/* Writes a recording; recfile.h describes the file. */
#define _FILE_OFFSET_BITS 64	/* a recording may have more than 2 GB */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/mapped.h"
#include "base/path.h"
#include "record/build_id.h"
#include "record/recfile.h"

#if defined(__x86_64__)
#define OUR_MACHINE	EM_X86_64
#elif defined(__i386__)
#define OUR_MACHINE	EM_386
#elif defined(__riscv)
#define OUR_MACHINE	EM_RISCV
#elif defined(__aarch64__)
#define OUR_MACHINE	EM_AARCH64
#elif defined(__powerpc__)
#define OUR_MACHINE	EM_PPC
#else
#define OUR_MACHINE	EM_NONE
#endif

/* A mapped file that the recording describes already, and the ctime of that description. */
struct known {
	uint64_t inode;
	uint32_t major, minor;
	uint64_t path;			/* a hash of the path */
	int64_t ctime;
};

/* The beginning of the recording up to the end of a record. */
struct extent {
	uint64_t size, records;
};

struct recfile {
	int fd;
	int error;			/* errno of a failed append, or 0 */
	char *path;			/* the name that the file gets at the end */
	char *temporary;		/* the name of the file while it is written */
	struct extent whole;		/* the records that are written */
	struct extent before;		/* the records before the last append */
	uint64_t dropped;		/* number of records that could not be written */
	struct known *known;		/* a hash table of 1 << known_bits, at most half full */
	unsigned int known_bits;
	size_t nknown;
};

static int write_all(int fd, const void *data, size_t size)
{
	const char *p = data;
	ssize_t n;

	while (size) {
		n = write(fd, p, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Reads the first line of a file of the kernel. @word is "" if the file cannot be read. */
static void read_word(const char *path, char *word, size_t size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(word, (int)size, f))
		word[0] = '\0';
	if (f)
		fclose(f);
	word[strcspn(word, "\n")] = '\0';
}

static uint64_t padded(uint64_t size)
{
	return (size + 7) & ~(uint64_t)7;
}

/* Writes the header, the counters and the command. Returns their size, or -1 with errno. */
static int64_t write_header(int fd, const struct recfile_about *about)
{
	static const char padding[8];
	struct recfile_header header = {
		.magic = { 'P', 'E', 'R', 'F', 'C', 'T', 'R', '\n' },
		.version = RECFILE_VERSION,
		.byte_order = RECFILE_BYTE_ORDER,
		.size = sizeof(header),
		.counter_size = sizeof(about->counter[0]),
		.nrctrs = about->nrctrs,
		.machine = OUR_MACHINE,
		.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		.ring_flags = about->ring_flags,
		.clock_hz = about->clock_hz,
		.timer_ns = about->timer_ns,
		.start = (uint64_t)time(NULL),
	};
	struct utsname uts;
	size_t command = 0;
	uint64_t used;
	char **arg;

	for (arg = about->argv; arg && *arg; arg++)
		command += strlen(*arg) + 1;
	if (about->nrctrs > PERFCTR_MAX_CTRS || command > UINT32_MAX) {
		errno = E2BIG;
		return -1;
	}
	header.command_size = (uint32_t)command;
	used = sizeof(header) + (uint64_t)about->nrctrs * sizeof(about->counter[0]) + command;
	header.data = padded(used);
	read_word("/proc/sys/kernel/random/boot_id", header.boot_id, sizeof(header.boot_id));
	if (!uname(&uts)) {
		(void)snprintf(header.release, sizeof(header.release), "%s", uts.release);
		(void)snprintf(header.host, sizeof(header.host), "%s", uts.nodename);
	}
	if (write_all(fd, &header, sizeof(header)) < 0 ||
	    write_all(fd, about->counter, about->nrctrs * sizeof(about->counter[0])) < 0)
		return -1;
	for (arg = about->argv; arg && *arg; arg++)
		if (write_all(fd, *arg, strlen(*arg) + 1) < 0)
			return -1;
	return write_all(fd, padding, (size_t)(header.data - used)) < 0 ? -1 : (int64_t)header.data;
}

void recfile_free(struct recfile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->temporary);
	free(file->known);
	free(file);
}

void recfile_abandon(struct recfile *file)
{
	int error = errno;

	(void)unlink(file->temporary);
	recfile_free(file);
	errno = error;
}

/*
 * Returns true if a new file may take the name @path, and if an old file of that name may become
 * @path.old.
 */
static bool may_take_name(const char *path)
{
	char *old;
	bool may = asprintf(&old, "%s.old", path) >= 0;

	if (!may) {
		errno = ENOMEM;
		return false;
	}
	may = access(path, F_OK) || (path_may_replace(path) && path_may_replace(old));
	free(old);
	return may;
}

struct recfile *recfile_create(const char *path, const struct recfile_about *about)
{
	struct recfile *file;
	struct stat st;
	int64_t size;

	/* A terminal, a pipe or a directory must not be renamed. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		errno = EEXIST;
		return NULL;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->fd = -1;
	file->known_bits = 6;
	file->known = calloc((size_t)1 << file->known_bits, sizeof(*file->known));
	file->path = path_target(path);
	if (!file->path || asprintf(&file->temporary, "%s.XXXXXX", file->path) < 0)
		file->temporary = NULL;
	/*
	 * mkostemp() makes a file that only its owner may read, as a recording tells what others
	 * ran.
	 */
	if (file->known && file->temporary && may_take_name(file->path))
		file->fd = mkostemp(file->temporary, O_CLOEXEC);
	if (!file->temporary || file->fd < 0) {
		int error = errno;

		recfile_free(file);
		errno = error;
		return NULL;
	}
	size = write_header(file->fd, about);
	if (size < 0) {
		recfile_abandon(file);
		return NULL;
	}
	file->whole.size = (uint64_t)size;
	file->before = file->whole;
	return file;
}

static uint64_t hash_known(const struct known *known)
{
	uint64_t h = known->inode * 0x9e3779b97f4a7c15ull ^ known->path;

	h ^= ((uint64_t)known->major << 32 | known->minor) * 0xff51afd7ed558ccdull;
	return h * 0xc4ceb9fe1a85ec53ull;
}

static struct known *find_known(const struct recfile *file, const struct known *key)
{
	size_t mask = ((size_t)1 << file->known_bits) - 1;
	size_t i = (size_t)(hash_known(key) >> (64 - file->known_bits));

	while (file->known[i].inode && memcmp(&file->known[i], key, offsetof(struct known, ctime)) != 0)
		i = (i + 1) & mask;
	return &file->known[i];
}

/*
 * Returns true if the recording does not yet describe the file with this ctime. Also returns false
 * if there is no memory.
 */
static bool is_new(struct recfile *file, const struct perfctr_record_map *map, int64_t ctime)
{
	struct known key = { map->inode, map->major, map->minor, 0, ctime };
	struct known *place, *old = file->known;
	const char *p;
	size_t i, n = (size_t)1 << file->known_bits;

	key.path = 0xcbf29ce484222325ull;
	for (p = map->path; *p; p++)
		key.path = (key.path ^ (unsigned char)*p) * 0x100000001b3ull;
	place = find_known(file, &key);
	if (place->inode && place->ctime == ctime)
		return false;
	if (place->inode) {
		place->ctime = ctime;
		return true;
	}
	*place = key;
	if (++file->nknown <= n / 2)
		return true;
	file->known = calloc(n * 2, sizeof(*file->known));
	if (!file->known) {
		file->known = old;
		file->nknown--;
		memset(place, 0, sizeof(*place));
		return false;
	}
	file->known_bits++;
	for (i = 0; i < n; i++)
		if (old[i].inode)
			*find_known(file, &old[i]) = old[i];
	free(old);
	return true;
}

/*
 * Returns true if the file has not changed since it was mapped at @time. Compares the ctime, which
 * no program can set back. A ctime may be one tick early, so a tick is added. If the process still
 * lives, it has mapped a whole file, and no tick is needed.
 */
static bool unchanged_since(const struct stat *st, uint64_t time, bool alive)
{
	struct timespec real, monotonic, tick;
	int64_t changed = nanoseconds(st->st_ctim);

	if (clock_gettime(CLOCK_REALTIME, &real) || clock_gettime(CLOCK_MONOTONIC, &monotonic) ||
	    clock_getres(CLOCK_REALTIME_COARSE, &tick))
		return false;
	changed -= nanoseconds(real) - nanoseconds(monotonic);
	return changed + (alive ? 0 : nanoseconds(tick)) <= (int64_t)time;
}

/*
 * Opens the file of a MAP. Its path begins at the root directory of the process, which may not be
 * perfex's. In that directory the inode identifies the file; the device is not compared, as stat(2)
 * may give another one. If the process has ended, the path is opened in perfex's root directory,
 * where it may lead to another device. So the device must match too.
 */
static int open_mapped(const struct perfctr_record_map *map, struct stat *st)
{
	char path[PATH_MAX + 64];
	int i, fd;

	for (i = 0; i < 2; i++) {
		if (i)
			(void)snprintf(path, sizeof(path), "%s", map->path);
		else
			(void)snprintf(path, sizeof(path), "/proc/%d/root%s", map->record.pid,
				       map->path);
		fd = open_regular(path, st);
		if (fd < 0)
			continue;
		if (st->st_ino == map->inode && unchanged_since(st, map->record.time, !i) &&
		    (!i || is_numbered(fd, map->inode, map->major, map->minor)))
			return fd;
		close(fd);
	}
	return -1;
}

static void add_whole(struct recfile *file, uint64_t size, uint64_t records)
{
	file->whole.size += size;
	file->whole.records += records;
}

/* Appends a record of @size bytes about a MAP, whose path is copied to offset @to of the record. */
static int append_about(struct recfile *file, const struct perfctr_record_map *map,
			unsigned int type, void *about, size_t size, size_t to)
{
	struct perfctr_record *record = about;

	*record = map->record;
	record->type = (uint16_t)type;
	record->flags = 0;
	record->size = (uint32_t)size;
	memcpy((char *)about + to, map->path, strlen(map->path) + 1);
	if (write_all(file->fd, about, size) < 0)
		return -1;
	add_whole(file, size, 1);
	return 0;
}

/* Writes a BUILD_ID about a MAP, or a FILE if there is no build id. */
static int write_about(struct recfile *file, const struct perfctr_record_map *map)
{
	union {
		struct recfile_build_id id;
		struct recfile_file file;
		char room[sizeof(struct recfile_build_id) + RECFILE_MAX_RECORD];
	} *about;
	size_t path = strlen(map->path) + 1;
	struct stat st;
	int fd, status;

	if (!map->inode || map->path[0] != '/')
		return 0;
	fd = open_mapped(map, &st);
	if (fd < 0)
		return 0;
	about = is_new(file, map, nanoseconds(st.st_ctim)) ? calloc(1, sizeof(*about)) : NULL;
	if (!about) {
		close(fd);
		return 0;
	}
	about->id.inode = map->inode;
	about->id.major = map->major;
	about->id.minor = map->minor;
	about->id.id_size = (uint32_t)build_id_read(fd, about->id.id, sizeof(about->id.id));
	close(fd);
	if (about->id.id_size) {
		status = append_about(file, map, RECFILE_BUILD_ID, about,
				      (size_t)padded(sizeof(about->id) + path), sizeof(about->id));
	} else {
		about->file.size = st.st_size;
		about->file.mtime = nanoseconds(st.st_mtim);
		about->file.ctime = nanoseconds(st.st_ctim);
		status = append_about(file, map, RECFILE_FILE, about,
				      (size_t)padded(sizeof(about->file) + path),
				      sizeof(about->file));
	}
	free(about);
	return status;
}

/* Records that lie in one piece or in two. */
struct pieces {
	const char *piece[2];
	size_t size[2];
};

static void copy_out(const struct pieces *pieces, size_t from, void *to, size_t n)
{
	size_t first = 0;

	if (from < pieces->size[0]) {
		first = pieces->size[0] - from < n ? pieces->size[0] - from : n;
		memcpy(to, pieces->piece[0] + from, first);
	}
	if (first < n)
		memcpy((char *)to + first, pieces->piece[1] + (from + first - pieces->size[0]),
		       n - first);
}

/* Copies the header of the record at offset @at. Returns false if no whole record is there. */
static bool record_at(const struct pieces *pieces, size_t at, struct perfctr_record *record)
{
	size_t left = pieces->size[0] + pieces->size[1] - at;

	if (left < sizeof(*record))
		return false;
	copy_out(pieces, at, record, sizeof(*record));
	return record->size >= sizeof(*record) && !(record->size % 8) &&
		record->size <= RECFILE_MAX_RECORD && record->size <= left;
}

static int append(struct recfile *file, const void *piece, size_t size, const void *piece2,
		  size_t size2)
{
	struct pieces pieces = { { piece, piece2 }, { size, size2 } };
	struct perfctr_record record;
	struct perfctr_record_map *map;
	uint64_t records = 0;
	size_t at, maps = 0;
	int status = 0;

	for (at = 0; at < size + size2; at += record.size) {
		if (!record_at(&pieces, at, &record)) {
			errno = EINVAL;
			return -1;
		}
		records++;
		maps += record.type == PERFCTR_RECORD_MAP;
	}
	if (file->error) {
		file->dropped += records;
		errno = file->error;
		return -1;
	}
	if (write_all(file->fd, piece, size) < 0 || write_all(file->fd, piece2, size2) < 0) {
		file->dropped += records;
		return -1;
	}
	file->before = file->whole;
	add_whole(file, size + size2, records);
	for (at = 0; maps && !status && at < size + size2; at += record.size) {
		if (!record_at(&pieces, at, &record))
			break;
		if (record.type != PERFCTR_RECORD_MAP || record.size <= sizeof(*map))
			continue;
		maps--;
		map = malloc((size_t)record.size + 1);
		if (!map)
			return -1;
		copy_out(&pieces, at, map, record.size);
		((char *)map)[record.size] = '\0';
		status = write_about(file, map);
		free(map);
	}
	return status;
}

int recfile_append(struct recfile *file, const void *piece, size_t size, const void *piece2,
		   size_t size2)
{
	if (!append(file, piece, size, piece2, size2))
		return 0;
	if (errno != EINVAL)
		file->error = file->error ?: errno;
	return -1;
}

/* Gives the file its name. An old file of that name becomes @path.old, as with perf. */
static int rename_to_path(const struct recfile *file)
{
	char *old;
	int status;

	if (asprintf(&old, "%s.old", file->path) < 0) {
		errno = ENOMEM;
		return -1;
	}
	status = rename(file->path, old);
	if (status < 0 && errno == ENOENT)
		status = 0;
	if (!status && rename(file->temporary, file->path) < 0) {
		int error = errno;

		(void)rename(old, file->path);
		errno = error;
		status = -1;
	}
	free(old);
	return status;
}

/* Writes the END record behind the records in @whole, and cuts off the rest of the file. */
static int write_end(struct recfile *file, const struct extent *whole, uint64_t lost)
{
	struct recfile_end end = {
		.record = { .type = RECFILE_END, .size = sizeof(end) },
		.records = whole->records,
		.lost = lost + file->dropped + file->whole.records - whole->records,
	};
	struct timespec now;

	if (!clock_gettime(CLOCK_MONOTONIC, &now))
		end.record.time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (ftruncate(file->fd, (off_t)whole->size) < 0 ||
	    lseek(file->fd, (off_t)whole->size, SEEK_SET) < 0)
		return -1;
	return write_all(file->fd, &end, sizeof(end));
}

int recfile_finish(struct recfile *file, uint64_t lost)
{
	int fd = file->fd;

	if (write_end(file, &file->whole, lost) < 0) {
		file->error = file->error ?: errno;
		/* The disk is full, so END replaces the records of the last append. */
		(void)write_end(file, &file->before, lost);
	}
	/* Some file systems report a lack of room only at close(2). */
	file->fd = -1;
	if (close(fd) < 0)
		file->error = file->error ?: errno;
	if (!file->error && rename_to_path(file) < 0)
		file->error = errno;
	if (!file->error) {
		recfile_free(file);
		return 0;
	}
	if (!recfile_kept(file))
		(void)unlink(file->temporary);
	errno = file->error;
	return -1;
}

const char *recfile_kept(const struct recfile *file)
{
	return file->whole.records && !access(file->temporary, F_OK) ? file->temporary : NULL;
}
