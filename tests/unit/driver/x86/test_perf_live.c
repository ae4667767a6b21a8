// SPDX-License-Identifier: GPL-2.0
/* Counters through perf: reads while NMIs come, and who has counters when others want them. */
#include "shared_kit.h"
#include "tests.h"
#include "x86/model_files.h"
#include "config/config.h"

#define ALL	3u

static const struct perfctr_ctr_control two[] = {
	CTR(ANY, EV_INSTRUCTIONS, USER), CTR(ANY, EV_ITLB, USER),
};
static const struct perfctr_ctr_control i_mode[] = { ICTR(ANY, EV_ITLB, USER, 100) };

/* --- reading --- */

/* What an NMI does, at the one of all places */
static struct {
	unsigned int at, now;
	unsigned int times;
	unsigned int cpu;
} nmi;

static void maybe_nmi(void)
{
	if (nmi.now++ != nmi.at)
		return;
	nmi.times++;
	model_perf_nmi(nmi.cpu);
	/* A second one, while the read is repeated */
	if (nmi.times < 2)
		nmi.at += 2;
}

static u64 read_once(struct perf_event *event)
{
	u64 count;

	local_irq_disable();
	count = perfctr_cpu_shared_read(event);
	local_irq_enable();
	return count;
}

/*
 * An NMI between any two of the accesses. After an exact overflow the counter starts from where it
 * started before, so prev_count is the same again, and the count is not.
 */
static const struct {
	const char *name;
	u64 value;	/* of the register */
	bool from_start;
} torn[] = {
	{ "no overflow", 0x900000000000, true },
	{ "exact overflow", 0, true },
	{ "overflow", 17, true },
	{ "late, exact", 0, false },
};

START_TEST(nmi_while_reading)
{
	struct perfctr_config *config;
	struct perf_event *event;
	u64 truth, start;
	unsigned int at;

	shared_begin(&model_default);
	config = shared_get(two + 1, 1, SHARED);
	for (at = 0; at < 8; at++) {
		/* Each time a new period */
		shared_put(config);
		config = shared_get(two + 1, 1, SHARED);
		event = event_of(config, 0, 0);
		shim_cpu = 0;
		start = event->hw.prev_count.value;
		if (!torn[_i].from_start)
			model_perf_nmi(0);
		model_perf_set_register(event, torn[_i].value);
		truth = model_perf_count(event);
		ck_assert_uint_gt(truth, 1000);
		nmi.at = at;
		nmi.now = 0;
		nmi.times = 0;
		nmi.cpu = 0;
		model_perf_between = maybe_nmi;
		ck_assert_msg(read_once(event) == truth, "%s, at %u", torn[_i].name, at);
		model_perf_between = NULL;
		ck_assert(nmi.times || at >= 5);
		ck_assert_uint_eq(read_once(event), truth);
		if (!torn[_i].value && at < 2)
			ck_assert_uint_eq(event->hw.prev_count.value, start);
	}
	shared_put(config);
	shared_end();
}
END_TEST

/* Which events are read by RDPMC: not those that perf's driver reads in another way */
static const struct {
	int rdpmc;
	bool good;
} inline_rows[] = {
	{ 0, true }, { 7, true }, { 1 << 30, true }, { 1 << 30 | 2, true },
	{ 1 << 30 | 3, false }, { 1 << 29, false }, { 1 << 29 | 3, false },
};

START_TEST(read_by_rdpmc)
{
	struct perf_event event = { .hw = { .event_base_rdpmc = inline_rows[_i].rdpmc } };

	driver_init(&model_default);
	ck_assert(perfctr_cpu_shared_inline(&event) == inline_rows[_i].good);
}
END_TEST

/* A vendor's counters whose width is not known, and which the native driver does not know */
START_TEST(read_by_perfs_driver)
{
	struct model_machine machine = model_default;
	struct perfctr_config *config;
	struct perfctr_kernel_info info = {};

	machine.vendor = X86_VENDOR_CENTAUR;
	shared_begin(&machine);
	perfctr_config_info(&info);
	ck_assert_uint_eq(info.nrctrs, 16);
	ck_assert(!(info.cpu_features & PERFCTR_FEATURE_NATIVE));
	expect_refused(two, 2, NATIVE, -EINVAL, 0, NOBODY, NO_REASON);
	config = GET(two, ANY_SOURCE);
	ck_assert(config->shared && config->call);
	expect_counts(config, ALL);
	shared_put(config);
	/* The error is perf's. */
	drop_privilege();
	model_rdpmc_of_cpu = "2\n";
	expect_refused(two, 2, ANY_SOURCE, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	shared_end();
}
END_TEST

/* perf's driver says something else than the register: then we ask it, on all CPUs. */
START_TEST(reads_do_not_agree)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	model_perf_differs = (u32)BIT(_i);
	config = GET(two, SHARED);
	ck_assert(config->call);
	model_perf_differs = 0;
	expect_counts(config, ALL);
	shared_put(config);
	shared_end();
}
END_TEST

