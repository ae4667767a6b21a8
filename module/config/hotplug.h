/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_HOTPLUG_H
#define PERFCTR_HOTPLUG_H

/* From now on online CPUs have counters, and so have those that come later. ENOMEM. May sleep */
int perfctr_hotplug_init(void);
void perfctr_hotplug_exit(void);

#endif /* PERFCTR_HOTPLUG_H */
