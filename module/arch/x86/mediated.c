// SPDX-License-Identifier: GPL-2.0
/*
 * KVM's mediated vPMU gives a guest the processor's counters while the guest runs. Linux 7.2 has
 * this vPMU if the parameter enable_mediated_pmu of kvm_intel or kvm_amd is set. When KVM enters
 * the guest, it writes GLOBAL_CTRL, the counters and their controls. When KVM leaves the guest, it
 * zeroes all of these: see kvm_mediated_pmu_load() and kvm_mediated_pmu_put() in
 * arch/x86/kvm/pmu.c. KVM reserves no counters. It only asks perf, by perf_create_mediated_pmu(),
 * when the guest's first CPU is made. perf says no if it has an event that counts guests too.
 * Otherwise perf refuses such events until the last such guest has ended.
 *
 * We cannot make perf say no. perf only looks at events of the counters' own PMU, and any such
 * event would reserve the counters that we need. So when such a guest begins, all native counting
 * stops with an error, before the guest's CPU has run. Nobody can start native counting again while
 * there is such a guest. States that count by perf go on, because their events do not count guests.
 *
 * A kprobe tells us when such a guest begins. Nothing tells us that a guest had begun before the
 * module was loaded, or that the last guest has ended. So at a claim we try to make an event that
 * perf would refuse while there is such a guest.
 */

#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/smp.h>

#include "arch/x86/mediated.h"

#if defined(CONFIG_PERF_GUEST_MEDIATED_PMU) && defined(CONFIG_KRETPROBES)

static bool probed;	/* constant after init */
static bool seen = true;	/* a guest with a mediated vPMU may exist now */
static perfctr_changed_t begins;	/* constant after init */

static int guest_begins(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	/* This guest need not be the first one. */
	if (!regs_return_value(regs)) {
		WRITE_ONCE(seen, true);
		begins(false);
	}
	return 0;
}

static struct kretprobe probe = {
	.kp.symbol_name = "perf_create_mediated_pmu",
	.handler = guest_begins,
};

/*
 * Tries to make an event that would count guests too, and never enables it. Returns 0, or -EBUSY if
 * perf refuses the event, or -ENOMEM.
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
	/* We have the counters, so perf would refuse any event. */
	if (taken)
		return probed ? -EBUSY : 0;
	/* Clear @seen before asking, because a guest may begin meanwhile. */
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
