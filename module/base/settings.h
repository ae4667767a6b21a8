/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_SETTINGS_H
#define PERFCTR_SETTINGS_H

#include <linux/types.h>

struct file;

/**
 * struct perfctr_setting - a number in a file of proc or sysfs; config_mutex
 * @name: its path without the first slash
 * @file: the open file, while it is watched and could be opened. It stays open, since opening it
 *	takes ten times as long as reading it
 */
struct perfctr_setting {
	const char *name;
	struct file *file;
};

/* Opens the file, or closes it. Only from a kernel thread: some are root's. May sleep. */
void perfctr_setting_watch(struct perfctr_setting *setting, bool on);
/* The setting's present value; -1: it cannot be read, or is not watched. May sleep. */
long perfctr_setting_read(const struct perfctr_setting *setting);

/* True if only the privileged can open events of perf's. Call perfctr_perf_watch() first. */
bool perfctr_perf_is_closed(void);
void perfctr_perf_watch(bool on);

#endif /* PERFCTR_SETTINGS_H */
