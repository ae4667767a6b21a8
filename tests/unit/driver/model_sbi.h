/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A modelled RISC-V machine: harts whose counters advance when a test executes
 * something on them, and a firmware with the SBI PMU extension that behaves as
 * OpenSBI 1.6 was seen to. perf is a second customer of that firmware. Whoever
 * touches a programmable counter of the other fails the test.
 */
#ifndef MODEL_SBI_H
#define MODEL_SBI_H

#include "shim/asm/csr.h"
#include "shim/asm/sbi.h"
#include "shim/kernel.h"

#define MODEL_CTRS	32	/* hardware counters, numbered as the CSRs are */
#define MODEL_CYCLE	0
#define MODEL_INSTRET	2
#define MODEL_HPM	3
#define MODEL_FIXED	(BIT(MODEL_CYCLE) | BIT(MODEL_INSTRET))
#define MODEL_NO_EVENT	0xffffffffu

/* SBI event_idx of what a hart here can count */
#define EV_CYCLES	1u
#define EV_INSTRUCTIONS	2u
#define EV_BRANCHES	5u	/* exists on machines with .branches only */
#define EV_DTLB_READ	0x10019u
#define EV_DTLB_WRITE	0x1001bu
#define EV_ITLB		0x10021u
#define EV_RAW		0x20000u
#define RAW_STORES	0x1234ull	/* event_data: raw events that exist */
#define RAW_LOADS	0x1235ull
#define RAW_NONE	0x9999ull	/* and one that does not */

enum model_mode { MODEL_USER, MODEL_KERNEL, MODEL_MACHINE, MODEL_MODES };

/**
 * struct model_machine - what is built; set it before model_boot()
 * @sbi: there is the PMU extension
 * @sscofpmf: hpmcounters filter by mode
 * @smcntrpmf: cycle and instret do
 * @event_once: an event is counted by the counter that got it first (QEMU)
 * @ignores_mask: CFG_MATCH gives the highest free counter, asked for or not
 * @branches: EV_BRANCHES exists
 * @basic: only cycles and instructions do
 * @shuffled: an SBI counter index is not the number of a CSR
 * @no_interrupt: overflow interrupts are not enabled
 * @no_handler: perf has no handler for them
 * @kvm: the firmware is KVM
 * @nr_cpus: CPUs, all online
 * @programmable: bit map of the hpmcounters
 * @dtlb_counters: those of them that count EV_DTLB_*; 0: all
 * @width: of the hpmcounters, bits
 * @narrow, @narrow_width: one that has fewer; 0: none
 */
struct model_machine {
	bool sbi;
	bool sscofpmf;
	bool smcntrpmf;
	bool event_once;
	bool ignores_mask;
	bool branches;
	bool basic;
	bool shuffled;
	bool no_interrupt;
	bool no_handler;
	bool kvm;
	unsigned int nr_cpus;
	u32 programmable;
	u32 dtlb_counters;
	unsigned int width;
	unsigned int narrow;
	unsigned int narrow_width;
};

extern struct model_machine model;

/* Two CPUs, Sscofpmf, hpmcounter3..10 of 48 bits */
extern const struct model_machine model_default;

/* Without the extension: whether cycle, time and instret can be read, or trap */
extern unsigned char shim_csr_readable[3];

/* Powers the machine on; the driver has not been called yet. */
void model_boot(const struct model_machine *machine);

/* SBI calls of the driver since the last reset of these */
#define MODEL_FIDS	5
extern unsigned int model_calls[MODEL_FIDS];
unsigned int model_all_calls(void);
void model_calls_reset(void);

/*
 * Of the driver's calls of a function, @times after the next @after fail with
 * @error and change nothing.
 */
void model_fail(unsigned int fid, unsigned int after, unsigned int times, long error);

/* Who has a counter */
enum model_owner { MODEL_NOBODY, MODEL_DRIVER, MODEL_PERF };

struct model_ctr {
	u32 active;		/* the firmware's note: event_idx, or NO_EVENT */
	enum model_owner owner;
	bool inhibited;
	u8 modes_off;		/* bit map of modes it does not count */
	u32 event;		/* mhpmevent: what it counts */
	u64 data;
	bool dead;		/* see model_machine.event_once */
};

/* The counters of all harts, but for their values. */
struct model_ownership {
	struct model_ctr ctr[SHIM_CPUS][MODEL_CTRS];
};

void model_ownership(struct model_ownership *all);
/* Fails the test, naming the first difference. */
void model_expect_ownership(const struct model_ownership *before);
/* Bit map of the counters of a CPU that somebody has */
u32 model_owned(unsigned int cpu, enum model_owner owner);
const struct model_ctr *model_ctr(unsigned int cpu, unsigned int hw);

/* The register itself, as machine mode sees it */
u64 model_value(unsigned int cpu, unsigned int hw);
void model_set_value(unsigned int cpu, unsigned int hw, u64 value);
/* The overflow interrupt is pending; which counters' OF is set */
bool model_pending(unsigned int cpu);
u32 model_scountovf(unsigned int cpu);
/* perf's handler: takes notice of its own, lets them go on from @value, and clears it. */
void model_perf_handles(unsigned int cpu, u64 value);
u32 model_scounteren(unsigned int cpu);
void model_set_scounteren(unsigned int cpu, u32 bits);

/* perf: takes a counter, of any event; false where the firmware gives another. */
bool model_perf_take(unsigned int cpu, unsigned int hw, u32 event, u64 data, bool user_only);
/* All that are free */
u32 model_perf_take_all(unsigned int cpu);
void model_perf_give(unsigned int cpu, u32 counters);

/* Fixed counters that are in perf's list, of pinned events of other users, or of the driver */
extern u32 model_perf_pinned[SHIM_CPUS];
extern u32 model_perf_reserved[SHIM_CPUS];
extern bool model_no_perf;	/* the kernel has none for this PMU */

/* What happened, by event and mode */
enum model_kind { KIND_CYCLES, KIND_INSTRUCTIONS, KIND_BRANCHES, KIND_DTLB_READ,
		  KIND_DTLB_WRITE, KIND_ITLB, KIND_STORES, KIND_LOADS, KIND_NR };

struct model_tally {
	u64 nr[KIND_NR][MODEL_MODES];
	u64 time;
};

/* Where what the current CPU executes is noted as well; NULL: nowhere */
extern struct model_tally *model_witness[SHIM_CPUS];
/* Of an event as asked for; fails if there is none such. */
enum model_kind model_kind(u32 event, u64 data);

/* The current CPU executes instructions, and all that comes with them. */
void model_execute(enum model_mode mode, u64 instructions);

/* A hart is switched off and on: the firmware forgets. */
void model_hart_off(unsigned int cpu);
void model_hart_on(unsigned int cpu);
/* It sleeps and loses its registers; the firmware knows of it, or does not. */
void model_hart_sleep(unsigned int cpu, bool firmware_forgets);

#endif /* MODEL_SBI_H */
