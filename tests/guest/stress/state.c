// SPDX-License-Identifier: GPL-2.0
/* Operations of stress: a thread and its own state. */
#define _GNU_SOURCE
#include "stress/stress.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

#define LEVEL1	4u	/* metrics of TopDown that each level has first */

void op_open(struct actor *actor)
{
	static const unsigned int flags[] = {
		PERFCTR_OPEN_CREAT, PERFCTR_OPEN_CREAT, PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL, 0,
	};
	unsigned int how = flags[below(actor, 4)];
	int fd, expected = 0;

	if (actor->attached && (how & PERFCTR_OPEN_EXCL))
		expected = -EEXIST;
	else if (!actor->attached && !how)
		expected = -ENOENT;
	fd = try_open(how);
	if ((fd < 0 ? fd : 0) != expected)
		wrong(actor, "OPEN with flags %u: %d, expected %d", how, fd, expected);
	if (fd < 0)
		return;
	if (actor->attached && actor->own >= 0) {
		keep_foreign(actor, fd);	/* a second one on the same state */
		return;
	}
	if (!actor->attached) {
		control_init(&actor->control);
		actor->nr_sums = 0;
	}
	actor->attached = true;
	/* A handle on an unlinked state goes to the foreign ones. */
	if (actor->own >= 0)
		keep_foreign(actor, actor->own);
	actor->own = fd;
}

/*
 * A period for a handler that resumes. It must be longer than the way from an overflow to the
 * handler's end, or the program makes no progress. That way is long in kernel mode, or where
 * QEMU counts time.
 */
static int64_t random_period(struct actor *actor, uint64_t event, bool kernel)
{
	int64_t least = 1000;

	if (kernel)
		least = 2000000;
	/* A kernel that checks itself is slow, and so is a busy host. */
	if (!shared->exact && (event == EV_INSTRUCTIONS || event == EV_CYCLES))
		least = 5000000;
	return least + (int64_t)below(actor, 1u << below(actor, 20));
}

/* One of these events; but on Ice Lake and later four counters alone count misses of the TLBs. */
static uint64_t one_that_fits(const struct perfctr_control *control, unsigned int n, uint64_t event)
{
	unsigned int i, misses = 0;

	for (i = 0; i < n; i++)
		misses += control->ctr[i].event != EV_INSTRUCTIONS &&
			  control->ctr[i].event != own_event(EV_CYCLES);
	return is_x86() && misses >= 4 ? EV_INSTRUCTIONS : event;
}

/* Of the counter @i. PowerPC's counters all count in the same modes. */
static uint32_t random_modes(struct actor *actor, const struct perfctr_control *control,
			     unsigned int i)
{
	if (i && is_ppc())
		return control->ctr[0].flags;
	return PERFCTR_CTR_USER | (one_in(actor, 12) ? PERFCTR_CTR_KERNEL : 0);
}

/* SLOTS and level 1 of TopDown's metrics: what a switch adds up otherwise than other counters */
static void add_metrics(struct actor *actor, struct perfctr_control *control)
{
	uint32_t modes = random_modes(actor, control, 0);
	unsigned int i;

	/* So that the metrics' sums can be compared with that of SLOTS. */
	control->preserve = 0;
	control_add_at(control, PERFCTR_MAP_ANY, PERFCTR_EVENT_SLOTS, modes);
	for (i = 0; i < LEVEL1; i++)
		control_add_at(control, PERFCTR_MAP_ANY, PERFCTR_EVENT_METRIC(i), modes);
}

