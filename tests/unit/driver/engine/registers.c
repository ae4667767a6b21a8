// SPDX-License-Identifier: GPL-2.0
/*
 * What registers hold: for whom each counted since it was zero, or set. Each process has a
 * bit for each of its users, and one for while it is not dumpable.
 */
#include "engine/world.h"
#include "thread/kin.h"

static struct shown {
	u64 value;
	u64 owners;
	unsigned int sets;
} registers[NR_CPUS][32];

unsigned int owner_bit(const struct process *process, unsigned int user)
{
	return (unsigned int)(process - processes) * (NR_USERS + 1) + user;
}

u64 owner_of(const struct thread *thread)
{
	const struct process *ended = thread->task.pid_ns ? ENDED_INSIDE : processes;
	const struct process *process = thread->process ? thread->process : ended;
	bool dumpable = process == ended || process->dumpable;

	return BIT_ULL(owner_bit(process, dumpable ? thread->cred.euid.val : NR_USERS));
}

/* If the value has changed it counted for that thread, and for nobody else if it was set. */
void look_for(const struct thread *thread)
{
	unsigned int hw, sets;

	for (hw = 0; hw < 32; hw++) {
		struct shown *reg = &registers[shim_cpu][hw];
		u64 value;

		if (!(machine_counters() & BIT(hw)))
			continue;
		value = machine_value(shim_cpu, hw);
		sets = machine_sets(hw);
		if (!value || sets != reg->sets)
			reg->owners = 0;
		if (value && (value != reg->value || sets != reg->sets))
			reg->owners |= owner_of(thread);
		reg->value = value;
		reg->sets = sets;
	}
}

void look(void)
{
	look_for(running());
	expect_records();
}

/* What the firmware left is nobody's. */
void look_first(void)
{
	unsigned int cpu, hw;

	memset(registers, 0, sizeof(registers));
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		for (hw = 0; hw < 32; hw++)
			if (machine_counters() & BIT(hw))
				registers[cpu][hw].value = machine_value(cpu, hw);
}

void engine_look(void)
{
	look();
}

/* The process has ended, so no thread belongs to it any more. */
void forget_process(const struct process *process)
{
	const struct process *ended = process->pid_ns ? ENDED_INSIDE : processes;
	unsigned int cpu, hw, user;

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		for (hw = 0; hw < 32; hw++) {
			u64 *owners = &registers[cpu][hw].owners;

			for (user = 0; user <= NR_USERS; user++) {
				if (!(*owners & BIT_ULL(owner_bit(process, user))))
					continue;
				*owners &= ~BIT_ULL(owner_bit(process, user));
				*owners |= BIT_ULL(owner_bit(ended, user));
			}
		}
	}
}

/* What registers of this CPU hold of one owner is another's from now on. */
void pass_on(u64 from, u64 to)
{
	unsigned int hw;

	for (hw = 0; hw < 32; hw++) {
		if (registers[shim_cpu][hw].owners & from) {
			registers[shim_cpu][hw].owners &= ~from;
			registers[shim_cpu][hw].owners |= to;
		}
	}
}

bool is_own(const struct map *map, const struct thread *thread)
{
	return map->process && map->process == thread->process && state_of(thread) &&
	       map->handle->file.private_data == state_of(thread) && map->vma.vm_ops->close;
}

bool has_map(const struct thread *thread)
{
	const struct map *map;

	for (map = maps; map < maps + NR_MAPS; map++)
		if (is_own(map, thread))
			return true;
	return false;
}

/* The counters that RAW permits it to read, as a mask */
static u32 raw_counters(const struct thread *thread)
{
	u32 mask = 0, i;

	if (!thread->raw || !thread->control || perfctr_user_read != PERFCTR_USER_READ_OPEN)
		return 0;
	for (i = 0; i < thread->control->nractrs + thread->control->nrictrs; i++)
		mask |= (u32)BIT(thread->control->ctr[i].map);
	return mask;
}

/* Where each thread has a permission of its own: it has what it must, and no more. */
static void expect_permission(const struct thread *thread)
{
	u32 raw = raw_counters(thread);
	unsigned int hw;

	nr.raw += raw != 0;
	for (hw = 0; hw < 32; hw++) {
		if (!(machine_counters() & BIT(hw)))
			continue;
		expect(machine_may_read(hw) || !(raw & BIT(hw)),
		       "thread %d may not read counter %u, in spite of RAW",
		       (int)(thread - threads), hw);
		expect(!machine_may_read(hw) || raw & BIT(hw) || thread->was_mapped,
		       "thread %d, which has no page, may read counter %u",
		       (int)(thread - threads), hw);
	}
}

/* Half of all sequences have native counters alone, the others few of perf's, or many. */
bool has_shared(void)
{
	return seed & 2 && machine_has_perf();
}

/* In two thirds of all sequences half of the threads write samples. */
bool has_rings(void)
{
	return seed % 3 != 1;
}

/* In some of all sequences there may be few overflows, or samples, in a tick. */
bool has_throttles(void)
{
	return seed % 5 < 2;
}

/* Before user mode: the registers that the thread may read hold only what is its own. */
void expect_own(const struct thread *thread)
{
	u32 users = thread->was_user | (u32)BIT(thread->cred.euid.val);
	u64 own = owner_of(thread);
	unsigned int hw, i;

	if (perfctr_cpu_permits_threads())
		expect_permission(thread);
	if (perfctr_user_read == PERFCTR_USER_READ_OPEN)
		return;
	/* Where anybody may read, that is so of perf's counters, too. */
	if (perfctr_cpu_always_readable() && has_shared())
		return;
	/* Where anybody may read, what counted for all is gone as soon as the policy changes. */
	if (thread->was_open && !perfctr_cpu_always_readable())
		return;
	for (i = 0; i <= NR_PROCESSES + 1; i++)
		if (processes[i].pid_ns == thread->task.pid_ns)
			own |= (u64)users << owner_bit(&processes[i], 0);
	for (i = 0; i <= NR_USERS; i++)
		own |= BIT_ULL(owner_bit(thread->process, i));
	for (hw = 0; hw < 32; hw++) {
		if (!(machine_counters() & BIT(hw)) || !machine_may_read(hw))
			continue;
		nr.private++;
		expect(!(registers[shim_cpu][hw].owners & ~own),
		       "thread %d may read counter %u of CPU %u: %#llx, with what is of %#llx",
		       (int)(thread - threads), hw, shim_cpu, registers[shim_cpu][hw].value,
		       registers[shim_cpu][hw].owners & ~own);
	}
}
