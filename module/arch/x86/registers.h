/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Describes the counters of this processor, and says what the registers of a CPU hold. The file of
 * the processor's family fills in the description. At a switch no code of a family runs. The common
 * code writes the registers from this description and from the image of a config: see
 * docs/x86-families.md.
 */
#ifndef PERFCTR_X86_REGISTERS_H
#define PERFCTR_X86_REGISTERS_H

#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/msr.h>

#include "arch/cpu.h"

/**
 * struct perfctr_x86_entry - the value that a config needs in one control register
 * @msr: the MSR of the register
 * @reg: its number in struct perfctr_x86_cpu.control
 * @mask: the bits that this config sets
 * @value: the value of these bits
 */
struct perfctr_x86_entry {
	u32 msr;
	u32 reg;
	u64 mask;
	u64 value;
};

/**
 * struct perfctr_cpu_image - the values of control registers for a config; constant after its claim
 * @counters: counters whose control registers perfctr_cpu_load() writes. Without a global control,
 *	perfctr_cpu_istart() writes the registers of the i-mode counters
 * @at_load: number of entries that perfctr_cpu_load() writes
 * @nr: number of entries
 * @entry: the entries, in the order in which they are written
 */
struct perfctr_cpu_image {
	u32 counters;
	u16 at_load;
	u16 nr;
	struct perfctr_x86_entry entry[];
};

/* The most entries that one counter needs. A counter of the Pentium 4 needs two. */
#define PERFCTR_X86_ENTRIES	2

/*
 * Adds an entry to the end of the image. If an entry from image->at_load on is for the same
 * register, extends that entry instead.
 */
void perfctr_x86_image_add(struct perfctr_cpu_image *image, u32 reg, u64 mask, u64 value);

/**
 * struct perfctr_x86_known - an event that the loop of a trial causes: see trial.c
 * @event: event of a control. The last entry of a table is all zero
 * @per_turn: number of events in each turn of perfctr_x86_spin(). 0: the number is not known, but
 *	many turns cause some
 * @bit: the event's bit in perfctr_pmu.events, or 0
 * @config: config of a control
 * @counters: counters that can count the event, as a bit map. 0: all of perfctr_pmu.general
 */
struct perfctr_x86_known {
	u64 event;
	u8 per_turn;
	u32 bit;
	u64 config;
	u32 counters;
};

/**
 * struct perfctr_x86_family - how a family checks controls and describes its processors. No
 * function of it is called at a switch
 * @core: returns the core type of this CPU, which is coming up: see struct perfctr_x86_cpu. Returns
 *	PERFCTR_X86_NO_CORE if this CPU lacks something that the others have, or has no counters of
 *	its own. Needed only if the CPUs differ
 * @cpu_type: returns PERFCTR_X86_*, for INFO
 * @check: sets *counters to those of perfctr_pmu.counters that can count the event, whichever
 *	counter the control asks for. Returns 0, or -EINVAL or -EOPNOTSUPP with why->reason
 * @place: does what perfctr_x86_place() does. A family needs this if the event of one counter can
 *	take away choices of other counters. NULL: perfctr_x86_place() is enough
 * @name: changes the control to one that asks for counter @hw by name
 * @compile: adds to the image what a checked control needs on counter @hw
 * @counts: returns an MSR by which something counts on this CPU, with the MSR's value in *value, or
 *	0 if nothing counts. Called while neither perf nor this module counts
 * @clear_unused: zeroes counters of this CPU that RDPMC reads although they are not in
 *	perfctr_pmu.counters. NULL: there are no such counters
 * @beside: returns true if, on this processor, perf does not touch counters of placeholders: see
 *	beside.c. NULL: it was not tried
 * @placeholder: returns an event select of perf's that the counter with this number of perf's can
 *	count. Needed only with @beside
 * @perf_fixed: returns perf's number of the fixed counter for an event select of perf's, or -1.
 *	Sets *only if no other counter can count it. NULL: there are no fixed counters
 * @known: events for the trial of counters. A general counter that can count none of them is not
 *	tried
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
	bool (*beside)(void);
	u64 (*placeholder)(unsigned int idx);
	int (*perf_fixed)(u64 select, bool *only);
	const struct perfctr_x86_known *known;
};

/**
 * struct perfctr_x86_ctr - one counter
 * @msr: the counter's register, used to zero the counter
 * @start_msr: the register that sets the counter's start value
 * @start_mask: the bits that @start_msr takes. If the counter has more bits, it extends the sign
 * @reg: the number of its control register in struct perfctr_x86_cpu.control
 * @stop: while these bits of its control are zero, the counter stands still and does not interrupt
 * @enable: the bit of its control that enables this counter alone, or 0
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
 * @msr: the MSR of the register
 * @idle: value of the register after we have taken it and before a config is loaded
 * @changes: bits that the processor itself sets
 * @unused: we never write the register, because none of its counters counts
 */
