// SPDX-License-Identifier: GPL-2.0
/* AMD's processors: which counters there are, where, and which events they count. */
#include <check.h>

#include "arch/x86/amd/amd.h"
#include "tests.h"
#include "x86/model_files.h"

#define SOURCE	PERFCTR_REASON_SOURCE
#define COUNTER	PERFCTR_REASON_COUNTER

/* An event of 12 bits, with a unit mask */
#define EVENT(code, umask)	((u64)((code) & 0xff) | (u64)(umask) << 8 | (u64)((code) >> 8) << 32)

/*
 * What is found
 */

static bool sees(const struct task_struct *task)
{
	bool may;

	local_irq_disable();
	may = perfctr_cpu_may_see(task);
	local_irq_enable();
	return may;
}

static struct perfctr_kernel_info info_of(const struct model_machine *machine)
{
	struct perfctr_kernel_info info = {};

	driver_init(machine);
	perfctr_cpu_info(&info);
	return info;
}

static const struct {
	u8 vendor, family, model, stepping;
	u32 type;
} types[] = {
#define AMD	X86_VENDOR_AMD
	{ AMD, 0x06, 10, 0, PERFCTR_X86_AMD_K7 }, { AMD, 0x0f, 3, 9, PERFCTR_X86_AMD_K8 },
	{ AMD, 0x0f, 4, 7, PERFCTR_X86_AMD_K8 }, { AMD, 0x0f, 4, 8, PERFCTR_X86_AMD_K8C },
	{ AMD, 0x0f, 5, 8, PERFCTR_X86_AMD_K8C }, { AMD, 0x0f, 0x21, 0, PERFCTR_X86_AMD_K8C },
	{ AMD, 0x10, 2, 0, PERFCTR_X86_AMD_FAM10H }, { AMD, 0x11, 3, 0, PERFCTR_X86_AMD_K8C },
	{ AMD, 0x12, 1, 0, PERFCTR_X86_AMD_FAM10H }, { AMD, 0x14, 2, 0, PERFCTR_X86_AMD_FAM10H },
	{ AMD, 0x15, 2, 0, PERFCTR_X86_AMD_FAM15H }, { AMD, 0x16, 0, 0, PERFCTR_X86_AMD_FAM15H },
	{ AMD, 0x17, 0x01, 0, PERFCTR_X86_AMD_ZEN }, { AMD, 0x17, 0x2f, 0, PERFCTR_X86_AMD_ZEN },
	{ AMD, 0x17, 0x30, 0, PERFCTR_X86_AMD_ZEN2 }, { AMD, 0x17, 0x50, 0, PERFCTR_X86_AMD_ZEN },
	{ AMD, 0x17, 0x71, 0, PERFCTR_X86_AMD_ZEN2 }, { AMD, 0x19, 0x01, 0, PERFCTR_X86_AMD_ZEN2 },
	{ AMD, 0x19, 0x11, 0, PERFCTR_X86_AMD_ZEN4 }, { AMD, 0x19, 0x21, 0, PERFCTR_X86_AMD_ZEN2 },
	{ AMD, 0x19, 0x5f, 0, PERFCTR_X86_AMD_ZEN2 }, { AMD, 0x19, 0x61, 0, PERFCTR_X86_AMD_ZEN4 },
	{ AMD, 0x1a, 0x02, 0, PERFCTR_X86_AMD_ZEN4 },
	{ X86_VENDOR_HYGON, 0x18, 1, 0, PERFCTR_X86_AMD_ZEN },
};

START_TEST(type_by_family)
{
	struct model_machine machine = types[_i].family < 0x15 ? model_k8 : model_zen;

	machine.vendor = types[_i].vendor;
	machine.family = types[_i].family;
	machine.model = types[_i].model;
	machine.stepping = types[_i].stepping;
	ck_assert_uint_eq(info_of(&machine).cpu_type, types[_i].type);
}
END_TEST

