/* SPDX-License-Identifier: GPL-2.0 */
/* Measures the cost of the driver's instructions on this processor. */
#ifndef PERFCTR_X86_MEASURE_H
#define PERFCTR_X86_MEASURE_H

#include <linux/types.h>

/**
 * struct perfctr_x86_registers - the registers to measure
 * @rdpmc: RDPMC's number of a counter
 * @no_rdpmc: the processor has no RDPMC
 * @perfctr: the MSR of that counter. 0: there are no counters
 * @width: width of the counter in bits
 * @evntsel: the MSR of the counter's event select
 * @evntsels: two values of @evntsel that count in user mode
 * @counting: a value of @evntsel that counts instructions in kernel mode
 * @global_ctrl: the MSR of the global control. 0: there is none
 * @run: the value of @global_ctrl that lets all counters count
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

/* The module parameter "measure" */
extern bool perfctr_x86_measure_wanted;

/*
 * Logs one line for each measurement, and restores each register. The caller stays on this CPU and
 * has reserved the counters. Nothing counts on this CPU.
 */
void perfctr_x86_measure(const struct perfctr_x86_registers *regs);

#endif /* PERFCTR_X86_MEASURE_H */
