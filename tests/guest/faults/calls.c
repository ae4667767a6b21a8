// SPDX-License-Identifier: GPL-2.0
/* Cases of faults: the calls of a thread that counts itself, and of trees. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/faults.h"
#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

/* --- scenes --- */

void renew_module(void)
{
	int err = module_unload_patiently();

	if (!err)
		err = module_load(NULL);
	if (err)
		die("the module, loaded anew: %s", strerror(-err));
}

void first_control(struct perfctr_control *control)
{
	control_init(control);
	control->tsc_on = 1;
	if (exact)
		control_add(control, EV_INSTRUCTIONS);
}

void open_only(struct scene *scene)
{
	scene->fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);
	if (scene->fd < 0)
		die("%s: %s", PERFCTR_DEVICE, strerror(errno));
}

static void with_state(struct scene *scene)
{
	scene->own = try_open(PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL);
	if (scene->own < 0)
		die("OPEN: %s", strerror(-scene->own));
	scene->fd = scene->own;
}

void with_counts(struct scene *scene)
{
	int err;

	with_state(scene);
	first_control(&scene->control);
	err = try_control(scene->own, &scene->control);
	if (err)
		die("CONTROL: %s", strerror(-err));
	/* What comes next, if the case is a CONTROL */
	scene->next = scene->control;
	if (exact) {
		control_add(&scene->next, EV_CYCLES);
		control_add(&scene->next, EV_DTLB_LOAD_MISSES);
		scene->next.preserve = 1;
	}
}

void with_flags(struct scene *scene, unsigned int flags)
{
	with_counts(scene);
	scene->control.flags = flags;
	if (try_control(scene->own, &scene->control))
		die("CONTROL with flags %#x", flags);
}

static void with_counts_and_device(struct scene *scene)
{
	with_counts(scene);
	open_only(scene);
}

static void with_next_full(struct scene *scene)
{
	with_state(scene);
	first_control(&scene->next);
	if (exact) {
		control_add(&scene->next, EV_CYCLES);
		control_add(&scene->next, EV_DTLB_LOAD_MISSES);
		control_add(&scene->next, EV_DTLB_STORE_MISSES);
	}
}

static void with_same(struct scene *scene)
{
	with_counts(scene);
	scene->next = scene->control;
	scene->next.preserve = 1;
}

static void with_stop(struct scene *scene)
{
	with_counts(scene);
	control_init(&scene->next);
	scene->next.preserve = 1;
}

/* With the clock off read(2) does not take its short way. */
static void with_counts_no_clock(struct scene *scene)
{
	with_counts(scene);
	if (!exact)
		return;
	scene->control.tsc_on = 0;
	if (try_control(scene->own, &scene->control))
		die("CONTROL without clock");
}

void with_tree(struct scene *scene)
{
	int status;
	pid_t pid;

	with_flags(scene, PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_KEEP);
	pid = fork();
	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("the descendant");
}

/* The next control makes a tree, or (below) lets user code read counters. */
static void with_next_inherit(struct scene *scene)
{
	with_counts(scene);
	scene->next.flags = PERFCTR_CONTROL_INHERIT;
}

static void with_next_raw(struct scene *scene)
{
	with_counts(scene);
	if (!guest.shared)
		scene->next.flags = CONTROL_RAW;
}

void add_period(struct perfctr_control *control, int64_t period)
{
	if (!interrupts)
		return;
	control_add_ictr(control, EV_CYCLES, -period);
	control->si_signo = SIGUSR1;
}

static void with_next_imode(struct scene *scene)
{
	with_counts(scene);
	scene->next = scene->control;
	add_period(&scene->next, 1ll << 40);
}

static void with_next_imode_inherit(struct scene *scene)
{
	with_next_imode(scene);
	scene->next.flags = PERFCTR_CONTROL_INHERIT;
}

