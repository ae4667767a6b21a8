/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What counters there are, as data that a family's file fills in, and what the registers
 * of a CPU hold. All that is written at a switch is written by the common code, from these
 * tables and from the image of a config: docs/x86-families.md.
 */
#ifndef PERFCTR_X86_REGISTERS_H
#define PERFCTR_X86_REGISTERS_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/msr.h>

#include "arch/cpu.h"

/**
 * struct perfctr_x86_entry - what a config wants of one control register
 * @msr: the register
 * @slot: its number in struct perfctr_x86_cpu.control
 * @mask: bits that are this config's
 * @value: what they are to be
 */
struct perfctr_x86_entry {
	u32 msr;
	u32 slot;
	u64 mask;
	u64 value;
};

/**
 * struct perfctr_cpu_image - what is written for a config; constant after it is claimed
 * @counters: those whose controls perfctr_cpu_load() writes: without a global control
 *	the i-mode counters' follow in perfctr_cpu_istart()
 * @at_load: how many entries that are
 * @nr: how many there are
 * @entry: in the order in which they are written
 */
struct perfctr_cpu_image {
	u32 counters;
	u16 at_load;
	u16 nr;
	struct perfctr_x86_entry entry[];
};

/* What one counter needs at most: a P4's has two. */
#define PERFCTR_X86_ENTRIES	2

/* Another entry, or, if this part of the image has one of the same register, more of that */
void perfctr_x86_image_add(struct perfctr_cpu_image *image, u32 slot, u64 mask, u64 value);

/**
 * struct perfctr_x86_known - an event that a loop of known length causes: see trial.c
 * @event: as a control has it; the last one is all zero
 * @per_turn: so many in each turn of perfctr_x86_spin(); 0: some in many turns
 * @bit: its bit in perfctr_pmu.events, if it has one
 * @config: as a control has it
 * @counters: those that can count it, as a bit map; 0: all general ones, as the family's events are
 */
struct perfctr_x86_known {
	u64 event;
	u8 per_turn;
	u32 bit;
	u64 config;
	u32 counters;
};

/**
 * struct perfctr_x86_family - what a family has to say of a control, and of its own
 *	processors. None of it is called at a switch
 * @core: of the CPU where it is called, which comes, if not all CPUs are alike: see struct
 *	perfctr_x86_cpu. PERFCTR_X86_NO_CORE: it has not all that the others have, or
 *	nothing of its own
 * @cpu_type: PERFCTR_X86_*, as INFO says it
 * @check: finds those of perfctr_pmu.counters that can count this, whichever it asks for.
 *	0, or EINVAL or EOPNOTSUPP if there is none, with why->reason
 * @place: as perfctr_x86_place(), where a counter's event leaves others less choice than that
 *	knows of; NULL: it never does
 * @name: what was asked, as it is asked of counter @hw
 * @compile: add to the image what a control that was checked wants of counter @hw
 * @counts: the MSR by which something counts on this CPU, with its *value; 0: nothing does. It
 *	is neither we nor perf, which has given back what it had
 * @clear_unused: zero what else this CPU has of counters than perfctr_pmu.counters, and
 *	RDPMC reads; NULL: there can be no more
 * @known: events by which it is tried whether counters count: each general one that none of them
 *	is for is not tried
 */
struct perfctr_x86_family {
	u32 (*core)(void);
	u32 (*cpu_type)(void);
	int (*check)(const struct perfctr_ctr_control *ctr, u32 *counters,
		     struct perfctr_refusal *why);
	unsigned int (*place)(const struct perfctr_ctr_control *ctr, const u32 *can,
			      unsigned int nr, u8 *hw);
	void (*name)(struct perfctr_ctr_control *ctr, u32 hw);
	void (*compile)(const struct perfctr_ctr_control *ctr, u32 hw,
			struct perfctr_cpu_image *image);
	u32 (*counts)(u64 *value);
	void (*clear_unused)(void);
	const struct perfctr_x86_known *known;
};

