/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event selects: each counter has one. Their layout is that of Intel's P6. Architectural
 * performance monitoring and AMD's processors since the K7 use the same layout.
 */
#ifndef PERFCTR_X86_EVNTSEL_H
#define PERFCTR_X86_EVNTSEL_H

#include <linux/bits.h>
#include <linux/types.h>

#include "arch/cpu.h"
#include "arch/x86/registers.h"

#define EVNTSEL_CODE	0xffULL		/* the code of the event */
#define EVNTSEL_UMASK	0xff00ULL	/* the unit mask */
#define EVNTSEL_CODE_AND_UMASK	(EVNTSEL_CODE | EVNTSEL_UMASK)
#define EVNTSEL_USR	BIT(16)
#define EVNTSEL_OS	BIT(17)
#define EVNTSEL_EDGE	BIT(18)
#define EVNTSEL_INT	BIT(20)
#define EVNTSEL_EN	BIT(22)
#define EVNTSEL_INV	BIT(23)
/* These bits choose the event: its code and unit mask, edge, inversion, and counter mask. */
#define EVNTSEL_EVENT	(EVNTSEL_CODE_AND_UMASK | EVNTSEL_EDGE | EVNTSEL_INV | 0xff000000ULL)

/* Returns true if this CPU has the register. */
bool perfctr_x86_register_exists(u32 msr);
/*
 * Returns true if RDPMC can read this counter. Some emulators and hypervisors have the registers,
 * but not the instruction.
 */
bool perfctr_x86_rdpmc_works(u32 counter);
/*
 * Returns true if the first @nr counters exist, and @nr is not 0. @perfctr and @evntsel are the
 * registers of counter 0. The registers of each next counter are @distance further on.
 */
bool perfctr_x86_evntsel_exists(unsigned int nr, u32 perfctr, u32 evntsel, unsigned int distance);

/*
 * Describes the first @nr counters in perfctr_pmu, each enabled by a bit of its own event select.
 * The caller then changes what differs on its processor, and calls perfctr_x86_evntsel_samples() to
 * set perfctr_pmu.sample.
 */
void perfctr_x86_evntsel_describe(unsigned int nr, unsigned int width, u32 perfctr, u32 evntsel,
				  unsigned int distance);
void perfctr_x86_evntsel_samples(u64 event, u64 other);

/*
 * Returns 0, or -EINVAL if the event has invalid bits, or bits that disagree with the other members
 * of the control.
 */
int perfctr_x86_evntsel_check(const struct perfctr_ctr_control *ctr);
/* These three are functions of struct perfctr_x86_family. */
void perfctr_x86_evntsel_name(struct perfctr_ctr_control *ctr, u32 hw);
void perfctr_x86_evntsel_compile(const struct perfctr_ctr_control *ctr, u32 hw,
				 struct perfctr_cpu_image *image);
u32 perfctr_x86_evntsel_counts(u64 *value);

#endif /* PERFCTR_X86_EVNTSEL_H */
