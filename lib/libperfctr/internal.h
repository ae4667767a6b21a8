/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files of the library share, and that are not exported. */
#ifndef PERFCTR_INTERNAL_H
#define PERFCTR_INTERNAL_H

#include <stddef.h>
#include <stdio.h>

/* The library defines the calls that users get inline, so it wants no inline copies. */
#define PERFCTR_NO_INLINE
#include "events_intel.h"
#include "libperfctr.h"

#define perfctr_internal __attribute__((visibility("hidden")))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct vperfctr {
	const struct perfctr_page *page;
	int fd;
	void *map;				/* the page if it is the kernel's, or NULL */
	unsigned int owner;			/* PERFCTR_OWNER_* of the latest control */
	unsigned int reason;			/* PERFCTR_REASON_*, likewise */
	struct vperfctr *next;			/* see vperfctr_open_mode() */
	int tid;				/* of the thread that opened it by that; else 0 */
};

_Static_assert(offsetof(struct vperfctr, page) == 0, "programs have perfctr-inline.h's vperfctr_page() in them");

/*
 * The type that PERFCTR_CPU_TYPE=@name makes of @cpu_type: an older one with the same kind of registers, if
 * all of its counters are among @counters, else @cpu_type
 */
perfctr_internal
unsigned int perfctr_older_type(const char *name, unsigned int cpu_type, unsigned long long counters);

/* OPEN: the descriptor, or -1 */
perfctr_internal
int perfctr_open_fd(const struct perfctr_open *o);

/* A handle of somebody who has the memory for it: around @fd (-1: none), with the map if @map */
perfctr_internal
void perfctr_handle_init(struct vperfctr *v, int fd, int map);
perfctr_internal
void perfctr_handle_release(struct vperfctr *v);

/*
 * Translate a control of 2.6 to the kernel's, and back; -1 and EINVAL if that is impossible. On x86 its
 * words are the registers of the type of processor, but for counters whose events are perf's.
 */
perfctr_internal
int perfctr_control_to_native(const struct vperfctr_control *from, unsigned int cpu_type,
			      struct perfctr_control *to);
perfctr_internal
int perfctr_control_from_native(const struct perfctr_control *from, unsigned int cpu_type,
				struct vperfctr_control *to);

/* That type, of the device or handle @fd */
perfctr_internal
unsigned int perfctr_cpu_type(int fd);

/* Whether counter @i of a control of 2.6's counts an event of perf's (PERFCTR_PERF_EVENTS) */
perfctr_internal
int perfctr_has_perf_event(const struct perfctr_cpu_control *cpu, unsigned int i);

/*
 * After a control of 2.6's has failed: 1 if it may be tried again, for user mode alone. On ppc32
 * modes are freeze bits, and programs that set none of them did not ask for privileges.
 */
perfctr_internal
int perfctr_control_user_only(struct perfctr_control *control);

/* The same, and of a thread's control, @from, also with longer periods if 2.6 took shorter ones */
perfctr_internal
int perfctr_control_again(const struct vperfctr_control *from, struct perfctr_control *control);

/*
 * Events of PowerPCs of 32 bits, whose types have the numbers of x86's, by perf's names and by
 * identifiers; NULL if there are none. parse_raw: 1, or -1 if it is no raw event. format: as
 * perfctr_event_format()
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

/* Pentium 4, perfctr_ctr_control.event: the block, from 1 */
#define P4_BLOCK_SHIFT	32

/* Intel's events of fixed counters, and the counters' numbers, as in PERFCTR_IOC_CONTROL */
#define X86_FIXED_INSTRUCTIONS	24u
#define X86_FIXED_CYCLES	25u
#define X86_INSTRUCTIONS	0xc0u
#define X86_CYCLES		0x3cu
#define X86_REF_CYCLES		0x300u

/*
 * Events of AMD's processors, by perf's names; NULL: it is none of AMD's. Bits 35..32 of an event
 * select are in bits 19..16 of evntsel there, which are none of an event's.
 */
#define PERFCTR_AMD_HIGH	0xf00000000ULL
perfctr_internal
const struct perfctr_event_set *perfctr_amd_event_names(unsigned int cpu_type);
perfctr_internal
__u64 perfctr_amd_event(unsigned int evntsel);

/* perfctr 2.6's table of a type of processor that it had; NULL: it is another */
perfctr_internal
const struct perfctr_event_set *perfctr_event_table(unsigned int cpu_type);

/*
 * Events of x86's processors that have no event selects of the P6's layout. names: perf's; NULL: it has
 * such. set_event: of one of those, or of the table. event: by a name of the table, with units; 0, ENOENT,
 * or EINVAL for a unit that it has not. name: 1, or 0 if it has none that fits.
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

/* The longest name of an event, with its end */
#define PERFCTR_EVENT_NAME_MAX	128u

