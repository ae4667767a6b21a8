// SPDX-License-Identifier: GPL-2.0
/* rdpmc.c: which processes may execute RDPMC, as the kernel counts its permissions. */
#include <check.h>
#include <linux/sched/signal.h>

#include "tests.h"
#include "arch/user.h"
#include "arch/x86/registers.h"
#include "switch/run.h"

static struct mm_struct mms[3] = {
	{ .context = { .ctx_id = 1 } }, { .context = { .ctx_id = 2 } },
	{ .context = { .ctx_id = 3 } },
};

static char changes[64];

/* Notes "(" and ")" around the kernel's change. */
static void note_change(bool ends)
{
	unsigned int cpu;

	ck_assert(shim_irqs_off);
	/* A thread that may read here has come from other CPUs, or goes to them. */
	if (ends && model_pce[shim_cpu])
		for_each_online_cpu(cpu)
			ck_assert_msg(per_cpu_ptr(&perfctr_x86_cpu, cpu)->ours,
				      "CPU %u may read what CPU %u's counters have", shim_cpu, cpu);
	ck_assert(strlen(changes) + 1 < sizeof(changes));
	changes[strlen(changes)] = ends ? ')' : '(';
}

static struct perfctr_config *claimed;

static void begin_unclaimed(bool no_endbr)
{
	struct model_machine machine = model_default;

	machine.no_endbr = no_endbr;
	driver_init(&machine);
	ck_assert(!perfctr_cpu_can_permit());
	perfctr_cpu_permit_init(note_change, NULL);
	ck_assert(perfctr_cpu_can_permit());
}

static void claim_one(void)
{
	const struct perfctr_ctr_control ctr = CTR(ANY, EV_INSTRUCTIONS, USER);

	claimed = claim_well(&ctr, 1);
}

static void give_back(void)
{
	cpus_read_lock();
	perfctr_cpu_give_back(perfctr_run);
	cpus_read_unlock();
}

static void begin(bool no_endbr)
{
	begin_unclaimed(no_endbr);
	claim_one();
	memset(changes, 0, sizeof(changes));
	memset(model_pce_updates, 0, sizeof(model_pce_updates));
}

static int allowed(unsigned int i)
{
	return atomic_read(&mms[i].context.perf_rdpmc_allowed);
}

/*
 * A row is a sequence of calls and checks, and then each mm's count. For mm A, B or C: + get,
 * - put of a mm that was not permitted, = put of one that was, p permit, n permit in vain,
 * w it waits, . it does not. For all of them: 0 withhold, 1 give back, o and i the same in
 * vain, ! some mm is permitted, ? none is. For the counters: c claim, u unclaim, l they
 * linger, f they do not, g give them back.
 */