void random_control(struct actor *actor, struct perfctr_control *control)
{
	unsigned int i, n = shared->nevents ? below(actor, 5) : 0;
	bool tiny;

	if (n > shared->nctrs)
		n = shared->nctrs;
	control_init(control);
	control->tsc_on = below(actor, 2);
	if (one_in(actor, 3))
		control->preserve = any(actor) & 0xffffffffu;
	if (one_in(actor, 16))
		control->flags |= PERFCTR_CONTROL_CLOEXEC;
	if (one_in(actor, 16))
		control->flags |= PERFCTR_CONTROL_ON_EXEC;
	if (one_in(actor, 16) && shared->raw)
		control->flags |= PERFCTR_CONTROL_RAW;
	for (i = 0; i < n; i++) {
		unsigned int e = i || one_in(actor, 3) ? below(actor, shared->nevents) : 0;

		control_add_at(control, PERFCTR_MAP_ANY, shared->event[e],
			       random_modes(actor, control, i));
	}
	if (shared->topdown && one_in(actor, 4)) {
		add_metrics(actor, control);
		n = i = control->nractrs;
	}
	if (!shared->interrupts || n >= shared->nctrs || !one_in(actor, 4))
		return;
	control->flags &= ~(unsigned int)PERFCTR_CONTROL_ON_EXEC;
	control->si_signo = SIGUSR2;
	if (one_in(actor, 3))
		control->refresh = 1 + below(actor, 1000);
	/* Some are so short that the program makes no progress if it resumes. */
	tiny = one_in(actor, 40);
	if (tiny)
		control->refresh = below(actor, 100);
	for (n += 1 + below(actor, 2); i < n && i < shared->nctrs; i++, control->nrictrs++) {
		uint64_t event = one_that_fits(control, i, shared->event[below(actor, shared->nevents)]);
		uint32_t modes = random_modes(actor, control, i);

		control->ctr[i] = (struct perfctr_ctr_control) {
			.map = PERFCTR_MAP_ANY,
			.ireset = tiny ? -(int64_t)(least_period() + below(actor, 20)) :
					 -random_period(actor, event, modes & PERFCTR_CTR_KERNEL),
			.flags = modes,
			.event = own_event(event),
			.config = own_config(event),
		};
	}
}

int actor_control(struct actor *actor, int fd, struct perfctr_control *control)
{
	uint64_t before = shared->evicted;
	int err = try_control(fd, control);

	/* EIO: the control is in force, but its counters were taken back at once. */
	if ((err && err != -EIO) || !actor->attached)
		return err;
	actor->control = *control;
	if (!is_on(control)) {
		/* The sums stay, and an error with them. */
		actor->control.flags &= ~(unsigned int)PERFCTR_CONTROL_ON_EXEC;
		return err;
	}
	actor->nr_sums = nr_of(control);
	actor->before = before;
	actor->after = shared->evictions;
	return err;
}

bool is_lost(const struct actor *actor, int err)
{
	if (err != -EIO || !actor->evictable || shared->evictions == actor->before)
		return false;
	shared->losses++;
	return true;
}

bool may_be_lost(int err)
{
	return err == -EIO && shared->evictions;
}

bool count_instructions(struct actor *actor)
{
	struct perfctr_control control;
	int err;

	if (!shared->nevents)
		return false;
	if (actor->own < 0 || !actor->attached) {
		actor->own = try_open(PERFCTR_OPEN_CREAT);
		if (actor->own < 0) {
			wrong(actor, "OPEN: %s", strerror(-actor->own));
			return false;
		}
		actor->attached = true;
	}
	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, EV_INSTRUCTIONS);
	err = actor_control(actor, actor->own, &control);
	/* EBUSY: held by another open file, or no counter is left */
	if (err && err != -EBUSY && !is_lost(actor, err))
		wrong(actor, "CONTROL of instructions: %s", strerror(-err));
	return !err;
}

