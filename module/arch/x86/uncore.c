// SPDX-License-Identifier: GPL-2.0
/*
 * RDPMC can also read counters that do not belong to this CPU alone. The hyperthreads of a Pentium
 * 4 can read each other's counters: see perfctr_x86_guard_never(). AMD's processors have counters
 * of the northbridge or the data fabric (RDPMC's numbers 6 to 9, and from 16 on), and of the cache
 * that cores share (10 to 15). The kernel's driver amd_uncore uses these counters for perf's events
 * of whole CPUs. amd_uncore reserves nothing, and its counts include other users' programs. So the
 * policy "guarded" cannot hold while amd_uncore is there.
 *
 * amd_uncore is a module, or is built into the kernel. When the module is loaded, and before it can
 * have any event, we withdraw the permission to execute RDPMC. We do not give the permission back
 * when the module is unloaded, because the counters of amd_uncore keep their values.
 */

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>

#include "base/settings.h"
#include "arch/cpu.h"
#include "arch/user.h"
#include "arch/x86/registers.h"
#include "arch/x86/uncore.h"

#define NAME	"amd_uncore"
#define DEVICES	"sys/bus/event_source/devices/"

static bool exist;	/* the processor has such counters; constant after init */
static bool counted;	/* somebody may have counted with them */
static void (*guard_ends)(void);	/* constant after perfctr_cpu_guard_init() */

void __init perfctr_x86_uncore_exists(void)
{
	exist = true;
}

void __init perfctr_x86_guard_never(void)
{
	counted = true;
}

/*
 * Counters that never stop also count the kernel, so users may read them only under the policy
 * "open".
 */
bool perfctr_cpu_can_guard(void)
{
	return !READ_ONCE(counted) && !perfctr_pmu.never_stop;
}

static bool device_exists(const char *type)
{
	struct perfctr_setting setting = { .name = type };
	bool exists;

	perfctr_setting_watch(&setting, true);
	exists = perfctr_setting_read(&setting) >= 0;
	perfctr_setting_watch(&setting, false);
	return exists;
}

/*
 * Returns true if amd_uncore has registered one of its PMUs, whose names depend on the family. Also
 * returns true if the PMU of the cores is missing too, because nothing can be known then.
 */
static bool is_there(void)
{
	static const char * const types[] = {
		DEVICES "amd_nb/type", DEVICES "amd_l2/type", DEVICES "amd_df/type",
		DEVICES "amd_l3/type",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (device_exists(types[i]))
			return true;
	return !device_exists(DEVICES "cpu/type");
}

static int module_comes(struct notifier_block *block, unsigned long action, void *data)
{
	const struct module *module = data;

	if (action != MODULE_STATE_COMING || strcmp(module->name, NAME) || READ_ONCE(counted))
		return NOTIFY_DONE;
	WRITE_ONCE(counted, true);
	guard_ends();
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = module_comes };

void perfctr_cpu_guard_init(void (*ends)(void))
{
	if (!exist)
		return;
	guard_ends = ends;
	/*
	 * Register before looking, so that the module is not missed if it comes meanwhile.
	 * Registering never fails.
	 */
	register_module_notifier(&notifier);
	if (is_there())
		WRITE_ONCE(counted, true);
}

void perfctr_cpu_guard_exit(void)
{
	if (exist)
		unregister_module_notifier(&notifier);
}
