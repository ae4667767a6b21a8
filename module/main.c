// SPDX-License-Identifier: GPL-2.0
/*
 * perfctr: 64-bit hardware performance counters for every thread. This file loads and unloads the
 * module. It has the device, and the parameters whose change calls other files.
 */

#define pr_fmt(fmt) "perfctr: " fmt

#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "base/account.h"
#include "base/hook.h"
#include "thread/notify.h"
#include "switch/switch.h"
#include "switch/timer.h"
#include "deliver/overflow.h"
#include "deliver/record.h"
#include "config/config.h"
#include "config/permit.h"
#include "tree/tree.h"
#include "calls/handle.h"
#include "calls/layout.h"
#include "calls/life.h"
#include "calls/map.h"
#include "calls/return.h"
#include "calls/session.h"
#include "calls/threads.h"

/**
 * struct choice - a parameter whose value is one of several names
 * @names: the name of each value
 * @nr: number of names
 * @value: the parameter's value, which is only written here
 * @changed: the function that is called after @value was written, or NULL
 */
struct choice {
	const char * const *names;
	size_t nr;
	unsigned int *value;
	void (*changed)(void);
};

/*
 * A change takes the CPU hotplug lock, so it must run without the lock of all parameters. A thread
 * that holds the hotplug lock may read a setting through sysfs, and wait there for the parameters'
 * lock. Then the two threads would wait for each other for ever. This mutex makes changes run one
 * at a time instead.
 */
static DEFINE_MUTEX(change_mutex);

static void change_begins(void)
{
	kernel_param_unlock(THIS_MODULE);
	mutex_lock(&change_mutex);
}

static void change_ends(void)
{
	mutex_unlock(&change_mutex);
	kernel_param_lock(THIS_MODULE);
}

static int choice_set(const char *name, const struct kernel_param *kp)
{
	const struct choice *choice = kp->arg;
	int value = __sysfs_match_string(choice->names, choice->nr, name);

	if (value < 0)
		return value;
	change_begins();
	WRITE_ONCE(*choice->value, value);
	if (choice->changed)
		choice->changed();
	change_ends();
	return 0;
}

static int choice_get(char *buffer, const struct kernel_param *kp)
{
	const struct choice *choice = kp->arg;

	return sysfs_emit(buffer, "%s\n", choice->names[READ_ONCE(*choice->value)]);
}

static const struct kernel_param_ops choice_ops = {
	.set = choice_set,
	.get = choice_get,
};

static const char * const user_read_names[] = {
	[PERFCTR_USER_READ_OFF] = "off",
	[PERFCTR_USER_READ_GUARDED] = "guarded",
	[PERFCTR_USER_READ_OPEN] = "open",
};

static struct choice user_read = {
	user_read_names, ARRAY_SIZE(user_read_names), &perfctr_user_read_asked,
	perfctr_policy_changed,
};
module_param_cb(user_read, &choice_ops, &user_read, 0644);
MODULE_PARM_DESC(user_read, "who reads registers in user mode: off, guarded (default), open");

static const char * const source_names[] = {
	[PERFCTR_SOURCE_NATIVE] = "native",
	[PERFCTR_SOURCE_SHARED] = "shared",
	[PERFCTR_SOURCE_ANY] = "any",
};

/* After a change, states that count by another source go on until their next control. */
static struct choice source = {
	source_names, ARRAY_SIZE(source_names), &perfctr_config_source, NULL,
};
module_param_cb(source, &choice_ops, &source, 0644);
MODULE_PARM_DESC(source, "which counters controls may have: native, shared (perf_events'), any (default)");

static int evict_set(const char *value, const struct kernel_param *kp)
{
	kuid_t uid = INVALID_UID;
	unsigned int number;
	int err;

	if (!sysfs_streq(value, "all")) {
		err = kstrtouint(value, 10, &number);
		if (err)
			return err;
		uid = make_kuid(&init_user_ns, number);
		if (!uid_valid(uid))
			return -EINVAL;
	}
	change_begins();
	perfctr_config_evict(!uid_valid(uid), uid);
	change_ends();
	return 0;
}

