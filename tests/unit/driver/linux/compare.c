// SPDX-License-Identifier: GPL-2.0
/*
 * The driver's knowledge of Intel's models, and AMD's family 15h, against that of Linux's driver (linux.h): for each model
 * that Linux knows, and each event, which counters can count it, and which periods it may have; and
 * what Linux does about errata. And the library's tables of what perf's cache events are. What differs on purpose is listed here, with the reason. Any other
 * difference is printed, and fails.
 */
#include <stdio.h>
#include <string.h>

#include <asm/processor.h>

#include "arch/x86/amd/amd.h"
#include "arch/x86/evntsel.h"
#include "arch/x86/extra.h"
#include "arch/x86/intel/intel.h"
#include "events_intel.h"
#include "linux/linux.h"
#include "unit.h"
#include "x86/model_msr.h"

#define PERIODS	300
#define P6_LAST	0x0d

/* Models that only Linux knows */
static const struct {
	const char *name;
	const char *why;
} left_out[] = {
	{ "INTEL_LUNARLAKE_M", "version 6 of performance monitoring, which the driver refuses" },
	{ "INTEL_ARROWLAKE", "the same" },
	{ "INTEL_ARROWLAKE_H", "the same" },
	{ "INTEL_PANTHERLAKE_L", "the same" },
	{ "INTEL_WILDCATLAKE_L", "the same" },
	{ "INTEL_NOVALAKE", "the same" },
	{ "INTEL_NOVALAKE_L", "the same" },
	{ "INTEL_ATOM_DARKMONT_X", "the same" },
	{ "INTEL_DIAMONDRAPIDS_X", "the same" },
};

/* Models that Linux's driver does not know */
static const struct {
	uint8_t number;
	const char *why;
} alone[] = {
	{ 0xd7, "Bartlett Lake, whose cores are Raptor Cove by Linux's intel-family.h" },
};

/* Registers of events of which the driver knows more bits than one of the two kernels */
static const struct {
	uint8_t model;
	uint32_t event;
	uint64_t valid;
	const char *why;
} earlier[] = {
	{ 0xbe, 0x01b7, 0x3fffffffff, "Linux 6.12; 7.2 has more bits of Gracemont's" },
	{ 0xbe, 0x02b7, 0x3fffffffff, "the same" },
};

/* Models that only the later one of the two kernels knows */
static const uint8_t later[] = {
	0x75,	/* INTEL_ATOM_AIRMONT_NP, since Linux 7 */
};

/*
 * Counters that only Linux has, of an event without more, or with whatever more; of all models, or of
 * those that are like this one
 */
static const struct {
	uint32_t event, mask;
	uint8_t like;
	uint64_t counters;
	const char *why;
} fewer[] = {
#define ALONE	~0u, 0
#define SAPPHIRE_RAPIDS	0xffff, 0x8f
	{ 0x01c0, ALONE, BIT(LINUX_FIXED),
	  "it is counted by fixed counter 0 when it samples precisely, which we do not do" },
	{ 0x0100, ALONE, BIT(LINUX_FIXED), "the same, or another number of instructions" },
	{ 0x0200, ALONE, BIT(LINUX_FIXED + 1), "another number of cycles" },
	{ 0x013c, ALONE, BIT(LINUX_FIXED + 2),
	  "fixed counter 2 counts reference cycles, which are bus cycles on others before Alder Lake, if it is named" },
	{ 0x0400, ALONE, BIT(LINUX_FIXED + 3), "slots: the driver has them with PERF_METRICS alone" },
	{ 0x05a3, SAPPHIRE_RAPIDS, 0xf0, "Linux 7.2 has this rule, and 6.12 has not" },
	{ 0x06a3, SAPPHIRE_RAPIDS, 0xf0, "the same" },
	{ 0x0ca3, SAPPHIRE_RAPIDS, 0xf0, "the same" },
	{ 0x01cd, SAPPHIRE_RAPIDS, 0x01, "the same" },
};

