// SPDX-License-Identifier: GPL-2.0
/* See model_files.h. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/path.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/task.h>

#include "model_perf_events.h"
#include "x86/model_files.h"

const char *model_rdpmc_of_cpu = "1\n", *model_rdpmc_of_core, *model_paranoid = "2\n";
long model_closed_above = LONG_MAX;
bool model_no_init, model_init_ends;
int model_file_refs;

struct pid_namespace init_pid_ns;
static struct fs_struct init_fs;
static struct pid init_pid = { .nr = 1 };
static struct task_struct init_task = { .fs = &init_fs };
static char mounts;

static struct file files[4];

struct pid *find_pid_ns(int nr, struct pid_namespace *ns)
{
	shim_assert(nr == 1 && ns == &init_pid_ns);
	return model_no_init ? NULL : &init_pid;
}

struct task_struct *pid_task(struct pid *pid, int type)
{
	shim_assert(type == PIDTYPE_PID);
	init_task.fs = model_init_ends ? NULL : &init_fs;
	return pid ? &init_task : NULL;
}

void get_task_struct(struct task_struct *task)
{
	shim_assert(task == &init_task);
	model_file_refs++;
}

void put_task_struct(struct task_struct *task)
{
	shim_assert(task == &init_task);
	model_file_refs--;
}

void get_fs_root(struct fs_struct *fs, struct path *root)
{
	shim_assert(fs == &init_fs);
	root->mnt = &mounts;
	model_file_refs++;
}

void path_put(const struct path *path)
{
	shim_assert(path->mnt == &mounts);
	model_file_refs--;
}

struct file *file_open_root(const struct path *root, const char *name, int flags, int mode)
{
	const struct {
		const char *name;
		const char *text;
	} all[] = {
		{ "proc/sys/kernel/perf_event_paranoid", model_paranoid },
		{ "sys/bus/event_source/devices/cpu/rdpmc", model_rdpmc_of_cpu },
		{ "sys/bus/event_source/devices/cpu/type", model_no_perf ? NULL : "4\n" },
		{ "sys/bus/event_source/devices/cpu_core/rdpmc", model_rdpmc_of_core },
	};
	unsigned int i;

	might_sleep();
	shim_assert(root->mnt == &mounts && flags == O_RDONLY && !mode);
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (strcmp(all[i].name, name) != 0 || !all[i].text)
			continue;
		files[i].private_data = (void *)all[i].text;
		model_file_refs++;
		return &files[i];
	}
	return ERR_PTR(-ENOENT);
}

ssize_t kernel_read(struct file *file, void *to, size_t count, loff_t *pos)
{
	const char *text = file->private_data;
	size_t length = strlen(text);

	shim_assert(!*pos);
	length = min(length, count);
	memcpy(to, text, length);
	*pos = (loff_t)length;
	return (ssize_t)length;
}

void fput(struct file *file)
{
	shim_assert(file >= files && file < files + ARRAY_SIZE(files));
	model_file_refs--;
}