static const struct {
	const char *calls;
	int allowed[3];
} sequences[] = {
	/* While the counters are not claimed, permissions are only noted. */
	{ "uA+Ap!A.", { 0, 0, 0 } },
	{ "uA+Apc", { 1, 0, 0 } },
	{ "uA+ApooiicA.", { 1, 0, 0 } },
	{ "uA+Apoc", { 0, 0, 0 } },
	{ "uA+Apoc1", { 1, 0, 0 } },
	{ "uA+B+BpcAwB.", { 0, 1, 0 } },
	{ "ucA+ApugA=", { 0, 0, 0 } },
	/* Counters are kept for processes that may read, and for nobody else. */
	{ "uf", { 0, 0, 0 } },
	{ "A+Apful", { 1, 0, 0 } },
	{ "A+Apulgf", { 0, 0, 0 } },
	{ "A+Apulcfgf", { 1, 0, 0 } },
	{ "A+Apulgcf", { 1, 0, 0 } },
	{ "A+Ap0ufi", { 0, 0, 0 } },
	{ "A+Ap0ufc1", { 1, 0, 0 } },
	{ "A+ApA=uf", { 0, 0, 0 } },
	{ "A+ApulA=lgf", { 0, 0, 0 } },
	{ "A+ApulB+Bpl", { 1, 1, 0 } },
	{ "A+ApulB+BpgfA.B.", { 0, 0, 0 } },
	{ "?A.An", { 0, 0, 0 } },
	{ "A+Aw?", { 0, 0, 0 } },
	{ "A+Ap!A.", { 1, 0, 0 } },
	{ "A+ApAn", { 1, 0, 0 } },
	{ "A+ApA+A.An", { 1, 0, 0 } },
	{ "A+A+ApA-!", { 1, 0, 0 } },
	{ "A+A+ApA-A=?A.", { 0, 0, 0 } },
	{ "A+A-A.An", { 0, 0, 0 } },
	{ "A+ApA=A+Aw", { 0, 0, 0 } },
	{ "A-", { 0, 0, 0 } },
	{ "A+B+BpAwB.", { 0, 1, 0 } },
	{ "A+B+C+ApBpCpB=!", { 1, 0, 1 } },
	/* While all permissions are withheld, changes are only noted. */
	{ "A+Ap0!A.", { 0, 0, 0 } },
	{ "A+Ap0o", { 0, 0, 0 } },
	{ "A+Ap01", { 1, 0, 0 } },
	{ "A+Ap01i", { 1, 0, 0 } },
	{ "i0A+Ap!", { 0, 0, 0 } },
	{ "0A+Ap1", { 1, 0, 0 } },
	{ "A+Ap0A=", { 0, 0, 0 } },
	{ "A+Ap0A=1", { 0, 0, 0 } },
	{ "A+ApB+0BpC+1", { 1, 1, 0 } },
	{ "A+ApB+0A=C+Cp1C.Bw", { 0, 0, 1 } },
};

START_TEST(counts_of_permission)
{
	const char *call = sequences[_i].calls;
	unsigned int i, mm = 0;
	bool good = true;

	begin(false);
	for (; *call && good; call++) {
		if (*call >= 'A' && *call <= 'C') {
			mm = (unsigned int)(*call - 'A');
			continue;
		}
		switch (*call) {
		case '+':
			good = !perfctr_cpu_mm_get(&mms[mm]);
			break;
		case '-':
		case '=':
			good = perfctr_cpu_mm_put(&mms[mm]) == (*call == '=');
			break;
		case 'p':
		case 'n':
			good = perfctr_cpu_mm_permit(&mms[mm]) == (*call == 'p');
			break;
		case 'w':
		case '.':
			good = perfctr_cpu_mm_waits(&mms[mm]) == (*call == 'w');
			break;
		case '!':
		case '?':
			good = perfctr_cpu_mm_any_given() == (*call == '!');
			break;
		case '0':
		case 'o':
			good = perfctr_cpu_withhold(PERFCTR_WITHHELD_POLICY, true) == (*call == '0');
			break;
		case '1':
		case 'i':
			good = perfctr_cpu_withhold(PERFCTR_WITHHELD_POLICY, false) == (*call == '1');
			break;
		case 'c':
			claim_one();
			break;
		case 'u':
			unclaim(claimed);
			break;
		case 'l':
		case 'f':
			good = perfctr_cpu_lingers() == (*call == 'l');
			break;
		case 'g':
			give_back();
			break;
		default:
			ck_abort_msg("no such call: %c", *call);
		}
	}
	ck_assert_msg(good, "%s: not so: %s", sequences[_i].calls, call - 1);
	for (i = 0; i < 3; i++)
		ck_assert_msg(allowed(i) == sequences[_i].allowed[i], "%s: mm %c: %d",
			      sequences[_i].calls, 'A' + i, allowed(i));
}
END_TEST

