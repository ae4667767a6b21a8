/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the files of the library share, and do not export. */
#ifndef PERFCTR_INTERNAL_H
#define PERFCTR_INTERNAL_H

#include <stddef.h>
#include <stdio.h>

/* The library defines the calls that users get inline. */
#define PERFCTR_NO_INLINE
#include "events_intel.h"
#include "libperfctr.h"

#define perfctr_internal __attribute__((visibility("hidden")))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct vperfctr {
	const struct perfctr_page *page;
	int fd;
	void *map;				/* the kernel's page, or NULL */
	unsigned int owner;			/* PERFCTR_OWNER_* of the latest control */
	unsigned int reason;			/* PERFCTR_REASON_* of the latest control */
	struct vperfctr *next;			/* see vperfctr_open_mode() */
	int tid;				/* thread that called vperfctr_open_mode(), or 0 */
};

_Static_assert(offsetof(struct vperfctr, page) == 0, "programs have perfctr-inline.h's vperfctr_page() in them");

/*
 * The type that PERFCTR_CPU_TYPE=@name stands for: an older one with the same kind of registers, if
 * all of its counters are in @counters; else @cpu_type
 */
perfctr_internal
unsigned int perfctr_older_type(const char *name, unsigned int cpu_type, unsigned long long counters);

/* The call OPEN: the descriptor, or -1 */
perfctr_internal
int perfctr_open_fd(const struct perfctr_open *o);

/* A handle in the caller's memory, around @fd (-1: none). @map: the page is mapped. */
perfctr_internal
void perfctr_handle_init(struct vperfctr *v, int fd, int map);
perfctr_internal
void perfctr_handle_release(struct vperfctr *v);

/*
 * Translate a control from 2.6's form to the kernel's, and back; -1 with EINVAL if that is
 * impossible. On x86 the words of 2.6's control are registers of @cpu_type, except for perf's
 * events.
 */
perfctr_internal
int perfctr_control_to_native(const struct vperfctr_control *from, unsigned int cpu_type,
			      struct perfctr_control *to);
perfctr_internal
int perfctr_control_from_native(const struct perfctr_control *from, unsigned int cpu_type,
				struct vperfctr_control *to);

/* The type of processor, from the device or handle @fd */
perfctr_internal
unsigned int perfctr_cpu_type(int fd);

/* Whether counter @i counts an event of perf's (PERFCTR_PERF_EVENTS) */
perfctr_internal
int perfctr_has_perf_event(const struct perfctr_cpu_control *cpu, unsigned int i);

/*
 * After a control of 2.6's has failed: 1 if it can be tried again with user mode alone. On ppc32
 * modes are freeze bits, so a program that sets none of them may not have asked for kernel mode.
 */
perfctr_internal
int perfctr_control_user_only(struct perfctr_control *control);

/* The same for a control of a thread, which may also be tried again with longer periods */
perfctr_internal
int perfctr_control_again(const struct vperfctr_control *from, struct perfctr_control *control);

/*
 * Events of 32-bit PowerPCs, by perf's names and by identifiers; NULL: there are none. parse_raw
 * returns 1, or -1: it is no raw event. format is as perfctr_event_format().
 */
perfctr_internal
const struct perfctr_event_set *perfctr_ppc_event_names(unsigned int cpu_type);
perfctr_internal
const struct perfctr_event_set *perfctr_ppc_event_set(unsigned int cpu_type);
perfctr_internal
int perfctr_ppc_parse_raw(__u64 raw, struct perfctr_ctr_control *ctr);
perfctr_internal
int perfctr_ppc_format(const struct perfctr_event_set *set, const struct perfctr_ctr_control *ctr,
		       const char *modifier, char *buf, size_t size);

/* Pentium 4: the block in perfctr_ctr_control.event, from 1 */
#define P4_BLOCK_SHIFT	32

/* Intel: numbers of fixed counters, and their events */
#define X86_FIXED_INSTRUCTIONS	24u
#define X86_FIXED_CYCLES	25u
#define X86_INSTRUCTIONS	0xc0u
#define X86_CYCLES		0x3cu
#define X86_REF_CYCLES		0x300u

/*
 * Events of AMD's processors, by perf's names; NULL: it is none of AMD's. In the tables, bits
 * 19..16 of evntsel stand for bits 35..32 of the event select.
 */
#define PERFCTR_AMD_HIGH	0xf00000000ULL
perfctr_internal
const struct perfctr_event_set *perfctr_amd_event_names(unsigned int cpu_type);
perfctr_internal
__u64 perfctr_amd_event(unsigned int evntsel);

/* perfctr 2.6's table of a type of processor; NULL: 2.6 did not know it */
perfctr_internal
const struct perfctr_event_set *perfctr_event_table(unsigned int cpu_type);

/*
 * Events of x86 processors whose event selects do not have the P6's layout. names: perf's; NULL:
 * it is another processor. set_event: fills in a counter for an event of perf's names or of 2.6's
 * table. event: the same by a name of the table, with units; returns 0, ENOENT, or EINVAL for a
 * wrong unit. name: the name for a counter; returns 1, or 0: there is none.
 */
perfctr_internal
const struct perfctr_event_set *perfctr_old_event_names(unsigned int cpu_type);
perfctr_internal
int perfctr_is_p4(unsigned int cpu_type);
perfctr_internal
void perfctr_old_set_event(unsigned int cpu_type, const struct perfctr_event *event,
			   struct perfctr_ctr_control *ctr);
perfctr_internal
int perfctr_old_event(unsigned int cpu_type, const char *name, struct perfctr_ctr_control *ctr);
perfctr_internal
int perfctr_old_name(unsigned int cpu_type, const struct perfctr_ctr_control *ctr,
		     char *name, size_t size);

