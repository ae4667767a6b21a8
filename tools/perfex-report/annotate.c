// SPDX-License-Identifier: GPL-2.0
/*
 * Implements perfex annotate, which shows the counts at each line of a function's source, and at
 * each of its instructions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mapped.h"
#include "base/quote.h"
#include "disassemble.h"
#include "names.h"
#include "output.h"

/* How many lines of source are shown before and after the lines with code. */
#define AROUND	3

/* The counts at one address, or at one line. */
struct spot {
	uint64_t address;		/* address in the ELF file */
	const char *file;		/* source file; NULL if it is not known */
	unsigned int line;
	uint64_t *count;		/* for each column; NULL: nothing was counted */
};

struct spots {
	struct spot *spot;
	size_t n, capacity;
};

/* A function that has samples, and the spots in it. */
struct found {
	struct function function;
	enum name_match match;
	uint64_t self;
	struct spots spots;
};

struct all_found {
	struct found *found;
	size_t capacity;
	struct table table;
};

static struct spot *spot_add(struct spots *spots, uint64_t address)
{
	spots->spot = grow(spots->spot, spots->n, &spots->capacity, sizeof(*spots->spot));
	spots->spot[spots->n] = (struct spot){ .address = address };
	return &spots->spot[spots->n++];
}

static void count_at(struct spot *spot, const uint64_t *count, unsigned int n)
{
	unsigned int i;

	if (!spot->count)
		spot->count = get_memory(n, sizeof(*spot->count));
	for (i = 0; i < n; i++)
		spot->count[i] += count[i];
}

static void spots_free(struct spots *spots)
{
	size_t i;

	for (i = 0; i < spots->n; i++)
		free(spots->spot[i].count);
	free(spots->spot);
}

/* Adds a function, and notes how well its name matches @asked. */
static struct found *found_add(struct all_found *all, const struct function *function,
			       const char *asked)
{
	struct table *table = &all->table;
	uint64_t hash = mix(function->address ^ mix((uintptr_t)function->name ^
			mix(function->object)));
	uint32_t i;

	for (i = table_first(table, hash); i != TABLE_END; i = table_next(table))
		if (all->found[i].function.object == function->object &&
		    all->found[i].function.address == function->address &&
		    all->found[i].function.name == function->name)
			return &all->found[i];
	i = (uint32_t)table->n;
	all->found = grow(all->found, i, &all->capacity, sizeof(*all->found));
	all->found[i] = (struct found){ .function = *function };
	all->found[i].match = asked ? name_match(function->name, asked) : NAME_WHOLE;
	table_add(table, hash);
	return &all->found[i];
}

/* Returns true if @asked is NULL, or the path, or the last part of the path. */
static bool is_object(const char *path, const char *asked)
{
	const char *slash = strrchr(path, '/');

	return !asked || !strcmp(path, asked) || (slash && !strcmp(slash + 1, asked));
}

/*
 * Finds the functions with the name @name, or all functions if @name is NULL. Also finds the
 * addresses with counts in these functions.
 */
static void find_function(struct all_found *all, struct symbols *symbols, const char *name,
			  const char *object, unsigned int column)
{
	const struct profile *profile = symbols->profile;
	struct function function;
	uint64_t address;
	size_t i;

	for (i = 0; i < profile->nodes_table.n; i++) {
		const struct node *node = &profile->nodes[i];
		const uint64_t *count;
		struct found *found;

		if (node->weight == NO_WEIGHT || node->object == OBJECT_THREAD ||
		    !is_object(profile->objects[node->object].path, object) ||
		    !symbols_function(symbols, node->object, node->address, &function) ||
		    !symbols_elf_address(symbols, node->object, node->address, &address))
			continue;
		count = profile->weights + (size_t)node->weight * profile->ncolumns;
		found = found_add(all, &function, name);
		if (found->match == NAME_OTHER)
			continue;
		found->self += count[column];
		count_at(spot_add(&found->spots, address), count, profile->ncolumns);
	}
}