/* An event as perf has it, of a name that our tables do not have */
struct perfctr_named_event {
	unsigned int type;
	unsigned long long config[3];		/* and config1, config2 */
	unsigned int modes;			/* PERFCTR_CTR_USER, _KERNEL: what the name says of them */
	unsigned int map;			/* the counter, of processors of Intel; or PERFCTR_MAP_ANY */
};

/* Names with descriptions (NULL: none), as they come: text is both, each with its end */
struct perfctr_names {
	FILE *f;
	char *text;
	size_t size, n;
};

/* The one of @n sets that is of the type, or NULL */
perfctr_internal
const struct perfctr_event_set *perfctr_find_set(const struct perfctr_event_set *sets, size_t n,
						 unsigned int cpu_type);

/* 0, or -1 if there is no memory. end: sorted, in one piece; NULL if there is none for that */
perfctr_internal
int perfctr_names_begin(struct perfctr_names *names);
perfctr_internal
int perfctr_names_add(struct perfctr_names *names, const char *name, const char *description);
perfctr_internal
struct perfctr_event_name *perfctr_names_end(struct perfctr_names *names);

/*
 * A raw event, r and hexadecimal digits, and values of registers behind slashes, @most numbers: 1 if it
 * is one, -1 if one has too many digits
 */
perfctr_internal
int perfctr_parse_raw(const char *name, __u64 *values, unsigned int most);

/*
 * The names that were nearest so far, best first. compare: the first @length letters of @spec with a
 * name; only names with units of their own are compared with what stands behind a colon. names: a copy
 * in one piece, with NULL behind the last; or NULL.
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
 * The event of a set that has that name; or that perf has under it, by an alias or as a cache event: NULL if
 * there is none. near_aliases: as perfctr_near_compare(), with all aliases of the set's events
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
 * Of the kernel, below @root (PERFCTR_SYSFS, but in tests). event: 0, or ENOENT if there is none, or it
 * is not understood. names: 0, or -1 if there is no memory.
 */
#define PERFCTR_SYSFS	"/sys/bus/event_source/devices"

perfctr_internal
int perfctr_sysfs_event(const char *root, const char *name, struct perfctr_named_event *event);
perfctr_internal
int perfctr_sysfs_names(const char *root, struct perfctr_names *names);

/*
 * Of libpfm4, if it is there. event: likewise; EINVAL if it knows the event, but not with what
 * follows; EOPNOTSUPP if its number is none that a control can have. A program that is linked with
 * libperfctr.a has these only if its linker is asked for them (-u perfctr_pfm_event): they load a
 * library, which a static program should not.
 */
perfctr_internal __attribute__((weak))
int perfctr_pfm_event(const char *name, struct perfctr_named_event *event);
perfctr_internal __attribute__((weak))
int perfctr_pfm_names(struct perfctr_names *names);

/* PERFCTR_IOC_READ with room for the first n counters */
perfctr_internal
int perfctr_read_some(int fd, struct perfctr_read *sums, unsigned int n);

/* The clock and the sums as read(2) stores them */
struct perfctr_words {
	__u64 clock;
	__u64 sum[PERFCTR_MAX_CTRS];
};

/* read(2) with room for size bytes; returns the number of counters, or -1 */
perfctr_internal
int perfctr_read_words(int fd, void *words, size_t size);

/*
 * Counts of code of known length. Hypothesis h is that an interrupt makes a count of instructions
 * h too many: then what a count is beyond the code's length is the same in all runs.
 */
#define PERFCTR_NOISE_HYPOTHESES	2u
#define PERFCTR_NOISE_INTERRUPTS	20u	/* in so many runs some must have been seen */

struct perfctr_noise {
	unsigned long long rest[PERFCTR_NOISE_HYPOTHESES];	/* of the first run */
	unsigned int seen;			/* runs that were interrupted, and counted it */
	unsigned int wrong;			/* bit h: hypothesis h does not fit */
	unsigned int runs;
};

/* @interrupted: it is known that an interrupt came, whatever the event for them says */
perfctr_internal
void perfctr_noise_add(struct perfctr_noise *noise, unsigned long long instructions,
		       unsigned long long interrupts, unsigned long long length, int interrupted);

/* Whether more runs would change nothing */
perfctr_internal
int perfctr_noise_is_known(const struct perfctr_noise *noise);

/* The one that fits; -1 and ETIME if too few interrupts were seen, ERANGE if none fits, or both do */
perfctr_internal
int perfctr_noise_verdict(const struct perfctr_noise *noise);

/* The same of page faults, of one count that was so many more than one without them */
perfctr_internal
int perfctr_noise_of_faults(unsigned long long more, unsigned long long faults);

#endif /* PERFCTR_INTERNAL_H */
