// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the machine itself: what its counters count, by Linux's own drivers. An emulated
 * processor must be right before anybody tests another driver on it. Each comparison is also
 * printed as a row of a table.
 *
 * Two reads of a perf event are two equal system calls, which count the same around any body:
 * the count of the empty body is subtracted.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/loops.h"
#include "witness/machine_x86_64.h"
#include "kit/perfside.h"

#define EDGE		(1u << 18)
#define INV		(1u << 23)
#define CMASK(n)	((uint64_t)(n) << 24)

struct pmu pmu;

static void find_pmu(void)
{
	unsigned int a = 0, b, c, d = 0;

	if (amd_find_pmu())
		return;
	if (__get_cpuid_max(0, NULL) >= 10)
		__cpuid(10, a, b, c, d);
	pmu.version = a & 0xff;
	pmu.counters = pmu.version ? (a >> 8) & 0xff : 2;
	pmu.width = pmu.version ? (a >> 16) & 0xff : 40;
	pmu.fixed_counters = pmu.version >= 2 ? d & 0x1f : 0;
	__cpuid(1, a, b, c, d);
	pmu.model = ((a >> 4) & 0xf) | ((a >> 12) & 0xf0);
	pmu.cycles = 0x3c;
	pmu.branches = BRANCHES;
	pmu.none = 0x7fff;
	pmu.interrupts = 0xc8;
	pmu.dtlb_store_misses = 0x0108;
	if (!pmu.version) {
		pmu.cycles = 0x79;
		pmu.dtlb_store_misses = 0;
	} else if (pmu.version >= 3) {
		pmu.interrupts = pmu.version == 3 ? 0x011d : 0x01cb;
		pmu.dtlb_store_misses = 0x0149;
	}
}

void row(const char *what, const char *event, uint64_t expected, uint64_t counted)
{
	printf("| %s | %s | %" PRIu64 " | %" PRIu64 " |\n", what, event, expected, counted);
	(void)fflush(stdout);
	ck_assert_msg(counted == expected, "%s, %s: %" PRIu64 " instead of %" PRIu64,
		      what, event, counted, expected);
}

void raw_attr(struct perf_event_attr *attr, uint64_t config, bool user)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_RAW;
	attr->config = config;
	attr->exclude_kernel = user;
	attr->exclude_hv = 1;
	attr->pinned = 1;
}

int raw_open(uint64_t config)
{
	struct perf_event_attr attr;
	int fd;

	raw_attr(&attr, config, true);
	fd = perf_open(&attr, 0, -1, -1);
	ck_assert_msg(fd >= 0, "perf_event_open(%#" PRIx64 "): %s", config, strerror(errno));
	return fd;
}

/* --- Bodies beside those of loops.h */

body_fn body_empty, body_rep, body_repne, body_rep_none, body_int80, body_ud2, body_int3,
	body_step, body_branches;

/*
 * DOWN() counts the argument down; on i386 it is on the stack, with so many words above the
 * return address. SAVE and RESTORE keep the registers of string instructions on i386.
 */
#if defined(__x86_64__)
#define AX		"%rax"
#define SP		"%rsp"
#define DOWN(words)	"	dec	%rdi\n"
#define SAVE		""
#define RESTORE		""
#define ADDRESS(label)	"	lea	" label "(%rip), %rax\n"
#define JCXZ		"	jrcxz	"
#define SAVED		0u
#define REG_IP		REG_RIP
#else
#define AX		"%eax"
#define SP		"%esp"
#define DOWN(words)	"	decl	4 + 4 * " words "(%esp)\n"
#define SAVE		"	push	%esi\n	push	%edi\n	mov	12(%esp), %edi\n"
#define RESTORE		"	pop	%edi\n	pop	%esi\n"
#define ADDRESS(label)	"	mov	$" label ", %eax\n"
#define JCXZ		"	jecxz	"
#define SAVED		5u	/* instructions of SAVE and RESTORE */
#define REG_IP		REG_EIP
#endif

