// SPDX-License-Identifier: GPL-2.0
/* Implements perfex report and perfex annotate; argv[1] says which of the two runs. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quote.h"
#include "output.h"

struct options {
	const char *input;
	const char *event;		/* event to sort by; NULL: the sampling event */
	const char *svg;
	const char *object;
	struct symbols_how symbols;
	struct table_how table;
	bool json, folded;
	bool debuginfod;		/* libdw may ask servers for debug information */
};

static void usage(FILE *f)
{
	fprintf(f,
		"usage: perfex report [-i FILE] [--sort EVENT] [--by WORD[,WORD]...] [--children]\n"
		"                     [--no-inline] [--limit N] [--json | --folded | --svg FILE]\n"
		"                     [--symfs DIR] [--kallsyms FILE] [--debuginfod]\n"
		"       perfex annotate [-i FILE] [--sort EVENT] [--dso OBJECT] [--symfs DIR]\n"
		"                     [--debuginfod] [FUNCTION]\n"
		"\n"
		"Tells in which functions was counted what perfex record has recorded.\n"
		"\n"
		"  -i, --input FILE    what was recorded (" RECFILE_NAME "); - is standard input\n"
		"  -s, --sort EVENT    by which counter to sort, and which to draw: one of those that\n"
		"                      were recorded, clock or samples; without, the one by which\n"
		"                      samples were taken\n"
		"      --by WORDS      a line for each comm (thread's name), dso (program or library)\n"
		"                      and symbol (function); without, dso,symbol\n"
		"      --children      count for each function what it called as well, and sort by that\n"
		"      --no-inline     what was inlined is its caller's\n"
		"      --limit N       write so many lines at most\n"
		"      --json          write JSON Lines\n"
		"      --folded        write each stack in a line: thread;caller;function count\n"
		"      --svg FILE      draw a flame graph; - is standard output\n"
		"      --symfs DIR     look for programs and libraries below DIR\n"
		"      --kallsyms FILE the kernel's symbols, as /proc/kallsyms has them\n"
		"      --debuginfod    ask the servers of DEBUGINFOD_URLS for debugging information\n"
		"      --dso OBJECT    annotate the function of this program or library\n"
		"  -h, --help          this text\n"
		"\n"
		"annotate shows what was counted at each line and instruction of FUNCTION, without one\n"
		"of the function with the most. The exit status is 2 if the options are wrong, and 125\n"
		"if the file cannot be read or nothing be written. See perfex(1).\n");
}

static bool parse_by(const char *words, unsigned int *by)
{
	static const struct {
		const char *word;
		unsigned int by;
	} known[] = {
		{ "comm", BY_COMM }, { "process", BY_COMM }, { "dso", BY_OBJECT },
		{ "object", BY_OBJECT }, { "symbol", BY_FUNCTION }, { "sym", BY_FUNCTION },
		{ "function", BY_FUNCTION },
	};
	size_t i, n;

	for (*by = 0; ; words += n + 1) {
		n = strcspn(words, ",");
		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (strlen(known[i].word) == n && !strncmp(known[i].word, words, n))
				break;
		if (i == sizeof(known) / sizeof(known[0])) {
			explain("--by takes comm, dso and symbol, not '%.*s'", (int)n, words);
			return false;
		}
		*by |= known[i].by;
		if (!words[n])
			return true;
	}
}

static bool parse_limit(const char *text, unsigned int *limit)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || errno || !n || n > 1000000000) {
		explain("'%s' is not a number of lines (1 to 1000000000)", text);
		return false;
	}
	*limit = (unsigned int)n;
	return true;
}

/* Reads the options. Returns -1, or the exit status. */
static int parse(int argc, char **argv, bool annotate, struct options *o)
{
	static const struct option options[] = {
		{ "input", required_argument, NULL, 'i' },
		{ "sort", required_argument, NULL, 's' },
		{ "by", required_argument, NULL, 'b' },
		{ "children", no_argument, NULL, 'c' },
		{ "no-inline", no_argument, NULL, 'n' },
		{ "limit", required_argument, NULL, 'l' },
		{ "json", no_argument, NULL, 'j' },
		{ "folded", no_argument, NULL, 'f' },
		{ "svg", required_argument, NULL, 'v' },
		{ "symfs", required_argument, NULL, 'S' },
		{ "kallsyms", required_argument, NULL, 'k' },
		{ "dso", required_argument, NULL, 'd' },
		{ "debuginfod", no_argument, NULL, 'D' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "i:s:h", options, NULL)) != -1) {
		if (annotate && strchr("bclnjfvk", c)) {
			explain("this option is for perfex report");
			return EXIT_USAGE;
		}
		if (!annotate && c == 'd') {
			explain("--dso is for perfex annotate");
			return EXIT_USAGE;
		}
		switch (c) {
		case 'i':
			o->input = optarg;
			break;
		case 's':
			o->event = optarg;
			break;
		case 'b':
			if (!parse_by(optarg, &o->table.by))
				return EXIT_USAGE;
			break;
		case 'c':
			o->table.children = true;
			break;
		case 'n':
			o->symbols.no_inline = true;
			break;
		case 'l':
			if (!parse_limit(optarg, &o->table.limit))
				return EXIT_USAGE;
			break;
		case 'j':
			o->json = true;
			break;
		case 'f':
			o->folded = true;
			break;
		case 'v':
			o->svg = optarg;
			break;
		case 'S':
			o->symbols.symfs = optarg;
			break;
		case 'k':
			o->symbols.kallsyms = optarg;
			break;
		case 'd':
			o->object = optarg;
			break;
		case 'D':
			o->debuginfod = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "perfex report --help tells how it is used\n");
			return EXIT_USAGE;
		}
	}
	if (o->json + o->folded + (o->svg != NULL) > 1) {
		explain("--json, --folded and --svg do not go together");
		return EXIT_USAGE;
	}
	if (argc - optind > annotate) {
		explain("'%s' is one word too many; -i says which file to read", argv[optind + annotate]);
		return EXIT_USAGE;
	}
	return -1;
}