void op_control(struct actor *actor)
{
	struct perfctr_control control;
	int err, before = own_handle;

	if (actor->own < 0)
		return;
	random_control(actor, &control);
	control.size = (uint32_t)CONTROL_SIZE(nr_of(&control) + below(actor, 3));
	/* Until the control in force is known: the handler must not resume a tiny period. */
	own_handle = -1;
	err = actor_control(actor, actor->own, &control);
	if (err) {
		own_handle = before;
	} else if (control.nrictrs && control.ctr[control.nractrs].ireset <= -1000) {
		own_handle = actor->own;
		(void)ioctl(own_handle, PERFCTR_IOC_IRESUME);
	}
	if (is_lost(actor, err))
		return;
	switch (err) {
	case 0:
		if (!actor->attached)
			wrong(actor, "CONTROL of what is not attached succeeded");
		if (control.nrictrs && actor->attached) {
			body_spin(1 + below(actor, shared->exact ? 20000 : 500000));
			op_read(actor);
		}
		break;
	case -ESRCH:
		if (actor->attached)
			wrong(actor, "CONTROL: ESRCH, but it is attached");
		break;
	case -EBUSY:		/* held by another open file, or no counter is left */
	case -EOPNOTSUPP:	/* an event twice */
	case -EACCES:		/* kernel mode */
		break;
	default:
		wrong(actor, "CONTROL of %u counters, flags %#x: %s, counter %u, reason %u", nr_of(&control),
		      control.flags, strerror(-err), control.refused, control.reason);
	}
}

/*
 * A single i-mode counter of user mode overflows at each multiple of its period. Not checked
 * for TLB misses, as several may come before the interrupt, nor after an exec, which ends
 * overflows.
 */
static void check_overflows(const struct actor *actor, const struct perfctr_read *rd)
{
	const struct perfctr_control *control = &actor->control;
	unsigned int i = control->nractrs;
	uint64_t expected;

	if (!shared->exact || control->nrictrs != 1 || control->ctr[i].flags != PERFCTR_CTR_USER ||
	    (control->ctr[i].event != EV_INSTRUCTIONS && control->ctr[i].event != EV_CYCLES) ||
	    (control->preserve & 1ull << i) || !control->si_signo)
		return;
	expected = rd->sum[i] / -(uint64_t)control->ctr[i].ireset;
	if (rd->overflows != (uint32_t)expected)
		wrong(actor, "%u overflows in %llu, expected %llu (period %lld)", rd->overflows,
		      (unsigned long long)rd->sum[i], (unsigned long long)expected,
		      -(long long)control->ctr[i].ireset);
	shared->periods++;
}

/*
 * The four metrics of level 1 are all of SLOTS. Each is rounded to a slot whenever it is added up:
 * at a switch and at a read, between which there are some 200 slots.
 */
static void check_metrics(const struct actor *actor, const struct perfctr_read *rd)
{
	const struct perfctr_control *control = &actor->control;
	uint64_t slots, all = 0;
	unsigned int i, first = control->nractrs - LEVEL1;

	if (control->nractrs <= LEVEL1 ||
	    control->ctr[first].event != PERFCTR_EVENT_METRIC(0))
		return;
	slots = rd->sum[first - 1];
	for (i = first; i < control->nractrs; i++)
		all += rd->sum[i];
	if (all > slots + slots / 64 + 2 || all + slots / 64 + 2 < slots)
		wrong(actor, "the metrics are %llu of %llu slots", (unsigned long long)all,
		      (unsigned long long)slots);
	shared->metrics++;
}

