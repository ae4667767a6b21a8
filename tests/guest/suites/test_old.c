// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that were written for perfctr 2.6 (old/): they run, and what they print is right. Those of x86
 * know the types up to 22 alone, so later processors are reported as older ones.
 */
#define _GNU_SOURCE
#include <libperfctr.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/known.h"
#include "kit/loops.h"

#define OLD		"/usr/libexec/perfctr/old_"
#define NOT_SUPPORTED	77	/* old/old.h */

static char output[32768];

/* The type that they know */
static unsigned int known_type(void)
{
	if (is_x86() && guest.info.cpu_type >= PERFCTR_X86_AMD_FAM15H)
		return PERFCTR_X86_AMD_FAM10H;
	if (guest.info.cpu_type != PERFCTR_X86_INTEL_ARCH || !is_x86())
		return guest.info.cpu_type;
	return (guest.info.counters & 0x700000f) == 0x700000f ? PERFCTR_X86_INTEL_NHLM :
								  PERFCTR_X86_INTEL_CORE2;
}

static bool is_p5(void)
{
	return is_x86() && (known_type() == PERFCTR_X86_INTEL_P5 ||
			    known_type() == PERFCTR_X86_INTEL_P5MMX ||
			    known_type() == PERFCTR_X86_CYRIX_MII);
}

/* The word of theirs that says what is counted; a Pentium 4's, CCCR, says where that stands. */
static unsigned int word(void)
{
	if (is_p5())
		return 0x96;
	return is_p4() ? 0x39000 : EVNTSEL(EV_INSTRUCTIONS);
}

/* x86: counters that cannot leave out the kernel are of no use to them. */
static bool are_supported(void)
{
	if (is_x86() && !(guest.info.cpu_features & PERFCTR_FEATURE_FILTER))
		return false;
	return guest.nprogrammable != 0 && (known_type() != PERFCTR_X86_GENERIC || is_ppc());
}

/* As the first of the arguments, which are those of the program; its output is kept. */
static void run(const char *type, int expected, const char *const *argv)
{
	size_t len = 0;
	int ends[2], how;
	ssize_t n;
	pid_t pid;

	if (type)
		setenv("PERFCTR_CPU_TYPE", type, 1);
	else
		unsetenv("PERFCTR_CPU_TYPE");
	ck_ok(pipe(ends));
	ck_ok(pid = fork());
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(ends[1]);
	while ((n = read(ends[0], output + len, sizeof(output) - 1 - len)) > 0)
		len += (size_t)n;
	close(ends[0]);
	output[len] = '\0';
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	ck_assert_msg(WIFEXITED(how) && WEXITSTATUS(how) == expected, "%s: status 0x%x: %s", argv[0],
		      how, output);
}

static const char *old_type(void)
{
	if (known_type() == guest.info.cpu_type)
		return NULL;
	if (known_type() == PERFCTR_X86_AMD_FAM10H)
		return "FAM10H";
	return known_type() == PERFCTR_X86_INTEL_NHLM ? "NHLM" : "CORE2";
}

/* By a name in OLD; with counters, if there are any */
static void run_old(const char *path)
{
	const char *const argv[] = { path, NULL };

	run(old_type(), are_supported() ? 0 : NOT_SUPPORTED, argv);
}

/* How many lines "name number" there are, and how many of these have the number @wanted */
static unsigned int count_lines(const char *name, unsigned long long wanted, unsigned int *right)
{
	unsigned int n = 0;
	size_t len = strlen(name);
	const char *line;

	*right = 0;
	for (line = output; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		if (strncmp(line, name, len) != 0 || line[len] != ' ')
			continue;
		n++;
		*right += strtoull(line + len + 1, NULL, 10) == wanted;
	}
	return n;
}

static unsigned long long number(const char *name)
{
	char line[64];
	const char *found;

	(void)snprintf(line, sizeof(line), "%s ", name);
	found = !strncmp(output, line, strlen(line)) ? output : NULL;
	if (!found) {
		(void)snprintf(line, sizeof(line), "\n%s ", name);
		found = strstr(output, line);
	}
	ck_assert_msg(found != NULL, "no %s in: %s", name, output);
	return strtoull(found + strlen(line), NULL, 10);
}