/* What Linux does on a model, besides tables; and what about it is done here */
static const struct {
	const char *name;
	const char *what;
} known[] = {
	{ "intel_clovertown_quirk", "AJ68, AJ106: precise sampling, which is not done here" },
	{ "intel_sandybridge_quirk", "precise sampling needs new microcode" },
	{ "intel_pebs_isolation_quirk", "precise sampling needs new microcode" },
	{ "intel_nehalem_quirk", "AAJ80: CPUID says that branch-misses is missing, so it is EINVAL" },
	{ "intel_ht_bug", "BJ122, BV98, HSD29: compared" },
	{ "intel_pmu_nhm_enable_all", "AAK100, AAP53, BD53: compared" },
	{ "tfa_get_event_constraints", "counter 3 is microcode's: test_constraints.c" },
	{ "intel_tfa_pmu_enable_all", "the same" },
	{ "intel_tfa_commit_scheduling", "the same" },
	{ "hsw_hw_config", "transactions' bits of event selects, which are EINVAL here" },
	{ "adl_hw_config", "the same; and precise sampling" },
	{ "hsw_get_event_constraints", "the same: counter 2 for IN_TXCP" },
	{ "glp_get_event_constraints", "precise sampling" },
	{ "tnt_get_event_constraints", "precise sampling" },
	{ "cmt_get_event_constraints", "precise sampling" },
	{ "icl_get_event_constraints", "precise sampling" },
	{ "glc_get_event_constraints", "precise sampling" },
	{ "adl_get_event_constraints", "precise sampling" },
	{ "mtl_get_event_constraints", "precise sampling" },
};

#define NR(table)	(sizeof(table) / sizeof((table)[0]))

/* Of this model: events that were compared, and differences */
static struct {
	unsigned int events;
	unsigned int said;
} run;

static void differ(const char *name, const char *what, uint32_t event, uint64_t ours,
		   uint64_t theirs)
{
	if (run.said++ < 20)
		printf("%s: event 0x%x: %s: 0x%llx here, 0x%llx in Linux\n", name, event, what,
		       (unsigned long long)ours, (unsigned long long)theirs);
}

/* As the driver finds it as it is loaded; with eight counters, and four fixed ones */
static void boot(unsigned int number, bool siblings, bool version_1, bool hybrid)
{
	struct model_machine machine = version_1 ? model_v1 : model_v5;

	machine.model = (u8)number;
	machine.siblings = siblings;
	machine.hybrid = hybrid;
	memset(machine.extras, 0xff, sizeof(machine.extras));
	memset(&perfctr_pmu, 0, sizeof(perfctr_pmu));
	model_boot(&machine);
	ck_assert_uint_eq(perfctr_intel_look(), PERFCTR_NO_COUNTERS_NONE);
	perfctr_pmu.family = &perfctr_intel;
}

/* In Linux's numbers */
static int our_counters(uint32_t event, uint64_t *counters, uint32_t *reason)
{
	const struct perfctr_ctr_control ctr = CTR(ANY, event, USER);
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	u32 own = 0;
	int err = perfctr_intel.check(&ctr, &own, &why);

	*counters = err ? 0 : (own & GP_MASK) | (uint64_t)(own >> FIXED(0)) << LINUX_FIXED;
	*reason = why.reason;
	return err;
}

static uint64_t fewer_on_purpose(const struct perfctr_intel_model *own, uint32_t event)
{
	uint64_t counters = 0;
	unsigned int i;

	for (i = 0; i < NR(fewer); i++)
		if ((event & fewer[i].mask) == fewer[i].event &&
		    (!fewer[i].like || own == perfctr_intel_model_find(fewer[i].like)))
			counters |= fewer[i].counters;
	/* There is no event of code 0 with a unit mask, but for those of fixed counters. */
	if (!(event & 0xff) && event & 0xff00)
		counters |= 0xff;
	return counters;
}

