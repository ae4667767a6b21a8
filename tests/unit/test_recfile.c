// SPDX-License-Identifier: GPL-2.0
/* The file of a recording, as it is written: which bytes, under which name, and when. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "record/build_id.h"
#include "record/recfile.h"
#include "run.h"

static char dir[] = "/tmp/test_recfile.XXXXXX";
static char path[64];

static struct recfile_about about = {
	.counter = {
		{ "cycles", PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL, 0, 1000000 },
		{ "instructions", PERFCTR_CTR_USER, 0, 0 },
	},
	.nrctrs = 2,
	.ring_flags = PERFCTR_RING_MAPS,
	.clock_hz = 1000,
	.timer_ns = 7,
};

static void enter(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/rec", dir);
}

static void leave(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0); // NOLINT(bugprone-command-processor)
}

static size_t read_file(const char *name, char *buf, size_t size)
{
	FILE *f = fopen(name, "re");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(buf, 1, size, f);
	fclose(f);
	ck_assert_uint_lt(n, size);
	return n;
}

static unsigned int files(void)
{
	struct dirent *entry;
	unsigned int n = 0;
	DIR *d = opendir(dir);

	ck_assert_ptr_nonnull(d);
	while ((entry = readdir(d)))
		n += entry->d_name[0] != '.';
	closedir(d);
	return n;
}

static struct perfctr_record_comm comm = {
	.record = { PERFCTR_RECORD_COMM, 0, sizeof(comm), 5, 12, 13 },
	.comm = "name",
};

START_TEST(header_command_records_end)
{
	char *argv[] = { (char[]){ "a" }, (char[]){ "b c" }, NULL };
	char buf[4096];
	struct recfile_about mine = about;
	struct recfile_header header;
	struct recfile_counter counter;
	struct recfile_end end;
	struct recfile *file;
	struct timespec time;
	struct utsname uts;
	size_t n;

	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &time), 0);
	mine.argv = argv;
	file = recfile_create(path, &mine);
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(access(path, F_OK), -1);
	ck_assert_int_eq(recfile_append(file, &comm, sizeof(comm), NULL, 0), 0);
	/* In two pieces, the second record's header in both of them */
	ck_assert_int_eq(recfile_append(file, &comm, 16, (char *)&comm + 16, sizeof(comm) - 16), 0);
	ck_assert_int_eq(recfile_finish(file, 3), 0);
	ck_assert_uint_eq(files(), 1);

	n = read_file(path, buf, sizeof(buf));
	memcpy(&header, buf, sizeof(header));
	ck_assert_int_eq(memcmp(header.magic, RECFILE_MAGIC, 8), 0);
	ck_assert_uint_eq(header.version, RECFILE_VERSION);
	ck_assert_uint_eq(header.byte_order, RECFILE_BYTE_ORDER);
	ck_assert_uint_eq(header.size, sizeof(header));
	ck_assert_uint_eq(header.counter_size, sizeof(counter));
	ck_assert_uint_eq(header.nrctrs, 2);
	ck_assert_uint_eq(header.command_size, 6);
	ck_assert_uint_eq(header.data, sizeof(header) + 2 * sizeof(counter) + 8);
	ck_assert_uint_eq(header.ring_flags, PERFCTR_RING_MAPS);
	ck_assert_uint_eq(header.clock_hz, 1000);
	ck_assert_uint_eq(header.timer_ns, 7);
	ck_assert_int_eq(uname(&uts), 0);
	ck_assert_str_eq(header.release, uts.release);
	ck_assert_str_eq(header.host, uts.nodename);
	ck_assert_uint_eq(strlen(header.boot_id), 36);
	memcpy(&counter, buf + sizeof(header), sizeof(counter));
	ck_assert_str_eq(counter.name, "cycles");
	ck_assert_uint_eq(counter.period, 1000000);
	ck_assert_int_eq(memcmp(buf + header.data - 8, "a\0b c\0\0", 8), 0);
	ck_assert_uint_eq(n, header.data + 2 * sizeof(comm) + sizeof(end));
	ck_assert_int_eq(memcmp(buf + header.data, &comm, sizeof(comm)), 0);
	ck_assert_int_eq(memcmp(buf + header.data + sizeof(comm), &comm, sizeof(comm)), 0);
	memcpy(&end, buf + n - sizeof(end), sizeof(end));
	ck_assert_uint_eq(end.record.type, RECFILE_END);
	ck_assert_uint_eq(end.record.size, sizeof(end));
	ck_assert_uint_eq(end.records, 2);
	ck_assert_uint_eq(end.lost, 3);
	/* By the clock of the records */
	ck_assert_uint_ge(end.record.time, (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec);
	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &time), 0);
	ck_assert_uint_le(end.record.time, (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec);
}
END_TEST

