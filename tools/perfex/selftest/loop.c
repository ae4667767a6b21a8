// SPDX-License-Identifier: GPL-2.0
/* Runs code of known length, and counts it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "count/why.h"
#include "selftest/checks.h"
#include "selftest/loop.h"

__attribute__((noinline)) void spin(unsigned long turns)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("2:	dec	%0\n"
			 "	jnz	2b" : "+r" (turns) : : "cc");
#elif defined(__riscv)
	__asm__ volatile("1:	addi	%0, %0, -1\n"
			 "	bnez	%0, 1b" : "+r" (turns));
#elif defined(__aarch64__)
	__asm__ volatile("1:	sub	%0, %0, #1\n"
			 "	cbnz	%0, 1b" : "+r" (turns));
#elif defined(__powerpc__)
	__asm__ volatile("1:	addic.	%0, %0, -1\n"
			 "	bne	1b" : "+r" (turns) : : "cr0", "xer");
#else
#error "a loop of known length for this architecture"
#endif
}

void nap(unsigned int ms)
{
	struct timespec time = {
		.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000,
	};

	(void)nanosleep(&time, NULL);
}

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

bool start_control(struct counting *c)
{
	c->perf = false;
	c->fd = _vperfctr_open(1);
	if (c->fd >= 0 && !_vperfctr_control_native(c->fd, &c->control)) {
		c->error = 0;
		return true;
	}
	c->error = errno;
	stop(c);
	return false;
}

bool start(struct counting *c, unsigned int source, const struct perfctr_ctr_control *ctr)
{
	c->control = (struct perfctr_control){
		PERFCTR_CONTROL_INIT,
		.source = source,
		.tsc_on = 1,
		.nractrs = 1,
		.ctr[0] = *ctr,
	};
	return start_control(c);
}

bool start_event(struct counting *c, const struct machine *m, const char *spec)
{
	struct perfctr_ctr_control ctr;

	if (perfctr_event_parse(m->info->cpu_type, spec, &ctr) < 0) {
		*c = (struct counting){ .fd = -1, .error = errno };
		return false;
	}
	return start(c, m->source, &ctr);
}

bool start_perf(struct counting *c, unsigned int type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	*c = (struct counting){ .perf = true };
	c->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	c->error = c->fd < 0 ? errno : 0;
	return c->fd >= 0;
}

void stop(struct counting *c)
{
	if (c->fd < 0)
		return;
	if (!c->perf)
		(void)ioctl(c->fd, PERFCTR_IOC_UNLINK);
	close(c->fd);
	c->fd = -1;
}

const char *why_not_started(const struct counting *c)
{
	switch (c->error) {
	case EEXIST:
		return "perfex is counted itself, by a perfex around it say";
	case EBUSY:
		return why_busy(c->control.owner, c->control.reason);
	case EACCES:
		if (c->control.reason == PERFCTR_REASON_OPEN)
			return why_open();
		break;
	case EXDEV:
		return why_unbound();
	case EOPNOTSUPP:
		return "this processor counts user and kernel mode together";
	default:
		break;
	}
	return strerror(c->error);
}

const char *why_unread(const struct counting *c)
{
	struct perfctr_read sums;

	if (!c->perf && _vperfctr_read_native(c->fd, &sums) < 0 && errno == EIO)
		return perfctr_error_name(sums.error);
	return strerror(errno);
}

/* Reads the counts. A read always executes the same instructions. */
static bool read_counts(const struct counting *c, struct perfctr_read *sums)
{
	if (c->perf)
		return read(c->fd, &sums->sum[0], sizeof(sums->sum[0])) == sizeof(sums->sum[0]);
	return !_vperfctr_read_native(c->fd, sums);
}

__attribute__((noinline)) bool count(const struct counting *c, work_t work, unsigned long n,
				     uint64_t *counts)
{
	struct perfctr_read before, after;
	unsigned int i, nr = c->perf ? 1 : c->control.nractrs + c->control.nrictrs;

	if (!read_counts(c, &before))
		return false;
	work(n);
	if (!read_counts(c, &after))
		return false;
	for (i = 0; i < nr; i++)
		counts[i] = after.sum[i] - before.sum[i];
	return true;
}

void tally_add(struct tally *tally, uint64_t count, uint64_t expected)
{
	if (!tally->runs || count < tally->least)
		tally->least = count;
	if (!tally->runs || count > tally->most)
		tally->most = count;
	tally->runs++;
	tally->exact += count == expected;
}

bool tally(const struct counting *c, unsigned int runs, work_t work, unsigned long less,
	   unsigned long more, uint64_t expected, struct tally *tally)
{
	uint64_t few[PERFCTR_MAX_CTRS], many[PERFCTR_MAX_CTRS];
	unsigned int run;

	*tally = (struct tally){};
	/* The first run executes more, since functions are bound and pages are fetched. */
	(void)count(c, work, less, few);
	for (run = 0; run < runs; run++) {
		if (!count(c, work, less, few) || !count(c, work, more, many))
			return false;
		tally_add(tally, many[0] - few[0], expected);
	}
	return true;
}

bool fewest(const struct counting *c, work_t work, unsigned long less, unsigned long more,
	    uint64_t *least)
{
	uint64_t few = UINT64_MAX, many = UINT64_MAX, counts[PERFCTR_MAX_CTRS] = { 0 };
	unsigned int run;

	for (run = 0; run < 10; run++) {
		if (!count(c, work, less, counts))
			return false;
		few = counts[0] < few ? counts[0] : few;
		if (!count(c, work, more, counts))
			return false;
		many = counts[0] < many ? counts[0] : many;
	}
	*least = many - few;
	return true;
}

void tell_tally(const char *what, const struct tally *tally, uint64_t expected, uint64_t switches)
{
	printf("  %s: exact in %u of %u runs", what, tally->exact, tally->runs);
	if (tally->exact < tally->runs)
		printf(", counted were %" PRIu64 " to %" PRIu64 ", executed %" PRIu64,
		       tally->least, tally->most, expected);
	if (switches != NO_SWITCHES)
		printf(" (%" PRIu64 " switches)", switches);
	putchar('\n');
}

struct runs all_runs;

void judge_tally(const char *what, const struct tally *tally, uint64_t expected)
{
	uint64_t off;

	all_runs.all += tally->runs;
	if (!tally->exact) {
		deviates("%s: of %" PRIu64 " instructions %" PRIu64 " to %" PRIu64 " are counted",
			 what, expected, tally->least, tally->most);
		return;
	}
	all_runs.off += tally->runs - tally->exact;
	off = tally->most - expected > expected - tally->least ?
	      tally->most - expected : expected - tally->least;
	all_runs.most = off > all_runs.most ? off : all_runs.most;
}
