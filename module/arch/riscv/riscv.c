// SPDX-License-Identifier: GPL-2.0
/*
 * RISC-V: cycle, instret and the hpmcounters, programmed through the SBI PMU
 * extension.
 *
 * Supervisor mode reads counters by CSR but neither programs, starts, stops nor
 * writes them: each of these is a call of the firmware, of 363 instructions and
 * more with OpenSBI. So a counter, once had, is kept, and left running, until
 * no control names it: a context switch between equal controls makes no call.
 *
 * The firmware hands a programmable counter to one owner at a time, which is
 * how we live beside perf. Three things about it are not to be trusted:
 *  - OpenSBI hands cycle and instret to anyone, whatever the mask, also when the
 *    programmable counters have run out: its success means nothing until the
 *    index it returns is seen to be the one asked for;
 *  - that fallback rewrites their filter (Smcntrpmf) for whoever had them;
 *  - START of a counter that runs says ALREADY_STARTED and leaves its value:
 *    what must begin at zero is stopped first.
 *
 * QEMU (10.0) counts an event on one counter per hart, and a second counter
 * with the same event stays at zero. Hardware has no such limit. So two controls
 * that want one event, filtered differently, share a counter; and where a trial
 * showed that limit, one control that names an event twice is refused, and two
 * that name different counters for it take the event from each other.
 */

#define pr_fmt(fmt) "perfctr: " fmt

#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/of.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <asm/asm-extable.h>
#include <asm/cpufeature.h>
#include <asm/hwcap.h>
#include <asm/sbi.h>

#include "lowlevel.h"
#include "interrupt.h"

#define SBI_EVENT_TYPE(event)	((event) >> 16)
#define SBI_EVENT_CODE(event)	((event) & 0xffff)
#define SBI_TYPE_HW		0
#define SBI_TYPE_CACHE		1
#define SBI_TYPE_FW		15
#define SBI_EVENT_RAW		0x20000
#define SBI_RAW_BITS		48
#define IMPL_KVM		3	/* SBI implementation ID */

#define FIXED_MASK	(BIT(PERFCTR_RISCV_CYCLE) | BIT(PERFCTR_RISCV_INSTRET))
/*
 * Where perf starts what it counts. It stops and starts its events when others
 * come, from the value that it finds, if that is one that it can have come to;
 * so what is reserved from it (see reserve()) is never set to less.
 */
#define PERF_START	(BIT_ULL(63) + 1)
#define CTR_BOTH	(PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)

/*
 * No machine counts more than this many events a second on one counter: 2^33,
 * e.g. two a cycle at 4 GHz. It bounds how often ageing must look.
 */
#define MAX_RATE_SHIFT	33

static unsigned int counter_width;
module_param(counter_width, uint, 0444);
MODULE_PARM_DESC(counter_width, "use only this many bits (26 or more) of each programmable counter; 0: all that the firmware says");

bool perfctr_riscv_sbi;

/* Constant after perfctr_cpu_init(), but for what is learnt of events, under config_mutex. */
static struct {
	bool shuffled;		/* some counter's SBI index is not its number */
	bool filter;		/* Sscofpmf */
	bool filter_fixed;	/* Smcntrpmf */
	bool interrupt;		/* programmable counters interrupt */
	bool probed;		/* no counter was in others' hands when events were probed */
	unsigned long probe_again;	/* jiffies before which that is not repeated */
	int event_once;		/* one counter alone counts an event; -1 not known */
	u32 counters;		/* hardware counters that exist */
	u32 programmable;	/* those of them that are hpmcounters */
	unsigned int width;	/* bits of the narrowest programmable counter */
	u8 index[PERFCTR_RISCV_MAX];	/* their SBI counter_idx */
	u64 events[2];
} pmu;

/*
 * The counters that live configs name: how many of them, and what the latest
 * wanted. Written under config_mutex; read by a CPU that comes back from deep
 * sleep without it, which is harmless: a counter that was programmed wrongly
 * or in vain is seen by its prog[], and the release of one comes by interrupt.
 */
static struct {
	unsigned int users;
	struct perfctr_riscv_prog prog;
} pool[PERFCTR_RISCV_MAX];

static u32 pooled;	/* those with users, as a bit map; config_mutex */

DEFINE_PER_CPU(struct perfctr_riscv_cpu, perfctr_riscv_cpu);

static struct sbiret pmu_call(int fid, unsigned long a0, unsigned long a1,
			      unsigned long a2, unsigned long a3, u64 a4)
{
	return sbi_ecall(SBI_EXT_PMU, fid, a0, a1, a2, a3, a4, 0);
}

static unsigned long sbi_mask(u32 counters)
{
	unsigned long bits = counters, mask = 0;
	int hw;

	if (likely(!pmu.shuffled))
		return counters;
	for_each_set_bit(hw, &bits, PERFCTR_RISCV_MAX)
		mask |= BIT(pmu.index[hw]);
	return mask;
}

static void pmu_stop(u32 counters, unsigned long flags)
{
	if (counters)
		pmu_call(SBI_EXT_PMU_COUNTER_STOP, 0, sbi_mask(counters), flags, 0, 0);
}

/* The CPU's counters are no longer all as any config wants them. */
static void now_unknown(struct perfctr_riscv_cpu *cpu)
{
	cpu->programmed = 0;
	cpu->active = 0;
	cpu->private_config = 0;
	cpu->istopped = NULL;
}

/* With SET_INIT_VALUE in @flags, from @value on. Runs already is success, and leaves its value. */
static int pmu_start(u32 counters, unsigned long flags, u64 value)
{
	struct sbiret ret;

	if (!counters)
		return 0;
	ret = pmu_call(SBI_EXT_PMU_COUNTER_START, 0, sbi_mask(counters), flags, value,
		       IS_ENABLED(CONFIG_32BIT) ? value >> 32 : 0);
	if (ret.error && ret.error != SBI_ERR_ALREADY_STARTED)
		return -EIO;
	return ret.error ? 1 : 0;
}

static unsigned long cfg_flags(u32 modes)
{
	/* Guests of this host are never counted, as with perf's exclude_guest. */
	unsigned long flags = SBI_PMU_CFG_FLAG_SET_VUINH | SBI_PMU_CFG_FLAG_SET_VSINH |
			      SBI_PMU_CFG_FLAG_SET_MINH;

	if (!(modes & PERFCTR_CTR_USER))
		flags |= SBI_PMU_CFG_FLAG_SET_UINH;
	if (!(modes & PERFCTR_CTR_KERNEL))
		flags |= SBI_PMU_CFG_FLAG_SET_SINH;
	return flags;
}

