// SPDX-License-Identifier: GPL-2.0
/* Prints the lines above each report, which say what was recorded where, and what is missing. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/quote.h"
#include "output.h"

void print_command(FILE *f, const struct reader *reader, void (*put)(FILE *f, const char *word))
{
	const char *word = reader->command, *end = word + reader->header.command_size;

	while (word < end) {
		if (word != reader->command)
			fprintf(f, put ? ", " : " ");
		if (put)
			put(f, word);
		else
			(void)plain_text(f, 0, word);
		word += strlen(word) + 1;
	}
}

static void print_start(FILE *f, const struct recfile_header *header)
{
	time_t start = (time_t)header->start;
	char text[64];
	struct tm tm;

	if (header->start <= INT32_MAX * (uint64_t)1000 && gmtime_r(&start, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		fprintf(f, ", %s UTC", text);
}

/* Returns the modifier as perfex -e takes it, or "" if the counter counts both modes. */
static const char *modifier(const struct recfile_counter *counter)
{
	switch (counter->flags & (PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)) {
	case PERFCTR_CTR_USER:
		return ":u";
	case PERFCTR_CTR_KERNEL:
		return ":k";
	default:
		return "";
	}
}

/* Prints the counters and their periods, as "cycles:u each 1,000,000". */
static void print_counters(FILE *f, const char *mark, const struct reader *reader)
{
	const struct recfile_header *header = &reader->header;
	const struct recfile_counter *counter = reader->counter;
	const char *before = " a sample was taken";
	char buf[32];
	uint32_t i;

	fprintf(f, "%s counted:", mark);
	for (i = 0; i < header->nrctrs; i++) {
		fprintf(f, i ? ", " : " ");
		(void)plain_text(f, 0, counter[i].name);
		fprintf(f, "%s", modifier(&counter[i]));
	}
	fprintf(f, "%s the clock;", header->nrctrs ? ", and" : "");
	for (i = 0; i < header->nrctrs; i++) {
		if (!counter[i].period)
			continue;
		fprintf(f, "%s each %s ", before, thousands(counter[i].period, buf));
		(void)plain_text(f, 0, counter[i].name);
		before = ",";
	}
	if (header->timer_ns)
		fprintf(f, "%s each %g ms on a processor", before,
			(double)header->timer_ns / 1e6);
	else if (before[0] != ',')
		fprintf(f, " it does not say when samples were taken");
	fprintf(f, "\n");
}

/* Prints a line unless @n is 0. */
static void warn(FILE *f, const char *mark, uint64_t n, const char *one, const char *many)
{
	char buf[32];

	if (n)
		fprintf(f, "%s %s %s\n", mark, thousands(n, buf), n == 1 ? one : many);
}

static void print_warnings(FILE *f, const char *mark, const struct profile *profile)
{
	const struct reader *reader = profile->reader;
	/* END counts all losses, while LOST records may themselves be lost. */
	uint64_t lost = reader->lost > profile->lost ? reader->lost : profile->lost;

	warn(f, mark, lost, "record was LOST, as the ring was full: what was counted since the "
	     "thread's sample before is counted at its next",
	     "records were LOST, as the ring was full: what was counted since a thread's sample "
	     "before is counted at its next");
	warn(f, mark, profile->throttled, "time a thread was THROTTLED: its samples were too many, "
	     "and some were left out",
	     "times threads were THROTTLED: their samples were too many, and some were left out");
	warn(f, mark, profile->unmapped, "sample was where nothing is known to be mapped: [unknown]",
	     "samples were where nothing is known to be mapped: [unknown]");
	warn(f, mark, profile->map_unknown, "sample was taken while its process mapped or began a program: "
	     "[unknown]",
	     "samples were taken while their processes mapped or began a program: [unknown]");
	warn(f, mark, profile->entered, "sample was in the kernel, and stands where that was entered",
	     "samples were in the kernel, and stand where that was entered");
	warn(f, mark, profile->backwards, "sum was less than its thread's last: it was taken as of a "
	     "new thread",
	     "sums were less than their threads' last: they were taken as of new threads");
	warn(f, mark, profile->unknown, "record is of a type that this perfex does not know",
	     "records are of types that this perfex does not know");
	if (!(reader->header.ring_flags & PERFCTR_RING_MAPS))
		fprintf(f, "%s recorded without maps: no function in user mode has a name\n", mark);
}

void print_header(FILE *f, const char *mark, const struct profile *profile)
{
	const struct recfile_header *header = &profile->reader->header;
	char samples[32], threads[32];

	fprintf(f, "%s ", mark);
	if (header->command_size) {
		fprintf(f, "`");
		print_command(f, profile->reader, NULL);
		fprintf(f, "'");
	} else {
		fprintf(f, "processes that ran already");
	}
	if (header->host[0])
		fprintf(f, ", on ");
	(void)plain_text(f, 0, header->host);
	if (header->release[0])
		fprintf(f, ", Linux ");
	(void)plain_text(f, 0, header->release);
	print_start(f, header);
	fprintf(f, "\n");
	print_counters(f, mark, profile->reader);
	fprintf(f, "%s %s sample%s of %s thread%s", mark, thousands(profile->samples, samples),
		profile->samples == 1 ? "" : "s", thousands(profile->threads_sampled, threads),
		profile->threads_sampled == 1 ? "" : "s");
	if (profile->samples > 1)
		fprintf(f, ", in %.3f s", (double)(profile->last - profile->first) / 1e9);
	fprintf(f, "\n");
	print_warnings(f, mark, profile);
}

void print_missing(FILE *f, const char *mark, const struct symbols *symbols)
{
	const struct profile *profile = symbols->profile;
	size_t i;

	if (symbols->kernel_missing)
		fprintf(f, "%s no symbols of the kernel: %s\n", mark, symbols->kernel_missing);
	for (i = 0; i < profile->objects_table.n; i++) {
		const char *missing = symbols_missing(&profile->objects[i]);
		const char *incomplete = symbols_incomplete(&profile->objects[i]);

		if (!missing && !incomplete)
			continue;
		fprintf(f, "%s %s of ", mark, missing ? "no symbols" : "not all symbols");
		(void)plain_text(f, 0, profile->objects[i].path);
		fprintf(f, ": %s\n", missing ?: incomplete);
	}
	print_unsure(f, mark, profile);
}

void print_unsure(FILE *f, const char *mark, const struct profile *profile)
{
	uint64_t samples;
	const char *why;
	char buf[32];
	uint32_t i;

	for (i = 0; i < profile->objects_table.n; i++) {
		samples = symbols_unsure(profile, i, &why);
		if (!why)
			continue;
		fprintf(f, "%s cannot be sure of the names of %s sample%s in ", mark,
			thousands(samples, buf), samples == 1 ? "" : "s");
		(void)plain_text(f, 0, profile->objects[i].path);
		fprintf(f, ": %s\n", why);
	}
}
