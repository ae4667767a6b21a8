// SPDX-License-Identifier: GPL-2.0
/* perfex record: the file has what the ring had. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/known.h"
#include "suites/record.h"
#include "../../tools/perfex/record/recfile.h"

#define PERFEX	"/usr/bin/perfex"
#define FILE_NAME "/tmp/test_record.rec"

/* What perfex has written: numbers of records by type, and the last one's */
struct written {
	unsigned int type[16];
	struct recfile_header header;
	struct recfile_counter counter[4];
	uint64_t records, lost;
	pid_t pid;
	bool whole;
};

static void read_file(struct written *written)
{
	static char data[4 << 20];
	const struct perfctr_record *record;
	size_t size, at;
	int fd;

	memset(written, 0, sizeof(*written));
	ck_ok(fd = open(FILE_NAME, O_RDONLY | O_CLOEXEC));
	size = read(fd, data, sizeof(data));
	close(fd);
	ck_assert_uint_gt(size, sizeof(written->header));
	ck_assert_uint_lt(size, sizeof(data));
	memcpy(&written->header, data, sizeof(written->header));
	ck_assert_int_eq(memcmp(written->header.magic, RECFILE_MAGIC, 8), 0);
	ck_assert_uint_le(written->header.nrctrs, 4);
	memcpy(written->counter, data + written->header.size,
	       written->header.nrctrs * sizeof(written->counter[0]));
	for (at = written->header.data; at < size; at += record->size) {
		record = (const void *)(data + at);
		ck_assert_uint_ge(record->size, sizeof(*record));
		ck_assert(!written->whole);
		if (record->type == RECFILE_END) {
			const struct recfile_end *end = (const void *)record;

			written->whole = true;
			ck_assert_uint_eq(end->records, written->records);
			written->lost = end->lost;
			continue;
		}
		written->records++;
		if (record->type < 16)
			written->type[record->type]++;
		if (record->type == PERFCTR_RECORD_SAMPLE)
			written->pid = record->pid;
	}
	ck_assert(written->whole);
}

static int perfex(const char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execv(PERFEX, (char **)argv);
		_exit(99);
	}
	ck_ok(waitpid(pid, &status, 0));
	return status;
}

/* The file has each sample, and what counted. */
START_TEST(perfex_records)
{
	static const char *const argv[] = {
		"perfex", "record", "-g", "-c", "10007", "-e", "instructions:u,cycles:u", "-o", FILE_NAME,
		KNOWN_PATH, NULL,
	};
	struct written written;

	unlink(FILE_NAME);
	ck_assert_int_eq(perfex(argv), 0);
	read_file(&written);
	ck_assert_uint_eq(written.type[PERFCTR_RECORD_SAMPLE], KNOWN_LENGTH(KNOWN_LOOPS) / 10007);
	ck_assert_uint_eq(written.type[PERFCTR_RECORD_EXIT], 1);
	ck_assert_uint_ge(written.type[PERFCTR_RECORD_MAP], 1);
	ck_assert_uint_eq(written.lost, 0);
	ck_assert_uint_eq(written.header.nrctrs, 2);
	/* The one that interrupts is the last one. */
	ck_assert_str_eq(written.counter[0].name, "cycles");
	ck_assert_str_eq(written.counter[1].name, "instructions");
	ck_assert_uint_eq(written.counter[1].period, 10007);
	ck_assert_uint_eq(written.counter[1].flags, PERFCTR_CTR_USER);
	unlink(FILE_NAME);
	unlink(FILE_NAME ".old");
}
END_TEST

/*
 * Kills @pid when it was recorded for 300 ms. perfex has its file once it has attached, and before that
 * for a moment, to see whether it can have one.
 */
static void kill_recorded(pid_t pid)
{
	unsigned int ms = 0;

	while (ms < 300) {
		glob_t found;
		bool recorded = !glob(FILE_NAME ".??????", 0, NULL, &found);

		globfree(&found);
		ms = recorded ? ms + 1 : 0;
		sleep_us(1000);
	}
	kill(pid, SIGKILL);
}

/* A process that runs already, by time; until it is killed. */
START_TEST(perfex_records_a_process)
{
	char number[16];
	const char *const argv[] = {
		"perfex", "record", "-F", "2000", "-o", FILE_NAME, "-p", number, NULL,
	};
	struct written written;
	pid_t pid, killer;

	unlink(FILE_NAME);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	(void)snprintf(number, sizeof(number), "%d", pid);
	killer = fork();
	if (!killer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		kill_recorded(pid);
		_exit(0);
	}
	ck_assert_int_eq(perfex(argv), 0);
	expect_exit(killer, 0);
	waitpid(pid, NULL, 0);
	read_file(&written);
	ck_assert_int_eq(written.pid, pid);
	ck_assert_uint_gt(written.type[PERFCTR_RECORD_SAMPLE], 20);
	ck_assert_uint_ge(written.type[PERFCTR_RECORD_MAP], 1);
	ck_assert_uint_eq(written.lost, 0);
	ck_assert_uint_eq(written.header.timer_ns, 500000);
	ck_assert_uint_eq(written.header.command_size, 0);
	unlink(FILE_NAME);
	unlink(FILE_NAME ".old");
}
END_TEST

