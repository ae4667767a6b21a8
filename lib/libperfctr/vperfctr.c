// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handles of a thread's counters, as file descriptors and as objects. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* A handle without a mapped page has this page, which says that the kernel must be asked. */
static const struct perfctr_page ask_page = {
	.size = sizeof(struct perfctr_page),
	.seq = -1,
};

static void close_keep_errno(int fd)
{
	int err = errno;

	close(fd);
	errno = err;
}

static int open_device(void)
{
	int fd = open(PERFCTR_DEVICE, O_RDWR | O_CLOEXEC);

	/* Only the reader of a ring needs to write, so other users may lack the permission. */
	if (fd < 0 && errno == EACCES)
		fd = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);
	return fd;
}

int perfctr_open_fd(const struct perfctr_open *o)
{
	int fd = open_device();

	if (fd < 0)
		return -1;
	if (!ioctl(fd, PERFCTR_IOC_OPEN, o))
		return fd;
	close_keep_errno(fd);
	return -1;
}

/*
 * Calls that take a file descriptor
 */

/*
 * Returns a descriptor of the caller's state, or -1. As in 2.6, if @creat is 0 and the caller has
 * no state, the descriptor is for information only.
 */
int _vperfctr_open(int creat)
{
	struct perfctr_open o = {
		.size = sizeof(o), .flags = creat ? PERFCTR_OPEN_CREAT | PERFCTR_OPEN_EXCL : 0,
	};
	int fd = perfctr_open_fd(&o);

	if (fd < 0 && errno == ENOENT && !creat)
		fd = open_device();
	return fd;
}

/* Returns true if x86's NMI watchdog is on. The module cannot tell it from other users of perf. */
static int watchdog_counts(void)
{
	char on = 0;
#if defined(__x86_64__) || defined(__i386__)
	int fd = open("/proc/sys/kernel/nmi_watchdog", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, &on, 1) != 1)
			on = 0;
		close(fd);
	}
#endif
	return on == '1';
}

/* Sets the three sizes to those of the structures that this library was built with. */
static void set_sizes(struct perfctr_control *control)
{
	static const struct perfctr_control whole = { PERFCTR_CONTROL_INIT };

	control->size = whole.size;
	control->ctr_offset = whole.ctr_offset;
	control->ctr_size = whole.ctr_size;
}

int _vperfctr_control_native(int fd, struct perfctr_control *control)
{
	int ret, err;

	if (!control->size)
		set_sizes(control);
	control->refused = PERFCTR_NO_INDEX;
	control->owner = PERFCTR_OWNER_NONE;
	control->reason = PERFCTR_REASON_NONE;
	control->possible = 0;
	ret = ioctl(fd, PERFCTR_IOC_CONTROL, control);
	err = errno;
	if (ret < 0 && control->owner == PERFCTR_OWNER_PERF && watchdog_counts())
		control->owner = PERFCTR_OWNER_WATCHDOG;
	errno = err;
	return ret;
}

int _vperfctr_read_control_native(int fd, struct perfctr_control *control)
{
	memset(control, 0, sizeof(*control));
	set_sizes(control);
	return ioctl(fd, PERFCTR_IOC_READ_CONTROL, control);
}

/*
 * Repeats an ioctl() that a signal interrupts, because a read of another thread's sums may take a
 * while. This is a macro because C libraries have different types of @request.
 */
#define ioctl_again(fd, request, arg) ({				\
	int ret_;							\
									\
	do								\
		ret_ = ioctl((fd), (request), (arg));			\
	while (ret_ < 0 && errno == EINTR);				\
	ret_;								\
})

int perfctr_read_some(int fd, struct perfctr_read *sums, unsigned int n)
{
	/* The kernel may leave some members unset. */
	memset(sums, 0, offsetof(struct perfctr_read, sum));
	sums->size = (__u32)(offsetof(struct perfctr_read, sum) +
			     n * sizeof(sums->sum[0]));
	return ioctl_again(fd, PERFCTR_IOC_READ, sums);
}

