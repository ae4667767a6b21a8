// SPDX-License-Identifier: GPL-2.0
/* Checks whether the processor can count a control, and whether current may count it. */

#include "arch/user.h"
#include "perf/shared.h"
#include "thread/kin.h"
#include "config/check.h"

/* config.h describes these variables. */
DEFINE_MUTEX(perfctr_config_mutex);
unsigned int perfctr_nr_claimed[2];
unsigned int perfctr_nr_session_configs;
bool perfctr_late_readers;

/* Returns the index of the first counter that counts in kernel mode, or PERFCTR_NO_INDEX. */
static u32 find_kernel(const struct perfctr_ctr_control *ctr, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (ctr[i].flags & PERFCTR_CTR_KERNEL)
			return i;
	return PERFCTR_NO_INDEX;
}

bool perfctr_may_count_kernel(bool shared)
{
	/* On a processor without filters, all counters count the kernel, so "open" permits that. */
	return (perfctr_cpu_modeless() && !shared &&
		READ_ONCE(perfctr_user_read) == PERFCTR_USER_READ_OPEN) || !perfctr_allow_kernel();
}

bool perfctr_config_counts_kernel(const struct perfctr_config *config)
{
	return config && config->nr && !(READ_ONCE(config->id) & PERFCTR_ID_USER);
}

static int check_kernel(const struct wanted *wanted, struct perfctr_refusal *why)
{
	if (perfctr_may_count_kernel(wanted->shared))
		return 0;
	why->index = find_kernel(wanted->ctr, wanted->nr);
	why->reason = PERFCTR_REASON_KERNEL;
	return -EACCES;
}

int perfctr_check_wide(const struct wanted *wanted, struct perfctr_refusal *why)
{
	u32 reason;

	if (!wanted->nr || wanted->shared)
		return 0;
	if (wanted->of_session && perfctr_config_lingers())
		return -EAGAIN;
	reason = perfctr_native_reason(wanted);
	if (reason == PERFCTR_REASON_SOURCE)
		return 0;
	why->owner = PERFCTR_OWNER_PERFCTR;
	why->reason = reason;
	return -EBUSY;
}

int perfctr_check(struct wanted *wanted, struct perfctr_refusal *why)
{
	int err;

	wanted->kernel = false;
	if (unlikely(wanted->shared))
		err = perfctr_shared_check(wanted->ctr, wanted->nr, &wanted->kernel, why);
	else
		err = perfctr_cpu_check(wanted->ctr, wanted->nr, &wanted->kernel, why);
	return !err && wanted->kernel ? check_kernel(wanted, why) : err;
}

int perfctr_check_again(const struct perfctr_config *config, const struct wanted *wanted,
			struct perfctr_refusal *why)
{
	int err = perfctr_config_counts_kernel(config) ? check_kernel(wanted, why) : 0;

	return !err && unlikely(config->unprivileged) ? perfctr_shared_allowed(config, why) : err;
}