/* Of cores of all types: who is moved from one to the other counts on */
static void compare_event(const struct linux_label *label, const struct linux_model *m,
			  const struct perfctr_intel_model *own, uint32_t event, uint64_t all)
{
	uint64_t theirs = ~0ull, ours;
	bool alone = false;
	uint32_t reason;
	unsigned int pmu;

	for (pmu = 0; pmu < LINUX_PMUS; pmu++)
		if (m->constraints[pmu])
			theirs &= linux_counters(m, pmu, event, &alone);
	theirs = theirs & ~fewer_on_purpose(own, event) & all;
	(void)our_counters(event, &ours, &reason);
	if (ours != theirs)
		differ(label->name, "counters", event, ours, theirs);
	run.events++;
}

/* Beside siblings: what Linux schedules alone is refused. */
static void compare_siblings(const struct linux_label *label, const struct linux_model *m)
{
	bool matters = linux_does(m, "intel_ht_bug"), alone;
	uint32_t event, reason;
	uint64_t ours;

	boot(label->vfm & 0xff, true, false, false);
	for (event = 0; event <= 0xffff; event++) {
		(void)linux_counters(m, 0, event, &alone);
		if (our_counters(event, &ours, &reason) != -EOPNOTSUPP)
			reason = PERFCTR_REASON_NONE;
		if ((reason == PERFCTR_REASON_ERRATUM) != (matters && alone))
			differ(label->name, "reason beside siblings", event, reason, alone);
	}
}

/* What Linux lengthens is refused here. */
static void compare_periods(const struct linux_label *label, const struct linux_model *m)
{
	static const uint32_t events[] = { EV_INSTRUCTIONS, 0x01c0, EV_CYCLES, EV_BRANCHES, 0x010b };
	unsigned int i;
	int64_t period;

	for (i = 0; i < NR(events); i++) {
		/* No period at all, as a switch leaves some of each. */
		bool never = linux_period(m, events[i], 127) != 127 &&
			     linux_period(m, events[i], 32) != 32 && events[i] == 0x01c0;

		for (period = 1; period < PERIODS; period++) {
			const struct perfctr_ctr_control ctr = ICTR(ANY, events[i], USER, period);
			struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
			bool kernel = false, good;

			good = !never && linux_period(m, events[i], period) == period;
			if (!perfctr_cpu_check(&ctr, 1, &kernel, &why) != good)
				differ(label->name, "period", events[i], (uint64_t)period,
				       (uint64_t)linux_period(m, events[i], period));
		}
	}
}

/* What the register of an event is, and the bits it takes, as a control finds them out. */
static int our_extra(uint32_t event, unsigned int *reg, uint64_t *valid)
{
	struct perfctr_ctr_control ctr = CTR(ANY, event, USER);
	u64 values[PERFCTR_X86_EXTRAS] = {};
	int err = perfctr_x86_extra_check(&ctr, values);
	unsigned int bit;

	*valid = 0;
	*reg = PERFCTR_X86_EXTRAS;
	for (bit = 0; bit < 64; bit++) {
		memset(values, 0, sizeof(values));
		ctr.config = BIT(bit);
		if (perfctr_x86_extra_check(&ctr, values))
			continue;
		*valid |= BIT(bit);
		for (*reg = 0; !values[*reg]; )
			++*reg;
	}
	return err;
}

static bool is_earlier(unsigned int model, uint32_t event, uint64_t valid)
{
	unsigned int i;

	for (i = 0; i < NR(earlier); i++)
		if (earlier[i].model == model && earlier[i].event == event &&
		    earlier[i].valid == valid)
			return true;
	return false;
}