static bool prog_equal(const struct perfctr_riscv_prog *a, const struct perfctr_riscv_prog *b)
{
	return a->event == b->event && a->flags == b->flags && a->config == b->config;
}

static struct perfctr_riscv_prog ctr_prog(const struct perfctr_ctr_control *ctr)
{
	return (struct perfctr_riscv_prog) {
		.event = ctr->event,
		.flags = ctr->flags,
		.config = ctr->config,
	};
}

static struct perfctr_riscv_prog event_prog(unsigned int type, unsigned int code)
{
	return (struct perfctr_riscv_prog) { .event = type << 16 | code, .flags = CTR_BOTH };
}

static unsigned int fixed_event(unsigned int hw)
{
	return hw == PERFCTR_RISCV_CYCLE ? SBI_PMU_HW_CPU_CYCLES : SBI_PMU_HW_INSTRUCTIONS;
}

static unsigned int index_to_hw(unsigned long index)
{
	unsigned int hw;

	for (hw = 0; hw < PERFCTR_RISCV_MAX; hw++)
		if (pmu.counters & BIT(hw) && pmu.index[hw] == index)
			break;
	return hw;
}

/* Ask for one of these counters, and believe only the index that comes back. */
static int cfg_match(struct perfctr_riscv_cpu *cpu, u32 counters,
		     const struct perfctr_riscv_prog *prog)
{
	struct sbiret ret = pmu_call(SBI_EXT_PMU_COUNTER_CFG_MATCH, 0, sbi_mask(counters),
				     cfg_flags(prog->flags), prog->event, prog->config);
	unsigned int hw;

	if (ret.error)
		return -EBUSY;
	hw = index_to_hw(ret.value);
	if (hw == PERFCTR_RISCV_MAX || counters & BIT(hw))
		return hw == PERFCTR_RISCV_MAX ? -EBUSY : hw;

	/* Something else. If a counter of ours, its filter is gone: write it at the next load. */
	if (cpu->owned & BIT(hw)) {
		cpu->prog[hw] = (struct perfctr_riscv_prog) {};
		now_unknown(cpu);
	} else if (pmu.programmable & BIT(hw)) {
		pmu_stop(BIT(hw), SBI_PMU_STOP_FLAG_RESET);
	} else if (pmu.filter_fixed) {
		/* Nobody's, most likely: everybody's, unfiltered. */
		pmu_call(SBI_EXT_PMU_COUNTER_CFG_MATCH, 0, BIT(ret.value),
			 cfg_flags(CTR_BOTH), fixed_event(hw), 0);
	}
	return -EBUSY;
}

/* The events that the firmware never counts on cycle or instret instead. */
static u64 events_of_no_fixed(unsigned int type)
{
	u64 fixed = BIT_ULL(SBI_PMU_HW_CPU_CYCLES) | BIT_ULL(SBI_PMU_HW_INSTRUCTIONS);

	return pmu.events[type] & ~(type == SBI_TYPE_HW ? fixed : 0);
}

/* Can this programmable counter, which is not ours, be had for anything? */
static bool counter_is_free(struct perfctr_riscv_cpu *cpu, unsigned int hw)
{
	unsigned int type, code;

	for (type = SBI_TYPE_HW; type <= SBI_TYPE_CACHE; type++) {
		unsigned long events = events_of_no_fixed(type);

		for_each_set_bit(code, &events, BITS_PER_LONG) {
			struct perfctr_riscv_prog prog = event_prog(type, code);

			if (cfg_match(cpu, BIT(hw), &prog) >= 0) {
				pmu_stop(BIT(hw), SBI_PMU_STOP_FLAG_RESET);
				return true;
			}
		}
	}
	return false;
}

/* One certain counter. @free: it is known to be in nobody's hands. */
static int cfg_one(struct perfctr_riscv_cpu *cpu, unsigned int hw,
		   const struct perfctr_riscv_prog *prog, bool free)
{
	bool fallback = prog->event == SBI_PMU_HW_CPU_CYCLES ||
			prog->event == SBI_PMU_HW_INSTRUCTIONS;
	int got;

	/* A refusal may cost somebody the filter of cycle: ask for something else first. */
	if (!free && fallback && pmu.filter_fixed && pmu.programmable & BIT(hw) &&
	    (events_of_no_fixed(SBI_TYPE_HW) || events_of_no_fixed(SBI_TYPE_CACHE)) &&
	    !counter_is_free(cpu, hw))
		return -EBUSY;
	got = cfg_match(cpu, BIT(hw), prog);
	return got < 0 ? got : 0;
}

/*
 * Where one counter alone counts an event, the others that have it give it up;
 * who wants it there loads again.
 */
static void evict_event(struct perfctr_riscv_cpu *cpu, unsigned int hw,
			const struct perfctr_riscv_prog *prog)
{
	unsigned long rest = cpu->owned & pmu.programmable & ~BIT(hw);
	unsigned int other;

	for_each_set_bit(other, &rest, PERFCTR_RISCV_MAX) {
		if (cpu->prog[other].event != prog->event ||
		    cpu->prog[other].config != prog->config)
			continue;
		pmu_stop(BIT(other), SBI_PMU_STOP_FLAG_RESET);
		cpu->owned &= ~BIT(other);
		cpu->running &= ~BIT(other);
		cpu->prog[other] = (struct perfctr_riscv_prog) {};
	}
}

/* This CPU's counter hw is to count prog; it need not run yet. */
static int take_one(struct perfctr_riscv_cpu *cpu, unsigned int hw,
		    const struct perfctr_riscv_prog *prog)
{
	struct perfctr_riscv_prog old = cpu->prog[hw];
	bool had = cpu->owned & BIT(hw);
	int err;

	if (had && prog_equal(&old, prog))
		return 0;
	if (cpu->denied & BIT(hw))
		return -EBUSY;

	now_unknown(cpu);
	cpu->prog[hw] = (struct perfctr_riscv_prog) {};
	if (had && pmu.programmable & BIT(hw)) {
		/* A counter is given back before it is given another event. */
		pmu_stop(BIT(hw), SBI_PMU_STOP_FLAG_RESET);
		cpu->running &= ~BIT(hw);
		cpu->owned &= ~BIT(hw);
	}
	if (pmu.event_once > 0 && pmu.programmable & BIT(hw))
		evict_event(cpu, hw, prog);
	err = cfg_one(cpu, hw, prog, had);
	if (err) {
		/* It cannot count that; do not lose it to others for that. */
		if (had && pmu.programmable & BIT(hw) && !cfg_one(cpu, hw, &old, true)) {
			cpu->owned |= BIT(hw);
			cpu->prog[hw] = old;
		}
		return err;
	}
	cpu->owned |= BIT(hw);
	cpu->prog[hw] = *prog;
	/* Linux stops cycle and instret as a CPU comes, unless somebody wants them. */
	if (!had && FIXED_MASK & BIT(hw)) {
		err = pmu_start(BIT(hw), 0, 0);
		if (err < 0)
			return -EBUSY;
		cpu->running |= BIT(hw);
		if (!err)
			cpu->started |= BIT(hw);
	}
	return 0;
}

