/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_SETTINGS_H
#define PERFCTR_SETTINGS_H

#include <linux/types.h>

struct file;

/**
 * struct perfctr_setting - a number in a file of proc or sysfs; config_mutex
 * @name: its path without the first slash
 * @file: it, while it is watched and can be opened. To open it takes ten times as long as to
 *	read it
 */
struct perfctr_setting {
	const char *name;
	struct file *file;
};

/* Opens it, or closes it. By a kernel thread, as root alone may open some. May sleep. */
void perfctr_setting_watch(struct perfctr_setting *setting, bool on);
/* What it is now; -1: it cannot be read, or is not watched. By anybody. May sleep. */
long perfctr_setting_read(const struct perfctr_setting *setting);

/* Can nobody without privilege open an event of perf's? While that is watched, as above. */
bool perfctr_perf_is_closed(void);
void perfctr_perf_watch(bool on);

#endif /* PERFCTR_SETTINGS_H */