/* So many as CPUID tells of, up to six: the next numbers of RDPMC are others' counters. */
static const struct {
	const char *name;
	const struct model_machine *machine;
	unsigned int nr;
	u32 told, no_msr, no_rdpmc, counters;
} counts[] = {
	{ "K8", &model_k8, 4, 0, ~0u, ~0u, 0xf },
	{ "family 15h", &model_15h, 6, 0, ~0u, ~0u, 0x3f },
	{ "Zen 4", &model_zen4, 6, 6, ~0u, ~0u, 0x3f },
	{ "of a hypervisor", &model_zen4, 4, 4, ~0u, ~0u, 0xf },
	{ "one", &model_zen4, 1, 1, ~0u, ~0u, 0x1 },
	{ "more", &model_zen4, 6, 8, ~0u, ~0u, 0x3f },
	{ "none", &model_zen4, 6, 0, ~0u, ~0u, 0 },
	{ "no event select", &model_k8, 4, 0, 0xc0010003, ~0u, 0 },
	{ "no counter", &model_zen, 6, 0, 0xc001020b, ~0u, 0 },
	{ "no RDPMC", &model_zen, 6, 0, ~0u, 5, 0 },
	{ "no global control", &model_zen4, 6, 6, 0xc0000301, ~0u, 0 },
	{ "no global status", &model_zen4, 6, 6, 0xc0000300, ~0u, 0 },
};

START_TEST(as_many_as_told)
{
	struct model_machine machine = *counts[_i].machine;
	struct perfctr_kernel_info info;

	machine.nr = counts[_i].nr;
	/* The leaf is there; of none it is not told otherwise. */
	machine.amd_ctrs = counts[_i].told;
	model_no_msr = counts[_i].no_msr;
	model_no_rdpmc = counts[_i].no_rdpmc;
	info = info_of(&machine);
	ck_assert_msg(info.counters == counts[_i].counters, "%s: %#llx", counts[_i].name,
		      info.counters);
	ck_assert_uint_eq(info.no_counters, counts[_i].counters ? PERFCTR_NO_COUNTERS_NONE :
								 PERFCTR_NO_COUNTERS_REGISTERS);
}
END_TEST

/*
 * Which events
 */

static const struct {
	const char *name;
	const struct model_machine *machine;
	u64 event;
	int err;
	u32 reason, possible;	/* or, without an error, those that count it */
} events[] = {
#define K7	&model_k7
#define K8	&model_k8
#define F10	&model_10h
#define F15	&model_15h
#define F16	&model_16h
#define ZEN	&model_zen
#define ZEN4	&model_zen4
	/* The northbridge's */
	{ "before the northbridge's", K8, EVENT(0xdf, 0), 0, 0, 0xf },
	{ "K8, HyperTransport", K8, EVENT(0xf6, 7), -EOPNOTSUPP, SOURCE, 0 },
	{ "K8, DRAM", K8, EVENT(0xe0, 0xff), -EOPNOTSUPP, SOURCE, 0 },
	{ "10h, L3", F10, EVENT(0x4e1, 0xf7), -EOPNOTSUPP, SOURCE, 0 },
	{ "10h, the last one", F10, EVENT(0xff, 0), -EOPNOTSUPP, SOURCE, 0 },
	{ "10h, of 12 bits", F10, EVENT(0x1c0, 1), 0, 0, 0xf },
	{ "K8, of 12 bits", K8, EVENT(0x1c0, 1), -EINVAL, 0, 0 },
	{ "K7, which has none", K7, EVENT(0xf6, 7), 0, 0, 0xf },
	{ "16h, before the northbridge's", F16, EVENT(0xdf, 0), 0, 0, 0xf },
	{ "16h, northbridge", F16, EVENT(0xe0, 1), -EINVAL, COUNTER, 0 },
	{ "16h, of 12 bits", F16, EVENT(0x1c0, 1), 0, 0, 0xf },
	{ "15h, northbridge", F15, EVENT(0xe9, 1), -EINVAL, COUNTER, 0 },
	/* Family 15h's counters */
	{ "15h, instructions", F15, EVENT(0xc0, 0), 0, 0, 0x3f },
	{ "15h, branches", F15, EVENT(0xc2, 0), 0, 0, 0x3f },
	{ "15h, cycles", F15, EVENT(0x76, 0), 0, 0, 0x07 },
	{ "15h, FPU", F15, EVENT(0x01, 0), 0, 0, 0x38 },
	{ "15h, pipes", F15, EVENT(0x00, 0x01), 0, 0, 0x38 },
	{ "15h, pipes of both kinds", F15, EVENT(0x00, 0x11), 0, 0, 0x08 },
	{ "15h, FLOPs", F15, EVENT(0x03, 1), 0, 0, 0x08 },
	{ "15h, one unit", F15, EVENT(0x04, 1), 0, 0, 0x38 },
	{ "15h, two units", F15, EVENT(0x04, 3), 0, 0, 0x08 },
	{ "15h, one unit of 31h", F15, EVENT(0x31, 1), 0, 0, 0x07 },
	{ "15h, two units of 31h", F15, EVENT(0x31, 3), -EINVAL, COUNTER, 0 },
	{ "15h, 2eh", F15, EVENT(0x2e, 0), 0, 0, 0x09 },
	{ "15h, 1c0h", F15, EVENT(0x1c0, 0), 0, 0, 0x38 },
	{ "15h, undefined", F15, EVENT(0xa5, 0), -EINVAL, COUNTER, 0 },
	/* Zen's pairs */
	{ "Zen, FLOPs", ZEN, EVENT(0x03, 0xff), -EOPNOTSUPP, SOURCE, 0 },
	{ "Zen 4, FLOPs", ZEN4, EVENT(0x03, 0x0f), -EOPNOTSUPP, SOURCE, 0 },
	{ "Zen, 103h", ZEN, EVENT(0x103, 0x0f), 0, 0, 0x3f },
	{ "Zen, merge", ZEN, EVENT(0xfff, 0), -EINVAL, 0, 0 },
	{ "Zen 4, merge with a unit mask", ZEN4, EVENT(0xfff, 0x55), -EINVAL, 0, 0 },
	{ "Zen, ffh", ZEN, EVENT(0xff, 0), 0, 0, 0x3f },
	{ "Zen, its own northbridge codes", ZEN, EVENT(0xe4, 0), 0, 0, 0x3f },
};