/* A symbolic link is written through, and the old file is kept beside what it leads to. */
START_TEST(perfex_records_through_a_link)
{
	static const char *const argv[] = {
		"perfex", "record", "-F", "1000", "-o", FILE_NAME ".link", KNOWN_PATH, NULL, // NOLINT(bugprone-suspicious-missing-comma)
	};
	struct written written;
	struct stat st;
	unsigned int turn;

	unlink(FILE_NAME);
	unlink(FILE_NAME ".old");
	ck_ok(symlink(FILE_NAME, FILE_NAME ".link"));
	for (turn = 0; turn < 2; turn++) {
		ck_assert_int_eq(perfex(argv), 0);
		ck_ok(lstat(FILE_NAME ".link", &st));
		ck_assert(S_ISLNK(st.st_mode));
		ck_ok(lstat(FILE_NAME, &st));
		ck_assert(S_ISREG(st.st_mode));
		ck_assert_int_eq(access(FILE_NAME ".old", F_OK), turn ? 0 : -1);
		read_file(&written);
	}
	unlink(FILE_NAME);
	unlink(FILE_NAME ".old");
	unlink(FILE_NAME ".link");
}
END_TEST

/* What found no room in the file is told as lost, and what did is kept, whole. */
START_TEST(perfex_keeps_what_was_recorded)
{
	static const char *const argv[] = {
		"perfex", "record", "-c", "1009", "-e", "instructions:u", "-m", "1", "-o", FILE_NAME,
		KNOWN_PATH, NULL,
	};
	const struct rlimit small = { 16384, RLIM_INFINITY }, old = { RLIM_INFINITY, RLIM_INFINITY };
	const uint64_t all = KNOWN_LENGTH(KNOWN_LOOPS) / 1009;
	struct written written;
	glob_t found;
	unsigned int turn;
	int status = 0;

	/* Where perfex runs too seldom beside the program, most is lost and the rest has room. */
	for (turn = 0; !status && turn < 50; turn++) {
		unlink(FILE_NAME);
		unlink(FILE_NAME ".old");
		ck_ok(setrlimit(RLIMIT_FSIZE, &small));
		status = perfex(argv);
		ck_ok(setrlimit(RLIMIT_FSIZE, &old));
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 125, "%#x", status);
	ck_assert_int_eq(access(FILE_NAME, F_OK), -1);
	ck_assert_int_eq(glob(FILE_NAME ".??????", 0, NULL, &found), 0);
	ck_assert_uint_eq(found.gl_pathc, 1);
	ck_ok(rename(found.gl_pathv[0], FILE_NAME));
	globfree(&found);
	read_file(&written);
	ck_assert_uint_gt(written.type[PERFCTR_RECORD_SAMPLE], 20);
	ck_assert_uint_ge(written.type[PERFCTR_RECORD_SAMPLE] + written.lost, all);
	ck_assert_uint_lt(written.type[PERFCTR_RECORD_SAMPLE] + written.lost, all + 40);
	unlink(FILE_NAME);
}
END_TEST

/* perfex's own failures are 125, wrong usage is 2, and both leave no file. */
START_TEST(perfex_cannot_record)
{
	static const char *const argvs[][8] = {
		{ "perfex", "record", "-o", FILE_NAME, "-e", "no-such-event", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME, "-c", "1000", "-F", "10" },
		{ "perfex", "record", "-o", FILE_NAME, "-c", "1", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME, "-m", "3", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME, "-m", "262144", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME },
		{ "perfex", "record", "-o", "/no/such/directory/file", KNOWN_PATH },
		{ "perfex", "record", "-o", FILE_NAME, "-p", "4000000" },
		{ "perfex", "record", "-o", "/tmp/%z", KNOWN_PATH },
	};
	static const int statuses[] = { 125, 2, 2, 2, 125, 2, 125, 2, 2 };
	const char *argv[10] = { NULL };
	unsigned int i, k;
	int status;

	unlink(FILE_NAME);
	for (i = 0; i < sizeof(argvs) / sizeof(argvs[0]); i++) {
		for (k = 0; k < 8; k++)
			argv[k] = argvs[i][k];
		/* Of the one with nine words the last did not fit. */
		argv[8] = i == 1 ? KNOWN_PATH : NULL;
		status = perfex(argv);
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == statuses[i],
			      "command %u ended with %#x", i, status);
		ck_assert_msg(access(FILE_NAME, F_OK), "command %u left a file", i);
	}
}
END_TEST

void record_perfex(void)
{
	GUEST_RUN(perfex_records, NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(perfex_records_a_process, NEED_KPROBES | AS_USER);
	GUEST_RUN(perfex_records_through_a_link, NEED_KPROBES | AS_USER);
	GUEST_RUN(perfex_keeps_what_was_recorded,
		  NEED_COUNTERS | NEED_INTERRUPT | NEED_KPROBES | AS_USER);
	GUEST_RUN(perfex_cannot_record, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
}
