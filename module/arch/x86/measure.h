/* SPDX-License-Identifier: GPL-2.0 */
/* measure.c: what the instructions that the driver is made of cost here, and do */
#ifndef PERFCTR_X86_MEASURE_H
#define PERFCTR_X86_MEASURE_H

#include <linux/types.h>

/**
 * struct perfctr_x86_registers - what there is to measure
 * @rdpmc: RDPMC's name of a counter
 * @no_rdpmc: there is no such instruction
 * @perfctr: the MSR of that counter; 0: there are no counters
 * @width: its bits
 * @evntsel: the MSR of its event select
 * @evntsels: two values of that, which count in user mode
 * @counting: a value of that by which instructions in kernel mode are counted
 * @global_ctrl: the MSR of a global control; 0: there is none
 * @run: what in it lets all counters count
 */
struct perfctr_x86_registers {
	u32 rdpmc;
	bool no_rdpmc;
	u32 perfctr;
	unsigned int width;
	u32 evntsel;
	u64 evntsels[2];
	u64 counting;
	u32 global_ctrl;
	u64 run;
};

/* The module parameter */
extern bool perfctr_x86_measure_wanted;

/*
 * Logs one line for each. The caller stays on this CPU, where nothing counts, and has
 * the counters; each register holds afterwards what it held before.
 */
void perfctr_x86_measure(const struct perfctr_x86_registers *regs);

#endif /* PERFCTR_X86_MEASURE_H */
