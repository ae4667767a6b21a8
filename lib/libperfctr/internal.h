/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that several files of the library call. The library does not export them. */
#ifndef PERFCTR_INTERNAL_H
#define PERFCTR_INTERNAL_H

#include <stddef.h>
#include <stdio.h>

/* The library itself defines the calls that its users get inline. */
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
	struct vperfctr *next;			/* in the list @opened of vperfctr.c */
	int tid;				/* thread that called vperfctr_open_mode(), or 0 */
};

_Static_assert(offsetof(struct vperfctr, page) == 0, "programs have perfctr-inline.h's vperfctr_page() in them");

/*
 * Returns the type that PERFCTR_CPU_TYPE=@name asks for, if it is an older type than @cpu_type with
 * registers of the same kind, and @counters has all counters of that older type. Else returns
 * @cpu_type.
 */
perfctr_internal
unsigned int perfctr_older_type(const char *name, unsigned int cpu_type, unsigned long long counters);

/* Opens the device and makes it a handle by PERFCTR_IOC_OPEN. Returns the descriptor, or -1. */
perfctr_internal
int perfctr_open_fd(const struct perfctr_open *o);

/*
 * Makes @v a handle that owns the descriptor @fd, which may be -1. Maps its page if @map is 1. The
 * memory of @v stays the caller's.
 */
perfctr_internal
void perfctr_handle_init(struct vperfctr *v, int fd, int map);
/* Unmaps the page and closes the descriptor. */
perfctr_internal
void perfctr_handle_release(struct vperfctr *v);

/*
 * These translate a control from 2.6's form to the kernel's, and back. They return 0, or -1 with
 * EINVAL if that is impossible. On x86 the words of 2.6's control are registers of @cpu_type,
 * except for perf's events.
 */
perfctr_internal
int perfctr_control_to_native(const struct vperfctr_control *from, unsigned int cpu_type,
			      struct perfctr_control *to);
perfctr_internal
int perfctr_control_from_native(const struct perfctr_control *from, unsigned int cpu_type,
				struct vperfctr_control *to);

/* Returns the type of the processor. @fd is a descriptor of the device or of a handle. */
perfctr_internal
unsigned int perfctr_cpu_type(int fd);

/* Returns true if counter @i counts an event of perf's (PERFCTR_PERF_EVENTS). */
perfctr_internal
int perfctr_has_perf_event(const struct perfctr_cpu_control *cpu, unsigned int i);

/*
 * Changes a control to user mode alone. Call this after a control in 2.6's form has failed. Returns
 * 1 if the caller should try the changed control, else 0. On ppc32 modes are freeze bits, so a
 * program that sets none of them may not have asked for kernel mode.
 */
perfctr_internal
int perfctr_control_user_only(struct perfctr_control *control);

/*
 * Changes a control to user mode alone, or to longer periods. Call this after a control of a thread
 * has failed. Returns 1 if the caller should try the changed control, else 0.
 */
perfctr_internal
int perfctr_control_again(const struct vperfctr_control *from, struct perfctr_control *control);

/*
 * These return the events of a 32-bit PowerPC by perf's names and by C identifiers, or NULL if
 * @cpu_type is no such processor.
 */
perfctr_internal
const struct perfctr_event_set *perfctr_ppc_event_names(unsigned int cpu_type);
perfctr_internal
const struct perfctr_event_set *perfctr_ppc_event_set(unsigned int cpu_type);
/* Fills in the counter of a raw event. Returns 1, or -1 if @raw is no valid raw event. */
perfctr_internal
int perfctr_ppc_parse_raw(__u64 raw, struct perfctr_ctr_control *ctr);
/* Writes the name of a counter's event. Returns what snprintf() returns. */
perfctr_internal
int perfctr_ppc_format(const struct perfctr_event_set *set, const struct perfctr_ctr_control *ctr,
		       const char *modifier, char *buf, size_t size);

/* Pentium 4: the shift of the block's number in perfctr_ctr_control.event; the first block is 1 */
#define P4_BLOCK_SHIFT	32

/* Intel: the numbers of two fixed counters, and the events of fixed counters */
#define X86_FIXED_INSTRUCTIONS	24u
#define X86_FIXED_CYCLES	25u
#define X86_INSTRUCTIONS	0xc0u
#define X86_CYCLES		0x3cu
#define X86_REF_CYCLES		0x300u

