// SPDX-License-Identifier: GPL-2.0
/* Implements perfex merge, which makes one table of the files of many ranks or hosts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paint.h"
#include "base/perfex.h"
#include "base/quote.h"
#include "base/values.h"
#include "count/explain.h"
#include "out/csv.h"
#include "out/json.h"
#include "out/results.h"
#include "merge/counts_file.h"
#include "merge/merge.h"
#include "commands.h"
#include "options.h"
#include "request.h"

#define NUMBER	17	/* width of a column */

static void merge_usage(FILE *f)
{
	fprintf(f,
		"usage: perfex merge [-o FILE] [--json | --csv] FILE...\n"
		"\n"
		"Reads what perfex --json has written to each FILE, and tells of each number the\n"
		"minimum, the mean and the maximum, and whose they are.\n\n");
	options_help(f, COMMAND_MERGE);
	fprintf(f,
		"\n"
		"Without -o it writes to stdout. The exit status is 0, 2 if a FILE is not such, 125 if\n"
		"the counts of one are incomplete, or perfex failed. See perfex(1).\n");
}

/* Returns the name of the file that has an extreme, or "all" if all files have the same number. */
static const char *whose(const struct merged *merged, unsigned int file, char **paths)
{
	return merged->files > 1 && merged->minimum.number == merged->maximum.number ? "all" :
										       paths[file];
}

/* Prints a number. A count is printed with all its digits. */
static void put_count(FILE *f, const struct value *value)
{
	char text[32];

	if (value_is_whole(value))
		column(f, NUMBER, thousands(value->count, text));
	else
		value_column(f, NUMBER, value, value->number);
}

static void text_merged(FILE *f, const struct value *value, const struct merged *merged,
			char **paths, int width, unsigned int files)
{
	char label[192], text[32];

	value_label(value, label, sizeof(label));
	if (!merged->files) {
		fprintf(f, "%*s  %-*s%*s%*s  %-*s%*s  %s\n", NUMBER, "<not counted>", width, "", NUMBER,
			"", NUMBER, "", width, "", NUMBER, "", label);
		return;
	}
	put_count(f, &merged->minimum);
	fputs("  ", f);
	(void)plain_text(f, -width, whose(merged, merged->minimum_of, paths));
	value_column(f, NUMBER, value, merged->mean);
	put_count(f, &merged->maximum);
	fputs("  ", f);
	(void)plain_text(f, -width, whose(merged, merged->maximum_of, paths));
	column(f, NUMBER, value_is_whole(value) ? thousands(merged->total, text) : "");
	fprintf(f, "  %s%s%s", paint(f, PAINT_STRONG), label, paint(f, PAINT_PLAIN));
	if (merged->files < files)
		fprintf(f, " (of %u)", merged->files);
	fprintf(f, "\n");
}

static void text_merge(FILE *f, const struct merge *merge, char **paths, unsigned int files)
{
	unsigned int i;
	int width = (int)strlen("whose");

	for (i = 0; i < files; i++)
		if ((int)strlen(paths[i]) > width)
			width = (int)strlen(paths[i]);
	fprintf(f, "\n Counts of %u file%s:\n\n%*s  %-*s%*s%*s  %-*s%*s\n", files, files > 1 ? "s" : "",
		NUMBER, "minimum", width, "whose", NUMBER, "mean", NUMBER, "maximum", width, "whose",
		NUMBER, "total");
	for (i = 0; i < merge->values.n; i++)
		text_merged(f, &merge->values.value[i], &merge->merged[i], paths, width, files);
	fprintf(f, "\n");
}

static void csv_count(FILE *f, const struct value *value, bool known)
{
	if (known && value_is_whole(value))
		fprintf(f, ",%" PRIu64, value->count);
	else
		csv_number(f, value, known, value->number);
}

static void csv_merge(FILE *f, const struct merge *merge, char **paths)
{
	unsigned int i;

	fputs("name,mode,unit,files,minimum,minimum_of,mean,maximum,maximum_of,total\n", f);
	for (i = 0; i < merge->values.n; i++) {
		const struct value *value = &merge->values.value[i];
		const struct merged *merged = &merge->merged[i];
		bool known = merged->files;

		csv_value(f, true, value);
		fprintf(f, ",%u", merged->files);
		csv_count(f, &merged->minimum, known);
		csv_text(f, false, known ? paths[merged->minimum_of] : "");
		csv_number(f, value, known, merged->mean);
		csv_count(f, &merged->maximum, known);
		csv_text(f, false, known ? paths[merged->maximum_of] : "");
		if (known && value_is_whole(value))
			fprintf(f, ",%" PRIu64 "\n", merged->total);
		else
			fprintf(f, ",\n");
	}
}

