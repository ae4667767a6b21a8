/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A modelled RISC-V machine: harts whose counters advance when a test executes
 * something on them, and a firmware with the SBI PMU extension that behaves as
 * OpenSBI 1.6 was seen to. perf is a second customer of that firmware. Whoever
 * touches a programmable counter of the other fails the test.
 */
#ifndef MODEL_SBI_H
#define MODEL_SBI_H

#include "model.h"
#include "model_perf_events.h"
#include "riscv/shim/asm/csr.h"
#include "riscv/shim/asm/sbi.h"
#include "riscv/shim/linux/of.h"

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

/* For config.c's tests: the first of the counters that count anything */
#define MODEL_ARCH	"riscv"
#define FIRST		MODEL_HPM
/* Each counter counts the modes that it was asked for. */
#define MODEL_ONE_MODE	0
/* What cannot be, whoever asks; and what turns out not to exist */
#define CTR_NEVER	CTR(0, EV_CYCLES, KERNEL)
#define CTR_NEVER_ERROR	(-EOPNOTSUPP)
/* Of two that cannot be had since another has all, the one that is blamed */
#define BUSY_INDEX	0
#define CTR_NONE	CTR_RAW(ANY, RAW_NONE, USER)
/* Of the default machine; and an event of which this one has one counter */
#define MODEL_GENERALS	8
#define CTR_ONLY	CTR(ANY, EV_DTLB_READ, USER)
#define model_only	model_tight

/* perfctr_ctr_control of a raw event */
#define CTR_RAW(m, d, f)	{ .map = (m), .event = EV_RAW, .config = (d), .flags = (f) }

/**
 * struct model_machine - what is built; set it before model_boot()
 * @sbi: there is the PMU extension
 * @sscofpmf: hpmcounters filter by mode
 * @smcntrpmf: cycle and instret do
 * @event_once: an event is counted by the counter that got it first (QEMU)
 * @ignores_mask: CFG_MATCH gives the highest free counter, asked for or not
 * @branches: EV_BRANCHES exists
 * @basic: only cycles and instructions do
 * @board: cycle and instret alone count these, as a board's device tree has it
 * @strict: CFG_MATCH never gives a fixed counter that does not filter (OpenSBI 1.9)
 * @thead: perf believes that counters filter, without Sscofpmf
 * @andes: so it does, and they filter
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
	bool board;
	bool strict;
	bool thead;
	bool andes;
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

/* model_default: Sscofpmf, hpmcounter3..10 of 48 bits. model_tight: 3 and 4, where 3 has the misses */
/* As model_default, with Smcntrpmf */
extern const struct model_machine model_filtering;

/* Without the extension: whether cycle, time and instret can be read, or trap */
extern unsigned char shim_csr_readable[3];

/* SBI calls of the driver since the last reset of these */
#define MODEL_FIDS	5
extern unsigned int model_calls[MODEL_FIDS];

/*
 * Of the driver's calls of a function, @times after the next @after fail with
 * @error and change nothing.
 */
void model_fail(unsigned int fid, unsigned int after, unsigned int times, long error);

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

const struct model_ctr *model_ctr(unsigned int cpu, unsigned int hw);

/* The overflow interrupt is pending; which counters' OF is set */
bool model_pending(unsigned int cpu);
u32 model_scountovf(unsigned int cpu);
/* It is, and somebody else's counter has overflowed, or was started again. */
void model_overflow_of_others(unsigned int cpu, bool overflowed);
/* perf's handler: takes notice of its own, lets them go on from @value, and clears it. */
void model_perf_handles(unsigned int cpu, u64 value);
/* How often it was started from a value that was given */
extern unsigned int model_sets[SHIM_CPUS][MODEL_CTRS];
u32 model_scounteren(unsigned int cpu);
void model_set_scounteren(unsigned int cpu, u32 bits);

/* perf: takes a counter, of any event; false where the firmware gives another. */
bool model_perf_take(unsigned int cpu, unsigned int hw, u32 event, u64 data, bool user_only);

/* Fixed counters that are in perf's list, of pinned events of other users, or of the driver */
extern u32 model_perf_pinned[SHIM_CPUS];
extern u32 model_perf_reserved[SHIM_CPUS];

/* Of an event as asked for; fails if there is none such. */
enum model_kind model_kind(u32 event, u64 data);

#endif /* MODEL_SBI_H */
