/* SPDX-License-Identifier: GPL-2.0 */
/* Prints to stderr what went wrong, and what the user can do. */
#ifndef PERFEX_EXPLAIN_H
#define PERFEX_EXPLAIN_H

#include <libperfctr.h>

#define EACH_PART	"Run the program once for each part of them, as perfex --passes does"

void explain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Explains why the device could not be opened. */
void explain_device(int error);
/* Explains why perfctr_event_parse() failed with @error. */
void explain_event(const struct perfctr_info *info, const char *spec, int error);
void explain_missing_event(const struct perfctr_info *info, const char *name);
void explain_too_many(const struct perfctr_info *info, unsigned int n);
void explain_no_topdown(const struct perfctr_info *info, unsigned int source);

#endif /* PERFEX_EXPLAIN_H */
