// SPDX-License-Identifier: GPL-2.0
/* What test_p4*.c share; see p4.h. */
#define _GNU_SOURCE

#include "kit/guest.h"
#include "kit/loops.h"
#include "suites/p4.h"

void add(struct perfctr_control *control, uint32_t map, uint64_t cccr, uint64_t escr)
{
	struct perfctr_ctr_control *ctr = &control->ctr[control->nractrs++];

	*ctr = (struct perfctr_ctr_control){
		.map = map, .event = cccr, .config = escr, .flags = USER,
	};
}

uint64_t counted(int fd, unsigned int i, body_fn *body, unsigned long arg)
{
	struct perfctr_read rd[2] = { { .size = sizeof(rd[0]) }, { .size = sizeof(rd[1]) } };
	long err = exact_kernel(fd, PERFCTR_IOC_READ, rd, body, arg);

	ck_assert_msg(!err, "READ: %s", strerror((int)-err));
	return rd[1].sum[i] - rd[0].sum[i];
}
