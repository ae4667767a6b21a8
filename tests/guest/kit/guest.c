// SPDX-License-Identifier: GPL-2.0
/* The runner of the guest tests; see guest.h. */
#define _GNU_SOURCE
#include "kit/guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/loops.h"
#include "kit/pairs.h"
#include "kit/perfside.h"

#define TEST_TIMEOUT 300	/* seconds of the guest's own clock */
#define UNLOAD_PATIENCE_US 2000000
#define UNLOAD_POLL_US 1000

struct guest_facts guest;

static struct {
	const char *subject;
	const char *params;
	int kmsg;
	int passed;
	int failed;
	int skipped;
} run;

ssize_t read_text(const char *path, char *buf, size_t size)
{
	ssize_t len;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, buf, size - 1);
	if (len < 0)
		len = -errno;
	else
		buf[len] = '\0';
	close(fd);
	return len;
}

int write_text(const char *path, const char *text)
{
	int fd, err = 0;

	/* The policy may be what is written. */
	if (!strncmp(path, MODULE_PARAMS, strlen(MODULE_PARAMS)))
		pairs_look();
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

int module_load(const char *params)
{
	const char *more = getenv("PARAMS");
	char words[256] = MODULE_DEFAULTS;
	int fd, err = 0;

	(void)snprintf(words, sizeof(words), "%s %s %s", more ? more : "",
		       !params || params[0] ? "broadcasts=0" : "", params ? params : "");
	fd = open(PERFCTR_MODULE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, words, 0))
		err = -errno;
	close(fd);
	return err;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "perfctr", O_NONBLOCK) ? -errno : 0;
}

int module_unload_patiently(void)
{
	int waited, err;

	for (waited = 0; waited < UNLOAD_PATIENCE_US; waited += UNLOAD_POLL_US) {
		err = module_unload();
		if (err != -EWOULDBLOCK && err != -EBUSY)
			break;
		sleep_us(UNLOAD_POLL_US);
	}
	return err;
}

bool module_is_loaded(void)
{
	return access("/sys/module/perfctr", F_OK) == 0;
}

void become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid) || prctl(PR_SET_DUMPABLE, 1)) {
		perror("become");
		_exit(EXIT_FAILURE);
	}
}

static void become_user(void)
{
	become(GUEST_UID);
}

static void become_stranger(void)
{
	become(STRANGER_UID);
}

void pin_thread(pid_t tid, unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set)) {
		perror("sched_setaffinity");
		_exit(EXIT_FAILURE);
	}
}

void pin_self(unsigned int cpu)
{
	pin_thread(0, cpu);
}

pid_t kernel_thread(const char *name)
{
	char path[300], comm[64];
	struct dirent *entry;
	pid_t pid = 0;
	DIR *proc;

	proc = opendir("/proc");
	if (!proc)
		return 0;
	while (!pid && (entry = readdir(proc))) {
		(void)snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (read_text(path, comm, sizeof(comm)) <= 0)
			continue;
		comm[strcspn(comm, "\n")] = '\0';
		if (!strcmp(comm, name))
			pid = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	closedir(proc);
	return pid;
}

int cpu_online(unsigned int cpu, bool on)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return write_text(path, on ? "1" : "0");
}

void make_realtime(void)
{
	/* Above PREEMPT_RT's interrupts too, which are threads */
	struct sched_param param = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };

	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("sched_setscheduler");
		_exit(EXIT_FAILURE);
	}
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void sleep_us(unsigned int us)
{
	struct timespec ts = {
		.tv_sec = us / 1000000u,
		.tv_nsec = (long)(us % 1000000u) * 1000,
	};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

void until_given_back(void)
{
	if (is_beside())
		sleep_us(1500000);
}

void *shared_alloc(size_t size)
{
	void *mem;

	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED) {
		perror("mmap");
		_exit(EXIT_FAILURE);
	}
	return mem;
}

int wait_stop(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert_msg(WIFSTOPPED(status), "status %#x", (unsigned int)status);
	return WSTOPSIG(status);
}

