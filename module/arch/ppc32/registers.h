/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PowerPC 604, 604e, 750, 7400 and 745x: which counters a model has, and how the counters of a CPU
 * are programmed and run. Registers and bits have the names of the manual of the MPC7400. The
 * manuals of the 604 and 750 call some bits differently: DIS, DP, DU, DMS, DMR, ENINT, DISCOUNT,
 * RTCSELECT, INTONBITTRANS, PMC1INTCONTROL, PMCINTCONTROL and PMCTRIGGER.
 */
#ifndef PERFCTR_PPC32_REGISTERS_H
#define PERFCTR_PPC32_REGISTERS_H

#include <linux/bits.h>
#include <linux/types.h>

#include "arch/cpu.h"

/*
 * MMCR0. The freeze bits and MSR[PM] act on all counters. A counter is negative while its bit 31 is
 * set. A negative counter is an enabled condition if its enable bit is set. PMC1CE enables PMC1,
 * and PMCNCE enables all others.
 */
#define MMCR0_FC_BIT		0x80000000u	/* freeze all counters */
#define MMCR0_FCS_BIT		0x40000000u	/* freeze all in supervisor mode */
#define MMCR0_FCP_BIT		0x20000000u	/* freeze all in user mode */
#define MMCR0_FCM_BITS		0x18000000u	/* freeze all while MSR[PM] is 1, or is 0 */
#define MMCR0_PMXE_BIT		0x04000000u	/* enable the interrupt, which clears this bit */
#define MMCR0_FCECE_BIT		0x02000000u	/* an enabled condition sets FC */
#define MMCR0_TBSEL_BITS	0x01800000u	/* select a bit of the timebase */
#define MMCR0_TBEE_BIT		0x00400000u	/* the TBSEL bit is a condition when it becomes 1 */
#define MMCR0_THRESHOLD_BITS	0x003f0000u
#define MMCR0_PMC1CE_BIT	0x00008000u
#define MMCR0_PMCNCE_BIT	0x00004000u
#define MMCR0_TRIGGER_BIT	0x00002000u	/* PMC2 and up wait until PMC1 is negative */
#define MMCR0_SELECTS		0x00001fffu	/* the events of PMC1 and PMC2 */
/* The processor changes MMCR0 by itself if one of these is set. */
#define MMCR0_CHANGES		(MMCR0_PMXE_BIT | MMCR0_FCECE_BIT | MMCR0_TRIGGER_BIT)

#define MMCR2_THRESHMULT_BIT	0x80000000u	/* THRESHOLD is in units of 32, not 2 */

/**
 * struct perfctr_ppc32_events - the events of a model
 * @selects: for each counter, the number of its select bits
 * @common: counters for which an event number below 32 means the same event: [0] for numbers up to
 *	@last[0], [1] for numbers up to @last[1], and so on
 * @last: the last event number of each @common
 */
struct perfctr_ppc32_events {
	u8 selects[PERFCTR_PPC32_MAX];
	u8 common[4];
	u8 last[4];
};

/**
 * struct perfctr_ppc32_model - what a model has
 * @pvr: upper half of its processor version register
 * @type: PERFCTR_PPC_*
 * @counters: number of counters: 2, 4 or 6
 * @mmcrs: number of control registers: 1 to 3
 * @bamr: true if the model has BAMR
 * @copies: true if the model has copies that user mode reads
 * @events: NULL if the model has no counters
 */
struct perfctr_ppc32_model {
	u16 pvr;
	u8 type;
	u8 counters;
	u8 mmcrs;
	bool bamr;
	bool copies;
	const struct perfctr_ppc32_events *events;
};

/* The model of the CPUs. An unknown model has no counters. Constant after init. */
extern struct perfctr_ppc32_model perfctr_ppc32_model;

/**
 * struct perfctr_cpu_image - the control register values of a config
 * @mmcr: the values while no i-mode counter runs: i-mode counters select nothing, and nothing
 *	interrupts
 * @full: the values while i-mode counters run
 * @chained: all counters but PMC1, if one of them is an i-mode counter, or 0. Each of these
 *	counters is an enabled condition when it becomes negative
 */
struct perfctr_cpu_image {
	u32 mmcr[PERFCTR_PPC32_MMCRS];
	u32 full[PERFCTR_PPC32_MMCRS];
	u32 chained;
};

/*
 * The functions below work on the registers of this CPU. Interrupts are off, and no state is
 * resumed.
 */
/* Takes all registers: stops and zeroes all counters. */
void perfctr_ppc32_take(void);
/* Stops and zeroes all counters, then gives the registers back. */
void perfctr_ppc32_release(void);
/* Zeroes counters before they become negative. */
void perfctr_ppc32_age(void);
/* Stops our counters from causing the interrupt again. Call this in the interrupt. */
void perfctr_ppc32_quiet(void);

/* Make and end the timers that compare the registers. */
void perfctr_ppc32_verify_init(void);
void perfctr_ppc32_verify_exit(void);

/* True if a CPU may take the registers. Written under config_mutex. */
extern bool perfctr_ppc32_claimed;

#endif /* PERFCTR_PPC32_REGISTERS_H */