/*
 * Bits 35..32 of AMD's event selects, which belong to the number of the event. The tables have
 * these bits in bits 19..16 of evntsel.
 */
#define PERFCTR_AMD_HIGH	0xf00000000ULL
/* Returns the events of an AMD processor by perf's names, or NULL if @cpu_type is none of AMD's. */
perfctr_internal
const struct perfctr_event_set *perfctr_amd_event_names(unsigned int cpu_type);
/* Returns the event select of the event that has @evntsel in the tables. */
perfctr_internal
__u64 perfctr_amd_event(unsigned int evntsel);

/* Returns perfctr 2.6's table of a processor type, or NULL if 2.6 did not know the type. */
perfctr_internal
const struct perfctr_event_set *perfctr_event_table(unsigned int cpu_type);

/*
 * Returns the events, by perf's names, of an x86 processor whose event selects do not have the P6's
 * layout. Returns NULL for any other processor.
 */
perfctr_internal
const struct perfctr_event_set *perfctr_old_event_names(unsigned int cpu_type);
/* Returns true if @cpu_type is a Pentium 4. */
perfctr_internal
int perfctr_is_p4(unsigned int cpu_type);
/* Fills in a counter for an event of perfctr_old_event_names() or perfctr_event_table(). */
perfctr_internal
void perfctr_old_set_event(unsigned int cpu_type, const struct perfctr_event *event,
			   struct perfctr_ctr_control *ctr);
/*
 * Fills in a counter for a name of perfctr_event_table(), which may have units. Returns 0, ENOENT
 * if there is no such event, or EINVAL if the event lacks a unit.
 */
perfctr_internal
int perfctr_old_event(unsigned int cpu_type, const char *name, struct perfctr_ctr_control *ctr);
/* Writes the name of a counter's event. Returns 1, or 0 if the event has no name. */
perfctr_internal
int perfctr_old_name(unsigned int cpu_type, const struct perfctr_ctr_control *ctr,
		     char *name, size_t size);

/* The size of the longest name of an event, with its NUL */
#define PERFCTR_EVENT_NAME_MAX	128u

/* The numbers that perf uses for an event whose name the kernel or libpfm4 knows */
struct perfctr_named_event {
	unsigned int type;
	unsigned long long config[3];		/* perf's config, config1 and config2 */
	unsigned int modes;			/* PERFCTR_CTR_*: the modes in the name */
	unsigned int map;			/* Intel: the counter, or PERFCTR_MAP_ANY */
};

/*
 * A list of names and descriptions that is being made. @text has the name and the description of
 * each event one after the other, each with its NUL.
 */
struct perfctr_names {
	FILE *f;
	char *text;
	size_t size, n;
};

/* Returns the set for @cpu_type, which is one of the @n @sets, or NULL. */
perfctr_internal
const struct perfctr_event_set *perfctr_find_set(const struct perfctr_event_set *sets, size_t n,
						 unsigned int cpu_type);

/* These begin a list, and add a name to it. They return 0, or -1 if there is no memory. */
perfctr_internal
int perfctr_names_begin(struct perfctr_names *names);
perfctr_internal
int perfctr_names_add(struct perfctr_names *names, const char *name, const char *description);
/* Returns the list, sorted and in one piece of memory, or NULL if there is no memory. */
perfctr_internal
struct perfctr_event_name *perfctr_names_end(struct perfctr_names *names);

/*
 * Parses a raw event: r and a hexadecimal number, then more numbers behind slashes, at most @most
 * numbers in all. Returns 1, or 0 if @name is no raw event, or -1 if a number has too many digits.
 */
perfctr_internal
int perfctr_parse_raw(const char *name, __u64 *values, unsigned int most);

/*
 * The @n most similar names that were found so far, at most @max, the best first. The lower @score,
 * the more similar is the name.
 */
#define PERFCTR_NEAR_MAX	16

struct perfctr_near {
	const char *name[PERFCTR_NEAR_MAX];
	unsigned int score[PERFCTR_NEAR_MAX];
	size_t n, max;
};

/*
 * Compares @name with the first @length letters of @spec, and adds @name to @near if the two are
 * similar. If @name has no units, the letters from @spec's first colon on are ignored.
 */
perfctr_internal
void perfctr_near_compare(struct perfctr_near *near, const char *spec, size_t length,
			  const char *name);
/* Returns a copy of the names in one piece of memory, with NULL behind the last; or NULL. */
perfctr_internal
char **perfctr_near_names(const struct perfctr_near *near);