static void release(struct perfctr_riscv_cpu *cpu, u32 counters)
{
	unsigned long fixed = counters & cpu->owned & FIXED_MASK;
	unsigned int hw;

	now_unknown(cpu);
	if (!counters)
		return;
	pmu_stop(counters & cpu->owned & pmu.programmable, SBI_PMU_STOP_FLAG_RESET);
	/* cycle and instret are everybody's: unfiltered, and running or not as we found them. */
	for_each_set_bit(hw, &fixed, PERFCTR_RISCV_MAX) {
		struct perfctr_riscv_prog prog = event_prog(SBI_TYPE_HW, fixed_event(hw));

		cfg_one(cpu, hw, &prog, true);
	}
	pmu_stop(fixed & cpu->started, 0);
	cpu->started &= ~counters;
	for (hw = 0; hw < PERFCTR_RISCV_MAX; hw++)
		if (counters & BIT(hw))
			cpu->prog[hw] = (struct perfctr_riscv_prog) {};
	cpu->running &= ~counters;
	cpu->owned &= ~counters;
}

/*
 * Program what the config wants and this CPU's counters do not count yet. @id is the
 * config's, which the caller reads once, as it may change meanwhile.
 */
static __always_inline int take_all(struct perfctr_riscv_cpu *cpu,
				    const struct perfctr_config *config, unsigned long id)
{
	unsigned int i;

	if (likely(cpu->programmed == id))
		return 0;
	for (i = 0; i < config->nr; i++) {
		struct perfctr_riscv_prog prog = ctr_prog(&config->ctr[i]);

		if (take_one(cpu, config->hw[i], &prog))
			return -EIO;
	}
	cpu->programmed = id;
	return 0;
}

/* Its a-mode counters */
static u32 actrs_of(const struct perfctr_config *config)
{
	return config->mask & ~config->imask;
}

int perfctr_cpu_load(const struct perfctr_config *config)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	unsigned long id = READ_ONCE(config->id);
	u32 start;

	lockdep_assert_irqs_disabled();
	if (!config->nr)
		return 0;
	cpu->private_config = 0;
	if (perfctr_riscv_sbi) {
		if (take_all(cpu, config, id))
			return -EIO;
		/* What runs for another config runs on: nobody reads it meanwhile. */
		start = actrs_of(config) & ~cpu->running;
		cpu->istopped = NULL;
		if (pmu_start(start & ~FIXED_MASK, SBI_PMU_START_FLAG_SET_INIT_VALUE, 0) < 0 ||
		    pmu_start(start & FIXED_MASK, 0, 0) < 0)
			return -EIO;
		cpu->running |= actrs_of(config);
	}
	cpu->active = id;
	return 0;
}

/* Those of i-mode are what perfctr_cpu_istart() and iclear() make them. */
static int restart_actrs(const struct perfctr_config *config)
{
	u32 perfs = pmu.filter ? 0 : config->mask & FIXED_MASK;
	struct sbiret ret;

	if (unlikely(!actrs_of(config)))
		return 0;
	pmu_call(SBI_EXT_PMU_COUNTER_STOP, 0, config->arch_mask, 0, 0, 0);
	if (likely(!perfs)) {
		ret = pmu_call(SBI_EXT_PMU_COUNTER_START, 0, config->arch_mask,
			       SBI_PMU_START_FLAG_SET_INIT_VALUE, 0, 0);
		return ret.error ? -EIO : 0;
	}
	if (pmu_start(actrs_of(config) & ~perfs, SBI_PMU_START_FLAG_SET_INIT_VALUE, 0) ||
	    pmu_start(perfs, SBI_PMU_START_FLAG_SET_INIT_VALUE, PERF_START))
		return -EIO;
	return 0;
}

notrace int perfctr_cpu_restart(const struct perfctr_config *config, kuid_t uid)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	unsigned long id = READ_ONCE(config->id);

	lockdep_assert_irqs_disabled();
	cpu->active = 0;
	cpu->private_config = 0;
	cpu->istopped = NULL;
	if (take_all(cpu, config, id))
		return -EIO;
	if (restart_actrs(config)) {
		cpu->running &= ~actrs_of(config);
		return -EIO;
	}
	cpu->running |= actrs_of(config);
	cpu->private_config = id;
	cpu->private_uid = uid;
	return 0;
}

/*
 * i-mode. One interrupt, LCOFI, is that of all counters, perf's too: it is pending
 * in sip from the moment a counter overflows to when somebody clears it there, and
 * each counter's OF, which scountovf shows, is set until the counter is started.
 * Three things must never be:
 *  - START while LCOFI is pending: OpenSBI leaves OF set then, since the overflow
 *    may not have been seen yet, and a counter whose OF is set interrupts no more.
 *    So ours wait for the interrupt, and are stopped while perf's handler runs,
 *    which starts its own;
 *  - perf's handler without any OF: it stops perf's counters and starts them only
 *    if it finds one. So ours stay set until the interrupt is over, and an
 *    interrupt that is ours alone is taken back as soon as our counters stand;
 *  - an LCOFI of perf's lost with ours. It is writable in sip.
 */

notrace unsigned int perfctr_cpu_iwidth(void)
{
	return pmu.width;
}

/* Half of what the register holds: what is above is an overflow, however late one looks. */
notrace u64 perfctr_cpu_irange(void)
{
	return BIT_ULL(pmu.width - 1);
}

static bool interrupt_waits(void)
{
	return csr_read(CSR_SIP) & BIT(IRQ_PMU_OVF);
}

