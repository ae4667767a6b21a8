// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts of instructions without noise. Real x86 processors count one extra instruction in user
 * mode at each hardware interrupt and at each page fault (V. M. Weaver, D. Terpstra, S. Moore,
 * "Non-determinism and overcount on modern hardware performance counter implementations", ISPASS
 * 2013, the letters h and p in the table of nondeterministic events). Most of these processors have
 * an event for interrupts, so the extra instructions of interrupts can be subtracted.
 *
 * vperfctr_measure_correction() does not trust the papers. It counts code of known length while a
 * timer interrupts the code, and all counts must fit the same hypothesis.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define ALL_WRONG	((1u << PERFCTR_NOISE_HYPOTHESES) - 1)

void perfctr_noise_add(struct perfctr_noise *noise, unsigned long long instructions,
		       unsigned long long interrupts, unsigned long long length, int interrupted)
{
	unsigned int h;

	for (h = 0; h < PERFCTR_NOISE_HYPOTHESES; h++) {
		unsigned long long rest = instructions - h * interrupts - length;

		if (!noise->runs)
			noise->rest[h] = rest;
		else if (rest != noise->rest[h])
			noise->wrong |= 1u << h;
	}
	noise->seen += interrupted && interrupts;
	noise->runs++;
}

int perfctr_noise_is_known(const struct perfctr_noise *noise)
{
	return noise->wrong == ALL_WRONG || noise->seen >= PERFCTR_NOISE_INTERRUPTS;
}

int perfctr_noise_verdict(const struct perfctr_noise *noise)
{
	if (noise->wrong != ALL_WRONG && noise->seen < PERFCTR_NOISE_INTERRUPTS) {
		errno = ETIME;
		return -1;
	}
	/*
	 * If neither hypothesis is wrong, the event had the same count in all runs, so the event
	 * does not count interrupts.
	 */
	if (noise->wrong == ALL_WRONG || !noise->wrong) {
		errno = ERANGE;
		return -1;
	}
	return noise->wrong == 1u << 0;
}

int perfctr_noise_of_faults(unsigned long long more, unsigned long long faults)
{
	if (faults && (!more || more == faults))
		return more == faults;
	errno = ERANGE;
	return -1;
}

#if defined(__x86_64__) || defined(__i386__)

/*
 * The events that count hardware interrupts, and their sources:
 *  - P6, Core, Core 2: HW_INT_RX and HW_INT_RCV in the tables of events of Intel's SDM, volume 3B.
 *    The paper named above uses HW_INT_RCV on Core 2.
 *  - Nehalem and Westmere: HW_INT.RCV, which the paper uses.
 *  - Intel's later processors: HW_INTERRUPTS.RECEIVED. The paper uses it on Sandy Bridge and Ivy
 *    Bridge, and Linux's tools/perf/pmu-events has it since Skylake. The paper found no event on
 *    Atoms.
 *  - AMD: "Interrupts Taken", PMCx0CF in the BIOS and Kernel Developer's Guides, and PMCx02C in the
 *    Processor Programming References since Zen 2. The reference of the first Zen has no such
 *    event.
 *  - P5 and Cyrix: "Hardware Interrupts" in the SDM's table of the Pentium's events, and in Cyrix's
 *    data books.
 */
#define P5_INTERRUPTS	0x27

static const struct {
	unsigned int cpu_type;
	unsigned int event;
} interrupt_events[] = {
	{ PERFCTR_X86_INTEL_P5, P5_INTERRUPTS },
	{ PERFCTR_X86_INTEL_P5MMX, P5_INTERRUPTS },
	{ PERFCTR_X86_CYRIX_MII, P5_INTERRUPTS },
	{ PERFCTR_X86_INTEL_P6, 0xc8 },
	{ PERFCTR_X86_INTEL_PII, 0xc8 },
	{ PERFCTR_X86_INTEL_PIII, 0xc8 },
	{ PERFCTR_X86_INTEL_PENTM, 0xc8 },
	{ PERFCTR_X86_INTEL_CORE, 0xc8 },
	{ PERFCTR_X86_INTEL_CORE2, 0xc8 },
	{ PERFCTR_X86_INTEL_NHLM, 0x11d },
	{ PERFCTR_X86_INTEL_WSTMR, 0x11d },
	{ PERFCTR_X86_INTEL_ARCH, 0x1cb },
	{ PERFCTR_X86_AMD_K7, 0xcf },
	{ PERFCTR_X86_AMD_K8, 0xcf },
	{ PERFCTR_X86_AMD_K8C, 0xcf },
	{ PERFCTR_X86_AMD_FAM10H, 0xcf },
	{ PERFCTR_X86_AMD_FAM15H, 0xcf },
	{ PERFCTR_X86_AMD_ZEN2, 0x2c },
	{ PERFCTR_X86_AMD_ZEN4, 0x2c },
};

static unsigned int find_noise_event(unsigned int cpu_type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(interrupt_events); i++)
		if (interrupt_events[i].cpu_type == cpu_type)
			return interrupt_events[i].event;
	return 0;
}