/* What READ says of the actor's own state must be what it knows. */
void op_read(struct actor *actor)
{
	struct perfctr_read rd;
	unsigned int nr;
	int err;

	if (actor->own < 0)
		return;
	err = try_read(actor->own, &rd);
	if (err && !(is_lost(actor, err) && rd.error == PERFCTR_ERROR_LOST)) {
		wrong(actor, "READ of its own: %s, error %u", strerror(-err), rd.error);
		return;
	}
	if (actor->attached != ((rd.flags & PERFCTR_READ_ATTACHED) != 0))
		wrong(actor, "READ: flags %#x, but attached is %d", rd.flags, actor->attached);
	if (!actor->attached)
		return;
	nr = PERFCTR_CSTATUS_NRCTRS(rd.cstatus);
	if (rd.nrctrs != actor->nr_sums || nr != nr_of(&actor->control) ||
	    PERFCTR_CSTATUS_NRICTRS(rd.cstatus) != actor->control.nrictrs ||
	    ((rd.cstatus & PERFCTR_CSTATUS_CLOCK) != 0) != actor->control.tsc_on)
		wrong(actor, "READ: cstatus %#x with %u counters, expected %u and clock %u",
		     rd.cstatus, rd.nrctrs, nr_of(&actor->control), actor->control.tsc_on);
	if (!err) {
		check_overflows(actor, &rd);
		check_metrics(actor, &rd);
	}
	if (((rd.flags & PERFCTR_READ_ON_EXEC) != 0) !=
	    ((actor->control.flags & PERFCTR_CONTROL_ON_EXEC) != 0))
		wrong(actor, "READ: flags %#x with control flags %#x", rd.flags,
		     actor->control.flags);
}

void op_read_words(struct actor *actor)
{
	uint64_t words[1 + PERFCTR_MAX_CTRS];
	size_t room = sizeof(*words) * below(actor, 2 + PERFCTR_MAX_CTRS);
	size_t needed = sizeof(*words) * (1 + (size_t)actor->nr_sums);
	ssize_t got;

	if (actor->own < 0 || !actor->attached)
		return;
	got = read(actor->own, words, room);
	if (got < 0 && is_lost(actor, -errno))
		return;
	if (room < needed ? got != -1 || errno != EINVAL : got != (ssize_t)needed)
		wrong(actor, "read(2) of %zu bytes: %zd (%s), %zu are needed", room, got,
		     got < 0 ? strerror(errno) : "", needed);
	if (room >= needed && syscall(SYS_read, actor->own, 8, room) != -1)
		wrong(actor, "read(2) to a wrong address succeeded");
}

void op_read_control(struct actor *actor)
{
	struct perfctr_control control;
	unsigned int i;

	if (actor->own < 0)
		return;
	control_init(&control);
	if (ioctl(actor->own, PERFCTR_IOC_READ_CONTROL, &control)) {
		wrong(actor, "READ_CONTROL: %s", strerror(errno));
		return;
	}
	if (!actor->attached)
		return;
	if (control.nractrs != actor->control.nractrs ||
	    control.nrictrs != actor->control.nrictrs ||
	    control.tsc_on != actor->control.tsc_on)
		wrong(actor, "READ_CONTROL: %u counters, clock %u; expected %u, %u",
		     control.nractrs, control.tsc_on, actor->control.nractrs,
		     actor->control.tsc_on);
	for (i = 0; i < nr_of(&control) && i < PERFCTR_MAX_CTRS; i++)
		if (control.ctr[i].event != actor->control.ctr[i].event)
			wrong(actor, "READ_CONTROL: counter %u has event %#llx", i,
			     (unsigned long long)control.ctr[i].event);
}

/*
 * More events than a processor has in that time. Without an instruction clock QEMU counts
 * nanoseconds, or ticks of its host.
 */
uint64_t most_events(uint64_t ns)
{
	return 8 * ns + 1000;
}

/* True even if counts are not exact: they do not go back, and are not faster than time. */
static void check_order(const struct actor *actor, uint64_t words[2][1 + PERFCTR_MAX_CTRS],
			uint64_t ns)
{
	unsigned int i, n = actor->control.nractrs;

	for (i = 0; i <= n; i++)
		if (words[1][i] < words[0][i])
			wrong(actor, "read(2): word %u of %u went back from %llu to %llu", i, n + 1,
			      (unsigned long long)words[0][i], (unsigned long long)words[1][i]);
	for (i = 1; i <= n; i++)
		if (words[1][i] - words[0][i] > most_events(ns))
			wrong(actor, "read(2): counter %u of %u has %llu more within %llu ns", i - 1, n,
			      (unsigned long long)(words[1][i] - words[0][i]), (unsigned long long)ns);
	/* The clock's frequency is as exact as its calibration. */
	if (words[1][0] - words[0][0] > shared->clock_hz / 1000000 * (ns / 500 + 100))
		wrong(actor, "read(2): the clock of %llu Hz has %llu more within %llu ns",
		      (unsigned long long)shared->clock_hz,
		      (unsigned long long)(words[1][0] - words[0][0]), (unsigned long long)ns);
}