START_TEST(events_of_each_family)
{
	const struct perfctr_ctr_control ctr = CTR(ANY, events[_i].event, USER);
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	bool kernel = false;
	unsigned int hw;
	int err;

	driver_init(events[_i].machine);
	err = perfctr_cpu_check(&ctr, 1, &kernel, &why);
	ck_assert_msg(err == events[_i].err, "%s: %d", events[_i].name, err);
	ck_assert_msg(why.reason == events[_i].reason, "%s: reason %u", events[_i].name, why.reason);
	if (err) {
		ck_assert_uint_eq(why.possible, 0);
		return;
	}
	for (hw = 0; hw < 8; hw++) {
		const struct perfctr_ctr_control named = CTR(hw, events[_i].event, USER);

		why = PERFCTR_NO_REFUSAL;
		err = perfctr_cpu_check(&named, 1, &kernel, &why);
		ck_assert_msg(err == (events[_i].possible & BIT(hw) ? 0 : -EINVAL),
			      "%s: counter %u: %d", events[_i].name, hw, err);
		if (err && hw < model.nr)
			ck_assert_uint_eq(why.possible, events[_i].possible);
	}
}
END_TEST

/* If there is any assignment it is found: of three groups of counters. */
START_TEST(all_of_15h_at_once)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_AMD_CYCLES, USER),
		CTR(ANY, 0x01, USER), CTR(ANY, 0x03, USER), CTR(ANY, 0x8f, USER), CTR(ANY, 0x2e, USER),
	};
	static const struct perfctr_ctr_control too_many[] = {
		CTR(ANY, 0x03, USER), CTR(ANY, EV_AMD_CYCLES, USER), CTR(ANY, 0x0b, USER),
	};
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	struct perfctr_config *config;
	struct thread thread;
	bool kernel;

	driver_init(&model_15h);
	/* 03h and 8fh leave none of the two to 2eh. */
	ck_assert_int_eq(perfctr_cpu_check(ctr, 6, &kernel, &why), -EINVAL);
	ck_assert_uint_eq(why.index, 5);
	ck_assert_uint_eq(why.possible, 0x09);
	config = claim_well(ctr, 5);
	ck_assert_uint_eq(config->hw[3], 3);
	ck_assert_uint_eq(config->hw[4], 0);
	thread_init(&thread, config);
	thread_run(&thread, 1, 1000);
	thread_run(&thread, 0, 500);
	thread_expect_exact(&thread);
	why = PERFCTR_NO_REFUSAL;
	ck_assert_int_eq(perfctr_cpu_check(too_many, 3, &kernel, &why), -EINVAL);
	ck_assert_uint_eq(why.index, 2);
	ck_assert_uint_eq(why.reason, COUNTER);
	ck_assert_uint_eq(why.possible, 0x08);
}
END_TEST

/*
 * How they count
 */

static const struct model_machine *const amds[] = {
	&model_k8, &model_10h, &model_15h, &model_zen, &model_zen4,
};

