/* SPDX-License-Identifier: GPL-2.0 */
/* RISC-V: what counters there are, and what those of a CPU do. */
#ifndef PERFCTR_RISCV_REGISTERS_H
#define PERFCTR_RISCV_REGISTERS_H

#include <linux/bits.h>
#include <linux/types.h>
#include <asm/sbi.h>

#include "lowlevel.h"

#define SBI_EVENT_TYPE(event)	((event) >> 16)
#define SBI_EVENT_CODE(event)	((event) & 0xffff)
#define SBI_TYPE_HW		0
#define SBI_TYPE_CACHE		1
#define SBI_TYPE_FW		15
#define SBI_EVENT_RAW		0x20000
#define SBI_RAW_BITS		48
#define FIXED_MASK	(BIT(PERFCTR_RISCV_CYCLE) | BIT(PERFCTR_RISCV_INSTRET))
#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

/* Constant after perfctr_cpu_init(), but for what is learnt of events, under config_mutex. */
struct perfctr_pmu {
	bool shuffled;		/* some counter's SBI index is not its number */
	bool filter;		/* Sscofpmf */
	bool filter_fixed;	/* Smcntrpmf */
	bool interrupt;		/* programmable counters interrupt */
	bool probed;		/* no counter was in others' hands when events were probed */
	unsigned long probe_again;	/* jiffies before which that is not repeated */
	int event_once;		/* one counter alone counts an event; -1 not known */
	u32 counters;		/* hardware counters that exist */
	u32 programmable;	/* those of them that are hpmcounters */
	unsigned int width;	/* bits of the narrowest programmable counter */
	u8 index[PERFCTR_RISCV_MAX];	/* their SBI counter_idx */
	u64 events[2];
};

extern struct perfctr_pmu perfctr_pmu;

/* A call of the firmware's PMU extension */
struct sbiret perfctr_riscv_call(int fid, unsigned long a0, unsigned long a1,
				 unsigned long a2, unsigned long a3, u64 a4);
/* Counters by number, as the firmware numbers them */
unsigned long perfctr_riscv_sbi_mask(u32 counters);

/*
 * What follows is about the counters of this CPU. Interrupts are off.
 */
void perfctr_riscv_stop(u32 counters, unsigned long flags);
/*
 * With SET_INIT_VALUE in @flags, from @value on. 0; 1: some ran already, which leaves
 * their value; EIO.
 */
int perfctr_riscv_start(u32 counters, unsigned long flags, u64 value);
/* They are no longer all as any config wants them. */
void perfctr_riscv_now_unknown(struct perfctr_riscv_cpu *cpu);
/* Ask for one of these counters, and believe only the index that comes back: EBUSY. */
int perfctr_riscv_match(struct perfctr_riscv_cpu *cpu, u32 counters,
			const struct perfctr_riscv_prog *prog);
/* One certain counter. @free: it is known to be in nobody's hands. */
int perfctr_riscv_match_one(struct perfctr_riscv_cpu *cpu, unsigned int hw,
			    const struct perfctr_riscv_prog *prog, bool free);
/* Can this programmable counter, which is not ours, be had for anything? */
bool perfctr_riscv_is_free(struct perfctr_riscv_cpu *cpu, unsigned int hw);
/* Counter hw is to count prog; it need not run yet. */
int perfctr_riscv_take(struct perfctr_riscv_cpu *cpu, unsigned int hw,
		       const struct perfctr_riscv_prog *prog);
/* Give them back, if they are ours. */
void perfctr_riscv_release(struct perfctr_riscv_cpu *cpu, u32 counters);

struct perfctr_riscv_prog perfctr_riscv_ctr_prog(const struct perfctr_ctr_control *ctr);
struct perfctr_riscv_prog perfctr_riscv_event_prog(unsigned int type, unsigned int code);
/* That of cycle, or of instret */
unsigned int perfctr_riscv_fixed_event(unsigned int hw);
/* Those that are no i-mode counters */
u32 perfctr_riscv_actrs(const struct perfctr_config *config);

static inline bool perfctr_riscv_prog_equal(const struct perfctr_riscv_prog *a,
					    const struct perfctr_riscv_prog *b)
{
	return a->event == b->event && a->flags == b->flags && a->config == b->config;
}

#endif /* PERFCTR_RISCV_REGISTERS_H */
