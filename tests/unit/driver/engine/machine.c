// SPDX-License-Identifier: GPL-2.0
/* See machine.h. */
#include "engine/world.h"

#ifdef CONFIG_PPC32

/* A 604e has no copies for user mode. */
static const struct model_machine without_copies = { .pvr = 0x00090204, .nr_cpus = 2 };

const struct model_machine *machine_choose(unsigned int seed, bool *by_tracepoint)
{
	*by_tracepoint = seed & 4;
	return seed % 5 == 0 ? &without_copies : &model_default;
}

bool machine_shows(void)
{
	return model_processor()->copies;
}

bool machine_has_perf(void)
{
	return model_processor()->type == PERFCTR_PPC_7450;
}

u32 machine_counters(void)
{
	return 0x3f;
}

bool machine_has_own_way(const struct perfctr_ctr_control *ctr, u32 nr)
{
	return nr && ctr[0].config;
}

bool machine_irq_waits(void)
{
	return model_irq_waits(shim_cpu);
}

void machine_irq(bool user)
{
	model_irq(shim_cpu, user);
}

bool machine_may_read(unsigned int hw)
{
	return model_processor()->copies && hw < model_processor()->counters;
}

void machine_switch_mm(void)
{
}

unsigned int machine_sets(unsigned int hw)
{
	return hw < MODEL_PMCS ? model_sets[shim_cpu][hw] : 0;
}

unsigned int machine_counter(const struct perfctr_page *page, unsigned int i)
{
	return page->operand[i];
}

u64 machine_thread_pointer(const struct task_struct *task)
{
	return task->thread.regs.gpr[2];
}

void machine_set_thread_pointer(struct task_struct *task, u64 pointer)
{
	task->thread.regs.gpr[2] = pointer;
}

void machine_copy_mm(struct mm_struct *to, const struct mm_struct *from)
{
	(void)to;
	(void)from;
}

#else

const struct model_machine *machine_choose(unsigned int seed, bool *by_tracepoint)
{
#ifdef CONFIG_X86
	/*
	 * Half of all are AMD's, of which the first kind has a global control. Half of the others
	 * have TopDown.
	 */
	static const struct model_machine *const amds[] = { &model_zen4, &model_k8, &model_zen };

	*by_tracepoint = seed & 8;
	if (seed & 4)
		return amds[seed / 8 % ARRAY_SIZE(amds)];
	return seed & 1 ? &model_topdown_2 : &model_default;
#else
	*by_tracepoint = seed & 4;
	return &model_default;
#endif
}

bool machine_shows(void)
{
	return true;
}

bool machine_has_perf(void)
{
	return true;
}

#endif

#ifdef CONFIG_RISCV

static perfctr_ihandler_t ihandler;
static bool from_user;

/* As in arch/riscv/interrupt.c, which probes perf's handler */
int perfctr_cpu_set_ihandler(perfctr_ihandler_t handler)
{
	might_sleep();
	ihandler = handler;
	return 0;
}

bool perfctr_cpu_interrupted_user(void)
{
	return from_user;
}

u32 machine_counters(void)
{
	return 0xffu << FIRST;
}

bool machine_has_own_way(const struct perfctr_ctr_control *ctr, u32 nr)
{
	(void)ctr;
	(void)nr;
	return false;
}

bool machine_irq_waits(void)
{
	return model_pending(shim_cpu);
}

void machine_irq(bool user)
{
	from_user = user;
	local_irq_disable();
	if (ihandler)
		ihandler(false);
	/* If only our interrupt waited, it has been taken back. */
	if (model_pending(shim_cpu))
		model_perf_handles(shim_cpu, 0);
	if (ihandler)
		ihandler(true);
	local_irq_enable();
}

void machine_irq_of_others(void)
{
	model_overflow_of_others(shim_cpu, true);
	machine_irq(true);
	model_overflow_of_others(shim_cpu, false);
}

bool machine_may_read(unsigned int hw)
{
	return model_scounteren(shim_cpu) >> hw & 1;
}

void machine_switch_mm(void)
{
}

unsigned int machine_sets(unsigned int hw)
{
	return model_sets[shim_cpu][hw];
}