/* After counters were lost, a new control counts right at once. */
static void count_again(struct actor *actor)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS];
	unsigned long n = 1 + below(actor, 2000);
	long got;

	if (!count_instructions(actor))
		return;
	got = exact_read(actor->own, words[0], sizeof(words[0]), body_spin, n);
	if (is_lost(actor, (int)got))
		return;
	if (got != 2 * (long)sizeof(uint64_t) || words[1][1] <= words[0][1] ||
	    (shared->exact && words[1][1] - words[0][1] != EXACT_KERNEL + BODY_SPIN(n)))
		wrong(actor, "after an eviction and a CONTROL read(2) gives %ld, %llu and %llu", got,
		      (unsigned long long)words[0][1], (unsigned long long)words[1][1]);
}

/* With all that may say why: by which source, if the clock stood too, and whether it stays so */
static void tell_of_nothing(const struct actor *actor, unsigned long n, int k,
			    uint64_t words[2][1 + PERFCTR_MAX_CTRS])
{
	struct perfctr_control control;
	struct perfctr_read rd;
	int cpu = sched_getcpu();

	control_init(&control);
	(void)ioctl(actor->own, PERFCTR_IOC_READ_CONTROL, &control);
	body_spin(n);
	(void)try_read(actor->own, &rd);
	wrong(actor, "read(2): nothing was counted in %lu turns: %llu instructions, clock %llu after %llu; "
	      "%llu and %llu after as many turns more; counter %d of %u, source %u, flags %#x, CPU %d",
	      n, (unsigned long long)words[1][1 + k], (unsigned long long)words[1][0],
	      (unsigned long long)words[0][0], (unsigned long long)rd.sum[k],
	      (unsigned long long)rd.clock, k, actor->control.nractrs, control.source, rd.flags,
	      cpu);
}

/* A loop of known length between two reads(2), and between two looks at the page */
void op_exact(struct actor *actor)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS], value[2], delta, expected, since, evicted;
	unsigned long n = 1 + below(actor, one_in(actor, 50) ? 200000 : 2000);
	struct perfctr_read rd;
	int k = exact_counter(actor);
	long got;
	int err;

	if (k < 0 && one_in(actor, 2)) {
		op_open(actor);
		op_control(actor);
		k = exact_counter(actor);
	}
	if (k < 0)
		return;
	since = now_ns();
	evicted = shared->evicted;
	got = exact_read(actor->own, words[0], sizeof(words[0]), body_spin, n);
	if (is_lost(actor, (int)got)) {
		count_again(actor);
		return;
	}
	if (actor->evictable && evicted > actor->after)
		wrong(actor, "read(2): %ld, after eviction %llu; the control is of %llu", got,
		      (unsigned long long)evicted, (unsigned long long)actor->after);
	if (got != (long)(sizeof(uint64_t) * (1 + actor->control.nractrs))) {
		wrong(actor, "read(2): %ld", got);
		return;
	}
	check_order(actor, words, now_ns() - since);
	delta = words[1][1 + k] - words[0][1 + k];
	expected = EXACT_KERNEL + BODY_SPIN(n);
	if (shared->exact && delta != expected)
		wrong(actor, "read(2): %llu instructions, expected %llu (from %llu on; counter %d of %u)",
		     (unsigned long long)delta, (unsigned long long)expected,
		     (unsigned long long)words[0][1 + k], k, actor->control.nractrs);
	/* A switch-in that was missed shows until the next one. */
	if ((n >= 100 && !delta) || (actor->control.tsc_on && words[1][0] == words[0][0]))
		tell_of_nothing(actor, n, k, words);
	shared->exacts++;
	if (!actor->page)
		return;
	since = now_ns();
	got = exact_inline(actor->page, (unsigned int)k, body_spin, n, value);
	if (got < 0)
		return;		/* the page says: ask the kernel */
	since = now_ns() - since;
	delta = value[1] - value[0];
	expected = EXACT_INLINE + BODY_SPIN(n) + (uint64_t)got * EXACT_INLINE_RETRY;
	if (shared->exact && delta != expected)
		wrong(actor, "page: %llu instructions, expected %llu with %ld retries",
		     (unsigned long long)delta, (unsigned long long)expected, got);
	/* The page's values are not behind what read(2) said before, and do not go back. */
	if (value[0] < words[1][1 + k] || value[1] < value[0] || delta > most_events(since))
		wrong(actor, "page: %llu and %llu within %llu ns, after read(2) had said %llu",
		     (unsigned long long)value[0], (unsigned long long)value[1],
		     (unsigned long long)since, (unsigned long long)words[1][1 + k]);
	shared->exacts++;
	if (!one_in(actor, 4))
		return;
	err = try_read(actor->own, &rd);
	if (err ? !is_lost(actor, err) : rd.sum[k] < value[1])
		wrong(actor, "READ: %s, %llu, after the page had said %llu", strerror(-err),
		     (unsigned long long)rd.sum[k], (unsigned long long)value[1]);
}