int perfctr_read_words(int fd, void *words, size_t size)
{
	ssize_t ret;

	do
		ret = read(fd, words, size);
	while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return -1;
	return (int)((size_t)ret / sizeof(__u64)) - 1;
}

int _vperfctr_read_native(int fd, struct perfctr_read *sums)
{
	memset(sums, 0, sizeof(*sums));
	sums->size = sizeof(*sums);
	return ioctl_again(fd, PERFCTR_IOC_READ, sums);
}

int _vperfctr_read_tree(int fd, unsigned int which, struct perfctr_read_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	tree->size = sizeof(*tree);
	tree->which = which;
	return ioctl_again(fd, PERFCTR_IOC_READ_TREE, tree);
}

int _vperfctr_next_member(int fd, struct perfctr_member *member)
{
	member->size = sizeof(*member);
	return ioctl_again(fd, PERFCTR_IOC_NEXT_MEMBER, member);
}

int _vperfctr_add_member(int fd, struct perfctr_add_member *member)
{
	member->size = sizeof(*member);
	return ioctl(fd, PERFCTR_IOC_ADD_MEMBER, member);
}

static int control_old(int fd, const struct vperfctr_control *control,
		       struct perfctr_control *native)
{
	int ret;

	native->owner = PERFCTR_OWNER_NONE;
	native->reason = PERFCTR_REASON_NONE;
	if (perfctr_control_to_native(control, perfctr_cpu_type(fd), native) < 0)
		return -1;
	do
		ret = _vperfctr_control_native(fd, native);
	while (ret < 0 && perfctr_control_again(control, native));
	return ret;
}

int _vperfctr_control(int fd, const struct vperfctr_control *control)
{
	struct perfctr_control native;

	return control_old(fd, control, &native);
}

int _vperfctr_read_control(int fd, struct vperfctr_control *control)
{
	struct perfctr_control native;

	if (_vperfctr_read_control_native(fd, &native) < 0)
		return -1;
	return perfctr_control_from_native(&native, perfctr_cpu_type(fd), control);
}

/* read(2) stores its words as 2.6's structure has them, so _vperfctr_read_sum() needs no copy. */
_Static_assert(offsetof(struct perfctr_sum_ctrs, pmc) == offsetof(struct perfctr_words, sum),
	       "the clock, then the sums");

int _vperfctr_read_sum(int fd, struct perfctr_sum_ctrs *sum)
{
	struct perfctr_read r;
	int n, ret = 0;

	n = perfctr_read_words(fd, sum, sizeof(*sum));
	if (n < 0) {
		/*
		 * read(2) fails with a sticky error, or if there are more counters than the array
		 * has. The ioctl stores the sums of the first counters then.
		 */
		ret = perfctr_read_some(fd, &r, PERFCTR_NRCTRS);
		if (ret < 0 && errno != EIO)
			return ret;
		n = (int)(r.nrctrs < PERFCTR_NRCTRS ? r.nrctrs : PERFCTR_NRCTRS);
		sum->tsc = r.clock;
		memcpy(sum->pmc, r.sum, (size_t)n * sizeof(sum->pmc[0]));
	}
	/* Like 2.6 this writes the whole array. */
	memset(sum->pmc + n, 0, (PERFCTR_NRCTRS - (size_t)n) * sizeof(sum->pmc[0]));
	return ret;
}

/*
 * Calls that take a handle as an object
 */

void perfctr_handle_init(struct vperfctr *v, int fd, int map)
{
	void *page;

	v->fd = fd;
	v->page = &ask_page;
	v->map = NULL;
	v->owner = PERFCTR_OWNER_NONE;
	v->reason = PERFCTR_REASON_NONE;
	v->tid = 0;
	if (map) {
		page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ,
			    MAP_SHARED, fd, 0);
		if (page != MAP_FAILED) {
			v->page = page;
			v->map = page;
		}
	}
}

