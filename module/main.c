// SPDX-License-Identifier: GPL-2.0
/*
 * perfctr: 64-bit hardware performance counters for every thread. Load, unload,
 * the device, and what it tells about processor and CPUs.
 */

#define pr_fmt(fmt) "perfctr: " fmt

#include <linux/cpu.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>

#include "perfctr.h"
#include "hook.h"

static const char * const user_read_names[] = {
	[PERFCTR_USER_READ_OFF] = "off",
	[PERFCTR_USER_READ_GUARDED] = "guarded",
	[PERFCTR_USER_READ_OPEN] = "open",
};

unsigned int perfctr_user_read = PERFCTR_USER_READ_GUARDED;

static int user_read_set(const char *value, const struct kernel_param *kp)
{
	int policy = sysfs_match_string(user_read_names, value);

	if (policy < 0)
		return policy;
	WRITE_ONCE(perfctr_user_read, policy);
	perfctr_policy_changed();
	return 0;
}

static int user_read_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", user_read_names[READ_ONCE(perfctr_user_read)]);
}

static const struct kernel_param_ops user_read_ops = {
	.set = user_read_set,
	.get = user_read_get,
};
module_param_cb(user_read, &user_read_ops, NULL, 0644);
MODULE_PARM_DESC(user_read, "who reads registers in user mode: off, guarded (default), open");

unsigned int perfctr_overflow_budget = 50000 / HZ;
module_param_named(overflow_budget, perfctr_overflow_budget, uint, 0644);
MODULE_PARM_DESC(overflow_budget, "overflows of a thread in a tick after which its counters go on by themselves (50000 a second)");

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
	perfctr_config_evict(!uid_valid(uid), uid);
	return 0;
}

static const struct kernel_param_ops evict_ops = {
	.set = evict_set,
};

/* At load there is nobody to be evicted yet. */
module_param_cb(evict, &evict_ops, NULL, 0200);
MODULE_PARM_DESC(evict, "written: takes the counters from the user with that id, or from all");

static ushort device_mode = 0666;
module_param(device_mode, ushort, 0444);
MODULE_PARM_DESC(device_mode, "mode of /dev/perfctr (default 0666)");

/*
 * The first version's, which stay valid: nobody changes a number here. i386 aligns
 * members of 64 bits to 32, and so must find them aligned.
 */
