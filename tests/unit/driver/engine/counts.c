// SPDX-License-Identifier: GPL-2.0
/* What is counted, by the model, and whether the module says the same. */

#include "engine/world.h"
#include "perf/shared.h"
#include "thread/kin.h"
#include "deliver/read.h"
#include "calls/handle.h"

bool counts(const struct thread *thread)
{
	if (thread->only_cpu && thread->only_cpu != 1 + thread->task.cpu)
		return false;
	return thread->control && !thread->suspended && (!thread->overflown || thread->records);
}

u64 count_of(const struct control *control, const struct model_tally *tally, u32 i)
{
	return tally_count(tally, &control->ctr[i], control->ctr[i].map);
}

/*
 * A metric is a share of slots in 255ths, which the processor cuts off, of the slots since the last
 * switch or read; each such share is rounded to a slot.
 */
bool is_count_of(const struct control *control, const struct model_tally *tally, u32 i, u64 value,
		 u64 *want)
{
	unsigned int metric;
	u64 most;

	if (!machine_is_metric(&control->ctr[i], &metric)) {
		*want = count_of(control, tally, i);
		return value == *want;
	}
	most = 2 * tally->part[metric] + tally->runs;
	*want = most / 2;
	return 2 * value <= most &&
	       510 * value + 2 * tally->slots + 255 * tally->runs >= 510 * tally->part[metric];
}

void tally_add(struct model_tally *to, const struct model_tally *from)
{
	unsigned int i, mode;

	for (i = 0; i < KIND_NR; i++)
		for (mode = 0; mode < MODEL_MODES; mode++)
			to->nr[i][mode] += from->nr[i][mode];
	to->time += from->time;
	for (i = 0; i < PERFCTR_METRICS; i++)
		to->part[i] += from->part[i];
	to->slots += from->slots;
	to->runs += from->runs;
}

/* Begins new periods. */
void begin_periods(struct thread *thread)
{
	const struct control *control = thread->control;
	u32 i;

	thread->overflown = 0;
	thread->told = false;
	for (i = 0; i < control->nrictrs; i++)
		thread->limit[i] = thread->deaf || thread->throttled ? ~0ull :
				   count_of(control, &thread->seen, control->nractrs + i) -
				   (u64)control->ctr[control->nractrs + i].ireset;
}

void end_periods(struct thread *thread)
{
	const struct control *control = thread->control;
	u32 i;

	for (i = 0; control && i < control->nrictrs; i++) {
		u32 k = control->nractrs + i;
		u64 count = count_of(control, &thread->seen, k);

		if (count < thread->limit[i])
			continue;
		thread->limit[i] = count - (u64)control->ctr[k].ireset;
		thread->overflown |= BIT(k);
	}
}

static unsigned int overflow_budget;

void set_budget(unsigned int budget)
{
	shim_set_param("overflow_budget", budget);
	overflow_budget = budget;
}

/* It goes on by itself once more in this tick. */
bool is_within_budget(struct thread *thread)
{
	if (thread->tick != shim_jiffies)
		thread->spent = 0;
	thread->tick = shim_jiffies;
	return ++thread->spent <= overflow_budget;
}

void engine_signal(u32 mask, bool throttled)
{
	struct thread *thread = running();

	nr.overflows++;
	expect(thread->overflown == mask && !thread->told,
	       "thread %d is told of %#x, not of %#x", (int)(thread - threads), mask,
	       thread->overflown);
	thread->told = thread->left <= 1 || thread->task.killed;
	if (!thread->told) {
		thread->left--;
		thread->told = !is_within_budget(thread);
		nr.held += thread->told;
		expect(throttled == thread->told, "thread %d was told of %u overflows in this tick",
		       (int)(thread - threads), thread->spent);
	}
	if (!thread->told)
		thread->overflown = 0;
}

void expect_clock(u64 clock, bool on, const struct thread *thread)
{
	u64 most = thread->clock_most + (runs(thread) ? ~0ull >> 1 : 0);
	u64 least = thread->clock_least + thread->seen.time;

	if (on)
		expect(clock >= least && clock <= most,
		       "thread %d: the clock is %llu, not from %llu to %llu",
		       (int)(thread - threads), clock, least, most);
}

