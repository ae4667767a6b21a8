/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a modelled machine that tests of all architectures use: CPUs whose counters
 * advance when a test executes something on them, and perf, which wants the same counters.
 * riscv/model_sbi.h and x86/model_msr.h have the parts of one architecture.
 */
#ifndef MODEL_H
#define MODEL_H

#include "arch/cpu.h"

#define USER	PERFCTR_CTR_USER
#define KERNEL	PERFCTR_CTR_KERNEL
#define BOTH	(USER | KERNEL)
#define ANY	PERFCTR_MAP_ANY

/* perfctr_ctr_control, short */
#define CTR(m, e, f)		{ .map = (m), .event = (e), .flags = (f) }
#define ICTR(m, e, f, p)	{ .map = (m), .event = (e), .flags = (f), .ireset = -(s64)(p) }

enum model_mode { MODEL_USER, MODEL_KERNEL, MODEL_MACHINE, MODEL_MODES };

/* What happened, by event and mode */
enum model_kind { KIND_CYCLES, KIND_INSTRUCTIONS, KIND_BRANCHES, KIND_DTLB_READ,
		  KIND_DTLB_WRITE, KIND_ITLB, KIND_STORES, KIND_LOADS,
		  KIND_REFERENCE_CYCLES, KIND_MISPREDICTIONS, KIND_NR };

/*
 * @slots: x86: of user mode; @part: of these, by TopDown's metrics; @runs: in how many pieces they
 * came, each with a mix of its own
 */
struct model_tally {
	u64 nr[KIND_NR][MODEL_MODES];
	u64 time;
	u64 slots;
	u64 part[PERFCTR_METRICS];
	u64 runs;
};

/* A second tally of what each CPU executes; NULL: none */
extern struct model_tally *model_witness[SHIM_CPUS];

/* perfctr_cpu_verify() and perfctr_cpu_changed() on that CPU, which is current from then on */
bool model_verify_on(unsigned int cpu);
bool model_changed_on(unsigned int cpu);

/* The current CPU executes instructions, and all that comes with them. */
void model_execute(enum model_mode mode, u64 instructions);

/* The following is implemented by each architecture. */

/* For model_execute(): counters that count it advance, and so does the clock. */
void model_count(enum model_kind kind, enum model_mode mode, u64 nr);
void model_pass(u64 time);

/* Describes a machine; the default has two CPUs and enough counters */
struct model_machine;
extern const struct model_machine model_default;
/* One with fewer counters than a test's two controls together would like */
extern const struct model_machine model_tight;
/* One with nothing to age; and one whose counters have 32 bits */
extern const struct model_machine model_ageless;
extern const struct model_machine model_narrow;

/* Powers the machine on; the driver has not been called yet. */
void model_boot(const struct model_machine *machine);
/* The driver has been loaded: it must have left everything as it was. */
void model_expect_loaded(void);

/* How much of a tally a counter must have counted; some counters cannot filter modes. */
u64 tally_count(const struct model_tally *tally, const struct perfctr_ctr_control *ctr,
		unsigned int hw);

/* Firmware calls, or accesses to registers, that the driver made since the last reset */
unsigned int model_all_calls(void);
void model_calls_reset(void);

/* Who has a counter */
enum model_owner { MODEL_NOBODY, MODEL_DRIVER, MODEL_PERF };

/* Who has the counters of all CPUs, and how they are programmed, without their values */
struct model_ownership;
void model_ownership(struct model_ownership *all);
/* Fails the test, naming the first difference. */
void model_expect_ownership(const struct model_ownership *before);
/* Bit map of the counters of a CPU that somebody has */
u32 model_owned(unsigned int cpu, enum model_owner owner);
/* The counters that the driver must have on each CPU for this config alone */
u32 model_needed(const struct perfctr_config *config);

/* The register itself */
u64 model_value(unsigned int cpu, unsigned int hw);
void model_set_value(unsigned int cpu, unsigned int hw, u64 value);

/* perf takes all that are free on a CPU, and gives some back. */
u32 model_perf_take_all(unsigned int cpu);
void model_perf_give(unsigned int cpu, u32 counters);

/* A CPU is switched off and on: nobody has anything there. */
void model_cpu_off(unsigned int cpu);
void model_cpu_on(unsigned int cpu);
/* It sleeps and loses its registers; firmware that knows of them may forget as well. */
void model_cpu_sleep(unsigned int cpu, bool firmware_forgets);

/* The driver remembers a config for that CPU. */
bool driver_remembers(unsigned int cpu, const struct perfctr_config *config);

#endif /* MODEL_H */
