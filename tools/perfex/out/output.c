// SPDX-License-Identifier: GPL-2.0
/* Calls the functions of the output format that the user chose. */
#include <stdio.h>

#include "count/counts.h"
#include "count/explain.h"
#include "out/csv.h"
#include "out/json.h"
#include "out/output.h"
#include "out/plot.h"
#include "out/series.h"
#include "out/text.h"

static const struct {
	void (*run)(FILE *f, char **argv, const struct perfctr_info *info,
		    const struct events *events, const struct how *how, const struct run *run);
	void (*interval)(FILE *f, const struct perfctr_info *info, const struct events *events,
			 const struct how *how, const struct run *run,
			 const struct moment *before);
} formats[FORMATS] = {
	[FORMAT_TEXT] = { text_run, text_interval },
	[FORMAT_JSON] = { json_run, json_interval },
	[FORMAT_CSV] = { csv_run, csv_interval },
};

void print_run(FILE *f, char **argv, const struct perfctr_info *info,
	       const struct events *events, const struct how *how, const struct run *run)
{
	formats[how->format].run(f, argv, info, events, how, run);
}

void print_interval(FILE *f, const struct perfctr_info *info, const struct events *events,
		    const struct how *how, const struct run *run, const struct moment *before)
{
	formats[how->format].interval(f, info, events, how, run, before);
	fflush(f);
	if (!how->plot)
		return;
	if (!plot_add(how->plot, elapsed(run), series_values(info, events, how, run, before)))
		explain("no memory for the plot of so many intervals");
}

void print_series(FILE *f, char **argv, const struct perfctr_info *info,
		  const struct events *events, const struct how *how, const struct run *run,
		  const struct series *series)
{
	if (how->format == FORMAT_CSV)
		csv_series(f, how, run, series);
	else if (how->format == FORMAT_JSON)
		json_series(f, argv, info, events, how, run, series);
	else
		text_series(f, argv, events, how, run, series);
}