/* Ours are added to perf's permissions, and perf's are left. */
START_TEST(beside_perf)
{
	begin(false);
	atomic_set(&mms[0].context.perf_rdpmc_allowed, 2);
	ck_assert_int_eq(perfctr_cpu_mm_get(&mms[0]), 0);
	ck_assert(perfctr_cpu_mm_waits(&mms[0]));
	ck_assert(perfctr_cpu_mm_permit(&mms[0]));
	ck_assert_int_eq(allowed(0), 3);
	ck_assert(perfctr_cpu_withhold(PERFCTR_WITHHELD_POLICY, true));
	ck_assert_int_eq(allowed(0), 2);
	ck_assert(perfctr_cpu_withhold(PERFCTR_WITHHELD_POLICY, false));
	ck_assert(perfctr_cpu_mm_put(&mms[0]));
	ck_assert_int_eq(allowed(0), 2);
	/* A child has a copy of the count, and no map. */
	mms[1] = mms[0];
	perfctr_cpu_mm_forked(&mms[1]);
	ck_assert_int_eq(allowed(1), 0);
	ck_assert_int_eq(allowed(0), 2);
	ck_assert(!perfctr_cpu_mm_waits(&mms[1]));
}
END_TEST

START_TEST(no_memory)
{
	unsigned int before;

	begin(false);
	before = shim_allocations;
	shim_no_memory = true;
	ck_assert_int_eq(perfctr_cpu_mm_get(&mms[0]), -ENOMEM);
	ck_assert(!perfctr_cpu_mm_waits(&mms[0]));
	ck_assert(!perfctr_cpu_mm_permit(&mms[0]));
	ck_assert(!perfctr_cpu_mm_put(&mms[0]));
	shim_no_memory = false;
	ck_assert_int_eq(perfctr_cpu_mm_get(&mms[0]), 0);
	/* The second map of a process needs no memory. */
	shim_no_memory = true;
	ck_assert_int_eq(perfctr_cpu_mm_get(&mms[0]), 0);
	ck_assert_uint_eq(shim_allocations, before + 1);
	ck_assert(!perfctr_cpu_mm_put(&mms[0]));
	ck_assert(!perfctr_cpu_mm_put(&mms[0]));
	ck_assert_uint_eq(shim_allocations, before);
}
END_TEST

/* On each CPU the permission comes with the claim and goes before the counters do. */
START_TEST(permission_follows_the_claim)
{
	static const struct model_reservations nothing;
	unsigned int cpu, i;

	begin_unclaimed(false);
	shim_current.mm = &mms[0];
	ck_assert_int_eq(perfctr_cpu_mm_get(&mms[0]), 0);
	ck_assert(perfctr_cpu_mm_permit(&mms[0]));
	for (i = 0; i < 3; i++) {
		for_each_online_cpu(cpu) {
			on_cpu_irqs_off(cpu, perfctr_cpu_update_permission);
			ck_assert(!model_pce[cpu]);
		}
		claim_one();
		for_each_online_cpu(cpu)
			ck_assert(model_pce[cpu]);
		unclaim(claimed);
		/* Nothing counts, registers are zero, and they are not given back yet. */
		ck_assert_uint_ne(model_owned(0, MODEL_DRIVER), 0);
		for_each_online_cpu(cpu) {
			ck_assert(model_pce[cpu]);
			ck_assert_uint_eq(model_msr(cpu, MSR_CORE_PERF_GLOBAL_CTRL), 0);
		}
		give_back();
		ck_assert(!memcmp(&model_reserved, &nothing, sizeof(nothing)));
		for_each_online_cpu(cpu)
			ck_assert(!model_pce[cpu]);
	}
	ck_assert(perfctr_cpu_mm_put(&mms[0]));
}
END_TEST