__asm__(".text\n"
	"body_empty:\n"
	"	ret\n"

	/* Copies 64 bytes to where they are. */
	"body_rep:\n"
	SAVE
#if defined(__x86_64__)
	"	mov	%rdi, %rsi\n"		/* 1 */
#else
	"	mov	%edi, %esi\n"		/* 1 */
#endif
	"	mov	$64, %ecx\n"		/* 2 */
	"	rep movsb\n"			/* 3 */
	RESTORE
	"	ret\n"				/* 4 */
	"body_repne:\n"
	SAVE
	"	mov	$64, %ecx\n"		/* 1 */
#if defined(__x86_64__)
	"	mov	%cl, 9(%rdi)\n"		/* 2 */
#else
	"	mov	%cl, 9(%edi)\n"		/* 2 */
#endif
	"	mov	%cl, %al\n"		/* 3 */
	"	repne scasb\n"			/* 4: ends at the tenth */
	RESTORE
	"	ret\n"				/* 5 */
	"body_rep_none:\n"
	"	xor	%ecx, %ecx\n"		/* 1 */
	"	rep movsb\n"			/* 2 */
	"	ret\n"				/* 3 */

	/* The 32-bit system call 24, getuid() */
	"body_int80:\n"
#if defined(__x86_64__)
	"	push	%rbx\n"			/* 1 */
#else
	"	push	%ebx\n"			/* 1 */
#endif
	"1:	mov	$24, %eax\n"		/* n times 1 */
	"	int	$0x80\n"		/* n times 2 */
	DOWN("1")				/* n times 3 */
	"	jnz	1b\n"			/* n times 4 */
#if defined(__x86_64__)
	"	pop	%rbx\n"			/* 2 */
#else
	"	pop	%ebx\n"			/* 2 */
#endif
	"	ret\n"				/* 3 */

	"body_ud2:\n"
	"1:	ud2\n"				/* never */
	DOWN("0")				/* n times 1 */
	"	jnz	1b\n"			/* n times 2 */
	"	ret\n"				/* 1 */
	"body_int3:\n"
	"1:	int3\n"				/* n times 1 */
	DOWN("0")				/* n times 2 */
	"	jnz	1b\n"			/* n times 3 */
	"	ret\n"				/* 1 */
	"body_step:\n"
	"	pushf\n"			/* 1 */
	"	orl	$0x100, (" SP ")\n"	/* 2 */
	"	popf\n"				/* 3: TF is set, from the next one on */
	"	pushf\n"			/* 4 */
	"1:" DOWN("1")				/* n times 1 */
	"	jnz	1b\n"			/* n times 2 */
	"	andl	$~0x100, (" SP ")\n"	/* 5 */
	"	popf\n"				/* 6: the last that traps */
	"	ret\n"				/* 7 */

	/* One of each kind, taken and not */
	"body_branches:\n"
	"1:	jmp	2f\n"			/* n times 1 */
	"2:\n"
	ADDRESS("3f")
	"	jmp	*" AX "\n"		/* n times 2 */
	"3:	cmp	" AX ", " AX "\n"
	"	jne	4f\n"			/* n times 3 */
	"4:	je	5f\n"			/* n times 4 */
	"5:	xor	%ecx, %ecx\n"
	JCXZ "6f\n"				/* n times 5 */
	"6:	mov	$1, %ecx\n"
	"	loop	6b\n"			/* n times 6 */
	"	call	7f\n"			/* n times 7 */
	ADDRESS("7f")
	"	call	*" AX "\n"		/* n times 8 */
	DOWN("0")
	"	jnz	1b\n"			/* n times 9 */
	"	ret\n"				/* 1 */
	"7:	ret\n"				/* n times 10 and 11 */
	);

#define BODY_INT80(n)	(3 + 4 * (uint64_t)(n))
#define BODY_UD2(n)	(1 + 2 * (uint64_t)(n))
#define BODY_INT3(n)	(1 + 3 * (uint64_t)(n))
#define BODY_STEP(n)	(7 + 2 * (uint64_t)(n))
#define STEP_TRAPS(n)	(3 + 2 * (uint64_t)(n))
#define BODY_BRANCHES(n) (1 + 11 * (uint64_t)(n))

static uint64_t measure_fd(int fd, body_fn *body, unsigned long arg)
{
	uint64_t words[2] = { 0, 0 };

	ck_assert_int_eq(exact_read(fd, words, sizeof(words[0]), body, arg), sizeof(words[0]));
	return words[1] - words[0];
}

uint64_t measure(uint64_t event, body_fn *body, unsigned long arg)
{
	int fd = raw_open(event);
	uint64_t empty, count;

	(void)measure_fd(fd, body_empty, 0);
	empty = measure_fd(fd, body_empty, 0);
	count = measure_fd(fd, body, arg);
	close(fd);
	return count - empty;
}

