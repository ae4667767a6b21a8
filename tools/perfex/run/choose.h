/* SPDX-License-Identifier: GPL-2.0 */
/* What options and their arguments mean. False: it has been told on stderr what is wrong. */
#ifndef PERFEX_CHOOSE_H
#define PERFEX_CHOOSE_H

#include "count/events.h"
#include "count/how.h"

/* With --passes each pass is a run of the program with these events. */
struct passes {
	unsigned int n;
	struct events *pass;
};

bool get_info(struct perfctr_info *info);
bool add_events(const struct perfctr_info *info, struct events *events, const char *list);
/* Those of a run without -e */
void usual_events(const struct perfctr_info *info, struct events *events);
bool topdown_events(const struct perfctr_info *info, struct events *events, unsigned int source);
bool raw_events(const struct perfctr_info *info, struct events *events);
/* Each event of the list is in the first pass where it can be counted with those before it. */
bool passes_make(const struct perfctr_info *info, const struct how *how, const char *list,
		 struct passes *passes);
/* A number within bounds; @what: a text that says what it is */
bool number(const char *text, unsigned long least, unsigned long most, const char *what,
	    unsigned int *value);
bool source_by_name(const char *name, unsigned int *source);

#endif /* PERFEX_CHOOSE_H */
