// SPDX-License-Identifier: GPL-2.0
/* perfex --plot: the picture is XML, and its lines are where the counts are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libperfctr.h>

#include "out/plot.h"
#include "run.h"

static char path[] = "/tmp/test_plot.XXXXXX";
static char text[65536];

static void picture(const struct plot *plot, const char *title)
{
	FILE *f = fopen(path, "we");
	size_t n;

	ck_assert_ptr_nonnull(f);
	plot_write(f, plot, title);
	ck_assert_int_eq(fclose(f), 0);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
}

/* A parser that is not ours takes it, and it loads nothing from elsewhere. */
static void is_well_formed(void)
{
	static const char check[] = "python3 -c 'import sys, xml.etree.ElementTree as e; "
		"r = e.parse(sys.argv[1]).getroot(); "
		"sys.exit(r.tag != \"{http://www.w3.org/2000/svg}svg\")' ";
	char command[300];

	(void)snprintf(command, sizeof(command), "%s%s", check, path);
	ck_assert_int_eq(system(command), 0); // NOLINT(bugprone-command-processor)
	ck_assert_ptr_null(strstr(text, "href"));
	ck_assert_ptr_null(strstr(text, "@import"));
	ck_assert_ptr_null(strstr(text, "url("));
}

static void has(const char *words)
{
	ck_assert_msg(strstr(text, words), "no '%s' in %s", words, text);
}

static struct values one(const char *name, bool known, uint64_t count)
{
	static struct values values;

	values.n = 0;
	values_add_count(&values, VALUE_EVENT, name, known, count)->mode = PERFCTR_CTR_USER;
	return values;
}

START_TEST(test_steps)
{
	struct plot plot = { .n = 0 };
	struct values values = one("cycles", true, 100);

	/* 100 in a second, then 100 in half of one: twice as high, half as wide */
	ck_assert(plot_add(&plot, 1, &values));
	ck_assert(plot_add(&plot, 1.5, &values));
	picture(&plot, "x");
	is_well_formed();
	has("<path class=\"line\" d=\"M90.00 105.0H656.67V60.0H940.00\"/>");
	has(">cycles:u in a second</text>");
	has(">200</text>");
	plot_free(&plot);
}
END_TEST

/* What was not counted is a gap; a value that comes later begins later. */
START_TEST(test_gaps)
{
	struct plot plot = { .n = 0 };
	struct values values = one("a", true, 10);
	struct value *ratio;

	ck_assert(plot_add(&plot, 1, &values));
	values.value[0].known = false;
	ck_assert(plot_add(&plot, 2, &values));
	values.value[0].known = true;
	ratio = values_add(&values, VALUE_DERIVED, "a per b");
	ratio->known = true;
	ratio->number = 50;
	ratio->unit = "%";
	ck_assert(plot_add(&plot, 4, &values));
	/* Of no length: no step, and nothing is divided by zero. */
	ck_assert(plot_add(&plot, 4, &values));
	ck_assert_uint_eq(plot.n, 3);
	picture(&plot, "x");
	is_well_formed();
	has("d=\"M90.00 60.0H302.50M515.00 105.0H940.00\"");
	has("d=\"M515.00 200.0H940.00\"");
	has(">50%</text>");
	ck_assert_ptr_null(strstr(text, "nan"));
	ck_assert_ptr_null(strstr(text, "inf"));
	plot_free(&plot);
}
END_TEST

START_TEST(test_strange)
{
	struct plot plot = { .n = 0 };
	struct values values = one("<&\">\x01\xff", true, 0);

	picture(&plot, "nothing");
	is_well_formed();
	has("Nothing was counted.");
	ck_assert(plot_add(&plot, 1e-9, &values));
	picture(&plot, "sh -c 'a < b && c > \"\x1b[1m\xff\"' ]]>");
	is_well_formed();
	has("a &lt; b &amp;&amp; c &gt;");
	has("d=\"M90.00 150.0H940.00\"");
	plot_free(&plot);
}
END_TEST

/* Many intervals, large and small numbers */
START_TEST(test_many)
{
	struct plot plot = { .n = 0 };
	struct values values = one("cycles", true, 0);
	char told[200] = "";
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		values.value[0].count = 1ull << i % 64;
		values.value[0].number = (double)values.value[0].count;
		ck_assert(plot_add(&plot, 0.01 * (i + 1), &values));
	}
	picture(&plot, "many");
	is_well_formed();
	ck_assert_uint_eq(plot.n, 1000);
	has(">10 s</text>");
	has("y=\"24\">many</text>");
	memset(told, 'x', sizeof(told) - 1);
	picture(&plot, told);
	is_well_formed();
	has("xxx...</text>");
	plot_free(&plot);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("plot");
	int status, fd = mkstemp(path);

	if (fd < 0)
		return EXIT_FAILURE;
	close(fd);
	tcase_add_test(tcase, test_steps);
	tcase_add_test(tcase, test_gaps);
	tcase_add_test(tcase, test_strange);
	tcase_add_test(tcase, test_many);
	status = run_tests("plot", tcase);
	(void)unlink(path);
	return status;
}
