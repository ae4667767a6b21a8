// SPDX-License-Identifier: GPL-2.0
/*
 * Events that need a second register beside the event select. This register says what the event
 * counts. The hyperthreads of a core share the register, so it cannot change at a switch. It holds
 * one value on all CPUs as long as any config needs this value. A config that needs another value
 * is refused.
 *
 * The family says which of these events the processor has, and which bits their registers define.
 */

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <asm/msr.h>

#include "arch/x86/evntsel.h"
#include "arch/x86/extra.h"

/*
 * The events of this processor, the MSRs of their registers, a bit map of the registers that exist,
 * and the function passed to perfctr_x86_extra_init_by(), or NULL. Constant after init.
 */
static const struct perfctr_x86_extra_event none[1];
static const struct perfctr_x86_extra_event *events = none;
static const u32 *msrs;
static u32 registers;
static u64 (*by_family)(const struct perfctr_ctr_control *ctr, unsigned int reg);

/* Bit map of registers that any config has ever used; protected by config_mutex */
static u32 ever_had;

/*
 * Use of each register, protected by config_mutex
 * @value: value of the register on every CPU whose counters we have. 0: no config needs the
 *	register
 * @users: number of counters in all claimed configs that need this value
 */
static struct {
	u64 value;
	unsigned int users;
} extras[PERFCTR_X86_EXTRAS];

/*
 * The value that we wrote to each register of this CPU. 0: the register may hold anything. Only
 * that CPU accesses this array, with interrupts off.
 */
static DEFINE_PER_CPU(u64 [PERFCTR_X86_EXTRAS], written);

/* The registers of this CPU may be perf's. Accessed as @written is. */
static DEFINE_PER_CPU(bool, forgotten);

static const struct perfctr_x86_extra_event *find_event(u64 select)
{
	const struct perfctr_x86_extra_event *event;

	for (event = events; event->event; event++)
		if (event->event == (select & EVNTSEL_CODE_AND_UMASK))
			return event;
	return NULL;
}

bool perfctr_x86_has_extra(u64 event)
{
	return find_event(event);
}

/* Returns the value that a checked control needs in the register, or 0. */
static u64 wanted(const struct perfctr_ctr_control *ctr, unsigned int reg)
{
	const struct perfctr_x86_extra_event *event;

	if (by_family)
		return registers & BIT(reg) ? by_family(ctr, reg) : 0;
	event = ctr->config ? find_event(ctr->event) : NULL;
	return event && event->reg == reg ? ctr->config : 0;
}

u64 perfctr_x86_extra_value(const struct perfctr_ctr_control *ctr, unsigned int *reg)
{
	u64 value = 0;

	for (*reg = 0; *reg < PERFCTR_X86_EXTRAS; ++*reg) {
		value = wanted(ctr, *reg);
		if (value)
			break;
	}
	return value;
}

static int check_by_family(const struct perfctr_ctr_control *ctr, u64 *values)
{
	unsigned int reg;

	for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++) {
		u64 value = wanted(ctr, reg);

		if (value && values[reg] && values[reg] != value)
			return -EINVAL;
		if (value)
			values[reg] = value;
	}
	return 0;
}

int perfctr_x86_extra_check(const struct perfctr_ctr_control *ctr, u64 *values)
{
	const struct perfctr_x86_extra_event *event;

	if (by_family)
		return check_by_family(ctr, values);
	/* Only families that call perfctr_x86_extra_init_by() use these members. */
	if (ctr->config1 || ctr->config2)
		return -EINVAL;
	event = find_event(ctr->event);
	if (!event)
		return ctr->config ? -EINVAL : 0;
	if (event->reg == PERFCTR_X86_NO_EXTRA || !(registers & BIT(event->reg)))
		return -EOPNOTSUPP;
	/* If no bit is set, the event counts nothing. */
	if (!ctr->config || ctr->config & ~event->valid)
		return -EINVAL;
	if (values[event->reg] && values[event->reg] != ctr->config)
		return -EINVAL;
	values[event->reg] = ctr->config;
	return 0;
}

static void write_extra(unsigned int reg, u64 value)
{
	wrmsr(msrs[reg], (u32)value, value >> 32);
}

void perfctr_x86_extra_take(void)
{
	unsigned int reg;

	__this_cpu_write(forgotten, false);
	for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++) {
		__this_cpu_write(written[reg], extras[reg].value);
		if (extras[reg].value)
			write_extra(reg, extras[reg].value);
	}
}