pid_t exec_traced(const char *path)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			execl(path, path, NULL);
		_exit(99);
	}
	ck_assert_int_eq(wait_stop(pid), SIGTRAP);
	ck_ok(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	return pid;
}

void expect_exit(pid_t pid, int status)
{
	int how;

	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	ck_assert_msg(!WIFSIGNALED(how), "the child died of signal %d (%s)",
		      WTERMSIG(how), strsignal(WTERMSIG(how)));
	ck_assert_msg(WEXITSTATUS(how) == status, "the child exited with %d, expected %d",
		      WEXITSTATUS(how), status);
}

/* perf_event_open() is only a witness: that it counts at all is enough here. */
static bool perf_counts(void)
{
	struct perf_event_attr attr;
	uint64_t count = 0;
	int fd;

	/* Some counters cannot be restricted to user mode. */
	perf_attr_init(&attr, EV_INSTRUCTIONS);
	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	fd = perf_open(&attr, 0, -1, -1);
	if (fd < 0)
		return false;
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		count = 0;
	close(fd);
	return count != 0;
}

/* perf's samples need its overflow interrupt, which not every emulated machine delivers. */
static bool perf_takes_samples(void)
{
	struct perf_sampling sampling;
	uint64_t samples;

	if (!perf_sampling_begin(&sampling, EV_CYCLES, 100000))
		return false;
	body_spin(1000000);
	samples = perf_sampling_end(&sampling);
	return samples != 0;
}

/* The stock QEMU's RISC-V counts an event on one counter of a CPU: tests/machines/README.md, patch 5. */
static bool perf_counts_twice(void)
{
	uint64_t count = 0;
	int first = perf_open_self(EV_INSTRUCTIONS);
	int second = perf_open_self(EV_INSTRUCTIONS);

	if (first >= 0 && second >= 0 && read(second, &count, sizeof(count)) != sizeof(count))
		count = 0;
	close(first);
	close(second);
	return count != 0;
}

static void learn_facts(void)
{
	const char *source = getenv("SOURCE");
	cpu_set_t cpus;
	int dev;

	guest.ncpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	/* If CPUs are of several types perf may know that of CPU 0 only. */
	sched_getaffinity(0, sizeof(cpus), &cpus);
	pin_self(0);
	guest.perf = perf_counts();
	guest.samples = perf_takes_samples();
	guest.twice = perf_counts_twice();
	sched_setaffinity(0, sizeof(cpus), &cpus);
	guest.shared = source && !strcmp(source, "shared");
	guest.info.size = sizeof(guest.info);
	dev = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);
	if (dev < 0 || ioctl(dev, PERFCTR_IOC_INFO, &guest.info)) {
		printf("not ok %s: %s: %s\n", run.subject, PERFCTR_DEVICE, strerror(errno));
		exit(EXIT_FAILURE);
	}
	close(dev);
	/* Linux after 5.10 and until 7.2 at least: tests/machines/README.md */
	if (is_p4())
		guest.perf = false, guest.samples = false;
	if (guest.info.cpu_type == PERFCTR_RISCV_SBI)
		guest.nprogrammable = (unsigned int)__builtin_popcountll(guest.info.counters & ~7ull);
	else if (is_x86() && !is_modeless())
		/* A Pentium 4 counts instructions by the six of its last block alone. */
		guest.nprogrammable = is_p4() ? 6 :
			(unsigned int)__builtin_popcountll(guest.info.counters & 0xffffffull);
	else if (is_ppc())
		/* PMC5 and PMC6 count few events. */
		guest.nprogrammable = guest.info.nrctrs < 4 ? guest.info.nrctrs : 4;
	if (guest.shared && !guest.nprogrammable)
		guest.nprogrammable = guest.info.nrctrs;
}

