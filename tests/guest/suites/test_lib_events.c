// SPDX-License-Identifier: GPL-2.0
/* libperfctr: events by names, and by which source they count. */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/lib.h"

START_TEST(events)
{
	const struct perfctr_event_set *set = perfctr_event_names(guest.info.cpu_type);
	struct perfctr_ctr_control ctr;
	unsigned int i, counted = 0;
	struct perfctr_info info;
	bool few;
	int fd = open_self();

	ck_ok(perfctr_get_info(&info));
	ck_assert_ptr_nonnull(set);
	ck_assert_uint_eq(set->cpu_type, guest.info.cpu_type);
	/* The kernel counts every event that the library calls available, a metric with SLOTS. */
	for (i = 0; i < set->nevents; i++) {
		struct perfctr_control control;
		int available, err;

		memset(&ctr, 0, sizeof(ctr));
		ck_ok(perfctr_event_parse(guest.info.cpu_type, set->events[i].name, &ctr));
		available = perfctr_event_available(&info, &ctr);
		ctr.flags |= PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL;
		control_init(&control);
		if (ctr.flags & PERFCTR_CTR_PERF)
			control.source = PERFCTR_SOURCE_SHARED;
		if (!strncmp(set->events[i].name, "topdown-", 8))
			control_add_at(&control, PERFCTR_MAP_ANY, PERFCTR_EVENT_SLOTS, ctr.flags);
		control.ctr[control.nractrs++] = ctr;
		err = try_control(fd, &control);
		/* perf counts metrics in groups only. */
		if (control.source == PERFCTR_SOURCE_SHARED && control.nractrs == 2) {
			ck_assert_int_eq(err, available ? -EOPNOTSUPP : -EINVAL);
			continue;
		}
		/* perf counts what it is told, and of its own events it alone knows. */
		if (control.source == PERFCTR_SOURCE_SHARED)
			ck_assert_msg(available ? !err || ctr.flags & PERFCTR_CTR_PERF :
						  !err || err == -EINVAL || err == -EXDEV ||
						  err == -EOPNOTSUPP,
				      "%s: %s", set->events[i].name, strerror(-err));
		else if (is_amd() && control.reason == PERFCTR_REASON_SOURCE)
			/* The northbridge's, which perf alone counts */
			ck_assert_msg(available && err == -EOPNOTSUPP &&
				      !strncmp(set->events[i].name, "node-", 5), "%s: %s",
				      set->events[i].name, strerror(-err));
		else
			ck_assert_msg(available ? !err : err == -EINVAL, "%s: %savailable, %s",
				      set->events[i].name, available ? "" : "not ",
				      err ? strerror(-err) : "counted");
		counted += !err;
	}
	/* Of an emulated ARM perf counts cycles and instructions alone; the 604e has no other names. */
	few = !guest.info.counters || (is_ppc() && guest.info.cpu_type == PERFCTR_PPC_604e);
	if (is_pentium()) {
		ck_assert_uint_eq(counted, set->nevents);
		return;
	}
	ck_assert_uint_ge(counted, !has_counters() ? 0 : few ? 2 : 4);
}
END_TEST

static void count_from(struct vperfctr *v, unsigned int source)
{
	struct vperfctr_control control;

	usual_control(&control);
	control.source = source;
	ck_assert_msg(!vperfctr_control(v, &control), "%s: %s", strerror(errno),
		      perfctr_reason_name((unsigned int)vperfctr_reason(v)));
	ck_assert_int_eq(vperfctr_reason(v), PERFCTR_REASON_NONE);
}

static unsigned int source_of(const struct vperfctr *v)
{
	struct vperfctr_control control;

	ck_ok(vperfctr_read_state(v, NULL, &control));
	return control.source;
}