struct perfctr_x86_control {
	u32 msr;
	u64 idle;
	u64 changes;
	bool unused;
};

/*
 * In the global control, this bit lets TopDown's metrics run whenever SLOTS runs. In the global
 * status, it says that the metrics have overflowed.
 */
#define PERFCTR_X86_GLOBAL_METRICS	BIT_ULL(48)

/**
 * struct perfctr_pmu - the counters of this processor. Constant after init, but
 * perfctr_x86_drop() removes counters that turn out not to count, before any config uses them
 * @family: the processor's family. NULL: there are no counters, and all members but @none are zero
 * @none: why there are no counters, PERFCTR_NO_COUNTERS_*
 * @counters: all counters, as a bit map
 * @dropped: counters that exist but are not used, as a bit map: see perfctr_x86_drop(). Microcode
 *	may use them, and then sets their bits of @global_ctrl
 * @general: counters that can count different events
 * @width: bits of the narrowest counter
 * @irange: the most events that a counter can count before its interrupt
 * @ctr: description of each of @counters
 * @control: description of each control register
 * @nr_controls: number of control registers
 * @fixed_control: the control register that the fixed counters share
 * @nr_reserved: number of counters to reserve from perf, beginning with the first
 * @nr_controls_reserved: number of control registers to reserve from perf
 * @interrupts: the counters interrupt
 * @modeless: the counters count all modes together, and cannot count a single mode
 * @never_stop: counters that cannot be stopped by any write, as a bit map
 * @rate_shift: a counter counts at most 2^rate_shift events per second. 0: not known
 * @least_period: least period of i-mode counters
 * @unknown_model: the model is unknown, so only architectural events are counted
 * @beside: we count beside perf, by counters that we hold: see beside.c. There is no @global_ctrl
 *	then, and @general also has counters that are perf's
 * @stop_before_perf: beside perf, the MSR that stops all counters before perf's handler of NMIs.
 *	0: none has to be stopped
 * @hybrid: CPUs are of several types, and this structure says what all of them have
 * @events: the architectural events that exist, for INFO
 * @event_bits: bits that a control's event may have, beside bits that follow from its other members
 * @sample: two values for the control register of the last of @general, for measurements. They
 *	count in user mode
 *
 * If one register stops and starts all counters:
 * @global_ctrl: the MSR that has a bit for each counter; fixed counters, from PERFCTR_X86_FIXED on,
 *	have bits 32 and up. 0: there is none
 * @global_always: other bits that are set in @global_ctrl while we have the counters
 * @together: the bit in control register 0 without which no counter counts, if there is no
 *	@global_ctrl. 0: there is none
 * @reloaded: perf writes @global_ctrl as KVM comes and goes, even while we have the counters: see
 *	virt.c
 *
 * If a counter can wait until another one overflows:
 * @cascade: bits of a control's event, and of the control register, that make the counter wait
 * @started: the bit of the control register that the processor sets when the counter starts
 *
 * If the processor says which counter has overflowed:
 * @global_status: the MSR that says so, with the same bits as @global_ctrl. 0: there is none
 * @global_ack: the MSR that clears the bits that are written to it
 * @overflow: the bit of each counter's own control register that says so, if there is no
 *	@global_status. 0: there is none
 *
 * If an overflow can stop all counters at once:
 * @freeze_msr: the MSR that enables this freeze
 * @freeze: the bit of @freeze_msr. 0: there is no freeze
 * @frozen: the bit of @global_status that says that counters are frozen. 0: a freeze zeroes
 *	@global_ctrl instead
 *
 * If a trace of perf's uses the same interrupt as the counters:
 * @trace: the bit of @global_status that says that the trace interrupts. 0: there is no such trace
 * @trace_msr: the MSR that says whether the trace runs
 * @trace_on: the bit of @trace_msr that says so
 *
 * If there is TopDown, see topdown.c:
 * @slots: PERFCTR_X86_SLOTS, as a bit map. 0: there is no TopDown
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
	u32 fixed_control;
	unsigned int nr_reserved;
	unsigned int nr_controls_reserved;
	bool interrupts;
	bool modeless;
	u32 never_stop;
	unsigned int rate_shift;
	bool unknown_model;
	u32 least_period;
	bool beside;
	u32 stop_before_perf;
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

/* Returns the bits of these counters in the global control. */
static inline u64 global_bits_alone(u32 counters)
{
	return (counters & GENMASK(PERFCTR_X86_FIXED - 1, 0)) |
	       (u64)(counters >> PERFCTR_X86_FIXED) << 32;
}