/* The bits of an event select that are not part of the event: modes, interrupt, enable */
#define EVNTSEL_NOT_EVENT	0x00530000ull
#define EVNTSEL_INSTRUCTIONS	0xc0ull
/* In a half of the Pentium's CESR, the bits for modes are not part of the event. */
#define P5_NOT_EVENT		0xc0ull
#define P5_INSTRUCTIONS		0x16ull

static int counts_instructions(const struct vperfctr_correction *c,
			       const struct perfctr_ctr_control *ctr)
{
	if (ctr->flags & PERFCTR_CTR_PERF)
		return ctr->event == PERF_TYPE_HARDWARE &&
		       ctr->config == PERF_COUNT_HW_INSTRUCTIONS;
	if (c->interrupts.event == P5_INTERRUPTS)
		return (ctr->event & ~P5_NOT_EVENT) == P5_INSTRUCTIONS;
	return (ctr->event & ~EVNTSEL_NOT_EVENT) == EVNTSEL_INSTRUCTIONS;
}

#define PAGE	4096ul

/*
 * Executes two instructions a turn. spin() and touch() may not be inlined, because all runs must
 * execute the same code around the turns. (In Intel's syntax clang takes 1b for a binary number, so
 * the label is 2.)
 */
static __attribute__((noinline)) void spin(unsigned long turns)
{
	__asm__ volatile("2:	dec	%0\n"
			 "	jnz	2b" : "+r" (turns) : : "cc");
}

static __attribute__((noinline)) void touch(unsigned long at, unsigned long pages)
{
	__asm__ volatile("2:	{movb	$1, (%0)|mov	byte ptr [%0], 1}\n"
			 "	add	{%2, %0|%0, %2}\n"
			 "	dec	%1\n"
			 "	jnz	2b"
			 : "+r" (at), "+r" (pages) : "r" (PAGE) : "cc", "memory");
}

#define SHORT_TURNS	1000ul
#define LONG_TURNS	(SHORT_TURNS + 1000000ul)
#define SPIN_LENGTH(turns)	(2ull * (turns))
#define PAGES		32ul

enum { INSTRUCTIONS, INTERRUPTS, COUNTERS };

/*
 * Counts a call of touch() for @n pages at @at, or of spin() for @n turns if @at is 0. Both reads
 * are system calls of the thread, so no interrupt is being handled at a read.
 */
static __attribute__((noinline)) int count(int fd, unsigned long at, unsigned long n,
					   struct perfctr_read *sums)
{
	struct perfctr_read before;

	if (_vperfctr_read_native(fd, &before) < 0)
		return -1;
	if (at)
		touch(at, n);
	else
		spin(n);
	if (_vperfctr_read_native(fd, sums) < 0)
		return -1;
	sums->sum[INSTRUCTIONS] -= before.sum[INSTRUCTIONS];
	sums->sum[INTERRUPTS] -= before.sum[INTERRUPTS];
	sums->soft.minor_faults -= before.soft.minor_faults;
	return 0;
}

/* The timer expires after this time, which is shorter than a long run on any processor. */
#define TIMER_NS	50000

static int set_timer(int timer, long ns)
{
	const struct itimerspec once = { .it_value.tv_nsec = ns };

	return timerfd_settime(timer, 0, &once, NULL);
}

static int has_expired(int timer)
{
	unsigned long long times;

	return read(timer, &times, sizeof(times)) == sizeof(times);
}

static int count_spin(int fd, int timer, unsigned long turns, struct perfctr_noise *noise)
{
	struct perfctr_read sums;
	int early;

	if (set_timer(timer, turns == LONG_TURNS ? TIMER_NS : 0) < 0)
		return -1;
	early = has_expired(timer);
	if (count(fd, 0, turns, &sums) < 0)
		return -1;
	perfctr_noise_add(noise, sums.sum[INSTRUCTIONS], sums.sum[INTERRUPTS],
			  SPIN_LENGTH(turns), !early && has_expired(timer));
	return 0;
}

static unsigned long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000;
}

/* Returns the number of extra instructions that the processor counts at an interrupt, or -1. */
static int measure_interrupts(int fd)
{
	struct perfctr_noise noise = { .runs = 0 };
	unsigned long long end = now_ms() + 1000;
	struct perfctr_read sums;
	int timer, ret, err;

	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (timer < 0)
		return -1;
	/* The first run executes more: it binds functions and fetches pages. */
	ret = count(fd, 0, SHORT_TURNS, &sums);
	while (!ret && !perfctr_noise_is_known(&noise) && now_ms() < end) {
		ret = count_spin(fd, timer, SHORT_TURNS, &noise);
		if (!ret)
			ret = count_spin(fd, timer, LONG_TURNS, &noise);
	}
	if (!ret)
		ret = perfctr_noise_verdict(&noise);
	err = errno;
	close(timer);
	errno = err;
	return ret;
}

/*
 * Returns the number of extra instructions that the processor counts at a page fault, or -1.
 * Compares runs that touch pages for the first time and for the second time.
 */
