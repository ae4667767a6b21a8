// SPDX-License-Identifier: GPL-2.0
/* Checks that counts agree with what was executed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "selftest/checks.h"
#include "selftest/loop.h"

#define RUNS	20

/* The turns of a shorter loop, for checks that run it on each of many counters. */
#define BRIEF	(SHORT + 100000ul)
#define BRIEFLY_EXPECTED	((uint64_t)2 * (BRIEF - SHORT))

/* The following functions count the loop in various situations. */

static void spin_with_nap(unsigned long turns)
{
	spin(turns / 2);
	nap(1);
	spin(turns / 2);
}

static uint64_t switches(const struct counting *c)
{
	struct perfctr_read sums;

	return _vperfctr_read_native(c->fd, &sums) ? 0 : sums.soft.switches;
}

static void try_loop(const struct counting *c, work_t work, const char *what)
{
	uint64_t before = switches(c);
	struct tally t;

	if (!tally(c, RUNS, work, SHORT, LONG, EXPECTED, &t)) {
		deviates("%s: %s", what, why_unread(c));
		return;
	}
	tell_tally(what, &t, EXPECTED, switches(c) - before);
	judge_tally(what, &t, EXPECTED);
}

void check_loop(const struct machine *m)
{
	struct counting c;

	if (!start_event(&c, m, "instructions:u")) {
		not_made("%s", why_not_started(&c));
		return;
	}
	try_loop(&c, spin, "at one go");
	try_loop(&c, spin_with_nap, "over a switch");
	stop(&c);
}

/* The following functions count the loop on every counter. */

/*
 * Returns an event that counter @hw can count. *known is set if the event's count of the loop is
 * known.
 */
static const char *event_of(const struct machine *m, unsigned int hw, bool *known)
{
	*known = true;
	if (IS_X86) {
		if (hw <= X86_FIXED)
			return "instructions:u";
		*known = false;
		return hw == X86_FIXED + 1 ? "cycles:u" : NULL;
	}
	if (IS_PPC) {
		if (hw < 4)
			return "instructions:u";
		*known = false;
		return "cycles:u";
	}
	if (hw == 2 && m->info->cpu_type == PERFCTR_RISCV_SBI)
		return "instret:u";
	if (hw == 0 && m->info->cpu_type == PERFCTR_RISCV_SBI) {
		*known = false;
		return "cycle:u";
	}
	return "instructions:u";
}

/*
 * Starts counter @hw. If the right count of @event is not @known, a second counter counts the same
 * event.
 */
static bool start_counter(struct counting *c, const struct machine *m, const char *event,
			  unsigned int hw, bool known)
{
	c->control = (struct perfctr_control){
		PERFCTR_CONTROL_INIT,
		.source = PERFCTR_SOURCE_NATIVE,
		.nractrs = known ? 1 : 2,
	};
	if (perfctr_event_parse(m->info->cpu_type, event, &c->control.ctr[0]) < 0 ||
	    (!known && perfctr_event_parse(m->info->cpu_type, "cycles:u", &c->control.ctr[1]) < 0)) {
		*c = (struct counting){ .fd = -1, .error = errno };
		return false;
	}
	c->control.ctr[0].map = hw;
	return start_control(c);
}

/* Checks that both counters count the same number of cycles. */
static void try_cycles(const struct counting *c, unsigned int hw)
{
	uint64_t few[PERFCTR_MAX_CTRS], many[PERFCTR_MAX_CTRS];
	double ratio;

	if (!count(c, spin, SHORT, few) || !count(c, spin, LONG, many)) {
		deviates("counter %u: %s", hw, why_unread(c));
		return;
	}
	ratio = many[1] == few[1] ? 0 :
		(double)(many[0] - few[0]) / (double)(many[1] - few[1]);
	tell("counter %u: %.3f of the cycles that another counts", hw, ratio);
	if (ratio < 0.99 || ratio > 1.01)
		deviates("counter %u counts %.3f of the cycles that another counts", hw, ratio);
}

void check_every_counter(const struct machine *m)
{
	unsigned int hw;

	for (hw = 0; hw < 64; hw++) {
		const char *event;
		struct counting c;
		struct tally t;
		char what[32];
		bool known;

		if (!(m->info->counters >> hw & 1))
			continue;
		event = event_of(m, hw, &known);
		if (!event) {
			tell("counter %u: its event is looked at below, or not known here", hw);
			continue;
		}
		(void)snprintf(what, sizeof(what), "counter %u", hw);
		if (!start_counter(&c, m, event, hw, known)) {
			tell("%s: not tried: %s", what, why_not_started(&c));
			continue;
		}
		if (!known) {
			try_cycles(&c, hw);
		} else if (!tally(&c, RUNS, spin, SHORT, BRIEF, BRIEFLY_EXPECTED, &t)) {
			deviates("%s: %s", what, why_unread(&c));
		} else {
			tell_tally(what, &t, BRIEFLY_EXPECTED, NO_SWITCHES);
			judge_tally(what, &t, BRIEFLY_EXPECTED);
		}
		stop(&c);
	}
}

