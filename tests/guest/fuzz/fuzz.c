// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz: sequences of random calls, by a grammar of the ABI.
 *
 *	fuzz [-s SEED] [-n INPUTS] [-t SECONDS] [-f FILE] [-o FILE]
 *
 * An input is up to CALLS calls, each an operation of the table below and its arguments. A process
 * of its own executes it, and makes others. An input that executes code of the module that no input
 * before it did is kept; most inputs are others of those that were kept, with some calls changed.
 * machines/reach tells what was executed, in a module that is built for it (REACH=y); with another
 * one all inputs are random. -f executes the inputs of a file first, -o writes those that were kept.
 *
 * It fails if the kernel complains, if processes cannot be killed, if a call that is refused writes to
 * its structure what docs/abi.md does not say, or if a control that is refused changes the one in
 * force. It prints the input that did it, which -f takes.
 */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/guest.h"

#define KEPT 2000
#define INPUT_NS 1000000000ull	/* after that its processes are killed */
#define KILL_NS 120000000000ull	/* and after that they are gone */
#define COMPLAINTS (32 | 128 | 512 | 16384) /* /proc/sys/kernel/tainted: bad page, Oops, WARN, lockup */

struct shared *shared;

static void print_input(FILE *file, const struct input *input);

__attribute__((format(printf, 1, 2)))
void wrong(const char *format, ...)
{
	va_list args;

	if (atomic_exchange(&shared->failed, true))
		return;
	va_start(args, format);
	(void)printf("not ok fuzz: ");
	(void)vprintf(format, args);
	(void)printf("\n");
	va_end(args);
	print_input(stdout, &shared->input);
	(void)fflush(stdout);
}

/* --- inputs --- */

static uint64_t rng;

static uint32_t any(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)((rng * 0x2545f4914f6cdd1dull) >> 32);
}

static uint32_t below(uint32_t n)
{
	return n ? any() % n : 0;
}

static void random_call(struct call *call)
{
	uint32_t sum = 0, at, i;

	for (i = 0; i < nr_ops; i++)
		sum += ops[i].weight;
	at = below(sum);
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	call->op = i;
	for (i = 0; i < ARGS; i++)
		call->arg[i] = any();
}

static void random_input(struct input *input)
{
	unsigned int i;

	input->user = any() & 1;
	input->nr = 2 + below(CALLS - 2);
	for (i = 0; i < input->nr; i++)
		random_call(&input->call[i]);
	/* Without a handle nothing else is reached. */
	input->call[0] = (struct call){ 1, { 0, any() & 15 ? 1 : any(), 0xc0000006, any(), any(), 6 } };
}

static void mutate(struct input *input, const struct input *other)
{
	unsigned int n = 1 + below(4), at, from;
	struct call *call;

	while (n--) {
		at = below(input->nr);
		call = &input->call[at];
		switch (below(6)) {
		case 0:		/* another call more */
			if (input->nr == CALLS)
				break;
			memmove(call + 1, call, (input->nr++ - at) * sizeof(*call));
			random_call(call);
			break;
		case 1:
			if (input->nr < 3)
				break;
			memmove(call, call + 1, (--input->nr - at) * sizeof(*call));
			break;
		case 2:		/* the rest of another input */
			from = below(other->nr);
			while (at < CALLS && from < other->nr)
				input->call[at++] = other->call[from++];
			if (at > input->nr)
				input->nr = at;
			break;
		case 3: call->arg[below(ARGS)] ^= 1u << below(32); break;
		case 4: call->arg[below(ARGS)] = any(); break;
		default: random_call(call);
		}
	}
	if (!below(16))
		input->user ^= 1;
}

static void print_input(FILE *file, const struct input *input)
{
	unsigned int i, j;

	(void)fprintf(file, "%u", input->user);
	for (i = 0; i < input->nr; i++) {
		(void)fprintf(file, " %s", ops[input->call[i].op % nr_ops].name);
		for (j = 0; j < ARGS; j++)
			(void)fprintf(file, ",%x", input->call[i].arg[j]);
	}
	(void)fprintf(file, "\n");
}

static bool parse_input(char *line, struct input *input)
{
	char *word = strtok(line, " \n"), *at;
	unsigned int i, j;

	if (!word || (*word != '0' && *word != '1'))
		return false;
	input->user = *word == '1';
	for (input->nr = 0; input->nr < CALLS && (word = strtok(NULL, " \n")); input->nr++) {
		struct call *call = &input->call[input->nr];

		at = strchrnul(word, ',');
		for (i = 0; i < nr_ops && (strncmp(ops[i].name, word, (size_t)(at - word)) != 0 ||
					ops[i].name[at - word]); i++)
			;
		if (i == nr_ops)
			return false;
		call->op = i;
		for (j = 0; j < ARGS; j++)
			call->arg[j] = *at ? (uint32_t)strtoul(at + 1, &at, 16) : 0;
	}
	return input->nr > 0;
}

/* --- the conductor --- */

static struct input kept[KEPT];
static unsigned int nr_kept;

static long number_of(const char *path)
{
	char text[32] = "";

	return read_text(path, text, sizeof(text)) > 0 ? strtol(text, NULL, 10) : 0;
}

static long blocks(void)
{
	return number_of("/sys/module/reach/parameters/blocks");
}