static void with_imode_tree(struct scene *scene)
{
	with_tree(scene);
	add_period(&scene->control, 1ll << 40);
	if (try_control(scene->own, &scene->control))
		die("CONTROL with INHERIT and a period");
	if (!fork())
		_exit(0);
	(void)wait(NULL);
}

static void with_tree_and_next_imode(struct scene *scene)
{
	with_tree(scene);
	scene->next = scene->control;
	add_period(&scene->next, 1ll << 40);
}

/* The counters stay suspended, as the signal is ignored. */
static void with_overflow(struct scene *scene)
{
	with_counts(scene);
	(void)signal(SIGUSR1, SIG_IGN);
	add_period(&scene->control, 100000);
	if (try_control(scene->own, &scene->control))
		die("CONTROL with a period");
	body_spin(60000);
}

/* The next control ends the tree. */
static void with_tree_and_next(struct scene *scene)
{
	with_tree(scene);
	scene->next = scene->control;
	scene->next.flags = 0;
	scene->next.preserve = 1;
}

static void with_map(struct scene *scene)
{
	with_counts(scene);
	scene->page = (void *)(uintptr_t)try_map(scene->own);
	if (!scene->page)
		die("mmap: %s", strerror(errno));
}

/* The state of a child that has exited. Its handle stays open: the child shares open files. */
static int dead_child(void *arg)
{
	with_counts(arg);
	return 0;
}

static void with_dead(struct scene *scene)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct scene child = *scene;
	int status;
	pid_t pid;

	pid = clone(dead_child, stack + sizeof(stack), CLONE_VM | CLONE_FILES | SIGCHLD, &child);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("the child that was to die");
	scene->fd = child.fd;
}

/* --- calls --- */

static long call_open_device(struct scene *scene)
{
	int fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		if (scene->fd >= 0)
			close(scene->fd);
		scene->fd = fd;
	}
	return fd < 0 ? -1 : 0;
}

static long call_info(struct scene *scene)
{
	struct perfctr_kernel_info info = { .size = sizeof(info) };

	return ioctl(scene->fd, PERFCTR_IOC_INFO, &info);
}

static long call_cpus(struct scene *scene)
{
	uint32_t mask[8];
	struct perfctr_cpus cpus = {
		.size = sizeof(cpus),
		.nrwords = 8,
		.mask = (uint64_t)(uintptr_t)mask,
	};

	return ioctl(scene->fd, PERFCTR_IOC_CPUS, &cpus);
}

static long call_open(struct scene *scene)
{
	struct perfctr_open arg = { .size = sizeof(arg), .flags = PERFCTR_OPEN_CREAT };

	return ioctl(scene->fd, PERFCTR_IOC_OPEN, &arg);
}

long call_control(struct scene *scene)
{
	return ioctl(scene->fd, PERFCTR_IOC_CONTROL, &scene->next);
}

static long call_read(struct scene *scene)
{
	struct perfctr_read rd = { .size = sizeof(rd) };

	return ioctl(scene->fd, PERFCTR_IOC_READ, &rd);
}

/* A structure longer than the module knows: a second copy clears the rest. */
static long call_read_long(struct scene *scene)
{
	struct {
		struct perfctr_read rd;
		uint64_t more[40];
	} arg = { .rd.size = sizeof(arg) };

	return ioctl(scene->fd, PERFCTR_IOC_READ, &arg);
}

static long call_read_words(struct scene *scene)
{
	uint64_t words[1 + PERFCTR_MAX_CTRS];

	return read(scene->fd, words, sizeof(words)) < 0 ? -1 : 0;
}

static long call_read_control(struct scene *scene)
{
	struct perfctr_control control = { PERFCTR_CONTROL_INIT };

	return ioctl(scene->fd, PERFCTR_IOC_READ_CONTROL, &control);
}

static long call_unlink(struct scene *scene)
{
	return ioctl(scene->fd, PERFCTR_IOC_UNLINK);
}