/* @n lines, all of that number; those of inline reads but for one that was repeated because of a switch */
static void all_are(const char *name, unsigned int n, unsigned long long wanted, unsigned int repeated)
{
	unsigned int right, found = count_lines(name, wanted, &right);

	ck_assert_msg(found == n && right + repeated >= n, "%u of %u lines %s are %llu: %s", right,
		      found, name, wanted, output);
}

START_TEST(self)
{
	run_old(OLD "self");
	ck_assert_uint_gt(number("tsc"), 0);
	if (are_supported())
		all_are("instructions", 20, 20000, 2);
}
END_TEST

START_TEST(signal_at_each_overflow)
{
	unsigned int i, right;
	unsigned long long n;

	run_old(OLD "signal");
	n = number("overflows");
	ck_assert_uint_eq(n, 10);
	all_are("mask", 10, 1, 0);
	for (i = 1; i <= n; i++) {
		count_lines("sum", 100000ull * i, &right);
		ck_assert_msg(right == 1, "overflow %u: %s", i, output);
	}
}
END_TEST

/* Alone on a CPU, so that what is counted there is the program */
START_TEST(global)
{
	unsigned int right;

	pin_self(0);
	make_realtime();
	run_old(OLD "global");
	ck_assert_uint_eq(number("cpus"), guest.ncpus);
	ck_assert_uint_eq(number("started"), guest.ncpus);
	all_are("instructions", 20, 20000, 2);
	all_are("counters", guest.ncpus, 1, 0);
	ck_assert_uint_eq(count_lines("tsc", 0, &right), guest.ncpus);
	ck_assert_uint_eq(right, 0);
}
END_TEST

/* What stands before the program in its process drops out. */
START_TEST(perfex_with_a_passed_handle)
{
	const char *const known[] = { OLD "perfex", KNOWN_PATH, NULL };
	const char *const other[] = { OLD "perfex", KNOWN_OTHER_PATH, NULL };
	unsigned long long first;

	run(old_type(), are_supported() ? 0 : NOT_SUPPORTED, known);
	if (!are_supported())
		return;
	ck_assert_uint_gt(number("tsc"), 0);
	/* The control is that of a process which has ended. */
	ck_assert_uint_eq(number("event"), word());
	first = number("instructions");
	run(old_type(), 0, other);
	ck_assert_uint_eq(first - number("instructions"), 2ull * (KNOWN_LOOPS - KNOWN_OTHER_LOOPS));
}
END_TEST

START_TEST(perfex_shows_information)
{
	const char *const argv[] = { OLD "perfex", "-i", NULL };
	char line[64];

	run(old_type(), 0, argv);
	(void)snprintf(line, sizeof(line), "\ncpu_type\t\t%u (", known_type());
	ck_assert_msg(strstr(output, line) != NULL, "%s", output);
	ck_assert_ptr_nonnull(strstr(output, "\ncpus\t"));
}
END_TEST

START_TEST(garbage_collector)
{
	run_old(OLD "gc");
	ck_assert_uint_gt(number("tsc"), 0);
	if (!are_supported())
		return;
	all_are("instructions", 20, 10000, 2);
	all_are("collection", 20, 20000, 2);
}
END_TEST

START_TEST(attach)
{
	run_old(OLD "attach");
	ck_assert_uint_gt(number("tsc"), 0);
	ck_assert_uint_eq(number("counters"), are_supported());
	ck_assert_uint_eq(number("same"), 1);
	if (are_supported())
		ck_assert_uint_eq(number("instructions"), 20000);
}
END_TEST

START_TEST(threads)
{
	unsigned int i, right;

	run_old(OLD "threads");
	for (i = 0; are_supported() && i < 8; i++) {
		ck_assert_uint_eq(count_lines("instructions", 2ull * (99999 + i), &right), 8);
		ck_assert_msg(right == 1, "worker %u: %s", i, output);
	}
}
END_TEST