static const struct kernel_param_ops evict_ops = {
	.set = evict_set,
};

/* The parameter has no effect at load, when no config can be evicted yet. */
module_param_cb(evict, &evict_ops, NULL, 0200);
MODULE_PARM_DESC(evict, "written: takes the counters from the user with that id, or from all");

static ushort device_mode = 0666;
module_param(device_mode, ushort, 0444);
MODULE_PARM_DESC(device_mode, "mode of /dev/perfctr (default 0666)");

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "perfctr",
	.fops = &vperfctr_fops,
};

static const struct perfctr_above above = {
	.on_return = vperfctr_return,
	.on_invited = vperfctr_return_invited,
	.free_inherited = vperfctr_descendant_free,
	.free_root = vperfctr_root_free,
};

static int __init perfctr_init(void)
{
	int err;

	/* Ageing has deadlines, so the workqueue has a high priority. */
	perfctr_wq = alloc_workqueue("perfctr", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!perfctr_wq)
		return -ENOMEM;
	err = perfctr_cpu_init();
	if (err)
		goto err_wq;
	err = perfctr_config_init();
	if (err)
		goto err_cpu;
	perfctr_state_init(&above);
	perfctr_timer_init(vperfctr_on_timer);
	err = perfctr_record_init();
	if (err)
		goto err_config;
	err = perfctr_switch_init();
	if (err)
		goto err_record;
	perfctr_control_init();
	err = perfctr_tree_init();
	if (err)
		goto err_notify;
	err = perfctr_map_init();
	if (err)
		goto err_tree;
	err = perfctr_session_init();
	if (err)
		goto err_map;
	err = perfctr_life_init();
	if (err)
		goto err_map;
	err = perfctr_permit_init();
	if (err)
		goto err_life;
	err = perfctr_threads_init();
	if (err)
		goto err_permit;
	device.mode = device_mode & 0777;
	err = misc_register(&device);
	if (err)
		goto err_events;
	return 0;

err_events:
	perfctr_threads_exit();
err_permit:
	perfctr_permit_exit();
err_life:
	perfctr_life_exit();
err_map:
	perfctr_map_exit();
err_tree:
	perfctr_tree_exit();
err_notify:
	perfctr_notify_exit();
err_record:
	perfctr_record_exit();
err_config:
	perfctr_config_exit();
	perfctr_account_exit();
err_cpu:
	perfctr_cpu_exit();
err_wq:
	destroy_workqueue(perfctr_wq);
	return err;
}

/* No state is attached and no handle is open, because these have references to the module. */
static void __exit perfctr_exit(void)
{
	misc_deregister(&device);
	perfctr_threads_exit();
	perfctr_permit_exit();
	perfctr_session_exit();
	perfctr_notify_exit();
	/*
	 * vperfctr_return() puts its reference to the module while it runs our text, and may be
	 * preempted there. Wait until the function has returned. (In a preemptible kernel without
	 * tracing, kprobes and BPF the call below is synchronize_rcu(), which does not wait for
	 * preempted tasks. No distribution has such a kernel.)
	 */
	synchronize_rcu_tasks();
	perfctr_timer_exit();
	perfctr_record_exit();
	perfctr_config_exit();
	perfctr_account_exit();
	destroy_workqueue(perfctr_wq);
	perfctr_life_exit();
	perfctr_map_exit();
	perfctr_tree_exit();
	perfctr_cpu_exit();
}

module_init(perfctr_init);
module_exit(perfctr_exit);

MODULE_DESCRIPTION("64-bit hardware performance counters for every thread");
MODULE_AUTHOR("the perfctr project");
MODULE_LICENSE("GPL");
MODULE_VERSION(PERFCTR_VERSION);
