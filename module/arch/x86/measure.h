/* SPDX-License-Identifier: GPL-2.0 */
/* measure.c: what the instructions that the driver is made of cost here */
#ifndef PERFCTR_X86_MEASURE_H
#define PERFCTR_X86_MEASURE_H

#include <linux/types.h>

/**
 * struct perfctr_x86_registers - what there is to measure
 * @rdpmc: RDPMC's name of a counter
 * @perfctr: the MSR of that counter; 0: there are no counters
 * @width: its bits
 * @evntsel: the MSR of its event select
 * @control: what makes it count in user mode, but no event
 * @global_ctrl: what lets all counters count; 0: there is no such register
 */
struct perfctr_x86_registers {
	u32 rdpmc;
	u32 perfctr;
	unsigned int width;
	u32 evntsel;
	u32 control;
	u64 global_ctrl;
};

/* The module parameter */
extern bool perfctr_x86_measure_wanted;

/*
 * Logs one line for each. The caller stays on this CPU, where nothing counts, and has
 * the counters; each register holds afterwards what it held before.
 */
void perfctr_x86_measure(const struct perfctr_x86_registers *regs);

#endif /* PERFCTR_X86_MEASURE_H */