/**
 * struct perfctr_x86_ctr - one counter
 * @msr: its register, to be zeroed
 * @start_msr: the one by which it gets a value to start from, of
 * @start_mask: so many bits; if they are not all that it has, their sign is extended
 * @slot: its control register, of which
 * @stop: these bits let it count: without them it stands still and does not interrupt
 * @enable: this bit must be set for it to count, if it has one of its own
 */
struct perfctr_x86_ctr {
	u32 msr;
	u32 start_msr;
	u64 start_mask;
	u32 slot;
	u64 stop;
	u64 enable;
};

/**
 * struct perfctr_x86_control - one control register
 * @msr: it
 * @idle: what it holds while it is ours and no counter has been loaded
 * @changes: bits that the processor itself sets
 * @unused: its counters do not count, so it is never written
 */
struct perfctr_x86_control {
	u32 msr;
	u64 idle;
	u64 changes;
	bool unused;
};

/**
 * struct perfctr_pmu - what counters there are; constant after init, but for what is found not to
 *	count before the first claim: see perfctr_x86_drop()
 * @family: whose they are; NULL: there are none, and all but @none is zero
 * @none: PERFCTR_NO_COUNTERS_*
 * @counters: all of them, as a bit map
 * @dropped: others that there are, as a bit map: see perfctr_x86_drop(). Whoever has them, as
 *	microcode may, sets their bits of @global_ctrl
 * @general: those that count more than one event
 * @width: bits of the narrowest of them
 * @irange: the most that one can be from its interrupt
 * @ctr: each of @counters
 * @control: the control registers
 * @nr_controls: how many there are
 * @nr_reserved: of so many, the first ones, who has the counter reserves it, and
 * @nr_controls_reserved: of so many the control register
 * @interrupts: they interrupt
 * @modeless: they count all modes together, and none of them alone
 * @never_stop: those that count something whatever is written, as a bit map
 * @rate_shift: they count up to 2^rate_shift in a second; 0: it is not known
 * @least_period: of i-mode counters
 * @unknown_model: only architectural events are counted, as others may be anything
 * @hybrid: CPUs are of several types; all here is what each of them has
 * @events: INFO's word for the architectural events that there are
 * @event_bits: what a control's event may consist of, but for what the rest says as well
 * @sample: two values of the control register of the last of @general, which count in user mode
 *
 * How all stop or go at once, by one register, if they do:
 * @global_ctrl: the MSR that has a bit for each counter, those from PERFCTR_X86_FIXED on
 *	from bit 32; 0: there is none
 * @global_always: what else is set in it as long as it is ours
 * @together: or the bit in control register 0 that all need; 0: there is none
 * @reloaded: perf writes @global_ctrl as KVM comes and goes, also while the counters are ours:
 *	see virt.c
 *
 * Where a counter can wait until another one overflows:
 * @cascade: these bits of its event, and of its control register, let it wait
 * @started: without this one, which the processor sets then
 *
 * Where an interrupt says which counter it was:
 * @global_status: the MSR that says so, with the bits of @global_ctrl; 0: there is none
 * @global_ack: the MSR to which these are written to be cleared
 * @overflow: or the bit of each counter's own control register; 0: there is none
 *
 * Where an overflow may stop all counters at once:
 * @freeze_msr: the MSR that makes it so, by
 * @freeze: this bit; 0: there is none
 * @frozen: what says in @global_status that it did; 0: @global_ctrl is zeroed
 *
 * Where a trace of perf's interrupts as counters do:
 * @trace: what says so in @global_status; 0: there is none
 * @trace_msr: the MSR that says, by
 * @trace_on: this bit, that it runs
 *
 * Where there is TopDown, see topdown.c:
 * @slots: PERFCTR_X86_SLOTS, as a bit map; 0: there is none
 * @nr_metrics: so many metrics
 */