/* By a handle, as anybody may have it: the current thread asks for another's sums, or its own. */
static void read_by_handle(struct handle *handle, bool ioctl, u32 n, u64 *value)
{
	struct perfctr_read read = { .size = sizeof(read) };
	size_t length = sizeof(*value) * (1 + n);

	if (ioctl) {
		expect(!engine_ioctl(handle, PERFCTR_IOC_READ, &read) && !read.error, "READ");
		expect(read.nrctrs == n, "READ of %u counters, not %u", read.nrctrs, n);
		memcpy(value, &read.clock, length);
	} else {
		expect(vperfctr_fops.read(&handle->file, (char *)value, length, NULL) ==
		       (ssize_t)length, "read()");
	}
}

/* The current thread asks. */
void expect_sums(const struct thread *thread)
{
	struct vperfctr *perfctr = state_of(thread);
	const struct control *control = thread->control;
	u64 value[1 + PERFCTR_MAX_HW] = {};
	struct perfctr_sample sample = { .value = value };
	u32 i;

	if (!perfctr || !control)
		return;
	nr.reads++;
	nr.shared += is_shared(thread);
	nr.read_running += runs(thread) && thread != running();
	if (rnd(2) && thread->handle && thread->handle->file.private_data == perfctr) {
		/* By read(2) the owner reads registers as its user mode would: that is its page's. */
		bool ioctl = rnd(2) || (thread == running() && !is_shared(thread));

		read_by_handle(thread->handle, ioctl, control->nractrs + control->nrictrs, value);
	} else {
		expect(!vperfctr_sample(perfctr, &sample) && !perfctr->error, "cannot be read");
		expect(PERFCTR_CSTATUS_NRCTRS(sample.cstatus) ==
		       control->nractrs + control->nrictrs,
		       "thread %d: cstatus %#x", (int)(thread - threads), sample.cstatus);
	}
	for (i = 0; i < control->nractrs + control->nrictrs; i++) {
		u64 want;

		expect(is_count_of(control, &thread->seen, i, value[1 + i], &want),
		       "thread %d, counter %u: %llu, not %llu",
		       (int)(thread - threads), i, value[1 + i], want);
	}
	expect_clock(value[0], thread->clock_on, thread);
	pairs_see_thread(thread);
}

void expect_states(void)
{
	const struct thread *thread;

	for (thread = threads; thread < threads + NR_THREADS; thread++) {
		const struct vperfctr *perfctr = state_of(thread);
		int hold;

		if (!perfctr || !(perfctr->seq & 1))
			continue;
		hold = atomic_read(&perfctr->hold);
		expect(thread->control, "thread %d is resumed, and nothing is to be counted",
		       (int)(thread - threads));
		expect(runs(thread), "thread %d does not run, and is resumed",
		       (int)(thread - threads));
		expect(!(hold & ~(PERFCTR_HOLD_COUNTERS | PERFCTR_HOLD_ONE_CPU)),
		       "thread %d is resumed, held by %#x", (int)(thread - threads), hold);
	}
}

/* Of a thread that asks for a counter of its own page: must it? */
static bool must_ask(const struct thread *thread, u32 i)
{
	return !thread->control || !counts(thread) || i >= thread->control->nractrs ||
	       perfctr_user_read == PERFCTR_USER_READ_OFF || thread->lent ||
	       is_shared(thread) || !machine_shows();
}

/* Which slots may be read has been looked at. */
static void expect_metric(const struct thread *thread, const struct perfctr_page *page, u32 i)
{
	u64 slots = machine_value(shim_cpu, machine_counter(page, page->slots)), metrics = 0, want;

#ifdef CONFIG_X86
	expect(model_rdpmc(page->operand[i], &metrics), "there is no register of metrics");
#endif
	metrics = metrics >> 8 * (page->metric[i] - 1) & 255;
	expect(is_count_of(thread->control, &thread->seen, i,
			   page->slot[i].bias + (metrics * slots + 127) / 255, &want),
	       "thread %d's page has of metric %u %llu and %llu of 255 of %llu, not %llu",
	       (int)(thread - threads), i, page->slot[i].bias, metrics, slots, want);
}