static long call_read_tree(struct scene *scene)
{
	struct perfctr_read_tree tree = { .size = sizeof(tree), .which = 7 };

	return ioctl(scene->fd, PERFCTR_IOC_READ_TREE, &tree);
}

static long call_next_member(struct scene *scene)
{
	struct perfctr_member member = { .size = sizeof(member) };

	return ioctl(scene->fd, PERFCTR_IOC_NEXT_MEMBER, &member);
}

static long call_suspend(struct scene *scene)
{
	return ioctl(scene->fd, PERFCTR_IOC_SUSPEND);
}

long call_resume(struct scene *scene)
{
	return ioctl(scene->fd, PERFCTR_IOC_RESUME);
}

static void with_stopped(struct scene *scene)
{
	with_counts(scene);
	if (call_suspend(scene))
		die("SUSPEND");
}

static void with_stopped_tree(struct scene *scene)
{
	with_tree(scene);
	if (call_suspend(scene))
		die("SUSPEND of a tree");
}

static long call_iresume(struct scene *scene)
{
	long ret = ioctl(scene->fd, PERFCTR_IOC_IRESUME, 0);

	/* There is nothing to resume where nothing interrupts. */
	return ret && !interrupts && errno == EINVAL ? 0 : ret;
}

static long call_refresh(struct scene *scene)
{
	long ret = ioctl(scene->fd, PERFCTR_IOC_REFRESH, 5);

	return ret && !interrupts && errno == EINVAL ? 0 : ret;
}

static long call_mmap(struct scene *scene)
{
	void *page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, scene->fd, 0);

	if (page == MAP_FAILED)
		return -1;
	scene->page = page;
	return 0;
}

static long call_munmap(struct scene *scene)
{
	long ret = munmap(scene->page, PAGE_SIZE);

	if (!ret)
		scene->page = NULL;
	return ret;
}

