// SPDX-License-Identifier: GPL-2.0
/* See unit.h. */
#include "unit.h"

#include <link.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

void unit_run(const TTest *test, int rows)
{
	Suite *suite;
	SRunner *runner;
	TCase *tcase;

	if (!is_wanted(test))
		return;
	suite = suite_create(run.subject);
	tcase = tcase_create(test->name);
	runner = srunner_create(suite);
	tcase_set_timeout(tcase, TIMEOUT);
	tcase_add_loop_test(tcase, test, 0, rows);
	suite_add_tcase(suite, tcase);
	srunner_set_fork_status(runner, CK_FORK);
	srunner_run_all(runner, CK_SILENT);
	if (srunner_ntests_failed(runner) == 0 && srunner_ntests_run(runner) == rows) {
		run.passed++;
		printf("ok %s.%s\n", run.subject, test->name);
	} else {
		run.failed++;
		complain(test, runner);
	}
	srunner_free(runner);
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