struct perfctr_pmu {
	const struct perfctr_x86_family *family;
	u32 none;
	u32 counters;
	u32 dropped;
	u32 general;
	unsigned int width;
	u64 irange;
	struct perfctr_x86_ctr ctr[PERFCTR_X86_MAX];
	struct perfctr_x86_control control[PERFCTR_X86_CONTROLS];
	unsigned int nr_controls;
	unsigned int nr_reserved;
	unsigned int nr_controls_reserved;
	bool interrupts;
	bool modeless;
	u32 never_stop;
	unsigned int rate_shift;
	bool unknown_model;
	u32 least_period;
	bool hybrid;
	u32 events;
	u64 event_bits;
	u64 sample[2];
	u32 global_ctrl;
	u64 global_always;
	u64 together;
	bool reloaded;
	u64 cascade;
	u64 started;
	u32 global_status;
	u32 global_ack;
	u64 overflow;
	u32 freeze_msr;
	u64 freeze;
	u64 frozen;
	u64 trace;
	u32 trace_msr;
	u64 trace_on;
	u32 slots;
	unsigned int nr_metrics;
};

extern struct perfctr_pmu perfctr_pmu;

static inline void write_msr(u32 msr, u64 value)
{
	wrmsr(msr, lower_32_bits(value), upper_32_bits(value));
}

static inline u64 read_msr(u32 msr)
{
	u32 low, high;

	rdmsr(msr, low, high);
	return (u64)high << 32 | low;
}

/* Of counters by number, in the global control */
static inline u64 global_bits_alone(u32 counters)
{
	return (counters & GENMASK(PERFCTR_X86_FIXED - 1, 0)) |
	       (u64)(counters >> PERFCTR_X86_FIXED) << 32;
}

/* With what is always set there */
static inline u64 global_bits(u32 counters)
{
	return global_bits_alone(counters) | perfctr_pmu.global_always;
}

/* The same, written, in fewer instructions */
static inline void write_global(u32 counters)
{
	wrmsr(perfctr_pmu.global_ctrl, counters & GENMASK(PERFCTR_X86_FIXED - 1, 0),
	      counters >> PERFCTR_X86_FIXED | upper_32_bits(perfctr_pmu.global_always));
}

/* Nothing stops them all: they count whenever their own controls say so. */
static inline bool perfctr_x86_run_always(void)
{
	return !perfctr_pmu.global_ctrl && !perfctr_pmu.together;
}

/* No state may be resumed here without perfctr_cpu_load(). */
static __always_inline void perfctr_x86_belong_to_nobody(struct perfctr_x86_cpu *cpu)
{
	cpu->active = 0;
	cpu->private_kin = 0;
	cpu->private_mm = 0;
}

/* Configs of @core may be loaded on that CPU, where none is loaded now; of NO_CORE none is. */
static inline void perfctr_x86_set_core(struct perfctr_x86_cpu *cpu, u32 core)
{
	WRITE_ONCE(cpu->core, core);
	cpu->load_core = core;
}

/* At init: there is no RDPMC, and perfctr_x86_rdpmc[] has the MSRs. Nobody reads in user mode. */
void perfctr_x86_read_by_rdmsr(void);
/* At init: there is no time-stamp counter, or it cannot be used. */
void perfctr_x86_use_kernels_clock(void);

/* All below are called with interrupts off, on the CPU that is theirs. */

/* Nothing counts, all are zero, but they stay ours. */
void perfctr_x86_rest(void);
/* Zero those that are past half of their range. */
void perfctr_x86_age(void);
/*
 * In the interrupt, with no counter of ours that could come to zero meanwhile: those
 * that did may interrupt again.
 */
void perfctr_x86_acknowledge(void);
/* Does this counter wait until another one overflows? */
static inline bool perfctr_x86_waits(const struct perfctr_ctr_control *ctr)
{
	return ctr->event & perfctr_pmu.cascade && !(ctr->event & perfctr_pmu.started);
}

/* Those of the config that wait, or have started since the state's control, and all others */
void perfctr_x86_resume_waiting(const struct perfctr_config *config,
				struct perfctr_cpu_state *state);
void perfctr_x86_suspend_waiting(const struct perfctr_config *config,
				 struct perfctr_cpu_state *state);
/* A trace has something for perf. */
bool perfctr_x86_trace_waits(void);
/*
 * In an NMI, after perf's handler: what runs is what we let run. And if something was
 * @handed to perf, what it did not want is forgotten.
 */
void perfctr_x86_mend(bool handed);

#endif /* PERFCTR_X86_REGISTERS_H */
