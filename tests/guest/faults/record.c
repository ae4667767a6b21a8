// SPDX-License-Identifier: GPL-2.0
/* Cases of faults: rings, and what is written to them. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <libperfctr.h>

#include "kit/counting.h"
#include "faults/faults.h"
#include "kit/guest.h"
#include "kit/loops.h"

#define RING_PAGES 4u
#define RING_SIZE ((1 + RING_PAGES) * PAGE_SIZE)
#define PLACE_SIZE ((size_t)8 << 20)

/* --- scenes --- */

static long make_ring(const struct scene *scene, unsigned int flags)
{
	struct perfctr_ring ring = { .size = sizeof(ring), .pages = RING_PAGES, .flags = flags };

	return ioctl(scene->own, PERFCTR_IOC_RING, &ring);
}

/* Nobody special, so that its rings are charged */
static void with_user(struct scene *scene)
{
	with_counts(scene);
	become(GUEST_UID);
}

static void with_new_module(struct scene *scene)
{
	renew_module();
	with_user(scene);
}

static void with_ring(struct scene *scene)
{
	with_counts(scene);
	if (make_ring(scene, maps_flag))
		die("RING: %s", strerror(errno));
}

/* And a place for its map where nothing is, so that it takes page tables */
static void with_ring_and_place(struct scene *scene)
{
	void *map = mmap(NULL, 2 * PLACE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	scene->page = (void *)(((uintptr_t)map + PLACE_SIZE - 1) & ~(PLACE_SIZE - 1));
	with_ring(scene);
}

static void with_mapped_ring(struct scene *scene)
{
	with_ring(scene);
	scene->ring = vperfctr_ring_map(scene->own, RING_PAGES);
	if (!scene->ring)
		die("map of a ring: %s", strerror(errno));
}

/* So rarely that none is written meanwhile */
static void add_samples(struct perfctr_control *control)
{
	add_period(control, 1ll << 40);
	control->si_signo = 0;
	control->timer_ns = 1000000000;
	control->flags |= PERFCTR_CONTROL_RECORD;
}

static void with_next_record(struct scene *scene)
{
	with_mapped_ring(scene);
	scene->next = scene->control;
	add_samples(&scene->next);
}

static void with_next_record_inherit(struct scene *scene)
{
	with_next_record(scene);
	scene->next.flags |= PERFCTR_CONTROL_INHERIT;
}

/* The next control records no more. */
static void with_record(struct scene *scene)
{
	with_mapped_ring(scene);
	scene->next = scene->control;
	add_samples(&scene->control);
	if (try_control(scene->own, &scene->control))
		die("CONTROL with RECORD");
}

/* --- calls --- */

static long call_ring(struct scene *scene)
{
	return make_ring(scene, 0);
}

static long call_ring_maps(struct scene *scene)
{
	return make_ring(scene, maps_flag);
}

static long call_mmap_ring(struct scene *scene)
{
	void *map = mmap(scene->page, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 scene->own, PERFCTR_RING_OFFSET);

	return map == MAP_FAILED ? -1 : 0;
}

static void *map_code(void)
{
	return mmap(NULL, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static long call_map_code(struct scene *scene)
{
	void *code = map_code();

	if (code == MAP_FAILED)
		return -1;
	scene->page = code;
	return 0;
}

/* --- checks --- */

/* There is a ring, or there may be one, and the user may have no other. */
static const char *check_ring(struct scene *scene, bool done)
{
	struct rlimit limit = { RING_SIZE, RING_SIZE };
	unsigned int tries = 0;
	int err;

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		die("RLIMIT_MEMLOCK: %s", strerror(errno));
	/* The ring of the process before is freed by a worker. */
	do {
		err = call_ring(scene) ? errno : 0;
		if (err == ENOMEM)
			sleep_us(10000);
	} while (err == ENOMEM && ++tries < 100);
	if (err != (done ? EEXIST : 0))
		return done ? "there is no ring" : "RING fails afterwards";
	return counts(scene, &scene->control);
}

static const char *check_mmap_ring(struct scene *scene, bool done)
{
	const struct perfctr_ring_page *page = scene->page;
	unsigned int i;

	if (done && page->length != RING_PAGES * PAGE_SIZE)
		return "the map has no ring";
	/* All of it is there. */
	for (i = 0; done && i < RING_PAGES; i++)
		(void)*((volatile const char *)scene->page + (1 + i) * PAGE_SIZE);
	return counts(scene, &scene->control);
}

/* Somebody writes to the ring if the control that is in force says so. */
static const char *check_writers(const struct scene *scene, const struct perfctr_control *control)
{
	struct pollfd poll_fd = { .fd = scene->own, .events = POLLIN };
	bool writes;

	(void)poll(&poll_fd, 1, 0);
	writes = !(poll_fd.revents & POLLHUP);
	if (writes != ((control->flags & PERFCTR_CONTROL_RECORD) != 0))
		return writes ? "somebody writes to the ring" : "nobody writes to the ring";
	return NULL;
}

/* Whether the ring tells of code at @address. All that has been written is read. */
static bool told(const struct scene *scene, const void *address)
{
	const struct perfctr_record *next;
	bool found = false;

	while ((next = vperfctr_ring_next(scene->ring))) {
		const struct perfctr_record_map *map = (const void *)next;

		if (next->type == PERFCTR_RECORD_MAP &&
		    (uintptr_t)address - map->start < map->length)
			found = true;
	}
	return found;
}

/* The ring told of that code, if there is any, or says that something is missing. */
static const char *check_told(const struct scene *scene, const void *code)
{
	bool lost = vperfctr_ring_lost(scene->ring) != 0, is_told = !code || told(scene, code);

	if (!maps_flag || is_told != lost)
		return NULL;
	return lost ? "more than it told was lost" : "code was mapped and not told";
}

static const char *check_record(struct scene *scene, bool done)
{
	const struct perfctr_control *control = done ? &scene->next : &scene->control;
	const char *wrong = check_writers(scene, control);

	if (!wrong && control->flags & PERFCTR_CONTROL_RECORD)
		wrong = check_told(scene, (const void *)(uintptr_t)body_spin);
	return wrong ? wrong : check_control(scene, done);
}

static const char *check_record_inherits(struct scene *scene, bool done)
{
	const char *wrong = check_writers(scene, done ? &scene->next : &scene->control);

	return wrong ? wrong : check_inherits_and_forks(scene, done);
}

/* What was not told is told with the next mapping. */
static const char *check_map_code(struct scene *scene, bool done)
{
	const char *wrong = check_told(scene, done ? scene->page : NULL);
	bool lost = vperfctr_ring_lost(scene->ring) != 0;
	const void *code = map_code();

	if (!wrong && maps_flag && !told(scene, lost ? scene->page : code))
		wrong = "the next mapping is not told, with what was not";
	return wrong ? wrong : check_unchanged(scene, done);
}

const struct fault_case record_cases[] = {
	{ "ring", with_user, call_ring, check_ring, 0, 0 },
	{ "ring_maps", with_user, call_ring_maps, check_ring, 0, 0 },
	{ "ring_maps_first", with_new_module, call_ring_maps, check_ring, 0, 0 },
	{ "mmap_ring", with_ring_and_place, call_mmap_ring, check_mmap_ring, 0, 0 },
	{ "control_record", with_next_record, call_control, check_record, 0, 0 },
	{ "control_record_inherit", with_next_record_inherit, call_control,
	  check_record_inherits, 0, 0 },
	{ "control_record_no_more", with_record, call_control, check_record, 0, 0 },
	{ "map_code", with_record, call_map_code, check_map_code, 0, 0 },
	{ }
};
