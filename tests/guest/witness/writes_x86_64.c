// SPDX-License-Identifier: GPL-2.0
/*
 * usage: writes [-n OPERATIONS] [-s SEED]
 *
 * Writes random values to the registers of the emulated processor's counters, known ones and their
 * neighbours, while programs run and the counters count and interrupt. The machine must bear it:
 * it is for an emulator that checks itself (tests/machines/asan.sh). The module is not loaded.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64	/* AMD's registers are at 3 GB and more */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX 2u

static const struct {
	uint32_t first, last;
} ranges[] = {
	/* Intel's: counters, controls, fixed ones, global registers */
	{ 0x0c1, 0x0c8 }, { 0x186, 0x18d }, { 0x1a6, 0x1a7 }, { 0x309, 0x30c }, { 0x329, 0x329 },
	{ 0x345, 0x345 }, { 0x38d, 0x392 }, { 0x3f1, 0x3f7 }, { 0x4c1, 0x4c8 },
	/* The Pentium 4's: counters, CCCRs, ESCRs, replay tagging */
	{ 0x300, 0x311 }, { 0x360, 0x371 }, { 0x3a0, 0x3e1 }, { 0x3f1, 0x3f2 },
	/* The P5's and its clones' */
	{ 0x011, 0x013 },
	/* AMD's: those of the K7, of family 15h, and PerfMonV2's */
	{ 0xc0010000, 0xc0010007 }, { 0xc0010200, 0xc001020f }, { 0xc0000300, 0xc0000303 },
};

static const uint64_t telling[] = {
	0, UINT64_MAX, 0x4300c0, 0x5300c0, 0x530076, 0x53003c, 0x5300c4, 0x7fffffff, 0x80000000,
	0xffffffff, 0xffffffffffff, 0xfffffffffffe, 0xffffffffff00, 0x800000000000, 0xf00000003f,
	0x9600d6, 0x1d60056, 0x3f, 0x3, 0x333, 0xbbb, 1ull << 59, 0x30000530076, 0x10053c0c0,
	/*
	 * CCCRs: enabled, with an interrupt of each thread, with one at each event, with a threshold;
	 * waiting for another's overflow. ESCRs: instructions, cycles, replays, in all modes.
	 */
	0x4039000, 0xc03b000, 0xe039000, 0x70fb000, 0x44038000, 0xc0038800, 0xc039800,
	0x400020f, 0x2600020f, 0x1200020f, 0x400020c, 0x2600020c, 0xfff, 0x1000004,
};

#define DEBUGCTL	0x1d9u
#define DEBUGCTL_FREEZE	0x5800u	/* its bits that are not about tracing the kernel that runs */
#define EFER		0xc0000080u
#define EFER_SVME	(UINT64_C(1) << 12)

static uint64_t state;
static uint64_t done, refused;
static int registers[CPUS_MAX];

static uint64_t next_random(void)
{
	/* xorshift64* (Marsaglia, Vigna) */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

static uint64_t random_value(void)
{
	uint64_t value = next_random();

	switch (next_random() % 4) {
	case 0:
		return telling[value % (sizeof(telling) / sizeof(telling[0]))];
	case 1:
		return UINT64_C(1) << (value % 64);
	case 2: /* a counter that overflows soon */
		return -(value % 1000);
	default:
		return value;
	}
}

static uint32_t random_register(void)
{
	uint64_t r = next_random() % (sizeof(ranges) / sizeof(ranges[0]));

	return ranges[r].first +
	       (uint32_t)(next_random() % (ranges[r].last - ranges[r].first + 1));
}

static bool get(int fd, uint32_t msr, uint64_t *value)
{
	return pread(fd, value, sizeof(*value), msr) == sizeof(*value);
}

static void set(int fd, uint32_t msr, uint64_t value)
{
	done++;
	if (pwrite(fd, &value, sizeof(value), msr) != sizeof(value))
		refused++;
}

static void change_bits(int fd, uint32_t msr, uint64_t mask)
{
	uint64_t value;

	if (get(fd, msr, &value))
		set(fd, msr, (value & ~mask) | (next_random() & mask));
}

static void operate(unsigned int cpus)
{
	int fd = registers[next_random() % cpus];
	uint64_t value;

	switch (next_random() % 64) {
	case 0:
		change_bits(fd, DEBUGCTL, DEBUGCTL_FREEZE);
		break;
	case 1:
		change_bits(fd, EFER, EFER_SVME);
		break;
	case 2:
		sched_yield();
		break;
	case 3 ... 10:
		(void)get(fd, random_register(), &value);
		break;
	default:
		set(fd, random_register(), random_value());
	}
}

/* Modes change, and something is counted. */
static void keep_busy(void)
{
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		(void)getppid();
}

static int open_registers(unsigned int cpu)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	return open(path, O_RDWR | O_CLOEXEC);
}

int main(int argc, char **argv)
{
	uint64_t n = 1000000, seed = (uint64_t)time(NULL), i;
	unsigned int cpus = 0;
	int c, fd;

	while ((c = getopt(argc, argv, "n:s:")) != -1) {
		if (c == 'n')
			n = strtoull(optarg, NULL, 0);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else
			return EXIT_FAILURE;
	}
	state = seed * 2 + 1;
	fd = open("/lib/msr.ko", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)syscall(SYS_finit_module, fd, "allow_writes=on", 0);
	while (cpus < CPUS_MAX && (registers[cpus] = open_registers(cpus)) >= 0)
		cpus++;
	if (!cpus) {
		perror("/dev/cpu/0/msr");
		return EXIT_FAILURE;
	}
	printf("seed %" PRIu64 ", %u CPUs\n", seed, cpus);
	(void)fflush(stdout);
	keep_busy();
	keep_busy();
	for (i = 0; i < n; i++)
		operate(cpus);
	printf("%" PRIu64 " writes, of which %" PRIu64 " were refused\n", done, refused);
	return done > refused ? EXIT_SUCCESS : EXIT_FAILURE;
}
