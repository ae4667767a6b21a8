// SPDX-License-Identifier: GPL-2.0
/*
 * bench: measures perfctr beside perf_events, in instructions.
 *
 *	bench [-o RESULTS.json] [-k KEPT.txt] [-p PARAM=VALUE] [switches] [reads] [memory] [forks] [crowds] [overflows] [records] [controls] [trees] [shared] [beside]
 *	bench [-o RESULTS.json] [-k KEPT.txt] perf-alone
 *
 * -p adds a parameter of the module.
 * It runs as root in an emulated machine with an instruction clock (boot.sh --icount) and one CPU;
 * see bench.h.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <libperfctr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

void bench_shared(void)
{
	struct perfctr_info info;

	if (perfctr_get_info(&info))
		die("perfctr_get_info");
	if (!(info.cpu_features & PERFCTR_FEATURE_SHARED))
		return;
	bench_source = PERFCTR_SOURCE_SHARED;
	switches_shared();
	reads_shared();
	module_unload();
	module_load("by_tracepoint=1");
	switches_tracepoint(info.cpu_features & PERFCTR_FEATURE_NATIVE);
	module_unload();
	module_load("");
	bench_source = PERFCTR_SOURCE_NATIVE;
}

static const struct part {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "switches", bench_switches },
	{ "reads", bench_reads },
	{ "memory", bench_memory },
	{ "forks", bench_forks },
	{ "crowds", bench_crowds },
	{ "overflows", bench_overflows },
	{ "records", bench_records },
	{ "controls", bench_controls },
	{ "trees", bench_trees },
	{ "shared", bench_shared },
	{ "beside", bench_beside },
};

/*
 * Measures switches with perf's events on a kernel that does not support the module. This part
 * never runs together with the others.
 */
#define PERF_ALONE	"perf-alone"

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = optind; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return optind == argc;
}

int main(int argc, char **argv)
{
	const char *output = NULL, *kept = NULL;
	struct utsname uts;
	unsigned int i;
	int opt;

	while ((opt = getopt(argc, argv, "o:k:p:")) != -1) {
		if (opt == 'o') {
			output = optarg;
		} else if (opt == 'k') {
			kept = optarg;
		} else if (opt == 'p') {
			bench_param = optarg;
		} else {
			(void)fprintf(stderr, "usage: bench [-o FILE] [-k FILE] [-p PARAM=VALUE] [switches] [reads] [memory] [forks] [crowds] [overflows] [records] [controls] [trees] [shared] [beside]\n");
			return 2;
		}
	}
	if (uname(&uts))
		die("uname");
	pin(0);
	settle_guest();
	if (optind < argc && !strcmp(argv[optind], PERF_ALONE)) {
		bench_perf_alone();
	} else {
		module_load("");
		counters_find();
		for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			if (wanted(parts[i].name, argc, argv))
				parts[i].run();
	}
	(void)fputc('\n', stderr);
	if (kept)
		report_compare(kept, uts.nodename);
	report_table();
	if (output)
		report_json(output, uts.nodename);
	return 0;
}