/* What counters of perf's lack */
static const char *what_shared_lacks(uint64_t what)
{
	if (!(guest.info.cpu_features & PERFCTR_FEATURE_SHARED))
		return "perf_events counts nothing";
	if (what & NEED_USER_READ)
		return "perf's counters are not read in user mode";
	if (what & NEED_INTERRUPT)
		return "perf's counters do not interrupt for us";
	if (what & (NEED_FIXED | NEED_UNFILTERED | NEED_NARROW | NEED_EXTRA | NEED_LACKS |
		    NEED_TOPDOWN))
		return "perf chooses the registers";
	if (what & NEED_NO_BESIDE)
		return "perf_events counts beside us";
	if (what & NEED_NATIVE)
		return "it is about perfctr's own driver";
	return NULL;
}

void guest_begin(const char *subject, const char *params)
{
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	run.subject = subject;
	run.params = params;
	err = module_unload_patiently();
	if (err && err != -ENOENT) {
		printf("not ok %s: the module cannot be unloaded: %s\n", subject, strerror(-err));
		exit(EXIT_FAILURE);
	}
	err = module_load(params);
	if (err) {
		printf("not ok %s: %s: %s\n", subject, PERFCTR_MODULE, strerror(-err));
		exit(EXIT_FAILURE);
	}
	learn_facts();
	run.kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (run.kmsg < 0) {
		printf("not ok %s: /dev/kmsg: %s\n", subject, strerror(errno));
		exit(EXIT_FAILURE);
	}
}

bool is_rt(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

bool has_kprobes(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	bool found = false;
	char line[256];

	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, " register_kprobe\n") != NULL;
	if (f)
		fclose(f);
	return found;
}

