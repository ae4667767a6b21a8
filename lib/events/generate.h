/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of events, which generate.c makes and print.c writes. */
#ifndef PERFCTR_GENERATE_H
#define PERFCTR_GENERATE_H

#define SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define MAX_EVENTS	256
#define MAX_MASKS	48
#define NGROUPS		8	/* number of groups of unit masks */

struct mask {
	const char *name;
	const char *text;
	unsigned int value;	/* bits of the event select, shifted right by 8 */
	unsigned int group;
	int alone;		/* excludes the other masks of its group */
	int is_default;
	int optional;		/* no mask of its group need be chosen */
};

struct event {
	const char *name;
	const char *text;
	unsigned int code;
	unsigned int counters;
	struct mask mask[MAX_MASKS];
	unsigned int nmasks;
	int one_group;		/* all chosen masks must be of one group */
};

struct set {
	const char *name;
	const char *type;
	const char *prefix;
	const char *base;	/* another set that is a part of this one */
	unsigned int n;
	struct event event[MAX_EVENTS];
};

extern struct set sets[];
extern unsigned int nsets;

void die(const char *what, const char *name);
/* Makes @base a part of @set, so that only the other events of @set are printed. */
void include(struct set *set, const struct set *base);
void print_set(const struct set *set);

#endif /* PERFCTR_GENERATE_H */
