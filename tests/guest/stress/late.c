// SPDX-License-Identifier: GPL-2.0
/*
 * Operations of stress: memory that comes late. A page is missing where a result is stored or
 * a control is read, and a thread of userfaultfd(2) brings it after a while.
 */
#define _GNU_SOURCE
#include "stress/stress.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"

#define PAGES 2
#define LATE_SIZE (PAGES * PAGE_SIZE)
#define PATTERN 0xa5
/* Where in the pages to put a structure so that @member begins the second page */
#define TAIL_AT(type, member) (PAGE_SIZE - offsetof(type, member))

/**
 * struct late - memory that comes late, and who brings it
 * @memory: the pages
 * @lock: guards @image, and its copies to pages. A fault that a signal ends comes twice, so its
 *	second page may come after the pages were taken away again
 * @image: what the pages are to hold
 * @delay: how late a page comes, us
 * @brought: pages so far
 */
struct late {
	int fd;
	char *memory;
	pthread_mutex_t lock;
	char image[LATE_SIZE];
	unsigned int delay;
	_Atomic unsigned int brought;
	atomic_bool done;
};

static void *bring(void *arg)
{
	struct late *late = arg;
	struct pollfd poll_fd = { .fd = late->fd, .events = POLLIN };
	struct uffdio_copy copy;
	struct uffd_msg msg;

	while (!late->done) {
		if (poll(&poll_fd, 1, 1) <= 0 ||
		    read(late->fd, &msg, sizeof(msg)) != (ssize_t)sizeof(msg) ||
		    msg.event != UFFD_EVENT_PAGEFAULT)
			continue;
		sleep_us(late->delay);
		memset(&copy, 0, sizeof(copy));
		copy.dst = msg.arg.pagefault.address & ~(uint64_t)(PAGE_SIZE - 1);
		copy.src = (uintptr_t)late->image + copy.dst - (uintptr_t)late->memory;
		copy.len = PAGE_SIZE;
		pthread_mutex_lock(&late->lock);
		/* EAGAIN: somebody forks; EEXIST: it is there already. */
		while (ioctl(late->fd, UFFDIO_COPY, &copy) && errno == EAGAIN)
			copy.copy = 0;
		if (copy.copy == (int64_t)PAGE_SIZE)
			late->brought++;
		else if (errno != EEXIST && errno != ESRCH)
			wrong(NULL, "UFFDIO_COPY: %s", strerror(errno));
		pthread_mutex_unlock(&late->lock);
	}
	return NULL;
}

/* Makes all pages missing. They come with @control in them, if it is not NULL. */
static void take_away(struct late *late, const struct perfctr_control *control)
{
	pthread_mutex_lock(&late->lock);
	memset(late->image, PATTERN, LATE_SIZE);
	if (control)
		memcpy(late->image + TAIL_AT(struct perfctr_control, ctr), control, control->size);
	if (madvise(late->memory, LATE_SIZE, MADV_DONTNEED))
		wrong(NULL, "MADV_DONTNEED: %s", strerror(errno));
	pthread_mutex_unlock(&late->lock);
}

static bool late_begin(struct actor *actor, struct late *late)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	late->delay = 1 + below(actor, one_in(actor, 4) ? 5000 : 300);
	late->memory = mmap(NULL, LATE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (late->memory == MAP_FAILED) {
		wrong(actor, "mmap: %s", strerror(errno));
		return false;
	}
	range.range.start = (uintptr_t)late->memory;
	range.range.len = LATE_SIZE;
	late->fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (late->fd >= 0 && !ioctl(late->fd, UFFDIO_API, &api) &&
	    !ioctl(late->fd, UFFDIO_REGISTER, &range))
		return true;
	wrong(actor, "userfaultfd: %s", strerror(errno));
	return false;
}

/* Reads @size bytes of the actor's own sums; false if its counters were evicted. */
static bool read_words(struct actor *actor, void *to, size_t size)
{
	ssize_t got = read(actor->own, to, size);

	if (got < 0 && is_lost(actor, -errno))
		return false;
	if (got == (ssize_t)size)
		return true;
	wrong(actor, "read(2) of %zu bytes: %zd, %s", size, got, got < 0 ? strerror(errno) : "");
	return false;
}

/* read(2) to two missing pages: its values are of one moment, between the reads around it. */
static void late_words(struct actor *actor, struct late *late)
{
	uint64_t before[1 + PERFCTR_MAX_CTRS], after[1 + PERFCTR_MAX_CTRS];
	unsigned int i, n = 1 + actor->nr_sums;
	size_t size = n * sizeof(*before);
	const unsigned char *rest;
	uint64_t *words;

	take_away(late, NULL);
	words = (uint64_t *)(late->memory + PAGE_SIZE) - below(actor, n + 1);
	if (!read_words(actor, before, size) || !read_words(actor, words, size) ||
	    !read_words(actor, after, size))
		return;
	for (i = 0; i < n; i++)
		if (words[i] < before[i] || after[i] < words[i])
			wrong(actor, "read(2) to a page that came late: word %u of %u is %llu, before %llu, after %llu",
			      i, n, (unsigned long long)words[i], (unsigned long long)before[i],
			      (unsigned long long)after[i]);
	rest = (const unsigned char *)(words + n);
	for (i = 0; i < 64; i++)
		if (rest[i] != PATTERN)
			wrong(actor, "read(2) of %u words wrote more", n);
	shared->late++;
}