static void json_merged_count(FILE *f, const char *name, const struct value *value, bool known)
{
	fprintf(f, "\"%s\": ", name);
	if (!known)
		fprintf(f, "null");
	else if (value_is_whole(value))
		fprintf(f, "%" PRIu64, value->count);
	else
		fprintf(f, "%.9f", value->number);
}

static void json_whose(FILE *f, const char *name, const char *path)
{
	fprintf(f, ", \"%s\": ", name);
	if (path)
		json_string(f, path);
	else
		fprintf(f, "null");
}

static void json_merged(FILE *f, const struct value *value, const struct merged *merged,
			char **paths)
{
	bool known = merged->files;

	json_value_name(f, value);
	fprintf(f, "\"files\": %u, ", merged->files);
	json_merged_count(f, "minimum", &merged->minimum, known);
	json_whose(f, "minimum_of", known ? paths[merged->minimum_of] : NULL);
	if (known)
		fprintf(f, ", \"mean\": %.9f, ", merged->mean);
	else
		fprintf(f, ", \"mean\": null, ");
	json_merged_count(f, "maximum", &merged->maximum, known);
	json_whose(f, "maximum_of", known ? paths[merged->maximum_of] : NULL);
	if (known && value_is_whole(value))
		fprintf(f, ", \"total\": %" PRIu64 "}", merged->total);
	else
		fprintf(f, ", \"total\": null}");
}

static void json_merge(FILE *f, const struct merge *merge, char **paths, unsigned int files,
		       bool complete)
{
	unsigned int i;

	fprintf(f, "{\"files\": [");
	for (i = 0; i < files; i++) {
		fprintf(f, "%s", i ? ", " : "");
		json_string(f, paths[i]);
	}
	fprintf(f, "], \"complete\": %s, \"values\": [", complete ? "true" : "false");
	for (i = 0; i < merge->values.n; i++) {
		fprintf(f, "%s", i ? ", " : "");
		json_merged(f, &merge->values.value[i], &merge->merged[i], paths);
	}
	fprintf(f, "]}\n");
}

/* Reads all files. Returns -1, or the exit status if a file is wrong. */
static int read_all(struct merge *merge, char **paths, unsigned int files, bool *complete)
{
	static struct counts_file file;
	char why[320];
	unsigned int i;

	for (i = 0; i < files; i++) {
		if (!counts_file_read(paths[i], &file, why, sizeof(why))) {
			explain("'%s' %s", paths[i], why);
			return EXIT_USAGE;
		}
		if (*file.incomplete) {
			explain("the counts of '%s' are incomplete: %s", paths[i], file.incomplete);
			*complete = false;
		}
		merge_add(merge, i, &file.values);
	}
	return -1;
}

int merge_main(int argc, char **argv)
{
	static struct request request;
	static struct merge merge;
	struct results results = { .standard = stdout };
	int status = request_parse(COMMAND_MERGE, argc, argv, merge_usage, &request);
	char **paths = argv + optind;
	unsigned int files = (unsigned int)(argc - optind);
	bool complete = true;
	FILE *f;

	if (status < 0)
		status = request_check(&request, true);
	if (status < 0 && !files) {
		explain("which files? merge reads what perfex --json has written: perfex merge FILE...");
		status = EXIT_USAGE;
	}
	if (status < 0)
		status = read_all(&merge, paths, files, &complete);
	if (status >= 0)
		return status;
	results.path = request.output;
	if (!results_open(&results))
		return EXIT_PERFEX;
	f = results_file(&results);
	if (request.how.format == FORMAT_JSON)
		json_merge(f, &merge, paths, files, complete);
	else if (request.how.format == FORMAT_CSV)
		csv_merge(f, &merge, paths);
	else
		text_merge(f, &merge, paths, files);
	return results_close(&results) && complete ? EXIT_SUCCESS : EXIT_PERFEX;
}