unsigned int machine_counter(const struct perfctr_page *page, unsigned int i)
{
	return page->map[i] / sizeof(page->slot[0]);
}

u64 machine_thread_pointer(const struct task_struct *task)
{
	return task->thread.regs.tp;
}

void machine_set_thread_pointer(struct task_struct *task, u64 pointer)
{
	task->thread.regs.tp = pointer;
}

void machine_copy_mm(struct mm_struct *to, const struct mm_struct *from)
{
	(void)to;
	(void)from;
}

#elif defined(CONFIG_X86)

#include <asm/ptrace.h>

/* In the place of a counter */
#define METRICS	31

u32 machine_counters(void)
{
	return 0xf | (model.metrics ? BIT(FIXED(3)) | BIT(METRICS) : 0);
}

u64 machine_value(unsigned int cpu, unsigned int hw)
{
	return hw == METRICS ? model_msr(cpu, MSR_PERF_METRICS) : model_value(cpu, hw);
}

unsigned int machine_nr_controls(void)
{
	return nr_controls - (model.metrics ? 0 : NR_METRIC_CONTROLS);
}

bool machine_is_metric(const struct perfctr_ctr_control *ctr, unsigned int *metric)
{
	*metric = ctr->event >> 8 & 7;
	return (ctr->event & 0xf8ff) == EV_METRIC(0);
}

bool machine_has_own_way(const struct perfctr_ctr_control *ctr, u32 nr)
{
	unsigned int metric;
	u32 i;

	for (i = 0; i < nr; i++)
		if (machine_is_metric(&ctr[i], &metric))
			return true;
	return false;
}

void machine_vary_work(unsigned int random)
{
	unsigned int i;

	/* In 1,000, of which the first three leave the rest to the fourth */
	for (i = 0; i < PERFCTR_METRICS; i++)
		model_mix[i] = (random >> 4 * i & 15) * 20;
}

bool machine_irq_waits(void)
{
	return model_irq_waits[shim_cpu];
}

/* If the driver cannot see the stack it takes each interrupt for one of user mode. */
void machine_irq(bool user)
{
	(void)user;
	model_irq(shim_cpu);
}

bool machine_may_read(unsigned int hw)
{
	(void)hw;
	return model_pce[shim_cpu];
}

void machine_switch_mm(void)
{
	model_set_msr(shim_cpu, MSR_FS_BASE, current->thread.fsbase);
	model_pce[shim_cpu] = current->mm &&
			      atomic_read(&current->mm->context.perf_rdpmc_allowed);
}

unsigned int machine_sets(unsigned int hw)
{
	if (hw == METRICS)
		return model_writes[shim_cpu][MSR_PERF_METRICS];
	if (hw >= FIXED(0))
		return model_writes[shim_cpu][MSR_CORE_PERF_FIXED_CTR0 + hw - FIXED(0)];
	return model_sets(shim_cpu, hw);
}

/* From the operand of RDPMC */
unsigned int machine_counter(const struct perfctr_page *page, unsigned int i)
{
	u32 operand = page->operand[i];

	return operand & BIT(30) ? FIXED(operand & 0xff) : operand;
}

u64 machine_thread_pointer(const struct task_struct *task)
{
	return task->thread.fsbase;
}

void machine_set_thread_pointer(struct task_struct *task, u64 pointer)
{
	task->thread.fsbase = pointer;
	task->thread.regs.cs = SHIM_USER_CS;
}

void machine_copy_mm(struct mm_struct *to, const struct mm_struct *from)
{
	static u64 last;

	to->context.ctx_id = ++last;
	if (from)
		atomic_set(&to->context.perf_rdpmc_allowed,
			   atomic_read(&from->context.perf_rdpmc_allowed));
	else
		atomic_set(&to->context.perf_rdpmc_allowed, 0);
}

#endif

#ifndef CONFIG_X86
u64 machine_value(unsigned int cpu, unsigned int hw)
{
	return model_value(cpu, hw);
}

unsigned int machine_nr_controls(void)
{
	return nr_controls;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): x86's writes it */
bool machine_is_metric(const struct perfctr_ctr_control *ctr, unsigned int *metric)
{
	(void)ctr;
	(void)metric;
	return false;
}

void machine_vary_work(unsigned int random)
{
	(void)random;
}
#endif