/* Registers that we do not have are refused; and all, where cores differ. */
static void compare_extras(const struct linux_label *label, const struct linux_model *m)
{
	static const char *const regs[PERFCTR_X86_EXTRAS] = { "RSP_0", "RSP_1", "FE" };
	unsigned int pmu, reg, ours;
	uint64_t valid;
	uint32_t event;

	for (event = 0; event <= 0xffff; event++) {
		const struct extra_reg *theirs = NULL;
		int err, expected = 0;

		for (pmu = 0; pmu < LINUX_PMUS && !theirs; pmu++)
			theirs = linux_extra(m, pmu, event);
		for (reg = 0; reg < PERFCTR_X86_EXTRAS; reg++)
			if (theirs && !m->hybrid && !strcmp(theirs->reg, regs[reg]))
				break;
		err = our_extra(event, &ours, &valid);
		if (theirs)
			expected = reg == PERFCTR_X86_EXTRAS ? -EOPNOTSUPP : -EINVAL;
		/* On cores of several types more than there are: each may become another event. */
		if (err != expected && !(m->hybrid && !theirs && err == -EOPNOTSUPP))
			differ(label->name, "error without more", event, (uint64_t)-err,
			       (uint64_t)-expected);
		if (expected != -EINVAL)
			continue;
		if (ours != reg)
			differ(label->name, "register", event, ours, reg);
		if (valid != theirs->valid && !is_earlier(label->vfm & 0xff, event, theirs->valid))
			differ(label->name, "bits of its register", event, valid, theirs->valid);
	}
}

static void compare_names(const struct linux_label *label, const struct linux_model *m,
			  const struct perfctr_intel_model *own)
{
	bool resets = own->errata & PERFCTR_INTEL_RESET;
	unsigned int i, k;

	for (i = 0; i < m->nr_names; i++) {
		for (k = 0; k < NR(known); k++)
			if (!strcmp(known[k].name, m->names[i]))
				break;
		if (k == NR(known)) {
			printf("%s: Linux does %s(), and nobody has looked what that is\n",
			       label->name, m->names[i]);
			run.said++;
		}
	}
	if (linux_does(m, "intel_pmu_nhm_enable_all") != resets)
		differ(label->name, "reset of counters", 0, resets, !resets);
}

static bool has_newest(void)
{
	unsigned int i;

	for (i = 0; i < linux_nr_labels; i++)
		if ((linux_labels[i].vfm & 0xff) == later[0])
			return true;
	return false;
}

static const char *left_out_since(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR(left_out); i++)
		if (!strcmp(left_out[i].name, name))
			return left_out[i].why;
	return NULL;
}

/* Cache, operation and result in a byte each */
#define PERF_CONFIGS	(PERF_COUNT_HW_CACHE_RESULT_MAX << 16)

static bool is_cache_event(unsigned int config)
{
	return (config & 0xff) < PERF_COUNT_HW_CACHE_MAX &&
	       (config >> 8 & 0xff) < PERF_COUNT_HW_CACHE_OP_MAX;
}

/*
 * What perf's cache event @config is on all of these types of core, as Linux has it: false: nothing, or not
 * the same
 */
static bool linux_cache_event(const struct linux_model *m, unsigned int config,
			      struct perfctr_intel_cache *cache)
{
	unsigned int type = config & 0xff, op = config >> 8 & 0xff, result = config >> 16;
	unsigned int pmu, n = 0;
	bool same = true;

	*cache = (struct perfctr_intel_cache){ .config = config };
	for (pmu = 0; pmu < LINUX_PMUS; pmu++) {
		const struct linux_cache *own = &m->cache[pmu];
		uint64_t event = own->event[type][op][result], value = own->value[type][op][result];

		if (!m->constraints[pmu])
			continue;
		if (n++)
			same &= cache->event == event && cache->value == value;
		cache->event = event == ~0ull ? 0 : (unsigned int)event;
		cache->value = value;
	}
	return same && cache->event;
}

static bool our_cache_event(unsigned int model, unsigned int config, struct perfctr_intel_cache *found)
{
	const struct perfctr_intel_cache *cache = perfctr_intel_caches(model);
	unsigned int n = 0;

	for (; cache && cache->event; cache++) {
		if (cache->config != config)
			continue;
		*found = *cache;
		n++;
	}
	ck_assert_uint_le(n, 1);
	return n;
}

