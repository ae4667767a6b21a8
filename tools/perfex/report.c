// SPDX-License-Identifier: GPL-2.0
/*
 * A text for people to send: what runs here, who has the counters, what the module
 * measured, and whether it counts exactly. Nothing in it tells who they are.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "perfex.h"

/* A line is as perfctr_info_print() has it. */
#define KEY "%-23s "

/* Of klogctl() */
#define SYSLOG_READ_ALL		3
#define SYSLOG_SIZE_BUFFER	10

/*
 * What the processor is
 */

/* Keys of /proc/cpuinfo; a value may have blanks. */
static bool is_wanted(const char *key)
{
	static const char *const keys[] = {
		"vendor_id", "cpu family", "model", "model name", "stepping", "microcode",
		"isa", "uarch", "mvendorid", "marchid", "mimpid",
		"CPU implementer", "CPU variant", "CPU part", "CPU revision",
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* Of the first CPU, as far as the first empty line. */
static void print_processor(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *value, *end;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 1) {
		value = strchr(line, ':');
		if (!value)
			continue;
		for (end = value; end > line && (end[-1] == '\t' || end[-1] == ' '); end--)
			;
		*end = '\0';
		value += strspn(value + 1, " ") + 1;
		if (is_wanted(line))
			printf(KEY "%s", line, value);
		/* The hypervisor decides about costs and counts. */
		else if (!strcmp(line, "flags") && strstr(value, " hypervisor"))
			printf(KEY "yes\n", "hypervisor");
	}
	free(line);
	if (f)
		fclose(f);
}

/*
 * Who else may have the counters
 */

static void print_settings(void)
{
	static const char *const files[][2] = {
		{ "nmi_watchdog", "/proc/sys/kernel/nmi_watchdog" },
		{ "perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid" },
		{ "perf_user_access", "/proc/sys/kernel/perf_user_access" },
		{ "rdpmc", "/sys/bus/event_source/devices/cpu/rdpmc" },
		{ "rdpmc of cpu_core", "/sys/bus/event_source/devices/cpu_core/rdpmc" },
	};
	char value[32];
	size_t i;
	FILE *f;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		f = fopen(files[i][1], "re");
		if (!f)
			continue;
		if (fgets(value, sizeof(value), f))
			printf(KEY "%.*s\n", files[i][0], (int)strcspn(value, "\n"), value);
		fclose(f);
	}
}

/*
 * What the module measured
 */

#if defined(__x86_64__) || defined(__i386__)

#define COST "perfctr: cost "

/* The kernel's log, or NULL */
static char *read_log(void)
{
	int size = klogctl(SYSLOG_SIZE_BUFFER, NULL, 0), n;
	char *log;

	if (size < 0)
		return NULL;
	log = malloc((size_t)size + 1);
	if (!log)
		return NULL;
	n = klogctl(SYSLOG_READ_ALL, log, size);
	if (n < 0) {
		free(log);
		return NULL;
	}
	log[n] = '\0';
	return log;
}

/* The module may have measured at each of several loads: the last one's first line counts. */
static const char *last_costs(const char *log)
{
	const char *found, *start = NULL;

	for (found = strstr(log, COST); found; found = strstr(found + 1, COST))
		if (!strncmp(found, COST "of RDTSC:", strlen(COST "of RDTSC:")) ||
		    !strncmp(found, COST "not", strlen(COST "not")))
			start = found;
	return start;
}

static void print_costs(void)
{
	char *log = read_log();
	const char *line = log ? last_costs(log) : NULL;

	printf("\nWhat instructions cost, in cycles of the clock:\n");
	if (!log)
		printf("  unknown: the kernel's log cannot be read (%s). Try as root\n",
		       strerror(errno));
	else if (!line)
		printf("  not measured. To do so, as root: rmmod perfctr; modprobe perfctr measure=1\n"
		       "  dmesg has it then, and so has perfex --report\n");
	for (; line; line = strstr(line + 1, COST))
		printf("  %.*s\n", (int)strcspn(line, "\n") - (int)strlen("perfctr: "),
		       line + strlen("perfctr: "));
	free(log);
}

#else

static void print_costs(void)
{
}

#endif

/*
 * The self-test
 */

#define RUNS	20
#define SHORT	1000ul			/* turns of the loop */
#define LONG	(SHORT + 1000000ul)
#define EXPECTED	(2 * (LONG - SHORT))

/* Two instructions each turn */
static void loop(unsigned long turns)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("1:	dec	%0\n"
			 "	jnz	1b" : "+r" (turns) : : "cc");
#elif defined(__riscv)
	__asm__ volatile("1:	addi	%0, %0, -1\n"
			 "	bnez	%0, 1b" : "+r" (turns));
#elif defined(__aarch64__)
	__asm__ volatile("1:	sub	%0, %0, #1\n"
			 "	cbnz	%0, 1b" : "+r" (turns));
#else
#error "a loop of known length for this architecture"
#endif
}

/* Off the CPU for a moment, and on again */
static void nap(void)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	(void)nanosleep(&ms, NULL);
}

/*
 * The count of so many turns and of the code around them. That code is always the same, so
 * the difference of two such counts is that of the turns alone.
 */
static __attribute__((noinline)) bool count_loop(int fd, unsigned long turns, bool sleeps,
						 struct perfctr_read *sums)
{
	struct perfctr_read before;

