/* SPDX-License-Identifier: GPL-2.0 */
/* The subject of test_claim.c, in two files */
#ifndef TEST_CLAIM_H
#define TEST_CLAIM_H

#include "tests.h"

void expect_busy(const struct perfctr_ctr_control *ctr, unsigned int nr, u32 who);

/* Called by test_claim() */
void test_claim_fixed(void);

#endif