/* All its processes are our children by now, or will be as their parents end. */
static void end_all(pid_t group)
{
	uint64_t until = now_ns() + KILL_NS;
	pid_t pid;

	for (;;) {
		(void)kill(-group, SIGKILL);
		while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
			;
		if (pid < 0)
			return;
		if (now_ns() > until) {
			wrong("a process cannot be killed");
			return;
		}
		sleep_us(200);
	}
}

static void execute(const struct input *input, long tainted)
{
	struct world world = { .end = input->nr, .alone = true };
	uint64_t until = now_ns() + INPUT_NS;
	siginfo_t info;
	unsigned int i;
	pid_t pid;

	shared->input = *input;
	(void)fflush(stdout);
	pid = fork();
	if (!pid) {
		(void)setpgid(0, 0);
		for (i = 0; i < FDS; i++)
			world.fd[i] = -1;
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, world.socket))
			_exit(0);
		if (input->user)
			become(GUEST_UID);
		begin(&world);
	}
	if (pid < 0) {
		wrong("fork: %s", strerror(errno));
		return;
	}
	(void)setpgid(pid, pid);
	info.si_pid = 0;
	while (!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid &&
	       now_ns() < until)
		sleep_us(100);
	end_all(pid);
	if ((number_of("/proc/sys/kernel/tainted") & ~tainted) & COMPLAINTS)
		wrong("the kernel complained");
}

static void keep(const struct input *input)
{
	kept[nr_kept < KEPT ? nr_kept++ : below(KEPT)] = *input;
}

static void next_input(struct input *input)
{
	if (!nr_kept || !below(8)) {
		random_input(input);
		return;
	}
	*input = kept[below(2) ? nr_kept - 1 - below(nr_kept < 20 ? nr_kept : 20) : below(nr_kept)];
	mutate(input, &kept[below(nr_kept)]);
}

/* Root's operations leave these. */
static void restore(void)
{
	(void)write_text(MODULE_PARAMS "user_read", "guarded");
	(void)write_text(MODULE_PARAMS "source", "any");
	if (shared->ncpus > 1)
		(void)cpu_online(1, true);
}

static bool find_shared(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
	return shared != MAP_FAILED;
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, n = ~0ull, done = 0, until, seconds = 60;
	const char *from = NULL, *to = NULL;
	static struct input input;
	long tainted, before;
	char line[CALLS * 80];
	FILE *file;
	int fd, opt;

	if (argc == 2 && !strcmp(argv[1], "--again")) {
		struct world world;

		if (!find_shared())
			return 1;
		world = shared->exec;
		memset((void *)world.map, 0, sizeof(world.map));
		memset(world.child, 0, sizeof(world.child));
		begin(&world);
	}
	while ((opt = getopt(argc, argv, "s:n:t:f:o:")) != -1) {
		switch (opt) {
		case 's': seed = number(optarg); break;
		case 'n': n = number(optarg); break;
		case 't': seconds = number(optarg); break;
		case 'f': from = optarg; break;
		case 'o': to = optarg; break;
		default:
			(void)fprintf(stderr, "usage: fuzz [-s SEED] [-n INPUTS] [-t SECONDS] [-f FILE] [-o FILE]\n");
			return 2;
		}
	}
	guest_begin("fuzz", NULL);
	fd = (int)syscall(SYS_memfd_create, "fuzz", 0);
	if (fd < 0 || ftruncate(fd, sizeof(*shared)) || dup2(fd, SHARED_FD) < 0 || !find_shared()) {
		(void)printf("not ok fuzz: memfd: %s\n", strerror(errno));
		return 1;
	}
	close(fd);
	shared->ncpus = guest.ncpus;
	shared->through_perf = guest.shared;
	shared->event[shared->nevents++] = own_event(EV_INSTRUCTIONS);
	shared->event[shared->nevents++] = own_event(EV_CYCLES);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	rng = seed * 0x9e3779b97f4a7c15ull + 1;
	tainted = number_of("/proc/sys/kernel/tainted");
	until = now_ns() + seconds * 1000000000ull;

	file = from ? fopen(from, "r") : NULL;
	while (file && !shared->failed && fgets(line, sizeof(line), file)) {
		if (!parse_input(line, &input)) {
			wrong("%s: this is no input", from);
			break;
		}
		execute(&input, tainted);
		keep(&input);
		done++;
	}
	if (file)
		(void)fclose(file);
	for (; n-- && now_ns() < until && !shared->failed; done++) {
		next_input(&input);
		before = blocks();
		execute(&input, tainted);
		if (blocks() > before)
			keep(&input);
		if (!(done % 100))
			restore();
	}
	restore();
	file = to ? fopen(to, "w") : NULL;
	for (unsigned int i = 0; file && i < nr_kept; i++)
		print_input(file, &kept[i]);
	if (file)
		(void)fclose(file);
	(void)printf("fuzz: seed %llu: %llu inputs, %llu calls, %llu refused, %ld blocks reached, %u inputs kept\n",
		     (unsigned long long)seed, (unsigned long long)done, (unsigned long long)shared->calls,
		     (unsigned long long)shared->refused, blocks(), nr_kept);
	if (shared->failed)
		return 1;
	(void)printf("ok fuzz\n");
	return 0;
}
