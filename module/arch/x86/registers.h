/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters that there are, as data that a family's file fills in, and what the registers of a
 * CPU hold. At a switch only the common code writes registers, from these tables and from the image
 * of a config: docs/x86-families.md.
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
 * @reg: its number in struct perfctr_x86_cpu.control
 * @mask: the bits that belong to this config
 * @value: the value of these bits
 */
struct perfctr_x86_entry {
	u32 msr;
	u32 reg;
	u64 mask;
	u64 value;
};

/**
 * struct perfctr_cpu_image - what is written for a config; constant after it is claimed
 * @counters: counters whose controls perfctr_cpu_load() writes. Without a global control
 *	perfctr_cpu_istart() writes those of the i-mode counters
 * @at_load: number of entries that perfctr_cpu_load() writes
 * @nr: number of entries
 * @entry: in the order in which they are written
 */
struct perfctr_cpu_image {
	u32 counters;
	u16 at_load;
	u16 nr;
	struct perfctr_x86_entry entry[];
};

/* The most entries that one counter needs: a P4's has two. */
#define PERFCTR_X86_ENTRIES	2

/* Adds an entry. If this part of the image has one for the same register, extends that. */
void perfctr_x86_image_add(struct perfctr_cpu_image *image, u32 reg, u64 mask, u64 value);

/**
 * struct perfctr_x86_known - an event that a loop of known length causes: see trial.c
 * @event: as in a control; the last one is all zero
 * @per_turn: number of events in each turn of perfctr_x86_spin(); 0: some in many turns
 * @bit: its bit in perfctr_pmu.events, if it has one
 * @config: as in a control
 * @counters: counters that can count it, as a bit map; 0: all general ones, as for the family's
 *	events
 */
struct perfctr_x86_known {
	u64 event;
	u8 per_turn;
	u32 bit;
	u64 config;
	u32 counters;
};

/**
 * struct perfctr_x86_family - how a family checks controls and describes its processors. No switch
 * calls any of it
 * @core: the core type of this CPU, which is coming up, if not all CPUs are alike: see struct
 *	perfctr_x86_cpu. PERFCTR_X86_NO_CORE: it lacks something that the others have, or has no
 *	counters of its own
 * @cpu_type: PERFCTR_X86_*, for INFO
 * @check: finds those of perfctr_pmu.counters that can count this, whichever it asks for. Returns
 *	0, or EINVAL or EOPNOTSUPP with why->reason if there is none
 * @place: like perfctr_x86_place(), for families where one counter's event leaves others fewer
 *	choices than
 * @can says; NULL: this never happens
 * @name: changes what was asked to what would be asked of counter @hw
 * @compile: adds to the image what a checked control wants of counter @hw
 * @counts: the MSR by which something counts on this CPU, with its *value; 0: nothing does. It is
 *	neither we nor perf, which has given its counters back
 * @clear_unused: zeroes counters of this CPU that are not in perfctr_pmu.counters, but that RDPMC
 *	reads; NULL: there are none
 * @known: events that try whether counters count: a general counter that can count none of them is
 *	not tried
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
 * @msr: its register, used to zero it
 * @start_msr: the register that sets its start value
 * @start_mask: the bits that @start_msr takes; if the counter has more, their sign is extended
 * @reg: the number of its control register in struct perfctr_x86_cpu.control
 * @stop: without these bits of its control it stands still and does not interrupt
 * @enable: the bit that lets it count, if it has one of its own
 */
struct perfctr_x86_ctr {
	u32 msr;
	u32 start_msr;
	u64 start_mask;
	u32 reg;
	u64 stop;
	u64 enable;
};

/**
 * struct perfctr_x86_control - one control register
 * @msr: its number
 * @idle: its value while it is ours and no counter has been loaded
 * @changes: bits that the processor itself sets
 * @unused: its counters do not count, so we never write it
 */
struct perfctr_x86_control {
	u32 msr;
	u64 idle;
	u64 changes;
	bool unused;
};