static int measure_faults(int fd, unsigned int per_interrupt)
{
	const size_t size = PAGES * PAGE;
	struct perfctr_read first, again;
	unsigned long long more;
	void *pages;
	int ret;

	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return -1;
	/* With huge pages there would be fewer faults than pages. */
	(void)madvise(pages, size, MADV_NOHUGEPAGE);
	/* The first call of touch() executes more, so it is not used. */
	ret = count(fd, (unsigned long)pages, 1, &first);
	if (!ret)
		ret = count(fd, (unsigned long)pages, PAGES, &first);
	if (!ret)
		ret = count(fd, (unsigned long)pages, PAGES, &again);
	(void)munmap(pages, size);
	if (ret < 0)
		return -1;
	more = first.sum[INSTRUCTIONS] - again.sum[INSTRUCTIONS] -
	       per_interrupt * (first.sum[INTERRUPTS] - again.sum[INTERRUPTS]);
	return perfctr_noise_of_faults(more, first.soft.minor_faults - again.soft.minor_faults);
}

static int start(const struct vperfctr *v, unsigned int cpu_type, unsigned int source,
		 const struct perfctr_ctr_control *interrupts)
{
	struct perfctr_control control = {
		PERFCTR_CONTROL_INIT,
		.source = source,
		.nractrs = COUNTERS,
	};

	if (perfctr_event_parse(cpu_type, "instructions:u", &control.ctr[INSTRUCTIONS]) < 0)
		return -1;
	control.ctr[INTERRUPTS] = *interrupts;
	return vperfctr_control_native(v, &control);
}

int vperfctr_measure_correction(const struct vperfctr *v, unsigned int source,
				struct vperfctr_correction *c)
{
	struct perfctr_info info;
	int n, faults, err;

	memset(c, 0, sizeof(*c));
	if (vperfctr_info(v, &info) < 0)
		return -1;
	c->interrupts.event = find_noise_event(info.own_cpu_type);
	c->interrupts.map = PERFCTR_MAP_ANY;
	c->interrupts.flags = PERFCTR_CTR_USER;
	if (!c->interrupts.event) {
		errno = ENOENT;
		return -1;
	}
	if (start(v, info.own_cpu_type, source, &c->interrupts) < 0)
		return -1;
	n = measure_interrupts(v->fd);
	faults = n < 0 ? -1 : measure_faults(v->fd, (unsigned int)n);
	err = errno;
	(void)vperfctr_stop(v);
	errno = err;
	if (faults < 0)
		return -1;
	c->per_interrupt = (unsigned int)n;
	c->per_fault = (unsigned int)faults;
	return 0;
}

#else

static int counts_instructions(const struct vperfctr_correction *c,
			       const struct perfctr_ctr_control *ctr)
{
	(void)c;
	(void)ctr;
	return 0;
}

/* On other architectures no event is known to count interrupts. */
int vperfctr_measure_correction(const struct vperfctr *v, unsigned int source,
				struct vperfctr_correction *c)
{
	(void)v;
	(void)source;
	memset(c, 0, sizeof(*c));
	errno = ENOENT;
	return -1;
}

#endif

int vperfctr_add_correction(struct vperfctr_correction *c, struct perfctr_control *control)
{
	unsigned int i, n = control->nractrs;

	c->corrected = 0;
	if (control->nrictrs) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (n > PERFCTR_MAX_CTRS || (c->per_interrupt && n == PERFCTR_MAX_CTRS)) {
		errno = EINVAL;
		return -1;
	}
	for (i = 0; i < n; i++)
		if ((control->ctr[i].flags & (PERFCTR_CTR_USER | PERFCTR_CTR_KERNEL)) ==
		    PERFCTR_CTR_USER && counts_instructions(c, &control->ctr[i]))
			c->corrected |= 1ull << i;
	c->counter = n;
	if (c->per_interrupt && c->corrected)
		control->ctr[control->nractrs++] = c->interrupts;
	return 0;
}

static int is_corrected(const struct vperfctr_correction *c, unsigned int i)
{
	return c->per_interrupt && i < PERFCTR_MAX_CTRS && (c->corrected >> i & 1);
}

unsigned long long vperfctr_corrected(const struct vperfctr_correction *c,
				      const unsigned long long *counts, unsigned int i)
{
	return is_corrected(c, i) ? counts[i] - c->per_interrupt * counts[c->counter] : counts[i];
}

unsigned long long vperfctr_read_corrected(const struct vperfctr *v,
					   const struct vperfctr_correction *c, unsigned int i)
{
	unsigned long long before, count, after;

	if (!is_corrected(c, i))
		return vperfctr_read_pmc(v, i);
	/* An interrupt between the two reads is in only one of the counts, so read again. */
	do {
		before = vperfctr_read_pmc(v, c->counter);
		count = vperfctr_read_pmc(v, i);
		after = vperfctr_read_pmc(v, c->counter);
		if (before == PERFCTR_NO_COUNT || count == PERFCTR_NO_COUNT ||
		    after == PERFCTR_NO_COUNT)
			return PERFCTR_NO_COUNT;
	} while (before != after);
	return count - c->per_interrupt * before;
}