static char bytes[128];

START_TEST(loop)
{
	row("loop of 1,000,000", "instructions", BODY_SPIN(1000000) - 1,
	    measure(INSTRUCTIONS, body_spin, 1000000));
	row("loop of 1,000,000", "cycles", BODY_SPIN(1000000) - 1,
	    measure(pmu.cycles, body_spin, 1000000));
	row("loop of 1,000,000", "branches", 1000000,
	    measure(pmu.branches, body_spin, 1000000));
	row("branches of each kind", "branches", BODY_BRANCHES(1000) - 1,
	    measure(pmu.branches, body_branches, 1000));
}
END_TEST

START_TEST(system_calls)
{
	row("1,000 times sched_yield()", "instructions", BODY_YIELD(1000) - 1,
	    measure(INSTRUCTIONS, body_yield, 1000));
	row("1,000 times int 0x80", "instructions", BODY_INT80(1000) - 1,
	    measure(INSTRUCTIONS, body_int80, 1000));
}
END_TEST

START_TEST(repeated_strings)
{
	row("REP MOVSB, 64 times", "instructions", 3 + SAVED,
	    measure(INSTRUCTIONS, body_rep, (unsigned long)bytes));
	row("REPNE SCASB, 10 of 64 times", "instructions", 4 + SAVED,
	    measure(INSTRUCTIONS, body_repne, (unsigned long)bytes));
	row("REP MOVSB, no time", "instructions", 2,
	    measure(INSTRUCTIONS, body_rep_none, (unsigned long)bytes));
	/* Each turn takes one cycle, and so does the check that finds none left. */
	row("REP MOVSB, 64 times", "cycles", 3 + 64 + SAVED,
	    measure(pmu.cycles, body_rep, (unsigned long)bytes));
}
END_TEST

/* @n pages that nobody has touched yet */
static void new_pages(struct body_touch_arg *arg, unsigned long n)
{
	arg->n = n;
	arg->base = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(arg->base != MAP_FAILED);
	ck_assert(!madvise(arg->base, n * 4096, MADV_NOHUGEPAGE) || errno == EINVAL);
}

START_TEST(page_faults)
{
	struct body_touch_arg arg;

	new_pages(&arg, 100);
	row("100 page faults", "instructions", BODY_TOUCH(arg.n) - 1,
	    measure(INSTRUCTIONS, body_touch, (unsigned long)&arg));
	munmap(arg.base, arg.n * 4096);
}
END_TEST

static long skip;
static uint64_t traps;

static void on_trap(int signo, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signo;
	(void)info;
	uc->uc_mcontext.gregs[REG_IP] += skip;
	traps++;
}

START_TEST(exceptions)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	uint64_t handler;

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	/* INT3 is executed and counted, so it gives the handler's length. */
	skip = 0;
	traps = 0;
	handler = (measure(INSTRUCTIONS, body_int3, 1) - (BODY_INT3(1) - 1));
	ck_assert_uint_eq(traps, 1);
	row("100 times INT3", "instructions", BODY_INT3(100) - 1 + 100 * handler,
	    measure(INSTRUCTIONS, body_int3, 100));
	/* UD2 is not counted. */
	skip = 2;
	row("100 times UD2", "instructions", BODY_UD2(100) - 1 + 100 * handler,
	    measure(INSTRUCTIONS, body_ud2, 100));
	skip = 0;
	traps = 0;
	row("single steps", "instructions", BODY_STEP(50) - 1 + STEP_TRAPS(50) * handler,
	    measure(INSTRUCTIONS, body_step, 50));
	ck_assert_uint_eq(traps, STEP_TRAPS(50));
}
END_TEST

START_TEST(code_that_changes)
{
	static const uint8_t code[] = {
		0x80, 0x05, 0x01, 0x00, 0x00, 0x00, 0x01,	/* addb $1, 8(%rip): below */
		0xb0, 0x00,					/* mov $?, %al */
#if defined(__x86_64__)
		0x48, 0xff, 0xcf,				/* dec %rdi */
		0x75, 0xf2,					/* jnz to the first */
#else
		0xff, 0x4c, 0x24, 0x04,				/* decl 4(%esp) */
		0x75, 0xf1,					/* jnz to the first */
#endif
		0xc3,						/* ret */
	};
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(page != MAP_FAILED);
	memcpy(page, code, sizeof(code));
#if !defined(__x86_64__)
	/* i386 has no address relative to %rip: it takes the address itself. */
	*(uint32_t *)(page + 2) = (uint32_t)(uintptr_t)(page + 8);
#endif
	row("code that changes itself, 100 times", "instructions", 400,
	    measure(INSTRUCTIONS, (body_fn *)(uintptr_t)page, 100));
	ck_assert_uint_eq(page[8], 100);
	munmap(page, 4096);
}
END_TEST