/* As a program for 2.6 does, which knows nothing of sources */
START_TEST(any_source_counts)
{
	struct vperfctr *v = vperfctr_open();
	unsigned int expected = VPERFCTR_SOURCE_NATIVE;

	/* There are none of the module's own; or, on x86, the watchdog has the counters now. */
	if (!guest.info.counters || (guest.shared && is_x86()))
		expected = VPERFCTR_SOURCE_SHARED;
	count_from(v, 0);
	ck_assert_uint_eq(source_of(v), expected);
	counts_exactly(v);
	vperfctr_close(v);
}
END_TEST

/* The same by the kernel's structure; a control of the clock alone has no source. */
START_TEST(source_is_told)
{
	struct vperfctr *v = vperfctr_open();
	struct perfctr_control native;
	struct vperfctr_control clock;
	struct perfctr_info about;

	count_from(v, VPERFCTR_SOURCE_SHARED);
	ck_assert_uint_eq(source_of(v), VPERFCTR_SOURCE_SHARED);
	ck_ok(vperfctr_read_control_native(v, &native));
	ck_assert_uint_eq(native.source, PERFCTR_SOURCE_SHARED);
	ck_ok(vperfctr_info(v, &about));
	ck_assert_uint_eq(about.source, PERFCTR_SOURCE_SHARED);
	counts_exactly(v);
	memset(&clock, 0, sizeof(clock));
	clock.cpu_control.extended = PERFCTR_EXTENDED;
	clock.cpu_control.tsc_on = 1;
	clock.source = VPERFCTR_SOURCE_SHARED;
	ck_ok(vperfctr_control(v, &clock));
	ck_assert_uint_eq(source_of(v), VPERFCTR_SOURCE_ANY);
	clock.source = VPERFCTR_SOURCE_SHARED + 1;
	ck_errno(vperfctr_control(v, &clock), EINVAL);
	vperfctr_close(v);
}
END_TEST

/* No register is the thread's, whatever its number. */
START_TEST(shared_has_no_registers)
{
	struct vperfctr *v = vperfctr_open();
	unsigned int reg;

	count_from(v, VPERFCTR_SOURCE_SHARED);
	for (reg = 0; reg < 80; reg++) {
		/* The clock is read as ever: slot 1 on RISC-V, 64 on x86. */
		if (reg == 1 || reg == 64)
			continue;
		errno = 0;
		ck_assert_uint_eq(vperfctr_read_reg(v, reg), PERFCTR_NO_COUNT);
		ck_assert_int_eq(errno, EINVAL);
	}
	ck_assert_uint_lt(vperfctr_read_pmc(v, 0), vperfctr_read_pmc(v, 0));
	ck_assert_uint_le(vperfctr_read_tsc(v), vperfctr_read_tsc(v));
	vperfctr_close(v);
}
END_TEST

#if defined(__x86_64__) || defined(__i386__)

#define PAGES	300ul

/* Branches, new pages for stores, and pages of code that nobody has executed */
struct caused {
	struct body_touch_arg data;
	unsigned char *code;
};