u32 perfctr_x86_extra_changed(u64 *is, u64 *was)
{
	unsigned int reg;
	u32 low, high;

	lockdep_assert_irqs_disabled();
	for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++) {
		*was = __this_cpu_read(written[reg]);
		if (likely(!*was))
			continue;
		rdmsr(msrs[reg], low, high);
		*is = (u64)high << 32 | low;
		if (*is != *was)
			return msrs[reg];
	}
	return 0;
}

notrace void perfctr_x86_extra_forget(void)
{
	unsigned int reg;

	for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++)
		__this_cpu_write(written[reg], 0);
	__this_cpu_write(forgotten, true);
}

bool perfctr_x86_extra_ever_had(void)
{
	return ever_had;
}

void perfctr_x86_extra_release(void)
{
	unsigned int reg;

	for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++)
		if (ever_had & BIT(reg))
			write_extra(reg, 0);
}

u32 perfctr_x86_extra_refused(const struct perfctr_config *config)
{
	unsigned int i, reg;

	for (i = 0; i < config->nr; i++) {
		for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++) {
			u64 value = wanted(&config->ctr[i], reg);

			if (value && extras[reg].users && extras[reg].value != value)
				return i;
		}
	}
	return PERFCTR_NO_INDEX;
}

/*
 * Writes the value to this CPU's register. Returns 0, or -EINVAL if the processor refuses the value
 * or does not keep it. Nobody can count on a CPU whose registers may be perf's.
 */
static int try_extra(void *arg)
{
	unsigned int reg = *(unsigned int *)arg;
	u64 value = extras[reg].value;
	u32 low, high;

	if (__this_cpu_read(forgotten))
		return 0;
	if (wrmsr_safe(msrs[reg], (u32)value, value >> 32) ||
	    rdmsr_safe(msrs[reg], &low, &high) || ((u64)high << 32 | low) != value)
		return -EINVAL;
	__this_cpu_write(written[reg], value);
	return 0;
}

/*
 * Forgets the value that we wrote. This must happen on all CPUs before any CPU zeroes its register.
 * Otherwise a sibling hyperthread would find the register changed.
 */
static int forget_extra(void *arg)
{
	__this_cpu_write(written[*(unsigned int *)arg], 0);
	return 0;
}

static int zero_extra(void *arg)
{
	if (!__this_cpu_read(forgotten))
		write_extra(*(unsigned int *)arg, 0);
	return 0;
}

/* Adds a user of the register. Returns false if the processor refuses the value. */
static bool get_one(unsigned int reg, u64 value, perfctr_run_t run)
{
	if (!value || extras[reg].users++)
		return true;
	ever_had |= BIT(reg);
	extras[reg].value = value;
	return !run(try_extra, &reg);
}

int perfctr_x86_extra_get(const struct perfctr_config *config, perfctr_run_t run, u32 *index)
{
	unsigned int i, reg;
	int err = 0;

	for (i = 0; i < config->nr; i++) {
		for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++) {
			if (get_one(reg, wanted(&config->ctr[i], reg), run))
				continue;
			*index = i;
			err = -EINVAL;
		}
	}
	return err;
}

void perfctr_x86_extra_put(const struct perfctr_config *config, perfctr_run_t run)
{
	unsigned int i, reg;

	for (i = 0; i < config->nr; i++) {
		for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++) {
			if (!wanted(&config->ctr[i], reg) || --extras[reg].users)
				continue;
			extras[reg].value = 0;
			run(forget_extra, &reg);
			run(zero_extra, &reg);
		}
	}
}

void __init perfctr_x86_extra_init_by(u64 (*value)(const struct perfctr_ctr_control *ctr,
						   unsigned int reg),
				      unsigned int nr, const u32 *own_msrs)
{
	by_family = value;
	msrs = own_msrs;
	registers = BIT(nr) - 1;
}

void __init perfctr_x86_extra_init(const struct perfctr_x86_extra_event *own, const u32 *own_msrs)
{
	const struct perfctr_x86_extra_event *event;
	u32 low, high;

	events = own;
	msrs = own_msrs;
	for (event = events; event->event; event++)
		if (event->reg != PERFCTR_X86_NO_EXTRA &&
		    !rdmsr_safe(msrs[event->reg], &low, &high))
			registers |= BIT(event->reg);
}