/* The following functions count system calls in kernel mode. */

static void call_kernel(unsigned long n)
{
#if defined(__x86_64__)
	unsigned long nr;

	__asm__ volatile("2:	mov	{$110, %0|%0, 110}\n"	/* getppid */
			 "	syscall\n"
			 "	dec	%1\n"
			 "	jnz	2b" : "=&a" (nr), "+r" (n) : : "rcx", "r11", "cc", "memory");
#elif defined(__i386__)
	unsigned long nr;

	__asm__ volatile("2:	mov	{$64, %0|%0, 64}\n"
			 "	int	{$}0x80\n"
			 "	dec	%1\n"
			 "	jnz	2b" : "=&a" (nr), "+r" (n) : : "cc", "memory");
#elif defined(__riscv)
	register unsigned long nr __asm__("a7");
	register unsigned long ret __asm__("a0");

	__asm__ volatile("1:	li	%0, 173\n"
			 "	ecall\n"
			 "	addi	%2, %2, -1\n"
			 "	bnez	%2, 1b" : "=&r" (nr), "=&r" (ret), "+r" (n) : : "memory");
#elif defined(__aarch64__)
	register unsigned long nr __asm__("x8");
	register unsigned long ret __asm__("x0");

	__asm__ volatile("1:	mov	%0, #173\n"
			 "	svc	#0\n"
			 "	sub	%2, %2, #1\n"
			 "	cbnz	%2, 1b" : "=&r" (nr), "=&r" (ret), "+r" (n) : : "memory");
#elif defined(__powerpc__)
	/* A system call leaves r0 and r3 to r12 undefined. */
	register unsigned long left __asm__("r14") = n;

	__asm__ volatile("1:	li	0, 64\n"
			 "	sc\n"
			 "	addic.	%0, %0, -1\n"
			 "	bne	1b" : "+r" (left) :
			 : "r0", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12",
			   "ctr", "cr0", "xer", "memory");
#endif
}

#define CALLS	1000ul

/* Returns the most frequent count. */
static uint64_t usual(const uint64_t *counts, unsigned int n)
{
	unsigned int i, k, same, most = 0;
	uint64_t found = 0;

	for (i = 0; i < n; i++) {
		for (k = 0, same = 0; k < n; k++)
			same += counts[k] == counts[i];
		if (same <= most)
			continue;
		most = same;
		found = counts[i];
	}
	return found;
}

/*
 * Checks that all counters count a system call alike, since nobody knows how many instructions it
 * takes. The system call allocates no memory, which would vary. The calls are few, so that most
 * runs have no interrupt. That holds even in a kernel with debug checks, where a call takes fifty
 * times as long. Also, a kernel that moves its stack at random (RANDOMIZE_KSTACK_OFFSET) makes new
 * random numbers at every 48th call, on RISC-V and arm64. Most runs must have no such call.
 */
#define FEW_CALLS	2ul
#define MANY_CALLS	8ul

void check_kernel_mode(const struct machine *m)
{
	uint64_t counts[64], again, expected;
	unsigned int counter[64], hw, n = 0, i;
	bool same = true;

	for (hw = 0; hw < 64; hw++) {
		const char *event;
		struct counting c;
		bool known;

		if (!(m->info->counters >> hw & 1))
			continue;
		event = event_of(m, hw, &known);
		if (!event || !known || strncmp(event, "instructions", strlen("instructions")) != 0)
			continue;
		if (!start_counter(&c, m, "instructions:k", hw, true)) {
			tell("counter %u: not tried: %s", hw, why_not_started(&c));
		} else if (!fewest(&c, call_kernel, FEW_CALLS, MANY_CALLS, &counts[n]) ||
			   !fewest(&c, call_kernel, FEW_CALLS, MANY_CALLS, &again)) {
			deviates("counter %u: %s", hw, why_unread(&c));
		} else {
			same &= counts[n] == again;
			counter[n++] = hw;
		}
		stop(&c);
	}
	if (!n) {
		not_made("no counter of instructions alone counts kernel mode");
		return;
	}
	/*
	 * In a kernel that searches for races at random, calls vary, so counters cannot be
	 * compared.
	 */
	if (!same) {
		not_made("a system call takes now more instructions of this kernel, now less");
		return;
	}
	expected = usual(counts, n);
	tell("system calls: %u counters, most of them count %" PRIu64 " instructions", n,
	     expected);
	if (!expected)
		deviates("counters count 0 instructions in kernel mode");
	for (i = 0; i < n; i++)
		if (counts[i] != expected)
			deviates("counter %u counts %" PRIu64 " instructions in kernel mode where others count %" PRIu64,
				 counter[i], counts[i], expected);
}