START_TEST(edge_invert_mask)
{
	unsigned long arg = (unsigned long)bytes;

	row("loop of 1,000", "instructions, mask 1", 2000,
	    measure(INSTRUCTIONS | CMASK(1), body_spin, 1000));
	row("loop of 1,000", "instructions, mask 2", 0,
	    measure(INSTRUCTIONS | CMASK(2), body_spin, 1000));
	row("loop of 1,000", "instructions, mask 2, inverted", 2000,
	    measure(INSTRUCTIONS | CMASK(2) | INV, body_spin, 1000));
	row("REP MOVSB, 64 times", "instructions, mask 1, inverted", 64,
	    measure(INSTRUCTIONS | CMASK(1) | INV, body_rep, arg));
	row("100 times sched_yield()", "cycles, edges", 100,
	    measure(pmu.cycles | EDGE | CMASK(1), body_yield, 100));
	row("loop of 1,000", "an event that there is not", 0,
	    measure(pmu.none, body_spin, 1000));
}
END_TEST

START_TEST(all_counters_at_once)
{
	unsigned int n = pmu.counters, i;
	uint64_t before[8], after[8];
	int fds[8];

	ck_assert_uint_le(n, 8);
	for (i = 0; i < n; i++)
		fds[i] = raw_open(i % 2 ? pmu.branches : INSTRUCTIONS);
	for (i = 0; i < n; i++)
		before[i] = perf_read_one(fds[i]);
	body_spin(100000);
	for (i = 0; i < n; i++)
		after[i] = perf_read_one(fds[i]);
	/* Each counter sees the loop, and a few hundred instructions of calls around it. */
	for (i = 0; i < n; i++) {
		ck_assert_uint_ne(before[i], UINT64_MAX);
		ck_assert_uint_ge(after[i] - before[i], i % 2 ? 100000 : 200000);
		ck_assert_uint_le(after[i] - before[i], i % 2 ? 101000 : 201000);
		close(fds[i]);
	}
}
END_TEST

/* RDPMC, the instructions, RDPMC: what the low half of the event's counter counts between */
#define BETWEEN_TWO_RDPMC(event, instructions)					\
({										\
	int own_fd = raw_open(event);						\
	const struct perf_event_mmap_page *own_page;				\
	unsigned long before, after;						\
										\
	own_page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, own_fd, 0);		\
	ck_assert(own_page != MAP_FAILED);					\
	ck_assert_uint_eq(own_page->cap_user_rdpmc, 1);				\
	__asm__ volatile("mov %2, %%ecx; rdpmc; mov %%eax, %%esi;"		\
			 instructions "mov %2, %%ecx; rdpmc"			\
			 : "=&S" (before), "=&a" (after)			\
			 : "r" (own_page->index - 1) : "ecx", "edx");		\
	munmap((void *)(uintptr_t)own_page, 4096);				\
	close(own_fd);								\
	(uint32_t)after - (uint32_t)before;					\
})

START_TEST(user_reads)
{
	/* Nothing else branches between. */
	row("two RDPMC around two jumps", "branches", 2,
	    BETWEEN_TWO_RDPMC(pmu.branches, "jmp 1f; 1: jmp 2f; 2: "));
	row("two RDPMC in one block", "instructions", 8,
	    BETWEEN_TWO_RDPMC(INSTRUCTIONS, "nop; nop; nop; nop; nop; "));
}
END_TEST

/* CPU 0's interrupts by /proc/interrupts, of all kinds that the APIC delivers */
static uint64_t interrupts_so_far(void)
{
	char line[512], *end;
	uint64_t sum = 0;
	FILE *file = fopen("/proc/interrupts", "re");

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		/* Machine checks and spurious interrupts are counted elsewhere. */
		if (!colon || strstr(line, "MCE") || strstr(line, "MCP") ||
		    strstr(line, "ERR") || strstr(line, "MIS"))
			continue;
		sum += strtoull(colon + 1, &end, 10);
	}
	(void)fclose(file);
	return sum;
}

