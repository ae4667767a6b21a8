// SPDX-License-Identifier: GPL-2.0
/*
 * RISC-V: this file programs and runs the counters of a CPU through the firmware. It also has the
 * hot path.
 *
 * Supervisor mode reads counters by CSR. To program, start, stop or write a counter, it must call
 * the firmware, which takes at least 363 instructions with OpenSBI. So once we have a counter, we
 * keep it running until no control names it. A context switch between equal controls makes no call.
 *
 * The firmware gives a programmable counter to one owner at a time, so we can coexist with perf. We
 * cannot trust three of its answers:
 * - OpenSBI gives cycle and instret to anyone, and ignores the mask, also when it has run out of
 *   programmable counters. Its success means nothing unless it returns the index that we asked for.
 * - When it has run out, OpenSBI also rewrites the filter (Smcntrpmf) of cycle or instret, no
 *   matter who had that counter.
 * - START of a running counter returns ALREADY_STARTED and does not change its value. To start a
 *   counter from zero, we must stop it first.
 *
 * QEMU (10.0) counts an event on only one counter per hart. A second counter with the same event
 * stays at zero. Hardware has no such limit. So two controls that want one event with different
 * filters use the same counter. If a trial has shown the limit, a control that names an event twice
 * is refused. Two controls that name different counters for one event then take the event from each
 * other.
 */

#include <linux/bitops.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <asm/sbi.h>

#include "arch/user.h"
#include "arch/riscv/registers.h"

/*
 * perf starts its counters from this value. When other events come, perf stops its counters and
 * starts them again from the values that it finds in them, if it can. So if we have reserved a
 * counter from perf (see claim.c), we never set that counter to a value below this one.
 */
#define PERF_START	(BIT_ULL(63) + 1)

bool perfctr_riscv_sbi;
struct perfctr_pmu perfctr_pmu;

DEFINE_PER_CPU(struct perfctr_riscv_cpu, perfctr_riscv_cpu);

struct sbiret perfctr_riscv_call(int fid, unsigned long a0, unsigned long a1,
				 unsigned long a2, unsigned long a3, u64 a4)
{
	return sbi_ecall(SBI_EXT_PMU, fid, a0, a1, a2, a3, a4, 0);
}

unsigned long perfctr_riscv_sbi_mask(u32 counters)
{
	unsigned long bits = counters, mask = 0;
	int hw;

	if (likely(!perfctr_pmu.shuffled))
		return counters;
	for_each_set_bit(hw, &bits, PERFCTR_RISCV_MAX)
		mask |= BIT(perfctr_pmu.index[hw]);
	return mask;
}

void perfctr_riscv_stop(u32 counters, unsigned long flags)
{
	if (counters)
		perfctr_riscv_call(SBI_EXT_PMU_COUNTER_STOP, 0, perfctr_riscv_sbi_mask(counters),
				   flags, 0, 0);
}

void perfctr_riscv_now_unknown(struct perfctr_riscv_cpu *cpu)
{
	cpu->programmed = 0;
	cpu->active = 0;
	cpu->private_kin = 0;
	cpu->istopped = NULL;
}

int perfctr_riscv_start(u32 counters, unsigned long flags, u64 value)
{
	struct sbiret ret;

	if (!counters)
		return 0;
	ret = perfctr_riscv_call(SBI_EXT_PMU_COUNTER_START, 0, perfctr_riscv_sbi_mask(counters),
				 flags, value,
				 IS_ENABLED(CONFIG_32BIT) ? value >> 32 : 0);
	if (ret.error && ret.error != SBI_ERR_ALREADY_STARTED)
		return -EIO;
	return ret.error ? 1 : 0;
}

static unsigned long cfg_flags(u32 modes)
{
	/*
	 * We never count guests of this host. With exclude_guest, perf does not count them either.
	 */
	unsigned long flags = SBI_PMU_CFG_FLAG_SET_VUINH | SBI_PMU_CFG_FLAG_SET_VSINH |
			      SBI_PMU_CFG_FLAG_SET_MINH;

	if (!(modes & PERFCTR_CTR_USER))
		flags |= SBI_PMU_CFG_FLAG_SET_UINH;
	if (!(modes & PERFCTR_CTR_KERNEL))
		flags |= SBI_PMU_CFG_FLAG_SET_SINH;
	return flags;
}

