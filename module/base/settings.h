/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_SETTINGS_H
#define PERFCTR_SETTINGS_H

#include <linux/types.h>

struct file;

/**
 * struct perfctr_setting - a number in a file of proc or sysfs; config_mutex
 * @name: path of the file without the first slash
 * @file: the open file, or NULL if it is not watched or could not be opened. The file stays open,
 *	because opening it takes ten times as long as reading it
 */
struct perfctr_setting {
	const char *name;
	struct file *file;
};

/*
 * Opens the file if @on is true, and closes it otherwise. Call this only in a kernel thread,
 * because only root can open some files. May sleep.
 */
void perfctr_setting_watch(struct perfctr_setting *setting, bool on);
/*
 * Returns the setting's present value, or -1 if the file cannot be read or is not watched. May
 * sleep.
 */
long perfctr_setting_read(const struct perfctr_setting *setting);

/* Returns true if opening any event of perf's needs privilege. Call perfctr_perf_watch() first. */
bool perfctr_perf_is_closed(void);
void perfctr_perf_watch(bool on);

#endif /* PERFCTR_SETTINGS_H */