static bool read_all(struct reader *reader, FILE *f, const char *name, struct profile *profile)
{
	const struct perfctr_record *record;
	enum reader_status status = reader_open(reader, f, name);

	if (status != READER_REFUSED) {
		profile_init(profile, reader);
		while ((status = reader_next(reader, &record)) == READER_RECORD)
			profile_add(profile, record);
	}
	if (status == READER_REFUSED)
		explain("%s", reader->error);
	return status != READER_REFUSED;
}

/*
 * Returns the index of the event that made the samples, since its shares are the most exact.
 * Returns 0, the first event, if no event made samples.
 */
static int sampled_event(const struct reader *reader)
{
	unsigned int i;

	for (i = 0; i < reader->header.nrctrs; i++)
		if (reader->counter[i].period)
			return (int)i;
	return 0;
}

/* Finds a column by its name. Returns true, or false after printing which columns there are. */
static bool find_event(const struct profile *profile, const char *name, unsigned int *column)
{
	int found = name ? column_find(profile, name) : sampled_event(profile->reader);
	unsigned int i;

	if (found >= 0) {
		*column = (unsigned int)found;
		return true;
	}
	explain("'%s' was not recorded, but this was:", name);
	for (i = 0; i < profile->ncolumns; i++) {
		fprintf(stderr, i ? ", " : "");
		(void)plain_text(stderr, 0, column_name(profile, i));
	}
	fprintf(stderr, "\n");
	return false;
}

static bool written(FILE *f, const char *path)
{
	bool ok = !fflush(f) && !ferror(f);

	if (f != stdout && fclose(f))
		ok = false;
	if (!ok)
		explain("cannot write '%s': %s", path, strerror(errno));
	return ok;
}

static int write_report(struct symbols *symbols, const struct options *o)
{
	struct stacks stacks;
	FILE *f = stdout;

	if (o->svg && strcmp(o->svg, "-") != 0)
		f = fopen(o->svg, "we");
	if (!f) {
		explain("cannot write '%s': %s", o->svg, strerror(errno));
		return EXIT_FAILED;
	}
	stacks_make(&stacks, symbols);
	if (o->svg)
		print_svg(f, &stacks, o->table.column);
	else if (o->folded)
		print_folded(f, &stacks, o->table.column);
	else if (o->json)
		json_table(f, symbols, &stacks, &o->table);
	else
		print_table(f, symbols, &stacks, &o->table);
	if (o->svg || o->folded)
		print_unsure(stderr, "perfex:", symbols->profile);
	stacks_free(&stacks);
	return written(f, o->svg ? o->svg : "standard output") ? EXIT_SUCCESS : EXIT_FAILED;
}

static int run(const struct options *options, const char *function, bool annotate)
{
	bool standard = !strcmp(options->input, "-");
	FILE *f = standard ? stdin : fopen(options->input, "re");
	struct options o = *options;
	struct profile profile = { .reader = NULL };
	struct symbols symbols;
	struct reader reader;
	int status = EXIT_FAILED;

	if (!f) {
		explain("cannot read '%s': %s", o.input, strerror(errno));
		return EXIT_FAILED;
	}
	if (read_all(&reader, f, standard ? "standard input" : o.input, &profile)) {
		if (!find_event(&profile, o.event, &o.table.column)) {
			status = EXIT_USAGE;
		} else {
			symbols_init(&symbols, &profile, &o.symbols);
			if (!annotate)
				status = write_report(&symbols, &o);
			else if (print_annotation(stdout, &symbols, function, o.object,
						  o.table.column) &&
				 written(stdout, "standard output"))
				status = EXIT_SUCCESS;
			symbols_free(&symbols);
		}
	}
	profile_free(&profile);
	reader_close(&reader);
	if (!standard)
		fclose(f);
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {
		.input = RECFILE_NAME,
		.table.by = BY_OBJECT | BY_FUNCTION,
	};
	bool annotate = argc > 1 && !strcmp(argv[1], "annotate");
	int status;

	if (argc < 2 || (!annotate && strcmp(argv[1], "report") != 0)) {
		explain("this program is run as perfex report and perfex annotate");
		return EXIT_USAGE;
	}
	/* getopt's messages begin with the name in argv[1]. */
	argv[1] = argv[0];
	status = parse(argc - 1, argv + 1, annotate, &options);
	if (status >= 0)
		return status;
	/*
	 * With this variable, libdw would tell servers what was recorded, and wait for their
	 * answers.
	 */
	if (!options.debuginfod)
		unsetenv("DEBUGINFOD_URLS"); // NOLINT(concurrency-mt-unsafe)
	return run(&options, annotate ? argv[1 + optind] : NULL, annotate);
}
