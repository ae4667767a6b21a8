/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of events as generate.c makes it and print.c writes it. */
#ifndef PERFCTR_GENERATE_H
#define PERFCTR_GENERATE_H

#define SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define MAX_EVENTS	256
#define MAX_MASKS	48
#define NGROUPS		8	/* of unit masks */

struct mask {
	const char *name;
	const char *text;
	unsigned int value;	/* shifted left by 8 it is or'ed into the event select */
	unsigned int group;
	int alone;		/* not with others of its group */
	int is_default;
	int optional;		/* its group need not be chosen from */
};

struct event {
	const char *name;
	const char *text;
	unsigned int code;
	unsigned int counters;
	struct mask mask[MAX_MASKS];
	unsigned int nmasks;
	int one_group;		/* of all masks only those of one group can be chosen */
};

struct set {
	const char *name;
	const char *type;
	const char *prefix;
	const char *base;	/* another set, if all of it is here as well */
	unsigned int n;
	struct event event[MAX_EVENTS];
};

extern struct set sets[];
extern unsigned int nsets;

void die(const char *what, const char *name);
/* What @base has is left out of @set, which has all of it. */
void include(struct set *set, const struct set *base);
void print_set(const struct set *set);

#endif /* PERFCTR_GENERATE_H */