/* With ENDBR at the beginning of the function, and without */
START_TEST(kernel_is_called)
{
	begin(_i);
	shim_current.mm = &mms[0];
	shim_cpu = 1;
	ck_assert_int_eq(perfctr_cpu_mm_get(&mms[0]), 0);
	on_cpu_irqs_off(1, perfctr_cpu_update_permission);
	ck_assert(!model_pce[1]);
	ck_assert(perfctr_cpu_mm_permit(&mms[0]));
	ck_assert(perfctr_cpu_is_permitted(current));
	on_cpu_irqs_off(1, perfctr_cpu_update_permission);
	ck_assert(model_pce[1]);
	ck_assert(!model_pce[0]);
	ck_assert_uint_eq(model_pce_updates[1], 2);
	ck_assert_str_eq(changes, "()()");
	/* Others call the kernel's function as well. */
	model_update_pce();
	ck_assert_str_eq(changes, "()()()");
	ck_assert(perfctr_cpu_mm_put(&mms[0]));
	ck_assert(!perfctr_cpu_is_permitted(current));
	shim_current.mm = NULL;
	ck_assert(!perfctr_cpu_is_permitted(current));
	perfctr_cpu_permit_exit();
	ck_assert(!perfctr_cpu_can_permit());
	model_update_pce();
	on_cpu_irqs_off(1, perfctr_cpu_update_permission);
	ck_assert_uint_eq(model_pce_updates[1], 4);
	ck_assert_str_eq(changes, "()()()");
}
END_TEST

/* What perf would zero when a reader comes is zeroed before anybody counts. */
START_TEST(what_perf_left_is_cleared)
{
	unsigned int cpu;

	begin_unclaimed(_i);
	for_each_online_cpu(cpu)
		model_perf_give(cpu, model_perf_take_all(cpu));
	claim_one();
	for_each_online_cpu(cpu)
		ck_assert_uint_eq(model_perf_dirty[cpu], 0);
	unclaim(claimed);
	perfctr_cpu_permit_exit();
}
END_TEST

static void nothing_changes(bool ends)
{
	(void)ends;
}

static unsigned int readers;

static void count_reader(void)
{
	ck_assert(shim_irqs_off);
	readers++;
}

/* If there is nothing to probe, nobody is permitted, and nothing else fails. */
START_TEST(nothing_to_probe)
{
	struct model_machine machine = model_default;
	struct perfctr_kernel_info info = {};

	machine.no_probe = true;
	driver_init(&machine);
	perfctr_cpu_permit_init(note_change, NULL);
	ck_assert(!perfctr_cpu_can_permit());
	perfctr_cpu_info(&info);
	ck_assert(!(info.cpu_features & PERFCTR_FEATURE_RDPMC));
	ck_assert_int_eq(perfctr_cpu_mm_get(&mms[0]), 0);
	ck_assert(!perfctr_cpu_mm_waits(&mms[0]));
	ck_assert(!perfctr_cpu_mm_put(&mms[0]));
	on_cpu_irqs_off(0, perfctr_cpu_update_permission);
	ck_assert_uint_eq(model_pce_updates[0], 0);
	ck_assert_uint_eq(shim_allocations, 0);
	ck_assert_int_eq(perfctr_cpu_watch_readers(count_reader), -EOPNOTSUPP);
	perfctr_cpu_permit_exit();
}
END_TEST

/* Beside perf we are told of each mm that comes and may read our counters. */
START_TEST(readers_are_watched)
{
	driver_init(&model_default);
	perfctr_pmu.beside = true;
	perfctr_cpu_permit_init(nothing_changes, NULL);
	perfctr_pmu.beside = false;
	shim_current.mm = &mms[0];
	ck_assert_int_eq(perfctr_cpu_watch_readers(count_reader), 0);
	atomic_set(&mms[0].context.perf_rdpmc_allowed, 1);
	on_cpu_irqs_off(0, perfctr_cpu_update_permission);
	ck_assert_uint_eq(readers, 0);
	claim_one();
	/* Taking the counters calls the same function. */
	readers = 0;
	atomic_set(&mms[0].context.perf_rdpmc_allowed, 0);
	on_cpu_irqs_off(0, perfctr_cpu_update_permission);
	ck_assert_uint_eq(readers, 0);
	atomic_set(&mms[0].context.perf_rdpmc_allowed, 1);
	on_cpu_irqs_off(0, perfctr_cpu_update_permission);
	ck_assert_uint_eq(readers, 1);
	ck_assert_int_eq(perfctr_cpu_watch_readers(NULL), 0);
	on_cpu_irqs_off(0, perfctr_cpu_update_permission);
	ck_assert_uint_eq(readers, 1);
	ck_assert_int_eq(perfctr_cpu_watch_readers(count_reader), 0);
	on_cpu_irqs_off(0, perfctr_cpu_update_permission);
	ck_assert_uint_eq(readers, 2);
	atomic_set(&mms[0].context.perf_rdpmc_allowed, 0);
	unclaim(claimed);
	/* Nobody is told after that, and nothing can be watched. */
	perfctr_cpu_permit_exit();
	ck_assert_int_eq(perfctr_cpu_watch_readers(count_reader), -EOPNOTSUPP);
	ck_assert_uint_eq(readers, 2);
}
END_TEST