struct perfctr_riscv_prog perfctr_riscv_event_prog(unsigned int type, unsigned int code)
{
	return (struct perfctr_riscv_prog) { .event = type << 16 | code, .flags = CTR_BOTH };
}

unsigned int perfctr_riscv_fixed_event(unsigned int hw)
{
	return hw == PERFCTR_RISCV_CYCLE ? SBI_PMU_HW_CPU_CYCLES : SBI_PMU_HW_INSTRUCTIONS;
}

static unsigned int index_to_hw(unsigned long index)
{
	unsigned int hw;

	for (hw = 0; hw < PERFCTR_RISCV_MAX; hw++)
		if (perfctr_pmu.counters & BIT(hw) && perfctr_pmu.index[hw] == index)
			break;
	return hw;
}

int perfctr_riscv_match(struct perfctr_riscv_cpu *cpu, u32 counters,
			const struct perfctr_riscv_prog *prog)
{
	unsigned long mask = perfctr_riscv_sbi_mask(counters), flags = cfg_flags(prog->flags);
	struct sbiret ret;
	unsigned int hw;

	ret = perfctr_riscv_call(SBI_EXT_PMU_COUNTER_CFG_MATCH, 0, mask, flags, prog->event,
				 prog->config);
	/*
	 * From 1.9 on, OpenSBI itself never chooses a counter that does not filter, but lets the
	 * caller choose such a counter.
	 */
	if (ret.error && !perfctr_pmu.filter_fixed && !(counters & ~FIXED_MASK)) {
		ret = perfctr_riscv_call(SBI_EXT_PMU_COUNTER_CFG_MATCH, 0, mask,
					 flags | SBI_PMU_CFG_FLAG_SKIP_MATCH, prog->event,
					 prog->config);
		if (!ret.error)
			WRITE_ONCE(perfctr_pmu.never_chosen, true);
	}
	if (ret.error)
		return -EBUSY;
	hw = index_to_hw(ret.value);
	if (hw == PERFCTR_RISCV_MAX || counters & BIT(hw))
		return hw == PERFCTR_RISCV_MAX ? -EBUSY : hw;

	/*
	 * We got another counter. If that counter is ours, it has lost its filter, which the next
	 * load writes again.
	 */
	if (cpu->owned & BIT(hw)) {
		cpu->prog[hw] = (struct perfctr_riscv_prog) {};
		perfctr_riscv_now_unknown(cpu);
	} else if (perfctr_pmu.programmable & BIT(hw)) {
		perfctr_riscv_stop(BIT(hw), SBI_PMU_STOP_FLAG_RESET);
	} else if (perfctr_pmu.filter_fixed) {
		/* Most likely nobody has this counter: make it unfiltered, for everybody. */
		perfctr_riscv_call(SBI_EXT_PMU_COUNTER_CFG_MATCH, 0, BIT(ret.value),
				   cfg_flags(CTR_BOTH), perfctr_riscv_fixed_event(hw), 0);
	}
	return -EBUSY;
}

u64 perfctr_riscv_events_of_no_fixed(unsigned int type)
{
	u64 fixed = BIT_ULL(SBI_PMU_HW_CPU_CYCLES) | BIT_ULL(SBI_PMU_HW_INSTRUCTIONS);

	return perfctr_pmu.events[type] & ~(type == SBI_TYPE_HW ? fixed : 0);
}

bool perfctr_riscv_is_free(struct perfctr_riscv_cpu *cpu, unsigned int hw)
{
	unsigned int type, code;

	for (type = SBI_TYPE_HW; type <= SBI_TYPE_CACHE; type++) {
		unsigned long events = perfctr_riscv_events_of_no_fixed(type);

		for_each_set_bit(code, &events, BITS_PER_LONG) {
			struct perfctr_riscv_prog prog = perfctr_riscv_event_prog(type, code);

			if (perfctr_riscv_match(cpu, BIT(hw), &prog) >= 0) {
				perfctr_riscv_stop(BIT(hw), SBI_PMU_STOP_FLAG_RESET);
				return true;
			}
		}
	}
	return false;
}