/* The following functions count other events. */

#define BUFFER	((size_t)16 << 20)

static unsigned char *buffer;

/* Reads and writes cache lines and pages for the first time, and takes unpredictable branches. */
static void stir(unsigned long rounds)
{
	volatile unsigned char *b = buffer;
	unsigned int state = 1;
	size_t i;

	for (i = 0; i < BUFFER / 2; i += 4096 + 64) {
		(void)b[i];
		b[BUFFER / 2 + i] = 1;
	}
	for (; rounds; rounds--) {
		state = state * 1103515245u + 12345u;
		if (state >> 16 & 1)
			b[0]++;
#if defined(__x86_64__)
		if (!(rounds % 16))
			__asm__ volatile("clflush {(%0)|[%0]}" : : "r" (b) : "memory");
#endif
	}
}

static bool count_event(const struct counting *c, uint64_t *event_count)
{
	uint64_t counts[PERFCTR_MAX_CTRS];
	bool read;

	buffer = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED)
		return false;
	read = count(c, stir, 100000, counts);
	munmap(buffer, BUFFER);
	*event_count = counts[0];
	return read;
}

void check_events(const struct machine *m)
{
	static const char *const names[] = {
		"instructions", "cycles", "ref-cycles", "bus-cycles", "cache-references",
		"cache-misses", "branches", "branch-misses",
#if defined(__riscv)
		"dTLB-load-misses", "dTLB-store-misses",
#endif
	};
	struct perfctr_ctr_control ctr;
	char spec[64], list[512] = "";
	struct counting c;
	uint64_t n;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(spec, sizeof(spec), "%s:u", names[i]);
		if (perfctr_event_parse(m->info->cpu_type, spec, &ctr) < 0 ||
		    !perfctr_event_available(m->info, &ctr))
			continue;
		if (!start(&c, m->source, &ctr)) {
			tell("%s: not tried: %s", names[i], why_not_started(&c));
			continue;
		}
		if (!count_event(&c, &n)) {
			deviates("%s: %s", names[i], why_unread(&c));
		} else if (!n) {
			deviates("%s counts 0 of a program that causes it", names[i]);
		} else {
			(void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				       *list ? ", " : "", names[i]);
		}
		stop(&c);
	}
	tell("counted: %s", *list ? list : "none");
}

/*
 * The following functions find out whether too many or too few instructions are counted at page
 * faults, system calls and interrupts.
 */

/* Prints how many extra instructions were counted. Returns true if there were any. */
static bool tell_overcount(int64_t over, uint64_t times, const char *what)
{
	int64_t each = times ? over * 10000 / (int64_t)times : 0;

	tell("%" PRIu64 " %s, %" PRId64 " instructions too many", times, what, over);
	if (over)
		deviates("instructions are off by %+" PRId64 " at 10000 %s (%" PRIu64 " were looked at)",
			 each, what, times);
	return over;
}

#define PAGES	UINT64_C(250)
#define ROUNDS	40

static unsigned char *pages;
static size_t page_size;

static void touch(unsigned long n)
{
	volatile unsigned char *page = pages;

	for (; n; n--, page += page_size)
		*page = 1;
}

static uint64_t faults(const struct counting *c)
{
	struct perfctr_read sums;

	return _vperfctr_read_native(c->fd, &sums) ? 0 : sums.soft.minor_faults;
}

