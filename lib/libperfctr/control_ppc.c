// SPDX-License-Identifier: LGPL-2.1-or-later
/* Translates perfctr 2.6's controls for PowerPC, where all counters share MMCR0 and MMCR2. */
#include <errno.h>

#include "control.h"

#if defined(__powerpc__)

/* MMCR0 */
#define FCS		0x40000000u	/* do not count in supervisor mode */
#define FCP		0x20000000u	/* do not count in user mode */
#define PMXE		0x04000000u	/* enable interrupts */
#define PMC1CE		0x00008000u	/* PMC1 may interrupt */
#define PMCNCE		0x00004000u	/* all other counters may interrupt */

__u64 perfctr_ctr_config_high(const struct perfctr_cpu_control *from, unsigned int i)
{
	(void)from;
	(void)i;
	return 0;
}

int perfctr_ctr_set_config_high(struct perfctr_cpu_control *to, unsigned int i, unsigned int high)
{
	(void)to;
	(void)i;
	return high ? -1 : 0;
}

void perfctr_ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			   unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	unsigned int mmcr0 = from->ppc.mmcr0 & ~(FCS | FCP);

	(void)cpu_type;
	/* The kernel itself sets these bits for i-mode counters. */
	if (from->nrictrs)
		mmcr0 &= ~(PMXE | PMC1CE | PMCNCE);
	to->event = from->evntsel[i];
	to->config = (__u64)from->ppc.mmcr2 << 32 | mmcr0;
	if (!(from->ppc.mmcr0 & FCP))
		to->flags |= PERFCTR_CTR_USER;
	if (!(from->ppc.mmcr0 & FCS))
		to->flags |= PERFCTR_CTR_KERNEL;
}

/* All counters share the modes and both registers, so each call stores the same values. */
void perfctr_ctr_from_native(const struct perfctr_ctr_control *from, unsigned int cpu_type,
			     struct perfctr_cpu_control *to, unsigned int i)
{
	(void)cpu_type;
	to->evntsel[i] = (unsigned int)from->event;
	to->ppc.mmcr0 = (unsigned int)from->config;
	to->ppc.mmcr2 = (unsigned int)(from->config >> 32);
	if (!(from->flags & PERFCTR_CTR_USER))
		to->ppc.mmcr0 |= FCP;
	if (!(from->flags & PERFCTR_CTR_KERNEL))
		to->ppc.mmcr0 |= FCS;
	if (to->nrictrs)
		to->ppc.mmcr0 |= PMXE;
}

/*
 * In 2.6, a counter overflows when its 32 bits become negative. In the kernel's ABI, a counter
 * overflows at zero.
 */
int perfctr_ireset_to_native(int from, __s64 *to)
{
	*to = (__s64)from - 0x80000000LL;
	return from < 0 ? -1 : 0;
}

int perfctr_ireset_from_native(__s64 from, int *to)
{
	*to = from ? (int)(from + 0x80000000LL) : 0;
	return from < -0x80000000LL ? -1 : 0;
}

int perfctr_control_user_only(struct perfctr_control *control)
{
	const unsigned int both = PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL;
	unsigned int i, n = control->nractrs + control->nrictrs;

	if (errno != EACCES || control->reason != PERFCTR_REASON_KERNEL)
		return 0;
	for (i = 0; i < n; i++)
		if (control->ctr[i].flags != both)
			return 0;
	for (i = 0; i < n; i++)
		control->ctr[i].flags = PERFCTR_CTR_USER;
	return 1;
}

#endif
