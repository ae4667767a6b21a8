// SPDX-License-Identifier: GPL-2.0
/* What test_beside*.c share; see beside.h. */
#define _GNU_SOURCE

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/beside.h"

void set(const char *path, const char *text)
{
	int err = write_text(path, text);

	ck_assert_msg(!err, "%s: %s", path, strerror(-err));
}

struct perfctr_control two_counters(void)
{
	struct perfctr_control control;

	control_init(&control);
	control.tsc_on = 1;
	control_add(&control, EV_INSTRUCTIONS);
	control_add(&control, EV_CYCLES);
	return control;
}

int count_two(void)
{
	struct perfctr_control control = two_counters();
	int fd = open_self();

	set_control(fd, &control);
	return fd;
}

long try_exact(int fd, body_fn *body, unsigned long arg, uint64_t length, uint64_t *wrong)
{
	struct perfctr_read rd[2] = { { .size = sizeof(*rd) }, { .size = sizeof(*rd) } };
	long err = exact_kernel(fd, PERFCTR_IOC_READ, rd, body, arg);
	unsigned int i;

	for (i = 0; i < 2 && !err; i++) {
		*wrong = rd[1].sum[i] - rd[0].sum[i];
		if (*wrong != EXACT_KERNEL + length)
			err = -ERANGE;
	}
	return err;
}

void exact(int fd, body_fn *body, unsigned long arg, uint64_t length)
{
	uint64_t wrong = 0;
	long err = try_exact(fd, body, arg, length, &wrong);

	ck_assert_msg(!err, "%s: counted %llu, executed %llu", strerror((int)-err),
		      (unsigned long long)wrong, (unsigned long long)(EXACT_KERNEL + length));
}

void exact_once(int fd)
{
	exact(fd, body_spin, LOOPS, BODY_SPIN(LOOPS));
}

struct setting settings[NR_SETTINGS] = {
	{ .path = PARANOID }, { .path = RDPMC }, { .path = RDPMC_HYBRID },
	{ .path = USER_ACCESS }, { .path = WATCHDOG }, { .path = WATCHDOG_THRESH },
};

void run(const TTest *test, unsigned int what)
{
	size_t i;

	GUEST_RUN(test, what);
	for (i = 0; i < NR_SETTINGS; i++)
		(void)write_text(settings[i].path, settings[i].value);
	(void)write_text(SHARED_OPEN, "0");
	(void)write_text(MODULE_SOURCE, "any");
}
