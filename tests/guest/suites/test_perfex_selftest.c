// SPDX-License-Identifier: GPL-2.0
/* perfex selftest: what it says of this machine. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/guest.h"
#include "kit/perfside.h"
#include "kit/registers.h"
#include "suites/perfex.h"

/* What follows the key, up to the end of the line */
static void says_line(const char *key, const char *value)
{
	size_t len = strlen(key);
	const char *s = result.out;

	while ((s = strstr(s, key))) {
		const char *v = s + len + strspn(s + len, " \t");

		if ((s == result.out || s[-1] == '\n') && v > s + len &&
		    !strncmp(v, value, strlen(value)) && v[strlen(value)] == '\n')
			return;
		s++;
	}
	ck_abort_msg("no line \"%s\" with \"%s\" in \"%.3000s\"", key, value, result.out);
}

static void says_setting(const char *key, const char *path)
{
	char value[64];

	if (read_text(path, value, sizeof(value)) <= 0)
		return;
	value[strcspn(value, "\n")] = '\0';
	says_line(key, value);
}

/* Few overflows, since each costs an emulated machine 10 us, and a short wait */
#define SELFTEST	"selftest", "--overflows", "20", "--watch", "2"

/* The section of that title says so in full, and not that it was not made. */
static void is_made(const char *title)
{
	const char *s = strstr(result.out, title), *end;
	char section[1024];

	ck_assert_msg(s != NULL, "no \"%s\" in \"%.3000s\"", title, result.out);
	end = strstr(s, "\n\n");
	ck_assert_ptr_nonnull(end);
	(void)snprintf(section, sizeof(section), "%.*s", (int)(end - s), s);
	says_not(section, "not made");
}

/*
 * The emulated P6's, AMD's and Pentium 4's, whose events CPUID does not tell of, have no caches, no bus, no stalls
 * and no such branches to count; the kernel names them all. In the report's order, and NULL
 */
static const char * const *lacked(void)
{
	static const char * const p6[] = {
		"bus-cycles", "cache-references", "cache-misses", "branch-misses", NULL
	};
	static const char * const zen[] = {
		"cache-references", "cache-misses", "branch-misses", NULL
	};

	/* The Pentium's have no names for them. */
	if (!is_x86() || !guest.info.counters || guest.info.events[0] || is_pentium())
		return p6 + 4;
	return is_amd() || is_p4() ? zen : p6;
}

static void says_deviations(unsigned int more)
{
	const char * const *name = lacked();
	char words[80];
	unsigned int n;

	for (n = 0; name[n]; n++) {
		(void)snprintf(words, sizeof(words),
			       "%u. %s counts 0 of a program that causes it", n + 1, name[n]);
		says(result.out, words);
	}
	n += more;
	(void)snprintf(words, sizeof(words), "\nVerdict: %u deviation%s", n, n > 1 ? "s" : "");
	says(result.out, words);
}

/* The emulated PowerPCs count neither, and not each has a name for both. */
static void says_ppc_counts_no_misses(void)
{
	static const char caches[] = "cache-misses counts 0 of a program that causes it";
	static const char branches[] = "branch-misses counts 0 of a program that causes it";
	bool both = guest.info.cpu_type == PERFCTR_PPC_7450;

	says(result.out, both ? "\nVerdict: 2 deviations" : "\nVerdict: 1 deviation");
	if (both || guest.info.cpu_type == PERFCTR_PPC_750)
		says(result.out, caches);
	if (guest.info.cpu_type != PERFCTR_PPC_750)
		says(result.out, branches);
}

static void says_whether_exact(void)
{
	if (!guest.info.counters && !(guest.info.cpu_features & PERFCTR_FEATURE_SHARED)) {
		says(result.out, "not made: perfctr counts no instructions here\n");
	} else if (guest.info.counters && !(guest.info.cpu_features & PERFCTR_FEATURE_FILTER)) {
		says(result.out, "not made: this processor counts user and kernel mode together\n");
	} else {
		says(result.out, "a loop of 2000000 instructions in user mode:\n");
		says_exact("at one go", 0);
		says_exact("over a switch", 40);
		is_made("a loop of 2000000 instructions in user mode:\n");
		/* QEMU's own RISC-V counts an event by one counter alone: perf's, or ours. */
		if (!geteuid() && !has_one_source() && !is_arm64() &&
		    !(guest.info.cpu_features & PERFCTR_FEATURE_PCINT) && guest.info.counters) {
			says(result.out, "\nVerdict: 2 deviations");
			says(result.out, "1. perf counts 0 of 2000000 instructions while perfctr");
			says(result.out, "2. perfctr counts 0 of 2000000 instructions while perf");
			return;
		}
		if (is_ppc() && guest.info.cpu_type != PERFCTR_PPC_604e) {
			says_ppc_counts_no_misses();
			return;
		}
		if (*lacked()) {
			says_deviations(0);
			return;
		}
		says(result.out, "\nVerdict: counts exactly");
		says_not(result.out, "deviation");
	}
}