/* The longest name of an event, with its NUL */
#define PERFCTR_EVENT_NAME_MAX	128u

/* perf's numbers of an event whose name is not in our tables */
struct perfctr_named_event {
	unsigned int type;
	unsigned long long config[3];		/* config, config1, config2 */
	unsigned int modes;			/* PERFCTR_CTR_*: the modes in the name */
	unsigned int map;			/* Intel: the counter, or PERFCTR_MAP_ANY */
};

/* A list of names and descriptions. @text has both of each, with their NULs */
struct perfctr_names {
	FILE *f;
	char *text;
	size_t size, n;
};

/* The set of that type, or NULL */
perfctr_internal
const struct perfctr_event_set *perfctr_find_set(const struct perfctr_event_set *sets, size_t n,
						 unsigned int cpu_type);

/* Return 0, or -1: no memory. end: the sorted list in one piece of memory, or NULL */
perfctr_internal
int perfctr_names_begin(struct perfctr_names *names);
perfctr_internal
int perfctr_names_add(struct perfctr_names *names, const char *name, const char *description);
perfctr_internal
struct perfctr_event_name *perfctr_names_end(struct perfctr_names *names);

/*
 * A raw event: r and hexadecimal digits, then values of registers behind slashes, @most numbers in
 * all. Returns 1; 0: it is none; -1: a number has too many digits
 */
perfctr_internal
int perfctr_parse_raw(const char *name, __u64 *values, unsigned int most);

/*
 * The nearest names so far, best first. compare: compares @length letters of @spec with a name;
 * what follows a colon only with names that have units. names: a copy in one piece of memory,
 * with NULL behind the last; or NULL.
 */
#define PERFCTR_NEAR_MAX	16

struct perfctr_near {
	const char *name[PERFCTR_NEAR_MAX];
	unsigned int score[PERFCTR_NEAR_MAX];
	size_t n, max;
};

perfctr_internal
void perfctr_near_compare(struct perfctr_near *near, const char *spec, size_t length,
			  const char *name);
perfctr_internal
char **perfctr_near_names(const struct perfctr_near *near);

/*
 * find_event: the event of a set with that name. find_name: also by perf's aliases and forms of
 * cache events. NULL: there is none. near_aliases: compares with all aliases of the set's events.
 */
perfctr_internal
const struct perfctr_event *perfctr_find_event(const struct perfctr_event_set *set,
					       const char *name);
perfctr_internal
const struct perfctr_event *perfctr_find_name(const struct perfctr_event_set *set,
					      const char *name);
perfctr_internal
void perfctr_near_aliases(struct perfctr_near *near, const char *spec, size_t length,
			  const struct perfctr_event_set *set);

/*
 * The kernel's names, below @root (PERFCTR_SYSFS; tests have another). event returns 0, or ENOENT:
 * there is none, or it is not understood. names returns 0, or -1: no memory.
 */
#define PERFCTR_SYSFS	"/sys/bus/event_source/devices"

perfctr_internal
int perfctr_sysfs_event(const char *root, const char *name, struct perfctr_named_event *event);
perfctr_internal
int perfctr_sysfs_names(const char *root, struct perfctr_names *names);

/*
 * libpfm4's names, if it is there. event also returns EINVAL: the event is known, but not what
 * follows its name; EOPNOTSUPP: no control can have its number. They load a library, which a static
 * program should not do, so with libperfctr.a the linker must be asked for them
 * (-u perfctr_pfm_event).
 */
perfctr_internal __attribute__((weak))
int perfctr_pfm_event(const char *name, struct perfctr_named_event *event);
perfctr_internal __attribute__((weak))
int perfctr_pfm_names(struct perfctr_names *names);

/* PERFCTR_IOC_READ of the first @n counters */
perfctr_internal
int perfctr_read_some(int fd, struct perfctr_read *sums, unsigned int n);

/* What read(2) stores */
struct perfctr_words {
	__u64 clock;
	__u64 sum[PERFCTR_MAX_CTRS];
};

/* read(2) of @size bytes; returns the number of counters, or -1 */
perfctr_internal
int perfctr_read_words(int fd, void *words, size_t size);

/*
 * Counts of code of known length. Hypothesis h says that each interrupt counts h instructions too
 * many. If it is true, the count less h for each interrupt is the same beyond the code's length
 * in all runs.
 */
#define PERFCTR_NOISE_HYPOTHESES	2u
#define PERFCTR_NOISE_INTERRUPTS	20u	/* so many runs must have been interrupted */

struct perfctr_noise {
	unsigned long long rest[PERFCTR_NOISE_HYPOTHESES];	/* of the first run, beyond the length */
	unsigned int seen;			/* runs whose interrupt was counted */
	unsigned int wrong;			/* bit h: hypothesis h is wrong */
	unsigned int runs;
};

/* @interrupted: an interrupt certainly came, even if its event did not count it */
perfctr_internal
void perfctr_noise_add(struct perfctr_noise *noise, unsigned long long instructions,
		       unsigned long long interrupts, unsigned long long length, int interrupted);

/* Whether more runs would change nothing any more */
perfctr_internal
int perfctr_noise_is_known(const struct perfctr_noise *noise);

/* The hypothesis that fits. -1 with ETIME: too few interrupts; ERANGE: none fits, or both */
perfctr_internal
int perfctr_noise_verdict(const struct perfctr_noise *noise);

/* The same for page faults: a count with @faults of them was higher by @more. */
perfctr_internal
int perfctr_noise_of_faults(unsigned long long more, unsigned long long faults);

#endif /* PERFCTR_INTERNAL_H */