/* What Linux 7 changed in off-core events of models that 6.12 had: the library has it as it is now. */
static bool changed_since(unsigned int model, unsigned int config)
{
	static const uint8_t models[] = {
		0x6a, 0x6c, 0x8f, 0xcf, 0xad, 0xae, 0xbe, 0xaf, 0xb6,
		0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xaa, 0xac, 0xb5,
	};
	unsigned int type = config & 0xff;

	return (type == PERF_COUNT_HW_CACHE_LL || type == PERF_COUNT_HW_CACHE_NODE) &&
	       memchr(models, (int)model, sizeof(models)) && !has_newest();
}

/* The driver's word for what perf refuses, too: bits that an off-core register has not */
static bool is_refused(const struct perfctr_intel_cache *cache)
{
	struct perfctr_ctr_control ctr = CTR(ANY, cache->event, USER);
	struct perfctr_refusal why = PERFCTR_NO_REFUSAL;
	bool kernel = false;

	ctr.config = cache->value;
	return perfctr_cpu_check(&ctr, 1, &kernel, &why) == -EINVAL;
}

static void compare_cache(const struct linux_label *label, const struct linux_model *m,
			  unsigned int model, unsigned int config, unsigned int *n)
{
	struct perfctr_intel_cache ours = {}, theirs = {};
	bool here = our_cache_event(model, config, &ours);
	bool there = linux_cache_event(m, config, &theirs) && !is_refused(&theirs);

	if (here && is_refused(&ours))
		differ(label->name, "refused cache event", config, ours.event, ours.value);
	*n += here;
	if (!changed_since(model & 0xff, config) &&
	    (here != there || (here && (ours.event != theirs.event || ours.value != theirs.value))))
		differ(label->name, "cache event", config, (uint64_t)ours.event << 40 | ours.value,
		       (uint64_t)theirs.event << 40 | theirs.value);
}

/* Each cache event of perf's, also where there are cores of one type or of several */
static void compare_caches(const struct linux_label *label, const struct linux_model *m)
{
	unsigned int model = label->vfm & 0xff, config, pmu, n = 0;
	struct linux_model larger = *m;

	for (pmu = 1; pmu < LINUX_PMUS; pmu++)
		larger.constraints[pmu] = NULL;
	for (config = 0; config < PERF_CONFIGS; config++) {
		if (!is_cache_event(config))
			continue;
		compare_cache(label, &larger, model, config, &n);
		if (m->hybrid)
			compare_cache(label, m, model | PERFCTR_INTEL_HYBRID, config, &n);
	}
	ck_assert_msg(n >= 9 || model == 0x0e, "%s: %u cache events", label->name, n);
}

START_TEST(each_model)
{
	static const uint32_t more[] = { 0, SEL_EDGE, SEL_INV, 1u << 24 };
	const struct linux_label *label = &linux_labels[_i];
	const struct perfctr_intel_model *own;
	/* The one model that has version 1 has two counters. */
	bool version_1 = !strcmp(label->name, "INTEL_CORE_YONAH");
	uint64_t all = version_1 ? 0x3 : 0xff | 0xffffull << LINUX_FIXED;
	struct linux_model m;
	uint32_t event;
	unsigned int i;

	if (left_out_since(label->name)) {
		printf("# %s is left out: %s\n", label->name, left_out_since(label->name));
		return;
	}
	ck_assert_msg(label->vfm >> 8 == 6, "%s is of another family", label->name);
	own = perfctr_intel_model_find(label->vfm & 0xff);
	ck_assert_msg(own, "the driver does not know %s", label->name);
	linux_look(label->vfm, &m);
	ck_assert(!m.unknown && m.constraints[0]);
	ck_assert_msg(!m.hybrid || m.constraints[1], "%s has cores of one type", label->name);
	for (i = 0; i < LINUX_PMUS; i++)
		ck_assert_msg(!m.constraints[i] || linux_is_simple(&m, i),
			      "%s: rules of more bits than this test looks at", label->name);
	boot(label->vfm & 0xff, false, version_1, m.hybrid);
	for (event = 0; event <= 0xffff; event++)
		for (i = 0; i < NR(more); i++)
			compare_event(label, &m, own, event | more[i], all);
	compare_extras(label, &m);
	compare_periods(label, &m);
	compare_names(label, &m, own);
	compare_caches(label, &m);
	if (!version_1)
		compare_siblings(label, &m);
	ck_assert_uint_eq(run.events, 65536 * NR(more));
	ck_assert_msg(!run.said, "%s: %u differences", label->name, run.said);
}
END_TEST