static const char *what_is_missing(uint64_t what)
{
	const struct perfctr_kernel_info *info = &guest.info;

	if (guest.shared && what_shared_lacks(what))
		return what_shared_lacks(what);
	if ((what & NEED_COUNTERS) && is_modeless())
		return "counters count all modes";
	if ((what & NEED_COUNTERS) && !guest.shared &&
	    (!guest.nprogrammable || !(info->cpu_features & PERFCTR_FEATURE_FILTER)))
		return "no programmable counters";
	if ((what & NEED_SHARED) && !(info->cpu_features & PERFCTR_FEATURE_SHARED))
		return "perf_events counts nothing";
	if ((what & NEED_SHARED) && is_ppc() && !guest.shared)
		return "anybody could read perf's counters, so users get none";
	if ((what & NEED_SHARED) && guest.nprogrammable < 4)
		return "perf_events keeps the few counters from users";
	if ((what & NEED_FIXED) &&
	    (is_x86() || is_ppc() || (info->counters & 5) != 5))
		return "no fixed counters";
	if ((what & NEED_UNFILTERED) && (info->cpu_features & PERFCTR_FEATURE_FILTER_FIXED))
		return "the fixed counters filter";
	if ((what & NEED_USER_READ) && !(info->cpu_features & PERFCTR_FEATURE_RDPMC))
		return "counters cannot be read in user mode";
	if ((what & NEED_SMP) && guest.ncpus < 2)
		return "one CPU";
	if ((what & (NEED_PERF | NEED_SAMPLES)) && is_p4())
		return "perf_events counts wrong on this processor";
	if ((what & NEED_PERF) && !guest.perf)
		return "perf_event_open() counts nothing";
	if ((what & NEED_SAMPLES) && !guest.samples)
		return "perf_events takes no samples here, also alone";
	if ((what & NEED_INTERRUPT) && !(info->cpu_features & PERFCTR_FEATURE_PCINT))
		return "counters do not interrupt";
	if ((what & NEED_NAMESPACES) &&
	    (access("/proc/self/ns/pid", F_OK) || access("/proc/self/ns/user", F_OK)))
		return "a kernel without namespaces";
	if ((what & NEED_BESIDE) && has_one_source() && !guest.shared)
		return "perf_events has all counters or none";
	if ((what & NEED_NARROW) && (is_x86() || is_ppc()))
		return "counters are as wide as they are";
	if ((what & NEED_TLB_NAMES) && (is_x86() || is_ppc()))
		return "no names for events of TLBs";
	if ((what & NEED_TLB_NAMES) && is_arm64())
		return "this emulated processor counts no misses of TLBs";
	if ((what & NEED_X86) && !is_x86())
		return "not an x86";
	if ((what & NEED_ROOM) && guest.shared && is_ppc())
		return "perf_events has few counters, of one mode";
	if ((what & NEED_ROOM) && guest.shared && !guest.twice)
		return "the emulator counts an event on one counter at a time";
	if ((what & NEED_PERMISSION) && is_ppc())
		return "anybody reads registers in user mode";
	if ((what & NEED_EVNTSEL) && (is_pentium() || is_p4()))
		return "event selects are unlike the P6's";
	if ((what & NEED_NOISE) && is_p4())
		return "no event of the processor counts interrupts";
	if ((what & NEED_CYCLES) && is_x86() && (info->cpu_type == PERFCTR_X86_INTEL_P5 ||
					      info->cpu_type == PERFCTR_X86_CYRIX_MII))
		return "the processor has no event of cycles";
	if ((what & NEED_RDTSC) && !(info->cpu_features & PERFCTR_FEATURE_RDTSC))
		return "the clock is the kernel's";
	if ((what & NEED_RDTSC) && is_modeless())
		return "user mode reads nothing unless the parameter user_read is open";
	if ((what & NEED_MODELESS) && !is_modeless())
		return "counters filter by mode, or there are none";
	if ((what & NEED_LACKS) && !info->events[0])
		return "the processor does not tell which events it has";
	if ((what & NEED_EXTRA) &&
	    info->cpu_type != PERFCTR_X86_INTEL_NHLM && info->cpu_type != PERFCTR_X86_INTEL_WSTMR &&
	    info->cpu_type != PERFCTR_X86_INTEL_ARCH)
		return "no event has a register of its own";
	if ((what & NEED_EXTRA) && is_beside())
		return "events with a register of their own are perf's";
	if ((what & NEED_ALIKE) && (info->cpu_features & PERFCTR_FEATURE_HYBRID))
		return "CPUs of several types";
	if ((what & NEED_HYBRID) &&
	    (guest.ncpus < 2 || !(info->cpu_features & PERFCTR_FEATURE_HYBRID)))
		return "all CPUs are of one type";
	if ((what & NEED_TOPDOWN) && !(info->cpu_features & PERFCTR_FEATURE_TOPDOWN))
		return "no TopDown";
	if ((what & NEED_NO_BESIDE) && !has_one_source())
		return "perf_events can count beside us";
	if ((what & NEED_KPROBES) && !has_kprobes())
		return "the kernel has no kprobes";
	if ((what & NEED_NO_RT) && is_rt())
		return "PREEMPT_RT itself interrupts other CPUs often";
	if ((what & NEED_NO_INTERRUPT) && (info->cpu_features & PERFCTR_FEATURE_PCINT))
		return "counters interrupt";
	return NULL;
}

/*
 * The next record of the kernel log, or false at its end. A record is
 * "priority,sequence,time,flags;text\n", and continuation lines follow.
 */
static bool next_record(unsigned int *priority, char *text, size_t size)
{
	char record[4096];
	const char *start;
	ssize_t len;

	do {
		len = read(run.kmsg, record, sizeof(record) - 1);
	} while (len < 0 && errno == EPIPE);
	if (len <= 0)
		return false;
	record[len] = '\0';
	*priority = (unsigned int)strtoul(record, NULL, 10);
	start = strchr(record, ';');
	start = start ? start + 1 : record;
	(void)snprintf(text, size, "%.*s", (int)strcspn(start, "\n"), start);
	return true;
}

