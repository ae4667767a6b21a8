// SPDX-License-Identifier: GPL-2.0
/*
 * KVM's mediated vPMU (Linux 7.2 has it, by the parameter enable_mediated_pmu of kvm_intel and of
 * kvm_amd): a guest has the processor's counters for itself while it runs. As KVM enters the guest
 * it writes GLOBAL_CTRL, the counters and their controls, and as it leaves it zeroes them:
 * arch/x86/kvm/pmu.c, kvm_mediated_pmu_load() and _put(). It reserves nothing. It asks perf alone,
 * by perf_create_mediated_pmu(), as the guest's first CPU is made: perf refuses if it has an event
 * that counts guests too, and then has no such event until the last such guest has gone.
 *
 * We cannot object: what perf looks at are events of the counters' own PMU, and any of these
 * reserves the counters that we need. So whoever counts natively is stopped with an error as such
 * a guest begins, before its CPU has run, and nobody starts to until there is none. Counters of
 * perf's go on, since they do not count guests.
 *
 * A kprobe tells of a guest that begins. Of one that began before we were loaded, and of the last
 * one's end, an event tells that perf would refuse: it is tried when somebody wants the counters.
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
	/* It may be the first one, or one more. */
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

/* By an event that would count guests too, and that never counts. EBUSY: perf refuses; ENOMEM */
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
	/* Perf would say that its counters are not to be had. */
	if (taken)
		return probed ? -EBUSY : 0;
	/* First, so that one that begins meanwhile is not missed. */
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