static bool log_has_costs(void)
{
	int size = klogctl(10, NULL, 0), n;
	char *text = malloc((size_t)size + 1);
	bool has;

	ck_assert_ptr_nonnull(text);
	ck_ok(n = klogctl(3, text, size));
	text[n] = '\0';
	has = strstr(text, "perfctr: cost ");
	free(text);
	return has;
}

START_TEST(selftest)
{
	static const char name[] = "whose-machine";
	struct utsname uts;
	char kernel[256];

	ck_ok(uname(&uts));
	ck_ok(sethostname(name, strlen(name)));
	perfex_command(SELFTEST);
	ck_ok(sethostname(uts.nodename, strlen(uts.nodename)));
	ended_with(0);
	ck_assert_str_eq(result.err, "");
	(void)snprintf(kernel, sizeof(kernel), "Linux %s %s", uts.release, uts.machine);
	says_line("kernel", kernel);
	says_line("perfex", guest.info.driver_version);
	says_line("library", guest.info.driver_version);
	says_line("driver_version", guest.info.driver_version);
	says_line("user_read", is_modeless() ? "off" : "guarded");
	says(result.out, "\ncpus\t");
	if (is_arm64()) {
		says(result.out, "\nCPU part   ");
	} else if (is_ppc()) {
		says(result.out, "\ncpu   ");
		says(result.out, "\nrevision   ");
	} else if (!is_x86()) {
		says(result.out, "\nisa   ");
	} else {
		says(result.out, "\ncpu family   ");
		says(result.out, "\nmodel name   ");
		says(result.out, "\nstepping   ");
		says_line("hypervisor", "yes");
	}
	says_setting("nmi_watchdog", WATCHDOG);
	says_setting("perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid");
	says_setting("perf_user_access", "/proc/sys/kernel/perf_user_access");
	says_setting("rdpmc", "/sys/bus/event_source/devices/cpu/rdpmc");
	says(result.out, "\nSend this text to those who packaged or gave you perfctr.\n");
	/* The report does not say whose machine it is. */
	says_not(result.out, name);
	says_not(result.out, "root\n");
	if (!is_x86())
		says_not(result.out, "What instructions cost");
	else if (!log_has_costs())
		says(result.out, "not measured. To do so, as root: rmmod perfctr; modprobe perfctr measure=1\n");
	says_whether_exact();
}
END_TEST

START_TEST(selftest_as_user)
{
	ck_assert_int_eq(write_text("/proc/sys/kernel/dmesg_restrict", "1"), 0);
	become(GUEST_UID);
	perfex_command(SELFTEST, "-o", OUTPUT);
	ended_with(0);
	ck_assert_str_eq(result.out, "");
	(void)snprintf(result.out, sizeof(result.out), "%s", output());
	says_line("user_read", is_modeless() ? "off" : "guarded");
	if (is_x86())
		says(result.out, "the kernel's log cannot be read (Operation not permitted). Try as root\n");
	says_whether_exact();
}
END_TEST

