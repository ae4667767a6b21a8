// SPDX-License-Identifier: GPL-2.0
/*
 * Implements perfex record, which copies the records of a run's ring to a file until the run ends.
 *
 * The thread that opens the counters makes the ring: the child, or, with -p, a thread of perfex.
 * perfex maps the ring, and copies its records whenever the kernel wakes perfex.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/quote.h"
#include "count/counts.h"
#include "count/explain.h"
#include "count/signals.h"
#include "record/recfile.h"
#include "record/recording.h"

#define CHAIN_DEPTH	64

/* Makes the ring. If the user may not have so many pages, fewer are tried. */
bool recording_make_ring(int fd, const struct how *how, struct run *run)
{
	const struct recording *recording = how->recording;
	struct perfctr_ring ring = {
		.pages = recording->pages,
		.flags = PERFCTR_RING_MAPS | PERFCTR_RING_KERNEL,
	};

	run->stage = STAGE_RING;
	if (recording->chains) {
		ring.flags |= PERFCTR_RING_USER_CHAIN | PERFCTR_RING_KERNEL_CHAIN;
		ring.user_depth = CHAIN_DEPTH;
		ring.kernel_depth = CHAIN_DEPTH;
	}
	while (_vperfctr_make_ring(fd, &ring) < 0) {
		run->error = errno;
		if (errno == EACCES && ring.flags & PERFCTR_RING_KERNEL) {
			ring.flags &= ~(__u32)(PERFCTR_RING_KERNEL | PERFCTR_RING_KERNEL_CHAIN);
			ring.kernel_depth = 0;
		} else if (errno == ENOMEM && !recording->pages_chosen && ring.pages > 1) {
			ring.pages /= 2;
		} else {
			return false;
		}
	}
	run->ring_pages = ring.pages;
	run->ring_flags = ring.flags;
	return true;
}

/*
 * Counts samples among records that lie in two parts, since the ring wraps. One record may lie in
 * both.
 */
static void count_records(struct recording *recording, const struct iovec part[2], size_t size)
{
	const struct perfctr_record *record;
	size_t at = 0, length;

	while (at < size) {
		record = at < part[0].iov_len ?
			 (const void *)((const char *)part[0].iov_base + at) :
			 (const void *)((const char *)part[1].iov_base + at - part[0].iov_len);
		/* The first eight bytes, which have type and size, always lie in one part. */
		recording->samples += record->type == PERFCTR_RECORD_SAMPLE;
		recording->throttled += record->type == PERFCTR_RECORD_THROTTLED;
		length = record->size;
		if (length < sizeof(*record) || length % 8)
			break;
		at += length;
	}
}

/*
 * Copies the records that are in the ring now. After an error, the run continues, but its records
 * are lost.
 */
static void copy_records(struct recording *recording)
{
	struct iovec part[2];
	size_t size = vperfctr_ring_peek(recording->ring, part);

	if (!size)
		return;
	count_records(recording, part, size);
	if (recfile_append(recording->file, part[0].iov_base, part[0].iov_len,
			   part[1].iov_len ? part[1].iov_base : NULL, part[1].iov_len) < 0)
		recording->error = recording->error ?: errno;
	vperfctr_ring_consume(recording->ring, size);
}

/*
 * Describes the counters for the header of the file: the modes of each counter, and the period of
 * the last counter.
 */
static void describe(const struct perfctr_info *info, const struct events *events,
		     const struct how *how, const struct run *run, char **argv,
		     struct recfile_about *about)
{
	unsigned int i;

	memset(about, 0, sizeof(*about));
	about->nrctrs = events->n;
	about->ring_flags = run->ring_flags;
	about->clock_hz = info->tsc_hz;
	about->timer_ns = how->recording->timer_ns;
	about->argv = how->npids ? NULL : argv;
	for (i = 0; i < events->n; i++) {
		struct recfile_counter *counter = &about->counter[i];

		memcpy(counter->name, events->event[i].name, sizeof(counter->name));
		counter->flags = mode(&events->event[i], run);
		if (i == events->n - 1)
			counter->period = how->recording->period;
	}
}

static void explain_path(const struct recording *recording)
{
	explain("cannot write '%s': %s%s", recording->path, strerror(errno), errno != EPERM ? "" :
		"\nIn a sticky directory only the owner of a file may rename it, or its .old, as is done\n"
		"with one of that name");
}

bool recording_can_write(const struct how *how)
{
	const struct recfile_about nothing = { .nrctrs = 0 };
	struct recfile *file;

	signals_spare_limit();
	file = recfile_create(how->recording->path, &nothing);
	if (file)
		recfile_abandon(file);
	else
		explain_path(how->recording);
	return file != NULL;
}

bool recording_begin(const struct perfctr_info *info, const struct events *events,
		     const struct how *how, const struct run *run, char **argv)
{
	struct recording *recording = how->recording;
	struct recfile_about about;

	describe(info, events, how, run, argv, &about);
	recording->file = recfile_create(recording->path, &about);
	if (!recording->file) {
		explain_path(recording);
		return false;
	}
	recording->ring = vperfctr_ring_map(run->fd, run->ring_pages);
	if (recording->ring)
		return true;
	explain("cannot map the ring of samples: %s", strerror(errno));
	recfile_abandon(recording->file);
	recording->file = NULL;
	return false;
}

bool recording_wait(const struct how *how, const struct run *run)
{
	struct pollfd *fds = calloc(how->npids + 2, sizeof(*fds));
	bool stop = false;
	unsigned int i;

	if (!fds)
		return true;
	fds[0] = (struct pollfd){ .fd = run->fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = how->recording->signals, .events = POLLIN };
	for (i = 0; i < how->npids; i++)
		fds[2 + i] = how->pidfds[i];
	/*
	 * Once all counted threads have ended, the handle is always ready. Then wait only for a
	 * signal or a pidfd.
	 */
	(void)poll(fds, how->npids + 2, -1);
	if (fds[0].revents & POLLHUP && !(fds[0].revents & POLLIN))
		(void)poll(fds + 1, how->npids + 1, 100);
	copy_records(how->recording);
	if (fds[1].revents)
		stop = run->pid ? signals_pass_on(run->pid, 0) : signals_left();
	free(fds);
	return stop;
}

bool recording_end(const struct how *how)
{
	struct recording *recording = how->recording;
	unsigned long long lost;
	const char *kept;

	copy_records(recording);
	lost = vperfctr_ring_lost(recording->ring);
	vperfctr_ring_unmap(recording->ring);
	if (recfile_finish(recording->file, lost) < 0) {
		kept = recfile_kept(recording->file);
		explain("cannot write '%s': %s%s%s%s", recording->path, strerror(errno),
			kept ? ".\nWhat was recorded until then is in '" : "", kept ?: "",
			kept ? "'" : "");
		recfile_free(recording->file);
		return false;
	}
	if (recording->error) {
		explain("not all is in '%s': %s", recording->path, strerror(recording->error));
		return false;
	}
	fprintf(stderr, "perfex: %llu samples in '", recording->samples);
	(void)plain_text(stderr, 0, recording->path);
	fprintf(stderr, "'");
	if (lost)
		fprintf(stderr, ", %llu records lost: try a larger --pages", lost);
	if (recording->throttled)
		fprintf(stderr, ", %llu times too many in a tick: try a larger --period",
			recording->throttled);
	fprintf(stderr, "\n");
	return true;
}
