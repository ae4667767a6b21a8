/* SPDX-License-Identifier: GPL-2.0 */
/* Counts by some of the counters while perf has the others: see arch/beside.h. */
#ifndef PERFCTR_X86_BESIDE_H
#define PERFCTR_X86_BESIDE_H

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/types.h>

#include "arch/cpu.h"

/*
 * Call this when the family has filled in perfctr_pmu. If the parameter asks for it and the
 * processor allows it, changes perfctr_pmu so that we count beside perf.
 */
void __init perfctr_x86_beside_init(void);
/* Call this when we hold no counter any more. May sleep. */
void perfctr_x86_beside_exit(void);

/*
 * Holds the counters that were chosen for the config on all online CPUs, too. Returns 0, or an
 * error of perfctr_beside_hold(), after which nothing more is held. *busy are then counters that
 * are not held: the lowest one cannot be had now, the others may not have been tried. The caller
 * holds config_mutex and the hotplug lock. After success each CPU has to call
 * perfctr_x86_beside_take().
 */
int perfctr_x86_beside_hold(const struct perfctr_config *config, u32 counters, u32 *busy);
/*
 * Returns the counters by which this counter of a control can have its extra register (extra.h):
 * those that are not held, and those whose placeholders own the register with the same value. None
 * if a placeholder owns it with another value. The caller holds config_mutex.
 */
u32 perfctr_x86_beside_fit(const struct perfctr_ctr_control *ctr);
/*
 * Returns true if perf would have no counter of cycles if we held these counters, too. The caller
 * holds config_mutex.
 */
bool perfctr_x86_beside_is_last(u32 counters);
/* Holds on this CPU, which comes up, what the others hold. May sleep. */
void perfctr_x86_beside_join(unsigned int cpu);
/*
 * Gives back all counters but these. Each CPU has stopped and zeroed the others before. The caller
 * holds config_mutex and the hotplug lock.
 */
void perfctr_x86_beside_keep(u32 counters);
/* Stops and zeroes all counters of this CPU but these. Interrupts are off. */
void perfctr_x86_beside_stop_others(u32 counters);
/* Forgets the placeholders of a CPU that is down. */
void perfctr_x86_beside_forget(unsigned int cpu);
/* Returns true if any CPU has lost a counter since all were given back. */
bool perfctr_x86_beside_has_lost(void);
/* Returns those of perfctr_pmu.counters that this CPU holds. Interrupts are off. */
u32 perfctr_x86_beside_held(void);
/*
 * Takes what this CPU holds. Afterwards these counters stand still at zero. Interrupts are off.
 */
void perfctr_x86_beside_take(void);

#endif /* PERFCTR_X86_BESIDE_H */