/* It tells of the last load that measured, or could not. */
START_TEST(selftest_of_costs)
{
	unsigned int i;
	const char *s;
	int perf;

	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(module_unload_patiently(), 0);
		ck_assert_int_eq(module_load("measure=1"), 0);
		perfex_command(SELFTEST);
		ended_with(0);
		says(result.out, "What instructions cost, in cycles of the clock:\n  cost of RDTSC: ");
		says(result.out, " cycles\n  cost of CR4 read: ");
		s = strstr(result.out, "  cost of RDTSC: ");
		ck_assert_ptr_null(strstr(s + 1, "  cost of RDTSC: "));
		if (guest.nprogrammable)
			says(result.out, guest.info.cpu_type == PERFCTR_X86_INTEL_P5 ?
			     " cycles\n  cost of RDMSR of a counter: " :
			     " cycles\n  cost of RDPMC: ");
	}
	if (!guest.nprogrammable || !guest.perf)
		return;
	ck_ok(perf = perf_open_self(EV_INSTRUCTIONS));
	ck_assert_int_eq(module_unload_patiently(), 0);
	ck_assert_int_eq(module_load("measure=1"), 0);
	perfex_command(SELFTEST);
	close(perf);
	ended_with(0);
	says(result.out, "of the clock:\n  cost not measured: perf_events or the NMI watchdog has");
	says_not(result.out, "cost of");
	says_line("owner", "perf_events");
	says_line("source", "shared (through perf_events)");
	says_whether_exact();
}
END_TEST

START_TEST(selftest_while_the_watchdog_counts)
{
	ck_assert_int_eq(write_text(WATCHDOG, "1"), 0);
	perfex_command(SELFTEST);
	ck_assert_int_eq(write_text(WATCHDOG, "0"), 0);
	ended_with(0);
	says_line("nmi_watchdog", "1");
	says_line("owner", "the NMI watchdog");
	says_line("source", "shared (through perf_events)");
	says_whether_exact();
}
END_TEST

/* An event select is written to while they count, as somebody does who does not ask. */
START_TEST(selftest_of_somebody_else)
{
	unsigned int i;
	pid_t pid;

	pin_self(0);
	open_registers();
	ck_ok(pid = fork());
	if (!pid) {
		/* The self test watches for 10 seconds, and all else takes less than one. */
		for (i = 0;; i++) {
			sleep_us(100000);
			if (i > 50)
				(void)wrmsr(msr_evntsel(0), is_p4() ? (i & 7) << 13 : i);
		}
	}
	perfex_command("selftest", "--overflows", "20");
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ended_with(0);
	says(result.out, ": somebody else wrote to the counters' registers (firmware");
	says_deviations(1);
	ck_assert_int_eq(module_unload_patiently(), 0);
	(void)wrmsr(msr_evntsel(0), 0);
	ck_assert_int_eq(module_load(NULL), 0);
}
END_TEST

START_TEST(selftest_of_one_who_is_counted)
{
	perfex("-o", OUTPUT, "--", PERFEX, SELFTEST);
	ended_with(0);
	says(result.out, "not made: perfex is counted itself, by a perfex around it say\n");
}
END_TEST

START_TEST(selftest_that_cannot_be)
{
	static const char *const bad[][3] = {
		{ "'0' is not a number of overflows", "--overflows", "0" },
		{ "'0' is not a time to watch", "--watch", "0" },
		{ "there is no option '--json'", "--json" },
		{ "there is no option -e", "-e", "instructions:u" },
		{ "selftest runs no program, but there is one: '/bin/touch'", "/bin/touch", "/tmp/was-run" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		perfex_command("selftest", bad[i][1], bad[i][2]);
		ended_with(WRONG);
		says(result.err, bad[i][0]);
		ck_assert_str_eq(result.out, "");
		ck_assert_int_ne(access("/tmp/was-run", F_OK), 0);
	}
	perfex_command("selftest", "-o", "/nonexistent/file");
	ended_with(FAILED);
	says(result.err, "cannot write '/nonexistent/file'");
	perfex_command("selftest", "-o", "/dev/full");
	ended_with(FAILED);
	says(result.err, "cannot write the text: No space left on device");
}
END_TEST

void perfex_selftest(void)
{
	run_fresh(selftest, 0);
	run_fresh(selftest_as_user, 0);
	run_fresh(selftest_of_costs, NEED_X86 | NEED_NATIVE | NEED_RDTSC | LOG_MODULE);
	run_fresh(selftest_while_the_watchdog_counts, NEED_COUNTERS | NEED_X86 | NEED_PERF);
	run_fresh(selftest_of_somebody_else, NEED_COUNTERS | NEED_NATIVE | NEED_X86 | LOG_MODULE);
	run_fresh(selftest_of_one_who_is_counted, NEED_COUNTERS | AS_USER);
	run_fresh(selftest_that_cannot_be, AS_USER);
}