int perfctr_riscv_match_one(struct perfctr_riscv_cpu *cpu, unsigned int hw,
			    const struct perfctr_riscv_prog *prog, bool free)
{
	bool fallback = prog->event == SBI_PMU_HW_CPU_CYCLES ||
			prog->event == SBI_PMU_HW_INSTRUCTIONS;
	int got;

	/*
	 * If the firmware refuses this event, somebody's cycle counter may lose its filter. So try
	 * another event first.
	 */
	if (!free && fallback && perfctr_pmu.filter_fixed && perfctr_pmu.programmable & BIT(hw) &&
	    (perfctr_riscv_events_of_no_fixed(SBI_TYPE_HW) ||
	     perfctr_riscv_events_of_no_fixed(SBI_TYPE_CACHE)) &&
	    !perfctr_riscv_is_free(cpu, hw))
		return -EBUSY;
	got = perfctr_riscv_match(cpu, BIT(hw), prog);
	return got < 0 ? got : 0;
}

/*
 * Takes the event of @prog away from all counters but @hw. On this machine only one counter at a
 * time can count a given event (event_once). Configs that want the event on the other counters must
 * load again.
 */
static void evict_event(struct perfctr_riscv_cpu *cpu, unsigned int hw,
			const struct perfctr_riscv_prog *prog)
{
	unsigned long rest = cpu->owned & perfctr_pmu.programmable & ~BIT(hw);
	unsigned int other;

	for_each_set_bit(other, &rest, PERFCTR_RISCV_MAX) {
		if (cpu->prog[other].event != prog->event ||
		    cpu->prog[other].config != prog->config)
			continue;
		perfctr_riscv_stop(BIT(other), SBI_PMU_STOP_FLAG_RESET);
		cpu->owned &= ~BIT(other);
		cpu->running &= ~BIT(other);
		cpu->prog[other] = (struct perfctr_riscv_prog) {};
	}
}

int perfctr_riscv_take(struct perfctr_riscv_cpu *cpu, unsigned int hw,
		       const struct perfctr_riscv_prog *prog)
{
	struct perfctr_riscv_prog old = cpu->prog[hw];
	bool had = cpu->owned & BIT(hw);
	int err;

	if (had && perfctr_riscv_prog_equal(&old, prog))
		return 0;
	if (cpu->denied & BIT(hw))
		return -EBUSY;

	perfctr_riscv_now_unknown(cpu);
	cpu->prog[hw] = (struct perfctr_riscv_prog) {};
	if (had && perfctr_pmu.programmable & BIT(hw)) {
		/* Give the counter back before it gets another event. */
		perfctr_riscv_stop(BIT(hw), SBI_PMU_STOP_FLAG_RESET);
		cpu->running &= ~BIT(hw);
		cpu->owned &= ~BIT(hw);
	}
	if (perfctr_pmu.event_once > 0 && perfctr_pmu.programmable & BIT(hw))
		evict_event(cpu, hw, prog);
	err = perfctr_riscv_match_one(cpu, hw, prog, had);
	if (err) {
		/*
		 * The counter cannot count that event. Take it again for the old event, before
		 * others take it.
		 */
		if (had && perfctr_pmu.programmable & BIT(hw) &&
		    !perfctr_riscv_match_one(cpu, hw, &old, true)) {
			cpu->owned |= BIT(hw);
			cpu->prog[hw] = old;
		}
		return err;
	}
	cpu->owned |= BIT(hw);
	cpu->prog[hw] = *prog;
	/* Linux stops cycle and instret when a CPU comes up, unless somebody wants them. */
	if (!had && FIXED_MASK & BIT(hw)) {
		err = perfctr_riscv_start(BIT(hw), 0, 0);
		if (err < 0)
			return -EBUSY;
		cpu->running |= BIT(hw);
		if (!err)
			cpu->started |= BIT(hw);
	}
	return 0;
}

void perfctr_riscv_release(struct perfctr_riscv_cpu *cpu, u32 counters)
{
	unsigned long fixed = counters & cpu->owned & FIXED_MASK;
	unsigned int hw;

	perfctr_riscv_now_unknown(cpu);
	if (!counters)
		return;
	perfctr_riscv_stop(counters & cpu->owned & perfctr_pmu.programmable,
			   SBI_PMU_STOP_FLAG_RESET);
	/*
	 * Everybody uses cycle and instret. Leave these counters unfiltered, and running only if
	 * they ran before.
	 */
	for_each_set_bit(hw, &fixed, PERFCTR_RISCV_MAX) {
		unsigned int code = perfctr_riscv_fixed_event(hw);
		struct perfctr_riscv_prog prog = perfctr_riscv_event_prog(SBI_TYPE_HW, code);

		perfctr_riscv_match_one(cpu, hw, &prog, true);
	}
	perfctr_riscv_stop(fixed & cpu->started, 0);
	cpu->started &= ~counters;
	for (hw = 0; hw < PERFCTR_RISCV_MAX; hw++)
		if (counters & BIT(hw))
			cpu->prog[hw] = (struct perfctr_riscv_prog) {};
	cpu->running &= ~counters;
	cpu->owned &= ~counters;
}