/* Counters that are ours have overflowed, and stand: it is not for them that it is pending. */
static void take_interrupt_back(const struct perfctr_riscv_cpu *cpu)
{
	csr_clear(CSR_SIP, BIT(IRQ_PMU_OVF));
	/* What overflows from here on makes it pending again. */
	if (csr_read(CSR_SCOUNTOVF) & ~cpu->owned)
		csr_set(CSR_SIP, BIT(IRQ_PMU_OVF));
}

/* Has one of the config's i-mode counters, which run, come to zero? */
static bool any_overflowed(const struct perfctr_config *config)
{
	unsigned long rest = config->imask;
	unsigned int hw;

	for_each_set_bit(hw, &rest, PERFCTR_RISCV_MAX)
		if (sign_extend64(perfctr_riscv_read(perfctr_riscv_stub(hw)), pmu.width - 1) >= 0)
			return true;
	return false;
}

static int start_ictrs(const struct perfctr_config *config, const u64 *value)
{
	u32 i, first = perfctr_config_nr_actrs(config);

	if (!value)
		return pmu_start(config->imask, 0, 0) ? -EIO : 0;
	for (i = 0; i < config->nr_ictrs; i++)
		/* One that runs already does not take the value. */
		if (pmu_start(BIT(config->hw[first + i]), SBI_PMU_START_FLAG_SET_INIT_VALUE,
			      value[i]))
			return -EIO;
	return 0;
}

notrace int perfctr_cpu_istart(const struct perfctr_config *config, const u64 *value)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	int err;

	lockdep_assert_irqs_disabled();
	if (unlikely(interrupt_waits()))
		return -EAGAIN;
	cpu->istopped = NULL;
	/* For an a-mode counter of another config: it starts from zero when that comes again. */
	if (unlikely(cpu->running & config->imask)) {
		pmu_stop(cpu->running & config->imask, 0);
		cpu->running &= ~config->imask;
	}
	err = start_ictrs(config, value);
	if (unlikely(interrupt_waits()) && !err && !any_overflowed(config))
		err = -EAGAIN;	/* it came while they were started */
	if (unlikely(err)) {
		pmu_stop(config->imask, 0);
		return err;
	}
	cpu->running |= config->imask;
	return 0;
}

notrace void perfctr_cpu_iclear(const struct perfctr_config *config)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);

	lockdep_assert_irqs_disabled();
	cpu->istopped = NULL;
	cpu->running &= ~config->imask;
	/* Only START writes. What happens in between is of the kernel, or of these calls. */
	pmu_stop(config->imask, 0);
	pmu_start(config->imask, SBI_PMU_START_FLAG_SET_INIT_VALUE, 0);
	pmu_stop(config->imask, 0);
}

notrace void perfctr_cpu_istop(const struct perfctr_config *config, const void *id)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);

	lockdep_assert_irqs_disabled();
	pmu_stop(config->imask, 0);
	if (unlikely(interrupt_waits()))
		take_interrupt_back(cpu);
	cpu->running &= ~config->imask;
	cpu->istopped = id;
}

/*
 * Claiming. pool[] says what all live configs need; each CPU's perfctr_riscv_cpu
 * what it has.
 */

/* Members of the config by number are to be on their hw[]; or some counters are meant. */
struct claim {
	const struct perfctr_config *config;
	u32 members;
	u32 counters;
};

/*
 * Without Sscofpmf the firmware gives cycle and instret to perf, for cycles and
 * instructions, whoever has them, and perf writes and stops what it is given. But
 * perf keeps a list of its own: a pinned event of ours on each CPU has the
 * counter in it, and whatever else of perf's would need it is not counted, and
 * says so. With Sscofpmf perf takes these two only when it has run out of
 * programmable counters, and there is no event that would be sure to get them.
 *
 * Written under config_mutex.
 */
static DEFINE_PER_CPU(struct {
	struct perf_event *event[PERFCTR_RISCV_HPM];
}, perf_reserved);

static bool reservable(unsigned int hw)
{
	return perfctr_riscv_sbi && !pmu.filter && FIXED_MASK & BIT(hw);
}

static void unreserve_on(unsigned int cpu, unsigned int hw)
{
	struct perf_event *event = per_cpu(perf_reserved, cpu).event[hw];

	per_cpu(perf_reserved, cpu).event[hw] = NULL;
	if (event)
		perf_event_release_kernel(event);
}

static int reserve_here(unsigned int cpu, unsigned int hw)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = hw == PERFCTR_RISCV_CYCLE ? PERF_COUNT_HW_CPU_CYCLES :
						      PERF_COUNT_HW_INSTRUCTIONS,
		.pinned = 1,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);

	if (IS_ERR(event)) {
		switch (PTR_ERR(event)) {
		case -ENOMEM:
			return -ENOMEM;
		case -ENOENT:
		case -ENODEV:
		case -EINVAL:
		case -EOPNOTSUPP:
			return 0;	/* what perf does not count it does not take from us */
		default:
			return -EBUSY;
		}
	}
	per_cpu(perf_reserved, cpu).event[hw] = event;
	if (event->state == PERF_EVENT_STATE_ACTIVE)
		return 0;
	unreserve_on(cpu, hw);
	return -EBUSY;
}

/*
 * On that CPU, by a thread of the kernel's: perf stops and starts what it counts
 * there for the new event, also what we reserved before, while no thread of ours
 * is resumed; and nobody's privileges matter.
 */
static long reserve_by_kernel(void *arg)
{
	return reserve_here(smp_processor_id(), *(unsigned int *)arg);
}

static int reserve_on(unsigned int cpu, unsigned int hw)
{
	return work_on_cpu(cpu, reserve_by_kernel, &hw);
}

static void unreserve(unsigned int hw)
{
	unsigned int cpu;

	if (!reservable(hw))
		return;
	for_each_online_cpu(cpu)
		unreserve_on(cpu, hw);
}

/* True if that was the last user. */
static bool pool_put(unsigned int hw)
{
	if (--pool[hw].users)
		return false;
	pooled &= ~BIT(hw);
	/* Before the counter is released, as perf stops what it gives back. */
	unreserve(hw);
	return true;
}

static int reserve(unsigned int hw)
{
	unsigned int cpu;
	int err = 0;

	if (!reservable(hw))
		return 0;
	for_each_online_cpu(cpu) {
		err = reserve_on(cpu, hw);
		if (err)
			break;
	}
	if (err)
		unreserve(hw);
	return err;
}

