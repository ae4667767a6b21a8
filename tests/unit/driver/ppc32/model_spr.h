/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A modelled PowerPC machine: CPUs with the performance monitor of a 604, 604e, 750, 7400 or
 * 745x, or with none, and the kernel's owner of it. Who touches a register that the model does
 * not have, or that belongs to perf, fails the test; so does an interrupt that does not end.
 *
 * After the user's manuals of these processors. Where they leave something open:
 *
 *  - a condition stands as long as its counter is negative: the interrupt comes again as soon as
 *    PMXE is set again, and also if it is a write that makes the counter negative ("may cause an
 *    erroneous exception", MPC7400, 2.1.3.1.1);
 *  - it occurs, for FCECE and TRIGGER, as it begins: by a count, or by a write of a counter or of
 *    what enables it. While TRIGGER is set that clears TRIGGER, and does not freeze.
 */
#ifndef MODEL_SPR_H
#define MODEL_SPR_H

#include "model.h"
#include "model_perf_events.h"

#define MODEL_PMCS	6
#define MODEL_MMCRS	3

/* Numbers of the registers */
#define SPR_MMCR2	944
#define SPR_PMC5	945
#define SPR_PMC6	946
#define SPR_BAMR	951
#define SPR_MMCR0	952
#define SPR_PMC1	953
#define SPR_PMC2	954
#define SPR_MMCR1	956
#define SPR_PMC3	957
#define SPR_PMC4	958
#define MODEL_SPRS	1024

/* Bits, numbered from the most significant one as the manuals do */
#define PPC_BIT32(n)	(0x80000000u >> (n))
#define FC		PPC_BIT32(0)
#define FCS		PPC_BIT32(1)
#define FCP		PPC_BIT32(2)
#define FCM1		PPC_BIT32(3)
#define FCM0		PPC_BIT32(4)
#define PMXE		PPC_BIT32(5)
#define FCECE		PPC_BIT32(6)
#define TBSEL(n)	((u32)(n) << 23)	/* 0 to 3: bits 63, 55, 51, 47 of the timebase */
#define TBEE		PPC_BIT32(9)
#define THRESHOLD(n)	((u32)(n) << 16)
#define PMC1CE		PPC_BIT32(16)
#define PMCNCE		PPC_BIT32(17)
#define TRIGGER		PPC_BIT32(18)
#define SEL1(n)		((u32)(n) << 6)
#define SEL2(n)		((u32)(n) << 0)
#define SEL3(n)		((u32)(n) << 27)
#define SEL4(n)		((u32)(n) << 22)
#define SEL5(n)		((u32)(n) << 17)
#define SEL6(n)		((u32)(n) << 11)
#define THRESHMULT	PPC_BIT32(0)
#define NEGATIVE	0x80000000u

/*
 * Selects of what each counter here counts: of the first three the processors count the same.
 * They have others for the rest, which differ between models and counters.
 */
#define EV_NOTHING	0u
#define EV_CYCLES	1u
#define EV_INSTRUCTIONS	2u
#define EV_STORES	4u
#define EV_ITLB		5u
#define EV_DTLB_READ	6u
#define EV_DTLB_WRITE	7u
#define EV_BRANCHES	8u
#define EV_LOADS	14u

/* For config.c's tests: the first of the counters that count anything */
#define MODEL_ARCH	"ppc32"
#define FIRST		0
/* All counters of a control, and all of perf's, count the same modes. */
#define MODEL_ONE_MODE	1
/* What cannot be, whoever asks; and what turns out not to exist */
#define CTR_NEVER	CTR(ANY, 23, KERNEL)
#define CTR_NEVER_ERROR	(-EINVAL)
/* Of two that cannot be had since another has all, the one that is blamed */
#define BUSY_INDEX	PERFCTR_NO_INDEX
#define CTR_NONE	CTR(ANY, 128, USER)
/* Of perf's counters, those that count anything; and an event of which there is one */
#define MODEL_GENERALS	4
#define CTR_ONLY	CTR(0, EV_LOADS, USER)
#define model_only	model_default

/* With a MMCR0 and a MMCR2 */
#define MMCRS(mmcr0, mmcr2)	((u64)(mmcr2) << 32 | (mmcr0))
#define CTR_MMCR(m, e, f, c)	{ .map = (m), .event = (e), .flags = (f), .config = (c) }
#define ICTR_MMCR(m, e, f, c, p)	\
	{ .map = (m), .event = (e), .flags = (f), .config = (c), .ireset = -(s64)(p) }

/**
 * struct model_machine - what is built
 * @pvr: the processor version register
 * @nr_cpus: CPUs, all online
 * @no_timebase: the firmware does not know its frequency
 * @keeps_pmxe: the interrupt does not clear PMXE, as some are said to behave
 */
struct model_machine {
	u32 pvr;
	unsigned int nr_cpus;
	bool no_timebase;
	bool keeps_pmxe;
};

extern struct model_machine model;

/* What the model of the current machine has: counters, control registers, BAMR, copies */
struct model_processor {
	const char *name;
	u32 pvr;
	u32 type;
	unsigned int counters;
	unsigned int mmcrs;
	bool bamr;
	bool copies;
	bool safe;	/* i-mode is, without the parameter */
};

#define MODEL_PROCESSORS	17
extern const struct model_processor model_processors[MODEL_PROCESSORS];
const struct model_processor *model_processor(void);
/* A machine of two CPUs with that processor */
struct model_machine model_machine_of(const struct model_processor *processor);

/* Processors by name; fails if there is none. */
const struct model_processor *model_named(const char *name);

bool model_has_spr(unsigned int spr);
/* A register of a CPU. Setting one is no access of the driver's. */
u32 model_spr(unsigned int cpu, unsigned int spr);
void model_set_spr(unsigned int cpu, unsigned int spr, u32 value);
#define model_mmcr0(cpu)	model_spr(cpu, SPR_MMCR0)
#define model_mmcr1(cpu)	model_spr(cpu, SPR_MMCR1)
#define model_mmcr2(cpu)	model_spr(cpu, SPR_MMCR2)
u32 model_pmc(unsigned int cpu, unsigned int hw);
void model_set_pmc(unsigned int cpu, unsigned int hw, u32 value);

/* The driver's writes since model_calls_reset(), by CPU and SPR */
extern unsigned int model_writes[SHIM_CPUS][MODEL_SPRS];
/* How often a counter was ever set to another value than zero, whoever did it */
extern unsigned int model_sets[SHIM_CPUS][MODEL_PMCS];

/* An interrupt waits at the CPU. It comes, maybe with user mode interrupted. */
bool model_irq_waits(unsigned int cpu);
void model_irq(unsigned int cpu, bool user);
extern unsigned int model_irqs[SHIM_CPUS];

/* What reserve_pmc_hardware() wrote to the log */
extern unsigned int model_complaints;
/* Calls of release_pmc_hardware() */
extern unsigned int model_releases;

/* Who has the performance monitor, and the control registers of all CPUs */
struct model_ownership {
	enum model_owner owner;
	u32 mmcr[SHIM_CPUS][MODEL_MMCRS];
};

enum model_kind model_kind(u64 event);

#endif /* MODEL_SPR_H */
