// SPDX-License-Identifier: GPL-2.0
/* Settings of the kernel's that no module may look at, by the files that have them. */

#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/kernel.h>
#include <linux/path.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/task.h>

#include "settings.h"

/* In the mounts of the first process, which a user cannot change */
long perfctr_read_number(const char *name)
{
	struct task_struct *init;
	struct path root = {};
	struct file *file;
	char text[16] = "";
	loff_t pos = 0;
	ssize_t length;
	long number;

	rcu_read_lock();
	init = pid_task(find_pid_ns(1, &init_pid_ns), PIDTYPE_PID);
	if (init)
		get_task_struct(init);
	rcu_read_unlock();
	if (!init)
		return -1;
	task_lock(init);
	if (init->fs)
		get_fs_root(init->fs, &root);
	task_unlock(init);
	put_task_struct(init);
	if (!root.mnt)
		return -1;
	file = file_open_root(&root, name, O_RDONLY, 0);
	path_put(&root);
	if (IS_ERR(file))
		return -1;
	length = kernel_read(file, text, sizeof(text) - 1, &pos);
	fput(file);
	return length > 0 && !kstrtol(strim(text), 10, &number) ? number : -1;
}

/* Only some kernels have a level at which nobody without privilege opens an event. */
bool perfctr_perf_is_closed(void)
{
#ifdef PERFCTR_PERF_CLOSED_ABOVE
	return perfctr_read_number("proc/sys/kernel/perf_event_paranoid") >
	       PERFCTR_PERF_CLOSED_ABOVE;
#else
	return false;
#endif
}