static struct vperfctr *handle_new(int fd, int map)
{
	struct vperfctr *v = malloc(sizeof(*v));

	if (v)
		perfctr_handle_init(v, fd, map);
	return v;
}

/*
 * In 2.6 each handle of a thread may control it, but the kernel lets only one open file do so. So a
 * second handle of a thread shares the file of the first. @opened lists all handles that
 * vperfctr_open_mode() has made, in all threads.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vperfctr *opened;

/* Runs in a child of fork(), where the lock may be held by a thread that does not exist. */
static void forget_parents(void)
{
	pthread_mutex_init(&lock, NULL);
	opened = NULL;
}

static void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, forget_parents);
}

/*
 * Returns a new descriptor of the file by which thread @tid has opened its state, or -1 if there is
 * no such file, or the state was unlinked.
 */
static int fd_of_first(int tid)
{
	const struct vperfctr *v;
	struct perfctr_read r;

	for (v = opened; v; v = v->next)
		if (v->tid == tid && (!perfctr_read_some(v->fd, &r, 0) || errno == EIO) &&
		    r.flags & PERFCTR_READ_ATTACHED)
			return fcntl(v->fd, F_DUPFD_CLOEXEC, 0);
	return -1;
}

static struct vperfctr *open_self(const struct perfctr_open *o)
{
	int tid = (int)syscall(SYS_gettid), fd = -1;
	struct vperfctr *v;

	if (!(o->flags & PERFCTR_OPEN_EXCL))
		fd = fd_of_first(tid);
	if (fd < 0)
		fd = perfctr_open_fd(o);
	if (fd < 0)
		return NULL;
	v = handle_new(fd, 1);
	if (!v) {
		close_keep_errno(fd);
		return NULL;
	}
	v->tid = tid;
	v->next = opened;
	opened = v;
	return v;
}

struct vperfctr *vperfctr_open_mode(unsigned int mode)
{
	struct perfctr_open o = { .size = sizeof(o), .flags = mode };
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct vperfctr *v;

	/* With other flags of the kernel, the handle would not count the caller's thread. */
	if (mode > VPERFCTR_OPEN_CREAT_EXCL) {
		errno = EINVAL;
		return NULL;
	}
	(void)pthread_once(&once, watch_forks);
	(void)pthread_mutex_lock(&lock);
	v = open_self(&o);
	(void)pthread_mutex_unlock(&lock);
	return v;
}

static void forget(const struct vperfctr *v)
{
	struct vperfctr **p;

	(void)pthread_mutex_lock(&lock);
	for (p = &opened; *p && *p != v; p = &(*p)->next)
		;
	if (*p)
		*p = v->next;
	(void)pthread_mutex_unlock(&lock);
}

struct vperfctr *vperfctr_open(void)
{
	return vperfctr_open_mode(VPERFCTR_OPEN_CREAT);
}

/*
 * Maps no page: another thread could not use the page, and it would cost the counted thread time at
 * each switch.
 */
struct vperfctr *vperfctr_from_fd(int fd)
{
	struct perfctr_read r;

	/* This fails if the descriptor is not of a thread's handle. */
	if (perfctr_read_some(fd, &r, 0) < 0 && errno != EIO)
		return NULL;
	return handle_new(fd, 0);
}

void perfctr_handle_release(struct vperfctr *v)
{
	if (v->map)
		munmap(v->map, (size_t)sysconf(_SC_PAGESIZE));
	if (v->fd >= 0)
		close(v->fd);
	perfctr_handle_init(v, -1, 0);
}

void vperfctr_close(struct vperfctr *v)
{
	if (!v)
		return;
	if (v->tid)
		forget(v);
	perfctr_handle_release(v);
	free(v);
}

int vperfctr_fd(const struct vperfctr *v)
{
	return v->fd;
}