START_TEST(interrupts)
{
	struct perf_event_attr attr;
	uint64_t outer, inner, counted;
	int fd;

	pin_self(0);
	raw_attr(&attr, pmu.interrupts, false);
	outer = interrupts_so_far();
	fd = perf_open(&attr, -1, 0, -1);
	ck_assert_int_ge(fd, 0);
	inner = interrupts_so_far();
	body_spin(20000000);
	inner = interrupts_so_far() - inner;
	counted = perf_read_one(fd);
	close(fd);
	outer = interrupts_so_far() - outer;
	printf("| interrupts of 40 ms | interrupts | %" PRIu64 " to %" PRIu64 " | %" PRIu64 " |\n",
	       inner, outer, counted);
	ck_assert_uint_ge(inner, 5);
	ck_assert_uint_ge(counted, inner);
	ck_assert_uint_le(counted, outer);
}
END_TEST

START_TEST(tlb_misses)
{
	struct body_touch_arg arg;
	uint64_t misses;

	if (!pmu.dtlb_store_misses)
		return;
	new_pages(&arg, 200);
	misses = measure(pmu.dtlb_store_misses, body_touch, (unsigned long)&arg);
	printf("| 200 new pages | dTLB misses of stores | at least 200 | %" PRIu64 " |\n", misses);
	ck_assert_uint_ge(misses, 200);
	/* The handler of page faults causes a few more misses. */
	ck_assert_uint_le(misses, 300);
	munmap(arg.base, arg.n * 4096);
}
END_TEST

START_TEST(two_at_once)
{
	uint64_t *counts = shared_alloc(2 * sizeof(*counts));
	pid_t pid[2];
	int i;

	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			uint64_t words[2] = { 0, 0 };
			int fd = raw_open(INSTRUCTIONS);

			pin_self(0);
			if (exact_read(fd, words, 8, body_yield, 1000 + 100 * (unsigned long)i) == 8)
				counts[i] = words[1] - words[0];
			_exit(0);
		}
	}
	for (i = 0; i < 2; i++)
		expect_exit(pid[i], 0);
	row("one of two on one CPU", "instructions", BODY_YIELD(1000) + EXACT_KERNEL, counts[0]);
	row("the other", "instructions", BODY_YIELD(1100) + EXACT_KERNEL, counts[1]);
}
END_TEST

#define PERIOD	100003
/* The loop ends halfway between two samples, so the code around it does not matter. */
#define LOOPS	1025000
#define RING	(9ul * 4096)

struct sample {
	struct perf_event_header header;
	uint64_t ip;
};

/*
 * The address of a sample is that of the instruction after the one that overflows. The loop
 * has two instructions, so with an odd period each sample has the other address.
 */
