/* SPDX-License-Identifier: GPL-2.0 */
/* Interprets the arguments of options. The functions return false after printing what is wrong. */
#ifndef PERFEX_CHOOSE_H
#define PERFEX_CHOOSE_H

#include "count/events.h"
#include "count/how.h"

/* The passes of --passes. In each pass the program runs once and one set of events is counted. */
struct passes {
	unsigned int n;
	struct events *pass;
};

bool get_info(struct perfctr_info *info);
bool add_events(const struct perfctr_info *info, struct events *events, const char *list);
/* Adds the events of a run without -e. */
void usual_events(const struct perfctr_info *info, struct events *events);
bool topdown_events(const struct perfctr_info *info, struct events *events, unsigned int source);
bool raw_events(const struct perfctr_info *info, struct events *events);
/*
 * Puts each event of the list into the first pass in which it can be counted with the events before
 * it.
 */
bool passes_make(const struct perfctr_info *info, const struct how *how, const char *list,
		 struct passes *passes);
/* Parses a number within bounds. @what is a text that says what the number is. */
bool number(const char *text, unsigned long least, unsigned long most, const char *what,
	    unsigned int *value);
bool source_by_name(const char *name, unsigned int *source);

#endif /* PERFEX_CHOOSE_H */
