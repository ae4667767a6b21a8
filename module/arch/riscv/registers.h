/* SPDX-License-Identifier: GPL-2.0 */
/* RISC-V: which counters exist, and how the counters of a CPU are programmed and run. */
#ifndef PERFCTR_RISCV_REGISTERS_H
#define PERFCTR_RISCV_REGISTERS_H

#include <linux/bits.h>
#include <linux/types.h>
#include <asm/sbi.h>

#include "arch/cpu.h"

#define SBI_EVENT_TYPE(event)	((event) >> 16)
#define SBI_EVENT_CODE(event)	((event) & 0xffff)
#define SBI_TYPE_HW		0
#define SBI_TYPE_CACHE		1
#define SBI_TYPE_FW		15
#define SBI_EVENT_RAW		0x20000
#define SBI_RAW_BITS		48
#define FIXED_MASK	(BIT(PERFCTR_RISCV_CYCLE) | BIT(PERFCTR_RISCV_INSTRET))
#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

/*
 * Constant after perfctr_cpu_init(), except what is known about events, which config_mutex guards.
 */
struct perfctr_pmu {
	bool shuffled;		/* the SBI index of some counter is not its number */
	bool filter;		/* Sscofpmf: programmable counters filter modes */
	bool filter_fixed;	/* Smcntrpmf: fixed counters filter modes */
	u32 fixed_only;		/* fixed counters whose event no other counter counts */
	bool never_chosen;	/* the firmware gives cycle and instret only by number */
	bool interrupt;		/* programmable counters can interrupt */
	bool probed;		/* all events were probed on free counters */
	unsigned long probe_again;	/* earliest time of the next probe, in jiffies */
	unsigned int probes;	/* number of probes so far */
	int event_once;		/* an event can be on only one counter at a time; -1: not known */
	u32 counters;		/* hardware counters that exist */
	u32 programmable;	/* a subset of @counters: programmable counters */
	unsigned int width;	/* width of the narrowest programmable counter, in bits */
	u8 index[PERFCTR_RISCV_MAX];	/* SBI counter_idx of each counter */
	u64 events[2];
};

extern struct perfctr_pmu perfctr_pmu;

/* Calls the firmware's PMU extension. */
struct sbiret perfctr_riscv_call(int fid, unsigned long a0, unsigned long a1,
				 unsigned long a2, unsigned long a3, u64 a4);
/* Converts a mask of counters to the firmware's numbers. */
unsigned long perfctr_riscv_sbi_mask(u32 counters);

/*
 * The functions below work on the counters of this CPU. Interrupts are off.
 */
void perfctr_riscv_stop(u32 counters, unsigned long flags);
/*
 * With SET_INIT_VALUE in @flags, the counters start from @value. Returns 0, 1 if some counters ran
 * already and kept their values, or -EIO.
 */
int perfctr_riscv_start(u32 counters, unsigned long flags, u64 value);
/* Forgets which config the counters satisfy. */
void perfctr_riscv_now_unknown(struct perfctr_riscv_cpu *cpu);
/*
 * Asks the firmware for one of these counters. Returns its number, or -EBUSY. Trusts only the index
 * that the firmware returns.
 */
int perfctr_riscv_match(struct perfctr_riscv_cpu *cpu, u32 counters,
			const struct perfctr_riscv_prog *prog);
/*
 * Asks the firmware for this counter. @free: as far as is known, nobody else has it. Returns 0 or
 * -EBUSY.
 */
int perfctr_riscv_match_one(struct perfctr_riscv_cpu *cpu, unsigned int hw,
			    const struct perfctr_riscv_prog *prog, bool free);
/*
 * Returns the events that are known to exist, and that the firmware never counts on cycle or
 * instret.
 */
u64 perfctr_riscv_events_of_no_fixed(unsigned int type);
/* Returns true if this programmable counter, which is not ours, is free. */
bool perfctr_riscv_is_free(struct perfctr_riscv_cpu *cpu, unsigned int hw);
/* Takes counter @hw and programs it as in @prog. The counter need not run when this returns. */
int perfctr_riscv_take(struct perfctr_riscv_cpu *cpu, unsigned int hw,
		       const struct perfctr_riscv_prog *prog);
/* Gives these counters back, except counters that are not ours. */
void perfctr_riscv_release(struct perfctr_riscv_cpu *cpu, u32 counters);

struct perfctr_riscv_prog perfctr_riscv_event_prog(unsigned int type, unsigned int code);
/* Returns the event that cycle or instret counts. */
unsigned int perfctr_riscv_fixed_event(unsigned int hw);
/* Returns the a-mode counters of a config. */
u32 perfctr_riscv_actrs(const struct perfctr_config *config);

static inline bool perfctr_riscv_prog_equal(const struct perfctr_riscv_prog *a,
					    const struct perfctr_riscv_prog *b)
{
	return a->event == b->event && a->flags == b->flags && a->config == b->config;
}

/* Returns how a checked control wants its counter to be programmed. */
static inline struct perfctr_riscv_prog
perfctr_riscv_ctr_prog(const struct perfctr_ctr_control *ctr)
{
	return (struct perfctr_riscv_prog) {
		.event = ctr->event,
		.flags = ctr->flags,
		.config = ctr->config,
	};
}

#endif /* PERFCTR_RISCV_REGISTERS_H */
