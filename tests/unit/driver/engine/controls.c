// SPDX-License-Identifier: GPL-2.0
/* What threads ask for */
#include "engine/world.h"

const struct control controls[] = {
	{ NATIVE, 1, 0, { CTR(FIRST, EV_INSTRUCTIONS, USER) } },
	{ NATIVE, 2, 0, { CTR(FIRST, EV_INSTRUCTIONS, USER), CTR(FIRST + 1, EV_ITLB, USER) } },
	{ NATIVE, 3, 0, { CTR(FIRST + 1, EV_CYCLES, USER), CTR(FIRST, EV_ITLB, USER),
		  CTR(FIRST + 2, EV_DTLB_READ, USER) } },
	{ NATIVE, 1, 0, { CTR(FIRST + 1, EV_INSTRUCTIONS, BOTH) } },
	{ NATIVE, 2, 0, { CTR(FIRST, EV_INSTRUCTIONS, MODEL_ONE_MODE ? KERNEL : USER),
		  CTR(FIRST + 1, EV_CYCLES, KERNEL) } },
	{ NATIVE, 0, 0, {} },
	{ NATIVE, 1, 1, { CTR(FIRST, EV_INSTRUCTIONS, USER), ICTR(FIRST + 1, EV_ITLB, USER, 300) } },
	{ NATIVE, 0, 1, { ICTR(FIRST, EV_INSTRUCTIONS, USER, 4000) } },
#ifdef CONFIG_PPC32
	/* By an own way, though nothing comes of it: no condition is enabled, no counter waits. */
	{ NATIVE, 1, 0, { CTR_MMCR(FIRST, EV_INSTRUCTIONS, USER, FCECE) } },
	{ NATIVE, 2, 0, { CTR_MMCR(FIRST, EV_ITLB, USER, FCECE),
		  CTR_MMCR(FIRST + 2, EV_INSTRUCTIONS, USER, FCECE) } },
	{ NATIVE, 0, 1, { ICTR_MMCR(FIRST, EV_INSTRUCTIONS, USER, TRIGGER, 5000) } },
#endif
#ifdef CONFIG_X86
	/* NR_METRIC_CONTROLS, for machines with TopDown */
	{ NATIVE, 3, 0, { CTR(ANY, EV_METRIC(0), USER), CTR(ANY, EV_SLOTS, USER),
		  CTR(ANY, EV_METRIC(3), USER) } },
	{ NATIVE, 3, 0, { CTR(ANY, EV_SLOTS, USER), CTR(FIRST, EV_ITLB, USER),
		  CTR(ANY, EV_METRIC(5), USER) } },
	{ NATIVE, 2, 1, { CTR(ANY, EV_SLOTS, USER), CTR(ANY, EV_METRIC(1), USER),
		  ICTR(FIRST, EV_INSTRUCTIONS, USER, 4000) } },
#endif
};

/* By perf, which has room for all at once, and on RISC-V beside those above */
const struct control shared_controls[] = {
	{ SHARED, 1, 0, { CTR(ANY, EV_INSTRUCTIONS, USER) } },
	{ SHARED, 2, 0, { CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER) } },
	{ SHARED, 1, 0, { CTR(ANY, EV_ITLB, USER) } },
#if MODEL_ONE_MODE
	{ SHARED, 1, 0, { CTR(ANY, EV_DTLB_READ, USER) } },
#else
	{ SHARED, 1, 0, { CTR(ANY, EV_INSTRUCTIONS, BOTH) } },
#endif
	{ ANY_SOURCE, 1, 0, { CTR(FIRST, EV_INSTRUCTIONS, USER) } },
	{ SHARED, 3, 0, { CTR(ANY, EV_ITLB, USER),
		  CTR(ANY, EV_CYCLES, MODEL_ONE_MODE ? USER : KERNEL),
			  CTR(ANY, EV_INSTRUCTIONS, USER) } },
};

const unsigned int nr_controls = ARRAY_SIZE(controls);
const unsigned int nr_shared_controls = ARRAY_SIZE(shared_controls);