static long call_mremap(struct scene *scene)
{
	void *to = mmap(NULL, PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *page;

	if (to == MAP_FAILED)
		return -1;
	page = mremap(scene->page, PAGE_SIZE, PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (page == MAP_FAILED) {
		int err = errno;

		munmap(to, PAGE_SIZE);
		errno = err;
		return -1;
	}
	scene->page = page;
	return 0;
}

long call_fork(struct scene *scene)
{
	const struct perfctr_page *page = scene->page;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -1;
	if (!pid)
		_exit(page && page->seq >= 0);
	while (waitpid(pid, &status, 0) < 0)
		;	/* EFAULT: the status could not be stored */
	return 0;
}

static long call_fdinfo(struct scene *scene)
{
	char path[64], text[512];
	ssize_t got;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", scene->fd);
	got = read_text(path, text, sizeof(text));
	if (got < 0) {
		errno = (int)-got;
		return -1;
	}
	return 0;
}

long call_close(struct scene *scene)
{
	int fd = scene->fd;

	scene->fd = -1;
	if (scene->own == fd)
		scene->own = -1;
	return close(fd);
}

/* --- checks --- */

const char *in_force(int fd, const struct perfctr_control *control)
{
	static char why[160];
	struct perfctr_control now = { PERFCTR_CONTROL_INIT };
	unsigned int nr = control->nractrs + control->nrictrs;
	bool counts_something = nr || control->tsc_on;
	struct perfctr_read rd;
	int err;

	/* With one that counts nothing the sums of the one before stay. */
	err = try_read(fd, &rd);
	if (err || (counts_something && rd.nrctrs != nr) || !(rd.flags & PERFCTR_READ_ATTACHED)) {
		(void)snprintf(why, sizeof(why), "READ: %s, %u counters, flags %#x",
			       strerror(-err), rd.nrctrs, rd.flags);
		return why;
	}
	if (ioctl(fd, PERFCTR_IOC_READ_CONTROL, &now))
		return "READ_CONTROL fails";
	if (now.nractrs != control->nractrs || now.nrictrs != control->nrictrs ||
	    now.tsc_on != control->tsc_on || now.flags != control->flags)
		return "another control is in force";
	return NULL;
}

const char *compare_counts(uint64_t count, uint64_t expected)
{
	static char why[160];

	if (count == expected)
		return NULL;
	(void)snprintf(why, sizeof(why), "counted %llu instructions, expected %llu",
		       (unsigned long long)count, (unsigned long long)expected);
	return why;
}

const char *counts(const struct scene *scene, const struct perfctr_control *control)
{
	uint64_t words[2][1 + PERFCTR_MAX_CTRS];
	const char *wrong = in_force(scene->own, control);

	if (wrong || !control->nractrs)
		return wrong;
	if (exact_read(scene->own, words[0], sizeof(words[0]), body_spin, 1000) < 0)
		return "read(2) fails";
	return compare_counts(words[1][1] - words[0][1], EXACT_KERNEL + BODY_SPIN(1000));
}

bool is_handle(int fd)
{
	return ioctl(fd, PERFCTR_IOC_UNLINK) == 0 || errno != ENOTTY;
}

const char *check_unchanged(struct scene *scene, bool done)
{
	(void)done;
	return scene->own >= 0 ? counts(scene, &scene->control) : NULL;
}

const char *check_control(struct scene *scene, bool done)
{
	return counts(scene, done ? &scene->next : &scene->control);
}

static const char *check_open(struct scene *scene, bool done)
{
	int fd = try_open(0);

	if (done) {
		if (fd < 0)
			return "there is no state";
		close(fd);
		if (try_control(scene->fd, &scene->control))
			return "what OPEN gave is no handle";
		return NULL;
	}
	if (fd >= 0) {
		close(fd);
		return "a state has been made";
	}
	return is_handle(scene->fd) ? "the file has become a handle" : NULL;
}

static const char *check_open_again(struct scene *scene, bool done)
{
	if (is_handle(scene->fd) != done)
		return done ? "what OPEN gave is no handle" : "the file has become a handle";
	return counts(scene, &scene->control);
}

static const char *check_unlink(struct scene *scene, bool done)
{
	int fd;

	if (!done)
		return counts(scene, &scene->control);
	fd = try_open(0);
	if (fd < 0)
		return NULL;
	close(fd);
	return "the state is still there";
}

static const char *check_stopped(struct scene *scene, bool done)
{
	if (done && call_resume(scene))
		return "RESUME fails";
	return counts(scene, &scene->control);
}

static const char *check_resumed(struct scene *scene, bool done)
{
	if (!done && call_resume(scene))
		return "RESUME fails afterwards";
	return counts(scene, &scene->control);
}

/* There is one more descendant, or READ_TREE says that one was missed. */
static const char *check_tree(struct scene *scene, bool done)
{
	struct perfctr_read_tree tree = { .size = sizeof(tree), .which = 7 };
	int err = ioctl(scene->fd, PERFCTR_IOC_READ_TREE, &tree) ? errno : 0;

	if (tree.missed ? err != EIO || tree.error != PERFCTR_ERROR_MEMORY : err)
		return "READ_TREE does not say what was missed";
	/* The child was waited for, so its state has ended. */
	if (tree.live || tree.ended + tree.missed != 1 + (unsigned int)done)
		return "a descendant is neither there nor missed";
	return counts(scene, &scene->control);
}

/* CONTROL with or without INHERIT: there is a tree, or none. */
static const char *check_inherits(struct scene *scene, bool done)
{
	const struct perfctr_control *control = done ? &scene->next : &scene->control;
	bool tree = !call_read_tree(scene);

	if (tree != ((control->flags & PERFCTR_CONTROL_INHERIT) != 0))
		return tree ? "there is a tree" : "there is no tree";
	return counts(scene, control);
}

/* The spare has the shape of the control that is in force, whichever that is. */
const char *check_inherits_and_forks(struct scene *scene, bool done)
{
	if (call_fork(scene))
		return "fork fails";
	return check_inherits(scene, done);
}

static const char *check_nothing(struct scene *scene, bool done)
{
	(void)scene;
	(void)done;
	return NULL;
}

const struct fault_case own_cases[] = {
	{ "open_device", with_counts, call_open_device, check_nothing, 0, 0 },
	{ "info", with_counts, call_info, check_unchanged, 0, 0 },
	{ "info_device", open_only, call_info, check_nothing, 0, 0 },
	{ "cpus", with_counts, call_cpus, check_unchanged, 0, 0 },
	{ "open_create", open_only, call_open, check_open, 0, 0 },
	{ "open_again", with_counts_and_device, call_open, check_open_again, 0, 0 },
	{ "control_first", with_next_full, call_control, check_control, 0, 0 },
	{ "control_other", with_counts, call_control, check_control, 0, 0 },
	{ "control_same", with_same, call_control, check_control, 0, 0 },
	{ "control_stop", with_stop, call_control, check_control, 0, 0 },
	{ "control_inherit", with_next_inherit, call_control, check_inherits, 0, 0 },
	{ "control_inherit_no_more", with_tree_and_next, call_control, check_inherits, 0, 0 },
	{ "control_raw", with_next_raw, call_control, check_control, 0, 0 },
	{ "suspend", with_counts, call_suspend, check_stopped, 0, 0 },
	{ "resume", with_stopped, call_resume, check_resumed, 0, 0 },
	{ "suspend_tree", with_tree, call_suspend, check_stopped, 0, 0 },
	{ "resume_tree", with_stopped_tree, call_resume, check_resumed, 0, 0 },
	{ "read_tree", with_tree, call_read_tree, check_unchanged, 0, 0 },
	{ "next_member", with_tree, call_next_member, check_unchanged, 0, 0 },
	{ "read", with_counts, call_read, check_unchanged, 0, 0 },
	{ "read_longer", with_counts, call_read_long, check_unchanged, 0, 0 },
	{ "read_of_the_dead", with_dead, call_read, check_nothing, 0, 0 },
	{ "read2", with_counts, call_read_words, check_unchanged, 0, 0 },
	{ "read2_no_clock", with_counts_no_clock, call_read_words, check_unchanged, 0, 0 },
	{ "read2_of_the_dead", with_dead, call_read_words, check_nothing, 0, 0 },
	{ "read_control", with_counts, call_read_control, check_unchanged, 0, 0 },
	{ "unlink", with_counts, call_unlink, check_unlink, 0, 0 },
	{ "control_imode", with_next_imode, call_control, check_control, 0, 0 },
	{ "control_imode_inherit", with_next_imode_inherit, call_control, check_inherits, 0, 0 },
	{ "control_imode_in_tree", with_tree_and_next_imode, call_control,
	  check_inherits_and_forks, 0, 0 },
	{ "iresume", with_overflow, call_iresume, check_unchanged, 0, 0 },
	{ "refresh", with_overflow, call_refresh, check_unchanged, 0, 0 },
	{ "mmap_first", with_counts, call_mmap, check_unchanged, 0, 0 },
	{ "mmap_again", with_map, call_mmap, check_unchanged, 0, 0 },
	{ "mmap_of_the_dead", with_dead, call_mmap, check_nothing, 0, 0 },
	{ "munmap", with_map, call_munmap, check_unchanged, 0, 0 },
	{ "mremap", with_map, call_mremap, check_unchanged, 0, 0 },
	/* A fork shares the rseq area: the kernel's next write to it may find no page. */
	{ "fork", with_map, call_fork, check_unchanged, 0, SIGSEGV },
	{ "fork_in_tree", with_tree, call_fork, check_tree, 0, SIGSEGV },
	{ "fork_in_imode_tree", with_imode_tree, call_fork, check_tree, 0, SIGSEGV },
	{ "fdinfo", with_counts, call_fdinfo, check_unchanged, ENOENT, 0 },
	{ "close", with_counts, call_close, check_nothing, 0, 0 },
	{ }
};