const struct perfctr_page *vperfctr_page(const struct vperfctr *v)
{
	return v->page;
}

int vperfctr_info(const struct vperfctr *v, struct perfctr_info *info)
{
	return perfctr_info(v->fd, info);
}

struct perfctr_cpus_info *vperfctr_cpus_info(const struct vperfctr *v)
{
	return perfctr_cpus_info(v->fd);
}

/* The calls of 2.6 take a const pointer, but no handle is a const object. */
static void set_refusal(const struct vperfctr *v, unsigned int owner, unsigned int reason)
{
	struct vperfctr *object = (struct vperfctr *)(uintptr_t)v;

	object->owner = owner;
	object->reason = reason;
}

int vperfctr_control(const struct vperfctr *v, struct vperfctr_control *control)
{
	struct perfctr_control native;
	int ret = control_old(v->fd, control, &native);

	set_refusal(v, native.owner, native.reason);
	return ret;
}

int vperfctr_control_native(const struct vperfctr *v, struct perfctr_control *control)
{
	int ret = _vperfctr_control_native(v->fd, control);

	set_refusal(v, control->owner, control->reason);
	return ret;
}

int vperfctr_read_control_native(const struct vperfctr *v,
				 struct perfctr_control *control)
{
	return _vperfctr_read_control_native(v->fd, control);
}

int vperfctr_read_tree(const struct vperfctr *v, unsigned int which,
		       struct perfctr_read_tree *tree)
{
	return _vperfctr_read_tree(v->fd, which, tree);
}

int vperfctr_next_member(const struct vperfctr *v, struct perfctr_member *member)
{
	return _vperfctr_next_member(v->fd, member);
}

int vperfctr_add_member(const struct vperfctr *v, struct perfctr_add_member *member)
{
	return _vperfctr_add_member(v->fd, member);
}

int vperfctr_suspend(const struct vperfctr *v)
{
	return ioctl(v->fd, PERFCTR_IOC_SUSPEND);
}

int vperfctr_resume(const struct vperfctr *v)
{
	return ioctl(v->fd, PERFCTR_IOC_RESUME);
}

int vperfctr_read_native(const struct vperfctr *v, struct perfctr_read *sums)
{
	return _vperfctr_read_native(v->fd, sums);
}

int vperfctr_read_state(const struct vperfctr *v, struct perfctr_sum_ctrs *sum,
			struct vperfctr_control *control)
{
	/* Read the control first, because the read of the sums fails if there is a sticky error. */
	if (control && _vperfctr_read_control(v->fd, control) < 0)
		return -1;
	if (sum)
		return _vperfctr_read_sum(v->fd, sum);
	return 0;
}

int vperfctr_stop(const struct vperfctr *v)
{
	struct perfctr_control none = { PERFCTR_CONTROL_INIT };

	return vperfctr_control_native(v, &none);
}

int vperfctr_is_running(const struct vperfctr *v)
{
	struct perfctr_read r;

	if (perfctr_read_some(v->fd, &r, 0) < 0)
		return errno == EIO ? 0 : -1;
	return r.cstatus && (r.flags & PERFCTR_READ_ATTACHED) &&
		!(r.flags & (PERFCTR_READ_ON_EXEC | PERFCTR_READ_SUSPENDED));
}

int vperfctr_iresume(const struct vperfctr *v)
{
	return ioctl(v->fd, PERFCTR_IOC_IRESUME);
}

int vperfctr_refresh(const struct vperfctr *v, unsigned int count)
{
	return ioctl(v->fd, PERFCTR_IOC_REFRESH, count);
}

int vperfctr_unlink(const struct vperfctr *v)
{
	return ioctl(v->fd, PERFCTR_IOC_UNLINK);
}

int vperfctr_owner(const struct vperfctr *v)
{
	return (int)v->owner;
}

int vperfctr_reason(const struct vperfctr *v)
{
	return (int)v->reason;
}
