// SPDX-License-Identifier: GPL-2.0
/* See model_files.h. */
#include <stdio.h>

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/notifier.h>
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

static struct fs_struct init_fs;
static struct pid init_pid = { .nr = 1 };
static struct task_struct init_task = { .fs = &init_fs };
static char mounts;

const char *model_uncore;
bool model_no_sysfs;

static struct file files[5];
/* Who opened them, and as whom current reads now */
static const struct cred opener, *reader;

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

/* What is in a file now; NULL: there is no such file. */
static const char *text_of(const struct file *file)
{
	const char *const texts[ARRAY_SIZE(files)] = {
		model_paranoid,
		model_rdpmc_of_cpu,
		model_no_perf ? NULL : "4\n",
		model_rdpmc_of_core,
		model_uncore ? "10\n" : NULL,
	};

	return model_no_sysfs && file != files ? NULL : texts[file - files];
}

struct file *file_open_root(const struct path *root, const char *name, int flags, int mode)
{
	static const char *const names[ARRAY_SIZE(files)] = {
		"proc/sys/kernel/perf_event_paranoid",
		"sys/bus/event_source/devices/cpu/rdpmc",
		"sys/bus/event_source/devices/cpu/type",
		"sys/bus/event_source/devices/cpu_core/rdpmc",
	};
	char uncore[64];
	unsigned int i;

	might_sleep();
	shim_assert(root->mnt == &mounts && flags == O_RDONLY && !mode);
	(void)snprintf(uncore, sizeof(uncore), "sys/bus/event_source/devices/%s/type",
		       model_uncore ? model_uncore : "");
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		if (strcmp(names[i] ? names[i] : uncore, name) != 0 || !text_of(&files[i]))
			continue;
		files[i].f_cred = &opener;
		model_file_refs++;
		return &files[i];
	}
	return ERR_PTR(-ENOENT);
}

const struct cred *override_creds(const struct cred *cred)
{
	const struct cred *before = reader;

	reader = cred;
	return before;
}

void revert_creds(const struct cred *cred)
{
	reader = cred;
}

ssize_t kernel_read(struct file *file, void *to, size_t count, loff_t *pos)
{
	const char *text = text_of(file);
	size_t length;

	might_sleep();
	shim_assert(!*pos && reader == &opener);
	if (!text)
		return -EIO;
	length = min(strlen(text), count);
	memcpy(to, text, length);
	*pos = (loff_t)length;
	return (ssize_t)length;
}

void fput(struct file *file)
{
	shim_assert(file >= files && file < files + ARRAY_SIZE(files));
	model_file_refs--;
}

/*
 * Modules
 */

static struct notifier_block *notifier;

int register_module_notifier(struct notifier_block *block)
{
	might_sleep();
	shim_assert(!notifier);
	notifier = block;
	return 0;
}

int unregister_module_notifier(struct notifier_block *block)
{
	might_sleep();
	shim_assert(notifier == block);
	notifier = NULL;
	return 0;
}

void model_module_comes(const char *name)
{
	static const unsigned long actions[] = { MODULE_STATE_COMING, MODULE_STATE_LIVE };
	struct module module = {};
	unsigned int i;

	strncpy(module.name, name, sizeof(module.name) - 1);
	for (i = 0; notifier && i < ARRAY_SIZE(actions); i++)
		notifier->notifier_call(notifier, actions[i], &module);
}
