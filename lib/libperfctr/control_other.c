// SPDX-License-Identifier: LGPL-2.1-or-later
/* Empty translations for architectures that lack a part of a control. */
#include "control.h"

#if !defined(__x86_64__) && !defined(__i386__)

int perfctr_ctrs_shared_to_native(const struct perfctr_cpu_control *from, unsigned int n,
				  unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	(void)from;
	(void)n;
	(void)cpu_type;
	(void)to;
	return 0;
}

int perfctr_ctrs_shared_from_native(const struct perfctr_ctr_control *from, unsigned int n,
				    unsigned int cpu_type, struct perfctr_cpu_control *to)
{
	(void)from;
	(void)n;
	(void)cpu_type;
	(void)to;
	return 0;
}

#endif

#if !defined(__powerpc__)

int perfctr_ireset_to_native(int from, __s64 *to)
{
	*to = from;
	return 0;
}

int perfctr_ireset_from_native(__s64 from, int *to)
{
	*to = (int)from;
	return 0;
}

int perfctr_control_user_only(struct perfctr_control *control)
{
	(void)control;
	return 0;
}

#endif