#define FIRST(type, member, offset)					\
	static_assert(offsetof(struct perfctr_ ## type, member) == (offset))
FIRST(info, reserved, 104);
FIRST(cpus, mask, 16);
FIRST(open, reserved, 16);
FIRST(control, ctr, 128);
FIRST(ctr_control, reserved, 32);
FIRST(read, sum, 32);
FIRST(read_tree, sum, 72);
FIRST(member, sum, 56);
static_assert(PERFCTR_INFO_SIZE_VER0 == 192);
static_assert(PERFCTR_CPUS_SIZE_VER0 == 24);
static_assert(PERFCTR_OPEN_SIZE_VER0 == 64);
static_assert(PERFCTR_CONTROL_SIZE_VER0 == 128);
static_assert(PERFCTR_CTR_CONTROL_SIZE_VER0 == 64);
static_assert(PERFCTR_READ_SIZE_VER0 == 32);
static_assert(PERFCTR_READ_TREE_SIZE_VER0 == 72);
static_assert(PERFCTR_MEMBER_SIZE_VER0 == 56);
static_assert(sizeof(struct perfctr_ctr_control) % 8 == 0);
/* Half of a page is free. */
static_assert(offsetof(struct perfctr_page, slot) == 288);
static_assert(offsetof(struct perfctr_page, operand) == 1344);
static_assert(sizeof(struct perfctr_page) <= 2048);

int perfctr_get_size(const void __user *arg, size_t least, u32 *size)
{
	if (get_user(*size, (const u32 __user *)arg))
		return -EFAULT;
	if (*size < least)
		return -EINVAL;
	return *size > PERFCTR_MAX_SIZE ? -E2BIG : 0;
}

int perfctr_put_struct(void __user *arg, u32 size, const void *from, size_t known)
{
	if (copy_to_user(arg, from, min_t(size_t, size, known)))
		return -EFAULT;
	if (size > known && clear_user(arg + known, size - known))
		return -EFAULT;
	return 0;
}

int perfctr_info_ioctl(void __user *arg)
{
	struct perfctr_info info = {
		.abi_version = PERFCTR_ABI_VERSION,
		.driver_version = PERFCTR_VERSION,
	};
	u32 size;
	int err;

	err = perfctr_get_size(arg, PERFCTR_INFO_SIZE_VER0, &size);
	if (err)
		return err;
	info.size = size;
	info.user_read = READ_ONCE(perfctr_user_read);
	perfctr_config_info(&info);
	return perfctr_put_struct(arg, size, &info, sizeof(info));
}

int perfctr_cpus_ioctl(void __user *arg)
{
	u32 nrwords = DIV_ROUND_UP(nr_cpu_ids, 32);
	struct perfctr_cpus __user *user = arg;
	struct perfctr_cpus cpus;
	u32 size, cpu, *words;
	int err;

	err = perfctr_get_size(arg, PERFCTR_CPUS_SIZE_VER0, &size);
	if (err)
		return err;
	err = copy_struct_from_user(&cpus, sizeof(cpus), user, size);
	if (err)
		return err;
	if (cpus.which > PERFCTR_CPUS_FORBIDDEN || cpus.reserved)
		return -EINVAL;
	if (put_user(nrwords, &user->nrwords))
		return -EFAULT;
	if (cpus.nrwords < nrwords)
		return -EOVERFLOW;

	words = kcalloc(nrwords, sizeof(*words), GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	for_each_online_cpu(cpu)
		if (cpus.which == PERFCTR_CPUS_ALL || perfctr_cpu_is_forbidden(cpu))
			words[cpu / 32] |= BIT(cpu % 32);
	if (copy_to_user(u64_to_user_ptr(cpus.mask), words, nrwords * sizeof(*words)))
		err = -EFAULT;
	kfree(words);
	return err;
}

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "perfctr",
	.fops = &vperfctr_fops,
};

static int __init perfctr_init(void)
{
	int err;

	/* Ageing has deadlines, so it goes before others' work. */
	perfctr_wq = alloc_workqueue("perfctr", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!perfctr_wq)
		return -ENOMEM;
	err = perfctr_cpu_init();
	if (err)
		goto err_wq;
	err = perfctr_config_init();
	if (err)
		goto err_cpu;
	err = vperfctr_init();
	if (err)
		goto err_config;
	err = perfctr_inherit_init();
	if (err)
		goto err_virtual;
	err = perfctr_permit_init();
	if (err)
		goto err_inherit;
	err = perfctr_events_init();
	if (err)
		goto err_permit;
	device.mode = device_mode & 0777;
	err = misc_register(&device);
	if (err)
		goto err_events;
	return 0;

err_events:
	perfctr_events_exit();
err_permit:
	perfctr_permit_exit();
err_inherit:
	perfctr_inherit_exit();
err_virtual:
	vperfctr_exit();
err_config:
	perfctr_config_exit();
	perfctr_burden_exit();
err_cpu:
	perfctr_cpu_exit();
err_wq:
	destroy_workqueue(perfctr_wq);
	return err;
}

/* Every state that is attached, and every handle, keeps the module: nobody counts here. */
static void __exit perfctr_exit(void)
{
	misc_deregister(&device);
	perfctr_events_exit();
	perfctr_permit_exit();
	perfctr_switch_exit();
	/*
	 * vperfctr_return() puts its reference inside our text, and may be preempted
	 * there. (A preemptible kernel without tracing, kprobes and BPF does not wait
	 * for that; there is none in any distribution.)
	 */
	synchronize_rcu_tasks();
	perfctr_config_exit();
	perfctr_burden_exit();
	destroy_workqueue(perfctr_wq);
	perfctr_inherit_exit();
	vperfctr_exit();
	perfctr_cpu_exit();
}

module_init(perfctr_init);
module_exit(perfctr_exit);

MODULE_DESCRIPTION("64-bit hardware performance counters for every thread");
MODULE_AUTHOR("the perfctr project");
MODULE_LICENSE("GPL");
MODULE_VERSION(PERFCTR_VERSION);