static void prepare(struct caused *c)
{
	c->data.n = PAGES;
	c->data.base = mmap(NULL, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	c->code = mmap(NULL, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(c->data.base != MAP_FAILED && c->code != MAP_FAILED);
	memset(c->code, 0xc3, PAGES * PAGE_SIZE);	/* RET */
	/* Which takes them out of the TLB */
	ck_ok(mprotect(c->code, PAGES * PAGE_SIZE, PROT_READ | PROT_EXEC));
}

static void cause(const struct caused *c)
{
	const unsigned char *at;
	void (*run)(void);
	unsigned long i;

	body_spin(20000);
	body_touch((unsigned long)&c->data);
	for (i = 0; i < PAGES; i++) {
		at = c->code + i * PAGE_SIZE;
		memcpy((void *)&run, (const void *)&at, sizeof(run));
		run();
	}
}

static void discard(const struct caused *c)
{
	munmap(c->data.base, PAGES * PAGE_SIZE);
	munmap(c->code, PAGES * PAGE_SIZE);
}

/* What it causes alone, and not the calls around it */
static uint64_t caused(uint64_t (*count)(int fd), int fd, const struct caused *c)
{
	uint64_t first = count(fd), before = count(fd);

	cause(c);
	return count(fd) - before - (before - first);
}

static uint64_t first_sum(int fd)
{
	return read_sum(fd, 0);
}

/* What perf counts by its own name: false if it has no such event on this processor */
static bool perf_counts(unsigned int config, uint64_t *count)
{
	struct perf_event_attr attr;
	struct caused c;
	int fd;

	perf_attr_init(&attr, EV_CYCLES);
	attr.type = PERF_TYPE_HW_CACHE;
	attr.config = config;
	prepare(&c);
	fd = perf_open(&attr, 0, -1, -1);
	if (fd >= 0)
		*count = caused(perf_read_one, fd, &c);
	discard(&c);
	if (fd < 0) {
		ck_assert_msg(errno == ENOENT || errno == EINVAL, "%s", strerror(errno));
		return false;
	}
	close(fd);
	return true;
}

static uint64_t count_by_name(const struct perfctr_ctr_control *ctr)
{
	struct perfctr_control control;
	int fd = open_self();
	struct caused c;
	uint64_t count;

	control_init(&control);
	control.ctr[control.nractrs++] = *ctr;
	prepare(&c);
	set_control(fd, &control);
	count = caused(first_sum, fd, &c);
	unlink_self(fd);
	discard(&c);
	return count;
}

/* perf's names of cache events are what perf has under them, or are refused as perf refuses them. */
START_TEST(cache_events_are_perfs)
{
	const struct perfctr_event_set *names = perfctr_event_names(PERFCTR_X86_GENERIC);
	unsigned int i, asked = 0, counted = 0, known = 0;
	struct perfctr_info info;

	ck_ok(perfctr_get_info(&info));
	if (is_amd() || guest.info.cpu_type == PERFCTR_X86_INTEL_P4)
		return;
	for (i = 0; i < names->nevents; i++) {
		unsigned int config = names->events[i].evntsel & 0xffffff;
		uint64_t theirs = 0, ours = 0;
		struct perfctr_ctr_control ctr;
		char name[64];
		bool has;

		if (names->events[i].evntsel >> 24 != PERF_TYPE_HW_CACHE)
			continue;
		asked++;
		has = perf_counts(config, &theirs);
		snprintf(name, sizeof(name), "%s:u", names->events[i].name);
		if (perfctr_event_parse(guest.info.cpu_type, name, &ctr) < 0) {
			ck_assert_int_eq(errno, EOPNOTSUPP);
			ck_assert_msg(!has, "perf has %s", name);
			continue;
		}
		ck_assert_msg(has, "perf has no %s", name);
		known++;
		/* The processor says of this one that it has it not. */
		if (!perfctr_event_available(&info, &ctr))
			ck_assert_uint_eq(theirs, 0);
		else
			ours = count_by_name(&ctr);
		/* Misses of a TLB are also by what others do to it. */
		ck_assert_msg(ours + 20 >= theirs && ours <= theirs + 20, "%s: %llu, perf says %llu", name,
			      (unsigned long long)ours, (unsigned long long)theirs);
		counted += ours >= PAGES;
	}
	printf("# %u of %u names are known, %u of them counted\n", known, asked, counted);
	ck_assert_uint_eq(asked, 32);
	ck_assert_uint_ge(known, 9);
	/* The emulated processors have branches all, and others of these each. */
	ck_assert_uint_ge(counted, 1);
}
END_TEST

#endif

/* What the library makes of names where the module has no driver counts on any processor. */
START_TEST(events_of_perf)
{
	struct vperfctr *v = vperfctr_open();
	struct perfctr_control native = { .tsc_on = 1, .nractrs = 2 };
	struct vperfctr_control control, again;
	unsigned int i;
	char name[64];

	native.source = PERFCTR_SOURCE_ANY;
	ck_ok(perfctr_event_parse(PERFCTR_X86_GENERIC, "instructions:u", &native.ctr[0]));
	ck_ok(perfctr_event_parse(PERFCTR_X86_GENERIC, "cycles:u", &native.ctr[1]));
	ck_ok(vperfctr_control_native(v, &native));
	ck_assert_uint_eq(source_of(v), VPERFCTR_SOURCE_SHARED);
	counts_exactly(v);

	/* The same by perfctr 2.6's structure */
	ck_ok(vperfctr_read_state(v, NULL, &control));
	ck_assert_uint_eq(control.cpu_control.perf_user, 3);
	ck_assert_uint_eq(control.cpu_control.perf_kernel, 0);
	ck_ok(vperfctr_stop(v));
	ck_ok(vperfctr_control(v, &control));
	counts_exactly(v);
	ck_ok(vperfctr_read_state(v, NULL, &again));
	ck_assert_mem_eq(&again, &control, sizeof(control));
	ck_ok(vperfctr_read_control_native(v, &native));
	for (i = 0; i < 2; i++) {
		perfctr_event_format(guest.info.cpu_type, &native.ctr[i], name, sizeof(name));
		ck_assert_str_eq(name, i ? "cycles:u" : "instructions:u");
	}

	/* By the module's own driver they cannot be counted, and the library says why. */
	control.source = VPERFCTR_SOURCE_NATIVE;
	ck_errno(vperfctr_control(v, &control), EOPNOTSUPP);
	ck_assert_int_eq(vperfctr_reason(v), PERFCTR_REASON_SOURCE);
	ck_assert_str_ne(perfctr_reason_name((unsigned int)vperfctr_reason(v)), "unknown");
	vperfctr_close(v);
}
END_TEST

/* perf keeps half of the counters from users: the rest is for those who have none of ours. */
START_TEST(half_without_privilege)
{
	struct vperfctr *v = vperfctr_open();
	unsigned int i, half = guest.nprogrammable / 2;
	struct vperfctr_control control;

	memset(&control, 0, sizeof(control));
	control.cpu_control.extended = PERFCTR_EXTENDED;
	control.source = VPERFCTR_SOURCE_SHARED;
	control.cpu_control.nractrs = half;
	/* Codes that each general-purpose counter counts, and no fixed one */
	for (i = 0; i <= half; i++) {
		control.cpu_control.pmc_map[i] = PERFCTR_MAP_ANY;
		control.cpu_control.evntsel[i] = EVNTSEL(0xc4 + (i << 8));
	}
	ck_ok(vperfctr_control(v, &control));
	control.cpu_control.nractrs++;
	ck_errno(vperfctr_control(v, &control), EBUSY);
	ck_assert_int_eq(vperfctr_reason(v), PERFCTR_REASON_HALF);
	vperfctr_close(v);
}
END_TEST

void lib_events(void)
{
	GUEST_RUN(events, 0);
#if defined(__x86_64__) || defined(__i386__)
	/* Beside perf, events with a register of their own are perf's. */
	GUEST_RUN(cache_events_are_perfs,
		  NEED_COUNTERS | NEED_PERF | NEED_NATIVE | NEED_EVNTSEL | NEED_NO_BESIDE);
#endif
	GUEST_RUN(any_source_counts, NEED_COUNTERS | AS_USER);
	GUEST_RUN(source_is_told, NEED_COUNTERS | NEED_SHARED | AS_USER);
	GUEST_RUN(shared_has_no_registers, NEED_COUNTERS | NEED_SHARED | AS_USER);
	GUEST_RUN(events_of_perf, NEED_COUNTERS | NEED_SHARED | AS_USER);
	GUEST_RUN(half_without_privilege, NEED_COUNTERS | NEED_SHARED | NEED_X86 | AS_USER);
}