void op_map(struct actor *actor)
{
	const struct perfctr_page *page;

	if (actor->own < 0)
		return;
	if (one_in(actor, 8)) {
		if (mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, actor->own, 0) !=
		    MAP_FAILED)
			wrong(actor, "a writable map was granted");
		if (mmap(NULL, 2 * PAGE_SIZE, PROT_READ, MAP_SHARED, actor->own, 0) != MAP_FAILED)
			wrong(actor, "a map of two pages was granted");
	}
	page = try_map(actor->own);
	if (!page) {
		wrong(actor, "mmap: %s", strerror(errno));
		return;
	}
	if (!actor->attached && page->seq >= 0)
		wrong(actor, "the page of a state that is no longer attached has registers");
	/* With two maps: touches the new one and unmaps either. The other one just stays. */
	if (actor->page) {
		(void)page_asks(page, 0);
		give_page(one_in(actor, 2) ? page : actor->page);
		actor->page = NULL;
		if (one_in(actor, 2))
			return;
		page = try_map(actor->own);
	}
	if (actor->attached)
		actor->page = page;
	else
		give_page(page);
}

void op_unmap(struct actor *actor)
{
	if (!actor->page)
		return;
	give_page(actor->page);
	actor->page = NULL;
}

void op_move_map(struct actor *actor)
{
	void *page;

	if (!actor->page)
		return;
	page = mmap(NULL, PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	page = mremap((void *)(uintptr_t)actor->page, PAGE_SIZE, PAGE_SIZE,
		      MREMAP_MAYMOVE | MREMAP_FIXED, page);
	if (page == MAP_FAILED)
		wrong(actor, "mremap: %s", strerror(errno));
	else
		actor->page = page;
}

void op_unlink(struct actor *actor)
{
	int err;

	if (actor->own < 0)
		return;
	err = ioctl(actor->own, PERFCTR_IOC_UNLINK) ? errno : 0;
	if (err == EBUSY && actor->shared_handle)
		return;
	if (err) {
		wrong(actor, "UNLINK: %s", strerror(err));
		return;
	}
	actor->attached = false;
	actor->shared_handle = false;
	op_unmap(actor);
	if (one_in(actor, 4))
		return;		/* a later OPEN finds the old handle still open */
	keep_foreign(actor, actor->own);
	actor->own = -1;
}

/* The state goes on without its handle. */
void op_close(struct actor *actor)
{
	unsigned int i = below(actor, FOREIGN);

	if (actor->foreign[i] >= 0)
		close(actor->foreign[i]);
	actor->foreign[i] = -1;
	if (actor->own >= 0 && one_in(actor, 4)) {
		op_unmap(actor);
		close(actor->own);
		actor->own = -1;
		/* Whether anyone else has it open is not known any more. */
		actor->shared_handle = true;
	}
}

void op_second_handle(struct actor *actor)
{
	struct perfctr_control control;
	struct perfctr_read rd;
	int fd, err;

	if (actor->own < 0 || !actor->attached)
		return;
	fd = try_open(0);
	if (fd < 0) {
		wrong(actor, "OPEN of its own a second time: %s", strerror(-fd));
		return;
	}
	control_init(&control);
	err = try_read(fd, &rd);
	if ((err && !is_lost(actor, err)) || rd.nrctrs != actor->nr_sums)
		wrong(actor, "READ on a second handle: %s, %u counters", strerror(-err), rd.nrctrs);
	/* Stops the counters, if nobody else holds the state. */
	(void)actor_control(actor, fd, &control);
	close(fd);
}

void op_info(struct actor *actor)
{
	struct perfctr_kernel_info info = { .size = sizeof(info) };
	uint32_t mask[8];
	struct perfctr_cpus cpus = {
		.size = sizeof(cpus),
		.nrwords = 8,
		.mask = (uint64_t)(uintptr_t)mask,
	};
	int fd = actor->own >= 0 ? actor->own : open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);

	if (ioctl(fd, PERFCTR_IOC_INFO, &info))
		wrong(actor, "INFO: %s", strerror(errno));
	cpus.which = below(actor, 2);
	if (ioctl(fd, PERFCTR_IOC_CPUS, &cpus))
		wrong(actor, "CPUS: %s", strerror(errno));
	if (fd != actor->own)
		close(fd);
}

