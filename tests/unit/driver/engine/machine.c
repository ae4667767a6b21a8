// SPDX-License-Identifier: GPL-2.0
/* See machine.h. */
#include "engine/machine.h"

#ifdef CONFIG_PPC32

#include "ppc32/model_spr.h"

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

#ifdef CONFIG_X86
#include "x86/model_msr.h"
#endif

const struct model_machine *machine_choose(unsigned int seed, bool *by_tracepoint)
{
#ifdef CONFIG_X86
	/* Half of all are AMD's, of which the first kind has a global control. */
	static const struct model_machine *const amds[] = { &model_zen4, &model_k8, &model_zen };

	*by_tracepoint = seed & 8;
	return seed & 4 ? amds[seed / 8 % ARRAY_SIZE(amds)] : &model_default;
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

#include "riscv/model_sbi.h"

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
	return model_sets(shim_cpu, hw);
}

unsigned int machine_counter(const struct perfctr_page *page, unsigned int i)
{
	return page->operand[i];
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