static int claim_take(void *arg)
{
	const struct claim *claim = arg;
	const struct perfctr_config *config = claim->config;
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	unsigned long members = claim->members;
	unsigned int i;
	int err;

	for_each_set_bit(i, &members, PERFCTR_MAX_HW) {
		struct perfctr_riscv_prog prog = ctr_prog(&config->ctr[i]);

		err = take_one(cpu, config->hw[i], &prog);
		if (err)
			return err;
	}
	/* As take_all() would find. */
	if (hweight32(claim->members) == config->nr)
		cpu->programmed = READ_ONCE(config->id);
	return 0;
}

static int claim_release(void *arg)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	const struct claim *claim = arg;

	release(cpu, claim->counters);
	cpu->denied &= ~claim->counters;	/* nobody wants them any more */
	return 0;
}

static bool event_is_defined(u64 event)
{
	unsigned int code = SBI_EVENT_CODE(event);

	switch (event >> 16) {
	case SBI_TYPE_HW:
		return code > SBI_PMU_HW_NO_EVENT && code < SBI_PMU_HW_GENERAL_MAX;
	case SBI_TYPE_CACHE:
		/* bit 0: the result, bits 1 and 2: the operation, above: the cache */
		return (code >> 1 & 3) < PERF_COUNT_HW_CACHE_OP_MAX &&
		       code >> 3 < PERF_COUNT_HW_CACHE_MAX;
	default:
		return event == SBI_EVENT_RAW;
	}
}

/* Has a counter ever been had for it? That a raw event exists is never known for others' sake. */
static bool event_is_known(u64 event)
{
	if (SBI_EVENT_TYPE(event) > SBI_TYPE_CACHE)
		return false;
	return pmu.events[array_index_nospec(SBI_EVENT_TYPE(event), 2)] &
	       BIT_ULL(SBI_EVENT_CODE(event) & 63);
}

static void event_is_proven(u64 event)
{
	if (SBI_EVENT_TYPE(event) <= SBI_TYPE_CACHE)
		pmu.events[array_index_nospec(SBI_EVENT_TYPE(event), 2)] |=
			BIT_ULL(SBI_EVENT_CODE(event) & 63);
}

/* Do two counters with the same event both count it? -1 if there are no two to be had. */
static int events_count_once(struct perfctr_riscv_cpu *cpu)
{
	struct perfctr_riscv_prog prog = event_prog(SBI_TYPE_HW, SBI_PMU_HW_INSTRUCTIONS);
	unsigned long rest = pmu.programmable & ~cpu->owned;
	unsigned int hw, nr = 0, counting = 0;
	u32 taken = 0;
	int once = -1;

	for_each_set_bit(hw, &rest, PERFCTR_RISCV_MAX) {
		if (nr < 2 && !cfg_one(cpu, hw, &prog, false)) {
			taken |= BIT(hw);
			nr++;
		}
	}
	if (nr == 2 && !pmu_start(taken, SBI_PMU_START_FLAG_SET_INIT_VALUE, 0)) {
		/* The call that stops them is instructions enough. */
		pmu_stop(taken, 0);
		for_each_set_bit(hw, &rest, PERFCTR_RISCV_MAX)
			if (taken & BIT(hw) && perfctr_riscv_read(perfctr_riscv_stub(hw)))
				counting++;
		once = counting < 2;
	}
	pmu_stop(taken, SBI_PMU_STOP_FLAG_RESET);
	return once;
}

/* Which counter of this CPU, of those that are not ours, takes the event? */
static u32 probe_event(unsigned int type, unsigned int code)
{
	struct perfctr_riscv_prog prog = event_prog(type, code);
	struct perfctr_riscv_cpu *cpu;
	unsigned long irqflags;
	u32 taken = 0;
	int hw;

	local_irq_save(irqflags);
	cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	hw = cfg_match(cpu, pmu.programmable & ~cpu->owned, &prog);
	if (hw >= 0) {
		taken = BIT(hw);
		pmu_stop(taken, SBI_PMU_STOP_FLAG_RESET);
		event_is_proven(prog.event);
	}
	local_irq_restore(irqflags);
	return taken;
}

/*
 * Which standard events exist? Only a free counter can tell, so while others
 * have some this is asked again, now and then. cycles and instructions need no
 * proof, and asking for them may not be harmless: see cfg_one().
 */
static void probe_events(void)
{
	struct perfctr_riscv_cpu *cpu;
	unsigned long irqflags, rest;
	unsigned int code, hw;
	u32 seen = 0;

	if (pmu.probed || (pmu.probe_again && time_before(jiffies, pmu.probe_again)))
		return;
	if (pmu.counters & BIT(PERFCTR_RISCV_CYCLE))
		event_is_proven(SBI_PMU_HW_CPU_CYCLES);
	if (pmu.counters & BIT(PERFCTR_RISCV_INSTRET))
		event_is_proven(SBI_PMU_HW_INSTRUCTIONS);
	if (!pmu.programmable) {
		pmu.probed = true;
		return;
	}
	for (code = 0; code < 64; code++) {
		if (event_is_defined(SBI_TYPE_HW << 16 | code) && code > SBI_PMU_HW_INSTRUCTIONS)
			seen |= probe_event(SBI_TYPE_HW, code);
		if (event_is_defined(SBI_TYPE_CACHE << 16 | code))
			seen |= probe_event(SBI_TYPE_CACHE, code);
	}

	local_irq_save(irqflags);
	cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	rest = pmu.programmable & ~cpu->owned & ~seen;
	for_each_set_bit(hw, &rest, PERFCTR_RISCV_MAX)
		if (counter_is_free(cpu, hw))
			seen |= BIT(hw);
	/* Two are free, or at least were. */
	if (pmu.event_once < 0 && hweight32(seen) > 1)
		pmu.event_once = events_count_once(cpu);
	pmu.probed = !(pmu.programmable & ~cpu->owned & ~seen) && pmu.event_once >= 0;
	local_irq_restore(irqflags);
	pmu.probe_again = (jiffies + HZ) | 1;
}

/*
 * Where nothing programmable filters, cycle and instret must do for their own
 * events: without Sscofpmf OpenSBI counts them nowhere else.
 */
static u32 fixed_for(u64 event)
{
	if (pmu.programmable && pmu.filter)
		return PERFCTR_MAP_ANY;
	if (event == SBI_PMU_HW_CPU_CYCLES)
		return PERFCTR_RISCV_CYCLE;
	if (event == SBI_PMU_HW_INSTRUCTIONS)
		return PERFCTR_RISCV_INSTRET;
	return PERFCTR_MAP_ANY;
}