void op_fdinfo(struct actor *actor)
{
	char path[64], text[512];
	int fd = one_in(actor, 2) ? actor->own : actor->foreign[below(actor, FOREIGN)];
	ssize_t got;

	if (fd < 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	got = read_text(path, text, sizeof(text));
	/* The read may fail only for another thread's exec, or for a lack of memory. */
	if (got >= 0 && !strstr(text, "cstatus:"))
		wrong(actor, "fdinfo without cstatus");
}

void op_move(struct actor *actor)
{
	unsigned int mask = 1 + below(actor, 3);
	cpu_set_t set;

	CPU_ZERO(&set);
	if (mask & 1)
		CPU_SET(0, &set);
	if (mask & 2)
		CPU_SET(1, &set);
	/* The second CPU may be away. */
	if (sched_setaffinity(0, sizeof(set), &set) && errno != EINVAL)
		wrong(actor, "sched_setaffinity: %s", strerror(errno));
}

void op_rest(struct actor *actor)
{
	if (one_in(actor, 3))
		sleep_us(1 + below(actor, 300));
	else
		sched_yield();
}

/* While stopped, nothing is counted. */
void op_stop_and_go(struct actor *actor)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS];
	int k = exact_counter(actor);

	if (actor->own < 0 || !actor->attached)
		return;
	if (ioctl(actor->own, PERFCTR_IOC_SUSPEND)) {
		wrong(actor, "SUSPEND: %s", strerror(errno));
		return;
	}
	if (k >= 0 && exact_read(actor->own, words[0], sizeof(words[0]), body_spin, 1000) > 0 &&
	    words[1][1 + k] != words[0][1 + k])
		wrong(actor, "%llu instructions were counted in spite of SUSPEND",
		      (unsigned long long)(words[1][1 + k] - words[0][1 + k]));
	if (one_in(actor, 8) && ioctl(actor->own, PERFCTR_IOC_SUSPEND))
		wrong(actor, "SUSPEND again: %s", strerror(errno));
	if (ioctl(actor->own, PERFCTR_IOC_RESUME))
		wrong(actor, "RESUME: %s", strerror(errno));
}