START_TEST(only_its_owner_reads_it)
{
	struct recfile *file = recfile_create(path, &about);
	struct stat st;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(recfile_finish(file, 0), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(the_old_file_is_kept)
{
	char old[80], buf[4096];
	struct recfile *file;
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	fputs("before", f);
	fclose(f);
	file = recfile_create(path, &about);
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(read_file(path, buf, sizeof(buf)), 6);
	recfile_abandon(file);
	ck_assert_uint_eq(files(), 1);
	ck_assert_uint_eq(read_file(path, buf, sizeof(buf)), 6);

	file = recfile_create(path, &about);
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(recfile_finish(file, 0), 0);
	ck_assert_uint_eq(files(), 2);
	snprintf(old, sizeof(old), "%s.old", path);
	ck_assert_uint_eq(read_file(old, buf, sizeof(buf)), 6);
}
END_TEST

START_TEST(what_cannot_be_written)
{
	struct recfile *file;

	errno = 0;
	ck_assert_ptr_null(recfile_create(dir, &about));
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_ptr_null(recfile_create("/dev/null", &about));
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_ptr_null(recfile_create("/nowhere/rec", &about));
	ck_assert_int_eq(errno, ENOENT);

	/* It cannot get its name: the directory has gone. */
	file = recfile_create(path, &about);
	ck_assert_ptr_nonnull(file);
	leave();
	ck_assert_int_eq(recfile_finish(file, 0), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_null(recfile_kept(file));
	recfile_free(file);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
}
END_TEST

/* The name is a link's, which need not lead to a file yet. */
START_TEST(links_are_written_through)
{
	char link[80];
	struct recfile *file;
	struct stat st;

	snprintf(link, sizeof(link), "%s/link", dir);
	ck_assert_int_eq(symlink("rec", link), 0);
	file = recfile_create(link, &about);
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(recfile_finish(file, 0), 0);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_uint_eq(files(), 2);
}
END_TEST

static void end_of(const char *name, struct recfile_end *end, size_t *size)
{
	char buf[8192];

	*size = read_file(name, buf, sizeof(buf));
	memcpy(end, buf + *size - sizeof(*end), sizeof(*end));
	ck_assert_uint_eq(end->record.type, RECFILE_END);
}

static void limit_files(rlim_t size)
{
	const struct rlimit limit = { size, RLIM_INFINITY };

	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		abort();
}

/* What was recorded stays, whole and with its end, whatever room there is for that. */
START_TEST(what_is_kept)
{
	const size_t header = sizeof(struct recfile_header) + 2 * sizeof(struct recfile_counter);
	struct recfile_end end;
	struct recfile *file;
	int i, appended, finished;
	char old[80];
	size_t size, room;

	signal(SIGXFSZ, SIG_IGN);
	for (room = 0; room < 2 * sizeof(comm); room += 8) {
		file = recfile_create(path, &about);
		ck_assert_ptr_nonnull(file);
		for (i = 0; i < 10; i++)
			ck_assert_int_eq(recfile_append(file, &comm, sizeof(comm), NULL, 0), 0);
		/* Two records do not fit, and later ones are not tried. libcheck writes to a file, too. */
		limit_files(header + 10 * sizeof(comm) + room);
		appended = 0;
		for (i = 0; i < 3; i++)
			appended += recfile_append(file, &comm, sizeof(comm), &comm, sizeof(comm)) == -1 &&
				    errno == EFBIG;
		errno = 0;
		finished = recfile_finish(file, 7);
		limit_files(RLIM_INFINITY);
		ck_assert_int_eq(appended, 3);
		ck_assert_int_eq(finished, -1);
		ck_assert_ptr_nonnull(recfile_kept(file));
		end_of(recfile_kept(file), &end, &size);
		ck_assert_uint_eq(end.records, room < sizeof(end) ? 9 : 10);
		ck_assert_uint_eq(end.lost, 7 + 16 - end.records);
		ck_assert_uint_eq(size, header + end.records * sizeof(comm) + sizeof(end));
		recfile_free(file);
	}
	/* It is written, and cannot take its name. */
	file = recfile_create(path, &about);
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(recfile_append(file, &comm, sizeof(comm), NULL, 0), 0);
	snprintf(old, sizeof(old), "%s.old", path);
	ck_assert_int_eq(mkdir(old, 0700), 0);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	ck_assert_int_eq(recfile_finish(file, 0), -1);
	ck_assert_int_eq(errno, EISDIR);
	end_of(recfile_kept(file), &end, &size);
	ck_assert_uint_eq(end.records, 1);
	recfile_free(file);
	/* That is seen before, too. */
	ck_assert_ptr_null(recfile_create(path, &about));
	ck_assert_int_eq(errno, EISDIR);
}
END_TEST

START_TEST(only_whole_records)
{
	static const uint32_t sizes[] = { 0, 16, 41, 48, RECFILE_MAX_RECORD + 8 };
	struct perfctr_record_comm bad = comm;
	struct recfile *file = recfile_create(path, &about);
	struct recfile_end end;
	char buf[4096];
	size_t i, n;

	ck_assert_ptr_nonnull(file);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bad.record.size = sizes[i];
		errno = 0;
		ck_assert_int_eq(recfile_append(file, &bad, sizeof(bad), NULL, 0), -1);
		ck_assert_int_eq(errno, EINVAL);
	}
	ck_assert_int_eq(recfile_append(file, &comm, 8, NULL, 0), -1);
	ck_assert_int_eq(recfile_append(file, NULL, 0, NULL, 0), 0);
	ck_assert_int_eq(recfile_finish(file, 0), 0);
	n = read_file(path, buf, sizeof(buf));
	memcpy(&end, buf + n - sizeof(end), sizeof(end));
	ck_assert_uint_eq(end.records, 0);
}
END_TEST

/* A file of 64 bits with one note, in our byte order */
static void write_elf(const char *name, unsigned int align)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Phdr p;
		Elf64_Nhdr other;
		char other_name[8];
		char other_descriptor[8];
		Elf64_Nhdr note;
		char note_name[4];
		unsigned char id[20];
	} elf = {
		.h.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB },
		.h.e_phoff = sizeof(Elf64_Ehdr),
		.h.e_phnum = 1,
		.p = { .p_type = PT_NOTE, .p_align = align },
		.other = { 5, 7, 1 },
		.note = { 4, 20, NT_GNU_BUILD_ID },
		.note_name = "GNU",
		.id = "nineteen characters",
	};
	FILE *f = fopen(name, "we");

	elf.p.p_offset = sizeof(elf.h) + sizeof(elf.p);
	elf.p.p_filesz = sizeof(elf) - elf.p.p_offset;
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(&elf, sizeof(elf), 1, f), 1);
	fclose(f);
}

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(name, "we");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