static bool is_fixed(const struct perfctr_ctr_control *ctr)
{
	return ctr->map == PERFCTR_RISCV_CYCLE || ctr->map == PERFCTR_RISCV_INSTRET;
}

/* Does a programmable counter before this one count the same event? */
static bool named_before(const struct perfctr_ctr_control *first,
			 const struct perfctr_ctr_control *ctr)
{
	const struct perfctr_ctr_control *other;

	for (other = first; other < ctr; other++)
		if (!is_fixed(other) && !is_fixed(ctr) &&
		    other->event == ctr->event && other->config == ctr->config)
			return true;
	return false;
}

int perfctr_cpu_check(const struct perfctr_ctr_control *ctr, unsigned int nr, bool *kernel,
		      struct perfctr_refusal *why)
{
	const struct perfctr_ctr_control *first = ctr;
	unsigned int i, any = 0, most = hweight32(pmu.programmable);
	u32 used = 0;

	probe_events();
	for (i = 0; i < nr; i++, ctr++) {
		u32 map = ctr->map == PERFCTR_MAP_ANY ? fixed_for(ctr->event) : ctr->map;
		bool filter = pmu.filter;

		why->index = i;
		if (!ctr->flags || ctr->flags & ~CTR_BOTH)
			return -EINVAL;
		if (ctr->event >> 16 == SBI_TYPE_FW)
			return -EOPNOTSUPP;
		if (!event_is_defined(ctr->event))
			return -EINVAL;
		if (ctr->event == SBI_EVENT_RAW ? ctr->config >> SBI_RAW_BITS : ctr->config)
			return -EINVAL;
		if (map != PERFCTR_MAP_ANY) {
			if (map >= PERFCTR_RISCV_MAX)
				return -EINVAL;
			map = array_index_nospec(map, PERFCTR_RISCV_MAX);
			if (!(pmu.counters & BIT(map)) || used & BIT(map))
				return -EINVAL;
			used |= BIT(map);
			if (map == PERFCTR_RISCV_CYCLE || map == PERFCTR_RISCV_INSTRET) {
				/* Nor do they interrupt, where others do. */
				if (ctr->event != fixed_event(map) ||
				    (ctr->ireset && pmu.interrupt))
					return -EINVAL;
				filter = pmu.filter_fixed;
			}
		} else if (++any > most) {
			return -EINVAL;
		}
		if (ctr->ireset && !pmu.interrupt)
			return -EOPNOTSUPP;
		/* Not known is not good enough. */
		if (pmu.event_once && named_before(first, ctr))
			return -EOPNOTSUPP;
		if (pmu.probed && ctr->event != SBI_EVENT_RAW && !event_is_known(ctr->event))
			return -EINVAL;
		if (!filter && ctr->flags != CTR_BOTH)
			return -EOPNOTSUPP;
		if (ctr->flags & PERFCTR_CTR_KERNEL)
			*kernel = true;
	}
	/* More than there are can never be had. */
	why->index = PERFCTR_NO_INDEX;
	return any > hweight32(pmu.programmable & ~used) ? -EINVAL : 0;
}

/*
 * The best counter for an event, or PERFCTR_RISCV_MAX: one of ours that counts
 * just that, or that event for other modes; else one that nobody has, since one
 * more saves reprogramming at every switch between different controls, as long
 * as half of them are left to perf; else one that counts something else.
 */
static unsigned int claim_choose(const struct perfctr_ctr_control *ctr, u32 except)
{
	struct perfctr_riscv_prog prog = ctr_prog(ctr);
	unsigned long candidates = pmu.programmable & ~except;
	unsigned long ours = candidates & pooled;
	unsigned int hw, same_event = PERFCTR_RISCV_MAX;

	for (hw = PERFCTR_RISCV_HPM; ours >> hw; hw++) {
		if (!(ours & BIT(hw)))
			continue;
		if (prog_equal(&pool[hw].prog, &prog))
			return hw;
		if (same_event == PERFCTR_RISCV_MAX && pool[hw].prog.event == prog.event &&
		    pool[hw].prog.config == prog.config)
			same_event = hw;
		if (hw == PERFCTR_RISCV_MAX - 1)
			break;
	}
	if (same_event < PERFCTR_RISCV_MAX)
		return same_event;
	if (!candidates)
		return PERFCTR_RISCV_MAX;
	if (candidates != ours &&
	    (!ours || hweight32((pooled | except) & pmu.programmable) <
		      hweight32(pmu.programmable) / 2))
		return __ffs(candidates & ~ours);
	return __ffs(ours);
}

/* Noted in the pool first, so that a CPU that wakes meanwhile keeps what it was made to take. */
static int claim_try(struct perfctr_config *config, u32 which, perfctr_run_t run)
{
	struct claim claim = { .config = config, .members = which };
	struct perfctr_riscv_prog old[PERFCTR_MAX_HW];
	unsigned long members = which;
	unsigned int i;
	int err = 0;

	for_each_set_bit(i, &members, PERFCTR_MAX_HW) {
		unsigned int hw = config->hw[i];

		old[i] = pool[hw].prog;
		pool[hw].prog = ctr_prog(&config->ctr[i]);
		pooled |= BIT(hw);
		if (!pool[hw].users++ && !err)
			err = reserve(hw);
	}
	if (!err && perfctr_riscv_sbi)
		err = run(claim_take, &claim);
	if (!err)
		return 0;
	for_each_set_bit(i, &members, PERFCTR_MAX_HW) {
		unsigned int hw = config->hw[i];

		pool[hw].prog = old[i];
		if (pool_put(hw))
			claim.counters |= BIT(hw);
	}
	if (claim.counters)
		run(claim_release, &claim);
	return err;
}

/* All at once, as it is likely; true if they could be had. */
static bool claim_all(struct perfctr_config *config, u32 named, perfctr_run_t run)
{
	u32 used = named;
	unsigned int i;

	for (i = 0; i < config->nr; i++) {
		if (config->hw[i] == PERFCTR_RISCV_MAX)
			config->hw[i] = claim_choose(&config->ctr[i], used);
		if (config->hw[i] == PERFCTR_RISCV_MAX)
			return false;
		used |= BIT(config->hw[i]);
	}
	if (claim_try(config, GENMASK(config->nr - 1, 0), run))
		return false;
	config->mask = used;
	return true;
}