static int compare_addresses(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_lines(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	int d = x->file && y->file ? strcmp(x->file, y->file) : !x->file - !y->file;

	if (d)
		return d;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Adds up neighbours that compare equal. */
static void unite(struct spots *spots, int (*compare)(const void *, const void *), unsigned int n)
{
	size_t i, to = 0;

	if (!spots->n)
		return;
	qsort(spots->spot, spots->n, sizeof(*spots->spot), compare);
	for (i = 1; i < spots->n; i++) {
		struct spot *spot = &spots->spot[i];

		if (compare(&spots->spot[to], spot) != 0) {
			spots->spot[++to] = *spot;
			continue;
		}
		if (spot->count)
			count_at(&spots->spot[to], spot->count, n);
		free(spot->count);
	}
	spots->n = to + 1;
}

#define COLUMN	14		/* width of a count */

static void print_line_titles(FILE *f, const struct profile *profile)
{
	unsigned int i;

	fprintf(f, "%8s", "share");
	for (i = 0; i < profile->reader->header.nrctrs; i++) {
		fputc(' ', f);
		(void)plain_text(f, COLUMN, column_name(profile, i));
	}
	fprintf(f, " %8s", "samples");
}

static void print_line_counts(FILE *f, const struct profile *profile, const uint64_t *count,
			      unsigned int column, uint64_t all)
{
	unsigned int nrctrs = profile->reader->header.nrctrs, i;
	char buf[32];

	if (count)
		fprintf(f, "%7.2f%%", all ? 100 * (double)count[column] / (double)all : 0.0);
	else
		fprintf(f, "%8s", "");
	for (i = 0; i < nrctrs; i++) {
		int width = COLUMN;

		if (strlen(column_name(profile, i)) > COLUMN)
			width = (int)strlen(column_name(profile, i));
		fprintf(f, " %*s", width, count ? thousands(count[i], buf) : "");
	}
	fprintf(f, " %8s", count ? thousands(count[nrctrs + 1], buf) : "");
}

/* Prints a line of source. Tabs stay, but other control characters are replaced. */
static void print_source(FILE *f, char *line)
{
	char *tab;

	for (; (tab = strchr(line, '\t')); line = tab + 1) {
		*tab = '\0';
		(void)plain_text(f, 0, line);
		fputc('\t', f);
	}
	(void)plain_text(f, 0, line);
	fprintf(f, "\n");
}

/* Opens a source file. Debug information may name any file, so only a regular file is opened. */
static FILE *open_source(const char *symfs, const char *path, int64_t *mtime)
{
	struct stat st;
	FILE *source;
	char *copy;
	int fd = -1;

	if (symfs && asprintf(&copy, "%s%s", symfs, path) >= 0) {
		fd = open_regular(copy, &st);
		free(copy);
	}
	if (fd < 0)
		fd = open_regular(path, &st);
	source = fd < 0 ? NULL : fdopen(fd, "r");
	if (fd >= 0 && !source)
		close(fd);
	if (source)
		*mtime = nanoseconds(st.st_mtim);
	return source;
}

/* Prints the lines of one file, in order. @made is the time at which the program was made. */
static void print_file(FILE *f, const struct symbols *symbols, const struct spot *spot, size_t n,
		       unsigned int column, uint64_t all, int64_t made)
{
	const struct profile *profile = symbols->profile;
	int64_t mtime = INT64_MIN;
	FILE *source = open_source(symbols->how.symfs, spot[0].file, &mtime);
	char *text = NULL;
	size_t size = 0, i = 0;
	unsigned int line = 0, shown = 0;

	fprintf(f, "\n");
	(void)plain_text(f, 0, spot[0].file);
	if (!source)
		fprintf(f, ": the source is not here");
	else if (mtime > made)
		fprintf(f, ": the source is newer than the program: its lines may be others");
	fprintf(f, "\n");
	for (; !source && i < n; i++) {
		print_line_counts(f, profile, spot[i].count, column, all);
		fprintf(f, " %6u\n", spot[i].line);
	}
	while (i < n && getline(&text, &size, source) >= 0) {
		line++;
		text[strcspn(text, "\n")] = '\0';
		if (line + AROUND < spot[i].line && (!i || line > spot[i - 1].line + AROUND))
			continue;
		if (shown && line > shown + 1)
			fprintf(f, "...\n");
		shown = line;
		print_line_counts(f, profile, line == spot[i].line ? spot[i].count : NULL, column,
				  all);
		fprintf(f, " %6u  ", line);
		print_source(f, text);
		i += line == spot[i].line;
	}
	/* The source file ends before these lines. */
	for (; source && i < n; i++) {
		print_line_counts(f, profile, spot[i].count, column, all);
		fprintf(f, " %6u\n", spot[i].line);
	}
	free(text);
	if (source)
		fclose(source);
}

static int64_t made_at(int fd)
{
	struct stat st;

	return fd < 0 || fstat(fd, &st) ? INT64_MAX : nanoseconds(st.st_mtim);
}

static void print_lines(FILE *f, struct symbols *symbols, const struct found *found,
			const struct instructions *instructions, unsigned int column)
{
	unsigned int ncolumns = symbols->profile->ncolumns;
	uint32_t object = found->function.object;
	struct spots lines = { .spot = NULL };
	struct spot *spot;
	size_t i, n;

	for (i = 0; i < instructions->n + found->spots.n; i++) {
		bool code = i < instructions->n;
		uint64_t address = code ? instructions->instruction[i].address :
			found->spots.spot[i - instructions->n].address;

		spot = spot_add(&lines, address);
		if (!symbols_line(symbols, object, address, &spot->file, &spot->line))
			spot->file = NULL;
		if (!code)
			count_at(spot, found->spots.spot[i - instructions->n].count, ncolumns);
	}
	unite(&lines, compare_lines, ncolumns);
	/* Spots without a line are at the end. */
	while (lines.n && !lines.spot[lines.n - 1].file) {
		lines.n--;
		free(lines.spot[lines.n].count);
	}
	if (!lines.n)
		fprintf(f, "\nNo lines of source are known: %s\n", symbols_has_lines(symbols, object) ?
			"others of the file have some, so this function was compiled without -g" :
			"it was compiled without -g, or its debugging information is in a file that is "
			"not here");
	for (i = 0; i < lines.n; i += n) {
		for (n = 1; i + n < lines.n && !strcmp(lines.spot[i + n].file, lines.spot[i].file);
		     n++)
			;
		print_file(f, symbols, &lines.spot[i], n, column, found->self,
			   made_at(symbols_fd(symbols, object)));
	}
	spots_free(&lines);
}

static void print_heading(FILE *f, struct symbols *symbols, uint32_t object, uint64_t address,
			  const char **last_file, unsigned int *last_line)
{
	const char *file;
	unsigned int line;

	if (!symbols_line(symbols, object, address, &file, &line) ||
	    (file == *last_file && line == *last_line))
		return;
	(void)plain_text(f, 0, file);
	fprintf(f, ":%u\n", line);
	*last_file = file;
	*last_line = line;
}

static void print_instructions(FILE *f, struct symbols *symbols, const struct found *found,
			       const struct instructions *instructions, unsigned int column)
{
	const struct profile *profile = symbols->profile;
	const struct spot *spot = found->spots.spot, *end = spot + found->spots.n;
	const char *file = NULL;
	unsigned int line = 0;
	size_t i = 0;

	fprintf(f, "\n");
	if (instructions->missing)
		fprintf(f, "%s\n", instructions->missing);
	while (spot < end || i < instructions->n) {
		bool code = i < instructions->n &&
			(spot == end || instructions->instruction[i].address <= spot->address);
		uint64_t address = code ? instructions->instruction[i].address : spot->address;
		bool counted = spot < end && spot->address == address;

		print_heading(f, symbols, found->function.object, address, &file, &line);
		print_line_counts(f, profile, counted ? spot->count : NULL, column, found->self);
		fprintf(f, " %8" PRIx64 ":  ", address);
		(void)plain_text(f, 0, code ? instructions->instruction[i].text : "");
		fprintf(f, "\n");
		i += code;
		spot += counted;
	}
}

static void print_found(FILE *f, struct symbols *symbols, struct found *found, unsigned int column)
{
	const struct profile *profile = symbols->profile;
	const struct function *function = &found->function;
	uint64_t total = profile->total[column];
	struct instructions instructions;
	char buf[32];

	unite(&found->spots, compare_addresses, profile->ncolumns);
	fprintf(f, "\n");
	(void)plain_text(f, 0, function->name);
	fprintf(f, " in ");
	(void)plain_text(f, 0, profile->objects[function->object].path);
	fprintf(f, ": %s ", thousands(found->self, buf));
	(void)plain_text(f, 0, column_name(profile, column));
	fprintf(f, ", %.2f%% of all\n", total ? 100 * (double)found->self / (double)total : 0.0);
	disassemble(&instructions, symbols_fd(symbols, function->object), profile->reader->header.machine, function->address,
		    function->address + function->size);
	print_line_titles(f, profile);
	fprintf(f, "\n");
	print_lines(f, symbols, found, &instructions, column);
	print_instructions(f, symbols, found, &instructions, column);
	instructions_free(&instructions);
}

/*
 * Returns the full name of the function if it was inlined into another function, whose name *into
 * gets. Otherwise returns NULL. @near gets the most similar other names.
 */
static const char *was_inlined(struct symbols *symbols, const char *name, const char **into,
			       struct names_near *near)
{
	const struct profile *profile = symbols->profile;
	struct frame frames[MAX_FRAMES];
	const char *inlined = NULL;
	unsigned int n, k;
	size_t i;

	for (i = 0; i < profile->nodes_table.n; i++) {
		const struct node *node = &profile->nodes[i];

		if (node->object == OBJECT_THREAD || node->object == OBJECT_KERNEL)
			continue;
		n = symbols_frames(symbols, node->object, node->address, frames);
		for (k = 0; k + 1 < n; k++) {
			/*
			 * Equal texts have one address, so addresses are compared. Most frames have
			 * the same function as the frame before.
			 */
			if (frames[k].function == inlined)
				continue;
			inlined = frames[k].function;
			*into = frames[n - 1].function;
			/* NOLINTBEGIN(readability-suspicious-call-argument) */
			if (name_match(inlined, name) != NAME_OTHER)
				return inlined;
			names_near_add(near, inlined, name);
			/* NOLINTEND(readability-suspicious-call-argument) */
		}
	}
	return NULL;
}

static void explain_near(const struct names_near *near)
{
	size_t i;

	for (i = 0; i < near->n; i++) {
		fprintf(stderr, i ? ", " : "Did you mean ");
		(void)plain_text(stderr, 0, near->name[i]);
	}
	if (near->n)
		fprintf(stderr, "?\n");
}

/* Prints why there is nothing to show. */
static void explain_none(struct symbols *symbols, const struct all_found *all, const char *function,
			 const char *object)
{
	struct names_near near = { .n = 0 };
	const char *inlined, *into;
	size_t i;

	if (!function) {
		explain("no sample was in a function that has a name");
		return;
	}
	for (i = 0; i < all->table.n; i++)
		names_near_add(&near, all->found[i].function.name, function);
	inlined = was_inlined(symbols, function, &into, &near);
	if (inlined) {
		explain("'%s' was inlined, into '%s' for instance: annotate that", inlined, into);
		return;
	}
	explain("no sample was in a function '%s'%s%s. perfex report lists those that have any",
		function, object ? " of " : "", object ? object : "");
	explain_near(&near);
}

bool print_annotation(FILE *f, struct symbols *symbols, const char *function, const char *object,
		      unsigned int column)
{
	struct all_found all = { .found = NULL };
	enum name_match best = NAME_OTHER;
	size_t i, n, most = 0;

	find_function(&all, symbols, function, object, column);
	n = all.table.n;
	for (i = 0; i < n; i++) {
		if (all.found[i].match > best)
			best = all.found[i].match;
		if (all.found[i].self > all.found[most].self)
			most = i;
	}
	if (best != NAME_OTHER) {
		print_header(f, "#", symbols->profile);
		print_missing(f, "#", symbols);
	} else {
		explain_none(symbols, &all, function, object);
	}
	/* If no name was given, show the function with the highest count. */
	for (i = 0; i < n; i++) {
		if (best != NAME_OTHER && (function ? all.found[i].match == best : i == most))
			print_found(f, symbols, &all.found[i], column);
		spots_free(&all.found[i].spots);
	}
	free(all.found);
	table_free(&all.table);
	return best != NAME_OTHER;
}