/* Returns the event of @set that is called @name, or NULL. */
perfctr_internal
const struct perfctr_event *perfctr_find_event(const struct perfctr_event_set *set,
					       const char *name);
/* Returns the event of @set that has @name as its name in perf or as an alias, or NULL. */
perfctr_internal
const struct perfctr_event *perfctr_find_name(const struct perfctr_event_set *set,
					      const char *name);
/* Calls perfctr_near_compare() for each alias of an event in @set. */
perfctr_internal
void perfctr_near_aliases(struct perfctr_near *near, const char *spec, size_t length,
			  const struct perfctr_event_set *set);

/*
 * Finds an event by the kernel's name, in the directory @root, which is PERFCTR_SYSFS except in
 * tests. Returns 0, or ENOENT if there is no such event, or if its definition is not understood.
 */
#define PERFCTR_SYSFS	"/sys/bus/event_source/devices"

perfctr_internal
int perfctr_sysfs_event(const char *root, const char *name, struct perfctr_named_event *event);
/* Adds the kernel's names of events to a list. Returns 0, or -1 if there is no memory. */
perfctr_internal
int perfctr_sysfs_names(const char *root, struct perfctr_names *names);

/*
 * Finds an event by libpfm4's name. Returns 0; ENOENT if there is no such event, or no libpfm4;
 * EINVAL if libpfm4 knows the event, but not the text that follows its name; or EOPNOTSUPP if no
 * control can hold the event's number.
 *
 * This function and perfctr_pfm_names() load libpfm4, and a static program should load no library.
 * So a program with libperfctr.a has the two functions only if the linker is asked for them (-u
 * perfctr_pfm_event).
 */
perfctr_internal __attribute__((weak))
int perfctr_pfm_event(const char *name, struct perfctr_named_event *event);
/* Adds libpfm4's names of events to a list. Returns 0, or -1 if there is no memory. */
perfctr_internal __attribute__((weak))
int perfctr_pfm_names(struct perfctr_names *names);

/* Reads the first @n counters by PERFCTR_IOC_READ. Returns 0, or -1. */
perfctr_internal
int perfctr_read_some(int fd, struct perfctr_read *sums, unsigned int n);

/* The words that read(2) of a handle stores */
struct perfctr_words {
	__u64 clock;
	__u64 sum[PERFCTR_MAX_CTRS];
};

/* Reads @size bytes by read(2). Returns the number of counters, or -1. */
perfctr_internal
int perfctr_read_words(int fd, void *words, size_t size);

/*
 * This structure keeps what runs of code of known length have shown. Hypothesis h says that the
 * processor counts h extra instructions at each interrupt. The rest of a run is the count, minus h
 * for each interrupt, minus the code's length. If the hypothesis is true, this rest is equal in all
 * runs.
 */
#define PERFCTR_NOISE_HYPOTHESES	2u
#define PERFCTR_NOISE_INTERRUPTS	20u	/* the least number of interrupted runs */

struct perfctr_noise {
	unsigned long long rest[PERFCTR_NOISE_HYPOTHESES];	/* the rests of the first run */
	unsigned int seen;			/* runs whose interrupt was counted */
	unsigned int wrong;			/* bit h: hypothesis h is wrong */
	unsigned int runs;
};

/*
 * Adds a run to @noise. @interrupted says that an interrupt certainly came in this run, even if the
 * event of interrupts has not counted it.
 */
perfctr_internal
void perfctr_noise_add(struct perfctr_noise *noise, unsigned long long instructions,
		       unsigned long long interrupts, unsigned long long length, int interrupted);

/* Returns true if more runs cannot change the verdict. */
perfctr_internal
int perfctr_noise_is_known(const struct perfctr_noise *noise);

/*
 * Returns the number of the hypothesis that fits. Returns -1 with ETIME if there were too few
 * interrupts, and with ERANGE if both hypotheses fit, or none.
 */
perfctr_internal
int perfctr_noise_verdict(const struct perfctr_noise *noise);

/*
 * Returns the number of extra instructions that the processor counts at a page fault: 0 or 1.
 * @faults page faults made a count higher by @more. Returns -1 with ERANGE if neither number fits.
 */
perfctr_internal
int perfctr_noise_of_faults(unsigned long long more, unsigned long long faults);

#endif /* PERFCTR_INTERNAL_H */
