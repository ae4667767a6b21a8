// SPDX-License-Identifier: GPL-2.0
/*
 * Which pairs of values were seen together in one state that counted and was compared with the
 * model: one way of counting, several things that it does, one way to see switches, whose it is,
 * and the policies under which it counted. Each pair that can exist must be seen.
 *
 * Each sequence is a process, so what was seen is in memory that they share.
 */
#include <sys/mman.h>


#include "engine/world.h"
#include "unit.h"
#include "perf/shared.h"
#include "thread/notify.h"

/* Values of one factor stand together. */
static const struct {
	const char *name;
	unsigned int factor;
} values[] = {
	[VALUE_NATIVE] = { "native", 0 },
	[VALUE_INLINE] = { "inline", 0 },
	[VALUE_CALL] = { "call", 0 },
	[VALUE_AMODE] = { "a-mode", 1 },
	[VALUE_SIGNAL] = { "signal", 1 },
	[VALUE_OVERFLOW] = { "overflow", 1 },
	[VALUE_TIME] = { "time", 1 },
	[VALUE_OWN_WAY] = { "own way", 1 },
	[VALUE_NOTIFIER] = { "notifier", 2 },
	[VALUE_TRACEPOINT] = { "tracepnt", 2 },
	[VALUE_OWN] = { "own", 3 },
	[VALUE_TRACED] = { "traced", 3 },
	[VALUE_OUTSIDE] = { "outside", 3 },
	[VALUE_SESSION] = { "session", 3 },
	[VALUE_ONE_CPU] = { "one-cpu", 3 },
	[VALUE_OFF] = { "off", 4 },
	[VALUE_GUARDED] = { "guarded", 4 },
	[VALUE_OPEN] = { "open", 4 },
};

#define EACH	VALUES

/* @b: EACH value of another factor. @why: it cannot be */
struct pair {
	enum value a, b;
	const char *why;
};

static const struct pair impossible[] = {
#if !PERFCTR_CPU_SHARED_INLINE
	{ VALUE_INLINE, EACH, "perf's driver alone reads its counters on this architecture" },
#endif
#ifdef CONFIG_RISCV
	{ VALUE_OWN_WAY, EACH, "this architecture has no own way" },
#endif
	{ VALUE_INLINE, VALUE_SIGNAL, "perf's counters are never i-mode" },
	{ VALUE_CALL, VALUE_SIGNAL, "perf's counters are never i-mode" },
	{ VALUE_INLINE, VALUE_OVERFLOW, "perf's counters are never i-mode" },
	{ VALUE_CALL, VALUE_OVERFLOW, "perf's counters are never i-mode" },
	{ VALUE_INLINE, VALUE_OWN_WAY, "own ways are of our registers" },
	{ VALUE_CALL, VALUE_OWN_WAY, "own ways are of our registers" },
	{ VALUE_TRACED, VALUE_OVERFLOW, "a tracer's control has no RECORD" },
	{ VALUE_TRACED, VALUE_TIME, "a tracer's control has no RECORD" },
	{ VALUE_SESSION, VALUE_SIGNAL, "no thread is there to signal" },
	{ VALUE_SESSION, VALUE_OVERFLOW, "a session has no RECORD" },
	{ VALUE_SESSION, VALUE_TIME, "a session has no RECORD" },
};

static struct seen {
	unsigned int rows;
	unsigned int nr[VALUES][VALUES];	/* by the lower value first */
} *seen;

void pairs_begin(void)
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		abort();
}

void pairs_row_ends(void)
{
	seen->rows++;
}

void pairs_see(u32 mask)
{
	unsigned int a, b;

	for (a = 0; a < VALUES; a++)
		for (b = a + 1; b < VALUES; b++)
			if (mask & BIT(a) && mask & BIT(b))
				seen->nr[a][b]++;
}

/* Of a config, and whoever has it */
static u32 see_config(const struct perfctr_config *config)
{
	static const u8 ways[] = {
		[PERFCTR_NATIVE] = VALUE_NATIVE,
		[PERFCTR_SHARED_INLINE] = VALUE_INLINE,
		[PERFCTR_SHARED_CALL] = VALUE_CALL,
	};

	return BIT(ways[perfctr_config_way(config)]) |
	       BIT(perfctr_by_tracepoint() ? VALUE_TRACEPOINT : VALUE_NOTIFIER);
}

void pairs_see_thread(const struct thread *thread)
{
	const struct vperfctr *perfctr = state_of(thread);
	const struct perfctr_recorder *recorder = perfctr->recorder;
	const struct perfctr_config *config = perfctr->config;
	u32 mask = see_config(config) | BIT(thread->whose) | thread->policies << VALUE_OFF;

	if (!thread->policies || !config->nr || (thread->records && !thread->sampled))
		return;
	if (config->nr_ictrs)
		mask |= BIT(recorder ? VALUE_OVERFLOW : VALUE_SIGNAL);
	if (recorder && recorder->timer)
		mask |= BIT(VALUE_TIME);
	if (perfctr_config_has_own_way(config))
		mask |= BIT(VALUE_OWN_WAY);
	if (!perfctr->imode && !recorder && !perfctr_config_has_own_way(config))
		mask |= BIT(VALUE_AMODE);
	pairs_see(mask);
}

static bool cannot_be(unsigned int a, unsigned int b)
{
	const struct pair *pair;

	for (pair = impossible; pair < impossible + ARRAY_SIZE(impossible); pair++)
		if ((pair->a == a && (pair->b == b || pair->b == EACH)) ||
		    (pair->a == b && (pair->b == a || pair->b == EACH)))
			return true;
	return false;
}

static void print_name(const char *name)
{
	printf("%9s", name);
}

static void print_table(void)
{
	unsigned int a, b;

	printf("# how often two values were seen together (-: cannot be)\n#%9s", "");
	for (b = VALUE_AMODE; b < VALUES; b++)
		print_name(values[b].name);
	for (a = 0; a < VALUE_OFF; a++) {
		printf("\n#");
		print_name(values[a].name);
		for (b = VALUE_AMODE; b < VALUES; b++) {
			if (a >= b || values[a].factor == values[b].factor)
				print_name("");
			else if (cannot_be(a, b))
				print_name("-");
			else
				printf("%9u", seen->nr[a][b]);
		}
	}
	printf("\n");
}

/* After all sequences. Where not all were tried, or others, it says nothing. */
START_TEST(each_pair_is_seen)
{
	unsigned int a, b;

	if (seen->rows < ENGINE_ROWS || number("ENGINE_SEED", 0) || number("ENGINE_STEPS", 0))
		return;
	print_table();
	for (a = 0; a < VALUES; a++) {
		for (b = a + 1; b < VALUES; b++) {
			bool none = cannot_be(a, b);

			if (values[a].factor == values[b].factor)
				continue;
			ck_assert_msg(!seen->nr[a][b] == none, "%s and %s: seen %u times%s",
				      values[a].name, values[b].name, seen->nr[a][b],
				      none ? ", and a table says never" : "");
		}
	}
}
END_TEST

void test_pairs(void)
{
	UNIT_RUN(each_pair_is_seen);
}