void check_page_faults(const struct machine *m)
{
	uint64_t counts[PERFCTR_MAX_CTRS], with = UINT64_MAX, without = UINT64_MAX, before;
	struct counting c;
	unsigned int round;

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, PAGES * page_size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED) {
		not_made("%s", strerror(errno));
		return;
	}
	(void)madvise(pages, PAGES * page_size, MADV_NOHUGEPAGE);
	if (!start_event(&c, m, "instructions:u")) {
		not_made("%s", why_not_started(&c));
		goto unmap;
	}
	(void)count(&c, touch, PAGES, counts);
	before = faults(&c);
	/* The round with the lowest count had no interrupt. */
	for (round = 0; round < ROUNDS; round++) {
		if (madvise(pages, PAGES * page_size, MADV_DONTNEED) ||
		    !count(&c, touch, PAGES, counts)) {
			deviates("page faults: %s", why_unread(&c));
			goto stop;
		}
		with = counts[0] < with ? counts[0] : with;
		if (!count(&c, touch, PAGES, counts)) {
			deviates("page faults: %s", why_unread(&c));
			goto stop;
		}
		without = counts[0] < without ? counts[0] : without;
	}
	if (faults(&c) - before == PAGES * ROUNDS)
		tell_overcount((int64_t)(with - without) * ROUNDS, PAGES * ROUNDS, "page faults");
	else
		not_made("the kernel had %" PRIu64 " page faults for %" PRIu64 " pages",
			 faults(&c) - before, PAGES * ROUNDS);
stop:
	stop(&c);
unmap:
	munmap(pages, PAGES * page_size);
}

/*
 * Finds out whether too many or too few instructions are counted at system calls. On some
 * architectures, the instruction that makes a system call is never retired.
 */
void check_system_calls(const struct machine *m)
{
	const uint64_t each = 4, tenfold = 10 * CALLS;
	struct counting c;
	uint64_t least;

	if (!start_event(&c, m, "instructions:u")) {
		not_made("%s", why_not_started(&c));
		return;
	}
	/* fewest() makes ten runs. */
	if (!fewest(&c, call_kernel, CALLS, 2 * CALLS, &least))
		deviates("system calls: %s", why_unread(&c));
	else if (least == (each - 1) * CALLS)
		tell("%" PRIu64 " system calls, whose instruction is not counted, 0 instructions too many",
		     tenfold);
	else
		tell_overcount((int64_t)(least - each * CALLS) * 10, tenfold, "system calls");
	stop(&c);
}

/*
 * Returns the number of all interrupts on @cpu. The first line of the file names the columns: CPU0
 * CPU1 ...
 */
static uint64_t interrupts(unsigned int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char *line = NULL, *s, *end;
	unsigned int column = 0, i;
	uint64_t sum = 0, n;
	bool found = false;
	size_t size = 0;

	if (f && getline(&line, &size, f) > 0)
		for (s = strstr(line, "CPU"); s && !found; s = strstr(s + 1, "CPU")) {
			found = strtoul(s + 3, NULL, 10) == cpu;
			column++;
		}
	while (found && getline(&line, &size, f) > 0) {
		s = strchr(line, ':');
		end = s;
		n = 0;
		for (i = 0; s && end && i < column; i++) {
			s = end + 1;
			n = strtoull(s, &end, 10);
			if (end == s)
				end = NULL;
		}
		/* Some lines have only one number, for all CPUs. */
		sum += end ? n : 0;
	}
	free(line);
	if (f)
		fclose(f);
	return sum;
}

bool interrupts_add;

void check_ticks(const struct machine *m)
{
	uint64_t few[PERFCTR_MAX_CTRS], many[PERFCTR_MAX_CTRS], before, came;
	unsigned long turns;
	struct counting c;
	double start_time;
	int64_t over;

	if (!start_event(&c, m, "instructions:u")) {
		not_made("%s", why_not_started(&c));
		return;
	}
	/* Measure how many turns of the loop take a fifth of a second. */
	start_time = now();
	spin(LONG);
	turns = (unsigned long)((double)LONG * 0.2 / (now() - start_time + 1e-6));
	before = interrupts(m->cpu);
	if (!count(&c, spin, SHORT, few) || !count(&c, spin, SHORT + turns, many)) {
		deviates("interrupts: %s", why_unread(&c));
	} else {
		came = interrupts(m->cpu) - before;
		over = (int64_t)(many[0] - few[0] - 2 * (uint64_t)turns);
		if (came)
			interrupts_add = tell_overcount(over, came, "interrupts");
		else
			not_made("no interrupt came in a fifth of a second");
	}
	stop(&c);
}

void check_runs(const struct machine *m)
{
	(void)m;
	tell("%u of %u runs were off", all_runs.off, all_runs.all);
	if (all_runs.off && interrupts_add)
		tell("by up to %" PRIu64 " instructions, as interrupts add some", all_runs.most);
	else if (all_runs.off)
		deviates("%u of %u runs of loops of known length were off, by up to %" PRIu64 " instructions, and interrupts are not the cause",
			 all_runs.off, all_runs.all, all_runs.most);
}
