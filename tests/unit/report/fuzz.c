// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer's target: any bytes are read as a file, and what is in them before they are refused is
 * added up and printed, in one of all ways. Nothing else is looked at than what sanitizers see, how much
 * memory that takes, and that all counts are where they should be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a file of that name could not be */
static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static void print_all(struct kit_report *report)
{
	struct table_how how = { .by = BY_COMM | BY_OBJECT | BY_FUNCTION, .children = true };
	unsigned int column = report->profile.ncolumns - 1;

	/* By the input alone, so that it can be repeated */
	switch (report->reader.offset / 8 % 4) {
	case 0:
		free(kit_folded(report, column));
		break;
	case 1:
		free(kit_svg(report, 0));
		break;
	case 2:
		free(kit_table(report, &how, false));
		break;
	default:
		how.by = BY_FUNCTION;
		how.column = column;
		free(kit_table(report, &how, true));
		break;
	}
}

/* Every sample is in the stack of one thread, whichever way they are added up. */
static void check_sums(struct kit_report *report)
{
	const struct stacks *stacks = &report->stacks;
	unsigned int column = report->profile.ncolumns - 1, depth = 0;
	uint64_t *sum = stacks_inclusive(stacks, column), samples = 0, walked = 0;
	uint32_t call;

	for (call = stacks->first; call != NO_NODE; call = stacks->calls[call].next)
		samples += sum[call];
	free(sum);
	for (call = stacks->first; call != NO_NODE; call = stacks_next(stacks, call, &depth))
		walked += stacks_self(stacks, call, column);
	check(samples == report->profile.samples, "samples are missing in the stacks");
	check(walked == samples, "calls are missing in the tree");
	check(!depth, "the walk did not come back");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct symbols_how how;
	struct kit_report report = { .symbols.profile = NULL };
	const struct perfctr_record *record;
	enum reader_status status;
	FILE *f;

	if (!size)
		return 0;
	f = fmemopen((void *)(uintptr_t)data, size, "r");
	check(f != NULL, "no stream");
	status = reader_open(&report.reader, f, "fuzz");
	if (status != READER_REFUSED) {
		profile_init(&report.profile, &report.reader);
		while ((status = reader_next(&report.reader, &record)) == READER_RECORD)
			profile_add(&report.profile, record);
		kit_symbolize(&report, &how);
		check_sums(&report);
		print_all(&report);
		stacks_free(&report.stacks);
		symbols_free(&report.symbols);
	}
	check(status == READER_END || strstr(report.reader.error, ": at byte "),
	      "refused without saying where");
	fclose(f);
	profile_free(&report.profile);
	reader_close(&report.reader);
	return 0;
}