START_TEST(events_by_name)
{
	const char *const argv[] = { OLD "events", NULL };
	bool has_identifiers = is_x86() || is_ppc();

	run(old_type(), are_supported() && has_identifiers ? 0 : NOT_SUPPORTED, argv);
	ck_assert_uint_eq(number("type"), known_type());
	ck_assert_uint_eq(number("code"), 0xc0);
	if (!are_supported() || !has_identifiers)
		return;
	ck_assert_uint_gt(number("events"), 1);
	ck_assert_uint_eq(number("instructions"), 20000);
}
END_TEST

START_TEST(raw_information)
{
	const char *const argv[] = { OLD "info", NULL };

	run(old_type(), 0, argv);
	ck_assert_uint_eq(number("version"), PERFCTR_ABI_VERSION);
	ck_assert_uint_eq(number("type"), known_type());
	ck_assert_uint_eq(number("features"), guest.info.cpu_features);
	ck_assert_uint_eq(number("khz"), guest.info.cpu_khz);
	ck_assert_uint_eq(number("mult"), guest.info.tsc_to_cpu_mult);
	ck_assert_uint_eq(number("counters"), guest.info.nrctrs);
	ck_assert_uint_eq(number("driver"), 1);
	ck_assert_uint_eq(number("name"), 1);
}
END_TEST

/* A stop keeps sums, which preserve goes on from; any handle of a thread controls. */
START_TEST(performance_library)
{
	run_old(OLD "substrate");
	ck_assert_uint_eq(number("bad"), 0);
	if (!are_supported())
		return;
	all_are("instructions", 2, 20000, 0);
	all_are("preserved", 2, 20000, 0);
}
END_TEST

START_TEST(every_call)
{
	run_old(OLD "everything");
	ck_assert_uint_eq(number("bad"), 0);
}
END_TEST

/* Others than older types with these registers change nothing. */
START_TEST(other_types_are_ignored)
{
	const char *types[] = { "P5", "K8", "CORE", "ARCH", "nhlm", "", "22" };
	const char *const argv[] = { OLD "info", NULL };
	unsigned int i;

	if (is_amd())
		types[1] = "NHLM";

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		run(types[i], 0, argv);
		ck_assert_uint_eq(number("type"), guest.info.cpu_type);
	}
}
END_TEST

/* A later processor than they know: without the variable they say so. */
START_TEST(a_type_that_they_do_not_know)
{
	const char *const argv[] = { OLD "self", NULL };

	if (!old_type())
		return;
	run(NULL, NOT_SUPPORTED, argv);
	run(old_type(), 0, argv);
}
END_TEST

int main(void)
{
	/*
	 * Where there are no counters the programs count the clock alone: they see that by the
	 * type. A RISC-V may have the type and no counter that filters, and so has a WinChip.
	 */
	unsigned int need;

	guest_begin("old", NULL);
	need = guest.info.cpu_type == PERFCTR_RISCV_SBI || is_modeless() ? NEED_COUNTERS : 0;
	GUEST_RUN(self, need | AS_USER);
	GUEST_RUN(signal_at_each_overflow, NEED_COUNTERS | NEED_INTERRUPT | AS_USER);
	GUEST_RUN(global, NEED_COUNTERS);
	GUEST_RUN(perfex_with_a_passed_handle, need | AS_USER);
	GUEST_RUN(perfex_shows_information, AS_USER);
	GUEST_RUN(garbage_collector, need | AS_USER);
	GUEST_RUN(attach, need | AS_USER);
	GUEST_RUN(threads, need | AS_USER);
	GUEST_RUN(events_by_name, (is_modeless() ? NEED_COUNTERS : 0) | AS_USER);
	GUEST_RUN(raw_information, AS_USER);
	GUEST_RUN(performance_library, need | AS_USER);
	GUEST_RUN(every_call, need | AS_USER);
	GUEST_RUN(every_call, need);
	GUEST_RUN(other_types_are_ignored, AS_USER);
	GUEST_RUN(a_type_that_they_do_not_know, NEED_COUNTERS | NEED_X86 | AS_USER);
	return guest_end();
}