/* Returns the bits of these counters and the bits that are always set. */
static inline u64 global_bits(u32 counters)
{
	return global_bits_alone(counters) | perfctr_pmu.global_always;
}

/* Writes global_bits(counters) to the global control, in fewer instructions. */
static inline void write_global(u32 counters)
{
	wrmsr(perfctr_pmu.global_ctrl, counters & GENMASK(PERFCTR_X86_FIXED - 1, 0),
	      counters >> PERFCTR_X86_FIXED | upper_32_bits(perfctr_pmu.global_always));
}

/*
 * Returns true if no register can stop all counters. They count whenever their own controls say so.
 */
static inline bool perfctr_x86_run_always(void)
{
	return !perfctr_pmu.global_ctrl && !perfctr_pmu.together;
}

/* After this call, no state may be resumed on that CPU before perfctr_cpu_load(). */
static __always_inline void perfctr_x86_belong_to_nobody(struct perfctr_x86_cpu *cpu)
{
	cpu->active = 0;
	cpu->private_kin = 0;
	cpu->private_mm = 0;
}

/*
 * Sets the type of a CPU. Afterwards only configs of this type may be loaded there. No config is of
 * type PERFCTR_X86_NO_CORE. Call this while no config is loaded on the CPU.
 */
static inline void perfctr_x86_set_core(struct perfctr_x86_cpu *cpu, u32 core)
{
	WRITE_ONCE(cpu->core, core);
	cpu->load_core = core;
}

/*
 * Call at init if there is no RDPMC. perfctr_x86_rdpmc[] then has the MSRs of the counters, and
 * user mode cannot read them.
 */
void perfctr_x86_read_by_rdmsr(void);
/* Call at init if there is no usable time-stamp counter. */
void perfctr_x86_use_kernels_clock(void);

/* Call the functions below on the CPU that they act on, with interrupts off. */

/*
 * Beside perf, restores the controls of our fixed counters after perf may have written the register
 * that all fixed counters share. May be called in an NMI.
 */
void perfctr_x86_restore_fixed(void);
/*
 * Returns the bits of this control register that belong to these counters beside perf. Otherwise
 * all bits are ours.
 */
u64 perfctr_x86_bits_of(u32 counters, u32 reg);
/* Stops and zeroes all counters, but does not give them back. */
void perfctr_x86_rest(void);
/* Zeroes counters that are past half of their range. */
void perfctr_x86_age(void);
/*
 * Acknowledges all overflows, so that these counters can interrupt again. Call it in the interrupt,
 * while none of our counters can overflow.
 */
void perfctr_x86_acknowledge(void);
/*
 * Beside perf, in an NMI, before perf's handler or after it: returns true if an i-mode counter has
 * overflowed, and acknowledges the overflow, so that perf does not see it.
 */
bool perfctr_x86_take_overflows(bool before_perf);
/* Returns true if this counter is to wait until another one overflows. */
static inline bool perfctr_x86_waits(const struct perfctr_ctr_control *ctr)
{
	return ctr->event & perfctr_pmu.cascade && !(ctr->event & perfctr_pmu.started);
}

/*
 * These two functions resume and suspend all counters of a state whose config has counters that
 * wait. Such a counter may have started meanwhile.
 */
void perfctr_x86_resume_waiting(const struct perfctr_config *config,
				struct perfctr_cpu_state *state);
void perfctr_x86_suspend_waiting(const struct perfctr_config *config,
				 struct perfctr_cpu_state *state);
/* Returns true if the trace has raised an interrupt that perf must handle. */
bool perfctr_x86_trace_waits(void);
/*
 * Makes exactly the counters in perfctr_x86_cpu.running run again. Call it in an NMI after perf's
 * handler. If @handed is true, the NMI was passed to perf, and a trace interrupt that perf has not
 * acknowledged is dropped.
 */
void perfctr_x86_mend(bool handed);

#endif /* PERFCTR_X86_REGISTERS_H */