/* All 48 bits are written, and bits 41:40, which choose between host and guests, stay zero. */
START_TEST(whole_selects)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR(0, EV_AMD_WIDE, BOTH), ICTR(1, EV_AMD_BRANCHES, USER, S64_MAX),
	};
	struct model_machine machine = *amds[_i];
	struct perfctr_config *config;
	struct thread thread;
	unsigned int nr = machine.family < 0x10 ? 1 : 2;

	driver_init(&machine);
	ck_assert_uint_eq(perfctr_cpu_iwidth(), 48);
	ck_assert_uint_eq(perfctr_cpu_irange(), 1ull << 47);
	config = claim_well(ctr + 2 - nr, nr);
	ck_assert_int_eq(load_on(0, config), 0);
	if (nr == 2)
		ck_assert_uint_eq(model_msr(0, model_evntsel(0)),
				  EV_AMD_WIDE | SEL_USR | SEL_OS | SEL_EN);
	unclaim(config);
	if (nr == 1)
		return;
	config = claim_well(ctr, 1);
	thread_init(&thread, config);
	thread_run(&thread, 0, 1000);
	thread_expect_exact(&thread);
	ck_assert_uint_ne(thread.state.ctr[0].acc, 0);
}
END_TEST

/* perf's own registers are those that are reserved: the new ones where there are some. */
START_TEST(reserved_with_perf)
{
	static const struct perfctr_ctr_control ctr[] = { CTR(ANY, EV_INSTRUCTIONS, USER) };
	struct perfctr_config *config;
	unsigned int i;

	driver_init(amds[_i]);
	config = CLAIM(ctr);
	for (i = 0; i < model.nr; i++) {
		ck_assert_uint_eq(model_reserved.perfctr[i], MODEL_DRIVER);
		ck_assert_uint_eq(model_reserved.evntsel[i], MODEL_DRIVER);
	}
	ck_assert(!model_perf_reserve());
	unclaim(config);
	ck_assert(model_perf_reserve());
	ck_assert_int_eq(PTR_ERR(claim(ctr, 1, NULL)), -EBUSY);
	model_perf_unreserve();
	unclaim(CLAIM(ctr));
}
END_TEST

/* What did not count when it was tried is zeroed too, since RDPMC reads it. */
START_TEST(unused_are_zeroed)
{
	static const struct perfctr_ctr_control ctr[] = { CTR(ANY, EV_INSTRUCTIONS, USER) };
	unsigned int cpu;

	model_stuck[1] = BIT(2);
	driver_init(amds[_i]);
	model_set_value(0, 2, 1234);
	model_set_value(1, 2, 1234);
	CLAIM(ctr);
	for (cpu = 0; cpu < 2; cpu++)
		ck_assert_uint_eq(model_value(cpu, 2), 0);
}
END_TEST

/*
 * Stop and go: with a global control it is one write. Without, counters run on until a thread
 * comes that may read what is not its own.
 */
START_TEST(guarded)
{
	static const struct perfctr_ctr_control ctr[] = {
		CTR(0, EV_INSTRUCTIONS, USER), CTR(1, EV_AMD_BRANCHES, BOTH),
	};
	static struct mm_struct mms[2] = {
		{ .context = { .ctx_id = 1 } }, { .context = { .ctx_id = 2 } },
	};
	bool global = amds[_i] == &model_zen4;
	struct task_struct other = { .mm = &mms[1] };
	struct perfctr_config *config;
	u64 value;

	driver_init(amds[_i]);
	shim_current.mm = &mms[0];
	config = CLAIM(ctr);
	ck_assert_int_eq(restart_on(0, config, 1000), 0);
	model_execute(MODEL_USER, 1000);
	model_calls_reset();
	on_cpu_irqs_off(0, perfctr_cpu_leave);
	ck_assert_uint_eq(model_all_writes(), global);
	value = model_value(0, 0);
	model_execute(MODEL_USER, 1000);
	ck_assert_uint_eq(model_value(0, 0) - value, global ? 0 : 1000);
	ck_assert(!sees(&other));
	local_irq_disable();
	perfctr_cpu_scrub(&other);
	local_irq_enable();
	model_execute(MODEL_USER, 1000);
	ck_assert_uint_eq(model_value(0, 0), 0);
	ck_assert_uint_eq(model_value(0, 1), 0);
	ck_assert(sees(&other));
}
END_TEST

