// SPDX-License-Identifier: GPL-2.0
/* Reads kernel settings that are not exported to modules, from files in proc and sysfs. */

#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/kernel.h>
#include <linux/path.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/task.h>

#include "base/settings.h"

/*
 * Opens the file in the mounts of the first process, which users cannot change. Returns NULL on
 * failure.
 */
static struct file *open_file(const char *name)
{
	struct task_struct *init;
	struct path root = {};
	struct file *file;

	rcu_read_lock();
	init = pid_task(find_pid_ns(1, &init_pid_ns), PIDTYPE_PID);
	if (init)
		get_task_struct(init);
	rcu_read_unlock();
	if (!init)
		return NULL;
	task_lock(init);
	if (init->fs)
		get_fs_root(init->fs, &root);
	task_unlock(init);
	put_task_struct(init);
	if (!root.mnt)
		return NULL;
	file = file_open_root(&root, name, O_RDONLY, 0);
	path_put(&root);
	return IS_ERR(file) ? NULL : file;
}

void perfctr_setting_watch(struct perfctr_setting *setting, bool on)
{
	if (on) {
		setting->file = open_file(setting->name);
	} else if (setting->file) {
		fput(setting->file);
		setting->file = NULL;
	}
}

long perfctr_setting_read(const struct perfctr_setting *setting)
{
	const struct cred *before;
	char text[16] = "";
	loff_t pos = 0;
	ssize_t length;
	long number;

	if (!setting->file)
		return -1;
	/*
	 * Read with the opener's credentials: a security module may forbid current to read the
	 * file.
	 */
	before = override_creds(setting->file->f_cred);
	length = kernel_read(setting->file, text, sizeof(text) - 1, &pos);
	revert_creds(before);
	return length > 0 && !kstrtol(strim(text), 10, &number) ? number : -1;
}

#ifdef PERFCTR_PERF_CLOSED_ABOVE
static struct perfctr_setting paranoid = { .name = "proc/sys/kernel/perf_event_paranoid" };
#endif

void perfctr_perf_watch(bool on)
{
#ifdef PERFCTR_PERF_CLOSED_ABOVE
	perfctr_setting_watch(&paranoid, on);
#endif
}

/*
 * Only some kernels have a level of perf_event_paranoid at which opening any event needs privilege.
 */
bool perfctr_perf_is_closed(void)
{
#ifdef PERFCTR_PERF_CLOSED_ABOVE
	return perfctr_setting_read(&paranoid) > PERFCTR_PERF_CLOSED_ABOVE;
#else
	return false;
#endif
}