void samples(uint64_t event, const char *name, uint64_t loops, uint64_t period,
	     uint64_t expected)
{
	const volatile struct perf_event_mmap_page *page;
	const volatile struct sample *data;
	struct perf_event_attr attr;
	uint64_t n, i, skids = 0;
	char *ring;
	int fd;

	raw_attr(&attr, event, true);
	attr.pinned = 0;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	fd = perf_open(&attr, 0, -1, -1);
	ck_assert_int_ge(fd, 0);
	ring = mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(ring != MAP_FAILED);
	page = (const volatile struct perf_event_mmap_page *)ring;
	data = (const volatile struct sample *)(ring + 4096);
	(void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	body_spin(loops);
	(void)ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	n = page->data_head / sizeof(*data);
	ck_assert_uint_ge(n, 1);
	for (i = 1; i < n; i++) {
		uint64_t now = data[i].ip, before = data[i - 1].ip;

		ck_assert_uint_ge(now, (uintptr_t)body_spin);
		ck_assert_uint_le(now, (uintptr_t)body_spin + 8);
		if (event == INSTRUCTIONS)
			skids += (now != before) != (period % 2);
		else
			skids += now != before;
	}
	munmap(ring, RING);
	close(fd);
	row("samples of a loop", name, expected, n);
	row("samples that are not exactly there", name, 0, skids);
}

START_TEST(sampling)
{
	samples(INSTRUCTIONS, "instructions, period 100,003", LOOPS, PERIOD, 2 * LOOPS / PERIOD);
	samples(pmu.branches, "branches, period 100,003", LOOPS, PERIOD, LOOPS / PERIOD);
}
END_TEST

START_TEST(sampling_among_rivals)
{
	pid_t pid = fork();

	if (!pid) {
		pin_self(0);
		for (;;)
			body_yield(100);
	}
	pin_self(0);
	samples(INSTRUCTIONS, "instructions among rivals, period 100,003", LOOPS, PERIOD,
		2 * LOOPS / PERIOD);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

/* Overflows that come in the middle of a block of instructions */
START_TEST(sampling_tlb_misses)
{
	struct body_touch_arg arg;
	struct perf_event_mmap_page *page;
	struct perf_event_attr attr;
	uint64_t n;
	int fd;

	if (!pmu.dtlb_store_misses)
		return;
	new_pages(&arg, 1000);
	raw_attr(&attr, pmu.dtlb_store_misses, true);
	attr.pinned = 0;
	attr.sample_period = 50;	/* Linux: on a Nehalem at least 32 */
	attr.sample_type = PERF_SAMPLE_IP;
	fd = perf_open(&attr, 0, -1, -1);
	ck_assert_int_ge(fd, 0);
	page = mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(page != MAP_FAILED);
	body_touch((unsigned long)&arg);
	n = page->data_head / sizeof(struct sample);
	close(fd);
	munmap(page, RING);
	munmap(arg.base, arg.n * 4096);
	printf("| 1,000 new pages | samples of dTLB misses of stores, period 50 | at least 20 | %"
	       PRIu64 " |\n", n);
	ck_assert_uint_ge(n, 20);
	ck_assert_uint_le(n, 30);
}
END_TEST

/* How long the first CPU was idle, ns */
static uint64_t idle_time(void)
{
	unsigned long long idle = 0, wait = 0;
	FILE *stat = fopen("/proc/stat", "re");
	char line[256];

	while (stat && fgets(line, sizeof(line), stat))
		if (sscanf(line, "cpu0 %*u %*u %*u %llu %llu", &idle, &wait) == 2)
			break;
	if (stat)
		fclose(stat);
	return (idle + wait) * 1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK);
}

/* A halted CPU counts no cycles, and its counters do not keep it busy. */
START_TEST(sampling_an_idle_cpu)
{
	struct perf_event_attr attr;
	uint64_t n, idle;
	int fd;

	raw_attr(&attr, pmu.cycles, false);
	attr.sample_period = PERIOD;
	fd = perf_open(&attr, -1, 0, -1);
	ck_assert_int_ge(fd, 0);
	idle = idle_time();
	sleep_us(3000000);
	n = perf_read_one(fd);
	idle = idle_time() - idle;
	close(fd);
	/* The kernel may have had something to do. */
	ck_assert_uint_gt(idle, 1000000000);
	ck_assert_uint_lt(n, 3300000000 - (idle < 3000000000 ? idle : 3000000000));
}
END_TEST

int main(void)
{
	guest_begin("machine", NULL);
	find_pmu();
	printf("| processor of version %u, model %u: what happens | event | expected | counted |\n"
	       "| --- | --- | --- | --- |\n", pmu.version, pmu.model);
	if (pmu.amd_family) {
		amd_tests();
	} else {
		register_tests();
	}
	GUEST_RUN(loop, NEED_PERF);
	GUEST_RUN(system_calls, NEED_PERF);
	GUEST_RUN(repeated_strings, NEED_PERF);
	GUEST_RUN(page_faults, NEED_PERF);
	GUEST_RUN(exceptions, NEED_PERF);
	GUEST_RUN(code_that_changes, NEED_PERF);
	GUEST_RUN(edge_invert_mask, NEED_PERF);
	GUEST_RUN(all_counters_at_once, NEED_PERF);
	GUEST_RUN(user_reads, NEED_PERF);
	GUEST_RUN(interrupts, NEED_PERF);
	GUEST_RUN(tlb_misses, NEED_PERF);
	GUEST_RUN(two_at_once, NEED_PERF);
	GUEST_RUN(sampling, NEED_PERF);
	GUEST_RUN(sampling_among_rivals, NEED_PERF);
	GUEST_RUN(sampling_tlb_misses, NEED_PERF);
	GUEST_RUN(sampling_an_idle_cpu, NEED_PERF);
	if (!pmu.amd_family)
		topdown_tests();
	return guest_end();
}