	if (_vperfctr_read_native(fd, &before) < 0)
		return false;
	loop(turns / 2);
	if (sleeps)
		nap();
	loop(turns / 2);
	if (_vperfctr_read_native(fd, sums) < 0)
		return false;
	sums->sum[0] -= before.sum[0];
	sums->soft.switches -= before.soft.switches;
	return true;
}

static void test_loop(int fd, bool sleeps, const char *what)
{
	uint64_t count, least = UINT64_MAX, most = 0, switches = 0;
	unsigned int run, exact = 0;
	struct perfctr_read base, sums;

	/* The first time takes longer: functions are bound, pages are fetched. */
	(void)count_loop(fd, SHORT, sleeps, &base);
	for (run = 0; run < RUNS; run++) {
		if (!count_loop(fd, SHORT, sleeps, &base) ||
		    !count_loop(fd, LONG, sleeps, &sums)) {
			printf("  %s: the counters cannot be read: %s\n", what, strerror(errno));
			return;
		}
		count = sums.sum[0] - base.sum[0];
		exact += count == EXPECTED;
		least = count < least ? count : least;
		most = count > most ? count : most;
		switches += base.soft.switches + sums.soft.switches;
	}
	printf("  %s: exact in %u of %u runs", what, exact, RUNS);
	if (exact < RUNS)
		printf(", counted were %" PRIu64 " to %" PRIu64, least, most);
	printf(" (%" PRIu64 " switches)\n", switches);
}

static void not_made(const char *why)
{
	printf("  not made: ");
	for (; *why; why++) {
		putchar(*why);
		if (*why == '\n')
			printf("  ");
	}
	putchar('\n');
}

static void self_test(const struct perfctr_info *info)
{
	struct perfctr_control control = {
		.source = PERFCTR_SOURCE_ANY,
		.tsc_on = 1,
		.nractrs = 1,
	};
	int fd;

	printf("\nSelf-test, a loop of %lu instructions in user mode:\n", EXPECTED);
	if (perfctr_event_parse(info->cpu_type, "instructions:u", &control.ctr[0]) < 0 ||
	    !perfctr_event_available(info, &control.ctr[0])) {
		not_made("perfctr counts no instructions here");
		return;
	}
	fd = _vperfctr_open(1);
	if (fd < 0) {
		not_made(errno == EEXIST ? "perfex is counted itself, by a perfex around it say" :
					   strerror(errno));
		return;
	}
	if (!_vperfctr_control_native(fd, &control)) {
		test_loop(fd, false, "at one go");
		test_loop(fd, true, "over a switch");
	} else if (errno == EBUSY) {
		not_made(why_busy(info, control.owner, control.reason));
	} else if (errno == EACCES && control.reason == PERFCTR_REASON_OPEN) {
		not_made(why_open());
	} else if (errno == EXDEV) {
		not_made(why_unbound());
	} else if (errno == EOPNOTSUPP) {
		not_made("this processor counts user and kernel mode together");
	} else {
		not_made(strerror(errno));
	}
	close(fd);
}

/* Whether that source can be had is seen by asking for a counter of it. */
static int try_source(const struct perfctr_info *info, unsigned int source,
		      struct perfctr_control *control)
{
	struct vperfctr *v = vperfctr_open();
	int ret = -1, err;

	*control = (struct perfctr_control){ .source = source, .nractrs = 1 };
	if (!v)
		return -1;
	if (!perfctr_event_parse(info->cpu_type, "instructions:u", &control->ctr[0]))
		ret = vperfctr_control_native(v, control);
	err = errno;
	if (!ret)
		(void)vperfctr_read_control_native(v, control);
	(void)vperfctr_unlink(v);
	vperfctr_close(v);
	errno = err;
	return ret;
}

/* Who has the processor's counters, and by what a program would be counted now */
static void print_sources(const struct perfctr_info *info)
{
	struct perfctr_control control;

	if (info->cpu_features & PERFCTR_FEATURE_NATIVE &&
	    try_source(info, PERFCTR_SOURCE_NATIVE, &control) < 0 && errno == EBUSY)
		printf("owner\t\t\t%s\n", perfctr_owner_name(control.owner));
	if (!try_source(info, PERFCTR_SOURCE_ANY, &control))
		printf("source\t\t\t%s\n", control.source == PERFCTR_SOURCE_SHARED ?
		       "shared (through perf_events)" : "native");
	else if (control.reason)
		printf("source\t\t\tnone: %s\n", perfctr_reason_name(control.reason));
	else
		printf("source\t\t\tnone: %s\n", strerror(errno));
}

void print_info(const struct perfctr_info *info)
{
	const char *why = why_no_driver(info);
	struct perfctr_cpus_info *cpus;
	FILE *dev;

	perfctr_info_print(info);
	if (why)
		printf("no_counters\t\t%s\n", why);
	dev = fopen(PERFCTR_DEVICE, "re");
	cpus = dev ? perfctr_cpus_info(fileno(dev)) : NULL;
	if (cpus)
		perfctr_cpus_info_print(cpus);
	free(cpus);
	if (dev)
		fclose(dev);
	print_sources(info);
}

void print_report(const struct perfctr_info *info)
{
	struct utsname uts;

	printf("perfctr report\n\n");
	printf(KEY PERFEX_VERSION "\n", "perfex");
	printf(KEY LIBPERFCTR_VERSION "\n", "library");
	if (!uname(&uts))
		printf(KEY "%s %s %s\n", "kernel", uts.sysname, uts.release, uts.machine);
	print_processor();
	print_info(info);
	print_settings();
	print_costs();
	self_test(info);
}