static int claim_any(struct perfctr_config *config, unsigned int i, u32 used, perfctr_run_t run)
{
	unsigned int hw;

	for (;;) {
		hw = claim_choose(&config->ctr[i], used);
		if (hw == PERFCTR_RISCV_MAX)
			return -EBUSY;
		config->hw[i] = hw;
		if (!claim_try(config, BIT(i), run))
			return 0;
		used |= BIT(hw);
	}
}

/* On some CPU: is one of the counters neither ours nor to be had for anything? */
static int claim_look(void *arg)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	const struct claim *claim = arg;
	unsigned long others = claim->counters & ~cpu->owned;
	unsigned int hw;

	for_each_set_bit(hw, &others, PERFCTR_RISCV_MAX)
		if (!counter_is_free(cpu, hw))
			return -EBUSY;
	return 0;
}

/*
 * The firmware does not say why: no such event, not on that counter, or the
 * counter is another's. If all that might have served are ours or free it is
 * the event.
 */
static int claim_refused(u32 candidates, perfctr_run_t run, struct perfctr_refusal *why)
{
	struct claim claim = { .counters = candidates };

	if (candidates & FIXED_MASK) {
		why->owner = reservable(__ffs(candidates)) ? PERFCTR_OWNER_PERF :
							     PERFCTR_OWNER_FIRMWARE;
		return -EBUSY;
	}
	if (run(claim_look, &claim)) {
		why->owner = PERFCTR_OWNER_PERF;
		return -EBUSY;
	}
	return -EINVAL;
}

/* The counter that the control names, or PERFCTR_RISCV_MAX. */
static unsigned int named_counter(const struct perfctr_ctr_control *ctr)
{
	u32 map = ctr->map == PERFCTR_MAP_ANY ? fixed_for(ctr->event) : ctr->map;

	return map < PERFCTR_RISCV_MAX ? map : PERFCTR_RISCV_MAX;
}

/* One by one, to see which it is, and to try others for it. */
static int claim_each(struct perfctr_config *config, u32 named, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	u32 used = named;
	unsigned int i;
	bool any;
	int err;

	/* Named counters first, lest ANY takes one of them; and they are known to differ. */
	for (any = false;; any = true) {
		for (i = 0; i < config->nr; i++) {
			unsigned int hw = named_counter(&config->ctr[i]);
			bool is_named = hw < PERFCTR_RISCV_MAX;

			if (is_named == any)
				continue;
			config->hw[i] = hw;
			err = any ? claim_any(config, i, used, run) :
				    claim_try(config, BIT(i), run);
			if (err == -ENOMEM)
				return err;
			if (err) {
				why->index = i;
				return claim_refused(any ? pmu.programmable & ~used : BIT(hw),
						     run, why);
			}
			config->mask |= BIT(config->hw[i]);
			used |= BIT(config->hw[i]);
		}
		if (any)
			return 0;
	}
}

int perfctr_cpu_core(u32 *core)
{
	*core = 0;
	return 0;
}

bool perfctr_cpu_is_forbidden(unsigned int cpu)
{
	return false;
}

int perfctr_cpu_claim(struct perfctr_config *config, perfctr_run_t run,
		      struct perfctr_refusal *why)
{
	u32 named = 0;
	unsigned int i;
	int err;

	config->mask = 0;
	if (!config->nr)
		return 0;
	for (i = 0; i < config->nr; i++) {
		config->hw[i] = named_counter(&config->ctr[i]);
		if (config->hw[i] != PERFCTR_RISCV_MAX)
			named |= BIT(config->hw[i]);
	}
	if (!claim_all(config, named, run)) {
		err = claim_each(config, named, run, why);
		if (err) {
			perfctr_cpu_unclaim(config, run);
			return err;
		}
	}
	config->imask = 0;
	for (i = 0; i < config->nr; i++) {
		event_is_proven(config->ctr[i].event);
		if (config->ctr[i].ireset)
			config->imask |= BIT(config->hw[i]);
	}
	config->arch_mask = sbi_mask(actrs_of(config));
	return 0;
}

void perfctr_cpu_unclaim(struct perfctr_config *config, perfctr_run_t run)
{
	struct claim claim = { .config = config };
	unsigned long mask = config->mask;
	unsigned int hw;

	for_each_set_bit(hw, &mask, PERFCTR_RISCV_MAX)
		if (pool_put(hw) && perfctr_riscv_sbi)
			claim.counters |= BIT(hw);
	/* Also where nothing is given back: who counts by it may be without a claim now. */
	if (config->nr)
		run(claim_release, &claim);
}

void perfctr_cpu_name(struct perfctr_ctr_control *ctr, unsigned int hw)
{
	ctr->map = hw;
}

/*
 * Between its offline callback and its end a CPU still switches to threads that
 * have to leave it, and may have loaded for them. The firmware has forgotten.
 */
void perfctr_cpu_prepare(unsigned int cpu)
{
	memset(per_cpu_ptr(&perfctr_riscv_cpu, cpu), 0, sizeof(struct perfctr_riscv_cpu));
}

/* What is denied is denied: load then says EIO. */
void perfctr_cpu_reserve(unsigned int cpu)
{
	unsigned int hw;
	u32 denied = 0;

	for (hw = 0; hw < PERFCTR_RISCV_HPM; hw++)
		if (pool[hw].users && reservable(hw) && reserve_here(cpu, hw))
			denied |= BIT(hw);
	local_irq_disable();
	this_cpu_ptr(&perfctr_riscv_cpu)->denied = denied;
	local_irq_enable();
}

void perfctr_cpu_unreserve(unsigned int cpu)
{
	unsigned int hw;

	for (hw = 0; hw < PERFCTR_RISCV_HPM; hw++)
		unreserve_on(cpu, hw);
}

void perfctr_cpu_online(void)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	unsigned int hw;

	/*
	 * What the firmware remembers after a deep sleep nobody says; and a CPU
	 * whose going was called off may have loaded since it gave all back.
	 */
	perfctr_cpu_offline();
	if (!perfctr_riscv_sbi)
		return;
	/* What cannot be had now is tried again by load, which then says EIO. */
	for (hw = 0; hw < PERFCTR_RISCV_MAX; hw++) {
		/* A copy: what is programmed and what is remembered must be the same. */
		struct perfctr_riscv_prog prog = pool[hw].prog;

		barrier();
		if (pool[hw].users)
			take_one(cpu, hw, &prog);
	}
}