/* A message of the kernel that a test must not cause, or NULL */
static const char *log_complaint(uint64_t what)
{
	static const char *const alarms[] = {
		"WARNING", "BUG", "Oops", "nable to handle", "Call Trace", "rcu:", "hung",
		"soft lockup", "scheduling while atomic",
	};
	static char complaint[512];
	static bool race;	/* inside a report of KCSAN */
	const char *found = NULL;
	bool oom = false;
	unsigned int priority, i;
	char text[512];

	while (next_record(&priority, text, sizeof(text))) {
		/* This message comes if the host takes time from the emulator. */
		bool alarm = (what & LOG_SILENT) && !strstr(text, "hrtimer: interrupt took");

		/* Facility 0 is the kernel; others were written by processes. */
		if (priority >= 8 || found)
			continue;
		if (!(what & LOG_MODULE))
			alarm |= strstr(text, "perfctr") != NULL;
		for (i = 0; i < sizeof(alarms) / sizeof(alarms[0]); i++)
			alarm |= strstr(text, alarms[i]) != NULL;
		/* A data race may be the kernel's own: a person must look at KCSAN's reports. */
		if (strstr(text, "BUG: KCSAN"))
			race = true;
		else if (strstr(text, "===================="))
			alarm = race = false;
		if (race)
			alarm = false;
		/* The oom-killer's report has a stack. */
		if ((what & LOG_OOM) && strstr(text, "invoked oom-killer"))
			oom = true;
		if (oom && strstr(text, "Call Trace"))
			alarm = oom = false;
		if (alarm) {
			(void)snprintf(complaint, sizeof(complaint), "%s", text);
			found = complaint;
		}
	}
	return found;
}

/* One line, whatever the message of the test contains. */
static void flatten(char *text)
{
	for (; *text; text++)
		if (*text == '\n')
			*text = ' ';
}

/* For a person who looks for a bug: TESTS="name name" runs only these. */
static bool is_wanted(const char *name)
{
	const char *wanted = getenv("TESTS"), *found;
	size_t len = strlen(name);

	if (!wanted)
		return true;
	for (found = wanted; (found = strstr(found, name)); found += len)
		if ((found == wanted || found[-1] == ' ') &&
		    (found[len] == '\0' || found[len] == ' '))
			return true;
	return false;
}

void guest_run(const TTest *test, uint64_t what)
{
	const char *missing, *logged;
	TestResult **results;
	char why[1024] = "";
	SRunner *runner;
	TCase *tcase;
	Suite *suite;
	bool ok;

	if (!is_wanted(test->name))
		return;
	missing = what_is_missing(what);
	if (missing) {
		run.skipped++;
		printf("skipped %s.%s: %s\n", run.subject, test->name, missing);
		return;
	}
	while (log_complaint(LOG_MODULE))
		;

	suite = suite_create(run.subject);
	tcase = tcase_create(test->name);
	tcase_set_timeout(tcase, TEST_TIMEOUT);
	if (what & AS_USER)
		tcase_add_checked_fixture(tcase, become_user, NULL);
	if (what & AS_STRANGER)
		tcase_add_checked_fixture(tcase, become_stranger, NULL);
	tcase_add_checked_fixture(tcase, pairs_watch, pairs_look);
	tcase_add_test(tcase, test);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_FORK);
	pairs_test_begins();
	srunner_run_all(runner, CK_SILENT);

	results = srunner_results(runner);
	ok = srunner_ntests_failed(runner) == 0;
	if (!ok)
		(void)snprintf(why, sizeof(why), "%s:%d: %s", tr_lfile(results[0]),
			       tr_lno(results[0]), tr_msg(results[0]));
	logged = log_complaint(what);
	if (ok && logged) {
		ok = false;
		(void)snprintf(why, sizeof(why), "the kernel logged: %s", logged);
	}
	free((void *)results);
	srunner_free(runner);

	pairs_test_ended(ok);
	if (ok) {
		run.passed++;
		printf("ok %s.%s\n", run.subject, test->name);
		return;
	}
	run.failed++;
	flatten(why);
	printf("not ok %s.%s: %s\n", run.subject, test->name, why);
}

int guest_end(void)
{
	close(run.kmsg);
	/* The next program must not find a module that was loaded with parameters. */
	if (run.params && module_unload_patiently()) {
		run.failed++;
		printf("not ok %s.unload: the module is still in use\n", run.subject);
	}
	return run.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