/* Two results to missing pages, with a loop of known length between them */
static void late_exact(struct actor *actor, struct late *late)
{
	int k = exact_counter(actor);
	size_t n = 1 + (size_t)actor->nr_sums, size = n * sizeof(uint64_t);
	unsigned long turns = 1 + below(actor, 2000);
	uint64_t *words;
	long got;

	if (k < 0)
		return;
	take_away(late, NULL);
	words = (uint64_t *)(late->memory + PAGE_SIZE) - below(actor, 2 * (unsigned int)n + 1);
	got = exact_read(actor->own, words, size, body_spin, turns);
	if (is_lost(actor, (int)got))
		return;
	if (got != (long)size)
		wrong(actor, "read(2) to pages that came late: %ld", got);
	else if (words[n] < words[0] || words[n + 1 + (size_t)k] < words[1 + k] ||
		 (shared->exact &&
		  words[n + 1 + (size_t)k] - words[1 + k] != EXACT_KERNEL + BODY_SPIN(turns)))
		wrong(actor, "read(2) to pages that came late: %llu and %llu instructions, %llu between",
		      (unsigned long long)words[1 + k],
		      (unsigned long long)words[n + 1 + (size_t)k],
		      (unsigned long long)(EXACT_KERNEL + BODY_SPIN(turns)));
	shared->exacts++;
}

/* READ with the page of the sums missing */
static void late_read(struct actor *actor, struct late *late)
{
	uint64_t before[1 + PERFCTR_MAX_CTRS], after[1 + PERFCTR_MAX_CTRS];
	size_t size = (1 + (size_t)actor->nr_sums) * sizeof(*before);
	struct perfctr_read *rd = (void *)(late->memory + TAIL_AT(struct perfctr_read, sum));
	unsigned int i;
	int err;

	take_away(late, NULL);
	if (!read_words(actor, before, size))
		return;
	rd->size = sizeof(*rd);
	err = ioctl(actor->own, PERFCTR_IOC_READ, rd) ? -errno : 0;
	if (is_lost(actor, err) || !read_words(actor, after, size))
		return;
	if (err || rd->nrctrs != actor->nr_sums || rd->clock < before[0] ||
	    rd->clock > after[0])
		wrong(actor, "READ to a page that came late: %s, %u counters, clock %llu; %llu, %llu",
		      strerror(-err), rd->nrctrs, (unsigned long long)rd->clock,
		      (unsigned long long)before[0], (unsigned long long)after[0]);
	for (i = 0; i < PERFCTR_MAX_CTRS; i++)
		if (i < rd->nrctrs ? rd->sum[i] < before[1 + i] || rd->sum[i] > after[1 + i] :
				     rd->sum[i])
			wrong(actor, "READ to a page that came late: sum %u of %u is %llu", i,
			      rd->nrctrs, (unsigned long long)rd->sum[i]);
	shared->late++;
}

/* READ_CONTROL with the page of the counters missing */
static void late_read_control(struct actor *actor, struct late *late)
{
	struct perfctr_control *control = (void *)(late->memory + TAIL_AT(struct perfctr_control, ctr));
	struct perfctr_control early;
	unsigned int nr = nr_of(&actor->control);

	take_away(late, NULL);
	control_init(&early);
	early.size = (uint32_t)CONTROL_SIZE(nr);
	memcpy(control, &early, CONTROL_SIZE(0));
	if (ioctl(actor->own, PERFCTR_IOC_READ_CONTROL, control) ||
	    ioctl(actor->own, PERFCTR_IOC_READ_CONTROL, &early))
		wrong(actor, "READ_CONTROL to a page that came late: %s", strerror(errno));
	else if (memcmp(control, &early, CONTROL_SIZE(nr)) != 0)
		wrong(actor, "READ_CONTROL to a page that came late is another: %u and %u counters",
		      control->nractrs, control->nrictrs);
	shared->late++;
}

/* CONTROL with the page of the counters missing. It is in force then. */
static void late_control(struct actor *actor, struct late *late)
{
	struct perfctr_control *control = (void *)(late->memory + TAIL_AT(struct perfctr_control, ctr));
	struct perfctr_control early;
	int err;

	control_init(&early);
	early.size = CONTROL_SIZE(1);
	early.tsc_on = 1;
	control_add(&early, EV_INSTRUCTIONS);
	take_away(late, &early);
	err = actor_control(actor, actor->own, control);
	if (err && err != -EBUSY && !is_lost(actor, err))
		wrong(actor, "CONTROL that came late: %s", strerror(-err));
	if (err)
		return;
	op_read_control(actor);
	op_exact(actor);
	shared->late++;
}

void op_late_page(struct actor *actor)
{
	struct late late = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t thread;

	if (actor->own < 0 || !actor->attached || !shared->late_pages)
		return;
	if (late_begin(actor, &late) && !pthread_create(&thread, NULL, bring, &late)) {
		late_words(actor, &late);
		late_exact(actor, &late);
		late_read(actor, &late);
		late_read_control(actor, &late);
		if (shared->nevents)
			late_control(actor, &late);
		late.done = true;
		pthread_join(thread, NULL);
	}
	if (late.memory != MAP_FAILED)
		munmap(late.memory, LATE_SIZE);
	if (late.fd >= 0)
		close(late.fd);
}