void perfctr_cpu_join_claims(void)
{
	perfctr_cpu_online();
}

void perfctr_cpu_offline(void)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);

	lockdep_assert_irqs_disabled();
	if (perfctr_riscv_sbi)
		release(cpu, cpu->owned);
}

int perfctr_cpu_age(void *unused)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	unsigned long running = cpu->running & pmu.programmable;
	u32 old = 0;
	unsigned int hw;

	for_each_set_bit(hw, &running, PERFCTR_RISCV_MAX) {
		struct perfctr_cpu_ctr ctr;

		perfctr_cpu_bind(&ctr, hw);
		if (perfctr_cpu_read(&ctr) >> (pmu.width - 1))
			old |= BIT(hw);
	}
	pmu_stop(old, 0);
	if (pmu_start(old, SBI_PMU_START_FLAG_SET_INIT_VALUE, 0)) {
		cpu->running &= ~old;
		now_unknown(cpu);
		return -EIO;
	}
	return 0;
}

unsigned long perfctr_cpu_age_period(void)
{
	if (!pmu.programmable || pmu.width >= 64)
		return 0;
	return perfctr_age_period(pmu.width, MAX_RATE_SHIFT);
}

u64 perfctr_cpu_clock_hz(void)
{
	return riscv_timebase;
}

unsigned int perfctr_cpu_nrctrs(void)
{
	return hweight32(pmu.counters);
}

void perfctr_cpu_info(struct perfctr_info *info)
{
	info->cpu_type = perfctr_riscv_sbi ? PERFCTR_RISCV_SBI : PERFCTR_RISCV_GENERIC;
	info->cpu_features = PERFCTR_FEATURE_RDTSC;
	if (pmu.counters)
		info->cpu_features |= PERFCTR_FEATURE_RDPMC;
	if (pmu.filter)
		info->cpu_features |= PERFCTR_FEATURE_FILTER;
	if (pmu.filter_fixed)
		info->cpu_features |= PERFCTR_FEATURE_FILTER_FIXED;
	if (pmu.interrupt)
		info->cpu_features |= PERFCTR_FEATURE_PCINT;
	info->tsc_hz = riscv_timebase;
	info->nrctrs = perfctr_cpu_nrctrs();
	info->width = pmu.width;
	info->counters = pmu.counters;
	probe_events();
	info->events[0] = pmu.events[0];
	info->events[1] = pmu.events[1];
}

/* Linux 6.12 does not know the name of Smcntrpmf; the device tree does. */
static bool __init cpus_have_smcntrpmf(void)
{
	unsigned int cpu;
	bool have = true;

	for_each_possible_cpu(cpu) {
		struct device_node *node = of_get_cpu_node(cpu, NULL);
		const char *isa;

		if (!node)
			return false;
		if (of_property_match_string(node, "riscv,isa-extensions", "smcntrpmf") < 0 &&
		    (of_property_read_string(node, "riscv,isa", &isa) ||
		     !strstr(isa, "_smcntrpmf")))
			have = false;
		of_node_put(node);
	}
	return have;
}

#define csr_is_readable(csr)						\
({									\
	unsigned long __ok = 0, __value;				\
									\
	asm volatile("1:	csrr %1, " __stringify(csr) "\n"	\
		     "	li %0, 1\n"					\
		     "2:\n"						\
		     _ASM_EXTABLE(1b, 2b)				\
		     : "+r" (__ok), "=r" (__value));			\
	__ok;								\
})

static void __init find_counters(void)
{
	struct sbiret ret = pmu_call(SBI_EXT_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0);
	unsigned long i, nr = ret.error ? 0 : min(ret.value, BITS_PER_LONG);

	pmu.width = 64;
	for (i = 0; i < nr; i++) {
		union sbi_pmu_ctr_info info;
		unsigned int hw;

		ret = pmu_call(SBI_EXT_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);
		info.value = ret.value;
		if (ret.error || info.type)	/* firmware counters have no CSR */
			continue;
		hw = info.csr - CSR_CYCLE;
		if (hw >= PERFCTR_RISCV_MAX || hw == PERFCTR_RISCV_TIME)
			continue;
		pmu.index[hw] = i;
		pmu.shuffled |= i != hw;
		pmu.counters |= BIT(hw);
		if (hw >= PERFCTR_RISCV_HPM) {
			pmu.programmable |= BIT(hw);
			pmu.width = min(pmu.width, info.width + 1U);
		}
	}
	if (counter_width)
		pmu.width = min(pmu.width, max(counter_width, 26U));
}

/*
 * perf's driver enables the interrupt, on each CPU as it comes. In a guest of KVM
 * there may be no scountovf for its handler: it learns of overflows from a snapshot
 * that has only what it stopped itself, and would not start its counters again
 * after an interrupt of ours.
 */
static int __init find_interrupt(void)
{
	struct sbiret impl = sbi_ecall(SBI_EXT_BASE, SBI_EXT_BASE_GET_IMP_ID, 0, 0, 0, 0, 0, 0);

	if (impl.error || impl.value == IMPL_KVM ||
	    !(csr_read(CSR_SIE) & BIT(IRQ_PMU_OVF)))
		return -ENODEV;
	return perfctr_riscv_interrupt_init();
}

int __init perfctr_cpu_init(void)
{
	pmu.event_once = -1;
	perfctr_riscv_sbi = sbi_spec_version >= sbi_mk_version(0, 3) &&
			    sbi_probe_extension(SBI_EXT_PMU) > 0;
	if (perfctr_riscv_sbi) {
		find_counters();
		pmu.filter = riscv_isa_extension_available(NULL, SSCOFPMF);
		/*
		 * Without Sscofpmf perf asks for cycle and instret whenever it counts
		 * cycles and instructions, and changes their filter even where it
		 * finds them reserved.
		 */
		pmu.filter_fixed = pmu.filter && cpus_have_smcntrpmf();
		pmu.interrupt = pmu.filter && pmu.programmable && !find_interrupt();
		probe_events();
		return 0;
	}

	pmu.width = 64;
	if (csr_is_readable(CSR_CYCLE))
		pmu.counters |= BIT(PERFCTR_RISCV_CYCLE);
	if (csr_is_readable(CSR_INSTRET))
		pmu.counters |= BIT(PERFCTR_RISCV_INSTRET);
	probe_events();
	return 0;
}

void perfctr_cpu_exit(void)
{
}