START_TEST(build_ids_of_what_is_mapped)
{
	struct {
		struct perfctr_record_map map;
		char path[72];
	} map = {
		.map.record = { PERFCTR_RECORD_MAP, 0, sizeof(map), 5, 0, 13 },
		.map.start = 0x1000,
		.map.length = 0x1000,
		.map.major = 8,
		.map.minor = 1,
	};
	struct recfile *file = recfile_create(path, &about);
	struct recfile_build_id id;
	struct recfile_file plain;
	struct recfile_end end;
	struct timespec now;
	struct stat st;
	char buf[8192];
	size_t n, at;

	ck_assert_ptr_nonnull(file);
	map.map.record.pid = getpid();
	snprintf(map.path, sizeof(map.path), "%s/elf", dir);
	write_elf(map.path, 4);
	ck_assert_int_eq(stat(map.path, &st), 0);
	map.map.inode = st.st_ino;
	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	map.map.record.time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	at = sizeof(struct recfile_header) + 2 * sizeof(struct recfile_counter) + sizeof(map);
	/* It is read once, however often it is mapped. */
	ck_assert_int_eq(recfile_append(file, &map, 90, (char *)&map + 90, sizeof(map) - 90), 0);
	ck_assert_int_eq(recfile_append(file, &map, sizeof(map), NULL, 0), 0);
	/* Another file has that name now. */
	map.map.inode++;
	ck_assert_int_eq(recfile_append(file, &map, sizeof(map), NULL, 0), 0);
	/* Its process has ended, and it was on another device. */
	map.map.inode--;
	map.map.minor++;
	map.map.record.pid = 0;
	ck_assert_int_eq(recfile_append(file, &map, sizeof(map), NULL, 0), 0);
	/* It has been changed since it was mapped; then it is mapped again. */
	map.map.minor--;
	map.map.record.pid = getpid();
	write_text(map.path, "no ELF file");
	map.map.record.time -= 1000000000;
	ck_assert_int_eq(recfile_append(file, &map, sizeof(map), NULL, 0), 0);
	map.map.record.time += 2000000000;
	ck_assert_int_eq(recfile_append(file, &map, sizeof(map), NULL, 0), 0);
	ck_assert_int_eq(recfile_finish(file, 0), 0);
	n = read_file(path, buf, sizeof(buf));
	memcpy(&id, buf + at, sizeof(id));
	ck_assert_uint_eq(id.record.type, RECFILE_BUILD_ID);
	ck_assert_uint_eq(id.record.size % 8, 0);
	ck_assert_int_eq(id.record.pid, getpid());
	ck_assert_uint_eq(id.inode, st.st_ino);
	ck_assert_uint_eq(id.major, 8);
	ck_assert_uint_eq(id.minor, 1);
	ck_assert_uint_eq(id.id_size, 20);
	ck_assert_str_eq((char *)id.id, "nineteen characters");
	ck_assert_str_eq(buf + at + sizeof(id), map.path);
	at += id.record.size + 5 * sizeof(map);
	memcpy(&plain, buf + at, sizeof(plain));
	ck_assert_uint_eq(plain.record.type, RECFILE_FILE);
	ck_assert_uint_eq(plain.record.size % 8, 0);
	ck_assert_uint_eq(plain.inode, st.st_ino);
	ck_assert_int_eq(stat(map.path, &st), 0);
	ck_assert_int_eq(plain.size, 11);
	ck_assert_int_eq(plain.mtime, st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
	ck_assert_int_eq(plain.ctime, st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec);
	ck_assert_str_eq(buf + at + sizeof(plain), map.path);
	ck_assert_uint_eq(n, at + plain.record.size + sizeof(end));
	memcpy(&end, buf + n - sizeof(end), sizeof(end));
	ck_assert_uint_eq(end.records, 8);
}
END_TEST

/* A thousand files, so that the table of those that are known grows */
START_TEST(many_files)
{
	struct {
		struct perfctr_record_map map;
		char path[40];
	} map = { .map.record = { PERFCTR_RECORD_MAP, 0, sizeof(map), 5, 1, 1 } };
	struct recfile *file = recfile_create(path, &about);
	unsigned int i;

	ck_assert_ptr_nonnull(file);
	for (i = 0; i < 1000; i++) {
		map.map.inode = i + 1;
		snprintf(map.path, sizeof(map.path), "/nowhere/%u", i / 2);
		ck_assert_int_eq(recfile_append(file, &map, sizeof(map), NULL, 0), 0);
	}
	ck_assert_int_eq(recfile_finish(file, 0), 0);
}
END_TEST

/* Every length of a file that is cut, and every byte of it set to 0xff */
START_TEST(broken_elf_files)
{
	unsigned char id[RECFILE_MAX_BUILD_ID], buf[4096];
	char elf[80];
	size_t n, i;
	int fd;

	snprintf(elf, sizeof(elf), "%s/elf", dir);
	write_elf(elf, 4);
	n = read_file(elf, (char *)buf, sizeof(buf));
	fd = open(elf, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(build_id_read(fd, id, sizeof(id)), 20);
	ck_assert_uint_eq(build_id_read(fd, id, 19), 0);
	for (i = 0; i < n; i++) {
		unsigned char ff = 0xff;

		ck_assert_int_eq(pwrite(fd, &ff, 1, (off_t)i), 1);
		ck_assert_uint_le(build_id_read(fd, id, sizeof(id)), sizeof(id));
		ck_assert_int_eq(pwrite(fd, buf + i, 1, (off_t)i), 1);
	}
	while (n--) {
		ck_assert_int_eq(ftruncate(fd, (off_t)n), 0);
		ck_assert_uint_eq(build_id_read(fd, id, sizeof(id)), 0);
	}
	close(fd);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("recfile");

	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, header_command_records_end);
	tcase_add_test(tc, only_its_owner_reads_it);
	tcase_add_test(tc, the_old_file_is_kept);
	tcase_add_test(tc, what_cannot_be_written);
	tcase_add_test(tc, links_are_written_through);
	tcase_add_test(tc, what_is_kept);
	tcase_add_test(tc, only_whole_records);
	tcase_add_test(tc, build_ids_of_what_is_mapped);
	tcase_add_test(tc, many_files);
	tcase_add_test(tc, broken_elf_files);
	return run_tests("recfile", tc);
}
