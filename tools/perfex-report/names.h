/* SPDX-License-Identifier: GPL-2.0 */
/* Compares names of functions with the names that users write. */
#ifndef PERFEX_REPORT_NAMES_H
#define PERFEX_REPORT_NAMES_H

#include <stddef.h>

/* How well a function's name matches. */
enum name_match {
	NAME_OTHER,
	NAME_LAST_PART,			/* as "push_back" or "vector::push_back" */
	NAME_WITHOUT_PARAMETERS,	/* "std::vector<int>::push_back", or without "<int>" */
	NAME_WHOLE,
};

enum name_match name_match(const char *name, const char *asked);

/* The names most similar to a name that does not exist. The names are not copied. */
#define NAMES_NEAR	3

struct names_near {
	const char *name[NAMES_NEAR];
	unsigned int distance[NAMES_NEAR];
	size_t n;
};

void names_near_add(struct names_near *near, const char *name, const char *asked);

#endif /* PERFEX_REPORT_NAMES_H */
