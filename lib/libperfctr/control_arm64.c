// SPDX-License-Identifier: LGPL-2.1-or-later
/* Translates controls for arm64. They have 2.6's form, although 2.6 did not support arm64. */
#include "control.h"

#if defined(__aarch64__)

__u64 perfctr_ctr_config_high(const struct perfctr_cpu_control *from, unsigned int i)
{
	return from->arm64.config[i];
}

int perfctr_ctr_set_config_high(struct perfctr_cpu_control *to, unsigned int i, unsigned int high)
{
	to->arm64.config[i] = high;
	return 0;
}

void perfctr_ctr_to_native(const struct perfctr_cpu_control *from, unsigned int i,
			   unsigned int cpu_type, struct perfctr_ctr_control *to)
{
	(void)cpu_type;
	to->event = from->evntsel[i];
	to->config = from->arm64.config[i];
	to->flags = from->arm64.mode[i] ? from->arm64.mode[i] : PERFCTR_CTR_USER;
}

void perfctr_ctr_from_native(const struct perfctr_ctr_control *from, unsigned int cpu_type,
			     struct perfctr_cpu_control *to, unsigned int i)
{
	(void)cpu_type;
	to->evntsel[i] = (unsigned int)from->event;
	to->arm64.config[i] = from->config;
	to->arm64.mode[i] = from->flags;
}

#endif
