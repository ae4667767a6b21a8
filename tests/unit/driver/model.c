// SPDX-License-Identifier: GPL-2.0
/* What happens when a CPU executes something, whatever it is. */
#include "model.h"

struct model_tally *model_witness[SHIM_CPUS];

static void happen(enum model_kind kind, enum model_mode mode, u64 nr)
{
	if (model_witness[shim_cpu])
		model_witness[shim_cpu]->nr[kind][mode] += nr;
	model_count(kind, mode, nr);
}

void model_execute(enum model_mode mode, u64 instructions)
{
	u64 cycles = 3 * instructions + 1;

	happen(KIND_CYCLES, mode, cycles);
	happen(KIND_INSTRUCTIONS, mode, instructions);
	happen(KIND_BRANCHES, mode, instructions / 5);
	happen(KIND_DTLB_READ, mode, instructions / 7);
	happen(KIND_DTLB_WRITE, mode, instructions / 11);
	happen(KIND_ITLB, mode, instructions / 13);
	happen(KIND_STORES, mode, instructions / 3);
	happen(KIND_LOADS, mode, instructions / 4);
	happen(KIND_REFERENCE_CYCLES, mode, 2 * instructions + 3);
	happen(KIND_MISPREDICTIONS, mode, instructions / 17);
	model_pass(cycles / 2);
	if (model_witness[shim_cpu])
		model_witness[shim_cpu]->time += cycles / 2;
}

bool model_verify_on(unsigned int cpu)
{
	bool good;

	shim_cpu = cpu;
	local_irq_disable();
	good = perfctr_cpu_verify();
	local_irq_enable();
	return good;
}

bool model_changed_on(unsigned int cpu)
{
	bool changed;

	shim_cpu = cpu;
	local_irq_disable();
	changed = perfctr_cpu_changed();
	local_irq_enable();
	return changed;
}