/*
 * Programs the counters that do not yet count what the config wants. @id is the config's id, which
 * the caller reads once because it may change.
 */
static __always_inline int take_all(struct perfctr_riscv_cpu *cpu,
				    const struct perfctr_config *config, unsigned long id)
{
	unsigned int i;

	if (likely(cpu->programmed == id))
		return 0;
	for (i = 0; i < config->nr; i++) {
		struct perfctr_riscv_prog prog = perfctr_riscv_ctr_prog(&config->ctr[i]);

		if (perfctr_riscv_take(cpu, config->hw[i], &prog))
			return -EIO;
	}
	cpu->programmed = id;
	return 0;
}

u32 perfctr_riscv_actrs(const struct perfctr_config *config)
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
	cpu->private_kin = 0;
	if (perfctr_riscv_sbi) {
		if (take_all(cpu, config, id))
			return -EIO;
		/*
		 * Counters that already run for other configs keep their values, because nobody
		 * reads these counters meanwhile.
		 */
		start = perfctr_riscv_actrs(config) & ~cpu->running;
		cpu->istopped = NULL;
		if (perfctr_riscv_start(start & ~FIXED_MASK,
					SBI_PMU_START_FLAG_SET_INIT_VALUE, 0) < 0 ||
		    perfctr_riscv_start(start & FIXED_MASK, 0, 0) < 0)
			return -EIO;
		cpu->running |= perfctr_riscv_actrs(config);
	}
	cpu->active = id;
	return 0;
}

/*
 * Restarts only a-mode counters. perfctr_cpu_istart() or perfctr_cpu_iclear() writes i-mode
 * counters.
 */
static int restart_actrs(const struct perfctr_config *config)
{
	u32 perfs = config->mask & perfctr_pmu.fixed_only;
	struct sbiret ret;

	if (unlikely(!perfctr_riscv_actrs(config)))
		return 0;
	perfctr_riscv_call(SBI_EXT_PMU_COUNTER_STOP, 0, config->arch_mask, 0, 0, 0);
	if (likely(!perfs)) {
		ret = perfctr_riscv_call(SBI_EXT_PMU_COUNTER_START, 0, config->arch_mask,
					 SBI_PMU_START_FLAG_SET_INIT_VALUE, 0, 0);
		return ret.error ? -EIO : 0;
	}
	if (perfctr_riscv_start(perfctr_riscv_actrs(config) & ~perfs,
				SBI_PMU_START_FLAG_SET_INIT_VALUE, 0) ||
	    perfctr_riscv_start(perfs, SBI_PMU_START_FLAG_SET_INIT_VALUE, PERF_START))
		return -EIO;
	return 0;
}

notrace int perfctr_cpu_restart(const struct perfctr_config *config, unsigned long kin,
				kuid_t uid)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	unsigned long id = READ_ONCE(config->id);

	lockdep_assert_irqs_disabled();
	cpu->active = 0;
	cpu->private_kin = 0;
	cpu->istopped = NULL;
	if (take_all(cpu, config, id))
		return -EIO;
	if (restart_actrs(config)) {
		cpu->running &= ~perfctr_riscv_actrs(config);
		return -EIO;
	}
	cpu->running |= perfctr_riscv_actrs(config);
	cpu->private_kin = kin;
	cpu->private_uid = uid;
	return 0;
}

/*
 * i-mode. All counters, including perf's, use one interrupt, LCOFI. An overflow makes LCOFI pending
 * in sip until somebody clears it there. It also sets the counter's bit OF, which scountovf shows.
 * OF stays set until the counter is started.
 *
 * Three things must never happen:
 * - We call START while LCOFI is pending. OpenSBI then leaves OF set, because the overflow may not
 *   have been seen yet. A counter whose OF is set does not interrupt again. So our counters wait
 *   for the interrupt, and stand still while perf's handler runs, which starts perf's counters.
 *   Counters of user mode stand still in the handler by themselves. We leave them running if none
 *   of them has overflowed, because then the interrupt is perf's.
 * - perf's handler finds no OF. The handler stops perf's counters, and restarts them only if it
 *   finds an OF. So our OFs stay set until the interrupt is over. If an interrupt is ours alone, we
 *   clear it as soon as our counters have stopped.
 * - We clear an LCOFI of perf's together with ours. So we set LCOFI again if a counter of perf's
 *   has OF set.
 */

