// SPDX-License-Identifier: GPL-2.0
/* Prints the report as a table or as JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/quote.h"
#include "output.h"

/* The columns of these two events, or -1. */
struct ratios {
	int cycles, instructions;
};

static struct ratios find_ratios(const struct profile *profile)
{
	static const char *const cycles[] = { "cycles", "cpu-cycles", "cycle" };
	static const char *const instructions[] = { "instructions", "instret" };
	struct ratios ratios = { -1, -1 };
	size_t i;

	for (i = 0; i < sizeof(cycles) / sizeof(cycles[0]) && ratios.cycles < 0; i++)
		ratios.cycles = column_find(profile, cycles[i]);
	for (i = 0; i < sizeof(instructions) / sizeof(instructions[0]) && ratios.instructions < 0;
	     i++)
		ratios.instructions = column_find(profile, instructions[i]);
	return ratios;
}

/*
 * Returns true if the column counts misses. The table then also has their rate per thousand
 * instructions.
 */
static bool is_miss(const struct profile *profile, unsigned int column)
{
	return column < profile->reader->header.nrctrs &&
		strcasestr(column_name(profile, column), "miss");
}

static double quotient(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

#define COLUMN		15		/* width of a count */

static int width(const char *name)
{
	return strlen(name) > COLUMN ? (int)strlen(name) : COLUMN;
}

/* Prints seconds, or ticks if the clock's frequency is not known. */
static void print_clock(FILE *f, uint64_t ticks, uint64_t hz)
{
	char buf[32];

	if (hz)
		fprintf(f, " %*.6f", COLUMN, (double)ticks / (double)hz);
	else
		fprintf(f, " %*s", COLUMN, thousands(ticks, buf));
}

static void print_titles(FILE *f, const struct profile *profile, const struct ratios *ratios,
			 const struct table_how *how)
{
	unsigned int nrctrs = profile->reader->header.nrctrs, i;

	fprintf(f, how->children ? "%8s %8s" : "%8s", how->children ? "children" : "share",
		"self");
	for (i = 0; i < nrctrs; i++) {
		fputc(' ', f);
		(void)plain_text(f, width(column_name(profile, i)), column_name(profile, i));
		if (ratios->cycles >= 0 && (int)i == ratios->instructions)
			fprintf(f, " %6s", "IPC");
		if (ratios->instructions >= 0 && is_miss(profile, i))
			fprintf(f, " %8s", "MPKI");
	}
	fprintf(f, " %*s %9s ", COLUMN, profile->reader->header.clock_hz ? "seconds" : "clock",
		"samples");
	if (how->by & BY_COMM)
		fprintf(f, " %-16s", "process");
	if (how->by & BY_FUNCTION)
		fprintf(f, how->by & BY_OBJECT ? " %-40s" : " %s", "function");
	if (how->by & BY_OBJECT)
		fprintf(f, " %s", "object");
	fprintf(f, "\n");
}

/* Prints the numbers of a row, or of the total. */
static void print_counts(FILE *f, const struct profile *profile, const struct ratios *ratios,
			 const uint64_t *count)
{
	unsigned int nrctrs = profile->reader->header.nrctrs, i;
	char buf[32];

	for (i = 0; i < nrctrs; i++) {
		fprintf(f, " %*s", width(column_name(profile, i)), thousands(count[i], buf));
		if (ratios->cycles >= 0 && (int)i == ratios->instructions) {
			if (count[ratios->cycles])
				fprintf(f, " %6.2f", quotient(count[i], count[ratios->cycles]));
			else
				fprintf(f, " %6s", "-");
		}
		if (ratios->instructions >= 0 && is_miss(profile, i)) {
			if (count[ratios->instructions])
				fprintf(f, " %8.3f",
					1000 * quotient(count[i], count[ratios->instructions]));
			else
				fprintf(f, " %8s", "-");
		}
	}
	print_clock(f, count[nrctrs], profile->reader->header.clock_hz);
	fprintf(f, " %9s ", thousands(count[nrctrs + 1], buf));
}

static void print_names(FILE *f, const struct row *row)
{
	if (row->comm) {
		fprintf(f, " ");
		(void)plain_text(f, row->function || row->object ? -16 : 0, row->comm);
	}
	if (row->function) {
		fprintf(f, " ");
		(void)plain_text(f, row->object ? -40 : 0, row->function);
	}
	if (row->object) {
		fprintf(f, " ");
		(void)plain_text(f, 0, row->object);
	}
	fprintf(f, "\n");
}

void print_table(FILE *f, const struct symbols *symbols, const struct stacks *stacks,
		 const struct table_how *how)
{
	const struct profile *profile = symbols->profile;
	struct ratios ratios = find_ratios(profile);
	uint64_t all = profile->total[how->column];
	struct rows rows;
	size_t i, n;
	char buf[32];

	rows_make(&rows, stacks, how->by, how->column, how->children);
	print_header(f, "#", profile);
	print_missing(f, "#", symbols);
	fprintf(f, "# %s are of all samples' ", how->children ? "children and self" : "shares");
	(void)plain_text(f, 0, column_name(profile, how->column));
	fprintf(f, "\n#\n");
	print_titles(f, profile, &ratios, how);
	fprintf(f, how->children ? "%8s %8s" : "%8s", "100.00%", "");
	print_counts(f, profile, &ratios, profile->total);
	fprintf(f, " in all\n");
	n = how->limit && how->limit < rows.n ? how->limit : rows.n;
	for (i = 0; i < n; i++) {
		const struct row *row = &rows.row[i];

		if (how->children)
			fprintf(f, "%7.2f%% ", 100 * quotient(row->children[how->column], all));
		fprintf(f, "%7.2f%%", 100 * quotient(row->self[how->column], all));
		print_counts(f, profile, &ratios, row->self);
		print_names(f, row);
	}
	if (n < rows.n)
		fprintf(f, "# and %s more, which --limit left out\n", thousands(rows.n - n, buf));
	rows_free(&rows);
}

static void json_counts(FILE *f, const struct profile *profile, const char *name,
			const uint64_t *count)
{
	unsigned int i;

	fprintf(f, "\"%s\": {", name);
	for (i = 0; i < profile->ncolumns; i++) {
		if (i)
			fprintf(f, ", ");
		json_string(f, column_name(profile, i));
		fprintf(f, ": %" PRIu64, count[i]);
	}
	fprintf(f, "}");
}

static void json_recording(FILE *f, const struct symbols *symbols)
{
	const struct profile *profile = symbols->profile;
	const struct reader *reader = profile->reader;
	const char *before = "", *why;
	uint64_t samples;
	size_t i;

	fprintf(f, "{\"command\": [");
	print_command(f, reader, json_string);
	fprintf(f, "], \"host\": ");
	json_string(f, reader->header.host);
	fprintf(f, ", \"release\": ");
	json_string(f, reader->header.release);
	fprintf(f, ", \"start\": %" PRIu64 ", \"clock_hz\": %" PRIu64 ", \"timer_ns\": %" PRIu64
		", \"samples\": %" PRIu64 ", \"samples_by_timer\": %" PRIu64 ", \"threads\": %" PRIu64
		", \"lost\": %" PRIu64 ", \"throttled\": %" PRIu64 ", \"unmapped\": %" PRIu64
		", \"map_unknown\": %" PRIu64 ", \"entered\": %" PRIu64 ", \"backwards\": %" PRIu64
		", \"unknown_records\": %" PRIu64 ", ", reader->header.start, reader->header.clock_hz, reader->header.timer_ns,
		profile->samples, profile->timers, profile->threads_sampled,
		reader->lost > profile->lost ? reader->lost : profile->lost, profile->throttled,
		profile->unmapped, profile->map_unknown, profile->entered, profile->backwards,
		profile->unknown);
	json_counts(f, profile, "total", profile->total);
	fprintf(f, ", \"without_symbols\": {");
	if (symbols->kernel_missing) {
		fprintf(f, "\"[kernel]\": ");
		json_string(f, symbols->kernel_missing);
		before = ", ";
	}
	for (i = 0; i < profile->objects_table.n; i++) {
		const char *missing = symbols_missing(&profile->objects[i]) ?:
			symbols_incomplete(&profile->objects[i]);

		if (!missing)
			continue;
		fprintf(f, "%s", before);
		json_string(f, profile->objects[i].path);
		fprintf(f, ": ");
		json_string(f, missing);
		before = ", ";
	}
	fprintf(f, "}, \"unsure\": {");
	before = "";
	for (i = 0; i < profile->objects_table.n; i++) {
		samples = symbols_unsure(profile, (uint32_t)i, &why);
		if (!why)
			continue;
		fprintf(f, "%s", before);
		json_string(f, profile->objects[i].path);
		fprintf(f, ": {\"samples\": %" PRIu64 ", \"why\": ", samples);
		json_string(f, why);
		fprintf(f, "}");
		before = ", ";
	}
	fprintf(f, "}}\n");
}

static void json_member(FILE *f, const char *name, const char *value)
{
	if (!value)
		return;
	fprintf(f, "\"%s\": ", name);
	json_string(f, value);
	fprintf(f, ", ");
}

void json_table(FILE *f, const struct symbols *symbols, const struct stacks *stacks,
		const struct table_how *how)
{
	const struct profile *profile = symbols->profile;
	struct rows rows;
	size_t i;

	rows_make(&rows, stacks, how->by, how->column, how->children);
	json_recording(f, symbols);
	for (i = 0; i < rows.n && (!how->limit || i < how->limit); i++) {
		const struct row *row = &rows.row[i];

		fprintf(f, "{");
		json_member(f, "process", row->comm);
		json_member(f, "function", row->function);
		json_member(f, "object", row->object);
		json_counts(f, profile, "self", row->self);
		if (how->children) {
			fprintf(f, ", ");
			json_counts(f, profile, "children", row->children);
		}
		fprintf(f, "}\n");
	}
	rows_free(&rows);
}
