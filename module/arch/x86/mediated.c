// SPDX-License-Identifier: GPL-2.0
/*
 * KVM's mediated vPMU (Linux 7.2 has it, by the parameter enable_mediated_pmu of kvm_intel and of
 * kvm_amd) gives a guest the processor's counters while it runs. When KVM enters the guest it
 * writes GLOBAL_CTRL, the counters and their controls, and when it leaves it zeroes them:
 * arch/x86/kvm/pmu.c, kvm_mediated_pmu_load() and _put(). It reserves nothing. It only asks perf,
 * by perf_create_mediated_pmu(), when the guest's first CPU is made. perf refuses if it has an
 * event that counts guests too; otherwise it refuses such events until the last such guest has
 * gone.
 *
 * We cannot object: perf only looks at events of the counters' own PMU, and any such event reserves
 * the counters that we need. So when such a guest begins, before its CPU has run, native counting
 * stops with an error, and nobody can start it until there is no such guest. Counters of perf's go
 * on, since they do not count guests.
 *
 * A kprobe tells us when a guest begins. Nothing tells us of a guest that began before we were
 * loaded, or that the last one has ended. So when somebody wants the counters we try to make an
 * event that perf would refuse.
 */

#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/smp.h>

#include "arch/x86/mediated.h"

#if defined(CONFIG_PERF_GUEST_MEDIATED_PMU) && defined(CONFIG_KRETPROBES)

static bool probed;	/* constant after init */
static bool seen = true;	/* there may be such a guest */
static perfctr_changed_t begins;	/* constant after init */

static int guest_begins(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	/* This may be the first guest, or another one. */
	if (!regs_return_value(regs)) {
		WRITE_ONCE(seen, true);
		begins();
	}
	return 0;
}

static struct kretprobe probe = {
	.kp.symbol_name = "perf_create_mediated_pmu",
	.handler = guest_begins,
};

/*
 * Tries to make an event that would count guests too, without ever enabling it. EBUSY: perf
 * refuses; or ENOMEM.
 */
static int ask_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.pinned = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, raw_smp_processor_id(), NULL, NULL, NULL);
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
	if (event == ERR_PTR(-ENOMEM))
		return -ENOMEM;
	return event == ERR_PTR(-EOPNOTSUPP) ? -EBUSY : 0;
}

int perfctr_x86_mediated(bool taken)
{
	int err;

	if (probed && !READ_ONCE(seen))
		return 0;
	/* We have the counters, so perf would refuse for that reason. */
	if (taken)
		return probed ? -EBUSY : 0;
	/* Clear it first, so as not to miss a guest that begins meanwhile. */
	WRITE_ONCE(seen, false);
	err = ask_perf();
	if (err)
		WRITE_ONCE(seen, true);
	return err;
}

void perfctr_x86_mediated_init(perfctr_changed_t handler)
{
	begins = handler;
	probed = !register_kretprobe(&probe);
}

void perfctr_x86_mediated_exit(void)
{
	if (probed)
		unregister_kretprobe(&probe);
	probed = false;
}

#endif