/* Pentium Pros whose RDPMC in user mode an erratum forbids, and those next to them */
static const struct {
	u8 model, stepping;
	bool works;
} pentium_pros[] = {
	{ 1, 0, false }, { 1, 8, false }, { 1, 9, true }, { 3, 0, true }, { 8, 6, true },
};

START_TEST(not_by_early_pentium_pros)
{
	struct model_machine machine = model_p6;
	struct perfctr_kernel_info info = {};

	machine.model = pentium_pros[_i].model;
	machine.stepping = pentium_pros[_i].stepping;
	driver_init(&machine);
	perfctr_cpu_permit_init(note_change, NULL);
	ck_assert_int_eq(perfctr_cpu_can_permit(), pentium_pros[_i].works);
	perfctr_cpu_info(&info);
	ck_assert_int_eq(!!(info.cpu_features & PERFCTR_FEATURE_RDPMC), pentium_pros[_i].works);
	claim_one();
	shim_current.mm = &mms[0];
	ck_assert_int_eq(perfctr_cpu_mm_get(&mms[0]), 0);
	ck_assert_int_eq(perfctr_cpu_mm_waits(&mms[0]), pentium_pros[_i].works);
	perfctr_cpu_mm_put(&mms[0]);
	unclaim(claimed);
	perfctr_cpu_permit_exit();
}
END_TEST

START_TEST(info_tells_of_user_reads)
{
	struct perfctr_kernel_info info = {};

	begin(false);
	perfctr_cpu_info(&info);
	ck_assert(info.cpu_features & PERFCTR_FEATURE_RDPMC);
}
END_TEST

/* perf's permissions from forks that nobody saw, also if added to ours. Our own stay. */
START_TEST(old_permits_are_forgotten)
{
	struct task_struct tasks[] = { { .mm = &mms[0] }, { .mm = NULL }, { .mm = &mms[1] } };

	begin_unclaimed(false);
	ck_assert_int_eq(perfctr_cpu_mm_get(&mms[0]), 0);
	ck_assert(perfctr_cpu_mm_permit(&mms[0]));
	atomic_set(&mms[0].context.perf_rdpmc_allowed, 1);
	atomic_set(&mms[1].context.perf_rdpmc_allowed, 2);
	model_tasks = tasks;
	model_nr_tasks = 3;
	claim_one();
	model_tasks = NULL;
	model_nr_tasks = 0;
	ck_assert_int_eq(allowed(0), 1);
	ck_assert_int_eq(allowed(1), 0);
	ck_assert(perfctr_cpu_mm_put(&mms[0]));
}
END_TEST

void test_permit(void)
{
	unit_begin("x86_permit");
	UNIT_ROWS(counts_of_permission, sequences);
	UNIT_RUN(beside_perf);
	UNIT_RUN(no_memory);
	UNIT_RUN(permission_follows_the_claim);
	unit_run(kernel_is_called, 2);
	unit_run(what_perf_left_is_cleared, 2);
	UNIT_RUN(nothing_to_probe);
	UNIT_RUN(readers_are_watched);
	UNIT_ROWS(not_by_early_pentium_pros, pentium_pros);
	UNIT_RUN(info_tells_of_user_reads);
	UNIT_RUN(old_permits_are_forgotten);
}