/* On a CPU that comes later: who counts by the event reads registers, so it cannot be had. */
START_TEST(reads_do_not_agree_later)
{
	struct perfctr_config *config;
	struct thread thread;

	shared_begin(&model_default);
	config = GET(two, SHARED);
	ck_assert(!config->call);
	shim_cpu_down(1);
	model_perf_differs = BIT(1);
	shim_cpu_up(1);
	ck_assert_uint_eq(model_perf_live, 2);
	expect_counts(config, BIT(0));
	thread_init(&thread, config);
	thread_in(&thread, 1);
	ck_assert_int_eq(thread.error, -EIO);
	thread_out(&thread);
	shared_put(config);
	shared_end();
}
END_TEST

/* --- sources: one at a time --- */

START_TEST(first_come)
{
	struct perfctr_config *config, *same;

	shared_begin(&model_default);
	config = GET(two, NATIVE);
	expect_refused(two, 2, SHARED, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	same = GET(two, ANY_SOURCE);
	ck_assert_ptr_eq(same, config);
	shared_put(same);
	shared_put(config);
	config = GET(two, SHARED);
	expect_refused(two, 2, NATIVE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	/* i-mode counters are native ones only. */
	expect_refused(i_mode, 1, ANY_SOURCE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	same = GET(two, ANY_SOURCE);
	ck_assert_ptr_eq(same, config);
	shared_put(same);
	shared_put(config);
	shared_end();
}
END_TEST

/* perf has counters of its own, for example the watchdog's. */
START_TEST(beside_perf)
{
	struct perfctr_config *config;
	struct perf_event *watchdog;

	shared_begin(&model_default);
	watchdog = model_perf_other(1, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
	expect_refused(two, 2, NATIVE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERF, NO_REASON);
	config = GET(two, ANY_SOURCE);
	ck_assert(config->shared);
	expect_counts(config, ALL);
	/* From the second on there are claims of perfctr's. */
	expect_refused(two, 1, NATIVE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERFCTR,
		       PERFCTR_REASON_SOURCE);
	shared_put(config);
	/* Neither can: what the native driver can never do is told, before perf's lack of room. */
	expect_refused(general, 5, ANY_SOURCE, -EINVAL, 4, NOBODY, PERFCTR_REASON_COUNTER);
	expect_refused(i_mode, 1, ANY_SOURCE, -EBUSY, NO_INDEX, PERFCTR_OWNER_PERF, NO_REASON);
	drop_privilege();
	model_rdpmc_of_cpu = "1\n";
	expect_refused(two, 2, ANY_SOURCE, -EACCES, 0, NOBODY, PERFCTR_REASON_OPEN);
	model_perf_release_other(watchdog);
	shared_end();
}
END_TEST

/* A config that nobody uses any more, but that is still there, is in nobody's way. */
START_TEST(an_unused_config_is_in_nobodys_way)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	perfctr_config_put(GET(two, NATIVE), true);
	config = GET(two, SHARED);
	perfctr_config_put(config, true);
	config = GET(two, ANY_SOURCE);
	ck_assert(!config->shared);
	perfctr_config_put(config, true);
	shared_put(GET(two, SHARED));
	shared_end();
}
END_TEST

static unsigned long delay;

/* @delay after the last native claim, while somebody may still read registers */
static void end_the_delay(void)
{
	shim_jiffies++;
	if (shim_waits == delay)
		shim_work(true);
}

static void permission_changes(bool ends)
{
	(void)ends;
}

static void begin_lingering(struct mm_struct *mm)
{
	struct perfctr_config *config;

	shared_begin(&model_default);
	perfctr_cpu_permit_init(permission_changes, NULL);
	config = GET(two, NATIVE);
	ck_assert_int_eq(perfctr_cpu_mm_get(mm), 0);
	ck_assert(perfctr_cpu_mm_permit(mm));
	shared_put(config);
	ck_assert(perfctr_cpu_lingers());
	ck_assert_uint_eq(shim_waits, 0);
	delay = shim_work_delay();
	shim_while_waiting = end_the_delay;
}

static void end_lingering(struct mm_struct *mm)
{
	shim_while_waiting = NULL;
	perfctr_cpu_mm_put(mm);
	shim_work(true);
	perfctr_cpu_permit_exit();
	shared_end();
}

START_TEST(waits_for_lingering_counters)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };
	struct perfctr_config *config;

	begin_lingering(&mm);
	config = GET(two, SHARED);
	ck_assert_uint_eq(shim_waits, HZ / 20);
	expect_counts(config, ALL);
	shared_put(config);
	end_lingering(&mm);
}
END_TEST

/* Threads whose counting another ended may come late: they are given a second. */
START_TEST(others_get_a_second)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };
	struct perfctr_config *config, *kept;

	begin_lingering(&mm);
	config = GET(two, NATIVE);
	kept = shared_get(two, 1, NATIVE);
	perfctr_config_put_late(config);
	shim_jiffies += HZ / 4;
	shared_put(kept);
	ck_assert_uint_eq(shim_work_delay(), HZ - HZ / 4);
	config = GET(two, NATIVE);
	shim_jiffies += HZ;
	shared_put(config);
	ck_assert_uint_eq(shim_work_delay(), HZ / 20);
	config = GET(two, NATIVE);
	perfctr_config_evict(true, (kuid_t){});
	shared_put(config);
	ck_assert_uint_eq(shim_work_delay(), HZ);
	end_lingering(&mm);
}
END_TEST

