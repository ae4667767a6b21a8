/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERFCTR_HOTPLUG_H
#define PERFCTR_HOTPLUG_H

/* CPUs that are online have counters from now on, as those that come later. ENOMEM. May sleep */
int perfctr_hotplug_init(void);
void perfctr_hotplug_exit(void);

#endif /* PERFCTR_HOTPLUG_H */