/*
 * As KVM comes and goes perf sets all of the global control. What is to stand stands again at once, and
 * nothing has changed; but if that cannot be known, it is found.
 */
START_TEST(kvm_comes_and_goes)
{
	static const struct perfctr_ctr_control ctr[] = { CTR(1, EV_INSTRUCTIONS, USER) };
	const struct model_machine *machines_[] = { &model_k8, &model_zen4, &model_zen4 };
	struct model_machine machine = *machines_[_i];
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };
	struct perfctr_config *config;
	u64 value;
	bool on;

	machine.no_virt_probe = _i == 2;
	driver_init(&machine);
	shim_current.mm = &mm;
	/* Nobody counts. */
	model_virt(true);
	ck_assert_uint_eq(model_all_writes(), 0);
	config = CLAIM(ctr);
	ck_assert_int_eq(restart_on(0, config, 1000), 0);
	for (on = true; ; on = false) {
		local_irq_disable();
		model_virt(on);
		local_irq_enable();
		shim_jiffies++;
		ck_assert_int_eq(model_verify_on(0), _i < 2);
		if (!on || _i == 2)
			break;
	}
	if (_i == 2)
		return;
	value = model_value(0, 1);
	model_execute(MODEL_USER, 1000);
	ck_assert_uint_eq(model_value(0, 1) - value, 1000);
	perfctr_cpu_exit();
}
END_TEST

/*
 * Counters that are not the core's, and that RDPMC reads too
 */

static unsigned int ended;

static void guard_ends(void)
{
	ended++;
	ck_assert(!perfctr_cpu_can_guard());
}

static const struct {
	const char *name;
	const struct model_machine *machine;
	const char *pmu;	/* there as the driver is loaded */
	const char *module;	/* comes afterwards */
	bool no_sysfs, guards, still;
} uncores[] = {
	{ "no such counters", &model_zen4, NULL, "amd_uncore", false, true, true },
	{ "nor anything that counts", &model_k8, "amd_nb", NULL, false, true, true },
	{ "nobody counts", &model_15h, NULL, NULL, false, true, true },
	{ "family 15h's", &model_15h, "amd_nb", NULL, false, false, false },
	{ "of level 2", &model_15h, "amd_l2", NULL, false, false, false },
	{ "Zen's", &model_15h, "amd_df", NULL, false, false, false },
	{ "of level 3", &model_15h, "amd_l3", NULL, false, false, false },
	{ "unknown", &model_15h, NULL, NULL, true, false, false },
	{ "unknown without such counters", &model_zen4, NULL, NULL, true, true, true },
	{ "another module", &model_15h, NULL, "amd_uncore2", false, true, true },
	{ "comes later", &model_15h, NULL, "amd_uncore", false, true, false },
	{ "comes again", &model_15h, "amd_df", "amd_uncore", false, false, false },
};

START_TEST(guards_what_is_its_own)
{
	model_uncore = uncores[_i].pmu;
	model_no_sysfs = uncores[_i].no_sysfs;
	driver_init(uncores[_i].machine);
	perfctr_cpu_guard_init(guard_ends);
	ck_assert_msg(perfctr_cpu_can_guard() == uncores[_i].guards, "%s", uncores[_i].name);
	if (uncores[_i].module) {
		model_module_comes(uncores[_i].module);
		model_module_comes(uncores[_i].module);
	}
	ck_assert_msg(perfctr_cpu_can_guard() == uncores[_i].still, "%s", uncores[_i].name);
	ck_assert_uint_eq(ended, uncores[_i].guards && !uncores[_i].still);
	ck_assert_int_eq(model_file_refs, 0);
	perfctr_cpu_guard_exit();
	model_module_comes("amd_uncore");
	ck_assert(perfctr_cpu_can_guard() == uncores[_i].still);
}
END_TEST

void test_amd(void)
{
	unit_begin("x86_amd");
	UNIT_ROWS(type_by_family, types);
	UNIT_ROWS(as_many_as_told, counts);
	UNIT_ROWS(events_of_each_family, events);
	UNIT_RUN(all_of_15h_at_once);
	UNIT_ROWS(whole_selects, amds);
	UNIT_ROWS(reserved_with_perf, amds);
	UNIT_ROWS(unused_are_zeroed, amds);
	UNIT_ROWS(guarded, amds);
	unit_run(kvm_comes_and_goes, 3);
	UNIT_ROWS(guards_what_is_its_own, uncores);
}