/* The current thread reads its page in user mode, as the header says. */
static void expect_page(struct thread *thread, struct map *map)
{
	const struct control *control = thread->control;
	struct vm_fault vmf = { .vma = &map->vma };
	u64 pointer = machine_thread_pointer(&thread->task), value;
	const struct perfctr_page *page;
	bool own = is_own(map, thread);
	const struct perfctr_page_slot *slot;
	u32 i, hw;

	map->vma.vm_ops->fault(&vmf);
	page = (const struct perfctr_page *)vmf.page;
	for (i = 0; i < page->nrctrs; i++) {
		slot = (const void *)((const char *)page->slot + page->map[i]);
		if ((page->metric[i] ? page->metrics_owner : slot->owner) != pointer) {
			expect(!own || must_ask(thread, i),
			       "thread %d must ask for counter %u", (int)(thread - threads), i);
			continue;
		}
		expect(own, "thread %d finds itself in another's page", (int)(thread - threads));
		expect(control && counts(thread), "thread %d, which does not count, is shown",
		       (int)(thread - threads));
		expect(perfctr_user_read != PERFCTR_USER_READ_OFF, "shown, though that is off");
		hw = machine_counter(page, i);
		expect(machine_may_read(hw), "thread %d dies of its reading counter %u",
		       (int)(thread - threads), hw);
		nr.shown++;
		if (page->metric[i]) {
			expect_metric(thread, page, i);
			continue;
		}
		if (!rnd(4)) {
			thread->reading.map = map;
			thread->reading.page = page;
			thread->reading.seq = page->seq;
			thread->reading.i = i;
			thread->reading.bias = slot->bias;
		}
		value = slot->bias + machine_value(shim_cpu, hw);
		expect(value == count_of(control, &thread->seen, i),
		       "thread %d's page has of counter %u %llu, not %llu; control %d",
		       (int)(thread - threads), i, value, count_of(control, &thread->seen, i),
		       (int)(control - controls));
	}
	slot = &page->slot[PERFCTR_CPU_CLOCK_SLOT];
	if (own && slot->owner == pointer)
		expect_clock(slot->bias + now(), thread->clock_on, thread);
}

/*
 * A read of a counter was interrupted after it had the bias. What it reads now counts if the
 * page says that nothing has changed. It may be killed if the interruption was long.
 */
void end_reading(struct thread *thread)
{
	const struct map *map = thread->reading.map;
	const struct perfctr_page *page = thread->reading.page;
	unsigned int hw;
	u64 value, want;

	thread->reading.map = NULL;
	if (!map || map->process != thread->process || !state_of(thread) ||
	    map->handle->file.private_data != state_of(thread) ||
	    page != state_of(thread)->page || page->seq != thread->reading.seq)
		return;
	nr.interrupted++;
	hw = machine_counter(page, thread->reading.i);
	value = thread->reading.bias + machine_value(shim_cpu, hw);
	want = thread->control ? count_of(thread->control, &thread->seen, thread->reading.i) : 0;
	expect(thread->control && value == want,
	       "thread %d's interrupted read of counter %u gives %llu, not %llu",
	       (int)(thread - threads), thread->reading.i, value, want);
}

void expect_user_mode(void)
{
	struct thread *thread = running();
	struct map *map;

	if (is_idle(thread))
		return;
	expect_own(thread);
	for (map = maps; map < maps + NR_MAPS; map++)
		if (map->process && map->process == thread->process)
			expect_page(thread, map);
}

void expect_tree(struct tree *tree, struct handle *handle)
{
	struct perfctr_read_tree read = { .size = sizeof(read), .which = PERFCTR_TREE_ENDED };
	struct model_tally sums = tree->ended;
	const struct thread *thread;
	u32 i, live = 0;

	if (rnd(3))
		read.which |= PERFCTR_TREE_LIVE;
	if (rnd(3))
		read.which |= PERFCTR_TREE_ROOT;
	for (thread = threads; thread < threads + NR_THREADS; thread++) {
		bool root = thread == tree->root && !tree->root_has_ended;

		if (thread->tree != tree)
			continue;
		live += !root;
		if (read.which & (root ? PERFCTR_TREE_ROOT : PERFCTR_TREE_LIVE))
			tally_add(&sums, &thread->seen);
	}
	if (tree->root_has_ended && read.which & PERFCTR_TREE_ROOT)
		tally_add(&sums, &tree->root_ended);
	nr.tree_reads++;
	expect(!engine_ioctl(handle, PERFCTR_IOC_READ_TREE, &read), "READ_TREE");
	expect(read.live == live && read.ended == tree->nr_ended,
	       "a tree of %u and %u, not of %llu and %llu", live, tree->nr_ended, read.live,
	       read.ended);
	for (i = 0; i < tree->control->nractrs + tree->control->nrictrs; i++) {
		u64 want;

		expect(is_count_of(tree->control, &sums, i, read.sum[i], &want),
		       "a tree's counter %u: %llu, not %llu", i,
		       read.sum[i], want);
	}
}