notrace unsigned int perfctr_cpu_iwidth(void)
{
	return perfctr_pmu.width;
}

/*
 * Returns half of the range of a register. A value in the other half means overflow, even if the
 * interrupt is late.
 */
notrace u64 perfctr_cpu_irange(void)
{
	return BIT_ULL(perfctr_pmu.width - 1);
}

static bool interrupt_waits(void)
{
	return csr_read(CSR_SIP) & BIT(IRQ_PMU_OVF);
}

/*
 * Clears the interrupt, unless others' counters caused it, too. Call this after our counters have
 * stopped.
 */
static void take_interrupt_back(const struct perfctr_riscv_cpu *cpu)
{
	csr_clear(CSR_SIP, BIT(IRQ_PMU_OVF));
	/* An overflow after this line makes the interrupt pending again. */
	if (csr_read(CSR_SCOUNTOVF) & ~cpu->owned)
		csr_set(CSR_SIP, BIT(IRQ_PMU_OVF));
}

/* Returns true if one of the config's running i-mode counters has reached zero. */
static bool any_overflowed(const struct perfctr_config *config)
{
	unsigned long rest = config->imask;
	unsigned int hw;

	for_each_set_bit(hw, &rest, PERFCTR_RISCV_MAX)
		if (sign_extend64(perfctr_riscv_read(perfctr_riscv_stub(hw)),
				  perfctr_pmu.width - 1) >= 0)
			return true;
	return false;
}

static int start_ictrs(const struct perfctr_config *config, const u64 *value)
{
	u32 i, first = perfctr_config_nr_actrs(config);

	if (!value)
		return perfctr_riscv_start(config->imask, 0, 0) ? -EIO : 0;
	for (i = 0; i < config->nr_ictrs; i++)
		/* A running counter would not take the value. */
		if (perfctr_riscv_start(BIT(config->hw[first + i]),
					SBI_PMU_START_FLAG_SET_INIT_VALUE, value[i]))
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
	/*
	 * An a-mode counter of another config may run here. The next load of that config starts it
	 * from zero.
	 */
	if (unlikely(cpu->running & config->imask)) {
		perfctr_riscv_stop(cpu->running & config->imask, 0);
		cpu->running &= ~config->imask;
	}
	err = start_ictrs(config, value);
	if (unlikely(interrupt_waits()) && !err && !any_overflowed(config))
		err = -EAGAIN;	/* the interrupt came during the start */
	if (unlikely(err)) {
		perfctr_riscv_stop(config->imask, 0);
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
	/*
	 * Only START can write a register. Between START and STOP the counter counts only the
	 * kernel and these calls.
	 */
	perfctr_riscv_stop(config->imask, 0);
	perfctr_riscv_start(config->imask, SBI_PMU_START_FLAG_SET_INIT_VALUE, 0);
	perfctr_riscv_stop(config->imask, 0);
}

notrace void perfctr_cpu_istop(const struct perfctr_config *config, const void *id)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);

	lockdep_assert_irqs_disabled();
	perfctr_riscv_stop(config->imask, 0);
	if (unlikely(interrupt_waits()))
		take_interrupt_back(cpu);
	cpu->running &= ~config->imask;
	cpu->istopped = id;
}

int perfctr_cpu_age(void *unused)
{
	struct perfctr_riscv_cpu *cpu = this_cpu_ptr(&perfctr_riscv_cpu);
	unsigned long running = cpu->running & perfctr_pmu.programmable;
	u32 old = 0;
	unsigned int hw;

	for_each_set_bit(hw, &running, PERFCTR_RISCV_MAX) {
		struct perfctr_cpu_ctr ctr;

		perfctr_cpu_bind(&ctr, hw);
		if (perfctr_cpu_read(&ctr) >> (perfctr_pmu.width - 1))
			old |= BIT(hw);
	}
	perfctr_riscv_stop(old, 0);
	if (perfctr_riscv_start(old, SBI_PMU_START_FLAG_SET_INIT_VALUE, 0)) {
		cpu->running &= ~old;
		perfctr_riscv_now_unknown(cpu);
		return -EIO;
	}
	return 0;
}
