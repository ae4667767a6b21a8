/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event selects: one for each counter, with the layout of Intel's P6. Architectural performance
 * monitoring, and AMD since the K7, use it too.
 */
#ifndef PERFCTR_X86_EVNTSEL_H
#define PERFCTR_X86_EVNTSEL_H

#include <linux/bits.h>
#include <linux/types.h>

#include "arch/cpu.h"
#include "arch/x86/registers.h"

#define EVNTSEL_CODE	0xffULL		/* the event, and */
#define EVNTSEL_UMASK	0xff00ULL	/* its unit mask */
#define EVNTSEL_USR	BIT(16)
#define EVNTSEL_OS	BIT(17)
#define EVNTSEL_EDGE	BIT(18)
#define EVNTSEL_INT	BIT(20)
#define EVNTSEL_EN	BIT(22)
#define EVNTSEL_INV	BIT(23)
/* Bits that choose the event: event and unit mask, edge, inversion, counter mask */
#define EVNTSEL_EVENT	(0xffffULL | EVNTSEL_EDGE | EVNTSEL_INV | 0xff000000ULL)

/* Does this CPU have the register? */
bool perfctr_x86_register_exists(u32 msr);
/* Emulators and hypervisors may have the registers without the instruction. */
bool perfctr_x86_rdpmc_works(u32 counter);
/*
 * Do these counters exist? @perfctr, @evntsel: registers of the first; the others follow at
 * @distance
 */
bool perfctr_x86_evntsel_exists(unsigned int nr, u32 perfctr, u32 evntsel, unsigned int distance);

/*
 * Describes counters 0 and up in perfctr_pmu, each enabled by a bit of its own. If something
 * differs the caller changes it afterwards, and then sets perfctr_pmu.sample by _samples().
 */
void perfctr_x86_evntsel_describe(unsigned int nr, unsigned int width, u32 perfctr, u32 evntsel,
				  unsigned int distance);
void perfctr_x86_evntsel_samples(u64 event, u64 other);

/* Are the event select's bits valid, and do they agree with the rest of the control? 0 or EINVAL */
int perfctr_x86_evntsel_check(const struct perfctr_ctr_control *ctr);
/* See struct perfctr_x86_family */
void perfctr_x86_evntsel_name(struct perfctr_ctr_control *ctr, u32 hw);
void perfctr_x86_evntsel_compile(const struct perfctr_ctr_control *ctr, u32 hw,
				 struct perfctr_cpu_image *image);
u32 perfctr_x86_evntsel_counts(u64 *value);

#endif /* PERFCTR_X86_EVNTSEL_H */
