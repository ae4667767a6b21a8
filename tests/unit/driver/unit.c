// SPDX-License-Identifier: GPL-2.0
/* See unit.h. */
#include "unit.h"

#include <link.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT 120	/* seconds; a test takes none, but a busy machine may */

static struct {
	const char *subject;
	int passed;
	int failed;
} run;

void unit_begin(const char *subject)
{
	run.subject = subject;
}

static void flatten(char *text)
{
	for (; *text; text++)
		if (*text == '\n')
			*text = ' ';
}

/* The first failure tells enough; the others of a table are only counted. */
static void complain(const TTest *test, SRunner *runner)
{
	TestResult **results = srunner_failures(runner);
	int failures = srunner_ntests_failed(runner);
	char why[1024];

	(void)snprintf(why, sizeof(why), "%s:%d: %s", tr_lfile(results[0]), tr_lno(results[0]),
		       tr_msg(results[0]));
	flatten(why);
	printf("not ok %s.%s: %s", run.subject, test->name, why);
	if (failures > 1)
		printf(" (and %d more rows)", failures - 1);
	printf("\n");
	free((void *)results);
}

/* UNIT_ONLY: the beginning of a subject, a dot and a test */
static bool is_wanted(const TTest *test)
{
	const char *only = getenv("UNIT_ONLY");
	char name[256];

	(void)snprintf(name, sizeof(name), "%s.%s", run.subject, test->name);
	return !only || !strncmp(name, only, strlen(only));
}

static bool run_rows(const TTest *test, int rows)
{
	Suite *suite = suite_create(run.subject);
	TCase *tcase = tcase_create(test->name);
	SRunner *runner = srunner_create(suite);
	bool good;

	tcase_set_timeout(tcase, TIMEOUT);
	tcase_add_loop_test(tcase, test, 0, rows);
	suite_add_tcase(suite, tcase);
	srunner_set_fork_status(runner, CK_FORK);
	srunner_run_all(runner, CK_SILENT);
	good = srunner_ntests_failed(runner) == 0 && srunner_ntests_run(runner) == rows;
	if (good)
		printf("ok %s.%s\n", run.subject, test->name);
	else
		complain(test, runner);
	srunner_free(runner);
	return good;
}

/*
 * In a process of its own, of which the rows are forked. AddressSanitizer keeps what a process has
 * freed, up to 256 MB of it, and each row would copy the page tables of what all tests before it
 * have freed.
 */
void unit_run(const TTest *test, int rows)
{
	int status;
	pid_t pid;

	if (!is_wanted(test))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid)
		exit(run_rows(test, rows) ? EXIT_SUCCESS : EXIT_FAILURE);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && !status) {
		run.passed++;
		return;
	}
	run.failed++;
	/* What failed has said so, unless its process has died itself. */
	if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != EXIT_FAILURE)
		printf("not ok %s.%s: it did not run to its end\n", run.subject, test->name);
}

int unit_end(void)
{
	printf("%d passed, %d failed\n", run.passed, run.failed);
	return run.failed || !run.passed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * As each row ends LeakSanitizer looks for pointers in all globals. 11 MB of them are the sanitizers'
 * own: that took most of the time of all tests. So it is told where to look: everywhere else.
 */
/* As sanitizer/lsan_interface.h has them, which is gcc's own. NOLINTBEGIN(*-reserved-identifier) */
void __lsan_register_root_region(const void *begin, size_t size);
const char *__lsan_default_options(void);

const char *__lsan_default_options(void)
{
	return "use_globals=0";
}
/* NOLINTEND(*-reserved-identifier) */

static int add_globals(struct dl_phdr_info *object, size_t size, void *unused)
{
	const ElfW(Phdr) *segment = object->dlpi_phdr;
	unsigned int i;

	(void)size;
	(void)unused;
	if (strstr(object->dlpi_name, "san.so"))
		return 0;
	for (i = 0; i < object->dlpi_phnum; i++, segment++)
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_W)
			__lsan_register_root_region(
				/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
				(void *)(object->dlpi_addr + segment->p_vaddr), segment->p_memsz);
	return 0;
}

int main(void)
{
	dl_iterate_phdr(add_globals, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_arch();
	test_config();
	test_shared();
	return unit_end();
}