/* The firmware has taken back what it had: who comes next does not get it either. */
START_TEST(firmware_comes_back_while_they_linger)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };
	const u64 its_own = 0x4300c0;
	struct perfctr_config *config;

	shared_begin(&model_default);
	perfctr_cpu_permit_init(permission_changes, NULL);
	model_set_msr(0, MSR_P6_EVNTSEL0, its_own);
	config = GET(two, NATIVE);
	ck_assert_int_eq(perfctr_cpu_mm_get(&mm), 0);
	ck_assert(perfctr_cpu_mm_permit(&mm));
	model_set_msr(0, MSR_P6_EVNTSEL0, its_own);
	shared_put(config);
	ck_assert(perfctr_cpu_lingers());
	expect_refused(two, 2, NATIVE, -EBUSY, NO_INDEX, PERFCTR_OWNER_FIRMWARE, NO_REASON);
	perfctr_cpu_mm_put(&mm);
	shim_work(true);
	ck_assert_uint_eq(model_msr(0, MSR_P6_EVNTSEL0), its_own);
	perfctr_cpu_permit_exit();
	shared_end();
}
END_TEST

START_TEST(a_signal_ends_the_waiting)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };

	begin_lingering(&mm);
	shim_signal_after = 3;
	expect_refused(two, 2, SHARED, -ERESTARTSYS, NO_INDEX, NOBODY, NO_REASON);
	ck_assert_uint_eq(shim_waits, 4);
	shim_signal_after = -1;
	end_lingering(&mm);
}
END_TEST

/* Native could not count it, but perf can, a little later. */
START_TEST(any_source_waits_too)
{
	static struct mm_struct mm = { .context = { .ctx_id = 1 } };
	struct perfctr_config *config;

	begin_lingering(&mm);
	config = GET(((struct perfctr_ctr_control []) { CTR(15, EV_ITLB, USER) }), ANY_SOURCE);
	ck_assert(config->shared);
	ck_assert_uint_eq(shim_waits, HZ / 20);
	expect_counts(config, ALL);
	shared_put(config);
	end_lingering(&mm);
}
END_TEST

void test_perf_live(void)
{
	UNIT_ROWS(nmi_while_reading, torn);
	UNIT_ROWS(read_by_rdpmc, inline_rows);
	UNIT_RUN(read_by_perfs_driver);
	unit_run(reads_do_not_agree, 2);
	UNIT_RUN(reads_do_not_agree_later);
	UNIT_RUN(first_come);
	UNIT_RUN(beside_perf);
	UNIT_RUN(an_unused_config_is_in_nobodys_way);
	UNIT_RUN(waits_for_lingering_counters);
	UNIT_RUN(others_get_a_second);
	UNIT_RUN(firmware_comes_back_while_they_linger);
	UNIT_RUN(a_signal_ends_the_waiting);
	UNIT_RUN(any_source_waits_too);
}
