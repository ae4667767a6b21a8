/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the model share; tests have model_msr.h. */
#ifndef X86_MODEL_INSIDE_H
#define X86_MODEL_INSIDE_H

#include "x86/model_msr.h"

#define FIXED_OS	1u
#define FIXED_USR	2u
#define FIXED_ANY	4u
#define FIXED_PMI	8u

#define STATUS_TOPA_PMI	BIT(55)
#define STATUS_LBR_FRZ	BIT(58)
#define STATUS_CTR_FRZ	BIT(59)
#define STATUS_ASCI	BIT(60)
#define STATUS_UNCORE	BIT(61)
#define STATUS_OVF_BUF	BIT(62)
#define STATUS_COND_CHG	BIT(63)

#define RDPMC_FIXED	BIT(30)
#define RDPMC_METRICS	BIT(29)

#define SLOTS		3	/* the fixed counter of them */
#define GLOBAL_METRICS	BIT(48)

#define DEBUGCTL_BTF	BIT(1)
#define DEBUGCTL_FREEZE	BIT(12)

struct model_cpu {
	struct model_control control;
	u64 gp[MODEL_P4];
	u64 fixed[MODEL_FIXED];
	u64 parts[PERFCTR_METRICS];	/* slots of each metric since the last write of metrics */
	u64 metrics;
	u64 status;
	u64 tsc;
	u64 fs_base;
	u64 perf_capabilities;
	u64 rtit_ctl;
	u64 debugctl;
	u64 extras[MODEL_EXTRAS];
	bool stale[MODEL_P4];	/* counts cycles: see struct model_machine's @resets */
	bool resetting, reset;
	u64 pebs[2];
};

extern struct model_cpu cpus[SHIM_CPUS];
extern unsigned int reads;

/* What an event select with that event counts; the last one counts nothing. */
struct event {
	u64 event;
	enum model_kind kind;
};

extern const struct event architectural_events[];
extern const struct event p6_events[];
extern const struct event amd_events[];
extern const struct event p5_events[];

/* Of the first counter alone: on the second one 30h is something else, which nobody does here. */
extern const struct event p5mmx_events[];
extern const struct event mii_events[];
extern const struct event c6_events[];
extern const struct event winchip_2_events[];

/* No string instruction is repeated here. */
extern const struct event c3_events[];
extern const enum model_kind fixed_kinds[MODEL_FIXED];

/* The machine that describes this CPU */
const struct model_machine *of(unsigned int cpu);

/* General-purpose counters that have registers */
unsigned int nr_gp_of(unsigned int cpu);

/* Whose registers a CPU has: hyperthreads of a Pentium 4 have one set of them. */
unsigned int core_of(unsigned int cpu);

/* General-purpose counters that CPUs of all types have */
unsigned int nr_gp(void);
u64 bits(unsigned int nr);

/* As in GLOBAL_CTRL */
u64 all_counters(unsigned int cpu);

/* What can be set there */
u64 global_bits_of(unsigned int cpu);

enum reg_kind { REG_MISSING, REG_PLAIN, REG_SIGN_EXTENDED, REG_READ_ONLY, REG_CLEARS, REG_SETS };

struct reg {
	enum reg_kind kind;
	u64 valid;	/* the bits that may be set */
	u64 *value;
};

/**
 * struct range - registers of one kind that follow each other
 * @first: the MSR of the first one; the next ones are @stride apart
 * @most: so many at most
 * @from: the number of the first one
 * @is_there: a CPU has that one
 * @valid: what may be set in one of them
 * @value: what it holds
 * @never_right: bits that do not fault everywhere, and that nobody is to set
 */
struct range {
	u32 first;
	u32 stride;
	unsigned int most;
	unsigned int from;
	enum reg_kind kind;
	bool (*is_there)(unsigned int cpu, unsigned int i);
	u64 (*valid)(unsigned int cpu, unsigned int i);
	u64 *(*value)(unsigned int cpu, unsigned int i);
	u64 never_right;
};

/**
 * struct family - what differs from one family of processors to the next
 * @perfctr: the MSR of counter 0, as it is reserved; the next ones are @stride apart
 * @evntsel: the same of the event selects
 * @ranges: all registers; the last has none
 * @events: what is counted
 * @rdpmc: what a counter holds, by the operand of the instruction; NULL: there is none
 * @select: what a counter's control says, as an event select, if it is none; of it
 * @code: is the event
 * @one_enable: the enable bit of the first event select is that of all
 * @lvtpc_masked: as it delivers, it masks itself
 * @pdcm: there is a register of capabilities
 */
struct family {
	u32 perfctr;
	u32 evntsel;
	u32 stride;
	const struct range *ranges;
	const struct event *events;
	const u64 *(*rdpmc)(unsigned int cpu, u32 counter);
	u64 (*select)(unsigned int cpu, unsigned int i);
	u64 code;
	bool one_enable;
	bool lvtpc_masked;
	bool pdcm;
};

/* For arguments of functions that do not depend on the register, or on the CPU */
#define UNUSED(a, b)	((void)(a), (void)(b))

u64 valid_none(unsigned int cpu, unsigned int i);
bool gp_there(unsigned int cpu, unsigned int i);
u64 *gp_value(unsigned int cpu, unsigned int i);
u64 *evntsel_value(unsigned int cpu, unsigned int i);

#define ONE	1, 1, 0			/* stride, most, from */

extern const struct family p6;

/* The core's register: two CPUs are hyperthreads of one core, if @siblings. */
u64 *extra(unsigned int cpu, unsigned int i);

extern const struct family architectural;

#define AMD_EVENT_HIGH	(0xfull << 32)

extern const struct family k7;
extern const struct family core;
extern const struct family p5mmx;

const struct family *old_family(void);

#define ESCR_T1	3ull		/* thread 1's modes, which are never right here */
#define ESCR_T0_USR	BIT(2)
#define ESCR_T0_OS	BIT(3)

extern const struct family p4_family;

unsigned int p4_block(unsigned int i);
enum model_kind p4_kind(unsigned int block, u64 cccr, u64 escr, const u64 *pebs);
const struct family *family(void);

/* The number of the MSR among those that begin at @first, or ~0 */
u32 index_of(u32 msr, u32 first, u32 stride);

/* The bit of the counter's own event select that lets it count */
u64 enable_of(unsigned int i);

#endif /* X86_MODEL_INSIDE_H */
