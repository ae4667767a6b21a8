// SPDX-License-Identifier: GPL-2.0
/*
 * Prepares the counters of CPUs that come online, and gives up the counters of CPUs that go
 * offline.
 */

#include <linux/cpuhotplug.h>

#include "arch/cpu.h"
#include "perf/shared.h"
#include "perf/told.h"
#include "switch/wide.h"
#include "config/config.h"
#include "config/hotplug.h"

static int prepare_state, online_state;	/* constant after init */

static int prepare(unsigned int cpu)
{
	perfctr_cpu_prepare(cpu);
	return 0;
}

/* Called as a CPU has come online, and also after an offline that was cancelled. */
static int online(unsigned int cpu)
{
	mutex_lock(&perfctr_config_mutex);
	perfctr_cpus_tell(cpu);
	perfctr_cpu_reserve(cpu);
	local_irq_disable();
	perfctr_cpu_online();
	local_irq_enable();
	/* An isolated CPU that a session counts takes part in claims. */
	if (perfctr_wides_on(cpu)) {
		local_irq_disable();
		perfctr_cpus_join();
		local_irq_enable();
	}
	perfctr_shared_online(cpu);
	local_irq_disable();
	perfctr_wides_online();
	local_irq_enable();
	mutex_unlock(&perfctr_config_mutex);
	return 0;
}

/*
 * Called as a CPU goes offline. Threads that have yet to leave the CPU may still be switched in
 * there after this, and load a config.
 */
static int offline(unsigned int cpu)
{
	mutex_lock(&perfctr_config_mutex);
	local_irq_disable();
	perfctr_wides_offline();
	local_irq_enable();
	perfctr_shared_offline(cpu);
	perfctr_cpu_unreserve(cpu);
	local_irq_disable();
	perfctr_cpu_offline();
	local_irq_enable();
	mutex_unlock(&perfctr_config_mutex);
	return 0;
}

int perfctr_hotplug_init(void)
{
	prepare_state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "perfctr:prepare",
						  prepare, NULL);
	if (prepare_state < 0)
		return prepare_state;
	online_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perfctr:online", online,
					 offline);
	if (online_state < 0)
		cpuhp_remove_state_nocalls(prepare_state);
	return min(online_state, 0);
}

void perfctr_hotplug_exit(void)
{
	cpuhp_remove_state(online_state);
	cpuhp_remove_state_nocalls(prepare_state);
}
