/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_HOTPLUG_H
#define PERFCTR_HOTPLUG_H

/*
 * Prepares the counters of all online CPUs, and from now on of each CPU that comes. Returns 0, or a
 * negative error. May sleep.
 */
int perfctr_hotplug_init(void);
void perfctr_hotplug_exit(void);

#endif /* PERFCTR_HOTPLUG_H */
