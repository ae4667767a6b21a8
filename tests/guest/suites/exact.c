// SPDX-License-Identifier: GPL-2.0
/* What test_exact*.c share; see exact.h. */
#define _GNU_SOURCE
#include <string.h>

#include "kit/counting.h"
#include "kit/guest.h"
#include "kit/loops.h"
#include "kit/perfside.h"
#include "suites/exact.h"

const struct perfctr_page *shown_page(int fd)
{
	const struct perfctr_page *page = map_page(fd);

	if (!guest.shared && guest.info.cpu_features & PERFCTR_FEATURE_RDPMC)
		return page;
	ck_assert(page_asks(page, 0));
	return NULL;
}

struct subject subject_open(bool mapped)
{
	struct subject subject;

	subject.fd = count_event(EV_INSTRUCTIONS);
	subject.page = mapped ? shown_page(subject.fd) : NULL;
	return subject;
}

void demand(const struct subject *subject, body_fn *body, unsigned long arg,
	    uint64_t length, unsigned int turn)
{
	struct perfctr_read rd[2];
	uint64_t expected, value[2];
	long ret;

	if (subject->page) {
		ret = exact_inline(subject->page, 0, body, arg, value);
		ck_assert_msg(ret >= 0, "run %u: the page says: ask the kernel", turn);
		expected = EXACT_INLINE + length + (uint64_t)ret * EXACT_INLINE_RETRY;
	} else {
		memset(rd, 0, sizeof(rd));
		rd[0].size = sizeof(rd[0]);
		rd[1].size = sizeof(rd[1]);
		ret = exact_kernel(subject->fd, PERFCTR_IOC_READ, rd, body, arg);
		ck_assert_msg(!ret, "run %u: READ: %s", turn, strerror((int)-ret));
		value[0] = rd[0].sum[0];
		value[1] = rd[1].sum[0];
		expected = EXACT_KERNEL + length;
	}
	ck_assert_msg(value[1] - value[0] == expected,
		      "run %u of %u: counted %llu instructions, executed %llu", turn, RUNS,
		      (unsigned long long)(value[1] - value[0]), (unsigned long long)expected);
}

void demand_runs(const struct subject *subject)
{
	unsigned int turn;

	for (turn = 1; turn <= RUNS; turn++) {
		unsigned long n = SPIN_LOOPS + turn;

		demand(subject, body_spin, n, BODY_SPIN(n), turn);
		demand(subject, body_yield, YIELDS, BODY_YIELD(YIELDS), turn);
	}
}