/* Of these, as many as Linux 6.12 has */
START_TEST(enough_models)
{
	unsigned int i, compared = 0;

	for (i = 0; i < linux_nr_labels; i++)
		compared += !left_out_since(linux_labels[i].name);
	ck_assert_uint_ge(compared, 70);
}
END_TEST

START_TEST(models_that_linux_does_not_know)
{
	unsigned int number, i;

	for (number = 0; number < 256; number++) {
		bool known_there = memchr(later, (int)number, sizeof(later));

		for (i = 0; i < NR(alone); i++)
			known_there |= alone[i].number == number;
		for (i = 0; i < linux_nr_labels; i++)
			known_there |= linux_labels[i].vfm == (6u << 8 | number);
		ck_assert_msg(known_there || !perfctr_intel_model_find((u8)number),
			      "the driver alone knows model %#x", number);
		ck_assert_msg(known_there || number <= P6_LAST || !perfctr_intel_caches(number),
			      "the library alone knows model %#x", number);
	}
}
END_TEST

/* Its models are those that the P6's driver has: Linux, p6_pmu_init() */
START_TEST(p6)
{
	static const uint8_t models[] = { 1, 3, 5, 6, 7, 8, 9, 10, 11, 13 };
	struct linux_model m = { .constraints = { (void *)models }, .cache = { *linux_p6() } };
	struct perfctr_intel_cache ours = {}, theirs = {};
	unsigned int number, config, n = 0;

	for (number = 0; number <= P6_LAST; number++)
		ck_assert(!perfctr_intel_caches(number) == !memchr(models, (int)number, sizeof(models)));
	for (config = 0; config < PERF_CONFIGS; config++) {
		if (!is_cache_event(config))
			continue;
		ck_assert(our_cache_event(1, config, &ours) == linux_cache_event(&m, config, &theirs));
		if (!theirs.event)
			continue;
		ck_assert_uint_eq(ours.event, theirs.event);
		ck_assert_uint_eq(ours.value, 0);
		n++;
	}
	ck_assert_uint_eq(n, 11);
}
END_TEST

/* AMD's family 15h: each number of 12 bits with each unit mask */
START_TEST(family_15h)
{
	uint64_t code, umask, ours, theirs;

	for (code = 0; code <= 0xfff; code++) {
		for (umask = 0; umask <= 0xff; umask++) {
			uint64_t event = (code & 0xff) | umask << 8 | (code >> 8) << 32;

			ours = perfctr_amd_15h_counters(event);
			theirs = linux_amd_15h_counters(event);
			if (ours != theirs)
				differ("AMD's family 15h", "counters", (uint32_t)code, ours, theirs);
			run.events++;
		}
	}
	ck_assert_uint_eq(run.events, UINT64_C(4096) * 256);
	ck_assert_msg(!run.said, "%u differences", run.said);
}
END_TEST

void test_arch(void)
{
	unit_begin("constraints");
	unit_run(each_model, (int)linux_nr_labels);
	UNIT_RUN(enough_models);
	UNIT_RUN(models_that_linux_does_not_know);
	UNIT_RUN(p6);
	UNIT_RUN(family_15h);
}

/* unit.c's other tests are not of this program. */

void test_config(void)
{
}

void test_shared(void)
{
}