/**
 * struct perfctr_pmu - the counters of this processor; constant after init, except for counters
 * that turn out not to count before the first claim: see perfctr_x86_drop()
 * @family: the processor's family; NULL: there are no counters, and all but @none is zero
 * @none: PERFCTR_NO_COUNTERS_*
 * @counters: all of them, as a bit map
 * @dropped: counters that exist but are not used, as a bit map: see perfctr_x86_drop(). Whoever has
 *	them, as microcode may, sets their bits of @global_ctrl
 * @general: counters that count more than one event
 * @width: bits of the narrowest counter
 * @irange: the most events that a counter can count before its interrupt
 * @ctr: each of @counters
 * @control: the control registers
 * @nr_controls: number of control registers
 * @nr_reserved: number of counters that are reserved, from the first on
 * @nr_controls_reserved: the same for control registers
 * @interrupts: the counters interrupt
 * @modeless: they count all modes together, and cannot count a single one
 * @never_stop: counters that count something whatever is written, as a bit map
 * @rate_shift: they count at most 2^rate_shift events per second; 0: not known
 * @least_period: least period of i-mode counters
 * @unknown_model: only architectural events are counted, because others may mean anything
 * @hybrid: CPUs are of several types; this structure says what all of them have
 * @events: the architectural events that exist, for INFO
 * @event_bits: bits that a control's event may have, beside those that the rest determines too
 * @sample: two values of the control register of the last of @general, which count in user mode
 *
 * Where one register stops and starts all counters:
 * @global_ctrl: the MSR that has a bit for each counter; fixed counters, from PERFCTR_X86_FIXED on,
 *	have bits 32 and up. 0: none
 * @global_always: other bits that are set in it while it is ours
 * @together: instead, the bit in control register 0 that all counters need; 0: none
 * @reloaded: perf writes @global_ctrl as KVM comes and goes, even while the counters are ours: see
 *	virt.c
 *
 * Where a counter can wait until another one overflows:
 * @cascade: bits of its event, and of its control register, that make it wait
 * @started: the bit that the processor sets when it starts, which is clear before
 *
 * Where an interrupt says which counter caused it:
 * @global_status: the MSR that says so, with the bits of @global_ctrl; 0: none
 * @global_ack: the MSR that clears the bits that are written to it
 * @overflow: instead, the bit in each counter's own control register; 0: none
 *
 * Where an overflow may stop all counters at once:
 * @freeze_msr: the MSR that enables this
 * @freeze: its bit; 0: none
 * @frozen: the bit of @global_status that says that it happened; 0: @global_ctrl is zeroed
 *
 * Where a trace of perf's interrupts as counters do:
 * @trace: the bit of @global_status that says so; 0: none
 * @trace_msr: the MSR that says whether it runs
 * @trace_on: its bit
 *
 * Where there is TopDown, see topdown.c:
 * @slots: PERFCTR_X86_SLOTS, as a bit map; 0: no TopDown
 * @nr_metrics: number of metrics
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

/* Bits of these counters in the global control */
static inline u64 global_bits_alone(u32 counters)
{
	return (counters & GENMASK(PERFCTR_X86_FIXED - 1, 0)) |
	       (u64)(counters >> PERFCTR_X86_FIXED) << 32;
}

/* The same, with the bits that are always set */
static inline u64 global_bits(u32 counters)
{
	return global_bits_alone(counters) | perfctr_pmu.global_always;
}

/* Writes global_bits(), in fewer instructions. */
static inline void write_global(u32 counters)
{
	wrmsr(perfctr_pmu.global_ctrl, counters & GENMASK(PERFCTR_X86_FIXED - 1, 0),
	      counters >> PERFCTR_X86_FIXED | upper_32_bits(perfctr_pmu.global_always));
}

/* Nothing stops all counters: they count whenever their own controls say so. */
static inline bool perfctr_x86_run_always(void)
{
	return !perfctr_pmu.global_ctrl && !perfctr_pmu.together;
}

/* From now on no state may be resumed here without perfctr_cpu_load(). */
static __always_inline void perfctr_x86_belong_to_nobody(struct perfctr_x86_cpu *cpu)
{
	cpu->active = 0;
	cpu->private_kin = 0;
	cpu->private_mm = 0;
}

/* Configs of @core may be loaded on that CPU, where none is loaded now. No config has NO_CORE. */
static inline void perfctr_x86_set_core(struct perfctr_x86_cpu *cpu, u32 core)
{
	WRITE_ONCE(cpu->core, core);
	cpu->load_core = core;
}

/*
 * Call at init: there is no RDPMC, and perfctr_x86_rdpmc[] has the MSRs. Nobody reads in user mode.
 */
void perfctr_x86_read_by_rdmsr(void);
/* Call at init: there is no usable time-stamp counter. */
void perfctr_x86_use_kernels_clock(void);

/* Call the functions below on the CPU that they act on, with interrupts off. */

/* Stops and zeroes all counters, but keeps them. */
void perfctr_x86_rest(void);
/* Zeroes counters that are past half of their range. */
void perfctr_x86_age(void);
/*
 * Call in the interrupt, while no counter of ours can reach zero. Counters that have reached it can
 * then interrupt again.
 */
void perfctr_x86_acknowledge(void);
/* Does this counter wait until another one overflows? */
static inline bool perfctr_x86_waits(const struct perfctr_ctr_control *ctr)
{
	return ctr->event & perfctr_pmu.cascade && !(ctr->event & perfctr_pmu.started);
}

/*
 * Resume and suspend a config with counters that wait, or have started since the state's control,
 * and all its other counters.
 */
void perfctr_x86_resume_waiting(const struct perfctr_config *config,
				struct perfctr_cpu_state *state);
void perfctr_x86_suspend_waiting(const struct perfctr_config *config,
				 struct perfctr_cpu_state *state);
/* Has a trace something for perf? */
bool perfctr_x86_trace_waits(void);
/*
 * Call in an NMI, after perf's handler: makes exactly those counters run that we let run. @handed:
 * the NMI was passed to perf; drops what perf did not take.
 */
void perfctr_x86_mend(bool handed);

#endif /* PERFCTR_X86_REGISTERS_H */
